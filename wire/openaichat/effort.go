package openaichat

import (
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// plannedEffort is the effort asked for in the server's own word, "" where the
// request says nothing about it.
func (e *encoder) plannedEffort() string {
	g := e.r.Reasoning
	effort := e.family.usual
	switch {
	case g == nil:
	case g.Mode == wire.ReasoningOff:
		return effortNone
	case g.Effort != "":
		return e.translated(g.Effort)
	case g.Mode == wire.ReasoningOn && (effort == "" || effort == effortNone):
		return e.translated("medium")
	}
	return effort
}

func (e *encoder) translated(effort string) string {
	for _, row := range e.profile.Efforts {
		if row.From == effort {
			return row.To
		}
	}
	return effort
}

// thinking writes how the model is to reason.
func (e *encoder) thinking() {
	g := e.r.Reasoning
	e.effort = e.plannedEffort()
	if g == nil {
		return
	}
	switch g.Mode {
	case "", wire.ReasoningOn, wire.ReasoningOff:
	case wire.ReasoningBetweenTools:
		e.Refuse("reasoning.mode", "the protocol cannot ask for reasoning between tools alone", "use on or off")
	default:
		e.Refuse("reasoning.mode", "no such mode: "+string(g.Mode), "one of on, off")
	}
	e.off = g.Mode == wire.ReasoningOff || e.effort == effortNone && g.Effort != ""
	effort := e.effort
	switch {
	case g.Mode == wire.ReasoningOff:
		if g.Effort != "" && g.Effort != effortNone {
			e.Dropped("reasoning.effort", "reasoning is off")
		}
		effort = ""
	case g.Effort == "":
		effort = ""
	}
	if effort == "" && g.Effort != "" && g.Mode != wire.ReasoningOff {
		e.Dropped("reasoning.effort", "the server has no such effort")
	}
	if effort != "" && effort != g.Effort {
		e.Note(wire.NoteConverted, "reasoning.effort", "the server's word for it is "+effort)
	}
	asked := g.Mode != "" || effort != ""
	if e.off && e.family.always {
		e.Refuse("reasoning", e.r.Model+" always reasons", "ask for a low effort")
	}
	if e.family.noEffort && effort != "" && effort != effortNone {
		e.Dropped("reasoning.effort", e.r.Model+" has no effort setting")
		effort, e.effort = "", ""
	} else if effort != "" && !e.off && !e.family.takes(effort) {
		e.Refuse("reasoning.effort", e.r.Model+" takes no effort "+strconv.Quote(effort), "one of "+strings.ReplaceAll(e.family.efforts, " ", ", "))
	}
	budget := g.Budget
	if budget < 0 {
		e.Refuse("reasoning.budget", "a budget cannot be negative", "")
	}
	if e.off && budget > 0 {
		e.Dropped("reasoning.budget", "reasoning is off")
		budget = 0
	}
	if e.off {
		effort = ""
	}
	object, display := false, false // there is a place for further settings, for what is shown
	switch e.profile.Thinking {
	case ThinkingEffort:
		e.plainEffort(g, effort)
	case ThinkingZAI, ThinkingDeepSeek, ThinkingBudget, ThinkingAdaptive, ThinkingKimi:
		budgeted := (e.profile.Thinking == ThinkingBudget || e.profile.Thinking == ThinkingKimi) && budget > 0
		if object = asked || budgeted || g.Vendor != ""; object {
			e.Lit(`,"thinking":`)
			from := len(e.B)
			e.Lit(`{"type":`)
			switch {
			case e.off:
				e.Lit(`"disabled"`)
			case e.profile.Thinking == ThinkingAdaptive:
				e.Lit(`"adaptive"`)
			default:
				e.Lit(`"enabled"`)
			}
			if e.profile.Thinking == ThinkingZAI && !e.off && e.profile.Replay != ReplayNever && g.Replay != wire.ReplayNever {
				e.Lit(`,"clear_thinking":false`)
			}
			if e.profile.Thinking == ThinkingKimi && !e.off && !e.family.forgets && g.Replay != wire.ReplayNever {
				e.Lit(`,"keep":"all"`)
			}
			if budgeted {
				e.Lit(`,"budget_tokens":`)
				e.B = jsonw.AppendInt(e.B, int64(budget))
				budget = 0
			}
			e.settings(g.Vendor, from)
			e.Lit(`}`)
		}
		if e.profile.Thinking == ThinkingAdaptive {
			e.effortless(effort)
		} else {
			e.word(effort)
		}
	case ThinkingQwen:
		if asked || budget > 0 {
			e.Lit(`,"enable_thinking":`)
			e.B = strconv.AppendBool(e.B, !e.off)
		}
		if budget > 0 {
			e.Lit(`,"thinking_budget":`)
			e.B = jsonw.AppendInt(e.B, int64(budget))
			budget = 0
		}
		e.word(effort)
	case ThinkingTemplate:
		if object = asked || g.Vendor != ""; object {
			e.flag("chat_template_kwargs", "enable_thinking", g.Vendor)
		}
		e.word(effort)
	case ThinkingOpenRouter:
		display = g.Display == "omitted"
		if object = asked || budget > 0 || display || g.Vendor != ""; object {
			if effort != "" && budget > 0 {
				e.Refuse("reasoning", "an effort and a budget exclude each other", "give one of them")
			}
			e.Lit(`,"reasoning":`)
			from := len(e.B)
			e.Lit(`{`)
			switch {
			case e.off:
				e.Lit(`"effort":"none"`)
			case effort != "":
				e.Lit(`"effort":`)
				e.Str(effort)
			case budget > 0:
				e.Lit(`"max_tokens":`)
				e.B = jsonw.AppendInt(e.B, int64(budget))
			default:
				e.Lit(`"enabled":true`)
			}
			budget = 0
			if display {
				e.Lit(`,"exclude":true`)
			}
			e.settings(g.Vendor, from)
			e.Lit(`}`)
		}
	case ThinkingTogether:
		if object = asked || g.Vendor != ""; object {
			e.flag("reasoning", "enabled", g.Vendor)
		}
		e.word(effort)
	case ThinkingNone:
		if g.Mode != "" {
			e.Refuse("reasoning.mode", "the server has no switch for reasoning", "leave it to the model")
		}
		e.effortless(effort)
	default:
		e.Refuse("reasoning", "the profile has no style of thinking "+strconv.Quote(string(e.profile.Thinking)), "")
	}
	if budget > 0 {
		e.Dropped("reasoning.budget", "there is no such setting")
	}
	if g.Display != "" && !display {
		e.Dropped("reasoning.display", "there is no such setting")
	}
	if g.Vendor != "" && !object {
		e.Refuse("reasoning.vendor", "there is no object that it could belong to", "use Extra")
	}
}

// plainEffort writes the effort where it is all there is.
func (e *encoder) plainEffort(g *wire.Reasoning, effort string) {
	switch {
	case e.family.noEffort && g.Mode == wire.ReasoningOn:
		e.Refuse("reasoning.mode", e.r.Model+" has no reasoning", "choose another model, or leave it out")
	case e.family.noEffort:
	case e.off && !e.family.always:
		effort = effortNone
	case g.Mode == wire.ReasoningOn && g.Effort == "" && e.family.usual != e.effort:
		effort = e.effort // it would not reason by itself, or who knows
	}
	e.word(effort)
}

// effortless tells of an effort that has no place.
func (e *encoder) effortless(effort string) {
	if effort != "" {
		e.Dropped("reasoning.effort", "the server has no such setting")
	}
}

// flag writes an object whose first member switches reasoning on or off.
func (e *encoder) flag(name, member, vendor string) {
	e.Lit(`,"`)
	e.Lit(name)
	e.Lit(`":`)
	from := len(e.B)
	e.Lit(`{"`)
	e.Lit(member)
	e.Lit(`":`)
	e.B = strconv.AppendBool(e.B, !e.off)
	e.settings(vendor, from)
	e.Lit(`}`)
}

// word writes an effort, if there is one.
func (e *encoder) word(effort string) {
	if effort != "" {
		e.Lit(`,"reasoning_effort":`)
		e.Str(effort)
	}
}
