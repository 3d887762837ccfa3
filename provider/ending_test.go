package provider_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/wire"
)

// streaming serves what write writes, and then waits until the client is gone
// or the test ends.
func streaming(t *testing.T, write func(send func(string))) *httptest.Server {
	t.Helper()
	over := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		write(func(s string) {
			io.WriteString(w, s)
			w.(http.Flusher).Flush()
		})
		select {
		case <-r.Context().Done():
		case <-over:
		}
	}))
	t.Cleanup(func() { close(over); srv.CloseClientConnections(); srv.Close() })
	return srv
}

func promptly(t *testing.T, most time.Duration, f func()) {
	t.Helper()
	start := time.Now()
	f()
	if d := time.Since(start); d > most {
		t.Errorf("took %v, want at most %v", d, most)
	}
}

func testCancel(t *testing.T) {
	cancelled := func(t *testing.T, e *wire.Error) {
		t.Helper()
		wantError(t, e, wire.CauseCancelled)
		if !errors.Is(e, context.Canceled) {
			t.Errorf("errors.Is does not find context.Canceled in %#v", e.Err)
		}
	}
	t.Run("connect", func(t *testing.T) {
		ctx, cancel := context.WithCancel(limited(t))
		c := newClient(t, "http://h.example", func(cfg *provider.Config) {
			cfg.HTTP = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				cancel()
				<-ctx.Done()
				return nil, ctx.Err()
			}}}
		})
		cancelled(t, read(t, c, ctx, text("q")).err)
	})
	t.Run("headers", func(t *testing.T) {
		ctx, cancel := context.WithCancel(limited(t))
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			cancel()
			<-r.Context().Done()
		})
		promptly(t, time.Second, func() { cancelled(t, read(t, newClient(t, srv.URL), ctx, text("q")).err) })
	})
	t.Run("in a read", func(t *testing.T) {
		ctx, cancel := context.WithCancel(limited(t))
		srv := streaming(t, func(send func(string)) {
			send(sse(hi))
			time.AfterFunc(30*time.Millisecond, cancel)
		})
		promptly(t, time.Second, func() {
			res := read(t, newClient(t, srv.URL), ctx, text("q"))
			cancelled(t, res.err)
			if res.text != "hi" {
				t.Errorf("got text %q", res.text)
			}
		})
	})
	t.Run("in the loop", func(t *testing.T) {
		// All is buffered already, and still nothing comes after the cancel.
		srv := serve(t, answer(200, "text/event-stream", sse(hi, hi, hi, stop)))
		ctx, cancel := context.WithCancel(limited(t))
		defer cancel()
		n := 0
		var last error
		for ev, err := range newClient(t, srv.URL).Stream(ctx, text("q")) {
			if ev.Text() != "" {
				n++
				cancel()
			}
			last = err
		}
		cancelled(t, wire.AsError(last, ""))
		if n != 1 {
			t.Errorf("got %d deltas, want 1", n)
		}
	})
	t.Run("at the end", func(t *testing.T) {
		srv := streaming(t, func(send func(string)) { send(sse(hi, stop)) })
		ctx, cancel := context.WithCancel(limited(t))
		defer cancel()
		var last wire.Event
		for ev, err := range newClient(t, srv.URL).Stream(ctx, text("q")) {
			if last = ev; ev.Kind == wire.EventEnd {
				cancel()
			}
			if err != nil {
				t.Error(err)
			}
		}
		if last.End == nil || last.End.Cause != wire.CauseFinished {
			t.Errorf("got %+v", last)
		}
	})
	t.Run("in the body of an error", func(t *testing.T) {
		ctx, cancel := context.WithCancel(limited(t))
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(500)
			w.(http.Flusher).Flush()
			cancel()
			<-r.Context().Done()
		})
		promptly(t, time.Second, func() { cancelled(t, read(t, newClient(t, srv.URL), ctx, text("q")).err) })
	})
	t.Run("in a body of unknown type", func(t *testing.T) {
		ctx, cancel := context.WithCancel(limited(t))
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/plain")
			io.WriteString(w, "dat")
			w.(http.Flusher).Flush()
			cancel()
			<-r.Context().Done()
		})
		promptly(t, time.Second, func() { cancelled(t, read(t, newClient(t, srv.URL), ctx, text("q")).err) })
	})
	for name, tt := range map[string]struct {
		status            int
		contentType, body string
	}{
		"while the body of an error trickles":   {500, "application/json", `{"error":{"message":"m"}}`},
		"while a body of a wrong type trickles": {200, "text/html", "<html>"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(limited(t))
			defer cancel()
			c := newClient(t, "http://h.example", responds(tt.status, tt.contentType, func(r *http.Request) io.Reader {
				return io.MultiReader(strings.NewReader(tt.body), readerFunc(func([]byte) (int, error) {
					cancel()
					<-r.Context().Done()
					return 0, r.Context().Err()
				}))
			}))
			cancelled(t, read(t, c, ctx, text("q")).err)
		})
	}
	t.Run("with a cause", func(t *testing.T) {
		why := errors.New("the user pressed escape")
		ctx, cancel := context.WithCancelCause(limited(t))
		srv := streaming(t, func(send func(string)) { send(sse(hi)); cancel(why) })
		e := read(t, newClient(t, srv.URL), ctx, text("q")).err
		cancelled(t, e)
		if !errors.Is(e, why) {
			t.Errorf("errors.Is does not find the cause in %v", e)
		}
	})
	t.Run("the connection broke too", func(t *testing.T) {
		ctx, cancel := context.WithCancel(limited(t))
		c := newClient(t, "http://h.example", func(cfg *provider.Config) {
			cfg.HTTP = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
				cancel()
				return nil, io.ErrUnexpectedEOF
			})}
		})
		cancelled(t, read(t, c, ctx, text("q")).err)
	})
}

