package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/wire"
)

// testKey is a key that no output may hold.
const testKey = "sk-test-0123456789abcdef-SECRET"

// command is one run of the program within the test.
type command struct {
	stdin io.Reader         // nil is empty
	env   map[string]string // nil is no variable at all
	dir   string            // "" is an empty folder
	ctx   context.Context
}

// outcome is what came of it. Both texts were looked through for an ESC byte
// and for testKey.
type outcome struct {
	code           int
	stdout, stderr string
	writes         []string // each write to stdout
}

// pieces is a writer that keeps its writes apart.
type pieces struct{ list []string }

func (p *pieces) Write(b []byte) (int, error) {
	p.list = append(p.list, string(b))
	return len(b), nil
}

func (c command) run(t *testing.T, args ...string) outcome {
	t.Helper()
	if c.stdin == nil {
		c.stdin = strings.NewReader("")
	}
	if c.dir == "" {
		c.dir = t.TempDir()
	}
	if c.ctx == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		c.ctx = ctx
	}
	var stdout pieces
	var stderr bytes.Buffer
	p := program{args: args, stdin: c.stdin, stdout: &stdout, stderr: &stderr, dir: c.dir,
		getenv: func(name string) string { return c.env[name] }}
	o := outcome{code: p.main(c.ctx), stderr: stderr.String(), writes: stdout.list}
	o.stdout = strings.Join(stdout.list, "")
	for _, out := range []string{o.stdout, o.stderr} {
		if strings.Contains(out, testKey) {
			t.Errorf("the key is shown: %q", out)
		}
		if strings.Contains(out, "\x1b") {
			t.Errorf("an ESC byte: %q", out)
		}
	}
	return o
}

// check compares an outcome with what is wanted.
func (o outcome) check(t *testing.T, code int, stdout, stderr string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d, want %d", o.code, code)
	}
	if d := cmp.Diff(stdout, o.stdout); d != "" {
		t.Errorf("stdout (-want +got):\n%s", d)
	}
	if d := cmp.Diff(stderr, o.stderr); d != "" {
		t.Errorf("stderr (-want +got):\n%s", d)
	}
}

const noKey = `agentctl: there is no API key; set one of these variables, or name another with --api-key-env:
  ANTHROPIC_API_KEY  (anthropic-messages)
`

const noKeyAtAll = noKey + `  OPENAI_API_KEY  (openai-chat)
  ZAI_API_KEY  (zai)
  DEEPSEEK_API_KEY  (deepseek)
  OPENROUTER_API_KEY  (openrouter)
  MOONSHOT_API_KEY  (moonshot)
  DASHSCOPE_API_KEY  (qwen)
  MINIMAX_API_KEY  (minimax)
  MISTRAL_API_KEY  (mistral)
  GROQ_API_KEY  (groq)
  XAI_API_KEY  (xai)
  TOGETHER_API_KEY  (together)
  FIREWORKS_API_KEY  (fireworks)
  CEREBRAS_API_KEY  (cerebras)
  AZURE_OPENAI_API_KEY  (azure-openai)
  GITHUB_MODELS_TOKEN  (github-models)
  GEMINI_API_KEY  (gemini-openai)
`

const noTask = "agentctl: give a task: agentctl run \"Read README.md and tell me how to start the project\"\n"

