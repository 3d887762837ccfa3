package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/wire"
)

// TestParallel: tools run at once up to the limit, and their results go out in
// the order of the calls, whatever order they end in.
func TestParallel(t *testing.T) {
	for _, tt := range []struct{ limit, most int }{{0, 8}, {3, 3}, {1, 1}, {100, 10}} {
		synctest.Test(t, func(t *testing.T) {
			var running, most atomic.Int64
			var calls []wire.Part
			for i := range 10 {
				calls = append(calls, call(fmt.Sprint(i), "wait", fmt.Sprintf(`{"n":%d}`, 10-i)))
			}
			wait := agent.Func("wait", "", `{"type":"object"}`, func(ctx context.Context, in struct{ N int }) (string, error) {
				n := running.Add(1)
				defer running.Add(-1)
				for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
				}
				time.Sleep(time.Duration(in.N) * time.Second)
				return fmt.Sprint(in.N), nil
			})
			s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, calls...), says(wire.FinishStop, text("ok"))}}
			p := play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{wait}, MaxParallel: tt.limit}, hello, nil)
			if p.err != nil || int(most.Load()) != tt.most {
				t.Errorf("limit %d: %d at once, want %d; %v", tt.limit, most.Load(), tt.most, p.err)
			}
			results := s.requests[1].Messages[2].Parts
			for i, r := range results {
				if r.ID != fmt.Sprint(i) || r.Parts[0].Text != fmt.Sprint(10-i) {
					t.Errorf("result %d is %q: %q", i, r.ID, r.Parts[0].Text)
				}
			}
			var ended []string
			for _, ev := range p.events {
				if ev.Kind == agent.EventToolEnd {
					ended = append(ended, ev.Call.ID)
				}
			}
			if tt.limit == 100 && ended[0] != "9" {
				t.Errorf("the events come in the order %v, not as the tools end", ended)
			}
		})
	}
}

// TestLimits: each limit ends a run with its own error, and another run goes on.
func TestLimits(t *testing.T) {
	again := [][]wire.Event{says(wire.FinishToolCall, call("1", "get", `{}`), call("2", "get", `{}`))}
	slow := agent.Func("get", "", "", func(ctx context.Context, _ struct{}) (string, error) {
		select {
		case <-time.After(10 * time.Second):
		case <-ctx.Done():
		}
		return "", ctx.Err()
	})
	for _, tt := range []struct {
		name  string
		agent agent.Agent
		err   error
		turns int
	}{
		{"turns", agent.Agent{MaxTurns: 3}, agent.ErrTurnLimit, 3},
		{"calls", agent.Agent{MaxCalls: 5}, agent.ErrCallLimit, 3},
		{"tokens", agent.Agent{MaxTokens: 25}, agent.ErrTokenLimit, 3},
		{"time", agent.Agent{MaxTime: 15 * time.Second}, agent.ErrTimeLimit, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{turns: again, repeat: true}
				a := tt.agent
				a.Model, a.Tools = s, []agent.Tool{slow}
				p := play(t, t.Context(), &a, hello, nil)
				if !errors.Is(p.err, tt.err) || p.end().Cause != wire.CauseLimit || p.end().Turns != tt.turns {
					t.Errorf("%v, cause %s after %d turns, want %v after %d", p.err, p.end().Cause, p.end().Turns, tt.err, tt.turns)
				}
				for _, other := range []error{agent.ErrTurnLimit, agent.ErrCallLimit, agent.ErrTokenLimit, agent.ErrTimeLimit} {
					if other != tt.err && errors.Is(p.err, other) {
						t.Errorf("it is %v too", other)
					}
				}
				s = &script{turns: [][]wire.Event{says(wire.FinishStop, text("ok"))}}
				if p := play(t, t.Context(), &agent.Agent{Model: s}, p.history, nil); p.err != nil {
					t.Errorf("another run: %v", p.err)
				}
			})
		})
	}
	t.Run("time, in an answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var c agent.Conversation
			model := streamFunc(func(ctx context.Context, yield func(wire.Event, error) bool) {
				for _, ev := range start(text("half"))[:3] {
					yield(ev, nil)
				}
				<-ctx.Done()
				yield(failEvent(wire.CauseDeadline, "out of time"))
			})
			var last error
			for _, err := range (&agent.Agent{Model: model, MaxTime: time.Minute}).Run(t.Context(), &c, text("q")) {
				last = err
			}
			var failed *wire.Error
			if !errors.Is(last, agent.ErrTimeLimit) || !errors.As(last, &failed) || failed.Cause != wire.CauseLimit {
				t.Errorf("the run ended with %v", last)
			}
			if e := c.Snapshot().Entry(1); last == nil || e.Status != agent.StatusCancelled || e.Text() != "ha" {
				t.Errorf("%v, %+v", last, e)
			}
		})
	})
}

