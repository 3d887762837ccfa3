package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/golden"
	"github.com/handwire/handwire/wire"
)

// ---- the recording ----

func demoFixture(t *testing.T) *golden.Fixture {
	t.Helper()
	f, err := golden.Load(os.DirFS("demo"), "readme")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// demoAnswer is what the recording writes to stdout.
func demoAnswer(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	for _, m := range demoFixture(t).History.Messages {
		if m.Role == wire.RoleAssistant {
			text.WriteString(strings.TrimSuffix(m.Text(), "\n") + "\n")
		}
	}
	return text.String()
}

// projectFolder is a folder with the README of the project, and other contents
// if there are some.
func projectFolder(t *testing.T, change func(readme string) string) string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte(change(string(readme))), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

func same(s string) string { return s }

// withoutPort replaces the address of the recording's server.
func withoutPort(s string) string {
	before, after, ok := strings.Cut(s, "http://127.0.0.1:")
	if !ok {
		return s
	}
	return before + "URL" + strings.TrimLeft(after, "0123456789")
}

const demoNote = "no key: playing a recording of claude-sonnet-5-5 over HTTP at URL; the tools are real\n"

func TestDemo(t *testing.T) {
	dir := projectFolder(t, same)
	info, err := os.Stat(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	size := strconv.FormatInt(info.Size(), 10)
	stderr := demoNote + "tool: read {\"path\": \"README.md\"}\ntool: read: " + size + " bytes\n" +
		"usage: 2822 tokens in (0 from cache), 152 out, 2 turns\n"
	for _, tt := range []struct {
		name  string
		stdin string
		env   map[string]string
		args  []string
	}{
		{name: "task", args: []string{demoTask}},
		{name: "task on stdin", stdin: demoTask + "\r\n"},
		{name: "blanks around the task", stdin: "\n " + demoTask + " \n"},
		{name: "flags that name no vendor", args: []string{"--max-turns", "2", demoTask}},
		{name: "blank key", env: map[string]string{"ANTHROPIC_API_KEY": " \n"}, args: []string{demoTask}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := command{stdin: strings.NewReader(tt.stdin), env: tt.env, dir: dir}.run(t, append([]string{"run"}, tt.args...)...)
			got.stderr = withoutPort(got.stderr)
			got.check(t, exitDone, demoAnswer(t), stderr)
			if len(got.writes) < 10 {
				t.Errorf("the answer came in %d pieces", len(got.writes))
			}
		})
	}
}

// TestDemoFolder: the answer comes only where the tool read the lines.
func TestDemoFolder(t *testing.T) {
	const refused = "agentctl: vendor_error (bad_request): status 400: invalid_request_error: golden: request 2 does not match: " +
		"the recorded answer quotes a line that the tool did not read: is this the folder of the project? The line is: "
	for _, tt := range []struct {
		name string
		dir  string
		code int
		last string
	}{
		{"no README", t.TempDir(), exitVendor, refused + demoQuotes[0]},
		{"another README", projectFolder(t, func(string) string { return "# another\n" }), exitVendor, refused + demoQuotes[0]},
		{"a README without the test command", projectFolder(t, func(s string) string {
			return strings.ReplaceAll(s, "go test ./...", "go  test ./...")
		}), exitVendor, refused + demoQuotes[1]},
		{"CRLF", projectFolder(t, func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }), exitDone,
			"usage: 2822 tokens in (0 from cache), 152 out, 2 turns"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := command{dir: tt.dir}.run(t, "run", demoTask)
			lines := strings.Split(strings.TrimSuffix(got.stderr, "\n"), "\n")
			if last := lines[len(lines)-1]; got.code != tt.code || last != tt.last {
				t.Errorf("exit code %d, stderr ends with\n%s\nwant\n%s", got.code, last, tt.last)
			}
			if !strings.HasPrefix(got.stdout, "I'll read the README first.\n") {
				t.Errorf("stdout %q", got.stdout)
			}
		})
	}
	t.Run("folder is gone", func(t *testing.T) {
		got := command{dir: filepath.Join(t.TempDir(), "gone")}.run(t, "run", demoTask)
		if got.code != exitUsage || got.stdout != "" || !strings.Contains(got.stderr, "agentctl: this folder cannot be read: ") {
			t.Errorf("exit code %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
		}
	})
	t.Run("limit of turns", func(t *testing.T) {
		got := command{dir: projectFolder(t, same)}.run(t, "run", "--max-turns", "1", demoTask)
		if got.code != exitNegative || got.stdout != "I'll read the README first.\n" || !strings.HasSuffix(got.stderr,
			"agentctl: limit: agent: the model was called 1 times, as often as a run may\n") {
			t.Errorf("exit code %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
		}
	})
}

func TestDemoJSON(t *testing.T) {
	got := command{dir: projectFolder(t, same)}.run(t, "run", "--json", demoTask)
	if got.code != exitDone || withoutPort(got.stderr) != demoNote {
		t.Errorf("exit code %d, stderr %q", got.code, got.stderr)
	}
	var text strings.Builder
	var events [2][]wire.Event
	var kinds []string
	for range jsonLines(t, got.stdout) {
		line, rest, _ := strings.Cut(got.stdout, "\n")
		got.stdout = rest
		var ev agent.Event
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&ev); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		text.WriteString(ev.Text())
		if ev.Model != nil {
			m := *ev.Model
			if m.Start != nil {
				start := *m.Start
				start.Origin.Endpoint = "" // has the port
				m.Start = &start
			}
			events[ev.Turn-1] = append(events[ev.Turn-1], m)
		} else {
			kinds = append(kinds, string(ev.Kind))
		}
	}
	if d := cmp.Diff("turn_start message tool_start tool_end message turn_start message end", strings.Join(kinds, " ")); d != "" {
		t.Errorf("kinds (-want +got):\n%s", d)
	}
	f := demoFixture(t)
	for i, evs := range events {
		if d := cmp.Diff(f.Turns[i].Events, string(golden.AppendEvents(nil, evs))); d != "" {
			t.Errorf("turn %d (-want +got):\n%s", i+1, d)
		}
	}
	if want := "I'll read the README first." + f.History.Messages[3].Text(); text.String() != want {
		t.Errorf("text %q, want %q", text.String(), want)
	}
}

