package provider_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/retry"
	"github.com/handwire/handwire/wire"
)

// step is one piece of a body, and how long it is waited for.
type step struct {
	wait time.Duration
	data string
}

// paced is a body that comes in its own time, and then is silent.
type paced struct {
	ctx   context.Context
	steps []step
	eof   bool // the body ends after the last step
}

func (p *paced) Read(b []byte) (int, error) {
	if len(p.steps) == 0 {
		if p.eof {
			return 0, io.EOF
		}
		<-p.ctx.Done()
		return 0, context.Cause(p.ctx)
	}
	s := &p.steps[0]
	select {
	case <-time.After(s.wait):
	case <-p.ctx.Done():
		return 0, context.Cause(p.ctx)
	}
	s.wait = 0
	n := copy(b, s.data)
	if s.data = s.data[n:]; s.data == "" {
		p.steps = p.steps[1:]
	}
	return n, nil
}

// pacedBody makes a client get a body of steps.
func pacedBody(eof bool, steps ...step) func(*provider.Config) {
	return responds(200, "text/event-stream", func(r *http.Request) io.Reader {
		return &paced{r.Context(), append([]step(nil), steps...), eof}
	})
}

// every is n pieces, one each wait.
func every(wait time.Duration, data string, n int) []step {
	steps := make([]step, n)
	for i := range steps {
		steps[i] = step{wait, data}
	}
	return steps
}

// hangs is a transport that does what a step does, and then waits for the
// request's end.
func hangs(begin func(*httptrace.ClientTrace)) func(*provider.Config) {
	return func(cfg *provider.Config) {
		cfg.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && begin != nil {
				begin(trace)
			}
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		})}
	}
}

