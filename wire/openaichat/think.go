package openaichat

import (
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// reasoningFields are the members that the text of reasoning comes in.
var reasoningFields = [...]string{"reasoning_content", "reasoning", "reasoning_text"}

// think takes the reasoning of one delta: of its texts the first that is not
// empty, and the details, whose text is handed out only if no text was there.
func (d *decoder) think(dst []wire.Event, texts *[len(reasoningFields)]jsonw.Value, details jsonw.Value, c *chunk) []wire.Event {
	var shown jsonw.Value
	for i, v := range texts {
		switch {
		case v.IsNull():
		case !v.IsString():
			dst = d.learn(dst, reasoningFields[i], v, c)
		case v == `""`:
			d.blank = d.blank || i == 0
		case shown == "":
			shown = v
			if d.field == "" {
				d.field = reasoningFields[i]
			}
			if details == "" {
				d.maybePlain(&d.reasoning, v)
			}
			dst = d.thought(dst, v)
		case v != shown: // usually it is the same text under another name
			dst = d.pass(dst, c)
			fallthrough
		default:
			d.forms.odd = true
		}
	}
	if details.IsObject() {
		return d.takeDetail(dst, details, shown == "")
	}
	for it := details.Items(); it.Next(); {
		dst = d.takeDetail(dst, it.Value(), shown == "")
	}
	return dst
}

// detail is an entry of reasoning_details in the making.
type detail struct {
	raw    string // an entry that is not put together
	text   string // the member that its text is in, "" if it is not put together
	index  jsonw.Value
	signed bool
	facts  codec.Members
}

// takeDetail takes an entry of reasoning_details. Entries of text are pieces: those
// of one index are put together, and a signature that comes by itself belongs to
// the last one. All others stay what they are.
func (d *decoder) takeDetail(dst []wire.Event, v jsonw.Value, show bool) []wire.Event {
	if v.IsNull() {
		return dst
	}
	d.forms.odd = true
	dst = d.startPart(dst, &d.reasoning, nil)
	name := ""
	switch v.Get("type").Str() {
	case "reasoning.text":
		name = "text"
	case "reasoning.summary":
		name = "summary"
	default:
		d.details = append(d.details, detail{raw: strings.Clone(string(v))})
		return dst
	}
	text, index := v.Get(name), v.Get("index")
	if index.IsNull() {
		index = ""
	}
	if show && text.IsString() {
		dst = d.thought(dst, text)
	}
	e := d.openDetail(name, index, empty(text), !empty(v.Get("signature")))
	for m := v.Members(); m.Next(); {
		switch f := m.Value(); {
		case m.Name() == name && f.IsString() && !d.retold.growing:
			e.facts.AppendText(name, f)
		case !f.IsNull():
			e.facts.Set(m.Name(), f)
		case len(e.facts.At(m.Name()).Raw) == 0:
			e.facts.Set(m.Name(), f)
		}
		e.signed = e.signed || m.Name() == "signature" && !empty(m.Value())
	}
	return dst
}

// openDetail returns the entry that a piece belongs to: the last one, if that has
// the piece's form and index and is not signed. A piece without text may also
// belong to one before the last.
func (d *decoder) openDetail(name string, index jsonw.Value, blank, signs bool) *detail {
	for i := len(d.details) - 1; i >= 0; i-- {
		e := &d.details[i]
		if e.text == name && e.index == index && (!e.signed || blank && !signs) {
			return e
		}
		if !blank || i < len(d.details)-maxDetailsBack {
			break
		}
	}
	d.details = append(d.details, detail{text: name, index: jsonw.Value(strings.Clone(string(index)))})
	return &d.details[len(d.details)-1]
}

// maxDetailsBack is how far back the entry of a late signature is looked for.
const maxDetailsBack = 64

// reasoningFacts returns the Vendor of the reasoning part.
func (d *decoder) reasoningFacts() string {
	var all codec.Members
	if d.field != "" {
		all.Set("field", jsonw.Value(`"`+d.field+`"`))
	}
	if len(d.details) > 0 {
		list := []byte{'['}
		for i := range d.details {
			if i > 0 {
				list = append(list, ',')
			}
			if e := &d.details[i]; e.text == "" {
				list = append(list, e.raw...)
			} else {
				list = append(list, e.facts.Object()...)
			}
		}
		all.List = append(all.List, codec.Member{Name: "reasoning_details", Raw: append(list, ']')})
	}
	return all.Object()
}

// ---- tags ----

const (
	openTag  = "<think>"
	closeTag = "</think>"
	// Those of [Profile.ThoughtTags]:
	openThought  = "<thought>"
	closeThought = "</thought>"
)

// thinker knows where in a text with tags the decoder is.
type thinker struct {
	inside bool
	held   string // the end of the text so far, which may be the beginning of a tag
}

// tagged hands out a piece of a text in which tags mark the reasoning.
func (d *decoder) tagged(dst []wire.Event, s string) []wire.Event {
	t := &d.thinking
	opener, closer := openTag, closeTag
	if d.says.thoughtTags {
		opener, closer = openThought, closeThought
	}
	if t.held != "" {
		s, t.held = t.held+s, ""
	}
	for s != "" {
		i, tag := strings.Index(s, closer), closer
		if !t.inside {
			if j := strings.Index(s, opener); j >= 0 && (i < 0 || j < i) {
				i, tag = j, opener
			}
		}
		if i < 0 {
			n := len(s) - max(overlap(s, closer), overlap(s, opener))
			t.held = s[n:]
			return d.emit(dst, d.taggedPart(), s[:n])
		}
		p := d.taggedPart()
		if tag == closer && !t.inside { // its opener was in the prompt
			if d.text.begun {
				dst = d.once(dst, notedCloser, "choices.delta.content", "a "+closer+" without its opener: the text before it was reasoning")
			} else {
				p = &d.reasoning
			}
		}
		dst = d.emit(dst, p, s[:i])
		t.inside = tag == opener
		s = s[i+len(tag):]
	}
	return dst
}

func (d *decoder) taggedPart() *part {
	if d.thinking.inside {
		return &d.reasoning
	}
	return &d.text
}

// overlap returns the length of the longest end of s that a tag, but not the
// whole of it, begins with.
func overlap(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if s[len(s)-n:] == tag[:n] {
			return n
		}
	}
	return 0
}

// flushTagged hands out what was held back.
func (d *decoder) flushTagged(dst []wire.Event) []wire.Event {
	s := d.thinking.held
	d.thinking.held = ""
	return d.emit(dst, d.taggedPart(), s)
}
