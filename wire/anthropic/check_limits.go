package anthropic

// The limits that depend on the model and on the host. How the rules are told is
// described in check.go; the other check files hold them, one topic each.

import (
	"strings"
)

// limits is what Check must know of a model beyond its family.
type limits struct {
	prefix    string // as of a family
	maxTokens int    // the most that max_tokens may say; 0 is unknown
	effort    string // the values of effort
	on        bool   // thinks unless told otherwise
	bound     bool   // thinking is bound to what stood before it; so are the newest models
	offAtHigh bool   // thinking can be off up to effort high only
	images    int    // per request
}

const (
	effortHigh = "low medium high"
	effortMax  = "low medium high max"
	effortAll  = "low medium high xhigh max"
)

// modelLimits is searched like families. 2.1 for max_tokens, 2.6 for effort and
// thinking, 3.5T for the models that bind it, 2.3 for images.
var modelLimits = [...]limits{
	{prefix: "opus-5-5", maxTokens: 128_000, effort: effortAll, on: true, bound: true, images: 600},
	{prefix: "sonnet-5-5", maxTokens: 128_000, effort: effortAll, on: true, bound: true, images: 600},
	{prefix: "haiku-5-5", maxTokens: 128_000, effort: effortAll, on: true, bound: true, images: 600},
	{prefix: "fable-5-", maxTokens: 128_000, effort: effortAll, on: true, bound: true, images: 600},
	{prefix: "fable-5", maxTokens: 128_000, effort: effortAll, on: true, images: 600},
	{prefix: "mythos-5-", maxTokens: 128_000, effort: effortAll, on: true, bound: true, images: 600},
	{prefix: "mythos-", maxTokens: 128_000, effort: effortAll, on: true, images: 600},
	{prefix: "opus-5", maxTokens: 128_000, effort: effortAll, on: true, offAtHigh: true, images: 600},
	{prefix: "sonnet-5", maxTokens: 128_000, effort: effortAll, on: true, images: 600},
	{prefix: "opus-4-8", maxTokens: 128_000, effort: effortAll, images: 600},
	{prefix: "opus-4-7", maxTokens: 128_000, effort: effortAll, images: 600},
	{prefix: "opus-4-6", maxTokens: 128_000, effort: effortMax, images: 600},
	{prefix: "sonnet-4-6", maxTokens: 128_000, effort: effortMax, images: 600},
	{prefix: "opus-4-5", maxTokens: 64_000, effort: effortHigh, images: 100},
	{prefix: "sonnet-4-5", maxTokens: 64_000, images: 100},
	{prefix: "haiku-4-5", maxTokens: 64_000, images: 100},
	{prefix: "opus-4", images: 100},
	{prefix: "sonnet-4", images: 100},
	{prefix: "haiku-4", images: 100},
	{prefix: "3-", images: 100},
	{prefix: "", effort: effortAll, images: 600},
}

func limitsOf(model string) *limits {
	name := bare(model)
	for i := range modelLimits {
		if strings.HasPrefix(name, modelLimits[i].prefix) {
			return &modelLimits[i]
		}
	}
	return &modelLimits[len(modelLimits)-1]
}

// hostLimits returns how many bytes a body and the base64 of an image may have
// (1.6, 2.3), and whether the host takes documents as base64 alone (2.3).
func hostLimits(endpoint string) (body, image int, base64Only bool) {
	switch {
	case strings.Contains(endpoint, "bedrock"):
		return 20 << 20, 5 << 20, true
	case strings.Contains(endpoint, "aiplatform"):
		return 30 << 20, 5 << 20, true
	}
	return 32 << 20, 10 << 20, false
}
