package anthropic_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
	"github.com/handwire/handwire/wire/stream"
)

// an makes the server-sent events of JSON texts, each named for its type.
func an(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		if typ := gjson.Get(e, "type").Str; typ != "" {
			b.WriteString("event: " + typ + "\n")
		}
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
}

// The events of most streams. Usage is left out where it does not matter.
const (
	evStart = `{"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"claude-opus-4-8","content":[],"stop_reason":null,"stop_sequence":null}}`
	evStop  = `{"type":"message_stop"}`
	evPing  = `{"type":"ping"}`
)

func evBlock(i int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, block)
}

func evDelta(i int, delta string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, delta)
}

func evText(i int, s string) string {
	return evDelta(i, `{"type":"text_delta","text":`+s+`}`)
}

func evArgs(i int, s string) string {
	return evDelta(i, `{"type":"input_json_delta","partial_json":`+s+`}`)
}

func evEnd(i int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i) }

func evReason(s string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + s + `","stop_sequence":null}}`
}

const (
	blockText  = `{"type":"text","text":""}`
	blockTool  = `{"type":"tool_use","id":"t1","name":"f","input":{}}`
	blockThink = `{"type":"thinking","thinking":"","signature":""}`
)

// render says in words what events hold.
func render(evs []wire.Event) []string {
	var out []string
	data := func(p *wire.Part) string {
		if p == nil {
			return ""
		}
		s := ""
		for _, f := range [...]struct{ name, v string }{{"id", p.ID}, {"name", p.Name}, {"vendor", p.Vendor}} {
			if f.v != "" {
				s += " " + f.name + "=" + f.v
			}
		}
		if p.Partial {
			s += " partial"
		}
		return s
	}
	for _, ev := range evs {
		switch ev.Kind {
		case wire.EventStart:
			out = append(out, fmt.Sprintf("start %s %s", ev.Start.Origin.ResponseID, ev.Start.Origin.Model))
		case wire.EventPartStart, wire.EventPartEnd:
			verb := "+"
			if ev.Kind == wire.EventPartEnd {
				verb = "-"
			}
			out = append(out, fmt.Sprintf("%s%d %s%s", verb, ev.Index, ev.Part, data(ev.Data)))
		case wire.EventDelta:
			out = append(out, fmt.Sprintf(" %d %q", ev.Index, ev.Delta))
		case wire.EventUsage:
			u := ev.Usage
			s := "usage"
			for _, f := range [...]struct {
				name string
				c    wire.Count
			}{{"in", u.InputTokens}, {"fresh", u.UncachedInputTokens}, {"read", u.CacheReadTokens}, {"write", u.CacheCreationTokens},
				{"write1h", u.CacheCreation1hTokens}, {"out", u.OutputTokens}, {"reason", u.ReasoningTokens}} {
				if f.c.Known() {
					s += " " + f.name + ":" + f.c.String()
				}
			}
			out = append(out, s)
		case wire.EventNote:
			out = append(out, fmt.Sprintf("note %s %s", ev.Note.Code, ev.Note.Path))
		case wire.EventOther:
			out = append(out, "other "+ev.Raw)
		case wire.EventEnd:
			e := ev.End
			s := "end " + string(e.Cause)
			if e.Finish != "" {
				s += " " + string(e.Finish)
			}
			if e.VendorFinish != "" {
				s += " (" + e.VendorFinish + ")"
			}
			if e.Detail != "" {
				s += " detail=" + e.Detail
			}
			if e.Err != nil && e.Err.Class != "" {
				s += " " + string(e.Err.Class)
			}
			if e.Cause == wire.CauseVendor {
				s += " " + e.Err.Type + ": " + e.Err.Message
			}
			if ev.Raw != "" {
				s += " raw=" + ev.Raw
			}
			out = append(out, s)
		}
	}
	return out
}

type decodeCase struct {
	name   string
	events []string // JSON; one that begins with "event:" or "data:" is taken as it stands
	want   []string
}

func (tc *decodeCase) body() string {
	var b strings.Builder
	for _, e := range tc.events {
		if strings.HasPrefix(e, "event:") || strings.HasPrefix(e, "data:") {
			b.WriteString(e)
		} else {
			b.WriteString(an(e))
		}
	}
	return b.String()
}

// framed puts events between the start and the end of a message.
func framed(reason string, events ...string) []string {
	return append(append([]string{evStart}, events...), evReason(reason), evStop)
}

const (
	rStart = "start m1 claude-opus-4-8"
	rEnd   = "end finished stop (end_turn)"
)

