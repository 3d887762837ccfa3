package wire

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Class is what kind of failure a vendor reported, whatever its own words.
type Class string

// The classes.
const (
	ClassAuth          Class = "auth"           // the key is missing or wrong
	ClassPermission    Class = "permission"     // the key is right and may not do this
	ClassBadRequest    Class = "bad_request"    // the request is at fault
	ClassNotFound      Class = "not_found"      // no such model or address
	ClassOverflow      Class = "overflow"       // the input is larger than the context, or the body than allowed
	ClassRateLimit     Class = "rate_limit"     // too fast; waiting helps
	ClassQuota         Class = "quota"          // no credit left; waiting does not help
	ClassOverloaded    Class = "overloaded"     // the vendor is busy
	ClassServer        Class = "server"         // the vendor failed
	ClassTimeout       Class = "timeout"        // the vendor gave up waiting for itself
	ClassContentFilter Class = "content_filter" // the input was refused by a filter
)

// Error is the one error type of requests and streams. Branch on Cause, then on
// Class; the text of Error is for people and may change.
type Error struct {
	Cause Cause `json:"cause"`
	// Class is set where the vendor reported the failure.
	Class Class `json:"class,omitempty"`
	// Status is the HTTP status, 0 where there was none. An error inside a
	// stream has the status of the response, usually 200, unless the vendor
	// names one.
	Status int `json:"status,omitempty"`
	// Type and Code are the vendor's own words.
	Type string `json:"type,omitempty"`
	Code string `json:"code,omitempty"`
	// Message is the vendor's text, or ours where the vendor had none.
	Message   string `json:"message,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	// InputTokens and LimitTokens are, of an overflow, how large the input was
	// and what is allowed, 0 where the vendor gives no number.
	InputTokens int64 `json:"input_tokens,omitempty"`
	LimitTokens int64 `json:"limit_tokens,omitempty"`
	// RetryAfter is how long the server wishes to be left alone, 0 where it
	// did not say. In JSON it is a number of nanoseconds.
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
	// Attempts is how often the request was sent, where that was more than
	// once.
	Attempts int `json:"attempts,omitempty"`
	// Hint says what to do about it, where that is known.
	Hint string `json:"hint,omitempty"`
	// Body is the beginning of a response body that could not be read as the
	// vendor's error form, at most a few hundred bytes.
	Body string `json:"body,omitempty"`
	// Err is the Go error behind it, reachable with errors.Is and errors.As.
	// It is not part of the JSON form.
	Err error `json:"-"`
}

// Error returns the cause, the class, the status, the vendor's words, the beginning
// of the body, the request id, the number of attempts and the hint, as far as they
// are known, on one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Cause))
	if e.Class != "" {
		b.WriteString(" (" + string(e.Class) + ")")
	}
	if e.Status != 0 {
		b.WriteString(": status " + strconv.Itoa(e.Status))
	}
	for _, s := range [...]string{e.Type, e.Code} {
		if s != "" {
			b.WriteString(": " + s)
		}
	}
	msg := e.Message
	if msg == "" && e.Err != nil {
		msg = e.Err.Error()
	}
	if msg != "" {
		b.WriteString(": " + msg)
	}
	if e.Body != "" {
		b.WriteString(": body " + strconv.Quote(e.Body))
	}
	if e.RequestID != "" {
		b.WriteString(" (request id " + e.RequestID + ")")
	}
	if e.Attempts > 1 {
		b.WriteString("; attempt " + strconv.Itoa(e.Attempts) + " was the last")
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, b.String())
}

// Unwrap returns the Go error behind e, nil if there is none.
func (e *Error) Unwrap() error { return e.Err }

// Excerpt returns the beginning of a response body for [Error.Body]: at most 300
// bytes, cut between characters and marked where it was cut.
func Excerpt(body []byte) string {
	const most = 300
	body = bytes.TrimSpace(body)
	if len(body) <= most {
		return string(body)
	}
	n := most
	for n > most-utf8.UTFMax && !utf8.RuneStart(body[n]) {
		n--
	}
	return string(body[:n]) + "…"
}

// AsError returns the *Error in err's chain. If there is none, it wraps err in
// one of the given cause. It returns nil for nil.
func AsError(err error, cause Cause) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Cause: cause, Message: err.Error(), Err: err}
}
