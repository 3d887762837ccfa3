package wire_test

import (
	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
)

// gateOllama rebuilds an assistant message of the chat endpoint. Vendor of a
// call has its id where the server gave one, and in its member function those
// inside the function. An opaque part is an object of further members of the
// message.
func gateOllama(m *wire.Message) []byte {
	b := []byte("{")
	b = gateString(gateKey(b, "role"), "assistant")
	b = gateString(gateKey(b, "content"), m.Text())
	if s := m.Reasoning(); s != "" {
		b = gateString(gateKey(b, "thinking"), s)
	}
	calls := []byte("[")
	for i := range m.Parts {
		p := &m.Parts[i]
		switch p.Kind {
		case wire.PartToolCall:
			calls = append(gateNext(calls), '{')
			calls = gateMembers(calls, p.Vendor, "function")
			calls = append(gateKey(calls, "function"), '{')
			calls = gateMembers(calls, gjson.Get(p.Vendor, "function").Raw)
			calls = gateString(gateKey(calls, "name"), p.Name)
			calls = gateObject(gateKey(calls, "arguments"), p.Args)
			calls = append(calls, "}}"...)
		case wire.PartOpaque:
			b = gateMembers(b, p.Vendor)
		}
	}
	if len(calls) > 1 {
		b = append(append(gateKey(b, "tool_calls"), calls...), ']')
	}
	return append(b, '}')
}
