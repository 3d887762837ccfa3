package codec

import (
	"math"
	"strings"
	"time"
)

// ToldDelay returns how long a vendor's message asks to wait, as in "Please try
// again in 1.5s" or "retry after 20 seconds", 0 if it does not.
func ToldDelay(message string) time.Duration {
	text := strings.ToLower(message)
	for _, phrase := range [...]string{"try again in ", "try again after ", "retry in ", "retry after "} {
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, phrase)
			if !ok {
				break
			}
			if d := Delay(after); d > 0 {
				return d
			}
			rest = after
		}
	}
	return 0
}

// Delay reads a duration at the beginning of s: numbers with units, such as 20s,
// 6m0s, 34.4s, 357ms or 2 minutes. It is 0 if there is none, and the largest
// duration where it is larger than that.
func Delay(s string) time.Duration {
	sum := 0.0
	for {
		number := leading(s, "0123456789.")
		rest := strings.TrimPrefix(s[len(number):], " ")
		word := leading(rest, "abcdefghijklmnopqrstuvwxyz")
		n, ok := decimal(number)
		unit := unitOf(word)
		if !ok || unit == 0 {
			break
		}
		sum += n * float64(unit)
		s = rest[len(word):]
	}
	if sum >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(math.Round(sum))
}

// leading returns what s begins with of the given characters.
func leading(s, chars string) string { return s[:len(s)-len(strings.TrimLeft(s, chars))] }

// decimal reads digits with at most one point among them.
func decimal(s string) (n float64, ok bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	if whole == "" || strings.Contains(fraction, ".") {
		return 0, false
	}
	for _, c := range whole {
		n = n*10 + float64(c-'0')
	}
	scale := 1.0
	for _, c := range fraction {
		scale /= 10
		n += float64(c-'0') * scale
	}
	return n, true
}

func unitOf(word string) time.Duration {
	switch word {
	case "h", "hour", "hours":
		return time.Hour
	case "m", "min", "minute", "minutes":
		return time.Minute
	case "s", "sec", "second", "seconds":
		return time.Second
	case "ms", "millisecond", "milliseconds":
		return time.Millisecond
	}
	return 0
}