// streamFunc is a model of one function.
type streamFunc func(ctx context.Context, yield func(wire.Event, error) bool)

func (f streamFunc) Stream(ctx context.Context, _ *wire.Request) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) { f(ctx, yield) }
}

// TestToolTimeout: a tool that takes too long becomes an error result, and the run
// goes on; what a deaf tool returns later is kept as a notice.
func TestToolTimeout(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			slow := agent.Func("slow", "", "", func(ctx context.Context, _ struct{}) (string, error) {
				if deaf {
					time.Sleep(time.Hour)
					return "late", nil
				}
				<-ctx.Done()
				return "some", ctx.Err()
			})
			s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "slow", `{}`)), says(wire.FinishStop, text("ok"))}}
			c := agent.NewConversation(hello...)
			begin := time.Now()
			var last error
			for _, err := range (&agent.Agent{Model: s, Tools: []agent.Tool{slow}, ToolTimeout: time.Minute}).Run(t.Context(), c) {
				last = err
			}
			want := time.Minute
			if deaf {
				want += agent.ToolGrace
			}
			if took := time.Since(begin); last != nil || took != want {
				t.Errorf("%v after %v, want %v", last, took, want)
			}
			sent := s.requests[1].Messages[2]
			contains(t, resultText(sent, 0), "longer than a tool may")
			time.Sleep(2 * time.Hour)
			n := c.Snapshot()
			if late := n.Entry(n.Len() - 1); deaf != (late.Role == agent.RoleNotice) || deaf && late.Parts[0].Parts[0].Text != "late" {
				t.Errorf("the last entry is %+v", late)
			}
			after, _ := n.Messages()
			if got := brief(after); strings.Contains(got, "late") {
				t.Errorf("sent: %s", got)
			}
		})
	}
}

// TestMaxResult: a long result keeps its beginning and its end.
func TestMaxResult(t *testing.T) {
	long := strings.Repeat("a", 700) + strings.Repeat("\u20ac", 500) + strings.Repeat("z", 700)
	for _, tt := range []struct {
		most int
		cut  bool
	}{{1000, true}, {0, false}, {-1, false}, {len(long), false}, {len(long) - 1, true}} {
		big := agent.Tool{Tool: wire.Tool{Name: "big"}, Run: func(context.Context, string) ([]wire.Part, error) {
			return []wire.Part{text(long)}, nil
		}}
		s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "big", `{}`)), says(wire.FinishStop, text("ok"))}}
		play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{big}, MaxResult: tt.most}, hello, nil)
		got := resultText(s.requests[1].Messages[2], 0)
		if !tt.cut {
			if got != long {
				t.Errorf("%d: %d bytes of %d", tt.most, len(got), len(long))
			}
			continue
		}
		if !strings.HasPrefix(got, "aaa") || !strings.HasSuffix(got, "zzz") || !strings.Contains(got, fmt.Sprintf("of %d bytes left out", len(long))) ||
			strings.ToValidUTF8(got, "!") != got || len(got) > tt.most+100 {
			t.Errorf("%d: %d bytes: %.80q", tt.most, len(got), got)
		}
	}
	t.Run("several texts and an image", func(t *testing.T) {
		big := agent.Tool{Tool: wire.Tool{Name: "big"}, Run: func(context.Context, string) ([]wire.Part, error) {
			return []wire.Part{text("short"), wire.ImagePart([]byte("\x89PNG\r\n\x1a\nrest")), text(long)}, nil
		}}
		s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "big", `{}`)), says(wire.FinishStop, text("ok"))}}
		play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{big}, MaxResult: 500}, hello, nil)
		parts := s.requests[1].Messages[2].Parts[0].Parts
		if len(parts) != 3 || parts[0].Text != "short" || parts[1].Media == nil || len(parts[2].Text) > 600 {
			t.Errorf("got %+v", parts)
		}
	})
}

