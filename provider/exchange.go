package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
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

// errClientTimeout is the cause of a request's context whose time was that of
// the caller's http.Client.
var errClientTimeout = fmt.Errorf("the Timeout of the http.Client ran out: %w", context.DeadlineExceeded)

// exchange is one request and its response.
type exchange struct {
	c      *Client
	caller context.Context
	ctx    context.Context // of the request
	cancel context.CancelFunc

	req  *http.Request
	resp *http.Response
}

func newExchange(ctx context.Context, c *Client) *exchange {
	x := &exchange{c: c, caller: ctx}
	if c.timeout > 0 {
		x.ctx, x.cancel = context.WithTimeoutCause(ctx, c.timeout, errClientTimeout)
	} else {
		x.ctx, x.cancel = context.WithCancel(ctx)
	}
	return x
}

// close ends the exchange, wherever it stands.
func (x *exchange) close() {
	x.cancel()
	if x.resp != nil {
		x.resp.Body.Close()
	}
}

func (x *exchange) run(r *wire.Request, yield func(wire.Event, error) bool) {
	var call wire.Call
	u, e := x.prepare(&call, r, x.c.codec.Encode)
	if e != nil {
		x.fail(e, yield)
		return
	}
	e = x.send(u, &call)
	for i := range call.Notes {
		if !yield(wire.Event{Kind: wire.EventNote, Note: &call.Notes[i]}, nil) {
			return
		}
	}
	if e == nil {
		e = x.receive(&call, yield)
	}
	if e != nil {
		x.fail(e, yield)
	}
}

// fail hands out the one pair of a failure that no decoder saw.
func (x *exchange) fail(e *wire.Error, yield func(wire.Event, error) bool) {
	e = x.c.auth().mask.error(e)
	yield(wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: e.Cause, Err: e}}, e)
}

// prepare does all that can fail before anything is sent.
func (x *exchange) prepare(call *wire.Call, r *wire.Request, encode func(*wire.Call, *wire.Request) error) (*url.URL, *wire.Error) {
	if e := x.interrupted(nil); e != nil {
		return nil, e
	}
	if e := x.c.auth().check(); e != nil {
		return nil, e
	}
	call.Body = make([]byte, 0, sizeOf(r))
	return x.c.encodeWith(encode, call, r)
}

// maxCountBody is how much of the answer to a count is read.
const maxCountBody = 64 << 10

// count asks how many input tokens r has.
func (x *exchange) count(r *wire.Request) (int64, *wire.Error) {
	counter, ok := x.c.codec.(wire.TokenCounter)
	if !ok {
		return 0, configError("the protocol " + x.c.codec.Protocol() + " has no call that counts tokens")
	}
	if x.c.exact {
		return 0, configError("tokens cannot be counted at an exact URL: set BaseURL instead")
	}
	var call wire.Call
	u, e := x.prepare(&call, r, counter.EncodeCount)
	if e == nil {
		e = x.send(u, &call)
	}
	if e != nil {
		return 0, e
	}
	if x.resp.StatusCode/100 != 2 {
		return 0, x.refusal(&call)
	}
	framing, src, e := x.framing(&call)
	switch {
	case e != nil:
		return 0, e
	case framing != wire.FramingWhole:
		return 0, x.unreadable("the answer to a count is no JSON document but " + string(framing))
	}
	body, err := io.ReadAll(io.LimitReader(src, maxCountBody))
	if err != nil {
		return 0, x.described(wire.AsError(err, wire.CauseReset))
	}
	n, err := counter.DecodeCount(body)
	if err != nil {
		return 0, x.described(wire.AsError(err, wire.CauseProtocol))
	}
	return n, nil
}

// send sends the request and waits for the head of the response.
func (x *exchange) send(u *url.URL, call *wire.Call) *wire.Error {
	req, e := x.c.newRequest(x.ctx, u, call)
	if e != nil {
		return e
	}
	x.req = req
	resp, err := x.c.http.Do(req)
	if err != nil {
		if strings.HasPrefix(withoutURL(err).Error(), "failed to parse Location header") { // and shows it
			return configError("the server redirects to an address that cannot be read")
		}
		e := *x.failure(err, wire.CauseConnect) // a copy, since it may be the transport's own
		if e.Cause == wire.CauseConnect && e.Hint == "" {
			e.Hint = connectHint
		}
		return &e
	}
	resp.Body = &body{rc: resp.Body, x: x}
	x.resp = resp
	return nil
}

// receive hands out the events of a response. An error that it returns was not
// handed out.
func (x *exchange) receive(call *wire.Call, yield func(wire.Event, error) bool) *wire.Error {
	if x.resp.StatusCode/100 != 2 {
		return x.refusal(call)
	}
	framing, src, e := x.framing(call)
	if e != nil {
		return e
	}
	mask := x.c.auth().mask
	dec := x.c.codec.NewDecoder(wire.Head{Status: x.resp.StatusCode, Framing: framing, Get: x.header})
	for ev, err := range stream.Read(src, &decoder{dec, x}, framing, x.c.stream) {
		reusable := false
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
		case wire.EventEnd:
			ev.Raw = mask.data(ev.Raw)
			if ev.End != nil {
				end := *ev.End
				end.VendorFinish, end.Detail = mask.text(end.VendorFinish), mask.text(end.Detail)
				reusable = end.Cause == wire.CauseFinished || end.Cause == wire.CauseVendor
				if end.Err != nil {
					end.Err = x.described(end.Err)
					err = end.Err
				}
				ev.End = &end
			}
		}
		left := !yield(ev, err)
		if reusable {
			x.drain()
		}
		if left || ev.Kind == wire.EventEnd {
			break
		}
	}
	return nil
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
	return wire.AsError(withoutURL(err), cause)
}

// interrupted returns the error of a request that was cancelled or whose time
// ran out, nil if neither. The error that was seen, if any, helps where a
// deadline has passed that the context does not know of yet.
func (x *exchange) interrupted(seen error) *wire.Error {
	cause := wire.CauseDeadline
	err := x.caller.Err()
	if err != nil {
		if errors.Is(err, context.Canceled) {
			cause = wire.CauseCancelled
		}
		if why := context.Cause(x.caller); why != err {
			err = fmt.Errorf("%w: %w", err, why)
		}
	} else if context.Cause(x.ctx) == errClientTimeout {
		err = errClientTimeout
	} else if t := net.Error(nil); errors.As(seen, &t) && t.Timeout() {
		if d, ok := x.ctx.Deadline(); ok && !time.Now().Before(d) {
			err = context.DeadlineExceeded
		}
	}
	if err == nil {
		return nil
	}
	return &wire.Error{Cause: cause, Message: err.Error(), Err: err}
}

// withoutURL returns what is inside of an error that prints a URL with its
// query.
func withoutURL(err error) error {
	for {
		var ue *url.Error
		if !errors.As(err, &ue) || ue.Err == nil {
			return err
		}
		err = ue.Err
	}
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
