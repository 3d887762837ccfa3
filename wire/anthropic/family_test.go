package anthropic_test

import (
	"testing"

	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
)

// TestFamilies checks what each family of models takes, as seen from outside.
func TestFamilies(t *testing.T) {
	const refused = "refused"
	for _, tc := range []struct {
		name                                      string
		models                                    []string
		on, off, between, budget                  string // the thinking member
		effort, sampling, forced, prefill, system bool
	}{
		{name: "5.5, adaptive only", models: []string{"claude-opus-5-5", "anthropic.claude-opus-5-5-20260901-v1:0"},
			on: `{"type":"adaptive"}`, off: refused, between: refused, budget: refused, effort: true, system: true},
		{name: "Fable 5.1 and 5.2", models: []string{"claude-fable-5-1", "claude-fable-5-2-20261109"},
			on: `{"type":"adaptive"}`, off: refused, between: refused, budget: refused, effort: true, system: true},
		{name: "Fable 5", models: []string{"claude-fable-5", "claude-fable-5-20260301", "claude-mythos-5"},
			on: `{"type":"adaptive"}`, off: refused, between: refused, budget: refused, effort: true, system: true, forced: true},
		{name: "Sonnet 5.5", models: []string{"claude-sonnet-5-5"},
			on: `{"type":"adaptive"}`, off: refused, between: `{"type":"between_tools"}`, budget: refused, effort: true, system: true},
		{name: "Opus 5 and 4.8", models: []string{"claude-opus-5", "claude-opus-5@20260301", "claude-opus-4-8"},
			on: `{"type":"adaptive"}`, off: `{"type":"disabled"}`, between: refused, budget: refused, effort: true, system: true, forced: true},
		{name: "Sonnet 5 and Opus 4.7", models: []string{"claude-sonnet-5", "claude-opus-4-7", "us.anthropic.claude-opus-4-7-20260120-v1:0"},
			on: `{"type":"adaptive"}`, off: `{"type":"disabled"}`, between: refused, budget: refused, effort: true, forced: true},
		{name: "4.6", models: []string{"claude-opus-4-6", "claude-sonnet-4-6", "claude-sonnet-4.6"},
			on: `{"type":"adaptive"}`, off: `{"type":"disabled"}`, between: refused, budget: `{"type":"enabled","budget_tokens":2000}`, effort: true, sampling: true, forced: true},
		{name: "Opus 4.5", models: []string{"claude-opus-4-5", "claude-opus-4-5-20251101", "anthropic.claude-opus-4-5-20251101-v1:0"},
			on: `{"type":"enabled","budget_tokens":5000}`, off: `{"type":"disabled"}`, between: refused, budget: `{"type":"enabled","budget_tokens":2000}`,
			effort: true, sampling: true, forced: true, prefill: true},
		{name: "Sonnet and Haiku 4.5, Claude 4", models: []string{"claude-sonnet-4-5", "claude-haiku-4-5-20251001", "claude-opus-4-20250514", "claude-opus-4-1", "claude-3-7-sonnet-latest"},
			on: `{"type":"enabled","budget_tokens":5000}`, off: `{"type":"disabled"}`, between: refused, budget: `{"type":"enabled","budget_tokens":2000}`,
			sampling: true, forced: true, prefill: true},
		{name: "3.5", models: []string{"claude-3-5-sonnet-20241022", "claude-3-5-haiku-latest"},
			on: refused, off: refused, between: refused, budget: refused, sampling: true, forced: true, prefill: true},
		{name: "unknown", models: []string{"glm-4.6", "claude-zeta-9"},
			on: `{"type":"adaptive"}`, off: `{"type":"disabled"}`, between: `{"type":"between_tools"}`, budget: `{"type":"enabled","budget_tokens":2000}`,
			effort: true, sampling: true, forced: true, prefill: true, system: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, model := range tc.models {
				try := func(r wire.Request) (*wire.Call, bool) {
					r.Model, r.MaxTokens = model, 10000
					call, err := encode(t, anthropic.Codec{}, request(r))
					return call, err == nil
				}
				for _, form := range []struct {
					name string
					g    wire.Reasoning
					want string
				}{
					{"on", wire.Reasoning{Mode: wire.ReasoningOn}, tc.on},
					{"off", wire.Reasoning{Mode: wire.ReasoningOff}, tc.off},
					{"between tools", wire.Reasoning{Mode: wire.ReasoningBetweenTools}, tc.between},
					{"budget", wire.Reasoning{Budget: 2000}, tc.budget},
				} {
					call, ok := try(wire.Request{Reasoning: &form.g})
					got := refused
					if ok {
						got = gjson.GetBytes(call.Body, "thinking").Raw
					}
					if got != form.want {
						t.Errorf("%s: thinking %s gives %s, want %s", model, form.name, got, form.want)
					}
				}
				call, ok := try(wire.Request{Reasoning: &wire.Reasoning{Effort: "low"}})
				if got := ok && gjson.GetBytes(call.Body, "output_config.effort").Str == "low"; got != tc.effort || got == (len(call.Notes) > 0) {
					t.Errorf("%s: effort %v, want %v (notes %v)", model, got, tc.effort, call.Notes)
				}
				call, ok = try(wire.Request{Temperature: ptr(0.5)})
				if got := ok && gjson.GetBytes(call.Body, "temperature").Exists(); got != tc.sampling || got == (len(call.Notes) > 0) {
					t.Errorf("%s: sampling %v, want %v (notes %v)", model, got, tc.sampling, call.Notes)
				}
				if _, got := try(wire.Request{Tools: []wire.Tool{{Name: "f"}}, ToolChoice: wire.ToolChoice{Mode: wire.ToolChoiceRequired}}); got != tc.forced {
					t.Errorf("%s: forced tool choice %v, want %v", model, got, tc.forced)
				}
				if _, got := try(wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(text("x"))}}); got != tc.prefill {
					t.Errorf("%s: prefill %v, want %v", model, got, tc.prefill)
				}
				call, _ = try(wire.Request{Messages: []wire.Message{wire.UserText("u"), {Role: wire.RoleSystem, Parts: []wire.Part{text("s")}}}})
				if got := gjson.GetBytes(call.Body, "messages.1.role").Str == "system"; got != tc.system {
					t.Errorf("%s: system messages %v, want %v", model, got, tc.system)
				}
			}
		})
	}
}