var decodeCases = []decodeCase{
	{"text", framed("end_turn", evBlock(0, blockText), evPing, evText(0, `"he"`), evText(0, `"llo \ud83c\udf0d\n"`), evText(0, `""`), evEnd(0)),
		[]string{rStart, "+0 text", ` 0 "he"`, ` 0 "llo 🌍\n"`, "-0 text", rEnd}},
	{"text in the block start", framed("end_turn", evBlock(0, `{"type":"text","text":"so ","citations":null}`), evText(0, `"it goes"`), evEnd(0)),
		[]string{rStart, "+0 text", ` 0 "so "`, ` 0 "it goes"`, "-0 text", rEnd}},
	{"white space is content", framed("end_turn", evBlock(0, blockText), evText(0, `" "`), evText(0, `"\n\n"`), evEnd(0)),
		[]string{rStart, "+0 text", ` 0 " "`, ` 0 "\n\n"`, "-0 text", rEnd}},
	{"thinking", framed("end_turn", evBlock(0, blockThink), evDelta(0, `{"type":"thinking_delta","thinking":"hm"}`),
		evDelta(0, `{"type":"signature_delta","signature":"AbC\/"}`), evDelta(0, `{"type":"signature_delta","signature":"d=="}`), evEnd(0)),
		[]string{rStart, "+0 reasoning", ` 0 "hm"`, `-0 reasoning vendor={"signature":"AbC\/d=="}`, rEnd}},
	{"thinking without words", framed("end_turn", evBlock(0, blockThink), evDelta(0, `{"type":"signature_delta","signature":"S"}`), evEnd(0)),
		[]string{rStart, "+0 reasoning", `-0 reasoning vendor={"signature":"S"}`, rEnd}},
	{"thinking with all in the block start", framed("end_turn", evBlock(0, `{"type":"thinking","thinking":"hm","signature":"S"}`), evEnd(0)),
		[]string{rStart, "+0 reasoning", ` 0 "hm"`, `-0 reasoning vendor={"signature":"S"}`, rEnd}},
	{"redacted thinking", framed("end_turn", evBlock(0, `{"type":"redacted_thinking","data":"Zm9v"}`), evEnd(0)),
		[]string{rStart, `+0 reasoning vendor={"data":"Zm9v"}`, "-0 reasoning", rEnd}},
	{"tool", framed("tool_use", evBlock(0, blockTool), evArgs(0, `""`), evArgs(0, `"{\"a\": "`), evArgs(0, `"1.0}"`), evEnd(0)),
		[]string{rStart, "+0 tool_call id=t1 name=f", ` 0 "{\"a\": "`, ` 0 "1.0}"`, "-0 tool_call", "end finished tool_call (tool_use)"}},
	{"tool without arguments", framed("tool_use", evBlock(0, blockTool), evEnd(0)),
		[]string{rStart, "+0 tool_call id=t1 name=f", ` 0 "{}"`, "-0 tool_call", "end finished tool_call (tool_use)"}},
	{"tool with empty arguments", framed("tool_use", evBlock(0, blockTool), evArgs(0, `""`), evArgs(0, `null`), evEnd(0)),
		[]string{rStart, "+0 tool_call id=t1 name=f", ` 0 "{}"`, "-0 tool_call", "end finished tool_call (tool_use)"}},
	{"tool with its arguments in the block start", framed("tool_use", evBlock(0, `{"type":"tool_use","id":"t1","name":"f","input":{"a": 1.0}}`), evArgs(0, `""`), evEnd(0)),
		[]string{rStart, "+0 tool_call id=t1 name=f", ` 0 "{\"a\": 1.0}"`, "-0 tool_call", "end finished tool_call (tool_use)"}},
	{"tool with arguments in both places", framed("tool_use", evBlock(0, `{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}`), evArgs(0, `"{\"b\":2}"`), evEnd(0)),
		[]string{rStart, "+0 tool_call id=t1 name=f", ` 0 "{\"b\":2}"`, "note odd content_block_start", "-0 tool_call", "end finished tool_call (tool_use)"}},
	{"whole message within a stream", []string{evStart, `{"type":"message","id":"m1","content":[{"type":"text","text":"late"}],"stop_reason":"end_turn"}`},
		[]string{rStart, `other {"type":"message","id":"m1","content":[{"type":"text","text":"late"}],"stop_reason":"end_turn"}`, "note odd message", "end truncated"}},
	{"text of a block that is a number", framed("end_turn", evBlock(0, `{"type":"text","text":5}`), evEnd(0)),
		[]string{rStart, "+0 text", "other " + evBlock(0, `{"type":"text","text":5}`), "note odd content_block_start", "-0 text", rEnd}},
	{"tool with null input", framed("tool_use", evBlock(0, `{"type":"tool_use","id":"t1","name":"f","input":null}`), evEnd(0)),
		[]string{rStart, "+0 tool_call id=t1 name=f", ` 0 "{}"`, "-0 tool_call", "end finished tool_call (tool_use)"}},
	{"tool with an object as delta", framed("tool_use", evBlock(0, blockTool), evArgs(0, `{"a":1}`), evEnd(0)),
		[]string{rStart, "+0 tool_call id=t1 name=f", ` 0 "{\"a\":1}"`, "-0 tool_call", "end finished tool_call (tool_use)"}},
	{"tool with a caller", framed("tool_use", evBlock(0, `{"type":"tool_use","id":"t1","name":"f","input":{},"caller":{"type":"direct"},"toolset_name":null}`), evEnd(0)),
		[]string{rStart, `+0 tool_call id=t1 name=f vendor={"caller":{"type":"direct"}}`, ` 0 "{}"`, "-0 tool_call", "end finished tool_call (tool_use)"}},
	{"citations", framed("end_turn", evBlock(0, `{"type":"text","text":"","citations":[ ]}`), evText(0, `"x"`), evDelta(0, `{"type":"citations_delta","citation":{"n": 1.0}}`),
		evDelta(0, `{"type":"citations_delta","citation":{"s":"\u00e9"}}`), evEnd(0)),
		[]string{rStart, "+0 text", ` 0 "x"`, `-0 text vendor={"citations":[{"n": 1.0},{"s":"\u00e9"}]}`, rEnd}},
	{"tool of the server's", framed("end_turn", evBlock(0, `{"type":"server_tool_use","id":"s1","name":"web_search","input":{},"x":1.0}`), evArgs(0, `"{\"query\":"`), evArgs(0, `"\"a b\"}"`), evEnd(0),
		evBlock(1, `{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"u":"<>"}]}`), evEnd(1)),
		[]string{rStart, `+0 opaque id=s1 name=server_tool_use vendor={"type":"server_tool_use","id":"s1","name":"web_search","input":{},"x":1.0}`,
			"other " + evArgs(0, `"{\"query\":"`), "other " + evArgs(0, `"\"a b\"}"`),
			`-0 opaque vendor={"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"a b"},"x":1.0}`,
			`+1 opaque name=web_search_tool_result vendor={"type":"web_search_tool_result","tool_use_id":"s1","content":[{"u":"<>"}]}`, "-1 opaque", rEnd}},
	{"tool of the server's with its input in the block start", framed("end_turn", evBlock(0, `{"type":"server_tool_use","id":"s1","input":{"q":"x"}}`), evArgs(0, `""`), evEnd(0)),
		[]string{rStart, `+0 opaque id=s1 name=server_tool_use vendor={"type":"server_tool_use","id":"s1","input":{"q":"x"}}`, "other " + evArgs(0, `""`),
			`-0 opaque vendor={"type":"server_tool_use","id":"s1","input":{"q":"x"}}`, rEnd}},
	{"tool of the server's with an object as delta", framed("end_turn", evBlock(0, `{"type":"server_tool_use","id":"s1","input":{}}`), evArgs(0, `{"q":"x"}`), evEnd(0)),
		[]string{rStart, `+0 opaque id=s1 name=server_tool_use vendor={"type":"server_tool_use","id":"s1","input":{}}`, "other " + evArgs(0, `{"q":"x"}`),
			`-0 opaque vendor={"type":"server_tool_use","id":"s1","input":{"q":"x"}}`, rEnd}},
	{"compaction", framed("compaction", evBlock(0, `{"type":"compaction","content":null}`), evDelta(0, `{"type":"compaction_delta","content":"so far: ","encrypted_content":"E1"}`),
		evDelta(0, `{"type":"compaction_delta","content":"much","encrypted_content":null}`), evEnd(0)),
		[]string{rStart, `+0 opaque name=compaction vendor={"type":"compaction","content":null}`,
			"other " + evDelta(0, `{"type":"compaction_delta","content":"so far: ","encrypted_content":"E1"}`), "other " + evDelta(0, `{"type":"compaction_delta","content":"much","encrypted_content":null}`),
			`-0 opaque vendor={"type":"compaction","content":"so far: much","encrypted_content":"E1"}`, "end finished pause (compaction)"}},
	{"interleaved blocks", framed("tool_use", evBlock(0, blockText), evBlock(1, blockTool), evText(0, `"a"`), evArgs(1, `"{"`), evText(0, `"b"`), evEnd(0), evArgs(1, `"}"`), evEnd(1)),
		[]string{rStart, "+0 text", "+1 tool_call id=t1 name=f", ` 0 "a"`, ` 1 "{"`, ` 0 "b"`, "-0 text", ` 1 "}"`, "-1 tool_call", "end finished tool_call (tool_use)"}},
	{"indices with gaps", framed("end_turn", evBlock(7, blockText), evText(7, `"a"`), evEnd(7), evBlock(3, blockText), evText(3, `"b"`), evEnd(3)),
		[]string{rStart, "+0 text", ` 0 "a"`, "-0 text", "note odd content_block_start", "+1 text", ` 1 "b"`, "-1 text", rEnd}},
	{"huge index", framed("end_turn", evBlock(2147483647, blockText), evText(2147483647, `"a"`), evEnd(2147483647)),
		[]string{rStart, "+0 text", ` 0 "a"`, "-0 text", rEnd}},
	{"index out of all bounds", []string{evStart, `{"type":"content_block_start","index":1e300,"content_block":{"type":"text"}}`}, []string{rStart, "end protocol_error"}},
	{"negative index", []string{evStart, evBlock(-1, blockText)}, []string{rStart, "end protocol_error"}},
	{"index that is no whole number", []string{evStart, `{"type":"content_block_start","index":0.5,"content_block":{"type":"text"}}`}, []string{rStart, "end protocol_error"}},
	{"index in words", []string{evStart, `{"type":"content_block_start","index":"0","content_block":{"type":"text"}}`}, []string{rStart, "end protocol_error"}},
	{"no index", []string{evStart, `{"type":"content_block_start","content_block":{"type":"text"}}`}, []string{rStart, "end protocol_error"}},
	{"no block", []string{evStart, `{"type":"content_block_start","index":0}`}, []string{rStart, "end protocol_error"}},
	{"unknown event", framed("end_turn", `{"type":"brand_new","x":[1]}`), []string{rStart, `other {"type":"brand_new","x":[1]}`, rEnd}},
	{"unknown block", framed("end_turn", evBlock(0, `{"type":"brand_new","n":1.0}`), evDelta(0, `{"type":"brand_new_delta","n":2}`), evEnd(0)),
		[]string{rStart, `+0 opaque name=brand_new vendor={"type":"brand_new","n":1.0}`, "other " + evDelta(0, `{"type":"brand_new_delta","n":2}`), `-0 opaque vendor={"type":"brand_new","n":2}`, rEnd}},
	{"unknown delta", framed("end_turn", evBlock(0, blockText), evDelta(0, `{"type":"brand_new_delta","n":2}`), evText(0, `"a"`), evEnd(0)),
		[]string{rStart, "+0 text", "other " + evDelta(0, `{"type":"brand_new_delta","n":2}`), "note odd content_block_delta", ` 0 "a"`, "-0 text", rEnd}},
	{"delta of another block's type", framed("end_turn", evBlock(0, blockText), evArgs(0, `"{"`), evEnd(0)),
		[]string{rStart, "+0 text", "other " + evArgs(0, `"{"`), "note odd content_block_delta", "-0 text", rEnd}},
	{"delta with all the members that there are", framed("end_turn", evBlock(0, blockText), evDelta(0, `{"type":"text_delta","text":"a","partial_json":"","thinking":null}`), evEnd(0)),
		[]string{rStart, "+0 text", ` 0 "a"`, "-0 text", rEnd}},
	{"null text", framed("end_turn", evBlock(0, `{"type":"text","text":null}`), evText(0, "null"), evEnd(0)), []string{rStart, "+0 text", "-0 text", rEnd}},
	{"text that is none", framed("end_turn", evBlock(0, blockText), evText(0, "5"), evEnd(0)),
		[]string{rStart, "+0 text", "other " + evText(0, "5"), "note odd content_block_delta", "-0 text", rEnd}},
	{"delta of a closed block", framed("end_turn", evBlock(0, blockText), evEnd(0), evText(0, `"late"`)),
		[]string{rStart, "+0 text", "-0 text", "other " + evText(0, `"late"`), "note odd content_block_delta", rEnd}},
	{"block stopped twice", framed("end_turn", evBlock(0, blockText), evEnd(0), evEnd(0)), []string{rStart, "+0 text", "-0 text", "note odd content_block_stop", rEnd}},
	{"block started twice", framed("end_turn", evBlock(0, blockText), evText(0, `"a"`), evBlock(0, blockText), evText(0, `"b"`), evEnd(0)),
		[]string{rStart, "+0 text", ` 0 "a"`, "note odd content_block_start", "-0 text partial", "+1 text", ` 1 "b"`, "-1 text", rEnd}},
	{"several message deltas", []string{evStart, `{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`,
		`{"type":"message_delta","delta":{"stop_reason":null},"context_management":{"applied_edits":[ ]}}`, evStop},
		[]string{rStart, rEnd + ` raw={"context_management":{"applied_edits":[ ]}}`}},
	{"members of the message", []string{`{"type":"message_start","message":{"id":"m1","model":"claude-opus-4-8","role":"assistant","container":{"id":"c1"},"input_transformations":[]}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn","container":{"id":"c2"},"input_transformations":null}}`, evStop},
		[]string{rStart, rEnd + ` raw={"container":{"id":"c2"},"input_transformations":[]}`}},
	{"message started twice", framed("end_turn", evStart, evBlock(0, blockText), evEnd(0)), []string{rStart, "note odd message_start", "+0 text", "-0 text", rEnd}},
	{"another message started", []string{evStart, evBlock(0, blockText), evText(0, `"a"`), strings.Replace(evStart, "m1", "m2", 1), evStop},
		[]string{rStart, "+0 text", ` 0 "a"`, "-0 text partial", "end protocol_error"}},
	{"content in the message start", []string{`{"type":"message_start","message":{"id":"m1","model":"claude-opus-4-8","content":[{"type":"text","text":"a"}]}}`, evBlock(0, blockText), evText(0, `"b"`), evEnd(0), evReason("end_turn"), evStop},
		[]string{rStart, "+0 text", ` 0 "a"`, "-0 text", "+1 text", ` 1 "b"`, "-1 text", rEnd}},
	{"null content in the message start", []string{`{"type":"message_start","message":{"id":"m1","model":"claude-opus-4-8","content":null,"usage":null}}`, evReason("end_turn"), evStop}, []string{rStart, rEnd}},
	{"usage", []string{
		`{"type":"message_start","message":{"id":"m1","model":"claude-opus-4-8","usage":{"input_tokens":27,"cache_creation_input_tokens":100,"cache_read_input_tokens":300,"cache_creation":{"ephemeral_5m_input_tokens":60,"ephemeral_1h_input_tokens":40},"output_tokens":1,"service_tier":"standard"}}}`,
		`{"type":"message_delta","delta":{},"usage":{"output_tokens":20}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":30,"cache_creation_input_tokens":null,"cache_read_input_tokens":310,"output_tokens":47,"output_tokens_details":{"thinking_tokens":9}}}`, evStop},
		[]string{rStart, "usage in:427 fresh:27 read:300 write:100 write1h:40 out:1", "usage in:427 fresh:27 read:300 write:100 write1h:40 out:20",
			"usage in:440 fresh:30 read:310 write:100 write1h:40 out:47 reason:9", rEnd}},
	{"usage without cache", []string{`{"type":"message_start","message":{"id":"m1","model":"claude-opus-4-8","usage":{"input_tokens":3}}}`, evReason("end_turn"), evStop},
		[]string{rStart, "usage in:3 fresh:3", rEnd}},
	{"usage that is none", []string{`{"type":"message_start","message":{"id":"m1","model":"claude-opus-4-8","usage":[]}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":-1,"input_tokens":"3","cache_read_input_tokens":1e300}}`, evStop},
		[]string{rStart, "usage", rEnd}},
	{"no event names", []string{"data: " + evStart + "\n\n", "data: " + evBlock(0, blockText) + "\n\n", "data: " + evText(0, `"a"`) + "\n\n", "data: " + evEnd(0) + "\n\n",
		"data: " + evReason("end_turn") + "\n\n", "data: " + evStop + "\n\n"}, []string{rStart, "+0 text", ` 0 "a"`, "-0 text", rEnd}},
	{"name against type", []string{"event: error\ndata: " + evStart + "\n\n", evReason("end_turn"), evStop}, []string{rStart, rEnd}},
	{"types left to the event names", []string{`event: message_start` + "\n" + `data: {"message":{"id":"m1","model":"claude-opus-4-8"}}` + "\n\n",
		`event: message_delta` + "\n" + `data: {"delta":{"stop_reason":"end_turn"}}` + "\n\n", "event: message_stop\ndata: {}\n\n"}, []string{rStart, rEnd}},
	{"neither name nor type", framed("end_turn", `data: {"hello":1}`+"\n\n"), []string{rStart, `other {"hello":1}`, rEnd}},
	{"neither name nor type, before the start", append([]string{`data: {"hello":1}` + "\n\n"}, framed("end_turn")...), []string{`other {"hello":1}`, rStart, rEnd}},
	{"padded data", []string{"data:   " + evStart + " \t\n\n", "data: " + evReason("end_turn") + "\ndata: \n\n", evStop}, []string{rStart, rEnd}},
	{"done, and nothing at all", []string{"data: \n\n", "event: ping\ndata: \n\n", evStart, "data: [DONE]\n\n", evReason("end_turn"), evStop, "data: [DONE]\n\n"}, []string{rStart, rEnd}},
	{"blank data", []string{"data:  \n\n", evStart, "event: ping\ndata:  \t \n\n", evReason("end_turn"), evStop}, []string{rStart, rEnd}},
	{"nothing after the end", framed("end_turn"), []string{rStart, rEnd}},
	{"more after the end", append(framed("end_turn"), "data: not JSON\n\n", evStart, `{"type":"error","error":{}}`), []string{rStart, rEnd}},
	{"no JSON", []string{evStart, "data: {\"type\":\"ping\"\n\n"}, []string{rStart, "end protocol_error"}},
	{"an array", []string{evStart, "data: [1]\n\n"}, []string{rStart, "end protocol_error"}},
	{"a string", []string{evStart, "data: \"x\"\n\n"}, []string{rStart, "end protocol_error"}},
	{"null", []string{evStart, "data: null\n\n"}, []string{rStart, "end protocol_error"}},
	{"delta before the start", []string{evText(0, `"a"`)}, []string{"end protocol_error"}},
	{"block before the start", []string{evBlock(0, blockText)}, []string{"end protocol_error"}},
	{"end of a block before the start", []string{evEnd(0)}, []string{"end protocol_error"}},
	{"reason before the start", []string{evReason("end_turn")}, []string{"end protocol_error"}},
	{"stop before the start", []string{evStop}, []string{"end truncated"}},
	{"ping before the start", append([]string{evPing}, framed("end_turn")...), []string{rStart, rEnd}},
	{"stop without a reason", []string{evStart, evBlock(0, blockText), evText(0, `"a"`), evEnd(0), evStop}, []string{rStart, "+0 text", ` 0 "a"`, "-0 text", "end truncated"}},
	{"stop with a null reason", []string{evStart, `{"type":"message_delta","delta":{"stop_reason":null}}`, evStop}, []string{rStart, "end truncated"}},
	{"stop with a block open", framed("tool_use", evBlock(0, blockTool), evArgs(0, `"{\"a\":1}"`)),
		[]string{rStart, "+0 tool_call id=t1 name=f", ` 0 "{\"a\":1}"`, "-0 tool_call partial", "end finished tool_call (tool_use)"}},
	{"cut in the middle", []string{evStart, evBlock(0, blockTool), evArgs(0, `"{"`)}, []string{rStart, "+0 tool_call id=t1 name=f", ` 0 "{"`, "-0 tool_call partial", "end truncated"}},
	{"cut after the reason", []string{evStart, evReason("end_turn")}, []string{rStart, "end truncated (end_turn)"}},
	{"nothing", nil, []string{"end truncated"}},
	{"error", []string{evStart, evBlock(0, blockText), evText(0, `"a"`), `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`, evStop},
		[]string{rStart, "+0 text", ` 0 "a"`, "-0 text partial", "end vendor_error overloaded overloaded_error: Overloaded"}},
	{"error before the start", []string{`{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`}, []string{"end vendor_error rate_limit rate_limit_error: slow"}},
	{"error without a type", []string{evStart, `data: {"error":{"message":"bad"}}` + "\n\n"}, []string{rStart, "end vendor_error server : bad"}},
	{"error by its event name", []string{evStart, "event: error\ndata: {\"message\":\"bad\"}\n\n"}, []string{rStart, "end vendor_error server : bad"}},
	{"error that is a string", []string{evStart, `{"type":"error","error":"bad"}`}, []string{rStart, "end vendor_error server : bad"}},
	{"error in detail", []string{evStart, `{"type":"error","detail":"bad"}`}, []string{rStart, "end vendor_error server : bad"}},
	{"error without words", []string{evStart, `{"type":"error","error":{"message":null}}`}, []string{rStart, "end vendor_error server : the vendor sent an error without words"}},
	{"error by its event name, with its own type", []string{evStart, "event: error\ndata: {\"type\":\"overloaded_error\",\"message\":\"busy\"}\n\n"},
		[]string{rStart, "end vendor_error overloaded overloaded_error: busy"}},
	{"stop sequence", []string{evStart, `{"type":"message_delta","delta":{"stop_reason":"stop_sequence","stop_sequence":"END\n"}}`, evStop}, []string{rStart, "end finished stop (stop_sequence) detail=END\n"}},
	{"refusal", []string{evStart, `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":"cyber","explanation":"no"}}}`, evStop},
		[]string{rStart, `end finished refusal (refusal) detail=cyber: no raw={"stop_details":{"type":"refusal","category":"cyber","explanation":"no"}}`}},
	{"length", framed("max_tokens"), []string{rStart, "end finished length (max_tokens)"}},
	{"context full", framed("model_context_window_exceeded"), []string{rStart, "end finished length (model_context_window_exceeded)"}},
	{"pause", framed("pause_turn"), []string{rStart, "end finished pause (pause_turn)"}},
	{"unknown reason", framed("brand_new"), []string{rStart, "end finished other (brand_new)"}},
	{"calls, but end_turn", framed("end_turn", evBlock(0, blockTool), evEnd(0)), []string{rStart, "+0 tool_call id=t1 name=f", ` 0 "{}"`, "-0 tool_call", "end finished tool_call (end_turn)"}},
	{"tool_use without calls", framed("tool_use"), []string{rStart, "end finished stop (tool_use)"}},
	{"pair cut in text", framed("end_turn", evBlock(0, blockText), evText(0, `"a\ud83c"`), evText(0, `""`), evText(0, `"\udf0db"`), evEnd(0)),
		[]string{rStart, "+0 text", ` 0 "a"`, ` 0 "🌍b"`, "-0 text", rEnd}},
	{"pair cut in arguments", framed("tool_use", evBlock(0, blockTool), evArgs(0, `"{\"a\":\"\ud83c"`), evArgs(0, `"\udf0d\"}"`), evEnd(0)),
		[]string{rStart, "+0 tool_call id=t1 name=f", ` 0 "{\"a\":\""`, ` 0 "🌍\"}"`, "-0 tool_call", "end finished tool_call (tool_use)"}},
	{"pair cut in thinking", framed("end_turn", evBlock(0, blockThink), evDelta(0, `{"type":"thinking_delta","thinking":"\uD83C"}`), evDelta(0, `{"type":"thinking_delta","thinking":"\uDF0D"}`), evEnd(0)),
		[]string{rStart, "+0 reasoning", ` 0 "🌍"`, "-0 reasoning", rEnd}},
	{"pair cut between the start and a delta", framed("end_turn", evBlock(0, `{"type":"text","text":"\ud83c"}`), evText(0, `"\udf0d"`), evEnd(0)),
		[]string{rStart, "+0 text", ` 0 "🌍"`, "-0 text", rEnd}},
	{"halves of no pair", framed("end_turn", evBlock(0, blockText), evText(0, `"a\ud83c"`), evText(0, `"b\udf0dc\ud83c"`), evEnd(0)),
		[]string{rStart, "+0 text", ` 0 "a"`, ` 0 "` + "\uFFFDb\uFFFDc" + `"`, ` 0 "` + "\uFFFD" + `"`, "-0 text", rEnd}},
	{"half at the cut", []string{evStart, evBlock(0, blockText), evText(0, `"a\ud83c"`)}, []string{rStart, "+0 text", ` 0 "a"`, "-0 text partial", "end truncated"}},
	{"halves of two blocks", framed("end_turn", evBlock(0, blockText), evBlock(1, blockText), evText(0, `"\ud83c"`), evText(1, `"x"`), evText(0, `"\udf0d"`), evEnd(0), evEnd(1)),
		[]string{rStart, "+0 text", "+1 text", ` 1 "x"`, ` 0 "🌍"`, "-0 text", "-1 text", rEnd}},
}