// TestSchema: arguments without what the schema demands become an error result
// that names it, and the tool does not run.
func TestSchema(t *testing.T) {
	const schema = `{"type":"object","properties":{"path":{"type":"string"},"from":{"type":"integer"},"mode":{"enum":["r","w",1]},` +
		`"list":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":["string","null"]}}}},"any":{},"ratio":{"type":"number"}},"required":["path"]}`
	for _, tt := range []struct{ args, say string }{
		{`{"path":"a"}`, ""},
		{`{"path":"a","from":3,"mode":"w","list":[{"id":"x"},{"id":null}],"any":[1],"ratio":2,"more":{}}`, ""},
		{`{"path":"a","from":1e3}`, ""},
		{`{"path":"a","from":2.0,"mode":1}`, ""},
		{`{"path":"a","from":12345678901234567890123}`, ""},
		{`{}`, `the arguments must have the member "path"`},
		{`{"path":7}`, "path must be of the type string, not number"},
		{`{"path":"a","from":1.5}`, "from must be of the type integer, not number"},
		{`{"path":"a","from":15e-1}`, "from must be of the type integer"},
		{`{"path":"a","from":"3"}`, "from must be of the type integer, not string"},
		{`{"path":"a","mode":"x"}`, `mode must be one of ["r","w",1]`},
		{`{"path":"a","list":{}}`, "list must be of the type array, not object"},
		{`{"path":"a","list":[{"id":1}]}`, "list[0].id must be of the type string or null, not number"},
		{`{"path":"a","list":[{"id":"x"},{}]}`, `list[1] must have the member "id"`},
		{`[]`, "the arguments must be of the type object, not array"},
		{`null`, "the arguments must be of the type object, not null"},
		{`{"path":null}`, "path must be of the type string, not null"},
	} {
		ran := false
		tool := agent.Tool{Tool: wire.Tool{Name: "get", Schema: schema}, Run: func(context.Context, string) ([]wire.Part, error) {
			ran = true
			return nil, nil
		}}
		s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "get", tt.args)), says(wire.FinishStop, text("ok"))}}
		play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{tool}}, hello, nil)
		r := s.requests[1].Messages[2].Parts[0]
		if ran != (tt.say == "") || r.IsError == ran {
			t.Errorf("%s: ran %v, error %v", tt.args, ran, r.IsError)
		}
		if tt.say != "" {
			contains(t, r.Parts[0].Text, tt.say)
		}
	}
	for _, odd := range []string{"", "{", "true", `{"type":7}`, `{"properties":[]}`, `{"required":"path"}`, `{"type":"thing"}`, `{"$ref":"#/x"}`} {
		ran := false
		tool := agent.Tool{Tool: wire.Tool{Name: "get", Schema: odd}, Run: func(context.Context, string) ([]wire.Part, error) {
			ran = true
			return nil, nil
		}}
		s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "get", `{"a":1}`)), says(wire.FinishStop, text("ok"))}}
		play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{tool}}, hello, nil)
		if !ran {
			t.Errorf("a schema that says nothing, %s, kept the tool from running", odd)
		}
	}
}

