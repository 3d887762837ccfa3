package golden_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/handwire/handwire/wire"
)

// toy is a codec of a protocol of our own, whose blocks are JSON objects: start,
// open, delta, close, usage, error, done. The done block is the terminal mark.
// A whole document is an array of them. With bug it breaks one promise.
type toy struct {
	bug      string
	decoders *atomic.Int64 // for the bugs that count
}

func (toy) Protocol() string { return "toy" }

// Check refuses what another protocol left in its own words.
func (c toy) Check(r *wire.Request) []wire.Finding {
	var found wire.Findings
	for i := range r.Messages {
		for j := range r.Messages[i].Parts {
			if r.Messages[i].Parts[j].Kind == wire.PartOpaque {
				found = append(found, wire.Finding{Path: "messages[" + strconv.Itoa(i) + "].parts[" + strconv.Itoa(j) + "]",
					Rule: "the toy cannot read it", Remedy: "say it in words"})
			}
		}
	}
	if len(found) > 0 {
		found = append(found, wire.Finding{Rule: "sums\nup"})
	}
	return found
}

func (c toy) Encode(call *wire.Call, r *wire.Request) error {
	if c.bug != "dirty" {
		call.Reset()
	}
	call.Path = "/toy"
	call.Header = append(call.Header, wire.Header{Name: "Toy-Version", Value: "1"})
	call.Framing = wire.FramingSSE
	b := append(call.Body, '{')
	head := [][2]string{{"model", r.Model}, {"kind", "toy"}, {"more", "x"}}
	switch c.bug {
	case "map order":
		m := map[[2]string]bool{}
		for _, h := range head {
			m[h] = true
		}
		head = head[:0]
		for h := range m {
			head = append(head, h)
		}
	case "invalid":
		b = append(b, '{')
	case "unstable":
		head = append(head, [2]string{"length", strconv.Itoa(len(r.Messages))})
	case "edit":
		r.Messages[0].Parts[0].Text += "!"
	case "append message":
		_ = append(r.Messages, wire.UserText("more"))
	case "append part":
		_ = append(r.Messages[0].Parts, wire.TextPart("more"))
	case "refuse":
		return wire.Findings{{Rule: "nothing can be sent"}}
	case "other refusals":
		if n := c.decoders.Add(1); n > 1 {
			return wire.Findings{{Rule: "refused " + strconv.FormatInt(n, 10) + " times"}}
		}
	case "no findings":
		return errors.New("no idea")
	}
	if found := c.Check(r); found != nil && c.bug != "send all" {
		switch c.bug {
		case "find more":
			found = append(found, wire.Finding{Path: "model", Rule: "is dull"})
		case "edit and refuse":
			r.Messages[0].Parts[0].Text += "!"
		}
		return wire.Findings(found)
	}
	for _, h := range head {
		b = append(b, quote(h[0])+":"+quote(h[1])+","...)
	}
	b = append(b, `"messages":[`...)
	for i := range r.Messages {
		m := &r.Messages[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"role":`+quote(string(m.Role))+`,"parts":[`...)
		sep := ""
		for j, p := range m.Parts {
			var s string
			switch p.Kind {
			case wire.PartText:
				s = `{"text":` + quote(p.Text)
			case wire.PartToolCall:
				s = `{"id":` + quote(p.ID) + `,"name":` + quote(p.Name) + `,"args":` + p.Args
			case wire.PartToolResult:
				s = `{"id":` + quote(p.ID) + `,"result":` + quote(p.Parts[0].Text)
			default:
				call.Notes = append(call.Notes, wire.Note{Code: wire.NoteDropped,
					Path:   "messages[" + strconv.Itoa(i) + "].parts[" + strconv.Itoa(j) + "]",
					Detail: "the toy has no " + string(p.Kind)})
				continue
			}
			if r.Cache != nil && i == len(r.Messages)-1 && j == len(m.Parts)-1 {
				s += toyMark
			}
			b = append(b, sep+s+"}"...)
			sep = ","
		}
		b = append(b, "]}"...)
	}
	call.Body = append(b, "]}"...)
	return nil
}

// toyMark moves from turn to turn.
const toyMark = `,"mark":true`

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func (c toy) DecodeError(h wire.Head, body []byte) *wire.Error {
	if c.bug == "no error" && len(body) < 10 {
		return nil
	}
	var e struct{ Msg string }
	_ = json.Unmarshal(body, &e)
	return &wire.Error{Cause: wire.CauseVendor, Class: wire.ClassRateLimit, Status: h.Status,
		Message: e.Msg, RequestID: h.Header("Request-Id")}
}

func (c toy) NewDecoder(h wire.Head) wire.Decoder {
	d := &toyDecoder{bug: c.bug, head: h}
	if c.bug == "state" {
		d.nth = c.decoders.Add(1)
	}
	return d
}

type toyDecoder struct {
	bug   string
	head  wire.Head
	nth   int64
	done  bool // an end event was made
	err   *wire.Error
	index int
	kind  wire.PartKind
	live  bool // a part is open
	text  bool // something came
	seen  int
}

type toyBlock struct {
	T, ID, Model, Kind, Name, S, Msg, Why string
	In, Out                               int64
}

func (d *toyDecoder) Decode(dst []wire.Event, _ string, data []byte) ([]wire.Event, error) {
	if d.done && d.bug != "talkative" {
		return dst, nil
	}
	if d.head.Framing == wire.FramingWhole && len(data) > 0 && data[0] == '[' {
		var blocks []json.RawMessage
		if err := json.Unmarshal(data, &blocks); err != nil {
			return dst, errors.New("no array")
		}
		for _, b := range blocks {
			dst = d.block(dst, b)
		}
		return dst, nil
	}
	if !json.Valid(data) {
		return dst, errors.New("no JSON")
	}
	return d.block(dst, data), nil
}

func (d *toyDecoder) block(dst []wire.Event, data []byte) []wire.Event {
	var b toyBlock
	_ = json.Unmarshal(data, &b)
	d.text = true
	d.seen++
	switch b.T {
	case "start":
		if d.nth > 1 {
			dst = append(dst, wire.Event{Kind: wire.EventNote, Note: &wire.Note{Code: wire.NoteOdd, Path: "start"}})
		}
		dst = append(dst, wire.Event{Kind: wire.EventStart, Start: &wire.Start{
			Origin:    wire.Origin{Protocol: "toy", Model: b.Model, ResponseID: b.ID},
			RequestID: d.head.Header("Request-Id")}})
	case "open":
		d.kind, d.live = wire.PartKind(b.Kind), true
		ev := wire.Event{Kind: wire.EventPartStart, Index: d.index, Part: d.kind}
		if b.ID != "" {
			ev.Data = &wire.Part{Kind: d.kind, ID: b.ID, Name: b.Name}
		}
		dst = append(dst, ev)
	case "delta":
		if d.bug == "wrong text" {
			b.S = strings.ToUpper(b.S)
		}
		if d.bug == "keeps" {
			i := strings.Index(string(data), `"s":"`) + len(`"s":"`)
			b.S = unsafe.String(&data[i], 3)
		}
		dst = append(dst, wire.Event{Kind: wire.EventDelta, Index: d.index, Part: d.kind, Delta: b.S})
	case "close":
		if d.bug == "no part end" {
			d.index++
			return dst
		}
		dst = append(dst, wire.Event{Kind: wire.EventPartEnd, Index: d.index, Part: d.kind})
		d.index++
		d.live = false
	case "usage":
		if d.bug == "early" {
			return d.finish(dst, "stop")
		}
		dst = append(dst, wire.Event{Kind: wire.EventUsage, Usage: &wire.Usage{
			InputTokens: wire.CountOf(b.In), OutputTokens: wire.CountOf(b.Out)}})
	case "error":
		return d.fail(dst, &wire.Error{Cause: wire.CauseVendor, Class: wire.ClassOverloaded, Status: d.head.Status, Message: b.Msg})
	case "done":
		if d.bug == "late" || d.bug == "hollow" {
			return dst
		}
		return d.finish(dst, b.Why)
	default:
		if !d.done {
			dst = append(dst, wire.Event{Kind: wire.EventOther, Raw: string(data)})
		} else {
			dst = append(dst, wire.Event{Kind: wire.EventOther, Raw: "late"})
		}
	}
	return dst
}

func (d *toyDecoder) finish(dst []wire.Event, why string) []wire.Event {
	d.done = true
	return append(dst, wire.Event{Kind: wire.EventEnd, End: &wire.Ending{
		Cause: wire.CauseFinished, Finish: wire.FinishReason(why), VendorFinish: why}})
}

func (d *toyDecoder) fail(dst []wire.Event, err *wire.Error) []wire.Event {
	d.done, d.err = true, err
	if d.live {
		if d.bug == "apology" && d.kind == wire.PartText {
			dst = append(dst, wire.Event{Kind: wire.EventDelta, Index: d.index, Part: d.kind, Delta: " (sorry)"})
		}
		ev := wire.Event{Kind: wire.EventPartEnd, Index: d.index, Part: d.kind, Data: &wire.Part{Partial: true}}
		if d.bug == "unmarked" {
			ev.Data = nil
		}
		dst = append(dst, ev)
	}
	return append(dst, wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: err.Cause, Err: err}})
}

func (d *toyDecoder) End(dst []wire.Event, cause error) ([]wire.Event, error) {
	switch {
	case d.done && d.bug == "end again":
		return d.finish(dst, "stop"), nil
	case d.done && d.bug == "forgets error":
		return dst, nil
	case d.done:
	case cause == nil && d.bug == "lenient" && d.text && !d.live:
		dst = d.finish(dst, "stop")
	case cause == nil && d.bug == "hollow":
		if !d.text {
			dst = append(dst, wire.Event{Kind: wire.EventStart, Start: &wire.Start{}})
		}
		dst = d.finish(dst, "stop")
	case d.bug == "panic" && cause != nil && d.seen == 3:
		panic("index out of range")
	case cause == nil || d.bug == "wrong cause":
		dst = d.fail(dst, &wire.Error{Cause: wire.CauseTruncated, Message: "the stream ended without done"})
	default:
		dst = d.fail(dst, wire.AsError(cause, wire.CauseProtocol))
	}
	if d.err == nil {
		return dst, nil
	}
	return dst, d.err
}

// plain is a second protocol: lines of text, over when a line says so.
type plain struct{}

func (plain) Protocol() string                   { return "plain" }
func (plain) Check(*wire.Request) []wire.Finding { return nil }

func (plain) Encode(call *wire.Call, r *wire.Request) error {
	call.Reset()
	call.Path, call.Framing = "/plain", wire.FramingLines
	call.Body = append(call.Body, '[')
	for i := range r.Messages {
		if i > 0 {
			call.Body = append(call.Body, ',')
		}
		call.Body = append(call.Body, quote(r.Messages[i].Text())...)
	}
	call.Body = append(call.Body, ']')
	return nil
}

func (plain) DecodeError(h wire.Head, _ []byte) *wire.Error {
	return &wire.Error{Cause: wire.CauseVendor, Status: h.Status}
}

func (plain) NewDecoder(wire.Head) wire.Decoder { return &plainDecoder{} }

type plainDecoder struct {
	begun, done bool
	err         error
}

func (d *plainDecoder) Decode(dst []wire.Event, _ string, data []byte) ([]wire.Event, error) {
	var line struct {
		Say  string
		Over bool
	}
	if d.done {
		return dst, nil
	}
	if err := json.Unmarshal(data, &line); err != nil {
		return append(dst, wire.Event{Kind: wire.EventNote,
			Note: &wire.Note{Code: wire.NoteOdd, Path: "line", Detail: "no JSON"}}), nil
	}
	if !d.begun {
		d.begun = true
		dst = append(dst,
			wire.Event{Kind: wire.EventStart, Start: &wire.Start{Origin: wire.Origin{Protocol: "plain"}}},
			wire.Event{Kind: wire.EventPartStart, Part: wire.PartText})
	}
	if line.Say != "" {
		dst = append(dst, wire.Event{Kind: wire.EventDelta, Part: wire.PartText, Delta: line.Say})
	}
	if line.Over {
		d.done = true
		dst = append(dst, wire.Event{Kind: wire.EventPartEnd, Part: wire.PartText},
			wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop}})
	}
	return dst, nil
}

func (d *plainDecoder) End(dst []wire.Event, cause error) ([]wire.Event, error) {
	if d.done {
		return dst, d.err
	}
	d.done = true
	e := &wire.Error{Cause: wire.CauseTruncated}
	if cause != nil {
		e = wire.AsError(cause, wire.CauseProtocol)
	}
	d.err = e
	if d.begun {
		dst = append(dst, wire.Event{Kind: wire.EventPartEnd, Part: wire.PartText, Data: &wire.Part{Partial: true}})
	}
	return append(dst, wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: e.Cause, Err: e}}), d.err
}
