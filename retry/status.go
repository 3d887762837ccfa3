package retry

import "strings"

// Status tells whether a response with the given status, and with headers that
// get returns as for [After], may be followed by another attempt. get may be
// nil.
//
// Where the server says so itself, with the header x-should-retry of true or
// false, that is the answer for every status from 400 to 599: Anthropic and
// OpenAI define that it overrides any rule made of statuses. Otherwise it is
// true for 408, 429 and the statuses from 500 to 599, and so for 500, 502, 503,
// 504, for 529 by which Anthropic says that it is overloaded, and for those
// above 511 that proxies made up, which HTTP has clients treat as a 500. The
// exceptions are 501, 505, 506, 508, 510 and 511: they tell what the server
// cannot do, how it is set up, or that the network wants a login.
//
// Other statuses need the word of the server, 409 among them: it means a lock
// that is soon free with one vendor and a conflict that stays with another.
// Statuses that only one vendor uses for a fault that passes, such as 424 and
// 498, are for the code that knows that vendor.
//
// It does not see the body. A 429 of an exhausted quota, or of a request larger
// than the limit itself, is not to be retried, whatever Status says.
func Status(code int, get func(name string) string) bool {
	if code < 400 || code > 599 {
		return false
	}
	if get != nil {
		switch strings.ToLower(strings.TrimSpace(get("x-should-retry"))) {
		case "true":
			return true
		case "false":
			return false
		}
	}
	switch code {
	case 408, 429:
		return true
	case 501, 505, 506, 508, 510, 511:
		return false
	}
	return code >= 500
}
