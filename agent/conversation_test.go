package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
	"github.com/handwire/handwire/wire/openaichat"
)

var countsAlike = cmp.AllowUnexported(wire.Count{})

// sendable checks that each protocol takes the messages of a conversation, once
// the user has said something.
func sendable(t *testing.T, c *agent.Conversation) {
	t.Helper()
	f, err := c.Fork("")
	if err != nil {
		t.Fatal(err)
	}
	f.AddUser(text("and now?"))
	messages, _ := f.Snapshot().Messages()
	r := wire.Request{Model: "m", MaxTokens: 9, Tools: []wire.Tool{{Name: "get"}}, Messages: messages}
	for _, codec := range []wire.Codec{anthropic.Codec{}, openaichat.Codec{}, openaichat.Codec{Profile: openaichat.DeepSeek()}} {
		if f := codec.Check(&r); len(f) > 0 {
			t.Errorf("%s: %v", codec.Protocol(), wire.Findings(f))
		}
	}
	if err := checkHistory(messages); err != nil {
		t.Error(err)
	}
	for i, m := range messages {
		if i == 0 && m.Role != wire.RoleUser {
			t.Errorf("the first message is of the role %s", m.Role)
		}
		if i > 0 && m.Role == wire.RoleUser && messages[i-1].Role == wire.RoleUser {
			t.Errorf("messages %d and %d are both the user's", i-1, i)
		}
		for _, p := range m.Parts {
			if p.Kind == wire.PartText && p.Text == "" && p.Vendor == "" {
				t.Errorf("message %d has an empty text", i)
			}
		}
	}
}

// answered is a finished answer of the assistant's.
func answered(parts ...wire.Part) agent.Entry {
	finish := wire.FinishStop
	for _, p := range parts {
		if p.Kind == wire.PartToolCall {
			finish = wire.FinishToolCall
		}
	}
	return agent.Entry{Role: agent.RoleAssistant, Parts: parts, Ending: &wire.Ending{Cause: wire.CauseFinished, Finish: finish}}
}

func toolResult(id, s string) agent.Entry {
	return agent.Entry{Role: agent.RoleTool, Parts: []wire.Part{wire.ToolResultPart(id, "get", text(s))}}
}

func say(s ...string) agent.Entry {
	e := agent.Entry{Role: agent.RoleUser}
	for _, s := range s {
		e.Parts = append(e.Parts, text(s))
	}
	return e
}

