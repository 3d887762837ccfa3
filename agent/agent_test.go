package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/wire"
)

var hello = []wire.Message{wire.UserText("hello")}

func TestTwoTurns(t *testing.T) {
	s := &script{turns: [][]wire.Event{
		says(wire.FinishToolCall, text("I look."), call("a", "get", `{"q":1}`), call("b", "get", `{"q": 2}`)),
		says(wire.FinishStop, text("Done.")),
	}}
	a := &agent.Agent{
		Model: s,
		Request: wire.Request{
			Model:  "m",
			System: []wire.Part{text("be brief")},
			Tools:  []wire.Tool{{Vendor: `{"type":"search"}`}},
		},
		Tools:       []agent.Tool{echo("get")},
		MaxParallel: 1,
	}
	p := play(t, t.Context(), a, hello, nil)
	if p.err != nil {
		t.Fatal(p.err)
	}
	want := "turn_start message tool_start tool_end tool_start tool_end message turn_start message end"
	if got := p.kinds(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var all strings.Builder
	for i := range p.events {
		all.WriteString(p.events[i].Text())
	}
	if got := all.String(); got != "I look.Done." {
		t.Errorf("text %q", got)
	}
	if r := s.requests[0]; len(r.Tools) != 2 || r.Tools[0].Vendor == "" || r.Tools[1].Name != "get" || r.System[0].Text != "be brief" {
		t.Errorf("request %+v", r)
	}
	if n := len(s.requests[1].Messages); n != 3 {
		t.Errorf("the second request has %d messages", n)
	}
	e := p.end()
	if e.Finish != wire.FinishStop || e.Turns != 2 || e.Usage.InputTokens.Value() != 20 || e.Usage.OutputTokens.Value() != 4 ||
		e.Usage.ReasoningTokens.Known() || e.Usage.Vendor != "" {
		t.Errorf("end %+v", e)
	}
	if got := resultText(p.history[2], 1); got != `{"q": 2}` {
		t.Errorf("the arguments came as %q", got)
	}
	if len(a.Request.Tools) != 1 || a.Request.Messages != nil {
		t.Error("the agent was changed")
	}
}

func TestEventJSON(t *testing.T) {
	s := &script{turns: [][]wire.Event{
		says(wire.FinishToolCall, call("a", "get", `{}`)),
		breaks(wire.CauseReset, cutOff(text("half"))),
	}}
	p := play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{echo("get")}}, hello, nil)
	for _, ev := range p.events {
		b, err := json.Marshal(ev)
		if err != nil {
			t.Fatal(err)
		}
		var back agent.Event
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, ev) {
			t.Errorf("%s came back as %+v", b, back)
		}
	}
	b, _ := json.Marshal(p.end())
	contains(t, string(b), `{"cause":"reset","error":{"cause":"reset"`, `"turns":2}`)
}

func TestUsageUnknown(t *testing.T) {
	s := &script{turns: [][]wire.Event{
		says(wire.FinishToolCall, call("a", "get", `{}`)),
		breaks(wire.CauseReset, cutOff(text("half"))),
	}}
	p := play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{echo("get")}}, hello, nil)
	if p.end().Usage.InputTokens.Known() {
		t.Error("the sum is known although the usage of a turn is not")
	}
	ev, _ := failEvent(wire.CauseConnect, "no route")
	s = &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("a", "get", `{}`)), {ev}}}
	p = play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{echo("get")}}, hello, nil)
	if got := p.end().Usage.InputTokens.String(); got != "10" {
		t.Errorf("a turn that never began makes the sum %s", got)
	}
}

