package fstool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/agent/fstool"
	"github.com/handwire/handwire/wire"
)

// tree makes a folder of files and opens it. A name with a slash at its end is
// a folder. Beside it lies a folder with a secret.
func tree(t *testing.T, files map[string]string) (*os.Root, string) {
	t.Helper()
	top, err := os.MkdirTemp("", "fstool")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	dir := filepath.Join(top, "inside")
	write := func(name, content string) {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(top, "outside", "secret.txt"), "secret")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
				t.Fatal(err)
			}
			continue
		}
		write(filepath.Join(dir, name), content)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir
}

// run returns the texts of the parts, and the error's text where there is one.
func run(t *testing.T, tool agent.Tool, dir, args string) (texts []string, failure string) {
	t.Helper()
	parts, err := tool.Run(t.Context(), args)
	for _, p := range parts {
		if p.Kind != wire.PartText {
			t.Errorf("%s: a part of kind %s", args, p.Kind)
		}
		texts = append(texts, p.Text)
	}
	if err != nil {
		failure = err.Error()
	}
	for _, s := range append(texts, failure) {
		if strings.Contains(s, filepath.Dir(dir)) || strings.Contains(s, "outside") || strings.Contains(s, "secret") {
			t.Errorf("%s: shows what is outside: %.300s", args, s)
		}
	}
	return texts, failure
}

func symlink(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skip(err)
	}
}

func TestAll(t *testing.T) {
	root, _ := tree(t, nil)
	var names []string
	for _, tool := range fstool.All(root) {
		names = append(names, tool.Name)
		var schema struct {
			Type       string
			Properties map[string]struct{ Type, Description string }
		}
		if err := json.Unmarshal([]byte(tool.Schema), &schema); err != nil {
			t.Error(err)
		}
		if schema.Type != "object" || tool.Description == "" || tool.Run == nil {
			t.Errorf("%+v", tool)
		}
		for k, p := range schema.Properties {
			if p.Type == "" || p.Description == "" {
				t.Errorf("%s: %s: %+v", tool.Name, k, p)
			}
		}
	}
	if got := strings.Join(names, " "); got != "read ls" {
		t.Errorf("got %s", got)
	}
}