func TestMessages(t *testing.T) {
	notice := agent.Entry{Role: agent.RoleNotice, Parts: []wire.Part{text("saved")}}
	cutShort := agent.Entry{Role: agent.RoleAssistant, Status: agent.StatusCancelled, Parts: []wire.Part{{Kind: wire.PartReasoning, Text: "hm"}, text("I will"), cutOff(call("c", "get", `{"q"`))}}
	failing := agent.Entry{Role: agent.RoleAssistant, Status: agent.StatusError, Parts: []wire.Part{text("half")}}
	const unrecorded = "No result was recorded for this call."
	for _, tt := range []struct {
		name    string
		entries []agent.Entry
		want    string
		notes   string
	}{
		{"empty", nil, "", ""},
		{"one message", []agent.Entry{say("a")}, "user(a)", ""},
		{"a turn", []agent.Entry{say("a"), answered(text("b"))}, "user(a) assistant(b)", ""},
		{"three users in a row", []agent.Entry{say("a"), say("b", "c"), say("d")}, "user(a|b|c|d)", ""},
		{"first is a notice", []agent.Entry{notice, say("a"), notice, answered(text("b")), notice}, "user(a) assistant(b)", ""},
		{"first is the assistant", []agent.Entry{answered(text("hello")), say("a")}, "user(a)", "dropped e1"},
		{"an error in the middle", []agent.Entry{say("a"), failing, say("b"), answered(text("c"))}, "user(a|b) assistant(c)", "dropped e2"},
		{"a cancelled answer", []agent.Entry{say("a"), cutShort, say("b")}, "user(a) assistant(I will) user(b)", "dropped e2"},
		{"a cancelled answer without text", []agent.Entry{say("a"), {Role: agent.RoleAssistant, Status: agent.StatusCancelled, Parts: []wire.Part{text(" ")}}, say("b")}, "user(a|b)", "dropped e2"},
		{"nothing said", []agent.Entry{say("a"), say(" "), say(), say("b", "")}, "user(a|b)", "dropped e2 dropped e3"},
		{"an instruction", []agent.Entry{say("a"), {Role: agent.RoleSystem, Parts: []wire.Part{text("s")}}, say("b")}, "user(a|b) system(s)", "converted messages[2"},
		{"calls and results", []agent.Entry{say("a"), answered(call("1", "get", "{}"), call("2", "get", "{}")), toolResult("2", "two"), toolResult("1", "one"), answered(text("b"))},
			"user(a) assistant(1?2?) tool(1=one 2=two) assistant(b)", ""},
		{"two of three calls finished", []agent.Entry{say("a"), answered(call("1", "get", "{}"), call("2", "get", "{}"), call("3", "get", "{}")), toolResult("1", "one"), toolResult("3", "three")},
			"user(a) assistant(1?2?3?) tool(1=one 2!" + unrecorded + " 3=three)", "inserted messages[1]"},
		{"and then the user went on", []agent.Entry{say("a"), answered(call("1", "get", "{}"), call("2", "get", "{}")), toolResult("1", "one"), say("b"), toolResult("2", "late")},
			"user(a) assistant(1?2?) tool(1=one 2!" + unrecorded + ") user(b)", ""},
		{"two results of a call", []agent.Entry{say("a"), answered(call("1", "get", "{}")), toolResult("1", "one"), toolResult("1", "again"), say("b")}, "user(a) assistant(1?) tool(1=one) user(b)", ""},
		{"a result of nothing", []agent.Entry{say("a"), toolResult("1", "one"), say("b")}, "user(a|b)", ""},
		{"the same ids in each turn", []agent.Entry{say("a"), answered(call("1", "get", "{}")), toolResult("1", "one"), answered(call("1", "get", "{}")), toolResult("1", "two"), say("b")},
			"user(a) assistant(1?) tool(1=one) assistant(1_2?) tool(1_2=two) user(b)", "renamed messages[3].parts[0"},
		{"a call that was cut off in an answer that finished", []agent.Entry{say("a"), answered(text("t"), cutOff(call("1", "get", "{")))}, "user(a) assistant(t)", "dropped messages[1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c agent.Conversation
			for _, e := range tt.entries {
				if _, err := c.Add(e); err != nil {
					t.Fatal(err)
				}
			}
			s := c.Snapshot()
			before := fmt.Sprintf("%+v", entries(s))
			messages, notes := s.Messages()
			if got := brief(messages); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			var told []string
			for _, n := range notes {
				told = append(told, string(n.Code)+" "+strings.TrimSuffix(strings.TrimPrefix(n.Path, "entries["), "]"))
			}
			if got := strings.ReplaceAll(strings.Join(told, " "), "messages[1", "messages[1]"); got != tt.notes {
				t.Errorf("notes %q, want %q", got, tt.notes)
			}
			if again, _ := s.Messages(); brief(again) != tt.want || fmt.Sprintf("%+v", entries(s)) != before {
				t.Error("it changes when it is done again")
			}
			sendable(t, &c)
		})
	}
}

func entries(s agent.Snapshot) (list []agent.Entry) {
	for _, e := range s.All() {
		list = append(list, e)
	}
	return list
}

// brief is messages in short form.
func brief(messages []wire.Message) string {
	var all []string
	for _, m := range messages {
		s := string(m.Role) + "("
		for i, p := range m.Parts {
			switch p.Kind {
			case wire.PartText:
				if i > 0 {
					s += "|"
				}
				s += p.Text
			case wire.PartToolCall:
				s += p.ID + "?"
			case wire.PartToolResult:
				if i > 0 {
					s += " "
				}
				mark := "="
				if p.IsError {
					mark = "!"
				}
				s += p.ID + mark
				for _, q := range p.Parts {
					s += q.Text
				}
			default:
				s += string(p.Kind)
			}
		}
		all = append(all, s+")")
	}
	return strings.Join(all, " ")
}