// TestHooks: hooks decide what they are asked, and see what they are told.
func TestHooks(t *testing.T) {
	var mu sync.Mutex
	var got []string
	tool := agent.Func("get", "", `{"type":"object"}`, func(_ context.Context, in string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, in)
		return "real " + in, nil
	})
	calls := []wire.Part{call("1", "get", `{"n":1}`), call("2", "get", `{"n":2}`), call("3", "get", `{"n":3}`), call("4", "get", `{"n":4}`), call("5", "none", `{}`)}
	s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, calls...), says(wire.FinishStop, text("ok"))}}
	var asked, told, turns []string
	var pasts [][]wire.Usage
	a := &agent.Agent{Model: s, Tools: []agent.Tool{tool}, MaxParallel: 1, Hooks: agent.Hooks{
		BeforeRequest: func(_ context.Context, q *wire.Request, past []wire.Usage) error {
			pasts = append(pasts, past)
			q.Messages = slices.Clone(q.Messages)
			q.Messages[0] = wire.UserText("shortened")
			q.System = append(q.System, text("and more"))
			return nil
		},
		BeforeTool: func(_ context.Context, call wire.Part) agent.Decision {
			asked = append(asked, call.ID)
			switch call.ID {
			case "2":
				return agent.Decision{Deny: "not today"}
			case "3":
				return agent.Decision{Args: `{"n":30}`}
			case "4":
				return agent.Decision{Result: []wire.Part{text("made up")}}
			}
			return agent.Decision{}
		},
		AfterTool: func(_ context.Context, call, result wire.Part) wire.Part {
			told = append(told, call.ID)
			if call.ID == "1" {
				return wire.ToolResultPart("another", "id", text("replaced"))
			}
			return result
		},
		AfterTurn: func(_ context.Context, r wire.Response) error {
			turns = append(turns, r.Message.Text())
			return nil
		},
	}}
	p := play(t, t.Context(), a, hello, nil)
	if p.err != nil {
		t.Fatal(p.err)
	}
	if fmt.Sprint(asked, told, turns, got) != `[1 2 3 4] [1 2 3 4 5] [ ok] [{"n":1} {"n":30}]` {
		t.Errorf("asked %v, told %v, turns %q, ran with %v", asked, told, turns, got)
	}
	want := `user(shortened) assistant(1?2?3?4?5?) tool(1=replaced 2!This call was not run: not today 3=real {"n":30} 4=made up 5!There is no tool named "none". The tools are: get.)`
	if b := brief(s.requests[1].Messages); b != want {
		t.Errorf("sent\n%s\nwant\n%s", b, want)
	}
	if args := s.requests[1].Messages[1].Parts[2].Args; args != `{"n":3}` {
		t.Errorf("the conversation has the arguments %s", args)
	}
	if len(pasts) != 2 || len(pasts[0]) != 0 || len(pasts[1]) != 1 || pasts[1][0].InputTokens.Value() != 10 || len(a.Request.System) != 0 {
		t.Errorf("past %v", pasts)
	}
	if brief(p.history[:1]) != "user(hello)" {
		t.Error("the conversation was changed")
	}

	why := errors.New("enough")
	for name, h := range map[string]agent.Hooks{
		"before a request": {BeforeRequest: func(context.Context, *wire.Request, []wire.Usage) error { return why }},
		"after a turn":     {AfterTurn: func(context.Context, wire.Response) error { return why }},
	} {
		s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "get", `{}`))}}
		p := play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{tool}, Hooks: h}, hello, nil)
		if !errors.Is(p.err, why) {
			t.Errorf("%s: %v", name, p.err)
		}
	}
}

