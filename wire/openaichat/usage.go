package openaichat

import (
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// usage collects what servers say about tokens. Numbers are totals that may come
// several times and in several places: a later one replaces an earlier one, and
// null, absence, a negative number and zero replace nothing.
type usage struct {
	apart bool // the profile says that completion_tokens leaves reasoning out

	prompt, read, written, completion, reasoning, total wire.Count

	last   string        // the vendor's object that was taken last
	merged codec.Members // all of them
}

// add takes a usage object and reports whether it said anything new.
func (u *usage) add(obj jsonw.Value) bool {
	if string(obj) == u.last {
		return false
	}
	u.last = strings.Clone(string(obj))
	changed, counts := false, true
	if p, c, t := obj.Get("prompt_tokens"), obj.Get("completion_tokens"), obj.Get("total_tokens"); p == "0" && c == "0" && (t == "0" || t.IsNull()) {
		counts = false // a placeholder: no prompt is empty
	}
	for m := obj.Members(); m.Next(); {
		v := m.Value()
		if v.IsNull() {
			continue
		}
		if f := u.merged.At(m.Name()); len(f.Raw) == 0 || string(f.Raw) != string(v) && v != "0" && counts {
			f.Raw = append(f.Raw[:0], v...)
			changed = true
		}
		if !counts {
			continue
		}
		switch m.Name() {
		case "prompt_tokens":
			set(&u.prompt, v)
		case "completion_tokens":
			set(&u.completion, v)
		case "total_tokens":
			set(&u.total, v)
		case "cached_tokens", "num_cached_tokens", "prompt_cache_hit_tokens":
			set(&u.read, v)
		case "cache_creation_input_tokens", "cache_write_tokens":
			set(&u.written, v)
		case "reasoning_tokens":
			set(&u.reasoning, v)
		case "prompt_tokens_details", "prompt_token_details":
			for in := v.Members(); in.Next(); {
				switch in.Name() {
				case "cached_tokens":
					set(&u.read, in.Value())
				case "cache_write_tokens", "cache_creation_input_tokens", "cache_creation_tokens":
					set(&u.written, in.Value())
				}
			}
		case "completion_tokens_details":
			set(&u.reasoning, v.Get("reasoning_tokens"))
		}
	}
	return changed
}

// set replaces a count by a number that says something.
func set(c *wire.Count, v jsonw.Value) {
	if n, ok := v.Int(); ok && (n > 0 || n == 0 && !c.Known()) {
		*c = wire.CountOf(n)
	}
}

// snapshot returns the usage so far. The prompt includes what came from a cache
// and what was written to one.
func (u *usage) snapshot() *wire.Usage {
	fresh := wire.CountOf(max(u.prompt.Value()-u.read.Value()-u.written.Value(), 0))
	if !u.prompt.Known() {
		fresh = wire.Count{}
	}
	out := u.completion
	if u.reasoningApart() {
		out = out.Add(u.reasoning)
	}
	return &wire.Usage{
		InputTokens:         u.prompt,
		UncachedInputTokens: fresh,
		CacheReadTokens:     u.read,
		CacheCreationTokens: u.written,
		OutputTokens:        out,
		ReasoningTokens:     u.reasoning,
		Vendor:              u.merged.Object(),
	}
}

// reasoningApart reports whether completion_tokens leaves reasoning out. The
// total tells, where there is one.
func (u *usage) reasoningApart() bool {
	if u.reasoning.Value() == 0 {
		return false
	}
	if sum := u.prompt.Add(u.completion); u.total.Known() && sum.Known() {
		switch u.total {
		case sum:
			return false
		case sum.Add(u.reasoning):
			return true
		}
	}
	return u.apart
}

// The names of headers are in the form that http.Header keeps them in, so that
// looking for one costs nothing.
var requestIDs = [...]string{"X-Request-Id", "X-Generation-Id", "X-Ds-Trace-Id", "X-Trace-Id", "Apim-Request-Id"}

func requestID(h wire.Head) string {
	if h.Get == nil {
		return ""
	}
	for _, name := range requestIDs {
		if id := h.Get(name); id != "" {
			return id
		}
	}
	return ""
}

var rateLimitHeaders = [...]struct{ name, limit, remaining, reset string }{
	{"requests", "X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
	{"tokens", "X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
	{"requests-day", "X-Ratelimit-Limit-Requests-Day", "X-Ratelimit-Remaining-Requests-Day", "X-Ratelimit-Reset-Requests-Day"},
	{"tokens-minute", "X-Ratelimit-Limit-Tokens-Minute", "X-Ratelimit-Remaining-Tokens-Minute", "X-Ratelimit-Reset-Tokens-Minute"},
	{"tokens-prompt", "X-Ratelimit-Limit-Tokens-Prompt", "X-Ratelimit-Remaining-Tokens-Prompt", "X-Ratelimit-Reset-Tokens-Prompt"},
	{"tokens-generated", "X-Ratelimit-Limit-Tokens-Generated", "X-Ratelimit-Remaining-Tokens-Generated", "X-Ratelimit-Reset-Tokens-Generated"},
	{"ratelimit", "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"},
	{"tokenlimit", "X-Tokenlimit-Limit", "X-Tokenlimit-Remaining", "X-Tokenlimit-Reset"},
}

// rateLimits reads the rate-limit headers of the vendors.
func rateLimits(h wire.Head) wire.RateLimits {
	if h.Get == nil {
		return nil
	}
	var limits wire.RateLimits
	for i := range rateLimitHeaders {
		r := &rateLimitHeaders[i]
		l := wire.RateLimit{Name: r.name, Limit: headerCount(h.Get(r.limit)), Remaining: headerCount(h.Get(r.remaining)), Reset: h.Get(r.reset)}
		if l.Limit.Known() || l.Remaining.Known() || l.Reset != "" {
			limits = append(limits, l)
		}
	}
	return limits
}

func headerCount(s string) wire.Count {
	if s == "" || len(s) > 15 {
		return wire.Count{}
	}
	var n int64
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return wire.Count{}
		}
		n = n*10 + int64(s[i]-'0')
	}
	return wire.CountOf(n)
}
