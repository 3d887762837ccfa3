package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/wire"
)

// script is a model that plays one list of events after the other, and keeps the
// requests. After the last it plays the last again if repeat is set.
type script struct {
	turns  [][]wire.Event
	repeat bool
	deaf   bool // it does not look at the context
	abrupt error
	noEnd  bool

	mu       sync.Mutex
	requests []wire.Request
	open     int // streams that were begun and not released
}

func (s *script) Stream(ctx context.Context, r *wire.Request) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) {
		s.mu.Lock()
		n := len(s.requests)
		s.requests = append(s.requests, *r)
		s.open++
		s.mu.Unlock()
		defer func() { s.mu.Lock(); s.open--; s.mu.Unlock() }()
		if s.repeat {
			n = min(n, len(s.turns)-1)
		}
		if n >= len(s.turns) {
			yield(failEvent(wire.CauseVendor, "the script is over"))
			return
		}
		open := map[int]wire.PartKind{}
		for _, ev := range s.turns[n] {
			if err := ctx.Err(); err != nil && !s.deaf {
				for i := 0; len(open) > 0; i++ {
					if k, ok := open[i]; ok {
						delete(open, i)
						if !yield(wire.Event{Kind: wire.EventPartEnd, Part: k, Index: i, Data: &wire.Part{Partial: true}}, nil) {
							return
						}
					}
				}
				ev, e := failEvent(wire.CauseCancelled, "cancelled")
				e.(*wire.Error).Err = err
				yield(ev, e)
				return
			}
			switch ev.Kind {
			case wire.EventPartStart:
				open[ev.Index] = ev.Part
			case wire.EventPartEnd:
				delete(open, ev.Index)
			case wire.EventEnd:
				if s.noEnd {
					return
				}
				if s.abrupt != nil {
					yield(wire.Event{}, s.abrupt)
					return
				}
			}
			var err error
			if ev.End != nil && ev.End.Err != nil {
				err = ev.End.Err
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

func failEvent(c wire.Cause, msg string) (wire.Event, error) {
	e := &wire.Error{Cause: c, Message: msg}
	return wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: c, Err: e}}, e
}

// start is the beginning of an answer and the parts of it.
func start(parts ...wire.Part) []wire.Event {
	evs := []wire.Event{{Kind: wire.EventStart, Start: &wire.Start{Origin: wire.Origin{Protocol: "script", Model: "m"}}}}
	for i, p := range parts {
		text, data := p.Text, wire.Part{ID: p.ID, Name: p.Name, Vendor: p.Vendor, FreeForm: p.FreeForm}
		if p.Kind == wire.PartToolCall {
			text = p.Args
		}
		evs = append(evs, wire.Event{Kind: wire.EventPartStart, Part: p.Kind, Index: i, Data: &data})
		for _, d := range []string{text[:len(text)/2], text[len(text)/2:]} {
			if d != "" {
				evs = append(evs, wire.Event{Kind: wire.EventDelta, Part: p.Kind, Index: i, Delta: d})
			}
		}
		end := wire.Event{Kind: wire.EventPartEnd, Part: p.Kind, Index: i}
		if p.Partial {
			end.Data = &wire.Part{Partial: true}
		}
		evs = append(evs, end)
	}
	return evs
}

// says is an answer that finished.
func says(f wire.FinishReason, parts ...wire.Part) []wire.Event {
	u := wire.Usage{InputTokens: wire.CountOf(10), OutputTokens: wire.CountOf(2), Vendor: "{}"}
	return append(start(parts...),
		wire.Event{Kind: wire.EventUsage, Usage: &u},
		wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: wire.CauseFinished, Finish: f}})
}

// breaks is an answer that was cut.
func breaks(c wire.Cause, parts ...wire.Part) []wire.Event {
	ev, _ := failEvent(c, "it broke")
	return append(start(parts...), ev)
}

func call(id, name, args string) wire.Part { return wire.ToolCallPart(id, name, args) }
func text(s string) wire.Part              { return wire.TextPart(s) }
func cutOff(p wire.Part) wire.Part         { p.Partial = true; return p }

// echo is a tool that returns its arguments.
func echo(name string) agent.Tool {
	return agent.Func(name, "", `{"type":"object"}`, func(_ context.Context, in string) (string, error) { return in, nil })
}

// played is what a run yielded.
type played struct {
	events  []agent.Event
	err     error
	history []wire.Message
	left    bool
}

func (p *played) end() *agent.End { return p.events[len(p.events)-1].End }

func (p *played) last() wire.Message { return p.history[len(p.history)-1] }

// kinds is the list of events but those of the model.
func (p *played) kinds() string {
	var s []string
	for _, ev := range p.events {
		if ev.Kind != agent.EventModel {
			s = append(s, string(ev.Kind))
		}
	}
	return strings.Join(s, " ")
}