func TestDecode(t *testing.T) {
	for _, tc := range decodeCases {
		t.Run(tc.name, func(t *testing.T) {
			_, evs, err := decodeAll(t, []byte(tc.body()), wire.FramingSSE)
			if d := cmp.Diff(tc.want, render(evs)); d != "" {
				t.Errorf("events (-want +got):\n%s\n%v", d, err)
			}
			last := evs[len(evs)-1].End
			if (err == nil) != (last.Cause == wire.CauseFinished) || err != nil && err != error(last.Err) {
				t.Errorf("error %v, want that of the end event, %v", err, last.Err)
			}
		})
	}
}

// read returns the events of a body, rendered with their deltas.
func read(t testing.TB, body io.Reader) ([]wire.Event, error) {
	t.Helper()
	dec := anthropic.Codec{}.NewDecoder(wire.Head{Status: 200})
	var evs []wire.Event
	var failed error
	for ev, err := range stream.Read(body, dec, wire.FramingSSE, nil) {
		evs = append(evs, ev)
		failed = err
	}
	if err := wire.CheckEvents(evs); err != nil {
		t.Fatalf("the events break the grammar: %v\n%q", err, render(evs))
	}
	return evs, failed
}

// TestDecodeChunking reads each stream in all kinds of pieces.
func TestDecodeChunking(t *testing.T) {
	for _, tc := range decodeCases {
		t.Run(tc.name, func(t *testing.T) {
			body := tc.body()
			evs, _ := read(t, strings.NewReader(body))
			want := render(evs)
			check := func(how string, r io.Reader) {
				evs, _ := read(t, r)
				if d := cmp.Diff(want, render(evs)); d != "" {
					t.Errorf("%s (-whole +cut):\n%s", how, d)
				}
			}
			check("one byte at a time", iotest.OneByteReader(strings.NewReader(body)))
			check("half", iotest.HalfReader(strings.NewReader(body)))
			check("end with the data", iotest.DataErrReader(strings.NewReader(body)))
			for i := range len(body) {
				check("split at "+strconv.Itoa(i), io.MultiReader(strings.NewReader(body[:i]), strings.NewReader(body[i:])))
			}
		})
	}
}

