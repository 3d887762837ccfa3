package retry_test

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/handwire/handwire/retry"
)

func TestFaults(t *testing.T) {
	t.Run("F87 Retry-After as a date", func(t *testing.T) {
		for _, v := range []string{
			"Mon, 30 Nov 2026 12:00:07 GMT",
			"Monday, 30-Nov-26 12:00:07 GMT",
			"Mon Nov 30 12:00:07 2026",
		} {
			check(t, headers("Retry-After: "+v), 7*time.Second, true)
		}
	})
	t.Run("F88 seconds, milliseconds, fractions", func(t *testing.T) {
		check(t, headers("Retry-After: 2"), 2*time.Second, true)
		check(t, headers("Retry-After: 2", "retry-after-ms: 350"), 350*time.Millisecond, true)
		check(t, headers("Retry-After: 1.5"), 1500*time.Millisecond, true)
	})
	t.Run("F89 huge Retry-After", func(t *testing.T) {
		var p retry.Policy
		for s, want := range map[string]time.Duration{
			"86400":                24 * time.Hour,
			"9300000000":           math.MaxInt64,
			"99999999999999999999": math.MaxInt64,
		} {
			check(t, headers("Retry-After: "+s), want, true)
			next(t, &p, 1, retry.Verdict{Retry: true, After: want}, 0, retry.StopServerWait)
		}
		wish, _ := retry.After(headers("Retry-After: 60"), noon)
		if wait, stop := p.Next(1, retry.Verdict{Retry: true, After: wish}); wait < time.Minute || stop != "" {
			t.Errorf("60 s are not waited for: %v, %q", wait, stop)
		}
	})
	t.Run("F91 insufficient_quota", func(t *testing.T) {
		get := headers("Retry-After: 1")
		if !retry.Status(429, get) {
			t.Error("a plain 429 is not retried")
		}
		// The body told the caller that it is a quota.
		wish, _ := retry.After(get, noon)
		next(t, nil, 1, retry.Verdict{Retry: false, After: wish}, 0, retry.StopVerdict)
		if retry.Status(429, headers("Retry-After: 1", "X-Should-Retry: false")) {
			t.Error("a 429 is retried against the word of the server")
		}
	})
	t.Run("F101 retrying what cannot get better", func(t *testing.T) {
		for code, want := range map[int]bool{
			400: false, 401: false, 402: false, 403: false, 404: false, 409: false, 413: false, 422: false, 501: false,
			408: true, 429: true, 500: true, 502: true, 503: true, 504: true, 529: true,
		} {
			t.Run(strconv.Itoa(code), func(t *testing.T) {
				ok := retry.Status(code, headers())
				if ok != want {
					t.Errorf("Status: got %v", ok)
				}
				if _, stop := (*retry.Policy)(nil).Next(1, retry.Verdict{Retry: ok}); stop == "" != want {
					t.Errorf("Next: got %q", stop)
				}
			})
		}
		if !retry.Status(409, headers("X-Should-Retry: true")) {
			t.Error("a 409 that the vendor would have retried is not")
		}
	})
}
