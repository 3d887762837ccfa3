package retry

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// dateLayouts are the three forms of a date in HTTP, the preferred one first.
// HTTP knows no zone but GMT.
var dateLayouts = [...]string{
	"Mon, 02 Jan 2006 15:04:05 GMT",
	"Monday, 02-Jan-06 15:04:05 GMT",
	time.ANSIC,
}

// After returns how long the server wishes to be left alone, from the headers
// of its response; get returns the first value of a header, given by its name
// in lower case, and "" if it is not there. The header retry-after-ms counts first, in milliseconds, then
// retry-after, in seconds or as a date in any of HTTP's three forms, measured
// from now. Numbers may have a fraction.
//
// The duration is never negative: a date in the past is 0. What is too large
// for a [time.Duration] becomes the largest one. The result is false if neither
// header is there or can be read.
func After(get func(name string) string, now time.Time) (time.Duration, bool) {
	if get == nil {
		return 0, false
	}
	if d, ok := number(get("retry-after-ms"), time.Millisecond); ok {
		return d, true
	}
	v := strings.TrimSpace(get("retry-after"))
	if d, ok := number(v, time.Second); ok {
		return d, true
	}
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, v); err == nil {
			return max(0, t.Sub(now)), true // Sub saturates
		}
	}
	return 0, false
}

// number reads a decimal number of units: digits with at most one point among
// or before them, and nothing else.
func number(s string, unit time.Duration) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	whole, fraction, _ := strings.Cut(s, ".")
	if whole+fraction == "" || strings.Trim(whole, "0123456789") != "" || strings.Trim(fraction, "0123456789") != "" {
		return 0, false
	}
	f, _ := strconv.ParseFloat(s, 64) // the one error left is its range, and then f is infinite
	if f = math.Round(f * float64(unit)); f >= math.MaxInt64 {
		return math.MaxInt64, true
	}
	return time.Duration(f), true
}