// TestAppend: a stream goes to the entry of its id, and ends it.
func TestAppend(t *testing.T) {
	streamed := says(wire.FinishStop, text("one "), text("two"))
	for _, tt := range []struct {
		name   string
		events []wire.Event
		status agent.Status
		text   string
		parts  int
	}{
		{"finished", streamed, agent.StatusComplete, "one two", 2},
		{"failed", breaks(wire.CauseReset, text("half")), agent.StatusError, "half", 1},
		{"cancelled", breaks(wire.CauseCancelled, text("half")), agent.StatusCancelled, "half", 1},
		{"out of time", breaks(wire.CauseDeadline, text("half")), agent.StatusCancelled, "half", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c agent.Conversation
			c.AddUser(text("q"))
			id, err := c.Add(agent.Entry{Role: agent.RoleAssistant, Status: agent.StatusStreaming})
			if err != nil {
				t.Fatal(err)
			}
			other := c.AddNotice("meanwhile")
			seen := ""
			for i, ev := range tt.events {
				if err := c.Append(id, ev); err != nil {
					t.Fatal(err)
				}
				e, _ := c.Snapshot().Find(id)
				if !strings.HasPrefix(e.Text(), seen) || i < len(tt.events)-1 && e.Status != agent.StatusStreaming {
					t.Errorf("event %d: %q after %q, %s", i, e.Text(), seen, e.Status)
				}
				seen = e.Text()
			}
			e, ok := c.Snapshot().Find(id)
			if !ok || e.Status != tt.status || e.Text() != tt.text || len(e.Parts) != tt.parts || e.Ending == nil || e.Origin == nil || tt.status == agent.StatusComplete && !e.Usage.InputTokens.Known() {
				t.Errorf("got %+v", e)
			}
			if err := c.Append(id, tt.events[0]); err == nil || !strings.Contains(err.Error(), id) {
				t.Errorf("appended after the end: %v", err)
			}
			if n, _ := c.Snapshot().Find(other); n.Text() != "meanwhile" {
				t.Errorf("the other entry became %q", n.Text())
			}
		})
	}
	var c agent.Conversation
	if err := c.Append("e9", streamed[0]); err == nil {
		t.Error("appended to nothing")
	}
	for _, e := range []agent.Entry{
		{Role: "robot"}, {Role: agent.RoleUser, Status: agent.StatusStreaming}, {Role: agent.RoleAssistant, Status: "done"},
		{Role: agent.RoleAssistant, Status: agent.StatusStreaming, Parts: []wire.Part{text("x")}}, {ID: "e1", Role: agent.RoleUser},
	} {
		if id, err := c.Add(e); err == nil || c.Snapshot().Len() != 0 {
			t.Errorf("%+v was added as %q", e, id)
		}
	}
}

// TestRecord: a program's own loop is recorded whatever ends it.
func TestRecord(t *testing.T) {
	stream := func(evs []wire.Event, err error) func(func(wire.Event, error) bool) {
		return func(yield func(wire.Event, error) bool) {
			for i, ev := range evs {
				var e error
				if i == len(evs)-1 {
					e = err
				}
				if !yield(ev, e) {
					return
				}
			}
		}
	}
	whole := says(wire.FinishStop, text("one"), text("two"))
	for n := range len(whole) + 1 {
		var c agent.Conversation
		c.AddUser(text("q"))
		var id string
		i := 0
		for range c.Record(stream(whole, nil), &id) {
			if i++; i > n {
				break
			}
		}
		e, ok := c.Snapshot().Find(id)
		want := agent.StatusCancelled
		if n >= len(whole)-1 {
			want = agent.StatusComplete
		}
		if !ok || e.Status != want {
			t.Errorf("left after %d events: %+v", n+1, e)
		}
		sendable(t, &c)
	}
	var c agent.Conversation
	c.AddUser(text("q"))
	for range c.Record(stream(whole[:2], nil), nil) {
	}
	if e := c.Snapshot().Entry(1); e.Status != agent.StatusError || e.Ending.Cause != wire.CauseTruncated {
		t.Errorf("a stream without an end: %+v", e)
	}
}

