package provider_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
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
	"github.com/handwire/handwire/wire"
)

// The variables that make a process of this test the server or a client of
// BenchmarkMany, and the one that says of how many streams.
const (
	manyMode  = "HANDWIRE_MANY_MODE"
	manyCount = "HANDWIRE_MANY"
)

// noRaceSleep keeps the race detector from waiting a second at a process's end.
const noRaceSleep = "GORACE=atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	switch mode, rest, _ := strings.Cut(os.Getenv(manyMode), ":"); mode {
	case "serve":
		manyServe()
	case "proxied":
		proxied(rest)
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
			err := one(func() {
				if deltas++; deltas == 2 {
					begun.Add(1)
					<-gate
				}
			})
			if deltas < 2 {
				<-gate
			}
			if err != nil || deltas < 2 {
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
	srv.Env = append(os.Environ(), manyMode+"=serve", noRaceSleep)
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
	client.Env = append(os.Environ(), fmt.Sprintf("%s=%s:%d:%s", manyMode, mode, n, strings.TrimSpace(addr)), noRaceSleep)
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
// of its own for them: there are the caller's and two of net/http. Nor do they
// take much more memory than those two and a loop over the lines.
func TestMany(t *testing.T) {
	n := manyStreams(t, 300)
	ours, goroutines := many(t, "client", n)
	t.Logf("%d streams: %.1f KiB and %.2f goroutines each", n, ours/1024, goroutines)
	if goroutines > 3.1 {
		t.Errorf("%.2f goroutines for a stream, want 3", goroutines)
	}
	if testing.Short() || raceEnabled {
		t.Log("NOT PROVED: memory is not compared in a short test, nor under the race detector, which needs some of its own")
		return
	}
	for i := range 5 { // what else a process does makes it more, and never less
		floor, _ := many(t, "floor", n)
		t.Logf("%.3f of the floor", ours/floor)
		if ours <= mostOfFloor*floor {
			return
		}
		if i == 4 {
			t.Errorf("a stream takes %.1f KiB, want at most %v of %.1f KiB", ours/1024, mostOfFloor, floor/1024)
		}
		ours, _ = many(t, "client", n)
	}
}

// mostOfFloor is how much memory a stream may take, as a multiple of the floor.
const mostOfFloor = 1.06

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
