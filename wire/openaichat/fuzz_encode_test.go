package openaichat_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/openaichat"
)

// FuzzEncode encodes whatever a file of a request may hold, for every profile.
func FuzzEncode(f *testing.F) {
	for _, r := range []wire.Request{
		{},
		{Model: "gpt-5.1", System: []wire.Part{cached(txt("s"), "1h")}, Tools: []wire.Tool{{Name: "f", Schema: `{"type":"object"}`}, {Vendor: `{"type":"x","custom":{"name":"y"}}`}, {Name: "g", FreeForm: true, Grammar: `{"syntax":"lark"}`}},
			ToolChoice: wire.ToolChoice{Allowed: []string{"f", "y"}}, Cache: &wire.CachePolicy{Auto: true, Key: "k"}, Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn, Effort: "low", Budget: 3, Display: "omitted", Vendor: `{"a":1}`},
			Extra: []wire.Field{{Name: "verbosity", Raw: `"low"`}, {Name: "n", Raw: "1"}},
			Messages: []wire.Message{sys(txt("s")), usr(txt("u"), wire.ImagePart([]byte(encPNG)), wire.Part{Kind: wire.PartOpaque, Vendor: `{"type":"x"}`}),
				asst(thought("t", `{"field":"reasoning","reasoning_details":[{"a":1}]}`), thought("", `{"reasoning_details":[ ]}`), txt("a "), wire.Part{Kind: wire.PartRefusal, Text: "no"}, wire.ToolCallPart("c|1", "f.g", `{"a":1.0}`),
					wire.Part{Kind: wire.PartOpaque, ID: "o", Vendor: `{"id":"o"}`}),
				wire.ToolMessage(wire.ToolResultPart("c|1", "f.g", txt("r"), file(wire.Media{Type: "application/pdf", Data: []byte("x")})), wire.Part{Kind: wire.PartToolResult, ID: "o", IsError: true})}},
		{Model: "o3", Temperature: of(0.5), StopSequences: []string{"x"}, Output: &wire.OutputFormat{Kind: wire.OutputJSONSchema, Schema: `{}`}, Messages: []wire.Message{wire.UserText("\xff")}},
	} {
		b, err := json.Marshal(&r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	all := profiles()
	names := slices.Sorted(maps.Keys(all))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r wire.Request
		if json.Unmarshal(data, &r) != nil {
			t.Skip()
		}
		for _, name := range names {
			p := all[name]
			call, err := encodeReq(t, p, &r) // which checks the body, Check, and that r stays as it is
			if err != nil {
				continue
			}
			checkFuzzOrder(t, call.Body)
			reused := wire.Call{Body: []byte(strings.Repeat("x", 100)), Header: make([]wire.Header, 5), Notes: make([]wire.Note, 5)}
			if err := (openaichat.Codec{Profile: p}).Encode(&reused, &r); err != nil || string(reused.Body) != string(call.Body) {
				t.Fatalf("%s: a second encoding differs (%v)\n%s\n%s", name, err, call.Body, reused.Body)
			}
		}
	})
}

// checkFuzzOrder fails unless nothing stands between calls and their results.
func checkFuzzOrder(t *testing.T, body []byte) {
	t.Helper()
	due := 0
	for i, m := range gjson.GetBytes(body, "messages").Array() {
		if m.Get("role").Str == "tool" {
			due--
		} else if due != 0 {
			t.Fatalf("message %d stands between calls and results: %s", i, body)
		} else {
			due = len(m.Get("tool_calls").Array())
		}
	}
	if due != 0 {
		t.Fatalf("%d calls without results: %s", due, body)
	}
}
