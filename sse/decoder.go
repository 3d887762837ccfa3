package sse

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"math"
	"strconv"
	"time"
)

// How the decoder works. There is one buffer:
//
//	0 ... dataStart..dataEnd ... pos ... end ... len(buf)
//
// buf[dataStart:dataEnd] is the data of the current block so far (if hasData),
// buf[pos:end] is what has been read and not yet taken. A data line is joined
// to the ones before it by moving its value down to dataEnd; this always fits,
// because the field name took more room than the joining LF does. So the data
// of a one-line event is never copied, and there is no second buffer.
//
//	dataStart ≤ dataEnd ≤ pos ≤ end ≤ len(buf)
//	stream offset of buf[i] = base + i    for pos ≤ i < end
//	no LF in buf[pos:lf], no CR in buf[pos:cr]
//
// fill looks for a CR in what it reads, so that cr == end in a stream without
// any, and only LF need be looked for.
//
// next takes lines out of the buffer, fill reads more, room makes room for it,
// finish settles what is left at the end of the stream.

// DefaultMaxEventBytes is the limit of an event where [Options] names none:
// 32 MiB.
const DefaultMaxEventBytes = 32 << 20

const (
	minBuffer     = 1 << 10 // size of the first buffer, bytes: enough for a stream in its own time
	usualBuffer   = 4 << 10 // size once a read has filled it
	minRead       = 512     // least room offered to a Read, bytes
	maxEmptyReads = 100     // empty reads in a row before io.ErrNoProgress
	maxNames      = 64      // event names kept for reuse
	maxNameLen    = 128     // longest event name kept for reuse, bytes
	defaultName   = "message"
	bom           = "\xef\xbb\xbf"
	dataField     = "data:"
	eventField    = "event: "
	maxRetry      = math.MaxInt64 / int64(time.Millisecond) // milliseconds
)

// Kind says what an [Event] stands for.
type Kind uint8

const (
	// KindEvent is an event as the standard defines it: a block with data that
	// a blank line completed.
	KindEvent Kind = iota
	// KindComment is a comment line. It comes only with Options.Comments.
	KindComment
	// KindLine is a line that is neither a comment nor a known field. It comes
	// only with Options.Lines.
	KindLine
	// KindPending is a block with data that the end of the stream cut off
	// before its blank line. It comes only with Options.Pending.
	KindPending
)

