package openaichat

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
)

// find returns the first part of a turn that is sent and has this kind and id,
// nil if there is none.
func (e *encoder) find(t turn, kind wire.PartKind, id string) *wire.Part {
	for i := t.from; i < t.to; i++ {
		m := &e.r.Messages[i]
		for j := range m.Parts {
			if p := &m.Parts[j]; p.Kind == kind && p.ID == id && e.fate(m, p) == sent {
				return p
			}
		}
	}
	return nil
}

// findCall returns the call of a turn with this id. A call of an unknown type is
// one too.
func (e *encoder) findCall(t turn, id string) *wire.Part {
	if p := e.find(t, wire.PartToolCall, id); p != nil {
		return p
	}
	return e.findOpaque(t, id)
}

// findOpaque is find for the opaque parts of the assistant's messages.
func (e *encoder) findOpaque(t turn, id string) *wire.Part {
	for i := t.from; i < t.to; i++ {
		if e.r.Messages[i].Role == wire.RoleAssistant {
			if p := e.find(turn{i, i + 1}, wire.PartOpaque, id); p != nil {
				return p
			}
		}
	}
	return nil
}

// unanswered refuses the calls that are there twice, and those without a result
// in the turn that answers.
func (e *encoder) unanswered(calls, answer turn) {
	for i := calls.from; i < calls.to; i++ {
		m := &e.r.Messages[i]
		for j := range m.Parts {
			p := &m.Parts[j]
			if m.Role != wire.RoleAssistant || p.Kind != wire.PartToolCall && p.Kind != wire.PartOpaque || e.fate(m, p) != sent {
				continue
			}
			if e.findCall(calls, p.ID) != p {
				e.Refuse(codec.Part(i, j).String()+".id", "the call "+strconv.Quote(p.ID)+" is there twice", "give every call of a turn its own id")
			} else if e.find(answer, wire.PartToolResult, p.ID) == nil {
				e.Refuse(codec.Part(i, j).String(), "the call "+strconv.Quote(p.ID)+" has no result in the turn that follows",
					"append its result, or an error result that says it was not run")
			}
		}
	}
}

// orphans refuses the results that have no call, and second ones.
func (e *encoder) orphans(calls, answer turn) {
	for i := answer.from; i < answer.to; i++ {
		m := &e.r.Messages[i]
		for j := range m.Parts {
			p := &m.Parts[j]
			if p.Kind != wire.PartToolResult || e.fate(m, p) != sent {
				continue
			}
			if e.findCall(calls, p.ID) == nil {
				e.Refuse(codec.Part(i, j).String(), "the result "+strconv.Quote(p.ID)+" has no call in the assistant turn before it", "drop it, or add the message with the call")
			} else if e.find(answer, wire.PartToolResult, p.ID) != p {
				e.Refuse(codec.Part(i, j).String(), "the call "+strconv.Quote(p.ID)+" has two results", "keep one")
			}
		}
	}
}

// moved tells of what stands before a result in an answer and is sent behind it,
// once for each message.
func (e *encoder) moved(answer turn) {
	last, part := -1, -1 // the last result
	for k := answer.to - 1; k >= answer.from && last < 0; k-- {
		m := &e.r.Messages[k]
		for j := len(m.Parts) - 1; j >= 0 && last < 0; j-- {
			if p := &m.Parts[j]; p.Kind == wire.PartToolResult && e.fate(m, p) == sent {
				last, part = k, j
			}
		}
	}
	for k := max(answer.from, e.lead); k <= last; k++ {
		m := &e.r.Messages[k]
		for j := range m.Parts {
			if k == last && j > part {
				break
			}
			if p := &m.Parts[j]; p.Kind != wire.PartToolResult && e.fate(m, p) == sent && (p.Kind != wire.PartText || p.Text != "") {
				e.Note(wire.NoteConverted, codec.Item("messages", k).String(), "what stands before the result of a tool is sent behind it, since results follow their call at once")
				break
			}
		}
	}
}

// results writes the results of the calls of message i, and returns how many
// media parts of theirs have to follow.
func (e *encoder) results(i int, answer turn) (media int) {
	for k := answer.from; k < answer.to; k++ {
		m := &e.r.Messages[k]
		for j := range m.Parts {
			p := &m.Parts[j]
			if p.Kind != wire.PartToolResult || e.fate(m, p) != sent {
				continue
			}
			if call := e.findCall(turn{i, i + 1}, p.ID); call != nil {
				media += e.result(p, call, e.own(m.Origin), codec.Part(k, j))
			}
		}
	}
	return media
}

// The texts that stand for what a message of a tool cannot hold.
const (
	noOutput   = "(no tool output)"
	seeImage   = "(see attached image)"
	seeFile    = "(see attached file)"
	errorText  = "Error: "
	errorWord  = "error"
	noVision   = "(an image is left out: the model sees none)"
	noFiles    = "(a file is left out: the model takes none)"
	linkBegins = "(an image is left out that stands at "
)