func TestRead(t *testing.T) {
	gif := "GIF89a" + strings.Repeat("é", 8<<10) // text, with a character across the end of what is looked at
	gif = gif[:6] + "x" + gif[6:]
	root, dir := tree(t, map[string]string{
		"a.txt":       "one\ntwo\nthree\n",
		"crlf.txt":    "one\r\ntwo\r\n\r\nlast",
		"empty.txt":   "",
		"nl.txt":      "\n",
		"utf8.txt":    "é🌍\n",
		"nul.bin":     "abc\x00def",
		"latin.txt":   "caf\xe9\n",
		"late.txt":    "ok\n" + strings.Repeat("x", 9000) + "\n\xff\nend\n",
		"sub/b.txt":   "b",
		"sub/deep/":   "",
		"README.md":   "r",
		"readme2.md":  "r",
		"we\"ird.txt": "w",
		"gif.txt":     gif,
	})
	tests := []struct {
		args string
		want []string // the parts
		err  []string // in the error
	}{
		{args: `{"path":"a.txt"}`, want: []string{"one\ntwo\nthree\n"}},
		{args: `{"path":"./a.txt"}`, want: []string{"one\ntwo\nthree\n"}},
		{args: `{"path":"sub/../a.txt"}`, want: []string{"one\ntwo\nthree\n"}},
		{args: `{"path":"sub/b.txt"}`, want: []string{"b"}},
		{args: `{"path":"a.txt","start_line":null}`, want: []string{"one\ntwo\nthree\n"}},
		{args: `{"path":"a.txt","start_line":1,"end_line":1}`, want: []string{"one\n"}},
		{args: `{"path":"a.txt","start_line":2}`, want: []string{"two\nthree\n"}},
		{args: `{"path":"a.txt","end_line":2}`, want: []string{"one\ntwo\n"}},
		{args: `{"path":"a.txt","start_line":3,"end_line":3}`, want: []string{"three\n"}},
		{args: `{"path":"a.txt","start_line":3,"end_line":99}`, want: []string{"three\n"}},
		{args: `{"path":"a.txt","start_line":4}`, err: []string{"start_line is 4", "is 3"}},
		{args: `{"path":"a.txt","start_line":0}`, err: []string{"start_line is 0", "from 1"}},
		{args: `{"path":"a.txt","start_line":-1}`, err: []string{"start_line is -1"}},
		{args: `{"path":"a.txt","start_line":3,"end_line":2}`, err: []string{"end_line is 2", "before line 3"}},
		{args: `{"path":"a.txt","end_line":0}`, err: []string{"end_line is 0"}},
		{args: `{"path":"a.txt","start_line":"2"}`, err: []string{`"start_line"`, "a whole number", "string"}},
		{args: `{"path":"crlf.txt"}`, want: []string{"one\r\ntwo\r\n\r\nlast"}},
		{args: `{"path":"crlf.txt","start_line":2,"end_line":3}`, want: []string{"two\r\n\r\n"}},
		{args: `{"path":"crlf.txt","start_line":4}`, want: []string{"last"}},
		{args: `{"path":"crlf.txt","start_line":5}`, err: []string{"is 4"}},
		{args: `{"path":"empty.txt"}`, want: []string{"[the file is empty]"}},
		{args: `{"path":"empty.txt","start_line":2}`, err: []string{"is 0"}},
		{args: `{"path":"nl.txt"}`, want: []string{"\n"}},
		{args: `{"path":"nl.txt","start_line":2}`, err: []string{"is 1"}},
		{args: `{"path":"utf8.txt"}`, want: []string{"é🌍\n"}},
		{args: `{"path":"nul.bin"}`, err: []string{`"nul.bin" is not a text file`, "NUL byte at offset 3"}},
		{args: `{"path":"latin.txt"}`, err: []string{"not UTF-8 at offset 3"}},
		{args: `{"path":"late.txt","end_line":1}`, want: []string{"ok\n"}},
		{args: `{"path":"late.txt"}`, err: []string{"not UTF-8 at offset 9004"}},
		{args: `{"path":"late.txt","start_line":3,"end_line":3}`, err: []string{"not UTF-8 at offset 9004"}},
		{args: `{"path":"late.txt","start_line":4}`, want: []string{"end\n"}},
		{args: `{"path":"sub"}`, err: []string{`"sub" is a folder`, "use ls"}},
		{args: `{"path":"."}`, err: []string{"is a folder"}},
		{args: `{}`, err: []string{`"path" is missing`}},
		{args: `{"path":""}`, err: []string{`"path" is missing`}},
		{args: `{"path":7}`, err: []string{`"path"`, "a string"}},
		{args: `{"path":"b.txt"}`, err: []string{`no "b.txt"`, `"a.txt"`}},
		{args: `{"path":"readme.md"}`, err: []string{`no "readme.md"`, `names near it are "README.md", "readme2.md"`}},
		{args: `{"path":"sub/c.txt"}`, err: []string{`"sub/b.txt"`}},
		{args: `{"path":"sub/quite-other.go"}`, err: []string{`no "sub/quite-other.go"`, "use ls"}},
		{args: `{"path":"nodir/c.txt"}`, err: []string{`no folder "nodir"`, "use ls"}},
		{args: `{"path":"gif.txt"}`, want: []string{gif}},
		{args: `{"path":"a.txt/x"}`, err: []string{`"a.txt/x"`}},
		{args: `{"path":"a\u0000b"}`, err: []string{"NUL"}},
		{args: `{"path":"/etc/passwd"}`, err: []string{"leads out of the folder"}},
		{args: `{"path":"../inside/a.txt"}`, err: []string{"leads out of the folder"}},
		{args: `{"path":"../outside/secret.txt"}`, err: []string{"leads out of the folder"}},
		{args: `{"path":"sub/../../outside/secret.txt"}`, err: []string{"leads out of the folder"}},
	}
	read := fstool.Read(root)
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			got, failure := run(t, read, dir, tt.args)
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", tt.want) || (failure != "") != (tt.err != nil) {
				t.Errorf("got %.200q, error %q; want %q", got, failure, tt.want)
			}
			for _, w := range tt.err {
				if !strings.Contains(failure, w) {
					t.Errorf("error %q, want %q in it", failure, w)
				}
			}
		})
	}
}