// String returns "event", "comment", "line" or "pending".
func (k Kind) String() string {
	switch k {
	case KindEvent:
		return "event"
	case KindComment:
		return "comment"
	case KindLine:
		return "line"
	case KindPending:
		return "pending"
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Event is one thing found in a stream. Which one, Kind says; unless [Options]
// asks for more it is always [KindEvent].
type Event struct {
	Kind Kind

	// Type is the event name, "message" if the block names none. It is empty
	// for a comment and a stray line. Names that repeat share one string.
	Type string

	// Data is the event's data, its lines joined with LF; or the bytes of a
	// comment after its colon, a leading space included; or the whole of a
	// stray line. Line terminators are not part of it. It points into the
	// decoder's buffer and is valid until the next call of Decode or Reset.
	// The bytes are the stream's own, well-formed UTF-8 or not.
	Data []byte

	// ID is the last event ID as it stands with this event: the one the stream
	// set last, in this block or an earlier one. For a comment and a stray line
	// it is the committed one, which an id line of their own block does not yet
	// change. For a pending block it is the one that the block's blank line
	// would have committed.
	ID string

	// Offset is the position in the stream of the first byte of the block, or
	// of the comment or stray line itself. A block begins where the blank line
	// before it ended, so comments at its head belong to it. A byte order mark
	// counts: the first block after one begins at 3.
	Offset int64
}

// Options changes what a [Decoder] hands out. The zero value is the standard's
// answer with the default limit.
type Options struct {
	// MaxEventBytes is the greatest size in bytes of the data of one event, and
	// of one line of any other kind without its terminator (a comment, an
	// unknown field). Exactly the limit passes, one byte more is a
	// [*LimitError]. Zero means [DefaultMaxEventBytes], a negative number no
	// limit. A decoder's memory is at most a small multiple of the limit, and
	// as little as the stream permits.
	MaxEventBytes int

	// Comments hands out each comment line as KindComment when its line ends.
	Comments bool

	// Lines hands out each line whose field name is not data, event, id or
	// retry as KindLine when its line ends, which is before the event of the
	// block that it stands in. At a clean end of the stream a last line without
	// a terminator comes too.
	Lines bool

	// Pending hands out a block that a clean end of the stream cut off as
	// KindPending, once, before io.EOF, if it has a data line. A last line
	// without a terminator counts as a line here. The decoder cannot know
	// whether the block is whole; the caller must.
	Pending bool
}

// LimitError is the error for an event or a line longer than
// Options.MaxEventBytes.
type LimitError struct {
	Limit  int   // the limit in force, bytes
	Offset int64 // where in the stream the block, or the line that alone is too long, begins
}

// Error says where the event begins and what the limit is.
func (e *LimitError) Error() string {
	return "sse: event at offset " + strconv.FormatInt(e.Offset, 10) + " is longer than " + strconv.Itoa(e.Limit) +
		" bytes (raise Options.MaxEventBytes)"
}

var _ error = (*LimitError)(nil)

var errCount = errors.New("sse: reader returned an impossible count")

// What to look for before the next line.
const (
	startLine uint8 = iota // nothing
	startLF                // an LF that belongs to the CR before it
	startBOM               // a byte order mark
)

// A Decoder reads events from a stream. It reads ahead as far as its buffer and
// the reader allow, but hands out what it has before it reads again. It must
// not be used by several goroutines at once.
type Decoder struct {
	r    io.Reader
	opts Options // MaxEventBytes resolved: never 0, math.MaxInt for no limit
	err  error   // what Decode returns from now on
	rerr error   // what the reader returned, due once the buffer is used up

	buf                []byte
	pos, end           int
	lf, cr             int
	dataStart, dataEnd int
	base               int64
	start              uint8
	full               bool // the last read filled the buffer

	hasData bool   // the block has a data line
	name    string // event name of the block, "" for none
	id      string // last event ID as the block set it
	lastID  string // last event ID as a blank line committed it
	block   int64  // where the block begins
	offset  int64  // where what was handed out last ends

	retry    time.Duration
	hasRetry bool

	lastName  string   // event name seen last
	names     []string // event names seen, at most maxNames
	nameBytes []byte   // where the last of them stand
}

// NewDecoder returns a decoder that reads from r. No opts, or a nil pointer,
// mean the zero Options; they are copied. Nothing is read and no buffer is
// allocated before the first Decode.
func NewDecoder(r io.Reader, opts *Options) *Decoder {
	d := &Decoder{}
	if opts != nil {
		d.opts = *opts
	}
	switch limit := d.opts.MaxEventBytes; {
	case limit == 0:
		d.opts.MaxEventBytes = DefaultMaxEventBytes
	case limit < 0:
		d.opts.MaxEventBytes = math.MaxInt
	}
	d.Reset(r)
	return d
}

// Reset makes d decode a new stream from r, with the same options. It forgets
// everything about the stream before, the last event ID and the reconnection
// time included, and keeps the buffer, so that a reused decoder does not
// allocate. It invalidates the Data of the last event.
func (d *Decoder) Reset(r io.Reader) {
	*d = Decoder{
		r: r, opts: d.opts, start: startBOM,
		buf: d.buf, lastName: d.lastName, names: d.names, nameBytes: d.nameBytes,
	}
}

// LastEventID returns the last event ID that a blank line committed: what a
// client that reconnects sends in the Last-Event-ID header. It is empty if the
// stream set none.
func (d *Decoder) LastEventID() string { return d.lastID }

// Retry returns the reconnection time that the stream set last, and whether it
// set one. A retry line counts as soon as Decode has passed it.
func (d *Decoder) Retry() (time.Duration, bool) { return d.retry, d.hasRetry }

// Offset returns how many bytes of the stream it took to complete what was
// handed out so far: the position just behind the byte that completed the last
// event, comment or stray line. If that byte is the CR of a CRLF, the position
// is between the two. Bytes that were read ahead do not count.
func (d *Decoder) Offset() int64 { return d.offset }

// All returns the events that remain as a sequence. It ends silently at the
// end of the stream; any other error is yielded once, last, with a nil event.
// The event is the same variable each time and its Data is valid until the next
// step. After a break, the sequence or Decode continue with the next event.
func (d *Decoder) All() iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		var ev Event
		for {
			switch err := d.Decode(&ev); {
			case err == io.EOF:
				return
			case err != nil:
				yield(nil, err)
				return
			case !yield(&ev, nil):
				return
			}
		}
	}
}

