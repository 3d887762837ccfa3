package anthropic

// How this file is organised: Decode looks at the type of an event and calls
// one method for each; a whole response goes through the same methods block by
// block. Blocks are keyed by the vendor's index and may interleave; ours counts
// the blocks in the order in which they start.

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"unsafe"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/head"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// maxOpenBlocks bounds the blocks that are open at one time. The vendor opens
// one, rarely two.
const maxOpenBlocks = 256

type decoder struct {
	head  wire.Head
	id    string // of the message
	begun bool
	ended bool
	alien bool        // an unknown event came before the message began
	err   *wire.Error // of the end event, nil if it finished

	open  []*block // in the order of their start
	parts int
	next  int // the vendor's index after the highest so far
	calls int // client tool calls
	notes int
	ids   codec.Members // of the client tool calls

	usage  usage
	vendor codec.Members // facts about the whole message
	finish string        // the vendor's stop reason
	detail string
	texts  codec.Texts
}

// event is one server-sent event, its members still raw. They point into
// the caller's data.
type event struct {
	typ, data                    string
	index                        int // -1 if there is none
	delta, block, usage, message jsonw.Value
	failed                       bool // there is an error member
}

func (d *decoder) Decode(dst []wire.Event, name string, data []byte) ([]wire.Event, error) {
	if d.ended {
		return dst, nil
	}
	if dst, ok := d.usualDelta(dst, data); ok {
		return dst, nil
	}
	if data = bytes.TrimSpace(data); len(data) == 0 || string(data) == "[DONE]" { // both come from proxies and say nothing here
		return dst, nil
	}
	if p := jsonw.CheckBytes(data); p != nil {
		return dst, protocolError("an event is not JSON: "+p.Error(), data)
	}
	ev := event{data: unsafe.String(unsafe.SliceData(data), len(data)), index: -1}
	root := jsonw.Parse(ev.data)
	if !root.IsObject() {
		return dst, protocolError("an event is no JSON object", data)
	}
members:
	for c := root.Members(); c.Next(); {
		switch c.Name() {
		case "type":
			ev.typ = c.Value().Str()
		case "index":
			if n, ok := c.Value().Int(); ok && n >= 0 && n < 1<<31 {
				ev.index = int(n)
			}
		case "delta":
			if ev.typ == "content_block_delta" && ev.index >= 0 { // nothing that matters follows
				ev.delta = c.Open()
				break members
			}
			ev.delta = c.Value()
		case "content_block":
			ev.block = c.Value()
		case "usage":
			ev.usage = c.Value()
		case "message":
			if ev.typ == "message_start" { // nothing that matters follows
				ev.message = c.Open()
				break members
			}
			ev.message = c.Value()
		case "error":
			ev.failed = true
		}
	}
	if ev.typ == "" {
		switch {
		case ev.failed:
			ev.typ = "error"
		case name != "message": // which is what an event without a name is called
			ev.typ = name
		}
	}
	switch ev.typ {
	case "content_block_delta":
		return d.delta(dst, &ev)
	case "content_block_start":
		return d.blockStart(dst, ev.index, ev.block, &ev)
	case "content_block_stop":
		return d.blockStop(dst, &ev)
	case "ping":
		return dst, nil
	case "message_start":
		return d.messageStart(dst, ev.message, &ev)
	case "message_delta":
		return d.messageDelta(dst, &ev)
	case "message_stop":
		return d.messageStop(dst)
	case "error":
		return d.fail(dst, d.errorOf(ev.data))
	case "message":
		return d.whole(dst, root, &ev)
	}
	if name == "error" {
		return d.fail(dst, d.errorOf(ev.data))
	}
	d.alien = d.alien || !d.begun
	return other(dst, &ev), nil
}

func protocolError(msg string, data []byte) *wire.Error {
	return &wire.Error{Cause: wire.CauseProtocol, Message: msg, Body: wire.Excerpt(data)}
}

// other passes an event on raw.
func other(dst []wire.Event, ev *event) []wire.Event {
	return append(dst, wire.Event{Kind: wire.EventOther, Raw: strings.Clone(ev.data)})
}

// maxNotes bounds the notes on one stream.
const maxNotes = 64

