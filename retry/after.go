package retry

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// dateLayouts are the three forms of a date in HTTP, the preferred one first.
// HTTP knows no zone but GMT.
var dateLayouts = [...]string{
	"Mon, 02 Jan 2006 15:04:05 GMT",
	"Monday, 02-Jan-06 15:04:05 GMT",
	time.ANSIC,
}

// limits are the headers of rate limits that say when a limit is lifted.
var limits = [...]struct{ remaining, reset string }{
	// OpenAI, Azure, Groq, xAI, GitHub: durations.
	{"x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"},
	{"x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"},
	// Cerebras: seconds.
	{"x-ratelimit-remaining-requests-day", "x-ratelimit-reset-requests-day"},
	{"x-ratelimit-remaining-tokens-minute", "x-ratelimit-reset-tokens-minute"},
	// OpenRouter: milliseconds of the epoch. Together: undocumented.
	{"x-ratelimit-remaining", "x-ratelimit-reset"},
	// Anthropic: times of RFC 3339.
	{"anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"},
	{"anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"},
	{"anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"},
	{"anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"},
}

// After returns how long the server wishes to be left alone, from the headers
// of its response; get returns the first value of a header, given by its name
// in lower case, and "" if it is not there. The method Get of an http.Header
// does. The first of these that is there and can be read counts:
//
//   - retry-after-ms, in milliseconds: OpenAI, Azure, and the software kit of
//     Anthropic looks at it first.
//   - retry-after, in seconds, as a delay with units as [ParseDelay] reads it,
//     or as a date in any of HTTP's three forms, measured from now.
//   - the resets of the rate limits of which nothing remains, and of these the
//     longest, since the request needs all of them:
//     x-ratelimit-reset-requests and -tokens of OpenAI, Azure, Groq, xAI and
//     GitHub; x-ratelimit-reset-requests-day and -tokens-minute of Cerebras;
//     x-ratelimit-reset of OpenRouter and Together; and
//     anthropic-ratelimit-*-reset for requests, tokens, input-tokens and
//     output-tokens. The header that stands for "remaining" has to be there
//     and be 0.
//
// Numbers may have a fraction. A reset is a delay as [ParseDelay] reads it, a
// time of RFC 3339, or the time of the epoch, in milliseconds from 1e11 and in
// seconds from 1e9 on: as delays these would be thirty years and more. Of
// Anthropic's priority and fast limits nothing is read.
//
// The duration is never negative: a time in the past is 0. What is too large
// for a [time.Duration] becomes the largest one. The result is false if no
// such header is there or can be read.
func After(get func(name string) string, now time.Time) (time.Duration, bool) {
	if get == nil {
		return 0, false
	}
	if d, ok := number(get("retry-after-ms"), time.Millisecond); ok {
		return d, true
	}
	v := get("retry-after")
	if d, ok := ParseDelay(v); ok {
		return d, true
	}
	for _, layout := range dateLayouts {
		if d, ok := until(layout, v, now); ok {
			return d, true
		}
	}
	var longest time.Duration
	found := false
	for i := range limits {
		if left, ok := number(get(limits[i].remaining), time.Second); !ok || left != 0 {
			continue
		}
		if d, ok := reset(get(limits[i].reset), now); ok {
			longest, found = max(longest, d), true
		}
	}
	return longest, found
}

// reset reads when a limit is lifted.
func reset(s string, now time.Time) (time.Duration, bool) {
	if d, ok := until(time.RFC3339, s, now); ok {
		return d, true
	}
	at, ok := number(s, time.Second)
	if !ok || at < 1e9*time.Second {
		return ParseDelay(s)
	}
	if ms, _ := number(s, time.Millisecond); ms >= 1e11*time.Millisecond {
		at = ms
	}
	if at == math.MaxInt64 {
		return at, true
	}
	return max(0, time.Unix(0, int64(at)).Sub(now)), true
}

// until reads a time and returns how far it is from now.
func until(layout, s string, now time.Time) (time.Duration, bool) {
	t, err := time.Parse(layout, strings.TrimSpace(s))
	if err != nil {
		return 0, false
	}
	return max(0, t.Sub(now)), true // Sub saturates
}

// ParseDelay reads one delay as vendors write it: seconds, such as "7" or "1.5",
// or numbers with units as [time.ParseDuration] reads them, such as "6m0s",
// "20ms" and "34.074824224s". It has no sign. Spaces around it do not count.
//
// What is too large for a [time.Duration] becomes the largest one. The result is
// false if text is anything else.
func ParseDelay(text string) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if d, ok := number(text, time.Second); ok {
		return d, true
	}
	if !delay(text) {
		return 0, false
	}
	d, err := time.ParseDuration(text)
	if err != nil { // the one error left is its range
		return math.MaxInt64, true
	}
	return d, true
}

// delay tells whether s is one or more numbers, each with its unit.
func delay(s string) bool {
	ok := false
	for s != "" {
		rest := strings.TrimLeft(s, "0123456789.")
		if _, ok = number(s[:len(s)-len(rest)], time.Second); !ok {
			return false
		}
		unit := strings.IndexAny(rest, "0123456789.")
		if unit < 0 {
			unit = len(rest)
		}
		switch rest[:unit] {
		case "h", "m", "s", "ms", "us", "µs", "μs", "ns":
		default:
			return false
		}
		s = rest[unit:]
	}
	return ok
}

// number reads a decimal number of units: digits with at most one point among
// or before them, and nothing else.
func number(s string, unit time.Duration) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	whole, fraction, _ := strings.Cut(s, ".")
	if whole+fraction == "" || strings.Trim(whole, "0123456789") != "" || strings.Trim(fraction, "0123456789") != "" {
		return 0, false
	}
	// The one error of either number is its range: too large, and then n is the
	// largest one, or a fraction that is nearly 0, and then it is 0.
	n, _ := strconv.ParseUint("0"+whole, 10, 64)
	f, _ := strconv.ParseFloat("0."+fraction, 64)
	part := time.Duration(math.Round(f * float64(unit)))
	if n > uint64((math.MaxInt64-part)/unit) {
		return math.MaxInt64, true
	}
	return time.Duration(n)*unit + part, true
}
