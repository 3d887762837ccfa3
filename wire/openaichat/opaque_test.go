package openaichat_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/openaichat"
)

// TestOpaqueCalls: a call of an unknown type is one part, whatever pieces it came
// in, and is sent back as it was put together.
func TestOpaqueCalls(t *testing.T) {
	const begin = `{"index":0,"id":"x","type":"mcp","mcp":{"server":"s","arguments":"{\"a"}}`
	const whole = `{"id":"x","type":"mcp","mcp":{"server":"s","arguments":"{\"a\":1}"}}`
	end := []string{oc(`{}`, "tool_calls"), evDone}
	one := func(vendor string) []string {
		return []string{"start c1 m", "+0 opaque id=x name=mcp", "-0 opaque vendor=" + vendor, "end finished tool_call (tool_calls)"}
	}
	var each []string
	for _, c := range "{\"q\":1}" {
		each = append(each, tc(`{"index":2,"mcp":{"arguments":`+`"`+strings.ReplaceAll(string(c), `"`, `\"`)+`"}}`))
	}
	for _, tt := range []struct {
		name   string
		events []string
		want   []string
	}{
		{"by index, without a type", []string{tc(begin), tc(`{"index":0,"mcp":{"arguments":"\":1}"}}`)}, one(whole)},
		{"by index, with explicit nulls", []string{tc(begin), tc(`{"index":0,"id":null,"type":null,"function":null,"custom":null,"mcp":{"arguments":"\":1}"}}`)},
			one(`{"id":"x","type":"mcp","mcp":{"server":"s","arguments":"{\"a\":1}"},"function":null,"custom":null}`)},
		{"by index, with the type", []string{tc(begin), tc(`{"index":0,"type":"mcp","mcp":{"arguments":"\":1}"}}`)}, one(whole)},
		{"by id, without an index", []string{tc(begin), tc(`{"id":"x","mcp":{"arguments":"\":1}"}}`)}, one(whole)},
		{"by id, all of it repeated", []string{tc(begin), tc(`{"index":0,"id":"x","type":"mcp","mcp":{"arguments":"\":1}"}}`)}, one(whole)},
		{"an id that is empty", []string{tc(begin), tc(`{"index":0,"id":"","mcp":{"arguments":"\":1}"}}`)}, one(whole)},
		{"by order", []string{tc(strings.Replace(begin, `"index":0,`, "", 1)), tc(`{"mcp":{"arguments":"\":1}"}}`)}, one(whole)},
		{"in one chunk", []string{tc(begin, `{"index":0,"mcp":{"arguments":"\":1}"}}`)}, one(whole)},
		{"a piece in the form of a function", []string{tc(begin), tc(`{"index":0,"function":{"arguments":"z"}}`)},
			one(`{"id":"x","type":"mcp","mcp":{"server":"s","arguments":"{\"a"},"function":{"arguments":"z"}}`)},
		{"numbers, lists and names", []string{tc(`{"index":0,"id":"x","type":"mcp","mcp":{"n":1,"l":[1, 2],"name":"f","o":{"s":"a","k":true}}}`), tc(`{"index":0,"mcp":{"n":2,"l":[3],"name":"f","o":{"s":"\ud83c"},"new":"v"}}`), tc(`{"index":0,"mcp":{"n":null,"name":"","o":{"s":"\udf0d"}}}`)},
			one(`{"id":"x","type":"mcp","mcp":{"n":2,"l":[3],"name":"f","o":{"s":"a\ud83c\udf0d","k":true},"new":"v"}}`)},
		{"values that change their kind", []string{tc(`{"index":0,"id":"x","type":"mcp","a":{"b":"c"},"d":"e"}`), tc(`{"index":0,"a":{"b":"d"},"d":{"x":"1"}}`), tc(`{"index":0,"a":"z","d":{"x":"2"}}`)}, one(`{"id":"x","type":"mcp","a":"z","d":{"x":"12"}}`)},
		{"one piece, byte for byte", []string{tc(`{ "index":0, "id":"x", "type":"mcp", "mcp":{ "a" : 1.0 } }`)}, one(`{"id":"x","type":"mcp","mcp":{ "a" : 1.0 }}`)},
		{"one piece without an index", []string{tc(`{"id":"x", "type":"mcp","mcp":{ "a" : 1.0 } }`)}, one(`{"id":"x", "type":"mcp","mcp":{ "a" : 1.0 } }`)},
		{"an id that comes late", []string{tc(`{"index":0,"type":"mcp","mcp":{"a":"b"}}`), tc(`{"index":0,"id":"y"}`)},
			[]string{"start c1 m", "+0 opaque name=mcp", `-0 opaque id=y vendor={"type":"mcp","mcp":{"a":"b"},"id":"y"}`, "end finished tool_call (tool_calls)"}},
		{"two, by turns", []string{tc(`{"index":0,"id":"x","type":"mcp","a":"1"}`, `{"index":1,"id":"y","type":"web","a":"2"}`), tc(`{"index":0,"a":"3"}`, `{"index":1,"a":"4"}`)},
			[]string{"start c1 m", "+0 opaque id=x name=mcp", "+1 opaque id=y name=web", `-0 opaque vendor={"id":"x","type":"mcp","a":"13"}`, `-1 opaque vendor={"id":"y","type":"web","a":"24"}`, "end finished tool_call (tool_calls)"}},
		{"two of one index", []string{tc(`{"index":0,"id":"x","type":"mcp","a":"1"}`), tc(`{"index":0,"id":"y","type":"mcp","a":"2"}`), tc(`{"index":0,"a":"3"}`)},
			[]string{"start c1 m", "+0 opaque id=x name=mcp", "+1 opaque id=y name=mcp", `-0 opaque vendor={"id":"x","type":"mcp","a":"1"}`, `-1 opaque vendor={"id":"y","type":"mcp","a":"23"}`, "end finished tool_call (tool_calls)"}},
		{"two of one id", []string{tc(`{"index":0,"id":"x","type":"mcp","a":"1"}`, `{"index":1,"id":"x","type":"mcp","a":"2"}`), tc(`{"index":0,"a":"3"}`)},
			[]string{"start c1 m", "+0 opaque id=x name=mcp", "+1 opaque id=x name=mcp", `-0 opaque vendor={"id":"x","type":"mcp","a":"13"}`, `-1 opaque vendor={"id":"x","type":"mcp","a":"2"}`, "end finished tool_call (tool_calls)"}},
		{"a function of the same index after it", []string{tc(`{"index":0,"id":"x","type":"mcp","a":"1"}`), tc(`{"index":0,"id":"f1","function":{"name":"f","arguments":"{"}}`), tc(`{"index":0,"function":{"arguments":"}"}}`)},
			[]string{"start c1 m", "+0 opaque id=x name=mcp", "+1 tool_call id=f1 name=f", ` 1 "{"`, ` 1 "}"`, `-0 opaque vendor={"id":"x","type":"mcp","a":"1"}`, "-1 tool_call", "end finished tool_call (tool_calls)"}},
		{"a function of the same index before it", []string{tc(`{"index":0,"id":"f1","function":{"name":"f","arguments":"{"}}`), tc(`{"index":0,"function":{"arguments":"\"a\""}}`), tc(`{"index":0,"id":"x","type":"mcp"}`), tc(`{"index":0,"type":null,"function":{"arguments":":1"}}`), tc(`{"index":0,"b":"c"}`), tc(`{"id":"f1","function":{"arguments":"}"}}`)},
			[]string{"start c1 m", "+0 tool_call id=f1 name=f", ` 0 "{"`, ` 0 "\"a\""`, "+1 opaque id=x name=mcp", ` 0 ":1"`, ` 0 "}"`, "-0 tool_call", `-1 opaque vendor={"id":"x","type":"mcp","b":"c"}`, "end finished tool_call (tool_calls)"}},
		{"a function before it", append([]string{tc(`{"index":1,"id":"f1","function":{"name":"f","arguments":"{"}}`), tc(`{"index":2,"id":"x","type":"mcp"}`), tc(`{"index":1,"function":{"arguments":"}"}}`)}, each...),
			[]string{"start c1 m", "+0 tool_call id=f1 name=f", ` 0 "{"`, "+1 opaque id=x name=mcp", ` 0 "}"`, "-0 tool_call", `-1 opaque vendor={"id":"x","type":"mcp","mcp":{"arguments":"{\"q\":1}"}}`, "end finished tool_call (tool_calls)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp, evs, err := decodeBody(t, openCodec, strings.NewReader(sse(append(tt.events, end...)...)), wire.FramingSSE)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, inWords(evs)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			ms := []wire.Message{wire.UserText("u"), resp.Message}
			var results, blocks []string
			for _, p := range resp.Message.Parts {
				ms = append(ms, wire.ToolMessage(wire.ToolResultPart(p.ID, p.Name, txt("r"))))
				results = append(results, `"tool_call_id":"`+p.ID+`"`)
				if p.Kind == wire.PartOpaque {
					blocks = append(blocks, p.Vendor)
				}
			}
			if tt.name == "two of one id" {
				return // which no request can hold
			}
			call, err := encodeReq(t, openaichat.OpenAI(), &wire.Request{Model: "m", Messages: ms})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range append(results, blocks...) {
				if !strings.Contains(string(call.Body), s) {
					t.Errorf("%s is not in %s", s, call.Body)
				}
			}
		})
	}
}

