package anthropic

import (
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// DecodeError implements [wire.Codec]. It reads the vendor's words first, its
// code before its type, and the status only where there are none.
func (Codec) DecodeError(h wire.Head, body []byte) *wire.Error {
	e := &wire.Error{Cause: wire.CauseVendor, Status: h.Status, RequestID: h.Header(requestID)}
	if jsonw.ValidBytes(body) {
		readError(e, string(body))
	}
	if e.Type == "" && e.Message == "" {
		e.Body = wire.Excerpt(body)
		e.Message = "the vendor answered with status " + strconv.Itoa(h.Status) + " and no error in its own form"
	}
	classify(e)
	if e.Class == wire.ClassRateLimit && h.Get != nil && h.Get("Retry-After") == "" && h.Get("Retry-After-Ms") == "" &&
		h.Get("X-Should-Retry") != "true" && e.Type == "rate_limit_error" {
		// The vendor leaves the header out where waiting does not help.
		e.Class = wire.ClassQuota
		e.Hint = "no retry-after came with it, so the quota is used up rather than the rate"
	}
	return e
}

// errorOf reads an error event of a stream.
func (d *decoder) errorOf(data string) *wire.Error {
	e := &wire.Error{Cause: wire.CauseVendor, Status: d.head.Status}
	readError(e, data)
	if e.Type == "" && e.Message == "" {
		e.Message = "the vendor sent an error without words"
		e.Body = wire.Excerpt([]byte(data))
	}
	classify(e)
	return e
}

// readError reads the forms that an error takes: the vendor's own, and those of
// gateways in front of it.
func readError(e *wire.Error, data string) {
	root := jsonw.Parse(data)
	obj := root.Get("error")
	if obj.IsObject() {
		e.Type = str(obj.Get("type"))
		e.Message = str(obj.Get("message"))
		e.Code = str(obj.Get("details").Get("error_code"))
		if e.Code == "" {
			e.Code = str(obj.Get("code"))
		}
	} else if e.Message = str(obj); e.Message == "" {
		if t := str(root.Get("type")); t != "error" {
			e.Type = t
		}
		if e.Message = str(root.Get("message")); e.Message == "" {
			e.Message = str(root.Get("detail"))
		}
	}
	if id := str(root.Get("request_id")); id != "" {
		e.RequestID = id
	}
}

// str returns a copy of a text or number, which outlives the body.
func str(v jsonw.Value) string { return strings.Clone(v.Text()) }

// classify sets the class of an error, from its code, its type and its status,
// in this order. Only an overflow is told by its text: the vendor gives it no
// type of its own.
func classify(e *wire.Error) {
	switch e.Code {
	case "enforced_spend_limit_reached", "contract_spend_limit_reached":
		e.Class = wire.ClassQuota
	case "request_body_too_large_after_decoding":
		e.Class = wire.ClassOverflow
	}
	if e.Class == "" {
		switch e.Type {
		case "invalid_request_error":
			e.Class = wire.ClassBadRequest
			if overflow(e) {
				e.Class = wire.ClassOverflow
			}
		case "authentication_error":
			e.Class = wire.ClassAuth
		case "permission_error":
			e.Class = wire.ClassPermission
		case "billing_error":
			e.Class = wire.ClassQuota
		case "not_found_error":
			e.Class = wire.ClassNotFound
		case "conflict_error":
			e.Class = wire.ClassBadRequest
		case "request_too_large":
			e.Class = wire.ClassOverflow
		case "rate_limit_error":
			e.Class = wire.ClassRateLimit
		case "api_error":
			e.Class = wire.ClassServer
		case "timeout_error":
			e.Class = wire.ClassTimeout
		case "overloaded_error":
			e.Class = wire.ClassOverloaded
		}
	}
	if e.Class != "" {
		return
	}
	switch s := e.Status; {
	case s == 401:
		e.Class = wire.ClassAuth
	case s == 402:
		e.Class = wire.ClassQuota
	case s == 403:
		e.Class = wire.ClassPermission
	case s == 404:
		e.Class = wire.ClassNotFound
	case s == 413:
		e.Class = wire.ClassOverflow
	case s == 429:
		e.Class = wire.ClassRateLimit
	case s == 408, s == 504:
		e.Class = wire.ClassTimeout
	case s == 529, s == 503:
		e.Class = wire.ClassOverloaded
	case s >= 500, s < 400:
		e.Class = wire.ClassServer
	default:
		e.Class = wire.ClassBadRequest
		if overflow(e) {
			e.Class = wire.ClassOverflow
		}
	}
}

// overflow knows the texts of an input that is larger than the context, the
// vendor's own two and the one of Bedrock, and reads their numbers.
func overflow(e *wire.Error) bool {
	if _, rest, ok := strings.Cut(e.Message, "prompt is too long"); ok { // : 213462 tokens > 200000 maximum
		e.InputTokens, rest = number(rest)
		e.LimitTokens, _ = number(rest)
		return true
	}
	if _, rest, ok := strings.Cut(e.Message, "exceed context limit"); ok { // : 178959 + 64000 > 200000
		e.InputTokens, rest = number(rest)
		if _, rest, ok = strings.Cut(rest, ">"); ok {
			e.LimitTokens, _ = number(rest)
		}
		return true
	}
	return strings.Contains(e.Message, "Input is too long for requested model")
}

// number reads the first number in s and returns what follows it.
func number(s string) (n int64, rest string) {
	i := strings.IndexAny(s, "0123456789")
	if i < 0 {
		return 0, ""
	}
	for ; i < len(s) && s[i]-'0' <= 9 && n < 1<<50; i++ {
		n = n*10 + int64(s[i]-'0')
	}
	return n, s[i:]
}