// play runs a to its end, or until at returns false, and checks all that holds
// for every run.
func play(t *testing.T, ctx context.Context, a *agent.Agent, history []wire.Message, at func(i int, ev *agent.Event) bool) *played {
	t.Helper()
	p := &played{history: append([]wire.Message(nil), history...)}
	before := deepCopy(t, history)
	settings, err := json.Marshal(a.Request)
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	conv := agent.NewConversation(history...)
	for ev, err := range a.Run(ctx, conv) {
		p.events = append(p.events, ev)
		if ev.Message != nil {
			p.history = append(p.history, *ev.Message)
		}
		p.err = err
		if at != nil && !at(i, &ev) {
			p.left = true
			break
		}
		i++
	}
	if !reflect.DeepEqual(deepCopy(t, history), before) {
		t.Error("the caller's history was modified")
	}
	if after, _ := json.Marshal(a.Request); string(after) != string(settings) {
		t.Error("the agent's request was modified")
	}
	if !p.left {
		if err := checkRun(p.events, p.err); err != nil {
			t.Errorf("grammar: %v\nkinds: %s", err, p.kinds())
		}
	}
	if err := checkHistory(agent.Sendable(p.history)); err != nil {
		t.Errorf("history: %v", err)
	}
	sendable(t, conv)
	if s, ok := a.Model.(*script); ok {
		if s.open != 0 {
			t.Errorf("%d streams were not released", s.open)
		}
		for i := 1; i < len(s.requests); i++ {
			a, b := s.requests[i-1], s.requests[i]
			n := len(a.Messages) - 1 // to which the user may add, where the answer has nothing to send
			if len(b.Messages) <= n || !reflect.DeepEqual(a.Messages[:n], b.Messages[:n]) || len(b.Messages[n].Parts) < len(a.Messages[n].Parts) ||
				!reflect.DeepEqual(a.Messages[n].Parts, b.Messages[n].Parts[:len(a.Messages[n].Parts)]) {
				t.Errorf("request %d does not begin with request %d", i, i-1)
			}
			if !reflect.DeepEqual(a.Tools, b.Tools) || !reflect.DeepEqual(a.System, b.System) {
				t.Errorf("request %d has other tools or another system prompt", i)
			}
		}
		for i := range s.requests {
			if err := checkHistory(s.requests[i].Messages); err != nil {
				t.Errorf("request %d: %v", i, err)
			}
		}
	}
	return p
}

func deepCopy(t *testing.T, v []wire.Message) (out []wire.Message) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkHistory reports the first way in which messages cannot be sent.
func checkHistory(h []wire.Message) error {
	for i := range h {
		m := &h[i]
		var calls, results []wire.Part
		for _, p := range m.Parts {
			switch p.Kind {
			case wire.PartToolCall:
				calls = append(calls, p)
				if m.Role != wire.RoleAssistant || p.Partial {
					return fmt.Errorf("message %d: a call in role %s, partial %v", i, m.Role, p.Partial)
				}
			case wire.PartToolResult:
				results = append(results, p)
			}
		}
		if len(m.Parts) == 0 {
			return fmt.Errorf("message %d has no parts", i)
		}
		if len(results) > 0 != (m.Role == wire.RoleTool) {
			return fmt.Errorf("message %d: role %s with %d results", i, m.Role, len(results))
		}
		if m.Role == wire.RoleTool && (i == 0 || h[i-1].Role != wire.RoleAssistant) {
			return fmt.Errorf("message %d: results do not follow calls", i)
		}
		var have []wire.Part
		if i+1 < len(h) && h[i+1].Role == wire.RoleTool {
			have = h[i+1].Parts
		}
		if m.Role == wire.RoleAssistant && len(have) != len(calls) {
			return fmt.Errorf("message %d: %d calls and %d results", i, len(calls), len(have))
		}
		for k := range calls {
			if have[k].ID != calls[k].ID || have[k].Name != calls[k].Name {
				return fmt.Errorf("message %d: result %d is of %q, not of %q", i, k, have[k].ID, calls[k].ID)
			}
		}
	}
	return nil
}

