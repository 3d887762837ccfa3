package provider_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/retry"
	"github.com/handwire/handwire/wire"
)

// try is what one attempt meets: a response, or an error of the transport.
type try struct {
	status int
	header string // "Name: value" lines
	body   string
	rest   error // what the body ends with, nil for a clean end
	err    error
}

// server answers one attempt after the other, the last one again and again.
type server struct {
	tries  []try
	bodies []string // of the requests
	open   int      // bodies of responses
	at     []time.Duration
	begin  time.Time
}

func (s *server) use(cfg *provider.Config) {
	s.begin = time.Now()
	cfg.HTTP = &http.Client{Transport: s}
	cfg.Retry = &retry.Policy{Rand: func() float64 { return 0.5 }}
}

type serverBody struct {
	io.Reader
	s *server
}

func (b *serverBody) Close() error { b.s.open--; return nil }

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	r.Body.Close()
	s.bodies = append(s.bodies, string(body))
	s.at = append(s.at, time.Since(s.begin))
	a := s.tries[min(len(s.bodies), len(s.tries))-1]
	if a.err != nil {
		return nil, a.err
	}
	if s.open != 0 {
		return nil, errors.New("the last body was not closed")
	}
	s.open++
	h := http.Header{"Content-Type": {"text/event-stream"}}
	if a.status != 200 {
		h.Set("Content-Type", "application/json")
	}
	for line := range strings.Lines(a.header) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		h.Set(name, value)
	}
	var rd io.Reader = strings.NewReader(a.body)
	if a.rest != nil {
		rd = io.MultiReader(rd, readerFunc(func([]byte) (int, error) { return 0, a.rest }))
	}
	return &http.Response{StatusCode: a.status, Header: h, Body: &serverBody{rd, s}, Request: r}, nil
}

func failure(status int, class string) try {
	return try{status: status, body: fmt.Sprintf(`{"error":{"type":%q,"message":"m"}}`, class)}
}

var fine = try{status: 200, body: sse(`{"start":"r2"}`, hi, stop)}

