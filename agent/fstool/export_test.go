package fstool

import (
	"context"
	"io"
	"os"

	"github.com/handwire/handwire/wire"
)

// Open is open: want is called between its look at the name and the opening.
var Open = open

// Missing is what is said of a name that was not there a moment ago.
var Missing = missing

// ReadOpen is the part of read that comes after the opening.
func ReadOpen(ctx context.Context, root *os.Root, f *os.File) ([]wire.Part, error) {
	return readOpen(ctx, root, f, &window{start: 1, end: 1, limit: 1}, readArgs{Path: f.Name()})
}

// Window is the part of read that knows nothing of files.
func Window(r io.Reader, start, end int64, limit int) (text string, cut, next int64, err error) {
	w := window{start: start, end: end, limit: limit}
	err = w.read(context.Background(), r)
	return string(w.text), w.cutLine, w.next, err
}
