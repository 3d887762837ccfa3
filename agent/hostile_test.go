package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/wire"
)

// returns is a tool that returns parts and err.
func returns(name string, err error, parts ...wire.Part) agent.Tool {
	return agent.Tool{
		Tool: wire.Tool{Name: name},
		Run:  func(context.Context, string) ([]wire.Part, error) { return parts, err },
	}
}

type pointerError struct{ text string }

func (e *pointerError) Error() string { return e.text }

// hostileError has methods that do what they are told.
type hostileError struct{ text, is func() }

func (e hostileError) Error() string { e.text(); return "bad luck" }
func (e hostileError) Is(error) bool { e.is(); return false }

// TestHostileErrors has tools whose errors do not keep still when asked what
// they say.
func TestHostileErrors(t *testing.T) {
	ok, boom := func() {}, func() { panic("boom") }
	worse := func() { panic(hostileError{text: func() { panic(hostileError{text: boom}) }}) }
	tests := []struct {
		name string
		err  error
		want []string
	}{
		{"a nil pointer", (*pointerError)(nil), []string{`"x" panicked`, "nil pointer"}},
		{"Error panics", hostileError{boom, ok}, []string{`"x" panicked`, "boom"}},
		{"Error panics with what panics", hostileError{worse, ok}, []string{`"x" panicked`}},
		{"Error ends the goroutine", hostileError{runtime.Goexit, ok}, []string{"ended without a result"}},
		{"Is panics", hostileError{ok, boom}, []string{"boom"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "x", "{}")), says(wire.FinishStop, text("ok"))}}
			tool := returns("x", tt.err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.name == "Is panics" {
				tool.Run = func(context.Context, string) ([]wire.Part, error) { cancel(); return nil, tt.err }
			}
			p := play(t, ctx, &agent.Agent{Model: s, Tools: []agent.Tool{tool}}, hello, nil)
			if r := p.history[2].Parts[0]; !r.IsError {
				t.Errorf("got %+v", r)
			}
			contains(t, resultText(p.history[2], 0), tt.want...)
		})
	}
}

// TestBadResults has tools that return what no protocol can send.
func TestBadResults(t *testing.T) {
	media := func(m *wire.Media) wire.Part { return wire.Part{Kind: wire.PartMedia, Media: m} }
	png := []byte("\x89PNG\r\n\x1a\n")
	bad := []struct {
		name string
		part wire.Part
		want string
	}{
		{"no kind", wire.Part{Text: "x"}, `part 1 is of the kind ""`},
		{"a call", call("a", "b", "{}"), `kind "tool_call"`},
		{"a result", wire.ToolResultPart("a", "b"), `kind "tool_result"`},
		{"reasoning", wire.Part{Kind: wire.PartReasoning, Text: "x"}, `kind "reasoning"`},
		{"opaque", wire.Part{Kind: wire.PartOpaque, Vendor: "{}"}, `kind "opaque"`},
		{"nil media", media(nil), "media without content"},
		{"no source", media(&wire.Media{Type: "image/png", Data: []byte{}}), "media without content"},
		{"bytes and a URL", media(&wire.Media{Data: png, URL: "https://example.com/a.png"}), "more than one"},
		{"a URL and a file id", media(&wire.Media{URL: "https://example.com/a.png", FileID: "f"}), "more than one"},
		{"bytes and a file id", media(&wire.Media{Data: png, FileID: "f"}), "more than one"},
		{"no image", wire.ImagePart([]byte("text")), "unknown type"},
		{"a blank type", media(&wire.Media{Type: " ", Data: []byte("x")}), "unknown type"},
	}
	for _, tt := range bad {
		t.Run(tt.name, func(t *testing.T) {
			for _, failure := range []error{nil, errors.New("broke")} {
				s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "x", "{}")), says(wire.FinishStop, text("ok"))}}
				tool := returns("x", failure, text("one"), tt.part, text("two"), tt.part)
				p := play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{tool}}, hello, nil)
				if p.err != nil {
					t.Fatal(p.err)
				}
				r := p.history[2].Parts[0]
				n := 3
				if failure != nil {
					n = 4
				}
				if !r.IsError || len(r.Parts) != n || r.Parts[0].Text != "one" || r.Parts[1].Text != "two" || failure != nil && r.Parts[3].Text != "broke" {
					t.Fatalf("got %+v", r)
				}
				contains(t, r.Parts[2].Text, `The tool "x"`, "part 1 ", tt.want)
			}
		})
	}

	good := []wire.Part{
		wire.ImagePart(png),
		media(&wire.Media{Type: "application/pdf", Data: []byte("x"), Name: "a.pdf"}),
		media(&wire.Media{URL: "https://example.com/a.png", Detail: "low"}),
		media(&wire.Media{FileID: "f"}),
		text("x"),
	}
	marked := make([]wire.Part, len(good))
	for i, p := range good {
		p.Cache, p.Vendor, p.Item, p.ID, p.Name, p.Partial = &wire.CacheMark{TTL: "1h"}, "{", "i", "id", "n", true
		marked[i] = p
	}
	marked[0].Text = "x"
	s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "x", "{}")), says(wire.FinishStop, text("ok"))}}
	p := play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{returns("x", nil, marked...)}}, hello, nil)
	if got, want := p.history[2].Parts[0], wire.ToolResultPart("1", "x", good...); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if marked[4].Vendor != "{" {
		t.Error("what the tool returned was modified")
	}
}