// TestDecodeCut cuts each stream at every byte, cleanly and not.
func TestDecodeCut(t *testing.T) {
	for _, tc := range decodeCases {
		t.Run(tc.name, func(t *testing.T) {
			body := tc.body()
			whole, _ := read(t, strings.NewReader(body))
			finished := whole[len(whole)-1].End.Cause == wire.CauseFinished
			stop := len(body)
			if i := strings.Index(body, `"message_stop"}`); i >= 0 {
				stop = i + len(`"message_stop"}`)
			} else if i := strings.Index(body, "message_stop\ndata: {}"); i >= 0 {
				stop = i + len("message_stop\ndata: {}")
			}
			for i := range len(body) {
				evs, err := read(t, strings.NewReader(body[:i]))
				end := evs[len(evs)-1].End
				switch {
				case end.Cause == wire.CauseFinished:
					if !finished || i < stop {
						t.Errorf("cut at %d of %d it looks finished: %q", i, len(body), body[max(0, i-40):i])
					}
				case end.Cause == wire.CauseTruncated:
					if !errors.Is(err, io.ErrUnexpectedEOF) {
						t.Errorf("cut at %d: error %v is no unexpected end", i, err)
					}
				case end.Cause == wire.CauseVendor || end.Cause == wire.CauseProtocol:
					if finished {
						t.Errorf("cut at %d: %v", i, err)
					}
				default:
					t.Errorf("cut at %d: cause %s", i, end.Cause)
				}
				broken := errors.New("broken")
				evs, err = read(t, io.MultiReader(strings.NewReader(body[:i]), iotest.ErrReader(broken)))
				if end := evs[len(evs)-1].End; end.Cause == wire.CauseReset && !errors.Is(err, broken) {
					t.Errorf("broken at %d: the error %v hides its cause", i, err)
				} else if end.Cause == wire.CauseTruncated && i < stop && finished {
					t.Errorf("broken at %d: it ends as if it were cut cleanly", i)
				}
				if msg := wireMessage(evs); len(msg.ExecutableCalls()) > 0 && evs[len(evs)-1].End.Cause != wire.CauseFinished {
					t.Errorf("broken at %d: a call would be run", i)
				}
			}
		})
	}
}