// TestSnapshot: what was seen stays as it was.
func TestSnapshot(t *testing.T) {
	var c agent.Conversation
	c.AddUser(text("q"))
	id, _ := c.Add(agent.Entry{Role: agent.RoleAssistant, Status: agent.StatusStreaming})
	var snaps []agent.Snapshot
	var texts []string
	note := func() {
		s := c.Snapshot()
		snaps, texts = append(snaps, s), append(texts, fmt.Sprintf("%d %d %+v", s.Version(), s.Len(), entries(s)))
	}
	note()
	for _, ev := range says(wire.FinishStop, text("a long text that comes in pieces"), call("1", "get", `{"q":1}`)) {
		c.Append(id, ev)
		note()
	}
	c.SetMeta(id, "k", "v")
	note()
	c.SetMeta(id, "k", "")
	c.AddUser(text("next"))
	note()
	for i, s := range snaps {
		if got := fmt.Sprintf("%d %d %+v", s.Version(), s.Len(), entries(s)); got != texts[i] {
			t.Errorf("snapshot %d became\n%s, was\n%s", i, got, texts[i])
		}
	}
	if e, _ := snaps[len(snaps)-2].Find(id); e.Meta["k"] != "v" {
		t.Errorf("metadata %v", e.Meta)
	}
	if _, ok := c.Snapshot().Find("e99"); ok {
		t.Error("found an entry that is not there")
	}
	if err := c.SetMeta("e99", "k", "v"); err == nil {
		t.Error("set metadata of nothing")
	}
}

// TestFork: two conversations that begin alike and go on apart.
func TestFork(t *testing.T) {
	var c agent.Conversation
	first := c.AddUser(text("q"))
	id, _ := c.Add(agent.Entry{Role: agent.RoleAssistant, Status: agent.StatusStreaming})
	evs := says(wire.FinishStop, text("half"), text("whole"))
	for _, ev := range evs[:3] {
		c.Append(id, ev)
	}
	f, err := c.Fork("")
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range evs[3:] {
		c.Append(id, ev)
	}
	if e, _ := f.Snapshot().Find(id); e.Status != agent.StatusCancelled || e.Text() != "ha" {
		t.Errorf("in the fork: %+v", e)
	}
	if e, _ := c.Snapshot().Find(id); e.Status != agent.StatusComplete || e.Text() != "halfwhole" {
		t.Errorf("in the original: %+v", e)
	}
	f.AddUser(text("other"))
	if c.Snapshot().Len() != 2 || f.Snapshot().Len() != 3 {
		t.Errorf("%d and %d entries", c.Snapshot().Len(), f.Snapshot().Len())
	}
	early, err := c.Fork(first)
	if err != nil || early.Snapshot().Len() != 1 {
		t.Errorf("%v, %d entries", err, early.Snapshot().Len())
	}
	if _, err := c.Fork("e99"); err == nil {
		t.Error("forked at nothing")
	}
	if err := f.Append(id, evs[4]); err == nil {
		t.Error("appended to what was cut off in the fork")
	}
}

// TestWait: those who wait hear of every change, without a timer.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c agent.Conversation
		got := make(chan agent.Snapshot)
		go func() {
			version := uint64(0)
			for {
				s, err := c.Wait(t.Context(), version)
				if err != nil {
					close(got)
					return
				}
				version = s.Version()
				got <- s
			}
		}()
		for i := range 3 {
			time.Sleep(time.Hour)
			c.AddUser(text("q"))
			if s := <-got; s.Len() != i+1 {
				t.Errorf("%d entries, want %d", s.Len(), i+1)
			}
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("closed")
		time.AfterFunc(time.Minute, func() { cancel(why) })
		if _, err := c.Wait(ctx, c.Snapshot().Version()); err != why {
			t.Errorf("got %v", err)
		}
	})
}

