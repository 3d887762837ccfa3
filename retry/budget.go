package retry

import (
	"math"
	"sync"
)

// Budget is a bucket of tokens that any number of clients and goroutines share.
// Each retry takes one token; each success gives a part of one back, up to the
// size at which the bucket began. It has no clock: what fills it is that the
// server answers.
//
// With 10 tokens and a refill of 0.1, occasional failures are retried at once.
// In the long run there is at most one retry for ten successes, so that retries
// add no more than 10 % to the load of a server that works. On a server that is
// down all clients together spend the 10 tokens and then fail at their first
// attempt, each new call with one request and no more, until successes have
// filled the bucket again: ten of them for the next retry.
//
// A nil Budget is no bound. The zero value is an empty one that never fills.
type Budget struct {
	mu   sync.Mutex
	left int64 // in parts of a token
	size int64
	gain int64
}

const (
	// parts is how many parts a token has. Whole numbers of them add up: ten
	// times a tenth is one.
	parts     = 1_000_000_000
	maxTokens = 1_000_000_000
)

// NewBudget returns a full budget of so many tokens, to which each success gives
// back refill tokens.
//
// A budget of no or a negative number of tokens allows no retry; more than a
// billion count as a billion. A refill that is negative or NaN is none, so that
// the tokens are all that there will ever be; one that is larger than the
// budget, or infinite, fills it with each success. A refill is rounded to a
// billionth.
func NewBudget(tokens int, refill float64) *Budget {
	b := &Budget{size: int64(min(max(0, tokens), maxTokens)) * parts}
	b.left = b.size
	if f := math.Round(refill * parts); f >= float64(b.size) {
		b.gain = b.size
	} else if f > 0 { // and not NaN
		b.gain = int64(f)
	}
	return b
}

// take takes a token for a retry and tells whether there was one.
func (b *Budget) take() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left < parts {
		return false
	}
	b.left -= parts
	return true
}

// Succeeded gives back the refill. A client calls it once for each attempt that
// the server answered well, the first one of a request or a later one; an answer
// that refuses the request for its own fault counts neither way. A nil Budget
// does nothing.
func (b *Budget) Succeeded() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += min(b.gain, b.size-b.left)
}

// Tokens returns how many tokens there are at this moment, for logs. It is 0
// for a nil Budget.
func (b *Budget) Tokens() float64 {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return float64(b.left) / parts
}
