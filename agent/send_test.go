package agent_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/wire"
)

func finished(f wire.FinishReason, parts ...wire.Part) wire.Message {
	return wire.Message{Role: wire.RoleAssistant, Parts: parts, Ending: &wire.Ending{Cause: wire.CauseFinished, Finish: f}}
}

func broken(parts ...wire.Part) wire.Message {
	return wire.Message{Role: wire.RoleAssistant, Parts: parts, Vendor: "{}", Ending: &wire.Ending{Cause: wire.CauseReset, Err: &wire.Error{Cause: wire.CauseReset}}}
}

func result(id, s string) wire.Part { return wire.ToolResultPart(id, "get", text(s)) }

func noResult(id, s string) wire.Part {
	p := result(id, s)
	p.IsError = true
	return p
}

func TestSendable(t *testing.T) {
	const none = "No result was recorded for this call."
	user, next := wire.UserText("hi"), wire.UserText("go on")
	calls := finished(wire.FinishToolCall, call("a", "get", "{}"), call("b", "get", "{}"))
	nilEnding := calls
	nilEnding.Ending = nil
	open := wire.Message{Role: wire.RoleAssistant, Parts: []wire.Part{cutOff(text("hal"))}}
	reduced := broken(text("one"), text("tw"))
	reduced.Vendor = ""
	openReduced := open
	openReduced.Parts = []wire.Part{text("hal")}
	tests := []struct {
		name string
		in   []wire.Message
		want []wire.Message
	}{
		{"empty", nil, []wire.Message{}},
		{"whole", []wire.Message{user, calls, wire.ToolMessage(result("a", "1"), result("b", "2")), finished(wire.FinishStop, text("x"))}, nil},
		{"without an ending", []wire.Message{user, nilEnding, wire.ToolMessage(result("a", "1"), result("b", "2"))}, nil},
		{"system", []wire.Message{user, {Role: wire.RoleSystem, Parts: []wire.Part{text("s")}}, next}, nil},
		{
			"unfinished",
			[]wire.Message{user, broken(
				wire.Part{Kind: wire.PartReasoning, Text: "r"},
				wire.Part{Kind: wire.PartText, Text: "one", Vendor: "{}", Item: "i"},
				wire.Part{Kind: wire.PartOpaque, Vendor: "{}"}, text(" \n"), call("a", "get", "{}"), cutOff(text("tw"))),
				wire.ToolMessage(result("a", "1")), next},
			[]wire.Message{user, reduced, next},
		},
		{"unfinished without text", []wire.Message{user, broken(call("a", "get", "{}")), wire.ToolMessage(result("a", "1")), next}, []wire.Message{user, next}},
		{"still open", []wire.Message{user, open, next}, []wire.Message{user, openReduced, next}},
		{"no parts", []wire.Message{user, finished(wire.FinishStop), next}, []wire.Message{user, next}},
		{"no results", []wire.Message{user, calls, next}, []wire.Message{user, calls, wire.ToolMessage(noResult("a", none), noResult("b", none)), next}},
		{"no results at the end", []wire.Message{user, calls}, []wire.Message{user, calls, wire.ToolMessage(noResult("a", none), noResult("b", none))}},
		{"second missing", []wire.Message{calls, wire.ToolMessage(result("a", "1"))}, []wire.Message{calls, wire.ToolMessage(result("a", "1"), noResult("b", none))}},
		{"first missing", []wire.Message{calls, wire.ToolMessage(result("b", "2"))}, []wire.Message{calls, wire.ToolMessage(noResult("a", none), result("b", "2"))}},
		{"in two messages", []wire.Message{calls, wire.ToolMessage(result("a", "1")), wire.ToolMessage(result("b", "2"))}, []wire.Message{calls, wire.ToolMessage(result("a", "1"), result("b", "2"))}},
		{"in another order", []wire.Message{calls, wire.ToolMessage(result("b", "2"), result("a", "1"))}, []wire.Message{calls, wire.ToolMessage(result("a", "1"), result("b", "2"))}},
		{"twice", []wire.Message{calls, wire.ToolMessage(result("a", "1"), result("a", "3"), result("b", "2"))}, []wire.Message{calls, wire.ToolMessage(result("a", "1"), result("b", "2"))}},
		{"too late", []wire.Message{calls, user, wire.ToolMessage(result("a", "1"), result("b", "2"))}, []wire.Message{calls, wire.ToolMessage(noResult("a", none), noResult("b", none)), user}},
		{"orphans", []wire.Message{wire.ToolMessage(result("x", "1")), user, finished(wire.FinishStop, text("t")), wire.ToolMessage(result("y", "1"))}, []wire.Message{user, finished(wire.FinishStop, text("t"))}},
		{
			"cut call of a finished message",
			[]wire.Message{finished(wire.FinishLength, text("t"), call("a", "get", "{}"), cutOff(call("b", "get", "{")))},
			[]wire.Message{finished(wire.FinishLength, text("t"), call("a", "get", "{}")), wire.ToolMessage(noResult("a", "This call was not run: your output was cut at the length limit."))},
		},
		{
			"refused",
			[]wire.Message{finished(wire.FinishRefusal, call("a", "get", "{}"))},
			[]wire.Message{finished(wire.FinishRefusal, call("a", "get", "{}")), wire.ToolMessage(noResult("a", "This call was not run: your message ended with the reason refusal."))},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := deepCopy(t, tt.in)
			got := agent.Sendable(tt.in)
			want := tt.want
			if want == nil {
				want = tt.in
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got\n%+v, want\n%+v", got, want)
			}
			if !reflect.DeepEqual(deepCopy(t, tt.in), before) {
				t.Error("the history was modified")
			}
			if err := checkHistory(got); err != nil {
				t.Error(err)
			}
			if again := agent.Sendable(got); !reflect.DeepEqual(again, got) {
				t.Errorf("the second time gives\n%+v", again)
			}
		})
	}
}