func testDeadline(t *testing.T) {
	check := func(t *testing.T, e *wire.Error) {
		t.Helper()
		wantError(t, e, wire.CauseDeadline)
		if !errors.Is(e, context.DeadlineExceeded) || errors.Is(e, context.Canceled) {
			t.Errorf("got %#v inside", e.Err)
		}
	}
	silent := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	for name, srv := range map[string]*httptest.Server{
		"headers": serve(t, silent),
		"stream":  streaming(t, func(send func(string)) { send(sse(hi)) }),
	} {
		t.Run("context, "+name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(limited(t), 40*time.Millisecond)
			defer cancel()
			promptly(t, time.Second, func() { check(t, read(t, newClient(t, srv.URL), ctx, text("q")).err) })
		})
		t.Run("http.Client, "+name, func(t *testing.T) {
			own := &http.Client{Timeout: 40 * time.Millisecond}
			c := newClient(t, srv.URL, func(cfg *provider.Config) { cfg.HTTP = own })
			promptly(t, time.Second, func() {
				e := read(t, c, limited(t), text("q")).err
				check(t, e)
				if !strings.Contains(e.Error(), "http.Client") {
					t.Errorf("%v does not say whose time ran out", e)
				}
			})
		})
	}
	t.Run("dial before the context knows", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(limited(t), time.Millisecond)
		defer cancel()
		c := newClient(t, "http://h.example", func(cfg *provider.Config) {
			cfg.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				time.Sleep(5 * time.Millisecond)
				return nil, &net.OpError{Op: "dial", Err: timeout{}}
			})}
		})
		check(t, read(t, c, ctx, text("q")).err)
	})
	t.Run("a timeout of the transport is none of ours", func(t *testing.T) {
		c := newClient(t, "http://h.example", func(cfg *provider.Config) {
			cfg.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				return nil, &net.OpError{Op: "dial", Err: timeout{}}
			})}
		})
		wantError(t, read(t, c, limited(t), text("q")).err, wire.CauseConnect)
	})
}

type timeout struct{}

