package openaichat

import (
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/head"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// usage collects what servers say about tokens. Numbers are totals that may come
// several times and in several places: a later one replaces an earlier one, and
// null, absence, a negative number and zero replace nothing.
type usage struct {
	apart bool // the profile says that completion_tokens leaves reasoning out

	prompt, read, written, completion, reasoning, total wire.Count

	last   string        // the vendor's object that was taken last, "" if it was too large to be kept
	merged codec.Members // all of them
	size   int           // of merged, about
	over   int           // something was too large to be kept: 1, and 2 once that was told
}

// maxUsage is how many bytes of the vendor's usage object are kept.
const maxUsage = 16 << 10

// keep keeps a member of the vendor's object and reports whether that is another
// one than before; counts says that it may replace what was there.
func (u *usage) keep(name string, v jsonw.Value, counts bool) bool {
	f := u.merged.Find(name)
	more := len(v)
	switch {
	case f == nil:
		more += len(name) + 4
	case string(f.Raw) == string(v) || v == "0" || !counts:
		return false
	default:
		more -= len(f.Raw)
	}
	if more > 0 && u.size+more > maxUsage {
		u.over = max(u.over, 1)
		return false
	}
	u.size += more
	if f == nil {
		f = u.merged.At(name)
	}
	f.Raw = append(f.Raw[:0], v...)
	return true
}

// add takes a usage object and reports whether it said anything new.
func (u *usage) add(obj jsonw.Value) bool {
	if u.last != "" && string(obj) == u.last {
		return false
	}
	if u.last = ""; len(obj) <= maxUsage {
		u.last = strings.Clone(string(obj))
	}
	changed, counts := false, true
	if p, c, t := obj.Get("prompt_tokens"), obj.Get("completion_tokens"), obj.Get("total_tokens"); p == "0" && c == "0" && (t == "0" || t.IsNull()) {
		counts = false // a placeholder: no prompt is empty
	}
	for m := obj.Members(); m.Next(); {
		v := m.Value()
		if v.IsNull() {
			continue
		}
		if u.keep(m.Name(), v, counts) {
			changed = true
		}
		if !counts {
			continue
		}
		switch m.Name() {
		case "prompt_tokens":
			set(&changed, &u.prompt, v)
		case "completion_tokens":
			set(&changed, &u.completion, v)
		case "total_tokens":
			set(&changed, &u.total, v)
		case "cached_tokens", "num_cached_tokens", "prompt_cache_hit_tokens":
			set(&changed, &u.read, v)
		case "cache_creation_input_tokens", "cache_write_tokens":
			set(&changed, &u.written, v)
		case "reasoning_tokens":
			set(&changed, &u.reasoning, v)
		case "prompt_tokens_details", "prompt_token_details":
			for in := v.Members(); in.Next(); {
				switch in.Name() {
				case "cached_tokens":
					set(&changed, &u.read, in.Value())
				case "cache_write_tokens", "cache_creation_input_tokens", "cache_creation_tokens":
					set(&changed, &u.written, in.Value())
				}
			}
		case "completion_tokens_details":
			set(&changed, &u.reasoning, v.Get("reasoning_tokens"))
		}
	}
	return changed
}

// set replaces a count by a number that says something.
func set(changed *bool, c *wire.Count, v jsonw.Value) {
	if n, ok := v.Int(); ok && (n > 0 || n == 0 && !c.Known()) && *c != wire.CountOf(n) {
		*c = wire.CountOf(n)
		*changed = true
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

var rateLimits = [...]head.Limit{
	{"requests", "X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
	{"tokens", "X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
	{"requests-day", "X-Ratelimit-Limit-Requests-Day", "X-Ratelimit-Remaining-Requests-Day", "X-Ratelimit-Reset-Requests-Day"},
	{"tokens-minute", "X-Ratelimit-Limit-Tokens-Minute", "X-Ratelimit-Remaining-Tokens-Minute", "X-Ratelimit-Reset-Tokens-Minute"},
	{"tokens-prompt", "X-Ratelimit-Limit-Tokens-Prompt", "X-Ratelimit-Remaining-Tokens-Prompt", "X-Ratelimit-Reset-Tokens-Prompt"},
	{"tokens-generated", "X-Ratelimit-Limit-Tokens-Generated", "X-Ratelimit-Remaining-Tokens-Generated", "X-Ratelimit-Reset-Tokens-Generated"},
	{"ratelimit", "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"},
	{"tokenlimit", "X-Tokenlimit-Limit", "X-Tokenlimit-Remaining", "X-Tokenlimit-Reset"},
}
