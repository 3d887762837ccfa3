package openaichat

import (
	"strconv"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
)

const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
	roleDeveloper = "developer"
	roleTool      = "tool"
)

// turn is a run of neighbouring messages, from the first to before the last.
type turn struct{ from, to int }

// messages writes the conversation. It goes in pairs of turns: messages of the
// assistant's, and what answers them, up to the next message of the assistant's.
// Messages without anything to send belong to either.
//
// Of an answer the results come first, each behind the message with its call,
// since nothing may stand between the two; then one message with what the results
// hold besides text; then the rest.
func (e *encoder) messages() {
	e.Lit(`,"messages":[`)
	e.system()
	ms := e.r.Messages
	for i := 0; i < len(ms); {
		j := i
		for j < len(ms) && (ms[j].Role == wire.RoleAssistant || j > i && e.silent(&ms[j])) {
			j++
		}
		k := j
		for k < len(ms) && (ms[k].Role != wire.RoleAssistant || e.silent(&ms[k])) {
			k++
		}
		calls, answer := turn{i, j}, turn{j, k}
		e.unanswered(calls, answer)
		media := 0
		for ; i < j; i++ {
			if e.message(i) {
				media += e.results(i, answer)
			}
		}
		e.orphans(calls, answer)
		e.moved(answer)
		if media > 0 {
			e.attachments(calls, answer)
		}
		for ; i < k; i++ {
			e.message(i)
		}
	}
	if e.role == "" {
		e.Refuse("messages", "the protocol demands a message", "add a user message")
	}
	e.Lit(`]`)
}

// open begins a message.
func (e *encoder) open(role string) {
	if e.role != "" {
		e.Lit(`,`)
	}
	if e.role == roleTool && role != roleTool && role != roleAssistant && e.profile.AssistantAfterTools {
		e.Lit(`{"role":"assistant","content":"I have the results."},`)
		e.Note(wire.NoteInserted, "messages", "the server wants an assistant message between results and a message of the user's")
	}
	e.role = role
	e.Lit(`{"role":"`)
	e.Lit(role)
	e.Lit(`"`)
}

// message writes message i without its results of tools, and reports whether
// there was anything to write.
func (e *encoder) message(i int) bool {
	m := &e.r.Messages[i]
	switch m.Role {
	case wire.RoleAssistant:
		return e.assistant(i)
	case wire.RoleSystem:
		if i < e.lead {
			return false
		}
	case wire.RoleUser, wire.RoleTool:
	default:
		e.Refuse(codec.Item("messages", i).String()+".role", "no such role: "+strconv.Quote(string(m.Role)), "one of user, assistant, tool, system")
	}
	return e.user(i)
}
