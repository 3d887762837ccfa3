package provider_test

import (
	"context"
	"crypto/x509"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/retry"
	"github.com/handwire/handwire/wire"
)

// openFiles returns how many files the process has open, -1 where that is not
// known.
func openFiles() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(list)
}

// The ways of TestAborted to leave a stream.
const (
	leaveBreak = iota
	leaveCancelLater
	leaveCancel
	leavePanic
	leaveGoexit
	leavePull
	leaveUnread
	leaveWays
)

// TestAborted: streams that end in every way leave nothing behind. What each does
// is random; HANDWIRE_SEED makes it differ from one run to the next.
func TestAborted(t *testing.T) {
	n := 10_000
	if testing.Short() {
		n = 1000
	}
	var served atomic.Int64
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		body, _ := io.ReadAll(r.Body)
		send := func(s string) {
			io.WriteString(w, s)
			http.NewResponseController(w).Flush()
		}
		switch {
		case strings.Contains(string(body), "busy"):
			answer(503, "application/json", `{"error":{"message":"busy"}}`)(w, r)
			return
		case strings.Contains(string(body), "mute"):
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		send(sse(`{"start":"r1"}`))
		for range 3 {
			send(sse(hi))
		}
		switch {
		case strings.Contains(string(body), "reset"):
			panic(http.ErrAbortHandler)
		case strings.Contains(string(body), "hang"):
			<-r.Context().Done()
			return
		}
		send(sse(stop))
	})
	serve := func(http2 bool) (*httptest.Server, *http.Client) {
		srv := httptest.NewUnstartedServer(handler)
		srv.Config.ErrorLog = discardLog
		if srv.EnableHTTP2 = http2; http2 {
			srv.StartTLS()
			return srv, srv.Client()
		}
		srv.Start()
		return srv, nil
	}
	one, _ := serve(false)
	defer one.Close()
	two, tlsClient := serve(true)
	defer two.Close()
	set := func(hc *http.Client) func(*provider.Config) {
		return func(cfg *provider.Config) {
			cfg.HTTP = hc
			cfg.Clocks = provider.Clocks{Bytes: 15 * time.Millisecond, Head: 15 * time.Millisecond}
			cfg.Retry = &retry.Policy{MaxAttempts: 2, BaseDelay: 20 * time.Millisecond}
		}
	}
	clients := []*provider.Client{newClient(t, one.URL, set(nil)), newClient(t, one.URL, set(nil)), newClient(t, two.URL, set(tlsClient))}
	for _, c := range clients { // what the first request makes once and for all
		if res := read(t, c, limited(t), text("q")); res.err != nil {
			t.Fatal(res.err)
		}
		c.CloseIdleConnections()
	}
	time.Sleep(50 * time.Millisecond)
	goroutines, files := runtime.NumGoroutine(), openFiles()
	if files < 0 {
		t.Log("NOT PROVED: the files of this system cannot be counted, so only goroutines are")
	}

	seed, _ := strconv.ParseUint(os.Getenv("HANDWIRE_SEED"), 10, 64)
	abort := func(rnd *rand.Rand, c *provider.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		what := []string{"q", "q", "q", "reset", "hang", "busy", "mute"}[rnd.IntN(7)]
		at, after := rnd.IntN(8), time.Duration(rnd.IntN(3000))*time.Microsecond
		way := rnd.IntN(leaveWays)
		if way == leaveCancelLater {
			time.AfterFunc(after, cancel)
		}
		var end *wire.Ending
		loop := func(all iter.Seq2[wire.Event, error]) {
			i := 0
			for ev := range all {
				if end != nil {
					t.Errorf("%s: an event after the end", what)
				}
				end = ev.End
				if i == at {
					switch way {
					case leaveBreak:
						return
					case leaveCancel:
						cancel()
					case leavePanic:
						panic("boom")
					case leaveGoexit:
						runtime.Goexit()
					}
				}
				i++
			}
			if end == nil {
				t.Errorf("%s: the stream has no end", what)
			}
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() {
				if r := recover(); r != nil && r != "boom" {
					t.Errorf("%s: panic: %v", what, r)
				}
			}()
			switch all := c.Stream(ctx, text(what)); way {
			case leaveUnread:
			case leavePull:
				next, stop := iter.Pull2(all)
				for range at {
					next()
				}
				stop()
			default:
				loop(all)
			}
		}()
		<-done
		if end == nil {
			return
		}
		// On a slow machine a clock may run out wherever it is waited.
		allowed := []wire.Cause{wire.CauseIdle}
		switch what {
		case "q":
			allowed = append(allowed, wire.CauseFinished)
		case "reset":
			allowed = append(allowed, wire.CauseReset)
		case "busy":
			allowed = append(allowed, wire.CauseVendor)
		}
		if way == leaveCancel || way == leaveCancelLater {
			allowed = append(allowed, wire.CauseCancelled)
		}
		if !slices.Contains(allowed, end.Cause) {
			t.Errorf("%s, way %d, event %d: ended with %v", what, way, at, end.Err)
		}
	}
	var wg sync.WaitGroup
	const workers = 32
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rnd := rand.New(rand.NewPCG(seed, uint64(w)))
			for i := w; i < n; i += workers {
				abort(rnd, clients[rnd.IntN(len(clients))])
			}
		}()
	}
	wg.Wait()
	defer func() {
		if t.Failed() {
			t.Logf("seed %d, %d requests were served", seed, served.Load())
		}
	}()
	within(t, 10*time.Second, "goroutines and files are what they were", func() bool {
		for _, c := range clients {
			c.CloseIdleConnections()
		}
		return runtime.NumGoroutine() <= goroutines && openFiles() <= files
	})
	if served.Load() < int64(n)/4 {
		t.Errorf("only %d requests of %d came to the server", served.Load(), n)
	}
}

