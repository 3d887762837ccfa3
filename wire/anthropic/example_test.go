package anthropic_test

import (
	"fmt"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
	"github.com/handwire/handwire/wire/stream"
)

// A request becomes a body whose bytes are always the same.
func ExampleCodec_Encode() {
	r := wire.Request{
		Model:     "claude-opus-4-8",
		MaxTokens: 1024,
		System:    []wire.Part{wire.TextPart("Answer in one word.")},
		Messages:  []wire.Message{wire.UserText("Which is the largest planet?")},
	}
	var call wire.Call
	if err := (anthropic.Codec{}).Encode(&call, &r); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("POST", call.Path)
	for _, h := range call.Header {
		fmt.Println(h.Name+":", h.Value)
	}
	fmt.Println(string(call.Body))
	// Output:
	// POST /v1/messages
	// content-type: application/json
	// anthropic-version: 2023-06-01
	// {"model":"claude-opus-4-8","max_tokens":1024,"stream":true,"system":[{"type":"text","text":"Answer in one word."}],"messages":[{"role":"user","content":[{"type":"text","text":"Which is the largest planet?"}]}]}
}

// A body becomes events, and these a message.
func ExampleCodec_NewDecoder() {
	body := strings.NewReader(`event: message_start
data: {"type":"message_start","message":{"id":"msg_1","role":"assistant","model":"claude-opus-4-8","content":[],"usage":{"input_tokens":20,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Jupiter"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}

event: message_stop
data: {"type":"message_stop"}

`)
	dec := anthropic.Codec{}.NewDecoder(wire.Head{Status: 200, Framing: wire.FramingSSE})
	resp, err := wire.Collect(stream.Read(body, dec, wire.FramingSSE, nil))
	fmt.Println(resp.Message.Text(), err)
	fmt.Println(resp.Message.Ending.Finish, resp.Usage.InputTokens, resp.Usage.OutputTokens)
	// Output:
	// Jupiter <nil>
	// stop 20 4
}

// What a request breaks is told before anything is sent, all of it at once.
func ExampleCodec_Check() {
	r := wire.Request{
		Model:         "claude-opus-5-5",
		StopSequences: []string{" "},
		Tools:         []wire.Tool{{Name: "weather"}},
		Messages: []wire.Message{
			wire.UserText("Is it raining in Oslo?"),
			{Role: wire.RoleAssistant, Parts: []wire.Part{wire.ToolCallPart("toolu_1", "weather", `{"city":"Oslo"}`)}},
			wire.UserText("Well?"),
		},
	}
	for _, f := range (anthropic.Codec{}).Check(&r) {
		fmt.Printf("%s: %s\n", f.Path, f.Rule)
	}
	// Output:
	// stop_sequences[0]: a stop sequence must have more than white space
	// messages[1].parts[0]: the call "toolu_1" has no result in the turn that follows
}
