package anthropic_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
)

// checkCase is a rule with a request that breaks it and one that just does not.
type checkCase struct {
	name  string // the rule
	notes string // the section of the notes that it comes from
	codec anthropic.Codec
	bad   wire.Request
	want  []string // the paths of all findings
	good  wire.Request
	fixed *anthropic.Codec // for good, if it is not the same
}

const (
	oldModel = "claude-opus-4-5"
	midModel = "claude-opus-4-8"
	newModel = "claude-opus-5-5"
)

var (
	newer    = anthropic.Codec{Version: anthropic.Version20261021}
	older    = anthropic.Codec{}
	oneTool  = []wire.Tool{{Name: "f"}}
	stopped  = &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop}
	paused   = &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishPause}
	yes      = true
	tooLarge = make([]byte, 8<<20)
)

func betas(names ...string) anthropic.Codec { return anthropic.Codec{Betas: names} }

func on(model string, ms ...wire.Message) wire.Request {
	return wire.Request{Model: model, Tools: oneTool, Messages: ms}
}

func toolCall(id string) wire.Part { return wire.ToolCallPart(id, "f", "{}") }

func result(id string, parts ...wire.Part) wire.Part { return wire.ToolResultPart(id, "f", parts...) }

func failed(id string, parts ...wire.Part) wire.Part {
	p := result(id, parts...)
	p.IsError = true
	return p
}

func system(parts ...wire.Part) wire.Message {
	return wire.Message{Role: wire.RoleSystem, Parts: parts}
}

func ended(e *wire.Ending, parts ...wire.Part) wire.Message {
	m := assistant(parts...)
	m.Ending = e
	return m
}

func foreign(parts ...wire.Part) wire.Message {
	m := ended(stopped, parts...)
	m.Origin = &wire.Origin{Protocol: "openai-chat", Model: "x"}
	return m
}

func vendored(p wire.Part, vendor string) wire.Part {
	p.Vendor = vendor
	return p
}

func serverCall(id string) wire.Part {
	return opaque("server_tool_use", `{"type":"server_tool_use","id":"`+id+`","name":"web_search","input":{}}`)
}

func serverDone(id string) wire.Part {
	return opaque("web_search_tool_result", `{"type":"web_search_tool_result","tool_use_id":"`+id+`","content":[]}`)
}

func pngOf(w, h int) wire.Part {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	b = binary.BigEndian.AppendUint32(b, uint32(w))
	return wire.ImagePart(binary.BigEndian.AppendUint32(b, uint32(h)))
}

func times(n int, p wire.Part) []wire.Part { return slices.Repeat([]wire.Part{p}, n) }

func extra(name, raw string) wire.Request {
	return wire.Request{Extra: []wire.Field{{Name: name, Raw: raw}}}
}

func withTool(tools ...wire.Tool) wire.Request { return wire.Request{Tools: tools} }

func format(schema string) wire.Request {
	return wire.Request{Output: &wire.OutputFormat{Kind: wire.OutputJSONSchema, Schema: schema}}
}

// properties returns a closed schema with n properties of a kind.
func properties(n int, kind string, required bool) string {
	var props, names []string
	for i := range n {
		props = append(props, fmt.Sprintf(`"p%d":%s`, i, kind))
		names = append(names, fmt.Sprintf(`"p%d"`, i))
	}
	if !required {
		names = nil
	}
	return `{"type":"object","properties":{` + strings.Join(props, ",") + `},"required":[` + strings.Join(names, ",") + `],"additionalProperties":false}`
}

const everyType = `{"type":"object","properties":{"s":{"type":"string"},"o":{"type":"object"},"a":{"type":"array"},"b":{"type":"boolean"},"z":{"type":"null"},"n":{"type":"number"},"i":{"type":"integer"},"x":{}}}`