func TestFinishReasons(t *testing.T) {
	const next = "turn_start message end"
	tests := []struct {
		name  string
		first []wire.Event
		kinds string
		why   wire.FinishReason
	}{
		{"tool_call without calls", says(wire.FinishToolCall, text("x")), next, wire.FinishStop},
		{"stop with a call", says(wire.FinishStop, call("a", "get", "{}")), "turn_start message tool_start tool_end message " + next, wire.FinishStop},
		{"stop with an invalid call", says(wire.FinishStop, call("a", "get", "{")), "turn_start message tool_end message " + next, wire.FinishStop},
		{"length", says(wire.FinishLength, text("x"), call("a", "get", "{}"), cutOff(call("b", "get", `{"x`))), next, wire.FinishLength},
		{"refusal", says(wire.FinishRefusal), next, wire.FinishRefusal},
		{"refusal with a call", says(wire.FinishRefusal, call("a", "get", "{}")), next, wire.FinishRefusal},
		{"content filter", says(wire.FinishContentFilter, text("x")), next, wire.FinishContentFilter},
		{"other", says(wire.FinishOther, text("x"), call("a", "get", "{}")), next, wire.FinishOther},
		{"pause", says(wire.FinishPause, text("x")), "turn_start message " + next, wire.FinishStop},
		{"pause with a call", says(wire.FinishPause, text("x"), call("a", "get", "{}")), "turn_start message " + next, wire.FinishStop},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &script{turns: [][]wire.Event{tt.first, says(wire.FinishStop, text("end"))}}
			p := play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{echo("get")}}, hello, nil)
			if p.err != nil || p.kinds() != tt.kinds || p.end().Finish != tt.why {
				t.Errorf("got %s, finish %s, error %v; want %s, %s", p.kinds(), p.end().Finish, p.err, tt.kinds, tt.why)
			}
			// The history goes on after one user message.
			s.turns = append(s.turns[:len(s.requests):len(s.requests)], says(wire.FinishStop, text("again")))
			play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{echo("get")}}, append(p.history, wire.UserText("go on")), nil)
		})
	}
}

