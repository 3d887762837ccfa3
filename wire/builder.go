package wire

import (
	"io"
	"iter"
	"unsafe"
)

// Builder builds a [Response] from the events of one stream. The zero value is
// ready. Its time is linear in the bytes, and what has arrived can be looked at
// after every event. A Builder must not be copied once it has taken an event.
type Builder struct {
	resp  Response
	parts []Part
	text  []appended // text or arguments of parts, by index
}

// appended is a text that only grows, so that a string made of it earlier stays
// true while more is appended.
type appended struct {
	one  string // the text while it is of one piece
	buf  []byte
	over bool // its part has ended
}

func (a *appended) add(s string) {
	switch {
	case a.buf != nil:
		a.buf = append(a.buf, s...)
	case a.one == "":
		a.one = s
	default:
		a.buf = make([]byte, 0, max(64, 2*(len(a.one)+len(s))))
		a.buf = append(append(a.buf, a.one...), s...)
	}
}

func (a *appended) string() string {
	if a.buf == nil {
		return a.one
	}
	return unsafe.String(unsafe.SliceData(a.buf), len(a.buf))
}

// Reset empties b for another stream. Responses that it returned stay valid.
func (b *Builder) Reset() {
	// The texts are not reused: strings of earlier responses share them.
	*b = Builder{}
}

// Add takes the next event of the stream. What comes after the end event or,
// for a part, after its end is ignored.
func (b *Builder) Add(ev *Event) {
	if b.resp.Message.Ending != nil {
		return
	}
	switch ev.Kind {
	case EventDelta:
		if uint(ev.Index) < uint(len(b.text)) && !b.text[ev.Index].over {
			b.text[ev.Index].add(ev.Delta)
		}
	case EventPartStart:
		p := Part{Kind: ev.Part, Partial: true}
		p.learn(ev.Data)
		b.parts = append(b.parts, p)
		b.text = append(b.text, appended{})
	case EventPartEnd:
		if uint(ev.Index) < uint(len(b.parts)) && !b.text[ev.Index].over {
			b.text[ev.Index].over = true
			p := &b.parts[ev.Index]
			p.learn(ev.Data)
			p.Partial = ev.Data != nil && ev.Data.Partial
		}
	case EventStart:
		if ev.Start != nil {
			o := ev.Start.Origin
			b.resp.Message.Origin = &o
			b.resp.RequestID = ev.Start.RequestID
			b.resp.RateLimit = ev.Start.RateLimit
		}
	case EventUsage:
		if ev.Usage != nil {
			b.resp.Usage = *ev.Usage
		}
	case EventNote:
		if ev.Note != nil {
			b.resp.Notes = append(b.resp.Notes, *ev.Note)
		}
	case EventEnd:
		b.resp.Message.Vendor = ev.Raw
		if b.resp.Message.Ending = ev.End; ev.End != nil && ev.End.Err != nil && b.resp.RequestID == "" {
			b.resp.RequestID = ev.End.Err.RequestID
		}
	}
}

// learn takes the facts of an event's Data: a field that is set replaces what
// was known.
func (p *Part) learn(d *Part) {
	if d == nil {
		return
	}
	if d.ID != "" {
		p.ID = d.ID
	}
	if d.Name != "" {
		p.Name = d.Name
	}
	if d.Vendor != "" {
		p.Vendor = d.Vendor
	}
	if d.Item != "" {
		p.Item = d.Item
	}
	if d.Media != nil {
		p.Media = d.Media
	}
	if d.Parts != nil {
		p.Parts = d.Parts
	}
	p.FreeForm = p.FreeForm || d.FreeForm
	p.IsError = p.IsError || d.IsError
}

// Message returns the message as far as it has arrived: parts still open are
// marked Partial, and Ending is nil until the stream has ended. It copies the
// list of parts but no text, and stays as it is when more events come.
func (b *Builder) Message() Message {
	m := b.resp.Message
	m.Role = RoleAssistant
	if len(b.parts) > 0 {
		m.Parts = make([]Part, len(b.parts))
	}
	for i := range b.parts {
		m.Parts[i] = b.parts[i]
		switch s := b.text[i].string(); m.Parts[i].Kind {
		case PartToolCall:
			m.Parts[i].Args = s
		default:
			m.Parts[i].Text = s
		}
	}
	return m
}

// Response returns the response as far as it has arrived; see
// [Builder.Message].
func (b *Builder) Response() Response {
	r := b.resp
	r.Message = b.Message()
	r.Notes = append([]Note(nil), b.resp.Notes...)
	return r
}

// Tee passes a stream on and adds each event to b first, for callers who print
// and build at once.
func (b *Builder) Tee(stream iter.Seq2[Event, error]) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for ev, err := range stream {
			b.Add(&ev)
			if !yield(ev, err) {
				return
			}
		}
	}
}

// Collect reads a stream to its end. If the stream fails, what arrived is
// returned beside the error. A stream without an end event, which an iterator
// gives that stopped before its time, has failed too.
func Collect(stream iter.Seq2[Event, error]) (Response, error) {
	var b Builder
	var failed error
	for ev, err := range stream {
		b.Add(&ev)
		failed = err
	}
	r := b.Response()
	switch end := r.Message.Ending; {
	case failed != nil:
	case end == nil:
		failed = &Error{Cause: CauseTruncated, RequestID: r.RequestID, Message: "the stream has no end event", Err: io.ErrUnexpectedEOF}
	case end.Err != nil:
		failed = end.Err
	}
	return r, failed
}