// TestAttempts: what is sent again and what is not, and when.
func TestAttempts(t *testing.T) {
	const half = 250 * time.Millisecond // of the first wait
	dns := &net.DNSError{Err: "no such host", Name: "h.example", IsNotFound: true}
	for _, tt := range []struct {
		name  string
		tries []try
		cause wire.Cause // empty: it finishes with the text hi
		at    []time.Duration
	}{
		{"F101 400", []try{failure(400, ""), fine}, wire.CauseVendor, []time.Duration{0}},
		{"F101 401", []try{failure(401, ""), fine}, wire.CauseVendor, []time.Duration{0}},
		{"F101 403", []try{failure(403, ""), fine}, wire.CauseVendor, []time.Duration{0}},
		{"F101 404", []try{failure(404, ""), fine}, wire.CauseVendor, []time.Duration{0}},
		{"F101 422", []try{failure(422, ""), fine}, wire.CauseVendor, []time.Duration{0}},
		{"F101 501", []try{failure(501, ""), fine}, wire.CauseVendor, []time.Duration{0}},
		{"F101 501, whatever its class", []try{failure(501, "server"), fine}, wire.CauseVendor, []time.Duration{0}},
		{"F101 408", []try{failure(408, ""), fine}, "", []time.Duration{0, half}},
		{"F101 409", []try{failure(409, ""), fine}, wire.CauseVendor, []time.Duration{0}},
		{"F101 409 where the server says so", []try{{status: 409, header: "x-should-retry: true", body: "{}"}, fine}, "", []time.Duration{0, half}},
		{"F101 429", []try{failure(429, ""), fine}, "", []time.Duration{0, half}},
		{"F101 500", []try{failure(500, ""), fine}, "", []time.Duration{0, half}},
		{"F101 500 where the server says no", []try{{status: 500, header: "x-should-retry: false", body: "{}"}, fine}, wire.CauseVendor, []time.Duration{0}},
		{"F101 502", []try{failure(502, ""), fine}, "", []time.Duration{0, half}},
		{"F101 503", []try{failure(503, ""), fine}, "", []time.Duration{0, half}},
		{"F101 504", []try{failure(504, ""), fine}, "", []time.Duration{0, half}},
		{"F92a 529", []try{failure(529, "overloaded"), fine}, "", []time.Duration{0, half}},
		{"F93 a page", []try{{status: 502, header: "Content-Type: text/html", body: "<html>"}, fine}, "", []time.Duration{0, half}},
		{"F93 an empty body", []try{{status: 500}, fine}, "", []time.Duration{0, half}},
		{"the class before the status", []try{failure(503, "auth"), fine}, wire.CauseVendor, []time.Duration{0}},
		{"an overload of another status", []try{failure(400, "overloaded"), fine}, "", []time.Duration{0, half}},
		{"F91 quota", []try{{status: 429, header: "Retry-After: 1", body: `{"error":{"type":"quota","message":"m"}}`}, fine}, wire.CauseVendor, []time.Duration{0}},
		{"F91 quota that the server would have tried again", []try{{status: 429, header: "x-should-retry: true", body: `{"error":{"type":"quota","message":"m"}}`}, fine}, wire.CauseVendor, []time.Duration{0}},
		{"F98 overflow", []try{failure(413, "overflow"), fine}, wire.CauseVendor, []time.Duration{0}},

		{"three attempts", []try{failure(500, ""), failure(503, ""), fine}, "", []time.Duration{0, half, 3 * half}},
		{"and no more", []try{failure(500, "")}, wire.CauseVendor, []time.Duration{0, half, 3 * half}},
		{"F88 the server's wish", []try{{status: 429, header: "Retry-After: 2\nretry-after-ms: 350"}, fine}, "", []time.Duration{0, 350*time.Millisecond + half}},
		{"F89 a wish that is honoured", []try{{status: 429, header: "Retry-After: 60"}, fine}, "", []time.Duration{0, time.Minute + half}},
		{"F89 one that is not", []try{{status: 429, header: "Retry-After: 86400"}, fine}, wire.CauseVendor, []time.Duration{0}},
		{"F89 nor this", []try{{status: 503, header: "Retry-After: 99999999999999999999"}, fine}, wire.CauseVendor, []time.Duration{0}},

		{"no connection", []try{{err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, fine}, "", []time.Duration{0, half}},
		{"no response on it", []try{{err: io.EOF}, fine}, "", []time.Duration{0, half}},
		{"no such host", []try{{err: dns}, fine}, wire.CauseConnect, []time.Duration{0}},
		{"a host that cannot be looked up now", []try{{err: &net.DNSError{Err: "timeout", IsTimeout: true}}, fine}, "", []time.Duration{0, half}},
		{"a certificate", []try{{err: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}, fine}, wire.CauseConnect, []time.Duration{0}},
		{"an alert", []try{{err: &net.OpError{Op: "remote error", Err: tls.AlertError(42)}}, fine}, wire.CauseConnect, []time.Duration{0}},
		{"an alert of a server that failed", []try{{err: &net.OpError{Op: "remote error", Err: tls.AlertError(80)}}, fine}, "", []time.Duration{0, half}},
		{"not TLS", []try{{err: tls.RecordHeaderError{Msg: "x"}}, fine}, wire.CauseConnect, []time.Duration{0}},
		{"not TLS, by the client", []try{{err: http.ErrSchemeMismatch}, fine}, wire.CauseConnect, []time.Duration{0}},
		{"redirect", []try{{status: 307, header: "Location: http://b.example/"}, fine}, wire.CauseConfig, []time.Duration{0}},

		{"F14 an empty body", []try{{status: 200}, fine}, "", []time.Duration{0, half}},
		{"F92b an overload in the stream", []try{{status: 200, body: sse(`{"start":"r1"}`, `{"usage":{}}`, `{"error":"overloaded"}`)}, fine}, "", []time.Duration{0, half}},
		{"another error in the stream", []try{{status: 200, body: sse(`{"start":"r1"}`, `{"error":"no"}`)}, fine}, wire.CauseVendor, []time.Duration{0}},
		{"quota in the stream", []try{{status: 200, body: sse(`{"start":"r1"}`, `{"error":"quota"}`)}, fine}, wire.CauseVendor, []time.Duration{0}},
		{"cut after the start", []try{{status: 200, body: sse(`{"start":"r1"}`)}, fine}, "", []time.Duration{0, half}},
		{"reset after the start", []try{{status: 200, body: sse(`{"start":"r1"}`), rest: syscall.ECONNRESET}, fine}, "", []time.Duration{0, half}},
		{"F92c an overload after text", []try{{status: 200, body: sse(hi, `{"error":"overloaded"}`)}, fine}, wire.CauseVendor, []time.Duration{0}},
		{"F90 reset after text", []try{{status: 200, body: sse(hi), rest: syscall.ECONNRESET}, fine}, wire.CauseReset, []time.Duration{0}},
		{"not the protocol", []try{{status: 200, body: sse("{")}, fine}, wire.CauseProtocol, []time.Duration{0}},
		{"a page instead of a stream", []try{{status: 200, header: "Content-Type: text/html", body: "<html>"}, fine}, wire.CauseProtocol, []time.Duration{0}},
		{"the body of an error breaks off", []try{{status: 503, body: `{"err`, rest: io.ErrUnexpectedEOF}, fine}, "", []time.Duration{0, half}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := server{tries: tt.tries}
				res := read(t, newClient(t, "http://h.example", s.use), t.Context(), text("q"))
				if d := cmp.Diff(tt.at, s.at); d != "" {
					t.Errorf("times of the attempts (-want +got):\n%s", d)
				}
				if s.open != 0 {
					t.Error("a body is open")
				}
				for _, b := range s.bodies {
					if b != s.bodies[0] || b == "" {
						t.Errorf("body %q, the first was %q", b, s.bodies[0])
					}
				}
				var notes, starts []string
				for _, ev := range res.events {
					if ev.Kind == wire.EventNote {
						notes = append(notes, string(ev.Note.Code)+" "+ev.Note.Path)
					}
					if ev.Kind == wire.EventStart {
						starts = append(starts, ev.Start.Origin.ResponseID)
					}
				}
				var want []string
				for i := range len(tt.at) - 1 {
					want = append(want, fmt.Sprintf("retried attempt %d", i+1))
				}
				if d := cmp.Diff(want, notes); d != "" {
					t.Errorf("notes (-want +got):\n%s", d)
				}
				if tt.cause != "" {
					wantError(t, res.err, tt.cause)
					if n := res.err.Attempts; n != len(tt.at) && (n != 0 || len(tt.at) != 1) {
						t.Errorf("the error says %d attempts", n)
					}
					return
				}
				if res.err != nil || res.text != "hi" || !slices.Equal(starts, []string{"r2"}) {
					t.Errorf("got %q of %q, %v", res.text, starts, res.err)
				}
			})
		})
	}
}