func TestFaults(t *testing.T) {
	t.Run("F43", func(t *testing.T) {
		s := &script{turns: [][]wire.Event{
			says(wire.FinishToolCall, call("1", "raed", "{}"), call("2", "list", "{}")),
			says(wire.FinishStop, text("ok")),
		}}
		p := play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{echo("read"), echo("list")}}, hello, nil)
		r := p.history[2]
		contains(t, resultText(r, 0), `"raed"`, "read, list")
		if !r.Parts[0].IsError || r.Parts[1].IsError || resultText(r, 1) != "{}" || p.end().Turns != 2 {
			t.Errorf("results %+v", r)
		}
	})

	t.Run("F44", func(t *testing.T) {
		history := []wire.Message{
			wire.UserText("x"),
			{Role: wire.RoleAssistant, Parts: []wire.Part{call("t1", "get", "{}"), call("t2", "get", "{}")}},
			wire.ToolMessage(wire.ToolResultPart("t1", "get", text("one")), wire.ToolResultPart("t0", "get", text("orphan"))),
			wire.UserText("go on"),
		}
		s := &script{turns: [][]wire.Event{says(wire.FinishStop, text("ok"))}}
		p := play(t, t.Context(), &agent.Agent{Model: s}, history, nil)
		sent := s.requests[0].Messages
		if len(sent) != 4 || len(sent[2].Parts) != 2 || sent[2].Parts[0].IsError || !sent[2].Parts[1].IsError || sent[2].Parts[1].ID != "t2" {
			t.Errorf("sent %+v", sent)
		}
		contains(t, resultText(sent[2], 1), "No result was recorded")
		if p.history[2].Parts[1].ID != "t0" {
			t.Error("the history was changed")
		}
	})

	t.Run("F82", func(t *testing.T) {
		for _, args := range []string{`{"path":"a.txt","text":"abc`, `{"path":"a.txt"}`} {
			s := &script{turns: [][]wire.Event{
				says(wire.FinishLength, text("I write."), call("1", "write", `{}`), call("2", "write", args)),
				says(wire.FinishStop, text("ok")),
			}}
			ran := false
			write := agent.Func("write", "", "", func(context.Context, struct{}) (string, error) { ran = true; return "", nil })
			a := &agent.Agent{Model: s, Tools: []agent.Tool{write}}
			p := play(t, t.Context(), a, hello, nil)
			if p.err != nil || p.end().Finish != wire.FinishLength || p.kinds() != "turn_start message end" || len(p.last().Parts) != 3 {
				t.Errorf("%s: %+v, %v", p.kinds(), p.end(), p.err)
			}
			play(t, t.Context(), a, append(p.history, wire.UserText("go on")), nil)
			if ran {
				t.Error("a call ran")
			}
			contains(t, resultText(s.requests[1].Messages[2], 1), "length limit")
		}
	})

	t.Run("F84", func(t *testing.T) {
		search := wire.Part{Kind: wire.PartOpaque, Name: "server_tool_use", Vendor: `{"type":"server_tool_use"}`}
		s := &script{turns: [][]wire.Event{
			says(wire.FinishPause, text("I search."), search),
			says(wire.FinishStop, text("Found.")),
		}}
		p := play(t, t.Context(), &agent.Agent{Model: s}, hello, nil)
		sent := s.requests[1].Messages
		if len(sent) != 2 || !reflect.DeepEqual(sent[1], p.history[1]) || sent[1].Parts[1].Vendor != search.Vendor {
			t.Errorf("sent %+v", sent)
		}
		s = &script{turns: [][]wire.Event{says(wire.FinishPause, text("I search."), search)}, repeat: true}
		p = play(t, t.Context(), &agent.Agent{Model: s}, hello, nil)
		if len(s.requests) != agent.MaxPauses+1 || !errors.Is(p.err, agent.ErrTurnLimit) || p.end().Cause != wire.CauseLimit {
			t.Errorf("%d requests, error %v", len(s.requests), p.err)
		}
	})

	t.Run("F111", func(t *testing.T) {
		s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "get", `{"q":1}`))}, repeat: true}
		p := play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{echo("get")}, MaxTurns: 5}, hello, nil)
		var e *wire.Error
		if len(s.requests) != 5 || !errors.Is(p.err, agent.ErrTurnLimit) || !errors.As(p.err, &e) || e.Cause != wire.CauseLimit || p.end().Turns != 5 {
			t.Errorf("%d requests, %+v, error %v", len(s.requests), p.end(), p.err)
		}
		contains(t, p.err.Error(), "5 times")
		if p.last().Role != wire.RoleTool || len(p.history) != 11 {
			t.Errorf("history %+v", p.history)
		}
		s = &script{turns: s.turns, repeat: true}
		play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{echo("get")}}, hello, nil)
		if len(s.requests) != agent.DefaultMaxTurns {
			t.Errorf("%d requests by default", len(s.requests))
		}
	})

	t.Run("F112", func(t *testing.T) {
		for name, do := range map[string]func(){
			"boom":                func() { panic("boom") },
			"out of range":        func() { _ = make([]int, 1)[len(os.Args)+1] },
			"ended without a res": runtime.Goexit,
		} {
			s := &script{turns: [][]wire.Event{
				says(wire.FinishToolCall, call("1", "get", "{}"), call("2", "bad", "{}"), call("3", "get", "{}")),
				says(wire.FinishStop, text("ok")),
			}}
			bad := agent.Func("bad", "", "", func(context.Context, struct{}) (string, error) { do(); return "", nil })
			p := play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{echo("get"), bad}}, hello, nil)
			r := p.history[2]
			if p.err != nil || len(r.Parts) != 3 || r.Parts[0].IsError || !r.Parts[1].IsError || r.Parts[2].IsError {
				t.Fatalf("results %+v, error %v", r, p.err)
			}
			got := resultText(r, 1)
			contains(t, got, name)
			if name == "boom" {
				contains(t, got, `"bad"`)
			}
			if strings.Contains(got, "goroutine") || strings.Contains(got, ".go:") {
				t.Errorf("the result has a stack: %s", got)
			}
		}
	})

	t.Run("F114", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &script{turns: [][]wire.Event{
				says(wire.FinishToolCall, call("a", "slow", `{}`), call("b", "fast", `{}`)),
				says(wire.FinishStop, text("ok")),
			}}
			slow := agent.Func("slow", "", "", func(context.Context, struct{}) (string, error) { time.Sleep(time.Minute); return "", nil })
			p := play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{echo("fast"), slow}}, hello, nil)
			r := p.history[2]
			if r.Parts[0].ID != "a" || r.Parts[1].ID != "b" {
				t.Errorf("results %+v", r)
			}
			for _, ev := range p.events {
				if ev.Kind == agent.EventToolEnd && (ev.Duration == time.Minute) != (ev.Call.ID == "a") {
					t.Errorf("%s took %v", ev.Call.ID, ev.Duration)
				}
			}
		})
	})

	t.Run("F115", func(t *testing.T) {
		for _, deaf := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				defer close(release)
				ctx, cancel := context.WithCancel(t.Context())
				var cancelled bool
				b := agent.Func("b", "", "", func(ctx context.Context, _ struct{}) (string, error) {
					cancel()
					<-ctx.Done()
					cancelled = true
					if deaf {
						<-release
					}
					return "some", ctx.Err()
				})
				c := agent.Func("c", "", "", func(context.Context, struct{}) (string, error) { t.Error("c ran"); return "", nil })
				s := &script{turns: [][]wire.Event{
					says(wire.FinishToolCall, call("1", "a", `{}`), call("2", "b", `{}`), call("3", "c", `{}`)),
				}}
				begin := time.Now()
				p := play(t, ctx, &agent.Agent{Model: s, Tools: []agent.Tool{echo("a"), b, c}, MaxParallel: 1}, hello, nil)
				took := time.Since(begin)
				synctest.Wait()
				if !cancelled || deaf != (took == agent.ToolGrace) || !deaf && took != 0 {
					t.Errorf("cancelled %v after %v", cancelled, took)
				}
				if !errors.Is(p.err, context.Canceled) || p.end().Cause != wire.CauseCancelled {
					t.Errorf("error %v", p.err)
				}
				if got, want := p.kinds(), "turn_start message tool_start tool_end tool_start tool_end tool_end message end"; got != want {
					t.Errorf("got %s, want %s", got, want)
				}
				r := p.last()
				if r.Parts[0].IsError || !r.Parts[1].IsError || !r.Parts[2].IsError || resultText(r, 0) != "{}" {
					t.Errorf("results %+v", r)
				}
				contains(t, resultText(r, 1), "stopped while it ran: the user cancelled")
				contains(t, resultText(r, 2), "not started: the user cancelled")
				if !deaf {
					contains(t, resultText(r, 1), "some")
				}
				next := &script{turns: [][]wire.Event{says(wire.FinishStop, text("ok"))}}
				play(t, t.Context(), &agent.Agent{Model: next}, append(p.history, wire.UserText("go on")), nil)
			})
		}
	})

	t.Run("F116", func(t *testing.T) {
		s := &script{turns: [][]wire.Event{
			breaks(wire.CauseReset, wire.Part{Kind: wire.PartReasoning, Text: "hm", Vendor: `{"signature":"s"}`}, text("I will"), cutOff(call("a", "get", `{"q"`))),
		}}
		a := &agent.Agent{Model: s, Tools: []agent.Tool{echo("get")}}
		p := play(t, t.Context(), a, hello, nil)
		if p.kinds() != "turn_start message end" || p.end().Cause != wire.CauseReset || len(p.last().Parts) != 3 || p.last().Ending.Cause != wire.CauseReset {
			t.Errorf("%s: %+v", p.kinds(), p.end())
		}
		s = &script{turns: [][]wire.Event{says(wire.FinishStop, text("ok"))}}
		a.Model = s
		play(t, t.Context(), a, append(p.history, wire.UserText("go on")), nil)
		if want := []wire.Message{wire.UserMessage(text("hello"), text("go on"))}; !reflect.DeepEqual(s.requests[0].Messages, want) {
			t.Errorf("sent %+v, want %+v", s.requests[0].Messages, want)
		}
	})

	t.Run("F117", func(t *testing.T) {
		tool := func(name string, parts []wire.Part, err error) agent.Tool {
			return agent.Tool{Tool: wire.Tool{Name: name}, Run: func(context.Context, string) ([]wire.Part, error) { return parts, err }}
		}
		s := &script{turns: [][]wire.Event{
			says(wire.FinishToolCall, call("1", "empty", "{}"), call("2", "nil", "{}"), call("3", "both", "{}"), call("4", "blank", "{}"), call("5", "mute", "{}")),
			says(wire.FinishStop, text("ok")),
		}}
		out := []wire.Part{text("half")}
		p := play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{
			agent.Func("empty", "", "", func(context.Context, struct{}) (string, error) { return "", nil }),
			tool("nil", nil, nil),
			tool("both", out, errors.New("broke")),
			tool("blank", []wire.Part{text("")}, nil),
			tool("mute", nil, errors.New("")),
		}}, hello, nil)
		want := []wire.Part{
			wire.ToolResultPart("1", "empty"),
			wire.ToolResultPart("2", "nil"),
			wire.ToolResultPart("3", "both", text("half"), text("broke")),
			wire.ToolResultPart("4", "blank"),
			wire.ToolResultPart("5", "mute", text("The tool failed without saying why.")),
		}
		want[2].IsError, want[4].IsError = true, true
		if got := p.history[2].Parts; !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

