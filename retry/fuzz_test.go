package retry_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/handwire/handwire/retry"
)

// FuzzNext holds waits and reasons against the settings, in numbers that do not
// overflow.
func FuzzNext(f *testing.F) {
	f.Add(1, 0, int64(0), int64(0), int64(0), int64(0), int64(0), int64(0), 0.5)
	f.Add(2, 3, int64(500*time.Millisecond), int64(8*time.Second), int64(5*time.Minute), int64(time.Minute), int64(time.Minute), int64(time.Second), 0.999)
	f.Add(9999, 10000, int64(1), int64(-1), int64(-1), int64(-1), int64(math.MaxInt64), int64(math.MaxInt64), 0.0)
	f.Add(1, 2, int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MinInt64), 1.0)
	f.Fuzz(func(t *testing.T, attempt, maxAttempts int, base, maxDelay, maxElapsed, maxServerWait, after, elapsed int64, drawn float64) {
		budget := retry.NewBudget(1, 0)
		p := &retry.Policy{
			MaxAttempts: maxAttempts, BaseDelay: time.Duration(base), MaxDelay: time.Duration(maxDelay),
			MaxElapsed: time.Duration(maxElapsed), MaxServerWait: time.Duration(maxServerWait),
			Budget: budget, Rand: func() float64 { return drawn },
		}
		v := retry.Verdict{Retry: true, After: time.Duration(after), Elapsed: time.Duration(elapsed)}
		wait, stop := p.Next(attempt, v)
		if wait < 0 || stop != "" && wait != 0 {
			t.Fatalf("got %v, %q", wait, stop)
		}
		if taken := budget.Tokens() == 0; taken != (stop == "") {
			t.Errorf("stop is %q, and a token was taken: %v", stop, taken)
		}
		limit := func(d int64, usual time.Duration) *big.Int {
			switch {
			case d < 0:
				return big.NewInt(math.MaxInt64)
			case d == 0:
				return big.NewInt(int64(usual))
			}
			return big.NewInt(d)
		}
		least := func(a, b *big.Int) *big.Int {
			if a.Cmp(b) < 0 {
				return a
			}
			return b
		}

		if maxAttempts == 0 {
			maxAttempts = retry.DefaultMaxAttempts
		}
		tooLong := after > 0 && big.NewInt(after).Cmp(limit(maxServerWait, retry.DefaultMaxServerWait)) > 0
		if got := stop == retry.StopAttempts; got != (max(1, attempt) >= maxAttempts) {
			t.Errorf("attempt %d of %d: got %q", attempt, maxAttempts, stop)
		}
		if got := stop == retry.StopServerWait; got != (tooLong && max(1, attempt) < maxAttempts) {
			t.Errorf("a wish of %d where %d is the most: got %q", after, maxServerWait, stop)
		}
		if stop != "" {
			return
		}

		// The most that may be waited, by numbers that do not overflow.
		most := limit(base, retry.DefaultBaseDelay)
		if base < 0 {
			most.SetInt64(0)
		}
		if after > 0 {
			most.Add(most, big.NewInt(after))
		} else {
			if attempt > 1 {
				most.Lsh(most, uint(min(attempt-1, 63)))
			}
			if maxDelay < 0 {
				most.SetInt64(0)
			}
			most = least(most, limit(maxDelay, retry.DefaultMaxDelay))
		}
		if w := big.NewInt(int64(wait)); w.Cmp(most) > 0 || int64(wait) < after {
			t.Errorf("got %d, want %d to %d", wait, after, most)
		}
		if e := limit(maxElapsed, retry.DefaultMaxElapsed); e.Int64() < math.MaxInt64 {
			if end := new(big.Int).Add(big.NewInt(int64(wait)), big.NewInt(max(0, elapsed))); end.Cmp(e) > 0 {
				t.Errorf("the wait ends after %d, want %d at most", end, e)
			}
		}
	})
}
