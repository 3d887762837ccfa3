package openaichat_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/openaichat"
)

// TestVendorMembers: no object of a body says anything twice.
func TestVendorMembers(t *testing.T) {
	many := "{"
	for i := range 40 {
		many += fmt.Sprintf(`"m%d":%d,`, i, i)
	}
	for _, tt := range []struct {
		name    string
		profile openaichat.Profile
		req     wire.Request
		want    string // in the body
		refused string // the path of the only finding
	}{
		{name: "settings of reasoning", profile: openaichat.ZAI(), req: wire.Request{Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn, Vendor: `{"x":1}`}}, want: `"thinking":{"type":"enabled","clear_thinking":false,"x":1}`},
		{name: "a setting that is written", profile: openaichat.ZAI(), req: wire.Request{Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn, Vendor: `{"clear_thinking":true}`}}, refused: "reasoning.vendor"},
		{name: "a type", profile: openaichat.ZAI(), req: wire.Request{Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn, Vendor: `{"type":"x"}`}}, refused: "reasoning.vendor"},
		{name: "a setting twice", profile: openaichat.ZAI(), req: wire.Request{Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn, Vendor: `{"x":1,"x":2}`}}, refused: "reasoning.vendor"},
		{name: "an effort", profile: openaichat.OpenRouter(), req: wire.Request{Reasoning: &wire.Reasoning{Effort: "low", Vendor: `{"effort":"high"}`}}, refused: "reasoning.vendor"},
		{name: "another effort", profile: openaichat.OpenRouter(), req: wire.Request{Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn, Vendor: `{"effort":"high"}`}}, want: `"reasoning":{"enabled":true,"effort":"high"}`},
		{name: "a template", profile: openaichat.Profile{Thinking: openaichat.ThinkingTemplate}, req: wire.Request{Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn, Vendor: `{"enable_thinking":false}`}}, refused: "reasoning.vendor"},
		{name: "a tool", req: wire.Request{Tools: []wire.Tool{{Name: "f", Schema: `{"type":"object","properties":{}}`, Vendor: `{"a":1,"b":2,"a":3}`}}}, refused: "tools[0].vendor"},
		{name: "many members", req: wire.Request{Tools: []wire.Tool{{Name: "f", Schema: `{"type":"object","properties":{}}`, Vendor: many + `"last":1}`}}}, want: `"m39":39,"last":1`},
		{name: "one of many twice", req: wire.Request{Tools: []wire.Tool{{Name: "f", Schema: `{"type":"object","properties":{}}`, Vendor: many + `"m3":1}`}}}, refused: "tools[0].vendor"},
		{name: "one of many twice, late", req: wire.Request{Tools: []wire.Tool{{Name: "f", Schema: `{"type":"object","properties":{}}`, Vendor: many + `"m39":1}`}}}, refused: "tools[0].vendor"},
		{name: "a field without a name", req: wire.Request{Extra: []wire.Field{{Raw: "1"}}}, refused: "extra[0]"},
		{name: "a choice without tools", req: wire.Request{Extra: []wire.Field{{Name: "tool_choice", Raw: `"auto"`}}}, refused: "extra[0]"},
		{name: "parallel calls without tools", req: wire.Request{Extra: []wire.Field{{Name: "parallel_tool_calls", Raw: `true`}}}, refused: "extra[0]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.req.Model, tt.req.Messages = "m", []wire.Message{wire.UserText("u")}
			var call wire.Call
			err := openaichat.Codec{Profile: tt.profile}.Encode(&call, &tt.req)
			if tt.refused == "" {
				if err != nil || !strings.Contains(string(call.Body), tt.want) {
					t.Errorf("got %s, error %v, want %s in it", call.Body, err, tt.want)
				}
				return
			}
			var f wire.Findings
			if !errors.As(err, &f) || len(f) != 1 || f[0].Path != tt.refused {
				t.Errorf("got %s, error %v, want one finding at %s", call.Body, err, tt.refused)
			}
		})
	}
}
