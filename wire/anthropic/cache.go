package anthropic

import "github.com/handwire/handwire/wire"

const maxMarks = 4

// mark writes a cache breakpoint as the last member of an object.
func (e *encoder) mark(c *wire.CacheMark) {
	if c == nil {
		return
	}
	e.marks++
	e.Lit(`,"cache_control":{"type":"ephemeral"`)
	if c.TTL != "" {
		e.Lit(`,"ttl":`)
		e.Str(c.TTL)
	}
	e.Lit(`}`)
}

// plan chooses the places of the automatic breakpoints: the ends of the last
// message, of the system prompt and of the tools, in this order of importance.
// The caller's own marks win where there is no room for all.
//
// A mark for an hour must not follow one for five minutes, in the order tools,
// system, messages. Where an automatic one would break that, the one at the end
// of the conversation takes the shorter time, and the others are left out.
func (e *encoder) plan() {
	r := e.r
	if r.Cache == nil || !r.Cache.Auto {
		return
	}
	var tools, system, messages ownMarks
	for i := range r.Tools {
		tools.add(r.Tools[i].Cache)
	}
	for i := range r.System {
		system.add(r.System[i].Cache)
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		for j := range m.Parts {
			p := &m.Parts[j]
			if p.Kind == wire.PartReasoning || e.fate(m, p) != sent {
				continue
			}
			messages.add(p.Cache)
			for k := range p.Parts {
				messages.add(p.Parts[k].Cache)
			}
		}
	}
	room := maxMarks - e.marks - tools.n - system.n - messages.n
	hour := r.Cache.TTL == hourTTL
	if p := e.lastMarkable(); p != nil && p.Cache == nil && room > 0 {
		e.auto.part, e.auto.mark = p, wire.CacheMark{TTL: r.Cache.TTL}
		if hour && tools.short+system.short+messages.short > 0 {
			e.auto.mark.TTL = ""
		}
		room--
	}
	if n := len(r.System); n > 0 && r.System[n-1].Cache == nil && room > 0 {
		if hour && tools.short+system.short > 0 || !hour && messages.hour > 0 {
			e.Dropped("cache.auto", "no mark at the end of the system prompt: its time would be out of order")
		} else {
			e.auto.system = true
			room--
		}
	}
	if n := len(r.Tools); n > 0 && r.Tools[n-1].Cache == nil && room > 0 {
		if hour && tools.short > 0 || !hour && system.hour+messages.hour > 0 {
			e.Dropped("cache.auto", "no mark at the end of the tools: its time would be out of order")
		} else {
			e.auto.tools = true
		}
	}
}

// hourTTL is the longer of the two times that a mark can ask for.
const hourTTL = "1h"

// ownMarks counts the caller's marks in one of the places.
type ownMarks struct{ n, hour, short int }

func (o *ownMarks) add(c *wire.CacheMark) {
	if c == nil {
		return
	}
	if o.n++; c.TTL == hourTTL {
		o.hour++
	} else {
		o.short++
	}
}

// lastMarkable returns the part of the last block that may carry a mark: within
// a turn of the user's what is no result stands last.
func (e *encoder) lastMarkable() *wire.Part {
	var result *wire.Part
	role := ""
	for i := len(e.r.Messages) - 1; i >= 0; i-- {
		m := &e.r.Messages[i]
		if result != nil && e.roleOf(m) != role && !e.silent(m) {
			break
		}
		for j := len(m.Parts) - 1; j >= 0; j-- {
			p := &m.Parts[j]
			switch {
			case p.Kind == wire.PartReasoning || e.fate(m, p) != sent:
			case p.Kind != wire.PartToolResult:
				return p
			case result == nil:
				result, role = p, e.roleOf(m)
			}
		}
	}
	return result
}
