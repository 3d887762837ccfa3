package retry_test

import (
	"math"
	"testing"
	"time"

	"github.com/handwire/handwire/retry"
)

// always is a Rand that returns f.
func always(f float64) func() float64 { return func() float64 { return f } }

// next checks one answer of a policy.
func next(t *testing.T, p *retry.Policy, attempt int, v retry.Verdict, wait time.Duration, stop retry.Stop) {
	t.Helper()
	gotWait, gotStop := p.Next(attempt, v)
	if gotWait != wait || gotStop != stop {
		t.Errorf("Next(%d, %+v): got %v, %q, want %v, %q", attempt, v, gotWait, gotStop, wait, stop)
	}
}

const (
	ms     = time.Millisecond
	second = time.Second
	minute = time.Minute
	most   = time.Duration(math.MaxInt64)
)

func TestNext(t *testing.T) {
	again := retry.Verdict{Retry: true}
	wish := func(d time.Duration) retry.Verdict { return retry.Verdict{Retry: true, After: d} }
	elapsed := func(d time.Duration) retry.Verdict { return retry.Verdict{Retry: true, Elapsed: d} }
	tests := []struct {
		name    string
		p       retry.Policy // with a Rand of 1/2 if it has none
		attempt int
		v       retry.Verdict
		wait    time.Duration
		stop    retry.Stop
	}{
		{"default base", retry.Policy{}, 1, again, 250 * ms, ""},
		{"second attempt", retry.Policy{}, 2, again, 500 * ms, ""},
		{"default attempts", retry.Policy{}, 3, again, 0, retry.StopAttempts},
		{"far beyond the attempts", retry.Policy{}, math.MaxInt, again, 0, retry.StopAttempts},
		{"no attempt counts as one", retry.Policy{}, 0, again, 250 * ms, ""},
		{"negative attempt", retry.Policy{}, math.MinInt, again, 250 * ms, ""},
		{"below the default cap", retry.Policy{MaxAttempts: 9}, 4, again, 2 * second, ""},
		{"at the default cap", retry.Policy{MaxAttempts: 9}, 5, again, 4 * second, ""},
		{"above the default cap", retry.Policy{MaxAttempts: 9}, 6, again, 4 * second, ""},
		{"cap that is no power", retry.Policy{MaxAttempts: 9, BaseDelay: second, MaxDelay: 3 * second}, 3, again, 1500 * ms, ""},
		{"cap below the base", retry.Policy{BaseDelay: 10 * second, MaxDelay: second}, 1, again, 500 * ms, ""},
		{"largest cap", retry.Policy{MaxAttempts: 99, MaxDelay: most, MaxElapsed: -1}, 98, again, 1 << 62, ""},
		{"largest cap, smallest base", retry.Policy{MaxAttempts: 99, BaseDelay: 2, MaxDelay: most, MaxElapsed: -1}, 63, again, 1 << 62, ""},
		{"own base", retry.Policy{BaseDelay: 2 * second}, 1, again, second, ""},
		{"negative base", retry.Policy{BaseDelay: -1, MaxAttempts: 99}, 90, again, 0, ""},
		{"negative base with a wish", retry.Policy{BaseDelay: -1}, 1, wish(second), second, ""},
		{"negative cap", retry.Policy{MaxDelay: -1}, 1, again, 0, ""},

		{"verdict", retry.Policy{}, 1, retry.Verdict{}, 0, retry.StopVerdict},
		{"verdict before attempts", retry.Policy{}, 3, retry.Verdict{After: time.Hour}, 0, retry.StopVerdict},
		{"attempts before the wish", retry.Policy{}, 3, wish(time.Hour), 0, retry.StopAttempts},
		{"wish before the time", retry.Policy{}, 1, retry.Verdict{Retry: true, After: time.Hour, Elapsed: time.Hour}, 0, retry.StopServerWait},
		{"one attempt", retry.Policy{MaxAttempts: 1}, 1, again, 0, retry.StopAttempts},
		{"one attempt, none counted", retry.Policy{MaxAttempts: 1}, 0, again, 0, retry.StopAttempts},
		{"negative attempts", retry.Policy{MaxAttempts: -1}, 1, again, 0, retry.StopAttempts},
		{"many attempts", retry.Policy{MaxAttempts: 9}, 8, again, 4 * second, ""},

		{"wish", retry.Policy{}, 1, wish(7 * second), 7250 * ms, ""},
		{"jitter of a wish does not grow", retry.Policy{}, 2, wish(7 * second), 7250 * ms, ""},
		{"wish below the own wait", retry.Policy{}, 2, wish(ms), 251 * ms, ""},
		{"wish above the own cap", retry.Policy{}, 1, wish(20 * second), 20250 * ms, ""},
		{"negative wish", retry.Policy{}, 1, wish(-7 * second), 250 * ms, ""},
		{"longest wish", retry.Policy{}, 1, wish(minute), 60250 * ms, ""},
		{"too long a wish", retry.Policy{}, 1, wish(minute + 1), 0, retry.StopServerWait},
		{"own longest wish", retry.Policy{MaxServerWait: second}, 1, wish(second), 1250 * ms, ""},
		{"too long for one's own", retry.Policy{MaxServerWait: second}, 1, wish(second + 1), 0, retry.StopServerWait},
		{"any wish", retry.Policy{MaxServerWait: -1, MaxElapsed: -1}, 1, wish(24 * time.Hour), 24*time.Hour + 250*ms, ""},
		{"largest wish", retry.Policy{MaxServerWait: -1, MaxElapsed: -1}, 1, wish(most), most, ""},
		{"largest wish against the time", retry.Policy{MaxServerWait: -1}, 1, wish(most), 0, retry.StopElapsed},
		{"largest of everything", retry.Policy{MaxServerWait: -1, MaxElapsed: most}, 1, retry.Verdict{Retry: true, After: most, Elapsed: most}, most, ""},

		{"just in time", retry.Policy{}, 1, elapsed(5*minute - 250*ms), 250 * ms, ""},
		{"too late", retry.Policy{}, 1, elapsed(5*minute - 250*ms + 1), 0, retry.StopElapsed},
		{"too late for a wish", retry.Policy{}, 1, retry.Verdict{Retry: true, After: minute, Elapsed: 4 * minute}, 0, retry.StopElapsed},
		{"own time", retry.Policy{MaxElapsed: second}, 1, elapsed(751 * ms), 0, retry.StopElapsed},
		{"largest time gone by", retry.Policy{}, 1, elapsed(most), 0, retry.StopElapsed},
		{"no bound of time", retry.Policy{MaxElapsed: -1}, 1, elapsed(most), 250 * ms, ""},
		{"clock that went back", retry.Policy{MaxElapsed: 250 * ms}, 1, elapsed(-time.Hour), 250 * ms, ""},

		{"budget", retry.Policy{Budget: retry.NewBudget(1, 0)}, 1, again, 250 * ms, ""},
		{"no budget left", retry.Policy{Budget: retry.NewBudget(0, 1)}, 1, again, 0, retry.StopBudget},

		{"no jitter", retry.Policy{Rand: always(0)}, 1, again, 0, ""},
		{"no jitter on a wish", retry.Policy{Rand: always(0)}, 1, wish(second), second, ""},
		{"almost all", retry.Policy{Rand: always(math.Nextafter(1, 0))}, 1, again, 499999999, ""},
		{"Rand too large", retry.Policy{Rand: always(7)}, 1, again, 500 * ms, ""},
		{"Rand infinite", retry.Policy{Rand: always(math.Inf(1))}, 1, wish(second), 1500 * ms, ""},
		{"Rand negative", retry.Policy{Rand: always(-1)}, 1, again, 0, ""},
		{"Rand is not a number", retry.Policy{Rand: always(math.NaN())}, 1, again, 0, ""},
		{"almost all of the largest", retry.Policy{MaxAttempts: 99, MaxDelay: most, MaxElapsed: -1, Rand: always(math.Nextafter(1, 0))}, 98, again, most - 1023, ""},
		{"all of the largest", retry.Policy{MaxAttempts: 99, MaxDelay: most, MaxElapsed: -1, Rand: always(1)}, 98, again, most, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.p.Rand == nil {
				tt.p.Rand = always(0.5)
			}
			next(t, &tt.p, tt.attempt, tt.v, tt.wait, tt.stop)
		})
	}
}

