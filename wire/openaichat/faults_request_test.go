package openaichat_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/openaichat"
)

// TestEncodeTold: what a request loses or moves is told.
func TestEncodeTold(t *testing.T) {
	own := &wire.Origin{Protocol: openaichat.Protocol, Endpoint: "h", Model: "m"}
	said := func(o *wire.Origin, vendor string) wire.Request {
		m := asst(txt("a"))
		m.Origin, m.Vendor = o, vendor
		return wire.Request{Endpoint: "h", Messages: []wire.Message{wire.UserText("u"), m, wire.UserText("v")}}
	}
	turned := msgs(jsonU, `{"role":"assistant","content":"a"}`, jsonV)
	const facts = `{"annotations":[{"type":"url_citation"}],"audio":{"id":"x"},"content_parts":[{"type":"image_url"}]}`
	const lost = "dropped messages[1].vendor"
	runCases(t, []encCase{
		{name: "facts of an own message", req: said(own, facts), want: turned},
		{name: "facts of a message without an origin", req: said(nil, facts), want: turned},
		{name: "facts of another vendor's message", req: said(&wire.Origin{Protocol: "anthropic-messages"}, `{"container":{"id":"c"}}`), want: turned, notes: []string{lost}},
		{name: "facts of another host's message", req: said(&wire.Origin{Protocol: openaichat.Protocol, Endpoint: "elsewhere", Model: "m"}, facts), want: turned, notes: []string{lost}},
		{name: "facts of another model's message", req: said(&wire.Origin{Protocol: openaichat.Protocol, Endpoint: "h", Model: "other"}, facts), want: turned, notes: []string{lost}},
		{name: "another host's message reasoned nothing", req: said(&wire.Origin{Protocol: openaichat.Protocol, Endpoint: "elsewhere"}, `{"reasoning_content":""}`), want: turned},
		{name: "another host's message without facts", req: said(&wire.Origin{Protocol: openaichat.Protocol, Endpoint: "elsewhere"}, ""), want: turned},
		{name: "members that go back to their writer alone", profile: openaichat.Profile{Members: []string{"annotations"}}, req: said(&wire.Origin{Endpoint: "elsewhere"}, facts), want: turned, notes: []string{lost}},

		{name: "an image that nobody sees", profile: openaichat.Profile{NoImages: true}, req: wire.Request{Messages: []wire.Message{usr(txt("u"), wire.ImagePart([]byte(encPNG)))}},
			notes: []string{"dropped messages[0].parts[1]"}},
		{name: "an image by its address, which stays", profile: openaichat.Profile{NoImageURLs: true}, req: wire.Request{Messages: []wire.Message{usr(file(wire.Media{URL: "https://h.example/a.png"}))}},
			want: msgs(`{"role":"user","content":"(an image is left out that stands at https://h.example/a.png)"}`), notes: []string{"converted messages[0].parts[0]"}},
		{name: "a file that nobody reads", profile: openaichat.Profile{NoFiles: true}, req: wire.Request{Messages: []wire.Message{usr(file(wire.Media{Type: "application/pdf", Data: []byte("x")}))}},
			want: msgs(`{"role":"user","content":"(a file is left out: the model takes none)"}`), notes: []string{"dropped messages[0].parts[0]"}},
		{name: "an image of a result that nobody sees", profile: openaichat.Profile{NoImages: true}, req: wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(wire.ToolCallPart("t1", "f", "{}")),
			wire.ToolMessage(wire.ToolResultPart("t1", "f", wire.ImagePart([]byte(encPNG))))}}, notes: []string{"dropped messages[2].parts[0].parts[0]"}},
	})
}

