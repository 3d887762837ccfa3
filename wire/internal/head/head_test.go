package head_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/head"
)

// of returns the head of a response with these headers.
func of(header map[string]string) wire.Head {
	return wire.Head{Get: func(name string) string { return header[name] }}
}

func TestFirst(t *testing.T) {
	names := []string{"A", "B"}
	for _, tc := range []struct {
		h    wire.Head
		want string
	}{
		{wire.Head{}, ""}, {of(nil), ""}, {of(map[string]string{"B": "2"}), "2"}, {of(map[string]string{"B": "2", "A": "1"}), "1"}, {of(map[string]string{"A": "", "C": "3"}), ""},
	} {
		if got := head.First(tc.h, names); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

func TestRateLimits(t *testing.T) {
	rows := []head.Limit{{"requests", "L", "R", "S"}, {"tokens", "Tl", "Tr", "Ts"}}
	for name, tc := range map[string]struct {
		h    wire.Head
		want wire.RateLimits
	}{
		"no headers at all":   {wire.Head{}, nil},
		"none of them":        {of(map[string]string{"X": "1"}), nil},
		"a whole one":         {of(map[string]string{"L": "10", "R": "0", "S": "6m0s"}), wire.RateLimits{{Name: "requests", Limit: wire.CountOf(10), Remaining: wire.CountOf(0), Reset: "6m0s"}}},
		"both, in part":       {of(map[string]string{"Ts": "1s", "L": "7"}), wire.RateLimits{{Name: "requests", Limit: wire.CountOf(7)}, {Name: "tokens", Reset: "1s"}}},
		"no numbers":          {of(map[string]string{"L": "-1", "R": "1.5", "Tl": "ten", "Tr": " 1"}), nil},
		"the greatest number": {of(map[string]string{"L": "999999999999999", "R": "1000000000000000"}), wire.RateLimits{{Name: "requests", Limit: wire.CountOf(999999999999999)}}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, head.RateLimits(tc.h, rows), cmp.Comparer(func(a, b wire.Count) bool { return a == b })); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