// note tells of something odd, or that no more will be told.
func (d *decoder) note(dst []wire.Event, code wire.NoteCode, path, detail string) []wire.Event {
	switch d.notes++; {
	case d.notes > maxNotes:
		return dst
	case d.notes == maxNotes:
		detail = "there are more notes, which are left out; this one is: " + detail
	}
	return append(dst, wire.Event{Kind: wire.EventNote, Note: &wire.Note{Code: code, Path: strings.Clone(path), Detail: detail}})
}

func (d *decoder) odd(dst []wire.Event, ev *event, detail string) []wire.Event {
	return d.note(dst, wire.NoteOdd, ev.typ, detail)
}

// ---- the message ----

func (d *decoder) messageStart(dst []wire.Event, msg jsonw.Value, ev *event) ([]wire.Event, error) {
	if d.begun {
		id := msg.Get("id").Text()
		if id == d.id {
			return d.odd(dst, ev, "the message started twice"), nil
		}
		return dst, protocolError("a second message, "+strconv.Quote(id)+", began within the stream of "+strconv.Quote(d.id), []byte(ev.data))
	}
	d.begun = true
	start := &wire.Start{
		Origin:    wire.Origin{Protocol: Protocol},
		RequestID: d.head.Header(requestID),
		RateLimit: head.RateLimits(d.head, rateLimits[:]),
	}
	dst = append(dst, wire.Event{Kind: wire.EventStart, Start: start})
	var content jsonw.Value
	for c := msg.Members(); c.Next(); {
		switch name := c.Name(); name {
		case "id":
			d.id = strings.Clone(c.Value().Text())
			start.Origin.ResponseID = d.id
		case "model":
			start.Origin.Model = strings.Clone(c.Value().Text())
		case "content":
			content = c.Value()
		case "usage":
			dst = d.addUsage(dst, c.Value())
		default:
			d.learn(name, c.Value())
		}
	}
	for c := content.Items(); c.Next(); {
		var err error
		if dst, err = d.wholeBlock(dst, d.parts, c.Value(), ev); err != nil {
			return dst, err
		}
	}
	d.next = 0 // the events count their blocks anew
	return dst, nil
}

// learn takes a member that says something about the message as a whole: its
// stop reason, and as raw members what has no other place. Null says nothing.
func (d *decoder) learn(name string, v jsonw.Value) {
	if v.IsNull() {
		return
	}
	switch name {
	case "type", "role", "delta", "index", "usage", "id", "model", "content":
	case "stop_reason":
		d.finish = strings.Clone(v.Text())
	case "stop_sequence":
		d.detail = strings.Clone(v.Text())
	case "stop_details":
		d.detail = stopDetail(v)
		d.vendor.Set(name, v)
	default:
		d.vendor.Set(name, v)
	}
}

// stopDetail puts the category and the explanation of a refusal in words.
func stopDetail(v jsonw.Value) string {
	category, explanation := v.Get("category").Text(), v.Get("explanation").Text()
	if category != "" && explanation != "" {
		category += ": "
	}
	return category + explanation
}

func (d *decoder) messageDelta(dst []wire.Event, ev *event) ([]wire.Event, error) {
	if !d.begun {
		return dst, notBegun(ev)
	}
	for c := ev.delta.Members(); c.Next(); {
		d.learn(c.Name(), c.Value())
	}
	for c := jsonw.Parse(ev.data).Members(); c.Next(); {
		d.learn(c.Name(), c.Value())
	}
	return d.addUsage(dst, ev.usage), nil
}

func notBegun(ev *event) *wire.Error {
	return protocolError("a "+strings.Clone(ev.typ)+" event came before message_start", []byte(ev.data))
}

func (d *decoder) addUsage(dst []wire.Event, u jsonw.Value) []wire.Event {
	if !d.usage.add(u) {
		return dst
	}
	if d.usage.over == 1 {
		d.usage.over++
		dst = d.note(dst, wire.NoteDropped, "usage", "of the vendor's usage object only "+strconv.Itoa(maxUsage)+" bytes are kept")
	}
	return append(dst, wire.Event{Kind: wire.EventUsage, Usage: d.usage.snapshot()})
}

