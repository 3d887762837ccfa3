package openaichat

import (
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// maxCalls bounds the tool calls of one message.
const maxCalls = 1024

// call is a tool call.
type call struct {
	part
	ordinal  int
	index    int64 // the vendor's
	indexed  bool  // there was one
	id       string
	vendorID string // as the vendor gave it
	name     string
	free     bool
	noted    callNote // what a note has told
	first    int      // the chunk that it began in
	last     int      // the last chunk that had a piece of it
	pending  []byte   // arguments that came before the name
	args     scan
	again    []byte        // what came behind whole arguments and may be all of them once more
	facts    codec.Members // what becomes the part's Vendor

	// Of a call of an unknown type, whose name is that type:
	opaque *block
	size   int // bytes of its pieces
	after  int // function calls that had begun before it
}

// callNote are the things that are told once of a call.
type callNote uint16

const (
	notedUnnamed callNote = 1 << iota
	notedLateID
	notedID
	notedOldForm
	notedRepeat
	notedSeveral
	notedCut
	notedObject
	notedName
)

// entry is one entry of tool_calls. Its texts point into the caller's data.
type entry struct {
	index         int64
	indexed       bool
	id, typ, name string
	args          jsonw.Value
	free          bool
	shaped        bool // it has the form of a call of a known type
}

// anew reports whether e begins another call than c, whose id or index it has:
// it has a name, and whole arguments that are not those of c.
func (e *entry) anew(c *call) bool {
	if e.name == "" || !c.args.complete() {
		return false
	}
	s := e.args.Str()
	if e.args.IsObject() {
		s = compact(e.args)
	}
	return strings.HasPrefix(strings.TrimLeft(s, " \n\r\t"), "{") && !c.args.repeats(s) || e.name != c.name && c.name != ""
}

// find returns the call that an entry belongs to, nil if it begins one. Ids are
// trusted most, then indices, then the order.
func (d *decoder) find(e *entry) *call {
	if e.id != "" {
		if c := d.callOf(e); c != nil {
			if e.anew(c) || e.name != "" && e.indexed && c.indexed && e.index != c.index {
				return nil // the id comes again
			}
			return c
		}
	}
	var last *call
	if n := len(d.calls); n > 0 {
		last = d.calls[n-1]
	}
	if e.indexed {
		for i := len(d.calls) - 1; i >= 0; i-- {
			c := d.calls[i]
			if !c.indexed || c.index != e.index {
				continue
			}
			if e.id != "" && e.name != "" && c.vendorID != "" || e.anew(c) {
				return nil // the index comes again
			}
			return c
		}
		if last != nil && !last.indexed && e.id == "" && e.name == "" {
			last.index, last.indexed = e.index, true
			return last
		}
		return nil
	}
	switch {
	case last == nil || e.id != "":
		return nil
	case e.name == "", last.name == "", e.name == last.name && last.args.depth > 0:
		return last
	}
	return nil
}

// callOf returns the last call of the id of e, the one of its index if several
// have it.
func (d *decoder) callOf(e *entry) *call {
	var found *call
	for i := len(d.calls) - 1; i >= 0; i-- {
		c := d.calls[i]
		if c.vendorID != e.id {
			continue
		}
		if !e.indexed || c.indexed && c.index == e.index {
			return c
		}
		if found == nil {
			found = c
		}
	}
	return found
}

// placeholder reports whether an id or a finish reason is none.
func placeholder(s string) bool { return s == "" || s == "null" }

// toolCall takes an entry of tool_calls.
func (d *decoder) toolCall(dst []wire.Event, v jsonw.Value, ch *chunk) ([]wire.Event, error) {
	var e entry
	var function, custom jsonw.Value
	unknown := false
	for m := v.Members(); m.Next(); {
		switch m.Name() {
		case "index":
			e.index, e.indexed = m.Value().Int()
		case "id":
			if e.id = m.Value().Text(); placeholder(e.id) {
				e.id = ""
			}
		case "type":
			e.typ = m.Value().Str()
		case "function":
			function = m.Value()
		case "custom":
			custom = m.Value()
		default:
			unknown = unknown || !m.Value().IsNull()
		}
	}
	switch {
	case function.IsObject():
	case custom.IsObject():
		e.free = true
	case e.typ == "custom":
		e.free = true
	case e.typ != "" && e.typ != "function":
		return d.opaqueCall(dst, d.findOpaque(&e), v, &e)
	}
	if len(d.opaques) > 0 && e.typ == "" {
		e.name = function.Get("name").Str() + custom.Get("name").Str()
		e.shaped = function.IsObject() || custom.IsObject()
		if c := d.findOpaque(&e); c != nil {
			return d.opaqueCall(dst, c, v, &e)
		}
	}
	body, args := function, "arguments"
	if e.free {
		body, args = custom, "input"
	}
	for m := body.Members(); m.Next(); {
		switch m.Name() {
		case "name":
			e.name = m.Value().Str()
		case args:
			e.args = m.Value()
		default:
			if !m.Value().IsNull() {
				dst = d.pass(dst, ch)
			}
		}
	}
	var c *call
	if !ch.listed { // else every entry is a call, whatever its id
		c = d.find(&e)
	}
	dst, c, err := d.takeCall(dst, c, &e)
	if err != nil {
		return dst, err
	}
	if unknown {
		for m := v.Members(); m.Next(); {
			switch m.Name() {
			case "index", "id", "type", "function", "custom":
			default:
				if !m.Value().IsNull() {
					c.facts.Set(m.Name(), m.Value())
				}
			}
		}
	}
	if e.typ != "" && e.typ != "function" && e.typ != "custom" {
		c.facts.Set("type", v.Get("type"))
	}
	if unknown || e.id != "" || e.name != "" || !e.args.IsString() {
		d.forms.odd = true
	} else {
		d.maybePlain(&c.part, e.args)
	}
	return d.callArgs(dst, c, &e), nil
}

// functionCall takes the only call of the older form.
func (d *decoder) functionCall(dst []wire.Event, v jsonw.Value, ch *chunk) ([]wire.Event, error) {
	d.forms.odd = true
	e := entry{name: v.Get("name").Str(), args: v.Get("arguments")}
	var c *call
	if len(d.calls) > 0 {
		c = d.calls[0]
	}
	known := c != nil
	dst, c, err := d.takeCall(dst, c, &e)
	if err != nil {
		return dst, err
	}
	if !known {
		dst = c.odd(dst, notedOldForm, wire.NoteConverted, "a function_call, the form before tool calls, became a tool call")
	}
	return d.callArgs(dst, c, &e), nil
}

func tooManyCalls() *wire.Error {
	return &wire.Error{Cause: wire.CauseLimit, Message: "the message has more than " + strconv.Itoa(maxCalls) + " tool calls"}
}

// takeCall takes the id and the name of an entry into its call, a new one if c
// is nil, and announces the call once it has a name.
func (d *decoder) takeCall(dst []wire.Event, c *call, e *entry) ([]wire.Event, *call, error) {
	if c == nil {
		if len(d.calls) >= maxCalls {
			return dst, nil, tooManyCalls()
		}
		c = &call{ordinal: len(d.calls), index: e.index, indexed: e.indexed, free: e.free, first: d.chunks}
		c.kind, c.call = wire.PartToolCall, c
		d.calls = append(d.calls, c)
		d.forms.forget()
	}
	c.last = d.chunks
	late := false
	if e.id != "" && c.vendorID == "" {
		c.vendorID = strings.Clone(e.id)
		late = c.begun
	}
	switch {
	case e.name == "" || e.name == c.name:
	case c.name == "":
		c.name = strings.Clone(e.name)
		c.free = c.free || e.free
	default: // names come whole, so it is no piece of one
		dst = c.odd(dst, notedName, wire.NoteOdd, "another name came for it, "+strconv.Quote(wire.Excerpt([]byte(e.name)))+", which was left out")
	}
	if c.name == "" || c.begun {
		if late {
			dst = c.odd(dst, notedLateID, wire.NoteRepaired, "its id came after it had begun and another one had been made up")
		}
		return dst, c, nil
	}
	c.id = c.vendorID
	if c.id == "" || d.taken(c.id, c) {
		detail := "it has no id, so one was made up"
		if c.id != "" {
			detail = "its id is that of another call, so one was made up"
		}
		c.id = d.mint(c)
		dst = c.odd(dst, notedID, wire.NoteRepaired, detail)
	}
	dst = d.startPart(dst, &c.part, &wire.Part{ID: c.id, Name: c.name, FreeForm: c.free})
	if len(c.pending) > 0 {
		dst = append(dst, wire.Event{Kind: wire.EventDelta, Part: c.kind, Index: c.part.index, Delta: string(c.pending)})
		c.pending = nil
	}
	return dst, c, nil
}

// taken reports whether a call besides c has this id.
func (d *decoder) taken(id string, c *call) bool {
	for _, o := range d.calls {
		if o != c && o.id == id {
			return true
		}
	}
	return false
}

// mint makes an id up, always the same one for the same place in the same
// response.
func (d *decoder) mint(c *call) string {
	for n := c.ordinal; ; n += maxCalls {
		id := "call" + codec.SafeName("_"+d.id+" "+strconv.Itoa(n), 18)[1:]
		if !d.taken(id, c) {
			return id
		}
	}
}

// odd is a note on a call, of which it gets one of each kind.
func (c *call) odd(dst []wire.Event, n callNote, code wire.NoteCode, detail string) []wire.Event {
	if c.noted&n != 0 {
		return dst
	}
	c.noted |= n
	return note(dst, code, "tool_calls["+strconv.Itoa(c.ordinal)+"]", detail)
}

// callState says what the end of a message tells about one of its calls.
type callState struct {
	over bool // nothing more of it was to come
	cut  bool // more of it may have been to come, and the body ended
}

// state returns the state of a call at the end of the message. A finish reason
// that came with the beginning of a call, or before its last piece, does not say
// that the call is over.
func (d *decoder) state(c *call) callState {
	return callState{
		over: d.finish != "" && d.finishAt >= c.last && (d.natural || d.firstEnd > c.first),
		cut:  !d.natural && d.finishAt <= c.last,
	}
}

// end finishes a call: what is to be told about it, and arguments if none came.
func (c *call) end(dst []wire.Event, data *wire.Part, s callState) []wire.Event {
	if c.opaque != nil {
		return c.endOpaque(dst, data, s)
	}
	switch none := c.args.n == 0 && c.high == 0; {
	case data.Partial:
	case none && !s.over:
		dst = c.odd(dst, notedCut, wire.NoteOdd, "it has no arguments, and nothing says that none were to come, so it cannot be run")
		data.Partial = true
	case none && !c.free:
		dst = append(dst, wire.Event{Kind: wire.EventDelta, Part: c.kind, Index: c.part.index, Delta: "{}"})
	case s.cut && (c.free && !s.over || !c.free && !c.args.whole):
		dst = c.odd(dst, notedCut, wire.NoteOdd, "the body ended before its arguments were complete, so it cannot be run")
		data.Partial = true
	}
	if c.args.more {
		dst = c.odd(dst, notedSeveral, wire.NoteOdd, "its arguments are several JSON values, those of other calls among them, so it cannot be run")
		data.Partial = true
	}
	if c.vendorID != "" && c.vendorID != c.id {
		c.facts.Set("id", jsonw.Value(jsonw.AppendString(nil, c.vendorID)))
	}
	data.Vendor = c.facts.Object()
	return dst
}
