package openaichat

import (
	"strings"

	"github.com/handwire/handwire/wire/internal/body"
)

// family is what depends on the model and not on the server. It is no model
// catalogue: only what decides how a request has to be written.
type family struct {
	prefix string // of the name, as bare gives it, up to its end or a dash

	efforts   string // the words that are taken, separated by spaces; "" is all
	noEffort  bool   // takes no effort at all
	always    bool   // cannot be switched off
	usual     string // effort where the request names none; "" is unknown
	reasoning bool   // knows neither penalties nor, while it thinks, temperature and top_p
	developer bool   // has a developer prompt, no system prompt
	noStop    bool   // refuses stop sequences
	noTools   bool   // refuses tools together with any effort but none
	blind     bool   // sees no images
	whole     bool   // cannot stream the arguments of calls
	marks     bool   // takes prompt_cache_breakpoint
	fixed     bool   // refuses every temperature and top_p
	forgets   bool   // cannot keep the reasoning of earlier turns
}

// samples reports whether a family takes temperature and top_p with an effort.
func (f *family) samples(effort string) bool {
	return !f.reasoning || effort == effortNone && !f.always
}

const effortNone = "none"

// The words of effort, separated by spaces.
const (
	upToHigh     = "low medium high"
	minToHigh    = "minimal low medium high"
	noneToHigh   = effortNone + " low medium high"
	noneToXHigh  = effortNone + " low medium high xhigh"
	noneToMax    = effortNone + " low medium high xhigh max"
	upToXHigh    = "low medium high xhigh"
	lowHighOrMax = "low high max"
)

// openAI are OpenAI's own models. A name that no row knows is let through with
// everything, and the server decides.
var openAI = [...]family{
	{prefix: "gpt-3.5", noEffort: true, blind: true},
	{prefix: "gpt-4", noEffort: true},
	{prefix: "gpt-4o", noEffort: true},
	{prefix: "gpt-4.1", noEffort: true},
	{prefix: "gpt-4.5", noEffort: true},
	{prefix: "chatgpt-4o", noEffort: true},
	{prefix: "o1", efforts: upToHigh, always: true, usual: "medium", reasoning: true, developer: true},
	{prefix: "o3-mini", efforts: upToHigh, always: true, usual: "medium", reasoning: true, developer: true, noStop: true, blind: true},
	{prefix: "o3", efforts: upToHigh, always: true, usual: "medium", reasoning: true, developer: true, noStop: true},
	{prefix: "o4-mini", efforts: upToHigh, always: true, usual: "medium", reasoning: true, developer: true, noStop: true},
	{prefix: "gpt-5", efforts: minToHigh, always: true, usual: "medium", reasoning: true, developer: true, noStop: true},
	{prefix: "gpt-5.1", efforts: noneToHigh, usual: effortNone, reasoning: true, developer: true, noStop: true},
	{prefix: "gpt-5.2", efforts: noneToXHigh, usual: effortNone, reasoning: true, developer: true, noStop: true},
	{prefix: "gpt-5.3", efforts: noneToXHigh, reasoning: true, developer: true, noStop: true},
	{prefix: "gpt-5.4", efforts: noneToXHigh, usual: effortNone, reasoning: true, developer: true, noStop: true, noTools: true},
	{prefix: "gpt-5.5", efforts: noneToXHigh, reasoning: true, developer: true, noStop: true, noTools: true},
	{prefix: "gpt-5.6", efforts: noneToMax, usual: "medium", reasoning: true, developer: true, noStop: true, noTools: true, marks: true},
	{prefix: "gpt-6-sol", efforts: noneToMax, usual: "medium", reasoning: true, developer: true, noStop: true, noTools: true, marks: true},
	{prefix: "gpt-6-luna", efforts: noneToMax, usual: "medium", reasoning: true, developer: true, noStop: true, noTools: true, marks: true},
	{prefix: "gpt-6-astra", efforts: upToXHigh, always: true, usual: "medium", reasoning: true, developer: true, noStop: true, noTools: true, marks: true},
	{prefix: "gpt-6.1-sol", efforts: upToXHigh, always: true, usual: "medium", reasoning: true, developer: true, noStop: true, noTools: true, marks: true},
	{prefix: "gpt-6.2-astra", efforts: upToXHigh, always: true, usual: "medium", reasoning: true, developer: true, noStop: true, noTools: true, marks: true},
	{prefix: "gpt-6.2-sol", efforts: upToXHigh, always: true, usual: "medium", reasoning: true, developer: true, noStop: true, noTools: true, marks: true},
}

