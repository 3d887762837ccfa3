package openaichat_test

import (
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
