package agent

import (
	"slices"

	"github.com/handwire/handwire/wire"
)

// Messages returns the entries as messages that can be sent, and notes on what
// was left out or put in:
//
//   - Notices are left out, and so are answers that failed. An answer that was
//     cancelled, or that still comes, is its text alone.
//   - Neighbours of the role user become one message, their parts one after the
//     other. Texts without content are left out.
//   - The first message is the user's: what stands before it is left out.
//   - Each call has exactly one result, and each result its call; see
//     [Sendable].
//
// The path of a note is entries[id]. What an entry becomes depends on nothing
// that comes after the results of its calls, so a conversation that grows by
// whole turns gives messages that grow. Entries are not modified; the messages
// share their parts.
func (s Snapshot) Messages() ([]wire.Message, []wire.Note) {
	var notes []wire.Note
	note := func(e *Entry, detail string) {
		notes = append(notes, wire.Note{Code: wire.NoteDropped, Path: "entries[" + e.ID + "]", Detail: detail})
	}
	var ms []wire.Message
	merged := false // the parts of the last message are a copy
	begun := false
	for _, e := range s.All() {
		switch {
		case e.Role == RoleNotice:
			continue
		case e.Role == RoleAssistant && e.Status == StatusError:
			note(&e, "the answer failed")
			continue
		case !begun && (e.Role == RoleAssistant || e.Role == RoleTool):
			note(&e, "a conversation begins with the user")
			continue
		}
		m := e.message()
		switch e.Role {
		case RoleAssistant:
			if e.Status != StatusComplete {
				whole := len(m.Parts)
				if m = textOnly(m); len(m.Parts) < whole {
					note(&e, "of an answer that was cut off only the text is sent")
				}
			}
		case RoleUser, RoleSystem:
			begun = begun || e.Role == RoleUser
			if slices.ContainsFunc(m.Parts, func(p wire.Part) bool { return blank(&p) }) {
				m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p wire.Part) bool { return blank(&p) })
			}
			if len(m.Parts) == 0 {
				note(&e, "there is nothing in it")
				continue
			}
			if n := len(ms); n > 0 && e.Role == RoleUser && ms[n-1].Role == wire.RoleUser && mergeable(&ms[n-1], &m) {
				if !merged {
					ms[n-1].Parts = slices.Clone(ms[n-1].Parts)
				}
				ms[n-1].Parts = append(ms[n-1].Parts, m.Parts...)
				merged = true
				continue
			}
		}
		ms, merged = append(ms, m), false
	}
	return sendable(ms, &notes), notes
}

// mergeable reports whether two messages of the user's say nothing as a whole that
// the other does not.
func mergeable(a, b *wire.Message) bool {
	return a.Vendor == b.Vendor && (a.Origin == b.Origin || a.Origin != nil && b.Origin != nil && *a.Origin == *b.Origin)
}