// TestNextNil: a nil policy has the defaults of the zero one, and the generator
// that both then use stays within the bounds.
func TestNextNil(t *testing.T) {
	for _, p := range []*retry.Policy{nil, {}} {
		var sum time.Duration
		for range 1000 {
			wait, stop := p.Next(2, retry.Verdict{Retry: true})
			if wait < 0 || wait > second || stop != "" {
				t.Fatalf("Next: got %v, %q", wait, stop)
			}
			sum += wait
			wait, stop = p.Next(1, retry.Verdict{Retry: true, After: minute})
			if wait < minute || wait > minute+500*ms || stop != "" {
				t.Fatalf("Next with a wish: got %v, %q", wait, stop)
			}
		}
		if sum == 0 {
			t.Error("a thousand waits of 0")
		}
		next(t, p, 3, retry.Verdict{Retry: true}, 0, retry.StopAttempts)
		next(t, p, 1, retry.Verdict{Retry: true, After: minute + 1}, 0, retry.StopServerWait)
		next(t, p, 1, retry.Verdict{Retry: true, Elapsed: 5*minute + 1}, 0, retry.StopElapsed)
	}
}

// TestNextBounds: for attempts up to 10000, and every one of the first 200, the wait is what the
// formula says, which is worked out here with numbers that do not overflow.
func TestNextBounds(t *testing.T) {
	for _, cap := range []time.Duration{1, 333 * ms, 8 * second, most} {
		for _, base := range []time.Duration{1, 500 * ms, time.Hour, most} {
			for _, f := range []float64{0, 0.25, 1} {
				p := retry.Policy{MaxAttempts: math.MaxInt, BaseDelay: base, MaxDelay: cap, MaxElapsed: -1, Rand: always(f)}
				var before time.Duration
				for attempt := 1; attempt <= 10000; attempt += 1 + attempt/200 {
					wait, stop := p.Next(attempt, retry.Verdict{Retry: true})
					bound := min(float64(cap), float64(base)*math.Pow(2, float64(attempt-1)))
					if stop != "" || wait < before || wait > cap || math.Abs(float64(wait)-f*bound) > 1+bound/(1<<40) {
						t.Fatalf("base %v, cap %v, Rand %v, attempt %d: got %v, %q", base, cap, f, attempt, wait, stop)
					}
					before = wait
				}
			}
		}
	}
}

