package openaichat

// How the encoder is organised: request writes the body in one pass over the
// Request, in a fixed order of fields, the messages last. encode.go has the
// settings, messages.go the conversation. Whatever the protocol or the profile
// does not allow becomes a finding, and whatever was changed a note, at the place
// where it is met; Check is the same pass with the bytes thrown away.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
	"github.com/handwire/handwire/wire/internal/schema"
)

type encoder struct {
	profile  Profile
	r        *wire.Request
	call     *wire.Call
	b        []byte
	family   *family
	findings []wire.Finding

	effort string // that holds, "" if it is not known
	off    bool   // reasoning is switched off
	role   string // of the last message in b, "" before the first
	lead   int    // messages up to here that are system messages are written
	marks  int    // cache marks written
	auto   autoMarks
}

// autoMarks are the places of the automatic cache marks.
type autoMarks struct {
	on     bool       // texts are parts, so that a mark that moves changes nothing else
	system *wire.Part // nil for none
	last   *wire.Part
}

func (e *encoder) note(code wire.NoteCode, path, detail string) {
	e.call.Notes = append(e.call.Notes, wire.Note{Code: code, Path: path, Detail: detail})
}

func (e *encoder) dropped(path, why string) { e.note(wire.NoteDropped, path, why) }

func (e *encoder) refuse(path, rule, remedy string) {
	e.findings = append(e.findings, wire.Finding{Path: path, Rule: rule, Remedy: remedy})
}

func (e *encoder) str(s string) { e.b = jsonw.AppendString(e.b, s) }
func (e *encoder) lit(s string) { e.b = append(e.b, s...) }

// more appends s to the JSON string that the body ends with.
func (e *encoder) more(s string) {
	n := len(e.b) - 2 // of the last byte within the quotation marks, or of the first mark
	last := e.b[n]
	e.b = jsonw.AppendString(e.b[:n], s)
	e.b[n] = last
}

// line appends s to the JSON string that the body ends with, behind a line end.
func (e *encoder) line(s string) {
	e.b = append(e.b[:len(e.b)-1], '\\', 'n', '"')
	e.more(s)
}

// raw inserts checked raw JSON.
func (e *encoder) raw(s string, at codec.Place) {
	b, repairs, problem := jsonw.AppendRaw(e.b, s)
	e.b = b
	if problem != nil {
		e.refuse(at.String(), "not valid JSON: "+problem.Error(), "give one complete JSON value")
		e.lit("null")
	} else if repairs > 0 {
		e.note(wire.NoteRepaired, at.String(), strconv.Itoa(repairs)+" bytes or escapes that are no character became U+FFFD")
	}
}

// members appends the members of a vendor object, each behind a comma, but for
// those named in but, with spaces between. Those that the codec has written are
// refused.
func (e *encoder) members(vendor string, at codec.Place, but string, written ...string) {
	if vendor == "" {
		return
	}
	v := jsonw.Parse(vendor)
	if !v.IsObject() || !jsonw.Valid(vendor) {
		e.refuse(at.String()+".vendor", "no JSON object", "")
		return
	}
	for c := v.Members(); c.Next(); {
		name := c.Name()
		if named(but, name) {
			continue
		}
		switch {
		case name == "cache_control" && e.profile.CacheControl, name == "prompt_cache_breakpoint" && e.family.marks:
			e.marks++
		}
		for _, w := range written {
			if w != "" && name == w {
				e.refuse(at.String()+".vendor", strconv.Quote(name)+" is written by the codec", "leave it out")
			}
		}
		e.member(&c, at)
	}
	if name, ok := codec.Twice(v); ok {
		e.refuse(at.String()+".vendor", strconv.Quote(name)+" is there twice", "keep one")
	}
}

// named reports whether a name is one of a list with spaces between.
func named(list, name string) bool {
	for word := range strings.FieldsSeq(list) {
		if word == name {
			return true
		}
	}
	return false
}