// TestAttemptsTell: the note says why, the error what the server asked for.
func TestAttemptsTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := server{tries: []try{{status: 429, header: "Retry-After: 2\nRequest-Id: req_1", body: `{"error":{"type":"rate_limit","message":"slow down, ` + key + `"}}`}, fine}}
		c := newClient(t, "http://h.example", s.use, func(cfg *provider.Config) { cfg.Codec = toy{notes: []wire.Note{{Code: wire.NoteDropped, Path: "x"}}} })
		res := read(t, c, t.Context(), text("q"))
		var notes []wire.Note
		for _, ev := range res.events[:2] {
			notes = append(notes, *ev.Note)
		}
		if d := cmp.Diff([]wire.Note{{Code: wire.NoteDropped, Path: "x"}, {Code: wire.NoteRetried, Path: "attempt 1",
			Detail: "sent again after 2.25s: vendor_error (rate_limit): status 429: rate_limit: slow down, [key hidden] (request id req_1)"}}, notes); d != "" {
			t.Errorf("notes (-want +got):\n%s", d)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := server{tries: []try{{status: 429, header: "Retry-After: 86400", body: `{"error":{"type":"rate_limit","message":"m"}}`}}}
		e := read(t, newClient(t, "http://h.example", s.use), t.Context(), text("q")).err
		wantError(t, e, wire.CauseVendor, "24h")
		if e.RetryAfter != 24*time.Hour || e.Class != wire.ClassRateLimit {
			t.Errorf("got %v, %s", e.RetryAfter, e.Class)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := server{tries: []try{failure(500, "")}}
		e := read(t, newClient(t, "http://h.example", s.use), t.Context(), text("q")).err
		wantError(t, e, wire.CauseVendor, "attempt 3 was the last")
	})
}

