package agent

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/handwire/handwire/wire"
)

// Role says whose an entry of a [Conversation] is.
type Role string

// The roles. Their words are those of [wire.Role], but for the last.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"   // results of tools and nothing else
	RoleSystem    Role = "system" // an instruction in the middle of a conversation
	RoleNotice    Role = "notice" // for people, and never sent to a model
)

// Status says how far an entry is.
type Status string

// The statuses. Only entries of the assistant's are ever anything but complete.
const (
	StatusStreaming Status = "streaming" // its stream goes on
	StatusComplete  Status = "complete"
	StatusError     Status = "error"     // its stream failed; it is never sent
	StatusCancelled Status = "cancelled" // the caller ended it; of it only the text is sent
)

// Entry is one entry of a [Conversation]. It is a value: what its fields lead to
// is shared, and must not be changed.
type Entry struct {
	// ID names the entry, uniquely within its conversation and its forks' common
	// part. It is given by [Conversation.Add].
	ID     string `json:"id"`
	Role   Role   `json:"role"`
	Status Status `json:"status"`
	// Time is when the entry was added.
	Time  time.Time   `json:"time,omitzero"`
	Parts []wire.Part `json:"parts,omitempty"`
	// Usage, Ending, Origin, Vendor, RequestID and Notes are those of a model's
	// response; see [wire.Response] and [wire.Message].
	Usage     wire.Usage   `json:"usage,omitzero"`
	Ending    *wire.Ending `json:"ending,omitempty"`
	Origin    *wire.Origin `json:"origin,omitempty"`
	Vendor    string       `json:"vendor,omitempty"`
	RequestID string       `json:"request_id,omitempty"`
	Notes     []wire.Note  `json:"notes,omitempty"`
	// Display is what people are shown of a tool's result, in place of its
	// parts; see [Display]. It is never sent.
	Display string `json:"display,omitempty"`
	// Meta is the program's own: nothing here reads it but [Conversation.Facts],
	// whose notice has the key facts, and it is never sent.
	Meta map[string]string `json:"meta,omitempty"`
}

// check says what of the role and the status of an entry does not hold.
func (e *Entry) check() error {
	switch e.Role {
	case RoleUser, RoleAssistant, RoleTool, RoleSystem, RoleNotice:
	default:
		return fmt.Errorf("there is no role %q", e.Role)
	}
	switch e.Status {
	case StatusComplete:
	case StatusStreaming, StatusError, StatusCancelled:
		if e.Role != RoleAssistant {
			return fmt.Errorf("an entry of the role %q is complete, not %q", e.Role, e.Status)
		}
	default:
		return fmt.Errorf("there is no status %q", e.Status)
	}
	return nil
}

// Text returns the text parts of the entry, joined with nothing between.
func (e *Entry) Text() string {
	m := e.message()
	return m.Text()
}

// message returns an entry as a message. Notices have none.
func (e *Entry) message() wire.Message {
	return wire.Message{Role: wire.Role(e.Role), Parts: e.Parts, Origin: e.Origin, Ending: e.Ending, Vendor: e.Vendor}
}

// entryOf returns a message as an entry.
func entryOf(m wire.Message) Entry {
	e := Entry{Role: Role(m.Role), Parts: m.Parts, Origin: m.Origin, Ending: m.Ending, Vendor: m.Vendor}
	if m.Role == wire.RoleAssistant {
		e.Status = statusOf(m.Ending)
		if m.Ending == nil && unfinished(&m) {
			e.Status = StatusCancelled
		}
	}
	return e
}

// statusOf returns the status of an answer that ended.
func statusOf(end *wire.Ending) Status {
	switch {
	case end == nil || end.Cause == wire.CauseFinished:
		return StatusComplete
	case end.Cause == wire.CauseCancelled || end.Cause == wire.CauseDeadline || end.Err != nil && errors.Is(end.Err, ErrTimeLimit):
		return StatusCancelled
	}
	return StatusError
}

// respond takes what a response says into e.
func (e *Entry) respond(r *wire.Response) {
	m := &r.Message
	e.Parts, e.Origin, e.Ending, e.Vendor = m.Parts, m.Origin, m.Ending, m.Vendor
	e.Usage, e.RequestID, e.Notes = r.Usage, r.RequestID, r.Notes
}

// with returns e with a value of its metadata set, or removed if it is empty.
func (e Entry) with(key, value string) Entry {
	e.Meta = maps.Clone(e.Meta)
	switch {
	case value == "":
		delete(e.Meta, key)
	case e.Meta == nil:
		e.Meta = map[string]string{key: value}
	default:
		e.Meta[key] = value
	}
	return e
}

// hollow reports whether a part is a text without anything in it.
func hollow(p wire.Part) bool { return p.Kind == wire.PartText && p.Vendor == "" && p.Text == "" }

// blank reports whether a part is a text that says nothing to anybody.
func blank(p wire.Part) bool {
	return p.Kind == wire.PartText && p.Vendor == "" && strings.TrimSpace(p.Text) == ""
}