// settings appends the members of Reasoning.Vendor to the object that began at
// from in the body, and refuses what stands there already.
func (e *encoder) settings(vendor string, from int) {
	at := codec.Field("reasoning")
	if vendor != "" && jsonw.Valid(vendor) {
		written := jsonw.Parse(string(e.b[from:]) + "}")
		for c := jsonw.Parse(vendor).Members(); c.Next(); {
			if written.Get(c.Name()).Exists() {
				e.refuse(at.String()+".vendor", strconv.Quote(c.Name())+" is written by the codec", "leave it out")
			}
		}
	}
	e.members(vendor, at, "")
}

// member appends a member of a vendor object behind a comma.
func (e *encoder) member(c *jsonw.Cursor, at codec.Place) {
	e.lit(`,`)
	e.raw(string(c.Key()), at)
	e.lit(`:`)
	e.raw(string(c.Value()), at)
}

// writes reports whether the codec writes a top-level member itself.
func (e *encoder) writes(name string) bool {
	r, p, g := e.r, &e.profile, e.r.Reasoning
	reasons := g != nil && (g.Mode != "" || g.Effort != "" || g.Budget > 0 || g.Vendor != "" || g.Display != "")
	switch name {
	case "model", "messages", "stream", "max_tokens", "max_completion_tokens": // never both limits
		return true
	case "stream_options":
		return !r.Whole && !p.NoStreamOptions
	case "temperature":
		return r.Temperature != nil
	case "top_p":
		return r.TopP != nil
	case "top_k":
		return r.TopK != nil
	case "seed":
		return r.Seed != nil
	case "presence_penalty":
		return r.PresencePenalty != nil
	case "frequency_penalty":
		return r.FrequencyPenalty != nil
	case "stop":
		return len(r.StopSequences) > 0
	case "response_format":
		return r.Output != nil && r.Output.Kind != "" && r.Output.Kind != wire.OutputText
	case "reasoning_effort":
		return reasons && p.Thinking != ThinkingOpenRouter && p.Thinking != ThinkingAdaptive && p.Thinking != ThinkingNone
	case "reasoning":
		return reasons && p.Thinking == ThinkingOpenRouter
	case "thinking":
		return reasons && (p.Thinking == ThinkingZAI || p.Thinking == ThinkingDeepSeek || p.Thinking == ThinkingBudget || p.Thinking == ThinkingAdaptive)
	case "enable_thinking", "thinking_budget":
		return reasons && p.Thinking == ThinkingQwen
	case "chat_template_kwargs":
		return reasons && p.Thinking == ThinkingTemplate
	case "service_tier":
		return r.ServiceTier != ""
	case "safety_identifier":
		return r.UserID != ""
	case "prompt_cache_key":
		return r.Cache != nil && r.Cache.Key != ""
	case "tools", "tool_choice":
		return len(r.Tools) > 0
	case "parallel_tool_calls":
		return len(r.Tools) > 0 && r.ParallelToolCalls != nil
	}
	return name != "" && name == p.ToolStream && len(r.Tools) > 0
}

func (e *encoder) request() {
	r, p := e.r, &e.profile
	if r.Model == "" {
		e.refuse("model", "the protocol demands a model", "set Request.Model")
	}
	e.lit(`{"model":`)
	e.str(r.Model)
	switch {
	case r.MaxTokens < 0:
		e.refuse("max_tokens", "a limit cannot be negative", "leave it out or give a number from 1")
	case r.MaxTokens > 0 && p.MaxTokens == MaxCompletionTokens:
		e.lit(`,"max_completion_tokens":`)
		e.b = jsonw.AppendInt(e.b, int64(r.MaxTokens))
	case r.MaxTokens > 0:
		e.lit(`,"max_tokens":`)
		e.b = jsonw.AppendInt(e.b, int64(r.MaxTokens))
	}
	if !r.Whole {
		e.lit(`,"stream":true`)
		if !p.NoStreamOptions {
			e.lit(`,"stream_options":{"include_usage":true}`)
		}
	}
	e.plan()
	e.sampling()
	e.stopSequences()
	e.output()
	e.thinking()
	e.identity()
	e.extra()
	e.tools()
	e.messages()
	e.lit(`}`)
	if e.marks > maxMarks {
		e.refuse("", "at most 4 cache marks, not "+strconv.Itoa(e.marks), "mark fewer parts")
	}
}