func TestCallsThatCannotRun(t *testing.T) {
	s := &script{turns: [][]wire.Event{
		says(wire.FinishToolCall, call("1", "get", `{"q":1,}`), call("2", "get", `{"q":`), call("3", "get", ``), cutOff(call("4", "get", `{}`)), call("5", "get", `{}`)),
		says(wire.FinishStop, text("ok")),
	}}
	p := play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{echo("get")}}, hello, nil)
	r := p.history[2]
	contains(t, resultText(r, 0), "not valid JSON", "offset 7")
	contains(t, resultText(r, 1), "not valid JSON", "offset 5", "too early")
	contains(t, resultText(r, 2), "not valid JSON", "offset 0")
	contains(t, resultText(r, 3), "cut off")
	for i, p := range r.Parts {
		if p.IsError != (i < 4) {
			t.Errorf("result %d: %+v", i, p)
		}
	}
	if got := resultText(r, 4); got != "{}" {
		t.Errorf("got %q", got)
	}
	// The cut call and its result do not go out.
	if sent := s.requests[1].Messages; len(sent[1].Parts) != 4 || len(sent[2].Parts) != 4 {
		t.Errorf("sent %+v", sent)
	}
	if got := p.kinds(); strings.Count(got, "tool_start") != 1 || strings.Count(got, "tool_end") != 5 {
		t.Errorf("got %s", got)
	}
}

