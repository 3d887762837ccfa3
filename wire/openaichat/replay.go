package openaichat

import (
	"slices"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// nothingReasoned is the Vendor of a message whose only fact is that its reasoning
// was empty.
const nothingReasoned = `{"reasoning_content":""}`

// fieldOf is the field that the text of a reasoning part came in.
func fieldOf(p *wire.Part) string {
	if p.Vendor != "" && jsonw.Valid(p.Vendor) {
		name := jsonw.Parse(p.Vendor).Get("field").Str()
		for _, field := range reasoningFields {
			if name == field {
				return field
			}
		}
	}
	return reasoningFields[0]
}

// details returns the array reasoning_details of a part, "" if it has none.
func details(p *wire.Part) jsonw.Value {
	if p.Vendor == "" || !jsonw.Valid(p.Vendor) {
		return ""
	}
	if d := jsonw.Parse(p.Vendor).Get("reasoning_details"); d.IsArray() {
		return d
	}
	return ""
}

// reasoning writes the reasoning of message i, of which so many parts are sent, as
// are calls.
func (e *encoder) reasoning(i, parts, calls int) {
	m := &e.r.Messages[i]
	blank := calls > 0 && !e.off && e.blank()
	switch e.profile.Replay {
	case ReplayAlways:
		if e.off {
			return
		}
		e.Lit(`,"reasoning_content":""`)
		for j := range m.Parts {
			if p := &m.Parts[j]; p.Kind == wire.PartReasoning && e.fate(m, p) == sent {
				e.more(p.Text)
			}
		}
		return
	case ReplayField, ReplayDetails:
	default:
		if blank {
			e.Lit(`,"reasoning_content":""`)
		}
		return
	}
	if parts == 0 {
		if blank {
			e.Lit(`,"reasoning_content":""`)
		} else if g := e.r.Reasoning; m.Vendor != "" && e.own(m.Origin) && (g == nil || g.Replay != wire.ReplayNever) &&
			!unfinished(m, nil) && jsonw.Valid(m.Vendor) && jsonw.Parse(m.Vendor).Get(reasoningFields[0]) == `""` {
			e.Lit(`,"reasoning_content":""`) // it reasoned nothing, and said so
		}
		return
	}
	if e.profile.Replay == ReplayField || !e.details(i) {
		e.fields(i)
	}
}

// blank reports whether the model is one of the profile's that want reasoning of
// every message with calls.
func (e *encoder) blank() bool {
	for _, prefix := range e.profile.BlankReasoning {
		if rest, ok := strings.CutPrefix(e.r.Model, prefix); ok && (rest == "" || strings.ContainsAny(rest[:1], "-:@")) {
			return true
		}
	}
	return false
}

// fields writes the text of the reasoning of message i in the fields that it came
// in.
func (e *encoder) fields(i int) {
	m := &e.r.Messages[i]
	for _, field := range reasoningFields {
		n := 0
		for j := range m.Parts {
			p := &m.Parts[j]
			if p.Kind != wire.PartReasoning || e.fate(m, p) != sent || fieldOf(p) != field {
				continue
			}
			if n++; n > 1 {
				e.more(p.Text)
				continue
			}
			e.Lit(`,"`)
			e.Lit(field)
			e.Lit(`":`)
			e.Str(p.Text)
		}
	}
}

// details writes the structured reasoning of message i, several arrays as one,
// and reports whether there was any.
func (e *encoder) details(i int) bool {
	m := &e.r.Messages[i]
	arrays, items := 0, 0
	for j := range m.Parts {
		p := &m.Parts[j]
		if p.Kind != wire.PartReasoning || e.fate(m, p) != sent {
			continue
		}
		d := details(p)
		if d == "" {
			continue
		}
		if arrays++; arrays == 1 {
			e.Lit(`,"reasoning_details":[`)
		}
		d = jsonw.Parse(string(d[1 : len(d)-1]))
		if d == "" {
			continue
		}
		if items++; items > 1 {
			e.Lit(`,`)
		}
		// The brackets are put back for the check and taken away again.
		from := len(e.B)
		e.Raw(string(details(p)), codec.Part(i, j))
		e.B = append(e.B[:from], e.B[from+1:len(e.B)-1]...)
	}
	if arrays > 0 {
		e.Lit(`]`)
	}
	return arrays > 0
}

// kept writes the members of a message that the profile sends back.
func (e *encoder) kept(vendor string, at codec.Place) {
	if vendor == "" || len(e.profile.Members) == 0 || !jsonw.Valid(vendor) {
		return
	}
	for c := jsonw.Parse(vendor).Members(); c.Next(); {
		if slices.Contains(e.profile.Members, c.Name()) {
			e.Member(&c, at)
		}
	}
}
