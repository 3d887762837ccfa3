package openaichat

import (
	"strconv"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
)

const maxMarks = 4

// mark writes a cache mark as the last member of a text part.
func (e *encoder) mark(ttl string) {
	e.marks++
	e.Lit(`,"cache_control":{"type":"ephemeral"`)
	if ttl != "" {
		e.Lit(`,"ttl":`)
		e.Str(ttl)
	}
	e.Lit(`}`)
}

// breakpoint writes a cache mark as OpenAI has it, as the last member of a part.
func (e *encoder) breakpoint(ttl string, at codec.Place) {
	e.marks++
	e.Lit(`,"prompt_cache_breakpoint":{"mode":"explicit"`)
	switch ttl {
	case "":
	case "30m", "12h":
		e.Lit(`,"ttl":`)
		e.Str(ttl)
	default:
		e.Dropped(at.String()+".cache.ttl", "a mark holds for 30m or 12h, not "+strconv.Quote(ttl)+"; sent without a time")
	}
	e.Lit(`}`)
}

// marked reports whether the caller marks a part of the request for the cache.
func (e *encoder) marked() bool {
	for i := range e.r.System {
		if e.r.System[i].Cache != nil {
			return true
		}
	}
	for i := range e.r.Messages {
		for j := range e.r.Messages[i].Parts {
			p := &e.r.Messages[i].Parts[j]
			if p.Cache != nil {
				return true
			}
			for k := range p.Parts {
				if p.Parts[k].Cache != nil {
					return true
				}
			}
		}
	}
	return false
}

// plan chooses the places of the automatic cache marks: the last text of the
// conversation that is not the assistant's, and the last of the system prompt.
// The caller's own marks win where there is no room for all, and where their
// time is another one, for a longer time must not follow a shorter one.
func (e *encoder) plan() {
	r := e.r
	e.auto.on = (e.family.marks || e.profile.CacheControl) && e.marked()
	if r.Cache == nil || !r.Cache.Auto || !e.profile.CacheControl {
		return
	}
	e.auto.on = true
	room, others := maxMarks, 0
	count := func(p *wire.Part) {
		if p.Cache != nil && p.Kind == wire.PartText && p.Text != "" {
			if room--; p.Cache.TTL != r.Cache.TTL {
				others++
			}
		}
	}
	for i := range r.System {
		count(&r.System[i])
	}
	for i := range r.Messages {
		for j := range r.Messages[i].Parts {
			p := &r.Messages[i].Parts[j]
			count(p)
			for k := range p.Parts {
				count(&p.Parts[k])
			}
		}
	}
	if others > 0 {
		e.Dropped("cache.auto", "the time of the automatic marks is not that of the others")
		return
	}
	if p := e.lastText(); p != nil && p.Cache == nil && room > 0 {
		e.auto.last = p
		room--
	}
	for i := len(r.System) - 1; i >= 0 && room > 0; i-- {
		if p := &r.System[i]; p.Kind == wire.PartText && p.Text != "" {
			if p.Cache == nil {
				e.auto.system = p
			}
			return
		}
	}
}

// lastText returns the last text that is written, apart from the assistant's:
// within an answer what is no result stands last.
func (e *encoder) lastText() *wire.Part {
	var result *wire.Part
	for i := len(e.r.Messages) - 1; i >= 0; i-- {
		m := &e.r.Messages[i]
		if m.Role == wire.RoleAssistant {
			if result != nil && !e.silent(m) {
				return result
			}
			continue
		}
		for j := len(m.Parts) - 1; j >= 0; j-- {
			p := &m.Parts[j]
			if p.Kind == wire.PartText && p.Text != "" {
				return p
			}
			if p.Kind != wire.PartToolResult || result != nil {
				continue
			}
			for k := len(p.Parts) - 1; k >= 0 && result == nil; k-- {
				if q := &p.Parts[k]; q.Kind == wire.PartText && q.Text != "" {
					result = q
				}
			}
		}
	}
	return result
}
