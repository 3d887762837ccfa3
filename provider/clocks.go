package provider

import (
	"context"
	"math"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"github.com/handwire/handwire/wire"
)

// The defaults of [Clocks].
const (
	DefaultConnect = 30 * time.Second
	DefaultHead    = 10 * time.Minute
	DefaultBytes   = 5 * time.Minute
	DefaultContent = 10 * time.Minute
)

// Clocks are limits of time. Of each, zero is the default and a negative value
// is none. They measure only how long the server is waited for: the time that
// the caller takes for an event does not count, but in Total.
type Clocks struct {
	// Connect is for looking the address up, dialling and shaking hands. Its
	// default is 30 s. It applies where the transport tells when it connects,
	// as net/http's does. The transport's own limits apply too: that of
	// [http.DefaultTransport] for dialling is 30 s.
	Connect time.Duration
	// Head is for the head of the response, from when the request is written.
	// Its default is 10 minutes, since some servers send nothing while a model
	// thinks.
	Head time.Duration
	// Bytes is for silence within the body of a response. Any byte ends it, also
	// one of a comment or a ping. Its default is 5 minutes.
	Bytes time.Duration
	// Content is for a body in which there is nothing but comments, pings,
	// usage and events that belong to no part of the message. Its default is 10
	// minutes.
	Content time.Duration
	// Total is for everything, with all attempts and the waits between them. It
	// has no default.
	Total time.Duration
}

// orDefault returns c with the defaults in place, 0 where there is no limit.
func (c Clocks) orDefault() Clocks {
	for _, f := range [...]struct {
		d     *time.Duration
		usual time.Duration
	}{
		{&c.Connect, DefaultConnect}, {&c.Head, DefaultHead}, {&c.Bytes, DefaultBytes}, {&c.Content, DefaultContent}, {&c.Total, 0},
	} {
		switch {
		case *f.d == 0:
			*f.d = f.usual
		case *f.d < 0:
			*f.d = 0
		}
	}
	return c
}

// Clock is the name of one of [Clocks].
type Clock string

// The clocks.
const (
	ClockConnect Clock = "connect"
	ClockHead    Clock = "head"
	ClockBytes   Clock = "bytes"
	ClockContent Clock = "content"
	ClockTotal   Clock = "total"
	// ClockClient is the Timeout of the caller's own http.Client, which here
	// is for one attempt.
	ClockClient Clock = "http.Client"
)

// TimeoutError is in the chain of an error whose reason is that one of the
// limits of [Clocks] was reached. The cause is connect for the first one, idle
// for Head and Bytes, stalled for Content, and deadline for Total and for the
// caller's own http.Client; [errors.Is] finds [context.DeadlineExceeded] in the
// last two alone.
type TimeoutError struct {
	Clock Clock
	Limit time.Duration
}

// Error says what was waited for, and for how long.
func (e *TimeoutError) Error() string {
	limit := short(e.Limit)
	switch e.Clock {
	case ClockConnect:
		return "there was no connection within " + limit
	case ClockHead:
		return "the server did not begin to answer within " + limit
	case ClockBytes:
		return "the server sent nothing for " + limit
	case ClockContent:
		return "the server sent signs of life and no content for " + limit
	case ClockClient:
		return "the Timeout of the http.Client, " + limit + ", ran out"
	}
	return "the time for the whole request, " + limit + ", ran out"
}

// error returns e as the error of a stream.
func (e *TimeoutError) error() *wire.Error {
	cause := wire.CauseDeadline
	switch e.Clock {
	case ClockConnect:
		cause = wire.CauseConnect
	case ClockHead, ClockBytes:
		cause = wire.CauseIdle
	case ClockContent:
		cause = wire.CauseStalled
	}
	return &wire.Error{Cause: cause, Message: e.Error(), Err: e}
}

// Timeout returns true, for [net.Error] and those who ask for it.
func (e *TimeoutError) Timeout() bool { return true }

// Is reports whether target is [context.DeadlineExceeded] and the limit one for
// the whole.
func (e *TimeoutError) Is(target error) bool {
	return target == context.DeadlineExceeded && (e.Clock == ClockTotal || e.Clock == ClockClient)
}