func wireMessage(evs []wire.Event) wire.Message {
	var b wire.Builder
	for i := range evs {
		b.Add(&evs[i])
	}
	return b.Message()
}

// TestDecodeShared: events do not change when the caller's buffer does.
func TestDecodeShared(t *testing.T) {
	for _, tc := range decodeCases {
		dec := anthropic.Codec{}.NewDecoder(wire.Head{})
		var evs []wire.Event
		var want []string
		buf := make([]byte, 0, 4096)
		var failed error
		for _, e := range tc.events {
			name, data := "", e
			if rest, ok := strings.CutPrefix(e, "data:"); ok {
				data = strings.TrimSpace(rest)
			} else if strings.HasPrefix(e, "event:") {
				continue
			}
			buf = append(buf[:0], data...)
			n := len(evs)
			if evs, failed = dec.Decode(evs, name, buf); failed != nil {
				break
			}
			want = append(want, render(evs[n:])...)
			for i := range buf {
				buf[i] = '#'
			}
		}
		if failed != nil {
			continue
		}
		if d := cmp.Diff(want, render(evs)); d != "" {
			t.Errorf("%s: events changed afterwards (-before +after):\n%s", tc.name, d)
		}
	}
}

// TestDecoderAfterTheEnd: nothing follows an end event, and its error stays.
func TestDecoderAfterTheEnd(t *testing.T) {
	for _, tc := range []struct {
		name   string
		events []string
		failed bool
	}{
		{"finished", framed("end_turn"), false},
		{"vendor's error", []string{evStart, `{"type":"error","error":{"type":"api_error","message":"x"}}`}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dec := anthropic.Codec{}.NewDecoder(wire.Head{})
			var evs []wire.Event
			var err error
			for _, e := range tc.events {
				evs, err = dec.Decode(evs, "", []byte(e))
			}
			n := len(evs)
			for _, e := range []string{evStart, "no JSON", evStop} {
				var more error
				if evs, more = dec.Decode(evs, "", []byte(e)); more != nil || len(evs) != n {
					t.Errorf("%s after the end gives %d events, error %v", e, len(evs)-n, more)
				}
			}
			for _, cause := range []error{nil, io.ErrUnexpectedEOF} {
				again, endErr := dec.End(evs, cause)
				if len(again) != n || (endErr != nil) != tc.failed || tc.failed && endErr != err {
					t.Errorf("End gives %d events, error %v, want none and %v", len(again)-n, endErr, err)
				}
			}
		})
	}
}

