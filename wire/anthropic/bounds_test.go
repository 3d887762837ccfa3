package anthropic_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
)

func response(t *testing.T, events ...string) (wire.Response, []wire.Event) {
	t.Helper()
	r, evs, _ := decodeAll(t, []byte(an(events...)), wire.FramingSSE)
	return r, evs
}

// TestCallIDs: calls whose ids are missing or repeated get ids of their own, the
// same ones each time, so that the conversation can go on.
func TestCallIDs(t *testing.T) {
	tool := func(i int, id string) []string {
		return []string{evBlock(i, `{"type":"tool_use","id":`+id+`,"name":"f","input":{}}`), evEnd(i)}
	}
	var events []string
	for i, id := range []string{`"a"`, `"a"`, `""`, `null`, `"b"`} {
		events = append(events, tool(i, id)...)
	}
	events = framed("tool_use", events...)
	r, _ := response(t, events...)
	again, _ := response(t, events...)
	seen := map[string]bool{}
	var results []wire.Part
	for i, p := range r.Message.Parts {
		if p.ID == "" || seen[p.ID] || len(p.ID) > 64 || p.ID != again.Message.Parts[i].ID {
			t.Errorf("call %d has the id %q, and %q the second time", i, p.ID, again.Message.Parts[i].ID)
		}
		seen[p.ID] = true
		results = append(results, wire.ToolResultPart(p.ID, p.Name, wire.TextPart("ok")))
	}
	if !seen["a"] || !seen["b"] || len(r.Notes) != 3 || len(r.Message.ExecutableCalls()) != 5 {
		t.Errorf("ids %v, notes %v", seen, r.Notes)
	}
	var call wire.Call
	req := wire.Request{Model: "m", Messages: []wire.Message{wire.UserText("hi"), r.Message, wire.ToolMessage(results...)}}
	if err := (anthropic.Codec{}).Encode(&call, &req); err != nil || len(call.Notes) != 0 {
		t.Errorf("the conversation cannot go on: %v, %v", err, call.Notes)
	}
}

// TestNotesAreBounded: a stream that is odd without end makes few notes, and the
// last of them says that there are more.
func TestNotesAreBounded(t *testing.T) {
	events := []string{evStart}
	for range 10_000 {
		events = append(events, evEnd(7))
	}
	r, _ := response(t, events...)
	if n := len(r.Notes); n == 0 || n > 100 || !strings.Contains(r.Notes[n-1].Detail, "more notes") {
		t.Errorf("%d notes, the last of them %v", n, r.Notes[n-1])
	}
}

// TestUsageIsBounded: what is kept of the vendor's usage has a limit, and a
// snapshot does not copy it anew when nothing changed.
func TestUsageIsBounded(t *testing.T) {
	events := []string{evStart, `{"type":"message_delta","usage":{"output_tokens":1,"big":"` + strings.Repeat("x", 1<<20) + `"}}`}
	for i := range 2000 {
		events = append(events, `{"type":"message_delta","usage":{"output_tokens":`+strconv.Itoa(i)+`,"k`+strconv.Itoa(i)+`":1}}`)
	}
	r, evs := response(t, events...)
	if got := r.Usage.OutputTokens.Value(); got != 1999 {
		t.Errorf("%d output tokens", got)
	}
	if !json.Valid([]byte(r.Usage.Vendor)) || len(r.Usage.Vendor) > 32<<10 || strings.Contains(r.Usage.Vendor, "xxx") {
		t.Errorf("%d bytes of the vendor's usage", len(r.Usage.Vendor))
	}
	notes := 0
	for i := range evs {
		if evs[i].Kind == wire.EventNote {
			notes++
		}
	}
	if notes != 1 {
		t.Errorf("%d notes", notes)
	}
	same := `{"type":"message_delta","usage":{"output_tokens":5,"k":"v"}}`
	dec := anthropic.Codec{}.NewDecoder(wire.Head{})
	buf := make([]wire.Event, 0, 8)
	for _, e := range []string{evStart, same, same} {
		if _, err := dec.Decode(buf, "", []byte(e)); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = dec.Decode(buf, "", []byte(same)) }); n > 2 {
		t.Errorf("%v allocations for a snapshot in which nothing changed", n)
	}
}

// TestWrittenTwice: vendor members that the codec has written are refused, so
// that no object has a name twice.
func TestWrittenTwice(t *testing.T) {
	for name, r := range map[string]wire.Request{
		"tool":      {Tools: []wire.Tool{{Name: "a", Vendor: `{"name":"b"}`}}},
		"text":      {Messages: []wire.Message{wire.UserMessage(wire.Part{Kind: wire.PartText, Text: "hi", Vendor: `{"type":"image"}`})}},
		"system":    {System: []wire.Part{{Kind: wire.PartText, Text: "s", Vendor: `{"text":"t"}`}}},
		"media":     {Messages: []wire.Message{wire.UserMessage(wire.Part{Kind: wire.PartMedia, Media: &wire.Media{URL: "https://h.example/a.png"}, Vendor: `{"source":{}}`})}},
		"reasoning": {Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn, Vendor: `{"type":"disabled"}`}},
		"extra":     {Extra: []wire.Field{{Name: "\xff", Raw: "1"}, {Name: "\ufffd", Raw: "2"}}},
	} {
		r.Model = "m"
		if r.Messages == nil {
			r.Messages = []wire.Message{wire.UserText("hi")}
		}
		var call wire.Call
		if err := (anthropic.Codec{}).Encode(&call, &r); err == nil {
			t.Errorf("%s: sent as %s", name, call.Body)
		}
	}
}