// TestDisplay: what people are shown stays with them.
func TestDisplay(t *testing.T) {
	tool := agent.Func("get", "", "", func(ctx context.Context, _ struct{}) (string, error) {
		agent.Display(ctx, "first")
		agent.Display(ctx, "a table")
		return "1,2,3", nil
	})
	s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "get", `{}`)), says(wire.FinishStop, text("ok"))}}
	var c agent.Conversation
	shown := ""
	for ev, err := range (&agent.Agent{Model: s, Tools: []agent.Tool{tool}}).Run(t.Context(), &c, text("q")) {
		if err != nil {
			t.Fatal(err)
		}
		shown += ev.Display
	}
	if e := c.Snapshot().Entry(2); shown != "a table" || e.Display != "a table" || e.Parts[0].Parts[0].Text != "1,2,3" {
		t.Errorf("shown %q, entry %+v", shown, e)
	}
	if b := brief(s.requests[1].Messages); strings.Contains(b, "table") {
		t.Errorf("sent %s", b)
	}
	agent.Display(t.Context(), "nobody looks") // outside of a tool it does nothing
}

// TestRunInput: what the user says is an entry; without input a run goes on.
func TestRunInput(t *testing.T) {
	s := &script{turns: [][]wire.Event{says(wire.FinishStop, text("a")), says(wire.FinishStop, text("b"))}}
	var c agent.Conversation
	a := &agent.Agent{Model: s}
	for _, input := range [][]wire.Part{{text("one"), text("two")}, nil} {
		for _, err := range a.Run(t.Context(), &c, input...) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	messages, _ := c.Snapshot().Messages()
	if got := brief(messages); got != "user(one|two) assistant(a) assistant(b)" {
		t.Errorf("got %s", got)
	}
	if u := c.Usage(); u.InputTokens.Value() != 20 || u.OutputTokens.Value() != 4 || u.ReasoningTokens.Known() {
		t.Errorf("usage %+v", u)
	}
	for _, err := range a.Run(t.Context(), nil) {
		if wire.AsError(err, "").Cause != wire.CauseConfig {
			t.Errorf("without a conversation: %v", err)
		}
	}
}

// TestLeave: a loop that is left while tools run, or before they ran, leaves a
// result for each call, and no tool that runs on.
func TestLeave(t *testing.T) {
	for _, kind := range []agent.EventKind{agent.EventMessage, agent.EventToolStart, agent.EventToolEnd} {
		var running atomic.Int64
		tool := agent.Func("get", "", `{"type":"object"}`, func(ctx context.Context, in struct{ Quick bool }) (string, error) {
			running.Add(1)
			defer running.Add(-1)
			if !in.Quick {
				<-ctx.Done()
			}
			return "done", ctx.Err()
		})
		s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "get", `{"quick":true}`), call("2", "get", `{}`), call("3", "get", `{}`), call("4", "get", `{}`))}}
		var c agent.Conversation
		for ev := range (&agent.Agent{Model: s, Tools: []agent.Tool{tool}, MaxParallel: 2}).Run(t.Context(), &c, text("q")) {
			if ev.Kind == kind {
				break
			}
		}
		if n := running.Load(); n != 0 {
			t.Errorf("left at %s: %d tools run on", kind, n)
		}
		results := 0
		for _, e := range c.Snapshot().All() {
			if e.Role == agent.RoleTool {
				results++
			}
		}
		want := 4
		if kind == agent.EventMessage { // the calls are no business of the loop's yet
			want = 0
		}
		if results != want {
			t.Errorf("left at %s: %d results are recorded, want %d", kind, results, want)
		}
		sendable(t, &c)
	}
}