func TestThinking(t *testing.T) {
	runEncode(t, []encodeCase{
		{name: "nothing said", req: wire.Request{Reasoning: &wire.Reasoning{}}, want: hi},
		{name: "display alone", req: wire.Request{Model: "claude-opus-5-5", Reasoning: &wire.Reasoning{Display: "summarized"}},
			want: `,"thinking":{"type":"adaptive","display":"summarized"}` + hi},
		{name: "between tools with a display", req: wire.Request{Model: "claude-sonnet-5-5", Reasoning: &wire.Reasoning{Mode: wire.ReasoningBetweenTools, Display: "omitted"}},
			want: `,"thinking":{"type":"between_tools","display":"omitted"}` + hi},
		{name: "effort alone", req: wire.Request{Model: "claude-opus-5-5", Reasoning: &wire.Reasoning{Effort: "xhigh"}},
			want: `,"output_config":{"effort":"xhigh"}` + hi},
		{name: "on with effort", req: wire.Request{Model: "claude-opus-5-5", Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn, Effort: "max"}},
			want: `,"thinking":{"type":"adaptive"},"output_config":{"effort":"max"}` + hi},
		{name: "budget on a model that has both", req: wire.Request{Model: "claude-opus-4-6", Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn, Budget: 1024}, MaxTokens: 1025},
			findings: nil},
		{name: "budget too small", req: wire.Request{Model: "claude-opus-4-5", MaxTokens: 4000, Reasoning: &wire.Reasoning{Budget: 1023}}, findings: []string{"reasoning.budget"}},
		{name: "budget as large as the limit", req: wire.Request{Model: "claude-opus-4-5", MaxTokens: 2000, Reasoning: &wire.Reasoning{Budget: 2000}}, findings: []string{"reasoning.budget"}},
		{name: "no such mode", req: wire.Request{Reasoning: &wire.Reasoning{Mode: "hard"}}, findings: []string{"reasoning.mode"}},
	})
}

// TestDefaultLimit: the protocol demands a limit, so there is always one.
func TestDefaultLimit(t *testing.T) {
	for _, tc := range []struct {
		name, model string
		want        int64
	}{
		{"current", "claude-opus-5-5", 16384},
		{"unknown", "m", 16384},
		{"3.5", "claude-3-5-sonnet-20241022", 8192},
		{"3", "claude-3-haiku-20240307", 4096},
	} {
		t.Run(tc.name, func(t *testing.T) {
			call, err := encode(t, anthropic.Codec{}, &wire.Request{Model: tc.model, Messages: []wire.Message{wire.UserText("u")}})
			if got := gjson.GetBytes(call.Body, "max_tokens").Int(); err != nil || got != tc.want {
				t.Errorf("max_tokens %d (%v), want %d", got, err, tc.want)
			}
		})
	}
}
