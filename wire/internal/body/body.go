// Package body writes the body of a request, and keeps what there is to tell
// about it: the part of an encoder that is about no protocol.
package body

import (
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
	"github.com/handwire/handwire/wire/internal/schema"
)

// Writer is a body in the making. Encoders embed it.
type Writer struct {
	B        []byte     // the body so far
	Call     *wire.Call // takes the notes
	Findings []wire.Finding
}

// Note tells of what was changed. It and Refuse are called seldom and from
// hundreds of places, in which they would take room.
//
//go:noinline
func (w *Writer) Note(code wire.NoteCode, path, detail string) {
	w.Call.Notes = append(w.Call.Notes, wire.Note{Code: code, Path: path, Detail: detail})
}

// Dropped tells of what was left out.
func (w *Writer) Dropped(path, why string) { w.Note(wire.NoteDropped, path, why) }

// Refuse tells of what does not hold. Whoever refuses still writes something that
// keeps the body JSON.
//
//go:noinline
func (w *Writer) Refuse(path, rule, remedy string) {
	w.Findings = append(w.Findings, wire.Finding{Path: path, Rule: rule, Remedy: remedy})
}

// Lit appends s as it is.
func (w *Writer) Lit(s string) { w.B = append(w.B, s...) }

// Str appends s as a JSON string.
func (w *Writer) Str(s string) { w.B = jsonw.AppendString(w.B, s) }

// Raw appends checked raw JSON.
func (w *Writer) Raw(s string, at codec.Place) {
	b, repairs, problem := jsonw.AppendRaw(w.B, s)
	w.B = b
	if problem != nil {
		w.Refuse(at.String(), "not valid JSON: "+problem.Error(), "give one complete JSON value")
		w.Lit("null")
	} else if repairs > 0 {
		w.Note(wire.NoteRepaired, at.String(), strconv.Itoa(repairs)+" bytes or escapes that are no character became U+FFFD")
	}
}

// Member appends a member of a vendor object behind a comma.
func (w *Writer) Member(c *jsonw.Cursor, at codec.Place) {
	w.Lit(`,`)
	w.Raw(string(c.Key()), at)
	w.Lit(`:`)
	w.Raw(string(c.Value()), at)
}

// Members appends the members of a vendor object, each behind a comma, but for
// those named in but, and returns how many are named in marks, both lists with
// spaces between. Those that the codec has written are refused.
func (w *Writer) Members(vendor string, at codec.Place, marks, but string, written ...string) (marked int) {
	if vendor == "" {
		return 0
	}
	v := jsonw.Parse(vendor)
	if !v.IsObject() || !jsonw.Valid(vendor) {
		w.Refuse(at.String()+".vendor", "no JSON object", "")
		return 0
	}
	if name, ok := codec.Twice(v); ok {
		w.Refuse(at.String()+".vendor", strconv.Quote(name)+" is there twice", "keep one")
	}
	for c := v.Members(); c.Next(); {
		name := c.Name()
		if Named(but, name) {
			continue
		}
		if Named(marks, name) {
			marked++
		}
		for _, member := range written {
			if member != "" && name == member {
				w.Refuse(at.String()+".vendor", strconv.Quote(name)+" is written by the codec", "leave it out")
			}
		}
		w.Member(&c, at)
	}
	return marked
}

// Named reports whether a name is one of a list with spaces between.
func Named(list, name string) bool {
	for list != "" {
		var word string
		if word, list, _ = strings.Cut(list, " "); word == name && name != "" {
			return true
		}
	}
	return false
}

// Extra refuses field i of the fields that the caller adds, at the top of the
// body, if it has no name or the name of another one.
func (w *Writer) Extra(fields []wire.Field, i int) {
	at := codec.Item("extra", i)
	name := fields[i].Name
	if name == "" {
		w.Refuse(at.String(), "a field needs a name", "")
	}
	for j := range i {
		if same(fields[j].Name, name) {
			w.Refuse(at.String(), strconv.Quote(name)+" is there twice", "")
		}
	}
}

// Field appends a field that the caller adds behind a comma.
func (w *Writer) Field(f *wire.Field, at codec.Place) {
	w.Lit(`,`)
	w.Str(f.Name)
	w.Lit(`:`)
	w.Raw(f.Raw, at)
}

// same reports whether two names are the same once they are JSON.
func same(a, b string) bool { return a == b || string([]rune(a)) == string([]rune(b)) }

// Name appends a name, or an id, of at most so many characters, which stands in a
// field of what is at a place. One that is not
// valid becomes another by a rule that depends on nothing but the name, so that
// all who use it agree, in this turn and the next.
func (w *Writer) Name(s string, most int, at codec.Place, field string) {
	if codec.ValidName(s, most) {
		w.Lit(`"`)
		w.Lit(s)
		w.Lit(`"`)
		return
	}
	w.Renamed(s, codec.SafeName(s, most), at, field)
}

// Renamed appends the name that s is sent as, and tells of it.
func (w *Writer) Renamed(s, name string, at codec.Place, field string) {
	w.Note(wire.NoteRenamed, at.String()+field, strconv.Quote(s)+" is sent as "+name)
	w.Str(name)
}

// Schema appends the schema of the arguments of a tool.
func (w *Writer) Schema(s string, at codec.Place) {
	b, changed, repairs, err := schema.Object(w.B, s)
	w.B = b
	switch {
	case err != nil:
		w.Refuse(at.String()+".schema", err.Error(), "give a JSON Schema of an object")
		w.Lit(`null`)
	case changed:
		w.Note(wire.NoteRepaired, at.String()+".schema", "made an object schema with properties")
	case repairs > 0:
		w.Note(wire.NoteRepaired, at.String()+".schema", "what is no character became U+FFFD")
	}
}

// Media looks at the media of a part, and returns them and their type. Of a part
// without media they are empty.
func (w *Writer) Media(p *wire.Part, at codec.Place) (m *wire.Media, typ string) {
	if m = p.Media; m == nil {
		m = &wire.Media{}
	}
	ways := 0
	for _, given := range [...]bool{len(m.Data) > 0, m.URL != "", m.FileID != ""} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		w.Refuse(at.String()+".media", "exactly one of data, url and file_id must be given", "")
	}
	typ = m.MediaType()
	if said := strings.ToLower(m.Type); len(m.Data) > 0 && said != "" && said != typ && said != "image/jpg" {
		w.Note(wire.NoteRepaired, at.String()+".media.type", "the bytes are "+typ+", not "+said)
	}
	return m, typ
}
