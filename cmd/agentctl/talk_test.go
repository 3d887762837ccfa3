package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// screen is a writer that can be looked at while it is written.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// talker is the command with somebody at its terminal.
type talker struct {
	t              *testing.T
	in             *io.PipeWriter
	interrupts     chan os.Signal
	stdout, stderr screen
	code           chan int
}

func talk(t *testing.T, url string, args ...string) *talker {
	t.Helper()
	r, w := io.Pipe()
	k := &talker{t: t, in: w, interrupts: make(chan os.Signal), code: make(chan int, 1)}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	t.Cleanup(func() { w.Close() })
	p := program{args: append([]string{"run", "--retries", "0", "--base-url", url}, args...), stdin: r, stdout: &k.stdout, stderr: &k.stderr, dir: t.TempDir(),
		getenv: func(name string) string { return map[string]string{"ANTHROPIC_API_KEY": testKey}[name] }, talks: true, interrupts: k.interrupts}
	go func() { k.code <- p.main(ctx) }()
	return k
}

// sees waits until the screen has a text so many times.
func (k *talker) sees(where *screen, text string, times int) {
	k.t.Helper()
	for end := time.Now().Add(10 * time.Second); strings.Count(where.String(), text) < times; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			k.t.Fatalf("%q does not come %d times; stdout %q, stderr %q", text, times, k.stdout.String(), k.stderr.String())
		}
	}
}

// says types a line once the prompt is there for the nth time.
func (k *talker) says(nth int, line string) {
	k.t.Helper()
	k.sees(&k.stderr, "> ", nth)
	io.WriteString(k.in, line+"\n")
}

func (k *talker) ends(code int) {
	k.t.Helper()
	select {
	case got := <-k.code:
		if got != code {
			k.t.Errorf("exit code %d, want %d; stderr %q", got, code, k.stderr.String())
		}
	case <-time.After(10 * time.Second):
		k.t.Fatalf("it does not end; stderr %q", k.stderr.String())
	}
	if all := k.stdout.String() + k.stderr.String(); strings.Contains(all, testKey) {
		k.t.Errorf("the key is shown: %q", all)
	}
}

// said are the texts of the messages of a request.
func said(body string) string {
	var all []string
	for _, m := range gjson.Get(body, "messages").Array() {
		s := m.Get("role").Str + ":"
		for _, b := range m.Get("content").Array() {
			s += " " + b.Get("text").Str
		}
		all = append(all, s)
	}
	return strings.Join(all, ", ")
}

