// Package stream joins framing and codec: it reads a response body, cuts it into
// blocks, and gives the events that a [wire.Decoder] makes of them. It knows no
// network; the client of package provider, recordings and programs that bring
// their own transport share it.
package stream

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/handwire/handwire/sse"
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// DefaultMaxBlockBytes is the default of [Options.MaxBlockBytes], 32 MiB.
const DefaultMaxBlockBytes = sse.DefaultMaxEventBytes

// Options are the limits of [Read]. Nil and the zero value are the defaults.
type Options struct {
	// MaxBlockBytes limits one event, line or whole document, in bytes. Zero
	// is [DefaultMaxBlockBytes], a negative number is no limit. A larger block
	// ends the stream with cause limit.
	MaxBlockBytes int
}

// Read returns the events of one response body. It reads from body no more than
// it needs, and hands an event out as soon as its block is complete. It can be
// ranged over once; a second time it gives an end of cause config, and so does a
// framing that is not sse, lines or whole; empty is sse. Leaving the loop stops
// reading; closing the body is the caller's business.
//
// The last pair holds the end event: with a nil error if the stream finished,
// else with the *[wire.Error] that says what cut it off. An error of body that
// is, or wraps, a *wire.Error is passed on as it is; any other is cause reset.
//
// Of server-sent events it also reads what servers send past the standard: a
// last block without its blank line, if its data is one whole JSON value or
// [DONE], and JSON that stands between the events without a field name, as
// errors of some servers do. Anything else of that kind becomes a note.
func Read(body io.Reader, dec wire.Decoder, framing wire.Framing, opts *Options) iter.Seq2[wire.Event, error] {
	ranged := false
	return func(yield func(wire.Event, error) bool) {
		if ranged {
			e := &wire.Error{Cause: wire.CauseConfig, Message: "the stream was ranged over before, and a body can be read once"}
			yield(wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: e.Cause, Err: e}}, e)
			return
		}
		ranged = true
		r := reader{dec: dec, yield: yield, limit: DefaultMaxBlockBytes}
		r.evs = r.few[:0]
		if opts != nil && opts.MaxBlockBytes != 0 {
			r.limit = opts.MaxBlockBytes
		}
		var cause error
		switch framing {
		case wire.FramingSSE, "":
			cause = r.sse(body)
		case wire.FramingLines:
			cause = r.lines(body)
		case wire.FramingWhole:
			cause = r.whole(body)
		default:
			cause = &wire.Error{Cause: wire.CauseConfig, Message: "no reader for the framing " + string(framing)}
		}
		r.end(cause)
	}
}

// reader is one run of Read. Its methods return at the end of the body: nil for
// a clean end, else what cut the stream off. After done nothing more is yielded.
type reader struct {
	dec   wire.Decoder
	yield func(wire.Event, error) bool
	limit int
	evs   []wire.Event
	few   [2]wire.Event // where evs begins
	done  bool          // the end event was handed out, or the caller left

	blocks int    // that were decoded
	alien  string // the beginning of the first line that was no field

	stray struct { // JSON between the events
		buf    []byte
		json   wire.PartialJSON
		offset int64 // of its first line in the body
		notes  int
	}
}

// maxStrayNotes bounds the notes on stray lines of one stream.
const maxStrayNotes = 8

// block decodes one block and hands its events out. It returns the decoder's
// error, which is of cause protocol_error if it has none of its own.
func (r *reader) block(name string, data []byte) error {
	r.blocks++
	var err error
	if r.evs, err = r.dec.Decode(r.evs[:0], name, data); err != nil {
		err = wire.AsError(err, wire.CauseProtocol)
	}
	r.emit()
	return err
}

func (r *reader) end(cause error) {
	if r.done {
		return
	}
	if cause != nil {
		cause = asError(cause)
	}
	r.evs, _ = r.dec.End(r.evs[:0], cause)
	r.emit()
}

func asError(err error) error {
	if le, ok := errors.AsType[*sse.LimitError](err); ok {
		return limitError(le.Limit, le.Offset, err)
	}
	return wire.AsError(err, wire.CauseReset)
}

func limitError(limit int, offset int64, err error) *wire.Error {
	return &wire.Error{Cause: wire.CauseLimit, Err: err,
		Message: "a block of the response, which begins at byte " + strconv.FormatInt(offset, 10) +
			", is larger than the limit of " + strconv.Itoa(limit) + " bytes",
		Hint: "raise MaxBlockBytes if the server is to be trusted"}
}

// emit hands r.evs out.
func (r *reader) emit() {
	for i := range r.evs {
		if r.done {
			return
		}
		ev := &r.evs[i]
		var err error
		if ev.Kind == wire.EventEnd {
			r.done = true
			if ev.End != nil && ev.End.Err != nil {
				err = ev.End.Err
			}
		}
		if !r.yield(*ev, err) {
			r.done = true
		}
	}
}

func (r *reader) note(detail string) {
	r.evs = append(r.evs[:0], wire.Event{Kind: wire.EventNote,
		Note: &wire.Note{Code: wire.NoteOdd, Path: "framing", Detail: detail}})
	r.emit()
}