func (e *encoder) sampling() {
	r, p := e.r, &e.profile
	const none = "the server has no such setting"
	thinks, knows := "", ""
	if e.family.reasoning {
		knows = r.Model + " refuses it"
		if !e.family.samples(e.plannedEffort()) {
			thinks = r.Model + " refuses it unless its reasoning effort is none"
			if e.family.always {
				thinks = knows
			}
		}
	}
	e.number("temperature", r.Temperature, 0, 2, thinks)
	e.number("top_p", r.TopP, 0, 1, thinks)
	if k := r.TopK; k != nil {
		if p.TopK {
			e.lit(`,"top_k":`)
			e.b = jsonw.AppendInt(e.b, int64(*k))
		} else {
			e.dropped("top_k", none)
		}
	}
	if s := r.Seed; s != nil {
		if !p.NoSeed {
			e.lit(`,"seed":`)
			e.b = jsonw.AppendInt(e.b, *s)
		} else {
			e.dropped("seed", none)
		}
	}
	if p.NoPenalties {
		knows = none
	}
	e.number("presence_penalty", r.PresencePenalty, -2, 2, knows)
	e.number("frequency_penalty", r.FrequencyPenalty, -2, 2, knows)
}

// number writes a setting that has a range, or says why not.
func (e *encoder) number(name string, v *float64, low, high int, why string) {
	switch {
	case v == nil:
	case !jsonw.IsFinite(*v):
		e.refuse(name, "not a finite number", "")
	case why != "":
		e.dropped(name, why)
	case *v < float64(low) || *v > float64(high):
		e.refuse(name, "it is a number from "+strconv.Itoa(low)+" to "+strconv.Itoa(high), "move it into the range")
	default:
		e.lit(`,"`)
		e.lit(name)
		e.lit(`":`)
		e.b = jsonw.AppendFloat(e.b, *v)
	}
}

func (e *encoder) stopSequences() {
	stop := e.r.StopSequences
	if len(stop) == 0 {
		return
	}
	if e.family.noStop {
		e.refuse("stop_sequences", e.r.Model+" refuses stop sequences", "look for them in the answer")
	}
	if len(stop) > 4 {
		e.refuse("stop_sequences", "at most 4 stop sequences, not "+strconv.Itoa(len(stop)), "")
	}
	e.lit(`,"stop":[`)
	for i, s := range stop {
		if i > 0 {
			e.lit(`,`)
		}
		e.str(s)
		if s == "" {
			e.refuse("stop_sequences["+strconv.Itoa(i)+"]", "a stop sequence cannot be empty", "")
		}
	}
	e.lit(`]`)
}

