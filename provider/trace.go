package provider

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/handwire/handwire/wire"
)

// Trace are functions that are told what goes over the wire, for logs and for
// people who debug. Each may be nil. They are called on the goroutine that ranges
// over the stream, which goes on when they return; with a client that several
// goroutines use they are called by all of them. What they are given is theirs to
// keep, but the body, which is not to be changed. It shows no credential.
type Trace struct {
	// Request is called before an attempt is sent.
	Request func(TraceRequest)
	// Response is called when the head of a response is there.
	Response func(TraceResponse)
	// Failed is called when an attempt has failed, whether or not another
	// follows.
	Failed func(TraceFailure)
}

// TraceRequest is a request before it is sent.
type TraceRequest struct {
	// Attempt counts from 1.
	Attempt int
	Method  string
	URL     string
	// Header are the headers that the client sets; the transport adds its own.
	// In the place of a credential stands [key hidden].
	Header []wire.Header
	// Body is the body, exactly as it is sent.
	Body []byte
}

// TraceResponse is the head of a response.
type TraceResponse struct {
	Attempt int
	Status  int
	// Proto is the version of HTTP, such as HTTP/2.0.
	Proto string
	// Header are sorted by name. Cookies are left out, and of a Location its user
	// and query.
	Header []wire.Header
	// After is the time from when the attempt began.
	After time.Duration
}

// TraceFailure is the end of an attempt that failed. One that the caller left, or
// cancelled, counts as failed if there was an error to hand out.
type TraceFailure struct {
	Attempt int
	Err     *wire.Error
	// Retry says that another attempt follows, after Wait.
	Retry bool
	Wait  time.Duration
}

func (x *exchange) traceRequest() {
	t := x.c.trace
	if t == nil || t.Request == nil {
		return
	}
	auth := x.c.auth()
	header := make([]wire.Header, 0, len(x.call.Header)+len(auth.header))
	for _, h := range x.call.Header {
		value := hidden
		if !isCredential(h.Name) { // a single request may bring one of its own
			value = auth.mask.text(h.Value)
		}
		header = append(header, wire.Header{Name: h.Name, Value: value})
	}
	for _, h := range auth.header {
		header = append(header, wire.Header{Name: h.Name, Value: hidden})
	}
	t.Request(TraceRequest{Attempt: x.attempt, Method: x.req.Method, URL: auth.mask.text(x.req.URL.String()), Header: header, Body: slices.Clip(x.call.Body)})
}

func (x *exchange) traceResponse() {
	t := x.c.trace
	if t == nil || t.Response == nil {
		return
	}
	mask := x.c.auth().mask
	r := TraceResponse{Attempt: x.attempt, Status: x.resp.StatusCode, Proto: x.resp.Proto, After: time.Since(x.watch.began)}
	for name, values := range x.resp.Header {
		switch name {
		case "Set-Cookie", "Set-Cookie2":
			continue
		case "Location": // a query may hold anything
			values = []string{plainLocation(x.resp)}
		}
		for _, v := range values {
			r.Header = append(r.Header, wire.Header{Name: mask.text(name), Value: mask.text(v)})
		}
	}
	slices.SortStableFunc(r.Header, func(a, b wire.Header) int { return strings.Compare(a.Name, b.Name) })
	t.Response(r)
}

// plainLocation returns where a response redirects to, without user and query.
func plainLocation(r *http.Response) string {
	u, err := r.Location()
	if err != nil {
		return "(not a URL)"
	}
	return plainURL(u)
}

func (x *exchange) traceFailure(e *wire.Error, retry bool, wait time.Duration) {
	if t := x.c.trace; t != nil && t.Failed != nil {
		t.Failed(TraceFailure{Attempt: x.attempt, Err: e, Retry: retry, Wait: wait})
	}
}