// result writes the result of a call as one message, its texts joined. There is
// no mark for a failed tool, so the text says it.
func (e *encoder) result(p, call *wire.Part, own bool, at codec.Place) (media int) {
	texts, parts, image, first := 0, false, false, ""
	for i := range p.Parts {
		c := &p.Parts[i]
		switch s := e.said(c); {
		case s != "":
			if texts++; texts == 1 {
				first = s
			}
			parts = parts || e.trimmed(c, own)
		case c.Kind == wire.PartMedia:
			media++
			image = image || c.Media == nil || c.Media.FileID == "" && isImage(c.Media)
		}
	}
	e.open(roleTool)
	e.Lit(`,"tool_call_id":`)
	if call.Kind == wire.PartOpaque {
		e.Str(p.ID) // the call goes out as it is
	} else {
		e.id(p.ID, at)
	}
	if e.profile.ToolName {
		e.Lit(`,"name":`)
		e.Name(cmp.Or(p.Name, call.Name), maxName, at, ".name")
	}
	prefix := ""
	if p.IsError && !saysError(first) {
		prefix = errorText
		e.Note(wire.NoteConverted, at.String()+".is_error", "the text begins with "+strconv.Quote(errorText))
	}
	c := e.content(parts)
	for i := range p.Parts {
		q := &p.Parts[i]
		inner := at.Inner(i)
		s := e.said(q)
		switch {
		case q.Kind == wire.PartText && s == "":
		case s != "":
			if q.Kind == wire.PartMedia {
				e.local(q.Media, inner)
				e.tellOmitted(s, inner)
			}
			if c.n == 0 && prefix != "" {
				s = prefix + s
			}
			e.text(&c, s, q, own && q.Kind == wire.PartText, inner)
		case q.Kind == wire.PartMedia:
			e.Note(wire.NoteConverted, inner.String(), "it follows the results in a message of the user's")
		case q.Kind == wire.PartOpaque:
			e.Dropped(inner.String(), "the result of a tool holds text alone")
		default:
			e.Refuse(inner.String(), "a result holds text and media, not "+strconv.Quote(string(q.Kind)), "")
		}
	}
	if c.n == 0 {
		switch {
		case image:
			e.Lit(`"` + prefix + seeImage + `"`)
		case media > 0:
			e.Lit(`"` + prefix + seeFile + `"`)
		default:
			e.Lit(`"` + prefix + noOutput + `"`)
			e.Note(wire.NoteInserted, at.String(), "a result without anything in it says "+noOutput)
		}
		c.n, c.parts = 1, false
	}
	e.end(&c)
	if p.Vendor != "" {
		e.Dropped(at.String()+".vendor", "a message of a tool has no further members")
	}
	if p.Cache != nil {
		e.Dropped(at.String()+".cache", "a result cannot carry a cache mark, its text can")
	}
	e.Lit(`}`)
	return media
}

// said is what a part of a result says within the message of the tool: its text,
// or a line that stands for media that the server does not take.
func (e *encoder) said(p *wire.Part) string {
	switch p.Kind {
	case wire.PartText:
		return p.Text
	case wire.PartMedia:
		return e.omitted(p.Media)
	}
	return ""
}

// saysError reports whether a text begins with the word error.
func saysError(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n")
	return len(s) >= len(errorWord) && strings.EqualFold(s[:len(errorWord)], errorWord)
}

// attachments writes one message of the user's with the media of the results, a
// line before those of each call.
func (e *encoder) attachments(calls, answer turn) {
	e.open(roleUser)
	c := e.content(true)
	for i := answer.from; i < answer.to; i++ {
		m := &e.r.Messages[i]
		for j := range m.Parts {
			p := &m.Parts[j]
			if p.Kind != wire.PartToolResult || e.fate(m, p) != sent {
				continue
			}
			call := e.findCall(calls, p.ID)
			if call == nil {
				continue
			}
			said := false
			for k := range p.Parts {
				q := &p.Parts[k]
				if q.Kind != wire.PartMedia || e.omitted(q.Media) != "" {
					continue
				}
				if !said {
					said = true
					e.next(&c)
					e.Lit(`{"type":"text","text":`)
					e.Str(e.label(p, call))
					e.Lit(`}`)
				}
				e.media(&c, q, e.own(m.Origin), codec.Part(i, j).Inner(k))
			}
		}
	}
	e.end(&c)
	e.Lit(`}`)
}

// label says which call the media that follow belong to.
func (e *encoder) label(p, call *wire.Part) string {
	id := p.ID
	if call.Kind == wire.PartToolCall {
		id = e.idOf(id)
	}
	s := "Attached by tool call " + id
	if call.Name != "" {
		s += " (" + call.Name + ")"
	}
	return s + ":"
}