// TestBreakpoints: the caller's cache marks go to the models that have them, and
// when they move along nothing else changes.
func TestBreakpoints(t *testing.T) {
	const model = "gpt-5.6-sol"
	const mark = `,"prompt_cache_breakpoint":{"mode":"explicit"}`
	text := func(role, s, more string) string {
		return `{"role":"` + role + `","content":[{"type":"text","text":"` + s + `"` + more + `}]}`
	}
	png := wire.ImagePart([]byte(encPNG))
	img := strings.TrimSuffix(encPNGURL, "}") + mark + "}"
	runCases(t, []encCase{
		{name: "no mark", req: wire.Request{Model: model, System: []wire.Part{txt("s")}, Messages: []wire.Message{wire.UserText("u")}}, want: msgs(`{"role":"developer","content":"s"}`, jsonU)},
		{name: "system", req: wire.Request{Model: model, System: []wire.Part{cached(txt("s"), "")}, Messages: []wire.Message{wire.UserText("u")}}, want: msgs(text("developer", "s", mark), text("user", "u", ""))},
		{name: "a time", req: wire.Request{Model: "gpt-6-luna", Messages: []wire.Message{usr(cached(txt("u"), "12h"))}}, want: msgs(text("user", "u", `,"prompt_cache_breakpoint":{"mode":"explicit","ttl":"12h"}`))},
		{name: "a time of elsewhere", req: wire.Request{Model: model, Messages: []wire.Message{usr(cached(txt("u"), "5m"))}}, want: msgs(text("user", "u", mark)), notes: []string{"dropped messages[0].parts[0].cache.ttl"}},
		{name: "an image", req: wire.Request{Model: model, Messages: []wire.Message{usr(txt("u"), cached(png, ""))}}, want: msgs(`{"role":"user","content":[{"type":"text","text":"u"},` + img + `]}`)},
		{name: "a result", req: wire.Request{Model: model, Messages: []wire.Message{wire.UserText("u"), asst(wire.ToolCallPart("t", "f", "{}")), wire.ToolMessage(wire.ToolResultPart("t", "f", cached(txt("r"), "")))}},
			want: msgs(text("user", "u", ""), `{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
				`{"role":"tool","tool_call_id":"t","content":[{"type":"text","text":"r"`+mark+`}]}`)},
		{name: "the assistant's text", req: wire.Request{Model: model, Messages: []wire.Message{wire.UserText("u"), asst(cached(txt("a"), "")), wire.UserText("v")}},
			want: msgs(text("user", "u", ""), `{"role":"assistant","content":"a"}`, text("user", "v", "")), notes: []string{"dropped messages[1].parts[0].cache"}},
		{name: "five", req: wire.Request{Model: model, Messages: []wire.Message{usr(cached(txt("1"), ""), cached(txt("2"), ""), cached(txt("3"), ""), cached(txt("4"), ""), cached(txt("5"), ""))}}, findings: []string{""}},
		{name: "an older model", req: wire.Request{Model: "gpt-5.5", Messages: []wire.Message{usr(cached(txt("u"), ""))}}, want: msgs(jsonU), notes: []string{"dropped messages[0].parts[0].cache"}},
		{name: "a model of another vendor", profile: openaichat.Profile{AnyModel: true}, req: wire.Request{Model: model, Messages: []wire.Message{usr(cached(txt("u"), ""))}}, want: msgs(jsonU), notes: []string{"dropped messages[0].parts[0].cache"}},
	})

	r := wire.Request{Model: model, System: []wire.Part{txt("s")}}
	before := ""
	for i := range 5 {
		r.Messages = append(r.Messages, usr(txt("q"), png), asst(txt("a")), usr(txt("z")))
		r.Messages[len(r.Messages)-3].Parts[0] = cached(txt("q"), "")
		if i > 0 {
			r.Messages[len(r.Messages)-7].Parts[0].Cache = nil
		}
		call, err := encodeReq(t, openaichat.OpenAI(), &r)
		if err != nil || len(call.Notes) > 0 || strings.Count(string(call.Body), mark) != 1 {
			t.Fatalf("%s: %v, %v", call.Body, err, call.Notes)
		}
		body := strings.TrimSuffix(strings.ReplaceAll(string(call.Body), mark, ""), "]}")
		if !strings.HasPrefix(body, before) {
			t.Errorf("more than the mark moved\n%s\n%s", before, body)
		}
		before = body
		r.Messages = append(r.Messages, asst(txt("b")))
	}
}

// TestWrittenTwice: vendor members that the codec has written are refused where
// they stand, so that no object has a name twice.
func TestWrittenTwice(t *testing.T) {
	with := func(p wire.Part, vendor string) wire.Part {
		p.Vendor = vendor
		return p
	}
	say := func(p wire.Part) wire.Request { return wire.Request{Messages: []wire.Message{usr(p)}} }
	call := func(vendor string) wire.Request {
		return wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(with(wire.ToolCallPart("t1", "f", "{}"), vendor)), wire.ToolMessage(wire.ToolResultPart("t1", "f", txt("r")))}}
	}
	const at = "messages[0].parts[0].vendor"
	router := openaichat.OpenRouter()
	router.NoStreamOptions = true
	pdf := file(wire.Media{Type: "application/pdf", Name: "n", Data: []byte("x")})
	runCases(t, []encCase{
		{name: "type of a text", req: say(with(txt("a"), `{"type":"image"}`)), findings: []string{at}},
		{name: "text of a text", req: say(with(txt("a"), `{"x":1,"text":"b"}`)), findings: []string{at}},
		{name: "what another part has", req: say(with(txt("a"), `{"image_url":1}`)), want: msgs(`{"role":"user","content":[{"type":"text","text":"a","image_url":1}]}`)},
		{name: "text of a system prompt", req: wire.Request{System: []wire.Part{with(txt("s"), `{"text":"t"}`)}}, findings: []string{"system[0].vendor"}},
		{name: "an image", req: say(with(wire.ImagePart([]byte(encPNG)), `{"image_url":{}}`)), findings: []string{at}},
		{name: "a file", req: say(with(pdf, `{"file":{}}`)), findings: []string{at}},
		{name: "a sound", req: say(with(file(wire.Media{Type: "audio/wav", Data: []byte("x")}), `{"input_audio":{}}`)), findings: []string{at}},
		{name: "a file of text", req: say(with(file(wire.Media{Type: "text/plain", Data: []byte("x")}), `{"text":"y"}`)), notes: []string{"converted messages[0].parts[0]"}, findings: []string{at}},
		{name: "content of a message", req: wire.Request{Messages: []wire.Message{{Role: wire.RoleUser, Parts: []wire.Part{txt("u")}, Vendor: `{"content":"v"}`}}}, findings: []string{"messages[0].vendor"}},
		{name: "role of a message", req: wire.Request{Messages: []wire.Message{{Role: wire.RoleUser, Parts: []wire.Part{txt("u")}, Vendor: `{"role":"v"}`}}}, findings: []string{"messages[0].vendor"}},
		{name: "function of a call", req: call(`{"function":{}}`), findings: []string{"messages[1].parts[0].vendor"}},
		{name: "id and type of a call, which the decoder keeps", req: call(`{"id":"null","type":"builtin_function","x":1}`),
			want: msgs(jsonU, `{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{}"},"x":1}]}`, `{"role":"tool","tool_call_id":"t1","content":"r"}`)},
		{name: "type of a tool", req: wire.Request{Tools: []wire.Tool{{Name: "f", Schema: `{"type":"object","properties":{}}`, Vendor: `{"type":"g"}`}}}, findings: []string{"tools[0].vendor"}},
		{name: "a mark", profile: router, req: say(with(cached(txt("a"), ""), `{"cache_control":{}}`)), findings: []string{at}},
		{name: "an automatic mark", profile: router, req: wire.Request{Cache: &wire.CachePolicy{Auto: true}, Messages: []wire.Message{usr(with(txt("a"), `{"cache_control":{}}`))}}, findings: []string{at}},
		{name: "marks in the vendor's words count", profile: router, req: wire.Request{Messages: []wire.Message{usr(cached(txt("1"), ""), cached(txt("2"), ""), cached(txt("3"), ""), cached(txt("4"), ""), with(txt("5"), `{"cache_control":{}}`))}}, findings: []string{""}},
		{name: "a breakpoint", req: wire.Request{Model: "gpt-5.6", Messages: []wire.Message{usr(with(cached(txt("a"), ""), `{"prompt_cache_breakpoint":{}}`))}}, findings: []string{at}},
		{name: "a breakpoint of an image", req: wire.Request{Model: "gpt-5.6", Messages: []wire.Message{usr(with(cached(wire.ImagePart([]byte(encPNG)), ""), `{"prompt_cache_breakpoint":{}}`))}}, findings: []string{at}},
	})
}

// TestBlankReasoning: the models that want reasoning in every message with calls get
// an empty one where there is none, whoever wrote the message.
func TestBlankReasoning(t *testing.T) {
	const calls = `"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	turn := func(model string, g *wire.Reasoning, parts ...wire.Part) wire.Request {
		m := asst(append(parts, wire.ToolCallPart("t1", "f", "{}"))...)
		return wire.Request{Model: model, Reasoning: g, Messages: []wire.Message{wire.UserText("u"), m, wire.ToolMessage(wire.ToolResultPart("t1", "f", txt("r"))), asst(txt("a")), wire.UserText("v")}}
	}
	turned := func(s string) string {
		return msgs(jsonU, `{"role":"assistant","content":null,`+s+calls, `{"role":"tool","tool_call_id":"t1","content":"r"}`, `{"role":"assistant","content":"a"}`, jsonV)
	}
	router := openaichat.OpenRouter()
	foreign := turn("moonshotai/kimi-k2.6", nil)
	foreign.Messages[1].Origin = &wire.Origin{Protocol: "gemini"}
	runCases(t, []encCase{
		{name: "none", profile: router, req: turn("moonshotai/kimi-k2.6", nil), want: turned(`"reasoning_content":"",`)},
		{name: "none, of another vendor", profile: router, req: foreign, want: turned(`"reasoning_content":"",`)},
		{name: "a route", profile: router, req: turn("moonshotai/kimi-k2.6:free", nil), want: turned(`"reasoning_content":"",`)},
		{name: "some", profile: router, req: turn("moonshotai/kimi-k2.6", nil, thought("t", `{"field":"reasoning"}`)), want: turned(`"reasoning":"t",`)},
		{name: "some, and none is to go back", profile: router, req: turn("moonshotai/kimi-k2.6", &wire.Reasoning{Replay: wire.ReplayNever}, thought("t", "")), want: turned(`"reasoning_content":"",`), notes: []string{"dropped messages[1].parts[0]"}},
		{name: "off", profile: router, req: turn("moonshotai/kimi-k2.6", &wire.Reasoning{Mode: wire.ReasoningOff}), want: `,"reasoning":{"effort":"none"}` + turned("")},
		{name: "another model", profile: router, req: turn("moonshotai/kimi-k2.65", nil), want: turned("")},
		{name: "a server that gets no reasoning", profile: openaichat.Profile{BlankReasoning: []string{"k"}}, req: turn("k", nil), want: turned(`"reasoning_content":"",`)},
		{name: "a name of a message, which Z.ai does not take", profile: openaichat.ZAI(), req: wire.Request{Messages: []wire.Message{{Role: wire.RoleUser, Parts: []wire.Part{txt("u")}, Vendor: `{"name":"n","x":1}`}}},
			want: msgs(`{"role":"user","content":"u","x":1}`), notes: []string{"dropped messages[0].vendor"}},
	})
}

// TestEncodeValues: values that the protocol does not take are refused where they
// stand.
func TestEncodeValues(t *testing.T) {
	hi := wire.UserText("hi")
	media := func(m wire.Media) wire.Request { return wire.Request{Messages: []wire.Message{usr(file(m))}} }
	const at = "messages[0].parts[0].media"
	const bmp = "BM6\x00\x00\x00\x00\x00\x00\x006\x00"
	called := func(id string) wire.Request {
		return wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(wire.ToolCallPart(id, "f", "{}")), wire.ToolMessage(wire.ToolResultPart(id, "f", txt("r")))}}
	}
	shown := func(m wire.Media) wire.Request {
		r := called("t1")
		r.Messages[2].Parts[0].Parts = []wire.Part{file(m)}
		return r
	}
	f, vf := wire.Tool{Name: "f", Schema: `{"type":"object","properties":{}}`}, wire.Tool{Vendor: `{"type":"function","function":{"name":"f"}}`}
	cases := []encCase{
		{name: "an image of another type", req: media(wire.Media{Type: "image/bmp", Data: []byte(bmp)}), findings: []string{at + ".type"}},
		{name: "an address of another type", req: media(wire.Media{Type: "image/svg+xml", URL: "https://h.example/a.svg"}), findings: []string{at + ".type"}},
		{name: "a data URL of another type", req: media(wire.Media{URL: "data:image/tiff;base64,AAAA"}), findings: []string{at + ".url"}},
		{name: "a data URL that is no image", req: media(wire.Media{URL: "DATA:application/pdf,x"}), findings: []string{at + ".url"}},
		{name: "a temperature that no server takes", profile: openaichat.ZAI(), req: wire.Request{Temperature: of(2.5), Messages: []wire.Message{usr(txt("u"))}}, findings: []string{"temperature"}},
		{name: "a data URL of a text", req: media(wire.Media{Type: "text/plain", URL: "data:text/plain;base64,aGk="}), findings: []string{at + ".url"}},
		{name: "a data URL of a sound", req: media(wire.Media{Type: "audio/wav", URL: "data:audio/wav;base64,UklGRg=="}), findings: []string{at + ".url"}},
		{name: "a data URL of a document", req: media(wire.Media{Type: "application/pdf", URL: "data:application/pdf;base64,AAAA", Name: "a.pdf"})},
		{name: "a data URL is no address", profile: openaichat.Profile{NoImageURLs: true}, req: media(wire.Media{URL: "DATA:image/png;base64,AAAA"}),
			want: msgs(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"DATA:image/png;base64,AAAA"}}]}`)},
		{name: "data URLs", req: wire.Request{Messages: []wire.Message{usr(file(wire.Media{URL: "data:image/jpg;base64,AAAA"}), file(wire.Media{URL: "data:image/WEBP,AAAA"}), file(wire.Media{Type: "image/gif", URL: "data:image/gif;base64,AAAA"}))}}},
		{name: "an address without a type", req: media(wire.Media{URL: "https://h.example/a"})},
		{name: "a file of the caller's", req: media(wire.Media{URL: "file:///home/u/a.png"}), findings: []string{at + ".url"}},
		{name: "a file of the caller's, as text", profile: openaichat.Profile{NoImageURLs: true}, req: media(wire.Media{URL: "FILE:a.png"}), notes: []string{"converted messages[0].parts[0]"}, findings: []string{at + ".url"}},
		{name: "a file of the caller's in a result", req: shown(wire.Media{URL: "file:///a.png"}), notes: []string{"converted messages[2].parts[0].parts[0]"}, findings: []string{"messages[2].parts[0].parts[0].media.url"}},
		{name: "a file of the caller's in a result, as text", profile: openaichat.Profile{NoImageURLs: true}, req: shown(wire.Media{URL: "file:///a.png"}), notes: []string{"converted messages[2].parts[0].parts[0]"}, findings: []string{"messages[2].parts[0].parts[0].media.url"}},

		{name: "no id", profile: openaichat.Profile{IDs: openaichat.IDsAny}, req: called(""), notes: []string{"renamed messages[1].parts[0].id", "renamed messages[2].parts[0].id"},
			want: msgs(jsonU, `{"role":"assistant","content":null,"tool_calls":[{"id":"_cbf29ce484222325","type":"function","function":{"name":"f","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"_cbf29ce484222325","content":"r"}`)},
		{name: "two tools of one name", req: wire.Request{Tools: []wire.Tool{f, f}}, findings: []string{"tools[1].name"}},
		{name: "two tools of one name, one of the vendor's", req: wire.Request{Tools: []wire.Tool{f, vf}}, findings: []string{"tools[1].vendor"}},
		{name: "two tools of one name, the first of the vendor's", req: wire.Request{Tools: []wire.Tool{{Vendor: `{"type":"custom","custom":{"name":"f"}}`}, f}}, findings: []string{"tools[1].name"}},
		{name: "tools of two names, and without any", req: wire.Request{Tools: []wire.Tool{f, {Vendor: `{"type":"function","function":{"name":"g"}}`}, {Vendor: `{"type":"web_search"}`}, {Vendor: `{"type":"web_search"}`}}}},
		{name: "options of a stream without one", req: wire.Request{Whole: true, Extra: []wire.Field{{Name: "stream_options", Raw: `{"include_usage":true}`}}}, findings: []string{"extra[0]"}},
		{name: "options of a stream where the profile writes none", profile: openaichat.Profile{NoStreamOptions: true}, req: wire.Request{Extra: []wire.Field{{Name: "stream_options", Raw: `{"include_usage":true}`}}}},
	}
	for name, field := range map[string]func(*wire.Request) **float64{
		"temperature 0 2":        func(r *wire.Request) **float64 { return &r.Temperature },
		"top_p 0 1":              func(r *wire.Request) **float64 { return &r.TopP },
		"presence_penalty -2 2":  func(r *wire.Request) **float64 { return &r.PresencePenalty },
		"frequency_penalty -2 2": func(r *wire.Request) **float64 { return &r.FrequencyPenalty },
	} {
		var low, high float64
		if _, err := fmt.Sscanf(name, "%s %f %f", &name, &low, &high); err != nil {
			t.Fatal(err)
		}
		for v, ok := range map[float64]bool{low: true, high: true, math.Nextafter(low, -9): false, math.Nextafter(high, 9): false, math.Inf(1): false, math.Inf(-1): false} {
			tc := encCase{name: fmt.Sprint(name, " ", v), req: wire.Request{Messages: []wire.Message{hi}}}
			*field(&tc.req) = of(v)
			if !ok {
				tc.findings = []string{name}
			}
			cases = append(cases, tc)
		}
		tc := encCase{name: name + " that is no number", findings: []string{name}}
		*field(&tc.req) = of(math.NaN())
		cases = append(cases, tc)
	}
	cases = append(cases, encCase{name: "a setting that is not sent anyway", req: wire.Request{Model: "o3", Temperature: of(3.0)}, notes: []string{"dropped temperature"}})
	runCases(t, cases)
}
