package anthropic

import (
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/head"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// usage collects what the vendor says about tokens. Its numbers are totals of
// the whole message, given several times and in pieces: a later one replaces an
// earlier one, and null or absence replaces nothing.
type usage struct {
	fresh, read, created, created1h, out, reasoning wire.Count

	first  string        // the vendor's object, while there was one only
	text   string        // what the vendor's objects come to, "" if that is not known
	size   int           // of merged, about
	over   int           // something was too large to be kept: 1, and 2 once that was told
	merged codec.Members // the vendor's objects, once there were more
}

// maxUsage is how many bytes of the vendor's usage object are kept.
const maxUsage = 16 << 10

// add takes a usage object and reports whether it was one.
func (u *usage) add(obj jsonw.Value) bool {
	if !obj.IsObject() {
		return false
	}
	if u.first == "" && len(u.merged.List) == 0 && len(obj) <= maxUsage {
		u.first = strings.Clone(string(obj))
		u.text = u.first
	} else {
		u.merge(jsonw.Value(u.first))
		u.merge(obj)
		u.first = ""
	}
	for c := obj.Members(); c.Next(); {
		v := c.Value()
		if v.IsNull() {
			continue
		}
		switch c.Name() {
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
	}
	return true
}

// merge takes the members of one of the vendor's objects.
func (u *usage) merge(obj jsonw.Value) {
	for c := obj.Members(); c.Next(); {
		v := c.Value()
		if v.IsNull() {
			continue
		}
		if u.size+len(v) > maxUsage {
			u.over = max(u.over, 1)
			continue
		}
		m := u.merged.At(c.Name())
		if string(m.Raw) == string(v) {
			continue
		}
		u.size += len(v) - len(m.Raw)
		if m.Raw == nil {
			u.size += len(m.Name) + 4
		}
		m.Raw = append(m.Raw[:0], v...)
		u.text = ""
	}
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
	if u.text == "" {
		u.text = u.merged.Object()
	}
	return &wire.Usage{
		InputTokens:           input,
		UncachedInputTokens:   u.fresh,
		CacheReadTokens:       u.read,
		CacheCreationTokens:   u.created,
		CacheCreation1hTokens: u.created1h,
		OutputTokens:          u.out,
		ReasoningTokens:       u.reasoning,
		Vendor:                u.text,
	}
}

// The names of headers are in the form that http.Header keeps them in, so that
// looking for one costs nothing.
const requestID = "Request-Id"

var rateLimits = [...]head.Limit{
	{"requests", "Anthropic-Ratelimit-Requests-Limit", "Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"},
	{"tokens", "Anthropic-Ratelimit-Tokens-Limit", "Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"},
	{"input-tokens", "Anthropic-Ratelimit-Input-Tokens-Limit", "Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset"},
	{"output-tokens", "Anthropic-Ratelimit-Output-Tokens-Limit", "Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset"},
}