const closedSchema = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`

var (
	u = wire.UserText("u")
	v = wire.UserText("v")
)

var checkCases = []checkCase{
	// The order of messages.
	{name: "a first message of the user's", notes: "3.1", bad: on(midModel, assistant(text("a")), u), want: []string{"messages"}, good: on(midModel, u, assistant(text("a")), u)},
	{name: "a message at all", notes: "3.1", bad: wire.Request{Messages: []wire.Message{}}, want: []string{"messages"}, good: on(midModel, u)},
	{name: "no more than 100,000 messages", notes: "2.1", bad: on(midModel, many(100_001)...), want: []string{"messages"}, good: on(oldModel, many(100_000)...)},
	{name: "no blank text of the user's", notes: "3.3", bad: on(midModel, user(text("u"), text(" \n"))), want: []string{"messages[0].parts[1]"}, good: on(midModel, user(text("u"), text(" \n.")))},
	{name: "no blank text of the assistant's", notes: "3.3", bad: on(midModel, u, ended(stopped, text(""), text("a")), v), want: []string{"messages[1].parts[0]"}, good: on(midModel, u, foreign(text(""), text("a")), v)},
	{name: "no blank text in a result", notes: "3.3", bad: on(midModel, u, assistant(toolCall("a")), wire.ToolMessage(result("a", text("\n")))), want: []string{"messages[2].parts[0].parts[0]"}, good: on(midModel, u, assistant(toolCall("a")), wire.ToolMessage(result("a", text(""))))},
	{name: "no blank text in the system prompt", notes: "3.3", bad: wire.Request{System: []wire.Part{text("s"), text(" ")}}, want: []string{"system[1]"}, good: wire.Request{System: []wire.Part{text("s")}}},
	{name: "no blank text in a raw block", notes: "3.3", bad: on(midModel, user(text("u"), opaque("text", `{"type":"text","text":" "}`))), want: []string{"messages[0].parts[1]"}, good: on(midModel, user(opaque("text", `{"type":"text","text":"x"}`)))},
	{name: "no empty block", notes: "3.3", bad: on(midModel, user(text("u"), opaque("x", `{}`))), want: []string{"messages[0].parts[1]"}, good: on(midModel, user(text("u"), opaque("x", `{"type":"x"}`)))},
	{name: "no empty message", notes: "3.3", bad: on(midModel, u, assistant(), v), want: []string{"messages[1]"}, good: on(midModel, u, assistant())},
	{name: "no message that vanishes between two turns", notes: "3.2, 3.3", bad: on(midModel, u, assistant(text("a")), user(text(" ")), assistant(text("b")), v), want: []string{"messages[2]", "messages[2].parts[0]"}, good: on(midModel, u, assistant(text("a")), assistant(text("b")), v)},
	{name: "no empty message that vanishes between two turns", notes: "3.2, 3.3", bad: on(midModel, u, assistant(text("a")), user(), assistant(text("b")), v), want: []string{"messages[2]"}, good: on(midModel, u, assistant(text("a")), user(text("x")), assistant(text("b")), v)},

	// Calls and results.
	{name: "a result for each call", notes: "3.4", bad: on(midModel, u, assistant(toolCall("a"), toolCall("b")), wire.ToolMessage(result("a")), v), want: []string{"messages[1].parts[1]"}, good: on(midModel, u, assistant(toolCall("a"), toolCall("b")), wire.ToolMessage(result("a")), wire.ToolMessage(result("b")), v)},
	{name: "results before text", notes: "3.4", bad: on(midModel, u, assistant(toolCall("a")), user(text("x")), wire.ToolMessage(result("a")), v), want: []string{"messages[2].parts[0]"}, good: on(midModel, u, assistant(toolCall("a")), wire.ToolMessage(result("a")), user(text("x")), v)},
	{name: "no result without a call", notes: "3.5", bad: on(midModel, user(text("u"), result("a"))), want: []string{"messages[0].parts[1]", "messages[0].parts[0]"}, good: on(midModel, u, assistant(toolCall("a")), user(result("a")))},
	{name: "no second result", notes: "3.5", bad: on(midModel, u, assistant(toolCall("a")), wire.ToolMessage(result("a"), result("a"))), want: []string{"messages[2].parts[1]"}, good: on(midModel, u, assistant(toolCall("a")), wire.ToolMessage(result("a")))},
	{name: "one id for one call of a turn", notes: "3.5", bad: on(midModel, u, assistant(toolCall("a"), toolCall("a")), wire.ToolMessage(result("a"))), want: []string{"messages[1].parts[1].id"}, good: on(midModel, u, assistant(toolCall("a"), toolCall("A")), wire.ToolMessage(result("a"), result("A")))},
	{name: "one id for one call of the conversation", notes: "3.5", bad: on(midModel, u, assistant(toolCall("a")), wire.ToolMessage(result("a")), assistant(toolCall("a")), wire.ToolMessage(result("a"))), want: []string{"messages[3].parts[0].id"}, good: on(midModel, u, assistant(toolCall("a")), wire.ToolMessage(result("a")), assistant(toolCall("b")), wire.ToolMessage(result("b")))},
	{name: "ids of the alphabet", notes: "2.5", bad: on(midModel, u, assistant(toolCall("a|b")), wire.ToolMessage(result("a|b"))), want: []string{"messages[1].parts[0].id"}, good: on(midModel, u, foreign(toolCall("a|b")), wire.ToolMessage(result("a|b")))},
	{name: "ids of at most 64 characters", notes: "2.5", bad: on(midModel, u, assistant(toolCall(strings.Repeat("a", 65))), wire.ToolMessage(result(strings.Repeat("a", 65)))), want: []string{"messages[1].parts[0].id"}, good: on(midModel, u, assistant(toolCall(strings.Repeat("a", 64))), wire.ToolMessage(result(strings.Repeat("a", 64))))},
	{name: "names of calls", notes: "2.5", bad: on(midModel, u, assistant(wire.ToolCallPart("a", "f.g", "{}")), wire.ToolMessage(result("a"))), want: []string{"messages[1].parts[0].name"}, good: on(midModel, u, assistant(toolCall("a")), wire.ToolMessage(result("a")))},
	{name: "tools for a history with calls", notes: "2.5", bad: wire.Request{Messages: []wire.Message{u, assistant(toolCall("a")), wire.ToolMessage(result("a"))}}, want: []string{"tools"}, good: wire.Request{Tools: oneTool, ToolChoice: wire.ToolChoice{Mode: wire.ToolChoiceNone}, Messages: []wire.Message{u, assistant(toolCall("a")), wire.ToolMessage(result("a"))}}},
	{name: "text alone in the result of a failed tool", notes: "2.3", bad: on(midModel, u, assistant(toolCall("a")), wire.ToolMessage(failed("a", text("x"), pngOf(1, 1), opaque("search_result", `{"type":"search_result"}`)))), want: []string{"messages[2].parts[0].parts[1]", "messages[2].parts[0].parts[2]"}, good: on(midModel, u, assistant(toolCall("a")), wire.ToolMessage(failed("a", text("x"))))},
	{name: "media in the result of a failed tool, not confirmed for the newest", notes: "2.3", bad: on("claude-sonnet-5", u, assistant(toolCall("a")), wire.ToolMessage(failed("a", pngOf(1, 1)))), want: []string{"messages[2].parts[0].parts[0]"}, good: on(newModel, u, assistant(toolCall("a")), wire.ToolMessage(failed("a", pngOf(1, 1))))},
	{name: "the toolset of a result", notes: "2.3", bad: on(midModel, u, assistant(vendored(toolCall("a"), `{"toolset_name":"browser"}`)), wire.ToolMessage(result("a", text("x")))), want: []string{"messages[2].parts[0].vendor"}, good: on(midModel, u, assistant(vendored(toolCall("a"), `{"toolset_name":"browser"}`)), wire.ToolMessage(vendored(result("a", text("x"), pngOf(1, 1)), `{"toolset_name":"browser"}`)))},
	{name: "text and images in the result of a toolset", notes: "2.3", bad: on(midModel, u, assistant(vendored(toolCall("a"), `{"toolset_name":"browser"}`)), wire.ToolMessage(vendored(result("a", media(wire.Media{Type: "text/plain", Data: []byte("x")})), `{"toolset_name":"browser"}`))), want: []string{"messages[2].parts[0].parts[0]"}, good: on(midModel, u, assistant(toolCall("a")), wire.ToolMessage(result("a", media(wire.Media{Type: "text/plain", Data: []byte("x")}))))},

	// Tools of the server.
	{name: "a result for the server's call", notes: "3.6", bad: on(midModel, u, assistant(serverCall("s"), text("a")), v), want: []string{"messages[1].parts[0]"}, good: on(midModel, u, assistant(serverCall("s"), serverDone("s"), text("a")), v)},
	{name: "the server's call is open in a paused turn", notes: "3.6", bad: on(midModel, u, ended(paused, serverCall("s")), v), want: []string{"messages[1].parts[0]"}, good: on(midModel, u, ended(paused, serverCall("s")))},
	{name: "a call for the server's result", notes: "3.6", bad: on(midModel, u, assistant(serverDone("s"), text("a")), v), want: []string{"messages[1].parts[0]"}, good: on(midModel, u, ended(paused, serverCall("s")), assistant(serverDone("s"), text("a")), v)},
	{name: "results alone after an open call of the server's", notes: "3.7", bad: on(midModel, u, assistant(serverCall("s"), toolCall("a")), user(result("a"), text("x")), assistant(text("b")), v), want: []string{"messages[2].parts[1]"}, good: on(midModel, u, assistant(serverCall("s"), toolCall("a")), user(result("a")), assistant(serverDone("s"), text("b")), v)},
	{name: "the open call of the server's is answered in the end", notes: "3.6, 3.7", bad: on(midModel, u, assistant(serverCall("s"), toolCall("a")), user(result("a")), assistant(text("b")), v), want: []string{"messages[1].parts[0]"}, good: on(midModel, u, assistant(serverCall("s"), toolCall("a")), user(result("a")))},

	// System messages.
	{name: "no system message first", notes: "2.2", bad: on(midModel, system(text("s")), u), want: []string{"messages"}, good: on(midModel, u, system(text("s")))},
	{name: "a system message behind the user's", notes: "2.2", bad: on(midModel, u, assistant(text("a")), system(text("s"))), want: []string{"messages[2]"}, good: on(midModel, u, assistant(serverCall("s"), serverDone("s")), system(text("s")))},
	{name: "a system message before the assistant's", notes: "2.2", bad: on(midModel, u, system(text("s")), system(text("t")), v), want: []string{"messages[1]"}, good: on(midModel, u, system(text("s")), system(text("t")), assistant(text("a")), v)},
	{name: "no system message between call and result", notes: "2.2", bad: on(midModel, u, assistant(toolCall("a")), system(text("s")), wire.ToolMessage(result("a"))), want: []string{"messages[2]"}, good: on(midModel, u, assistant(toolCall("a")), wire.ToolMessage(result("a")), system(text("s")))},
	{name: "a system message holds text", notes: "2.2", bad: on(midModel, u, system(text("s"), pngOf(1, 1), opaque("search_result", `{"type":"search_result"}`))), want: []string{"messages[1].parts[1]", "messages[1].parts[2]"}, good: on("claude-sonnet-5", u, system(text("s"), text("t")))},
	{name: "a change of tools needs a beta", notes: "2.2, 1.4", bad: on(midModel, u, system(opaque("tool_removal", `{"type":"tool_removal"}`))), want: []string{"messages[1].parts[0]"}, good: on(midModel, u, system(opaque("tool_removal", `{"type":"tool_removal"}`))), fixed: ptr(betas("inline-tools-2026-09-15"))},
	{name: "parts where they belong", notes: "2.3", bad: on(midModel, user(text("u"), toolCall("a"), opaque("server_tool_use", `{"type":"server_tool_use"}`)), assistant(text("a"), pngOf(1, 1), opaque("image", `{"type":"image"}`)), v), want: []string{"messages[0].parts[1]", "messages[0].parts[2]", "messages[1].parts[1]", "messages[1].parts[2]"}, good: on(midModel, user(text("u"), opaque("container_upload", `{"type":"container_upload"}`)), assistant(text("a"), opaque("container_upload", `{"type":"container_upload"}`)), v)},
	{name: "blocks of a result", notes: "2.3", bad: on(midModel, u, assistant(toolCall("a")), user(result("a", opaque("container_upload", `{"type":"container_upload"}`)))), want: []string{"messages[2].parts[0].parts[0]"}, good: on(midModel, u, assistant(toolCall("a")), user(result("a", opaque("tool_reference", `{"type":"tool_reference"}`))))},

	// The last message.
	{name: "no prefill of newer models", notes: "3.8", bad: on(midModel, u, assistant(text("a"))), want: []string{"messages"}, good: on(oldModel, u, assistant(text("a")))},
	{name: "no prefill with thinking", notes: "3.8", bad: wire.Request{Model: oldModel, Reasoning: &wire.Reasoning{Budget: 1024}, MaxTokens: 2000, Messages: []wire.Message{u, assistant(text("a"))}}, want: []string{"messages[1]"}, good: wire.Request{Model: midModel, Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn}, Messages: []wire.Message{u, ended(paused, text("a"))}}},
	{name: "no prefill in an output format", notes: "2.7", bad: wire.Request{Model: oldModel, Output: format(closedSchema).Output, Messages: []wire.Message{u, assistant(text("a"))}}, want: []string{"messages[1]"}, good: wire.Request{Model: oldModel, Output: format(closedSchema).Output, Messages: []wire.Message{u, assistant(text("a")), v}}},
	{name: "no white space at the end of a prefill", notes: "3.8", bad: on(oldModel, u, assistant(text("a"), text("b\n"))), want: []string{"messages[1].parts[1]"}, good: on(oldModel, u, assistant(text("a\n"), text("b")))},

	// Thinking in the history.
	{name: "thinking of a tool loop keeps its signature", notes: "3.5T", bad: on(newModel, u, ended(stopped, thinking("t", ""), toolCall("a")), wire.ToolMessage(result("a"))), want: []string{"messages[1].parts[0]"}, good: on(newModel, u, ended(stopped, thinking("t", ""), toolCall("a")), wire.ToolMessage(result("a")), assistant(text("b")), v)},
	{name: "thinking of a tool loop is not withheld", notes: "3.5T", bad: replayNever(u, ended(stopped, thinking("t", `{"signature":"s"}`), toolCall("a")), wire.ToolMessage(result("a"))), want: []string{"messages[1].parts[0]"}, good: replayNever(u, ended(stopped, thinking("t", `{"signature":"s"}`), text("a")), v)},
	{name: "a signature that is empty is none, but thinking of another vendor is not missed", notes: "3.5T", bad: on(newModel, u, assistant(thinking("t", `{"signature":""}`), toolCall("a")), wire.ToolMessage(result("a"))), want: []string{"messages[1].parts[0]"}, good: on(newModel, u, foreign(thinking("t", ""), toolCall("a")), wire.ToolMessage(result("a")))},
	{name: "no thinking is taken from before other thinking", notes: "3.5T", bad: on(newModel, u, assistant(thinking("t", ""), text("a")), v, assistant(thinking("", `{"signature":"s"}`), text("b")), v), want: []string{"messages[1].parts[0]"}, good: on(midModel, u, assistant(thinking("t", ""), text("a")), v, assistant(thinking("", `{"signature":"s"}`), text("b")), v)},
	{name: "a raw thinking block has a signature", notes: "3.5T", bad: on(newModel, u, assistant(opaque("thinking", `{"type":"thinking","thinking":"t"}`), text("a")), v), want: []string{"messages[1].parts[0]"}, good: on(newModel, u, assistant(opaque("thinking", `{"type":"thinking","thinking":"t","signature":"s"}`), text("a")), v)},
	{name: "a manual tool loop begins with thinking", notes: "3.5T", bad: manual(u, assistant(text("a"), toolCall("a")), wire.ToolMessage(result("a"))), want: []string{"messages[1].parts[0]"}, good: manual(u, assistant(thinking("", `{"data":"s"}`), toolCall("a")), wire.ToolMessage(result("a")))},
	{name: "a manual tool loop begins with thinking, but a new turn need not", notes: "3.5T", bad: manual(u, foreign(thinking("t", ""), toolCall("a")), wire.ToolMessage(result("a"))), want: []string{"messages[1].parts[1]"}, good: manual(u, assistant(toolCall("a")), user(result("a"), text("v")))},
	{name: "no refused turn", notes: "4.8", bad: on(newModel, u, ended(&wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishRefusal}, text("no")), v), want: []string{"messages[1]"}, good: on(newModel, u, ended(stopped, text("no")), v)},
	{name: "no refused turn without content", notes: "4.8", bad: on(newModel, u, ended(&wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishRefusal}), v), want: []string{"messages[1]"}, good: on(newModel, u, v)},
	{name: "no half of a message", notes: "3.5T, 4.7", bad: on(newModel, u, ended(&wire.Ending{Cause: wire.CauseReset}, thinking("t", `{"signature":"s"}`), text("half"), serverCall("s"), toolCall("a")), v), want: []string{"messages[1].parts[0]", "messages[1].parts[2]", "messages[1].parts[3]"}, good: on(newModel, u, ended(&wire.Ending{Cause: wire.CauseReset}, text("half")), v)},

	// The tools.
	{name: "tool names of at most 128 characters", notes: "2.5", bad: withTool(wire.Tool{Name: strings.Repeat("a", 129)}), want: []string{"tools[0].name"}, good: withTool(wire.Tool{Name: strings.Repeat("a", 64)})},
	{name: "tool names of at most 64 characters", notes: "2.5", bad: withTool(wire.Tool{Name: strings.Repeat("a", 65)}, wire.Tool{Vendor: `{"name":"` + strings.Repeat("b", 65) + `","input_schema":{"type":"object"}}`}), want: []string{"tools[0].name", "tools[1].vendor"}, good: withTool(wire.Tool{Name: strings.Repeat("a", 64)})},
	{name: "tool names of the alphabet in whole definitions", notes: "2.5", bad: withTool(wire.Tool{Vendor: `{"name":"a b","input_schema":{"type":"object"}}`}), want: []string{"tools[0].vendor"}, good: withTool(wire.Tool{Vendor: `{"name":"a_b","type":"custom","input_schema":{"type":"object"}}`})},
	{name: "one tool of a name", notes: "2.5", bad: withTool(wire.Tool{Name: "f"}, wire.Tool{Name: "f"}), want: []string{"tools[1].name"}, good: withTool(wire.Tool{Name: "f"}, wire.Tool{Name: "F"})},
	{name: "one tool of a name, the vendor's included", notes: "2.5", bad: withTool(wire.Tool{Vendor: `{"type":"bash_20250124","name":"bash"}`}, wire.Tool{Name: "bash"}, wire.Tool{Vendor: `{"type":"bash_20250124","name":"bash"}`}), want: []string{"tools[1].name", "tools[2].vendor"}, good: withTool(wire.Tool{Vendor: `{"type":"bash_20250124","name":"bash"}`}, wire.Tool{Vendor: `{"type":"browser_toolset_20260801"}`}, wire.Tool{Vendor: `{"type":"computer_toolset_20260801"}`})},
	{name: "schemas of type object", notes: "2.5", bad: withTool(wire.Tool{Name: "f", Schema: `{"type":"string"}`}, wire.Tool{Vendor: `{"name":"g"}`}), want: []string{"tools[0].schema", "tools[1].vendor"}, good: withTool(wire.Tool{Name: "f", Schema: `{"properties":{}}`})},
	{name: "no choice at the top of a schema", notes: "2.5", bad: withTool(wire.Tool{Name: "f", Schema: `{"type":"object","anyOf":[],"oneOf":[],"allOf":[]}`}), want: []string{"tools[0].schema", "tools[0].schema", "tools[0].schema"}, good: withTool(wire.Tool{Name: "f", Schema: `{"type":"object","properties":{"anyOf":{"anyOf":[]}}}`})},
	{name: "examples that fit", notes: "2.5", bad: withTool(wire.Tool{Name: "f", Schema: closedSchema, Vendor: `{"input_examples":[{"a":"x"},{"a":1},{},{"a":"x","b":1},[]]}`}), want: []string{"tools[0].vendor", "tools[0].vendor", "tools[0].vendor", "tools[0].vendor"}, good: withTool(wire.Tool{Name: "f", Schema: `{"type":"object","properties":{"a":{"type":["string","null"]},"n":{"type":"number"}}}`, Vendor: `{"input_examples":[{"a":null,"n":-1},{"b":1}]}`})},
	{name: "examples of each type", notes: "2.5", bad: withTool(wire.Tool{Name: "f", Schema: everyType, Vendor: `{"input_examples":[{"s":1},{"o":1},{"a":1},{"b":1},{"z":1},{"n":"1"},{"i":"1"}]}`}), want: slices.Repeat([]string{"tools[0].vendor"}, 7), good: withTool(wire.Tool{Name: "f", Schema: everyType, Vendor: `{"input_examples":[{"s":"","o":{},"a":[],"b":true,"z":null,"n":0.5,"i":-1,"x":1}]}`})},
	{name: "toolsets without fine-grained streaming", notes: "1.4", codec: betas("fine-grained-tool-streaming-2025-05-14"), bad: withTool(wire.Tool{Vendor: `{"type":"browser_toolset_20260801"}`}), want: []string{"tools[0].vendor"}, good: withTool(wire.Tool{Name: "f"})},
	{name: "at most 20 strict tools", notes: "2.7", bad: withTool(strictTools(21, closedSchema)...), want: []string{"tools"}, good: withTool(append(strictTools(20, closedSchema), wire.Tool{Name: "x"})...)},
	{name: "at most 24 optional parameters", notes: "2.7", bad: withTool(strictTools(1, properties(25, `{"type":"string"}`, false))...), want: []string{"tools"}, good: withTool(strictTools(1, properties(24, `{"type":"string"}`, false))...)},
	{name: "at most 16 parameters of a union type", notes: "2.7", bad: withTool(strictTools(1, properties(17, `{"type":["string","null"]}`, true))...), want: []string{"tools"}, good: withTool(strictTools(1, properties(16, `{"anyOf":[{"type":"string"}]}`, true))...)},
	{name: "strict schemas are closed", notes: "2.7", bad: withTool(wire.Tool{Name: "f", Strict: &yes}, wire.Tool{Vendor: `{"name":"g","strict":true,"input_schema":{"type":"object"}}`}), want: []string{"tools[0].schema", "tools[1].vendor"}, good: withTool(wire.Tool{Name: "f", Strict: &yes, Schema: closedSchema}, wire.Tool{Name: "g"})},
	{name: "no forced choice of the newest models", notes: "2.5", bad: wire.Request{Model: newModel, Tools: oneTool, ToolChoice: wire.ToolChoice{Mode: wire.ToolChoiceRequired}}, want: []string{"tool_choice"}, good: wire.Request{Model: midModel, Tools: oneTool, ToolChoice: wire.ToolChoice{Mode: wire.ToolChoiceRequired}}},
	{name: "no forced choice with a budget", notes: "2.5", bad: wire.Request{Model: oldModel, MaxTokens: 2000, Reasoning: &wire.Reasoning{Budget: 1024}, Tools: oneTool, ToolChoice: wire.ToolChoice{Mode: wire.ToolChoiceTool, Name: "f"}}, want: []string{"tool_choice"}, good: wire.Request{Model: oldModel, MaxTokens: 2000, Tools: oneTool, ToolChoice: wire.ToolChoice{Mode: wire.ToolChoiceTool, Name: "f"}}},

	// The settings.
	{name: "128,000 tokens", notes: "2.1", bad: wire.Request{Model: newModel, MaxTokens: 128_001}, want: []string{"max_tokens"}, good: wire.Request{Model: newModel, MaxTokens: 128_000}},
	{name: "64,000 tokens", notes: "2.1", bad: wire.Request{Model: "claude-haiku-4-5", MaxTokens: 64_001}, want: []string{"max_tokens"}, good: wire.Request{Model: "claude-haiku-4-5", MaxTokens: 64_000}},
	{name: "a budget below the limit", notes: "2.6", bad: wire.Request{Model: oldModel, MaxTokens: 1024, Reasoning: &wire.Reasoning{Budget: 1024}}, want: []string{"reasoning.budget"}, good: wire.Request{Model: oldModel, MaxTokens: 1025, Reasoning: &wire.Reasoning{Budget: 1024}}},
	{name: "no budget of newer models", notes: "2.6", bad: wire.Request{Model: midModel, MaxTokens: 2000, Reasoning: &wire.Reasoning{Budget: 1024}}, want: []string{"reasoning"}, good: wire.Request{Model: midModel, MaxTokens: 2000, Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn}}},
	{name: "thinking that cannot be off", notes: "2.6", bad: wire.Request{Model: newModel, Reasoning: &wire.Reasoning{Mode: wire.ReasoningOff}}, want: []string{"reasoning"}, good: wire.Request{Model: "claude-haiku-5-5", Reasoning: &wire.Reasoning{Mode: wire.ReasoningOff}}},
	{name: "thinking off up to effort high", notes: "2.6", bad: wire.Request{Model: "claude-opus-5", Reasoning: &wire.Reasoning{Mode: wire.ReasoningOff, Effort: "xhigh"}}, want: []string{"reasoning.effort"}, good: wire.Request{Model: "claude-opus-5", Reasoning: &wire.Reasoning{Mode: wire.ReasoningOff, Effort: "high"}}},
	{name: "known efforts", notes: "2.1", bad: wire.Request{Model: newModel, Reasoning: &wire.Reasoning{Effort: "minimal"}}, want: []string{"reasoning.effort"}, good: wire.Request{Model: newModel, Reasoning: &wire.Reasoning{Effort: "max"}}},
	{name: "xhigh from Opus 4.7 on", notes: "2.6", bad: wire.Request{Model: "claude-opus-4-6", Reasoning: &wire.Reasoning{Effort: "xhigh"}}, want: []string{"reasoning.effort"}, good: wire.Request{Model: "claude-opus-4-7", Reasoning: &wire.Reasoning{Effort: "xhigh"}}},
	{name: "max from 4.6 on", notes: "2.6", bad: wire.Request{Model: "claude-opus-4-5", Reasoning: &wire.Reasoning{Effort: "max"}}, want: []string{"reasoning.effort"}, good: wire.Request{Model: "claude-sonnet-4-6", Reasoning: &wire.Reasoning{Effort: "max"}}},
	{name: "no effort of Sonnet and Haiku 4.5", notes: "2.6", bad: wire.Request{Model: "claude-sonnet-4-5", Reasoning: &wire.Reasoning{Effort: "low"}}, want: []string{"reasoning.effort"}, good: wire.Request{Model: oldModel, Reasoning: &wire.Reasoning{Effort: "low"}}},
	{name: "no display of thinking that is off", notes: "2.6", bad: wire.Request{Reasoning: &wire.Reasoning{Mode: wire.ReasoningOff, Display: "omitted"}}, want: []string{"reasoning.display"}, good: wire.Request{Reasoning: &wire.Reasoning{Display: "omitted"}}},
	{name: "known displays", notes: "2.6", bad: wire.Request{Reasoning: &wire.Reasoning{Display: "detailed"}}, want: []string{"reasoning.display"}, good: wire.Request{Reasoning: &wire.Reasoning{Display: "summarized"}}},
	{name: "display updates needs a beta", notes: "1.4, 2.6", bad: wire.Request{Reasoning: &wire.Reasoning{Display: "updates"}}, want: []string{"reasoning.display"}, good: wire.Request{Reasoning: &wire.Reasoning{Display: "updates"}, Headers: []wire.Header{{Name: "Anthropic-Beta", Value: "x, thinking-display-updates-2026-08-18"}}}},
	{name: "temperature from 0 to 1", notes: "2.1", bad: wire.Request{Model: oldModel, Temperature: ptr(1.01)}, want: []string{"temperature"}, good: wire.Request{Model: oldModel, Temperature: ptr(0.0), TopP: ptr(0.1), TopK: ptr(1)}},
	{name: "no sampling of newer models", notes: "2.1", bad: wire.Request{Model: midModel, Temperature: ptr(0.5), TopP: ptr(0.5), TopK: ptr(3)}, want: []string{"temperature", "top_p", "top_k"}, good: wire.Request{Model: midModel, Temperature: ptr(1.0)}},
	{name: "no sampling in the newer version", notes: "1.3", codec: newer, bad: wire.Request{Model: oldModel, Temperature: ptr(1.0), TopP: ptr(1.0), TopK: ptr(1)}, want: []string{"temperature", "top_p", "top_k"}, good: wire.Request{Model: oldModel, Temperature: ptr(1.0)}, fixed: &older},
	{name: "no sampling with thinking, but top_p", notes: "2.1, 2.6", bad: wire.Request{Model: oldModel, MaxTokens: 2000, Reasoning: &wire.Reasoning{Budget: 1024}, Temperature: ptr(0.5), TopP: ptr(0.94), TopK: ptr(1)}, want: []string{"temperature", "top_p", "top_k"}, good: wire.Request{Model: oldModel, MaxTokens: 2000, Reasoning: &wire.Reasoning{Budget: 1024}, TopP: ptr(0.95)}},
	{name: "no blank stop sequence", notes: "2.1", bad: wire.Request{StopSequences: []string{"a", "\n"}}, want: []string{"stop_sequences[1]"}, good: wire.Request{StopSequences: []string{"a", "\n."}}},
	{name: "a sane number of stop sequences", notes: "2.1", bad: wire.Request{StopSequences: slices.Repeat([]string{"a"}, 101)}, want: []string{"stop_sequences"}, good: wire.Request{StopSequences: slices.Repeat([]string{"a"}, 100)}},
	{name: "a user id without personal data", notes: "2.1", bad: wire.Request{UserID: "ada@example.test"}, want: []string{"user_id"}, good: wire.Request{UserID: "u-1815"}},
	{name: "known service tiers", notes: "2.1", bad: wire.Request{ServiceTier: "flex"}, want: []string{"service_tier"}, good: wire.Request{ServiceTier: "standard_only"}},
	{name: "known speeds", notes: "2.1", bad: extra("speed", `"slow"`), want: []string{"extra[0]"}, good: extra("speed", `"fast"`)},
	{name: "fields that need a beta", notes: "2.1, 1.4", bad: wire.Request{Extra: []wire.Field{{Name: "mcp_servers", Raw: "[]"}, {Name: "thread", Raw: "{}"}, {Name: "unknown", Raw: "{}"}}}, want: []string{"extra[0]", "extra[1]"}, good: extra("mcp_servers", "[]"), fixed: ptr(betas("mcp-client-2026-09-15"))},
	{name: "fields whose beta is in the body", notes: "1.6", bad: extra("thread", "{}"), want: []string{"extra[0]"}, good: wire.Request{Extra: []wire.Field{{Name: "thread", Raw: "{}"}, {Name: "anthropic_beta", Raw: `["message-threads-2026-08-12"]`}}}},
	{name: "at most three fallbacks", notes: "2.8", codec: betas("server-side-fallback-2026-07-01"), bad: extra("fallbacks", `[1,2,3,4]`), want: []string{"extra[0]"}, good: extra("fallbacks", `"default"`)},
	{name: "compaction without context management", notes: "2.8", codec: betas("compact-2026-09-04", "context-management-2025-06-27"), bad: wire.Request{Extra: []wire.Field{{Name: "context_management", Raw: "{}"}, {Name: "compaction", Raw: "{}"}}}, want: []string{"extra[1]"}, good: extra("compaction", "{}")},
	{name: "edits of the context", notes: "2.8", codec: betas("compact-2026-01-12", "context-management-2025-06-27"), bad: extra("context_management", `{"edits":[{"type":"compact_20260112","trigger":{"type":"input_tokens","value":49999}},{"type":"clear_thinking_20251015"}]}`), want: []string{"extra[0]", "extra[0]"}, good: extra("context_management", `{"edits":[{"type":"clear_thinking_20251015"},{"type":"compact_20260112","trigger":{"type":"input_tokens","value":50000}}]}`)},
	{name: "compaction as an edit needs its beta", notes: "1.4", codec: betas("context-management-2025-06-27"), bad: extra("context_management", `{"edits":[{"type":"compact_20260112"}]}`), want: []string{"extra[0]"}, good: extra("context_management", `{"edits":[{"type":"clear_tool_uses_20250919"}]}`)},

	// Schemas of the output.
	{name: "closed objects", notes: "2.7", bad: format(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}},"required":["a"],"additionalProperties":{}}`), want: []string{"output.schema", "output.schema"}, good: format(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","additionalProperties":false}}},"required":["a"],"additionalProperties":false}`)},
	{name: "no bounds", notes: "2.7", bad: format(`{"type":"array","items":{"minimum":0,"maximum":1,"minLength":0,"maxLength":1}}`), want: slices.Repeat([]string{"output.schema"}, 4), good: format(properties(1, `{"enum":["minimum"]}`, true))},
	{name: "minItems 0 or 1", notes: "2.7", bad: format(`{"type":"array","minItems":2}`), want: []string{"output.schema"}, good: format(`{"type":"array","minItems":1}`)},
	{name: "no external reference", notes: "2.7", bad: format(`{"$ref":"https://example.test/s"}`), want: []string{"output.schema"}, good: format(`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]},"b":{"type":"string"}}}`)},
	{name: "no recursion", notes: "2.7", bad: format(`{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/b"}},"b":{"items":{"$ref":"#/$defs/a"}}}}`), want: []string{"output.schema"}, good: format(`{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/b"}},"b":{"type":"string"}}}`)},
	{name: "no recursion to the top", notes: "2.7", bad: format(`{"items":{"$ref":"#"}}`), want: []string{"output.schema"}, good: format(`{"items":{"type":"string"}}`)},
	{name: "a schema that is an object", notes: "2.7", bad: format(`true`), want: []string{"output.schema"}, good: format(closedSchema)},
	{name: "limits over the output and the tools together", notes: "2.7", bad: wire.Request{Output: format(properties(13, `{}`, false)).Output, Tools: strictTools(1, properties(12, `{}`, false))}, want: []string{"tools"}, good: wire.Request{Output: format(properties(12, `{}`, false)).Output, Tools: strictTools(1, properties(12, `{}`, false))}},
	{name: "limits over the output alone", notes: "2.7", bad: format(properties(25, `{}`, false)), want: []string{"output"}, good: format(properties(24, `{}`, false))},
	{name: "no output format with citations", notes: "2.7", bad: wire.Request{Output: format(closedSchema).Output, Messages: []wire.Message{user(text("u"), opaque("search_result", `{"type":"search_result","citations":{"enabled":true}}`))}}, want: []string{"output"}, good: wire.Request{Output: format(closedSchema).Output, Messages: []wire.Message{user(text("u"), opaque("search_result", `{"type":"search_result","citations":{"enabled":false}}`))}}},

	// Caching.
	{name: "at most 4 marks", notes: "2.4", bad: on(midModel, user(times(5, marked(text("u"), ""))...)), want: []string{""}, good: on(midModel, user(times(4, marked(text("u"), ""))...))},
	{name: "at most 4 marks with the automatic one", notes: "2.4", bad: wire.Request{Extra: extra("cache_control", `{"type":"ephemeral"}`).Extra, Messages: []wire.Message{user(times(4, marked(text("u"), ""))...)}}, want: []string{""}, good: wire.Request{Extra: extra("cache_control", `{"type":"ephemeral"}`).Extra, Messages: []wire.Message{user(times(3, marked(text("u"), ""))...)}}},
	{name: "at most 4 marks with those of vendor data", notes: "2.4", bad: wire.Request{Tools: []wire.Tool{{Vendor: `{"type":"x","cache_control":{"type":"ephemeral"}}`}}, Messages: []wire.Message{user(times(4, marked(text("u"), ""))...)}}, want: []string{""}, good: wire.Request{Tools: []wire.Tool{{Vendor: `{"type":"x","cache_control":null}`}}, Messages: []wire.Message{user(times(4, marked(text("u"), ""))...)}}},
	{name: "no mark on thinking", notes: "2.4", bad: on(newModel, u, assistant(marked(thinking("", `{"signature":"s"}`), ""), opaque("redacted_thinking", `{"type":"redacted_thinking","data":"x","cache_control":{"type":"ephemeral"}}`), text("a")), v), want: []string{"messages[1].parts[0].cache", "messages[1].parts[1].vendor"}, good: on(newModel, u, assistant(thinking("", `{"signature":"s"}`), marked(text("a"), "")), v)},
	{name: "no mark on an empty text", notes: "2.4", bad: wire.Request{System: []wire.Part{marked(text(""), "")}, Messages: []wire.Message{user(marked(text(" "), ""), text("u"))}}, want: []string{"system[0]", "system[0].cache", "messages[0].parts[0]", "messages[0].parts[0].cache"}, good: wire.Request{System: []wire.Part{marked(text("s"), "")}}},
	{name: "no mark on an empty text in a result", notes: "2.4", bad: on(midModel, u, assistant(toolCall("a")), user(result("a", marked(text(""), "")))), want: []string{"messages[2].parts[0].parts[0].cache"}, good: on(midModel, u, assistant(toolCall("a")), user(result("a", marked(text("x"), ""))))},
	{name: "5m or 1h in vendor data", notes: "2.4", bad: on(midModel, user(opaque("x", `{"type":"x","cache_control":{"type":"ephemeral","ttl":"2h"}}`))), want: []string{"messages[0].parts[0].vendor"}, good: on(midModel, user(opaque("x", `{"type":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}`)))},
	{name: "the two automatic marks agree", notes: "2.4", bad: wire.Request{Extra: extra("cache_control", `{"type":"ephemeral"}`).Extra, Cache: &wire.CachePolicy{Auto: true, TTL: "1h"}}, want: []string{"extra[0]"}, good: wire.Request{Extra: extra("cache_control", `null`).Extra, Cache: &wire.CachePolicy{Auto: true, TTL: "1h"}}},
	{name: "5m or 1h", notes: "2.4", bad: wire.Request{Tools: []wire.Tool{{Name: "f", Cache: &wire.CacheMark{TTL: "2h"}}}, Cache: &wire.CachePolicy{Auto: true, TTL: "1d"}}, want: []string{"tools[0].cache.ttl", "cache.ttl"}, good: wire.Request{Tools: []wire.Tool{{Name: "f", Cache: &wire.CacheMark{TTL: "1h"}}}, Cache: &wire.CachePolicy{Auto: true, TTL: "5m"}}},
	{name: "a mark is ephemeral", notes: "2.4", bad: wire.Request{Extra: extra("cache_control", `{}`).Extra, Messages: []wire.Message{user(opaque("x", `{"type":"x","cache_control":{}}`))}}, want: []string{"messages[0].parts[0].vendor", "extra[0]"}, good: extra("cache_control", `{"type":"ephemeral"}`)},
	{name: "1h before 5m", notes: "2.4", bad: wire.Request{Tools: []wire.Tool{{Name: "f", Cache: &wire.CacheMark{}}}, System: []wire.Part{marked(text("s"), "1h")}, Messages: []wire.Message{user(marked(text("u"), "1h"), marked(text("v"), "5m"))}}, want: []string{"system[0].cache.ttl", "messages[0].parts[0].cache.ttl"}, good: wire.Request{Tools: []wire.Tool{{Name: "f", Cache: &wire.CacheMark{TTL: "1h"}}}, System: []wire.Part{marked(text("s"), "1h")}, Messages: []wire.Message{user(marked(text("u"), "1h"), marked(text("v"), "5m"))}}},
	{name: "1h before 5m, results being first", notes: "2.4", bad: on(midModel, u, assistant(toolCall("a")), wire.ToolMessage(result("a", marked(text("r"), "5m")), marked(result("b"), "1h"))), want: []string{"messages[2].parts[1]", "messages[2].parts[1].cache.ttl"}, good: on(midModel, u, assistant(toolCall("a")), wire.ToolMessage(marked(result("a", marked(text("r"), "1h")), "5m")))},
	{name: "1h before 5m, the automatic ones included", notes: "2.4", bad: wire.Request{Cache: &wire.CachePolicy{Auto: true, TTL: "1h"}, System: []wire.Part{marked(text("s"), "5m")}}, want: []string{"cache.ttl"}, good: wire.Request{Cache: &wire.CachePolicy{Auto: true, TTL: "5m"}, System: []wire.Part{marked(text("s"), "1h")}}},
	{name: "the automatic mark agrees with the last block", notes: "2.4", bad: wire.Request{Extra: extra("cache_control", `{"type":"ephemeral"}`).Extra, Messages: []wire.Message{user(marked(text("u"), "1h"))}}, want: []string{"extra[0]"}, good: wire.Request{Extra: extra("cache_control", `{"type":"ephemeral","ttl":"1h"}`).Extra, Messages: []wire.Message{user(marked(text("u"), "1h"))}}},

	// Images and documents.
	{name: "images of 10 MB", notes: "2.3", bad: on(midModel, user(wire.ImagePart(append([]byte(png), tooLarge...)))), want: []string{"messages[0].parts[0].media"}, good: on(midModel, user(wire.ImagePart(append([]byte(png), tooLarge[:7<<20]...))))},
	{name: "images of 5 MB on Bedrock", notes: "2.3", bad: wire.Request{Endpoint: "bedrock-runtime.eu-west-1.amazonaws.com", Messages: []wire.Message{user(wire.ImagePart(append([]byte(png), tooLarge[:4<<20]...)))}}, want: []string{"messages[0].parts[0].media"}, good: on(midModel, user(wire.ImagePart(append([]byte(png), tooLarge[:4<<20]...))))},
	{name: "the type of the bytes", notes: "2.3", bad: on(midModel, user(media(wire.Media{Type: "image/png", Data: []byte("BM6")}))), want: []string{"messages[0].parts[0].media"}, good: on(midModel, user(media(wire.Media{Type: "image/png", Data: []byte(jpeg)})))},
	{name: "sides of 8000 pixels", notes: "2.3", bad: on(midModel, user(pngOf(8001, 1), pngOf(1, 8001))), want: []string{"messages[0].parts[0].media", "messages[0].parts[1].media"}, good: on(midModel, user(append(times(19, pngOf(1, 1)), pngOf(8000, 8000))...))},
	{name: "sides of 2000 pixels of many images", notes: "2.3", bad: on(midModel, user(append(times(20, pngOf(2000, 2000)), pngOf(2001, 1))...)), want: []string{"messages[0].parts[20].media"}, good: on(midModel, user(append(times(19, pngOf(2000, 2000)), pngOf(2001, 1))...))},
	{name: "sides of many images, in results", notes: "2.3", bad: on(midModel, user(times(20, pngOf(1, 1))...), assistant(toolCall("a")), wire.ToolMessage(result("a", text("x"), pngOf(3000, 1)))), want: []string{"messages[2].parts[0].parts[1].media"}, good: on(midModel, user(times(19, pngOf(1, 1))...), assistant(toolCall("a")), wire.ToolMessage(result("a", pngOf(3000, 1))))},
	{name: "600 images", notes: "2.3", bad: on(midModel, user(times(601, pngOf(1, 1))...)), want: []string{"messages"}, good: on(midModel, user(times(600, pngOf(1, 1))...))},
	{name: "100 images of models with a small context", notes: "2.3", bad: on(oldModel, user(times(101, pngOf(1, 1))...)), want: []string{"messages"}, good: on(oldModel, user(times(100, pngOf(1, 1))...))},
	{name: "citations on all documents or none", notes: "5", bad: on(midModel, user(text("u"), document(""), document(`{"citations":{"enabled":true}}`), opaque("document", `{"type":"document"}`))), want: []string{"messages[0].parts[1]", "messages[0].parts[3]"}, good: on(midModel, user(text("u"), document(`{"citations":{"enabled":true}}`), opaque("document", `{"type":"document","citations":{"enabled":true}}`)))},
	{name: "documents by bytes on Vertex", notes: "2.3", bad: wire.Request{Endpoint: "aiplatform.googleapis.com", Messages: []wire.Message{user(media(wire.Media{Type: "application/pdf", URL: "https://example.test/a.pdf"}))}}, want: []string{"messages[0].parts[0].media"}, good: on(midModel, user(media(wire.Media{Type: "application/pdf", URL: "https://example.test/a.pdf"})))},
	{name: "no document of the assistant's in the newer version", notes: "1.3", codec: newer, bad: on(midModel, u, assistant(opaque("document", `{"type":"document"}`), document("")), v), want: []string{"messages[1].parts[0]", "messages[1].parts[1]"}, good: on(midModel, u, assistant(opaque("document", `{"type":"document"}`)), v), fixed: &older},
	{name: "no citations of the user's in the newer version", notes: "1.3", codec: newer, bad: on(midModel, user(vendored(text("u"), `{"citations":[{}]}`), opaque("search_result", `{"type":"search_result","content":[{"type":"text","citations":[1]}]}`))), want: []string{"messages[0].parts[0].vendor", "messages[0].parts[1].vendor"}, good: on(midModel, user(vendored(text("u"), `{"citations":[]}`)), assistant(vendored(text("a"), `{"citations":[{}]}`)), v)},
	{name: "a body of 32 MB", notes: "1.6, 2.3", bad: on(midModel, user(text(strings.Repeat("x", 32<<20)))), want: []string{""}, good: on(midModel, user(text(strings.Repeat("x", 32<<20-1000))))},
	{name: "a body of 20 MB on Bedrock", notes: "1.6", bad: wire.Request{Endpoint: "bedrock-runtime.us-east-1.amazonaws.com", Messages: []wire.Message{user(text(strings.Repeat("x", 20<<20)))}}, want: []string{""}, good: wire.Request{Endpoint: "aiplatform.googleapis.com", Messages: []wire.Message{user(text(strings.Repeat("x", 20<<20)))}}},
}