func (r *reader) sse(body io.Reader) error {
	d := sse.NewDecoder(body, &sse.Options{MaxEventBytes: r.limit, Lines: true, Pending: true})
	var ev sse.Event
	for !r.done {
		if err := d.Decode(&ev); err == io.EOF {
			r.flushStray()
			if r.blocks == 0 && r.alien != "" {
				return &wire.Error{Cause: wire.CauseProtocol, Message: "the body is no stream of events", Body: r.alien}
			}
			return nil
		} else if err != nil {
			return err
		}
		switch ev.Kind {
		case sse.KindEvent:
			r.flushStray()
			if err := r.block(ev.Type, ev.Data); err != nil {
				return err
			}
		case sse.KindPending:
			r.flushStray()
			if string(ev.Data) == "[DONE]" || jsonw.ValidBytes(ev.Data) {
				if err := r.block(ev.Type, ev.Data); err != nil {
					return err
				}
			} else if !r.done {
				r.note("the body ends within an event, after " + strconv.Itoa(len(ev.Data)) + " bytes of its data")
			}
		case sse.KindLine:
			cut := d.Offset() == ev.Offset+int64(len(ev.Data))
			if err := r.line(ev.Data, ev.Offset, cut); err != nil {
				return err
			}
		}
	}
	return nil
}

// line takes a line that is no field. Lines that add up to a JSON object or
// array are offered to the codec as a block without a name.
func (r *reader) line(line []byte, offset int64, cut bool) error {
	s := &r.stray
	if len(s.buf) == 0 && !opensJSON(line) {
		if !cut || !beginsField(line) {
			r.strayNote(line)
		}
		return nil
	}
	before := len(s.buf)
	if before == 0 {
		s.offset = offset
	}
	if r.limit > 0 && before+len(line) > r.limit {
		return limitError(r.limit, s.offset, nil)
	}
	s.buf = append(append(s.buf, line...), '\n')
	s.json.Write(string(line))
	s.json.Write("\n")
	if s.json.Err() != nil {
		if before == 0 {
			r.flushStray()
			return nil
		}
		s.buf = s.buf[:before] // the line may begin a value of its own
		r.flushStray()
		return r.line(line, offset, cut)
	}
	if !s.json.Complete() {
		return nil
	}
	err := r.block("", s.buf[:len(s.buf)-1])
	s.buf = s.buf[:0]
	s.json.Reset()
	return err
}

// opensJSON reports whether line begins as a JSON object or array.
func opensJSON(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return len(line) > 0 && (line[0] == '{' || line[0] == '[')
}

// beginsField reports whether line is the beginning of a field's name: what is
// left of a line where a stream was cut.
func beginsField(line []byte) bool {
	for _, name := range [...]string{"data", "event", "id", "retry"} {
		if strings.HasPrefix(name, string(line)) {
			return true
		}
	}
	return false
}

// flushStray gives up on stray lines that came to no JSON value.
func (r *reader) flushStray() {
	if len(r.stray.buf) > 0 {
		r.strayNote(r.stray.buf)
		r.stray.buf = r.stray.buf[:0]
		r.stray.json.Reset()
	}
}

func (r *reader) strayNote(line []byte) {
	if r.alien == "" && (len(r.stray.buf) == 0 || r.stray.json.Err() != nil) { // else it is JSON that was cut off
		r.alien = wire.Excerpt(line)
	}
	if r.done || r.stray.notes >= maxStrayNotes {
		return
	}
	r.stray.notes++
	r.note("a line that is no field of an event stream: " + strconv.Quote(wire.Excerpt(line)))
}

// whole reads one JSON document. It is over when it is whole, and not only when
// the body is: what follows, be it silence, changes nothing.
func (r *reader) whole(body io.Reader) error {
	src := &progress{r: body}
	buf := make([]byte, 0, 4<<10)
	var doc extent
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := src.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if end := doc.end(buf); end > 0 {
			buf, err = buf[:end], nil
		} else if err == nil && (r.limit <= 0 || len(buf) <= r.limit) {
			continue
		}
		if r.limit > 0 && len(buf) > r.limit {
			return limitError(r.limit, 0, nil)
		}
		data := bytes.TrimPrefix(buf, []byte(byteOrderMark))
		switch p := jsonw.CheckBytes(data); {
		case p == nil: // also a document that is neither object nor array
			if e := r.block("", data); e != nil {
				return e
			}
			return ended(err)
		case ended(err) != nil:
			return err
		case p.Offset >= len(data):
			return nil // a document that was cut is no protocol error; the decoder's End says truncated
		}
		return r.block("", data)
	}
}

// ended returns the error of a body that did not end cleanly.
func ended(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// extent finds the end of an object or array in bytes that come in pieces.
type extent struct {
	at       int // how far was looked
	depth    int
	inString bool
	escaped  bool
	other    bool // it is neither
}

// end returns where the document ends that b begins with, 0 if that is not known
// yet.
func (d *extent) end(b []byte) int {
	for ; d.at < len(b) && !d.other; d.at++ {
		switch c := b[d.at]; {
		case d.escaped:
			d.escaped = false
		case d.inString:
			d.escaped = c == '\\'
			d.inString = c != '"'
		case c == '{' || c == '[':
			d.depth++
		case c == '}' || c == ']':
			if d.depth--; d.depth == 0 {
				d.at++
				return d.at
			}
		case d.depth > 0:
			d.inString = c == '"'
		default: // before the first bracket there may be white space and a byte order mark
			d.other = !(c == ' ' || c == '\t' || c == '\r' || c == '\n' || d.at < len(byteOrderMark) && c == byteOrderMark[d.at])
		}
	}
	return 0
}

// byteOrderMark is no part of JSON, and some editors write it all the same.
const byteOrderMark = "\ufeff"

const maxEmptyReads = 100 // in a row, before io.ErrNoProgress

// progress is a reader that does not give nothing for ever.
type progress struct {
	r     io.Reader
	empty int
}

func (p *progress) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if p.empty++; n > 0 {
		p.empty = 0
	} else if err == nil && p.empty >= maxEmptyReads {
		err = io.ErrNoProgress
	}
	return n, err
}