// TestDecodeHead looks at what the response's head adds.
func TestDecodeHead(t *testing.T) {
	h := http.Header{}
	h.Set("request-id", "req_9")
	h.Set("anthropic-ratelimit-requests-limit", "50")
	h.Set("anthropic-ratelimit-requests-remaining", "0")
	h.Set("anthropic-ratelimit-requests-reset", "2026-11-30T12:00:00Z")
	h.Set("anthropic-ratelimit-tokens-remaining", "80000")
	h.Set("anthropic-ratelimit-input-tokens-limit", "lots")
	dec := anthropic.Codec{}.NewDecoder(wire.Head{Status: 200, Get: h.Get})
	evs, err := dec.Decode(nil, "", []byte(evStart))
	if err != nil {
		t.Fatal(err)
	}
	want := &wire.Start{Origin: wire.Origin{Protocol: anthropic.Protocol, Model: "claude-opus-4-8", ResponseID: "m1"}, RequestID: "req_9",
		RateLimit: wire.RateLimits{{Name: "requests", Limit: wire.CountOf(50), Remaining: wire.CountOf(0), Reset: "2026-11-30T12:00:00Z"},
			{Name: "tokens", Remaining: wire.CountOf(80000)}}}
	if d := cmp.Diff(want, evs[0].Start); d != "" {
		t.Errorf("start (-want +got):\n%s", d)
	}
	evs, err = dec.End(nil, nil)
	var e *wire.Error
	if !errors.As(err, &e) || e.RequestID != "req_9" || evs[0].End.Err != e {
		t.Errorf("error %+v, want one with the request id", err)
	}
}

// TestDecodeLimits: blocks that are open at once are bounded, with a typed error.
func TestDecodeLimits(t *testing.T) {
	events := []string{evStart}
	for i := range 300 {
		events = append(events, evBlock(i, blockText))
	}
	evs, err := read(t, strings.NewReader(an(events...)))
	var e *wire.Error
	if !errors.As(err, &e) || e.Cause != wire.CauseLimit || e.Message == "" {
		t.Errorf("error %v, want a limit", err)
	}
	if n := len(evs); n > 2*300 {
		t.Errorf("%d events", n)
	}
	events = []string{evStart}
	for i := range 3000 {
		events = append(events, evBlock(i, blockText), evText(i, `"x"`), evEnd(i))
	}
	evs, err = read(t, strings.NewReader(an(append(events, evReason("end_turn"), evStop)...)))
	if m := wireMessage(evs); err != nil || len(m.Parts) != 3000 || len(m.Text()) != 3000 {
		t.Errorf("many blocks one after the other: %d parts, %v", len(m.Parts), err)
	}
}

// TestDecodeLinear: hostile events cost time in proportion to their bytes.
func TestDecodeLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	members := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"k%07d":1`, i)
		}
		return b.String()
	}
	for _, tc := range []struct {
		name  string
		event func(n int) []string
	}{
		{"members of the message", func(n int) []string {
			return []string{evStart, `{"type":"message_delta","delta":{"stop_reason":"end_turn"` + members(n) + `}}`}
		}},
		{"members of usage", func(n int) []string {
			return []string{evStart, `{"type":"message_delta","usage":{"output_tokens":1` + members(n) + `}}`}
		}},
		{"members of a block", func(n int) []string { return []string{evStart, evBlock(0, `{"type":"text","text":""`+members(n)+`}`)} }},
		{"members of a delta", func(n int) []string {
			return []string{evStart, evBlock(0, `{"type":"x"}`), evDelta(0, `{"type":"d"`+members(n)+`}`), evEnd(0)}
		}},
		{"pieces of a signature", func(n int) []string {
			evs := []string{evStart, evBlock(0, blockThink)}
			for range n {
				evs = append(evs, evDelta(0, `{"type":"signature_delta","signature":"abcd"}`))
			}
			return append(evs, evEnd(0))
		}},
		{"pieces of a server's arguments", func(n int) []string {
			evs := []string{evStart, evBlock(0, `{"type":"server_tool_use","input":{}}`)}
			for range n {
				evs = append(evs, evArgs(0, `"abcd"`))
			}
			return append(evs, evEnd(0))
		}},
		{"citations", func(n int) []string {
			evs := []string{evStart, evBlock(0, blockText)}
			for range n {
				evs = append(evs, evDelta(0, `{"type":"citations_delta","citation":{"a":1}}`))
			}
			return append(evs, evEnd(0))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			run := func(n int) time.Duration {
				best := time.Hour
				events := tc.event(n)
				for range 3 {
					dec := anthropic.Codec{}.NewDecoder(wire.Head{})
					var evs []wire.Event
					start := time.Now()
					for _, e := range events {
						var err error
						if evs, err = dec.Decode(evs[:0], "", []byte(e)); err != nil {
							t.Fatal(err)
						}
					}
					best = min(best, time.Since(start))
				}
				return best
			}
			// Quadratic work takes 64 times as long for 8 times as much. Other
			// programs make single runs slow, but not every one of five tries.
			var ratios []float64
			for range 5 {
				a, b := run(2000), run(16000)
				if b < 28*a {
					return
				}
				ratios = append(ratios, float64(b)/float64(a))
			}
			t.Errorf("8 times the input takes %.1f times as long", ratios)
		})
	}
}

// TestDecodeWhole sends whole responses through the same code.
func TestDecodeWhole(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		want       []string
	}{
		{"all kinds", `{"id":"m1","type":"message","role":"assistant","model":"claude-opus-4-8","content":[
			{"type":"thinking","thinking":"hm","signature":"S="},{"type":"redacted_thinking","data":"Zm9v"},{"type":"text","text":"Hi \ud83d","citations":null},
			{"type":"tool_use","id":"t1","name":"f","input":{"a": 1.0}},{"type":"tool_use","id":"t2","name":"g","input":{}},{"type":"brand_new","x":[ ]}],
			"stop_reason":"tool_use","stop_sequence":null,"container":{"id":"c"},"usage":{"input_tokens":10,"output_tokens":3,"cache_read_input_tokens":2,"cache_creation_input_tokens":0}}`,
			[]string{rStart, "usage in:12 fresh:10 read:2 write:0 out:3", "+0 reasoning", ` 0 "hm"`, `-0 reasoning vendor={"signature":"S="}`,
				`+1 reasoning vendor={"data":"Zm9v"}`, "-1 reasoning", "+2 text", ` 2 "Hi "`, ` 2 "` + "\uFFFD" + `"`, "-2 text",
				"+3 tool_call id=t1 name=f", ` 3 "{\"a\": 1.0}"`, "-3 tool_call", "+4 tool_call id=t2 name=g", ` 4 "{}"`, "-4 tool_call",
				`+5 opaque name=brand_new vendor={"type":"brand_new","x":[ ]}`, "-5 opaque", `end finished tool_call (tool_use) raw={"container":{"id":"c"}}`}},
		{"nothing said", `{"id":"m1","type":"message","model":"claude-opus-4-8","content":[],"stop_reason":"end_turn"}`, []string{rStart, rEnd}},
		{"null content", `{"id":"m1","type":"message","model":"claude-opus-4-8","content":null,"stop_reason":"refusal"}`, []string{rStart, "end finished refusal (refusal)"}},
		{"no reason", `{"id":"m1","type":"message","model":"claude-opus-4-8","content":[{"type":"text","text":"a"}]}`, []string{rStart, "+0 text", ` 0 "a"`, "-0 text", "end truncated"}},
		{"error", `{"type":"error","error":{"type":"api_error","message":"x"}}`, []string{"end vendor_error server api_error: x"}},
		{"something else", `{"object":"chat.completion"}`, []string{`other {"object":"chat.completion"}`, "end truncated"}},
		{"cut", `{"id":"m1","type":"mess`, []string{"end truncated"}},
		{"a page", `<html>`, []string{"end protocol_error"}},
		{"nothing", ``, []string{"end truncated"}},
		{"content that is no list of blocks", `{"id":"m1","type":"message","model":"claude-opus-4-8","content":[5],"stop_reason":"end_turn"}`, []string{rStart, "end protocol_error (end_turn)"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, evs, err := decodeAll(t, []byte(tc.body), wire.FramingWhole)
			if d := cmp.Diff(tc.want, render(evs)); d != "" {
				t.Errorf("events (-want +got):\n%s%v", d, err)
			}
		})
	}
}

