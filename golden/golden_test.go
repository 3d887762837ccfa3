package golden_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/golden"
	"github.com/handwire/handwire/wire"
)

var update = flag.Bool("update", false, "write the golden files")

var _ golden.TB = (*testing.T)(nil)

// options are those of the fixtures of the toy.
func options() *golden.Options {
	return &golden.Options{Update: *update, Dir: "testdata", Moving: []string{toyMark}}
}

func TestFixtures(t *testing.T) {
	fsys := os.DirFS("testdata")
	dirs, err := golden.List(fsys)
	if err != nil {
		t.Fatal(err)
	}
	codecs := map[string]wire.Codec{"toy": toy{}, "plain": plain{}}
	seen := map[string]int{}
	for _, dir := range dirs {
		protocol, _, _ := strings.Cut(dir, "/")
		c, ok := codecs[protocol]
		if !ok {
			continue // the fixtures of a codec are checked beside the codec
		}
		seen[protocol]++
		t.Run(dir, func(t *testing.T) {
			golden.Check(t, c, fsys, dir, options())
		})
	}
	if seen["toy"] < 6 || seen["plain"] < 1 {
		t.Errorf("fixtures seen: %v", seen)
	}
}

// recorder is a test that can fail without failing the test around it.
type recorder struct{ failures []string }

func (r *recorder) Helper()             {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// failures returns what f reported.
func failures(f func(t golden.TB)) []string {
	var r recorder
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(&r)
	}()
	<-done
	return r.failures
}

func check(c wire.Codec, fsys fs.FS, dir string) []string {
	o := options()
	o.Update = false
	return failures(func(t golden.TB) { golden.Check(t, c, fsys, dir, o) })
}

// wants reports what is not mentioned in any of the failures.
func wants(t *testing.T, failures []string, want ...string) {
	t.Helper()
	all := strings.Join(failures, "\n")
	for _, w := range want {
		if !strings.Contains(all, w) {
			t.Errorf("no failure mentions %q; they are:\n%s", w, all)
		}
	}
}

// Every check can fail: each of these breaks one promise.
func TestBrokenCodecs(t *testing.T) {
	tests := []struct {
		bug, dir string
		want     []string
	}{
		// What is sent.
		{"refuse", "toy/tool", []string{"toy/tool, turn 1", "cannot be encoded", "nothing can be sent"}},
		{"invalid", "toy/tool", []string{"no valid JSON"}},
		{"map order", "toy/tool", []string{"toy/tool, turn 1: encoded", "differs at byte"}},
		{"dirty", "toy/tool", []string{"encoded into a call that was used before the body differs at byte 0"}},
		{"edit", "toy/tool", []string{"turn 1: Encode modified the request", "What is this?!"}},
		{"append message", "toy/tool", []string{"turn 1: Encode modified the request"}},
		{"append part", "toy/tool", []string{"turn 1: Encode modified the request"}},
		{"unstable", "toy/tool", []string{"1.request.json differs at byte", `"length`}},

		// What is not sent.
		{"send all", "toy/unsendable", []string{"toy/unsendable, turn 2: the request can be encoded; remove 2.refusal.txt"}},
		{"no findings", "toy/unsendable", []string{"turn 2: the request fails without findings: no idea"}},
		{"refuse", "toy/unsendable", []string{"turn 1: the request cannot be encoded", "turn 2: 2.refusal.txt differs at byte 0", "turn 2: what Check finds differs"}},
		{"find more", "toy/unsendable", []string{"turn 2: 2.refusal.txt differs at byte", "model is dull", "turn 2: what Check finds differs"}},
		{"other refusals", "toy/unsendable", []string{"turn 2: encoded again the refusal differs"}},
		{"edit and refuse", "toy/unsendable", []string{"turn 2: Encode modified the request"}},

		// What is read.
		{"wrong text", "toy/tool", []string{"turn 1: 1.events.txt", "differs at byte", "I read ", "I READ ", "another message than messages[1]"}},
		{"keeps", "toy/tool", []string{"turn 1: 1.events.txt", "~~~"}},
		{"no part end", "toy/tool", []string{"turn 1: the whole response", "break the grammar", "still open"}},
		{"talkative", "toy/tool", []string{"a block after the end event gives 1 events"}},
		{"end again", "toy/tool", []string{"after the end event, End adds end"}},
		{"forgets error", "toy/error", []string{"after the end event, End returns the error <nil>, not that of the event"}},
		{"state", "toy/tool", []string{"turn 1: the response in pieces of 1 bytes: the events", "odd"}},

		// How it ends.
		{"early", "toy/tool", []string{"turn 2: the response cut at byte", "looks finished", "the cut is at"}},
		{"lenient", "toy/tool", []string{"the response cut at byte", "looks finished"}},
		{"late", "toy/tool", []string{"turn 1: the events file says terminal 435, and the whole response ends with cause truncated"}},
		{"wrong cause", "toy/tool", []string{"the response broken at byte 0", "cause truncated, want reset"}},
		{"unmarked", "toy/tool", []string{"the response cut at byte", "not marked partial"}},
		{"apology", "toy/tool", []string{"the text of part 0 is no beginning", "(sorry)"}},
		{"panic", "toy/tool", []string{"turn 1: the response broken at byte", "panics: index out of range"}},
		{"no error", "toy/refused", []string{"turn 1: the response cut at byte 0", "DecodeError returns nil"}},
	}
	for _, tt := range tests {
		t.Run(tt.bug, func(t *testing.T) {
			got := check(toy{bug: tt.bug, decoders: new(atomic.Int64)}, os.DirFS("testdata"), tt.dir)
			wants(t, got, tt.want...)
		})
	}
}