// TestDemoRequests looks at what goes over the wire of the recording.
func TestDemoRequests(t *testing.T) {
	taps := tapConnections(t)
	if got := (command{dir: projectFolder(t, same)}).run(t, "run", demoTask); got.code != exitDone {
		t.Fatalf("exit code %d, stderr %q", got.code, got.stderr)
	}
	var bodies [][]byte
	for _, sent := range taps() {
		br := bufio.NewReader(bytes.NewReader(sent))
		for {
			req, err := http.ReadRequest(br)
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(req.Body)
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, body)
			if req.Method != "POST" || req.URL.Path != "/v1/messages" || req.Header.Get("X-Api-Key") != "" || req.Header.Get("Authorization") != "" {
				t.Errorf("%s %s %v", req.Method, req.URL, req.Header)
			}
		}
	}
	f := demoFixture(t)
	if len(bodies) != len(f.Turns) {
		t.Fatalf("%d requests", len(bodies))
	}
	const result = "messages.2.content.0.content.0.text"
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if got := gjson.GetBytes(bodies[1], result).Str; got != string(readme) {
		t.Errorf("the result is not the README: %q", got)
	}
	for i := range bodies {
		want := f.Turns[i].RequestBody
		if d := golden.Diff(want, swap(bodies[i], result, gjson.GetBytes(want, result).Raw)); d != "" {
			t.Errorf("request %d: %s", i+1, d)
		}
	}
}

// swap puts other JSON in the place of a value, if there is one.
func swap(body []byte, path, raw string) []byte {
	v := gjson.GetBytes(body, path)
	if !v.Exists() {
		return body
	}
	return append(append(append([]byte(nil), body[:v.Index]...), raw...), body[v.Index+len(v.Raw):]...)
}

