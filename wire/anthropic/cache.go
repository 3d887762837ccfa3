package anthropic

import "github.com/handwire/handwire/wire"

const maxMarks = 4

// mark writes a cache breakpoint as the last member of an object.
func (e *encoder) mark(c *wire.CacheMark) {
	if c == nil {
		return
	}
	e.marks++
	e.lit(`,"cache_control":{"type":"ephemeral"`)
	if c.TTL != "" {
		e.lit(`,"ttl":`)
		e.str(c.TTL)
	}
	e.lit(`}`)
}

// plan chooses the places of the automatic breakpoints: the ends of the last
// message, of the system prompt and of the tools, in this order of importance.
// The caller's own marks win where there is no room for all.
func (e *encoder) plan() {
	r := e.r
	if r.Cache == nil || !r.Cache.Auto {
		return
	}
	room := maxMarks - e.marks
	for i := range r.System {
		if r.System[i].Cache != nil {
			room--
		}
	}
	for i := range r.Tools {
		if r.Tools[i].Cache != nil {
			room--
		}
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		for j := range m.Parts {
			room -= e.ownMarks(m, &m.Parts[j])
		}
	}
	if p := e.lastMarkable(); p != nil && p.Cache == nil && room > 0 {
		e.auto.part = p
		room--
	}
	if n := len(r.System); n > 0 && r.System[n-1].Cache == nil && room > 0 {
		e.auto.system = true
		room--
	}
	if n := len(r.Tools); n > 0 && r.Tools[n-1].Cache == nil && room > 0 {
		e.auto.tools = true
	}
}

// ownMarks counts the caller's marks on a part and within it.
func (e *encoder) ownMarks(m *wire.Message, p *wire.Part) (n int) {
	if p.Kind == wire.PartReasoning || e.fate(m, p) != sent {
		return 0
	}
	if p.Cache != nil {
		n++
	}
	for i := range p.Parts {
		if p.Parts[i].Cache != nil {
			n++
		}
	}
	return n
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