// TestOpaqueCallsCut: what was cut off is marked, and what is too much ends the
// stream.
func TestOpaqueCallsCut(t *testing.T) {
	begin, more := tc(`{"index":0,"id":"x","type":"mcp","a":"1"}`), tc(`{"index":0,"a":"2"}`)
	const vendor = `{"id":"x","type":"mcp","a":"12"}`
	for _, tt := range []struct {
		name    string
		events  []string
		partial bool
		cause   wire.Cause
	}{
		{"whole", []string{begin, more, oc(`{}`, "tool_calls"), evDone}, false, wire.CauseFinished},
		{"whole, without a mark of the end", []string{begin, more, oc(`{}`, "tool_calls")}, false, wire.CauseFinished},
		{"the limit was reached", []string{begin, more, oc(`{}`, "length"), evDone}, true, wire.CauseFinished},
		{"the body ended before a reason", []string{begin, more}, true, wire.CauseTruncated},
		{"the body ended, and every chunk had a reason", []string{strings.Replace(begin, "null}", `"tool_calls"}`, 1), strings.Replace(more, "null}", `"tool_calls"}`, 1)}, true, wire.CauseFinished},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp, _, _ := decodeBody(t, openCodec, strings.NewReader(sse(tt.events...)), wire.FramingSSE)
			if len(resp.Message.Parts) != 1 || resp.Message.Parts[0].Vendor != vendor || resp.Message.Parts[0].Partial != tt.partial || resp.Message.Ending.Cause != tt.cause {
				t.Errorf("%+v, %+v", resp.Message.Parts, resp.Message.Ending)
			}
		})
	}
	big := tc(`{"index":0,"a":"` + strings.Repeat("x", 1<<20) + `"}`)
	many := []string{begin}
	for range 9 {
		many = append(many, big)
	}
	resp, _, err := decodeBody(t, openCodec, strings.NewReader(sse(many...)), wire.FramingSSE)
	if e := wire.AsError(err, ""); e.Cause != wire.CauseLimit || len(resp.Message.Parts) != 1 || len(resp.Message.Parts[0].Vendor) > 8<<20 {
		t.Errorf("nine megabytes: %v", err)
	}
	many = nil
	for range 1025 {
		many = append(many, tc(`{"type":"mcp"}`))
	}
	if _, _, err := decodeBody(t, openCodec, strings.NewReader(sse(many...)), wire.FramingSSE); wire.AsError(err, "").Cause != wire.CauseLimit {
		t.Errorf("1025 calls: %v", err)
	}
}
