package provider

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"time"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/stream"
)

const (
	// drainTime and drainBytes bound what is read after the end event.
	drainTime  = 50 * time.Millisecond
	drainBytes = 256 << 10
)

// exchange is one attempt: a request, its response, and the clocks that watch
// them.
type exchange struct {
	*request
	ctx    context.Context // of the attempt
	cancel context.CancelCauseFunc
	watch  watch
	req    *http.Request
	resp   *http.Response
}

func (q *request) newExchange() *exchange {
	x := &exchange{request: q}
	x.ctx, x.cancel = context.WithCancelCause(q.caller)
	x.watch = watch{limits: q.c.clocks, cancel: x.cancel}
	if d := q.c.timeout; d > 0 {
		x.watch.over, x.watch.why = time.Now().Add(d), &TimeoutError{ClockClient, d}
	}
	if d := q.c.clocks.Total; d > 0 {
		if over := q.began.Add(d); x.watch.why == nil || over.Before(x.watch.over) {
			x.watch.over, x.watch.why = over, &TimeoutError{ClockTotal, d}
		}
	}
	x.watch.start()
	return x
}

// close ends the attempt, wherever it stands.
func (x *exchange) close() {
	x.watch.stop()
	x.cancel(nil)
	if x.resp != nil {
		x.resp.Body.Close()
	}
}

// send sends the request and waits for the head of the response.
func (x *exchange) send() *wire.Error {
	req, e := x.c.newRequest(httptrace.WithClientTrace(x.ctx, x.watch.trace()), x.url, &x.call)
	if e != nil {
		return e
	}
	x.req = req
	x.traceRequest()
	resp, err := x.c.http.Do(req)
	if err != nil {
		if strings.HasPrefix(withoutURL(err).Error(), "failed to parse Location header") { // and shows it
			return configError("the server redirects to an address that cannot be read")
		}
		e := *x.failure(err, wire.CauseConnect) // a copy, since it may be the transport's own
		if e.Cause == wire.CauseConnect && e.Hint == "" {
			e.Hint = connectHint
			if has[*tls.CertificateVerificationError](e.Err) {
				e.Hint = certificateHint
			}
		}
		return x.c.auth().mask.error(&e)
	}
	x.watch.head()
	resp.Body = &body{rc: resp.Body, x: x}
	x.resp = resp
	x.traceResponse()
	return nil
}

// receive hands out the events of a response. An error that it returns was not
// handed out, and neither was anything else of the answer.
func (x *exchange) receive(d *delivery) *wire.Error {
	if x.resp.StatusCode/100 != 2 {
		return x.refusal()
	}
	framing, src, e := x.framing()
	if e != nil {
		return e
	}
	dec := x.c.codec.NewDecoder(wire.Head{Status: x.resp.StatusCode, Framing: framing, Get: x.header})
	for ev := range stream.Read(src, &decoder{dec, x}, framing, x.c.stream) {
		if ev.Kind != wire.EventEnd {
			if ev.IsPart() {
				x.watch.content()
			} else {
				ev = x.masked(ev)
			}
			if !d.event(ev) {
				return nil
			}
			continue
		}
		x.watch.stop()
		reusable := false
		ev.Raw = x.c.auth().mask.data(ev.Raw)
		if ev.End != nil {
			end := *ev.End
			end.VendorFinish, end.Detail = x.c.auth().mask.text(end.VendorFinish), x.c.auth().mask.text(end.Detail)
			reusable = end.Cause == wire.CauseFinished || end.Cause == wire.CauseVendor
			if end.Err != nil {
				end.Err = x.described(end.Err)
				e = end.Err
			} else {
				x.c.retry.Budget.Succeeded()
			}
			ev.End = &end
		}
		switch {
		case e == nil:
			d.last(ev, nil)
		case d.begun:
			if x.attempt > 1 {
				e.Attempts = x.attempt
			}
			x.traceFailure(e, false, 0)
			d.last(ev, e)
			e = nil
		default:
			d.end = ev
		}
		if reusable {
			x.drain()
		}
		break
	}
	return e
}