func many(n int) []wire.Message {
	ms := make([]wire.Message, n)
	for i := range ms {
		if ms[i] = u; i%2 == 1 {
			ms[i] = assistant(text("a"))
		}
	}
	return ms
}

func document(vendor string) wire.Part {
	return vendored(media(wire.Media{Type: "text/plain", Data: []byte("d")}), vendor)
}

func replayNever(ms ...wire.Message) wire.Request {
	r := on(newModel, ms...)
	r.Reasoning = &wire.Reasoning{Replay: wire.ReplayNever}
	return r
}

func manual(ms ...wire.Message) wire.Request {
	r := on(oldModel, ms...)
	r.MaxTokens, r.Reasoning = 2000, &wire.Reasoning{Budget: 1024}
	return r
}

func strictTools(n int, schema string) []wire.Tool {
	ts := make([]wire.Tool, n)
	for i := range ts {
		ts[i] = wire.Tool{Name: fmt.Sprintf("s%d", i), Strict: &yes, Schema: schema}
	}
	return ts
}

// checked returns the findings of r, and fails if Check changed it or if a finding
// says too little.
func checked(t testing.TB, c anthropic.Codec, r *wire.Request) []wire.Finding {
	t.Helper()
	before := clone(t, r)
	fs := c.Check(r)
	if !reflect.DeepEqual(before, r) { // cmp takes long over what is large
		t.Errorf("the request was modified (-before +after):\n%s", cmp.Diff(before, r, sameError))
	}
	var call wire.Call
	var own wire.Findings
	if err := c.Encode(&call, r); err != nil {
		own = err.(wire.Findings)
	}
	if len(own) > len(fs) || len(own) > 0 && !slices.Equal(own, fs[:len(own)]) {
		t.Fatalf("the findings of Encode do not come first\n%v\n%v", own, fs)
	}
	for i, f := range fs[len(own):] {
		if f.Rule == "" || f.Remedy == "" {
			t.Errorf("a finding without rule or remedy: %+v", f)
		}
		if slices.Contains(fs[:len(own)+i], f) {
			t.Errorf("told twice: %+v", f)
		}
	}
	return fs
}

