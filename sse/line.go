package sse

import (
	"bytes"
	"time"
	"unsafe"
)

// Lines and fields: what the decoder does with the bytes that it holds. Nothing
// here reads or moves the buffer as a whole.

// atStart deals with a byte order mark and with the LF of a CRLF that was cut
// after its CR. It reports whether a line can begin; if not, it takes more
// bytes to tell.
func (d *Decoder) atStart() bool {
	b := d.buf[d.pos:d.end]
	switch d.start {
	case startBOM:
		if len(b) < len(bom) && string(b) == bom[:len(b)] {
			return false
		}
		if bytes.HasPrefix(b, []byte(bom)) {
			d.pos += len(bom)
			d.block = int64(len(bom))
		}
	case startLF:
		if len(b) == 0 {
			return false
		}
		if b[0] == '\n' {
			if d.block == d.base+int64(d.pos) {
				d.block++ // the LF belongs to the blank line before the block
			}
			d.pos++
		}
	}
	d.start = startLine
	return true
}

// skipEOL returns the position behind the line terminator that begins at eol.
// For a CR at the end of buf it notes that an LF may follow.
func (d *Decoder) skipEOL(buf []byte, eol int) int {
	if buf[eol] == '\r' {
		if eol+1 == len(buf) {
			d.start = startLF
		} else if buf[eol+1] == '\n' {
			return eol + 2
		}
	}
	return eol + 1
}

// findEOL returns the position of the first terminator in buf[pos:], len(buf)
// if it holds none.
func (d *Decoder) findEOL(buf []byte, pos int) int {
	// In a mixed stream each search may reach past the line. Its result is kept
	// in d.lf and d.cr, so that no byte is searched twice for the same thing.
	lf := max(pos, d.lf)
	if i := bytes.IndexByte(buf[lf:], '\n'); i >= 0 {
		lf += i
	} else {
		lf = len(buf)
	}
	d.lf = lf
	if d.cr >= lf {
		return lf
	}
	cr := max(pos, d.cr)
	if i := bytes.IndexByte(buf[cr:lf], '\r'); i >= 0 {
		d.cr = cr + i
	} else {
		d.cr = lf
	}
	return d.cr
}

// field takes the line buf[line:eol], which is no comment, and reports whether
// its field is a known one.
func (d *Decoder) field(buf []byte, line, eol int) bool {
	const longest = len("retry:")
	name, v := buf[line:eol], eol
	if i := bytes.IndexByte(name[:min(len(name), longest)], ':'); i >= 0 {
		name, v = name[:i], line+i+1
		if v < eol && buf[v] == ' ' {
			v++
		}
	}
	switch string(name) {
	case "data":
		if !d.hasData {
			d.dataStart, d.dataEnd, d.hasData = v, eol, true
		} else {
			d.join(buf, v, eol)
		}
	case "event":
		d.name = d.intern(buf[v:eol])
	case "id":
		if value := buf[v:eol]; string(value) != d.id && bytes.IndexByte(value, 0) < 0 {
			d.id = string(value)
		}
	case "retry":
		d.setRetry(buf[v:eol])
	default:
		return false
	}
	return true
}

// join appends the line buf[v:eol] to the data of the block. It reports false
// if that takes the event over the limit.
func (d *Decoder) join(buf []byte, v, eol int) bool {
	if d.dataEnd-d.dataStart+1+eol-v > d.opts.MaxEventBytes {
		d.limit(d.block)
		return false
	}
	buf[d.dataEnd] = '\n'
	d.dataEnd += 1 + copy(buf[d.dataEnd+1:], buf[v:eol])
	return true
}

// intern returns b as a string, the same one for the same bytes where it can.
// What it keeps is bounded: a stream cannot make it grow without end.
func (d *Decoder) intern(b []byte) string {
	if string(b) == d.lastName {
		return d.lastName
	}
	if len(b) > maxNameLen {
		return string(b)
	}
	for _, name := range d.names {
		if name == string(b) {
			d.lastName = name
			return name
		}
	}
	if len(d.names) == maxNames {
		d.lastName = string(b)
		return d.lastName
	}
	if d.names == nil {
		d.names = make([]string, 0, 8)
	}
	// The names share memory, which is appended to and never changed.
	n := len(d.nameBytes)
	if cap(d.nameBytes)-n < len(b) {
		d.nameBytes, n = make([]byte, 0, 2*maxNameLen), 0
	}
	d.nameBytes = append(d.nameBytes, b...)
	d.lastName = unsafe.String(unsafe.SliceData(d.nameBytes[n:]), len(b))
	d.names = append(d.names, d.lastName)
	return d.lastName
}

// setRetry takes the value of a retry field: ASCII digits, or it is ignored.
func (d *Decoder) setRetry(value []byte) {
	if len(value) == 0 {
		return
	}
	var ms int64
	for _, c := range value {
		if c < '0' || c > '9' {
			return
		}
		if ms > maxRetry/10 {
			ms = maxRetry
			continue // the rest must still be digits
		}
		ms = min(ms*10+int64(c-'0'), maxRetry)
	}
	d.retry, d.hasRetry = time.Duration(ms)*time.Millisecond, true
}

// handOut puts a comment or a stray line into ev: the line is buf[line:eol],
// what is handed out of it begins at from.
func (d *Decoder) handOut(ev *Event, kind Kind, buf []byte, line, from, eol int) {
	*ev = Event{Kind: kind, Data: buf[from:eol:eol], ID: d.lastID, Offset: d.base + int64(line)}
	d.offset = d.base + int64(min(eol+1, d.end))
}

// limit makes Decode return a LimitError for what begins at offset.
func (d *Decoder) limit(offset int64) {
	d.err = &LimitError{Limit: d.opts.MaxEventBytes, Offset: offset}
}

// lineSize returns how many bytes of a line count against the limit: the value
// of a data line, the whole of any other. Of a line that is not complete yet
// nothing counts while it may still become a data line.
func (d *Decoder) lineSize(line []byte, complete bool) int {
	if bytes.HasPrefix(line, []byte(dataField)) {
		return len(bytes.TrimPrefix(line[len(dataField):], []byte{' '}))
	}
	const name = "data"
	if string(line) == name || !complete && len(line) < len(name) && string(line) == name[:len(line)] {
		return 0
	}
	return len(line)
}
