// Package head reads what the headers of a response tell about its request. The
// names of headers are in the form that http.Header keeps them in, so that
// looking for one costs nothing.
package head

import "github.com/handwire/handwire/wire"

// First returns the value of the first of some headers that is there, "" if none
// is.
func First(h wire.Head, names []string) string {
	for _, name := range names {
		if v := h.Header(name); v != "" {
			return v
		}
	}
	return ""
}

// Limit is a rate limit: its name, and those of the headers that tell how much
// there is, how much is left, and when it is whole again.
type Limit [4]string

// RateLimits returns those of the limits that the response tells something of.
func RateLimits(h wire.Head, limits []Limit) wire.RateLimits {
	var told wire.RateLimits
	for i := range limits {
		r := &limits[i]
		l := wire.RateLimit{Name: r[0], Limit: count(h.Header(r[1])), Remaining: count(h.Header(r[2])), Reset: h.Header(r[3])}
		if l.Limit.Known() || l.Remaining.Known() || l.Reset != "" {
			told = append(told, l)
		}
	}
	return told
}

// count returns a number of at most 15 digits.
func count(s string) wire.Count {
	if s == "" || len(s) > 15 {
		return wire.Count{}
	}
	var n int64
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return wire.Count{}
		}
		n = n*10 + int64(s[i]-'0')
	}
	return wire.CountOf(n)
}
