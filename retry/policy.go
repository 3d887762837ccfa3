package retry

import (
	"math"
	"math/rand/v2"
	"time"
)

// The defaults of [Policy].
const (
	DefaultMaxAttempts   = 3
	DefaultBaseDelay     = 500 * time.Millisecond
	DefaultMaxDelay      = 8 * time.Second
	DefaultMaxElapsed    = 5 * time.Minute
	DefaultMaxServerWait = time.Minute
)

// Policy says how often and how long to try. The zero value and a nil Policy
// are the defaults:
//
//   - Three attempts, that is two more than one. The software kits of Anthropic
//     and OpenAI do the same; a fault that outlasts two retries is seldom over
//     before the user would rather know of it.
//   - Waits of up to 500 ms, then up to 1 s, doubling up to 8 s, which is the
//     schedule of the same kits. The jitter is full: each wait is anything
//     between nothing and its bound, so that clients that failed at one instant
//     do not come back at one instant.
//   - Five minutes for attempts and waits together, since an attempt at a long
//     answer may itself take minutes.
//   - A server that asks for more than 60 s is not waited for. Limits that count
//     by the minute are over by then; what takes longer, such as a limit by the
//     day, is for the caller to decide on and not for a silent sleep.
//   - No budget.
//
// What is retried, is the caller's to say, in [Verdict]. The defaults are meant
// for connection errors before any response, and for the statuses that [Status]
// names: 408, 429 that is not an exhausted quota, 500, 502, 503, 504, 529 and
// its like, and 409 where the vendor says so. They have in common that the same
// request may well succeed a moment later. Requests that are wrong (400, 404,
// 413, 422), keys (401, 403) and accounts (402) do not get better by repeating.
//
// A Policy is only read, so that any number of goroutines may use one at the same
// time, if its Rand allows that.
type Policy struct {
	// MaxAttempts is how many attempts there are in all, the first included.
	// 0 stands for 3; 1 and negative numbers for no retry.
	MaxAttempts int
	// BaseDelay bounds the first wait, and the bound doubles with each attempt.
	// 0 stands for 500 ms; negative for no wait of one's own.
	BaseDelay time.Duration
	// MaxDelay is where the doubling ends. It bounds one's own waits and not what
	// the server wishes. 0 stands for 8 s; negative for no wait of one's own.
	MaxDelay time.Duration
	// MaxElapsed is the time for all attempts and waits together. A wait that
	// would end after it is not begun. An attempt that runs is not bounded by
	// it. 0 stands for 5 minutes; negative for no bound.
	MaxElapsed time.Duration
	// MaxServerWait is the longest wish of a server that is waited for; itself it
	// is waited for. A longer wish ends the attempts at once. 0 stands for 60 s;
	// negative for any wish.
	MaxServerWait time.Duration
	// Budget is asked before each retry. It may be shared by many policies, and
	// nil is none.
	Budget *Budget
	// Rand returns numbers from 0 up to, but not including, 1. nil stands for the
	// generator of math/rand/v2; a function of one's own makes the waits
	// repeatable. Numbers outside are taken as the nearer end, NaN as 0.
	Rand func() float64
}

// Verdict is what one failed attempt tells.
type Verdict struct {
	// Retry is whether another attempt can help at all.
	Retry bool
	// After is the wish of the server, as [After] reads it. 0 and less stand for
	// none: a server that asks for no wait gets the ordinary one.
	After time.Duration
	// Elapsed is the time since the first attempt began.
	Elapsed time.Duration
}

// Stop says why there is no further attempt. The empty Stop says that there is
// one.
type Stop string

// The reasons to stop, in the order in which they are looked at.
const (
	StopVerdict    Stop = "verdict"     // another attempt cannot help
	StopAttempts   Stop = "attempts"    // Policy.MaxAttempts were made
	StopServerWait Stop = "server_wait" // the server asks for more than Policy.MaxServerWait
	StopElapsed    Stop = "elapsed"     // the wait would end after Policy.MaxElapsed
	StopBudget     Stop = "budget"      // Policy.Budget has nothing left
)

// Detail returns what s means in words that can stand within a sentence, "" for
// the empty Stop.
func (s Stop) Detail() string {
	switch s {
	case StopVerdict:
		return "another attempt would not help"
	case StopAttempts:
		return "all attempts were made"
	case StopServerWait:
		return "the server asks for a longer wait than is waited for"
	case StopElapsed:
		return "the time for all attempts would be over before the next one"
	case StopBudget:
		return "the shared budget for retries is used up"
	}
	return string(s)
}

// Next returns how long to wait before the next attempt, or why there is none;
// the wait is then 0. attempt is how many attempts were made, so that the first
// call is with 1; less counts as 1.
//
// Without a wish of the server the wait is Rand times the smaller of MaxDelay
// and BaseDelay · 2^(attempt−1). With one it is that wish and Rand times
// BaseDelay on top, and thus never less than the wish.
//
// The reasons are looked at in the order of the constants. MaxServerWait is held
// against the wish alone, without jitter. The budget comes last, so that a
// retry that does not happen takes nothing from it. No wait is negative or
// overflows, whatever the arguments.
func (p *Policy) Next(attempt int, v Verdict) (wait time.Duration, stop Stop) {
	if p == nil {
		p = &Policy{}
	}
	attempt = max(1, attempt)
	switch serverWait := or(p.MaxServerWait, DefaultMaxServerWait); {
	case !v.Retry:
		return 0, StopVerdict
	case attempt >= or(p.MaxAttempts, DefaultMaxAttempts):
		return 0, StopAttempts
	case serverWait >= 0 && v.After > serverWait:
		return 0, StopServerWait
	}
	wait = p.wait(attempt, max(0, v.After))
	if limit := or(p.MaxElapsed, DefaultMaxElapsed); limit >= 0 && sum(max(0, v.Elapsed), wait) > limit {
		return 0, StopElapsed
	}
	if !p.Budget.take() {
		return 0, StopBudget
	}
	return wait, ""
}

// wait returns the wait after an attempt, where the server wishes for the given
// one.
func (p *Policy) wait(attempt int, wish time.Duration) time.Duration {
	base := max(0, or(p.BaseDelay, DefaultBaseDelay))
	if wish > 0 {
		return sum(wish, p.jitter(base))
	}
	limit := max(0, or(p.MaxDelay, DefaultMaxDelay))
	if n := attempt - 1; base == 0 {
		limit = 0
	} else if n < 63 && base <= limit>>n {
		limit = base << n
	}
	return p.jitter(limit)
}

// jitter returns a part of d.
func (p *Policy) jitter(d time.Duration) time.Duration {
	random := p.Rand
	if random == nil {
		random = rand.Float64
	}
	f := random()
	switch {
	case f >= 1:
		return d
	case !(f > 0): // NaN too
		return 0
	}
	return min(d, time.Duration(f*float64(d))) // less than 1<<63, as f is less than 1
}

// or returns v, or instead of 0 the default.
func or[T int | time.Duration](v, instead T) T {
	if v == 0 {
		return instead
	}
	return v
}

// sum returns a + b, neither of which is negative, and at most the largest
// duration.
func sum(a, b time.Duration) time.Duration {
	return a + min(b, math.MaxInt64-a)
}
