package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/golden"
	"github.com/handwire/handwire/sse"
	"github.com/handwire/handwire/wire"
)

// decode runs decode over stdin.
func decode(t *testing.T, stdin string, flags ...string) outcome {
	t.Helper()
	return command{stdin: strings.NewReader(stdin)}.run(t, append([]string{"decode", "-p", "anthropic-messages"}, flags...)...)
}

// TestDecodeFixtures: the events of every fixture, in every form and however
// they come in.
func TestDecodeFixtures(t *testing.T) {
	n := 0
	for _, root := range []string{"../../golden/testdata/anthropic-messages", "demo"} {
		fsys := os.DirFS(root)
		dirs, err := golden.List(fsys)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			f, err := golden.Load(fsys, dir)
			if err != nil {
				t.Fatal(err)
			}
			for i, turn := range f.Turns {
				if turn.Response == nil || turn.Status/100 != 2 || len(turn.Header) > 1 {
					continue // a head with more than a content type shows in the events, and is not in the body
				}
				n++
				name := dir + "/" + string(rune('1'+i))
				t.Run(name, func(t *testing.T) { decodeFixture(t, &turn) })
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d responses", n)
	}
}

func decodeFixture(t *testing.T, turn *golden.Turn) {
	lines := strings.Split(strings.TrimSuffix(turn.Events, "\n"), "\n")
	var end wire.Ending
	object := strings.TrimPrefix(lines[len(lines)-1], "end ") // a string may follow it
	if err := json.NewDecoder(strings.NewReader(object)).Decode(&end); err != nil {
		t.Fatal(err)
	}
	code := exitOf(end.Cause)
	stderr := ""
	if end.Err != nil {
		stderr = "agentctl: " + end.Err.Error() + "\n"
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "response")
	if err := os.WriteFile(file, turn.Response, 0o666); err != nil {
		t.Fatal(err)
	}
	body := string(turn.Response)
	for _, tt := range []struct {
		name  string
		stdin io.Reader
		args  []string
	}{
		{"stdin", strings.NewReader(body), []string{"-p", "anthropic"}},
		{"-", strings.NewReader(body), []string{"--protocol", "anthropic-messages", "-"}},
		{"file", nil, []string{"-p", "anthropic", file}},
		{"file of this folder", nil, []string{"-p", "anthropic", "response"}},
		{"told", strings.NewReader(body), []string{"-p", "anthropic", "--framing", string(turn.Framing)}},
		{"byte by byte", iotest.OneByteReader(strings.NewReader(body)), []string{"-p", "anthropic"}},
		{"end with the data", iotest.DataErrReader(strings.NewReader(body)), []string{"-p", "anthropic"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := command{stdin: tt.stdin, dir: dir}
			c.run(t, append([]string{"decode"}, tt.args...)...).check(t, code, turn.Events, stderr)
		})
	}
	t.Run("json", func(t *testing.T) {
		got := decode(t, body, "--json")
		var events []wire.Event
		for line := range strings.Lines(got.stdout) {
			var ev wire.Event
			d := json.NewDecoder(strings.NewReader(line))
			d.DisallowUnknownFields()
			if err := d.Decode(&ev); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			events = append(events, ev)
		}
		got.stdout = string(golden.AppendEvents(nil, events))
		got.check(t, code, turn.Events, stderr)
	})
	t.Run("summary", func(t *testing.T) {
		got := decode(t, body, "--summary")
		if got.code != code || got.stderr != stderr || strings.Count(got.stdout, "\n") != 1 {
			t.Errorf("exit code %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
		}
		var s struct{ Ending string }
		if err := json.Unmarshal([]byte(got.stdout), &s); err != nil || s.Ending != string(end.Cause) {
			t.Errorf("%v, ending %q", err, s.Ending)
		}
	})
	if turn.Framing == wire.FramingSSE {
		t.Run("frames", func(t *testing.T) {
			got := command{stdin: strings.NewReader(body)}.run(t, "decode", "--frames")
			want, code := 0, exitDone
			for ev, err := range sse.NewDecoder(strings.NewReader(body), &sse.Options{Comments: true, Lines: true, Pending: true}).All() {
				if err != nil {
					t.Fatal(err)
				}
				if want++; ev.Kind == sse.KindPending {
					code = exitCut
				}
			}
			if got.code != code || strings.Count(got.stdout, "\n") != want {
				t.Errorf("exit code %d, stderr %q, %d lines, want %d", got.code, got.stderr, strings.Count(got.stdout, "\n"), want)
			}
		})
	}
}

const richStart = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,` +
	`"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":2,"output_tokens":1}}}`

func TestDecodeSummary(t *testing.T) {
	tools := events(append(append(append(append([]string{richStart},
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm <b>"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`,
		`{"type":"content_block_stop","index":0}`),
		textBlock("1", "Look", "ing & <b>")...), append(
		callBlock("2", "toolu_1", "read", `{"path": "a.txt", "n":9007199254740993}`),
		callBlock("3", "toolu_2", "ls", ``)...)...),
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":40}}`, `{"type":"message_stop"}`)...)
	const usage = `{"input_tokens":15,"uncached_input_tokens":10,"cache_read_tokens":2,"cache_creation_tokens":3,`
	for _, tt := range []struct {
		name   string
		stdin  string
		code   int
		want   string
		stderr string
	}{
		{name: "tools", stdin: tools, want: `{"text":"Looking & <b>","reasoning":"hm <b>","tool_calls":[` +
			`{"id":"toolu_1","name":"read","arguments":"{\"path\": \"a.txt\", \"n\":9007199254740993}","complete":true},` +
			`{"id":"toolu_2","name":"ls","arguments":"{}","complete":true}],"finish_reason":"tool_call","vendor_finish_reason":"tool_use",` +
			`"usage":` + usage + `"output_tokens":40},"response_id":"msg_1","model":"m-1","ending":"finished"}`},
		{name: "text alone", stdin: textAnswer("end_turn", "hi"), want: `{"text":"hi","reasoning":"","tool_calls":[],"finish_reason":"stop","vendor_finish_reason":"end_turn",` +
			`"usage":{"input_tokens":5,"uncached_input_tokens":5,"output_tokens":7},"response_id":"msg_1","model":"m-1","ending":"finished"}`},
		{name: "cut within a call", code: exitCut,
			stdin: events(messageStart, textBlock("0", "hi")[0], textBlock("0", "hi")[1], textBlock("0")[1]) + events(callBlock("1", "toolu_1", "read", `{"path": "a`)[:2]...),
			want: `{"text":"hi","reasoning":"","tool_calls":[{"id":"toolu_1","name":"read","arguments":"{\"path\": \"a","complete":false}],` +
				`"usage":{"input_tokens":5,"uncached_input_tokens":5,"output_tokens":1},"response_id":"msg_1","model":"m-1","ending":"truncated",` +
				`"error":{"cause":"truncated","message":"the body ended before message_stop"}}`,
			stderr: "agentctl: truncated: the body ended before message_stop\n"},
		{name: "cut after a whole call", code: exitCut, stdin: join(callBlock("0", "toolu_1", "read", `{}`), stop("tool_use")[:1]),
			want: `{"text":"","reasoning":"","tool_calls":[{"id":"toolu_1","name":"read","arguments":"{}","complete":false}],"vendor_finish_reason":"tool_use",` +
				`"usage":{"input_tokens":5,"uncached_input_tokens":5,"output_tokens":7},"response_id":"msg_1","model":"m-1","ending":"truncated",` +
				`"error":{"cause":"truncated","message":"the body ended before message_stop"}}`,
			stderr: "agentctl: truncated: the body ended before message_stop\n"},
		{name: "a call at the limit of tokens", stdin: join(callBlock("0", "toolu_1", "read", `{}`), stop("max_tokens")),
			want: `{"text":"","reasoning":"","tool_calls":[{"id":"toolu_1","name":"read","arguments":"{}","complete":false}],"finish_reason":"length","vendor_finish_reason":"max_tokens",` +
				`"usage":{"input_tokens":5,"uncached_input_tokens":5,"output_tokens":7},"response_id":"msg_1","model":"m-1","ending":"finished"}`},
		{name: "error in the stream", code: exitVendor,
			stdin: join(textBlock("0", "ha")[:2], []string{`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`}),
			want: `{"text":"ha","reasoning":"","tool_calls":[],"usage":{"input_tokens":5,"uncached_input_tokens":5,"output_tokens":1},"response_id":"msg_1","model":"m-1","ending":"vendor_error",` +
				`"error":{"cause":"vendor_error","class":"overloaded","status":200,"type":"overloaded_error","message":"Overloaded","request_id":"req_1"}}`,
			stderr: "agentctl: vendor_error (overloaded): status 200: overloaded_error: Overloaded (request id req_1)\n"},
		{name: "nothing", code: exitCut, want: `{"text":"","reasoning":"","tool_calls":[],"usage":{},"ending":"truncated","error":{"cause":"truncated","message":"the body ended before the message began"}}`,
			stderr: "agentctl: truncated: the body ended before the message began\n"},
		{name: "no JSON", code: exitProtocol, stdin: "data: {\"type\":\n\n",
			want: `{"text":"","reasoning":"","tool_calls":[],"usage":{},"ending":"protocol_error",` +
				`"error":{"cause":"protocol_error","message":"an event is not JSON: offset 8: unexpected end of JSON"}}`,
			stderr: "agentctl: protocol_error: an event is not JSON: offset 8: unexpected end of JSON: body \"{\\\"type\\\":\"\n"},
		{name: "a note", stdin: "what is this\n" + textAnswer("end_turn", "hi"),
			want: `{"text":"hi","reasoning":"","tool_calls":[],"finish_reason":"stop","vendor_finish_reason":"end_turn",` +
				`"usage":{"input_tokens":5,"uncached_input_tokens":5,"output_tokens":7},"response_id":"msg_1","model":"m-1","ending":"finished",` +
				`"notes":[{"code":"odd","path":"framing","detail":"a line that is no field of an event stream: \"what is this\""}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			decode(t, tt.stdin, "--summary").check(t, tt.code, tt.want+"\n", tt.stderr)
		})
	}
}

// TestDecodeForms pins the default form and --json to the byte.
func TestDecodeForms(t *testing.T) {
	stdin := join(callBlock("0", "toolu_1", "ls", `{"p":"<"}`))
	const stderr = "agentctl: truncated: the body ended before message_stop\n"
	decode(t, stdin).check(t, exitCut, `start {"origin":{"protocol":"anthropic-messages","model":"m-1","response_id":"msg_1"}}
usage {"input_tokens":5,"uncached_input_tokens":5,"output_tokens":1,"vendor":"{\"input_tokens\":5,\"output_tokens\":1}"}
part_start 0 tool_call {"id":"toolu_1","name":"ls"}
delta 0 tool_call "{\"p\":\"<\"}"
part_end 0 tool_call
end {"cause":"truncated","error":{"cause":"truncated","message":"the body ended before message_stop"}}
`, stderr)
	decode(t, stdin, "--json").check(t, exitCut, `{"kind":"start","index":0,"start":{"origin":{"protocol":"anthropic-messages","model":"m-1","response_id":"msg_1"}}}
{"kind":"usage","index":0,"usage":{"input_tokens":5,"uncached_input_tokens":5,"output_tokens":1,"vendor":"{\"input_tokens\":5,\"output_tokens\":1}"}}
{"kind":"part_start","part":"tool_call","index":0,"data":{"kind":"","id":"toolu_1","name":"ls"}}
{"kind":"delta","part":"tool_call","index":0,"delta":"{\"p\":\"<\"}"}
{"kind":"part_end","part":"tool_call","index":0}
{"kind":"end","index":0,"end":{"cause":"truncated","error":{"cause":"truncated","message":"the body ended before message_stop"}}}
`, stderr)
}

func TestDecodeFrames(t *testing.T) {
	for _, tt := range []struct {
		name  string
		stdin string
		code  int
		want  string
	}{
		{name: "nothing"},
		{name: "blank lines", stdin: "\n\r\n\r"},
		{name: "events", stdin: "event: a\ndata: {\"x\":\"<b>\"}\n\ndata:two\ndata: lines\nid: 7\n\ndata: 3\n\n",
			want: `{"offset":0,"type":"a","data":"{\"x\":\"<b>\"}","id":""}
{"offset":28,"type":"message","data":"two\nlines","id":"7"}
{"offset":56,"type":"message","data":"3","id":"7"}
`},
		{name: "no data", stdin: "event: a\n\ndata\n\n", want: `{"offset":10,"type":"message","data":"","id":""}` + "\n"},
		{name: "comments", stdin: ": one\n:two\n:\nevent: a\ndata: 1\n: in between\n\n", want: `{"offset":0,"comment":" one"}
{"offset":6,"comment":"two"}
{"offset":11,"comment":""}
{"offset":30,"comment":" in between"}
{"offset":0,"type":"a","data":"1","id":""}
`},
		{name: "lines that are no field", stdin: "HTTP/1.1 200 OK\nretry: 5\nDATA: x\ndata: 1\n\n{\"error\":\"no\"}\n", want: `{"offset":0,"line":"HTTP/1.1 200 OK"}
{"offset":25,"line":"DATA: x"}
{"offset":0,"type":"message","data":"1","id":""}
{"offset":42,"line":"{\"error\":\"no\"}"}
`},
		{name: "CRLF", stdin: "event: a\r\ndata: 1\r\n\r\nevent: b\r\ndata: 2\r\n\r\n",
			want: `{"offset":0,"type":"a","data":"1","id":""}` + "\n" + `{"offset":21,"type":"b","data":"2","id":""}` + "\n"},
		{name: "CR", stdin: "data: 1\r\rdata: 2\r\r",
			want: `{"offset":0,"type":"message","data":"1","id":""}` + "\n" + `{"offset":9,"type":"message","data":"2","id":""}` + "\n"},
		{name: "byte order mark", stdin: "\xef\xbb\xbfdata: 1\n\n\xef\xbb\xbfdata: 2\n\n",
			want: `{"offset":3,"type":"message","data":"1","id":""}` + "\n" + `{"offset":12,"line":"` + "\ufeff" + `data: 2"}` + "\n"},
		{name: "pending", stdin: "data: 1\n\nevent: a\nid: 3\ndata: {\"x\"", code: exitCut,
			want: `{"offset":0,"type":"message","data":"1","id":""}` + "\n" + `{"offset":9,"type":"a","data":"{\"x\"","id":"3","pending":true}` + "\n"},
		{name: "pending after its line", stdin: "data: 1\n", code: exitCut, want: `{"offset":0,"type":"message","data":"1","id":"","pending":true}` + "\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stderr := ""
			if tt.code == exitCut {
				stderr = "agentctl: truncated: the stream ends within an event\n"
			}
			command{stdin: strings.NewReader(tt.stdin)}.run(t, "decode", "--frames").check(t, tt.code, tt.want, stderr)
			command{stdin: iotest.OneByteReader(strings.NewReader(tt.stdin))}.run(t, "decode", "--frames", "-").check(t, tt.code, tt.want, stderr)
		})
	}
}

// TestDecodeLimits: what is larger than a limit is 5.
func TestDecodeLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("needs memory")
	}
	huge := io.MultiReader(strings.NewReader("data: "), io.LimitReader(zeros{}, 33<<20))
	for _, args := range [][]string{{"decode", "--frames"}, {"decode", "-p", "anthropic"}, {"decode", "-p", "anthropic", "--framing", "whole"}, {"decode", "-p", "anthropic", "--framing", "lines"}} {
		got := command{stdin: huge}.run(t, args...)
		if got.code != exitProtocol || !strings.HasPrefix(got.stderr, "agentctl: limit: ") {
			t.Errorf("%q: exit code %d, stderr %.300q", args, got.code, got.stderr)
		}
		huge = io.MultiReader(strings.NewReader("data: "), io.LimitReader(zeros{}, 33<<20))
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '0'
	}
	return len(b), nil
}

// TestDecodeBroken: a source that breaks off is 3.
func TestDecodeBroken(t *testing.T) {
	broken := func() io.Reader {
		return io.MultiReader(strings.NewReader(join(textBlock("0", "half")[:2])), iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	got := command{stdin: broken()}.run(t, "decode", "-p", "anthropic")
	if got.code != exitCut || !strings.HasSuffix(got.stdout, "part_end 0 text {\"partial\":true}\n"+`end {"cause":"reset","error":{"cause":"reset","message":"unexpected EOF"}}`+"\n") {
		t.Errorf("exit code %d, stdout %q", got.code, got.stdout)
	}
	got = command{stdin: broken()}.run(t, "decode", "--frames")
	if got.code != exitCut || strings.Count(got.stdout, "\n") != 3 || got.stderr != "agentctl: reset: unexpected EOF\n" {
		t.Errorf("exit code %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
	}
}

// TestDecodeFiles: files that cannot be read are 2, and nothing is on stdout.
func TestDecodeFiles(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ name, file, want string }{
		{"missing", "no.sse", "no.sse: no such file or directory\n"},
		{"a folder", ".", "is a directory\n"},
		{"a folder by its whole name", dir, "is a directory\n"},
		{"no name", "", "\n"},
	} {
		for _, flag := range []string{"--json", "--summary", "--frames"} {
			t.Run(tt.name+" "+flag, func(t *testing.T) {
				got := command{dir: dir}.run(t, "decode", "-p", "anthropic", flag, tt.file)
				if got.code != exitUsage || got.stdout != "" || !strings.HasPrefix(got.stderr, "agentctl: ") || !strings.HasSuffix(got.stderr, tt.want) {
					t.Errorf("exit code %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
				}
			})
		}
	}
}

// TestDecodeSniff: the framing is told from the beginning.
func TestDecodeSniff(t *testing.T) {
	const document = `{"type":"message","id":"msg_1","role":"assistant","model":"m-1","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":7}}`
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(document), "", "  "); err != nil {
		t.Fatal(err)
	}
	sse := textAnswer("end_turn", "hi")
	var b strings.Builder
	for line := range strings.Lines(sse) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			b.WriteString(data)
		}
	}
	lines := b.String()
	long := strings.Replace(lines, `"content":[]`, `"content":[],"pad":"`+strings.Repeat("x", 65<<10)+`"`, 1)
	const want = `{"text":"hi","reasoning":"","tool_calls":[],"finish_reason":"stop","vendor_finish_reason":"end_turn","usage":{"input_tokens":5,"uncached_input_tokens":5,"output_tokens":7},"response_id":"msg_1","model":"m-1","ending":"finished"}` + "\n"
	const mark = "\xef\xbb\xbf"
	for _, tt := range []struct{ name, stdin string }{
		{"events", sse},
		{"events with CRLF", strings.ReplaceAll(sse, "\n", "\r\n")},
		{"events after a mark", mark + sse},
		{"events after blank lines", "\n\r\n\n\n" + sse},
		{"events after many blank lines", strings.Repeat("\n", 5000) + sse},
		{"events after a comment", ": ok\n\n" + sse},
		{"lines", lines},
		{"lines with CRLF", strings.ReplaceAll(lines, "\n", "\r\n")},
		{"lines after a mark", mark + lines},
		{"lines after blank lines", "\n \r\n\n" + lines},
		{"lines with blank lines", strings.ReplaceAll(lines, "\n", "\n\n")},
		{"lines without the last line end", strings.TrimSuffix(lines, "\n")},
		{"lines of which the first is long", long},
		{"document", document},
		{"document and a line end", document + "\r\n\n"},
		{"document after a mark", mark + document},
		{"document after blank lines", "\n\n \t\r\n" + document},
		{"document after many blank lines", strings.Repeat("\n", 5000) + document},
		{"document over several lines", pretty.String() + "\n"},
		{"document over several lines after a mark", mark + "\n" + pretty.String()},
		{"document that is long", strings.Replace(document, `"type"`, `"pad":"`+strings.Repeat("x", 65<<10)+`","type"`, 1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			decode(t, tt.stdin, "--summary").check(t, exitDone, want, "")
			got := command{stdin: iotest.OneByteReader(strings.NewReader(tt.stdin))}.run(t, "decode", "-p", "anthropic", "--summary")
			got.check(t, exitDone, want, "")
		})
	}
	for _, tt := range []struct {
		name, stdin string
		code        int
		ending      wire.Cause
	}{
		{"nothing", "", exitCut, wire.CauseTruncated},
		{"a mark alone", mark, exitCut, wire.CauseTruncated},
		{"blank lines alone", strings.Repeat("\n", 2000), exitCut, wire.CauseTruncated},
		{"half a document", document[:60], exitCut, wire.CauseTruncated},
		{"half a document over several lines", pretty.String()[:60], exitCut, wire.CauseTruncated},
		{"half a line", lines[:60], exitCut, wire.CauseTruncated},
		{"a line and a half", lines[:strings.Index(lines, "\n")+20], exitCut, wire.CauseTruncated},
		{"error document", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, exitVendor, wire.CauseVendor},
		{"a document that is none", `{"hello" "world"}`, exitProtocol, wire.CauseProtocol},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := decode(t, tt.stdin, "--summary")
			var s struct{ Ending wire.Cause }
			if err := json.Unmarshal([]byte(got.stdout), &s); err != nil || got.code != tt.code || s.Ending != tt.ending {
				t.Errorf("%v, exit code %d, want %d, stdout %q, stderr %q", err, got.code, tt.code, got.stdout, got.stderr)
			}
		})
	}
}

// TestDecodeForeign: what is no answer at all never looks like one.
func TestDecodeForeign(t *testing.T) {
	for _, tt := range []struct{ name, stdin string }{
		{"a web page", "<!doctype html>\n<title>Sign in</title>\n"},
		{"a status line", "HTTP/1.1 502 Bad Gateway\r\n\r\n"},
		{"a word", "Unauthorized"},
		{"another document", `{"hello":"world"}`},
		{"an empty document", "{}"},
		{"an empty list", "[]"},
		{"another protocol", "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n"},
		{"random bytes", "\x00\xff\xfe{\x80\n\n\x1f\x8b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, framing := range []string{"", "sse", "lines", "whole"} {
				got := decode(t, tt.stdin, "--framing", framing)
				if got.code != exitCut && got.code != exitProtocol {
					t.Errorf("framing %q: exit code %d, stdout %q", framing, got.code, got.stdout)
				}
				if !strings.Contains(got.stdout, "end {\"cause\":") || !strings.HasPrefix(got.stderr, "agentctl: ") || strings.Count(got.stderr, "\n") != 1 {
					t.Errorf("framing %q: stdout %q, stderr %q", framing, got.stdout, got.stderr)
				}
			}
		})
	}
}

// TestDecodeCorpus decodes recorded traffic and compares the summary with what
// another reader made of it.
func TestDecodeCorpus(t *testing.T) {
	root := os.Getenv("HANDWIRE_CORPUS")
	if root == "" {
		t.Skip("HANDWIRE_CORPUS does not name the folder of recorded traffic; these cases were not run")
	}
	metas, err := filepath.Glob(filepath.Join(root, "corpus/anthropic-messages/*.meta.json"))
	if err != nil {
		t.Fatal(err)
	}
	failures, err := filepath.Glob(filepath.Join(root, "corpus/errors/err-am-*.meta.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(metas) == 0 || len(failures) == 0 {
		t.Fatalf("no recordings below %s", root)
	}
	for _, meta := range append(metas, failures...) {
		name := strings.TrimSuffix(filepath.Base(meta), ".meta.json")
		t.Run(name, func(t *testing.T) { decodeRecording(t, root, filepath.Dir(meta), name) })
	}
}

func decodeRecording(t *testing.T, root, dir, name string) {
	read := func(file string, into any) {
		t.Helper()
		b, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(b, into)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	var meta struct{ Files []string }
	read(filepath.Join(dir, name+".meta.json"), &meta)
	var body string
	for _, file := range meta.Files {
		if !strings.HasSuffix(file, ".request.json") {
			body = filepath.Join(dir, file)
		}
	}
	var want struct {
		Text      string
		Thinking  string
		ToolCalls []struct {
			ID, Name  string
			Arguments any
			Raw       string `json:"arguments_raw"`
			Invalid   bool   `json:"arguments_invalid_json"`
		} `json:"tool_calls"`
		StopReason *string `json:"stop_reason"`
		ID, Model  string
		Error      *struct{ Type, Message string }
	}
	read(filepath.Join(root, "corpus/expected", name+".expect.json"), &want)

	got := command{}.run(t, "decode", "-p", "anthropic", "--summary", body)
	var s struct {
		Text      string
		Reasoning string
		ToolCalls []struct {
			ID, Name, Arguments string
			Complete            bool
		} `json:"tool_calls"`
		Finish       string `json:"finish_reason"`
		VendorFinish string `json:"vendor_finish_reason"`
		ResponseID   string `json:"response_id"`
		Model        string
		Ending       wire.Cause
		Error        *struct {
			Cause         wire.Cause
			Type, Message string
		}
		Usage json.RawMessage
		Notes json.RawMessage
	}
	if err := json.Unmarshal([]byte(got.stdout), &s); err != nil {
		t.Fatalf("%q: %v", got.stdout, err)
	}
	if code := exitOf(s.Ending); got.code != code {
		t.Errorf("exit code %d, want %d of %s", got.code, code, s.Ending)
	}
	if want.Error != nil {
		if got.code != exitVendor || s.Error == nil || s.Error.Type != want.Error.Type || s.Error.Message != want.Error.Message {
			t.Errorf("exit code %d, error %+v, want %+v", got.code, s.Error, want.Error)
		}
		return
	}
	if got.code != exitDone || s.Error != nil {
		t.Errorf("exit code %d, error %+v", got.code, s.Error)
	}
	if d := cmp.Diff(want.Text, s.Text); d != "" {
		t.Errorf("text (-want +got):\n%s", d)
	}
	if d := cmp.Diff(want.Thinking, s.Reasoning); d != "" {
		t.Errorf("reasoning (-want +got):\n%s", d)
	}
	if want.StopReason != nil && s.VendorFinish != *want.StopReason {
		t.Errorf("stop reason %q, want %q", s.VendorFinish, *want.StopReason)
	}
	if s.ResponseID != want.ID || s.Model != want.Model {
		t.Errorf("response %q of %q, want %q of %q", s.ResponseID, s.Model, want.ID, want.Model)
	}
	if len(s.ToolCalls) != len(want.ToolCalls) {
		t.Fatalf("%d calls, want %d", len(s.ToolCalls), len(want.ToolCalls))
	}
	for i, c := range s.ToolCalls {
		w := want.ToolCalls[i]
		if c.ID != w.ID || c.Name != w.Name {
			t.Errorf("call %d is %s %s, want %s %s", i, c.ID, c.Name, w.ID, w.Name)
		}
		if w.Raw != "" && c.Arguments != w.Raw {
			t.Errorf("call %d: arguments %q, want %q", i, c.Arguments, w.Raw)
		}
		if w.Invalid {
			continue
		}
		var args any
		if err := json.Unmarshal([]byte(c.Arguments), &args); err != nil || !cmp.Equal(args, w.Arguments) {
			t.Errorf("call %d: arguments %q (%v), want %v", i, c.Arguments, err, w.Arguments)
		}
		if runs := s.Finish == "tool_call" || s.Finish == "stop"; c.Complete != runs {
			t.Errorf("call %d: complete is %v after %s", i, c.Complete, s.Finish)
		}
	}
}