// hangs begins an answer and then waits until the client is gone.
func hangs(w http.ResponseWriter, r *http.Request) {
	answer(join(textBlock("0", "half an answer")[:2]))(w, r)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func TestTalk(t *testing.T) {
	v := vendor(t, answer(textAnswer("end_turn", "Hello.")), reply(400, "application/json", `{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`), answer(textAnswer("end_turn", "Fine.")))
	k := talk(t, v.URL)
	k.says(1, "one")
	k.says(2, "  ")
	k.says(3, "two")
	k.says(4, "three")
	k.sees(&k.stderr, "> ", 5)
	k.in.Close()
	k.ends(exitDone)
	if got := k.stdout.String(); got != "Hello.\nFine.\n" {
		t.Errorf("stdout %q", got)
	}
	if !strings.Contains(k.stderr.String(), "agentctl: vendor_error (bad_request)") {
		t.Errorf("stderr %q", k.stderr.String())
	}
	bodies := v.requests()
	if got := said(bodies[len(bodies)-1]); got != "user: one, assistant: Hello., user: two three" {
		t.Errorf("sent %s", got)
	}
}

// TestTalkInterrupted: Ctrl-C ends an answer and keeps what came of it; twice it
// ends the program, at every point.
func TestTalkInterrupted(t *testing.T) {
	t.Run("an answer", func(t *testing.T) {
		v := vendor(t, hangs, answer(textAnswer("end_turn", "Fine.")))
		k := talk(t, v.URL)
		k.says(1, "one")
		k.sees(&k.stdout, "half an answer", 1)
		k.interrupts <- os.Interrupt
		k.sees(&k.stderr, "cancelled", 1)
		k.says(2, "two")
		k.sees(&k.stdout, "Fine.", 1)
		k.sees(&k.stderr, "> ", 3)
		k.in.Close()
		k.ends(exitDone)
		if got := said(v.requests()[1]); got != "user: one, assistant: half an answer, user: two" {
			t.Errorf("sent %s", got)
		}
	})
	t.Run("twice at the prompt", func(t *testing.T) {
		k := talk(t, vendor(t, answer(textAnswer("end_turn", "Hello."))).URL)
		k.sees(&k.stderr, "> ", 1)
		k.interrupts <- os.Interrupt
		k.sees(&k.stderr, "once more", 1)
		k.interrupts <- os.Interrupt
		k.ends(exitInterrupted)
	})
	t.Run("once in an answer and once at the prompt", func(t *testing.T) {
		k := talk(t, vendor(t, hangs).URL)
		k.says(1, "one")
		k.sees(&k.stdout, "half an answer", 1)
		k.interrupts <- os.Interrupt
		k.sees(&k.stderr, "> ", 2)
		k.interrupts <- os.Interrupt
		k.ends(exitInterrupted)
	})
	t.Run("and something typed in between", func(t *testing.T) {
		v := vendor(t, answer(textAnswer("end_turn", "Hello.")))
		k := talk(t, v.URL)
		k.sees(&k.stderr, "> ", 1)
		k.interrupts <- os.Interrupt
		k.says(2, "one")
		k.sees(&k.stderr, "> ", 3)
		k.interrupts <- os.Interrupt
		k.sees(&k.stderr, "once more", 2)
		k.in.Close()
		k.ends(exitDone)
	})
}

func TestTalkNeeds(t *testing.T) {
	k := talk(t, "http://127.0.0.1:1", "--max-turns", "0")
	k.ends(exitUsage)
	p := program{args: []string{"run"}, stdin: strings.NewReader(""), stdout: &k.stdout, stderr: &k.stderr, dir: t.TempDir(), getenv: func(string) string { return "" }, talks: true}
	if code := p.main(t.Context()); code != exitUsage || !strings.Contains(k.stderr.String(), "ANTHROPIC_API_KEY") {
		t.Errorf("without a key: exit code %d, %q", code, k.stderr.String())
	}
}

// TestSession: what a file holds goes on in the next run, with a task and without.
func TestSession(t *testing.T) {
	v := vendor(t, answer(textAnswer("end_turn", "Hello.")), answer(textAnswer("end_turn", "Again.")), answer(textAnswer("end_turn", "Third.")))
	dir := t.TempDir()
	file := filepath.Join(dir, "s.jsonl")
	run := func(task string) outcome {
		return command{env: map[string]string{"ANTHROPIC_API_KEY": testKey}, dir: dir}.run(t, "run", "--base-url", v.URL, "--session", file, task)
	}
	run("one").check(t, exitDone, "Hello.\n", usageLine)
	run("two").check(t, exitDone, "Again.\n", usageLine)
	k := talk(t, v.URL, "--session", file)
	k.sees(&k.stderr, "the conversation has 4 entries\n> ", 1)
	k.says(1, "three")
	k.sees(&k.stderr, "> ", 2)
	k.in.Close()
	k.ends(exitDone)
	if got := said(v.requests()[2]); got != "user: one, assistant: Hello., user: two, assistant: Again., user: three" {
		t.Errorf("sent %s", got)
	}
	b, err := os.ReadFile(file)
	if err != nil || bytes.Count(b, []byte("\n")) != 7 || bytes.Contains(b, []byte(testKey)) {
		t.Errorf("%v, saved:\n%s", err, b)
	}

	// A torn line is told and left out, another file is left alone.
	if err := os.WriteFile(file, b[:len(b)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run("four"); got.code != exitDone || !strings.HasPrefix(got.stderr, "note: repaired line 7: ") {
		t.Errorf("exit code %d, %q", got.code, got.stderr)
	}
	other := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(other, []byte("my notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := command{env: map[string]string{"ANTHROPIC_API_KEY": testKey}, dir: dir}.run(t, "run", "--base-url", v.URL, "--session", other, "x")
	if after, _ := os.ReadFile(other); got.code != exitUsage || !strings.Contains(got.stderr, "no saved conversation") || string(after) != "my notes" {
		t.Errorf("exit code %d, %q, the file holds %q", got.code, got.stderr, after)
	}
}
