package openaichat

import (
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// content is the content of a message in the making: one string, or parts.
type content struct {
	parts bool
	n     int // texts or parts written
}

// content begins the content of a message.
func (e *encoder) content(parts bool) content {
	e.Lit(`,"content":`)
	return content{parts: parts}
}

// next begins a part.
func (e *encoder) next(c *content) {
	if c.n++; c.n == 1 {
		e.Lit(`[`)
	} else {
		e.Lit(`,`)
	}
}

// joined adds s to a content that is one string.
func (e *encoder) joined(c *content, s string) {
	if c.n++; c.n == 1 {
		e.Str(s)
	} else {
		e.line(s)
	}
}

// text adds s, the text of p or one that stands for it.
func (e *encoder) text(c *content, s string, p *wire.Part, own bool, at codec.Place) {
	if !c.parts {
		e.joined(c, s)
		e.trimmings(p, false, false, at)
		return
	}
	e.next(c)
	e.Lit(`{"type":"text","text":`)
	e.Str(s)
	if own {
		e.members(p.Vendor, at, "", "type", "text", e.markName(p))
	}
	e.trimmings(p, own, true, at)
	e.Lit(`}`)
}

// markName is the member that the cache mark of a text will be, "" for none.
func (e *encoder) markName(p *wire.Part) string {
	switch {
	case p.Kind != wire.PartText:
	case e.profile.CacheControl && (p.Cache != nil || p == e.auto.last || p == e.auto.system):
		return "cache_control"
	case e.family.marks && p.Cache != nil:
		return "prompt_cache_breakpoint"
	}
	return ""
}

// trimmings writes the cache mark of a text, which is a part of its own or one of
// several in a string, and tells of what has no place.
func (e *encoder) trimmings(p *wire.Part, own, part bool, at codec.Place) {
	if p.Vendor != "" && !own {
		e.Dropped(at.String()+".vendor", "there is no place for it, or only its own host can read it")
	}
	switch {
	case p.Cache != nil && e.profile.CacheControl && p.Kind == wire.PartText:
		e.mark(p.Cache.TTL)
	case p.Cache != nil && e.family.marks && part && p.Kind == wire.PartText:
		e.breakpoint(p.Cache.TTL, at)
	case p.Cache != nil:
		e.Dropped(at.String()+".cache", "there are no cache marks here")
	case p == e.auto.last || p == e.auto.system:
		e.mark(e.r.Cache.TTL)
	}
}

// end ends a content that is not empty.
func (e *encoder) end(c *content) {
	if c.parts {
		e.Lit(`]`)
	}
}

// trimmed reports whether a text has something that only a part can hold: a cache
// mark, or members of the vendor's.
func (e *encoder) trimmed(p *wire.Part, own bool) bool {
	return p.Kind == wire.PartText && p.Text != "" && (e.auto.on || own && p.Vendor != "" || p.Cache != nil && e.profile.CacheControl)
}

// system writes the standing prompt, and what follows it of system messages
// before all others, so that no two of them stand at the beginning.
func (e *encoder) system() {
	r := e.r
	n, parts := 0, false
	for i := range r.System {
		if p := &r.System[i]; p.Kind == wire.PartText && p.Text != "" {
			n++
			parts = parts || e.trimmed(p, true)
		}
	}
	standing := n > 0
	for e.lead < len(r.Messages) && (r.Messages[e.lead].Role == wire.RoleSystem || e.silent(&r.Messages[e.lead])) {
		if m := &r.Messages[e.lead]; m.Role == wire.RoleSystem {
			own := e.own(m.Origin)
			for j := range m.Parts {
				if p := &m.Parts[j]; p.Kind == wire.PartText && p.Text != "" {
					n++
					parts = parts || e.trimmed(p, own)
				}
			}
		}
		e.lead++
	}
	var c content
	if n > 0 {
		e.open(e.systemRole())
		c = e.content(parts)
	}
	for i := range r.System {
		p := &r.System[i]
		at := codec.Item("system", i)
		if p.Kind != wire.PartText {
			e.Refuse(at.String(), "a system prompt holds text, not "+strconv.Quote(string(p.Kind)), "move it into a message")
		} else if p.Text != "" {
			e.text(&c, p.Text, p, true, at)
		}
	}
	for i := range e.lead {
		m := &r.Messages[i]
		if m.Role != wire.RoleSystem {
			continue
		}
		if standing && !e.silent(m) {
			e.Note(wire.NoteConverted, codec.Item("messages", i).String(), "joined with the system prompt, since the first message alone may be one")
		}
		own := e.own(m.Origin)
		for j := range m.Parts {
			p := &m.Parts[j]
			at := codec.Part(i, j)
			if f := e.fate(m, p); f != sent {
				e.tell(f, p, at)
			} else if p.Text != "" {
				e.text(&c, p.Text, p, own, at)
			}
		}
		if m.Vendor != "" {
			e.Dropped(codec.Item("messages", i).String()+".vendor", "the system prompt has no further members")
		}
	}
	if n > 0 {
		e.end(&c)
		e.Lit(`}`)
	}
}

// systemRole is the role of system messages.
func (e *encoder) systemRole() string {
	switch e.profile.System {
	case SystemSystem:
		return roleSystem
	case SystemDeveloper:
		return roleDeveloper
	case SystemByVendor:
		if strings.HasPrefix(e.r.Model, "openai/") || strings.HasPrefix(e.r.Model, "anthropic/") {
			return roleDeveloper
		}
		return roleSystem
	}
	if e.family.developer {
		return roleDeveloper
	}
	return roleSystem
}

// user writes what message i, which is not the assistant's, has besides results.
func (e *encoder) user(i int) bool {
	m := &e.r.Messages[i]
	own := e.own(m.Origin)
	n, parts, results := 0, false, false
	for j := range m.Parts {
		p := &m.Parts[j]
		if p.Kind == wire.PartToolResult && m.Role != wire.RoleSystem {
			results = true
			continue
		}
		if f := e.fate(m, p); f != sent {
			e.tell(f, p, codec.Part(i, j))
			continue
		}
		if p.Kind == wire.PartText && p.Text == "" {
			continue
		}
		n++
		parts = parts || n > 1 && m.Role != wire.RoleSystem && !e.profile.PlainText || p.Kind == wire.PartOpaque || e.trimmed(p, own) ||
			p.Kind == wire.PartMedia && e.omitted(p.Media) == ""
	}
	if n == 0 {
		if !results && len(m.Parts) > 0 {
			e.Dropped(codec.Item("messages", i).String(), "there is nothing in it to send")
		}
		return false
	}
	role := roleUser
	if m.Role == wire.RoleSystem {
		if role = e.systemRole(); e.profile.SystemFirst {
			role = roleUser
			e.Note(wire.NoteConverted, codec.Item("messages", i).String(), "the first message alone may be a system message; sent as the user's")
		}
	}
	e.open(role)
	c := e.content(parts)
	for j := range m.Parts {
		p := &m.Parts[j]
		if p.Kind == wire.PartToolResult || e.fate(m, p) != sent {
			continue
		}
		at := codec.Part(i, j)
		switch p.Kind {
		case wire.PartText:
			if p.Text != "" {
				e.text(&c, p.Text, p, own, at)
			}
		case wire.PartMedia:
			e.media(&c, p, own, at)
		case wire.PartOpaque:
			e.next(&c)
			e.opaque(p, at)
		}
	}
	e.end(&c)
	switch {
	case m.Vendor == "":
	case own:
		at, but := codec.Item("messages", i), ""
		if e.profile.NoNames {
			if but = "name"; jsonw.Valid(m.Vendor) && jsonw.Parse(m.Vendor).Get(but).Exists() {
				e.Dropped(at.String()+".vendor", "the server takes no names of messages")
			}
		}
		e.members(m.Vendor, at, but, "role", "content")
	default:
		e.Dropped(codec.Item("messages", i).String()+".vendor", fates[foreign])
	}
	e.Lit(`}`)
	return true
}

// opaque writes a block in the vendor's own words.
func (e *encoder) opaque(p *wire.Part, at codec.Place) {
	from := len(e.B)
	e.Raw(p.Vendor, at)
	if e.B[from] != '{' {
		e.Refuse(at.String()+".vendor", "an opaque part holds the whole block as a JSON object", "")
	}
	if p.Cache != nil {
		e.Dropped(at.String()+".cache", "there are no cache marks here")
	}
}