func (e *encoder) output() {
	o := e.r.Output
	if o == nil {
		return
	}
	switch o.Kind {
	case "", wire.OutputText:
	case wire.OutputJSON:
		e.lit(`,"response_format":{"type":"json_object"}`)
	case wire.OutputJSONSchema:
		if e.profile.NoJSONSchema {
			e.refuse("output.kind", "the server takes no schema for its output", "use json_object and describe the form in the prompt")
		}
		e.lit(`,"response_format":{"type":"json_schema","json_schema":{"name":`)
		switch {
		case o.Name == "":
			e.lit(`"answer"`)
			e.note(wire.NoteInserted, "output.name", "the protocol demands a name; sent as answer")
		default:
			e.str(o.Name)
			if !codec.ValidName(o.Name, maxName) {
				e.refuse("output.name", "a name is 1 to 64 letters, digits, _ or -", "")
			}
		}
		if o.Description != "" {
			e.lit(`,"description":`)
			e.str(o.Description)
		}
		if o.Strict != nil {
			e.lit(`,"strict":`)
			e.b = strconv.AppendBool(e.b, *o.Strict)
		}
		e.lit(`,"schema":`)
		e.raw(o.Schema, codec.Field("output.schema"))
		e.lit(`}}`)
	default:
		e.refuse("output.kind", "no such output format: "+string(o.Kind), "one of text, json_object, json_schema")
	}
}

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
		e.refuse("reasoning.mode", "the protocol cannot ask for reasoning between tools alone", "use on or off")
	default:
		e.refuse("reasoning.mode", "no such mode: "+string(g.Mode), "one of on, off")
	}
	e.off = g.Mode == wire.ReasoningOff || e.effort == effortNone && g.Effort != ""
	effort := e.effort
	switch {
	case g.Mode == wire.ReasoningOff:
		if g.Effort != "" && g.Effort != effortNone {
			e.dropped("reasoning.effort", "reasoning is off")
		}
		effort = ""
	case g.Effort == "":
		effort = ""
	}
	if effort == "" && g.Effort != "" && g.Mode != wire.ReasoningOff {
		e.dropped("reasoning.effort", "the server has no such effort")
	}
	asked := g.Mode != "" || effort != ""
	if e.off && e.family.always {
		e.refuse("reasoning", e.r.Model+" always reasons", "ask for a low effort")
	}
	if e.family.noEffort && effort != "" && effort != effortNone {
		e.dropped("reasoning.effort", e.r.Model+" has no effort setting")
		effort, e.effort = "", ""
	} else if effort != "" && !e.off && !e.family.takes(effort) {
		e.refuse("reasoning.effort", e.r.Model+" takes no effort "+strconv.Quote(effort), "one of "+strings.ReplaceAll(e.family.efforts, " ", ", "))
	}
	budget := g.Budget
	if budget < 0 {
		e.refuse("reasoning.budget", "a budget cannot be negative", "")
	}
	if e.off && budget > 0 {
		e.dropped("reasoning.budget", "reasoning is off")
		budget = 0
	}
	if e.off {
		effort = ""
	}
	object, display := false, false // there is a place for further settings, for what is shown
	switch e.profile.Thinking {
	case ThinkingEffort:
		e.plainEffort(g, effort)
	case ThinkingZAI, ThinkingDeepSeek, ThinkingBudget, ThinkingAdaptive:
		budgeted := e.profile.Thinking == ThinkingBudget && budget > 0
		if object = asked || budgeted || g.Vendor != ""; object {
			e.lit(`,"thinking":`)
			from := len(e.b)
			e.lit(`{"type":`)
			switch {
			case e.off:
				e.lit(`"disabled"`)
			case e.profile.Thinking == ThinkingAdaptive:
				e.lit(`"adaptive"`)
			default:
				e.lit(`"enabled"`)
			}
			if e.profile.Thinking == ThinkingZAI && !e.off && e.profile.Replay != ReplayNever && g.Replay != wire.ReplayNever {
				e.lit(`,"clear_thinking":false`)
			}
			if budgeted {
				e.lit(`,"budget_tokens":`)
				e.b = jsonw.AppendInt(e.b, int64(budget))
				budget = 0
			}
			e.settings(g.Vendor, from)
			e.lit(`}`)
		}
		if e.profile.Thinking == ThinkingAdaptive {
			e.effortless(effort)
		} else {
			e.word(effort)
		}
	case ThinkingQwen:
		if asked || budget > 0 {
			e.lit(`,"enable_thinking":`)
			e.b = strconv.AppendBool(e.b, !e.off)
		}
		if budget > 0 {
			e.lit(`,"thinking_budget":`)
			e.b = jsonw.AppendInt(e.b, int64(budget))
			budget = 0
		}
		e.word(effort)
	case ThinkingTemplate:
		if object = asked || g.Vendor != ""; object {
			e.lit(`,"chat_template_kwargs":`)
			from := len(e.b)
			e.lit(`{"enable_thinking":`)
			e.b = strconv.AppendBool(e.b, !e.off)
			e.settings(g.Vendor, from)
			e.lit(`}`)
		}
		e.word(effort)
	case ThinkingOpenRouter:
		display = g.Display == "omitted"
		if object = asked || budget > 0 || display || g.Vendor != ""; object {
			if effort != "" && budget > 0 {
				e.refuse("reasoning", "an effort and a budget exclude each other", "give one of them")
			}
			e.lit(`,"reasoning":`)
			from := len(e.b)
			e.lit(`{`)
			switch {
			case e.off:
				e.lit(`"effort":"none"`)
			case effort != "":
				e.lit(`"effort":`)
				e.str(effort)
			case budget > 0:
				e.lit(`"max_tokens":`)
				e.b = jsonw.AppendInt(e.b, int64(budget))
			default:
				e.lit(`"enabled":true`)
			}
			budget = 0
			if display {
				e.lit(`,"exclude":true`)
			}
			e.settings(g.Vendor, from)
			e.lit(`}`)
		}
	case ThinkingNone:
		if g.Mode != "" {
			e.refuse("reasoning.mode", "the server has no switch for reasoning", "leave it to the model")
		}
		e.effortless(effort)
	default:
		e.refuse("reasoning", "the profile has no style of thinking "+strconv.Quote(string(e.profile.Thinking)), "")
	}
	if budget > 0 {
		e.dropped("reasoning.budget", "there is no such setting")
	}
	if g.Display != "" && !display {
		e.dropped("reasoning.display", "there is no such setting")
	}
	if g.Vendor != "" && !object {
		e.refuse("reasoning.vendor", "there is no object that it could belong to", "use Extra")
	}
}