// TestSendableRandom checks what holds for every history.
func TestSendableRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	part := func() wire.Part {
		id := fmt.Sprint(rnd.IntN(3))
		switch rnd.IntN(7) {
		case 0:
			return call(id, "get", "{}")
		case 1:
			return cutOff(call(id, "get", "{"))
		case 2:
			return call(id, "get", "{]")
		case 3:
			return wire.Part{Kind: wire.PartReasoning, Text: "r", Vendor: "{}"}
		case 4:
			return cutOff(text("t"))
		case 5:
			return text("")
		}
		return text("t")
	}
	for range 5000 {
		var h []wire.Message
		for range rnd.IntN(8) {
			var parts []wire.Part
			for range rnd.IntN(4) {
				parts = append(parts, part())
			}
			switch rnd.IntN(6) {
			case 0:
				h = append(h, wire.UserText("u"))
			case 1:
				h = append(h, broken(parts...))
			case 2:
				h = append(h, wire.Message{Role: wire.RoleAssistant, Parts: parts})
			case 3:
				h = append(h, finished(wire.FinishToolCall, parts...))
			default:
				m := wire.ToolMessage()
				for range rnd.IntN(4) {
					m.Parts = append(m.Parts, result(fmt.Sprint(rnd.IntN(3)), "r"))
				}
				h = append(h, m)
			}
		}
		before := deepCopy(t, h)
		got := agent.Sendable(h)
		if err := checkHistory(got); err != nil {
			t.Fatalf("%v\nfrom %+v\ngot %+v", err, h, got)
		}
		if !reflect.DeepEqual(deepCopy(t, h), before) {
			t.Fatal("the history was modified")
		}
		if again := agent.Sendable(got); !reflect.DeepEqual(again, got) {
			t.Fatalf("%+v the second time gives %+v", got, again)
		}
		// A prefix that ends where no result is due stays a prefix.
		more := append(h[:len(h):len(h)], wire.UserText("more"), finished(wire.FinishStop, text("t")))
		if longer := agent.Sendable(more); !reflect.DeepEqual(longer[:len(got)], got) {
			t.Fatalf("%+v is no beginning of %+v", got, longer)
		}
	}
}
