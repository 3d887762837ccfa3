package openaichat

// How the encoder is organised: request writes the body in one pass over the
// Request, in a fixed order of fields, the messages last. encode.go has the
// settings, with tools.go and effort.go, messages.go the conversation, whose parts
// are in the files beside it. Whatever the protocol or the profile
// does not allow becomes a finding, and whatever was changed a note, at the place
// where it is met; Check is the same pass with the bytes thrown away. What every protocol
// needs for that is in the embedded body.Writer.

import (
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/body"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

type encoder struct {
	body.Writer
	profile Profile
	r       *wire.Request
	family  *family

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

// more appends s to the JSON string that the body ends with.
func (e *encoder) more(s string) {
	n := len(e.B) - 2 // of the last byte within the quotation marks, or of the first mark
	last := e.B[n]
	e.B = jsonw.AppendString(e.B[:n], s)
	e.B[n] = last
}

// line appends s to the JSON string that the body ends with, behind a line end.
func (e *encoder) line(s string) {
	e.B = append(e.B[:len(e.B)-1], '\\', 'n', '"')
	e.more(s)
}

// members appends the members of a vendor object, each behind a comma, but for
// those named in but, with spaces between. Those that the codec has written are
// refused.
func (e *encoder) members(vendor string, at codec.Place, but string, written ...string) {
	marks := ""
	if e.profile.CacheControl {
		marks = "cache_control"
	}
	if e.family.marks {
		marks += " prompt_cache_breakpoint"
	}
	e.marks += e.Members(vendor, at, marks, but, written...)
}

// settings appends the members of Reasoning.Vendor to the object that began at
// from in the body, and refuses what stands there already.
func (e *encoder) settings(vendor string, from int) {
	at := codec.Field("reasoning")
	if vendor != "" && jsonw.Valid(vendor) {
		written := jsonw.Parse(string(e.B[from:]) + "}")
		for c := jsonw.Parse(vendor).Members(); c.Next(); {
			if written.Get(c.Name()).Exists() {
				e.Refuse(at.String()+".vendor", strconv.Quote(c.Name())+" is written by the codec", "leave it out")
			}
		}
	}
	e.members(vendor, at, "")
}

// writes reports whether the codec writes a top-level member itself.
func (e *encoder) writes(name string) bool {
	r, p, g := e.r, &e.profile, e.r.Reasoning
	reasons := g != nil && (g.Mode != "" || g.Effort != "" || g.Budget > 0 || g.Vendor != "" || g.Display != "")
	if name == p.seedName() {
		return r.Seed != nil && !p.NoSeed
	}
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
		return reasons && (p.Thinking == ThinkingOpenRouter || p.Thinking == ThinkingTogether)
	case "thinking":
		return reasons && (p.Thinking == ThinkingZAI || p.Thinking == ThinkingDeepSeek || p.Thinking == ThinkingBudget || p.Thinking == ThinkingAdaptive || p.Thinking == ThinkingKimi)
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
		e.Refuse("model", "the protocol demands a model", "set Request.Model")
	}
	e.Lit(`{"model":`)
	e.Str(r.Model)
	switch {
	case r.MaxTokens < 0:
		e.Refuse("max_tokens", "a limit cannot be negative", "leave it out or give a number from 1")
	case r.MaxTokens > 0 && (p.MaxTokens == MaxCompletionTokens || p.MaxTokens == MaxTokensByModel && e.family.reasoning):
		e.Lit(`,"max_completion_tokens":`)
		e.B = jsonw.AppendInt(e.B, int64(r.MaxTokens))
	case r.MaxTokens > 0:
		e.Lit(`,"max_tokens":`)
		e.B = jsonw.AppendInt(e.B, int64(r.MaxTokens))
	}
	if !r.Whole {
		e.Lit(`,"stream":true`)
		if !p.NoStreamOptions {
			e.Lit(`,"stream_options":{"include_usage":true}`)
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
	e.Lit(`}`)
	if e.marks > maxMarks {
		e.Refuse("", "at most 4 cache marks, not "+strconv.Itoa(e.marks), "mark fewer parts")
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
	if e.family.fixed {
		thinks = r.Model + " samples in one way alone"
	}
	temperature, topP := r.Temperature, r.TopP
	if p.NarrowSampler && thinks == "" {
		temperature = e.within("temperature", temperature, 0, 1, 2)
		topP = e.within("top_p", topP, 0.01, 1, 1)
	}
	e.number("temperature", temperature, 0, 2, thinks)
	e.number("top_p", topP, 0, 1, thinks)
	if k := r.TopK; k != nil {
		if p.TopK {
			e.Lit(`,"top_k":`)
			e.B = jsonw.AppendInt(e.B, int64(*k))
		} else {
			e.Dropped("top_k", none)
		}
	}
	if s := r.Seed; s != nil {
		if !p.NoSeed {
			e.Lit(`,"`)
			e.Lit(p.seedName())
			e.Lit(`":`)
			e.B = jsonw.AppendInt(e.B, *s)
		} else {
			e.Dropped("seed", none)
		}
	}
	if p.NoPenalties {
		knows = none
	}
	e.number("presence_penalty", r.PresencePenalty, -2, 2, knows)
	if p.NoFrequencyPenalty {
		knows = none
	}
	e.number("frequency_penalty", r.FrequencyPenalty, -2, 2, knows)
}

// number writes a setting that has a range, or says why not.
func (e *encoder) number(name string, v *float64, low, high int, why string) {
	switch {
	case v == nil:
	case !jsonw.IsFinite(*v):
		e.Refuse(name, "not a finite number", "")
	case why != "":
		e.Dropped(name, why)
	case *v < float64(low) || *v > float64(high):
		e.Refuse(name, "it is a number from "+strconv.Itoa(low)+" to "+strconv.Itoa(high), "move it into the range")
	default:
		e.Lit(`,"`)
		e.Lit(name)
		e.Lit(`":`)
		e.B = jsonw.AppendFloat(e.B, *v)
	}
}

// within moves v, a number from 0 to most, into the bounds of the server.
func (e *encoder) within(name string, v *float64, low, high, most float64) *float64 {
	if v == nil || !(*v >= 0 && *v <= most) || *v >= low && *v <= high {
		return v
	}
	moved := min(max(*v, low), high)
	e.Note(wire.NoteConverted, name, "the server takes it from "+string(jsonw.AppendFloat(nil, low))+" to "+string(jsonw.AppendFloat(nil, high)))
	return &moved
}

func (e *encoder) stopSequences() {
	stop := e.r.StopSequences
	if len(stop) == 0 {
		return
	}
	if e.family.noStop {
		e.Refuse("stop_sequences", e.r.Model+" refuses stop sequences", "look for them in the answer")
	}
	if len(stop) > 4 {
		e.Refuse("stop_sequences", "at most 4 stop sequences, not "+strconv.Itoa(len(stop)), "")
	}
	e.Lit(`,"stop":[`)
	for i, s := range stop {
		if i > 0 {
			e.Lit(`,`)
		}
		e.Str(s)
		if s == "" {
			e.Refuse("stop_sequences["+strconv.Itoa(i)+"]", "a stop sequence cannot be empty", "")
		}
	}
	e.Lit(`]`)
}

func (e *encoder) output() {
	o := e.r.Output
	if o == nil {
		return
	}
	switch o.Kind {
	case "", wire.OutputText:
	case wire.OutputJSON:
		e.Lit(`,"response_format":{"type":"json_object"}`)
	case wire.OutputJSONSchema:
		if e.profile.NoJSONSchema {
			e.Refuse("output.kind", "the server takes no schema for its output", "use json_object and describe the form in the prompt")
		}
		e.Lit(`,"response_format":{"type":"json_schema","json_schema":{"name":`)
		switch {
		case o.Name == "":
			e.Lit(`"answer"`)
			e.Note(wire.NoteInserted, "output.name", "the protocol demands a name; sent as answer")
		default:
			e.Str(o.Name)
			if !codec.ValidName(o.Name, maxName) {
				e.Refuse("output.name", "a name is 1 to 64 letters, digits, _ or -", "")
			}
		}
		if o.Description != "" {
			e.Lit(`,"description":`)
			e.Str(o.Description)
		}
		if o.Strict != nil {
			e.Lit(`,"strict":`)
			e.B = strconv.AppendBool(e.B, *o.Strict)
		}
		e.Lit(`,"schema":`)
		e.Raw(o.Schema, codec.Field("output.schema"))
		e.Lit(`}}`)
	default:
		e.Refuse("output.kind", "no such output format: "+string(o.Kind), "one of text, json_object, json_schema")
	}
}

// identity writes who asks and how the request is to be treated.
func (e *encoder) identity() {
	r, p := e.r, &e.profile
	const none = "the server has no such setting"
	if r.ServiceTier != "" {
		if p.NoServiceTier {
			e.Dropped("service_tier", none)
		} else {
			e.Lit(`,"service_tier":`)
			e.Str(r.ServiceTier)
		}
	}
	if r.UserID != "" {
		if p.NoUser {
			e.Dropped("user_id", none)
		} else {
			e.Lit(`,"safety_identifier":`)
			e.Str(r.UserID)
		}
	}
	if r.Cache == nil {
		return
	}
	if r.Cache.Key != "" {
		if p.NoCacheKey {
			e.Dropped("cache.key", none)
		} else {
			e.Lit(`,"prompt_cache_key":`)
			e.Str(r.Cache.Key)
		}
	}
	if !p.CacheControl {
		if r.Cache.Auto {
			e.Dropped("cache.auto", "there are no cache marks; the server caches by itself or not at all")
		}
		if r.Cache.TTL != "" {
			e.Dropped("cache.ttl", "there are no cache marks whose time it could be")
		}
	}
}

func (e *encoder) extra() {
	for i := range e.r.Extra {
		f := &e.r.Extra[i]
		at := codec.Item("extra", i)
		if e.writes(f.Name) {
			e.Refuse(at.String(), strconv.Quote(f.Name)+" is written by the codec", "use the field of the request")
		}
		e.Extra(e.r.Extra, i)
		if len(e.r.Tools) == 0 && (f.Name == "tool_choice" || f.Name == "parallel_tool_calls") {
			e.Refuse(at.String(), strconv.Quote(f.Name)+" needs tools", "leave it out")
		}
		if f.Name == "stream_options" && e.r.Whole {
			e.Refuse(at.String(), "stream_options needs a stream", "leave it out, or ask for a stream")
		}
		if f.Name == "n" && strings.TrimSpace(f.Raw) != "1" {
			e.Refuse(at.String(), "a response is one answer", "send the request several times")
		}
		e.Field(f, at)
	}
}