// plainEffort writes the effort where it is all there is.
func (e *encoder) plainEffort(g *wire.Reasoning, effort string) {
	switch {
	case e.family.noEffort && g.Mode == wire.ReasoningOn:
		e.refuse("reasoning.mode", e.r.Model+" has no reasoning", "choose another model, or leave it out")
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
		e.dropped("reasoning.effort", "the server has no such setting")
	}
}

// word writes an effort, if there is one.
func (e *encoder) word(effort string) {
	if effort != "" {
		e.lit(`,"reasoning_effort":`)
		e.str(effort)
	}
}

// identity writes who asks and how the request is to be treated.
func (e *encoder) identity() {
	r, p := e.r, &e.profile
	const none = "the server has no such setting"
	if r.ServiceTier != "" {
		if p.NoServiceTier {
			e.dropped("service_tier", none)
		} else {
			e.lit(`,"service_tier":`)
			e.str(r.ServiceTier)
		}
	}
	if r.UserID != "" {
		if p.NoUser {
			e.dropped("user_id", none)
		} else {
			e.lit(`,"safety_identifier":`)
			e.str(r.UserID)
		}
	}
	if r.Cache == nil {
		return
	}
	if r.Cache.Key != "" {
		if p.NoCacheKey {
			e.dropped("cache.key", none)
		} else {
			e.lit(`,"prompt_cache_key":`)
			e.str(r.Cache.Key)
		}
	}
	if !p.CacheControl {
		if r.Cache.Auto {
			e.dropped("cache.auto", "there are no cache marks; the server caches by itself or not at all")
		}
		if r.Cache.TTL != "" {
			e.dropped("cache.ttl", "there are no cache marks whose time it could be")
		}
	}
}

func (e *encoder) extra() {
	for i := range e.r.Extra {
		f := &e.r.Extra[i]
		at := codec.Item("extra", i)
		if e.writes(f.Name) {
			e.refuse(at.String(), strconv.Quote(f.Name)+" is written by the codec", "use the field of the request")
		}
		if f.Name == "" {
			e.refuse(at.String(), "a field needs a name", "")
		}
		if len(e.r.Tools) == 0 && (f.Name == "tool_choice" || f.Name == "parallel_tool_calls") {
			e.refuse(at.String(), strconv.Quote(f.Name)+" needs tools", "leave it out")
		}
		if f.Name == "stream_options" && e.r.Whole {
			e.refuse(at.String(), "stream_options needs a stream", "leave it out, or ask for a stream")
		}
		if f.Name == "n" && strings.TrimSpace(f.Raw) != "1" {
			e.refuse(at.String(), "a response is one answer", "send the request several times")
		}
		for j := range i {
			if e.r.Extra[j].Name == f.Name {
				e.refuse(at.String(), strconv.Quote(f.Name)+" is there twice", "")
			}
		}
		e.lit(`,`)
		e.str(f.Name)
		e.lit(`:`)
		e.raw(f.Raw, at)
	}
}

