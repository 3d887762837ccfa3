package anthropic_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
)

// TestVendorMembers: what the vendor's members repeat is refused, and what the
// codec did not write is theirs to write.
func TestVendorMembers(t *testing.T) {
	strict := true
	for _, tt := range []struct {
		name      string
		tool      wire.Tool
		reasoning *wire.Reasoning
		want      string // in the body
		refused   string // the path
	}{
		{name: "an empty description", tool: wire.Tool{Vendor: `{"description":""}`}, want: `"input_schema":{"type":"object","properties":{}},"description":""}`},
		{name: "a second description", tool: wire.Tool{Description: "d", Vendor: `{"description":""}`}, refused: "tools[0].vendor"},
		{name: "strict", tool: wire.Tool{Vendor: `{"strict":false}`}, want: `,"strict":false}`},
		{name: "a second strict", tool: wire.Tool{Strict: &strict, Vendor: `{"strict":false}`}, refused: "tools[0].vendor"},
		{name: "a second name, escaped", tool: wire.Tool{Vendor: `{"n\u0061me":"g"}`}, refused: "tools[0].vendor"},
		{name: "a member twice", tool: wire.Tool{Vendor: `{"a":1,"b":2,"\u0061":3}`}, refused: "tools[0].vendor"},
		{name: "a second schema", tool: wire.Tool{Vendor: `{"input_schema":{}}`}, refused: "tools[0].vendor"},
		{name: "an empty name", tool: wire.Tool{Vendor: `{"":1}`}, want: `,"":1}`},
		{name: "display", reasoning: &wire.Reasoning{Mode: wire.ReasoningOn, Vendor: `{"display":"x"}`}, want: `"thinking":{"type":"adaptive","display":"x"}`},
		{name: "a second display", reasoning: &wire.Reasoning{Mode: wire.ReasoningOn, Display: "y", Vendor: `{"display":"x"}`}, refused: "reasoning.vendor"},
		{name: "a second type", reasoning: &wire.Reasoning{Mode: wire.ReasoningOn, Vendor: `{"type":"x"}`}, refused: "reasoning.vendor"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.tool.Name, tt.tool.Schema = "f", `{"type":"object","properties":{}}`
			r := &wire.Request{Model: "claude-sonnet-5-5", MaxTokens: 10, Tools: []wire.Tool{tt.tool}, Reasoning: tt.reasoning,
				Messages: []wire.Message{wire.UserText("u")}}
			var call wire.Call
			err := anthropic.Codec{}.Encode(&call, r)
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
