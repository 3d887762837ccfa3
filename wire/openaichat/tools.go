package openaichat

import (
	"slices"
	"strconv"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// maxName is the most characters of the name of a tool or of a schema.
const maxName = 64

func (e *encoder) tools() {
	r, p := e.r, &e.profile
	c := r.ToolChoice
	if len(r.Tools) == 0 {
		if c.Mode == wire.ToolChoiceRequired || c.Mode == wire.ToolChoiceTool {
			e.Refuse("tool_choice", "there is no tool to choose", "give tools or no tool choice")
		}
		return
	}
	if c.Mode == wire.ToolChoiceNone && (p.ToolChoice == ToolChoicesAuto || p.ToolChoice == ToolChoicesUnsaid) {
		e.Note(wire.NoteConverted, "tool_choice", "the server has no tool choice none; sent without the tools")
		return
	}
	if e.family.noTools && e.effort != "" && e.effort != effortNone {
		remedy := "use the Responses protocol, or reasoning_effort none"
		if e.family.always {
			remedy = "use the Responses protocol"
		}
		e.Refuse("tools", r.Model+" takes tools with reasoning_effort none alone, not with "+e.effort, remedy)
	}
	if b := r.ParallelToolCalls; b != nil {
		if p.NoParallel {
			e.Dropped("parallel_tool_calls", "the server has no such setting")
		} else {
			e.Lit(`,"parallel_tool_calls":`)
			e.B = strconv.AppendBool(e.B, *b)
		}
	}
	if p.ToolStream != "" && !r.Whole && !e.family.whole {
		e.Lit(`,`)
		e.Str(p.ToolStream)
		e.Lit(`:true`)
	}
	e.toolChoice()
	e.Lit(`,"tools":[`)
	var few [16]string
	names := few[:0]
	for i := range r.Tools {
		if i > 0 {
			e.Lit(`,`)
		}
		name := toolName(&r.Tools[i])
		if name != "" && slices.Contains(names, name) {
			field := ".name"
			if r.Tools[i].Name == "" {
				field = ".vendor"
			}
			e.Refuse(codec.Item("tools", i).String()+field, "there are two tools "+strconv.Quote(name), "rename one")
		}
		names = append(names, name)
		e.tool(i)
	}
	e.Lit(`]`)
}

// toolName is the name that the model calls a tool by, "" if it has none.
func toolName(t *wire.Tool) string {
	if t.Name != "" || !jsonw.Valid(t.Vendor) {
		return t.Name
	}
	v := jsonw.Parse(t.Vendor)
	if kind := v.Get("type").Str(); kind == "function" || kind == "custom" {
		return v.Get(kind).Get("name").Str()
	}
	return ""
}

func (e *encoder) toolChoice() {
	c, p := e.r.ToolChoice, &e.profile
	forced := c.Mode == wire.ToolChoiceRequired || c.Mode == wire.ToolChoiceTool
	const remedy = "leave the choice to the model and ask for the call in the prompt"
	switch {
	case forced && (p.ToolChoice == ToolChoicesAuto || p.ToolChoice == ToolChoicesUnsaid):
		e.Refuse("tool_choice", "the server takes no forced tool choice", remedy)
	case forced && p.ForcedChoice == ForcedWithoutThinking && !e.off:
		e.Refuse("tool_choice", "the server takes a forced tool choice only while reasoning is off", "set reasoning mode off, or "+remedy)
	}
	narrow := len(c.Allowed) > 0
	if narrow && p.ToolChoice != ToolChoicesAll {
		e.Refuse("tool_choice.allowed", "the server cannot narrow the choice of tools", "offer only the tools wanted")
	}
	if p.ToolChoice == ToolChoicesUnsaid {
		return
	}
	e.Lit(`,"tool_choice":`)
	if narrow {
		switch c.Mode {
		case "", wire.ToolChoiceAuto, wire.ToolChoiceRequired:
		default:
			e.Refuse("tool_choice.allowed", "the choice is narrowed with auto or required, not with "+string(c.Mode), "")
		}
		e.Lit(`{"type":"allowed_tools","allowed_tools":{"mode":"`)
		if c.Mode == wire.ToolChoiceRequired {
			e.Lit(`required`)
		} else {
			e.Lit(`auto`)
		}
		e.Lit(`","tools":[`)
		for i, name := range c.Allowed {
			if i > 0 {
				e.Lit(`,`)
			}
			e.choose(name, "tool_choice.allowed")
		}
		e.Lit(`]}}`)
		return
	}
	switch c.Mode {
	case "", wire.ToolChoiceAuto:
		e.Lit(`"auto"`)
	case wire.ToolChoiceNone:
		e.Lit(`"none"`)
	case wire.ToolChoiceRequired:
		e.Lit(`"required"`)
	case wire.ToolChoiceTool:
		e.choose(c.Name, "tool_choice.name")
	default:
		e.Refuse("tool_choice.mode", "no such mode: "+string(c.Mode), "one of auto, none, required, tool")
		e.Lit(`"auto"`)
	}
}

// choose writes a tool as a choice.
func (e *encoder) choose(name, path string) {
	custom, found := false, false
	for i := range e.r.Tools {
		t := &e.r.Tools[i]
		if t.Name != "" && t.Name == name {
			custom, found = t.FreeForm, true
			break
		}
		if t.Name != "" || !jsonw.Valid(t.Vendor) {
			continue
		}
		for _, kind := range [...]string{"function", "custom"} {
			if n := jsonw.Parse(t.Vendor).Get(kind).Get("name"); n.Exists() && n.Str() == name {
				custom, found = kind == "custom", true
			}
		}
	}
	if !found {
		e.Refuse(path, "there is no tool "+strconv.Quote(name), "name one of the tools")
	}
	if custom {
		e.Lit(`{"type":"custom","custom":{"name":`)
	} else {
		e.Lit(`{"type":"function","function":{"name":`)
	}
	e.Str(name)
	e.Lit(`}}`)
}

func (e *encoder) tool(i int) {
	t := &e.r.Tools[i]
	at := codec.Item("tools", i)
	if t.Cache != nil {
		e.Dropped(at.String()+".cache", "a tool cannot carry a cache mark")
	}
	if t.Name == "" { // the whole definition, in the vendor's words
		e.Raw(t.Vendor, at)
		if c := jsonw.Parse(t.Vendor).Members(); !c.Next() {
			e.Refuse(at.String(), "a tool needs a name, or a whole definition in Vendor", "")
		}
		return
	}
	if !codec.ValidName(t.Name, maxName) {
		e.Refuse(at.String()+".name", "a tool name is 1 to 64 letters, digits, _ or -", "rename the tool")
	}
	if t.FreeForm {
		e.Lit(`{"type":"custom","custom":{"name":`)
	} else {
		e.Lit(`{"type":"function","function":{"name":`)
	}
	e.Str(t.Name)
	if t.Description != "" {
		e.Lit(`,"description":`)
		e.Str(t.Description)
	}
	kind := "function"
	if t.FreeForm {
		kind = "custom"
		e.custom(t, at)
	} else {
		e.function(t, at)
	}
	e.Lit(`}`)
	e.members(t.Vendor, at, "", "type", kind)
	e.Lit(`}`)
}

// custom writes what a tool with free text arguments has besides its name.
func (e *encoder) custom(t *wire.Tool, at codec.Place) {
	if e.profile.NoCustom {
		e.Refuse(at.String()+".free_form", "the server has no tools with free text arguments", "give the tool a schema with one string")
	}
	if t.Grammar != "" {
		e.Lit(`,"format":`)
		e.grammar(t.Grammar, codec.Field(at.String()+".grammar"))
	}
	if t.Schema != "" {
		e.Dropped(at.String()+".schema", "the arguments are free text")
	}
	if t.Strict != nil {
		e.Dropped(at.String()+".strict", "the arguments are free text")
	}
}

// grammar writes the form of a free text: the vendor's whole format as it stands,
// or a grammar, its syntax and definition, which here stands within one.
func (e *encoder) grammar(raw string, at codec.Place) {
	g := jsonw.Parse(raw)
	if !jsonw.Valid(raw) || !g.IsObject() {
		e.Refuse(at.String(), "no JSON object", "")
		e.Lit(`null`)
		return
	}
	flat := g.Get("syntax").Exists() && !g.Get("grammar").Exists()
	if !flat {
		e.Raw(raw, at)
		return
	}
	e.Lit(`{"type":"grammar","grammar":`)
	if !g.Get("type").Exists() {
		e.Raw(raw, at)
	} else {
		e.Lit(`{"syntax":`)
		e.Raw(string(g.Get("syntax")), at)
		e.Lit(`,"definition":`)
		e.Raw(string(g.Get("definition")), at)
		e.Lit(`}`)
	}
	e.Lit(`}`)
}

// function writes what a tool with a schema has besides its name.
func (e *encoder) function(t *wire.Tool, at codec.Place) {
	e.Lit(`,"parameters":`)
	e.Schema(t.Schema, at)
	if t.Strict != nil {
		if e.profile.NoStrict {
			e.Dropped(at.String()+".strict", "the server does not hold arguments to a schema")
		} else {
			e.Lit(`,"strict":`)
			e.B = strconv.AppendBool(e.B, *t.Strict)
		}
	}
}
