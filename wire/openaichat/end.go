package openaichat

// The end of a message: by the vendor's mark, by the end of the body, by a failure.

import (
	"io"
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/head"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// done takes the mark after which nothing follows, or the end of a whole
// response.
func (d *decoder) done(dst []wire.Event) ([]wire.Event, error) {
	if d.finish == "" {
		if len(d.parts) == 0 && len(d.calls) == 0 && d.thinking.held == "" {
			e := &wire.Error{Cause: wire.CauseProtocol, Message: "the response is over and there was no answer in it"}
			return d.fail(dst, e)
		}
		dst = odd(dst, "choices.finish_reason", "the message ended without a finish reason")
	}
	d.natural = true
	return d.finished(dst)
}

// finished ends the message where the vendor ended it.
func (d *decoder) finished(dst []wire.Event) ([]wire.Event, error) {
	finish, class := d.finishReason()
	if class != "" {
		return d.fail(dst, &wire.Error{Cause: wire.CauseVendor, Class: class, Status: d.head.Status, Code: d.finish,
			Message: "the server gave up in the middle of the message, with the finish reason " + strconv.Quote(d.finish)})
	}
	for _, c := range d.calls {
		if c.name == "" {
			c.flushArgs(nil)
			if finish != wire.FinishLength {
				return d.fail(dst, &wire.Error{Cause: wire.CauseProtocol, Message: "a tool call has no name"})
			}
			dst = c.odd(dst, notedUnnamed, wire.NoteDropped, "a call was cut off before its name: "+strconv.Quote(wire.Excerpt(c.pending)))
		}
	}
	dst = d.begin(dst)
	if d.tags() && d.text.high != 0 {
		d.text.high = 0
		dst = d.tagged(dst, replacement)
	}
	dst = d.flushTagged(d.flushThought(dst))
	for _, p := range [...]*part{&d.reasoning, &d.text, &d.refusal} {
		if !p.begun && p.high != 0 { // half a character is all that came
			p.high = 0
			dst = d.emit(dst, p, replacement)
		}
	}
	if d.promised() && len(d.calls)+len(d.opaques) == 0 {
		if !d.text.begun && !d.refusal.begun && len(d.audio.List) == 0 {
			return d.fail(dst, &wire.Error{Cause: wire.CauseProtocol, Message: "the finish reason " + strconv.Quote(d.finish) + " tells of a tool call, and there was neither a call nor a text"})
		}
		dst = odd(dst, "choices.finish_reason", "the finish reason "+strconv.Quote(d.finish)+" tells of a tool call, and there was none")
	}
	dst = d.closeParts(dst, false, finish == wire.FinishLength)
	d.ended = true
	end := &wire.Ending{Cause: wire.CauseFinished, Finish: finish, VendorFinish: d.finish, Detail: d.detail}
	return append(dst, wire.Event{Kind: wire.EventEnd, End: end, Raw: d.facts()}), nil
}

// reason returns the finish reason in the form that it is compared in.
func (d *decoder) reason() string { return strings.ToLower(strings.TrimSpace(d.finish)) }

// promised reports whether the finish reason says that there is a call.
func (d *decoder) promised() bool {
	switch d.reason() {
	case "tool_calls", "function_call", "tool_use":
		return true
	}
	return false
}

// finishReason translates the finish reason, or gives the class of the failure
// that it tells of. Whether the model waits for results is told by the calls,
// not by the reason.
func (d *decoder) finishReason() (wire.FinishReason, wire.Class) {
	finish := wire.FinishOther
	switch d.reason() {
	case "", "stop", "eos", "end", "end_turn", "stop_sequence", "tool_calls", "function_call", "tool_use":
		switch {
		case d.refusal.begun:
			finish = wire.FinishRefusal
		case len(d.calls)+len(d.opaques) > 0:
			finish = wire.FinishToolCall
		default:
			finish = wire.FinishStop
		}
	case "length", "max_tokens", "model_length", "model_context_window_exceeded":
		finish = wire.FinishLength
	case "content_filter", "sensitive", "safety":
		finish = wire.FinishContentFilter
	case "refusal":
		finish = wire.FinishRefusal
	case "error", "network_error", "abort":
		return "", wire.ClassServer
	case "insufficient_system_resource":
		return "", wire.ClassOverloaded
	}
	return finish, ""
}

// facts returns what the vendor said about the message as a whole.
func (d *decoder) facts() string {
	for _, o := range [...]struct {
		name    string
		members *codec.Members
	}{{"x_groq", &d.groq}, {"logprobs", &d.logprobs}, {"audio", &d.audio}} {
		if s := o.members.Object(); s != "" {
			d.vendor.Set(o.name, jsonw.Value(s))
		}
	}
	if d.blank && !d.reasoning.begun {
		d.vendor.Set("reasoning_content", `""`)
	}
	list := d.vendor.List[:0]
	for _, m := range d.vendor.List { // an empty list leaves a member without a value
		if len(m.Raw) > 0 {
			list = append(list, m)
		}
	}
	d.vendor = codec.Members{List: list}
	return d.vendor.Object()
}

// End implements [wire.Decoder].
func (d *decoder) End(dst []wire.Event, cause error) ([]wire.Event, error) {
	switch {
	case d.ended:
		if d.err != nil {
			return dst, d.err
		}
		return dst, nil
	case d.finish != "":
		if cause != nil {
			dst = odd(dst, "framing", "after the finish reason the stream broke off: "+wire.AsError(cause, wire.CauseReset).Error())
		}
		return d.finished(dst)
	case cause != nil:
		return d.fail(dst, wire.AsError(cause, wire.CauseReset))
	}
	e := &wire.Error{Cause: wire.CauseTruncated, Message: "the body ended before a finish reason", Err: io.ErrUnexpectedEOF}
	if !d.begun {
		e.Message = "the body ended before the message began"
		if d.alien {
			e.Hint = "it has events of no known form: is this the protocol that the server speaks?"
		}
	}
	return d.fail(dst, e)
}

// fail closes what is open and ends the stream with err.
func (d *decoder) fail(dst []wire.Event, err *wire.Error) ([]wire.Event, error) {
	if err.RequestID == "" {
		e := *err
		e.RequestID = head.First(d.head, requestIDs[:])
		err = &e
	}
	for _, c := range d.calls {
		if len(c.pending) > 0 {
			dst = c.flushArgs(dst)
			dst = c.odd(dst, notedUnnamed, wire.NoteDropped, "a call without a name was cut off, with the arguments "+strconv.Quote(wire.Excerpt(c.pending)))
		}
	}
	dst = d.closeParts(d.flushTagged(d.flushThought(dst)), true, false)
	d.ended, d.err = true, err
	end := &wire.Ending{Cause: err.Cause, VendorFinish: d.finish, Detail: d.detail, Err: err}
	return append(dst, wire.Event{Kind: wire.EventEnd, End: end, Raw: d.facts()}), err
}

// closeParts ends the parts, all of them as partial ones or only the last call.
func (d *decoder) closeParts(dst []wire.Event, partial, lastCall bool) []wire.Event {
	last := -1
	if lastCall {
		for i, p := range d.parts {
			if p.call != nil {
				last = i
			}
		}
	}
	for i, p := range d.parts {
		dst = d.endPart(dst, p, partial || i == last)
	}
	d.parts = nil
	return dst
}

// replacement stands for half a character whose other half never came.
const replacement = "\uFFFD"

// endPart ends a part, with the facts that its deltas did not carry.
func (d *decoder) endPart(dst []wire.Event, p *part, partial bool) []wire.Event {
	if p.call != nil {
		dst = p.call.flushArgs(dst)
	}
	if p.high != 0 && !partial { // the other half never came
		dst = append(dst, wire.Event{Kind: wire.EventDelta, Part: p.kind, Index: p.index, Delta: replacement})
	}
	data := wire.Part{Partial: partial}
	switch {
	case p.call != nil:
		dst = p.call.end(dst, &data, d.state(p.call))
	case p == &d.reasoning:
		data.Vendor = d.reasoningFacts()
	}
	ev := wire.Event{Kind: wire.EventPartEnd, Part: p.kind, Index: p.index}
	if data.Partial || data.Vendor != "" || data.ID != "" {
		ev.Data = &data
	}
	return append(dst, ev)
}
