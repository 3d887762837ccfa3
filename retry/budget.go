package retry

import "sync"

// Budget bounds the attempts that are made again by all that share it, so that a
// fleet of clients does not hammer a vendor that is sick. It is a bucket of
// tokens: sending again takes one, and every success gives a part of one back. It
// has no clock, so what it allows depends on nothing but what happened: while all
// is well the bucket is full and every failure is followed by another attempt;
// while nothing works it runs empty, and requests are then sent once each until
// enough of them succeed. Any number of goroutines may use it.
type Budget struct {
	mu     sync.Mutex
	size   float64
	refill float64
	tokens float64
}

// NewBudget returns a full budget of so many tokens, of which a success gives
// refill back: with 0.1, in the long run one request in ten is sent again at
// most. A size below 1, like a refill that is negative or no number, counts as 0.
func NewBudget(size int, refill float64) *Budget {
	b := &Budget{size: float64(max(size, 0))}
	b.tokens = b.size
	if refill > 0 {
		b.refill = min(refill, b.size)
	}
	return b
}

// Tokens returns how many tokens there are, for logs. Of a nil budget it is 0.
func (b *Budget) Tokens() float64 {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tokens
}

// Succeeded tells the budget of a request that succeeded. To a nil budget it
// does nothing.
func (b *Budget) Succeeded() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(b.size, b.tokens+b.refill)
}

// take takes a token, and reports whether there was one.
func (b *Budget) take() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
