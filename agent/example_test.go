package agent_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/wire"
)

// The model is scripted here. A program uses a client of package provider.
func ExampleAgent_Run() {
	type weatherArgs struct {
		City string `json:"city"`
	}
	weather := agent.Func("weather", "Returns the weather of a city.",
		`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`,
		func(ctx context.Context, in weatherArgs) (string, error) {
			return "rain in " + in.City, nil
		})
	a := &agent.Agent{
		Model: &script{turns: [][]wire.Event{
			says(wire.FinishToolCall, wire.TextPart("Let me see.\n"), wire.ToolCallPart("1", "weather", `{"city":"Bergen"}`)),
			says(wire.FinishStop, wire.TextPart("It rains in Bergen.\n")),
		}},
		Tools: []agent.Tool{weather},
	}

	var c agent.Conversation
	for ev, err := range a.Run(context.Background(), &c, wire.TextPart("How is the weather in Bergen?")) {
		fmt.Print(ev.Text())
		switch ev.Kind {
		case agent.EventToolEnd:
			fmt.Println("tool:", ev.Call.Name, ev.Call.Args, "->", ev.Result.Parts[0].Text)
		case agent.EventEnd:
			fmt.Println(ev.End.Finish, "after", ev.End.Turns, "turns, error:", err)
		}
	}
	fmt.Println(c.Snapshot().Len(), "entries")
	// Output:
	// Let me see.
	// tool: weather {"city":"Bergen"} -> rain in Bergen
	// It rains in Bergen.
	// stop after 2 turns, error: <nil>
	// 4 entries
}

// A tool that returns an image beside a text.
func ExampleArgs() {
	type plotArgs struct {
		Title string `json:"title"`
	}
	plot := agent.Tool{
		Tool: wire.Tool{Name: "plot", Description: "Draws a plot."},
		Run: func(ctx context.Context, args string) ([]wire.Part, error) {
			in, err := agent.Args[plotArgs](args)
			if err != nil {
				return nil, err
			}
			png := []byte("\x89PNG\r\n\x1a\n")
			return []wire.Part{wire.TextPart(in.Title), wire.ImagePart(png)}, nil
		},
	}
	parts, err := plot.Run(context.Background(), `{"title":"growth"}`)
	fmt.Println(parts[0].Text, parts[1].Media.Type, err)
	_, err = plot.Run(context.Background(), `{"title":7}`)
	fmt.Println(err)
	// Output:
	// growth image/png <nil>
	// the argument "title" does not fit: expected a string, got number
}

func ExampleSendable() {
	history := []wire.Message{
		wire.UserText("List the files."),
		{
			Role:   wire.RoleAssistant,
			Parts:  []wire.Part{wire.ToolCallPart("1", "ls", `{}`)},
			Ending: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishToolCall},
		},
		wire.UserText("Never mind."),
	}
	for _, m := range agent.Sendable(history) {
		var kinds []string
		for _, p := range m.Parts {
			kinds = append(kinds, string(p.Kind))
		}
		fmt.Println(m.Role, strings.Join(kinds, " "))
	}
	// Output:
	// user text
	// assistant tool_call
	// tool tool_result
	// user text
}
