package retry_test

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handwire/handwire/retry"
)

// drain takes retries until there is none left, and at most limit, and returns
// how many there were.
func drain(p *retry.Policy, limit int) int {
	for n := range limit {
		if _, stop := p.Next(1, retry.Verdict{Retry: true}); stop != "" {
			return n
		}
	}
	return limit
}

func TestNewBudget(t *testing.T) {
	tests := []struct {
		name   string
		tokens int
		refill float64
		full   int // retries of the full budget, up to 1000
		after  int // retries after that and ten successes
	}{
		{"usual", 10, 0.1, 10, 1},
		{"tenths add up", 1, 0.1, 1, 1},
		{"too small a part", 10, 0.0999, 10, 0},
		{"half", 10, 0.5, 10, 5},
		{"more than full", 3, 1, 3, 3},
		{"refill above the size", 3, 100, 3, 3},
		{"infinite refill", 3, math.Inf(1), 3, 3},
		{"largest refill", 3, math.MaxFloat64, 3, 3},
		{"no refill", 3, 0, 3, 0},
		{"negative refill", 3, -1, 3, 0},
		{"refill of minus infinity", 3, math.Inf(-1), 3, 0},
		{"refill is not a number", 3, math.NaN(), 3, 0},
		{"refill below the grain", 3, 1e-12, 3, 0},
		{"no tokens", 0, 1, 0, 0},
		{"negative tokens", -5, math.Inf(1), 0, 0},
		{"most negative tokens", math.MinInt, math.NaN(), 0, 0},
		{"largest size", math.MaxInt, 1, 1000, 1000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := retry.NewBudget(tt.tokens, tt.refill)
			p := &retry.Policy{Budget: b}
			if got := b.Tokens(); got != float64(min(max(0, tt.tokens), 1e9)) {
				t.Errorf("begins with %v tokens", got)
			}
			if got := drain(p, 1000); got != tt.full {
				t.Errorf("full: %d retries, want %d", got, tt.full)
			}
			for range 10 {
				b.Succeeded()
			}
			if got := drain(p, 1000); got != tt.after {
				t.Errorf("after ten successes: %d retries, want %d", got, tt.after)
			}
		})
	}
}

func TestBudgetFull(t *testing.T) {
	b := retry.NewBudget(2, 0.75)
	b.Succeeded()
	if got := b.Tokens(); got != 2 {
		t.Errorf("a success on a full budget: %v tokens", got)
	}
	drain(&retry.Policy{Budget: b}, 1)
	b.Succeeded()
	if got := b.Tokens(); got != 1.75 {
		t.Errorf("refilled in part: %v tokens", got)
	}
	b.Succeeded()
	if got := b.Tokens(); got != 2 {
		t.Errorf("refilled beyond the size: %v tokens", got)
	}
	full := retry.NewBudget(math.MaxInt, math.Inf(1))
	for range 100 {
		full.Succeeded()
	}
	if got := full.Tokens(); got != 1e9 {
		t.Errorf("the largest budget overflows: %v tokens", got)
	}
}

func TestBudgetNil(t *testing.T) {
	var b *retry.Budget
	b.Succeeded()
	if got := b.Tokens(); got != 0 {
		t.Errorf("nil: %v tokens", got)
	}
	if got := drain(&retry.Policy{Budget: b}, 1000); got != 1000 {
		t.Errorf("nil: %d retries", got)
	}
	var zero retry.Budget
	zero.Succeeded()
	if got := drain(&retry.Policy{Budget: &zero}, 1000); got != 0 {
		t.Errorf("zero value: %d retries", got)
	}
}

// TestBudgetLast: what another reason stops takes no token.
func TestBudgetLast(t *testing.T) {
	b := retry.NewBudget(1, 0)
	p := &retry.Policy{Budget: b}
	next(t, p, 1, retry.Verdict{}, 0, retry.StopVerdict)
	next(t, p, 3, retry.Verdict{Retry: true}, 0, retry.StopAttempts)
	next(t, p, 1, retry.Verdict{Retry: true, After: time.Hour}, 0, retry.StopServerWait)
	next(t, p, 1, retry.Verdict{Retry: true, Elapsed: time.Hour}, 0, retry.StopElapsed)
	if got := b.Tokens(); got != 1 {
		t.Errorf("%v tokens left", got)
	}
}

// TestBudgetLoad: in the long run retries are at most the given part of the
// successes.
func TestBudgetLoad(t *testing.T) {
	b := retry.NewBudget(10, 0.1)
	p := &retry.Policy{Budget: b}
	retries := 0
	for range 10000 { // each request fails once, and the next attempt, if there is one, succeeds
		if _, stop := p.Next(1, retry.Verdict{Retry: true}); stop == "" {
			retries++
		}
		b.Succeeded() // that attempt, or another client's
	}
	if retries < 1000 || retries > 1010 {
		t.Errorf("%d retries for 10000 successes", retries)
	}
}

func TestBudgetShared(t *testing.T) {
	const goroutines, each = 64, 500
	b := retry.NewBudget(1000, 0.5)
	run := func(f func(p *retry.Policy)) {
		var wg sync.WaitGroup
		for range goroutines {
			wg.Go(func() {
				p := &retry.Policy{Budget: b}
				for range each {
					f(p)
				}
			})
		}
		wg.Wait()
	}
	var taken atomic.Int64
	take := func(p *retry.Policy) {
		if _, stop := p.Next(1, retry.Verdict{Retry: true}); stop == "" {
			taken.Add(1)
		}
		if n := b.Tokens(); n < 0 || n > 1000 {
			t.Errorf("%v tokens", n)
		}
	}
	run(take)
	if n := taken.Load(); n != 1000 {
		t.Errorf("%d retries of 1000 tokens", n)
	}
	run(func(*retry.Policy) { b.Succeeded() })
	if n := b.Tokens(); n != 1000 {
		t.Errorf("refilled to %v tokens", n)
	}
	taken.Store(0)
	run(func(p *retry.Policy) { take(p); b.Succeeded() })
	if n := taken.Load(); n < 1000 || n > 1000+goroutines*each/2 {
		t.Errorf("%d retries while successes came", n)
	}
}