// tapConnections makes new clients keep what they send, and returns it by
// connection.
func tapConnections(t *testing.T) func() [][]byte {
	t.Helper()
	old := http.DefaultTransport
	tr := old.(*http.Transport).Clone()
	var mu sync.Mutex
	var taps []*tap
	dial := tr.DialContext
	tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		taps = append(taps, &tap{Conn: c})
		return taps[len(taps)-1], nil
	}
	http.DefaultTransport = tr
	t.Cleanup(func() { http.DefaultTransport = old })
	return func() (list [][]byte) {
		mu.Lock()
		defer mu.Unlock()
		for _, tap := range taps {
			tap.mu.Lock()
			list = append(list, bytes.Clone(tap.sent))
			tap.mu.Unlock()
		}
		return list
	}
}

type tap struct {
	net.Conn
	mu   sync.Mutex
	sent []byte
}

func (c *tap) Write(b []byte) (int, error) {
	c.mu.Lock()
	c.sent = append(c.sent, b...)
	c.mu.Unlock()
	return c.Conn.Write(b)
}

// ---- a vendor ----

const usageLine = "usage: 5 tokens in (unknown from cache), 7 out, 1 turn\n"

func TestRun(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers []http.HandlerFunc
		flags   []string
		code    int
		stdout  string
		stderr  string
	}{
		// What goes to stdout.
		{name: "no line end", answers: list(answer(textAnswer("end_turn", "hi"))), stdout: "hi\n", stderr: usageLine},
		{name: "line end", answers: list(answer(textAnswer("end_turn", "hi\n"))), stdout: "hi\n", stderr: usageLine},
		{name: "line end of its own", answers: list(answer(textAnswer("end_turn", "hi", "\n"))), stdout: "hi\n", stderr: usageLine},
		{name: "nothing", answers: list(answer(textAnswer("end_turn"))), stderr: usageLine},
		{name: "blank", answers: list(answer(textAnswer("end_turn", "\n"))), stdout: "\n", stderr: usageLine},
		{name: "lines", answers: list(answer(textAnswer("end_turn", "a\nb", "c\n\n d"))), stdout: "a\nbc\n\n d\n", stderr: usageLine},
		{name: "two texts", answers: list(answer(join(textBlock("0", "one, "), textBlock("1", "two"), stop("end_turn")))), stdout: "one, two\n", stderr: usageLine},
		{name: "reasoning", answers: list(answer(join([]string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
			`{"type":"content_block_stop","index":0}`}, textBlock("1", "so"), stop("end_turn")))), stdout: "so\n", stderr: usageLine},
		{name: "one document", answers: list(reply(200, "application/json",
			`{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[{"type":"text","text":"whole"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":7}}`)),
			stdout: "whole\n", stderr: usageLine},

		// How an answer ends.
		{name: "length", answers: list(answer(textAnswer("max_tokens", "half a"))), stdout: "half a\n",
			stderr: "finish: length (max_tokens)\n" + usageLine},
		{name: "refusal", answers: list(answer(textAnswer("refusal", "no"))), stdout: "no\n",
			stderr: "finish: refusal (refusal)\n" + usageLine},
		{name: "unknown reason", answers: list(answer(textAnswer("moon\x1b[31m", "no"))), stdout: "no\n",
			stderr: "finish: other (moon [31m)\n" + usageLine},
		{name: "a stop sequence", answers: list(answer(join(textBlock("0", "a"), []string{
			`{"type":"message_delta","delta":{"stop_reason":"stop_sequence","stop_sequence":"END"},"usage":{"output_tokens":7}}`, `{"type":"message_stop"}`}))),
			stdout: "a\n", stderr: usageLine},

		// Errors.
		{name: "401", answers: list(reply(401, "application/json", `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"req_1"}`)),
			code: exitVendor, stderr: "agentctl: vendor_error (auth): status 401: authentication_error: invalid x-api-key (request id req_1); check the key: ANTHROPIC_API_KEY\n"},
		{name: "429", answers: list(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "3")
			reply(429, "application/json", `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`)(w, r)
		}), code: exitVendor, stderr: "agentctl: vendor_error (rate_limit): status 429: rate_limit_error: slow down\n"},
		{name: "500", answers: list(reply(500, "application/json", `{"type":"error","error":{"type":"api_error","message":"Internal server error"}}`)),
			code: exitVendor, stderr: "agentctl: vendor_error (server): status 500: api_error: Internal server error\n"},
		{name: "502 without JSON", answers: list(reply(502, "text/html", "<html><h1>502 Bad Gateway</h1></html>")), code: exitVendor,
			stderr: `agentctl: vendor_error (server): status 502: the vendor answered with status 502 and no error in its own form: body "<html><h1>502 Bad Gateway</h1></html>"; ` +
				"a web page answered: check the base URL, and what stands between here and the server\n"},
		{name: "error in the stream", answers: list(answer(join(textBlock("0", "half")[:2], []string{`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}))),
			code: exitVendor, stdout: "half\n", stderr: "usage: 5 tokens in (unknown from cache), 1 out, 1 turn\nagentctl: vendor_error (overloaded): status 200: overloaded_error: Overloaded\n"},
		{name: "cut", answers: list(answer(join(textBlock("0", "half")[:2]))), code: exitCut, stdout: "half\n",
			stderr: "usage: 5 tokens in (unknown from cache), 1 out, 1 turn\nagentctl: truncated: status 200: the body ended before message_stop\n"},
		{name: "cut after the reason", answers: list(answer(join(textBlock("0", "whole"), stop("end_turn")[:1]))), code: exitCut, stdout: "whole\n",
			stderr: usageLine + "agentctl: truncated: status 200: the body ended before message_stop\n"},
		{name: "empty stream", answers: list(answer("")), code: exitCut, stderr: "agentctl: truncated: status 200: the body ended before the message began\n"},
		{name: "reset", answers: list(func(w http.ResponseWriter, r *http.Request) {
			answer(join(textBlock("0", "half")[:2]))(w, r)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}), code: exitCut, stdout: "half\n", stderr: "usage: 5 tokens in (unknown from cache), 1 out, 1 turn\nagentctl: reset: status 200: unexpected EOF\n"},
		{name: "a web page", answers: list(reply(200, "text/html; charset=utf-8", "<!doctype html><title>Sign in</title>")), code: exitProtocol,
			stderr: `agentctl: protocol_error: status 200: the response has the content type "text/html; charset=utf-8", which is no answer of a model: POST URL/v1/messages: ` +
				`body "<!doctype html><title>Sign in</title>"; a web page answered: check the base URL, and what stands between here and the server` + "\n"},
		{name: "no JSON in the stream", answers: list(answer("data: hello\n\n")), code: exitProtocol,
			stderr: "agentctl: protocol_error: status 200: an event is not JSON: offset 0: expected a value: body \"hello\"; check that the server speaks anthropic-messages at /v1/messages\n"},
		{name: "redirect", answers: list(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example/v1/messages?key="+testKey, http.StatusTemporaryRedirect)
		}), code: exitUsage, stderr: "agentctl: config: status 307: the server redirects to https://elsewhere.example; redirects are not followed, " +
			"so that the key stays where it belongs: set the base URL to the address that is meant\n"},
		{name: "key echoed", answers: list(reply(401, "application/json", `{"type":"error","error":{"type":"authentication_error","message":"wrong key `+testKey+`"}}`)),
			code: exitVendor, stderr: "agentctl: vendor_error (auth): status 401: authentication_error: wrong key [key hidden]; check the key: ANTHROPIC_API_KEY\n"},
		{name: "control characters in an error", answers: list(reply(400, "application/json",
			`{"type":"error","error":{"type":"invalid_request_error","message":"a\u001b]0;x\u0007b\u009b31mc\r\nd"}}`)),
			code: exitVendor, stderr: "agentctl: vendor_error (bad_request): status 400: invalid_request_error: a ]0;x b 31mc  d\n"},

		// Tools.
		{name: "endless calls", answers: list(answer(callAnswer("ls", "{}"))), flags: []string{"--max-turns", "2"}, code: exitNegative,
			stderr: "tool: ls {}\ntool: ls: 12 bytes\ntool: ls {}\ntool: ls: 12 bytes\n" +
				"usage: 10 tokens in (unknown from cache), 14 out, 2 turns\nagentctl: limit: agent: the model was called 2 times, as often as a run may\n"},
		{name: "text around calls", answers: list(
			answer(join(textBlock("0", "Let me look."), callBlock("1", "toolu_1", "read", `{"path":"hello.txt"}`), stop("tool_use"))),
			answer(textAnswer("end_turn", "It says hello."))), stdout: "Let me look.\nIt says hello.\n",
			stderr: "tool: read {\"path\":\"hello.txt\"}\ntool: read: 6 bytes\nusage: 10 tokens in (unknown from cache), 14 out, 2 turns\n"},
		{name: "a file that is not there", answers: list(answer(callAnswer("read", `{"path":"no"}`)), answer(textAnswer("end_turn", "oh"))), stdout: "oh\n",
			stderr: "tool: read {\"path\":\"no\"}\ntool: read: error: there is no \"no\": use ls to see what there is\nusage: 10 tokens in (unknown from cache), 14 out, 2 turns\n"},
		{name: "a file outside", answers: list(answer(callAnswer("read", `{"path":"../../etc/passwd"}`)), answer(textAnswer("end_turn", "oh"))), stdout: "oh\n",
			stderr: "tool: read {\"path\":\"../../etc/passwd\"}\ntool: read: error: the path leads out of the folder that this tool may look at: " +
				"give a path relative to that folder, without a leading slash, that stays in it\nusage: 10 tokens in (unknown from cache), 14 out, 2 turns\n"},
		{name: "unknown tool", answers: list(answer(callAnswer("rm", `{"path":"/"}`)), answer(textAnswer("end_turn", "oh"))), stdout: "oh\n",
			stderr: "tool: rm: error: There is no tool named \"rm\". The tools are: read, ls.\nusage: 10 tokens in (unknown from cache), 14 out, 2 turns\n"},
		{name: "control characters in arguments", answers: list(answer(callAnswer("read", "{\"path\":\n\"\u009b31m\"}")), answer(textAnswer("end_turn", "oh"))), stdout: "oh\n",
			stderr: "tool: read {\"path\": \" 31m\"}\ntool: read: error: there is no \"\\u009b31m\": use ls to see what there is\nusage: 10 tokens in (unknown from cache), 14 out, 2 turns\n"},
		{name: "half a call", answers: list(answer(join(callBlock("0", "toolu_1", "read", `{"path":"hel`), stop("max_tokens")))),
			stderr: "finish: length (max_tokens)\n" + usageLine},
		{name: "a call that was cut", answers: list(answer(join(callBlock("0", "toolu_1", "read", `{"path":"hello.txt"}`)))), code: exitCut,
			stderr: "usage: 5 tokens in (unknown from cache), 1 out, 1 turn\nagentctl: truncated: status 200: the body ended before message_stop\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hello\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			for _, asJSON := range []bool{false, true} {
				v := vendor(t, tt.answers...)
				args := append([]string{"run", "--retries", "0", "--base-url", v.URL}, tt.flags...)
				if asJSON {
					args = append(args, "--json")
				}
				got := command{env: map[string]string{"ANTHROPIC_API_KEY": testKey}, dir: dir}.run(t, append(args, "Do it.")...)
				for _, h := range v.headers {
					if h.Get("X-Api-Key") != testKey {
						t.Errorf("the key did not come: %v", h)
					}
				}
				got.stderr = strings.ReplaceAll(got.stderr, v.URL, "URL")
				if !asJSON {
					got.check(t, tt.code, tt.stdout, tt.stderr)
					continue
				}
				checkJSON(t, got, tt.code, tt.stderr)
			}
		})
	}
}

func list(hs ...http.HandlerFunc) []http.HandlerFunc { return hs }

// checkJSON checks what --json writes: JSON lines, the last one the end of the
// run, and on stderr nothing but the error of the run without --json.
func checkJSON(t *testing.T, got outcome, code int, plain string) {
	t.Helper()
	var last agent.Event
	for _, v := range jsonLines(t, got.stdout) {
		if v["kind"] == nil || v["turn"] == nil {
			t.Errorf("no agent event: %v", v)
		}
	}
	lines := strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Kind != agent.EventEnd || last.End == nil {
		t.Errorf("the last line is no end: %v, %+v", err, last)
	} else if want := exitOf(last.End.Cause); want != code && (code != exitNegative || last.End.Cause != wire.CauseLimit) {
		t.Errorf("the end has cause %s, the exit code is %d", last.End.Cause, code)
	}
	if _, after, ok := strings.Cut(plain, "agentctl: "); ok {
		plain = "agentctl: " + after
	} else {
		plain = ""
	}
	if got.code != code || got.stderr != plain {
		t.Errorf("--json: exit code %d, want %d; stderr %q, want %q", got.code, code, got.stderr, plain)
	}
}

// TestRunJSON pins the lines of a run to the byte.
func TestRunJSON(t *testing.T) {
	v := vendor(t, answer(textAnswer("end_turn", "<a> & \x1b b")))
	got := command{}.run(t, "run", "--base-url", v.URL, "--json", "x")
	got.stdout = strings.ReplaceAll(got.stdout, v.Listener.Addr().String(), "HOST")
	got.check(t, exitDone, `{"kind":"turn_start","turn":1}
{"kind":"model","turn":1,"entry":"e2","model":{"kind":"start","index":0,"start":{"origin":{"protocol":"anthropic-messages","endpoint":"HOST","model":"m-1","response_id":"msg_1"}}}}
{"kind":"model","turn":1,"entry":"e2","model":{"kind":"usage","index":0,"usage":{"input_tokens":5,"uncached_input_tokens":5,"output_tokens":1,"vendor":"{\"input_tokens\":5,\"output_tokens\":1}"}}}
{"kind":"model","turn":1,"entry":"e2","model":{"kind":"part_start","part":"text","index":0}}
{"kind":"model","turn":1,"entry":"e2","model":{"kind":"delta","part":"text","index":0,"delta":"<a> & \u001b b"}}
{"kind":"model","turn":1,"entry":"e2","model":{"kind":"part_end","part":"text","index":0}}
{"kind":"model","turn":1,"entry":"e2","model":{"kind":"usage","index":0,"usage":{"input_tokens":5,"uncached_input_tokens":5,"output_tokens":7,"vendor":"{\"input_tokens\":5,\"output_tokens\":7}"}}}
{"kind":"model","turn":1,"entry":"e2","model":{"kind":"end","index":0,"end":{"cause":"finished","finish":"stop","vendor_finish":"end_turn"}}}
{"kind":"message","turn":1,"entry":"e2","message":{"role":"assistant","parts":[{"kind":"text","text":"<a> & \u001b b"}],"origin":{"protocol":"anthropic-messages","endpoint":"HOST","model":"m-1","response_id":"msg_1"},"ending":{"cause":"finished","finish":"stop","vendor_finish":"end_turn"}}}
{"kind":"end","turn":1,"end":{"cause":"finished","finish":"stop","vendor_finish":"end_turn","usage":{"input_tokens":5,"uncached_input_tokens":5,"output_tokens":7},"turns":1}}
`, "")
}

// TestRunStreams: text is written before the answer is over.
func TestRunStreams(t *testing.T) {
	first := make(chan struct{})
	v := vendor(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		blocks := strings.SplitAfter(textAnswer("end_turn", "one", "two"), "\n\n")
		for _, b := range blocks {
			_, _ = io.WriteString(w, b)
			_ = http.NewResponseController(w).Flush()
			if strings.Contains(b, "one") {
				select {
				case <-first:
				case <-time.After(10 * time.Second):
					t.Error("the first text did not reach stdout")
				}
			}
		}
	})
	var stderr bytes.Buffer
	out := &signalWriter{text: "one", seen: first}
	p := program{args: []string{"run", "--base-url", v.URL, "x"}, stdin: strings.NewReader(""), stdout: out, stderr: &stderr,
		getenv: func(string) string { return "" }, dir: t.TempDir()}
	if code := p.main(t.Context()); code != exitDone || out.String() != "onetwo\n" {
		t.Errorf("exit code %d, stdout %q", code, out.String())
	}
}