func TestUsage(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"one.sse", "two.sse"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name   string
		args   []string
		stdin  string
		env    map[string]string
		stderr string
	}{
		{name: "unknown verb", args: []string{"decod"},
			stderr: "agentctl: there is no verb decod; \"agentctl help\" lists them\n"},
		{name: "a flag for a verb", args: []string{"--json"},
			stderr: "agentctl: there is no verb --json; \"agentctl help\" lists them\n"},

		{name: "run: no task", args: []string{"run"}, stderr: noTask},
		{name: "run: empty task", args: []string{"run", ""}, stderr: noTask},
		{name: "run: blank task", args: []string{"run", " \n\t"}, stdin: "a task", stderr: noTask},
		{name: "run: blank stdin", args: []string{"run"}, stdin: " \r\n", stderr: noTask},
		{name: "run: two arguments", args: []string{"run", "say", "hello"},
			stderr: "agentctl: the task is one argument, in quotation marks; flags come before it\n"},
		{name: "run: flag after the task", args: []string{"run", demoTask, "--json"},
			stderr: "agentctl: the task is one argument, in quotation marks; flags come before it\n"},
		{name: "run: task too long", args: []string{"run"}, stdin: strings.Repeat("x", 1<<20+1),
			stderr: "agentctl: the task on stdin is longer than 1 MiB\n"},
		{name: "run: negative turns", args: []string{"run", "--max-turns", "-1", "x"},
			stderr: "agentctl: --max-turns and --max-tokens take a number from 1, --retries one from 0\n"},
		{name: "run: negative tokens", args: []string{"run", "--max-tokens", "-1", "x"},
			stderr: "agentctl: --max-turns and --max-tokens take a number from 1, --retries one from 0\n"},
		{name: "run: no turns", args: []string{"run", "--max-turns", "0", "x"},
			stderr: "agentctl: --max-turns and --max-tokens take a number from 1, --retries one from 0\n"},
		{name: "run: unknown protocol", args: []string{"run", "-p", "smtp", "x"}, env: map[string]string{"ANTHROPIC_API_KEY": testKey},
			stderr: "agentctl: there is no protocol smtp; the protocols are " + protocolNames() + "\n"},
		{name: "run: another task without a key", args: []string{"run", "Say hello"},
			stderr: noKeyAtAll + "Without a key there is a recording of one task:\n  agentctl run \"" + demoTask + "\"\n"},
		{name: "run: blank key", args: []string{"run", "Say hello"}, env: map[string]string{"ANTHROPIC_API_KEY": " \n"},
			stderr: noKeyAtAll + "Without a key there is a recording of one task:\n  agentctl run \"" + demoTask + "\"\n"},
		{name: "run: -p without a key", args: []string{"run", "-p", "anthropic", demoTask}, stderr: noKey},
		{name: "run: --protocol without a key", args: []string{"run", "--protocol", "Anthropic-Messages", demoTask}, stderr: noKey},
		{name: "run: --model without a key", args: []string{"run", "--model", "m", demoTask}, stderr: noKey},
		{name: "run: --base-url without a key", args: []string{"run", "--base-url", "https://models.example", demoTask}, stderr: noKey},
		{name: "run: the key of a vendor without a usual model", args: []string{"run", "Say hello"}, env: map[string]string{"GROQ_API_KEY": testKey},
			stderr: "agentctl: name a model of groq, whose key is in GROQ_API_KEY, with --model\n"},
		{name: "run: a vendor without a usual model", args: []string{"run", "-p", "groq", "x"}, env: map[string]string{"GROQ_API_KEY": testKey},
			stderr: "agentctl: name a model of groq with --model\n"},
		{name: "run: a vendor without an address", args: []string{"run", "--model", "m", "x"}, env: map[string]string{"AZURE_OPENAI_API_KEY": testKey},
			stderr: "agentctl: azure-openai has another address for every customer: name yours with --base-url\n"},
		{name: "help: unknown verb", args: []string{"help", "decod"}, stderr: "agentctl: there is no verb decod; \"agentctl help\" lists them\n"},
		{name: "run: empty key variable", args: []string{"run", "--api-key-env", "MY_KEY", demoTask},
			env: map[string]string{"ANTHROPIC_API_KEY": testKey, "MY_KEY": "\n"}, stderr: "agentctl: the variable MY_KEY is empty or not set\n"},

		{name: "decode: no protocol", args: []string{"decode"}, stderr: "agentctl: decode needs -p PROTOCOL: " + protocolNames() + "\n"},
		{name: "decode: unknown protocol", args: []string{"decode", "-p", "smtp"}, stderr: "agentctl: there is no protocol smtp; the protocols are " + protocolNames() + "\n"},
		{name: "decode: unknown framing", args: []string{"decode", "-p", "anthropic", "--framing", "xml"},
			stderr: "agentctl: unknown framing xml: sse, lines, whole\n"},
		{name: "decode: two forms", args: []string{"decode", "-p", "anthropic", "--json", "--summary"},
			stderr: "agentctl: --json, --summary and --frames exclude each other\n"},
		{name: "decode: two files", args: []string{"decode", "-p", "anthropic", "one.sse", "two.sse"},
			stderr: "agentctl: decode takes one file; flags come before it\n"},
		{name: "decode: flag after the file", args: []string{"decode", "-p", "anthropic", "one.sse", "--summary"},
			stderr: "agentctl: decode takes one file; flags come before it\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := command{stdin: strings.NewReader(tt.stdin), env: tt.env, dir: folder}.run(t, tt.args...)
			got.check(t, exitUsage, "", tt.stderr)
		})
	}
}