// TestAttemptsHold: what comes before the first part is held back until it
// cannot be taken back any more, and in the order in which it came.
func TestAttemptsHold(t *testing.T) {
	kinds := func(evs []wire.Event) (all []string) {
		for _, ev := range evs {
			all = append(all, string(ev.Kind))
		}
		return all
	}
	t.Run("a failure that is final tells all", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := server{tries: []try{{status: 200, body: sse(`{"start":"r1"}`, `{"odd":"o"}`, `{"other":1}`, `{"usage":{}}`, `{"error":"auth"}`)}}}
			res := read(t, newClient(t, "http://h.example", s.use), t.Context(), text("q"))
			if d := cmp.Diff([]string{"start", "note", "other", "usage", "end"}, kinds(res.events)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			wantError(t, res.err, wire.CauseVendor, "auth")
		})
	})
	t.Run("a finish without parts", func(t *testing.T) {
		s := server{tries: []try{{status: 200, body: sse(`{"start":"r1"}`, `{"usage":{}}`, stop)}}}
		res := read(t, newClient(t, "http://h.example", s.use), t.Context(), text("q"))
		if d := cmp.Diff([]string{"start", "usage", "end"}, kinds(res.events)); d != "" || res.err != nil {
			t.Errorf("%v (-want +got):\n%s", res.err, d)
		}
	})
	for name, filler := range map[string]string{
		"many events":  strings.Repeat(sse(`{"other":1}`), 70),
		"large events": strings.Repeat(sse(`{"other":"`+strings.Repeat("x", 50<<10)+`"}`), 6),
		"large usage":  strings.Repeat(sse(`{"usage":"`+strings.Repeat("x", 50<<10)+`"}`), 6),
	} {
		t.Run("no more than a bound, "+name, func(t *testing.T) {
			s := server{tries: []try{{status: 200, body: sse(`{"start":"r1"}`) + filler + sse(`{"error":"overloaded"}`)}, fine}}
			res := read(t, newClient(t, "http://h.example", s.use), t.Context(), text("q"))
			wantError(t, res.err, wire.CauseVendor, "overloaded")
			if n := strings.Count(filler, "data:"); len(s.at) != 1 || len(res.events) != n+2 {
				t.Errorf("%d attempts, %d events of %d", len(s.at), len(res.events), n+2)
			}
		})
	}
	t.Run("leaving at each event", func(t *testing.T) {
		body := sse(`{"start":"r1"}`, `{"odd":"o"}`, `{"usage":{}}`, hi, hi, stop)
		for n := 1; ; n++ {
			s := server{tries: []try{failure(500, ""), {status: 200, body: body}}}
			c := newClient(t, "http://h.example", s.use, func(cfg *provider.Config) { cfg.Retry.BaseDelay = -1 })
			got := 0
			for ev := range c.Stream(limited(t), text("q")) {
				if got++; got == n || ev.Kind == wire.EventEnd {
					break
				}
			}
			if s.open != 0 {
				t.Errorf("left at event %d: a body is open", n)
			}
			if got < n {
				t.Fatalf("%d events", got)
			}
			if n == 9 { // retried, start, odd, usage, part, delta, delta, end of part, end
				break
			}
		}
	})
}