// signalWriter tells when it has taken a text.
type signalWriter struct {
	bytes.Buffer
	text string
	seen chan struct{}
	told bool
}

func (w *signalWriter) Write(b []byte) (int, error) {
	n, err := w.Buffer.Write(b)
	if !w.told && strings.Contains(w.String(), w.text) {
		w.told = true
		close(w.seen)
	}
	return n, err
}

// TestRunRequest: what the flags put into the request.
func TestRunRequest(t *testing.T) {
	for _, tt := range []struct {
		name  string
		args  []string
		stdin string
		env   map[string]string
		key   string
		task  string
		model string
		most  int64
	}{
		{name: "defaults", args: []string{"Say <hi> & go"}, task: "Say <hi> & go", model: "claude-sonnet-5-5", most: 16384},
		{name: "stdin", stdin: "line 1\n  line 2\r\n\n", task: "line 1\n  line 2", model: "claude-sonnet-5-5", most: 16384},
		{name: "the argument wins over stdin", args: []string{"argument"}, stdin: "stdin", task: "argument", model: "claude-sonnet-5-5", most: 16384},
		{name: "a task like a flag", args: []string{"--", "-h"}, task: "-h", model: "claude-sonnet-5-5", most: 16384},
		{name: "flags", args: []string{"-p", "anthropic", "--model", "m-2", "--max-tokens", "99", "x"}, task: "x", model: "m-2", most: 99},
		{name: "the README's task with a vendor", args: []string{demoTask}, task: demoTask, model: "claude-sonnet-5-5", most: 16384},
		{name: "key of the vendor's variable", args: []string{"x"}, env: map[string]string{"ANTHROPIC_API_KEY": testKey, "OTHER": "o"},
			key: testKey, task: "x", model: "claude-sonnet-5-5", most: 16384},
		{name: "key of another variable", args: []string{"--api-key-env", "OTHER", "x"}, env: map[string]string{"ANTHROPIC_API_KEY": "a", "OTHER": testKey},
			key: testKey, task: "x", model: "claude-sonnet-5-5", most: 16384},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := vendor(t, answer(textAnswer("end_turn", "ok")))
			args := append([]string{"run", "--base-url", v.URL}, tt.args...)
			got := command{stdin: strings.NewReader(tt.stdin), env: tt.env}.run(t, args...)
			got.check(t, exitDone, "ok\n", usageLine)
			bodies := v.requests()
			if len(bodies) != 1 {
				t.Fatalf("%d requests", len(bodies))
			}
			body := gjson.Parse(bodies[0])
			if s := body.Get("messages.0.content.0.text").Str; s != tt.task {
				t.Errorf("task %q, want %q", s, tt.task)
			}
			if s := body.Get("model").Str; s != tt.model {
				t.Errorf("model %q, want %q", s, tt.model)
			}
			if n := body.Get("max_tokens").Int(); n != tt.most {
				t.Errorf("max_tokens %d, want %d", n, tt.most)
			}
			if s := v.headers[0].Get("X-Api-Key"); s != tt.key {
				t.Errorf("key %q, want %q", s, tt.key)
			}
		})
	}
}