// TestHelpOfVerbs: each verb explains itself, both ways, in lines that fit a terminal.
func TestHelpOfVerbs(t *testing.T) {
	for _, verb := range []string{"run", "encode", "decode", "providers"} {
		want := command{}.run(t, verb, "-h")
		if want.code != exitDone || want.stderr != "" || !strings.HasPrefix(want.stdout, "usage: agentctl "+verb) {
			t.Errorf("%s -h: %+v", verb, want)
		}
		for line := range strings.Lines(want.stdout) {
			if len([]rune(line)) > len("\n")+80 {
				t.Errorf("%s -h: a line of %d characters: %s", verb, len(line), line)
			}
		}
		if got := (command{}).run(t, "help", verb); got.code != exitDone || got.stdout != want.stdout {
			t.Errorf("help %s: %+v", verb, got)
		}
	}
}

// TestDemoBesideAKey: the recording plays where the only key is one of a vendor
// of which no model is known; and it begins a conversation.
func TestDemoBesideAKey(t *testing.T) {
	dir := t.TempDir()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "README.md"), readme, 0o666); err != nil {
		t.Fatal(err)
	}
	session := filepath.Join(dir, "session")
	c := command{dir: dir, env: map[string]string{"GROQ_API_KEY": testKey}}
	if got := c.run(t, "run", "--session", session, demoTask); got.code != exitDone || !strings.Contains(got.stdout, "go test ./...") {
		t.Errorf("%+v", got)
	}
	before, err := os.ReadFile(session)
	if err != nil {
		t.Fatal(err)
	}
	got := c.run(t, "run", "--session", session, demoTask)
	if after, err := os.ReadFile(session); err != nil || string(after) != string(before) {
		t.Errorf("the session became\n%s\n%v", after, err)
	}
	if got.code != exitUsage || got.stdout != "" || !strings.Contains(got.stderr, "holds one already: name another file") {
		t.Errorf("%+v", got)
	}
}