// mapFS returns a copy of the files of a fixture, under the same names.
func mapFS(t *testing.T, dir string) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{}
	entries, err := os.ReadDir(filepath.Join("testdata", dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join("testdata", dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		m[dir+"/"+e.Name()] = &fstest.MapFile{Data: data}
	}
	return m
}

func replace(t *testing.T, m fstest.MapFS, name, before, after string) {
	t.Helper()
	data := string(m[name].Data)
	if !strings.Contains(data, before) {
		t.Fatalf("%s has no %q", name, before)
	}
	m[name] = &fstest.MapFile{Data: []byte(strings.Replace(data, before, after, 1))}
}

// A fixture can be wrong too.
func TestBrokenFixtures(t *testing.T) {
	const dir = "toy/tool"
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	tests := []struct {
		name string
		edit func(t *testing.T, m fstest.MapFS)
		want string
	}{
		{"unknown file", func(_ *testing.T, m fstest.MapFS) { m[dir+"/1.respones.sse"] = file("") },
			"golden: toy/tool/1.respones.sse: a fixture has no such file; correct its name or remove it"},
		{"unknown folder", func(_ *testing.T, m fstest.MapFS) { m[dir+"/more/file"] = file("") }, "toy/tool/more: a fixture has no such file"},
		{"no events", func(_ *testing.T, m fstest.MapFS) { delete(m, dir+"/2.events.txt") }, "2.events.txt: is missing; run the test with -update"},
		{"no request", func(_ *testing.T, m fstest.MapFS) { delete(m, dir+"/2.request.json") }, "2.request.json: is missing; run the test with -update"},
		{"no request of a turn without response", func(_ *testing.T, m fstest.MapFS) { delete(m, dir+"/3.request.json") }, "3.request.json: is missing"},
		{"no history", func(_ *testing.T, m fstest.MapFS) { delete(m, dir+"/history.json") }, "history.json: is missing; write the conversation"},
		{"misspelt field", func(t *testing.T, m fstest.MapFS) { replace(t, m, dir+"/history.json", `"model"`, `"modle"`) }, "unknown field"},
		{"refused and sent", func(_ *testing.T, m fstest.MapFS) { m[dir+"/1.refusal.txt"] = file("") },
			"1.refusal.txt: turn 1 has a request or a response beside it; remove it or them"},
		{"refused without need", func(_ *testing.T, m fstest.MapFS) {
			delete(m, dir+"/3.request.json")
			m[dir+"/3.refusal.txt"] = file("")
		}, "turn 3: the request can be encoded; remove 3.refusal.txt"},
		{"two responses", func(_ *testing.T, m fstest.MapFS) { m[dir+"/1.response.json"] = file("{}") }, "two responses"},
		{"head without response", func(_ *testing.T, m fstest.MapFS) { m[dir+"/3.response.head"] = file("200") }, "no response of turn 3"},
		{"events without response", func(_ *testing.T, m fstest.MapFS) { m[dir+"/3.events.txt"] = file("") }, "no response of turn 3"},
		{"bad status", func(_ *testing.T, m fstest.MapFS) { m[dir+"/1.response.head"] = file("OK\n") }, `the first line is "OK"; it must be a status code`},
		{"interim status", func(_ *testing.T, m fstest.MapFS) { m[dir+"/1.response.head"] = file("103\n") },
			"1.response.head: the status is 103; that of a response is from 200 to 599"},
		{"no such status", func(_ *testing.T, m fstest.MapFS) { m[dir+"/1.response.head"] = file("600\n") }, "the status is 600"},
		{"bad header", func(_ *testing.T, m fstest.MapFS) { m[dir+"/1.response.head"] = file("200\nName\n") }, `the line "Name" is no header`},
		{"bad terminal", func(_ *testing.T, m fstest.MapFS) { m[dir+"/1.events.txt"] = file("terminal: 99999\n") }, "between 1 and"},
		{"no terminal", func(_ *testing.T, m fstest.MapFS) { m[dir+"/1.events.txt"] = file("start\n") }, `must be "terminal: "`},
		{"empty reason", func(_ *testing.T, m fstest.MapFS) { m[dir+"/no-prefix"] = file("\n") }, "write the reason into it"},
		{"reason without need", func(_ *testing.T, m fstest.MapFS) { m[dir+"/no-prefix"] = file("So it is.\n") }, "remove no-prefix"},
		{"other path", func(t *testing.T, m fstest.MapFS) { replace(t, m, dir+"/1.request.head", "/toy", "/try") }, "1.request.head differs at byte 2"},
		{"other notes", func(t *testing.T, m fstest.MapFS) { replace(t, m, dir+"/notes.txt", "dropped", "renamed") }, "notes.txt differs at byte 2"},
		{"history drifts", func(t *testing.T, m fstest.MapFS) { replace(t, m, dir+"/history.json", "äöü.", "aou.") }, "another message than messages[1]"},
		{"finish drifts", func(t *testing.T, m fstest.MapFS) {
			replace(t, m, dir+"/history.json", `"finish": "stop"`, `"finish": "length"`)
		}, "another message than messages[3]"},
		{"terminal too early", func(t *testing.T, m fstest.MapFS) { shift(t, m, dir+"/2.events.txt", -1) }, "it must be finished and ends with cause truncated"},
		{"terminal too late", func(t *testing.T, m fstest.MapFS) { shift(t, m, dir+"/2.events.txt", +1) }, "it looks finished"},
		{"terminal none", func(t *testing.T, m fstest.MapFS) {
			_, rest, _ := strings.Cut(string(m[dir+"/2.events.txt"].Data), "\n")
			m[dir+"/2.events.txt"] = file("terminal: none\n" + rest)
		}, "the whole response ends with cause finished"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := mapFS(t, dir)
			tt.edit(t, m)
			wants(t, check(toy{}, m, dir), tt.want)
			if _, err := golden.Load(m, "toy/none"); err == nil {
				t.Error("Load of a folder that is not there gives no error")
			}
		})
	}
	if got := check(toy{}, mapFS(t, dir), dir); got != nil {
		t.Errorf("the fixture as it is: %q", got)
	}
}