// TestNextRepeats: the waits are a function of Rand.
func TestNextRepeats(t *testing.T) {
	run := func() (waits []time.Duration) {
		n := 0
		p := retry.Policy{MaxAttempts: 9, Rand: func() float64 { n++; return float64(n) / 10 }}
		for attempt := 1; ; attempt++ {
			wait, stop := p.Next(attempt, retry.Verdict{Retry: true})
			if stop != "" {
				return waits
			}
			waits = append(waits, wait)
		}
	}
	a, b := run(), run()
	if len(a) != 8 || a[0] != 50*ms || a[7] != 6400*ms {
		t.Errorf("waits: %v", a)
	}
	for i := range a {
		if a[i] != b[i] {
			t.Errorf("wait %d: %v, then %v", i, a[i], b[i])
		}
	}
}

func TestStopDetail(t *testing.T) {
	seen := map[string]retry.Stop{}
	for _, s := range []retry.Stop{"", retry.StopVerdict, retry.StopAttempts, retry.StopServerWait, retry.StopElapsed, retry.StopBudget} {
		d := s.Detail()
		if other, ok := seen[d]; ok {
			t.Errorf("%q and %q both say %q", s, other, d)
		}
		if (d == "") != (s == "") || s != "" && d == string(s) {
			t.Errorf("%q says %q", s, d)
		}
		seen[d] = s
	}
	if d := retry.Stop("weather").Detail(); d != "weather" {
		t.Errorf("unknown: %q", d)
	}
}
