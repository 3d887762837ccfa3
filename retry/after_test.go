package retry_test

import (
	"math"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/handwire/handwire/retry"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// headers is a response head of name: value lines.
func headers(lines ...string) func(string) string {
	h := make(http.Header)
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ": ")
		h.Add(name, value)
	}
	return h.Get
}

func check(t *testing.T, get func(string) string, want time.Duration, ok bool) {
	t.Helper()
	got, gotOK := retry.After(get, noon)
	if got != want || gotOK != ok {
		t.Errorf("After: got %v, %v, want %v, %v", got, gotOK, want, ok)
	}
}

func TestAfter(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  time.Duration
		ok    bool
	}{
		{"none", nil, 0, false},
		{"empty", []string{"Retry-After: "}, 0, false},
		{"zero", []string{"Retry-After: 0"}, 0, true},
		{"spaces", []string{"Retry-After:  3 "}, 3 * time.Second, true},
		{"fraction alone", []string{"Retry-After: .5"}, time.Second / 2, true},
		{"point at the end", []string{"Retry-After: 4."}, 4 * time.Second, true},
		{"exact tenths", []string{"Retry-After: 1.1"}, 1100 * time.Millisecond, true},
		{"part of a millisecond", []string{"retry-after-ms: 0.25"}, 250 * time.Microsecond, true},
		{"zero milliseconds win", []string{"Retry-After: 9", "retry-after-ms: 0"}, 0, true},
		{"milliseconds unreadable", []string{"Retry-After: 9", "retry-after-ms: soon"}, 9 * time.Second, true},
		{"milliseconds too large", []string{"retry-after-ms: 9300000000000"}, math.MaxInt64, true},
		{"just below the largest", []string{"Retry-After: 9223372036"}, 9223372036 * time.Second, true},
		{"four hundred digits", []string{"Retry-After: " + strings.Repeat("9", 400)}, math.MaxInt64, true},
		{"past date", []string{"Retry-After: Mon, 30 Nov 2026 11:59:00 GMT"}, 0, true},
		{"far date", []string{"Retry-After: Fri, 31 Dec 9999 23:59:59 GMT"}, math.MaxInt64, true},
		{"other zone", []string{"Retry-After: Mon, 30 Nov 2026 12:00:07 PST"}, 0, false},
		{"negative", []string{"Retry-After: -5"}, 0, false},
		{"plus", []string{"Retry-After: +5"}, 0, false},
		{"infinite", []string{"Retry-After: Inf"}, 0, false},
		{"not a number", []string{"Retry-After: NaN"}, 0, false},
		{"hexadecimal", []string{"Retry-After: 0x10"}, 0, false},
		{"exponent", []string{"Retry-After: 1e3"}, 0, false},
		{"underscore", []string{"Retry-After: 1_000"}, 0, false},
		{"two points", []string{"Retry-After: 1.2.3"}, 0, false},
		{"point alone", []string{"Retry-After: ."}, 0, false},
		{"list", []string{"Retry-After: 5, 10"}, 0, false},
		{"words", []string{"Retry-After: a minute"}, 0, false},
		{"every digit", []string{"Retry-After: 9000000000.000000001"}, 9000000000*time.Second + 1, true},
		{"fraction that is a whole", []string{"Retry-After: 1.9999999999"}, 2 * time.Second, true},
		{"fraction over the largest", []string{"Retry-After: 9223372036.9"}, math.MaxInt64, true},
		{"long fraction", []string{"Retry-After: 0." + strings.Repeat("0", 400) + "1"}, 0, true},
		{"leading zeros", []string{"Retry-After: " + strings.Repeat("0", 400) + "7"}, 7 * time.Second, true},
		{"units", []string{"Retry-After: 1m30s"}, 90 * time.Second, true},
		{"sign and unit", []string{"Retry-After: -7s"}, 0, false},
		{"date with spaces", []string{"Retry-After:  Mon, 30 Nov 2026 12:00:07 GMT "}, 7 * time.Second, true},

		{"requests", []string{"x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 20ms"}, 20 * time.Millisecond, true},
		{"tokens", []string{"x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 6m0s"}, 6 * time.Minute, true},
		{"the longer of both", []string{"x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 1.5s", "x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 120ms"}, 1500 * time.Millisecond, true},
		{"not of what remains", []string{"x-ratelimit-remaining-requests: 14399", "x-ratelimit-reset-requests: 23h", "x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 2m59.5s"}, 179500 * time.Millisecond, true},
		{"something remains", []string{"x-ratelimit-remaining-requests: 1", "x-ratelimit-reset-requests: 1s"}, 0, false},
		{"unknown what remains", []string{"x-ratelimit-reset-requests: 1s"}, 0, false},
		{"unreadable what remains", []string{"x-ratelimit-remaining-requests: none", "x-ratelimit-reset-requests: 1s"}, 0, false},
		{"no reset", []string{"x-ratelimit-remaining-requests: 0"}, 0, false},
		{"unreadable reset", []string{"x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: soon", "x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 3s"}, 3 * time.Second, true},
		{"by the day", []string{"x-ratelimit-remaining-requests-day: 0", "x-ratelimit-reset-requests-day: 33011.38"}, 33011380 * time.Millisecond, true},
		{"by the minute", []string{"x-ratelimit-remaining-tokens-minute: 0", "x-ratelimit-reset-tokens-minute: 11.5"}, 11500 * time.Millisecond, true},
		{"epoch milliseconds", []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1796040005250"}, 5250 * time.Millisecond, true},
		{"epoch milliseconds in the past", []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1796039999000"}, 0, true},
		{"epoch seconds", []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1796040009"}, 9 * time.Second, true},
		{"seconds just below the epoch's", []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 999999999"}, 999999999 * time.Second, true},
		{"first second of the epoch's", []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1000000000"}, 0, true},
		{"first millisecond of the epoch's", []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 100000000000"}, 0, true},
		{"reset too large", []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 99999999999999999999"}, math.MaxInt64, true},
		{"anthropic requests", []string{"anthropic-ratelimit-requests-remaining: 0", "anthropic-ratelimit-requests-reset: 2026-11-30T12:00:21Z"}, 21 * time.Second, true},
		{"anthropic tokens", []string{"anthropic-ratelimit-tokens-remaining: 0", "anthropic-ratelimit-tokens-reset: 2026-11-30T12:00:22.5Z"}, 22500 * time.Millisecond, true},
		{"anthropic input", []string{"anthropic-ratelimit-input-tokens-remaining: 0", "anthropic-ratelimit-input-tokens-reset: 2026-11-30T13:00:23+01:00"}, 23 * time.Second, true},
		{"anthropic output", []string{"anthropic-ratelimit-output-tokens-remaining: 0", "anthropic-ratelimit-output-tokens-reset: 2026-11-30T12:00:24Z"}, 24 * time.Second, true},
		{"anthropic, the longest", []string{"anthropic-ratelimit-requests-remaining: 49", "anthropic-ratelimit-requests-reset: 2026-11-30T12:59:00Z",
			"anthropic-ratelimit-tokens-remaining: 0", "anthropic-ratelimit-tokens-reset: 2026-11-30T12:00:40Z",
			"anthropic-ratelimit-output-tokens-remaining: 0", "anthropic-ratelimit-output-tokens-reset: 2026-11-30T12:00:30Z"}, 40 * time.Second, true},
		{"anthropic, past", []string{"anthropic-ratelimit-requests-remaining: 0", "anthropic-ratelimit-requests-reset: 2026-11-30T11:59:59Z"}, 0, true},
		{"priority limits are not read", []string{"anthropic-priority-input-tokens-remaining: 0", "anthropic-priority-input-tokens-reset: 2026-11-30T12:00:24Z"}, 0, false},
		{"retry-after before the limits", []string{"Retry-After: 2", "x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 6m0s"}, 2 * time.Second, true},
		{"limits after an unreadable retry-after", []string{"Retry-After: soon", "x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 6s"}, 6 * time.Second, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, headers(tt.lines...), tt.want, tt.ok) })
	}
	if d, ok := retry.After(nil, noon); d != 0 || ok {
		t.Errorf("After(nil): got %v, %v", d, ok)
	}
}

func TestParseDelay(t *testing.T) {
	tests := []struct {
		text string
		want time.Duration
		ok   bool
	}{
		{"6m0s", 6 * time.Minute, true},
		{"20ms", 20 * time.Millisecond, true},
		{"1.5s", 1500 * time.Millisecond, true},
		{"2m59.5s", 179500 * time.Millisecond, true},
		{"34.074824224s", 34074824224, true},
		{"7", 7 * time.Second, true},
		{"7.25", 7250 * time.Millisecond, true},
		{" 7s ", 7 * time.Second, true},
		{"0", 0, true},
		{"0s", 0, true},
		{"1h2m3s", time.Hour + 2*time.Minute + 3*time.Second, true},
		{"5us", 5 * time.Microsecond, true},
		{"5µs", 5 * time.Microsecond, true},
		{"5μs", 5 * time.Microsecond, true},
		{"5ns", 5, true},
		{".5s", time.Second / 2, true},
		{"1.s", time.Second, true},
		{"9223372036854775807ns", math.MaxInt64, true},
		{"9223372036854775808ns", math.MaxInt64, true},
		{"2562048h", math.MaxInt64, true},
		{"2562047h47m16s854ms775us808ns", math.MaxInt64, true},
		{"99999999999999999999s", math.MaxInt64, true},
		{"9300000000", math.MaxInt64, true},
		{"", 0, false},
		{" ", 0, false},
		{"-7", 0, false},
		{"-7s", 0, false},
		{"+7s", 0, false},
		{"7s-", 0, false},
		{"7 s", 0, false},
		{"s", 0, false},
		{".", 0, false},
		{".s", 0, false},
		{"1.2.3s", 0, false},
		{"1m30", 0, false},
		{"1d", 0, false},
		{"1S", 0, false},
		{"1e3s", 0, false},
		{"Inf", 0, false},
		{"NaN", 0, false},
		{"٧s", 0, false},
		{"1\xffs", 0, false},
	}
	for _, tt := range tests {
		if got, ok := retry.ParseDelay(tt.text); got != tt.want || ok != tt.ok {
			t.Errorf("ParseDelay(%q): got %v, %v, want %v, %v", tt.text, got, ok, tt.want, tt.ok)
		}
	}
}

func FuzzAfter(f *testing.F) {
	f.Add("350", "2", "", "")
	f.Add("", "Mon, 30 Nov 2026 12:00:07 GMT", "", "")
	f.Add("1.5", "99999999999999999999", "", "")
	f.Add("", "", "0", "6m0s")
	f.Add("", "", "0", "1796040005250")
	f.Add("", "", "0.0", "2026-11-30T12:00:21Z")
	f.Fuzz(func(t *testing.T, ms, s, left, reset string) {
		get := func(name string) string {
			switch name {
			case "retry-after-ms":
				return ms
			case "retry-after":
				return s
			case "x-ratelimit-remaining":
				return left
			case "x-ratelimit-reset":
				return reset
			}
			if name != strings.ToLower(name) {
				t.Errorf("After asks for %q", name)
			}
			return ""
		}
		d, ok := retry.After(get, noon)
		if d < 0 || !ok && d != 0 {
			t.Errorf("After(%q, %q, %q, %q): got %v, %v", ms, s, left, reset, d, ok)
		}
		if at, err := http.ParseTime(s); err == nil && ms == "" && strings.HasSuffix(s, "GMT") && (!ok || d != max(0, at.Sub(noon))) {
			t.Errorf("After(retry-after %q): got %v, %v, want %v", s, d, ok, at.Sub(noon))
		}
	})
}

// FuzzParseDelay holds ParseDelay against the exact value of plain numbers, and
// against time.ParseDuration of those with units.
func FuzzParseDelay(f *testing.F) {
	for _, s := range []string{"6m0s", "20ms", "1.5s", "34.074824224s", "7", "9300000000", "9223372036854775808ns", "-1s", "1h1h", " 3 ", "µs"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := retry.ParseDelay(text)
		if d < 0 || !ok && d != 0 {
			t.Fatalf("ParseDelay(%q): got %v, %v", text, d, ok)
		}
		s := strings.TrimSpace(text)
		if r, isNumber := new(big.Rat).SetString(s); isNumber && s != "" && len(s) < 300 && strings.Trim(s, "0123456789.") == "" {
			want := new(big.Rat).Mul(r, big.NewRat(int64(time.Second), 1))
			if !ok {
				t.Fatalf("ParseDelay(%q): false", text)
			}
			off, _ := new(big.Rat).Sub(new(big.Rat).SetInt64(int64(d)), want).Float64()
			if math.Abs(off) > 0.500001 && (d != math.MaxInt64 || off > 0) {
				t.Fatalf("ParseDelay(%q): got %d, off by %v", text, d, off)
			}
			return
		}
		want, err := time.ParseDuration(s)
		switch signed := strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+"); {
		case err == nil && !signed && (!ok || d != want):
			t.Fatalf("ParseDelay(%q): got %v, %v, want %v", text, d, ok, want)
		case err != nil && ok && d != math.MaxInt64, signed && ok:
			t.Fatalf("ParseDelay(%q): got %v, want none", text, d)
		}
	})
}