func (d *decoder) messageStop(dst []wire.Event) ([]wire.Event, error) {
	if !d.begun || d.finish == "" {
		return d.fail(dst, truncated("the message stopped without a stop reason"))
	}
	dst = d.closeParts(dst)
	end := &wire.Ending{Cause: wire.CauseFinished, Finish: d.finishReason(), VendorFinish: d.finish, Detail: d.detail}
	d.ended = true
	return append(dst, wire.Event{Kind: wire.EventEnd, End: end, Raw: d.vendor.Object()}), nil
}

// finishReason translates the stop reason. Whether the model waits for results
// is told by the calls, not by the reason alone.
func (d *decoder) finishReason() wire.FinishReason {
	switch d.finish {
	case "end_turn", "stop_sequence":
		if d.calls > 0 && d.finish == "end_turn" {
			return wire.FinishToolCall
		}
		return wire.FinishStop
	case "tool_use":
		if d.calls == 0 {
			return wire.FinishStop
		}
		return wire.FinishToolCall
	case "max_tokens", "model_context_window_exceeded":
		return wire.FinishLength
	case "pause_turn", "compaction":
		return wire.FinishPause
	case "refusal":
		return wire.FinishRefusal
	}
	return wire.FinishOther
}

func truncated(msg string) *wire.Error {
	return &wire.Error{Cause: wire.CauseTruncated, Message: msg, Err: io.ErrUnexpectedEOF}
}

// End implements [wire.Decoder].
func (d *decoder) End(dst []wire.Event, cause error) ([]wire.Event, error) {
	if d.ended {
		if d.err != nil {
			return dst, d.err
		}
		return dst, nil
	}
	switch {
	case cause != nil:
		return d.fail(dst, wire.AsError(cause, wire.CauseReset))
	case !d.begun:
		e := truncated("the body ended before the message began")
		if d.alien {
			e.Hint = "it has events of no known type: is this the protocol that the server speaks?"
		}
		return d.fail(dst, e)
	}
	return d.fail(dst, truncated("the body ended before message_stop"))
}

// fail closes what is open and ends the stream with err.
func (d *decoder) fail(dst []wire.Event, err *wire.Error) ([]wire.Event, error) {
	if err.RequestID == "" {
		e := *err
		e.RequestID = d.head.Header(requestID)
		err = &e
	}
	dst = d.closeParts(dst)
	d.ended, d.err = true, err
	end := &wire.Ending{Cause: err.Cause, VendorFinish: d.finish, Detail: d.detail, Err: err}
	return append(dst, wire.Event{Kind: wire.EventEnd, End: end, Raw: d.vendor.Object()}), err
}

// closeParts ends the parts that are open, as partial ones.
func (d *decoder) closeParts(dst []wire.Event) []wire.Event {
	for _, b := range d.open {
		dst = d.endPart(dst, b, true)
	}
	d.open = nil
	return dst
}

// ---- blocks ----

func (d *decoder) find(index int) *block {
	for i := len(d.open) - 1; i >= 0; i-- {
		if d.open[i].index == index {
			return d.open[i]
		}
	}
	return nil
}

func (d *decoder) blockStart(dst []wire.Event, index int, v jsonw.Value, ev *event) ([]wire.Event, error) {
	if !d.begun {
		return dst, notBegun(ev)
	}
	if index < 0 || !v.IsObject() {
		return dst, protocolError("a content block without an index or a body", []byte(ev.data))
	}
	if len(d.open) >= maxOpenBlocks {
		return dst, &wire.Error{Cause: wire.CauseLimit, Message: "more than " + strconv.Itoa(maxOpenBlocks) + " content blocks are open at once"}
	}
	if index < d.next {
		dst = d.odd(dst, ev, "block "+strconv.Itoa(index)+" starts after block "+strconv.Itoa(d.next-1))
	}
	d.next = max(d.next, index+1)
	if b := d.find(index); b != nil {
		dst = d.endPart(dst, b, true)
		d.forget(b)
	}
	b := &block{index: index, part: d.parts, typ: typeName(v.Get("type").Str())}
	d.parts++
	d.open = append(d.open, b)
	return d.startPart(dst, b, v, ev), nil
}

