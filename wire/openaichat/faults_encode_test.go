package openaichat_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/openaichat"
)

// TestEncodeFaults holds one case for each way in which programs that write this
// protocol have been seen to break.
func TestEncodeFaults(t *testing.T) {
	sent := func(t *testing.T, p openaichat.Profile, r wire.Request) *wire.Call {
		t.Helper()
		if r.Model == "" {
			r.Model = "m"
		}
		call, err := encodeReq(t, p, &r)
		if err != nil {
			t.Fatal(err)
		}
		return call
	}
	get := func(c *wire.Call, path string) string { return gjson.GetBytes(c.Body, path).Raw }
	eq := func(t *testing.T, what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s is %s, want %s", what, got, want)
		}
	}
	zero := openaichat.OpenAI()
	calling := func(id, args string) []wire.Message {
		return []wire.Message{wire.UserText("u"), asst(wire.ToolCallPart(id, "f", args)), wire.ToolMessage(wire.ToolResultPart(id, "f", txt("r")))}
	}
	each := func(t *testing.T, f func(t *testing.T, p openaichat.Profile)) {
		for name, p := range profiles() {
			t.Run(name, func(t *testing.T) { f(t, p) })
		}
	}

	t.Run("F40 big integers", func(t *testing.T) {
		each(t, func(t *testing.T, p openaichat.Profile) {
			const args = `{"id":9007199254740993,"f":1.0,"e":1e21}`
			c := sent(t, p, wire.Request{Messages: calling("abcdef123", args)})
			eq(t, "arguments", gjson.GetBytes(c.Body, "messages.1.tool_calls.0.function.arguments").Str, args)
		})
	})
	t.Run("F41 no HTML escapes", func(t *testing.T) {
		ms := append([]wire.Message{wire.UserText("<b>a&b</b>")}, calling("t1", `{"h":"<1>"}`)...)
		c := sent(t, zero, wire.Request{Messages: ms})
		for _, s := range []string{`\u003c`, `\u003e`, `\u0026`} {
			if bytes.Contains(c.Body, []byte(s)) {
				t.Errorf("%s in %s", s, c.Body)
			}
		}
		eq(t, "text", get(c, "messages.0.content"), `"<b>a&b</b>"`)
		eq(t, "arguments", get(c, "messages.2.tool_calls.0.function.arguments"), `"{\"h\":\"<1>\"}"`)
	})
	t.Run("F42 broken Unicode", func(t *testing.T) {
		ms := calling("t1", `{"s":"\ud83d"}`)
		ms[2].Parts[0].Parts[0].Text = "a\xff\xed\xa0\xbdb"
		ms[1].Parts = append(ms[1].Parts, wire.Part{Kind: wire.PartOpaque, ID: "x", Vendor: `{"id":"x","s":"\ud83d"}`})
		ms[2].Parts = append(ms[2].Parts, wire.ToolResultPart("x", "", txt("r")))
		c := sent(t, zero, wire.Request{Messages: ms})
		eq(t, "result", get(c, "messages.2.content"), "\"a\uFFFD\uFFFD\uFFFD\uFFFDb\"")
		eq(t, "arguments, which are a string here", get(c, "messages.1.tool_calls.0.function.arguments"), `"{\"s\":\"\\ud83d\"}"`)
		eq(t, "opaque call", get(c, "messages.1.tool_calls.1"), `{"id":"x","s":"\ufffd"}`)
	})
	t.Run("F44 results without calls, calls without results", func(t *testing.T) {
		ms := []wire.Message{wire.UserText("u"), asst(wire.ToolCallPart("t1", "f", "{}"), wire.ToolCallPart("t2", "f", "{}")),
			wire.ToolMessage(wire.ToolResultPart("t1", "f")), wire.UserText("go on")}
		findings := openaichat.Codec{}.Check(&wire.Request{Model: "m", Messages: ms})
		if len(findings) != 1 || findings[0].Path != "messages[1].parts[1]" || findings[0].Remedy == "" {
			t.Errorf("%+v", findings)
		}
	})
	t.Run("F45 ids", func(t *testing.T) {
		a, b := "call_1|fc_0:β", "call_1|fc_0:γ"
		ms := []wire.Message{wire.UserText("u"), asst(wire.ToolCallPart(a, "f", "{}"), wire.ToolCallPart(b, "f", "{}"), wire.ToolCallPart("abcdef123", "f", "{}")),
			wire.ToolMessage(wire.ToolResultPart(a, "f"), wire.ToolResultPart(b, "f"), wire.ToolResultPart("abcdef123", "f"))}
		each(t, func(t *testing.T, p openaichat.Profile) {
			c := sent(t, p, wire.Request{Messages: ms})
			seen := map[string]bool{}
			for i := range 3 {
				id := gjson.GetBytes(c.Body, fmt.Sprintf("messages.1.tool_calls.%d.id", i)).Str
				eq(t, "result", gjson.GetBytes(c.Body, fmt.Sprintf("messages.%d.tool_call_id", i+2)).Str, id)
				if seen[id] = true; p.IDs == openaichat.IDs9 && len(id) != 9 || len(seen) != i+1 {
					t.Errorf("id %q", id)
				}
			}
			eq(t, "an id that fits", gjson.GetBytes(c.Body, "messages.1.tool_calls.2.id").Str, "abcdef123")
		})
	})
	t.Run("F53 thinking of a stream that was cut", func(t *testing.T) {
		each(t, func(t *testing.T, p openaichat.Profile) {
			m := asst(thought("half", ""), txt("x"))
			m.Ending = &wire.Ending{Cause: wire.CauseReset, Err: &wire.Error{Cause: wire.CauseReset}}
			c := sent(t, p, wire.Request{Messages: []wire.Message{wire.UserText("u"), m, wire.UserText("v")}})
			if eq(t, "text", get(c, "messages.1.content"), `"x"`); bytes.Contains(c.Body, []byte("half")) {
				t.Errorf("%s", c.Body)
			}
		})
	})
	t.Run("F54 reasoning of another model", func(t *testing.T) {
		each(t, func(t *testing.T, p openaichat.Profile) {
			for _, o := range []wire.Origin{{Protocol: "anthropic-messages"}, {Protocol: openaichat.Protocol, Model: "other"}, {Endpoint: "elsewhere"}} {
				m := asst(thought("why", `{"signature":"SIG","reasoning_details":[{"data":"SIG"}]}`), txt("x"), wire.Part{Kind: wire.PartToolCall, ID: "abcdef123", Name: "f", Args: "{}", Vendor: `{"thoughtSignature":"SIG"}`})
				m.Origin = &o
				c := sent(t, p, wire.Request{Endpoint: "here", Messages: []wire.Message{wire.UserText("u"), m, wire.ToolMessage(wire.ToolResultPart("abcdef123", "f"))}})
				if bytes.Contains(c.Body, []byte("SIG")) || bytes.Contains(c.Body, []byte("why")) || bytes.Contains(c.Body, []byte("think>")) {
					t.Errorf("%s", c.Body)
				}
				eq(t, "text", get(c, "messages.1.content"), `"x"`)
				eq(t, "call", get(c, "messages.1.tool_calls.#"), "1")
			}
		})
	})
	t.Run("F55 reasoning that must go back", func(t *testing.T) {
		ms := calling("t1", "{}")
		ms[1].Parts = append([]wire.Part{thought("why", `{"field":"reasoning_content"}`)}, ms[1].Parts...)
		ms = append(ms, asst(txt("plain")), wire.UserText("v"))
		c := sent(t, openaichat.DeepSeek(), wire.Request{Messages: ms})
		eq(t, "first", get(c, "messages.1.reasoning_content"), `"why"`)
		eq(t, "second", get(c, "messages.3.reasoning_content"), `""`)
		if c := sent(t, zero, wire.Request{Messages: ms}); bytes.Contains(c.Body, []byte("reasoning_content")) {
			t.Errorf("%s", c.Body)
		}
	})
	t.Run("F59 empty text", func(t *testing.T) {
		ms := []wire.Message{usr(txt(""), txt("hi")), asst(txt(""), wire.ToolCallPart("t1", "f", "{}")), wire.ToolMessage(wire.ToolResultPart("t1", "f", txt("")))}
		c := sent(t, zero, wire.Request{Messages: ms})
		eq(t, "messages", get(c, "messages"), `[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{}"}}]},`+
			`{"role":"tool","tool_call_id":"t1","content":"(no tool output)"}]`)
	})
	t.Run("F60 no tools", func(t *testing.T) {
		c := sent(t, zero, wire.Request{Tools: []wire.Tool{}, ToolChoice: wire.ToolChoice{Mode: wire.ToolChoiceAuto}, ParallelToolCalls: of(true), Messages: calling("t1", "{}")})
		for _, name := range []string{"tools", "tool_choice", "parallel_tool_calls"} {
			eq(t, name, get(c, name), "")
		}
	})
	t.Run("F61 tool without parameters", func(t *testing.T) {
		for schema, want := range map[string]string{
			"": `{"type":"object","properties":{}}`, `{}`: `{"type":"object","properties":{}}`, `{"type":"object"}`: `{"properties":{},"type":"object"}`,
			`{"type":"object","properties":null,"required":null}`: `{"properties":{},"type":"object"}`, `{"properties":{"a":{"type":"string"}}}`: `{"type":"object","properties":{"a":{"type":"string"}}}`,
		} {
			c := sent(t, zero, wire.Request{Tools: []wire.Tool{{Name: "f", Schema: schema}}, Messages: []wire.Message{wire.UserText("u")}})
			eq(t, schema, get(c, "tools.0.function.parameters"), want)
		}
	})
	t.Run("F62 nil slices", func(t *testing.T) {
		each(t, func(t *testing.T, p openaichat.Profile) {
			c := sent(t, p, wire.Request{Reasoning: &wire.Reasoning{}, Output: &wire.OutputFormat{}, Cache: &wire.CachePolicy{}, Messages: []wire.Message{wire.UserText("u"), asst(txt("a")), wire.UserText("v")}})
			d := sent(t, p, wire.Request{System: []wire.Part{}, Tools: []wire.Tool{}, StopSequences: []string{}, Extra: []wire.Field{}, Messages: []wire.Message{wire.UserText("u"), asst(txt("a")), wire.UserText("v")}})
			if bytes.Contains(c.Body, []byte("null")) || !bytes.Equal(c.Body, d.Body) {
				t.Errorf("%s\n%s", c.Body, d.Body)
			}
		})
	})
	t.Run("F63 zero values", func(t *testing.T) {
		c := sent(t, zero, wire.Request{Temperature: of(0.0), TopP: of(0.0), Messages: []wire.Message{wire.UserText("u")}})
		eq(t, "temperature", get(c, "temperature"), "0")
		eq(t, "top_p", get(c, "top_p"), "0")
		c = sent(t, zero, wire.Request{Messages: []wire.Message{wire.UserText("u")}})
		eq(t, "temperature", get(c, "temperature"), "")
	})
	t.Run("F64 name of the limit", func(t *testing.T) {
		each(t, func(t *testing.T, p openaichat.Profile) {
			c := sent(t, p, wire.Request{MaxTokens: 100, Messages: []wire.Message{wire.UserText("u")}})
			old, now := get(c, "max_tokens"), get(c, "max_completion_tokens")
			if (old == "100") != (p.MaxTokens == openaichat.MaxTokens || p.MaxTokens == openaichat.MaxTokensByModel) || old+now != "100" {
				t.Errorf("%s", c.Body)
			}
		})
	})
	t.Run("F65 system prompt", func(t *testing.T) {
		each(t, func(t *testing.T, p openaichat.Profile) {
			c := sent(t, p, wire.Request{System: []wire.Part{txt("S")}, Messages: []wire.Message{wire.UserText("u")}})
			eq(t, "messages", get(c, "messages"), `[{"role":"system","content":"S"},{"role":"user","content":"u"}]`)
		})
	})
	t.Run("F67 neighbours of one role", func(t *testing.T) {
		ms := []wire.Message{wire.UserText("a"), wire.UserText("b"), asst(wire.ToolCallPart("1", "f", "{}"), wire.ToolCallPart("2", "f", "{}")),
			wire.ToolMessage(wire.ToolResultPart("1", "f", txt("x"))), wire.ToolMessage(wire.ToolResultPart("2", "f", txt("y")))}
		c := sent(t, zero, wire.Request{Messages: ms})
		eq(t, "roles", get(c, "messages.#.role"), `["user","user","assistant","tool","tool"]`)
	})
	t.Run("F68 images in results", func(t *testing.T) {
		ms := calling("t1", "{}")
		ms[2].Parts[0].Parts = []wire.Part{txt("shot"), wire.ImagePart([]byte(encPNG))}
		c := sent(t, zero, wire.Request{Messages: ms})
		eq(t, "result", get(c, "messages.2.content"), `"shot"`)
		eq(t, "image", get(c, "messages.3.content.1"), encPNGURL)
		c = sent(t, openaichat.Profile{NoImages: true}, wire.Request{Messages: ms})
		if eq(t, "messages", get(c, "messages.#"), "3"); !strings.Contains(get(c, "messages.2.content"), "left out") || len(c.Notes) != 1 {
			t.Errorf("%s %v", c.Body, c.Notes)
		}
	})
	t.Run("F69 type of an image", func(t *testing.T) {
		for _, said := range []string{"image/png", "image/jpg", ""} {
			c := sent(t, zero, wire.Request{Messages: []wire.Message{usr(file(wire.Media{Type: said, Data: []byte(encJPEG)}))}})
			eq(t, said, get(c, "messages.0.content.0.image_url.url"), `"data:image/jpeg;base64,/9j/4HJlc3Q="`)
		}
	})
	t.Run("F70 more than four marks", func(t *testing.T) {
		r := wire.Request{System: []wire.Part{cached(txt("a"), ""), cached(txt("b"), "")}, Cache: &wire.CachePolicy{Auto: true}, Messages: []wire.Message{wire.UserText("u")}}
		for i := range 10 {
			id := fmt.Sprint("c", i)
			r.Messages = append(r.Messages, asst(wire.ToolCallPart(id, "f", "{}")), wire.ToolMessage(wire.ToolResultPart(id, "f", txt("r"))))
			c := sent(t, openaichat.OpenRouter(), r)
			if n := bytes.Count(c.Body, []byte("cache_control")); n != 3 {
				t.Errorf("%d marks: %s", n, c.Body)
			}
			last := gjson.GetBytes(c.Body, "messages.@reverse.0.content.0.cache_control.type").Str
			eq(t, "the mark at the end", last, "ephemeral")
		}
	})
	t.Run("F72 nothing in it", func(t *testing.T) {
		each(t, func(t *testing.T, p openaichat.Profile) {
			c := sent(t, p, wire.Request{Messages: []wire.Message{wire.UserText("a"), asst(), wire.UserText("b")}})
			eq(t, "messages", get(c, "messages"), `[{"role":"user","content":"a"},{"role":"user","content":"b"}]`)
		})
	})
	t.Run("F73 base64", func(t *testing.T) {
		c := sent(t, zero, wire.Request{Messages: []wire.Message{usr(file(wire.Media{Type: "image/png", Data: bytes.Repeat([]byte{0xfb}, 100)}), file(wire.Media{URL: "data:image/png;base64,iVBO"}))}})
		url := gjson.GetBytes(c.Body, "messages.0.content.0.image_url.url").Str
		if data, ok := strings.CutPrefix(url, "data:image/png;base64,"); !ok || len(data) != 136 || strings.ContainsAny(data, " \n:;-_") || !strings.HasSuffix(data, "==") {
			t.Errorf("%s", url)
		}
		eq(t, "a data URL", get(c, "messages.0.content.1.image_url.url"), `"data:image/png;base64,iVBO"`)
	})
}