func TestFreeForm(t *testing.T) {
	c := call("1", "sh", "ls -l {")
	c.FreeForm = true
	s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, c), says(wire.FinishStop, text("ok"))}}
	p := play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{echo("sh")}}, hello, nil)
	if got := resultText(p.history[2], 0); got != "ls -l {" {
		t.Errorf("got %q", got)
	}
}

func TestSameIDTwice(t *testing.T) {
	s := &script{turns: [][]wire.Event{
		says(wire.FinishToolCall, call("", "get", `{"n":1}`), call("", "get", `{"n":2}`)),
		says(wire.FinishStop, text("ok")),
	}}
	play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{echo("get")}}, hello, nil)
	r := s.requests[1].Messages[2]
	if len(r.Parts) != 2 || resultText(r, 0) != `{"n":1}` || resultText(r, 1) != `{"n":2}` {
		t.Errorf("sent %+v", r)
	}
}

func TestConfig(t *testing.T) {
	s := &script{}
	none := agent.Tool{Tool: wire.Tool{Name: "x"}}
	for _, a := range []*agent.Agent{
		{},
		{Model: s, Request: wire.Request{Messages: hello}},
		{Model: s, Tools: []agent.Tool{none}},
		{Model: s, Tools: []agent.Tool{echo("")}},
		{Model: s, Tools: []agent.Tool{echo("x"), echo("x")}},
		{Model: s, Request: wire.Request{Tools: []wire.Tool{{Name: "x"}}}, Tools: []agent.Tool{echo("x")}},
	} {
		p := play(t, t.Context(), a, hello, nil)
		if p.kinds() != "end" || p.end().Cause != wire.CauseConfig || p.end().Turns != 0 {
			t.Errorf("%s, %+v, %v", p.kinds(), p.end(), p.err)
		}
	}
	if len(s.requests) != 0 {
		t.Error("the model was called")
	}
}

