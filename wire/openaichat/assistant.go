package openaichat

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// assistant writes message i, which is the assistant's: its text as one string,
// its refusal, its reasoning where the server wants that, and its calls.
func (e *encoder) assistant(i int) bool {
	m := &e.r.Messages[i]
	own := e.own(m.Origin)
	texts, refusals, reasons, calls, parts := 0, 0, 0, 0, false
	for j := range m.Parts {
		p := &m.Parts[j]
		if f := e.fate(m, p); f != sent {
			e.tell(f, p, codec.Part(i, j))
			continue
		}
		switch p.Kind {
		case wire.PartText:
			if p.Text != "" {
				texts++
				parts = parts || p.Cache != nil && e.profile.CacheControl
			}
		case wire.PartRefusal:
			refusals++
			if e.profile.NoRefusal {
				e.Note(wire.NoteConverted, codec.Part(i, j).String(), "a refusal is sent as text")
				refusals--
				texts++
			}
		case wire.PartReasoning:
			reasons++
		default:
			calls++
		}
	}
	if texts+refusals+calls == 0 {
		e.Dropped(codec.Item("messages", i).String(), "it has neither text nor calls")
		return false
	}
	e.open(roleAssistant)
	// Only a message with calls may be without content.
	alone := refusals > 0 && texts+calls == 0 && e.profile.Replay != ReplayTags && e.profile.Replay != ReplayChunks
	if alone {
		e.Lit(`,"content":[{"type":"refusal"`)
	} else {
		e.words(i, texts, reasons, parts)
	}
	if refusals > 0 {
		e.refusal(m)
	}
	if alone {
		e.Lit(`}]`)
	}
	e.reasoning(i, reasons, calls)
	switch {
	case !own && m.Vendor != "" && m.Vendor != nothingReasoned:
		e.Dropped(codec.Item("messages", i).String()+".vendor", fates[foreign])
	case own && !unfinished(m, nil):
		e.kept(m.Vendor, codec.Item("messages", i))
	}
	if calls > 0 {
		e.calls(i, own)
	}
	e.Lit(`}`)
	return true
}

// refusal writes the refusals of a message as one.
func (e *encoder) refusal(m *wire.Message) {
	e.Lit(`,"refusal":`)
	n := 0
	for j := range m.Parts {
		if p := &m.Parts[j]; p.Kind == wire.PartRefusal && e.fate(m, p) == sent {
			if n++; n == 1 {
				e.Str(p.Text)
			} else {
				e.line(p.Text)
			}
		}
	}
}

// words writes the content of a message of the assistant's.
func (e *encoder) words(i, texts, reasons int, parts bool) {
	m := &e.r.Messages[i]
	tags := e.profile.Replay == ReplayTags && reasons > 0
	chunks := e.profile.Replay == ReplayChunks && reasons > 0
	if texts == 0 && !tags && !chunks {
		switch e.profile.NullContent {
		case ContentEmpty:
			e.Lit(`,"content":""`)
		case ContentOmit:
		default:
			e.Lit(`,"content":null`)
		}
		return
	}
	c := e.content(parts || chunks)
	switch {
	case chunks:
		for j := range m.Parts {
			if p := &m.Parts[j]; p.Kind == wire.PartReasoning && e.fate(m, p) == sent {
				e.next(&c)
				e.Lit(`{"type":"thinking","thinking":[{"type":"text","text":`)
				e.Str(p.Text)
				e.Lit(`}]}`)
			}
		}
	case tags:
		if c.parts {
			e.next(&c)
			e.Lit(`{"type":"text","text":`)
		}
		e.Str(openTag)
		for j := range m.Parts {
			if p := &m.Parts[j]; p.Kind == wire.PartReasoning && e.fate(m, p) == sent {
				e.more(p.Text)
			}
		}
		e.more(closeTag)
		if c.parts {
			e.Lit(`}`)
		}
	}
	glue := tags && !c.parts // the first text follows the tag with nothing between
	for j := range m.Parts {
		p := &m.Parts[j]
		if p.Kind != wire.PartText && (p.Kind != wire.PartRefusal || !e.profile.NoRefusal) || p.Text == "" || e.fate(m, p) != sent {
			continue
		}
		if glue {
			glue = false
			c.n++
			e.more(p.Text)
			e.trimmings(p, false, false, codec.Part(i, j))
			continue
		}
		e.text(&c, p.Text, p, false, codec.Part(i, j))
	}
	e.end(&c)
}

