package stream

import (
	"bytes"
	"io"

	"github.com/handwire/handwire/wire/internal/jsonw"
)

// lines reads one JSON value a line. A last line without its line end counts,
// blank lines do not.
func (r *reader) lines(body io.Reader) error {
	var (
		buf     []byte
		start   int   // of the current line in buf
		scanned int   // there is no line end in buf[start:scanned]
		offset  int64 // of buf[0] in the body
		readErr error
		empty   int // reads in a row that gave nothing
	)
	for {
		for {
			i := bytes.IndexByte(buf[scanned:], '\n')
			if i < 0 {
				scanned = len(buf)
				break
			}
			end := scanned + i
			if err := r.oneLine(buf[start:end], offset+int64(start)); err != nil || r.done {
				return err
			}
			start, scanned = end+1, end+1
		}
		switch {
		case r.limit > 0 && len(bytes.TrimSuffix(buf[start:], []byte{'\r'})) > r.limit:
			return limitError(r.limit, offset+int64(start), nil)
		case readErr == io.EOF:
			last := buf[start:]
			if p := jsonw.CheckBytes(last); p != nil && p.Offset >= len(last) {
				return nil // a line that was cut, or nothing; the decoder's End says truncated
			}
			return r.oneLine(last, offset+int64(start))
		case readErr != nil:
			return readErr
		}
		if len(buf) == cap(buf) {
			old := buf
			if len(buf)-start > cap(buf)/2 || buf == nil {
				buf = make([]byte, 0, max(4096, 2*cap(buf)))
			}
			buf = append(buf[:0], old[start:]...)
			offset += int64(start)
			scanned -= start
			start = 0
		}
		var n int
		n, readErr = body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if empty++; n > 0 {
			empty = 0
		} else if readErr == nil && empty >= maxEmptyReads {
			readErr = io.ErrNoProgress
		}
	}
}

func (r *reader) oneLine(line []byte, offset int64) error {
	if offset == 0 {
		line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	}
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if r.limit > 0 && len(line) > r.limit {
		return limitError(r.limit, offset, nil)
	}
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil
	}
	return r.block("", line)
}