func TestFailedStreams(t *testing.T) {
	boom := errors.New("boom")
	half := says(wire.FinishToolCall, text("half"), call("a", "get", `{}`))
	open := start(text("half"), call("a", "get", `{}`))
	open = open[:len(open)-1] // the call is not ended
	ev, _ := failEvent(wire.CauseConnect, "no route")
	tests := []struct {
		name  string
		s     *script
		kinds string
		cause wire.Cause
		is    error
	}{
		{"before the message", &script{turns: [][]wire.Event{{ev}}}, "turn_start end", wire.CauseConnect, nil},
		{"before the parts", &script{turns: [][]wire.Event{breaks(wire.CauseIdle)}}, "turn_start end", wire.CauseIdle, nil},
		{"after a part", &script{turns: [][]wire.Event{breaks(wire.CauseVendor, text("x"))}}, "turn_start message end", wire.CauseVendor, nil},
		{"no end event", &script{turns: [][]wire.Event{half}, noEnd: true}, "turn_start message end", wire.CauseTruncated, nil},
		{"no events", &script{turns: [][]wire.Event{{}}}, "turn_start end", wire.CauseTruncated, nil},
		{"open parts and no end event", &script{turns: [][]wire.Event{open}}, "turn_start message end", wire.CauseTruncated, nil},
		{"an error without an end event", &script{turns: [][]wire.Event{half}, abrupt: fmt.Errorf("x: %w", boom)}, "turn_start message end", wire.CauseProtocol, boom},
		{"a deadline of its own", &script{turns: [][]wire.Event{half}, abrupt: context.DeadlineExceeded}, "turn_start message end", wire.CauseDeadline, context.DeadlineExceeded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := play(t, t.Context(), &agent.Agent{Model: tt.s, Tools: []agent.Tool{echo("get")}}, hello, nil)
			if p.kinds() != tt.kinds || p.end().Cause != tt.cause || p.err == nil || tt.is != nil && !errors.Is(p.err, tt.is) {
				t.Errorf("got %s, %+v, error %v", p.kinds(), p.end(), p.err)
			}
			if len(p.history) > 1 && (p.last().Ending == nil || p.last().Ending.Cause != tt.cause) {
				t.Errorf("the message ends with %+v", p.last().Ending)
			}
		})
	}
}

// TestCancelEverywhere cancels at every event of two turns with two calls, or
// leaves the loop there.
func TestCancelEverywhere(t *testing.T) {
	turns := func() [][]wire.Event {
		return [][]wire.Event{
			says(wire.FinishToolCall, wire.Part{Kind: wire.PartReasoning, Text: "hmm", Vendor: "{}"}, text("I look."), call("a", "get", `{"q":1}`), call("b", "get", `{"q":2}`)),
			says(wire.FinishStop, text("Done.")),
		}
	}
	before := runtime.NumGoroutine()
	a := &agent.Agent{Model: &script{turns: turns()}, Tools: []agent.Tool{echo("get")}}
	whole := play(t, t.Context(), a, hello, nil)
	for n := range whole.events {
		for _, how := range []string{"cancel", "cancel a deaf model", "leave", "deadline"} {
			t.Run(fmt.Sprintf("%s at %d", how, n), func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if how == "deadline" {
					var stop func()
					ctx, stop = context.WithDeadline(ctx, time.Now().Add(time.Hour))
					defer stop()
				}
				s := &script{turns: turns(), deaf: how == "cancel a deaf model"}
				var inner context.Context
				ran := 0
				get := agent.Func("get", "", "", func(ctx context.Context, in string) (string, error) { ran++; inner = ctx; return in, nil })
				a := &agent.Agent{Model: s, Tools: []agent.Tool{get}, MaxParallel: 1}
				reason := errors.New("ctrl-c")
				p := play(t, ctx, a, hello, func(i int, ev *agent.Event) bool {
					if i != n {
						return true
					}
					if how == "leave" {
						return false
					}
					cancel(reason)
					return true
				})
				if inner != nil && inner.Err() == nil {
					t.Error("the context of a tool is still alive")
				}
				starts := strings.Count(p.kinds(), "tool_start")
				if ran > starts {
					t.Errorf("%d calls ran, %d were announced", ran, starts)
				}
				if how == "leave" {
					if len(p.events) != n+1 {
						t.Errorf("%d events after leaving at %d", len(p.events), n)
					}
				} else if finished := whole.events[n].Turn == 2 && n >= len(whole.events)-3; finished != (p.err == nil) {
					t.Errorf("error %v", p.err)
				} else if !finished && (!errors.Is(p.err, context.Canceled) || p.end().Cause != wire.CauseCancelled) {
					t.Errorf("error %v, end %+v", p.err, p.end())
				}
				// The history goes on.
				next := &script{turns: [][]wire.Event{says(wire.FinishStop, text("ok"))}}
				play(t, t.Context(), &agent.Agent{Model: next}, append(p.history, wire.UserText("go on")), nil)
			})
		}
	}
	baseline(t, before)
}