func TestReadLimit(t *testing.T) {
	const limit = fstool.MaxReadBytes
	line := strings.Repeat("x", 1023) + "\n"
	root, dir := tree(t, map[string]string{
		"exact.txt": strings.Repeat(line, limit/1024),
		"huge.txt":  strings.Repeat(line, 3*limit/1024) + "end",
		"long.txt":  "a\n" + strings.Repeat("é", limit) + "\nlast\n",
		"only.txt":  "x" + strings.Repeat("🌍", limit),
	})
	read := fstool.Read(root)

	got, _ := run(t, read, dir, `{"path":"exact.txt"}`)
	if len(got) != 1 || len(got[0]) != limit {
		t.Errorf("exact: %d parts, %d bytes", len(got), len(got[0]))
	}

	// Going on as the notes say gives the whole file.
	var all strings.Builder
	args := `{"path":"huge.txt"}`
	for n := 0; ; n++ {
		got, failure := run(t, read, dir, args)
		if failure != "" || n > 3 {
			t.Fatal(n, failure)
		}
		all.WriteString(got[0])
		if len(got) == 1 {
			break
		}
		var last, next int
		if _, err := fmt.Sscanf(got[1], "[cut after line %d at the limit of 262144 bytes; to go on, use start_line %d]", &last, &next); err != nil || next != last+1 {
			t.Fatalf("%q: %v", got[1], err)
		}
		args = fmt.Sprintf(`{"path":"huge.txt","start_line":%d}`, next)
	}
	if all.String() != strings.Repeat(line, 3*limit/1024)+"end" {
		t.Error("the pieces are not the file")
	}

	got, _ = run(t, read, dir, `{"path":"long.txt"}`)
	if len(got) != 2 || got[0] != "a\n" || !strings.Contains(got[1], "start_line 2]") {
		t.Errorf("got %.100q", got)
	}
	got, _ = run(t, read, dir, `{"path":"long.txt","start_line":2}`)
	want := fmt.Sprintf("[line 2 has %d bytes, only the first %d of which are here; to go on, use start_line 3]", 2*limit+1, limit)
	if len(got) != 2 || got[0] != strings.Repeat("é", limit/2) || got[1] != want {
		t.Errorf("got %d bytes, %q", len(got[0]), got[1])
	}
	got, _ = run(t, read, dir, `{"path":"long.txt","start_line":2,"end_line":2}`)
	if len(got) != 2 || strings.Contains(got[1], "go on") {
		t.Errorf("got %q", got[1])
	}
	got, _ = run(t, read, dir, `{"path":"only.txt"}`)
	if len(got) != 2 || !utf8.ValidString(got[0]) || len(got[0]) != limit-3 || strings.Contains(got[1], "go on") {
		t.Errorf("got %d bytes, %q", len(got[0]), got[1])
	}
}