// TestCancelWait (F100): a wait between two attempts ends at once.
func TestCancelWait(t *testing.T) {
	why := errors.New("the user pressed escape")
	for _, tt := range []struct {
		name  string
		ctx   func(context.Context) (context.Context, func())
		cause wire.Cause
		is    error
		after time.Duration
	}{
		{"cancel", func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(ctx)
			timer := time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
			return ctx, func() { timer.Stop() }
		}, wire.CauseCancelled, context.Canceled, 20 * time.Millisecond},
		{"a deadline that the wait would miss", func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
			return ctx, cancel
		}, wire.CauseVendor, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := server{tries: []try{{status: 503, header: "Retry-After: 30", body: `{"error":{"message":"busy"}}`}, fine}}
				c := newClient(t, "http://h.example", s.use)
				ctx, done := tt.ctx(t.Context())
				defer done()
				begin := time.Now()
				e := read(t, c, ctx, text("q")).err
				wantError(t, e, tt.cause)
				if took := time.Since(begin); took != tt.after || len(s.at) != 1 {
					t.Errorf("%d attempts in %v", len(s.at), took)
				}
				if tt.is == nil {
					return
				}
				var last *wire.Error
				if !errors.Is(e, tt.is) || !errors.Is(e, why) || !errors.As(e.Err, &last) || last.Message != "busy" {
					t.Errorf("inside: %v", e.Err)
				}
			})
		})
	}
}

// TestSharedBudget: clients that share a budget stop sending again together, and
// successes give it back.
func TestSharedBudget(t *testing.T) {
	budget := retry.NewBudget(3, 0.5)
	sick := server{tries: []try{failure(500, "")}}
	well := server{tries: []try{fine}}
	share := func(cfg *provider.Config) {
		cfg.Retry = &retry.Policy{BaseDelay: -1, Budget: budget}
	}
	a, b := newClient(t, "http://h.example", sick.use, share), newClient(t, "http://h.example", well.use, share)
	for i, want := range []int{3, 5, 6} { // 2 further attempts, 1, none
		e := read(t, a, limited(t), text("q")).err
		wantError(t, e, wire.CauseVendor)
		if len(sick.at) != want || (i > 0) != strings.Contains(e.Hint, "shared budget") {
			t.Errorf("request %d: %d attempts, %q", i, len(sick.at), e.Hint)
		}
	}
	for range 2 {
		if res := read(t, b, limited(t), text("q")); res.err != nil {
			t.Fatal(res.err)
		}
	}
	read(t, a, limited(t), text("q"))
	if len(sick.at) != 8 || budget.Tokens() != 0 {
		t.Errorf("%d attempts, %v tokens", len(sick.at), budget.Tokens())
	}
}

// TestAttemptsOnTheWire (F99, F105): over real connections each attempt has the
// whole body and its length, and the connection of one is used for the next.
func TestAttemptsOnTheWire(t *testing.T) {
	var bodies []string
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || r.ContentLength != int64(len(b)) {
			t.Errorf("%d bytes of %d, %v", len(b), r.ContentLength, err)
		}
		bodies = append(bodies, string(b))
		if len(bodies) < 3 {
			answer(503, "application/json", `{"error":{"message":"busy"}}`)(w, r)
			return
		}
		answer(200, "text/event-stream", sse(hi, stop))(w, r)
	}))
	conns := connections(srv)
	srv.Start()
	defer srv.Close()
	cnt, use := counted(t)
	c := newClient(t, srv.URL, use, func(cfg *provider.Config) { cfg.Retry = &retry.Policy{BaseDelay: -1} })
	if res := read(t, c, limited(t), text("q")); res.err != nil || res.text != "hi" {
		t.Fatalf("got %q, %v", res.text, res.err)
	}
	if len(bodies) != 3 || bodies[0] == "" || bodies[1] != bodies[0] || bodies[2] != bodies[0] {
		t.Errorf("bodies %q", bodies)
	}
	if conns.Load() != 1 || cnt.open.Load() != 0 || cnt.total.Load() != 3 {
		t.Errorf("%d connections, %d bodies of %d are open", conns.Load(), cnt.open.Load(), cnt.total.Load())
	}
}