// modelFunc is a model that keeps no contract.
type modelFunc func(ctx context.Context, yield func(wire.Event, error) bool)

func (f modelFunc) Stream(ctx context.Context, _ *wire.Request) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) { f(ctx, yield) }
}

// TestBadModels has models that break their contract: the run keeps its own, and
// no call runs.
func TestBadModels(t *testing.T) {
	boom := errors.New("boom")
	answer := says(wire.FinishToolCall, text("x"), call("a", "get", "{}"))
	head, end := answer[:len(answer)-1], answer[len(answer)-1]
	silent := wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: wire.CauseReset}}
	tests := []struct {
		name   string
		cancel bool
		last   func(yield func(wire.Event, error) bool)
		cause  wire.Cause
		is     error
	}{
		{"finished and an error", false, func(yield func(wire.Event, error) bool) { yield(end, boom) }, wire.CauseProtocol, boom},
		{"failed without an error", false, func(yield func(wire.Event, error) bool) { yield(silent, nil) }, wire.CauseReset, nil},
		{"failed with a bare error", false, func(yield func(wire.Event, error) bool) { yield(silent, boom) }, wire.CauseProtocol, boom},
		{"an error without a cause", false, func(yield func(wire.Event, error) bool) { yield(wire.Event{}, &wire.Error{Err: boom}) }, wire.CauseProtocol, boom},
		{"cancelled and silent", true, func(func(wire.Event, error) bool) {}, wire.CauseCancelled, context.Canceled},
		{"cancelled with another error", true, func(yield func(wire.Event, error) bool) { yield(wire.Event{}, boom) }, wire.CauseCancelled, boom},
		{"cancelled with an error that says so", false, func(yield func(wire.Event, error) bool) { yield(wire.Event{}, context.Canceled) }, wire.CauseCancelled, context.Canceled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m := modelFunc(func(_ context.Context, yield func(wire.Event, error) bool) {
				for _, ev := range head {
					if !yield(ev, nil) {
						return
					}
				}
				if tt.cancel {
					cancel()
				}
				tt.last(yield)
			})
			get := agent.Func("get", "", "", func(context.Context, struct{}) (string, error) { t.Error("a call ran"); return "", nil })
			p := &played{}
			for ev, err := range (&agent.Agent{Model: m, Tools: []agent.Tool{get}}).Run(ctx, agent.NewConversation(hello...)) {
				if ev.Model == nil || ev.Model.Kind != wire.EventEnd {
					p.events = append(p.events, ev)
				}
				p.err = err
			}
			if e := p.end(); e.Cause != tt.cause || e.Err == nil || e.Finish != "" || p.kinds() != "turn_start message end" {
				t.Errorf("%s, end %+v", p.kinds(), e.Ending)
			}
			if p.err == nil || tt.is != nil && !errors.Is(p.err, tt.is) {
				t.Errorf("error %v", p.err)
			}
		})
	}

	t.Run("more after the end", func(t *testing.T) {
		m := modelFunc(func(_ context.Context, yield func(wire.Event, error) bool) {
			for _, ev := range says(wire.FinishStop, text("x")) {
				yield(ev, nil)
			}
			if yield(head[1], nil) {
				t.Error("the stream goes on")
			}
		})
		play(t, t.Context(), &agent.Agent{Model: m}, hello, nil)
	})

	t.Run("leaving while the stream is closed", func(t *testing.T) {
		open := start(text("half"))
		open = open[:len(open)-1]
		for n := range 9 {
			p := play(t, t.Context(), &agent.Agent{Model: &script{turns: [][]wire.Event{open}}}, hello,
				func(i int, _ *agent.Event) bool { return i != n })
			if p.left && len(p.events) != n+1 {
				t.Errorf("%d events", len(p.events))
			}
		}
	})
}