// Decode reads the next event into ev, all of whose fields it sets. It returns
// io.EOF at the clean end of the stream, a [*LimitError] for an event over the
// limit, [io.ErrNoProgress] if the reader keeps returning nothing without an
// error, and otherwise the reader's own error as it is, after every event
// completed before it. After an error ev is zero, and every further call
// returns the same error.
func (d *Decoder) Decode(ev *Event) error {
	for d.err == nil {
		if d.next(ev) {
			return nil
		}
		switch {
		case d.err != nil:
		case d.rerr == nil:
			d.fill()
		case d.rerr != io.EOF:
			d.err = d.rerr
		case d.finish(ev):
			return nil
		}
	}
	*ev = Event{}
	return d.err
}

// next takes lines from the buffer until one of them completes something to
// hand out, which it puts into ev, or until the buffer holds no whole line.
func (d *Decoder) next(ev *Event) bool {
	if d.start != startLine && !d.atStart() {
		return false
	}
	buf, pos := d.buf[:d.end], d.pos
	for pos < len(buf) {
		c := buf[pos]
		switch c {
		case '\n', '\r':
			// A blank line ends the block. It commits the id even if there is
			// nothing to dispatch.
			d.lastID = d.id
			name, block, dispatch := d.name, d.block, d.hasData
			end := d.base + int64(pos) + 1
			pos = d.skipEOL(buf, pos)
			d.name, d.block, d.hasData = "", d.base+int64(pos), false
			if !dispatch {
				continue
			}
			d.pos, d.offset = pos, end
			if name == "" {
				name = defaultName
			}
			ev.Kind = KindEvent
			ev.Type = name
			ev.Data = buf[d.dataStart:d.dataEnd:d.dataEnd]
			ev.ID = d.lastID
			ev.Offset = block
			return true
		case 'e':
			// Streams tend to name the same event over and over.
			if eol := pos + len(eventField) + len(d.lastName); eol < len(buf) &&
				(buf[eol] == '\n' || buf[eol] == '\r') &&
				string(buf[pos:pos+len(eventField)]) == eventField &&
				string(buf[pos+len(eventField):eol]) == d.lastName &&
				eol-pos <= d.opts.MaxEventBytes {
				d.name = d.lastName
				pos = d.skipEOL(buf, eol)
				continue
			}
		}

		eol := d.findEOL(buf, pos)
		if eol-pos > d.opts.MaxEventBytes && d.lineSize(buf[pos:eol], eol < len(buf)) > d.opts.MaxEventBytes {
			d.pos = pos
			d.limit(d.base + int64(pos))
			return false
		}
		if eol == len(buf) {
			break
		}
		line := pos
		pos = d.skipEOL(buf, eol)
		switch {
		case c == 'd' && eol-line >= len(dataField) && string(buf[line:line+len(dataField)]) == dataField:
			v := line + len(dataField)
			if v < eol && buf[v] == ' ' {
				v++
			}
			if !d.hasData {
				d.dataStart, d.dataEnd, d.hasData = v, eol, true
			} else if !d.join(buf, v, eol) {
				d.pos = pos
				return false
			}
		case c == ':':
			if d.opts.Comments {
				d.pos = pos
				d.handOut(ev, KindComment, buf, line, line+1, eol)
				return true
			}
		default:
			if known := d.field(buf, line, eol); d.err != nil {
				d.pos = pos
				return false
			} else if !known && d.opts.Lines {
				d.pos = pos
				d.handOut(ev, KindLine, buf, line, line, eol)
				return true
			}
		}
	}
	d.pos = pos
	return false
}