// TestWindow tries every range of small texts at every limit, in whole reads and
// byte by byte, against the plain way to do it.
func TestWindow(t *testing.T) {
	for _, text := range []string{"", "\n", "a", "a\n", "ab\nc\n", "é\r\n\n🌍z", "\n\n\n", "abcdef\ngh\nijklm"} {
		lines := strings.SplitAfter(text, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		for start := 1; start <= len(lines); start++ {
			for end := start; end <= len(lines)+1; end++ {
				for limit := 1; limit <= len(text)+1; limit++ {
					want, cut, next := "", 0, 0
					for n := start; n <= min(end, len(lines)); n++ {
						l := lines[n-1]
						if cut > 0 || n > start && len(want)+len(l) > limit {
							next = n
							break
						}
						if len(l) > limit {
							cut = len(l)
							for l = l[:limit]; !utf8.ValidString(l); l = l[:len(l)-1] {
							}
						}
						want += l
					}
					for _, r := range []string{"whole", "bytes"} {
						in := iotest.DataErrReader(strings.NewReader(text))
						if r == "bytes" {
							in = iotest.OneByteReader(strings.NewReader(text))
						}
						got, gotCut, gotNext, err := fstool.Window(in, int64(start), int64(end), limit)
						if err != nil || got != want || gotCut != int64(cut) || gotNext != int64(next) {
							t.Fatalf("%q from %d to %d, limit %d: got %q, %d, %d, %v; want %q, %d, %d", text, start, end, limit, got, gotCut, gotNext, err, want, cut, next)
						}
					}
				}
			}
		}
	}
	if _, _, _, err := fstool.Window(iotest.ErrReader(os.ErrPermission), 1, 2, 3); err == nil {
		t.Error("the error of the reader is lost")
	}
	// A character across the end of the beginning that is looked at.
	text := strings.Repeat("x", 8<<10-1) + "é\n"
	if got, _, _, err := fstool.Window(strings.NewReader(text), 1, 1, 1<<20); got != text || err != nil {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

func TestReadCancelled(t *testing.T) {
	root, _ := tree(t, map[string]string{"a.txt": "a"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tool := range fstool.All(root) {
		args := `{}`
		if tool.Name == "read" {
			args = `{"path":"a.txt"}`
		}
		if _, err := tool.Run(ctx, args); err != context.Canceled {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
}

func TestLinks(t *testing.T) {
	root, dir := tree(t, map[string]string{"a.txt": "in", "sub/b.txt": "b"})
	top := filepath.Dir(dir)
	symlink(t, "a.txt", filepath.Join(dir, "in.txt"))
	symlink(t, "sub", filepath.Join(dir, "insub"))
	symlink(t, "../outside/secret.txt", filepath.Join(dir, "rel"))
	symlink(t, filepath.Join(top, "outside", "secret.txt"), filepath.Join(dir, "abs"))
	symlink(t, "../outside", filepath.Join(dir, "out"))
	symlink(t, "nothing", filepath.Join(dir, "dangling"))
	symlink(t, "loop", filepath.Join(dir, "loop"))

	read, ls := fstool.Read(root), fstool.Ls(root)
	if got, _ := run(t, read, dir, `{"path":"in.txt"}`); len(got) != 1 || got[0] != "in" {
		t.Errorf("got %q", got)
	}
	if got, _ := run(t, read, dir, `{"path":"insub/b.txt"}`); len(got) != 1 || got[0] != "b" {
		t.Errorf("got %q", got)
	}
	for _, name := range []string{"rel", "abs", "out", "out/x.txt", "insub/../../x"} {
		for _, tool := range fstool.All(root) {
			got, failure := run(t, tool, dir, fmt.Sprintf(`{"path":%q}`, name))
			if got != nil || !strings.Contains(failure, "leads out of the folder") {
				t.Errorf("%s %s: got %q, %q", tool.Name, name, got, failure)
			}
		}
	}
	for _, name := range []string{"dangling", "dangling/", "./dangling"} {
		if _, failure := run(t, read, dir, fmt.Sprintf(`{"path":%q}`, name)); !strings.Contains(failure, "leads nowhere") {
			t.Errorf("got %q", failure)
		}
	}
	if _, failure := run(t, read, dir, `{"path":"loop"}`); !strings.Contains(failure, `cannot read "loop"`) {
		t.Errorf("got %q", failure)
	}
	const bad = "\tlink that cannot be followed\n"
	got, _ := run(t, ls, dir, `{}`)
	want := "a.txt\t2\nabs" + bad + "dangling" + bad + "in.txt\t2\ninsub/\nloop" + bad + "out" + bad + "rel" + bad + "sub/\n"
	if len(got) != 1 || got[0] != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestLs(t *testing.T) {
	many := map[string]string{"b.txt": "12345", "a/": "", "a.go": "", "Z": "z", "sub/x": "x", "empty/": "", "tab\there": "t", "b": "", `"b"`: "quotes"}
	for i := range fstool.MaxEntries + 5 {
		many[fmt.Sprintf("many/%05d", i)] = ""
	}
	for i := range fstool.MaxEntries {
		many[fmt.Sprintf("full/%05d", i)] = ""
	}
	root, dir := tree(t, many)
	ls := fstool.Ls(root)
	want := "\"\\\"b\\\"\"\t6\nZ\t1\na/\na.go\t0\nb\t0\nb.txt\t5\nempty/\nfull/\nmany/\nsub/\n\"tab\\there\"\t1\n"
	for _, args := range []string{`{}`, `{"path":"."}`, `{"path":""}`, `{"path":"sub/.."}`, `null`} {
		if got, failure := run(t, ls, dir, args); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got\n%s%s, want\n%s", args, got, failure, want)
		}
	}
	if got, _ := run(t, ls, dir, `{"path":"sub/"}`); len(got) != 1 || got[0] != "x\t1\n" {
		t.Errorf("got %q", got)
	}
	if got, _ := run(t, ls, dir, `{"path":"empty"}`); len(got) != 1 || got[0] != "[the folder is empty]" {
		t.Errorf("got %q", got)
	}
	got, _ := run(t, ls, dir, `{"path":"many"}`)
	if len(got) != 2 || strings.Count(got[0], "\n") != fstool.MaxEntries || !strings.HasSuffix(got[0], "\n00999\t0\n") || got[1] != "[the first 1000 of 1005 entries]" {
		t.Errorf("got %d parts, %q", len(got), got[1:])
	}
	if got, _ = run(t, ls, dir, `{"path":"full"}`); len(got) != 1 || strings.Count(got[0], "\n") != fstool.MaxEntries {
		t.Errorf("got %d parts", len(got))
	}
	for args, want := range map[string]string{
		`{"path":"b.txt"}`:      "is not a folder: use read",
		`{"path":"sup"}`:        `names near it are "sub"`,
		`{"path":"nowhere"}`:    "use ls",
		`{"path":"/"}`:          "leads out",
		`{"path":".."}`:         "leads out",
		`{"path":"../outside"}`: "leads out",
		`{"path":["x"]}`:        "a string",
	} {
		if got, failure := run(t, ls, dir, args); got != nil || !strings.Contains(failure, want) {
			t.Errorf("%s: got %q, %q", args, got, failure)
		}
	}
}

// TestLongPaths has errors that repeat a bounded piece of a path.
func TestLongPaths(t *testing.T) {
	root, dir := tree(t, map[string]string{"a.txt": "a"})
	deep := "x" + strings.Repeat("é", 120)
	for name, want := range map[string]string{
		strings.Repeat("y", 200):         `no "` + strings.Repeat("y", 200) + `":`,
		strings.Repeat("y", 201):         `no "` + strings.Repeat("y", 200) + `"...:`,
		deep:                             `"x` + strings.Repeat("é", 99) + `"...`,
		strings.Repeat("a/", 5000) + "b": `"a/a`,
		strings.Repeat("a", 10000):       `"aaa`,
	} {
		for _, tool := range fstool.All(root) {
			_, failure := run(t, tool, dir, fmt.Sprintf(`{"path":%q}`, name))
			if len(failure) > 600 || !strings.Contains(failure, want) {
				t.Errorf("%s: got %d bytes, %q, want %q in it", tool.Name, len(failure), failure, want)
			}
		}
	}
}

// TestMissing has a file that comes right after it was missed.
func TestMissing(t *testing.T) {
	root, _ := tree(t, map[string]string{"a.txt": "", "b.txt": "", "sub/c.txt": ""})
	for name, want := range map[string]string{
		"a.txt":     `there is no "a.txt": names near it are "b.txt"`,
		"sub/c.txt": `there is no "sub/c.txt": use ls to see what there is`,
	} {
		if got := fstool.Missing(root, name).Error(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestSwappedLink puts a link that leads out where the file was, after the look
// at it and before it is opened.
func TestSwappedLink(t *testing.T) {
	root, dir := tree(t, map[string]string{"x": "file", "d/x": "file"})
	for name, target := range map[string]string{"x": "../outside/secret.txt", "d": "../outside"} {
		swapped := false
		f, err := fstool.Open(root, name, func(fs.FileInfo) error {
			if !swapped {
				swapped = true
				if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
				symlink(t, target, filepath.Join(dir, name))
			}
			return nil
		})
		if err == nil {
			f.Close()
			t.Errorf("%s: a link that leads out was followed", name)
		}
		if !swapped {
			t.Errorf("%s: nobody looked at it", name)
		}
	}
}

// TestReadBlocked has a file without anything to read yet.
func TestReadBlocked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a pipe cannot be closed while it is read")
	}
	root, _ := tree(t, nil)
	for name, begin := range map[string]string{"nothing": "", "image": pngBytes, "text": strings.Repeat("x", 9000)} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if _, err := w.WriteString(begin); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() {
				_, err := fstool.ReadOpen(ctx, root, r)
				done <- err
			}()
			time.Sleep(10 * time.Millisecond)
			cancel()
			select {
			case err := <-done:
				if err != context.Canceled {
					t.Errorf("got %v", err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("the tool blocks")
			}
		})
	}
}

// pngBytes begins as a PNG image, more of which than is looked at.
var pngBytes = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + strings.Repeat("\x00", 9000)

func TestReadImage(t *testing.T) {
	images := map[string]string{
		"image/png":  "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
		"image/jpeg": "\xff\xd8\xff\xe0\x00\x10JFIF\x00",
		"image/gif":  "GIF89a\x01\x00\x01\x00\x80\x00\x00",
		"image/webp": "RIFF\x1a\x00\x00\x00WEBPVP8L",
	}
	files := map[string]string{
		"most": pngBytes + strings.Repeat("x", fstool.MaxImageBytes-len(pngBytes)),
		"more": pngBytes + strings.Repeat("x", fstool.MaxImageBytes-len(pngBytes)+1),
	}
	for typ, data := range images {
		files[filepath.Base(typ)] = data
	}
	root, dir := tree(t, files)
	read := fstool.Read(root)
	images["most"] = files["most"]
	for typ, data := range images {
		name := filepath.Base(typ)
		if typ == "most" {
			typ = "image/png"
		}
		got, err := read.Run(t.Context(), fmt.Sprintf(`{"path":%q}`, name))
		want := []wire.Part{
			wire.TextPart(fmt.Sprintf("[%s, %d bytes]", typ, len(data))),
			{Kind: wire.PartMedia, Media: &wire.Media{Type: typ, Data: []byte(data)}},
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %.300v, %v", name, got, err)
		}
	}
	for args, want := range map[string]string{
		`{"path":"more"}`:                `"more" is an image of more than 3750000 bytes`,
		`{"path":"png","start_line":1}`:  `"png" is an image, which has no lines`,
		`{"path":"webp","end_line":100}`: "leave start_line and end_line out",
	} {
		if got, failure := run(t, read, dir, args); got != nil || !strings.Contains(failure, want) {
			t.Errorf("%s: got %.100q, %q, want %q", args, got, failure, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 { // whether the file is closed before or after it is read
		if got, err := read.Run(ctx, `{"path":"png"}`); got != nil || err != context.Canceled {
			t.Fatalf("cancelled: got %d parts, %v", len(got), err)
		}
	}
}

// turns is a model that gives one answer after the other.
type turns [][]wire.Event

func (m *turns) Stream(context.Context, *wire.Request) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) {
		var evs []wire.Event
		evs, *m = (*m)[0], (*m)[1:]
		for _, ev := range evs {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// TestImageInRun follows an image into the message of results.
func TestImageInRun(t *testing.T) {
	root, _ := tree(t, map[string]string{"a.png": pngBytes})
	end := func(f wire.FinishReason) wire.Event {
		return wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: wire.CauseFinished, Finish: f}}
	}
	start := wire.Event{Kind: wire.EventStart, Start: &wire.Start{}}
	a := agent.Agent{Tools: fstool.All(root), Model: &turns{
		{
			start,
			{Kind: wire.EventPartStart, Part: wire.PartToolCall, Data: &wire.Part{ID: "1", Name: "read"}},
			{Kind: wire.EventDelta, Part: wire.PartToolCall, Delta: `{"path":"a.png"}`},
			{Kind: wire.EventPartEnd, Part: wire.PartToolCall},
			end(wire.FinishToolCall),
		},
		{start, end(wire.FinishStop)},
	}}
	var results []wire.Message
	for ev, err := range a.Run(t.Context(), &agent.Conversation{}, wire.TextPart("look")) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Message != nil && ev.Message.Role == wire.RoleTool {
			results = append(results, *ev.Message)
		}
	}
	want := []wire.Message{wire.ToolMessage(wire.ToolResultPart("1", "read",
		wire.TextPart(fmt.Sprintf("[image/png, %d bytes]", len(pngBytes))), wire.ImagePart([]byte(pngBytes))))}
	if !reflect.DeepEqual(results, want) {
		t.Errorf("got %.300v", results)
	}
}
