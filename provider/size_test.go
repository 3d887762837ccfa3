package provider

import (
	"strings"
	"testing"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
	"github.com/handwire/handwire/wire/openaichat"
)

// TestSizeOf: the size is enough for a body, and not much more than it.
func TestSizeOf(t *testing.T) {
	long := strings.Repeat("A line of text.\n", 500)
	r := &wire.Request{Model: "m", MaxTokens: 100, System: []wire.Part{wire.TextPart(long)},
		Tools: []wire.Tool{{Name: "f", Description: long, Schema: `{"type":"object","properties":{"a":{"type":"string"}}}`}}}
	for range 50 {
		r.Messages = append(r.Messages, wire.UserMessage(wire.TextPart(long), wire.ImagePart([]byte("\x89PNG\r\n\x1a\n"+long))),
			wire.Message{Role: wire.RoleAssistant, Parts: []wire.Part{wire.TextPart("I look."), wire.ToolCallPart("c1", "f", `{"a":"b"}`)}},
			wire.ToolMessage(wire.ToolResultPart("c1", "f", wire.TextPart(long))))
	}
	for _, codec := range []wire.Codec{anthropic.Codec{}, openaichat.Codec{}} {
		var call wire.Call
		if err := codec.Encode(&call, r); err != nil {
			t.Fatal(err)
		}
		if n, got := len(call.Body), sizeOf(r); got < n || got > n+n/4 {
			t.Errorf("%s: a size of %d for a body of %d", codec.Protocol(), got, n)
		}
	}
	if n := sizeOf(&wire.Request{Messages: []wire.Message{wire.UserText("hi")}}); n > 2048 {
		t.Errorf("a size of %d for a word", n)
	}
}