// maxName is the most characters of the name of a tool or of a schema.
const maxName = 64

func (e *encoder) tools() {
	r, p := e.r, &e.profile
	c := r.ToolChoice
	if len(r.Tools) == 0 {
		if c.Mode == wire.ToolChoiceRequired || c.Mode == wire.ToolChoiceTool {
			e.refuse("tool_choice", "there is no tool to choose", "give tools or no tool choice")
		}
		return
	}
	if c.Mode == wire.ToolChoiceNone && (p.ToolChoice == ToolChoicesAuto || p.ToolChoice == ToolChoicesUnsaid) {
		e.note(wire.NoteConverted, "tool_choice", "the server has no tool choice none; sent without the tools")
		return
	}
	if e.family.noTools && e.effort != "" && e.effort != effortNone {
		remedy := "use the Responses protocol, or reasoning_effort none"
		if e.family.always {
			remedy = "use the Responses protocol"
		}
		e.refuse("tools", r.Model+" takes tools with reasoning_effort none alone, not with "+e.effort, remedy)
	}
	if b := r.ParallelToolCalls; b != nil {
		if p.NoParallel {
			e.dropped("parallel_tool_calls", "the server has no such setting")
		} else {
			e.lit(`,"parallel_tool_calls":`)
			e.b = strconv.AppendBool(e.b, *b)
		}
	}
	if p.ToolStream != "" && !r.Whole && !e.family.whole {
		e.lit(`,`)
		e.str(p.ToolStream)
		e.lit(`:true`)
	}
	e.toolChoice()
	e.lit(`,"tools":[`)
	var few [16]string
	names := few[:0]
	for i := range r.Tools {
		if i > 0 {
			e.lit(`,`)
		}
		name := toolName(&r.Tools[i])
		if name != "" && slices.Contains(names, name) {
			field := ".name"
			if r.Tools[i].Name == "" {
				field = ".vendor"
			}
			e.refuse(codec.Item("tools", i).String()+field, "there are two tools "+strconv.Quote(name), "rename one")
		}
		names = append(names, name)
		e.tool(i)
	}
	e.lit(`]`)
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
		e.refuse("tool_choice", "the server takes no forced tool choice", remedy)
	case forced && p.ForcedChoice == ForcedWithoutThinking && !e.off:
		e.refuse("tool_choice", "the server takes a forced tool choice only while reasoning is off", "set reasoning mode off, or "+remedy)
	}
	narrow := len(c.Allowed) > 0
	if narrow && p.ToolChoice != ToolChoicesAll {
		e.refuse("tool_choice.allowed", "the server cannot narrow the choice of tools", "offer only the tools wanted")
	}
	if p.ToolChoice == ToolChoicesUnsaid {
		return
	}
	e.lit(`,"tool_choice":`)
	if narrow {
		switch c.Mode {
		case "", wire.ToolChoiceAuto, wire.ToolChoiceRequired:
		default:
			e.refuse("tool_choice.allowed", "the choice is narrowed with auto or required, not with "+string(c.Mode), "")
		}
		e.lit(`{"type":"allowed_tools","allowed_tools":{"mode":"`)
		if c.Mode == wire.ToolChoiceRequired {
			e.lit(`required`)
		} else {
			e.lit(`auto`)
		}
		e.lit(`","tools":[`)
		for i, name := range c.Allowed {
			if i > 0 {
				e.lit(`,`)
			}
			e.choose(name, "tool_choice.allowed")
		}
		e.lit(`]}}`)
		return
	}
	switch c.Mode {
	case "", wire.ToolChoiceAuto:
		e.lit(`"auto"`)
	case wire.ToolChoiceNone:
		e.lit(`"none"`)
	case wire.ToolChoiceRequired:
		e.lit(`"required"`)
	case wire.ToolChoiceTool:
		e.choose(c.Name, "tool_choice.name")
	default:
		e.refuse("tool_choice.mode", "no such mode: "+string(c.Mode), "one of auto, none, required, tool")
		e.lit(`"auto"`)
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
		e.refuse(path, "there is no tool "+strconv.Quote(name), "name one of the tools")
	}
	if custom {
		e.lit(`{"type":"custom","custom":{"name":`)
	} else {
		e.lit(`{"type":"function","function":{"name":`)
	}
	e.str(name)
	e.lit(`}}`)
}

