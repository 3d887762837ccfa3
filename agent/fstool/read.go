package fstool

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/wire"
)

// MaxReadBytes is how many bytes of a file one call of read returns at most.
const MaxReadBytes = 256 << 10

// MaxImageBytes is the size in bytes of the largest image that read returns.
// Vendors take images up to about 5 MB in base64.
const MaxImageBytes = 3_750_000

// headBytes is how much of a file's beginning is looked at to tell text from
// other things.
const headBytes = 8 << 10

const readSchema = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"The file, relative to the working folder, for example docs/notes.txt"},` +
	`"start_line":{"type":"integer","description":"The first line to return, counted from 1. Left out: from the beginning."},` +
	`"end_line":{"type":"integer","description":"The last line to return, which is included. Left out: to the end."}` +
	`},"required":["path"],"additionalProperties":false}`

type readArgs struct {
	Path      string `json:"path"`
	StartLine *int64 `json:"start_line"`
	EndLine   *int64 `json:"end_line"`
}

// Read returns the tool read, which returns a text file or a range of its lines,
// or an image (PNG, JPEG, GIF, WebP, told by its bytes) of at most
// [MaxImageBytes] as a media part, after a text part in brackets that names its
// type and size. An image has no range of lines.
//
// A line ends with a line feed, which belongs to it; the last one may have none.
//
// The result holds the exact bytes of the lines as a text part of its own,
// without line numbers, so that what the model quotes is what the file holds.
// What the tool has to say stands in brackets in a second part: that the limit
// of [MaxReadBytes] was reached, and the start_line with which to go on; that a
// line is longer than that, and so was cut at the end of a character; that the
// file is empty. Only whole lines are returned where there is more than one.
//
// Any other file is refused if its first 8 KiB or the lines wanted hold a NUL
// byte or are not UTF-8; so is whatever is not a regular file. The memory of a call does
// not depend on the size of the file, the time is linear in the bytes up to the
// last line wanted.
func Read(root *os.Root) agent.Tool {
	return agent.Tool{
		Tool: wire.Tool{
			Name:        "read",
			Description: "Returns the text of a file, or a range of its lines, exactly as it is; of an image, the image. Long text is cut, with a word on how to go on.",
			Schema:      readSchema,
		},
		Run: func(ctx context.Context, args string) ([]wire.Part, error) {
			in, err := agent.Args[readArgs](args)
			if err != nil {
				return nil, err
			}
			return read(ctx, root, in)
		},
	}
}

func read(ctx context.Context, root *os.Root, in readArgs) ([]wire.Part, error) {
	if in.Path == "" {
		return nil, errors.New("the argument \"path\" is missing")
	}
	w := window{start: 1, end: 1<<63 - 1, limit: MaxReadBytes}
	if in.StartLine != nil {
		if w.start = *in.StartLine; w.start < 1 {
			return nil, fmt.Errorf("start_line is %d, but lines are counted from 1", w.start)
		}
	}
	if in.EndLine != nil {
		if w.end = *in.EndLine; w.end < w.start {
			return nil, fmt.Errorf("end_line is %d, which is before line %d, the first one wanted", w.end, w.start)
		}
	}
	f, err := openFile(root, in.Path)
	if err != nil {
		return nil, err
	}
	return readOpen(ctx, root, f, &w, in)
}

// readOpen reads what the open file f holds, and closes it.
func readOpen(ctx context.Context, root *os.Root, f *os.File, w *window, in readArgs) ([]wire.Part, error) {
	defer f.Close()
	defer context.AfterFunc(ctx, func() { f.Close() })()
	b := bufio.NewReaderSize(f, 64<<10)
	img, err := readImage(ctx, b)
	if err == nil && img == nil {
		err = w.read(ctx, b)
	}
	var odd *notText
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &odd):
		return nil, fmt.Errorf("%s is not a text file: %w", quoted(in.Path), odd.why)
	case err != nil:
		return nil, explain(root, in.Path, err)
	case img == nil:
	case in.StartLine != nil || in.EndLine != nil:
		return nil, fmt.Errorf("%s is an image, which has no lines: leave start_line and end_line out", quoted(in.Path))
	case len(img) > MaxImageBytes:
		return nil, fmt.Errorf("%s is an image of more than %d bytes, which is too large to be shown", quoted(in.Path), MaxImageBytes)
	default:
		part := wire.ImagePart(img)
		return []wire.Part{wire.TextPart(fmt.Sprintf("[%s, %d bytes]", part.Media.Type, len(img))), part}, nil
	}
	switch {
	case w.lines == 0 && w.start == 1:
		return []wire.Part{wire.TextPart("[the file is empty]")}, nil
	case w.lines < w.start:
		return nil, fmt.Errorf("start_line is %d, but the number of lines of %s is %d", w.start, quoted(in.Path), w.lines)
	}
	parts := []wire.Part{wire.TextPart(string(w.text))}
	note := ""
	if w.cutLine > 0 {
		note = fmt.Sprintf("line %d has %d bytes, only the first %d of which are here", w.start, w.cutLine, len(w.text))
	}
	if w.next > 0 {
		if note == "" {
			note = fmt.Sprintf("cut after line %d at the limit of %d bytes", w.next-1, w.limit)
		}
		note += fmt.Sprintf("; to go on, use start_line %d", w.next)
	}
	if note != "" {
		parts = append(parts, wire.TextPart("["+note+"]"))
	}
	return parts, nil
}

// readImage returns the bytes of an image, one more than [MaxImageBytes] at the
// most. Of any other file it returns nil, and takes nothing from b. What begins
// like an image but is text is text.
func readImage(ctx context.Context, b *bufio.Reader) ([]byte, error) {
	head, err := peek(b)
	if err != nil {
		return nil, err
	}
	if wire.SniffImage(head) == "" || checkText(head, 0) == nil {
		return nil, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(b, MaxImageBytes+1))
}

// peek returns the beginning of a file, without a character that is cut.
func peek(b *bufio.Reader) ([]byte, error) {
	head, err := b.Peek(headBytes)
	switch err {
	case nil:
		return wholeRunes(head), nil
	case io.EOF:
		return head, nil
	}
	return nil, err
}

// openFile opens a regular file, and says for the model why it cannot.
func openFile(root *os.Root, name string) (*os.File, error) {
	if err := local(name); err != nil {
		return nil, err
	}
	var refused error
	f, err := open(root, name, func(info fs.FileInfo) error {
		switch {
		case info.IsDir():
			refused = fmt.Errorf("%s is a folder: use ls", quoted(name))
		case !info.Mode().IsRegular():
			refused = fmt.Errorf("%s is not a regular file but a device, a pipe or the like, which cannot be read here", quoted(name))
		}
		return refused
	})
	switch {
	case refused != nil:
		return nil, refused
	case err != nil:
		return nil, explain(root, name, err)
	}
	return f, nil
}

// notText says why a file is not text.
type notText struct{ why error }

func (e *notText) Error() string { return e.why.Error() }

// window reads the lines from start to end of a file.
type window struct {
	start, end int64
	limit      int // bytes

	text    []byte
	lines   int64 // lines seen; all of the file if start was not reached
	cutLine int64 // the bytes of line start, if it was cut
	next    int64 // the first line wanted that is not in text, 0 if all are
}

func (w *window) read(ctx context.Context, r io.Reader) error {
	b := bufio.NewReaderSize(r, 64<<10)
	head, err := peek(b)
	if err != nil {
		return err
	}
	if err := checkText(head, 0); err != nil {
		return &notText{err}
	}

	var offset, textAt, length int64 // of the chunk, of text, of the line so far
	begin := 0                       // where the line begins in text
	over := false                    // line start is longer than the limit
	fresh := true                    // a line begins
	for err = nil; err == nil; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var chunk []byte
		chunk, err = b.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			err = nil
		}
		if len(chunk) == 0 {
			break
		}
		if fresh {
			if w.lines == w.end {
				break
			}
			w.lines++
			if over {
				w.next = w.lines
				break
			}
			begin, length = len(w.text), 0
			if w.lines == w.start {
				textAt = offset
			}
		}
		fresh = chunk[len(chunk)-1] == '\n'
		offset += int64(len(chunk))
		length += int64(len(chunk))
		switch {
		case w.lines < w.start:
		case over:
			w.cutLine = length
		case len(w.text)+len(chunk) <= w.limit:
			w.text = append(w.text, chunk...)
		case begin > 0:
			w.text, w.next = w.text[:begin], w.lines
		default:
			w.text = wholeRunes(append(w.text, chunk[:w.limit-len(w.text)]...))
			w.cutLine, over = length, true
		}
		if w.next > 0 {
			break
		}
	}
	if err != nil && err != io.EOF {
		return err
	}
	if err := checkText(w.text, textAt); err != nil {
		return &notText{err}
	}
	return nil
}
