package wire_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"

	"github.com/handwire/handwire/wire"
)

// A request is a value. Its JSON form is the one in which histories are kept.
func Example() {
	zero := 0.0
	req := wire.Request{
		Model:  "model-1",
		System: []wire.Part{wire.TextPart("You look things up.")},
		Messages: []wire.Message{
			wire.UserText("What is in a.txt?"),
			{Role: wire.RoleAssistant, Parts: []wire.Part{wire.ToolCallPart("t1", "read", `{"path":"a.txt"}`)}},
			wire.ToolMessage(wire.ToolResultPart("t1", "read", wire.TextPart("a < b"))),
		},
		Tools:       []wire.Tool{{Name: "read", Schema: `{"type":"object","properties":{"path":{"type":"string"}}}`}},
		MaxTokens:   1000,
		Temperature: &zero,
	}
	e := json.NewEncoder(os.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(req); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {
	//  "model": "model-1",
	//  "system": [
	//   {
	//    "kind": "text",
	//    "text": "You look things up."
	//   }
	//  ],
	//  "messages": [
	//   {
	//    "role": "user",
	//    "parts": [
	//     {
	//      "kind": "text",
	//      "text": "What is in a.txt?"
	//     }
	//    ]
	//   },
	//   {
	//    "role": "assistant",
	//    "parts": [
	//     {
	//      "kind": "tool_call",
	//      "id": "t1",
	//      "name": "read",
	//      "args": "{\"path\":\"a.txt\"}"
	//     }
	//    ]
	//   },
	//   {
	//    "role": "tool",
	//    "parts": [
	//     {
	//      "kind": "tool_result",
	//      "id": "t1",
	//      "name": "read",
	//      "parts": [
	//       {
	//        "kind": "text",
	//        "text": "a < b"
	//       }
	//      ]
	//     }
	//    ]
	//   }
	//  ],
	//  "tools": [
	//   {
	//    "name": "read",
	//    "schema": "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"}}}"
	//   }
	//  ],
	//  "max_tokens": 1000,
	//  "temperature": 0
	// }
}

// answer stands in for a stream that a client gives.
func answer() iter.Seq2[wire.Event, error] {
	return seq([]wire.Event{
		{Kind: wire.EventStart, Start: &wire.Start{Origin: wire.Origin{Model: "model-1"}}},
		{Kind: wire.EventPartStart, Part: wire.PartText, Index: 0},
		{Kind: wire.EventDelta, Part: wire.PartText, Index: 0, Delta: "Let me "},
		{Kind: wire.EventDelta, Part: wire.PartText, Index: 0, Delta: "look."},
		{Kind: wire.EventPartEnd, Part: wire.PartText, Index: 0},
		{Kind: wire.EventPartStart, Part: wire.PartToolCall, Index: 1, Data: &wire.Part{ID: "t1", Name: "read"}},
		{Kind: wire.EventDelta, Part: wire.PartToolCall, Index: 1, Delta: `{"path":`},
		{Kind: wire.EventDelta, Part: wire.PartToolCall, Index: 1, Delta: `"a.txt"}`},
		{Kind: wire.EventPartEnd, Part: wire.PartToolCall, Index: 1},
		{Kind: wire.EventUsage, Usage: &wire.Usage{InputTokens: wire.CountOf(20), OutputTokens: wire.CountOf(9)}},
		{Kind: wire.EventEnd, End: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishToolCall}},
	})
}

func ExampleEvent_Text() {
	for ev, err := range answer() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(ev.Text())
	}
	fmt.Println()
	// Output: Let me look.
}

func ExampleCollect() {
	resp, err := wire.Collect(answer())
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(resp.Message.Text())
	fmt.Println(resp.Message.Ending.Cause, resp.Message.Ending.Finish)
	fmt.Println(resp.Usage.InputTokens, resp.Usage.OutputTokens, resp.Usage.ReasoningTokens)
	// Output:
	// Let me look.
	// finished tool_call
	// 20 9 unknown
}

// Print an answer as it arrives and have it whole afterwards.
func ExampleBuilder_Tee() {
	var b wire.Builder
	for ev, err := range b.Tee(answer()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if s := ev.Text(); s != "" {
			fmt.Printf("%q, so far %q\n", s, b.Message().Parts[0].Text)
		}
	}
	m := b.Message()
	fmt.Println(len(m.Parts), "parts,", m.Ending.Cause)
	// Output:
	// "Let me ", so far "Let me "
	// "look.", so far "Let me look."
	// 2 parts, finished
}

func ExampleMessage_ExecutableCalls() {
	resp, _ := wire.Collect(answer())
	for _, call := range resp.Message.ExecutableCalls() {
		fmt.Println(call.ID, call.Name, call.Args)
	}

	cut := resp.Message
	cut.Ending = &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishLength}
	fmt.Println("at the length limit:", len(cut.ExecutableCalls()))
	// Output:
	// t1 read {"path":"a.txt"}
	// at the length limit: 0
}

func ExampleCheckEvents() {
	err := wire.CheckEvents([]wire.Event{
		{Kind: wire.EventStart, Start: &wire.Start{}},
		{Kind: wire.EventPartStart, Part: wire.PartText},
		{Kind: wire.EventEnd, End: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop}},
	})
	fmt.Println(err)
	// Output: event 2 (end): part 0 is still open
}

func ExampleCount() {
	u := wire.Usage{InputTokens: wire.CountOf(0)}
	b, err := json.Marshal(u)
	fmt.Printf("%s %v\n", b, err)
	fmt.Println(u.InputTokens, u.OutputTokens, u.InputTokens.Add(u.OutputTokens))
	// Output:
	// {"input_tokens":0} <nil>
	// 0 unknown unknown
}