// TestConversationAtOnce: writers, readers, cancels, forks and saves, all at once.
func TestConversationAtOnce(t *testing.T) {
	var c agent.Conversation
	var wg sync.WaitGroup
	do := func(n int, f func(rnd *rand.Rand)) {
		for k := range n {
			wg.Add(1)
			go func() {
				defer wg.Done()
				rnd := rand.New(rand.NewPCG(uint64(n), uint64(k)))
				for range 200 {
					f(rnd)
				}
			}()
		}
	}
	do(4, func(rnd *rand.Rand) {
		id, _ := c.Add(agent.Entry{Role: agent.RoleAssistant, Status: agent.StatusStreaming})
		evs := says(wire.FinishToolCall, text("some text"), call("1", "get", `{}`))
		for i, ev := range evs[:1+rnd.IntN(len(evs))] {
			c.Append(id, ev)
			if i == 3 && rnd.IntN(3) == 0 {
				c.Cancel(id)
			}
		}
		if e, _ := c.Snapshot().Find(id); e.Status == agent.StatusStreaming {
			c.Cancel(id)
		}
	})
	do(2, func(rnd *rand.Rand) {
		switch rnd.IntN(5) {
		case 0:
			c.AddUser(text("q"))
		case 1:
			c.AddNotice("n")
		case 2:
			c.Add(toolResult("1", "r"))
		case 3:
			c.Settle("")
		case 4:
			c.SetMeta("e1", "k", "v")
		}
	})
	do(3, func(rnd *rand.Rand) {
		s := c.Snapshot()
		messages, _ := s.Messages()
		if err := checkHistory(messages); err != nil {
			t.Error(err)
		}
		n := 0
		for _, e := range s.All() {
			n += len(e.Text())
		}
		s.Usage()
		if rnd.IntN(20) == 0 {
			f, _ := c.Fork("")
			f.AddUser(text("x"))
			c.Save(&bytes.Buffer{})
		}
		if rnd.IntN(4) == 0 {
			c.Wait(t.Context(), 0)
		}
	})
	wg.Wait()
	seen := map[string]bool{}
	for _, e := range c.Snapshot().All() {
		if seen[e.ID] || e.Status == agent.StatusStreaming {
			t.Errorf("entry %s: %s", e.ID, e.Status)
		}
		seen[e.ID] = true
	}
	sendable(t, &c)
}

// TestValidAtEveryMoment: whatever is done with a conversation, in whatever order
// and wherever it stops, its messages can be sent; and what was sent up to a
// finished answer is sent again as it was.
func TestValidAtEveryMoment(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		c := &agent.Conversation{}
		var open []string
		var stable []wire.Message // up to an answer that is over, with its results
		for range 40 {
			switch rnd.IntN(12) {
			case 0, 1:
				c.AddUser(text([]string{"a", "", " ", "long text"}[rnd.IntN(4)]), text("b"))
			case 2:
				c.AddNotice("n")
			case 3, 4:
				id, _ := c.Add(agent.Entry{Role: agent.RoleAssistant, Status: agent.StatusStreaming})
				open = append(open, id)
			case 5, 6:
				if len(open) == 0 {
					break
				}
				id := open[0]
				open = open[1:]
				var parts []wire.Part
				for k := range rnd.IntN(4) {
					parts = append(parts, []wire.Part{text("t"), text(""), call(fmt.Sprint(k), "get", "{}"), {Kind: wire.PartReasoning, Text: "r"}}[rnd.IntN(4)])
				}
				evs := says(wire.FinishToolCall, parts...)
				if rnd.IntN(4) == 0 {
					evs = breaks([]wire.Cause{wire.CauseReset, wire.CauseCancelled}[rnd.IntN(2)], parts...)
				}
				for _, ev := range evs {
					c.Append(id, ev)
				}
			case 7, 8, 9:
				c.Add(toolResult(fmt.Sprint(rnd.IntN(4)), "r"))
			case 10:
				if rnd.IntN(3) == 0 {
					c, _ = c.Fork("")
					open = nil
				} else {
					c.Settle("")
				}
			case 11:
				var b bytes.Buffer
				if err := c.Save(&b); err != nil {
					t.Fatal(err)
				}
				if rnd.IntN(2) == 0 {
					loaded, _, err := agent.Load(&b)
					if err != nil {
						t.Fatal(err)
					}
					c, open = loaded, nil
				}
			}
			messages, notes := c.Snapshot().Messages()
			if err := checkHistory(messages); err != nil {
				t.Error(err)
			}
			sendable(t, c)
			if len(messages) < len(stable) || len(stable) > 0 && !cmp.Equal(stable, messages[:len(stable)], countsAlike) {
				t.Errorf("the past was %s", brief(stable))
			}
			waits := slices.ContainsFunc(notes, func(n wire.Note) bool { return n.Code == wire.NoteInserted })
			if n := len(messages); n > 0 && messages[n-1].Role != wire.RoleUser && !waits && len(open) == 0 {
				stable = messages
			}
			if t.Failed() {
				t.Fatalf("seed %d: %s", seed, brief(messages))
			}
		}
	}
}

