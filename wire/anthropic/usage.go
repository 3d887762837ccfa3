package anthropic

import (
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// usage collects what the vendor says about tokens. Its numbers are totals of
// the whole message, given several times and in pieces: a later one replaces an
// earlier one, and null or absence replaces nothing.
type usage struct {
	fresh, read, created, created1h, out, reasoning wire.Count
	vendor                                          members
}

// add takes a usage object and reports whether it was one.
func (u *usage) add(obj jsonw.Value) bool {
	if !obj.IsObject() {
		return false
	}
	for c := obj.Members(); c.Next(); {
		v := c.Value()
		if v.IsNull() {
			continue
		}
		name := c.Name()
		switch name {
		case "input_tokens":
			u.fresh = count(v)
		case "cache_read_input_tokens":
			u.read = count(v)
		case "cache_creation_input_tokens":
			u.created = count(v)
		case "cache_creation":
			if n := v.Get("ephemeral_1h_input_tokens"); !n.IsNull() {
				u.created1h = count(n)
			}
		case "output_tokens":
			u.out = count(v)
		case "output_tokens_details":
			if n := v.Get("thinking_tokens"); !n.IsNull() {
				u.reasoning = count(n)
			}
		}
		u.vendor.set(name, v)
	}
	return true
}

// count reads a number of tokens; what is none is unknown.
func count(v jsonw.Value) wire.Count {
	n, ok := v.Int()
	if !ok {
		return wire.Count{}
	}
	return wire.CountOf(n)
}

// snapshot returns the usage so far. The vendor's input count leaves the cached
// part out; ours is the whole.
func (u *usage) snapshot() *wire.Usage {
	input := u.fresh
	if u.read.Known() {
		input = input.Add(u.read)
	}
	if u.created.Known() {
		input = input.Add(u.created)
	}
	return &wire.Usage{
		InputTokens:           input,
		UncachedInputTokens:   u.fresh,
		CacheReadTokens:       u.read,
		CacheCreationTokens:   u.created,
		CacheCreation1hTokens: u.created1h,
		OutputTokens:          u.out,
		ReasoningTokens:       u.reasoning,
		Vendor:                u.vendor.object(),
	}
}

// rateLimits reads the vendor's rate-limit headers.
func rateLimits(h wire.Head) wire.RateLimits {
	if h.Get == nil {
		return nil
	}
	var limits wire.RateLimits
	for _, name := range [...]string{"requests", "tokens", "input-tokens", "output-tokens"} {
		prefix := "anthropic-ratelimit-" + name
		l := wire.RateLimit{Name: name, Reset: h.Get(prefix + "-reset"),
			Limit: headerCount(h.Get(prefix + "-limit")), Remaining: headerCount(h.Get(prefix + "-remaining"))}
		if l.Limit.Known() || l.Remaining.Known() || l.Reset != "" {
			limits = append(limits, l)
		}
	}
	return limits
}

func headerCount(s string) wire.Count {
	if s == "" || len(s) > 15 || !digits(s) {
		return wire.Count{}
	}
	var n int64
	for i := 0; i < len(s); i++ {
		n = n*10 + int64(s[i]-'0')
	}
	return wire.CountOf(n)
}
