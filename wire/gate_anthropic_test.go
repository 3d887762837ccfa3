package wire_test

import (
	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
)

// gateAnthropic rebuilds the content array of an assistant message of the
// Messages API. Vendor has the further members of the block: signature of
// thinking, data of redacted thinking, citations of text, caller of a call.
func gateAnthropic(m *wire.Message) []byte {
	b := []byte("[")
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
			b = gateString(gateKey(b, "type"), "text")
			b = gateString(gateKey(b, "text"), p.Text)
		case wire.PartReasoning:
			if p.Text == "" && gjson.Get(p.Vendor, "data").Exists() {
				b = gateString(gateKey(b, "type"), "redacted_thinking")
				break
			}
			b = gateString(gateKey(b, "type"), "thinking")
			b = gateString(gateKey(b, "thinking"), p.Text)
		case wire.PartToolCall:
			b = gateString(gateKey(b, "type"), "tool_use")
			b = gateString(gateKey(b, "id"), p.ID)
			b = gateString(gateKey(b, "name"), p.Name)
			b = gateObject(gateKey(b, "input"), p.Args)
		}
		b = append(gateMembers(b, p.Vendor), '}')
	}
	return append(b, ']')
}
