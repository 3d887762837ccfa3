package anthropic

import (
	"strings"
	"unsafe"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// block is a content block that is open.
type block struct {
	index int // the vendor's
	part  int // ours
	kind  wire.PartKind
	typ   string
	raw   string  // an opaque block as it started
	input string  // a whole input that came with the start
	got   bool    // some of the arguments came
	high  rune    // a high surrogate whose other half is due in the next delta
	facts members // what becomes the part's Vendor; of an opaque block, what deltas added
}

// appendText appends to a fact that is a JSON string.
func (b *block) appendText(name string, v jsonw.Value) {
	m := b.facts.at(name)
	if n := len(m.raw); n < 2 || m.raw[0] != '"' {
		m.raw = append(m.raw[:0], v...)
	} else {
		m.raw = append(m.raw[:n-1], v[1:]...) // both are valid, so their texts can be joined as they are
	}
}

// appendItem appends to a fact that is a JSON array.
func (b *block) appendItem(name, raw string) {
	m := b.facts.at(name)
	n := len(m.raw)
	switch {
	case n < 2 || m.raw[0] != '[':
		m.raw = append(append(append(m.raw[:0], '['), raw...), ']')
	case strings.TrimSpace(string(m.raw[1:min(n-1, 64)])) == "" && n <= 64:
		m.raw = append(append(append(m.raw[:0], '['), raw...), ']')
	default:
		m.raw = append(append(append(m.raw[:n-1], ','), raw...), ']')
	}
}

// grow adds a delta to an opaque block: texts are appended, other values
// replace. The arguments of a server's tool come as partial_json and are the
// block's input.
func (b *block) grow(delta jsonw.Value) {
	for c := delta.Members(); c.Next(); {
		switch name := c.Name(); {
		case name == "type" || c.Value().IsNull():
		case c.Value().IsString():
			b.appendText(name, c.Value())
		default:
			b.facts.set(name, c.Value())
		}
	}
}

// rebuilt returns the whole of an opaque block that deltas were added to.
func (b *block) rebuilt() string {
	var whole members
	for c := jsonw.Value(b.raw).Members(); c.Next(); {
		whole.set(c.Name(), c.Value())
	}
	for i := range b.facts.list {
		name, raw := b.facts.list[i].name, b.facts.list[i].raw
		if name == "partial_json" {
			args := raw
			if raw[0] == '"' {
				args, _ = jsonw.Unquote(nil, string(raw))
			}
			switch {
			case len(args) == 0: // the input that the block started with holds
				continue
			case jsonw.ValidBytes(args):
				whole.set("input", jsonw.Parse(string(args)))
				continue
			}
			// No JSON came of it: kept as text.
		}
		old := whole.at(name)
		if raw[0] == '"' && len(old.raw) > 2 && old.raw[0] == '"' {
			old.raw = append(old.raw[:len(old.raw)-1], raw[1:]...)
		} else {
			old.raw = raw
		}
	}
	return whole.object()
}

// members is a JSON object in the making: raw values by name, in the order of
// their first appearance.
type members struct {
	list  []member
	index map[string]int // of list, once that is long
}

type member struct {
	name string
	raw  []byte
}

// longList is how many members are searched one by one.
const longList = 32

func (m *members) at(name string) *member {
	if m.index == nil {
		for i := range m.list {
			if m.list[i].name == name {
				return &m.list[i]
			}
		}
	} else if i, ok := m.index[name]; ok {
		return &m.list[i]
	}
	name = strings.Clone(name)
	m.list = append(m.list, member{name: name})
	switch {
	case m.index != nil:
		m.index[name] = len(m.list) - 1
	case len(m.list) > longList:
		m.index = make(map[string]int, 2*longList)
		for i := range m.list {
			m.index[m.list[i].name] = i
		}
	}
	return &m.list[len(m.list)-1]
}

func (m *members) set(name string, v jsonw.Value) {
	f := m.at(name)
	f.raw = append(f.raw[:0], v...)
}

// object returns the object, "" if it has no member.
func (m *members) object() string {
	if len(m.list) == 0 {
		return ""
	}
	n := 2
	for i := range m.list {
		n += len(m.list[i].name) + len(m.list[i].raw) + 4
	}
	b := append(make([]byte, 0, n), '{')
	for i := range m.list {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonw.AppendString(b, m.list[i].name)
		b = append(b, ':')
		b = append(b, m.list[i].raw...)
	}
	b = append(b, '}')
	return unsafe.String(unsafe.SliceData(b), len(b))
}