// finish hands out what Options asks for at the clean end of the stream, one
// thing at a time, and then sets io.EOF.
func (d *Decoder) finish(ev *Event) bool {
	buf, line := d.buf[:d.end], d.pos
	if line < len(buf) && buf[line] != ':' && (d.opts.Lines || d.opts.Pending) {
		d.pos = len(buf)
		if d.lineSize(buf[line:], true) > d.opts.MaxEventBytes {
			d.limit(d.base + int64(line))
			return false
		}
		retry, hasRetry := d.retry, d.hasRetry
		known := d.field(buf, line, len(buf))
		d.retry, d.hasRetry = retry, hasRetry // the line never ended
		if d.err != nil && d.opts.Pending {
			return false
		}
		if !known && d.opts.Lines {
			d.handOut(ev, KindLine, buf, line, line, len(buf))
			return true
		}
	}
	if d.hasData && d.opts.Pending {
		d.hasData = false
		name := d.name
		if name == "" {
			name = defaultName
		}
		*ev = Event{
			Kind: KindPending, Type: name, Data: buf[d.dataStart:d.dataEnd:d.dataEnd],
			ID: d.id, Offset: d.block,
		}
		d.offset = d.base + int64(d.end)
		return true
	}
	d.err = io.EOF
	return false
}

// fill reads once, or again as long as the reader returns nothing at all. What
// error it got goes to d.rerr, because bytes that came with it count first.
func (d *Decoder) fill() {
	d.room()
	for range maxEmptyReads {
		n, err := d.r.Read(d.buf[d.end:])
		d.full = n == len(d.buf)-d.end
		if n < 0 || n > len(d.buf)-d.end {
			d.err = errCount
			return
		}
		if n > 0 {
			if max(d.cr, d.pos) == d.end { // else a CR further ahead is known
				if i := bytes.IndexByte(d.buf[d.end:d.end+n], '\r'); i >= 0 {
					d.cr = d.end + i
				} else {
					d.cr = d.end + n
				}
			}
			d.end += n
		}
		d.rerr = err
		if n > 0 || err != nil {
			return
		}
	}
	d.err = io.ErrNoProgress
}

// room sees to it that there is room behind end, in the cheapest way: nothing
// if there is some, moving what must be kept to the front if it is not much,
// a buffer of twice the size otherwise. So each byte is moved a bounded number
// of times.
func (d *Decoder) room() {
	held := 0
	if d.hasData {
		held = d.dataEnd - d.dataStart
	}
	keep := held + d.end - d.pos
	if keep > 0 && len(d.buf)-d.end >= minRead {
		return
	}
	buf := d.buf
	if buf == nil {
		buf = make([]byte, minBuffer)
	} else if d.full && len(buf) < usualBuffer {
		buf = make([]byte, usualBuffer) // bytes come faster than they are read
	} else if keep > len(buf)/2 {
		// No more than data and a line of the greatest size can be needed.
		most := math.MaxInt
		if limit := d.opts.MaxEventBytes; limit < (math.MaxInt-minBuffer)/2 {
			most = 2*limit + minBuffer
		}
		if size := min(2*len(buf), most); size > len(buf) {
			buf = make([]byte, size)
		}
	}
	if d.hasData {
		copy(buf, d.buf[d.dataStart:d.dataEnd])
		d.dataStart, d.dataEnd = 0, held
	}
	copy(buf[held:], d.buf[d.pos:d.end])
	shift := d.pos - held
	d.base += int64(shift)
	d.pos -= shift
	d.end -= shift
	d.lf -= shift
	d.cr -= shift
	d.buf = buf
}
