package wire_test

import (
	"encoding/base64"

	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
)

// gateGemini rebuilds the content object of a model turn of generateContent.
// Vendor has the further members of the part, such as thoughtSignature; its
// member functionCall has those inside the call. The id is among them, because
// a call that came without one, or with one seen before, has an ID that was
// made up here and means nothing there.
func gateGemini(m *wire.Message) []byte {
	b := []byte(`{"role":"model","parts":[`)
	for i := range m.Parts {
		p := &m.Parts[i]
		b = gateNext(b)
		if p.Kind == wire.PartOpaque {
			b = append(b, p.Vendor...)
			continue
		}
		b = append(b, '{')
		switch p.Kind {
		case wire.PartText:
			b = gateString(gateKey(b, "text"), p.Text)
		case wire.PartReasoning:
			b = gateString(gateKey(b, "text"), p.Text)
			b = append(gateKey(b, "thought"), "true"...)
		case wire.PartMedia:
			b = append(gateKey(b, "inlineData"), '{')
			b = gateString(gateKey(b, "mimeType"), p.Media.Type)
			b = gateString(gateKey(b, "data"), base64.StdEncoding.EncodeToString(p.Media.Data))
			b = append(b, '}')
		case wire.PartToolCall:
			call := gjson.Get(p.Vendor, "functionCall").Raw
			b = append(gateKey(b, "functionCall"), '{')
			if id := gjson.Get(call, "id"); id.Exists() {
				b = append(gateKey(b, "id"), id.Raw...)
			}
			b = gateString(gateKey(b, "name"), p.Name)
			if p.Args != "" {
				b = gateObject(gateKey(b, "args"), p.Args)
			}
			b = append(gateMembers(b, call, "id"), '}')
		}
		b = append(gateMembers(b, p.Vendor, "functionCall"), '}')
	}
	return append(b, "]}"...)
}