func TestClocks(t *testing.T) {
	const never = 0
	const comment = ": wait\n\n"
	other := sse(`{"other":{"ping":1}}`)
	usage := sse(`{"usage":{}}`)
	for _, tt := range []struct {
		name   string
		clocks provider.Clocks
		use    func(*provider.Config)
		cause  wire.Cause // empty: the stream finishes
		clock  provider.Clock
		after  time.Duration
	}{
		{"head, default", provider.Clocks{}, hangs(nil), wire.CauseIdle, provider.ClockHead, 10 * time.Minute},
		{"head", provider.Clocks{Head: time.Second}, hangs(nil), wire.CauseIdle, provider.ClockHead, time.Second},
		{"head, off", provider.Clocks{Head: -1, Total: 48 * time.Hour}, hangs(nil), wire.CauseDeadline, provider.ClockTotal, 48 * time.Hour},
		{"connect, default", provider.Clocks{}, hangs(func(c *httptrace.ClientTrace) { c.GetConn("h:1") }), wire.CauseConnect, provider.ClockConnect, 30 * time.Second},
		{"connect", provider.Clocks{Connect: time.Second, Head: time.Minute}, hangs(func(c *httptrace.ClientTrace) { c.GetConn("h:1") }), wire.CauseConnect, provider.ClockConnect, time.Second},
		{"connect, off", provider.Clocks{Connect: -1, Total: time.Hour}, hangs(func(c *httptrace.ClientTrace) { c.GetConn("h:1") }), wire.CauseDeadline, provider.ClockTotal, time.Hour},
		{"connected", provider.Clocks{Connect: time.Second, Head: time.Minute}, hangs(func(c *httptrace.ClientTrace) {
			c.GetConn("h:1")
			time.Sleep(900 * time.Millisecond)
			c.GotConn(httptrace.GotConnInfo{})
		}), wire.CauseIdle, provider.ClockHead, time.Minute + 900*time.Millisecond},
		{"a long request", provider.Clocks{Head: time.Minute}, hangs(func(c *httptrace.ClientTrace) {
			c.GetConn("h:1")
			c.GotConn(httptrace.GotConnInfo{})
			time.Sleep(50 * time.Second)
			c.WroteRequest(httptrace.WroteRequestInfo{})
		}), wire.CauseIdle, provider.ClockHead, time.Minute + 50*time.Second},
		{"a second connection", provider.Clocks{Connect: time.Second, Head: time.Minute}, hangs(func(c *httptrace.ClientTrace) {
			c.GetConn("h:1")
			c.GotConn(httptrace.GotConnInfo{Reused: true})
			time.Sleep(10 * time.Second)
			c.GetConn("h:1")
		}), wire.CauseConnect, provider.ClockConnect, 11 * time.Second},

		{"F102 bytes, default", provider.Clocks{}, pacedBody(false, step{time.Second, sse(hi)}), wire.CauseIdle, provider.ClockBytes, 5*time.Minute + time.Second},
		{"bytes", provider.Clocks{Bytes: time.Second}, pacedBody(false, step{0, sse(hi)}), wire.CauseIdle, provider.ClockBytes, time.Second},
		{"bytes, within an event", provider.Clocks{Bytes: time.Second}, pacedBody(false, step{0, sse(hi) + "dat"}), wire.CauseIdle, provider.ClockBytes, time.Second},
		{"bytes, off", provider.Clocks{Bytes: -1}, pacedBody(false, step{0, sse(hi)}), wire.CauseStalled, provider.ClockContent, 10 * time.Minute},
		{"F102 any byte counts", provider.Clocks{Bytes: 100 * time.Millisecond}, pacedBody(true, append(append([]step{{0, sse(hi)}}, every(50*time.Millisecond, ":", 10)...), step{50 * time.Millisecond, "\n" + sse(stop)})...), "", "", never},
		{"just in time", provider.Clocks{Bytes: time.Second}, pacedBody(true, step{999 * time.Millisecond, sse(hi)}, step{999 * time.Millisecond, sse(stop)}), "", "", never},

		{"content, default", provider.Clocks{}, pacedBody(false, every(59*time.Second, comment, 100)...), wire.CauseStalled, provider.ClockContent, 10 * time.Minute},
		{"content", provider.Clocks{Content: time.Minute}, pacedBody(false, append([]step{{time.Second, sse(hi)}}, every(7*time.Second, comment, 100)...)...), wire.CauseStalled, provider.ClockContent, 61 * time.Second},
		{"content, other events", provider.Clocks{Content: time.Minute}, pacedBody(false, every(7*time.Second, other, 100)...), wire.CauseStalled, provider.ClockContent, time.Minute},
		{"content, usage", provider.Clocks{Content: time.Minute}, pacedBody(false, every(7*time.Second, usage, 100)...), wire.CauseStalled, provider.ClockContent, time.Minute},
		{"content comes", provider.Clocks{Content: time.Minute}, pacedBody(true, append(every(30*time.Second, comment+sse(hi), 100), step{0, sse(stop)})...), "", "", never},
		{"content, off", provider.Clocks{Content: -1}, pacedBody(true, append(every(time.Minute, comment, 100), step{0, sse(hi, stop)})...), "", "", never},

		{"total", provider.Clocks{Total: time.Minute}, pacedBody(false, every(time.Second, sse(hi), 1000)...), wire.CauseDeadline, provider.ClockTotal, time.Minute},
		{"http.Client", provider.Clocks{Total: time.Hour}, func(cfg *provider.Config) {
			pacedBody(false, every(time.Second, sse(hi), 1000)...)(cfg)
			cfg.HTTP.Timeout = 20 * time.Second
		}, wire.CauseDeadline, provider.ClockClient, 20 * time.Second},
		{"the body of an error", provider.Clocks{Bytes: time.Second}, responds(500, "application/json", func(r *http.Request) io.Reader {
			return &paced{ctx: r.Context(), steps: []step{{0, `{"error":`}}}
		}), wire.CauseIdle, provider.ClockBytes, time.Second},
		{"a body of unknown type", provider.Clocks{Bytes: time.Second}, responds(200, "text/plain", func(r *http.Request) io.Reader {
			return &paced{ctx: r.Context(), steps: []step{{0, `dat`}}}
		}), wire.CauseIdle, provider.ClockBytes, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newClient(t, "http://h.example", tt.use, func(cfg *provider.Config) { cfg.Clocks = tt.clocks })
				begin := time.Now()
				res := read(t, c, t.Context(), text("q"))
				took := time.Since(begin)
				if tt.cause == "" {
					if res.err != nil {
						t.Errorf("after %v: %v", took, res.err)
					}
					return
				}
				wantError(t, res.err, tt.cause)
				var timeout *provider.TimeoutError
				if !errors.As(res.err, &timeout) || timeout.Clock != tt.clock || !timeout.Timeout() {
					t.Errorf("inside: %#v, want the clock %s", res.err.Err, tt.clock)
				}
				if took < tt.after || took > tt.after+time.Millisecond {
					t.Errorf("after %v, want %v", took, tt.after)
				}
				if got, want := errors.Is(res.err, context.DeadlineExceeded), tt.cause == wire.CauseDeadline; got != want {
					t.Errorf("errors.Is finds context.DeadlineExceeded: %v, want %v", got, want)
				}
				if errors.Is(res.err, context.Canceled) {
					t.Error("errors.Is finds context.Canceled")
				}
			})
		})
	}
}