// TestUsageByFlag holds what package flag says to stderr, and to exit code 2.
func TestUsageByFlag(t *testing.T) {
	for _, tt := range []struct {
		name  string
		args  []string
		first string
	}{
		{"run: unknown flag", []string{"run", "--bogus", "x"}, "flag provided but not defined: -bogus"},
		{"decode: unknown flag", []string{"decode", "-q"}, "flag provided but not defined: -q"},
		{"no number", []string{"run", "--max-turns", "many", "x"}, `invalid value "many" for flag -max-turns: parse error`},
		{"no value", []string{"run", "--model"}, "flag needs an argument: -model"},
		{"a mistake before -h", []string{"run", "--bogus", "-h"}, "flag provided but not defined: -bogus"},
		{"-h as the value of a flag", []string{"run", "--max-tokens", "-h"}, `invalid value "-h" for flag -max-tokens: parse error`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := command{}.run(t, tt.args...)
			first, rest, _ := strings.Cut(got.stderr, "\n")
			if got.code != exitUsage || got.stdout != "" || first != tt.first {
				t.Errorf("exit code %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
			}
			if want := "usage: agentctl " + tt.args[0]; !strings.HasPrefix(rest, want) {
				t.Errorf("stderr goes on with %q, want %q", rest, want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"help", []string{"help"}, "agentctl runs an agent and shows what goes over the wire.\n"},
		{"-h", []string{"-h"}, "agentctl runs an agent and shows what goes over the wire.\n"},
		{"--help", []string{"--help"}, "agentctl runs an agent and shows what goes over the wire.\n"},
		{"run -h", []string{"run", "-h"}, "usage: agentctl run [flags] \"task\"\n"},
		{"run --h", []string{"run", "--h"}, "usage: agentctl run [flags] \"task\"\n"},
		{"run --help", []string{"run", "--help"}, "usage: agentctl run [flags] \"task\"\n"},
		{"run --json -h task", []string{"run", "--json", "-h", "x"}, "usage: agentctl run [flags] \"task\"\n"},
		{"decode -h", []string{"decode", "-h"}, "usage: agentctl decode [flags] [file|-]\n"},
		{"decode -help", []string{"decode", "-help"}, "usage: agentctl decode [flags] [file|-]\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := command{}.run(t, tt.args...)
			if got.code != exitDone || got.stderr != "" || !strings.HasPrefix(got.stdout, tt.want) {
				t.Errorf("exit code %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
			}
		})
	}
	t.Run("nothing at all", func(t *testing.T) {
		got := command{}.run(t)
		if got.code != exitUsage || got.stdout != "" || !strings.HasPrefix(got.stderr, "agentctl runs an agent") {
			t.Errorf("exit code %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
		}
	})
}

func TestExitOf(t *testing.T) {
	for cause, want := range map[wire.Cause]int{
		wire.CauseFinished: 0, wire.CauseConfig: 2,
		wire.CauseTruncated: 3, wire.CauseReset: 3, wire.CauseIdle: 3, wire.CauseStalled: 3, wire.CauseDeadline: 3, wire.CauseConnect: 3,
		wire.CauseVendor: 4, wire.CauseProtocol: 5, wire.CauseLimit: 5, wire.CauseCancelled: 130,
	} {
		if got := exitOf(cause); got != want {
			t.Errorf("%s: exit code %d, want %d", cause, got, want)
		}
	}
}

func TestExit(t *testing.T) {
	for _, tt := range []struct {
		name   string
		err    error
		code   int
		stderr string
	}{
		{name: "nothing"},
		{name: "closed pipe of stdout", err: &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}},
		{name: "closed pipe in process", err: io.ErrClosedPipe},
		{name: "closed pipe of the connection", code: 3, stderr: "agentctl: reset: write: broken pipe\n",
			err: &wire.Error{Cause: wire.CauseReset, Message: "write: broken pipe", Err: &os.SyscallError{Syscall: "write", Err: syscall.EPIPE}}},
		{name: "closed pipe before the answer", code: 3, stderr: "agentctl: connect: io: read/write on closed pipe\n",
			err: &wire.Error{Cause: wire.CauseConnect, Err: io.ErrClosedPipe}},
		{name: "full disk", err: &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}, code: 2,
			stderr: "agentctl: write /dev/stdout: no space left on device\n"},
		{name: "cancelled", err: &wire.Error{Cause: wire.CauseCancelled, Message: "the run was cancelled"}, code: 130},
		{name: "control characters", err: &wire.Error{Cause: wire.CauseVendor, Message: "\x1b]0;title\x07red\u009b31m\x7f"}, code: 4,
			stderr: "agentctl: vendor_error:  ]0;title red 31m \n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stderr bytes.Buffer
			p := program{stderr: &stderr}
			if got := p.exit(tt.err); got != tt.code {
				t.Errorf("exit code %d, want %d", got, tt.code)
			}
			if d := cmp.Diff(tt.stderr, stderr.String()); d != "" {
				t.Errorf("stderr (-want +got):\n%s", d)
			}
		})
	}
}

// TestStdoutFails: what cannot be written ends the command, whatever its form.
func TestStdoutFails(t *testing.T) {
	v := vendor(t, answer(textAnswer("end_turn", "one\n", "two\n")))
	file := filepath.Join(t.TempDir(), "a.sse")
	if err := os.WriteFile(file, []byte(textAnswer("end_turn", "one", "two")), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"run", "--base-url", v.URL, "x"},
		{"run", "--base-url", v.URL, "--json", "x"},
		{"decode", "-p", "anthropic", file},
		{"decode", "-p", "anthropic", "--json", file},
		{"decode", "-p", "anthropic", "--summary", file},
		{"decode", "--frames", file},
	} {
		for err, want := range map[error]int{syscall.EPIPE: exitDone, errors.New("the disk is full"): exitUsage} {
			var stderr bytes.Buffer
			p := program{args: args, stdin: strings.NewReader(""), stdout: brokenWriter{err}, stderr: &stderr,
				getenv: func(string) string { return "" }, dir: t.TempDir()}
			said := "agentctl: the disk is full\n"
			if want == exitDone {
				said = ""
			}
			if got := p.main(t.Context()); got != want || stderr.String() != said {
				t.Errorf("%q, %v: exit code %d, want %d; stderr %q", args, err, got, want, stderr.String())
			}
		}
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

// ---- a vendor on loopback ----

// vendorServer answers with its answers in turn, the last one again and again.
type vendorServer struct {
	*httptest.Server
	mu      sync.Mutex
	answers []http.HandlerFunc
	bodies  []string
	headers []http.Header
}

func vendor(t *testing.T, answers ...http.HandlerFunc) *vendorServer {
	t.Helper()
	v := &vendorServer{answers: answers}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		v.mu.Lock()
		v.bodies = append(v.bodies, string(body))
		v.headers = append(v.headers, r.Header.Clone())
		f := v.answers[min(len(v.bodies), len(v.answers))-1]
		v.mu.Unlock()
		f(w, r)
	}))
	t.Cleanup(v.Close)
	return v
}

