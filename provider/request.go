package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/handwire/handwire/retry"
	"github.com/handwire/handwire/wire"
)

// request is one request of the caller's, with all its attempts.
type request struct {
	c       *Client
	caller  context.Context
	call    wire.Call
	url     *url.URL
	began   time.Time
	attempt int  // of the one that runs, from 1
	tools   bool // the request has some
}

// prepare does all that can fail before anything is sent.
func (q *request) prepare(r *wire.Request, encode func(*wire.Call, *wire.Request) error) (e *wire.Error) {
	q.began = time.Now()
	if e := q.interrupted(); e != nil {
		return e
	}
	if e := q.c.auth().check(); e != nil {
		return e
	}
	q.tools = r != nil && len(r.Tools) > 0
	q.call.Body = make([]byte, 0, sizeOf(r))
	q.url, e = q.c.encodeWith(encode, &q.call, r)
	return e
}

// stream sends r and hands out all that there is to tell of it.
func (q *request) stream(r *wire.Request, yield func(wire.Event, error) bool) {
	d := delivery{yield: yield}
	e := q.prepare(r, q.c.codec.Encode)
	if e == nil {
		for _, notes := range [...][]wire.Note{q.c.auth().notes, q.call.Notes} {
			for i := range notes {
				if !yield(wire.Event{Kind: wire.EventNote, Note: &notes[i]}, nil) {
					return
				}
			}
		}
		e = q.attempts(func(x *exchange) *wire.Error { return x.receive(&d) }, func(n *wire.Note) bool {
			d.forget()
			return yield(wire.Event{Kind: wire.EventNote, Note: n}, nil)
		})
	}
	if e != nil {
		d.fail(q.c.auth().mask.error(e))
	}
}

// maxCountBody is how much of the answer to a count is read.
const maxCountBody = 64 << 10

// count asks how many input tokens r has.
func (q *request) count(r *wire.Request) (n int64, e *wire.Error) {
	counter, ok := q.c.codec.(wire.TokenCounter)
	if !ok {
		return 0, configError("the protocol " + q.c.codec.Protocol() + " has no call that counts tokens")
	}
	if q.c.exact {
		return 0, configError("tokens cannot be counted at an exact URL: set BaseURL instead")
	}
	if e := q.prepare(r, counter.EncodeCount); e != nil {
		return 0, e
	}
	e = q.attempts(func(x *exchange) (e *wire.Error) {
		n, e = x.count(counter)
		return e
	}, func(*wire.Note) bool { return true })
	return n, e
}

// count reads the answer to a count.
func (x *exchange) count(counter wire.TokenCounter) (int64, *wire.Error) {
	if x.resp.StatusCode/100 != 2 {
		return 0, x.refusal()
	}
	framing, src, e := x.framing()
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
	x.c.retry.Budget.Succeeded()
	return n, nil
}

// attempts sends the request until receive returns nil or no further attempt may
// follow, and then returns the last error. Told is given a note before each wait
// and returns false if the caller is gone.
func (q *request) attempts(receive func(*exchange) *wire.Error, told func(*wire.Note) bool) *wire.Error {
	for {
		q.attempt++
		e, wait := q.try(receive)
		if e == nil || wait < 0 {
			return e
		}
		if !told(&wire.Note{Code: wire.NoteRetried, Path: fmt.Sprintf("attempt %d", q.attempt),
			Detail: "sent again after " + short(wait.Round(time.Millisecond)) + ": " + e.Error()}) {
			return nil
		}
		if e := q.sleep(wait, e); e != nil {
			return e
		}
	}
}

// try makes one attempt. If it failed, wait is how long to wait for the next one,
// negative if there is to be none.
func (q *request) try(receive func(*exchange) *wire.Error) (e *wire.Error, wait time.Duration) {
	x := q.newExchange()
	defer x.close()
	if e = x.send(); e == nil {
		e = receive(x)
	}
	if e == nil {
		return nil, -1
	}
	e = q.c.auth().mask.error(e)
	policy := q.policy()
	wait, stop := policy.Next(q.attempt, x.verdict(e))
	if stop != "" {
		wait = -1
		e = q.final(e, stop)
	}
	x.traceFailure(e, wait >= 0, max(wait, 0))
	return e, wait
}

// policy returns the client's policy, with no more time than the caller has.
func (q *request) policy() retry.Policy {
	p := q.c.retry
	if p.MaxElapsed == 0 {
		p.MaxElapsed = retry.DefaultMaxElapsed
	}
	most := q.c.clocks.Total
	if d, ok := q.caller.Deadline(); ok {
		if left := d.Sub(q.began); most == 0 || left < most {
			most = left
		}
	}
	if most > 0 && (p.MaxElapsed < 0 || most <= p.MaxElapsed) {
		p.MaxElapsed = most - 1 // a wait that ends with the time leaves none for the attempt
	}
	return p
}