// TestClocksOfTheCaller: what the caller takes for an event is not waiting for
// the server.
func TestClocksOfTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, "http://h.example", pacedBody(true, step{0, sse(hi)}, step{900 * time.Millisecond, sse(hi)}, step{900 * time.Millisecond, sse(hi, stop)}),
			func(cfg *provider.Config) { cfg.Clocks = provider.Clocks{Bytes: time.Second, Content: 2 * time.Second} })
		n := 0
		for ev, err := range c.Stream(t.Context(), text("q")) {
			if err != nil {
				t.Fatal(err)
			}
			if ev.Text() != "" {
				n++
				time.Sleep(time.Hour)
			}
		}
		if n != 3 {
			t.Errorf("%d deltas", n)
		}
	})
	synctest.Test(t, func(t *testing.T) { // and yet a server that is silent afterwards is found out in time
		c := newClient(t, "http://h.example", pacedBody(false, step{0, sse(hi)}), func(cfg *provider.Config) { cfg.Clocks.Bytes = time.Second })
		var left time.Time
		for ev, err := range c.Stream(t.Context(), text("q")) {
			if ev.Text() != "" {
				time.Sleep(10*time.Hour + 700*time.Millisecond)
				left = time.Now()
			}
			if ev.Kind == wire.EventEnd {
				wantError(t, wire.AsError(err, ""), wire.CauseIdle)
			}
		}
		if d := time.Since(left); d < time.Second || d > time.Second+time.Millisecond {
			t.Errorf("found after %v", d)
		}
	})
}

// TestClocksTotal: the time for the whole counts the attempts and the waits
// between them; that of the caller's http.Client is for each attempt.
func TestClocksTotal(t *testing.T) {
	fails := func(after time.Duration) func(*provider.Config) {
		return responds(503, "application/json", func(r *http.Request) io.Reader {
			return &paced{ctx: r.Context(), steps: []step{{after, `{"error":{"message":"m"}}`}}, eof: true}
		})
	}
	policy := &retry.Policy{MaxAttempts: 100, BaseDelay: time.Second, MaxDelay: time.Second, MaxElapsed: -1, Rand: func() float64 { return 0.5 }}
	for _, tt := range []struct {
		name     string
		use      func(*provider.Config)
		clocks   provider.Clocks
		cause    wire.Cause
		attempts int
		after    time.Duration
	}{
		{"in an attempt", fails(time.Second), provider.Clocks{Total: 3500 * time.Millisecond}, wire.CauseDeadline, 3, 3500 * time.Millisecond},
		{"in the next one", fails(time.Second), provider.Clocks{Total: 4600 * time.Millisecond}, wire.CauseDeadline, 4, 4600 * time.Millisecond},
		{"no wait in vain", fails(time.Second), provider.Clocks{Total: 4400 * time.Millisecond}, wire.CauseVendor, 3, 4 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				c := newClient(t, "http://h.example", tt.use, func(cfg *provider.Config) {
					cfg.Clocks, cfg.Retry = tt.clocks, policy
					cfg.Trace = &provider.Trace{Request: func(provider.TraceRequest) { n++ }}
				})
				begin := time.Now()
				e := read(t, c, t.Context(), text("q")).err
				wantError(t, e, tt.cause)
				if took := time.Since(begin); n != tt.attempts || took != tt.after {
					t.Errorf("%d attempts in %v, want %d in %v: %v", n, took, tt.attempts, tt.after, e)
				}
			})
		})
	}
	t.Run("http.Client", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newClient(t, "http://h.example", fails(time.Second), func(cfg *provider.Config) {
				cfg.HTTP.Timeout = 2 * time.Second
				cfg.Retry = &retry.Policy{MaxAttempts: 4, BaseDelay: -1}
			})
			begin := time.Now()
			e := read(t, c, t.Context(), text("q")).err
			wantError(t, e, wire.CauseVendor)
			if took := time.Since(begin); e.Attempts != 4 || took != 4*time.Second {
				t.Errorf("%d attempts in %v", e.Attempts, took)
			}
		})
	})
}

// TestTimeoutText: the texts name the limit that can be changed, in short form.
func TestTimeoutText(t *testing.T) {
	for _, tt := range []struct {
		e    provider.TimeoutError
		want string
	}{
		{provider.TimeoutError{Clock: provider.ClockConnect, Limit: 30 * time.Second}, "30s"},
		{provider.TimeoutError{Clock: provider.ClockHead, Limit: 10 * time.Minute}, "10m"},
		{provider.TimeoutError{Clock: provider.ClockBytes, Limit: 90 * time.Second}, "1m30s"},
		{provider.TimeoutError{Clock: provider.ClockContent, Limit: 2 * time.Hour}, "2h"},
		{provider.TimeoutError{Clock: provider.ClockTotal, Limit: 1500 * time.Millisecond}, "1.5s"},
		{provider.TimeoutError{Clock: provider.ClockClient, Limit: time.Second}, "http.Client"},
	} {
		if got := tt.e.Error(); !strings.Contains(got, tt.want) || strings.Contains(got, "m0s") {
			t.Errorf("%q, want %q in it", got, tt.want)
		}
	}
}