// TestRoundTrip decodes an answer, sends it back and finds every byte of it.
func TestRoundTrip(t *testing.T) {
	const (
		args     = `{"id": 9007199254740993,"h":"<1>&","f":1.0,"e":1e21}`
		citation = `{"type":"char_location", "cited_text":"\u00e9<b>","start":1.0}`
		result   = `{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"url":"https://example.test/?a=1&b=2","page_age":null, "n":1e3}]}`
	)
	body := an(framed("tool_use",
		evBlock(0, blockThink), evDelta(0, `{"type":"thinking_delta","thinking":"pl\u0061n\n"}`), evDelta(0, `{"type":"signature_delta","signature":"AbC+\/"}`), evDelta(0, `{"type":"signature_delta","signature":"d=="}`), evEnd(0),
		evBlock(1, `{"type":"redacted_thinking","data":"Zm9v\/=="}`), evEnd(1),
		evBlock(2, `{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}`), evArgs(2, `"{\"query\": \"a"`), evArgs(2, `" <b>\",\"n\":1.0}"`), evEnd(2),
		evBlock(3, result), evEnd(3),
		evBlock(4, `{"type":"text","text":"","citations":[]}`), evText(4, `"so \ud83c"`), evText(4, `"\udf0d"`), evDelta(4, `{"type":"citations_delta","citation":`+citation+`}`), evEnd(4),
		evBlock(5, `{"type":"tool_use","id":"t1","name":"f","input":{},"caller":{"type":"direct"}}`),
		evArgs(5, strconv.Quote(args[:20])), evArgs(5, strconv.Quote(args[20:])), evEnd(5),
		evBlock(6, `{"type":"thinking","thinking":"","signature":""}`), evDelta(6, `{"type":"signature_delta","signature":"E"}`), evEnd(6))...)
	want := `{"type":"thinking","thinking":"plan\n","signature":"AbC+\/d=="},{"type":"redacted_thinking","data":"Zm9v\/=="},` +
		`{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query": "a <b>","n":1.0}},` + result + `,` +
		`{"type":"text","text":"so 🌍","citations":[` + citation + `]},` +
		`{"type":"tool_use","id":"t1","name":"f","input":` + args + `,"caller":{"type":"direct"}},{"type":"thinking","thinking":"","signature":"E"}`
	resp, _, err := decodeAll(t, []byte(body), wire.FramingSSE)
	if err != nil {
		t.Fatal(err)
	}
	if calls := resp.Message.ExecutableCalls(); len(calls) != 1 || calls[0].Args != args {
		t.Errorf("calls %+v, want one with %s", calls, args)
	}
	call, err := encode(t, anthropic.Codec{}, request(wire.Request{Model: "claude-opus-4-8", Messages: []wire.Message{wire.UserText("u"), resp.Message,
		wire.ToolMessage(wire.ToolResultPart("t1", "f", text("r")))}}))
	if err != nil {
		t.Fatal(err)
	}
	if len(call.Notes) > 0 {
		t.Errorf("notes %v", call.Notes)
	}
	if got := gjson.GetBytes(call.Body, "messages.1.content").Raw; got != "["+want+"]" {
		t.Errorf("content\n got %s\nwant [%s]", got, want)
	}
}

func TestDecodeError(t *testing.T) {
	header := func(kv ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(kv); i += 2 {
			h.Set(kv[i], kv[i+1])
		}
		return h
	}
	typed := func(typ string) string {
		return `{"type":"error","error":{"type":"` + typ + `","message":"m"},"request_id":"req_b"}`
	}
	coded := func(typ, code string) string {
		return `{"type":"error","error":{"type":"` + typ + `","message":"m","details":{"error_code":"` + code + `"}}}`
	}
	for _, tc := range []struct {
		name    string
		status  int
		header  http.Header
		body    string
		class   wire.Class
		message string // "" if it is not looked at
		code    string
	}{
		{"bad request", 400, nil, typed("invalid_request_error"), wire.ClassBadRequest, "m", ""},
		{"authentication", 401, nil, typed("authentication_error"), wire.ClassAuth, "m", ""},
		{"billing", 402, nil, typed("billing_error"), wire.ClassQuota, "m", ""},
		{"permission", 403, nil, typed("permission_error"), wire.ClassPermission, "m", ""},
		{"not found", 404, nil, typed("not_found_error"), wire.ClassNotFound, "m", ""},
		{"conflict", 409, nil, typed("conflict_error"), wire.ClassBadRequest, "m", ""},
		{"too large", 413, nil, typed("request_too_large"), wire.ClassOverflow, "m", ""},
		{"too large, from the network in front", 413, nil, "<html>", wire.ClassOverflow, "", ""},
		{"rate, wait told", 429, header("retry-after", "7"), typed("rate_limit_error"), wire.ClassRateLimit, "m", ""},
		{"rate, wait told finely", 429, header("retry-after-ms", "70"), typed("rate_limit_error"), wire.ClassRateLimit, "m", ""},
		{"rate, no wait told", 429, header(), typed("rate_limit_error"), wire.ClassQuota, "m", ""},
		{"rate, no headers known", 429, nil, typed("rate_limit_error"), wire.ClassRateLimit, "m", ""},
		{"spend limit", 429, header("retry-after", "7"), coded("rate_limit_error", "enforced_spend_limit_reached"), wire.ClassQuota, "m", "enforced_spend_limit_reached"},
		{"contract", 429, nil, coded("rate_limit_error", "contract_spend_limit_reached"), wire.ClassQuota, "m", "contract_spend_limit_reached"},
		{"ramp", 429, header("retry-after", "1"), coded("rate_limit_error", "ramp_limit_exceeded"), wire.ClassRateLimit, "m", "ramp_limit_exceeded"},
		{"server", 500, nil, typed("api_error"), wire.ClassServer, "m", ""},
		{"key unreachable", 503, nil, coded("api_error", "cmek_key_unreachable"), wire.ClassServer, "m", "cmek_key_unreachable"},
		{"timeout", 504, nil, typed("timeout_error"), wire.ClassTimeout, "m", ""},
		{"overloaded", 529, nil, typed("overloaded_error"), wire.ClassOverloaded, "m", ""},
		{"type against status", 200, nil, typed("overloaded_error"), wire.ClassOverloaded, "m", ""},
		{"prompt too long", 400, nil, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, wire.ClassOverflow, "", ""},
		{"limit too large", 400, nil, "{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input length and `max_tokens` exceed context limit: 1 + 2 > 2\"}}", wire.ClassOverflow, "", ""},
		{"prompt too long for Bedrock", 400, nil, `{"message":"Input is too long for requested model."}`, wire.ClassOverflow, "", ""},
		{"compressed body too large", 413, nil, coded("invalid_request_error", "request_body_too_large_after_decoding"), wire.ClassOverflow, "m", "request_body_too_large_after_decoding"},
		{"rate in tokens is no overflow", 429, header("retry-after", "1"), `{"error":{"type":"rate_limit_error","message":"Rate limit reached: 10 tokens per min"}}`, wire.ClassRateLimit, "", ""},
		{"unknown type", 418, nil, typed("brand_new"), wire.ClassBadRequest, "m", ""},
		{"number as code", 400, nil, `{"error":{"message":"m","code":400}}`, wire.ClassBadRequest, "m", "400"},
		{"string", 500, nil, `{"error":"m"}`, wire.ClassServer, "m", ""},
		{"message alone", 503, nil, `{"message":"m"}`, wire.ClassOverloaded, "m", ""},
		{"detail", 404, nil, `{"detail":"m"}`, wire.ClassNotFound, "m", ""},
		{"null message", 400, nil, `{"error":{"message":null}}`, wire.ClassBadRequest, "", ""},
		{"null error", 400, nil, `{"error":null}`, wire.ClassBadRequest, "", ""},
		{"page", 502, nil, "<html><h1>502 Bad Gateway</h1></html>", wire.ClassServer, "", ""},
		{"nothing", 500, nil, "", wire.ClassServer, "", ""},
		{"array", 429, nil, `[{"error":{"message":"m"}}]`, wire.ClassRateLimit, "", ""},
		{"cut", 529, nil, `{"type":"error","error":{"type":"overloa`, wire.ClassOverloaded, "", ""},
		{"408", 408, nil, "", wire.ClassTimeout, "", ""},
		{"bad bytes", 500, nil, "\xff\xfe\x00", wire.ClassServer, "", ""},
		{"redirect", 302, nil, "", wire.ClassServer, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := wire.Head{Status: tc.status}
			if tc.header != nil {
				h.Get = tc.header.Get
			}
			e := anthropic.Codec{}.DecodeError(h, []byte(tc.body))
			if e == nil {
				t.Fatal("nil")
			}
			if e.Cause != wire.CauseVendor || e.Status != tc.status || e.Class != tc.class || e.Code != tc.code {
				t.Errorf("%+v, want class %s and code %q", e, tc.class, tc.code)
			}
			if tc.message != "" && e.Message != tc.message || e.Message == "" || strings.Contains(e.Message, "<nil>") {
				t.Errorf("message %q, want %q", e.Message, tc.message)
			}
			if strings.Contains(tc.body, "req_b") && e.RequestID != "req_b" {
				t.Errorf("request id %q", e.RequestID)
			}
			if len(e.Body) > 310 {
				t.Errorf("%d bytes of body", len(e.Body))
			}
		})
	}

	t.Run("request id of the head", func(t *testing.T) {
		h := header("request-id", "req_h")
		for body, want := range map[string]string{"": "req_h", typed("api_error"): "req_b"} {
			if e := (anthropic.Codec{}).DecodeError(wire.Head{Status: 500, Get: h.Get}, []byte(body)); e.RequestID != want {
				t.Errorf("request id %q of %q, want %q", e.RequestID, body, want)
			}
		}
	})
	t.Run("long body", func(t *testing.T) {
		e := anthropic.Codec{}.DecodeError(wire.Head{Status: 500}, bytes.Repeat([]byte("é"), 1<<20))
		if len(e.Body) > 310 || !utf8.ValidString(e.Body) || !strings.HasSuffix(e.Body, "…") {
			t.Errorf("body %q", e.Body)
		}
	})
	t.Run("body is not kept", func(t *testing.T) {
		body := []byte(typed("api_error"))
		e := anthropic.Codec{}.DecodeError(wire.Head{Status: 500}, body)
		for i := range body {
			body[i] = '#'
		}
		if e.Message != "m" || e.Type != "api_error" || e.RequestID != "req_b" {
			t.Errorf("%+v", e)
		}
	})
}

