package openaichat_test

import (
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/openaichat"
)

// TestDecodeFaults holds one case for each way in which programs that read this
// protocol have been seen to break.
func TestDecodeFaults(t *testing.T) {
	read := func(t *testing.T, body string) (wire.Response, error) {
		t.Helper()
		resp, _, err := decodeBody(t, openCodec, strings.NewReader(body), wire.FramingSSE)
		return resp, err
	}
	finished := func(t *testing.T, f wire.FinishReason, events ...string) wire.Response {
		t.Helper()
		resp, err := read(t, sse(events...))
		if err != nil || resp.Message.Ending.Finish != f {
			t.Fatalf("ending %+v, %v; want %s", resp.Message.Ending, err, f)
		}
		return resp
	}
	text := func(r wire.Response) string { return r.Message.Text() }
	eq := func(t *testing.T, what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s is %q, want %q", what, got, want)
		}
	}
	// calls wants these calls: id, name, arguments, …; all of them can be run.
	calls := func(t *testing.T, r wire.Response, want ...string) {
		t.Helper()
		var got []string
		for _, c := range r.Message.ExecutableCalls() {
			got = append(got, c.ID, c.Name, c.Args)
		}
		eq(t, "the calls", strings.Join(got, " "), strings.Join(want, " "))
	}
	failed := func(t *testing.T, body string, cause wire.Cause) (wire.Response, *wire.Error) {
		t.Helper()
		resp, err := read(t, body)
		e := wire.AsError(err, "")
		if err == nil || e.Cause != cause || resp.Message.Ending.Cause != cause {
			t.Fatalf("ending %+v, %v; want %s", resp.Message.Ending, err, cause)
		}
		return resp, e
	}
	toolEnd := []string{oc(`{}`, "tool_calls"), evDone}
	with := func(events ...string) []string { return append(events, toolEnd...) }

	t.Run("F03 character cut between two reads", func(t *testing.T) {
		resp, _, err := decodeBody(t, openCodec, iotest.OneByteReader(strings.NewReader(sse(content("né🌍"), oc(`{}`, "stop"), evDone))), wire.FramingSSE)
		if err != nil || resp.Message.Text() != "né🌍" {
			t.Errorf("%q, %v", resp.Message.Text(), err)
		}
	})
	t.Run("F04 byte order mark", func(t *testing.T) {
		resp, err := read(t, "\ufeff"+sse(content("x"), oc(`{}`, "stop")))
		if err != nil || resp.Message.Text() != "x" {
			t.Errorf("%q, %v", resp.Message.Text(), err)
		}
	})
	t.Run("F05 space after the colon", func(t *testing.T) {
		for _, colon := range []string{":", ": ", ":  "} {
			resp, err := read(t, strings.ReplaceAll(sse(content(" x "), oc(`{}`, "stop"), evDone), "data: ", "data"+colon))
			if err != nil || resp.Message.Text() != " x " {
				t.Errorf("%q, %v", resp.Message.Text(), err)
			}
		}
	})
	t.Run("F06 comments", func(t *testing.T) {
		resp, err := read(t, ": PROCESSING\n\n:\n\n"+sse(oc(`{"content":"hi"}`, "stop"), evDone))
		if err != nil || resp.Message.Text() != "hi" {
			t.Errorf("%q, %v", resp.Message.Text(), err)
		}
	})
	t.Run("F07 data over several lines", func(t *testing.T) {
		resp, err := read(t, "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"x\"},\ndata: \"finish_reason\":\"stop\"}]}\n\n")
		if err != nil || resp.Message.Text() != "x" {
			t.Errorf("%q, %v", resp.Message.Text(), err)
		}
	})
	t.Run("F08 long line", func(t *testing.T) {
		long := strings.Repeat("A", 1<<20)
		eq(t, "text", text(finished(t, wire.FinishStop, content(long), oc(`{}`, "stop"), evDone)), long)
	})
	t.Run("F09 no blank line at the end", func(t *testing.T) {
		resp, err := read(t, sse(content("hi"))+"data: "+oc(`{}`, "stop"))
		if err != nil || resp.Message.Text() != "hi" || resp.Message.Ending.Finish != wire.FinishStop {
			t.Errorf("%+v, %v", resp.Message, err)
		}
	})
	t.Run("F10 end in the middle of JSON", func(t *testing.T) {
		resp, err := failed(t, sse(content("one"))+`data: {"id":"c1","choi`, wire.CauseTruncated)
		if resp.Message.Text() != "one" || !errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "JSON") {
			t.Errorf("%q, %v", resp.Message.Text(), err)
		}
	})
	t.Run("F11 end before a finish reason", func(t *testing.T) {
		resp, _ := failed(t, sse(content("half")), wire.CauseTruncated)
		eq(t, "text", resp.Message.Text(), "half")
	})
	t.Run("F12 finish reason without DONE", func(t *testing.T) {
		eq(t, "text", text(finished(t, wire.FinishStop, content("hi"), oc(`{}`, "stop"))), "hi")
	})
	t.Run("F13 spellings of DONE", func(t *testing.T) {
		reads := 0
		body := io.MultiReader(strings.NewReader(sse(oc(`{"content":"hi"}`, "stop"))+"data:[DONE]\n\n"), readerFunc(func([]byte) (int, error) {
			reads++
			return 0, errors.New("read past the end")
		}))
		resp, _, err := decodeBody(t, openCodec, body, wire.FramingSSE)
		if err != nil || resp.Message.Text() != "hi" || len(resp.Notes) != 0 || reads != 0 {
			t.Errorf("%+v, %v, %d reads past the end", resp, err, reads)
		}
	})
	t.Run("F14 error in a stream", func(t *testing.T) {
		for _, c := range []struct {
			event, message, code string
			class                wire.Class
			status               int
		}{
			{`data: {"error":{"message":"upstream busy","code":502}}`, "upstream busy", "502", wire.ClassServer, 502},
			{`data: {"error":"upstream busy"}`, "upstream busy", "", wire.ClassServer, 200},
			{`data: [{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}]`, "busy", "503", wire.ClassOverloaded, 503},
			{`data: {"error":[{"message":"busy","code":429}]}`, "busy", "429", wire.ClassRateLimit, 429},
			{`data: {"object":"error","message":"bad","type":"BadRequestError","code":400}`, "bad", "400", wire.ClassBadRequest, 400},
			{`data: {"base_resp":{"status_code":1039,"status_msg":"token limit"},"choices":null}`, "token limit", "1039", wire.ClassOverflow, 200},
			{`data: {"code":"The service is currently unavailable","error":"try later"}`, "try later", "The service is currently unavailable", wire.ClassOverloaded, 200},
			{`data: {"code":"1302","message":"slow"}`, "slow", "1302", wire.ClassRateLimit, 200},
			{"event: error\ndata: {\"message\":\"crashed\"}", "crashed", "", wire.ClassServer, 200},
			{"event: error\ndata: {\"error\":\"Error\",\"message\":\"crashed\"}", "Error: crashed", "", wire.ClassServer, 200},
			{`data: {"id":"c1","choices":[],"error":{"code":429,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"too long\"}}"}}}`, "Provider returned error: too long", "429", wire.ClassOverflow, 429},
			{`data: {"id":"c1","choices":[{"index":0,"error":{"code":502,"message":"gone"},"delta":{},"finish_reason":"error"}]}`, "gone", "502", wire.ClassServer, 502},
			{`data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"error":{}}`, "the server sent an error without words", "", wire.ClassServer, 200},
			{`data: {"choices":[],"x_groq":{"error":"over capacity"}}`, "over capacity", "", wire.ClassServer, 200},
			{`{"error":{"message":"a line without a field","type":"server_error"}}`, "a line without a field", "", wire.ClassServer, 200},
		} {
			resp, e := failed(t, sse(content("par"))+c.event+"\n\n"+sse(evDone), wire.CauseVendor)
			if resp.Message.Text() != "par" || e.Message != c.message || e.Code != c.code || e.Class != c.class || e.Status != c.status {
				t.Errorf("%s: %q, %+v", c.event, resp.Message.Text(), e)
			}
		}
	})
	t.Run("F15 nothing came", func(t *testing.T) {
		for _, body := range []string{"", ": wait\n\n"} {
			if _, e := failed(t, body, wire.CauseTruncated); !strings.Contains(e.Message, "before the message began") {
				t.Errorf("%v", e)
			}
		}
		failed(t, sse(evDone), wire.CauseProtocol)
	})
	t.Run("F16 empty data", func(t *testing.T) {
		resp, err := read(t, "event: ping\ndata: {\"type\":\"ping\"}\n\ndata: \n\ndata:\n\n"+sse(oc(`{"content":"ok"}`, "stop"), evDone))
		if err != nil || resp.Message.Text() != "ok" || len(resp.Notes) != 0 {
			t.Errorf("%+v, %v", resp, err)
		}
	})
	t.Run("F17 a plain body", func(t *testing.T) {
		body := `{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"whole"},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":1,"total_tokens":5}}`
		resp, err := read(t, body)
		if err != nil || resp.Message.Text() != "whole" || resp.Usage.InputTokens.Value() != 4 || resp.Message.Ending.Finish != wire.FinishStop {
			t.Errorf("%+v, %v", resp, err)
		}
		failed(t, `{"error":{"message":"no"}}`, wire.CauseVendor)
	})
	t.Run("F124 white space is content", func(t *testing.T) {
		var pieces, args []string
		for _, s := range []string{"Hi", " ", "again", "\n\n", "  x ", ""} {
			pieces = append(pieces, content(s), oc(`{"reasoning":`+strconv.Quote(s)+`}`))
			args = append(args, tc(`{"index":0,"function":{"arguments":`+strconv.Quote(s)+`}}`))
		}
		resp := finished(t, wire.FinishToolCall, with(append(append(pieces, tc(`{"index":0,"id":"a","function":{"name":"f"}}`)), args...)...)...)
		const want = "Hi again\n\n  x "
		eq(t, "text", resp.Message.Text(), want)
		eq(t, "reasoning", resp.Message.Reasoning(), want)
		eq(t, "arguments", callsOf(&resp.Message)[0].Args, want)
	})

	t.Run("F24 no index, one call", func(t *testing.T) {
		calls(t, finished(t, wire.FinishToolCall, with(tc(`{"id":"a1","type":"function","function":{"name":"get","arguments":"{\"q\":"}}`), tc(`{"function":{"arguments":"1}"}}`))...), "a1", "get", `{"q":1}`)
	})
	t.Run("F25 no index, several calls", func(t *testing.T) {
		calls(t, finished(t, wire.FinishToolCall, with(tc(`{"id":"a","function":{"name":"f","arguments":"{}"}}`, `{"id":"b","function":{"name":"g","arguments":"{\"x\":2}"}}`))...), "a", "f", "{}", "b", "g", `{"x":2}`)
	})
	t.Run("F26 all say index 0", func(t *testing.T) {
		calls(t, finished(t, wire.FinishToolCall, with(tc(`{"index":0,"id":"a","type":"function","function":{"name":"w","arguments":"{\"c\":\"Oslo\"}"}}`),
			tc(`{"index":0,"id":"b","type":"function","function":{"name":"w","arguments":"{\"c\":\"Rome\"}"}}`))...), "a", "w", `{"c":"Oslo"}`, "b", "w", `{"c":"Rome"}`)
	})
	t.Run("F27 other indices", func(t *testing.T) {
		for _, i := range [][2]string{{"3", "1"}, {"-1", "-2"}, {"999999999", "9223372036854775807"}} {
			resp := finished(t, wire.FinishToolCall, with(tc(`{"index":`+i[0]+`,"id":"a","function":{"name":"f","arguments":"{}"}}`), tc(`{"index":`+i[1]+`,"id":"b","function":{"name":"f","arguments":"{"}}`), tc(`{"index":`+i[1]+`,"function":{"arguments":"}"}}`))...)
			calls(t, resp, "a", "f", "{}", "b", "f", "{}")
		}
	})
	t.Run("F28 id on every chunk", func(t *testing.T) {
		for _, index := range []string{`"index":0,`, ""} {
			entry := func(args string) string {
				return tc(`{` + index + `"id":"call_1","function":{"name":"get","arguments":` + args + `}}`)
			}
			resp := finished(t, wire.FinishToolCall, with(entry(`"{\"q\""`), entry(`":"`), entry(`"1}"`))...)
			calls(t, resp, "call_1", "get", `{"q":1}`)
			if len(resp.Notes) != 0 {
				t.Errorf("%v", resp.Notes)
			}
		}
	})
	t.Run("F29 empty id", func(t *testing.T) {
		for _, index := range []string{`"index":0,`, ""} {
			calls(t, finished(t, wire.FinishToolCall, with(tc(`{`+index+`"id":"c1","function":{"name":"get","arguments":"{"}}`), tc(`{`+index+`"id":"","function":{"name":"","arguments":"}"}}`))...), "c1", "get", "{}")
		}
	})
	t.Run("F30 no id", func(t *testing.T) {
		for _, index := range [][2]string{{`"index":0,`, `"index":1,`}, {"", ""}, {`"index":0,"id":"null",`, `"index":1,"id":"null",`}} {
			events := with(tc(`{`+index[0]+`"function":{"name":"now","arguments":"{}"}}`), tc(`{`+index[1]+`"function":{"name":"then","arguments":"{}"}}`))
			resp := finished(t, wire.FinishToolCall, events...)
			list := resp.Message.ExecutableCalls()
			if len(list) != 2 || list[0].ID == list[1].ID || len(resp.Notes) != 2 {
				t.Fatalf("%+v, %v", list, resp.Notes)
			}
			again := finished(t, wire.FinishToolCall, events...)
			for i, c := range list {
				if !regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`).MatchString(c.ID) || again.Message.ExecutableCalls()[i].ID != c.ID {
					t.Errorf("id %q", c.ID)
				}
			}
		}
	})
	t.Run("F31 arguments as an object", func(t *testing.T) {
		resp := finished(t, wire.FinishToolCall, with(tc(`{"index":0,"id":"c","function":{"name":"f","arguments":{"q":"x, \" y", "n": [2.0, 1e2],"o" : { } }}}`))...)
		calls(t, resp, "c", "f", `{"q":"x, \" y","n":[2.0,1e2],"o":{}}`)
		if len(resp.Notes) != 1 || resp.Notes[0].Code != wire.NoteConverted {
			t.Errorf("%v", resp.Notes)
		}
		resp = finished(t, wire.FinishToolCall, with(tc(`{"index":0,"id":"c","function":{"name":"f","arguments":{"q": 1}}}`), tc(`{"index":0,"id":"c","function":{"name":"f","arguments":{"q" :1}}}`))...)
		calls(t, resp, "c", "f", `{"q":1}`)
		if len(resp.Notes) != 2 {
			t.Errorf("%v", resp.Notes)
		}
	})
	t.Run("F32 no arguments", func(t *testing.T) {
		calls(t, finished(t, wire.FinishToolCall, with(tc(`{"index":0,"id":"a","function":{"name":"now","arguments":""}}`, `{"index":1,"id":"b","function":{"name":"now","arguments":null}}`, `{"index":2,"id":"c","function":{"name":"now"}}`))...),
			"a", "now", "{}", "b", "now", "{}", "c", "now", "{}")
	})
	t.Run("F34 arguments repeated at the end", func(t *testing.T) {
		for _, last := range []string{`{"index":0,"function":{"arguments":"{\"city\":\"Oslo\"}"}}`, `{"index":0,"id":"a","function":{"name":"f","arguments":"{\"city\":\"Oslo\"}"}}`, `{"index":0,"function":{"arguments":{"city":"Oslo"}}}`} {
			resp := finished(t, wire.FinishToolCall, with(tc(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"city\":"}}`), tc(`{"index":0,"function":{"arguments":"\"Oslo\"}"}}`), tc(last))...)
			calls(t, resp, "a", "f", `{"city":"Oslo"}`)
			if len(resp.Notes) != 1 || resp.Notes[0].Code != wire.NoteRepaired {
				t.Errorf("%v", resp.Notes)
			}
		}
	})
	t.Run("F35 name on every chunk", func(t *testing.T) {
		calls(t, finished(t, wire.FinishToolCall, with(tc(`{"index":0,"id":"a","function":{"name":"get","arguments":""}}`), tc(`{"index":0,"function":{"name":"get","arguments":"{}"}}`))...), "a", "get", "{}")
	})
	t.Run("F26 equal calls in a whole message", func(t *testing.T) {
		for _, entry := range []string{`{"id":"","index":0,"function":{"name":"now","arguments":""}}`, `{"id":"a","function":{"name":"now","arguments":"{}"}}`} {
			body := `{"id":"c1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"tool_calls":[` + entry + "," + entry + `]},"finish_reason":"tool_calls"}]}`
			for f, body := range map[wire.Framing]string{wire.FramingWhole: body, wire.FramingSSE: sse(body)} {
				resp, _, err := decodeBody(t, openCodec, strings.NewReader(body), f)
				ps := resp.Message.Parts
				if err != nil || len(ps) != 2 || ps[0].ID == ps[1].ID || len(resp.Message.ExecutableCalls()) != 2 {
					t.Errorf("%s: %+v, %v", entry, ps, err)
				}
			}
		}
	})
	t.Run("an id that is none", func(t *testing.T) {
		resp := finished(t, wire.FinishStop, `{"id":"null","model":"","choices":[{"index":0,"delta":{"role":"assistant"}}]}`, content("x"), oc(`{}`, "stop"), evDone)
		eq(t, "the id", resp.Message.Origin.ResponseID, "c1")
	})
	t.Run("F35 name in pieces", func(t *testing.T) {
		resp := finished(t, wire.FinishToolCall, with(tc(`{"index":0,"id":"a","function":{"name":"get_","arguments":"{"}}`), tc(`{"index":0,"function":{"name":"weather"}}`), tc(`{"index":0,"function":{"name":"get_","arguments":"}"}}`))...)
		calls(t, resp, "a", "get_", "{}")
		if len(resp.Notes) != 1 || !strings.Contains(resp.Notes[0].Detail, `"weather"`) {
			t.Errorf("notes %v", resp.Notes)
		}
	})
	t.Run("F26 one id under two indices", func(t *testing.T) {
		resp := finished(t, wire.FinishToolCall, with(tc(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`), tc(`{"index":1,"id":"a","function":{"name":"f","arguments":"{}"}}`))...)
		if got := resp.Message.ExecutableCalls(); len(got) != 2 || got[0].ID == got[1].ID {
			t.Errorf("%+v", got)
		}
	})
	t.Run("the message once more behind its calls", func(t *testing.T) {
		const call = `{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`
		again := strings.Replace(strings.Replace(tc(strings.Replace(call, `"a"`, `"b"`, 1)), `"delta"`, `"message"`, 1), `"finish_reason":null`, `"finish_reason":"tool_calls"`, 1)
		resp := finished(t, wire.FinishToolCall, tc(call), again, evDone)
		calls(t, resp, "a", "f", "{}")
		if len(resp.Notes) != 1 || resp.Notes[0].Path != "choices.message" {
			t.Errorf("notes %v", resp.Notes)
		}
	})
	t.Run("a list said again", func(t *testing.T) {
		resp := finished(t, wire.FinishStop, oc(`{"content":"x","things":[1,2]}`), oc(`{"things":[1,2]}`), oc(`{}`, "stop"), evDone)
		eq(t, "the vendor's facts", resp.Message.Vendor, `{"things":[1,2]}`)
		resp = finished(t, wire.FinishStop, oc(`{"content":"x","things":[1]}`), oc(`{"things":[2]}`), oc(`{}`, "stop"), evDone)
		eq(t, "the vendor's facts", resp.Message.Vendor, `{"things":[1,2]}`)
	})
	t.Run("F36 arguments before the name", func(t *testing.T) {
		calls(t, finished(t, wire.FinishToolCall, with(tc(`{"index":0,"id":"c","function":{"arguments":"{\"q\":"}}`), tc(`{"index":0,"function":{"name":"get","arguments":"1}"}}`))...), "c", "get", `{"q":1}`)
		resp, _ := failed(t, sse(with(tc(`{"index":0,"id":"c","function":{"arguments":"{}"}}`))...), wire.CauseProtocol)
		if len(resp.Message.Parts) != 0 || len(resp.Notes) != 1 {
			t.Errorf("%+v", resp)
		}
		resp = finished(t, wire.FinishLength, tc(`{"index":0,"id":"c","function":{"arguments":"{"}}`), oc(`{}`, "length"), evDone)
		if len(resp.Message.Parts) != 0 || len(resp.Notes) != 1 {
			t.Errorf("%+v", resp)
		}
	})
	t.Run("F37 arguments that are no JSON", func(t *testing.T) {
		resp := finished(t, wire.FinishToolCall, with(tc(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"path\": \"a.txt\""}}`))...)
		calls(t, resp)
		eq(t, "arguments", callsOf(&resp.Message)[0].Args, `{"path": "a.txt"`)
	})
	t.Run("F38 nulls", func(t *testing.T) {
		resp := finished(t, wire.FinishToolCall, oc(`{"role":null,"content":null,"tool_calls":null,"refusal":null}`), `{"id":"c1","object":"chat.completion.chunk","model":"m"}`,
			tc(`{"index":0,"id":"c","type":null,"function":{"name":"f","arguments":null}}`), tc(`{"index":0,"function":null}`), tc(`null`), `{"id":"c1","object":"chat.completion.chunk","choices":[null]}`, oc(`{"content":"","role":""}`, "tool_calls"), evDone)
		calls(t, resp, "c", "f", "{}")
		if len(resp.Message.Parts) != 1 || len(resp.Notes) != 0 {
			t.Errorf("%+v", resp)
		}
	})
	t.Run("F39 text and a call in one delta", func(t *testing.T) {
		resp := finished(t, wire.FinishToolCall, oc(`{"content":"ok ","tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}`, "tool_calls"), evDone)
		calls(t, resp, "c", "f", "{}")
		eq(t, "text", resp.Message.Text(), "ok ")
	})
	t.Run("F49 finish seen twice", func(t *testing.T) {
		resp := finished(t, wire.FinishToolCall, tc(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), oc(`{}`, "tool_calls"),
			strings.Replace(oc(`{}`, "tool_calls"), `"choices"`, `"usage":{"prompt_tokens":1,"completion_tokens":2},"choices"`, 1), evDone)
		calls(t, resp, "a", "f", "{}")
		if len(resp.Notes) != 0 || resp.Usage.OutputTokens.Value() != 2 {
			t.Errorf("%+v", resp)
		}
	})
	t.Run("F56 names of reasoning", func(t *testing.T) {
		resp := finished(t, wire.FinishStop, oc(`{"reasoning":"a"}`), oc(`{"reasoning_content":"b"}`), oc(`{"reasoning":"c","reasoning_content":"c"}`), oc(`{"content":"t"}`, "stop"), evDone)
		eq(t, "reasoning", resp.Message.Reasoning(), "abc")
		eq(t, "text", resp.Message.Text(), "t")
	})
	t.Run("F57 tags", func(t *testing.T) {
		events := []string{content("<th"), content("ink>se"), content("cret</thi"), content("nk>vis"), content("ible <"), content("b>"), oc(`{}`, "stop"), evDone}
		on, _, err := decodeBody(t, openaichat.Codec{Profile: tags}, strings.NewReader(sse(events...)), wire.FramingSSE)
		if err != nil {
			t.Fatal(err)
		}
		eq(t, "reasoning", on.Message.Reasoning(), "secret")
		eq(t, "text", on.Message.Text(), "visible <b>")
		in, _, err := decodeBody(t, openaichat.Codec{Profile: tags}, strings.NewReader(sse(content("<think>a<think>b</think>c"), oc(`{}`, "stop"), evDone)), wire.FramingSSE)
		if err != nil {
			t.Fatal(err)
		}
		eq(t, "an opener within", in.Message.Reasoning()+"|"+in.Message.Text(), "a<think>b|c")
		eq(t, "text with the option off", text(finished(t, wire.FinishStop, events...)), "<think>secret</think>visible <b>")
	})

	usage := func(t *testing.T, r wire.Response, fresh, read, out, reasoning int64) {
		t.Helper()
		u := r.Usage
		if u.UncachedInputTokens.Value() != fresh || u.CacheReadTokens.Value() != read || u.OutputTokens.Value() != out || u.ReasoningTokens.Value() != reasoning {
			t.Errorf("usage %+v", u)
		}
	}
	withUsage := func(u string) string {
		return `{"id":"c1","model":"m","object":"chat.completion.chunk","choices":[],"usage":` + u + `}`
	}
	t.Run("F75 cached tokens", func(t *testing.T) {
		resp := finished(t, wire.FinishStop, oc(`{}`, "stop"), withUsage(`{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1050,"prompt_tokens_details":{"cached_tokens":800},"completion_tokens_details":{"reasoning_tokens":20}}`), evDone)
		usage(t, resp, 200, 800, 50, 20)
		for _, u := range []string{`"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":5`, `"cached_tokens":4`, `"num_cached_tokens":4`, `"prompt_token_details":{"cached_tokens":4}`} {
			usage(t, finished(t, wire.FinishStop, oc(`{}`, "stop"), withUsage(`{"prompt_tokens":9,"completion_tokens":1,`+u+`}`), evDone), 5, 4, 1, 0)
		}
		resp = finished(t, wire.FinishStop, oc(`{}`, "stop"), withUsage(`{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":3}}`), evDone)
		usage(t, resp, 2, 4, 1, 0)
		if resp.Usage.CacheCreationTokens != wire.CountOf(3) || resp.Usage.InputTokens != wire.CountOf(9) {
			t.Errorf("%+v", resp.Usage)
		}
	})
	t.Run("F76 usage without choices", func(t *testing.T) {
		usage(t, finished(t, wire.FinishStop, content("x"), oc(`{}`, "stop"), `{"id":"c1","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`, evDone), 3, 0, 1, 0)
	})
	t.Run("F77 no usage", func(t *testing.T) {
		resp := finished(t, wire.FinishStop, content("x"), withUsage("null"), oc(`{}`, "stop"), withUsage(`{"prompt_tokens":null,"completion_tokens":-1}`), evDone)
		if resp.Usage.InputTokens.Known() || resp.Usage.OutputTokens.Known() || resp.Usage.UncachedInputTokens.Known() {
			t.Errorf("%+v", resp.Usage)
		}
	})
	t.Run("F78 usage on every chunk", func(t *testing.T) {
		var events []string
		for i := range 3 {
			events = append(events, strings.Replace(content("x"), `"choices"`, `"usage":{"prompt_tokens":10,"completion_tokens":`+strconv.Itoa(i+1)+`},"choices"`, 1))
		}
		usage(t, finished(t, wire.FinishStop, append(events, oc(`{}`, "stop"), withUsage(`{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`), evDone)...), 10, 0, 3, 0)
	})
	t.Run("F78 a zero takes nothing back", func(t *testing.T) {
		usage(t, finished(t, wire.FinishStop, content("x"), withUsage(`{"prompt_tokens":10,"completion_tokens":3}`), oc(`{}`, "stop"), withUsage(`{"prompt_tokens":0,"completion_tokens":4}`), evDone), 10, 0, 4, 0)
	})
	t.Run("reasoning apart, unless the total says otherwise", func(t *testing.T) {
		for total, want := range map[string]int64{"": 7, `,"total_tokens":15`: 5, `,"total_tokens":17`: 7, `,"total_tokens":99`: 7} {
			u := withUsage(`{"prompt_tokens":10,"completion_tokens":5,"completion_tokens_details":{"reasoning_tokens":2}` + total + `}`)
			resp, _, err := decodeBody(t, openaichat.Codec{Profile: openaichat.Profile{ReasoningApart: true}}, strings.NewReader(sse(content("x"), oc(`{}`, "stop"), u, evDone)), wire.FramingSSE)
			if err != nil {
				t.Fatal(err)
			}
			usage(t, resp, 10, 0, want, 2)
		}
	})
	t.Run("F79 stop with calls", func(t *testing.T) {
		calls(t, finished(t, wire.FinishToolCall, tc(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), oc(`{}`, "stop"), evDone), "a", "f", "{}")
	})
	t.Run("F80 tool_calls without calls", func(t *testing.T) {
		resp := finished(t, wire.FinishStop, content("done"), oc(`{}`, "tool_calls"), evDone)
		eq(t, "reason", resp.Message.Ending.VendorFinish, "tool_calls")
		if len(resp.Notes) != 1 {
			t.Errorf("%v", resp.Notes)
		}
		failed(t, sse(oc(`{"reasoning":"so"}`), oc(`{}`, "tool_calls"), evDone), wire.CauseProtocol)
		failed(t, sse(oc(`{}`, "function_call")), wire.CauseProtocol)
		finished(t, wire.FinishRefusal, oc(`{"refusal":"no"}`), oc(`{}`, "tool_calls"), evDone)
	})
	t.Run("F81 unknown reason", func(t *testing.T) {
		resp := finished(t, wire.FinishOther, tc(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), oc(`{}`, "eos_token"), evDone)
		eq(t, "reason", resp.Message.Ending.VendorFinish, "eos_token")
		calls(t, resp)
	})
	t.Run("F82 length in a call", func(t *testing.T) {
		for _, args := range []string{`{"path":"a.txt","text":"abc`, `{"path":"a.txt"}`} {
			resp := finished(t, wire.FinishLength, tc(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), tc(`{"index":1,"id":"b","function":{"name":"f","arguments":`+strconv.Quote(args)+`}}`), oc(`{}`, "length"), evDone)
			list := callsOf(&resp.Message)
			if list[0].Partial || !list[1].Partial || list[1].Args != args {
				t.Errorf("%+v", list)
			}
			calls(t, resp)
		}
	})
	t.Run("F83 content filter", func(t *testing.T) {
		finished(t, wire.FinishContentFilter, oc(`{}`, "content_filter"), evDone)
		finished(t, wire.FinishContentFilter, content("x"), oc(`{}`, "SENSITIVE"), evDone)
	})
	t.Run("F86 refusal", func(t *testing.T) {
		resp := finished(t, wire.FinishRefusal, oc(`{"refusal":"No, "}`), oc(`{"refusal":"sorry"}`), oc(`{}`, "stop"), evDone)
		if len(resp.Message.Parts) != 1 || resp.Message.Parts[0].Kind != wire.PartRefusal || resp.Message.Parts[0].Text != "No, sorry" {
			t.Errorf("%+v", resp.Message.Parts)
		}
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// TestDecodeReasons: every word that servers have for the end of a message.
func TestDecodeReasons(t *testing.T) {
	for _, c := range []struct {
		words string
		want  wire.FinishReason
		class wire.Class
	}{
		{"stop eos end end_turn stop_sequence STOP tool_calls function_call", wire.FinishStop, ""},
		{"length max_tokens model_length MAX_TOKENS model_context_window_exceeded", wire.FinishLength, ""},
		{"content_filter sensitive safety", wire.FinishContentFilter, ""},
		{"brand_new", wire.FinishOther, ""},
		{"error network_error abort", "", wire.ClassServer},
		{"insufficient_system_resource", "", wire.ClassOverloaded},
	} {
		for word := range strings.SplitSeq(c.words, " ") {
			for _, end := range [][]string{{evDone}, nil} {
				resp, _, err := decodeBody(t, openCodec, strings.NewReader(sse(append([]string{content("x"), oc(`{}`, word)}, end...)...)), wire.FramingSSE)
				e := resp.Message.Ending
				if e.Finish != c.want || e.VendorFinish != word || (err != nil) != (c.class != "") || err != nil && (e.Err.Class != c.class || e.Cause != wire.CauseVendor) {
					t.Errorf("%s: %+v, %v", word, e, err)
				}
			}
		}
	}
}