// TestCountAttempts: a count is sent again like everything else.
func TestCountAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := server{tries: []try{failure(529, "overloaded"), {status: 200, header: "Content-Type: application/json", body: `{07}`}}}
		c := newClient(t, "http://h.example", s.use, func(cfg *provider.Config) { cfg.Codec = counter{} })
		if n, err := c.CountTokens(t.Context(), text("q")); n != 7 || err != nil || len(s.at) != 2 {
			t.Errorf("got %d, %v after %d attempts", n, err, len(s.at))
		}
	})
}

// TestTrace: each attempt is told, in order, and no credential with it.
func TestTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := server{tries: []try{
			{err: io.EOF},
			{status: 503, header: "Retry-After: 1\nSet-Cookie: a=b\nX-Echo: " + key + "\nLocation: http://u:p@b.example/x?secret=1", body: `{"error":{"message":"busy ` + key + `"}}`},
			fine,
		}}
		var told []string
		var bodies []string
		c := newClient(t, "http://h.example/base?api-version=1", s.use, func(cfg *provider.Config) {
			cfg.Header = []wire.Header{{Name: "X-Foo-Token", Value: "MARKED-too"}, {Name: "X-Plain", Value: "a " + key}}
			cfg.Trace = &provider.Trace{
				Request: func(r provider.TraceRequest) {
					noKey(t, r)
					told = append(told, fmt.Sprint(r.Attempt, " ", r.Method, " ", r.URL, " ", r.Header))
					bodies = append(bodies, string(r.Body))
				},
				Response: func(r provider.TraceResponse) {
					noKey(t, r)
					told = append(told, fmt.Sprint(r.Attempt, " ", r.Status, " ", r.Header, " ", r.After))
				},
				Failed: func(f provider.TraceFailure) {
					noKey(t, f)
					noKey(t, f.Err)
					told = append(told, fmt.Sprint(f.Attempt, " ", f.Err.Cause, " ", f.Retry, " ", f.Wait))
				},
			}
		})
		if res := read(t, c, t.Context(), text("q")); res.err != nil {
			t.Fatal(res.err)
		}
		const request = " POST http://h.example/base/v1/messages?api-version=1 [{content-type application/json} {X-Plain a [key hidden]} {x-api-key [key hidden]} {X-Foo-Token [key hidden]}]"
		want := []string{
			"1" + request, "1 connect true 250ms",
			"2" + request, "2 503 [{Content-Type application/json} {Location http://b.example/x} {Retry-After 1} {X-Echo [key hidden]}] 0s", "2 vendor_error true 1.25s",
			"3" + request, "3 200 [{Content-Type text/event-stream}] 0s",
		}
		if d := cmp.Diff(want, told); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		if d := cmp.Diff(s.bodies, bodies); d != "" {
			t.Errorf("bodies (-sent +told):\n%s", d)
		}
	})
	t.Run("in the middle", func(t *testing.T) {
		s := server{tries: []try{{status: 200, body: sse(hi)}}}
		var told []provider.TraceFailure
		c := newClient(t, "http://h.example", s.use, func(cfg *provider.Config) {
			cfg.Trace = &provider.Trace{Failed: func(f provider.TraceFailure) { told = append(told, f) }}
		})
		if e := read(t, c, limited(t), text("q")).err; len(told) != 1 || told[0].Retry || told[0].Err != e {
			t.Errorf("got %+v", told)
		}
	})
	t.Run("the last failure", func(t *testing.T) {
		s := server{tries: []try{failure(400, "bad_request")}}
		var told []provider.TraceFailure
		c := newClient(t, "http://h.example", s.use, func(cfg *provider.Config) {
			cfg.Trace = &provider.Trace{Failed: func(f provider.TraceFailure) { told = append(told, f) }}
		})
		e := read(t, c, limited(t), text("q")).err
		if len(told) != 1 || told[0].Retry || told[0].Err.Message != e.Message || told[0].Attempt != 1 {
			t.Errorf("got %+v", told)
		}
	})
}