// checkRun reports the first way in which a run departs from the grammar of
// [agent.Event].
func checkRun(evs []agent.Event, err error) error {
	i, turn := 0, 0
	next := func() agent.EventKind {
		if i < len(evs) {
			return evs[i].Kind
		}
		return ""
	}
	for _, ev := range evs {
		want := agent.Event{Kind: ev.Kind, Turn: ev.Turn}
		missing := false
		switch ev.Kind {
		case agent.EventTurnStart:
		case agent.EventModel:
			want.Model, want.Entry, missing = ev.Model, ev.Entry, ev.Model == nil || ev.Entry == ""
		case agent.EventMessage:
			want.Message, want.Entry, missing = ev.Message, ev.Entry, ev.Message == nil || (ev.Entry == "") != (ev.Message.Role == wire.RoleTool)
		case agent.EventToolStart:
			want.Call, missing = ev.Call, ev.Call == nil
		case agent.EventToolEnd:
			want.Call, want.Result, want.Duration, want.Entry, want.Display = ev.Call, ev.Result, ev.Duration, ev.Entry, ev.Display
			missing = ev.Call == nil || ev.Result == nil || ev.Entry == ""
		case agent.EventNote:
			want.Note, missing = ev.Note, ev.Note == nil
		case agent.EventEnd:
			want.End, missing = ev.End, ev.End == nil
		default:
			missing = true
		}
		if missing || ev != want {
			return fmt.Errorf("wrong fields of a %q: %+v", ev.Kind, ev)
		}
	}
	for next() == agent.EventTurnStart {
		turn++
		from := i
		i++
		for next() == agent.EventNote {
			i++
		}
		var model []wire.Event
		for next() == agent.EventModel {
			model = append(model, *evs[i].Model)
			i++
		}
		if len(model) == 0 {
			turn--
			if i != len(evs)-1 {
				return fmt.Errorf("event %d: no stream, but the run goes on", i)
			}
			break
		}
		if err := wire.CheckEvents(model); err != nil {
			return fmt.Errorf("turn %d: %w", turn, err)
		}
		if next() == agent.EventMessage {
			m := evs[i].Message
			if m.Role != wire.RoleAssistant || m.Ending == nil {
				return fmt.Errorf("event %d: role %s, ending %v", i, m.Role, m.Ending)
			}
			i++
			ended := map[*wire.Part]*wire.Part{} // by call
			running := map[*wire.Part]bool{}
			for ; next() == agent.EventToolStart || next() == agent.EventToolEnd; i++ {
				call := evs[i].Call
				if next() == agent.EventToolStart {
					if running[call] || ended[call] != nil {
						return fmt.Errorf("event %d: a tool starts twice", i)
					}
					running[call] = true
					continue
				}
				r := evs[i].Result
				if r.Kind != wire.PartToolResult || r.ID != call.ID || r.Name != call.Name || ended[call] != nil {
					return fmt.Errorf("event %d: not the result of the call", i)
				}
				delete(running, call)
				ended[call] = r
			}
			if len(running) > 0 {
				return fmt.Errorf("event %d: a tool has no end", i)
			}
			if len(ended) > 0 {
				if next() != agent.EventMessage || evs[i].Message.Role != wire.RoleTool || len(evs[i].Message.Parts) != len(ended) {
					return fmt.Errorf("event %d: not the message of the results", i)
				}
				n := 0
				for k := range m.Parts {
					if p := &m.Parts[k]; p.Kind == wire.PartToolCall {
						if n >= len(ended) {
							return fmt.Errorf("event %d: more calls than %d results", i, n)
						}
						result := evs[i].Message.Parts[n]
						at := slices.IndexFunc(slices.Collect(maps.Values(ended)), func(r *wire.Part) bool { return reflect.DeepEqual(*r, result) })
						if result.ID != p.ID || at < 0 {
							return fmt.Errorf("event %d: result %d is not that of the call", i, n)
						}
						n++
					}
				}
				if n != len(ended) {
					return fmt.Errorf("event %d: %d calls and %d results", i, n, len(ended))
				}
				i++
			}
		}
		for k := from; k < i; k++ {
			if evs[k].Turn != turn {
				return fmt.Errorf("event %d: turn %d, want %d", k, evs[k].Turn, turn)
			}
		}
	}
	if i != len(evs)-1 || next() != agent.EventEnd {
		return fmt.Errorf("event %d (%s): not the end", i, next())
	}
	end := evs[i].End
	if end.Turns != turn || evs[i].Turn != turn {
		return fmt.Errorf("the end counts %d turns, want %d", end.Turns, turn)
	}
	fin := end.Cause == wire.CauseFinished
	if end.Cause == "" || fin != (end.Finish != "") || fin != (end.Err == nil) || fin != (err == nil) {
		return fmt.Errorf("the end says %+v and the error is %v", end.Ending, err)
	}
	var e *wire.Error
	if err != nil && errors.As(err, &e) && e.Cause != end.Cause {
		return fmt.Errorf("the end says %s and the error %s", end.Cause, e.Cause)
	}
	return nil
}

// resultText is the text of the n-th result of a message.
func resultText(m wire.Message, n int) string {
	var b strings.Builder
	for _, p := range m.Parts[n].Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

func contains(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("got %q, want %q in it", got, w)
		}
	}
}