// TestRoundTripHostile sends back what no server should have said.
func TestRoundTripHostile(t *testing.T) {
	for _, tc := range []struct {
		name   string
		events []string
	}{
		{"half characters all over", []string{evBlock(0, `{"type":"text","text":"\ud800","\udc00":"\ud800"}`), evDelta(0, `{"type":"citations_delta","citation":{"\ud800":"\udc00"}}`), evEnd(0),
			evBlock(1, `{"type":"thinking","thinking":"\ud800","signature":"\ud800"}`), evEnd(1), evBlock(2, `{"type":"x","\ud800":"\udc00"}`), evDelta(2, `{"\ud800":"\ud800"}`), evEnd(2),
			evBlock(3, `{"type":"tool_use","id":"\ud800","name":"\udc00","input":{"\ud800":1},"\ud800":2}`), evEnd(3)}},
		{"signature cut within a pair", []string{evBlock(0, blockThink), evDelta(0, `{"type":"signature_delta","signature":"\ud83c"}`), evDelta(0, `{"type":"signature_delta","signature":"\udf0d"}`), evEnd(0)}},
		{"bytes that are no character", []string{evBlock(0, "{\"type\":\"text\",\"text\":\"\xff\",\"\xfe\":\"\xff\"}"), evEnd(0), evBlock(1, "{\"type\":\"x\",\"a\":\"\xff\"}"), evDelta(1, "{\"b\":\"\xff\"}"), evEnd(1)}},
		{"members twice", []string{evBlock(0, `{"type":"text","text":"a","text":"b","x":1,"x":2}`), evEnd(0), evBlock(1, `{"type":"x","n":1,"n":2}`), evDelta(1, `{"n":3,"n":4}`), evEnd(1)}},
		{"members in escapes", []string{evBlock(0, `{"t\u0079pe":"te\u0078t","t\u0065xt":"a"}`), evEnd(0)}},
		{"blocks without a type", []string{evBlock(0, `{}`), evEnd(0), evBlock(1, `{"type":5}`), evEnd(1)}},
		{"empty names", []string{evBlock(0, `{"type":"tool_use","id":"","name":"","input":{}}`), evEnd(0), evBlock(1, `{"type":"text","text":"a","":1}`), evEnd(1)}},
		{"input that is no object", []string{evBlock(0, `{"type":"tool_use","id":"t1","name":"f","input":"{}"}`), evEnd(0), evBlock(1, `{"type":"tool_use","id":"t2","name":"f","input":[1]}`), evEnd(1)}},
		{"arguments of a server's tool that were cut", []string{evBlock(0, `{"type":"server_tool_use","id":"s","input":{}}`), evArgs(0, `"{\"a\":\ud83c"`), evEnd(0)}},
		{"deep nesting", []string{evBlock(0, `{"type":"x","a":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+`}`), evEnd(0)}},
		{"a block left open", []string{evBlock(0, blockText), evText(0, `"a\ud83c"`), evBlock(1, blockTool), evArgs(1, `"{}"`)}},
		{"blank text", []string{evBlock(0, blockText), evText(0, `" \n"`), evEnd(0)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, reason := range []string{"end_turn", "tool_use", "max_tokens"} {
				evs, err := read(t, strings.NewReader(an(framed(reason, tc.events...)...)))
				if err != nil {
					t.Fatal(err)
				}
				sendBack(t, wireMessage(evs))
			}
			evs, _ := read(t, strings.NewReader(an(append([]string{evStart}, tc.events...)...)))
			sendBack(t, wireMessage(evs))
		})
	}
}

// TestDecodeRandom puts random events, most of them out of place, through the
// decoder: whatever comes, the grammar holds.
func TestDecodeRandom(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 3))
		var b strings.Builder
		if r.IntN(8) > 0 {
			b.WriteString(an(evStart))
		}
		for range r.IntN(30) {
			i := r.IntN(4)
			b.WriteString(an([]string{evBlock(i, blockText), evBlock(i, blockTool), evBlock(i, blockThink), evBlock(i, `{"type":"x"}`), evEnd(i), evText(i, `"a\ud83d"`),
				evArgs(i, `"{}"`), evDelta(i, `{"type":"signature_delta","signature":"S"}`), evDelta(i, `{"type":"citations_delta","citation":1}`), evPing,
				evReason("end_turn"), evEnd(9), evText(-1, `"x"`)}[r.IntN(13)]))
		}
		if r.IntN(2) == 0 {
			b.WriteString(an(evReason("tool_use"), evStop))
		}
		evs, _ := read(t, strings.NewReader(b.String())) // which checks the grammar
		m := wireMessage(evs)
		for _, c := range m.ExecutableCalls() {
			if c.Partial {
				t.Fatalf("seed %d: a partial call would be run", seed)
			}
		}
		if m.Origin != nil && seed%10 == 0 {
			sendBack(t, m)
		}
	}
}
