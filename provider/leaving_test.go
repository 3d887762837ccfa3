package provider_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/retry"
	"github.com/handwire/handwire/wire"
)

// hung is a server that stops somewhere and waits until the client is gone.
type hung struct {
	there chan struct{} // a value whenever it has stopped
	gone  atomic.Int64  // how many clients left
	asked atomic.Int64
}

// ServeHTTP stops in the place that the path names.
func (s *hung) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	s.asked.Add(1)
	flush := http.NewResponseController(w).Flush
	begin := func(status int, contentType, body string) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		io.WriteString(w, body)
		flush()
	}
	place, _, _ := strings.Cut(r.URL.Path[1:], "/")
	switch place {
	case "stream":
		begin(200, "text/event-stream", sse(`{"start":"r1"}`, hi)+"dat")
	case "document":
		begin(200, "application/json", ` {"text":"hi"`)
	case "odd":
		begin(200, "text/plain", "dat")
	case "error":
		begin(500, "application/json", `{"error":`)
	case "pings":
		begin(200, "text/event-stream", sse(hi))
	case "wait":
		w.Header().Set("Retry-After", "20")
		begin(503, "application/json", `{"error":{"message":"busy"}}`)
		s.there <- struct{}{}
		return
	}
	s.there <- struct{}{}
	for place == "pings" && r.Context().Err() == nil {
		io.WriteString(w, ":\n\n")
		flush()
		time.Sleep(time.Millisecond)
	}
	<-r.Context().Done()
	s.gone.Add(1)
}

// TestLeavingHung: a server that stops, wherever it does, is left by every way of
// leaving, at once, and nothing stays behind.
func TestLeavingHung(t *testing.T) {
	const soon = 30 * time.Millisecond
	why := errors.New("the user pressed escape")
	total := provider.Clocks{Total: soon}
	short := provider.Clocks{Head: soon, Bytes: soon}
	content := provider.Clocks{Content: soon}
	for _, tt := range []struct {
		name   string
		places string
		clocks provider.Clocks
		cause  wire.Cause // empty: the loop was left
		leave  func(t *testing.T, all iter.Seq2[wire.Event, error])
	}{
		{"cancel", "head stream document odd error pings wait", provider.Clocks{}, wire.CauseCancelled, nil},
		{"deadline", "head stream document odd error pings", provider.Clocks{}, wire.CauseDeadline, nil},
		{"total", "head stream document odd error pings", total, wire.CauseDeadline, nil},
		{"http.Client", "head stream document odd error pings", provider.Clocks{}, wire.CauseDeadline, nil},
		{"clock", "head stream document error", short, wire.CauseIdle, nil},
		{"clock of content", "stream document pings", content, wire.CauseStalled, nil},
		{"break", "stream pings wait", provider.Clocks{}, "", func(_ *testing.T, all iter.Seq2[wire.Event, error]) {
			for range all {
				break
			}
		}},
		{"panic", "stream pings wait", provider.Clocks{}, "", func(t *testing.T, all iter.Seq2[wire.Event, error]) {
			defer func() {
				if recover() != "boom" {
					t.Error("the panic got lost")
				}
			}()
			for range all {
				panic("boom")
			}
		}},
		{"goexit", "stream pings wait", provider.Clocks{}, "", func(_ *testing.T, all iter.Seq2[wire.Event, error]) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				for range all {
					runtime.Goexit()
				}
			}()
			<-done
		}},
		{"pull", "stream pings wait", provider.Clocks{}, "", func(t *testing.T, all iter.Seq2[wire.Event, error]) {
			next, stop := iter.Pull2(all)
			next()
			stop()
			if ev, _, ok := next(); ok {
				t.Errorf("after the stop there was %v", ev)
			}
		}},
	} {
		for _, proto := range protos {
			for _, place := range strings.Fields(tt.places) {
				t.Run(tt.name+", "+place+", "+proto, func(t *testing.T) {
					before := runtime.NumGoroutine()
					s := &hung{there: make(chan struct{}, 8)}
					waits := make(chan struct{}, 1)
					there := s.there
					srv := httptest.NewUnstartedServer(s)
					srv.Config.ErrorLog = discardLog
					tr := http.DefaultTransport.(*http.Transport).Clone()
					if srv.EnableHTTP2 = proto == "HTTP/2"; srv.EnableHTTP2 {
						srv.StartTLS()
						tr.TLSClientConfig = srv.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
					} else {
						srv.Start()
					}
					defer srv.Close()
					cnt := &counting{RoundTripper: tr}
					c := newClient(t, srv.URL, func(cfg *provider.Config) {
						cfg.Codec, cfg.Clocks = toy{path: "/" + place}, tt.clocks
						cfg.HTTP = &http.Client{Transport: cnt}
						if tt.name == "http.Client" {
							cfg.HTTP.Timeout = soon
						}
						if place == "wait" {
							there, cfg.Retry = waits, &retry.Policy{}
							cfg.Trace = &provider.Trace{Failed: func(f provider.TraceFailure) {
								if !f.Retry || f.Wait < 20*time.Second {
									t.Errorf("no wait, but %+v", f)
								}
								waits <- struct{}{}
							}}
						}
					})
					ctx, cancel := context.WithCancelCause(t.Context()) // without a deadline, before which a wait had to end
					defer cancel(nil)
					done := make(chan struct{})
					switch tt.name {
					case "cancel":
						go func() {
							defer close(done)
							<-there
							cancel(why)
						}()
					case "deadline":
						var stop func()
						ctx, stop = context.WithTimeout(ctx, soon)
						defer stop()
						fallthrough
					default:
						close(done)
					}
					if tt.cause == "" {
						tt.leave(t, c.Stream(ctx, text("q")))
					} else {
						var e *wire.Error
						promptly(t, 10*time.Second, func() { e = read(t, c, ctx, text("q")).err })
						wantError(t, e, tt.cause)
						if (tt.name == "cancel") != errors.Is(e, why) {
							t.Errorf("inside: %v", e.Err)
						}
					}
					<-done
					if cnt.open.Load() != 0 || cnt.closes.Load() != cnt.total.Load() {
						t.Errorf("%d bodies, %d open, %d closes", cnt.total.Load(), cnt.open.Load(), cnt.closes.Load())
					}
					// On a slow machine a clock may run out before the server is asked.
					if n := s.asked.Load(); n > 1 {
						t.Errorf("%d requests", n)
					}
					within(t, 5*time.Second, "the server sees the client go", func() bool { return place == "wait" || s.gone.Load() == s.asked.Load() })
					tr.CloseIdleConnections()
					srv.Close()
					within(t, 5*time.Second, "the goroutines are gone", func() bool { return runtime.NumGoroutine() <= before })
				})
			}
		}
	}
}
