//go:build unix

package fstool_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/handwire/handwire/agent/fstool"
)

// TestSpecialFiles reads what would block or is no file. No writer ever opens
// the pipe.
func TestSpecialFiles(t *testing.T) {
	root, dir := tree(t, map[string]string{"a.txt": "a"})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666); err != nil {
		t.Skip(err)
	}
	symlink(t, "pipe", filepath.Join(dir, "link"))
	symlink(t, "/dev/zero", filepath.Join(dir, "zero"))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, name := range []string{"pipe", "link"} {
			if got, failure := run(t, fstool.Read(root), dir, `{"path":"`+name+`"}`); got != nil || !strings.Contains(failure, "not a regular file") {
				t.Errorf("%s: got %q, %q", name, got, failure)
			}
			if got, failure := run(t, fstool.Ls(root), dir, `{"path":"`+name+`"}`); got != nil || !strings.Contains(failure, "not a folder") {
				t.Errorf("%s: got %q, %q", name, got, failure)
			}
		}
		if got, failure := run(t, fstool.Read(root), dir, `{"path":"zero"}`); got != nil || !strings.Contains(failure, "leads out") {
			t.Errorf("got %q, %q", got, failure)
		}
		want := "a.txt\t1\nlink\tnot a regular file\npipe\tnot a regular file\nzero\tlink that cannot be followed\n"
		if got, _ := run(t, fstool.Ls(root), dir, `{}`); len(got) != 1 || got[0] != want {
			t.Errorf("got %q", got)
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("a tool blocks")
	}
}

// TestSwappedPipe puts a pipe where the file was, again and again.
func TestSwappedPipe(t *testing.T) {
	root, dir := tree(t, map[string]string{"x": "file"})
	file, pipe, x := filepath.Join(dir, "file"), filepath.Join(dir, "pipe"), filepath.Join(dir, "x")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(file, []byte("file"), 0o666); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			for _, from := range []string{pipe, file} {
				select {
				case <-stop:
					return
				default:
				}
				tmp := x + ".tmp"
				os.Remove(tmp)
				os.Link(from, tmp)
				os.Rename(tmp, x)
			}
		}
	}()
	read := fstool.Read(root)
	for begin := time.Now(); time.Since(begin) < 200*time.Millisecond; {
		got, failure := run(t, read, dir, `{"path":"x"}`)
		if failure == "" && (len(got) != 1 || got[0] != "file") || failure != "" && !strings.Contains(failure, "not a regular file") {
			t.Fatalf("got %q, %q", got, failure)
		}
	}
	close(stop)
	<-stopped
}

func TestNoPermission(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	root, dir := tree(t, map[string]string{"a.txt": "a"})
	if err := os.Chmod(filepath.Join(dir, "a.txt"), 0); err != nil {
		t.Fatal(err)
	}
	if _, failure := run(t, fstool.Read(root), dir, `{"path":"a.txt"}`); !strings.Contains(failure, `no permission to read "a.txt"`) {
		t.Errorf("got %q", failure)
	}
}