// final returns e as the error of the whole request.
func (q *request) final(e *wire.Error, stop retry.Stop) *wire.Error {
	c := *e
	if q.attempt > 1 {
		c.Attempts = q.attempt
	}
	hint := ""
	switch stop {
	case retry.StopServerWait:
		hint = "the server asks to be left alone for " + short(e.RetryAfter) + ", which is longer than is waited for"
	case retry.StopElapsed, retry.StopBudget:
		hint = "no further attempt was made: " + stop.Detail()
	}
	if hint != "" {
		if c.Hint != "" {
			hint = c.Hint + "; " + hint
		}
		c.Hint = hint
	}
	return &c
}

// sleep waits between two attempts. The error that the last one left stays
// reachable.
func (q *request) sleep(wait time.Duration, last *wire.Error) *wire.Error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-q.caller.Done():
	}
	e := q.interrupted()
	if e == nil {
		return nil
	}
	e.Err = fmt.Errorf("%w, in the wait after: %w", e.Err, last)
	e.Attempts = q.attempt
	return e
}

// interrupted returns the error of a request that the caller cancelled or whose
// context's time ran out, nil if neither.
func (q *request) interrupted() *wire.Error {
	err := q.caller.Err()
	if err == nil {
		return nil
	}
	cause := wire.CauseDeadline
	if errors.Is(err, context.Canceled) {
		cause = wire.CauseCancelled
	}
	if why := context.Cause(q.caller); why != err {
		err = fmt.Errorf("%w: %w", err, why)
	}
	return &wire.Error{Cause: cause, Message: err.Error(), Err: err}
}

// verdict says whether another attempt can help. What the vendor names counts
// first, the status last.
func (x *exchange) verdict(e *wire.Error) retry.Verdict {
	v := retry.Verdict{After: e.RetryAfter, Elapsed: time.Since(x.began)}
	switch e.Cause {
	case wire.CauseConnect:
		v.Retry = !permanent(e.Err)
	case wire.CauseTruncated, wire.CauseReset, wire.CauseIdle, wire.CauseStalled:
		v.Retry = x.resp == nil || x.resp.StatusCode/100 == 2 || retry.Status(x.resp.StatusCode, x.resp.Header.Get)
	case wire.CauseVendor:
		v.Retry = x.vendorVerdict(e)
	}
	return v
}

func (x *exchange) vendorVerdict(e *wire.Error) bool {
	switch e.Class {
	case wire.ClassQuota, wire.ClassAuth, wire.ClassPermission, wire.ClassBadRequest, wire.ClassNotFound, wire.ClassOverflow, wire.ClassContentFilter:
		return false
	}
	if x.resp == nil { // the transport said it by itself
		return e.Class != ""
	}
	status := x.resp.StatusCode
	if status/100 == 2 { // it came within the answer
		return e.Class != ""
	}
	if e.Class == wire.ClassRateLimit || e.Class == wire.ClassOverloaded {
		status = http.StatusTooManyRequests // whatever number the vendor gave it
	}
	return retry.Status(status, x.resp.Header.Get)
}

// delivery hands events out. What comes before the first part of an answer is
// held back, since an attempt that fails there may be made again.
type delivery struct {
	yield func(wire.Event, error) bool
	held  []wire.Event
	bytes int  // of what is held
	begun bool // nothing is held any more
	end   wire.Event
}

// The most that is held back. An answer that tells more before its first part is
// handed out, and its request not sent again.
const (
	maxHeld      = 64
	maxHeldBytes = 256 << 10
)

// event takes an event that is not the last one, and reports whether the caller
// wants more.
func (d *delivery) event(ev wire.Event) bool {
	if d.begun {
		return d.yield(ev, nil)
	}
	if ev.IsPart() {
		return d.release() && d.yield(ev, nil)
	}
	d.held = append(d.held, ev)
	d.bytes += len(ev.Raw)
	if ev.Usage != nil {
		d.bytes += len(ev.Usage.Vendor)
	}
	return len(d.held) < maxHeld && d.bytes < maxHeldBytes || d.release()
}

// release hands out what is held.
func (d *delivery) release() bool {
	held := d.held
	d.begun, d.held = true, nil
	for i := range held {
		if !d.yield(held[i], nil) {
			return false
		}
	}
	return true
}

// forget drops what an attempt left that is made again.
func (d *delivery) forget() { d.held, d.bytes, d.end = d.held[:0], 0, wire.Event{} }

// last hands out the end event.
func (d *delivery) last(ev wire.Event, err error) {
	if d.release() {
		d.yield(ev, err)
	}
}

// fail hands out the end of a request of which nothing came that counts.
func (d *delivery) fail(e *wire.Error) {
	ev := wire.Event{Kind: wire.EventEnd}
	end := wire.Ending{Cause: e.Cause}
	if d.end.End != nil {
		ev, end = d.end, *d.end.End
	}
	end.Err = e
	ev.End = &end
	d.last(ev, e)
}