func TestCheck(t *testing.T) {
	for i := range checkCases {
		tc := &checkCases[i]
		t.Run(tc.name, func(t *testing.T) {
			for _, r := range []*wire.Request{&tc.bad, &tc.good} {
				if r.Model == "" {
					r.Model = midModel
				}
				if r.Messages == nil {
					r.Messages = []wire.Message{u}
				}
			}
			fs := checked(t, tc.codec, &tc.bad)
			if d := cmp.Diff(tc.want, findingPaths(fs)); d != "" {
				t.Errorf("%s (-want +got):\n%s%v", tc.notes, d, wire.Findings(fs))
			}
			codec := tc.codec
			if tc.fixed != nil {
				codec = *tc.fixed
			}
			if fs := checked(t, codec, &tc.good); fs != nil {
				t.Errorf("%s forbids what is allowed: %v", tc.notes, wire.Findings(fs))
			}
		})
	}
}

// TestCheckGood: a conversation with everything in it breaks no rule, whoever is
// to answer it.
func TestCheckGood(t *testing.T) {
	for _, model := range []string{"claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-fable-5-2", "claude-fable-5", "claude-mythos-5-1", "claude-mythos-5",
		"claude-opus-5", "claude-sonnet-5", "claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6", "claude-sonnet-4-6", "claude-opus-4-5", "claude-sonnet-4-5",
		"claude-haiku-4-5-20251001", "claude-opus-4-1", "claude-3-7-sonnet-latest", "us.anthropic.claude-opus-4-5-20251101-v1:0", "glm-4.6"} {
		for _, codec := range []anthropic.Codec{older, newer} {
			mine := func(finish wire.FinishReason, parts ...wire.Part) wire.Message {
				m := ended(&wire.Ending{Cause: wire.CauseFinished, Finish: finish}, parts...)
				m.Origin = &wire.Origin{Protocol: anthropic.Protocol, Model: model}
				return m
			}
			signed := thinking("", `{"signature":"s"}`)
			r := wire.Request{
				Model: model, MaxTokens: 4096, UserID: "u1", ServiceTier: "auto", StopSequences: []string{"END"},
				System: []wire.Part{text("s"), marked(text("t"), "1h")},
				Tools: []wire.Tool{{Name: "f", Schema: closedSchema, Strict: &yes, Vendor: `{"input_examples":[{"a":"x"}]}`}, {Name: "g"},
					{Vendor: `{"type":"web_search_20260318","name":"web_search"}`, Cache: &wire.CacheMark{TTL: "1h"}}},
				Output: format(closedSchema).Output,
				Cache:  &wire.CachePolicy{Auto: true},
				Extra:  []wire.Field{{Name: "inference_geo", Raw: `"eu"`}},
				Messages: []wire.Message{
					user(text("u"), pngOf(100, 100), document("")),
					mine(wire.FinishStop, signed, serverCall("s1"), serverDone("s1"), text("a")),
					v,
					foreign(thinking("other", ""), wire.Part{Kind: wire.PartRefusal, Text: "no"}, toolCall("call_1|fc_2")),
					wire.ToolMessage(result("call_1|fc_2", text("r"))),
					mine(wire.FinishToolCall, signed, text("b"), toolCall("t1"), toolCall("t2")),
					wire.ToolMessage(result("t1", text("r"), pngOf(10, 10)), failed("t2", text("no"))), v,
					ended(&wire.Ending{Cause: wire.CauseReset, Err: &wire.Error{Cause: wire.CauseReset}}, text("half")),
					wire.UserText("go on"), system(text("be brief")),
					mine(wire.FinishToolCall, signed, toolCall("t3"), serverCall("s2")),
					wire.ToolMessage(result("t3")),
					mine(wire.FinishToolCall, serverDone("s2"), thinking("", `{"data":"x"}`), toolCall("t4")),
					wire.ToolMessage(result("t4")),
				},
			}
			if fs := checked(t, codec, &r); fs != nil {
				t.Errorf("%s, %s: %v", model, codec.Version, wire.Findings(fs))
			}
		}
	}
}

