package wire

import (
	"errors"
	"math"
	"strconv"
)

// Count is a number of tokens, or of something else that is counted, which may
// be unknown. The zero value is unknown, which is not zero. In JSON it is a
// number; unknown is left out or null.
type Count struct{ n int64 } // the number plus one, so that the zero value is unknown

// CountOf returns a known count. A negative n, which some servers send, is
// unknown, and so is the greatest int64, which a Count does not hold.
func CountOf(n int64) Count {
	if n < 0 || n == math.MaxInt64 {
		return Count{}
	}
	return Count{n + 1}
}

// Known reports whether the count is known.
func (c Count) Known() bool { return c.n > 0 }

// Value returns the number, and 0 if it is unknown.
func (c Count) Value() int64 { return max(c.n-1, 0) }

// Add returns the sum, unknown if either is.
func (c Count) Add(d Count) Count {
	if !c.Known() || !d.Known() {
		return Count{}
	}
	return CountOf(c.Value() + d.Value())
}

// Sub returns the difference, unknown if either is or if it were negative.
func (c Count) Sub(d Count) Count {
	if !c.Known() || !d.Known() {
		return Count{}
	}
	return CountOf(c.Value() - d.Value())
}

// Equal reports whether both are unknown or both the same number.
func (c Count) Equal(d Count) bool { return c == d }

// IsZero reports whether the count is unknown, for omitzero.
func (c Count) IsZero() bool { return !c.Known() }

// String returns the number, or "unknown".
func (c Count) String() string {
	if !c.Known() {
		return "unknown"
	}
	return strconv.FormatInt(c.Value(), 10)
}

// MarshalJSON writes a number, or null.
func (c Count) MarshalJSON() ([]byte, error) {
	if !c.Known() {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, c.Value(), 10), nil
}

// UnmarshalJSON reads a whole number that is not negative, or null.
func (c *Count) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*c = Count{}
		return nil
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || n < 0 || n == math.MaxInt64 {
		return errors.New("wire: a count is a whole number from 0, or null, not " + Excerpt(b))
	}
	*c = CountOf(n)
	return nil
}

// Usage is what a message cost in tokens. The names are those of the
// OpenTelemetry GenAI conventions: InputTokens is the whole input, cache
// included, and OutputTokens the whole output, reasoning included, however the
// vendor counts.
type Usage struct {
	InputTokens Count `json:"input_tokens,omitzero"`
	// UncachedInputTokens is the part of the input that was neither read from
	// a cache nor written to one.
	UncachedInputTokens Count `json:"uncached_input_tokens,omitzero"`
	CacheReadTokens     Count `json:"cache_read_tokens,omitzero"`
	CacheCreationTokens Count `json:"cache_creation_tokens,omitzero"`
	// CacheCreation1hTokens is the share of CacheCreationTokens that is kept
	// for an hour.
	CacheCreation1hTokens Count `json:"cache_creation_1h_tokens,omitzero"`
	OutputTokens          Count `json:"output_tokens,omitzero"`
	// ReasoningTokens is the share of OutputTokens spent on reasoning.
	ReasoningTokens Count `json:"reasoning_tokens,omitzero"`
	// Vendor is the vendor's own usage object, for what the counts do not say
	// (tiers, server tools, modalities). Where a vendor sends it in pieces, the
	// pieces are merged member by member, the later one winning.
	Vendor string `json:"vendor,omitempty"`
}

// IsZero reports whether nothing at all is known.
func (u Usage) IsZero() bool { return u == Usage{} }