// shift moves the terminal offset of an events file.
func shift(t *testing.T, m fstest.MapFS, name string, by int) {
	t.Helper()
	first, rest, _ := strings.Cut(string(m[name].Data), "\n")
	var n int
	if _, err := fmt.Sscanf(first, "terminal: %d", &n); err != nil {
		t.Fatal(err)
	}
	m[name] = &fstest.MapFile{Data: fmt.Appendf(nil, "terminal: %d\n%s", n+by, rest)}
}

func TestPrefix(t *testing.T) {
	const dir = "toy/tool"
	m := mapFS(t, dir)

	// The mark moves, and without Moving it is in the way.
	got := failures(func(tb golden.TB) { golden.Check(tb, toy{}, m, dir, nil) })
	wants(t, got, "turn 2: the body does not begin like that of turn 1", `\"mark\":true`)

	m[dir+"/no-prefix"] = &fstest.MapFile{Data: []byte("The mark moves.\n")}
	if got := failures(func(tb golden.TB) { golden.Check(tb, toy{}, m, dir, nil) }); got != nil {
		t.Errorf("with no-prefix: %q", got)
	}

	// A codec whose golden files agree with it is found out all the same.
	tmp := copyDir(t, dir)
	o := &golden.Options{Update: true, Dir: tmp, Moving: []string{toyMark}}
	got = failures(func(tb golden.TB) { golden.Check(tb, toy{bug: "unstable"}, os.DirFS(tmp), dir, o) })
	wants(t, got, "turn 2: the body does not begin like that of turn 1", "turn 3: the body does not begin like that of turn 2")
}

