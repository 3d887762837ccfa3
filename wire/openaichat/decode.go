package openaichat

// How this file is organised: Decode looks at the members of a chunk, first
// whether they tell of a failure, then at its choices; a whole response goes
// through the same methods, with a message in the place of the delta. The parts
// of a message stay open until it ends, because pieces of each of them may come
// at any time: reasoning is signed after the calls that it led to.
//
// Of several choices the first one is read. A server that spreads one answer
// over several choices cannot be told from one that gives several answers, so
// the chunks of the others are passed on raw.

import (
	"bytes"
	"strconv"
	"strings"
	"unsafe"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/head"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

type decoder struct {
	says  says
	head  wire.Head
	id    string // of the response
	model string
	begun bool
	ended bool
	alien bool        // something unknown came before the message began
	blank bool        // reasoning_content was there and empty
	noted noted       // what a note has told
	err   *wire.Error // of the end event, nil if it finished

	parts     []*part // in the order of their start
	text      part
	reasoning part
	refusal   part
	field     string   // the member that the reasoning came in
	details   []detail // of the reasoning
	calls     []*call
	opaques   []*call // of unknown types
	thinking  thinker
	retold    retold

	usage    usage
	chunks   int           // how many came, the one at hand included
	finish   string        // the vendor's finish reason
	finishAt int           // the last chunk that had one
	firstEnd int           // the first chunk that had one
	natural  bool          // the vendor said that nothing follows
	detail   string        // the stop sequence that matched
	vendor   codec.Members // facts about the whole message
	groq     codec.Members // x_groq
	logprobs codec.Members
	audio    codec.Members
	texts    codec.Texts
	forms    forms
	passed   bool // the chunk at hand was passed on
}

// says is what a profile says about streams. The rest of it would be carried
// about by every stream for nothing.
type says struct {
	thinkTags, thoughtTags bool
	pieces                 ReasoningPieces
}

// noted are the things that are told once in a stream.
type noted uint8

const (
	notedChoices noted = 1 << iota
	notedFinish
	notedMessage
	notedCloser
)

// part is a part of the message, open until the message ends.
type part struct {
	kind  wire.PartKind
	index int
	begun bool
	high  rune  // a high surrogate whose other half is due in the next piece
	call  *call // of a tool call
}

func newDecoder(p Profile, h wire.Head) *decoder {
	d := &decoder{says: says{p.ThinkTags, p.ThoughtTags, p.ReasoningPieces}, head: h}
	d.text.kind, d.reasoning.kind, d.refusal.kind = wire.PartText, wire.PartReasoning, wire.PartRefusal
	d.usage.apart = p.ReasoningApart
	return d
}

// chunk is one block, its members still raw. They point into the caller's data.
type chunk struct {
	root                             jsonw.Value
	object                           string
	choices, usage, err, groq        jsonw.Value
	code, message, detail, typ, base jsonw.Value
	unknown, whole                   bool
	listed                           bool // its calls stand in a message, each whole
}

// Decode implements [wire.Decoder].
func (d *decoder) Decode(dst []wire.Event, name string, data []byte) ([]wire.Event, error) {
	if d.ended {
		return dst, nil
	}
	d.chunks++
	if dst, ok := d.usual(dst, name, data); ok {
		return dst, nil
	}
	if data = bytes.TrimSpace(data); len(data) == 0 {
		return dst, nil
	}
	if string(data) == "[DONE]" {
		return d.done(dst)
	}
	if p := jsonw.CheckBytes(data); p != nil {
		return dst, protocolError("an event is not JSON: "+p.Error(), data)
	}
	c := chunk{root: jsonw.Parse(unsafe.String(unsafe.SliceData(data), len(data)))}
	d.passed, d.forms.part, d.forms.odd = false, nil, false
	switch {
	case c.root.IsObject():
		return d.chunk(dst, name, &c)
	case isFailure(c.root):
		return d.fail(dst, d.errorOf(c.root))
	}
	return dst, protocolError("an event is no JSON object", data)
}

func protocolError(msg string, data []byte) *wire.Error {
	return &wire.Error{Cause: wire.CauseProtocol, Message: msg, Body: wire.Excerpt(data)}
}

// pass passes a chunk on raw, once.
//
//go:noinline
func (d *decoder) pass(dst []wire.Event, c *chunk) []wire.Event {
	if d.passed {
		return dst
	}
	d.passed = true
	return append(dst, wire.Event{Kind: wire.EventOther, Raw: strings.Clone(string(c.root))})
}

func odd(dst []wire.Event, path, detail string) []wire.Event {
	return note(dst, wire.NoteOdd, path, detail)
}

//go:noinline
func note(dst []wire.Event, code wire.NoteCode, path, detail string) []wire.Event {
	return append(dst, wire.Event{Kind: wire.EventNote, Note: &wire.Note{Code: code, Path: path, Detail: detail}})
}

// once is odd for what is told once in a stream.
//
//go:noinline
func (d *decoder) once(dst []wire.Event, n noted, path, detail string) []wire.Event {
	if d.noted&n != 0 {
		return dst
	}
	d.noted |= n
	return odd(dst, path, detail)
}

func (d *decoder) chunk(dst []wire.Event, name string, c *chunk) ([]wire.Event, error) {
	for m := c.root.Members(); m.Next(); {
		switch m.Name() {
		case "id":
			if id := m.Value().Text(); d.id == "" && !d.begun && !placeholder(id) {
				d.id = strings.Clone(id)
			}
		case "model":
			if d.model == "" && !d.begun {
				d.model = strings.Clone(m.Value().Text())
			}
		case "object":
			c.object = m.Value().Str()
		case "choices":
			c.choices = m.Value()
		case "usage":
			c.usage = m.Value()
		case "error":
			c.err = m.Value()
		case "code":
			c.code = m.Value()
		case "message":
			c.message = m.Value()
		case "detail":
			c.detail = m.Value()
		case "type":
			c.typ = m.Value()
		case "base_resp":
			c.base = m.Value()
		case "x_groq":
			c.groq, c.unknown = m.Value(), true
		case "created", "obfuscation", "p": // the time, and padding
		default:
			c.unknown = true
		}
	}
	failed := name == "error" || c.failed()
	if !failed && !c.choices.Exists() && !c.usage.IsObject() && !strings.Contains(c.object, "completion") && d.head.Framing != wire.FramingWhole {
		if c.typ.Str() == "ping" {
			return dst, nil
		}
		d.alien = d.alien || !d.begun
		return d.pass(dst, c), nil
	}
	if c.unknown && !failed {
		dst = d.learnChunk(dst, c)
	}
	if d.id != "" && d.model != "" {
		dst = d.begin(dst)
	}
	c.whole = d.head.Framing == wire.FramingWhole
	for it := c.choices.Items(); it.Next(); {
		if v := it.Value(); v.IsObject() {
			var err error
			if dst, err = d.choice(dst, v, c, failed); err != nil || d.ended {
				return dst, err
			}
		}
	}
	dst = d.addUsage(dst, c.usage)
	dst = d.addUsage(dst, c.groq.Get("usage"))
	switch {
	case failed:
		return d.fail(dst, d.errorOf(c.root))
	case c.whole:
		return d.done(dst)
	}
	d.keepForm(c)
	return dst, nil
}

// learnChunk takes the members of a chunk that say something about the message
// as a whole.
func (d *decoder) learnChunk(dst []wire.Event, c *chunk) []wire.Event {
	for m := c.root.Members(); m.Next(); {
		switch name := m.Name(); name {
		case "id", "model", "object", "choices", "usage", "error", "code", "message", "detail", "type", "base_resp", "created", "obfuscation", "p":
		case "x_groq":
			for in := m.Value().Members(); in.Next(); {
				if in.Name() != "usage" { // which is taken as what it is
					dst = d.learnInto(dst, &d.groq, in.Name(), in.Value(), c)
				}
			}
		default:
			dst = d.learn(dst, name, m.Value(), c)
		}
	}
	return dst
}

// learn takes a member that says something about the message as a whole and has
// no other place. The last value stays; the chunk that brings another one is
// passed on, so that none is lost.
func (d *decoder) learn(dst []wire.Event, name string, v jsonw.Value, c *chunk) []wire.Event {
	return d.learnInto(dst, &d.vendor, name, v, c)
}

func (d *decoder) learnInto(dst []wire.Event, o *codec.Members, name string, v jsonw.Value, c *chunk) []wire.Event {
	if empty(v) {
		return dst
	}
	m := o.At(name)
	switch {
	case len(m.Raw) == 0:
		m.Raw = append(m.Raw, v...)
	case string(m.Raw) != string(v):
		m.Raw = append(m.Raw[:0], v...)
		d.forms.forget()
		dst = d.pass(dst, c)
	}
	return dst
}

// empty reports whether a value says nothing.
func empty(v jsonw.Value) bool {
	return v.IsNull() || v == `""` || v == "[]" || v == "{}"
}

// begin announces the message, if that was not done.
//
//go:noinline
func (d *decoder) begin(dst []wire.Event) []wire.Event {
	if d.begun {
		return dst
	}
	d.begun = true
	return append(dst, wire.Event{Kind: wire.EventStart, Start: &wire.Start{
		Origin:    wire.Origin{Protocol: Protocol, Model: d.model, ResponseID: d.id},
		RequestID: head.First(d.head, requestIDs[:]),
		RateLimit: head.RateLimits(d.head, rateLimits[:]),
	}})
}

// choice takes one choice of a chunk.
func (d *decoder) choice(dst []wire.Event, v jsonw.Value, c *chunk, failed bool) ([]wire.Event, error) {
	var delta, message, text, logprobs, reason, failure, use jsonw.Value
	unknown := false
	index := int64(0)
	for m := v.Members(); m.Next(); {
		switch m.Name() {
		case "index":
			index, _ = m.Value().Int()
		case "delta":
			delta = m.Value()
		case "message":
			message = m.Value()
		case "text":
			text = m.Value()
		case "logprobs":
			logprobs = m.Value()
		case "finish_reason":
			reason = m.Value()
		case "usage":
			use = m.Value()
		case "error":
			failure = m.Value()
		default:
			unknown = true
		}
	}
	dst = d.addUsage(dst, use)
	if index != 0 {
		return d.pass(d.once(dst, notedChoices, "choices", "there are several choices; the first one is read"), c), nil
	}
	if unknown {
		for m := v.Members(); m.Next(); {
			switch name := m.Name(); name {
			case "index", "delta", "message", "text", "logprobs", "finish_reason", "usage", "error":
			case "stop_reason", "matched_stop":
				if v := m.Value(); v.IsString() {
					d.detail = strings.Clone(v.Str())
				}
				fallthrough
			default:
				dst = d.learn(dst, name, m.Value(), c)
			}
		}
	}
	var err error
	switch {
	case delta.Exists(): // a message beside it repeats what came
		dst, err = d.delta(dst, delta, c)
	case message.IsObject() && (len(d.parts) > 0 || len(d.calls) > 0):
		dst = d.once(d.pass(dst, c), notedMessage, "choices.message", "the message was given whole after it had come in pieces")
	case message.IsObject():
		c.whole = c.whole || c.object == "chat.completion"
		c.listed = true
		dst, err = d.delta(dst, message, c)
	case text.IsString(): // the older protocol, whose prompt is a text
		dst = d.content(dst, text, text.Plain())
	case c.object == "chat.completion":
		c.whole = true
	}
	if err != nil {
		return dst, err
	}
	if logprobs.IsObject() {
		grow(&d.logprobs, logprobs)
		d.forms.odd = true
	}
	if !failed && isFailure(failure) {
		return d.fail(dst, d.errorOf(v))
	}
	if s := reason.Str(); !placeholder(strings.ToLower(strings.TrimSpace(s))) {
		if d.finishAt = d.chunks; d.finish == "" {
			d.firstEnd = d.chunks
		}
		switch d.finish {
		case "":
			d.finish = strings.Clone(s)
		case s:
		default:
			dst = d.once(dst, notedFinish, "choices.finish_reason", "a second finish reason, "+strconv.Quote(s)+", after "+strconv.Quote(d.finish))
		}
		d.forms.odd = true
	}
	return dst, nil
}

// grow adds a piece to an object that comes in pieces: arrays and texts are
// appended, anything else replaces.
func grow(o *codec.Members, piece jsonw.Value) {
	for m := piece.Members(); m.Next(); {
		switch v := m.Value(); {
		case v.IsNull():
		case v.IsArray():
			for it := v.Items(); it.Next(); {
				o.AppendItem(m.Name(), it.Value())
			}
		case v.IsString() && m.Name() != "id":
			o.AppendText(m.Name(), v)
		default:
			o.Set(m.Name(), v)
		}
	}
}

// delta takes a delta, or a whole message.
func (d *decoder) delta(dst []wire.Event, v jsonw.Value, c *chunk) ([]wire.Event, error) {
	var content, refusal, calls, function, details jsonw.Value
	var thought [3]jsonw.Value
	for m := v.Members(); m.Next(); {
		switch name := m.Name(); name {
		case "role":
		case "content":
			content = m.Value()
		case "refusal":
			refusal = m.Value()
		case "tool_calls":
			calls = m.Value()
		case "function_call":
			function = m.Value()
		case "reasoning_content":
			thought[0] = m.Value()
		case "reasoning":
			thought[1] = m.Value()
		case "reasoning_text":
			thought[2] = m.Value()
		case "reasoning_details":
			details = m.Value()
		case "audio":
			grow(&d.audio, m.Value())
			d.forms.odd = true
		default:
			dst = d.learnDelta(dst, name, m.Value(), c)
		}
	}
	dst = d.think(dst, &thought, details, c)
	if d.retold.held != "" && (!empty(content) || !empty(calls)) { // the reasoning is over
		dst = d.flushThought(dst)
	}
	dst = d.takeContent(dst, content, c)
	switch {
	case refusal.IsString():
		d.maybePlain(&d.refusal, refusal)
		dst = d.piece(dst, &d.refusal, refusal, refusal.Plain())
	case !refusal.IsNull():
		dst = d.pass(dst, c)
	}
	for it := calls.Items(); it.Next(); {
		if e := it.Value(); e.IsObject() {
			var err error
			if dst, err = d.toolCall(dst, e, c); err != nil {
				return dst, err
			}
		}
	}
	if calls.IsObject() { // one call that is not in a list
		return d.toolCall(dst, calls, c)
	}
	if function.IsObject() {
		return d.functionCall(dst, function, c)
	}
	return dst, nil
}

// learnDelta takes an unknown member of a delta. Lists come in pieces.
func (d *decoder) learnDelta(dst []wire.Event, name string, v jsonw.Value, c *chunk) []wire.Event {
	if !v.IsArray() {
		return d.learn(dst, name, v, c)
	}
	if string(d.vendor.At(name).Raw) == string(v) && name != "annotations" {
		return dst // said again
	}
	for it := v.Items(); it.Next(); {
		d.vendor.AppendItem(name, it.Value())
		d.forms.forget()
	}
	return dst
}

// takeContent takes the content of a delta: a text, or a list of typed chunks.
func (d *decoder) takeContent(dst []wire.Event, v jsonw.Value, c *chunk) []wire.Event {
	switch {
	case v.IsString():
		d.maybePlain(&d.text, v)
		return d.content(dst, v, v.Plain())
	case v.IsNull():
		return dst
	case !v.IsArray():
		return d.pass(dst, c)
	}
	d.forms.odd = true
	for it := v.Items(); it.Next(); {
		switch e := it.Value(); e.Get("type").Str() {
		case "text":
			if t := e.Get("text"); t.IsString() {
				dst = d.content(dst, t, t.Plain())
			}
		case "thinking":
			t := e.Get("thinking")
			if t.IsString() {
				dst = d.piece(dst, &d.reasoning, t, t.Plain())
			}
			for in := t.Items(); in.Next(); {
				if s := in.Value().Get("text"); s.IsString() {
					dst = d.piece(dst, &d.reasoning, s, s.Plain())
				} else {
					dst = d.pass(dst, c)
				}
			}
		default:
			if e.IsString() {
				dst = d.content(dst, e, e.Plain())
			} else if !e.IsNull() {
				d.vendor.AppendItem("content_parts", e)
			}
		}
	}
	return dst
}

// tags reports whether tags in the text mark the reasoning.
func (d *decoder) tags() bool { return d.says.thinkTags || d.says.thoughtTags }

// content hands out a piece of the answer's text.
func (d *decoder) content(dst []wire.Event, v jsonw.Value, plain bool) []wire.Event {
	if !d.tags() {
		return d.piece(dst, &d.text, v, plain)
	}
	s, high := d.texts.Text(d.text.high, v, plain)
	d.text.high = high
	return d.tagged(dst, s)
}

// piece hands out a piece of a part; plain says that v has no escapes.
func (d *decoder) piece(dst []wire.Event, p *part, v jsonw.Value, plain bool) []wire.Event {
	s, high := d.texts.Text(p.high, v, plain)
	p.high = high
	return d.emit(dst, p, s)
}

//go:noinline
func (d *decoder) emit(dst []wire.Event, p *part, s string) []wire.Event {
	if s == "" {
		return dst
	}
	if !p.begun {
		dst = d.startPart(dst, p, nil)
	}
	return append(dst, wire.Event{Kind: wire.EventDelta, Part: p.kind, Index: p.index, Delta: s})
}

// startPart announces a part, if that was not done.
func (d *decoder) startPart(dst []wire.Event, p *part, data *wire.Part) []wire.Event {
	if p.begun {
		return dst
	}
	dst = d.begin(dst)
	p.begun, p.index = true, len(d.parts)
	d.parts = append(d.parts, p)
	return append(dst, wire.Event{Kind: wire.EventPartStart, Part: p.kind, Index: p.index, Data: data})
}

func (d *decoder) addUsage(dst []wire.Event, u jsonw.Value) []wire.Event {
	if !u.IsObject() {
		return dst
	}
	changed := d.usage.add(u)
	if d.usage.over == 1 {
		d.usage.over++
		dst = note(dst, wire.NoteDropped, "usage", "of the vendor's usage object only "+strconv.Itoa(maxUsage)+" bytes are kept")
	}
	if !changed {
		return dst
	}
	return append(dst, wire.Event{Kind: wire.EventUsage, Usage: d.usage.snapshot()})
}