// calls writes the calls of message i.
func (e *encoder) calls(i int, own bool) {
	m := &e.r.Messages[i]
	e.Lit(`,"tool_calls":[`)
	n := 0
	for j := range m.Parts {
		p := &m.Parts[j]
		if p.Kind != wire.PartToolCall && p.Kind != wire.PartOpaque || e.fate(m, p) != sent {
			continue
		}
		if n++; n > 1 {
			e.Lit(`,`)
		}
		at := codec.Part(i, j)
		if p.Kind == wire.PartOpaque {
			e.opaque(p, at)
			continue
		}
		e.Lit(`{"id":`)
		e.id(p.ID, at)
		custom, kind := p.FreeForm && !e.profile.NoCustom, "function"
		if custom {
			kind = "custom"
			e.Lit(`,"type":"custom","custom":{"name":`)
		} else {
			e.Lit(`,"type":"function","function":{"name":`)
		}
		e.Name(p.Name, maxName, at, ".name")
		switch {
		case custom:
			e.Lit(`,"input":`)
			e.Str(p.Args)
		case p.FreeForm:
			e.Note(wire.NoteConverted, at.String()+".args", `free text is sent as {"input":…}`)
			var b []byte
			b = append(jsonw.AppendString(append(b, `{"input":`...), p.Args), '}')
			e.Lit(`,"arguments":`)
			e.Str(string(b))
		case p.Args == "":
			e.Lit(`,"arguments":"{}"`)
		default:
			e.Lit(`,"arguments":`)
			e.Str(p.Args)
		}
		e.Lit(`}`)
		if p.Vendor != "" {
			if own { // the type and the id that it came with are facts of the decoder's
				e.members(p.Vendor, at, "id type", kind)
			} else {
				e.Dropped(at.String()+".vendor", fates[foreign])
			}
		}
		if e.profile.Signatures && n == 1 && !(own && signed(p.Vendor)) {
			e.Lit(`,"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}`)
			e.Note(wire.NoteInserted, at.String(), "the server wants a thought signature; this call has none of its own")
		}
		if p.Cache != nil {
			e.Dropped(at.String()+".cache", "a call cannot carry a cache mark")
		}
		e.Lit(`}`)
	}
	e.Lit(`]`)
}

// maxID is the most characters of the id of a call.
const maxID = 40

// idOf is the id that a call and its result go out with.
func (e *encoder) idOf(id string) string {
	switch e.profile.IDs {
	case IDsAny:
		if id != "" {
			return id
		}
	case IDs9:
		if len(id) == 9 && strings.IndexFunc(id, func(c rune) bool { return c == '_' || c == '-' }) < 0 && codec.ValidName(id, 9) {
			return id
		}
		return nine(id)
	}
	if id == "" || len(id) > maxID && utf8.RuneCountInString(id) > maxID {
		return codec.SafeName(id, maxID)
	}
	for i := range len(id) {
		if id[i] < ' ' || id[i] == 0x7f {
			return codec.SafeName(id, maxID)
		}
	}
	return id
}

// nine returns nine letters and digits that are as good as unique to id.
func nine(id string) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	name := codec.SafeName(id, 18) // ends in a hash of all of it
	n, err := strconv.ParseUint(name[len(name)-16:], 16, 64)
	if err != nil {
		panic("openaichat: a safe name without a hash: " + name)
	}
	var b [9]byte
	for i := range b {
		b[i] = digits[n%uint64(len(digits))]
		n /= uint64(len(digits))
	}
	return string(b[:])
}

// id writes the id of a call or a result.
func (e *encoder) id(id string, at codec.Place) {
	name := e.idOf(id)
	if name == id {
		e.Str(id)
		return
	}
	e.Renamed(id, name, at, ".id")
}

// signed reports whether a call has facts of Google's, its thought signature among
// them.
func signed(vendor string) bool {
	return jsonw.Valid(vendor) && jsonw.Parse(vendor).Get("extra_content").Exists()
}