// TestRefusalHangs: a refusal that is whole counts although the body goes on, and
// of one that is cut off by silence the status and the server's wish do.
func TestRefusalHangs(t *testing.T) {
	const whole = `{"error":{"type":"quota","message":"m"}}`
	for _, tt := range []struct {
		name   string
		status int
		header string
		body   string
		cause  wire.Cause
		at     []time.Duration
		over   time.Duration
	}{
		{"whole", 429, "", whole, wire.CauseVendor, []time.Duration{0}, 50 * time.Millisecond},
		{"whole, after white space", 429, "", "\n" + whole, wire.CauseVendor, []time.Duration{0}, 50 * time.Millisecond},
		{"cut", 401, "", whole[:9], wire.CauseIdle, []time.Duration{0}, time.Second},
		{"a number", 401, "", "\n401", wire.CauseIdle, []time.Duration{0}, time.Second},
		{"cut, to be sent again", 500, "", whole[:9], wire.CauseIdle, []time.Duration{0, 1250 * time.Millisecond}, 2250 * time.Millisecond},
		{"cut, with a wish", 429, "Retry-After: 3", whole[:9], wire.CauseIdle, []time.Duration{0, 4250 * time.Millisecond}, 5250 * time.Millisecond},
		{"cut, with a long wish", 429, "Retry-After: 86400", whole[:9], wire.CauseIdle, []time.Duration{0}, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := server{tries: []try{{status: tt.status, header: tt.header + "\nRequest-Id: req_1"}}}
				c := newClient(t, "http://h.example", s.use, func(cfg *provider.Config) {
					cfg.Retry.MaxAttempts = 2
					cfg.Clocks.Bytes = time.Second
					cfg.HTTP.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
						resp, err := s.RoundTrip(r)
						s.open--
						resp.Body = io.NopCloser(&paced{ctx: r.Context(), steps: []step{{0, tt.body}}})
						return resp, err
					})
				})
				e := read(t, c, t.Context(), text("q")).err
				wantError(t, e, tt.cause)
				if d := cmp.Diff(tt.at, s.at); d != "" {
					t.Errorf("times of the attempts (-want +got):\n%s", d)
				}
				if d := time.Since(s.begin); d != tt.over {
					t.Errorf("over after %v, want %v", d, tt.over)
				}
				if e.Status != tt.status || e.RequestID != "req_1" {
					t.Errorf("status %d, request id %q", e.Status, e.RequestID)
				}
			})
		})
	}
}

// TestTransportsOwnError: an error of a vendor that a transport returns by itself,
// without a response, is handed on.
func TestTransportsOwnError(t *testing.T) {
	for class, want := range map[wire.Class]int{"": 1, wire.ClassQuota: 1, wire.ClassOverloaded: 3} {
		synctest.Test(t, func(t *testing.T) {
			s := server{tries: []try{{err: &wire.Error{Cause: wire.CauseVendor, Class: class, Message: "m"}}}}
			wantError(t, read(t, newClient(t, "http://h.example", s.use), t.Context(), text("q")).err, wire.CauseVendor, "m")
			if len(s.at) != want {
				t.Errorf("class %q: %d requests, want %d", class, len(s.at), want)
			}
		})
	}
}

// TestAttemptsCounted: the error of a stream that broke off within its content says
// how often the request was sent.
func TestAttemptsCounted(t *testing.T) {
	for n, tries := range [][]try{{{status: 200, body: sse(hi)}}, {failure(500, ""), {status: 200, body: sse(hi)}}} {
		synctest.Test(t, func(t *testing.T) {
			s := server{tries: tries}
			e := read(t, newClient(t, "http://h.example", s.use), t.Context(), text("q")).err
			wantError(t, e, wire.CauseTruncated)
			if want := []int{0, 2}[n]; e.Attempts != want {
				t.Errorf("got %d attempts, want %d", e.Attempts, want)
			}
		})
	}
}
