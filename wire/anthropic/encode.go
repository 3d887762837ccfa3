package anthropic

// How this file is organised: request writes the body in one pass over the
// Request, in a fixed order of fields, the growing array last. Blocks open and
// close the messages around them (begin), so that neighbours of one role merge
// and a message without blocks is never written. Whatever the protocol does not
// allow becomes a finding, and whatever was changed a note, at the place where
// it is met; Check is the same pass with the bytes thrown away. What every protocol
// needs for that is in the embedded body.Writer.

import (
	"strconv"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/body"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

type encoder struct {
	body.Writer
	codec  Codec
	count  bool // only the input tokens are asked for
	r      *wire.Request
	family *family

	role  string    // of the message that is open in b, "" before the first
	tail  string    // its vendor members
	last  textBlock // the last block of b, if it is a text of the assistant's
	marks int       // cache breakpoints written
	auto  autoMarks
	turn  turn // of the assistant before, until its calls are answered
}

// turn is a run of neighbouring messages, from the first to before the last.
type turn struct{ from, to int }

// textBlock is where the string of a text block stands in the body.
type textBlock struct {
	from, to int // to is 0 if there is none
	text     string
}

// autoMarks are the places of the automatic cache breakpoints.
type autoMarks struct {
	tools, system bool
	part          *wire.Part
	mark          wire.CacheMark // of part
}

// writes reports whether the codec writes a top-level member itself.
func (e *encoder) writes(name string) bool {
	r := e.r
	switch name {
	case "model", "max_tokens", "messages", "stream":
		return true
	case "system":
		return len(r.System) > 0
	case "stop_sequences":
		return len(r.StopSequences) > 0
	case "temperature":
		return r.Temperature != nil
	case "top_p":
		return r.TopP != nil
	case "top_k":
		return r.TopK != nil
	case "tools", "tool_choice":
		return len(r.Tools) > 0
	case "thinking":
		return r.Reasoning != nil && (r.Reasoning.Mode != "" || r.Reasoning.Budget > 0 || r.Reasoning.Display != "")
	case "output_config":
		return r.Output != nil || r.Reasoning != nil && r.Reasoning.Effort != ""
	case "metadata":
		return r.UserID != ""
	case "service_tier":
		return r.ServiceTier != ""
	}
	return false
}

func (e *encoder) request() {
	r := e.r
	if r.Model == "" {
		e.Refuse("model", "the protocol demands a model", "set Request.Model")
	}
	e.Lit(`{"model":`)
	e.Str(r.Model)
	limit := e.maxTokens()
	if !e.count {
		e.Lit(`,"max_tokens":`)
		e.B = jsonw.AppendInt(e.B, int64(limit))
		if !r.Whole {
			e.Lit(`,"stream":true`)
		}
	}
	thinking := e.thinking(limit)
	if !e.count {
		e.sampling(thinking)
		e.stopSequences()
	}
	e.outputConfig()
	if !e.count {
		e.identity()
	}
	e.extra()
	e.plan()
	e.toolChoice(thinking)
	e.tools()
	e.system()
	e.messages()
	e.Lit("}")
	if e.marks > maxMarks {
		e.Refuse("", "at most 4 cache breakpoints, not "+strconv.Itoa(e.marks), "mark fewer parts and tools")
	}
}

// identity writes who asks and how the request is to be treated.
func (e *encoder) identity() {
	if e.r.UserID != "" {
		e.Lit(`,"metadata":{"user_id":`)
		e.Str(e.r.UserID)
		e.Lit(`}`)
	}
	if e.r.ServiceTier != "" {
		e.Lit(`,"service_tier":`)
		e.Str(e.r.ServiceTier)
	}
	if e.r.Cache != nil && e.r.Cache.Key != "" {
		e.Dropped("cache.key", "the protocol has no cache key")
	}
}

func (e *encoder) maxTokens() int {
	n := e.r.MaxTokens
	switch {
	case n < 0:
		e.Refuse("max_tokens", "a limit cannot be negative", "leave it out or give a number from 1")
	case n == 0 && e.family.maxTokens > 0:
		n = e.family.maxTokens
	case n == 0:
		n = defaultMaxTokens
	}
	return n
}

// thinkingState is what other fields must know about the thinking asked for.
type thinkingState struct {
	on     bool
	manual bool
}

func (e *encoder) thinking(limit int) thinkingState {
	g := e.r.Reasoning
	if g == nil {
		return thinkingState{}
	}
	refuse := func(what string) {
		e.Refuse("reasoning", e.r.Model+" has no "+what, "choose another mode of reasoning, or leave it to the model")
	}
	var st thinkingState
	switch {
	case g.Mode == wire.ReasoningOff:
		if !e.family.disabled {
			refuse("way to switch thinking off")
		}
		e.Lit(`,"thinking":{"type":"disabled"`)
		e.members(g.Vendor, codec.Field("reasoning"), "type")
		e.Lit(`}`)
		if g.Display != "" {
			e.Dropped("reasoning.display", "thinking is off")
		}
		if g.Budget != 0 {
			e.Dropped("reasoning.budget", "thinking is off")
		}
		return st
	case g.Mode == wire.ReasoningBetweenTools:
		if !e.family.between {
			refuse("thinking between tools alone")
		}
		e.Lit(`,"thinking":{"type":"between_tools"`)
		if g.Budget != 0 {
			e.Dropped("reasoning.budget", "thinking between tools has no budget")
		}
		st = thinkingState{on: true}
	case g.Budget > 0 || g.Mode == wire.ReasoningOn && !e.family.adaptive:
		if !e.family.manual {
			refuse("thinking budget")
		}
		budget := g.Budget
		if budget == 0 {
			budget = max(1024, limit/2)
		}
		if budget < 1024 || budget >= limit {
			e.Refuse("reasoning.budget", "a thinking budget is at least 1024 and below max_tokens ("+strconv.Itoa(limit)+")",
				"raise max_tokens or change the budget")
		}
		e.Lit(`,"thinking":{"type":"enabled","budget_tokens":`)
		e.B = jsonw.AppendInt(e.B, int64(budget))
		st = thinkingState{on: true, manual: true}
	case g.Mode == wire.ReasoningOn || g.Display != "":
		if !e.family.adaptive {
			refuse("adaptive thinking")
		}
		e.Lit(`,"thinking":{"type":"adaptive"`)
		st = thinkingState{on: true}
	case g.Mode != "":
		e.Refuse("reasoning.mode", "no such mode: "+string(g.Mode), "one of on, off, between_tools")
		return st
	case g.Vendor != "":
		e.Refuse("reasoning.vendor", "there is no thinking that it could belong to", "set a mode")
		return st
	default:
		return st
	}
	if g.Display != "" {
		e.Lit(`,"display":`)
		e.Str(g.Display)
	}
	e.members(g.Vendor, codec.Field("reasoning"), "type", only(st.manual, "budget_tokens"), only(g.Display != "", "display"))
	e.Lit(`}`)
	return st
}

func (e *encoder) sampling(t thinkingState) {
	r := e.r
	why := ""
	switch {
	case r.Temperature == nil && r.TopP == nil && r.TopK == nil:
	case e.codec.version() == Version20261021:
		why = "API version " + Version20261021 + " refuses it"
	case !e.family.sampling:
		why = r.Model + " refuses it"
	case t.on:
		why = "it cannot be combined with thinking"
	}
	e.number("temperature", r.Temperature, why)
	topP := why
	if t.on && e.family.sampling && e.codec.version() != Version20261021 {
		topP = "" // the one setting that goes with thinking
	}
	e.number("top_p", r.TopP, topP)
	if r.TopK != nil {
		if why != "" {
			e.Dropped("top_k", why)
		} else {
			e.Lit(`,"top_k":`)
			e.B = jsonw.AppendInt(e.B, int64(*r.TopK))
		}
	}
	const none = "the protocol has no such setting"
	if r.Seed != nil {
		e.Dropped("seed", none)
	}
	if r.PresencePenalty != nil {
		e.Dropped("presence_penalty", none)
	}
	if r.FrequencyPenalty != nil {
		e.Dropped("frequency_penalty", none)
	}
}

// number writes a setting, or says why not.
func (e *encoder) number(name string, v *float64, why string) {
	switch {
	case v == nil:
	case !jsonw.IsFinite(*v):
		e.Refuse(name, "not a finite number", "")
	case why != "":
		e.Dropped(name, why)
	default:
		e.Lit(`,"`)
		e.Lit(name)
		e.Lit(`":`)
		e.B = jsonw.AppendFloat(e.B, *v)
	}
}

func (e *encoder) stopSequences() {
	for i, s := range e.r.StopSequences {
		if i == 0 {
			e.Lit(`,"stop_sequences":[`)
		} else {
			e.Lit(`,`)
		}
		e.Str(s)
		if codec.Blank(s) {
			e.Refuse("stop_sequences["+strconv.Itoa(i)+"]", "a stop sequence must have more than white space", "")
		}
	}
	if len(e.r.StopSequences) > 0 {
		e.Lit(`]`)
	}
}

func (e *encoder) outputConfig() {
	effort := ""
	if g := e.r.Reasoning; g != nil && g.Effort != "" {
		if effort = g.Effort; !e.family.effort {
			e.Dropped("reasoning.effort", e.r.Model+" has no effort setting")
			effort = ""
		}
	}
	o := e.r.Output
	if o != nil && (o.Kind == "" || o.Kind == wire.OutputText) {
		o = nil
	}
	if o != nil && o.Kind != wire.OutputJSONSchema {
		e.Refuse("output.kind", "the protocol has no output format "+string(o.Kind), "use json_schema with a schema")
		o = nil
	}
	if effort == "" && o == nil {
		return
	}
	e.Lit(`,"output_config":{`)
	if effort != "" {
		e.Lit(`"effort":`)
		e.Str(effort)
	}
	if o != nil {
		if effort != "" {
			e.Lit(`,`)
		}
		e.Lit(`"format":{"type":"json_schema","schema":`)
		e.Raw(o.Schema, codec.Field("output.schema"))
		e.Lit(`}`)
		if o.Name != "" || o.Description != "" {
			e.Dropped("output.name", "an output format has no name and description here")
		}
		if o.Strict != nil {
			e.Dropped("output.strict", "a schema always binds here")
		}
	}
	e.Lit(`}`)
}

func (e *encoder) extra() {
	for i := range e.r.Extra {
		f := &e.r.Extra[i]
		at := codec.Item("extra", i)
		if e.writes(f.Name) {
			e.Refuse(at.String(), strconv.Quote(f.Name)+" is written by the codec", "use the field of the request")
		}
		e.Extra(e.r.Extra, i)
		if e.count && f.Name != "cache_control" && f.Name != "speed" { // the two that the count takes
			continue
		}
		e.Field(f, at)
		if f.Name == "cache_control" {
			e.marks++
		}
	}
}

func (e *encoder) toolChoice(t thinkingState) {
	c, r := e.r.ToolChoice, e.r
	if len(r.Tools) == 0 {
		if c.Mode != "" && c.Mode != wire.ToolChoiceAuto && c.Mode != wire.ToolChoiceNone {
			e.Refuse("tool_choice", "there is no tool to choose", "give tools or no tool choice")
		}
		return
	}
	if len(c.Allowed) > 0 {
		e.Refuse("tool_choice.allowed", "the protocol cannot narrow the choice of tools", "offer only the tools wanted")
	}
	e.Lit(`,"tool_choice":{"type":`)
	switch c.Mode {
	case "", wire.ToolChoiceAuto:
		e.Lit(`"auto"`)
	case wire.ToolChoiceNone:
		e.Lit(`"none"}`)
		return
	case wire.ToolChoiceRequired:
		e.Lit(`"any"`)
	case wire.ToolChoiceTool:
		e.Lit(`"tool","name":`)
		e.Str(c.Name)
		if !e.hasTool(c.Name) {
			e.Refuse("tool_choice.name", "there is no tool "+strconv.Quote(c.Name), "name one of the tools")
		}
	default:
		e.Refuse("tool_choice.mode", "no such mode: "+string(c.Mode), "one of auto, none, required, tool")
		e.Lit(`"auto"`)
	}
	if c.Mode == wire.ToolChoiceRequired || c.Mode == wire.ToolChoiceTool {
		const remedy = "leave the choice to the model and ask for the call in the prompt"
		if !e.family.forced {
			e.Refuse("tool_choice", r.Model+" refuses a forced tool choice", remedy)
		} else if t.manual {
			e.Refuse("tool_choice", "a forced tool choice cannot be combined with a thinking budget", remedy)
		}
	}
	if p := r.ParallelToolCalls; p != nil && !*p {
		e.Lit(`,"disable_parallel_tool_use":true`)
	}
	e.Lit(`}`)
}

func (e *encoder) hasTool(name string) bool {
	for i := range e.r.Tools {
		if e.r.Tools[i].Name == name {
			return true
		}
		if t := &e.r.Tools[i]; t.Name == "" && jsonw.Valid(t.Vendor) && jsonw.Parse(t.Vendor).Get("name").Str() == name {
			return true
		}
	}
	return false
}

func (e *encoder) tools() {
	for i := range e.r.Tools {
		t := &e.r.Tools[i]
		at := codec.Item("tools", i)
		if i == 0 {
			e.Lit(`,"tools":[`)
		} else {
			e.Lit(`,`)
		}
		cache := t.Cache
		if cache == nil && e.auto.tools && i == len(e.r.Tools)-1 {
			cache = &wire.CacheMark{TTL: e.r.Cache.TTL}
		}
		if t.Name == "" { // the whole definition, in the vendor's words
			e.Raw(t.Vendor, at)
			if c := jsonw.Parse(t.Vendor).Members(); !c.Next() {
				e.Refuse(at.String(), "a tool needs a name, or a whole definition in Vendor", "")
			} else if cache != nil {
				e.B = e.B[:len(e.B)-1]
				e.mark(cache)
				e.Lit(`}`)
			}
			continue
		}
		e.Lit(`{"name":`)
		e.Str(t.Name)
		if !codec.ValidName(t.Name, 128) {
			e.Refuse(at.String()+".name", "a tool name is 1 to 128 letters, digits, _ or -", "rename the tool")
		}
		for j := range i {
			if e.r.Tools[j].Name == t.Name {
				e.Refuse(at.String()+".name", "there are two tools "+strconv.Quote(t.Name), "rename one")
			}
		}
		if t.Description != "" {
			e.Lit(`,"description":`)
			e.Str(t.Description)
		}
		if t.FreeForm {
			e.Refuse(at.String()+".free_form", "the protocol has no tools with free text arguments", "give the tool a schema with one string")
		}
		e.Lit(`,"input_schema":`)
		e.Schema(t.Schema, at)
		if t.Strict != nil {
			e.Lit(`,"strict":`)
			e.B = strconv.AppendBool(e.B, *t.Strict)
		}
		e.members(t.Vendor, at, "name", "input_schema", only(t.Description != "", "description"), only(t.Strict != nil, "strict"))
		e.mark(cache)
		e.Lit(`}`)
	}
	if len(e.r.Tools) > 0 {
		e.Lit(`]`)
	}
}

// only returns a member's name if it was written, else "".
func only(written bool, name string) string {
	if written {
		return name
	}
	return ""
}

// members appends the members of a vendor object, each behind a comma. Those
// that the codec has written already are refused.
func (e *encoder) members(vendor string, at codec.Place, written ...string) {
	e.marks += e.Members(vendor, at, "cache_control", "", written...)
}

func (e *encoder) system() {
	n, last := 0, -1
	for i := range e.r.System {
		if p := &e.r.System[i]; p.Kind == wire.PartText && !codec.Blank(p.Text) {
			last = i
		}
	}
	for i := range e.r.System {
		p := &e.r.System[i]
		at := codec.Item("system", i)
		if p.Kind != wire.PartText {
			e.Refuse(at.String(), "a system prompt holds text, not "+string(p.Kind), "move it into a message")
			continue
		}
		if codec.Blank(p.Text) {
			e.Dropped(at.String(), "a text without a character is refused")
			continue
		}
		if n++; n == 1 {
			e.Lit(`,"system":[`)
		} else {
			e.Lit(`,`)
		}
		e.Lit(`{"type":"text","text":`)
		e.Str(p.Text)
		e.members(p.Vendor, at, "type", "text")
		cache := p.Cache
		if cache == nil && e.auto.system && i == last {
			cache = &wire.CacheMark{TTL: e.r.Cache.TTL}
		}
		e.mark(cache)
		e.Lit(`}`)
	}
	if n > 0 {
		e.Lit(`]`)
	}
}