// BenchmarkSnapshot measures a snapshot for each delta of a long stream, with a
// history of different lengths before it: the time of one must not depend on it,
// nor on how long the stream is.
func BenchmarkSnapshot(b *testing.B) {
	for _, history := range []int{0, 1000, 10_000} {
		for _, deltas := range []int{1000, 10_000} {
			b.Run(fmt.Sprintf("history=%d/deltas=%d", history, deltas), func(b *testing.B) {
				var c agent.Conversation
				for range history {
					c.AddNotice("n")
				}
				ev := wire.Event{Kind: wire.EventDelta, Part: wire.PartText, Delta: "some text "}
				b.ReportAllocs()
				for b.Loop() {
					id, _ := c.Add(agent.Entry{Role: agent.RoleAssistant, Status: agent.StatusStreaming})
					c.Append(id, wire.Event{Kind: wire.EventStart, Start: &wire.Start{}})
					c.Append(id, wire.Event{Kind: wire.EventPartStart, Part: wire.PartText})
					for range deltas {
						c.Append(id, ev)
						s := c.Snapshot()
						_ = s.Len()
					}
					c.Cancel(id)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(deltas), "ns/delta")
			})
		}
	}
}

// TestManyCalls: what a thousand calls of one answer cost, and thousands of answers
// whose calls have one id, does not grow with the cube of their number.
func TestManyCalls(t *testing.T) {
	const n = 1500
	calls, results := make([]wire.Part, n), make([]agent.Entry, n)
	for i := range n {
		id := fmt.Sprint("c", i)
		calls[i], results[i] = call(id, "get", "{}"), toolResult(id, "x")
	}
	begun := time.Now()
	var c agent.Conversation
	c.AddUser(text("q"))
	c.Add(answered(calls...))
	for _, e := range results[:n/2] {
		c.Add(e)
	}
	for range n {
		c.AddUser(text("q"))
		c.Add(answered(calls[0]))
		c.Add(results[0])
	}
	c.Snapshot().Messages()
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestNoFinish: an end that does not say how, and one beside an error, is no success.
func TestNoFinish(t *testing.T) {
	reset := &wire.Error{Cause: wire.CauseReset, Message: "it broke"}
	end := says(wire.FinishStop)[2]
	for _, tt := range []struct {
		name  string
		last  wire.Event
		err   error
		cause wire.Cause
	}{
		{"no ending", wire.Event{Kind: wire.EventEnd}, nil, wire.CauseProtocol},
		{"no ending, an error", wire.Event{Kind: wire.EventEnd}, reset, wire.CauseReset},
		{"finished, an error", end, reset, wire.CauseReset},
		{"no end, an error", wire.Event{}, reset, wire.CauseReset},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c agent.Conversation
			for range c.Record(func(yield func(wire.Event, error) bool) {
				for _, ev := range start(text("half")) {
					if !yield(ev, nil) {
						return
					}
				}
				yield(tt.last, tt.err)
			}, nil) {
			}
			if e := c.Snapshot().Entry(0); e.Status != agent.StatusError || e.Ending.Cause != tt.cause || e.Ending.Err == nil {
				t.Errorf("got %s, %+v", e.Status, e.Ending)
			}
		})
	}
}

// TestInstructionBeforeUser: an instruction that comes first, or after an answer, is
// sent behind what the user says next.
func TestInstructionBeforeUser(t *testing.T) {
	var c agent.Conversation
	system := agent.Entry{Role: agent.RoleSystem, Parts: []wire.Part{text("be brief")}}
	c.Add(system)
	sendable(t, &c)
	c.AddUser(text("q"))
	c.Add(answered(text("a")))
	c.Add(system)
	sendable(t, &c)
	c.AddUser(text("r"))
	c.Add(system)
	c.AddUser(text("s"))
	sendable(t, &c)
	messages, _ := c.Snapshot().Messages()
	if got := brief(messages); got != "user(q) system(be brief) assistant(a) user(r|s) system(be brief) system(be brief)" {
		t.Errorf("got %s", got)
	}
}
