package fstool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/wire"
)

// MaxEntries is how many entries of a folder one call of ls lists at most.
const MaxEntries = 1000

const lsSchema = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"The folder, relative to the working folder. Left out: the working folder itself."}` +
	`},"additionalProperties":false}`

type lsArgs struct {
	Path string `json:"path"`
}

// Ls returns the tool ls, which lists a folder: one line for each entry, sorted
// by the bytes of the names. A folder's name ends with a slash; a regular file's
// is followed by a tab and its size in bytes, anything else by a tab and what it
// is. A symbolic link is listed as what it leads to, if that is inside the root.
// A name with characters that cannot be shown, and one that begins with a
// quotation mark, is quoted as in Go.
//
// At most [MaxEntries] are listed, the first ones; a second part in brackets
// then says how many there are. An empty folder gives a note in brackets too.
func Ls(root *os.Root) agent.Tool {
	return agent.Tool{
		Tool: wire.Tool{
			Name:        "ls",
			Description: "Lists a folder: names, sizes of files in bytes, and a slash after the names of folders.",
			Schema:      lsSchema,
		},
		Run: func(ctx context.Context, args string) ([]wire.Part, error) {
			in, err := agent.Args[lsArgs](args)
			if err != nil {
				return nil, err
			}
			return ls(ctx, root, in)
		},
	}
}

func ls(ctx context.Context, root *os.Root, in lsArgs) ([]wire.Part, error) {
	name := in.Path
	if name == "" {
		name = "."
	}
	if err := local(name); err != nil {
		return nil, err
	}
	f, err := openDir(root, name)
	switch {
	case errors.Is(err, errNotDir):
		return nil, fmt.Errorf("%s is not a folder: use read for files", quoted(name))
	case err != nil:
		return nil, explain(root, name, err)
	}
	defer f.Close()
	defer context.AfterFunc(ctx, func() { f.Close() })()

	// Of a large folder only the first names are kept.
	var names []string
	total := 0
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		more, err := f.Readdirnames(MaxEntries)
		total += len(more)
		names = append(names, more...)
		slices.Sort(names)
		names = names[:min(len(names), MaxEntries)]
		if err == io.EOF {
			break
		}
		if err != nil {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return nil, explain(root, name, err)
		}
	}
	if total == 0 {
		return []wire.Part{wire.TextPart("[the folder is empty]")}, nil
	}
	var b strings.Builder
	for _, n := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b.WriteString(shown(n))
		b.WriteString(kind(root, path.Join(name, n)))
		b.WriteByte('\n')
	}
	parts := []wire.Part{wire.TextPart(b.String())}
	if total > len(names) {
		parts = append(parts, wire.TextPart(fmt.Sprintf("[the first %d of %d entries]", len(names), total)))
	}
	return parts, nil
}

// kind is what follows the name of an entry.
func kind(root *os.Root, name string) string {
	info, err := root.Stat(name)
	if err != nil {
		if info, err = root.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "\tlink that cannot be followed"
		}
		return "\tunknown"
	}
	switch {
	case info.IsDir():
		return "/"
	case info.Mode().IsRegular():
		return "\t" + strconv.FormatInt(info.Size(), 10)
	}
	return "\tnot a regular file"
}

// shown is a name as it can stand on one line. What begins with a quotation mark
// is quoted.
func shown(name string) string {
	if strings.HasPrefix(name, `"`) || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}