// zai are the models of Z.ai, those without a V in their version, which see
// nothing. Those with one take everything.
var zai = [...]family{
	{prefix: "glm-4.5", noEffort: true, blind: true, whole: true},
	{prefix: "glm-4.5v", noEffort: true, whole: true},
	{prefix: "glm-4.6", noEffort: true, blind: true},
	{prefix: "glm-4.6v", noEffort: true},
	{prefix: "glm-4.7", noEffort: true, blind: true},
	{prefix: "glm-5", noEffort: true, blind: true},
	{prefix: "glm-5.1", noEffort: true, blind: true},
	{prefix: "glm-5.2", blind: true},
	{prefix: "glm-5.3", efforts: lowHighOrMax, always: true, blind: true},
}

// kimi are the models of Moonshot of which something is known. From k2.5 on they
// sample in one way alone; k2.7-code and k3 cannot be switched off, and k2.5
// refuses to keep reasoning.
var kimi = [...]family{
	{prefix: "kimi-k2.5", noEffort: true, fixed: true, forgets: true},
	{prefix: "kimi-k2.6", noEffort: true, fixed: true},
	{prefix: "kimi-k2.7-code", noEffort: true, always: true, fixed: true},
	{prefix: "kimi-k3", efforts: lowHighOrMax, always: true, fixed: true},
}

// unknown lets everything through.
var unknown = [...]family{{}}

// familyOf returns what is known about a model, in the profile's own terms.
func familyOf(p *Profile, model string) *family {
	var rows []family
	switch {
	case p.AnyModel:
	case p.Thinking == ThinkingEffort:
		rows = openAI[:]
	case p.Thinking == ThinkingZAI:
		rows = zai[:]
	case p.Thinking == ThinkingKimi:
		rows = kimi[:]
	}
	if rows == nil {
		return &unknown[0]
	}
	name := bare(model)
	if strings.Contains(name, "-chat") {
		return &unknown[0]
	}
	var best *family
	for i := range rows {
		f := &rows[i]
		if strings.HasPrefix(name, f.prefix) && (len(name) == len(f.prefix) || name[len(f.prefix)] == '-') &&
			(best == nil || len(f.prefix) > len(best.prefix)) {
			best = f
		}
	}
	if best == nil {
		return &unknown[0]
	}
	return best
}

// takes reports whether a family takes a word of effort.
func (f *family) takes(effort string) bool {
	return f.efforts == "" || body.Named(f.efforts, effort)
}

// bare returns the name of a model without what hosts put around it:
// "openai/gpt-4.1:free" and "gpt-4.1-2025-04-14" are both "gpt-4.1".
func bare(model string) string {
	if i := strings.LastIndexByte(model, '/'); i >= 0 {
		model = model[i+1:]
	}
	model = strings.TrimPrefix(model, "ft:")
	if i := strings.IndexByte(model, ':'); i >= 0 {
		model = model[:i]
	}
	model = strings.ToLower(model)
	model = strings.TrimPrefix(model, "openai.")
	model = strings.TrimSuffix(model, "-latest")
	for _, form := range [...]string{"-dddd-dd-dd", "-dddddddd"} {
		if n := len(model) - len(form); n > 0 && fits(model[n:], form) {
			return model[:n]
		}
	}
	return model
}

// fits reports whether s is of a form of dashes and digits.
func fits(s, form string) bool {
	for i := range len(s) {
		if digit := s[i] >= '0' && s[i] <= '9'; digit != (form[i] == 'd') || !digit && s[i] != form[i] {
			return false
		}
	}
	return true
}