// masked returns an event that belongs to no part, without credentials.
func (x *exchange) masked(ev wire.Event) wire.Event {
	mask := x.c.auth().mask
	switch ev.Kind {
	case wire.EventStart:
		if ev.Start != nil {
			start := *ev.Start
			start.Origin.Endpoint = x.c.endpoint
			if start.RequestID == "" {
				start.RequestID = x.requestID()
			}
			start.RequestID = mask.text(start.RequestID)
			start.Origin.Model, start.Origin.ResponseID = mask.data(start.Origin.Model), mask.data(start.Origin.ResponseID)
			start.RateLimit = slices.Clone(start.RateLimit)
			for i := range start.RateLimit {
				l := &start.RateLimit[i]
				l.Name, l.Reset = mask.data(l.Name), mask.data(l.Reset)
			}
			ev.Start = &start
		}
	case wire.EventUsage:
		if ev.Usage != nil {
			usage := *ev.Usage
			usage.Vendor = mask.data(usage.Vendor)
			ev.Usage = &usage
		}
	case wire.EventNote:
		if ev.Note != nil {
			ev.Note = &wire.Note{Code: ev.Note.Code, Path: mask.text(ev.Note.Path), Detail: mask.text(ev.Note.Detail)}
		}
	case wire.EventOther:
		ev.Raw = mask.data(ev.Raw)
	}
	return ev
}

// drain reads what is left of the body, so that its connection can be used
// again.
func (x *exchange) drain() {
	timer := time.AfterFunc(drainTime, x.close)
	defer timer.Stop()
	io.Copy(io.Discard, io.LimitReader(x.resp.Body, drainBytes))
}

// described returns a copy of an error of the stream with what the response
// says about it.
func (x *exchange) described(e *wire.Error) *wire.Error {
	d := *e
	if d.Status == 0 {
		d.Status = x.resp.StatusCode
	}
	if d.RequestID == "" {
		d.RequestID = x.requestID()
	}
	if d.Cause == wire.CauseProtocol && d.Hint == "" {
		d.Hint = "check that the server speaks " + x.c.codec.Protocol() + " at " + x.req.URL.EscapedPath()
	}
	return x.c.auth().mask.error(&d)
}

// header returns the first value of a header of the response, whose name is in
// the canonical form.
func (x *exchange) header(name string) string {
	if v := x.resp.Header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func (x *exchange) requestID() string {
	for _, name := range [...]string{"request-id", "x-request-id"} {
		if id := x.resp.Header.Get(name); id != "" {
			return id
		}
	}
	return ""
}

// failure says what an error of the transport was: the caller's doing, or else
// of the given cause.
func (x *exchange) failure(err error, cause wire.Cause) *wire.Error {
	if e := x.interrupted(err); e != nil {
		return e
	}
	if context.Cause(x.ctx) == errWoundUp {
		err = errWoundUp
	}
	return wire.AsError(told(err), cause)
}

// interrupted returns the error of an attempt that was cancelled or whose time
// ran out, nil if neither. The error that was seen, if any, helps where a
// deadline has passed that the context does not know of yet.
func (x *exchange) interrupted(seen error) *wire.Error {
	if e := x.request.interrupted(); e != nil {
		return e
	}
	if t, ok := errors.AsType[*TimeoutError](context.Cause(x.ctx)); ok {
		return t.error()
	}
	if t, ok := errors.AsType[net.Error](seen); ok && t.Timeout() {
		if d, ok := x.ctx.Deadline(); ok && !time.Now().Before(d) {
			return &wire.Error{Cause: wire.CauseDeadline, Message: context.DeadlineExceeded.Error(), Err: context.DeadlineExceeded}
		}
	}
	return nil
}

// decoder keeps an exchange that was cancelled from decoding what is buffered
// still.
type decoder struct {
	wire.Decoder
	x *exchange
}

func (d *decoder) Decode(dst []wire.Event, name string, data []byte) ([]wire.Event, error) {
	if d.x.ctx.Err() != nil {
		if e := d.x.interrupted(nil); e != nil {
			return dst, e
		}
	}
	return d.Decoder.Decode(dst, name, data)
}
