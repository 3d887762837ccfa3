package golden

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// TB is what this package needs of a test; *testing.T and *testing.B have it.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	// Fatalf reports and does not return.
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// Options are the options of [Check] and [File]. Nil and the zero value compare
// and write nothing.
type Options struct {
	// Update writes the golden files instead of comparing with them.
	Update bool
	// Dir is the real directory: for Check the root of its file system, needed
	// for an update only; for File what a relative path is relative to, where
	// empty is the working directory.
	Dir string
	// Moving are pieces of a body that may move from turn to turn, such as
	// `,"cache_control":{"type":"ephemeral"}`. They are taken out of both
	// bodies before Check compares the beginnings of two turns.
	Moving []string
	// Exhaustive is the size of a response in bytes up to which Check splits
	// and cuts it at every byte, at a cost that grows with the square; 0 is
	// 16 KiB. Of a larger one it takes the bytes at both ends (of each a
	// quarter of Exhaustive, and less of one over 16 KiB, down to 64 bytes),
	// what is around the terminal mark, and up to 500 other places, the same
	// ones in every run.
	Exhaustive int
}

// orDefault returns a copy of o with the defaults filled in.
func (o *Options) orDefault() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Exhaustive == 0 {
		c.Exhaustive = 16 << 10
	}
	return c
}

// File compares got with the golden file at path, or writes it there if
// opts.Update is set. Fixtures have [Check]; this is for other golden files.
func File(t TB, opts *Options, path string, got []byte) {
	t.Helper()
	o := opts.orDefault()
	if o.Dir != "" && !filepath.IsAbs(path) {
		path = filepath.Join(o.Dir, path)
	}
	if o.Update {
		if err := write(path, got); err != nil {
			t.Fatalf("golden: %v", err)
		}
		return
	}
	want, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.Errorf("golden: %s is missing; run the test with -update to write it", path)
	case err != nil:
		t.Fatalf("golden: %v", err)
	default:
		if d := Diff(want, got); d != "" {
			t.Errorf("golden: %s %s", path, d)
		}
	}
}

// write writes a file, and its folder if that is missing, unless it holds these
// bytes already.
func write(path string, data []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o666)
}

// Diff tells where got first differs from want: the offset, the line, and up to
// 40 bytes before and after that place of each. It returns "" if they are
// equal.
func Diff(want, got []byte) string {
	if bytes.Equal(want, got) {
		return ""
	}
	n := common(want, got)
	return fmt.Sprintf("differs at byte %d, line %d:\n\twant (%d bytes) %s\n\t got (%d bytes) %s",
		n, 1+bytes.Count(want[:n], []byte("\n")), len(want), window(want, n), len(got), window(got, n))
}

// common returns the length of the longest common beginning of a and b.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// window quotes what is around offset n of b.
func window(b []byte, n int) string {
	const side = 40
	from, to := max(0, n-side), min(len(b), n+side)
	s := fmt.Sprintf("%q", b[from:to])
	if from > 0 {
		s = "…" + s
	}
	if to < len(b) {
		s += "…"
	}
	return s
}