// callID sees to it that a call has an id of its own, so that its result can be
// told from those of others. One that was made up depends on nothing but the
// message and the call's place in it.
func (d *decoder) callID(dst []wire.Event, b *block, data *wire.Part, ev *event) []wire.Event {
	known := len(d.ids.List)
	if d.ids.At(data.ID); data.ID != "" && len(d.ids.List) > known {
		return dst
	}
	given := data.ID
	data.ID = codec.SafeName("toolu_"+d.id+"_"+strconv.Itoa(b.part), maxIDLen)
	d.ids.At(data.ID)
	return d.note(dst, wire.NoteRepaired, ev.typ, "a call had the id "+strconv.Quote(given)+", which is none or another's; it is called "+data.ID)
}

// typeName returns a block's type as a string of its own.
func typeName(s string) string {
	switch s {
	case "text":
		return "text"
	case "thinking":
		return "thinking"
	case "tool_use":
		return "tool_use"
	}
	return strings.Clone(s)
}

func (d *decoder) forget(b *block) {
	for i := range d.open {
		if d.open[i] == b {
			d.open = append(d.open[:i], d.open[i+1:]...)
			return
		}
	}
}

// startPart announces a block and hands out what it starts with.
func (d *decoder) startPart(dst []wire.Event, b *block, v jsonw.Value, ev *event) []wire.Event {
	var data *wire.Part
	var text jsonw.Value
	switch b.typ {
	case "text":
		b.kind = wire.PartText
	case "thinking", "redacted_thinking":
		b.kind = wire.PartReasoning
	case "tool_use":
		b.kind = wire.PartToolCall
		d.calls++
		data = &wire.Part{}
	default:
		b.kind = wire.PartOpaque
		b.raw = strings.Clone(string(v))
		data = &wire.Part{Name: b.typ, ID: strings.Clone(v.Get("id").Text()), Vendor: b.raw}
		v = ""
	}
	for c := v.Members(); c.Next(); {
		name := c.Name()
		switch {
		case name == "type" || c.Value().IsNull():
		case name == "text" && b.kind == wire.PartText, name == "thinking" && b.kind == wire.PartReasoning:
			text = c.Value()
		case name == "signature" && c.Value() == `""`: // it is still to come
		case name == "id" && b.kind == wire.PartToolCall:
			data.ID = strings.Clone(c.Value().Text())
		case name == "name" && b.kind == wire.PartToolCall:
			data.Name = strings.Clone(c.Value().Text())
		case name == "input" && b.kind == wire.PartToolCall:
			if c.Value() != "{}" {
				b.input = strings.Clone(string(c.Value()))
			}
		default:
			b.facts.Set(name, c.Value())
		}
	}
	if len(b.facts.List) > 0 && (b.kind == wire.PartToolCall || b.typ == "redacted_thinking") { // they are whole
		if data == nil {
			data = &wire.Part{}
		}
		data.Vendor = b.facts.Object()
		b.facts = codec.Members{}
	}
	if b.kind == wire.PartToolCall {
		dst = d.callID(dst, b, data, ev)
	}
	dst = append(dst, wire.Event{Kind: wire.EventPartStart, Part: b.kind, Index: b.part, Data: data})
	if text.IsString() {
		return d.text(dst, b, text, text.Plain())
	} else if text.Exists() {
		dst = d.odd(other(dst, ev), ev, "the text of a block is no text")
	}
	return dst
}

// text hands out a piece of text or arguments; plain says that v has no escapes.
// A surrogate pair that was cut between two pieces is joined.
func (d *decoder) text(dst []wire.Event, b *block, v jsonw.Value, plain bool) []wire.Event {
	var s string
	if s, b.high = d.texts.Text(b.high, v, plain); s == "" {
		return dst
	}
	b.got = true
	return append(dst, wire.Event{Kind: wire.EventDelta, Part: b.kind, Index: b.part, Delta: s})
}