// short returns a duration without units that are zero: 10m rather than 10m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// watch ends an attempt when one of its clocks has run out. It has one timer,
// which when it fires looks at how long was waited, so that a read of the body
// costs two looks at the time and nothing else.
type watch struct {
	limits Clocks
	over   time.Time     // when the attempt as a whole ends
	why    *TimeoutError // and what is then told, nil if it has no end
	cancel context.CancelCauseFunc
	timer  *time.Timer

	fresh   atomic.Int32 // how many new connections there were
	began   time.Time
	phase   atomic.Int32
	since   atomic.Int64 // when the wait that goes on began, as time since began, or none
	stalled atomic.Int64 // how long was waited since there was content, without that wait
}

// none stands where no wait goes on.
const none = -1

// The phases of an attempt.
const (
	phaseStart   int32 = iota // the transport has told nothing
	phaseConnect              // it looks for a connection
	phaseHead                 // the request is on its way, or the server thinks
	phaseBody
	phaseOver
)

// start begins to measure.
func (w *watch) start() {
	w.began = time.Now()
	w.timer = time.AfterFunc(w.left(), w.fire)
}

// trace returns what the transport calls when it connects.
func (w *watch) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) { w.enter(phaseConnect) },
		GotConn: func(info httptrace.GotConnInfo) {
			w.enter(phaseHead)
			if !info.Reused && w.fresh.Add(1) > maxFresh {
				w.cancel(errWoundUp)
			}
		},
		WroteRequest: func(httptrace.WroteRequestInfo) { w.enter(phaseHead) },
	}
}

// enter begins a phase and its wait. What the transport tells once there is a
// head counts no more.
func (w *watch) enter(phase int32) {
	for now := w.phase.Load(); now < phaseBody; now = w.phase.Load() {
		if w.phase.CompareAndSwap(now, phase) {
			w.since.Store(int64(time.Since(w.began)))
			w.timer.Reset(w.left())
			return
		}
	}
}

// head begins the body.
func (w *watch) head() {
	w.since.Store(none)
	w.phase.Store(phaseBody)
	w.timer.Reset(w.left())
}

// stop ends all measuring.
func (w *watch) stop() {
	w.phase.Store(phaseOver)
	w.timer.Stop()
}

// reading is called before a read of the body, and read after it.
func (w *watch) reading() { w.since.Store(int64(time.Since(w.began))) }

func (w *watch) read() {
	since := w.since.Swap(none) // first, so that no moment counts twice
	w.stalled.Add(int64(time.Since(w.began)) - since)
}

// content says that there was some.
func (w *watch) content() { w.stalled.Store(0) }

// fire is what the timer calls.
func (w *watch) fire() {
	if why := w.ranOut(); why != nil {
		w.cancel(why)
	} else if w.phase.Load() != phaseOver {
		w.timer.Reset(w.left())
	}
}

// waits returns how long nothing has come, and how long no content.
func (w *watch) waits() (silent, stalled time.Duration) {
	stalled = time.Duration(w.stalled.Load())
	if since := w.since.Load(); since != none {
		silent = time.Since(w.began) - time.Duration(since)
		stalled += silent
	}
	return silent, stalled
}

// ranOut returns which limit is reached, nil if none.
func (w *watch) ranOut() *TimeoutError {
	phase := w.phase.Load()
	if phase == phaseOver {
		return nil
	}
	if w.why != nil && !time.Now().Before(w.over) {
		return w.why
	}
	silent, stalled := w.waits()
	l := &w.limits
	switch {
	case phase == phaseConnect && l.Connect > 0 && silent >= l.Connect:
		return &TimeoutError{ClockConnect, l.Connect}
	case phase < phaseBody && phase != phaseConnect && l.Head > 0 && silent >= l.Head:
		return &TimeoutError{ClockHead, l.Head}
	case phase == phaseBody && l.Bytes > 0 && silent >= l.Bytes:
		return &TimeoutError{ClockBytes, l.Bytes}
	case phase == phaseBody && l.Content > 0 && stalled >= l.Content:
		return &TimeoutError{ClockContent, l.Content}
	}
	return nil
}

// left returns for how long no limit can be reached. It is never less than a
// millisecond, so that the timer does not spin while nothing is waited for.
func (w *watch) left() time.Duration {
	least := time.Duration(math.MaxInt64)
	silent, stalled := w.waits()
	add := func(limit, waited time.Duration) {
		if limit > 0 {
			least = min(least, limit-waited)
		}
	}
	switch w.phase.Load() {
	case phaseConnect:
		add(w.limits.Connect, silent)
	case phaseBody:
		add(w.limits.Bytes, silent)
		add(w.limits.Content, stalled)
	default:
		add(w.limits.Head, silent)
	}
	if w.why != nil {
		least = min(least, time.Until(w.over))
	}
	return max(least, time.Millisecond)
}