func (v *vendorServer) requests() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string(nil), v.bodies...)
}

// answer answers with a whole event stream.
func answer(stream string) http.HandlerFunc { return reply(200, "text/event-stream", stream) }

func reply(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// events writes blocks of an event stream, each from an object whose type is
// its name.
func events(objects ...string) string {
	var b strings.Builder
	for _, o := range objects {
		var head struct{ Type string }
		if err := json.Unmarshal([]byte(o), &head); err != nil {
			panic(err)
		}
		b.WriteString("event: " + head.Type + "\ndata: " + o + "\n\n")
	}
	return b.String()
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

const messageStart = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"usage":{"input_tokens":5,"output_tokens":1}}}`

// textBlock is one text block in deltas.
func textBlock(index string, deltas ...string) []string {
	list := []string{`{"type":"content_block_start","index":` + index + `,"content_block":{"type":"text","text":""}}`}
	for _, d := range deltas {
		list = append(list, `{"type":"content_block_delta","index":`+index+`,"delta":{"type":"text_delta","text":`+quote(d)+`}}`)
	}
	return append(list, `{"type":"content_block_stop","index":`+index+`}`)
}

// callBlock is one tool call.
func callBlock(index, id, name, args string) []string {
	return []string{
		`{"type":"content_block_start","index":` + index + `,"content_block":{"type":"tool_use","id":` + quote(id) + `,"name":` + quote(name) + `,"input":{}}}`,
		`{"type":"content_block_delta","index":` + index + `,"delta":{"type":"input_json_delta","partial_json":` + quote(args) + `}}`,
		`{"type":"content_block_stop","index":` + index + `}`,
	}
}

// stop is the end of a message.
func stop(reason string) []string {
	return []string{
		`{"type":"message_delta","delta":{"stop_reason":` + quote(reason) + `,"stop_sequence":null},"usage":{"output_tokens":7}}`,
		`{"type":"message_stop"}`,
	}
}

func join(lists ...[]string) string {
	all := []string{messageStart}
	for _, l := range lists {
		all = append(all, l...)
	}
	return events(all...)
}

func textAnswer(reason string, deltas ...string) string {
	return join(textBlock("0", deltas...), stop(reason))
}

func callAnswer(name, args string) string {
	return join(callBlock("0", "toolu_1", name, args), stop("tool_use"))
}

// ---- the built command ----

// TestBinary builds the command and looks at what only a process has: signals,
// pipes, its exit status.
func TestBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals here")
	}
	exe := filepath.Join(t.TempDir(), "agentctl.exe")
	if out, err := exec.Command("go", "build", "-o", exe, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	begin := func(t *testing.T, stdin io.Reader, args ...string) *process {
		t.Helper()
		return start(t, exe, stdin, args...)
	}
	partial := join(textBlock("0", "partial")[:2])
	hang := func(begin string, gone chan<- struct{}) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, begin)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			close(gone)
		}
	}

	t.Run("demo", func(t *testing.T) {
		p := begin(t, nil, "run", demoTask)
		p.cmd.Dir = "../.."
		p.start(t)
		code := p.wait(t, 20*time.Second)
		if code != 0 || p.stdout.String() != demoAnswer(t) {
			t.Errorf("exit status %d, stdout %q", code, p.stdout.String())
		}
	})

	t.Run("exit status", func(t *testing.T) {
		v := vendor(t, reply(401, "application/json", `{"type":"error","error":{"type":"authentication_error","message":"no"}}`))
		for _, tt := range []struct {
			want int
			args []string
		}{
			{0, []string{"help"}}, {2, nil}, {2, []string{"run"}}, {2, []string{"run", "Say hello"}}, {2, []string{"decode", "-p", "anthropic", "missing"}},
			{3, []string{"decode", "-p", "anthropic"}}, {4, []string{"run", "--base-url", v.URL, "x"}},
		} {
			p := begin(t, nil, tt.args...)
			p.start(t)
			if got := p.wait(t, 10*time.Second); got != tt.want {
				t.Errorf("%q: exit status %d, want %d", tt.args, got, tt.want)
			}
		}
	})

	for _, tt := range []struct {
		name   string
		args   []string
		signal os.Signal
		stdout func(got string) bool
	}{
		{"interrupted", nil, os.Interrupt, func(got string) bool { return got == "partial\n" }},
		{"terminated", nil, syscall.SIGTERM, func(got string) bool { return got == "partial\n" }},
		{"interrupted, json", []string{"--json"}, os.Interrupt, func(got string) bool {
			lines := jsonLines(t, got)
			end, _ := lines[len(lines)-1]["end"].(map[string]any)
			return end["cause"] == "cancelled"
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gone := make(chan struct{})
			v := vendor(t, hang(partial, gone))
			p := begin(t, nil, append(append([]string{"run", "--base-url", v.URL}, tt.args...), "x")...)
			p.start(t)
			p.until(t, "partial")
			p.signal(t, tt.signal)
			if code := p.wait(t, time.Second); code != exitInterrupted || !tt.stdout(p.stdout.String()) {
				t.Errorf("exit status %d, stdout %q", code, p.stdout.String())
			}
			if s := p.stderr.String(); strings.Contains(s, "agentctl:") || strings.Contains(s, "panic") {
				t.Errorf("stderr %q", s)
			}
			select {
			case <-gone:
			case <-time.After(2 * time.Second):
				t.Error("the request was not cancelled")
			}
		})
	}

	t.Run("interrupted before the answer", func(t *testing.T) {
		asked := make(chan struct{})
		v := vendor(t, func(w http.ResponseWriter, r *http.Request) { close(asked); <-r.Context().Done() })
		p := begin(t, nil, "run", "--base-url", v.URL, "x")
		p.start(t)
		<-asked
		p.signal(t, os.Interrupt)
		if code := p.wait(t, time.Second); code != exitInterrupted || p.stdout.String() != "" || p.stderr.String() != "" {
			t.Errorf("exit status %d, stdout %q, stderr %q", code, p.stdout.String(), p.stderr.String())
		}
	})

	t.Run("interrupted while the task comes", func(t *testing.T) {
		r, w := pipe(t)
		p := begin(t, r, "run")
		p.start(t)
		_, _ = io.WriteString(w, strings.Repeat("half a task", 20_000)) // more than a pipe holds: it is reading
		p.signal(t, os.Interrupt)
		if code := p.wait(t, time.Second); code != exitInterrupted || p.stdout.String() != "" || p.stderr.String() != "" {
			t.Errorf("exit status %d, stdout %q, stderr %q", code, p.stdout.String(), p.stderr.String())
		}
	})

	t.Run("decode interrupted", func(t *testing.T) {
		r, w := pipe(t)
		p := begin(t, r, "decode", "-p", "anthropic")
		p.start(t)
		_, _ = io.WriteString(w, partial)
		// The events come while the stream is still open.
		p.until(t, `delta 0 text "partial"`)
		p.signal(t, os.Interrupt)
		code := p.wait(t, time.Second)
		want := "part_end 0 text {\"partial\":true}\n" + `end {"cause":"cancelled","error":{"cause":"cancelled","message":"interrupted"}}` + "\n"
		if code != exitInterrupted || !strings.HasSuffix(p.stdout.String(), want) || p.stderr.String() != "" {
			t.Errorf("exit status %d, stdout %q, stderr %q", code, p.stdout.String(), p.stderr.String())
		}
	})

	t.Run("decode shows the first event at once", func(t *testing.T) {
		r, w := pipe(t)
		p := begin(t, r, "decode", "-p", "anthropic")
		p.start(t)
		_, _ = io.WriteString(w, events(`{"type":"message_start","message":{"id":"m","role":"assistant","model":"x","content":[]}}`))
		p.until(t, "start {")
		w.Close()
		if code := p.wait(t, 5*time.Second); code != exitCut {
			t.Errorf("exit status %d", code)
		}
	})

	t.Run("interrupted twice while nobody reads", func(t *testing.T) {
		gone := make(chan struct{})
		v := vendor(t, hang(join(textBlock("0", strings.Repeat("x", 1<<20))), gone))
		r, w := pipe(t) // nobody reads from r
		_ = r
		p := begin(t, nil, "run", "--base-url", v.URL, "x")
		p.cmd.Stdout = w
		p.start(t)
		time.Sleep(300 * time.Millisecond) // until the pipe is full
		p.signal(t, os.Interrupt)
		time.Sleep(100 * time.Millisecond)
		p.signal(t, os.Interrupt)
		p.wait(t, time.Second)
	})

	// What reads the first line only, and then closes its end of the pipe.
	lines := make([]string, 200)
	for i := range lines {
		lines[i] = "line\n"
	}
	for _, tt := range []struct {
		name string
		args []string
		line string
	}{
		{"text", nil, "line\n"},
		{"json", []string{"--json"}, `{"kind":"turn_start","turn":1}` + "\n"},
	} {
		t.Run("closed pipe, "+tt.name, func(t *testing.T) {
			gone := make(chan struct{})
			v := vendor(t, func(w http.ResponseWriter, r *http.Request) {
				defer close(gone)
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, events(messageStart, textBlock("0")[0]))
				delta := events(textBlock("0", "line\n")[1])
				for r.Context().Err() == nil {
					_, _ = io.WriteString(w, delta)
					_ = http.NewResponseController(w).Flush()
					time.Sleep(time.Millisecond)
				}
			})
			r, w := pipe(t)
			p := begin(t, nil, append(append([]string{"run", "--base-url", v.URL}, tt.args...), "x")...)
			p.cmd.Stdout = w
			p.start(t)
			w.Close()
			line := make([]byte, len(tt.line))
			if _, err := io.ReadFull(r, line); err != nil || string(line) != tt.line {
				t.Errorf("%q, %v", line, err)
			}
			r.Close()
			if code := p.wait(t, 5*time.Second); code != exitDone || p.stderr.String() != "" {
				t.Errorf("exit status %d, stderr %q", code, p.stderr.String())
			}
			select {
			case <-gone:
			case <-time.After(5 * time.Second):
				t.Error("the request was not cancelled")
			}
		})
	}

	t.Run("closed pipe, decode", func(t *testing.T) {
		r, w := pipe(t)
		p := begin(t, strings.NewReader(textAnswer("end_turn", lines...)+strings.Repeat(": more\n", 1<<16)), "decode", "--frames")
		p.cmd.Stdout = w
		p.start(t)
		w.Close()
		r.Close()
		if code := p.wait(t, 5*time.Second); code != exitDone || p.stderr.String() != "" {
			t.Errorf("exit status %d, stderr %q", code, p.stderr.String())
		}
	})

	t.Run("stdin", func(t *testing.T) {
		dir, err := os.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		null, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer null.Close()
		for _, tt := range []struct {
			name  string
			stdin *os.File
			args  []string
			want  int
		}{
			{"no task, a device", null, []string{"run"}, exitUsage},
			{"no task, a folder", dir, []string{"run"}, exitUsage},
			{"no stream, a folder", dir, []string{"decode", "-p", "anthropic"}, exitUsage},
			{"no frames, a folder", dir, []string{"decode", "--frames", "-"}, exitUsage},
			{"an empty stream", null, []string{"decode", "-p", "anthropic"}, exitCut},
		} {
			t.Run(tt.name, func(t *testing.T) {
				p := begin(t, tt.stdin, tt.args...)
				p.start(t)
				if code := p.wait(t, 5*time.Second); code != tt.want {
					t.Errorf("exit status %d, want %d; stderr %q", code, tt.want, p.stderr.String())
				}
			})
		}
	})

	t.Run("full disk", func(t *testing.T) {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		defer full.Close()
		p := begin(t, strings.NewReader(textAnswer("end_turn", "hi")), "decode", "-p", "anthropic")
		p.cmd.Stdout = full
		p.start(t)
		if code := p.wait(t, 5*time.Second); code != exitUsage || !strings.Contains(p.stderr.String(), "no space left") {
			t.Errorf("exit status %d, stderr %q", code, p.stderr.String())
		}
	})
}

// process is one run of the built command.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr *safeBuffer
	done           chan error
}

// safeBuffer can be read while a process writes to it.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func start(t *testing.T, exe string, stdin io.Reader, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(exe, args...), stdout: &safeBuffer{}, stderr: &safeBuffer{}, done: make(chan error, 1)}
	p.cmd.Dir = t.TempDir()
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, p.stdout, p.stderr
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "ANTHROPIC_API_KEY=") {
			p.cmd.Env = append(p.cmd.Env, v)
		}
	}
	p.cmd.Env = append(p.cmd.Env, "TERM=xterm-256color")
	return p
}

func (p *process) start(t *testing.T) {
	t.Helper()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
}

// until waits until stdout holds text.
func (p *process) until(t *testing.T, text string) {
	t.Helper()
	for range 1000 {
		if strings.Contains(p.stdout.String(), text) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%q did not come: stdout %q, stderr %q", text, p.stdout.String(), p.stderr.String())
}

func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// wait waits for the end and returns the exit status, -1 for a death by signal.
func (p *process) wait(t *testing.T, most time.Duration) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(most):
		_ = p.cmd.Process.Kill()
		<-p.done
		t.Fatalf("it did not end within %v: stdout %q, stderr %q", most, p.stdout.String(), p.stderr.String())
	}
	for _, out := range []string{p.stdout.String(), p.stderr.String()} {
		if strings.ContainsAny(out, "\x1b") {
			t.Errorf("an ESC byte: %q", out)
		}
	}
	return p.cmd.ProcessState.ExitCode()
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// jsonLines reads JSON lines, and fails if there is anything else.
func jsonLines(t *testing.T, out string) (list []map[string]any) {
	t.Helper()
	if !strings.HasSuffix(out, "\n") {
		t.Fatalf("the last line has no end: %q", out)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\n"), "\n") {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		list = append(list, v)
	}
	return list
}