func (d *decoder) delta(dst []wire.Event, ev *event) ([]wire.Event, error) {
	b := d.find(ev.index)
	if b == nil {
		if !d.begun {
			return dst, notBegun(ev)
		}
		return d.odd(other(dst, ev), ev, "a delta of block "+strconv.Itoa(ev.index)+", which is not open"), nil
	}
	if b.kind == wire.PartOpaque {
		b.grow(ev.delta)
		return other(dst, ev), nil
	}
	var typ string
	var value jsonw.Value
	plain, values := false, 0
	for c := ev.delta.Members(); c.Next(); {
		switch c.Name() {
		case "type":
			typ = c.Value().Str()
		case "text", "thinking", "partial_json", "signature", "citation":
			value, plain = c.Value(), c.Plain()
			values++
		}
	}
	if values > 1 { // all the forms of a delta at once, most of them empty
		value = ev.delta.Get(deltaMember(typ))
		plain = value.Plain()
	}
	want := wire.PartKind("")
	switch typ {
	case "text_delta":
		want = wire.PartText
	case "thinking_delta":
		want = wire.PartReasoning
	case "input_json_delta":
		want = wire.PartToolCall
	case "signature_delta":
		if b.kind == wire.PartReasoning && value.IsString() {
			b.facts.AppendText("signature", value)
			return dst, nil
		}
	case "citations_delta":
		if b.kind == wire.PartText && value.Exists() {
			b.facts.AppendItem("citations", value)
			return dst, nil
		}
	}
	switch {
	case want == "" || want != b.kind:
		return d.odd(other(dst, ev), ev, "a delta of type "+strconv.Quote(typ)+" in a block of type "+strconv.Quote(b.typ)), nil
	case value.IsString():
		return d.text(dst, b, value, plain), nil
	case value.IsObject() && want == wire.PartToolCall && !b.got: // arguments as an object
		b.input = strings.Clone(string(value))
	case !value.IsNull():
		return d.odd(other(dst, ev), ev, "a delta that is no text"), nil
	}
	return dst, nil
}

// deltaMember is the member that holds what a delta of this type brings.
func deltaMember(typ string) string {
	switch typ {
	case "input_json_delta":
		return "partial_json"
	case "citations_delta":
		return "citation"
	}
	return strings.TrimSuffix(typ, "_delta")
}

func (d *decoder) blockStop(dst []wire.Event, ev *event) ([]wire.Event, error) {
	b := d.find(ev.index)
	if b == nil {
		if !d.begun {
			return dst, notBegun(ev)
		}
		return d.odd(dst, ev, "block "+strconv.Itoa(ev.index)+" stopped and is not open"), nil
	}
	d.forget(b)
	return d.endPart(dst, b, false), nil
}

// endPart ends a part, with the facts that its deltas did not carry.
func (d *decoder) endPart(dst []wire.Event, b *block, partial bool) []wire.Event {
	if b.high != 0 && !partial { // the other half never came
		dst = append(dst, wire.Event{Kind: wire.EventDelta, Part: b.kind, Index: b.part, Delta: "\uFFFD"})
	}
	var data wire.Part
	switch b.kind {
	case wire.PartToolCall:
		if b.got && b.input != "" {
			dst = d.note(dst, wire.NoteOdd, "content_block_start", "a call came with arguments and with deltas; the deltas count, not "+wire.Excerpt([]byte(b.input)))
		}
		if !b.got && (b.input != "" || !partial) {
			args := b.input
			if args == "" {
				args = "{}" // how the protocol spells a call without arguments
			}
			dst = append(dst, wire.Event{Kind: wire.EventDelta, Part: b.kind, Index: b.part, Delta: args})
		}
	case wire.PartOpaque:
		if len(b.facts.List) > 0 {
			data.Vendor = b.rebuilt()
		}
	default:
		data.Vendor = b.facts.Object()
	}
	ev := wire.Event{Kind: wire.EventPartEnd, Part: b.kind, Index: b.part}
	if data.Partial = partial; partial || data.Vendor != "" {
		ev.Data = &data
	}
	return append(dst, ev)
}

// ---- whole responses ----

func (d *decoder) wholeBlock(dst []wire.Event, index int, v jsonw.Value, ev *event) ([]wire.Event, error) {
	dst, err := d.blockStart(dst, index, v, ev)
	if err != nil {
		return dst, err
	}
	b := d.open[len(d.open)-1]
	d.open = d.open[:len(d.open)-1]
	return d.endPart(dst, b, false), nil
}

// whole takes a response that is one document.
func (d *decoder) whole(dst []wire.Event, msg jsonw.Value, ev *event) ([]wire.Event, error) {
	if d.begun {
		return d.odd(other(dst, ev), ev, "a whole message within a stream"), nil
	}
	dst, err := d.messageStart(dst, msg, ev)
	if err != nil {
		return dst, err
	}
	return d.messageStop(dst)
}