func (timeout) Error() string   { return "i/o timeout" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

// TestAfterTheMark shows that nothing changes a finished stream.
func TestAfterTheMark(t *testing.T) {
	for name, srv := range map[string]*httptest.Server{
		"silence": streaming(t, func(send func(string)) { send(sse(hi, stop)) }),
		"reset":   streaming(t, func(send func(string)) { send(sse(hi, stop)); panic(http.ErrAbortHandler) }),
		"more": streaming(t, func(send func(string)) {
			send(sse(hi, stop))
			send(strings.Repeat(sse(hi), 20000))
		}),
	} {
		t.Run(name, func(t *testing.T) {
			cnt, use := counted(t)
			c := newClient(t, srv.URL, use)
			promptly(t, 500*time.Millisecond, func() {
				if res := read(t, c, limited(t), text("q")); res.err != nil || res.text != "hi" {
					t.Errorf("got %q, %v", res.text, res.err)
				}
			})
			if cnt.total.Load() != 1 || cnt.open.Load() != 0 || cnt.closes.Load() != 1 {
				t.Errorf("%d bodies, %d open, %d closes", cnt.total.Load(), cnt.open.Load(), cnt.closes.Load())
			}
		})
	}
}

// TestDrain shows that the rest of a body is read neither without end nor for
// ever.
func TestDrain(t *testing.T) {
	drains := func(t *testing.T, rest func(r *http.Request, p []byte) (int, error)) {
		c := newClient(t, "http://h.example", responds(200, "text/event-stream", func(r *http.Request) io.Reader {
			return io.MultiReader(strings.NewReader(sse(hi, stop)), readerFunc(func(p []byte) (int, error) { return rest(r, p) }))
		}))
		promptly(t, time.Second, func() {
			if res := read(t, c, limited(t), text("q")); res.err != nil || res.text != "hi" {
				t.Errorf("got %q, %v", res.text, res.err)
			}
		})
	}
	t.Run("bytes", func(t *testing.T) {
		n := 0
		drains(t, func(r *http.Request, p []byte) (int, error) {
			n += len(p)
			return len(p), r.Context().Err()
		})
		if n == 0 || n > 320<<10 {
			t.Errorf("%d bytes were read", n)
		}
	})
	t.Run("time", func(t *testing.T) {
		drains(t, func(r *http.Request, p []byte) (int, error) {
			<-r.Context().Done()
			return 0, r.Context().Err()
		})
	})
}

// TestRequestOver shows that nothing of a request goes on after its loop.
func TestRequestOver(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		body   string
		leave  bool
	}{
		"finished":  {200, sse(hi, stop), false},
		"truncated": {200, sse(hi), false},
		"left":      {200, sse(hi, hi, stop), true},
		"refused":   {400, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			var request context.Context
			c := newClient(t, "http://h.example", responds(tt.status, "text/event-stream", func(r *http.Request) io.Reader {
				request = r.Context()
				return strings.NewReader(tt.body)
			}))
			for range c.Stream(limited(t), text("q")) {
				if request.Err() != nil && tt.status == 200 {
					t.Error("the request was over within the loop")
				}
				if tt.leave {
					break
				}
			}
			if request.Err() == nil {
				t.Error("the request's context is not done")
			}
		})
	}
}

// TestReuse counts the connections that a server sees.
func TestReuse(t *testing.T) {
	tests := map[string]struct {
		h    http.HandlerFunc
		use  func(*provider.Client)
		want int64
	}{
		"read to the end": {answer(200, "text/event-stream", sse(hi, stop)), func(c *provider.Client) {
			for range c.Stream(limited(t), text("q")) {
			}
		}, 1},
		"break at the end": {answer(200, "text/event-stream", sse(hi, stop)), func(c *provider.Client) {
			for ev := range c.Stream(limited(t), text("q")) {
				if ev.Kind == wire.EventEnd {
					break
				}
			}
		}, 1},
		"the body's end comes late": {func(w http.ResponseWriter, r *http.Request) {
			answer(200, "text/event-stream", sse(hi, stop))(w, r)
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond)
		}, func(c *provider.Client) { c.Complete(limited(t), text("q")) }, 1},
		"whole": {answer(200, "application/json", `{"text":"hi","stop":true}`), func(c *provider.Client) { c.Complete(limited(t), text("q")) }, 1},
		"error": {answer(400, "application/json", `{"error":{"message":"m"}}`), func(c *provider.Client) { c.Complete(limited(t), text("q")) }, 1},
		"error in the stream": {answer(200, "text/event-stream", sse(`{"error":"no"}`)),
			func(c *provider.Client) { c.Complete(limited(t), text("q")) }, 1},
		"break before": {answer(200, "text/event-stream", sse(hi, strings.Repeat("x", 1<<20), stop)), func(c *provider.Client) {
			for range c.Stream(limited(t), text("q")) {
				break
			}
		}, 5},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewUnstartedServer(tt.h)
			conns := connections(srv)
			srv.Start()
			defer srv.Close()
			c := newClient(t, srv.URL)
			for range 5 {
				tt.use(c)
			}
			if n := conns.Load(); n != tt.want {
				t.Errorf("got %d connections, want %d", n, tt.want)
			}
			c.CloseIdleConnections()
		})
	}
}

