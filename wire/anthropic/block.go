package anthropic

import (
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// block is a content block that is open.
type block struct {
	index int // the vendor's
	part  int // ours
	kind  wire.PartKind
	typ   string
	raw   string        // an opaque block as it started
	input string        // a whole input that came with the start
	got   bool          // some of the arguments came
	high  rune          // a high surrogate whose other half is due in the next delta
	facts codec.Members // what becomes the part's Vendor; of an opaque block, what deltas added
}

// grow adds a delta to an opaque block: texts are appended, other values
// replace. The arguments of a server's tool come as partial_json and are the
// block's input.
func (b *block) grow(delta jsonw.Value) {
	for c := delta.Members(); c.Next(); {
		switch name := c.Name(); {
		case name == "type" || c.Value().IsNull():
		case c.Value().IsString():
			b.facts.AppendText(name, c.Value())
		default:
			b.facts.Set(name, c.Value())
		}
	}
}

// rebuilt returns the whole of an opaque block that deltas were added to.
func (b *block) rebuilt() string {
	var whole codec.Members
	for c := jsonw.Value(b.raw).Members(); c.Next(); {
		whole.Set(c.Name(), c.Value())
	}
	for i := range b.facts.List {
		name, raw := b.facts.List[i].Name, b.facts.List[i].Raw
		if name == "partial_json" {
			args := raw
			if raw[0] == '"' {
				args, _ = jsonw.Unquote(nil, string(raw))
			}
			switch {
			case len(args) == 0: // the input that the block started with holds
				continue
			case jsonw.ValidBytes(args):
				whole.Set("input", jsonw.Parse(string(args)))
				continue
			}
			// No JSON came of it: kept as text.
		}
		old := whole.At(name)
		if raw[0] == '"' && len(old.Raw) > 2 && old.Raw[0] == '"' {
			old.Raw = append(old.Raw[:len(old.Raw)-1], raw[1:]...)
		} else {
			old.Raw = raw
		}
	}
	return whole.Object()
}
