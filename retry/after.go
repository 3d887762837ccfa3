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

// limits are the headers that tell of rate limits: what is left, and when it is
// full again.
var limits = [...]struct{ remaining, reset string }{
	{"x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"}, // OpenAI, Azure, Groq: durations
	{"x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"},
	{"x-ratelimit-remaining-requests-day", "x-ratelimit-reset-requests-day"}, // Cerebras: seconds
	{"x-ratelimit-remaining-tokens-minute", "x-ratelimit-reset-tokens-minute"},
	{"x-ratelimit-remaining", "x-ratelimit-reset"},                                   // OpenRouter: a time in milliseconds; Together
	{"anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"}, // RFC 3339 times
	{"anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"},
	{"anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"},
	{"anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"},
}

// After returns how long the server wishes to be left alone, from the headers
// of its response; get returns the first value of a header, given by its name
// in lower case, and "" if it is not there. The first of these that can be read
// counts:
//
//   - retry-after-ms, in milliseconds;
//   - retry-after, in seconds or as a date in any of HTTP's three forms,
//     measured from now;
//   - the reset of a rate limit of which nothing remains, the longest if there
//     are several: of OpenAI's x-ratelimit family, which other servers have
//     too, and of Anthropic's.
//
// Numbers may have a fraction. The duration is never negative: a date in the past
// is 0. What is too large for a [time.Duration] becomes the largest one. The
// result is false if there is no such header, or none that can be read.
func After(get func(name string) string, now time.Time) (time.Duration, bool) {
	if get == nil {
		return 0, false
	}
	if d, ok := number(get("retry-after-ms"), time.Millisecond); ok {
		return d, true
	}
	v := strings.TrimSpace(get("retry-after"))
	if d, ok := number(v, time.Second); ok {
		return d, true
	}
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, v); err == nil {
			return until(t, now), true
		}
	}
	var longest time.Duration
	found := false
	for _, l := range limits {
		if left, ok := number(get(l.remaining), 1); !ok || left > 0 {
			continue
		}
		if d, ok := reset(get(l.reset), now); ok {
			longest, found = max(longest, d), true
		}
	}
	return longest, found
}

// until returns how long it is from now to t, 0 if t has passed.
func until(t, now time.Time) time.Duration { return max(0, t.Sub(now)) } // Sub saturates

// epochMillis is a number above which a reset is a time and no duration: as
// seconds it would be 3,000 years.
const epochMillis = 1e11

// reset reads when a limit is full again: a duration, seconds, a time in
// milliseconds since 1970, or a time in the form of RFC 3339.
func reset(s string, now time.Time) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if ms, ok := number(s, 1); ok && ms > epochMillis && ms < math.MaxInt64 {
		return until(time.UnixMilli(int64(ms)), now), true
	}
	if d, ok := ParseDelay(s); ok {
		return d, true
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return until(t, now), true
	}
	return 0, false
}

// ParseDelay reads a delay as vendors write them: 6m0s, 20ms, 34.4s, or a number
// of seconds, which may have a fraction. It is never negative; what is too large
// for a [time.Duration] becomes the largest one.
func ParseDelay(s string) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if d, ok := number(s, time.Second); ok {
		return d, true
	}
	if whole, ok := strings.CutSuffix(s, "s"); ok {
		if d, ok := number(whole, time.Second); ok { // also one that is too large
			return d, true
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") {
		return 0, false
	}
	return d, true
}

// number reads a decimal number of units: digits with at most one point among
// or before them, and nothing else.
func number(s string, unit time.Duration) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	whole, fraction, _ := strings.Cut(s, ".")
	if whole+fraction == "" || strings.Trim(whole, "0123456789") != "" || strings.Trim(fraction, "0123456789") != "" {
		return 0, false
	}
	f, _ := strconv.ParseFloat(s, 64) // the one error left is its range, and then f is infinite
	if f = math.Round(f * float64(unit)); f >= math.MaxInt64 {
		return math.MaxInt64, true
	}
	return time.Duration(f), true
}