// TestReuseAtOnce: clients that send at once keep as many connections as they
// need and no more, failures and waits included.
func TestReuseAtOnce(t *testing.T) {
	const at = 8
	var n atomic.Int64
	var first sync.WaitGroup
	first.Add(at)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The first ones wait for each other, so that each has a connection. Else
		// the transport gives one that comes free to another request, and the one
		// that it dialled for that is too many.
		i := n.Add(1)
		if i <= at {
			first.Done()
			first.Wait()
		}
		if i%3 == 0 {
			answer(503, "application/json", `{"error":{"message":"busy"}}`)(w, r)
			return
		}
		answer(200, "text/event-stream", sse(hi, stop))(w, r)
	}))
	conns := connections(srv)
	srv.Start()
	defer srv.Close()
	c := newClient(t, srv.URL, func(cfg *provider.Config) { cfg.Retry = &retry.Policy{MaxAttempts: 20, BaseDelay: time.Millisecond} })
	var wg sync.WaitGroup
	for range at {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 20 {
				if _, err := c.Complete(limited(t), text("q")); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	if got := conns.Load(); got != at {
		t.Errorf("%d connections for %d goroutines and %d requests", got, at, n.Load())
	}
}

// TestOwnAuthority: a server with a certificate of its own needs it named, and a
// request to one that is not known is not sent again.
func TestOwnAuthority(t *testing.T) {
	var n atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		answer(200, "text/event-stream", sse(hi, stop))(w, r)
	}))
	srv.Config.ErrorLog = discardLog
	srv.StartTLS()
	defer srv.Close()
	attempts := 0
	again := func(cfg *provider.Config) {
		cfg.Retry = &retry.Policy{BaseDelay: -1}
		cfg.Trace = &provider.Trace{Request: func(provider.TraceRequest) { attempts++ }}
	}
	e := read(t, newClient(t, srv.URL, again), limited(t), text("q")).err
	wantError(t, e, wire.CauseConnect, "certificate", "authority")
	if attempts != 1 || n.Load() != 0 {
		t.Errorf("%d attempts, %d requests", attempts, n.Load())
	}
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	tr := http.DefaultTransport.(*http.Transport).Clone()
	tr.TLSClientConfig = srv.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	tr.TLSClientConfig.RootCAs = pool
	c := newClient(t, srv.URL, again, func(cfg *provider.Config) { cfg.HTTP = &http.Client{Transport: tr} })
	if res := read(t, c, limited(t), text("q")); res.err != nil || res.text != "hi" {
		t.Errorf("got %q, %v", res.text, res.err)
	}
	tr.CloseIdleConnections()
}
