package stream_test

import (
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"testing"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/stream"
)

// toy decodes a protocol of its own, the least that has all that matters here:
// each block is an object, in which text is more of the one text part, note and
// other are an event each, error is an error of the vendor, and done is the
// terminal mark. A block may hold several of them, in this order. [DONE] is a
// terminal mark too.
type toy struct {
	blocks []string // what Decode was given, as name:data
	ends   []error  // what End was given

	started, open, ended bool
	err                  *wire.Error
}

func (d *toy) Decode(dst []wire.Event, name string, data []byte) ([]wire.Event, error) {
	d.blocks = append(d.blocks, name+":"+string(data))
	if d.ended {
		return dst, nil
	}
	var b struct {
		Text, Note, Other, Error string
		Broken, Plain, Done      bool
	}
	if string(data) == "[DONE]" {
		b.Done = true
	} else if err := json.Unmarshal(data, &b); err != nil {
		return dst, &wire.Error{Cause: wire.CauseProtocol, Message: "no object", Err: err}
	}
	if b.Note != "" {
		dst = append(dst, wire.Event{Kind: wire.EventNote, Note: &wire.Note{Code: wire.NoteOdd, Path: "toy", Detail: b.Note}})
	}
	if b.Other != "" {
		dst = append(dst, wire.Event{Kind: wire.EventOther, Raw: b.Other})
	}
	if b.Text != "" {
		if dst = d.start(dst); !d.open {
			d.open = true
			dst = append(dst, wire.Event{Kind: wire.EventPartStart, Part: wire.PartText})
		}
		dst = append(dst, wire.Event{Kind: wire.EventDelta, Part: wire.PartText, Delta: b.Text})
	}
	switch {
	case b.Error != "":
		return d.fail(dst, &wire.Error{Cause: wire.CauseVendor, Message: b.Error}), nil
	case b.Broken:
		return dst, &wire.Error{Cause: wire.CauseProtocol, Message: "broken"}
	case b.Plain:
		return dst, errPlain
	case b.Done:
		dst = d.close(d.start(dst), nil)
		d.ended = true
		dst = append(dst, wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop}})
	}
	return dst, nil
}

var errPlain = errors.New("a plain error of the decoder")

func (d *toy) start(dst []wire.Event) []wire.Event {
	if !d.started {
		d.started = true
		dst = append(dst, wire.Event{Kind: wire.EventStart, Start: &wire.Start{}})
	}
	return dst
}

func (d *toy) close(dst []wire.Event, data *wire.Part) []wire.Event {
	if d.open {
		d.open = false
		dst = append(dst, wire.Event{Kind: wire.EventPartEnd, Part: wire.PartText, Data: data})
	}
	return dst
}

func (d *toy) fail(dst []wire.Event, err *wire.Error) []wire.Event {
	d.ended, d.err = true, err
	return append(d.close(dst, &wire.Part{Partial: true}),
		wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: err.Cause, Err: err}})
}

func (d *toy) End(dst []wire.Event, cause error) ([]wire.Event, error) {
	d.ends = append(d.ends, cause)
	if !d.ended {
		e := &wire.Error{Cause: wire.CauseTruncated, Message: "no mark", Err: io.ErrUnexpectedEOF}
		if cause != nil {
			e = wire.AsError(cause, wire.CauseReset)
		}
		dst = d.fail(dst, e)
	}
	if d.err != nil {
		return dst, d.err
	}
	return dst, nil
}

var _ wire.Decoder = (*toy)(nil)

// result is all that came out of one run.
type result struct {
	events []wire.Event
	err    error // of the last pair
}

// drain ranges over a stream and checks what holds for every one: the grammar,
// and that only the last pair has an error, which is that of its end event.
func drain(t testing.TB, s iter.Seq2[wire.Event, error]) (r result) {
	t.Helper()
	for ev, err := range s {
		if r.err != nil {
			t.Fatalf("a pair comes after the error %v: %+v", r.err, ev)
		}
		r.events, r.err = append(r.events, ev), err
	}
	if err := wire.CheckEvents(r.events); err != nil {
		t.Fatalf("%v\nof %+v", err, r.events)
	}
	end := r.events[len(r.events)-1].End
	switch {
	case end.Err == nil && r.err != nil:
		t.Fatalf("finished with the error %v", r.err)
	case end.Err != nil && r.err != error(end.Err):
		t.Fatalf("the error is %v, that of the end event %v", r.err, end.Err)
	}
	return r
}

// read runs the toy decoder over a body.
func read(t testing.TB, body io.Reader, f wire.Framing, opts *stream.Options) (result, *toy) {
	t.Helper()
	d := new(toy)
	r := drain(t, stream.Read(body, d, f, opts))
	if len(d.ends) > 1 {
		t.Fatalf("End was called %d times", len(d.ends))
	}
	return r, d
}

func (r *result) text() (s string) {
	for i := range r.events {
		s += r.events[i].Text()
	}
	return s
}

func (r *result) notes() (s []string) {
	for i := range r.events {
		if n := r.events[i].Note; n != nil {
			s = append(s, n.Detail)
		}
	}
	return s
}

func (r *result) end() *wire.Ending { return r.events[len(r.events)-1].End }

func (r *result) cause() wire.Cause { return r.end().Cause }

// merged returns the events with neighbouring deltas joined.
func (r *result) merged() (evs []wire.Event) {
	for _, ev := range r.events {
		if n := len(evs); ev.Kind == wire.EventDelta && n > 0 && evs[n-1].Kind == wire.EventDelta && evs[n-1].Index == ev.Index {
			evs[n-1].Delta += ev.Delta
			continue
		}
		evs = append(evs, ev)
	}
	return slices.Clip(evs)
}

// script is a body that gives one piece a Read and then an error, io.EOF if it
// is nil. It counts what it is asked for.
type script struct {
	pieces []string
	err    error
	with   bool // the error comes with the last piece
	reads  int
	bytes  int
}

func (s *script) Read(p []byte) (int, error) {
	s.reads++
	end := s.err
	if end == nil {
		end = io.EOF
	}
	if len(s.pieces) == 0 {
		return 0, end
	}
	n := copy(p, s.pieces[0])
	s.bytes += n
	if s.pieces[0] = s.pieces[0][n:]; s.pieces[0] == "" {
		s.pieces = s.pieces[1:]
	}
	if len(s.pieces) == 0 && s.with {
		return n, end
	}
	return n, nil
}

// cut cuts a body into pieces of n bytes.
func cut(body string, n int) (pieces []string) {
	for len(body) > n {
		pieces, body = append(pieces, body[:n]), body[n:]
	}
	return append(pieces, body)
}
