package anthropic

import "strings"

// family is what depends on the model and not on the protocol. It is no model
// catalogue: only what decides how a request has to be written.
type family struct {
	prefix string // of the name, as bare gives it

	manual   bool // takes thinking {"type":"enabled","budget_tokens":n}
	adaptive bool // takes thinking {"type":"adaptive"}
	disabled bool // takes thinking {"type":"disabled"}
	between  bool // takes thinking {"type":"between_tools"}
	effort   bool // takes output_config.effort
	sampling bool // takes temperature, top_p and top_k
	forced   bool // takes a forced tool choice
	prefill  bool // continues a final assistant message
	system   bool // takes system messages within the conversation

	maxTokens int // sent where the request names no limit
}

// defaultMaxTokens is the output limit sent for a request that names none; the
// protocol demands one. Every model since the 4.5 generation takes more.
const defaultMaxTokens = 16384

// families is searched from the top for the first prefix that fits. The order is
// therefore from the particular to the general; the last row is the default for
// names that no row knows, and lets everything through to the server.
var families = [...]family{
	{prefix: "opus-5-5", adaptive: true, effort: true, system: true},
	{prefix: "sonnet-5-5", adaptive: true, between: true, effort: true, system: true},
	{prefix: "haiku-5-5", adaptive: true, disabled: true, effort: true, system: true, forced: true},
	{prefix: "fable-5-", adaptive: true, effort: true, system: true},
	{prefix: "fable-5", adaptive: true, effort: true, system: true, forced: true},
	{prefix: "mythos-5", adaptive: true, effort: true, system: true, forced: true},
	{prefix: "mythos-preview", adaptive: true, effort: true},
	{prefix: "opus-5", adaptive: true, disabled: true, effort: true, system: true, forced: true},
	{prefix: "sonnet-5", adaptive: true, disabled: true, effort: true, forced: true},
	{prefix: "opus-4-8", adaptive: true, disabled: true, effort: true, system: true, forced: true},
	{prefix: "opus-4-7", adaptive: true, disabled: true, effort: true, forced: true},
	{prefix: "opus-4-6", adaptive: true, manual: true, disabled: true, effort: true, sampling: true, forced: true},
	{prefix: "sonnet-4-6", adaptive: true, manual: true, disabled: true, effort: true, sampling: true, forced: true},
	{prefix: "opus-4-5", manual: true, disabled: true, effort: true, sampling: true, forced: true, prefill: true},
	{prefix: "sonnet-4", manual: true, disabled: true, sampling: true, forced: true, prefill: true},
	{prefix: "opus-4", manual: true, disabled: true, sampling: true, forced: true, prefill: true},
	{prefix: "haiku-4", manual: true, disabled: true, sampling: true, forced: true, prefill: true},
	{prefix: "3-7-sonnet", manual: true, disabled: true, sampling: true, forced: true, prefill: true},
	{prefix: "3-5-", sampling: true, forced: true, prefill: true, maxTokens: 8192},
	{prefix: "3-", sampling: true, forced: true, prefill: true, maxTokens: 4096},
	{prefix: "", manual: true, adaptive: true, disabled: true, between: true, effort: true, sampling: true, forced: true, prefill: true, system: true},
}

func familyOf(model string) *family {
	name := bare(model)
	for i := range families {
		if strings.HasPrefix(name, families[i].prefix) {
			return &families[i]
		}
	}
	return &families[len(families)-1]
}

// bare returns the name of a model without what hosts put around it:
// "us.anthropic.claude-opus-4-5-20251101-v1:0" and "claude-opus-4-5@20251101"
// are both "opus-4-5".
func bare(model string) string {
	if i := strings.LastIndex(model, "claude-"); i >= 0 {
		model = model[i+len("claude-"):]
	}
	if i := strings.IndexAny(model, "@:"); i >= 0 {
		model = model[:i]
	}
	model = strings.TrimSuffix(model, "-v1")
	model = strings.TrimSuffix(model, "-latest")
	if i := strings.LastIndexByte(model, '-'); i > 0 && len(model)-i == len("-20251101") && digits(model[i+1:]) {
		model = model[:i]
	}
	return strings.TrimSuffix(strings.ReplaceAll(model, ".", "-"), "-0") // sonnet-4-0 is sonnet-4
}

func digits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
