package wire_test

import (
	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
)

// gateBedrock rebuilds the content array of an assistant message of Converse.
// Vendor has the further members of what is inside the block: signature of a
// reasoningText, redactedContent of a reasoningContent.
func gateBedrock(m *wire.Message) []byte {
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
			b = gateString(gateKey(b, "text"), p.Text)
			b = gateMembers(b, p.Vendor)
		case wire.PartReasoning:
			b = append(gateKey(b, "reasoningContent"), '{')
			if gjson.Get(p.Vendor, "redactedContent").Exists() {
				b = gateMembers(b, p.Vendor)
			} else {
				b = append(gateKey(b, "reasoningText"), '{')
				b = gateString(gateKey(b, "text"), p.Text)
				b = append(gateMembers(b, p.Vendor), '}')
			}
			b = append(b, '}')
		case wire.PartToolCall:
			b = append(gateKey(b, "toolUse"), '{')
			b = gateString(gateKey(b, "toolUseId"), p.ID)
			b = gateString(gateKey(b, "name"), p.Name)
			b = gateObject(gateKey(b, "input"), p.Args)
			b = append(gateMembers(b, p.Vendor), '}')
		}
		b = append(b, '}')
	}
	return append(b, ']')
}
