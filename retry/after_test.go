package retry_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/handwire/handwire/retry"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// headers is a response head of name: value lines.
func headers(lines ...string) func(string) string {
	h := make(http.Header)
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ": ")
		h.Add(name, value)
	}
	return h.Get
}

func TestFaults(t *testing.T) {
	t.Run("F87", func(t *testing.T) {
		for _, v := range []string{
			"Mon, 30 Nov 2026 12:00:07 GMT",
			"Monday, 30-Nov-26 12:00:07 GMT",
			"Mon Nov 30 12:00:07 2026",
		} {
			check(t, headers("Retry-After: "+v), 7*time.Second, true)
		}
	})
	t.Run("F88", func(t *testing.T) {
		check(t, headers("Retry-After: 2"), 2*time.Second, true)
		check(t, headers("Retry-After: 2", "retry-after-ms: 350"), 350*time.Millisecond, true)
		check(t, headers("Retry-After: 1.5"), 1500*time.Millisecond, true)
	})
	t.Run("F89", func(t *testing.T) {
		check(t, headers("Retry-After: 86400"), 24*time.Hour, true)
		check(t, headers("Retry-After: 9300000000"), math.MaxInt64, true)
		check(t, headers("Retry-After: 99999999999999999999"), math.MaxInt64, true)
	})
}

func check(t *testing.T, get func(string) string, want time.Duration, ok bool) {
	t.Helper()
	got, gotOK := retry.After(get, noon)
	if got != want || gotOK != ok {
		t.Errorf("After: got %v, %v, want %v, %v", got, gotOK, want, ok)
	}
}

func TestAfter(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  time.Duration
		ok    bool
	}{
		{"none", nil, 0, false},
		{"empty", []string{"Retry-After: "}, 0, false},
		{"zero", []string{"Retry-After: 0"}, 0, true},
		{"spaces", []string{"Retry-After:  3 "}, 3 * time.Second, true},
		{"fraction alone", []string{"Retry-After: .5"}, time.Second / 2, true},
		{"point at the end", []string{"Retry-After: 4."}, 4 * time.Second, true},
		{"exact tenths", []string{"Retry-After: 1.1"}, 1100 * time.Millisecond, true},
		{"part of a millisecond", []string{"retry-after-ms: 0.25"}, 250 * time.Microsecond, true},
		{"zero milliseconds win", []string{"Retry-After: 9", "retry-after-ms: 0"}, 0, true},
		{"milliseconds unreadable", []string{"Retry-After: 9", "retry-after-ms: soon"}, 9 * time.Second, true},
		{"milliseconds too large", []string{"retry-after-ms: 9300000000000"}, math.MaxInt64, true},
		{"just below the largest", []string{"Retry-After: 9223372036"}, 9223372036 * time.Second, true},
		{"four hundred digits", []string{"Retry-After: " + strings.Repeat("9", 400)}, math.MaxInt64, true},
		{"past date", []string{"Retry-After: Mon, 30 Nov 2026 11:59:00 GMT"}, 0, true},
		{"far date", []string{"Retry-After: Fri, 31 Dec 9999 23:59:59 GMT"}, math.MaxInt64, true},
		{"other zone", []string{"Retry-After: Mon, 30 Nov 2026 12:00:07 PST"}, 0, false},
		{"negative", []string{"Retry-After: -5"}, 0, false},
		{"plus", []string{"Retry-After: +5"}, 0, false},
		{"infinite", []string{"Retry-After: Inf"}, 0, false},
		{"not a number", []string{"Retry-After: NaN"}, 0, false},
		{"hexadecimal", []string{"Retry-After: 0x10"}, 0, false},
		{"exponent", []string{"Retry-After: 1e3"}, 0, false},
		{"underscore", []string{"Retry-After: 1_000"}, 0, false},
		{"two points", []string{"Retry-After: 1.2.3"}, 0, false},
		{"point alone", []string{"Retry-After: ."}, 0, false},
		{"list", []string{"Retry-After: 5, 10"}, 0, false},
		{"words", []string{"Retry-After: a minute"}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, headers(tt.lines...), tt.want, tt.ok) })
	}
	if d, ok := retry.After(nil, noon); d != 0 || ok {
		t.Errorf("After(nil): got %v, %v", d, ok)
	}
}

func FuzzAfter(f *testing.F) {
	f.Add("350", "2")
	f.Add("", "Mon, 30 Nov 2026 12:00:07 GMT")
	f.Add("1.5", "99999999999999999999")
	f.Fuzz(func(t *testing.T, ms, s string) {
		get := func(name string) string {
			if strings.EqualFold(name, "retry-after") {
				return s
			}
			return ms
		}
		if d, ok := retry.After(get, noon); d < 0 || !ok && d != 0 {
			t.Errorf("After(%q, %q): got %v, %v", ms, s, d, ok)
		}
	})
}

func ExampleAfter() {
	response := map[string]string{"retry-after": "1.5"}
	wait, ok := retry.After(func(name string) string { return response[name] }, time.Now())
	fmt.Println(wait, ok)
	// Output: 1.5s true
}
