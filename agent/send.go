package agent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
)

// Sendable returns the history as it can be sent to a model:
//
//   - An assistant message that did not finish is reduced to its text parts,
//     without their vendor data; those without visible text are left out. A
//     message did not finish if its Ending says so, or if it has no Ending and
//     a part of it is partial.
//
//   - A call that was cut off, in a message that did finish, is left out, because
//     no protocol can send it. So is an assistant message without parts.
//
//   - The results of the calls of a message stand in one message of role tool
//     directly after it, in the order of the calls. A result whose call is not
//     in the message directly before, and a second result of one call, are
//     left out.
//
//   - A call without a result gets an error result that says why it was not
//     run, or that no result was recorded.
//
//   - A call that has no id, or the id of an earlier call, gets one of its own,
//     and its result with it.
//
// Everything else stays as it is. What a message becomes depends on nothing that
// comes after its results, so a history that grows by whole turns gives a result
// that grows. The result is a new slice; messages that needed no change share
// their parts with the history, which is not modified.
func Sendable(history []wire.Message) []wire.Message {
	var notes []wire.Note
	return sendable(history, &notes)
}

// sendable is Sendable with notes.
func sendable(history []wire.Message, notes *[]wire.Note) []wire.Message {
	note := func(code wire.NoteCode, i int, detail string) {
		*notes = append(*notes, wire.Note{Code: code, Path: "messages[" + strconv.Itoa(i) + "]", Detail: detail})
	}
	out := make([]wire.Message, 0, len(history)+1)
	for i := 0; i < len(history); {
		m := history[i]
		i++
		switch m.Role {
		case wire.RoleTool:
			note(wire.NoteDropped, i-1, "results of calls that are not in the message before")
		case wire.RoleAssistant:
			if unfinished(&m) {
				m = textOnly(m)
			} else if slices.ContainsFunc(m.Parts, cutCall) {
				m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), cutCall)
				note(wire.NoteDropped, i-1, "a call that was cut off")
			}
			first := i
			for i < len(history) && history[i].Role == wire.RoleTool {
				i++
			}
			if len(m.Parts) > 0 {
				results, lost, made := paired(&m, history[first:i])
				if lost > 0 {
					note(wire.NoteDropped, first, strconv.Itoa(lost)+" results that answer no call")
				}
				if made > 0 {
					note(wire.NoteInserted, len(out), strconv.Itoa(made)+" results for calls that have none")
				}
				out = append(append(out, m), results...)
			} else if i > first {
				note(wire.NoteDropped, first, "results of calls that are not sent")
			}
		default:
			out = append(out, m)
		}
	}
	unlike(out, notes)
	return out
}

// unlike gives calls an id of their own whose id was another one's before, and
// their results with them: some vendors count anew in each answer, and others take
// no id twice. The new one depends on nothing but what stands before.
func unlike(ms []wire.Message, notes *[]wire.Note) {
	seen := map[string]bool{}
	next := map[string]int{} // by the id that is not to be had, where to look on
	for i := range ms {
		m := &ms[i]
		if m.Role != wire.RoleAssistant {
			continue
		}
		calls, own := 0, false
		for j := range m.Parts {
			if !isCall(m.Parts[j]) {
				continue
			}
			id, base := m.Parts[j].ID, m.Parts[j].ID
			if id == "" {
				id, base = "call_1", "call"
			}
			for n := max(2, next[base]); seen[id]; n++ {
				id = base + "_" + strconv.Itoa(n)
				next[base] = n + 1
			}
			seen[id] = true
			if id != m.Parts[j].ID && i+1 < len(ms) && calls < len(ms[i+1].Parts) {
				*notes = append(*notes, wire.Note{Code: wire.NoteRenamed, Path: "messages[" + strconv.Itoa(i) + "].parts[" + strconv.Itoa(j) + "]",
					Detail: "the id " + strconv.Quote(m.Parts[j].ID) + " is none, or an earlier call's"})
				if !own {
					m.Parts, ms[i+1].Parts, own = slices.Clone(m.Parts), slices.Clone(ms[i+1].Parts), true
				}
				m.Parts[j].ID, ms[i+1].Parts[calls].ID = id, id
			}
			calls++
		}
	}
}

func unfinished(m *wire.Message) bool {
	if m.Ending != nil {
		return m.Ending.Cause != wire.CauseFinished
	}
	return slices.ContainsFunc(m.Parts, func(p wire.Part) bool { return p.Partial })
}

func cutCall(p wire.Part) bool { return isCall(p) && p.Partial }

// textOnly is m reduced to its visible text.
func textOnly(m wire.Message) wire.Message {
	var parts []wire.Part
	for _, p := range m.Parts {
		if p.Kind == wire.PartText && strings.TrimSpace(p.Text) != "" {
			parts = append(parts, wire.Part{Kind: wire.PartText, Text: p.Text, Cache: p.Cache})
		}
	}
	m.Parts, m.Vendor = parts, ""
	return m
}

// paired returns the messages of results that follow m, given those that follow
// it in the history, how many of those have no call, and how many were made up.
func paired(m *wire.Message, tools []wire.Message) (results []wire.Message, lost, made int) {
	var have, want []wire.Part
	for i := range tools {
		for _, p := range tools[i].Parts {
			if p.Kind == wire.PartToolResult {
				have = append(have, p)
			}
		}
	}
	used := make([]bool, len(have))
	same := len(tools) == 1 && len(tools[0].Parts) == len(have)
	for i := range m.Parts {
		call := &m.Parts[i]
		if !isCall(*call) {
			continue
		}
		at := -1
		if k := len(want); k < len(have) && !used[k] && answers(&have[k], call) {
			at = k
		} else {
			for k := range have {
				if !used[k] && answers(&have[k], call) {
					at = k
					break
				}
			}
		}
		same = same && at == len(want)
		if at < 0 {
			want = append(want, errorResult(call, notRun(m, call)))
			made++
			continue
		}
		used[at] = true
		want = append(want, have[at])
	}
	lost = len(have) - (len(want) - made)
	switch {
	case len(want) == 0:
		return nil, lost, made
	case same && len(want) == len(have):
		return tools, 0, 0
	case len(tools) == 0:
		return []wire.Message{wire.ToolMessage(want...)}, lost, made
	}
	t := tools[0]
	t.Parts = want
	return []wire.Message{t}, lost, made
}

// resultKey is what a call and its result have in common: the id, or the name
// where there is none. Those that are alike are told apart by their order.
type resultKey struct{ id, name string }

func keyOf(p *wire.Part) resultKey {
	if p.ID == "" {
		return resultKey{name: p.Name}
	}
	return resultKey{id: p.ID}
}

// answers reports whether result can be one of call.
func answers(result, call *wire.Part) bool { return keyOf(result) == keyOf(call) }
