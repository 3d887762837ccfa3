package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/handwire/handwire/golden"
	"github.com/handwire/handwire/wire"
)

// TestEncodeFixtures: encode prints the request of every turn of every fixture
// that names no host, byte for byte.
func TestEncodeFixtures(t *testing.T) {
	const root = "../../golden/testdata/anthropic-messages"
	dirs, err := golden.List(os.DirFS(root))
	if err != nil || len(dirs) < 10 {
		t.Fatalf("%d fixtures: %v", len(dirs), err)
	}
	for _, dir := range dirs {
		f, err := golden.Load(os.DirFS(root), dir)
		if err != nil {
			t.Fatal(err)
		}
		if namesHost(&f.History) {
			continue // encode goes to the vendor's host, the fixture to any
		}
		for i := range f.Turns {
			if f.Turns[i].RequestBody == nil {
				continue
			}
			got := command{dir: root}.run(t, "encode", "-p", "anthropic-messages", "--turn", strconv.Itoa(i+1), filepath.Join(dir, "history.json"))
			if got.code != exitDone || got.stdout != string(f.Turns[i].RequestBody) {
				t.Errorf("%s, turn %d: exit code %d, %s%s", dir, i+1, got.code, got.stderr, golden.Diff(f.Turns[i].RequestBody, []byte(got.stdout)))
			}
		}
	}
}

func namesHost(r *wire.Request) bool {
	for i := range r.Messages {
		if o := r.Messages[i].Origin; o != nil && o.Endpoint != "" {
			return true
		}
	}
	return r.Endpoint != ""
}

const encodeHistory = `{"model":"claude-sonnet-5-5","max_tokens":100,"seed":7,"messages":[{"role":"user","parts":[{"kind":"text","text":"It's <b>"}]}]}`

func TestEncode(t *testing.T) {
	const body = `{"model":"claude-sonnet-5-5","max_tokens":100,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"It's <b>"}]}]}`
	const note = "note: dropped seed: the protocol has no such setting\n"
	for _, tt := range []struct {
		name, stdin string
		args        []string
		code        int
		stdout      string
		stderr      string // a part of it
	}{
		{"stdin", encodeHistory, []string{"-p", "anthropic"}, exitDone, body, note},
		{"-", encodeHistory, []string{"--protocol", "anthropic-messages", "-"}, exitDone, body, note},
		{"model", encodeHistory, []string{"-p", "anthropic", "--model", "m"}, exitDone, strings.Replace(body, "claude-sonnet-5-5", "m", 1), note},
		{"turn", encodeHistory, []string{"-p", "anthropic", "--turn", "1"}, exitDone, body, note},
		{"curl", encodeHistory, []string{"-p", "anthropic", "--base-url", "http://127.0.0.1:1/x/", "--curl"}, exitDone,
			"curl --no-buffer 'http://127.0.0.1:1/x/v1/messages' \\\n  -H 'content-type: application/json' \\\n  -H 'anthropic-version: 2023-06-01' \\\n  -H \"x-api-key: $ANTHROPIC_API_KEY\" \\\n  --data-binary '" +
				strings.Replace(body, "'", `'\''`, 1) + "'\n", note},
		{"no such turn", encodeHistory, []string{"-p", "anthropic", "--turn", "3"}, exitUsage, "", "the history has 0 answers, so there is no turn 3"},
		{"turn below 1", encodeHistory, []string{"-p", "anthropic", "--turn", "-1"}, exitUsage, "", "--turn takes a number from 1"},
		{"no protocol", encodeHistory, nil, exitUsage, "", "encode needs -p PROTOCOL: anthropic-messages"},
		{"unknown protocol", encodeHistory, []string{"-p", "x"}, exitUsage, "", "there is no protocol x"},
		{"two files", encodeHistory, []string{"-p", "anthropic", "a", "b"}, exitUsage, "", "one file"},
		{"no file", "", []string{"-p", "anthropic", "none.json"}, exitUsage, "", "none.json"},
		{"no JSON", "{", []string{"-p", "anthropic"}, exitUsage, "", "no wire.Request"},
		{"unknown field", `{"modle":"m"}`, []string{"-p", "anthropic"}, exitUsage, "", `"modle"`},
		{"something behind", encodeHistory + "{}", []string{"-p", "anthropic"}, exitUsage, "", "followed by something else"},
		{"refused with all reasons", `{"model":"m","messages":[{"role":"assistant","parts":[{"kind":"tool_call","id":"c1","name":"f","args":"{}"}]}]}`, []string{"-p", "anthropic"}, exitUsage, "", "the first message must be the user's"},
		{"key in the address", encodeHistory, []string{"-p", "anthropic", "--base-url", "https://h.example/?api_key=KEY-1"}, exitUsage, "", "agentctl: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := command{stdin: strings.NewReader(tt.stdin)}.run(t, append([]string{"encode"}, tt.args...)...)
			if got.code != tt.code || got.stdout != tt.stdout || !strings.Contains(got.stderr, tt.stderr) || strings.Contains(got.stderr, "KEY-1") {
				t.Errorf("exit code %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
			}
		})
	}
	got := command{stdin: strings.NewReader(`{"model":"m","messages":[{"role":"assistant","parts":[{"kind":"tool_call","id":"c1","name":"f","args":"{}"}]}]}`)}.run(t, "encode", "-p", "anthropic")
	if strings.Count(got.stderr, "\n") < 2 {
		t.Errorf("not a line for each finding: %q", got.stderr)
	}
}
