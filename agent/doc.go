// Package agent holds conversations, and runs tools for a model: it sends what was
// said, reads the answer as it arrives, runs the tools that the model calls, sends
// their results, and goes on until the model is done.
//
//	var c agent.Conversation
//	a := agent.Agent{Model: client, Tools: tools}
//	for ev, err := range a.Run(ctx, &c, wire.TextPart("Weather in Oslo?")) {
//		if err != nil {
//			return err
//		}
//		fmt.Print(ev.Text())
//	}
//
// Another turn is another Run with the same conversation. Another vendor or model
// is another Model: nothing of the conversation changes, and what only its writer
// can read stays behind, with notes.
//
// # Conversations
//
// A [Conversation] is a list of entries, each with an id, a status, and what a
// vendor said about it. Any number of goroutines may use one. A stream appends to
// the entry of its id; a user interface takes a [Snapshot], which costs the same
// however long the conversation is, and waits for the next change with
// [Conversation.Wait]. [Conversation.Fork] begins another one with the same past.
// [OpenSession] keeps one in a file, which a crash at any byte leaves readable.
//
// [Snapshot.Messages] makes of the entries what can be sent, at every moment: no
// call without its result, no result without its call, no answer that failed, and
// of one that was cut off only the text. What it made of the past it makes again,
// so that a vendor's cache of the beginning of a request holds. A program that
// brings its own loop needs no more of this package than that and
// [Conversation.Record].
//
// # Which calls run
//
// A call runs if [wire.Message.ExecutableCalls] returns it, there is a tool of
// its name, its arguments have the members and types that the tool's schema
// demands, the hook lets it, and the run is not cancelled. Tools run at once, up to
// [Agent.MaxParallel], and every call of a message that finished with tool_call or
// stop gets exactly one result. A call that cannot run gets an error result that
// tells the model why; so does one whose tool fails, panics, takes too long or
// returns what cannot be sent. A result that is too long loses its middle.
//
// # Finish reasons
//
//	tool_call, stop   with calls: run them and call the model again
//	tool_call         without calls: the run ends as if the reason were stop
//	pause             call the model again, at most [MaxPauses] times in a row
//	any other         the run ends without an error; no call runs
//
// # Stopping
//
// Cancelling the context ends a run at every point: no other call of the model
// or a tool begins, the run waits for the stream that is open, as long as the
// model takes to end it, and for the tools that are running, as long as
// [ToolGrace]. The part of an answer that had arrived is an entry with the status
// cancelled, and calls without a result get an error result, as entries of their
// own; a real result that comes later is a notice. Leaving the range loop does the
// same, but then nothing more is yielded.
//
// # Limits
//
// A run makes at most [Agent.MaxTurns] calls of the model, and ends at the limits
// of calls of tools, tokens and time that [Agent] has, each with an error of its
// own. [Hooks.BeforeRequest] may replace the messages of a request by fewer.
package agent
