package openaichat

import (
	"strings"
	"unsafe"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// A stream consists of chunks that differ in one text. What stands around it is
// remembered from the last chunks that were read the general way and brought
// nothing else, and the next chunk is compared with that in one pass: the text
// is checked while its end is looked for. Whatever does not fit goes the general
// way.

// form is what stands around the text of a chunk.
type form struct {
	part   *part
	before []byte
	after  []byte
	pad    []byte // follows after, behind a text that is padding; empty if there is none
}

// forms are the last forms that came, each of another part if possible.
type forms struct {
	list [4]form
	n    int
	next int
	// Of the chunk at hand: the part and the text of its only piece.
	part *part
	text jsonw.Value
	odd  bool // it brought something else too
}

// forget drops all forms.
func (f *forms) forget() { f.n, f.next, f.odd = 0, 0, true }

// maybePlain says that v is a piece of p, and the only thing that the chunk
// brings unless something else says otherwise.
func (d *decoder) maybePlain(p *part, v jsonw.Value) {
	if v == `""` {
		return
	}
	f := &d.forms
	f.odd = f.odd || f.part != nil
	f.part, f.text = p, v
}

// paddings are the members, last in a chunk, that only make it longer.
var paddings = [...]string{`,"obfuscation":`, `,"p":`}

// keepForm remembers the form of a chunk that brought one piece and nothing else.
func (d *decoder) keepForm(c *chunk) {
	f := &d.forms
	if f.odd || f.part == nil || d.passed || !c.usage.IsNull() {
		return
	}
	all := string(c.root)
	start := int(uintptr(unsafe.Pointer(unsafe.StringData(string(f.text)))) - uintptr(unsafe.Pointer(unsafe.StringData(all))))
	if start <= 0 || start+len(f.text) > len(all) {
		return
	}
	slot := -1
	for i := range f.n {
		if f.list[i].part == f.part {
			slot = i
		}
	}
	if slot < 0 {
		slot = f.next
		f.next = (f.next + 1) % len(f.list)
		f.n = max(f.n, slot+1)
	}
	k := &f.list[slot]
	k.part = f.part
	k.before = append(k.before[:0], all[:start]...)
	after := all[start+len(f.text):]
	k.pad = k.pad[:0]
	for _, name := range paddings {
		if i := strings.LastIndex(after, name); i >= 0 {
			i += len(name)
			if n, _ := jsonw.ScanString(after[i:]); n > 0 && after[i+n:] == "}" {
				k.pad = append(k.pad, '}')
				after = after[:i]
				break
			}
		}
	}
	k.after = append(k.after[:0], after...)
}

// fits reports whether s stands behind the text in this form.
func (k *form) fits(s string) bool {
	if len(k.pad) == 0 {
		return s == string(k.after)
	}
	if len(s) < len(k.after) || s[:len(k.after)] != string(k.after) {
		return false
	}
	s = s[len(k.after):]
	n, _ := jsonw.ScanString(s)
	return n > 0 && s[n:] == string(k.pad)
}

// usual reads a chunk of a form that came before. It reports false for
// everything else and has then done nothing.
func (d *decoder) usual(dst []wire.Event, name string, data []byte) ([]wire.Event, bool) {
	if name != "" && name != "message" {
		return dst, false
	}
	s := unsafe.String(unsafe.SliceData(data), len(data))
	for i := range d.forms.n {
		k := &d.forms.list[i]
		if len(s) <= len(k.before) || s[:len(k.before)] != string(k.before) {
			continue
		}
		text := s[len(k.before):]
		n, plain := jsonw.ScanString(text)
		if n <= len(`""`) || !k.fits(text[n:]) {
			continue
		}
		v := jsonw.Value(text[:n])
		switch p := k.part; {
		case p.call != nil:
			t, high := d.texts.Text(p.high, v, plain)
			p.high = high
			return d.argsText(dst, p.call, t), true
		case p == &d.text:
			return d.content(dst, v, plain), true
		default:
			return d.piece(dst, p, v, plain), true
		}
	}
	return dst, false
}
