package openaichat_test

import (
	"fmt"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/openaichat"
	"github.com/handwire/handwire/wire/stream"
)

// A request becomes a body whose bytes are always the same.
func ExampleCodec_Encode() {
	r := wire.Request{
		Model:     "gpt-4.1",
		MaxTokens: 1024,
		System:    []wire.Part{wire.TextPart("Answer in one word.")},
		Messages:  []wire.Message{wire.UserText("Which is the largest planet?")},
	}
	var call wire.Call
	if err := (openaichat.Codec{}).Encode(&call, &r); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("POST", call.Path)
	fmt.Println(string(call.Body))
	// Output:
	// POST /v1/chat/completions
	// {"model":"gpt-4.1","max_completion_tokens":1024,"stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":"Answer in one word."},{"role":"user","content":"Which is the largest planet?"}]}
}

// A body becomes events, and these a message.
func ExampleCodec_NewDecoder() {
	body := strings.NewReader(`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-4.1","choices":[{"index":0,"delta":{"role":"assistant","content":"Jupiter"},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-4.1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-4.1","choices":[],"usage":{"prompt_tokens":20,"completion_tokens":4,"total_tokens":24}}

data: [DONE]

`)
	dec := openaichat.Codec{}.NewDecoder(wire.Head{Status: 200, Framing: wire.FramingSSE})
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
		Model:         "gpt-5.6-sol",
		StopSequences: []string{"END"},
		Tools:         []wire.Tool{{Name: "weather"}},
		Messages:      []wire.Message{wire.UserText("Is it raining in Oslo?")},
	}
	for _, f := range (openaichat.Codec{}).Check(&r) {
		fmt.Printf("%s: %s\n", f.Path, f.Rule)
	}
	// Output:
	// stop_sequences: gpt-5.6-sol refuses stop sequences
	// tools: gpt-5.6-sol takes tools with reasoning_effort none alone, not with medium
}

// A server that nobody has described yet is a profile of one's own.
func ExampleProfile() {
	p := openaichat.Profile{
		MaxTokens: openaichat.MaxTokens,    // the old name of the limit
		System:    openaichat.SystemSystem, // no developer prompt
		AnyModel:  true,                    // OpenAI's rules for its own models do not hold
		Thinking:  openaichat.ThinkingQwen, // enable_thinking
		Replay:    openaichat.ReplayField,  // reasoning goes back where it came from
		IDs:       openaichat.IDsAny,       // ids of calls as they are
		NoCustom:  true, NoCacheKey: true,  // what it does not have
	}
	r := wire.Request{Model: "local", MaxTokens: 64, Reasoning: &wire.Reasoning{Mode: wire.ReasoningOff},
		Messages: []wire.Message{wire.UserText("Hello")}}
	var call wire.Call
	if err := (openaichat.Codec{Profile: p}).Encode(&call, &r); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(call.Body))
	// Output:
	// {"model":"local","max_tokens":64,"stream":true,"stream_options":{"include_usage":true},"enable_thinking":false,"messages":[{"role":"user","content":"Hello"}]}
}