func (e *encoder) tool(i int) {
	t := &e.r.Tools[i]
	at := codec.Item("tools", i)
	if t.Cache != nil {
		e.dropped(at.String()+".cache", "a tool cannot carry a cache mark")
	}
	if t.Name == "" { // the whole definition, in the vendor's words
		e.raw(t.Vendor, at)
		if c := jsonw.Parse(t.Vendor).Members(); !c.Next() {
			e.refuse(at.String(), "a tool needs a name, or a whole definition in Vendor", "")
		}
		return
	}
	if !codec.ValidName(t.Name, maxName) {
		e.refuse(at.String()+".name", "a tool name is 1 to 64 letters, digits, _ or -", "rename the tool")
	}
	if t.FreeForm {
		e.lit(`{"type":"custom","custom":{"name":`)
	} else {
		e.lit(`{"type":"function","function":{"name":`)
	}
	e.str(t.Name)
	if t.Description != "" {
		e.lit(`,"description":`)
		e.str(t.Description)
	}
	kind := "function"
	if t.FreeForm {
		kind = "custom"
		e.custom(t, at)
	} else {
		e.function(t, at)
	}
	e.lit(`}`)
	e.members(t.Vendor, at, "", "type", kind)
	e.lit(`}`)
}

// custom writes what a tool with free text arguments has besides its name.
func (e *encoder) custom(t *wire.Tool, at codec.Place) {
	if e.profile.NoCustom {
		e.refuse(at.String()+".free_form", "the server has no tools with free text arguments", "give the tool a schema with one string")
	}
	if t.Grammar != "" {
		e.lit(`,"format":`)
		e.grammar(t.Grammar, codec.Field(at.String()+".grammar"))
	}
	if t.Schema != "" {
		e.dropped(at.String()+".schema", "the arguments are free text")
	}
	if t.Strict != nil {
		e.dropped(at.String()+".strict", "the arguments are free text")
	}
}

// grammar writes the form of a free text: the vendor's whole format as it stands,
// or a grammar, its syntax and definition, which here stands within one.
func (e *encoder) grammar(raw string, at codec.Place) {
	g := jsonw.Parse(raw)
	if !jsonw.Valid(raw) || !g.IsObject() {
		e.refuse(at.String(), "no JSON object", "")
		e.lit(`null`)
		return
	}
	flat := g.Get("syntax").Exists() && !g.Get("grammar").Exists()
	if !flat {
		e.raw(raw, at)
		return
	}
	e.lit(`{"type":"grammar","grammar":`)
	if !g.Get("type").Exists() {
		e.raw(raw, at)
	} else {
		e.lit(`{"syntax":`)
		e.raw(string(g.Get("syntax")), at)
		e.lit(`,"definition":`)
		e.raw(string(g.Get("definition")), at)
		e.lit(`}`)
	}
	e.lit(`}`)
}

// function writes what a tool with a schema has besides its name.
func (e *encoder) function(t *wire.Tool, at codec.Place) {
	e.lit(`,"parameters":`)
	var changed bool
	var repairs int
	var err error
	e.b, changed, repairs, err = schema.Object(e.b, t.Schema)
	switch {
	case err != nil:
		e.refuse(at.String()+".schema", err.Error(), "give a JSON Schema of an object")
		e.lit(`null`)
	case changed:
		e.note(wire.NoteRepaired, at.String()+".schema", "made an object schema with properties")
	case repairs > 0:
		e.note(wire.NoteRepaired, at.String()+".schema", "what is no character became U+FFFD")
	}
	if t.Strict != nil {
		if e.profile.NoStrict {
			e.dropped(at.String()+".strict", "the server does not hold arguments to a schema")
		} else {
			e.lit(`,"strict":`)
			e.b = strconv.AppendBool(e.b, *t.Strict)
		}
	}
}
