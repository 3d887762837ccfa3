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

// Policy says how often a request is sent, and how long to wait in between. Its
// zero value, and a nil one, are the defaults, which are those that the vendors'
// own libraries agree on: two further attempts, after half a second and a second
// at most. More would help little, since what two attempts do not mend is seldom
// over within seconds, and would cost a sick vendor much.
//
// A Policy does no I/O, reads no clock and waits for nothing: it is asked after
// every failed attempt. It may be used by any number of goroutines.
type Policy struct {
	// MaxAttempts is how often a request is sent in all. Zero is 3; 1, like any
	// negative number, is never again.
	MaxAttempts int
	// BaseDelay is the most that is waited after the first attempt; after each
	// further one it is twice as much, up to MaxDelay. The wait itself is drawn
	// evenly between nothing and that, so that clients that failed together do
	// not come back together. Zero is 500 ms, negative no wait.
	BaseDelay time.Duration
	// MaxDelay is the longest wait that is not the server's wish. Zero is 8 s,
	// negative no limit.
	MaxDelay time.Duration
	// MaxElapsed is how much time all attempts and waits may take: no wait begins
	// that would end later. A running attempt is not ended by it. Zero is 5
	// minutes, negative no limit.
	MaxElapsed time.Duration
	// MaxServerWait is the longest wish of a server that is fulfilled. One that
	// is longer ends the request at once, since nobody should wait for hours
	// without knowing. Zero is 60 s, negative no limit.
	MaxServerWait time.Duration
	// Budget bounds how many requests are sent again by all that share it. Nil
	// is no bound.
	Budget *Budget
	// Rand returns numbers from 0 up to and without 1. Nil is the random numbers
	// of math/rand/v2; tests may have others.
	Rand func() float64
}

// Verdict is what a failed attempt says about another one.
type Verdict struct {
	// Retry says that another attempt may succeed.
	Retry bool
	// After is how long the server wishes to be left alone, 0 if it did not
	// say.
	After time.Duration
	// Elapsed is the time since the first attempt began.
	Elapsed time.Duration
}

// Stop is why a request is not sent again, empty if it is.
type Stop string

// The reasons.
const (
	StopVerdict    Stop = "verdict"     // another attempt cannot succeed
	StopAttempts   Stop = "attempts"    // there were as many as there may be
	StopServerWait Stop = "server_wait" // the server wishes to be left alone for too long
	StopElapsed    Stop = "elapsed"     // the wait would end too late
	StopBudget     Stop = "budget"      // too many requests fail
)

// Next returns how long to wait before the next attempt, or why there is none.
// Attempt is how many were made, at least 1.
//
// A server's wish is waited for, and up to BaseDelay longer, for the reason that
// the wait without one is drawn. The budget is asked last, and a token of it
// taken only if the answer is to send again.
func (p *Policy) Next(attempt int, v Verdict) (wait time.Duration, stop Stop) {
	q := p.orDefault()
	switch {
	case !v.Retry:
		return 0, StopVerdict
	case attempt >= q.MaxAttempts:
		return 0, StopAttempts
	case v.After > q.MaxServerWait:
		return 0, StopServerWait
	}
	if v.After > 0 {
		wait = addUpTo(v.After, q.draw(q.BaseDelay))
	} else {
		wait = q.draw(q.delay(attempt))
	}
	if wait > q.MaxElapsed-v.Elapsed {
		return 0, StopElapsed
	}
	if !q.Budget.take() {
		return 0, StopBudget
	}
	return wait, ""
}

// orDefault returns p with numbers in the place of what is not set.
func (p *Policy) orDefault() Policy {
	var q Policy
	if p != nil {
		q = *p
	}
	if q.MaxAttempts == 0 {
		q.MaxAttempts = DefaultMaxAttempts
	}
	for _, f := range [...]struct {
		d           *time.Duration
		usual, none time.Duration
	}{
		{&q.BaseDelay, DefaultBaseDelay, 0},
		{&q.MaxDelay, DefaultMaxDelay, math.MaxInt64},
		{&q.MaxElapsed, DefaultMaxElapsed, math.MaxInt64},
		{&q.MaxServerWait, DefaultMaxServerWait, math.MaxInt64},
	} {
		if *f.d == 0 {
			*f.d = f.usual
		} else if *f.d < 0 {
			*f.d = f.none
		}
	}
	if q.Rand == nil {
		q.Rand = rand.Float64
	}
	return q
}

// delay returns the longest wait after so many attempts.
func (p *Policy) delay(attempt int) time.Duration {
	d := p.BaseDelay
	for ; attempt > 1 && d > 0 && d < p.MaxDelay; attempt-- {
		d = addUpTo(d, d)
	}
	return min(d, p.MaxDelay)
}

// draw returns a random duration below d.
func (p *Policy) draw(d time.Duration) time.Duration {
	f := p.Rand() * float64(d)
	return min(d, max(0, time.Duration(f)))
}

// addUpTo returns a+b, or the largest duration if that is less.
func addUpTo(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Status reports whether a response of an HTTP status may be another one the next
// time. A header x-should-retry decides that whatever the status (OpenAI,
// Anthropic). Without it these can: 408, 429, 500, 502, 503, 504, and 529, which
// is Anthropic's for being overloaded. 409 can only where the server says so, and
// all other statuses cannot. Get returns the first value of a header; it may be
// nil.
func Status(status int, get func(name string) string) bool {
	if get != nil {
		switch get("x-should-retry") {
		case "true":
			return true
		case "false":
			return false
		}
	}
	switch status {
	case 408, 429, 500, 502, 503, 504, 529:
		return true
	}
	return false
}
