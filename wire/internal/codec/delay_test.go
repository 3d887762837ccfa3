package codec_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/handwire/handwire/wire/internal/codec"
)

func TestToldDelay(t *testing.T) {
	for _, tt := range []struct {
		message string
		want    time.Duration
	}{
		{"Rate limit reached for m on tokens per min (TPM): Limit 1, Used 1, Requested 1. Please try again in 1.5s. Visit x", 1500 * time.Millisecond},
		{"Please try again in 6m0s.", 6 * time.Minute},
		{"please TRY AGAIN IN 357ms", 357 * time.Millisecond},
		{"Please retry after 20 seconds.", 20 * time.Second},
		{"Please retry in 34.074824224s.", 34074824224 * time.Nanosecond},
		{"try again in 1 minute", time.Minute},
		{"try again in 2h5m1.25s, or later", 2*time.Hour + 5*time.Minute + 1250*time.Millisecond},
		{"try again in a while, or try again in 3s", 3 * time.Second},
		{"try again in 3", 0},
		{"try again in 3 days", 0},
		{"try again in .5s", 0},
		{"try again in 1.2.3s", 0},
		{"try again in -3s", 0},
		{"try again in ", 0},
		{"Please adjust your input and try again.", 0},
		{"in 3s", 0},
		{"", 0},
		{"try again in " + strings.Repeat("9", 400) + "h", math.MaxInt64},
	} {
		if got := codec.ToldDelay(tt.message); got != tt.want {
			t.Errorf("%.60q: got %v, want %v", tt.message, got, tt.want)
		}
	}
}