// TestRunAddress: addresses where nobody answers, or that are none. No message
// shows what may be a credential.
func TestRunAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	l.Close()
	for _, tt := range []struct {
		name string
		url  string
		code int
	}{
		{"nobody listens", closed, exitCut},
		{"no scheme", "127.0.0.1:8080", exitUsage},
		{"another scheme", "ftp://127.0.0.1", exitUsage},
		{"no host", "http://", exitUsage},
		{"no URL", "http://[::1", exitUsage},
		{"a password", "http://user:" + testKey + "@127.0.0.1", exitUsage},
		{"a key in the query", "http://127.0.0.1?key=" + testKey, exitUsage},
		{"another vendor's host", "https://api.openai.com", exitUsage},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := command{env: map[string]string{"ANTHROPIC_API_KEY": "k-0123456789"}}.run(t, "run", "--retries", "0", "--base-url", tt.url, "x")
			if got.code != tt.code || got.stdout != "" || strings.Count(got.stderr, "\n") > 3 || !strings.HasPrefix(got.stderr, "agentctl: ") {
				t.Errorf("exit code %d, want %d; stdout %q, stderr %q", got.code, tt.code, got.stdout, got.stderr)
			}
		})
	}
}

// TestRunCancelled: a context that ends keeps what had come.
func TestRunCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	v := vendor(t, func(w http.ResponseWriter, r *http.Request) {
		answer(join(textBlock("0", "half")[:2]))(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	seen := make(chan struct{})
	go func() { <-seen; cancel() }()
	var stderr bytes.Buffer
	out := &signalWriter{text: "half", seen: seen}
	p := program{args: []string{"run", "--base-url", v.URL, "x"}, stdin: strings.NewReader(""), stdout: out, stderr: &stderr,
		getenv: func(string) string { return "" }, dir: t.TempDir()}
	code := p.main(ctx)
	if code != exitInterrupted || out.String() != "half\n" || stderr.String() != "usage: 5 tokens in (unknown from cache), 1 out, 1 turn\n" {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, out.String(), stderr.String())
	}
}

// TestRunControlCharacters: the text of an answer is not changed on its way into
// a file or a pipe.
func TestRunControlCharacters(t *testing.T) {
	const text = "a\x00b\tc\rd\x1b[31me\u009bf\u200b\u202eg"
	v := vendor(t, answer(textAnswer("end_turn", text)))
	var stdout, stderr bytes.Buffer
	p := program{args: []string{"run", "--base-url", v.URL, "x"}, stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr,
		getenv: func(string) string { return "" }, dir: t.TempDir()}
	if code := p.main(t.Context()); code != exitDone || stdout.String() != text+"\n" || stderr.String() != usageLine {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
}

// TestRunHostile: what a vendor says cannot forge lines on stderr, nor reach the
// terminal with control characters.
func TestRunHostile(t *testing.T) {
	const evil = "\x1b]0;x\x07\n\ragentctl: forged\u009b31m\u0085\u2028\x7f"
	for _, tt := range []struct {
		name    string
		answers []http.HandlerFunc
	}{
		{"name of a call", list(answer(callAnswer("rm"+evil, "{}")), answer(textAnswer("end_turn", "oh")))},
		{"arguments of a call", list(answer(callAnswer("read", `{"path":`+quote(evil)+`}`)), answer(textAnswer("end_turn", "oh")))},
		{"arguments that are no JSON", list(answer(callAnswer("read", evil)), answer(textAnswer("end_turn", "oh")))},
		{"id of a call", list(answer(join(callBlock("0", evil, "ls", "{}"), stop("tool_use"))), answer(textAnswer("end_turn", "oh")))},
		{"finish reason", list(answer(textAnswer("because"+evil, "oh")))},
		{"stop sequence", list(answer(join(textBlock("0", "oh"), []string{
			`{"type":"message_delta","delta":{"stop_reason":"max_tokens","stop_sequence":` + quote(evil) + `},"usage":{"output_tokens":7}}`, `{"type":"message_stop"}`})))},
		{"line that is no field", list(answer(evil + "\n" + textAnswer("end_turn", "oh")))},
		{"error", list(reply(400, "application/json", `{"type":"error","error":{"type":`+quote(evil)+`,"code":`+quote(evil)+`,"message":`+quote(evil)+`},"request_id":`+quote(evil)+`}`))},
		{"error in the stream", list(answer(events(messageStart, `{"type":"error","error":{"type":"api_error","message":`+quote(evil)+`}}`)))},
		{"content type", list(reply(200, "text/\u009b31m", evil))},
		{"body that is no answer", list(reply(200, "text/plain", evil))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := vendor(t, tt.answers...)
			got := command{}.run(t, "run", "--base-url", v.URL, "x")
			if got.code != exitDone && got.code != exitVendor && got.code != exitProtocol {
				t.Errorf("exit code %d", got.code)
			}
			for line := range strings.Lines(got.stderr) {
				kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
				if !strings.Contains(" tool note finish usage agentctl ", " "+kind+" ") || kind == "agentctl" && rest == "forged" {
					t.Errorf("a line of stderr is %q", line)
				}
				if i := strings.IndexFunc(strings.TrimSuffix(line, "\n"), unicode.IsControl); i >= 0 {
					t.Errorf("a control character at %d in %q", i, line)
				}
			}
		})
	}
}
