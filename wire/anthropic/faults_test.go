package anthropic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
)

// TestFaults holds one case for each way in which programs that speak this
// protocol have been seen to break.
func TestFaults(t *testing.T) {
	const usageStart = `{"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","content":[],"model":"claude-opus-4-8","stop_reason":null,"usage":`
	decode := func(t *testing.T, body string) (wire.Message, error) {
		t.Helper()
		resp, _, err := decodeAll(t, []byte(body), wire.FramingSSE)
		return resp.Message, err
	}
	finished := func(t *testing.T, body string) wire.Message {
		t.Helper()
		m, err := decode(t, body)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	sent := func(t *testing.T, r wire.Request) *wire.Call {
		t.Helper()
		call, err := encode(t, anthropic.Codec{}, request(r))
		if err != nil {
			t.Fatal(err)
		}
		return call
	}
	get := func(call *wire.Call, path string) string { return gjson.GetBytes(call.Body, path).Raw }
	eq := func(t *testing.T, what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s is %s, want %s", what, got, want)
		}
	}
	ends := func(t *testing.T, m wire.Message, c wire.Cause, f wire.FinishReason) {
		t.Helper()
		if m.Ending == nil || m.Ending.Cause != c || m.Ending.Finish != f {
			t.Errorf("ending %+v, want %s %s", m.Ending, c, f)
		}
	}

	t.Run("F03 character cut between two reads", func(t *testing.T) {
		body := an(framed("end_turn", evBlock(0, blockText), evText(0, `"né🌍"`), evEnd(0))...)
		evs, err := read(t, iotest.OneByteReader(strings.NewReader(body)))
		m := wireMessage(evs)
		if err != nil || m.Text() != "né🌍" {
			t.Errorf("text %q, %v", m.Text(), err)
		}
	})
	t.Run("F10 end in the middle of JSON", func(t *testing.T) {
		m, err := decode(t, an(evStart, evBlock(0, blockText), evText(0, `"one"`))+"event: content_block_delta\ndata: {\"type\":\"conte")
		ends(t, m, wire.CauseTruncated, "")
		if m.Text() != "one" || !errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "JSON") {
			t.Errorf("text %q, error %v", m.Text(), err)
		}
	})
	t.Run("F11 end before the terminal event", func(t *testing.T) {
		m, err := decode(t, an(usageStart+`{"input_tokens":3,"output_tokens":1}}}`, evBlock(0, blockText), evText(0, `"half"`)))
		ends(t, m, wire.CauseTruncated, "")
		if m.Text() != "half" || !m.Parts[0].Partial || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%+v, error %v", m.Parts, err)
		}
	})
	t.Run("F16 pings and empty data", func(t *testing.T) {
		body := "event: ping\ndata: {\"type\":\"ping\"}\n\nevent: ping\ndata: \n\ndata:\n\n" + an(framed("end_turn", evBlock(0, blockText), evText(0, `"ok"`), evEnd(0))...)
		m := finished(t, body)
		ends(t, m, wire.CauseFinished, wire.FinishStop)
		eq(t, "text", m.Text(), "ok")
	})
	t.Run("F22 reset", func(t *testing.T) {
		reset := fmt.Errorf("read: %w", io.ErrClosedPipe)
		evs, err := read(t, io.MultiReader(strings.NewReader(an(evStart, evBlock(0, blockText), evText(0, `"par"`))), iotest.ErrReader(reset)))
		m := wireMessage(evs)
		ends(t, m, wire.CauseReset, "")
		if m.Text() != "par" || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("text %q, error %v", m.Text(), err)
		}
	})
	t.Run("F124 white space is content", func(t *testing.T) {
		var evs []string
		for _, s := range []string{"Hi", " ", "again", "\n\n", "  x ", ""} {
			evs = append(evs, evText(0, strconv.Quote(s)), evDelta(1, `{"type":"thinking_delta","thinking":`+strconv.Quote(s)+`}`), evArgs(2, strconv.Quote(s)))
		}
		all := append([]string{evBlock(0, blockText), evBlock(1, blockThink), evBlock(2, blockTool)}, evs...)
		m := finished(t, an(framed("tool_use", append(all, evEnd(0), evEnd(1), evEnd(2))...)...))
		const want = "Hi again\n\n  x "
		eq(t, "text", m.Text(), want)
		eq(t, "reasoning", m.Reasoning(), want)
		eq(t, "arguments", m.Parts[2].Args, want)
	})
	t.Run("F32 no arguments", func(t *testing.T) {
		m := finished(t, an(framed("tool_use",
			evBlock(0, `{"type":"tool_use","id":"a","name":"now","input":{}}`), evEnd(0),
			evBlock(1, `{"type":"tool_use","id":"b","name":"now","input":{}}`), evArgs(1, `""`), evEnd(1),
			evBlock(2, `{"type":"tool_use","id":"c","name":"now"}`), evEnd(2))...))
		calls := m.ExecutableCalls()
		if len(calls) != 3 {
			t.Fatalf("%d calls would be run, want 3", len(calls))
		}
		var results []wire.Part
		for _, c := range calls {
			eq(t, "arguments", c.Args, "{}")
			results = append(results, wire.ToolResultPart(c.ID, c.Name))
		}
		call := sent(t, wire.Request{Messages: []wire.Message{wire.UserText("u"), m, wire.ToolMessage(results...)}})
		for i := range calls {
			eq(t, "input", get(call, fmt.Sprintf("messages.1.content.%d.input", i)), "{}")
		}
		for _, args := range []string{"", "null"} {
			call := sent(t, wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(wire.ToolCallPart("a", "now", args)), wire.ToolMessage(wire.ToolResultPart("a", "now"))}})
			eq(t, "input of "+strconv.Quote(args), get(call, "messages.1.content.0.input"), "{}")
		}
	})
	t.Run("F33 placeholder in the block start", func(t *testing.T) {
		m := finished(t, an(framed("tool_use", evBlock(0, blockTool), evArgs(0, `""`), evArgs(0, `"{\"a\""`), evArgs(0, `":1}"`), evEnd(0))...))
		eq(t, "arguments", m.Parts[0].Args, `{"a":1}`)
		m = finished(t, an(framed("tool_use", evBlock(0, `{"type":"tool_use","id":"t1","name":"f","input":{"a":2}}`), evEnd(0))...))
		eq(t, "arguments", m.Parts[0].Args, `{"a":2}`)
	})
	t.Run("F37 arguments that are no JSON", func(t *testing.T) {
		m := finished(t, an(framed("tool_use", evBlock(0, blockTool), evArgs(0, `"{\"path\": \"a.txt\""`), evEnd(0))...))
		eq(t, "arguments", m.Parts[0].Args, `{"path": "a.txt"`)
		if len(m.ExecutableCalls()) != 0 {
			t.Error("the call would be run")
		}
		call := sent(t, wire.Request{Messages: []wire.Message{wire.UserText("u"), m, wire.ToolMessage(wire.Part{Kind: wire.PartToolResult, ID: "t1", IsError: true, Parts: []wire.Part{text("no JSON")}})}})
		if !gjson.GetBytes(call.Body, "messages.1.content.0.input").IsObject() || bytes.Contains(call.Body, []byte("a.txt")) || len(call.Notes) != 1 {
			t.Errorf("body %s, notes %v", call.Body, call.Notes)
		}
	})
	t.Run("F40 big integers", func(t *testing.T) {
		const args = `{"id":9007199254740993,"f":1.0,"e":1e21}`
		m := finished(t, an(framed("tool_use", evBlock(0, blockTool), evArgs(0, strconv.Quote(args)), evEnd(0))...))
		eq(t, "arguments", m.ExecutableCalls()[0].Args, args)
		call := sent(t, wire.Request{Messages: []wire.Message{wire.UserText("u"), m, wire.ToolMessage(wire.ToolResultPart("t1", "f"))}})
		eq(t, "input", get(call, "messages.1.content.0.input"), args)
	})
	t.Run("F41 HTML is not escaped", func(t *testing.T) {
		call := sent(t, wire.Request{Messages: []wire.Message{wire.UserText("<b>a&b</b>"), assistant(wire.ToolCallPart("a", "f", `{"h":"<1>"}`)), wire.ToolMessage(wire.ToolResultPart("a", "f"))}})
		if !bytes.Contains(call.Body, []byte("<b>a&b</b>")) || !bytes.Contains(call.Body, []byte(`{"h":"<1>"}`)) || bytes.Contains(call.Body, []byte(`\u00`)) {
			t.Errorf("body %s", call.Body)
		}
	})
	t.Run("F42 broken Unicode", func(t *testing.T) {
		call := sent(t, wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(wire.ToolCallPart("a", "f", `{"x":"\ud83d"}`)),
			wire.ToolMessage(wire.ToolResultPart("a", "f", text("a\xff\xed\xa0\xbdb")))}})
		eq(t, "result", get(call, "messages.2.content.0.content.0.text"), `"a`+strings.Repeat("\uFFFD", 4)+`b"`)
	})
	t.Run("F44 results without calls, calls without results", func(t *testing.T) {
		r := request(wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(wire.ToolCallPart("t1", "f", "{}"), wire.ToolCallPart("t2", "f", "{}")),
			wire.ToolMessage(wire.ToolResultPart("t1", "f", text("r"))), wire.UserText("go on")}})
		_, err := encode(t, anthropic.Codec{}, r)
		if got := paths(t, err); len(got) != 1 || got[0] != "messages[1].parts[1]" || !strings.Contains(err.Error(), `"t2"`) {
			t.Errorf("error %v", err)
		}
		r.Messages[2].Parts = append(r.Messages[2].Parts, wire.Part{Kind: wire.PartToolResult, ID: "t2", IsError: true, Parts: []wire.Part{text("aborted")}})
		if _, err := encode(t, anthropic.Codec{}, r); err != nil {
			t.Error(err)
		}
	})
	t.Run("F45 ids of other vendors", func(t *testing.T) {
		const a, b = "call_1|fc_0:β", "call_1|fc_0:γ"
		call := sent(t, wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(wire.ToolCallPart(a, "f", "{}"), wire.ToolCallPart(b, "f", "{}")),
			wire.ToolMessage(wire.ToolResultPart(a, "f"), wire.ToolResultPart(b, "f"))}})
		x, y := get(call, "messages.1.content.0.id"), get(call, "messages.1.content.1.id")
		eq(t, "result", get(call, "messages.2.content.0.tool_use_id"), x)
		eq(t, "result", get(call, "messages.2.content.1.tool_use_id"), y)
		if x == y || strings.ContainsAny(x+y, "|:βγ") {
			t.Errorf("ids %s and %s", x, y)
		}
	})
	thought := func(t *testing.T, deltas ...string) wire.Message {
		evs := append([]string{evBlock(0, blockThink)}, deltas...)
		return finished(t, an(framed("tool_use", append(evs, evEnd(0), evBlock(1, blockTool), evEnd(1))...)...))
	}
	back := func(t *testing.T, model string, m wire.Message) *wire.Call {
		return sent(t, wire.Request{Model: model, Messages: []wire.Message{wire.UserText("u"), m, wire.ToolMessage(wire.ToolResultPart("t1", "f"))}})
	}
	t.Run("F50 signature in pieces", func(t *testing.T) {
		m := thought(t, evDelta(0, `{"type":"thinking_delta","thinking":"plan"}`), evDelta(0, `{"type":"signature_delta","signature":"AbC"}`), evDelta(0, `{"type":"signature_delta","signature":"d=="}`))
		eq(t, "thinking", get(back(t, "claude-opus-4-8", m), "messages.1.content.0"), `{"type":"thinking","thinking":"plan","signature":"AbCd=="}`)
	})
	t.Run("F51 redacted thinking", func(t *testing.T) {
		m := finished(t, an(framed("end_turn", evBlock(0, `{"type":"redacted_thinking","data":"Zm9v"}`), evEnd(0), evBlock(1, blockText), evText(1, `"x"`), evEnd(1))...))
		if m.Text() != "x" || m.Reasoning() != "" {
			t.Errorf("text %q, reasoning %q", m.Text(), m.Reasoning())
		}
		call := sent(t, wire.Request{Model: "claude-opus-4-8", Messages: []wire.Message{wire.UserText("u"), m, wire.UserText("v")}})
		eq(t, "content", get(call, "messages.1.content"), `[{"type":"redacted_thinking","data":"Zm9v"},{"type":"text","text":"x"}]`)
	})
	t.Run("F52 thinking without words", func(t *testing.T) {
		m := thought(t, evDelta(0, `{"type":"signature_delta","signature":"S1"}`))
		eq(t, "thinking", get(back(t, "claude-opus-4-8", m), "messages.1.content.0"), `{"type":"thinking","thinking":"","signature":"S1"}`)
	})
	t.Run("F53 thinking without a signature", func(t *testing.T) {
		m := assistant(thinking("half", ""), text("x"))
		call := sent(t, wire.Request{Messages: []wire.Message{wire.UserText("u"), m, wire.UserText("v")}})
		eq(t, "content", get(call, "messages.1.content"), `[{"type":"text","text":"x"}]`)
	})
	t.Run("F54 thinking of another model", func(t *testing.T) {
		m := thought(t, evDelta(0, `{"type":"thinking_delta","thinking":"plan"}`), evDelta(0, `{"type":"signature_delta","signature":"SECRET"}`))
		call := back(t, "claude-sonnet-5", m)
		if bytes.Contains(call.Body, []byte("SECRET")) || bytes.Contains(call.Body, []byte("plan")) || bytes.Contains(call.Body, []byte("think")) {
			t.Errorf("body %s", call.Body)
		}
		if len(call.Notes) != 1 || call.Notes[0].Code != wire.NoteDropped {
			t.Errorf("notes %v", call.Notes)
		}
		eq(t, "content", get(call, "messages.1.content"), `[{"type":"tool_use","id":"t1","name":"f","input":{}}]`)
	})
	t.Run("F59 empty text", func(t *testing.T) {
		call := sent(t, wire.Request{Messages: []wire.Message{user(text(""), text("hi")), assistant(text(""), wire.ToolCallPart("t1", "f", "{}")),
			wire.ToolMessage(wire.ToolResultPart("t1", "f", text("")))}})
		eq(t, "messages", get(call, "messages"), `[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"}]}]`)
	})
	t.Run("F60 no tools", func(t *testing.T) {
		call := sent(t, wire.Request{Tools: []wire.Tool{}, ToolChoice: wire.ToolChoice{Mode: wire.ToolChoiceAuto}})
		if bytes.Contains(call.Body, []byte("tool")) {
			t.Errorf("body %s", call.Body)
		}
	})
	t.Run("F61 tool without parameters", func(t *testing.T) {
		for _, schema := range []string{"", `{}`, ` { } `, `{"type":"object"}`, `{"type":"object","properties":null}`, `{"type":"object","properties":null,"required":null}`, `{"properties":{"a":{"type":"string"}}}`} {
			call := sent(t, wire.Request{Tools: []wire.Tool{{Name: "f", Schema: schema}}})
			var s struct {
				Type       string
				Properties *map[string]any
				Required   json.RawMessage
			}
			if err := json.Unmarshal([]byte(get(call, "tools.0.input_schema")), &s); err != nil || s.Type != "object" || s.Properties == nil || s.Required != nil {
				t.Errorf("schema %q is sent as %s", schema, get(call, "tools.0.input_schema"))
			}
			if strings.Contains(schema, `"a"`) != strings.Contains(get(call, "tools.0.input_schema"), `"a"`) {
				t.Errorf("schema %q is sent as %s", schema, get(call, "tools.0.input_schema"))
			}
		}
	})
	t.Run("F62 no null", func(t *testing.T) {
		call := sent(t, wire.Request{Tools: []wire.Tool{{Name: "f"}}, Messages: []wire.Message{wire.UserText("u"), assistant(wire.ToolCallPart("a", "f", "")), wire.ToolMessage(wire.ToolResultPart("a", "f"))}})
		if bytes.Contains(call.Body, []byte("null")) {
			t.Errorf("body %s", call.Body)
		}
	})
	t.Run("F63 zero is a value", func(t *testing.T) {
		call := sent(t, wire.Request{Temperature: ptr(0.0), TopP: ptr(0.0)})
		eq(t, "temperature", get(call, "temperature"), "0")
		eq(t, "top_p", get(call, "top_p"), "0")
		if call := sent(t, wire.Request{}); bytes.Contains(call.Body, []byte("temperature")) || bytes.Contains(call.Body, []byte("top_p")) {
			t.Errorf("body %s", call.Body)
		}
	})
	t.Run("F64 the limit is always there", func(t *testing.T) {
		eq(t, "max_tokens", get(sent(t, wire.Request{MaxTokens: 100}), "max_tokens"), "100")
		call, _ := encode(t, anthropic.Codec{}, &wire.Request{Model: "m", Messages: []wire.Message{wire.UserText("u")}})
		if gjson.GetBytes(call.Body, "max_tokens").Int() <= 0 {
			t.Errorf("body %s", call.Body)
		}
	})
	t.Run("F65 system prompt", func(t *testing.T) {
		call := sent(t, wire.Request{System: []wire.Part{text("S")}})
		eq(t, "system", get(call, "system"), `[{"type":"text","text":"S"}]`)
		if bytes.Count(call.Body, []byte(`"S"`)) != 1 {
			t.Errorf("body %s", call.Body)
		}
	})
	t.Run("F66 white space at the end of a prefill", func(t *testing.T) {
		call := sent(t, wire.Request{Model: "claude-opus-4-5", Messages: []wire.Message{wire.UserText("a"), assistant(text("b ")), wire.UserText("c"), assistant(text("{\n  "))}})
		eq(t, "last", get(call, "messages.3.content.0.text"), `"{"`)
		eq(t, "earlier", get(call, "messages.1.content.0.text"), `"b "`)
	})
	t.Run("F67 neighbours of one role", func(t *testing.T) {
		call := sent(t, wire.Request{Messages: []wire.Message{wire.UserText("a"), wire.UserText("b"), assistant(wire.ToolCallPart("1", "f", "{}"), wire.ToolCallPart("2", "f", "{}")),
			wire.ToolMessage(wire.ToolResultPart("1", "f")), wire.ToolMessage(wire.ToolResultPart("2", "f"))}})
		eq(t, "number of messages", get(call, "messages.#"), "3")
		eq(t, "parts of the first", get(call, "messages.0.content.#.text"), `["a","b"]`)
		eq(t, "parts of the last", get(call, "messages.2.content.#.tool_use_id"), `["1","2"]`)
	})
	t.Run("F68 images in results", func(t *testing.T) {
		call := sent(t, wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(wire.ToolCallPart("1", "f", "{}")),
			wire.ToolMessage(wire.ToolResultPart("1", "f", text("shot"), wire.ImagePart([]byte(png))))}})
		eq(t, "types", get(call, "messages.2.content.0.content.#.type"), `["text","image"]`)
	})
	t.Run("F69 type of an image", func(t *testing.T) {
		for _, typ := range []string{"image/png", "image/jpg", ""} {
			call := sent(t, wire.Request{Messages: []wire.Message{user(media(wire.Media{Type: typ, Data: []byte("\xff\xd8\xff\xe0")}))}})
			eq(t, "type of "+typ, get(call, "messages.0.content.0.source.media_type"), `"image/jpeg"`)
		}
	})
	t.Run("F70 more than four marks", func(t *testing.T) {
		r := wire.Request{Cache: &wire.CachePolicy{Auto: true}, System: []wire.Part{marked(text("a"), ""), marked(text("b"), "")}, Tools: []wire.Tool{{Name: "f"}}, Messages: []wire.Message{wire.UserText("u")}}
		for i := range 10 {
			id := "c" + strconv.Itoa(i)
			r.Messages = append(r.Messages, assistant(wire.ToolCallPart(id, "f", "{}")), wire.ToolMessage(wire.ToolResultPart(id, "f")))
			call := sent(t, r)
			if n := bytes.Count(call.Body, []byte("cache_control")); n > 4 {
				t.Errorf("%d marks", n)
			}
			eq(t, "system", get(call, "system.#.cache_control.type"), `["ephemeral","ephemeral"]`)
			eq(t, "the last", get(call, fmt.Sprintf("messages.%d.content.0.cache_control.type", 2*i+2)), `"ephemeral"`)
		}
	})
	t.Run("F72 assistant message with nothing in it", func(t *testing.T) {
		call := sent(t, wire.Request{Messages: []wire.Message{wire.UserText("a"), assistant(), wire.UserText("b")}})
		eq(t, "messages", get(call, "messages.#.content.#.text"), `[["a","b"]]`)
	})
	t.Run("F73 base64", func(t *testing.T) {
		call := sent(t, wire.Request{Messages: []wire.Message{user(media(wire.Media{Type: "image/png", Data: bytes.Repeat([]byte{0xfb}, 100)}))}})
		if s := gjson.GetBytes(call.Body, "messages.0.content.0.source.data").Str; len(s) != 136 || strings.ContainsAny(s, " \n:;-_") || !strings.HasSuffix(s, "==") {
			t.Errorf("data %q", s)
		}
	})
	t.Run("F74 cumulative usage", func(t *testing.T) {
		resp, _, err := decodeAll(t, []byte(an(usageStart+`{"input_tokens":27,"cache_creation_input_tokens":100,"cache_read_input_tokens":300,"output_tokens":1}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":27,"cache_creation_input_tokens":100,"cache_read_input_tokens":300,"output_tokens":47}}`, evStop)), wire.FramingSSE)
		u := resp.Usage
		if err != nil || u.UncachedInputTokens.Value() != 27 || u.CacheCreationTokens.Value() != 100 || u.CacheReadTokens.Value() != 300 || u.OutputTokens.Value() != 47 || u.InputTokens.Value() != 427 {
			t.Errorf("usage %+v, %v", u, err)
		}
	})
	t.Run("F81 unknown reason", func(t *testing.T) {
		m := finished(t, an(framed("brand_new", evBlock(0, blockTool), evEnd(0))...))
		ends(t, m, wire.CauseFinished, wire.FinishOther)
		eq(t, "the vendor's word", m.Ending.VendorFinish, "brand_new")
		if len(m.ExecutableCalls()) > 0 {
			t.Error("a call would be run")
		}
	})
	t.Run("F82 length in the middle of a call", func(t *testing.T) {
		for _, args := range []string{`{"path":"a.txt","text":"abc`, `{"path":"a.txt"}`} {
			for _, stop := range [][]string{{evEnd(0)}, nil} {
				evs := append([]string{evBlock(0, blockTool), evArgs(0, strconv.Quote(args))}, stop...)
				m := finished(t, an(framed("max_tokens", evs...)...))
				ends(t, m, wire.CauseFinished, wire.FinishLength)
				if len(m.ExecutableCalls()) > 0 || m.Parts[0].Args != args {
					t.Errorf("%+v", m.Parts)
				}
			}
		}
	})
	t.Run("F84 pause", func(t *testing.T) {
		m := finished(t, an(framed("pause_turn", evBlock(0, blockText), evText(0, `"let me see "`), evEnd(0), evBlock(1, `{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}`), evArgs(1, `"{\"q\":1}"`), evEnd(1))...))
		ends(t, m, wire.CauseFinished, wire.FinishPause)
		call := sent(t, wire.Request{Model: "claude-opus-4-8", Messages: []wire.Message{wire.UserText("u"), m}})
		eq(t, "content", get(call, "messages.1.content"), `[{"type":"text","text":"let me see "},{"type":"server_tool_use","id":"s1","name":"web_search","input":{"q":1}}]`)
	})
	t.Run("F86 refusal", func(t *testing.T) {
		m := finished(t, an(framed("refusal", evBlock(0, blockText), evText(0, `"I"`), evEnd(0))...))
		ends(t, m, wire.CauseFinished, wire.FinishRefusal)
		eq(t, "text", m.Text(), "I")
	})
	t.Run("F92 overload", func(t *testing.T) {
		const body = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
		if e := (anthropic.Codec{}).DecodeError(wire.Head{Status: 529}, []byte(body)); e.Class != wire.ClassOverloaded || e.Status != 529 {
			t.Errorf("%+v", e)
		}
		for _, evs := range [][]string{{evStart, body}, {evStart, evBlock(0, blockText), evText(0, `"x"`), body}} {
			m, err := decode(t, an(evs...))
			var e *wire.Error
			if !errors.As(err, &e) || e.Class != wire.ClassOverloaded || e.Message != "Overloaded" {
				t.Errorf("error %v", err)
			}
			ends(t, m, wire.CauseVendor, "")
		}
	})
	t.Run("F93 error body that is no JSON", func(t *testing.T) {
		for status, body := range map[int]string{502: "<html><h1>502 Bad Gateway</h1></html>", 500: ""} {
			e := anthropic.Codec{}.DecodeError(wire.Head{Status: status}, []byte(body))
			if e.Class != wire.ClassServer || e.Status != status || strings.Contains(e.Error(), "JSON") || e.Body != body {
				t.Errorf("%+v", e)
			}
		}
	})
	t.Run("F94 error shapes", func(t *testing.T) {
		for _, tc := range []struct{ body, message, code string }{
			{`{"error":{"message":"m1","code":400}}`, "m1", "400"},
			{`{"error":"m2"}`, "m2", ""},
			{`{"message":"m3"}`, "m3", ""},
			{`{"detail":"m5"}`, "m5", ""},
		} {
			e := anthropic.Codec{}.DecodeError(wire.Head{Status: 400}, []byte(tc.body))
			if e.Message != tc.message || e.Code != tc.code {
				t.Errorf("%s gives %+v", tc.body, e)
			}
		}
		if e := (anthropic.Codec{}).DecodeError(wire.Head{Status: 400}, []byte(`{"error":{"message":null}}`)); !strings.Contains(e.Message, "400") || strings.Contains(e.Error(), "nil") {
			t.Errorf("%+v", e)
		}
	})
	t.Run("F95 long error body", func(t *testing.T) {
		e := anthropic.Codec{}.DecodeError(wire.Head{Status: 500}, bytes.Repeat([]byte("x"), 1<<20))
		if len(e.Error()) > 1000 {
			t.Errorf("an error of %d bytes", len(e.Error()))
		}
	})
	t.Run("F98 context overflow", func(t *testing.T) {
		for _, tc := range []struct {
			status int
			body   string
			want   wire.Class
		}{
			{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, wire.ClassOverflow},
			{413, "", wire.ClassOverflow},
			{429, `{"type":"error","error":{"type":"rate_limit_error","message":"Rate limit reached for 100 tokens per min"}}`, wire.ClassRateLimit},
			{400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.0: too long"}}`, wire.ClassBadRequest},
		} {
			h := http.Header{"Retry-After": {"3"}}
			if e := (anthropic.Codec{}).DecodeError(wire.Head{Status: tc.status, Get: h.Get}, []byte(tc.body)); e.Class != tc.want {
				t.Errorf("%d %s is %s, want %s", tc.status, tc.body, e.Class, tc.want)
			}
		}
	})
}