// TestToolContextEnds has a tool that keeps its context: it is done before the
// run goes on.
func TestToolContextEnds(t *testing.T) {
	var kept context.Context
	tool := agent.Func("x", "", "", func(ctx context.Context, _ struct{}) (string, error) { kept = ctx; return "", nil })
	s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "x", "{}")), says(wire.FinishStop, text("ok"))}}
	play(t, t.Context(), &agent.Agent{Model: s, Tools: []agent.Tool{tool}}, hello, func(_ int, ev *agent.Event) bool {
		if ev.Kind == agent.EventToolEnd {
			select {
			case <-kept.Done():
			default:
				t.Error("the tool's context is alive after the tool returned")
			}
		}
		return true
	})
}

// TestCancelAtToolStart cancels where a tool is announced: it does not run.
func TestCancelAtToolStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ran := make(chan struct{}, 1)
	tool := agent.Func("x", "", "", func(context.Context, struct{}) (string, error) { ran <- struct{}{}; return "", nil })
	s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "x", "{}"))}}
	p := play(t, ctx, &agent.Agent{Model: s, Tools: []agent.Tool{tool}}, hello, func(_ int, ev *agent.Event) bool {
		if ev.Kind == agent.EventToolStart {
			cancel()
		}
		return true
	})
	if len(ran) > 0 {
		t.Error("the tool ran")
	}
	contains(t, resultText(p.last(), 0), "not started")
}

// TestSpareCapacity looks behind the length of what the caller gave, in two runs
// of one agent at once.
func TestSpareCapacity(t *testing.T) {
	history := make([]wire.Message, 1, 16)
	history[0] = hello[0]
	tools := make([]wire.Tool, 1, 16)
	tools[0] = wire.Tool{Vendor: `{"type":"search"}`}
	a := &agent.Agent{
		Model:   forever{},
		Request: wire.Request{Tools: tools},
		Tools:   []agent.Tool{echo("get"), echo("set")},
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for _, err := range a.Run(t.Context(), agent.NewConversation(history...)) {
				if err != nil && !errors.Is(err, agent.ErrTurnLimit) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for i, m := range history[1:cap(history)] {
		if !reflect.DeepEqual(m, wire.Message{}) {
			t.Errorf("%d behind the history: %+v", i, m)
		}
	}
	for i, u := range tools[1:cap(tools)] {
		if !reflect.DeepEqual(u, wire.Tool{}) {
			t.Errorf("%d behind the tools: %+v", i, u)
		}
	}
}

// forever is a model that always calls get.
type forever struct{}

func (forever) Stream(context.Context, *wire.Request) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) {
		for _, ev := range says(wire.FinishToolCall, call("1", "get", "{}")) {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// silent is a model that returns no sequence.
type silent struct{}

func (silent) Stream(context.Context, *wire.Request) iter.Seq2[wire.Event, error] { return nil }

func TestNilStream(t *testing.T) {
	p := play(t, t.Context(), &agent.Agent{Model: silent{}}, hello, nil)
	var e *wire.Error
	if !errors.As(p.err, &e) || e.Cause != wire.CauseProtocol || p.end().Cause != wire.CauseProtocol || p.kinds() != "turn_start end" {
		t.Errorf("%s, %+v, %v", p.kinds(), p.end(), p.err)
	}
	if !strings.Contains(fmt.Sprint(p.err), "no stream") {
		t.Errorf("error %v", p.err)
	}
}