// TestCheckAllAtOnce: a request that breaks many rules is told all of them, those
// of Encode first and the others in the order of the request.
func TestCheckAllAtOnce(t *testing.T) {
	r := wire.Request{
		Model: oldModel, MaxTokens: 64_001, Temperature: ptr(2.0), ServiceTier: "x", UserID: "a@b", StopSequences: []string{" "},
		System:    []wire.Part{marked(text(" "), "")},
		Reasoning: &wire.Reasoning{Effort: "max", Display: "loud"},
		Extra:     []wire.Field{{Name: "speed", Raw: "1"}},
		Messages: []wire.Message{
			user(text(""), wire.ToolCallPart("a", "f", "{}")),
			assistant(toolCall("a b"), serverCall("s")),
			user(text("x"), result("a b", text(" "), media(wire.Media{Type: "image/png", Data: []byte("?")})), result("c")),
			assistant(text("end ")),
		},
	}
	want := []string{"reasoning", "stop_sequences[0]", "messages", "messages[2].parts[2]",
		"system[0]", "system[0].cache",
		"messages[0].parts[0]", "messages[0].parts[1]", "messages[1].parts[0].id", "messages[2].parts[0]", "messages[2].parts[0]",
		"messages[2].parts[1].parts[0]", "messages[2].parts[1].parts[1].media", "messages[3]", "messages[3].parts[0]",
		"tools", "max_tokens", "reasoning.display", "reasoning.effort", "temperature", "user_id", "service_tier", "extra[0]"}
	got := findingPaths(checked(t, older, &r))
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestImageSizes reads the sides of each kind of image.
func TestImageSizes(t *testing.T) {
	for _, tc := range []struct {
		name string
		data string
		wide bool
	}{
		{"PNG", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x1f\x41\x00\x00\x00\x01", true},
		{"GIF", "GIF89a\x01\x00\x41\x1f", true},
		{"JPEG", "\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc2\x00\x11\x08\x1f\x41\x00\x01\x03", true},
		{"JPEG without a frame", "\xff\xd8\xff\xe0\x00\x04ab\xff\xda\x00\x04ab\xff\xc0\x00\x11\x08\x1f\x41\x00\x01", false},
		{"JPEG with a table before the frame", "\xff\xd8\xff\xc4\x00\x06\x1f\x41\x1f\x41\xff\xc0\x00\x11\x08\x00\x01\x1f\x41", true},
		{"WebP, lossy", "RIFF\x00\x00\x00\x00WEBPVP8 \x00\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x41\x1f\x01\x00", true},
		{"WebP, lossless", "RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f\x00\x00\xd0\x07\x00\x00\x00\x00\x00", true},
		{"WebP, extended", "RIFF\x00\x00\x00\x00WEBPVP8X\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x40\x1f\x00", true},
		{"WebP, small", "RIFF\x00\x00\x00\x00WEBPVP8X\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x3f\x1f\x00", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for n := range len(tc.data) + 1 { // cut anywhere it is no reason to panic
				r := on(midModel, user(wire.ImagePart([]byte(tc.data[:n])), text("u")))
				paths := findingPaths(anthropic.Codec{}.Check(&r))
				if got := slices.Contains(paths, "messages[0].parts[0].media"); n == len(tc.data) && got != tc.wide {
					t.Errorf("too wide: %v, want %v", got, tc.wide)
				}
			}
		})
	}
}

// longRequests are requests that grow with a number in one direction each.
func longRequests() map[string]func(n int) *wire.Request {
	return map[string]func(n int) *wire.Request{
		"messages": func(n int) *wire.Request {
			r := on(newModel, u)
			for i := range n {
				id := fmt.Sprintf("t%d", i)
				r.Messages = append(r.Messages, assistant(thinking("", ""), serverCall(id), toolCall(id)), user(text(" "), text("x")), wire.ToolMessage(result(id, pngOf(9000, 1), text(" "))), user(document("")))
			}
			return &r
		},
		"a deep schema": func(n int) *wire.Request {
			r := format(strings.Repeat(`{"items":`, n) + `{"minimum":1}` + strings.Repeat(`}`, n))
			r.Model, r.Messages = newModel, []wire.Message{u}
			return &r
		},
		"definitions": func(n int) *wire.Request {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, `"d%d":{"$ref":"#/$defs/d%d"},`, i, i+1)
			}
			r := format(`{"$ref":"#/$defs/d0","$defs":{` + b.String() + `"x":{}}}`)
			r.Model, r.Messages = newModel, []wire.Message{u}
			return &r
		},
	}
}