// TestUserMeanwhile: what the user says during a run stands behind the results of
// the calls that it comes upon, and costs none of them.
func TestUserMeanwhile(t *testing.T) {
	for _, when := range []agent.EventKind{agent.EventModel, agent.EventMessage, agent.EventToolStart, agent.EventToolEnd} {
		t.Run(string(when), func(t *testing.T) {
			s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "get", `{"a":1}`), call("2", "get", `{"a":2}`)), says(wire.FinishStop, text("ok"))}}
			var c agent.Conversation
			said := false
			for ev, err := range (&agent.Agent{Model: s, Tools: []agent.Tool{echo("get")}, MaxParallel: 1}).Run(t.Context(), &c, text("q")) {
				if err != nil {
					t.Fatal(err)
				}
				if ev.Kind == when && !said {
					said = true
					c.AddUser(text("by the way"))
					sendable(t, &c)
				}
			}
			const want = `user(q) assistant(1?2?) tool(1={"a":1} 2={"a":2}) user(by the way)`
			if got := brief(s.requests[1].Messages); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			sendable(t, &c)
			var b bytes.Buffer
			c.Save(&b)
			loaded, _, err := agent.Load(&b)
			if err != nil {
				t.Fatal(err)
			}
			one, _ := c.Snapshot().Messages()
			two, _ := loaded.Snapshot().Messages()
			if brief(one) != brief(two) || !strings.HasPrefix(brief(one), want) {
				t.Errorf("loaded it is %s, and was %s", brief(two), brief(one))
			}
		})
	}
}

// TestLateIsNotice: what a tool returns after its time is a notice, also where the
// caller has not yet seen that its time was up.
func TestLateIsNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "slow", `{}`), call("2", "get", `{}`)), says(wire.FinishStop, text("ok"))}}
		slow := agent.Func("slow", "", "", func(context.Context, struct{}) (string, error) {
			time.Sleep(agent.ToolGrace + 2*time.Second)
			return "late", nil
		})
		var c agent.Conversation
		for ev := range (&agent.Agent{Model: s, ToolTimeout: time.Second, Tools: []agent.Tool{slow, echo("get")}}).Run(t.Context(), &c, text("q")) {
			if ev.Kind != agent.EventToolEnd {
				continue
			}
			if e, _ := c.Snapshot().Find(ev.Entry); e.Role != agent.RoleTool {
				t.Errorf("the result of %s is a %s", ev.Call.Name, e.Role)
			}
			time.Sleep(time.Minute)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		last := c.Snapshot().Entry(c.Snapshot().Len() - 1)
		if notices := strings.Count(fmt.Sprint(entries(c.Snapshot())), "notice"); notices != 1 {
			t.Errorf("%d notices, the last entry is %+v", notices, last)
		}
		contains(t, brief(s.requests[1].Messages), "1!This call was stopped", "2={}")
	})
}

// TestTokensOfSome: an answer whose cost is unknown does not lift the limit.
func TestTokensOfSome(t *testing.T) {
	uncounted := slices.DeleteFunc(says(wire.FinishToolCall, call("1", "get", `{}`)), func(ev wire.Event) bool { return ev.Kind == wire.EventUsage })
	s := &script{turns: [][]wire.Event{uncounted, says(wire.FinishToolCall, call("1", "get", `{}`))}, repeat: true}
	p := play(t, t.Context(), &agent.Agent{Model: s, MaxTokens: 20, Tools: []agent.Tool{echo("get")}}, hello, nil)
	if !errors.Is(p.err, agent.ErrTokenLimit) || p.end().Turns != 3 {
		t.Errorf("%v after %d turns", p.err, p.end().Turns)
	}
}

// TestEntryCancelled: a run whose entry another one cancels ends with that.
func TestEntryCancelled(t *testing.T) {
	s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, text("abc"), call("1", "get", `{}`))}}
	var c agent.Conversation
	var evs []agent.Event
	var last error
	for ev, err := range (&agent.Agent{Model: s, Tools: []agent.Tool{echo("get")}}).Run(t.Context(), &c, text("q")) {
		if ev.Model != nil && ev.Model.Kind == wire.EventDelta {
			c.Cancel(ev.Entry)
		}
		evs, last = append(evs, ev), err
	}
	if err := checkRun(evs, last); err != nil || last == nil || evs[len(evs)-1].End.Cause != wire.CauseCancelled {
		t.Errorf("%v; the run ended with %v", err, last)
	}
}
