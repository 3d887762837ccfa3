package provider_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
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

// TestAborted: streams that end in every way leave nothing behind.
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
		t.Log("the files of this system cannot be counted, so only goroutines are")
	}

	seed := rand.Uint64()
	abort := func(rnd *rand.Rand, c *provider.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		what := []string{"q", "q", "q", "reset", "hang", "busy", "mute"}[rnd.IntN(7)]
		at, after := rnd.IntN(8), time.Duration(rnd.IntN(3000))*time.Microsecond
		way := rnd.IntN(5)
		if way == 1 {
			time.AfterFunc(after, cancel)
		}
		loop := func() {
			i := 0
			for range c.Stream(ctx, text(what)) {
				if i == at {
					switch way {
					case 0:
						return
					case 2:
						cancel()
					case 3:
						panic("boom")
					case 4:
						runtime.Goexit()
					}
				}
				i++
			}
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { recover() }()
			loop()
		}()
		<-done
	}
	var wg sync.WaitGroup
	const workers = 32
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rnd := rand.New(rand.NewPCG(seed, uint64(w)))
			for range n / workers {
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
	var conns, n atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1)%3 == 0 {
			answer(503, "application/json", `{"error":{"message":"busy"}}`)(w, r)
			return
		}
		answer(200, "text/event-stream", sse(hi, stop))(w, r)
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	c := newClient(t, srv.URL, func(cfg *provider.Config) { cfg.Retry = &retry.Policy{MaxAttempts: 20, BaseDelay: time.Millisecond} })
	const at = 8
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
	if got := conns.Load(); got > 3*at { // of 240 requests; the transport may dial some that it does not need
		t.Errorf("%d connections for %d goroutines", got, at)
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
	wantError(t, e, wire.CauseConnect, "certificate")
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

// The variables that make a process of this test the server or a client of
// BenchmarkMany, and the one that says of how many streams.
const (
	manyMode  = "HANDWIRE_MANY_MODE"
	manyCount = "HANDWIRE_MANY"
)

func TestMain(m *testing.M) {
	switch mode, rest, _ := strings.Cut(os.Getenv(manyMode), ":"); mode {
	case "serve":
		manyServe()
	case "floor", "client":
		manyClient(mode, rest)
	default:
		os.Exit(m.Run())
	}
}

// manyServe serves paced streams until its standard input ends.
func manyServe() {
	release := make(chan struct{})
	m := &matrixCodecs[0]
	var once sync.Once
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/release" {
			once.Do(func() { close(release) })
			return
		}
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w).Flush
		io.WriteString(w, m.start+m.first)
		flush()
		io.WriteString(w, strings.Split(m.start+m.first, "\n\n")[2]+"\n\n")
		flush()
		<-release
		io.WriteString(w, m.half+m.rest)
	}))
	fmt.Println(srv.URL)
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// manyClient holds many streams at once and prints what one of them costs. The
// floor reads them by net/http and bufio alone.
func manyClient(mode, rest string) {
	text, base, _ := strings.Cut(rest, ":")
	n, _ := strconv.Atoi(text)
	tr := http.DefaultTransport.(*http.Transport).Clone()
	hc := &http.Client{Transport: tr}
	c, err := provider.New(provider.Config{Codec: matrixCodecs[0].codec, Model: "m1", BaseURL: base, APIKey: key, HTTP: hc})
	if err != nil {
		panic(err)
	}
	request := &wire.Request{MaxTokens: 9, Messages: []wire.Message{wire.UserText("q")}}
	one := func(delta func()) error {
		if mode == "client" {
			for ev, err := range c.Stream(context.Background(), request) {
				if err != nil {
					return err
				}
				if ev.Text() != "" {
					delta()
				}
			}
			return nil
		}
		resp, err := hc.Post(base+"/v1/messages", "application/json", strings.NewReader(`{"model":"m1"}`))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "text_delta") {
				delta()
			}
		}
		return lines.Err()
	}
	memory := func() (heap, stack uint64) {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, m.StackInuse
	}
	heap, stack := memory()
	goroutines := runtime.NumGoroutine()
	var begun, failed atomic.Int64
	var wg sync.WaitGroup
	gate := make(chan struct{}, 64)
	for range n {
		gate <- struct{}{}
		wg.Add(1)
		go func() {
			defer wg.Done()
			deltas := 0
			if err := one(func() {
				if deltas++; deltas == 2 {
					begun.Add(1)
					<-gate
				}
			}); err != nil {
				if deltas < 2 {
					<-gate
				}
				failed.Add(1)
			}
		}()
	}
	for begun.Load()+failed.Load() < int64(n) {
		time.Sleep(10 * time.Millisecond)
	}
	h, s := memory()
	g := runtime.NumGoroutine() - goroutines
	if resp, err := hc.Get(base + "/release"); err == nil {
		resp.Body.Close()
	}
	wg.Wait()
	fmt.Println(int(h-heap)/n, int(s-stack)/n, float64(g)/float64(n), failed.Load())
	os.Exit(0)
}

// many runs a client against a server in another process and returns the bytes of
// heap and stack, and the goroutines, of one stream.
func many(t testing.TB, mode string, n int) (bytes, goroutines float64) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	srv := exec.Command(self)
	srv.Env = append(os.Environ(), manyMode+"=serve")
	in, err := srv.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := srv.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Start(); err != nil {
		t.Skipf("SKIPPED, NOT PROVED: no second process can be started: %v", err)
	}
	defer srv.Wait()
	defer in.Close()
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	client := exec.Command(self)
	client.Env = append(os.Environ(), fmt.Sprintf("%s=%s:%d:%s", manyMode, mode, n, strings.TrimSpace(addr)))
	text, err := client.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var heap, stack, failed float64
	if _, err := fmt.Sscan(string(text), &heap, &stack, &goroutines, &failed); err != nil || failed > 0 {
		t.Fatalf("%v streams failed: %v\n%s", failed, err, text)
	}
	return heap + stack, goroutines
}

// manyStreams is how many streams there are to be: what the variable says, no
// more than the limit of files allows.
func manyStreams(t testing.TB, usual int) int {
	n := usual
	if text := os.Getenv(manyCount); text != "" {
		n, _ = strconv.Atoi(text)
	}
	if most := fileLimit(); most > 0 && n > most-200 {
		t.Logf("%d streams instead of %d, because of the limit of open files", most-200, n)
		n = most - 200
	}
	return max(n, 1)
}

// fileLimit returns how many files a process may open, 0 where that is not known.
func fileLimit() int {
	b, err := os.ReadFile("/proc/self/limits")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "Max open files"); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n
		}
	}
	return 0
}

// TestMany: many paced streams at once in one process, which starts no goroutine
// of its own for them: there are the caller's and two of net/http.
func TestMany(t *testing.T) {
	n := manyStreams(t, 300)
	bytes, goroutines := many(t, "client", n)
	t.Logf("%d streams: %.1f KiB and %.2f goroutines each", n, bytes/1024, goroutines)
	if goroutines > 3.1 {
		t.Errorf("%.2f goroutines for a stream, want 3", goroutines)
	}
}

// BenchmarkMany measures the memory of a paced stream, heap and stack, and as a
// multiple of that of a loop over net/http in the same run.
func BenchmarkMany(b *testing.B) {
	n := manyStreams(b, 1000)
	for b.Loop() {
		floor, _ := many(b, "floor", n)
		ours, goroutines := many(b, "client", n)
		b.ReportMetric(ours, "B/stream")
		b.ReportMetric(ours/floor, "of-floor")
		b.ReportMetric(goroutines, "goroutines/stream")
	}
}
