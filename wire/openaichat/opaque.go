package openaichat

import (
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// A call of a type that is neither function nor custom is kept as it is, one
// opaque part. Nothing is known about its members but that it has an id and an
// index like any other, so that its pieces can be found, and that of what comes
// in pieces the texts are to be joined.

// maxOpaque is how many bytes the pieces of one call of an unknown type may have.
const maxOpaque = 8 << 20

// block is an object whose pieces are put together: texts under one path are
// appended, of anything else the last value stays, and null replaces nothing.
// What came in one piece stays as it was, byte for byte.
type block struct {
	codec.Members
	inner map[string]*block // objects of which more than one piece came
	one   string            // the only piece, if nothing of it is left out
}

// merge takes a piece, all members of it but one.
func (b *block) merge(piece jsonw.Value, but string) {
	if b.one = ""; len(b.List) == 0 && !piece.Get(but).Exists() {
		b.one = strings.Clone(string(piece))
	}
	for m := piece.Members(); m.Next(); {
		name, v := m.Name(), m.Value()
		if name == but {
			continue
		}
		f := b.At(name)
		old := jsonw.Value(f.Raw)
		switch {
		case len(f.Raw) == 0:
			f.Raw = append(f.Raw, v...)
		case v.IsNull(), constant(name) && v.IsString() && v == `""`:
		case constant(name) && old.IsString() && old != `""` && v.IsString():
		case v.IsString() && old.IsString():
			b.AppendText(name, v)
		case v.IsObject() && old.IsObject():
			in := b.inner[name]
			if in == nil {
				if b.inner == nil {
					b.inner = map[string]*block{}
				}
				in = &block{}
				in.merge(old, "")
				b.inner[name] = in
			}
			in.merge(v, "")
		default:
			delete(b.inner, name)
			f.Raw = append(f.Raw[:0], v...)
		}
	}
}

// constant reports whether a text is a name or an id, which some servers repeat
// in every piece and none gives in pieces.
func constant(name string) bool { return name == "id" || name == "type" || name == "name" }

// object returns all of it.
func (b *block) object() string {
	if b.one != "" {
		return b.one
	}
	for name, in := range b.inner {
		f := b.At(name)
		f.Raw = append(f.Raw[:0], in.object()...)
	}
	return b.Object()
}

// findOpaque returns the call of an unknown type that an entry belongs to, nil if
// there is none. As for other calls, ids are trusted most, then indices, then the
// order; but what has no type may belong to a call of another kind that began
// later, or at any time if it is in the form of one.
func (d *decoder) findOpaque(e *entry) *call {
	typed := e.typ != ""
	if !typed && (e.name != "" || e.shaped && e.id != "" && d.callOf(e) != nil) {
		return nil // a function
	}
	if e.id != "" {
		var found *call
		for i := len(d.opaques) - 1; i >= 0; i-- {
			switch c := d.opaques[i]; {
			case c.vendorID != e.id || typed && c.name != e.typ:
			case !e.indexed || c.indexed && c.index == e.index:
				return c
			case found == nil:
				found = c
			}
		}
		if found != nil && !(typed && found.indexed) { // a type and another index: the id comes again
			return found
		}
	}
	var c *call
	switch {
	case e.indexed:
		for i := len(d.opaques) - 1; i >= 0 && c == nil; i-- {
			if o := d.opaques[i]; o.indexed && o.index == e.index {
				c = o
			}
		}
	case !typed && len(d.opaques) > 0:
		c = d.opaques[len(d.opaques)-1]
	}
	if c == nil || e.id != "" && c.vendorID != "" || typed && c.name != e.typ {
		return nil
	}
	if typed {
		return c
	}
	rivals := d.calls[c.after:]
	if e.shaped {
		rivals = d.calls
	}
	for _, o := range rivals {
		if !e.indexed || o.indexed && o.index == e.index {
			return nil
		}
	}
	return c
}

// opaqueCall takes a piece of a call of an unknown type, of a new one if c is nil.
func (d *decoder) opaqueCall(dst []wire.Event, c *call, v jsonw.Value, e *entry) ([]wire.Event, error) {
	d.forms.odd = true
	if c == nil {
		if len(d.opaques) >= maxCalls {
			return dst, tooManyCalls()
		}
		c = &call{ordinal: len(d.calls) + len(d.opaques), index: e.index, indexed: e.indexed, name: strings.Clone(e.typ), first: d.chunks, after: len(d.calls), opaque: &block{}}
		c.kind, c.call = wire.PartOpaque, c
		d.opaques = append(d.opaques, c)
	}
	c.last = d.chunks
	if e.id != "" && c.vendorID == "" {
		c.vendorID = strings.Clone(e.id)
	}
	if c.size += len(v); c.size > maxOpaque {
		return dst, &wire.Error{Cause: wire.CauseLimit, Message: "a call of the type " + strconv.Quote(c.name) + " has more than " + strconv.Itoa(maxOpaque) + " bytes"}
	}
	c.opaque.merge(v, "index") // which is the stream's
	if !c.begun {
		c.id = c.vendorID
	}
	return d.startPart(dst, &c.part, &wire.Part{Name: c.name, ID: c.id}), nil
}

// endOpaque finishes a call of an unknown type.
func (c *call) endOpaque(dst []wire.Event, data *wire.Part, s callState) []wire.Event {
	if !data.Partial && s.cut && !s.over {
		dst = c.odd(dst, notedCut, wire.NoteOdd, "the body ended where more of it may have been to come")
		data.Partial = true
	}
	if c.vendorID != c.id {
		data.ID = c.vendorID
	}
	data.Vendor = c.opaque.object()
	return dst
}