// TestHTTP2 shows that the other version of the transport behaves alike.
func TestHTTP2(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if r.ProtoMajor != 2 {
			t.Errorf("got %s", r.Proto)
		}
		answer(200, "text/event-stream", sse(hi))(w, r)
		w.(http.Flusher).Flush()
		if strings.Contains(string(b), "wait") {
			<-r.Context().Done()
			return
		}
		io.WriteString(w, sse(stop))
	}))
	conns := connections(srv)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	c := newClient(t, srv.URL, func(cfg *provider.Config) { cfg.HTTP = srv.Client() })
	for range 3 {
		if res := read(t, c, limited(t), text("q")); res.err != nil || res.text != "hi" {
			t.Errorf("got %q, %v", res.text, res.err)
		}
		for ev := range c.Stream(limited(t), text("wait")) {
			if ev.Text() != "" {
				break
			}
		}
		ctx, cancel := context.WithCancel(limited(t))
		time.AfterFunc(20*time.Millisecond, cancel)
		wantError(t, read(t, c, ctx, text("wait")).err, wire.CauseCancelled)
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("got %d connections", n)
	}
}

// testLeaving leaves the loop in every way, and counts what is left behind.
func testLeaving(t *testing.T) {
	var gone atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for range 10_000 {
			if _, err := io.WriteString(w, sse(hi)); err != nil {
				break
			}
			w.(http.Flusher).Flush()
			if r.Context().Err() != nil {
				break
			}
		}
		<-r.Context().Done()
		gone.Add(1)
	}))
	defer srv.Close()
	cnt, use := counted(t)
	c := newClient(t, srv.URL, use)
	leave := map[string]func(context.Context, context.CancelFunc){
		"break": func(ctx context.Context, _ context.CancelFunc) {
			for ev := range c.Stream(ctx, text("q")) {
				if ev.Text() != "" {
					break
				}
			}
		},
		"cancel": func(ctx context.Context, cancel context.CancelFunc) {
			for ev := range c.Stream(ctx, text("q")) {
				if ev.Text() != "" {
					cancel()
				}
			}
		},
		"panic": func(ctx context.Context, _ context.CancelFunc) {
			defer func() {
				if recover() != "boom" {
					t.Error("the panic got lost")
				}
			}()
			for ev := range c.Stream(ctx, text("q")) {
				if ev.Text() != "" {
					panic("boom")
				}
			}
		},
		"goexit": func(ctx context.Context, _ context.CancelFunc) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				for range c.Stream(ctx, text("q")) {
					runtime.Goexit()
				}
			}()
			<-done
		},
	}
	before := runtime.NumGoroutine()
	for name, f := range leave {
		t.Run(name, func(t *testing.T) {
			gone.Store(0)
			ctx, cancel := context.WithCancel(limited(t))
			defer cancel()
			promptly(t, time.Second, func() { f(ctx, cancel) })
			if n := cnt.open.Load(); n != 0 {
				t.Errorf("%d bodies are open", n)
			}
			within(t, time.Second, "the server sees the connection close", func() bool { return gone.Load() == 1 })
		})
	}
	if cnt.total.Load() != int64(len(leave)) || cnt.closes.Load() != cnt.total.Load() {
		t.Errorf("%d bodies were closed %d times", cnt.total.Load(), cnt.closes.Load())
	}
	within(t, time.Second, "the goroutines are gone", func() bool { return runtime.NumGoroutine() <= before })
}

// testBodiesClosed takes every other path on which there is a body.
func testBodiesClosed(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"status 400": answer(400, "", "no"),
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://b.example/", http.StatusTemporaryRedirect)
		},
		"encoding": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			answer(200, "", "x")(w, r)
		},
		"page":           answer(200, "text/html", "<html>"),
		"truncated":      answer(200, "text/event-stream", sse(hi)),
		"decode error":   answer(200, "text/event-stream", sse(hi, "{", stop)),
		"vendor's error": answer(200, "text/event-stream", sse(hi, `{"error":"no"}`)),
		"end":            answer(200, "text/event-stream", sse(hi, stop)),
		"no reader":      answer(200, "application/vnd.amazon.eventstream", "x"),
	} {
		t.Run(name, func(t *testing.T) {
			cnt, use := counted(t)
			read(t, newClient(t, serve(t, h).URL, use), limited(t), text("q"))
			if cnt.total.Load() != 1 || cnt.open.Load() != 0 || cnt.closes.Load() != 1 {
				t.Errorf("%d bodies, %d open, %d closes", cnt.total.Load(), cnt.open.Load(), cnt.closes.Load())
			}
		})
	}
}
