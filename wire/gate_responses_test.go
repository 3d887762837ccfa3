package wire_test

import (
	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
)

// gateResponses rebuilds the output items of a response as they go back, one a
// line. Vendor of an item's last part has the item's further members (id,
// status, phase, encrypted_content); the member part, of this part or any, has
// those of the one piece of content (annotations, a type other than the usual).
func gateResponses(m *wire.Message) []byte {
	var b []byte
	for i := 0; i < len(m.Parts); {
		n := i + 1
		for m.Parts[i].Item != "" && n < len(m.Parts) && m.Parts[n].Item == m.Parts[i].Item {
			n++
		}
		if i > 0 {
			b = append(b, '\n')
		}
		b = gateItem(b, m.Parts[i:n])
		i = n
	}
	return b
}

func gateItem(b []byte, parts []wire.Part) []byte {
	last := &parts[len(parts)-1]
	typ := ""
	switch last.Kind {
	case wire.PartOpaque:
		return append(b, last.Vendor...)
	case wire.PartText, wire.PartRefusal:
		typ = "message"
	case wire.PartReasoning:
		typ = "reasoning"
	case wire.PartToolCall:
		typ = "function_call"
		if last.FreeForm {
			typ = "custom_tool_call"
		}
	}
	b = gateString(gateKey(append(b, '{'), "type"), typ)
	if typ == "message" {
		b = gateString(gateKey(b, "role"), "assistant")
	}
	if id := gjson.Get(last.Vendor, "id"); id.Exists() {
		b = append(gateKey(b, "id"), id.Raw...)
	}
	switch typ {
	case "message":
		b = gateMembers(b, last.Vendor, "id", "part")
		b = append(gateKey(b, "content"), '[')
		for i := range parts {
			p := &parts[i]
			b = append(gateNext(b), '{')
			if p.Kind == wire.PartRefusal {
				b = gateString(gateKey(b, "type"), "refusal")
				b = gateString(gateKey(b, "refusal"), p.Text)
			} else {
				b = gateString(gateKey(b, "type"), "output_text")
				b = gateString(gateKey(b, "text"), p.Text)
			}
			b = append(gateMembers(b, gjson.Get(p.Vendor, "part").Raw), '}')
		}
		return append(b, "]}"...)
	case "reasoning":
		b = append(gateKey(b, "summary"), '[')
		content := []byte("[")
		for i := range parts {
			p := &parts[i]
			own := gjson.Get(p.Vendor, "part").Raw
			if own == "" && p.Text == "" {
				continue // the item has no summary
			}
			if t := gjson.Get(own, "type"); t.Exists() {
				content = gateString(gateKey(append(gateNext(content), '{'), "type"), t.Str)
				content = gateString(gateKey(content, "text"), p.Text)
				content = append(gateMembers(content, own, "type"), '}')
				continue
			}
			b = gateString(gateKey(append(gateNext(b), '{'), "type"), "summary_text")
			b = gateString(gateKey(b, "text"), p.Text)
			b = append(gateMembers(b, own), '}')
		}
		b = append(b, ']')
		if len(content) > 1 {
			b = append(append(gateKey(b, "content"), content...), ']')
		}
	case "function_call":
		b = gateString(gateKey(b, "call_id"), last.ID)
		b = gateString(gateKey(b, "name"), last.Name)
		b = gateString(gateKey(b, "arguments"), last.Args)
	case "custom_tool_call":
		b = gateString(gateKey(b, "call_id"), last.ID)
		b = gateString(gateKey(b, "name"), last.Name)
		b = gateString(gateKey(b, "input"), last.Args)
	}
	return append(gateMembers(b, last.Vendor, "id", "part"), '}')
}
