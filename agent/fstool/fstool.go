package fstool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/handwire/handwire/agent"
)

// All returns all the tools of this package: read and ls.
func All(root *os.Root) []agent.Tool {
	return []agent.Tool{Read(root), Ls(root)}
}

var errOutside = errors.New("the path leads out of the folder that this tool may look at: give a path relative to that folder, without a leading slash, that stays in it")

// local refuses the paths that lead out of the root by their spelling alone.
// They are not repeated, since they name places outside.
func local(name string) error {
	if !filepath.IsLocal(name) {
		return errOutside
	}
	if strings.ContainsRune(name, 0) {
		return errors.New("the path holds a NUL byte")
	}
	return nil
}

// explain says in words for the model why the root refused a path. The text of
// err itself is not passed on: it may name places.
func explain(root *os.Root, name string, err error) error {
	cause := err
	var pe *fs.PathError
	if errors.As(err, &pe) {
		cause = pe.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing(root, name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("there is no permission to read %s", quoted(name))
	case strings.Contains(cause.Error(), "escapes"):
		// The error of os.Root has no name to compare with.
		return errOutside
	}
	return fmt.Errorf("cannot read %s: %w", quoted(name), cause)
}

// maxQuoted is how many bytes of a path an error repeats.
const maxQuoted = 200

// quoted is a path as an error repeats it: quoted as in Go, and cut if it is long.
func quoted(name string) string {
	if len(name) <= maxQuoted {
		return strconv.Quote(name)
	}
	return strconv.Quote(string(wholeRunes([]byte(name[:maxQuoted])))) + "..."
}

const (
	maxScanned = 1000 // names looked at for near misses
	maxNear    = 5    // near misses named
)

// missing says that there is no such file, and which names come near.
func missing(root *os.Root, name string) error {
	clean := path.Clean(name)
	if info, err := root.Lstat(clean); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link that leads nowhere", quoted(name))
	}
	dir, base := path.Split(clean)
	if dir == "" {
		dir = "."
	}
	f, err := openDir(root, dir)
	if err != nil {
		return fmt.Errorf("there is no %s, and no folder %s either: use ls to see what there is", quoted(name), quoted(path.Clean(dir)))
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxScanned)
	type near struct {
		name string
		far  int
	}
	var found []near
	for _, n := range names {
		if path.Join(dir, n) == name {
			continue // it came meanwhile
		}
		if far := distance(strings.ToLower(base), strings.ToLower(n)); far <= max(1, min(3, utf8.RuneCountInString(base)/3)) {
			found = append(found, near{path.Join(dir, n), far})
		}
	}
	if len(found) == 0 {
		return fmt.Errorf("there is no %s: use ls to see what there is", quoted(name))
	}
	slices.SortFunc(found, func(a, b near) int {
		if a.far != b.far {
			return a.far - b.far
		}
		return strings.Compare(a.name, b.name)
	})
	var b strings.Builder
	for i, n := range found[:min(len(found), maxNear)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoted(n.name))
	}
	return fmt.Errorf("there is no %s: names near it are %s", quoted(name), b.String())
}

// distance is how many runes must be added, removed or changed, or swapped with
// their neighbour, to make b of a.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}

// open opens name for reading if it is a file or a folder of the wanted kind. A
// pipe or a device is never opened, since that could block or set something off;
// should one take the place of the file meanwhile, opening it does not block.
func open(root *os.Root, name string, want func(fs.FileInfo) error) (*os.File, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if err := want(info); err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = want(info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

var errNotDir = errors.New("not a folder")

func openDir(root *os.Root, name string) (*os.File, error) {
	return open(root, name, func(info fs.FileInfo) error {
		if !info.IsDir() {
			return errNotDir
		}
		return nil
	})
}

// checkText says where text is not the text of a file, if it is not. The offset
// of its first byte in the file is base.
func checkText(text []byte, base int64) error {
	for i := 0; i < len(text); {
		c := text[i]
		if c == 0 {
			return fmt.Errorf("it holds a NUL byte at offset %d", base+int64(i))
		}
		if c < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return fmt.Errorf("it is not UTF-8 at offset %d", base+int64(i))
		}
		i += n
	}
	return nil
}

// wholeRunes is b without a character that is cut at its end.
func wholeRunes(b []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return b[:len(b)-n]
			}
			break
		}
	}
	return b
}
