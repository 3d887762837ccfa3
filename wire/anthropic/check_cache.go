package anthropic

import (
	"strconv"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// mark is a cache breakpoint, of the caller's, of the vendor data or automatic.
type mark struct {
	at    codec.Place
	field string
	ttl   string
	bare  bool // not counted by the encoder
}

// marks judges the cache marks, in the order of the prefix: tools, system,
// messages. 2.4 throughout.
func (c *checker) marks() {
	r := c.e.r
	var all []mark
	auto := func() {
		all = append(all, mark{at: codec.Field("cache"), ttl: r.Cache.TTL})
	}
	add := func(at codec.Place, m *wire.CacheMark, raw jsonw.Value) {
		if m != nil {
			all = append(all, mark{at: at, field: ".cache", ttl: m.TTL})
		}
		if v := raw.Get("cache_control"); !v.IsNull() {
			if v.Get("type").Str() != "ephemeral" {
				c.add(at, ".vendor", "a cache mark is of type ephemeral", `write {"type":"ephemeral"}`)
			}
			all = append(all, mark{at: at, field: ".vendor", ttl: v.Get("ttl").Str(), bare: true})
		}
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		add(codec.Item("tools", i), t.Cache, readTool(t).raw)
		if t.Cache == nil && c.e.auto.tools && i == len(r.Tools)-1 {
			auto()
		}
	}
	for i := range r.System {
		p := &r.System[i]
		at := codec.Item("system", i)
		if p.Kind != wire.PartText || codec.Blank(p.Text) {
			continue
		}
		var raw jsonw.Value
		if jsonw.Valid(p.Vendor) {
			raw = jsonw.Parse(p.Vendor)
		}
		add(at, p.Cache, raw)
	}
	if c.e.auto.system {
		auto()
	}
	for t := range c.runs {
		c.runMarks(&c.runs[t], add, auto)
	}
	c.topMark(&all)
	total, five := c.e.marks, false
	autoTold := false
	for _, m := range all {
		if m.bare {
			total++
		}
		isAuto := m.at.List() == "cache"
		switch {
		case m.ttl == "" || m.ttl == "5m":
			five = true
		case isAuto && autoTold:
		case m.ttl != "1h":
			c.add(m.at, ttlField(m), "a cache mark lives 5m or 1h, not "+strconv.Quote(m.ttl), "write 5m or 1h, or leave it out for 5m")
			autoTold = autoTold || isAuto
		case five:
			c.add(m.at, ttlField(m), "a cache mark of 1h must come before every mark of 5m, in the order tools, system, messages", "let the marks before it live 1h too, or this one 5m")
			autoTold = autoTold || isAuto
		}
	}
	if c.e.marks <= maxMarks && total > maxMarks { // those that Encode counts it tells itself
		c.add(codec.Field(""), "", "at most 4 cache breakpoints, not "+strconv.Itoa(total), "mark fewer parts and tools, in vendor data too")
	}
}

func ttlField(m mark) string {
	if m.field == ".vendor" || m.at.List() == "extra" {
		return m.field
	}
	return m.field + ".ttl"
}

// runMarks collects the marks of a run, results first as they are sent.
func (c *checker) runMarks(r *run, add func(codec.Place, *wire.CacheMark, jsonw.Value), auto func()) {
	for _, results := range [...]bool{true, false} {
		for i := r.from; i < r.to; i++ {
			b := &c.pieces[i]
			if b.fate != sent || (b.typ == "tool_result") != results {
				continue
			}
			if b.p.Kind == wire.PartToolResult {
				for k := range b.p.Parts {
					if in := c.inner(b, k); in.fate == sent {
						add(in.at, in.p.Cache, in.raw)
					}
				}
			}
			thought := b.typ == "thinking" || b.typ == "redacted_thinking"
			if thought && b.p.Cache != nil {
				c.add(b.at, ".cache", "thinking cannot carry a cache mark", "mark the part before or after it")
			}
			if thought && !b.raw.Get("cache_control").IsNull() {
				c.add(b.at, ".vendor", "thinking cannot carry a cache mark", "mark the part before or after it")
			}
			if b.p.Kind == wire.PartReasoning {
				add(b.at, nil, b.raw)
			} else {
				add(b.at, b.p.Cache, b.raw)
			}
			if b.p == c.e.auto.part {
				auto()
			}
		}
	}
}

// topMark judges the top-level mark, which the server puts on the last block that
// can carry one.
func (c *checker) topMark(all *[]mark) {
	r := c.e.r
	for i := range r.Extra {
		f := &r.Extra[i]
		if f.Name != "cache_control" || !jsonw.Valid(f.Raw) {
			continue
		}
		v := jsonw.Parse(f.Raw)
		if v.IsNull() {
			continue
		}
		at := codec.Item("extra", i)
		if v.Get("type").Str() != "ephemeral" {
			c.add(at, "", "a cache mark is of type ephemeral", `write {"type":"ephemeral"}`)
		}
		ttl := v.Get("ttl").Str()
		if p := c.e.lastMarkable(); p != nil {
			own := p.Cache
			if p == c.e.auto.part {
				own = &wire.CacheMark{TTL: r.Cache.TTL}
			}
			if own != nil && (own.TTL == "1h") != (ttl == "1h") {
				c.add(at, "", "the automatic cache mark differs in ttl from the mark on the same last block", "give both the same ttl, or one of them alone")
			}
		}
		*all = append(*all, mark{at: at, ttl: ttl})
		return // a second one Encode refuses
	}
}