// TestReadmeTask holds the bodies of a conversation as programs hold it: the
// first turn, the second, and two calls at once of which one gives an image.
func TestReadmeTask(t *testing.T) {
	r := wire.Request{Model: "gpt-4.1", System: []wire.Part{txt("You are an agent.")}, Messages: []wire.Message{wire.UserText("Read README.md and tell me how to start the project")},
		Tools: []wire.Tool{{Name: "read", Description: "Returns the text of a file.", Schema: `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`}}}
	const head = `{"model":"gpt-4.1","stream":true,"stream_options":{"include_usage":true},"tool_choice":"auto","tools":[{"type":"function","function":{"name":"read","description":"Returns the text of a file.",` +
		`"parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}],"messages":[{"role":"system","content":"You are an agent."},` +
		`{"role":"user","content":"Read README.md and tell me how to start the project"}`
	want := func(s string) {
		t.Helper()
		call, err := encodeReq(t, openaichat.OpenAI(), &r)
		if err != nil || string(call.Body) != head+s+`]}` {
			t.Errorf("\n got %s\nwant %s\n%v", call.Body, head+s+`]}`, err)
		}
	}
	want("")
	first := r.Messages
	r.Messages = append(first[:1:1], asst(txt("I'll read the README first."), wire.ToolCallPart("t1", "read", `{"path": "README.md"}`)),
		wire.ToolMessage(wire.ToolResultPart("t1", "read", txt("# project\n\ngo test ./...\n"))))
	want(`,{"role":"assistant","content":"I'll read the README first.","tool_calls":[{"id":"t1","type":"function","function":{"name":"read","arguments":"{\"path\": \"README.md\"}"}}]},` +
		`{"role":"tool","tool_call_id":"t1","content":"# project\n\ngo test ./...\n"}`)
	r.Messages = append(first[:1:1], asst(wire.ToolCallPart("t1", "screenshot", `{}`), wire.ToolCallPart("t2", "read", `{"path":"a"}`)),
		wire.ToolMessage(wire.ToolResultPart("t1", "screenshot", wire.ImagePart([]byte(encPNG))), wire.ToolResultPart("t2", "read", txt("b"))))
	want(`,{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"screenshot","arguments":"{}"}},{"id":"t2","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},` +
		`{"role":"tool","tool_call_id":"t1","content":"(see attached image)"},{"role":"tool","tool_call_id":"t2","content":"b"},` +
		`{"role":"user","content":[{"type":"text","text":"Attached by tool call t1 (screenshot):"},` + encPNGURL + `]}`)
}
