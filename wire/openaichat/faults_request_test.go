package openaichat_test

import (
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