func TestHelpers(t *testing.T) {
	s := &script{turns: [][]wire.Event{says(wire.FinishStop, wire.Part{Kind: wire.PartReasoning, Text: "think"}, text("say"))}}
	var said, thought string
	for ev := range (&agent.Agent{Model: s}).Run(t.Context(), agent.NewConversation(hello...)) {
		said += ev.Text()
		thought += ev.Reasoning()
	}
	if said != "say" || thought != "think" {
		t.Errorf("got %q and %q", said, thought)
	}
}

func TestNoTools(t *testing.T) {
	s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "x", "{}")), says(wire.FinishStop, text("ok"))}}
	p := play(t, t.Context(), &agent.Agent{Model: s}, hello, nil)
	contains(t, resultText(p.history[2], 0), `"x"`, "no tools")
}

func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &script{}
	p := play(t, ctx, &agent.Agent{Model: s}, hello, nil)
	if p.kinds() != "end" || p.end().Cause != wire.CauseCancelled || len(s.requests) != 0 {
		t.Errorf("%s, %+v", p.kinds(), p.end())
	}
	ctx, cancel = context.WithTimeout(t.Context(), 0)
	defer cancel()
	p = play(t, ctx, &agent.Agent{Model: s}, hello, nil)
	if p.end().Cause != wire.CauseDeadline || !errors.Is(p.err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", p.end(), p.err)
	}
}

func TestCancelCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("ctrl-c")
	cancel(reason)
	p := play(t, ctx, &agent.Agent{Model: &script{}}, hello, nil)
	if !errors.Is(p.err, reason) || !errors.Is(p.err, context.Canceled) {
		t.Errorf("error %v", p.err)
	}
}

// TestCancelInTool looks at what a tool that ends within the grace leaves.
func TestCancelInTool(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want []string
		bad  bool
	}{
		{"done", nil, []string{"out"}, false},
		{"its own error", errors.New("signal: killed"), []string{"out", "the user cancelled", "signal: killed"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				tool := agent.Func("x", "", "", func(ctx context.Context, _ struct{}) (string, error) {
					cancel()
					time.Sleep(agent.ToolGrace / 2)
					return "out", tt.err
				})
				s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "x", "{}"))}}
				p := play(t, ctx, &agent.Agent{Model: s, Tools: []agent.Tool{tool}, MaxParallel: 1}, hello, nil)
				contains(t, resultText(p.last(), 0), tt.want...)
				if p.last().Parts[0].IsError != tt.bad || p.end().Cause != wire.CauseCancelled {
					t.Errorf("%+v, %+v", p.last(), p.end())
				}
			})
		})
	}
	t.Run("deadline", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			tool := agent.Func("x", "", "", func(ctx context.Context, _ struct{}) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			})
			s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "x", "{}"), call("2", "x", "{}"))}}
			p := play(t, ctx, &agent.Agent{Model: s, Tools: []agent.Tool{tool}, MaxParallel: 1}, hello, nil)
			contains(t, resultText(p.last(), 0), "the time for the run was up")
			contains(t, resultText(p.last(), 1), "not started", "the time for the run was up")
			if p.end().Cause != wire.CauseDeadline {
				t.Errorf("%+v", p.end())
			}
		})
	})
}

// TestRunTwice ranges over one sequence twice: two runs, one after the other.
func TestRunTwice(t *testing.T) {
	s := &script{turns: [][]wire.Event{says(wire.FinishStop, text("a")), says(wire.FinishStop, text("b"))}}
	seq := (&agent.Agent{Model: s}).Run(t.Context(), agent.NewConversation(hello...))
	if len(s.requests) != 0 {
		t.Error("the model was called before the range")
	}
	for range 2 {
		var evs []agent.Event
		for ev, err := range seq {
			if evs = append(evs, ev); err != nil {
				t.Fatal(err)
			}
		}
		if err := checkRun(evs, nil); err != nil {
			t.Error(err)
		}
	}
	if len(s.requests) != 2 || len(s.requests[1].Messages) != 2 {
		t.Errorf("requests %+v", s.requests)
	}
}

// baseline waits until no more goroutines run than before.
func baseline(t *testing.T, before int) {
	t.Helper()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
