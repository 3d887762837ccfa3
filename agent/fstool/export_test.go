package fstool

import (
	"context"
	"io"
)

// Window is the part of read that knows nothing of files.
func Window(r io.Reader, start, end int64, limit int) (text string, cut, next int64, err error) {
	w := window{start: start, end: end, limit: limit}
	err = w.read(context.Background(), r)
	return string(w.text), w.cutLine, w.next, err
}