// copyDir copies a fixture without its golden files to a new root.
func copyDir(t *testing.T, dir string) string {
	t.Helper()
	tmp := t.TempDir()
	for name, f := range mapFS(t, dir) {
		if strings.HasSuffix(name, ".request.json") || strings.HasSuffix(name, ".events.txt") || strings.HasSuffix(name, "notes.txt") {
			continue
		}
		if strings.HasSuffix(name, ".refusal.txt") {
			f.Data = nil // it says that there is to be one
		}
		to := filepath.Join(tmp, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return tmp
}

func TestUpdate(t *testing.T) {
	for _, dir := range []string{"toy/tool", "toy/error", "toy/refused", "toy/whole", "toy/cut", "toy/crlf", "toy/unsendable"} {
		t.Run(dir, func(t *testing.T) {
			tmp := copyDir(t, dir)
			stale := filepath.Join(tmp, filepath.FromSlash(dir), "notes.txt")
			if err := os.WriteFile(stale, []byte("old\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			o := &golden.Options{Update: true, Dir: tmp, Moving: []string{toyMark}}
			golden.Check(t, toy{}, os.DirFS(tmp), dir, o)
			want := mapFS(t, dir)
			got := map[string]string{}
			for name, f := range want {
				data, err := os.ReadFile(filepath.Join(tmp, filepath.FromSlash(name)))
				if err != nil {
					t.Fatal(err)
				}
				got[name] = string(data)
				if d := cmp.Diff(string(f.Data), got[name]); d != "" {
					t.Errorf("%s (-want +got):\n%s", name, d)
				}
			}
			entries, _ := os.ReadDir(filepath.Join(tmp, filepath.FromSlash(dir)))
			if len(entries) != len(want) {
				t.Errorf("%d files, want %d", len(entries), len(want))
			}
		})
	}
}

// An update refuses a stream for which no terminal offset is right.
func TestUpdateRefuses(t *testing.T) {
	const dir = "toy/tool"
	for bug, want := range map[string]string{
		"lenient": "looks finished",
		"hollow":  "looks finished without a single byte",
	} {
		tmp := copyDir(t, dir)
		o := &golden.Options{Update: true, Dir: tmp, Moving: []string{toyMark}}
		got := failures(func(tb golden.TB) { golden.Check(tb, toy{bug: bug}, os.DirFS(tmp), dir, o) })
		wants(t, got, want)
		if _, err := os.Stat(filepath.Join(tmp, filepath.FromSlash(dir), "1.events.txt")); err == nil {
			t.Errorf("%s: the events file was written", bug)
		}
	}
	got := failures(func(tb golden.TB) { golden.Check(tb, toy{}, os.DirFS("testdata"), dir, &golden.Options{Update: true}) })
	wants(t, got, "an update needs Options.Dir")
}

// A large response is tried at some places only, its ends and the terminal mark
// among them.
func TestLarge(t *testing.T) {
	const dir = "toy/large"
	tmp := t.TempDir()
	var b strings.Builder
	b.WriteString(`data: {"t":"start","id":"r1","model":"toy-1"}` + "\n\n" + `data: {"t":"open","kind":"text"}` + "\n\n")
	for b.Len() < 4<<10 {
		b.WriteString(`data: {"t":"delta","s":"` + strings.Repeat("large ", 100) + `"}` + "\n\n")
	}
	b.WriteString(`data: {"t":"close"}` + "\n\n" + `data: {"t":"done","why":"stop"}` + "\n\n" + strings.Repeat(": more\n\n", 200))
	files := map[string]string{
		"history.json":   `{"model":"m","messages":[{"role":"user","parts":[{"kind":"text","text":"Hi"}]}]}`,
		"1.response.sse": b.String(),
	}
	for name, data := range files {
		golden.File(t, &golden.Options{Update: true, Dir: tmp}, dir+"/"+name, []byte(data))
	}
	o := &golden.Options{Update: true, Dir: tmp, Exhaustive: 1 << 10}
	golden.Check(t, toy{}, os.DirFS(tmp), dir, o)
	o.Update = false
	golden.Check(t, toy{}, os.DirFS(tmp), dir, o)
	f, err := golden.Load(os.DirFS(tmp), dir)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Index(b.String(), `"stop"}`) + len(`"stop"}`)
	if f.Turns[0].Terminal != want {
		t.Errorf("terminal %d, want %d", f.Turns[0].Terminal, want)
	}
	for _, by := range []int{-1, +1} {
		events := fmt.Sprintf("terminal: %d\n%s", want+by, f.Turns[0].Events)
		golden.File(t, &golden.Options{Update: true, Dir: tmp}, dir+"/1.events.txt", []byte(events))
		got := failures(func(tb golden.TB) { golden.Check(tb, toy{}, os.DirFS(tmp), dir, o) })
		if len(got) == 0 {
			t.Errorf("a terminal offset wrong by %d is not found", by)
		}
	}
}

func TestFile(t *testing.T) {
	tmp := t.TempDir()
	path := filepath.Join(tmp, "a", "b.txt")
	file := func(o *golden.Options, path, got string) []string {
		return failures(func(tb golden.TB) { golden.File(tb, o, path, []byte(got)) })
	}
	wants(t, file(nil, path, "x"), "is missing; run the test with -update")
	if got := file(&golden.Options{Update: true, Dir: tmp}, filepath.Join("a", "b.txt"), "one\ntwo\n"); got != nil {
		t.Errorf("update: %q", got)
	}
	if got := file(nil, path, "one\ntwo\n"); got != nil {
		t.Errorf("equal: %q", got)
	}
	wants(t, file(nil, path, "one\nthree\n"), "differs at byte 5, line 2", `"one\ntwo\n"`, `"one\nthree\n"`)
	wants(t, file(nil, filepath.Join(tmp, "a"), ""), "golden: read")
}

func TestDiff(t *testing.T) {
	long := strings.Repeat("0123456789", 20)
	tests := []struct{ name, want, got, diff string }{
		{"equal", "a", "a", ""},
		{"end", "ab", "abc", "differs at byte 2, line 1:\n\twant (2 bytes) \"ab\"\n\t got (3 bytes) \"abc\""},
		{"empty", "", "x", "differs at byte 0, line 1:\n\twant (0 bytes) \"\"\n\t got (1 bytes) \"x\""},
		{"long", long + "a" + long, long + "b" + long,
			"differs at byte 200, line 1:\n\twant (401 bytes) …\"" + long[:40] + "a" + long[:39] + "\"…\n\t got (401 bytes) …\"" + long[:40] + "b" + long[:39] + "\"…"},
		{"bytes", "\xff", "\xfe", "differs at byte 0, line 1:\n\twant (1 bytes) \"\\xff\"\n\t got (1 bytes) \"\\xfe\""},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.diff, golden.Diff([]byte(tt.want), []byte(tt.got))); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

func TestList(t *testing.T) {
	m := fstest.MapFS{
		"b/x/history.json": {}, "a/history.json": {}, "a/1.request.json": {}, "c/other.json": {},
	}
	got, err := golden.List(m)
	if want := []string{"a", "b/x"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("List = %q, %v, want %q", got, err, want)
	}
}

func TestLoad(t *testing.T) {
	f, err := golden.Load(os.DirFS("testdata"), "toy/tool")
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Turns) != 3 || len(f.History.Messages) != 5 {
		t.Fatalf("%d turns, %d messages", len(f.Turns), len(f.History.Messages))
	}
	for i, want := range []int{1, 3, 5} {
		if got := len(f.Turns[i].Request.Messages); got != want {
			t.Errorf("turn %d has %d messages, want %d", i+1, got, want)
		}
	}
	second := f.Turns[1]
	wantHeader := []wire.Header{{Name: "Content-Type", Value: "text/event-stream; charset=utf-8"}, {Name: "Request-Id", Value: "req_2"}}
	if second.Status != 200 || second.Framing != wire.FramingSSE || !slices.Equal(second.Header, wantHeader) {
		t.Errorf("turn 2 is %d %s %v", second.Status, second.Framing, second.Header)
	}
	if f.Turns[2].Response != nil || f.Turns[2].RequestBody == nil || f.Turns[2].Refusal != nil {
		t.Error("turn 3 has a response, no request or a refusal")
	}
	f, err = golden.Load(os.DirFS("testdata"), "toy/unsendable")
	if err != nil {
		t.Fatal(err)
	}
	const refusal = "messages[2].parts[1] the toy cannot read it (say it in words)\n- \"sums\\nup\"\n"
	if turn := f.Turns[1]; turn.RequestBody != nil || string(turn.Refusal) != refusal {
		t.Errorf("turn 2 is refused with %q", turn.Refusal)
	}
}

// A turn whose request would end with an assistant message needs no file.
func TestTurnWithoutFiles(t *testing.T) {
	m := fstest.MapFS{
		"f/history.json": {Data: []byte(`{"model":"m","messages":[
			{"role":"assistant","parts":[{"kind":"text","text":"Welcome."}]},
			{"role":"user","parts":[{"kind":"text","text":"Hi"}]}]}`)},
		"f/2.request.json": {Data: []byte(`["Welcome.","Hi"]`)},
	}
	if got := check(plain{}, m, "f"); got != nil {
		t.Errorf("%q", got)
	}
}

// A cut message is a beginning of the whole one.
func TestBeginning(t *testing.T) {
	finish := &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop}
	cut := &wire.Ending{Cause: wire.CauseTruncated, Err: &wire.Error{Cause: wire.CauseTruncated}}
	call := wire.ToolCallPart("c1", "read", "{}")
	whole := wire.Message{Parts: []wire.Part{wire.TextPart("Hello"), call}, Ending: finish}
	part := func(p wire.Part, edit func(p *wire.Part)) wire.Part {
		edit(&p)
		return p
	}
	partial := func(p wire.Part) wire.Part { return part(p, func(p *wire.Part) { p.Partial = true }) }
	tests := []struct {
		name   string
		parts  []wire.Part
		ending *wire.Ending
		want   string // "" if it is a beginning
	}{
		{"whole", whole.Parts, finish, ""},
		{"whole, not finished", whole.Parts, cut, ""},
		{"nothing", nil, cut, ""},
		{"half a text", []wire.Part{partial(wire.TextPart("Hel"))}, cut, ""},
		{"half a call", []wire.Part{whole.Parts[0], partial(wire.ToolCallPart("", "read", "{"))}, cut, ""},
		{"half a text, not marked", []wire.Part{wire.TextPart("Hel")}, cut, "cut off and not marked partial"},
		{"half a call, not marked", []wire.Part{whole.Parts[0], wire.ToolCallPart("c1", "read", "{")}, cut, "cut off and not marked partial"},
		{"other text", []wire.Part{partial(wire.TextPart("Help"))}, cut, "no beginning of that in the whole"},
		{"other arguments", []wire.Part{whole.Parts[0], partial(wire.ToolCallPart("c1", "read", "["))}, cut, "no beginning of those"},
		{"other kind", []wire.Part{{Kind: wire.PartReasoning, Partial: true}}, cut, "in the whole it is text"},
		{"other id", []wire.Part{whole.Parts[0], partial(wire.ToolCallPart("c2", "read", ""))}, cut, `"c2" "read"`},
		{"half a name", []wire.Part{whole.Parts[0], partial(wire.ToolCallPart("c1", "re", ""))}, cut, `"c1" "re"`},
		{"more parts", append(whole.Parts[:2:2], call), cut, "3 parts, the whole has 2"},
		{"finished with less", whole.Parts[:1], finish, "finished with 1 parts"},
		{"finished and partial", []wire.Part{whole.Parts[0], partial(call)}, finish, "part 1 is partial"},
		{"finished otherwise", whole.Parts, &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishLength}, "finish reason is length"},
	}
	for _, tt := range tests {
		err := golden.Beginning(wire.Message{Parts: tt.parts, Ending: tt.ending}, whole)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestAppendEvent(t *testing.T) {
	events := []wire.Event{
		{Kind: wire.EventStart, Start: &wire.Start{Origin: wire.Origin{Protocol: "toy", Model: "m"}, RequestID: "req_1"}},
		{Kind: wire.EventPartStart, Part: wire.PartText},
		{Kind: wire.EventDelta, Part: wire.PartText, Delta: "Hello <b>&\n"},
		{Kind: wire.EventDelta, Part: wire.PartText, Delta: "caf\xc3"},
		{Kind: wire.EventDelta, Part: wire.PartText, Delta: "a real \uFFFD"},
		{Kind: wire.EventPartEnd, Part: wire.PartText},
		{Kind: wire.EventPartStart, Index: 1, Part: wire.PartToolCall, Data: &wire.Part{Kind: wire.PartToolCall, ID: "c1", Name: "read"}},
		{Kind: wire.EventPartEnd, Index: 1, Part: wire.PartToolCall, Data: &wire.Part{}},
		{Kind: wire.EventPartStart, Index: 2, Part: wire.PartToolResult, Data: &wire.Part{Parts: []wire.Part{wire.TextPart("x")}}},
		{Kind: wire.EventUsage, Usage: &wire.Usage{InputTokens: wire.CountOf(0), Vendor: `{"a":"<"}`}},
		{Kind: wire.EventNote, Note: &wire.Note{Code: wire.NoteOdd, Path: "ping", Detail: "…"}},
		{Kind: wire.EventOther, Raw: `{"type":"ping"}`},
		{Kind: wire.EventEnd, End: &wire.Ending{Cause: wire.CauseReset, Err: &wire.Error{Cause: wire.CauseReset, Err: os.ErrClosed}}},
		{Kind: "odd", Delta: "x"},
		{Kind: wire.EventStart},
	}
	const want = `start {"origin":{"protocol":"toy","model":"m"},"request_id":"req_1"}
part_start 0 text
delta 0 text "Hello <b>&\n"
delta 0 text "caf\ufffd" hex:636166c3
delta 0 text "a real ` + "\uFFFD" + `"
part_end 0 text
part_start 1 tool_call {"id":"c1","name":"read"}
part_end 1 tool_call {}
part_start 2 tool_result {"parts":[{"kind":"text","text":"x"}]}
usage {"input_tokens":0,"vendor":"{\"a\":\"<\"}"}
note {"code":"odd","path":"ping","detail":"…"}
other "{\"type\":\"ping\"}"
end {"cause":"reset","error":{"cause":"reset"}}
odd {"kind":"odd","index":0,"delta":"x"}
start null
`
	if d := cmp.Diff(want, string(golden.AppendEvents(nil, events))); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A program that imports golden gets neither package testing nor its flags, and
// nothing of this module but the vocabulary and the framing.
func TestImports(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command")
	}
	out, err := exec.Command(goTool, "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/handwire/handwire/"
	may := []string{"golden", "sse", "wire", "wire/internal/jsonw", "wire/stream"}
	for _, p := range strings.Fields(string(out)) {
		if p == "flag" || p == "testing" || strings.HasPrefix(p, "testing/") {
			t.Errorf("golden depends on %s", p)
		}
		if name, ok := strings.CutPrefix(p, module); ok && !slices.Contains(may, name) {
			t.Errorf("golden depends on %s", p)
		}
		first, _, _ := strings.Cut(p, "/")
		if strings.Contains(first, ".") && !strings.HasPrefix(p, module) {
			t.Errorf("golden depends on %s", p)
		}
	}
}
