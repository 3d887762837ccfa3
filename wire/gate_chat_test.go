package wire_test

import (
	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
)

// gateChat rebuilds an assistant message of Chat Completions. Vendor of a
// reasoning part has the array reasoning_details, or in field the name of the
// member that the text came in. Vendor of a call has its further members, and
// an opaque part is a call of an unknown type. Vendor of the message has its
// further members, content among them where it was there without a text.
func gateChat(m *wire.Message) []byte {
	b := []byte("{")
	b = gateString(gateKey(b, "role"), "assistant")
	b = gateKey(b, "content")
	if text := m.Text(); text != "" {
		b = gateString(b, text)
	} else if c := gjson.Get(m.Vendor, "content"); c.Exists() {
		b = append(b, c.Raw...)
	} else {
		b = append(b, "null"...)
	}
	calls := []byte("[")
	for i := range m.Parts {
		p := &m.Parts[i]
		switch p.Kind {
		case wire.PartReasoning:
			if d := gjson.Get(p.Vendor, "reasoning_details"); d.Exists() {
				b = append(gateKey(b, "reasoning_details"), d.Raw...)
			} else {
				b = gateString(gateKey(b, gjson.Get(p.Vendor, "field").Str), p.Text)
			}
		case wire.PartRefusal:
			b = gateString(gateKey(b, "refusal"), p.Text)
		case wire.PartOpaque:
			calls = append(gateNext(calls), p.Vendor...)
		case wire.PartToolCall:
			typ, args := "function", "arguments"
			if p.FreeForm {
				typ, args = "custom", "input"
			}
			calls = append(gateNext(calls), '{')
			calls = gateString(gateKey(calls, "id"), p.ID)
			calls = gateString(gateKey(calls, "type"), typ)
			calls = append(gateKey(calls, typ), '{')
			calls = gateString(gateKey(calls, "name"), p.Name)
			calls = append(gateString(gateKey(calls, args), p.Args), '}')
			calls = append(gateMembers(calls, p.Vendor), '}')
		}
	}
	if len(calls) > 1 {
		b = append(append(gateKey(b, "tool_calls"), calls...), ']')
	}
	return append(gateMembers(b, m.Vendor, "content"), '}')
}
