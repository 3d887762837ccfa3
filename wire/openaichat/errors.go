package openaichat

import (
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/head"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// DecodeError implements [wire.Codec]. It reads the server's words first, its
// code before its type, and the status where they do not say what is wrong. The
// text tells an overflow alone.
func (c Codec) DecodeError(h wire.Head, body []byte) *wire.Error {
	e := &wire.Error{Cause: wire.CauseVendor, Status: h.Status, RequestID: head.First(h, requestIDs[:])}
	f := failure{e: e}
	if jsonw.ValidBytes(body) {
		f.read(jsonw.Parse(string(body)))
	}
	if e.Type == "" && e.Code == "" && e.Message == "" {
		e.Body = wire.Excerpt(body)
	}
	if e.Message == "" {
		e.Message = "the server answered with status " + strconv.Itoa(h.Status) + " and no error in a known form"
	}
	f.classify()
	return e
}

// errorOf reads an error within a stream.
func (d *decoder) errorOf(v jsonw.Value) *wire.Error {
	e := &wire.Error{Cause: wire.CauseVendor, Status: d.head.Status}
	f := failure{e: e}
	f.read(v)
	if e.Message == "" {
		e.Message = "the server sent an error without words"
		e.Body = wire.Excerpt([]byte(v))
	}
	f.classify()
	return e
}

// failed reports whether a chunk tells of a failure.
func (c *chunk) failed() bool {
	switch {
	case isFailure(c.err), c.err.IsObject(), c.object == "error", !empty(c.groq.Get("error")):
		return true
	case c.base.IsObject():
		if n, ok := c.base.Get("status_code").Int(); ok && n != 0 {
			return true
		}
	}
	if !c.choices.IsNull() {
		return false
	}
	return !empty(c.message) && (!empty(c.code) || c.typ.Str() == "error" || c.root.Get("statusCode").Exists()) ||
		!empty(c.detail) && c.object == "" && c.usage.IsNull()
}

// isFailure reports whether the member error says that something failed, or the
// first item of a list does.
func isFailure(v jsonw.Value) bool {
	if v.IsArray() {
		for it := v.Items(); it.Next(); {
			item := it.Value()
			return item.IsString() || item.IsObject() && (!empty(item.Get("error")) || !empty(item.Get("message")))
		}
	}
	return !empty(v) && v != "false" && v != "0"
}

// failure is an error that is being read.
type failure struct {
	e *wire.Error
	// What an error that is wrapped in this one says.
	code, typ string
	status    int
	minimax   bool // the code is one of base_resp
	deep      int
}

// str returns a copy of a text or number, which outlives the body.
func str(v jsonw.Value) string { return strings.Clone(v.Text()) }

// read reads the forms that an error takes.
func (f *failure) read(v jsonw.Value) {
	if v.IsArray() {
		for it := v.Items(); it.Next(); {
			v = it.Value()
			break
		}
	}
	e := f.e
	if v.IsString() {
		e.Message = str(v)
		return
	}
	if id := str(v.Get("request_id")); id != "" && e.RequestID == "" {
		e.RequestID = id
	}
	if b := v.Get("base_resp"); b.IsObject() && b.Get("status_code") != "0" {
		e.Code, e.Message, f.minimax = str(b.Get("status_code")), str(b.Get("status_msg")), true
		return
	}
	obj := v.Get("error")
	if obj.IsArray() {
		for it := obj.Items(); it.Next(); {
			obj = it.Value()
			break
		}
	}
	if s := v.Get("x_groq").Get("error"); empty(obj) && !empty(s) {
		obj = s
	}
	switch {
	case obj.IsObject():
		f.object(obj)
		if e.Message == "" {
			f.object(v)
		}
	case !empty(obj) && obj.Text() != "":
		f.object(v)
		s := str(obj)
		if e.Message != "" && e.Message != s {
			s += ": " + e.Message
		}
		e.Message = s
	default:
		f.object(v)
	}
}

// object reads an object that holds the words of an error. What it has already
// stays.
func (f *failure) object(v jsonw.Value) {
	e := f.e
	var words []string
	for m := v.Members(); m.Next(); {
		switch v := m.Value(); m.Name() {
		case "message", "msg", "detail", "details":
			words = f.text(words, v)
		case "type":
			if t := str(v); t != "error" && e.Type == "" {
				e.Type = t
			}
		case "reason":
			if e.Type == "" && v.IsString() {
				e.Type = str(v)
			}
		case "code":
			if e.Code == "" {
				e.Code = str(v)
			}
			f.setStatus(v)
		case "status":
			if e.Type == "" && v.IsString() {
				e.Type = str(v)
			}
			f.setStatus(v)
		case "status_code", "statusCode":
			f.setStatus(v)
		case "n_prompt_tokens":
			e.InputTokens, _ = v.Int()
		case "n_ctx":
			e.LimitTokens, _ = v.Int()
		case "retryDelay": // of Google's RetryInfo
			e.RetryAfter = codec.Delay(v.Str())
		case "metadata":
			words = f.text(words, v.Get("raw")) // what the vendor behind a router said
		}
	}
	if e.Message == "" {
		e.Message = strings.Join(words, ": ")
	}
}

// maxWrapped is how many errors within errors are unwrapped.
const maxWrapped = 4

// text adds the words of a member to those that were found: a text, a text that
// holds a JSON error, an object, or a list of objects.
func (f *failure) text(words []string, v jsonw.Value) []string {
	if f.deep++; f.deep > maxWrapped {
		return words
	}
	defer func() { f.deep-- }()
	switch {
	case v.IsString():
		s := str(v)
		if t := strings.TrimSpace(s); strings.HasPrefix(t, "{") && jsonw.Valid(t) {
			if inner := f.wrapped(jsonw.Parse(t)); inner != "" {
				s = inner
			}
		}
		return addWord(words, s)
	case v.IsObject():
		return addWord(words, f.wrapped(v))
	}
	const most = 3
	n := 0
	for it := v.Items(); it.Next() && n < most; n++ {
		item := it.Value()
		if s := item.Get("msg").Str(); s != "" {
			var at []string
			for loc := item.Get("loc").Items(); loc.Next(); {
				at = append(at, loc.Value().Text())
			}
			words = addWord(words, strings.Clone(strings.Join(append(at, s), " ")))
		} else if item.IsString() || item.IsObject() {
			words = f.text(words, item)
		}
	}
	return words
}

func addWord(words []string, s string) []string {
	for _, w := range words {
		if w == s {
			return words
		}
	}
	if s == "" {
		return words
	}
	return append(words, s)
}

// wrapped reads an error within another one. Its words are returned, its code and
// type are remembered.
func (f *failure) wrapped(v jsonw.Value) string {
	inner := failure{e: &wire.Error{}, deep: f.deep}
	inner.read(v)
	if f.code == "" {
		f.code = inner.e.Code
	}
	if f.typ == "" {
		f.typ = inner.e.Type
	}
	if f.status == 0 {
		f.status = inner.e.Status
	}
	if f.e.RetryAfter == 0 {
		f.e.RetryAfter = inner.e.RetryAfter
	}
	if f.code == "" {
		f.code = inner.code
	}
	if f.typ == "" {
		f.typ = inner.typ
	}
	return inner.e.Message
}

// setStatus takes a number that can be the status of a response, if there was
// none that told of a failure.
func (f *failure) setStatus(v jsonw.Value) {
	n, ok := v.Int()
	if !ok {
		n, ok = jsonw.Value(v.Str()).Int()
	}
	if ok && n >= 400 && n < 600 && f.e.Status < 400 {
		f.e.Status = int(n)
	}
}

// classed is a vendor's word and the class of its errors.
type classed struct {
	word  string
	class wire.Class
}

// find returns the class of a word, "" if the list does not have it.
func find(list []classed, word string) wire.Class {
	for i := range list {
		if list[i].word == word {
			return list[i].class
		}
	}
	return ""
}

// classes are the classes of the codes and types of the vendors. Bad request is
// what many of them call everything, so it only counts if nothing else is known.
var classes = [...]classed{
	{"context_length_exceeded", wire.ClassOverflow},
	{"exceed_context_size_error", wire.ClassOverflow},
	{"tokens_limit_reached", wire.ClassOverflow},
	{"request_too_large", wire.ClassOverflow},
	{"model_context_window_exceeded", wire.ClassOverflow},
	{"1261", wire.ClassOverflow}, // Z.ai

	{"insufficient_quota", wire.ClassQuota},
	{"credit_balance_exhausted", wire.ClassQuota},
	{"organization_spend_limit_exceeded", wire.ClassQuota},
	{"project_spend_limit_exceeded", wire.ClassQuota},
	{"organization_usage_limit_exceeded", wire.ClassQuota},
	{"billing_hard_limit_reached", wire.ClassQuota},
	{"billing_not_active", wire.ClassQuota},
	{"exceeded_current_quota_error", wire.ClassQuota},
	{"insufficient_balance", wire.ClassQuota},
	{"payment_required", wire.ClassQuota},
	{"arrearage", wire.ClassQuota}, // DashScope
	{"1113", wire.ClassQuota},      // Z.ai
	{"1308", wire.ClassQuota},

	{"rate_limit_exceeded", wire.ClassRateLimit},
	{"rate_limit_error", wire.ClassRateLimit},
	{"rate_limit_reached_error", wire.ClassRateLimit},
	{"ratelimitreached", wire.ClassRateLimit}, // GitHub Models
	{"slow_down", wire.ClassRateLimit},
	{"limit_requests", wire.ClassRateLimit},
	{"too_many_requests", wire.ClassRateLimit},
	{"too_many_requests_error", wire.ClassRateLimit},
	{"resource_exhausted", wire.ClassRateLimit},
	{"queue_exceeded", wire.ClassRateLimit}, // Cerebras
	{"requests", wire.ClassRateLimit},
	{"tokens", wire.ClassRateLimit},
	{"1302", wire.ClassRateLimit}, // Z.ai

	{"engine_overloaded_error", wire.ClassOverloaded},
	{"overloaded_error", wire.ClassOverloaded},
	{"overloaded", wire.ClassOverloaded},
	{"unavailable_error", wire.ClassOverloaded},
	{"unavailable", wire.ClassOverloaded},
	{"service_unavailable", wire.ClassOverloaded},

	{"invalid_api_key", wire.ClassAuth},
	{"invalid_authentication_error", wire.ClassAuth},
	{"authentication_error", wire.ClassAuth},
	{"unauthenticated", wire.ClassAuth},

	{"permission_error", wire.ClassPermission},
	{"permission_denied", wire.ClassPermission},
	{"unsupported_country_region_territory", wire.ClassPermission},

	{"model_not_found", wire.ClassNotFound},
	{"deploymentnotfound", wire.ClassNotFound},
	{"unknown_model", wire.ClassNotFound},
	{"invalid_model", wire.ClassNotFound},
	{"not_found_error", wire.ClassNotFound},
	{"not_found", wire.ClassNotFound},
	{"1211", wire.ClassNotFound}, // Z.ai

	{"content_filter", wire.ClassContentFilter},
	{"responsibleaipolicyviolation", wire.ClassContentFilter},
	{"content_policy_violation", wire.ClassContentFilter},
	{"data_inspection_failed", wire.ClassContentFilter},

	{"timeout", wire.ClassTimeout},
	{"request_timeout", wire.ClassTimeout},
	{"deadline_exceeded", wire.ClassTimeout},

	{"server_error", wire.ClassServer},
	{"internal_error", wire.ClassServer},
	{"internal_server_error", wire.ClassServer},
	{"internalservererror", wire.ClassServer},
	{"internal", wire.ClassServer},
	{"api_error", wire.ClassServer},
	{"tool_use_failed", wire.ClassServer}, // Groq: the model wrote a call that Groq could not read

	{"invalid_request_error", wire.ClassBadRequest},
	{"invalid_request", wire.ClassBadRequest},
	{"badrequesterror", wire.ClassBadRequest},
	{"invalid_argument", wire.ClassBadRequest},
	{"failed_precondition", wire.ClassBadRequest},
	{"unsupported_parameter", wire.ClassBadRequest},
	{"unsupported_value", wire.ClassBadRequest},
	{"invalid_value", wire.ClassBadRequest},
	{"invalid_parameter_error", wire.ClassBadRequest},
	{"invalid_image_url", wire.ClassBadRequest},
	{"1210", wire.ClassBadRequest}, // Z.ai
}

// minimaxClasses are the classes of the codes in base_resp.
var minimaxClasses = [...]classed{
	{"1000", wire.ClassServer},
	{"1002", wire.ClassRateLimit},
	{"1004", wire.ClassAuth},
	{"1008", wire.ClassQuota},
	{"1013", wire.ClassServer},
	{"1026", wire.ClassContentFilter},
	{"1027", wire.ClassContentFilter},
	{"1039", wire.ClassOverflow},
	{"2013", wire.ClassBadRequest},
}

// classify sets the class of an error: of its code, its type, those of an error
// within it, and its status, the first that says more than that the request or
// the server is at fault, else the first that says that.
func (f *failure) classify() {
	e := f.e
	var found, vague wire.Class
	take := func(c wire.Class) {
		switch {
		case found != "" || c == "":
		case c == wire.ClassBadRequest || c == wire.ClassServer:
			if vague == "" {
				vague = c
			}
		default:
			found = c
		}
	}
	if f.minimax {
		take(find(minimaxClasses[:], e.Code))
	}
	for _, word := range [...]string{e.Code, e.Type, f.code, f.typ} {
		take(find(classes[:], strings.ToLower(word)))
	}
	take(classOf(e.Status))
	take(classOf(f.status))
	if strings.Contains(strings.ToLower(e.Code), "currently unavailable") { // xAI, whose codes are sentences
		take(wire.ClassOverloaded)
	}
	if found == "" {
		if found = vague; found == "" {
			found = wire.ClassServer
		}
	}
	switch found {
	case wire.ClassBadRequest, wire.ClassServer, wire.ClassRateLimit:
		if overflow(e, found) {
			found = wire.ClassOverflow
		}
	case wire.ClassOverflow:
		overflow(e, found)
	}
	if found == wire.ClassRateLimit && noCredit(e) {
		found = wire.ClassQuota
	}
	switch found {
	case wire.ClassRateLimit, wire.ClassOverloaded, wire.ClassServer, wire.ClassTimeout:
		if e.RetryAfter == 0 {
			e.RetryAfter = codec.ToldDelay(e.Message)
		}
	}
	if e.Class = found; e.Code == "tool_use_failed" {
		e.Hint = "the model wrote a call that the server could not read; another attempt may do better"
	}
}

// classOf returns the class of a status that tells of a failure.
func classOf(status int) wire.Class {
	switch {
	case status < 400:
		return ""
	case status == 401:
		return wire.ClassAuth
	case status == 402:
		return wire.ClassQuota
	case status == 403:
		return wire.ClassPermission
	case status == 404:
		return wire.ClassNotFound
	case status == 408, status == 504:
		return wire.ClassTimeout
	case status == 413:
		return wire.ClassOverflow
	case status == 429:
		return wire.ClassRateLimit
	case status == 498, status == 503, status == 529:
		return wire.ClassOverloaded
	case status < 500:
		return wire.ClassBadRequest
	}
	return wire.ClassServer
}

// noCredit knows the texts of an empty account that comes as a rate limit.
func noCredit(e *wire.Error) bool {
	s := strings.ToLower(e.Message)
	return strings.Contains(s, "insufficient balance") || strings.Contains(s, "insufficient_quota") || strings.Contains(s, "credit balance")
}

// overflowTexts are what servers say of an input that is larger than the context.
var overflowTexts = [...]string{
	"context window",
	"context_length_exceeded",
	"maximum context length",
	"maximum prompt length is",
	"reduce the length of the messages",
	"longer than the model's context length",
	"exceeds the available context size",
	"context size has been exceeded",
	"greater than the context length",
	"exceeded model token limit",
	"too many tokens",
	"prompt is too long",
	"input is too long",
	"exceeds the maximum number of tokens",
}

// rateTexts are in texts about rates, which speak of tokens too.
var rateTexts = [...]string{"rate limit", "rate-limit", "per min", "per day", "per hour", "tpm", "tpd"}

// overflow reports whether the text tells of an input that is too large, and
// reads its numbers.
func overflow(e *wire.Error, class wire.Class) bool {
	s := strings.ToLower(e.Message)
	if strings.Contains(s, "request too large for") { // larger than what is allowed in a minute: waiting does not help
		_, rest, _ := strings.Cut(s, "limit ")
		e.LimitTokens, rest = number(rest)
		if _, rest, ok := strings.Cut(rest, "requested "); ok {
			e.InputTokens, _ = number(rest)
		}
		return true
	}
	for _, t := range rateTexts {
		if strings.Contains(s, t) {
			return false
		}
	}
	if _, rest, ok := strings.Cut(s, "prompt token count of "); ok && strings.Contains(rest, "exceeds the limit of ") {
		e.InputTokens, rest = number(rest)
		e.LimitTokens, _ = number(rest)
		return true
	}
	if class == wire.ClassRateLimit {
		return false
	}
	found := false
	for _, t := range overflowTexts {
		found = found || strings.Contains(s, t)
	}
	if found {
		sizes(e, s)
	}
	return found
}

// sizes reads how large the input was and what is allowed.
func sizes(e *wire.Error, s string) {
	for _, p := range [...]struct {
		text string
		size *int64
	}{
		{"maximum context length is ", &e.LimitTokens}, {"maximum prompt length is ", &e.LimitTokens}, {"allowed (", &e.LimitTokens},
		{"available context size (", &e.LimitTokens}, {"too large for model with ", &e.LimitTokens}, {"token limit: ", &e.LimitTokens},
		{"messages resulted in ", &e.InputTokens}, {"token count (", &e.InputTokens}, {"you requested ", &e.InputTokens}, {"request contains ", &e.InputTokens}, {"prompt contains ", &e.InputTokens},
		{"requested about ", &e.InputTokens}, {"prompt is too long: ", &e.InputTokens}, {"request (", &e.InputTokens}, {"(requested: ", &e.InputTokens},
	} {
		if _, rest, ok := strings.Cut(s, p.text); ok && *p.size == 0 && rest != "" && rest[0]-'0' <= 9 {
			*p.size, _ = number(rest)
		}
	}
	if _, rest, ok := strings.Cut(s, " tokens > "); ok && e.LimitTokens == 0 {
		e.LimitTokens, _ = number(rest)
	}
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
