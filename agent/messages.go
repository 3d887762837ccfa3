package agent

import (
	"slices"
	"strconv"

	"github.com/handwire/handwire/wire"
)

// Messages returns the entries as messages that can be sent, and notes on what
// was left out or put in:
//
//   - Notices are left out, and so are answers that failed. An answer that was
//     cancelled, or that still comes, is its text alone.
//   - Neighbours of the role user become one message, their parts one after the
//     other. Texts without content are left out.
//   - The first message is the user's: answers and results before it are left
//     out, and instructions stand behind it, as they do wherever one comes
//     directly before what the user says.
//   - Each call has exactly one result, and each result its call; see
//     [Sendable]. What the user said before the results came stands behind them.
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
	begun := false
	behind := -1 // where results of the last answer's calls go, -1 if it has none
	for _, e := range s.All() {
		switch {
		case e.Role == RoleNotice:
			continue
		case e.Role == RoleAssistant && e.Status == StatusError:
			note(&e, "the answer failed")
			behind = -1
			continue
		case !begun && (e.Role == RoleAssistant || e.Role == RoleTool):
			note(&e, "a conversation begins with the user")
			continue
		}
		m := e.message()
		switch e.Role {
		case RoleTool:
			if behind >= 0 {
				ms = slices.Insert(ms, behind, m)
				behind++
				continue
			}
		case RoleAssistant:
			behind = -1
			if e.Status == StatusComplete {
				behind = len(ms) + 1
			}
			if e.Status != StatusComplete {
				whole := len(m.Parts)
				if m = textOnly(m); len(m.Parts) < whole {
					note(&e, "of an answer that was cut off only the text is sent")
				}
			} else if slices.ContainsFunc(m.Parts, hollow) {
				m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), hollow)
			}
		case RoleUser, RoleSystem:
			if slices.ContainsFunc(m.Parts, blank) {
				m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), blank)
			}
			if len(m.Parts) == 0 {
				note(&e, "there is nothing in it")
				continue
			}
			begun = begun || e.Role == RoleUser
		}
		ms = append(ms, m)
	}
	return merged(sendable(ms, &notes), &notes), notes
}

// merged returns messages of which no two neighbours are the user's. What the user
// says stands before the system messages that directly precede it, since no protocol
// takes one before it.
func merged(ms []wire.Message, notes *[]wire.Note) []wire.Message {
	out := make([]wire.Message, 0, len(ms))
	own := false // the parts of the last message of the user's are a copy
	at := 0      // behind the last message that is no system message
	for _, m := range ms {
		if m.Role == wire.RoleSystem {
			out = append(out, m)
			continue
		}
		if m.Role == wire.RoleUser && at < len(out) {
			*notes = append(*notes, wire.Note{Code: wire.NoteConverted, Path: "messages[" + strconv.Itoa(len(out)) + "]",
				Detail: "what the user says stands before an instruction that came between"})
		}
		switch {
		case m.Role == wire.RoleUser && at > 0 && out[at-1].Role == wire.RoleUser && mergeable(&out[at-1], &m):
			u := &out[at-1]
			if !own {
				u.Parts, own = slices.Clone(u.Parts), true
			}
			u.Parts = append(u.Parts, m.Parts...)
			continue
		case m.Role == wire.RoleUser:
			out = slices.Insert(out, at, m)
			own = false
			at++
		default:
			out = append(out, m)
			at = len(out)
		}
	}
	return out
}

// mergeable reports whether two messages of the user's say nothing as a whole that
// the other does not.
func mergeable(a, b *wire.Message) bool {
	return a.Vendor == b.Vendor && (a.Origin == b.Origin || a.Origin != nil && b.Origin != nil && *a.Origin == *b.Origin)
}