// TestCheckMemory: twice the request takes about twice the memory. That the time
// grows no faster either shows in BenchmarkCheckGrowth.
func TestCheckMemory(t *testing.T) {
	for name, of := range longRequests() {
		t.Run(name, func(t *testing.T) {
			bytes := func(n int) float64 {
				r := of(n)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				anthropic.Codec{}.Check(r)
				runtime.ReadMemStats(&after)
				return float64(after.TotalAlloc - before.TotalAlloc)
			}
			// Lists that double may take twice of it in one of the two.
			if one, two := bytes(1000), bytes(4000); two > 10*one {
				t.Errorf("%.0f bytes, and %.0f for four times the request", one, two)
			}
		})
	}
}

// BenchmarkCheckGrowth has one time per message, level or definition, whatever
// their number, if the check is linear.
func BenchmarkCheckGrowth(b *testing.B) {
	for name, of := range longRequests() {
		for _, n := range []int{1000, 4000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				r := of(n)
				for b.Loop() {
					anthropic.Codec{}.Check(r)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/item")
			})
		}
	}
}

// FuzzCheck checks whatever a file of a request may hold.
func FuzzCheck(f *testing.F) {
	for i := range checkCases {
		for _, r := range []wire.Request{checkCases[i].bad, checkCases[i].good} {
			if b, err := json.Marshal(&r); err == nil && len(b) < 10_000 {
				f.Add(b, i%2 == 0)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, new bool) {
		var r wire.Request
		if json.Unmarshal(data, &r) != nil {
			t.Skip()
		}
		c := older
		if new {
			c = newer
		}
		before := clone(t, &r)
		fs := c.Check(&r)
		if d := cmp.Diff(before, &r, sameFloat, sameError); d != "" {
			t.Fatalf("the request was modified (-before +after):\n%s", d)
		}
		var call wire.Call
		var own wire.Findings
		if err := c.Encode(&call, &r); err != nil {
			own = err.(wire.Findings)
		}
		if len(own) > len(fs) || len(own) > 0 && !slices.Equal(own, fs[:len(own)]) {
			t.Fatalf("the findings of Encode do not come first\n%v\n%v", own, fs)
		}
		for _, f := range fs[len(own):] {
			if f.Rule == "" || f.Remedy == "" {
				t.Fatalf("a finding without rule or remedy: %+v", f)
			}
		}
		if again := c.Check(&r); !slices.Equal(again, fs) {
			t.Fatalf("a second check differs\n%v\n%v", fs, again)
		}
	})
}
