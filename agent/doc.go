// Package agent runs tools for a model: it sends a conversation, reads the
// answer as it arrives, runs the tools that the model calls, sends their
// results, and goes on until the model is done.
//
// # The loop
//
// An [Agent] holds a [Model], the settings of its requests and the tools.
// [Agent.Run] takes a history and yields an [Event] for each thing that
// happens. It keeps no conversation: a caller who wants one appends the Message
// of every event of kind [EventMessage] to the history, and passes that history
// to the next Run.
//
//	for ev, err := range a.Run(ctx, history) {
//		fmt.Print(ev.Text())
//		if ev.Message != nil {
//			history = append(history, *ev.Message)
//		}
//		if err != nil {
//			return history, err
//		}
//	}
//
// What the caller appended is at every moment a history that can be sent, if the
// history before it was: see [Sendable], which Run applies before each request.
//
// # Which calls run
//
// A call runs if [wire.Message.ExecutableCalls] returns it, there is a tool of
// its name, and the run is not cancelled. Calls run one after the other, in the
// model's order. Every call of a message that finished with tool_call or stop
// gets exactly one result, in that order, in one message of role tool. A call
// that cannot run gets an error result that tells the model why; so does one
// whose tool fails, panics or returns what cannot be sent.
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
// model takes to end it, and for the tool that is running, as long as [ToolGrace].
// The history stays valid: the part of a message that had arrived comes as a
// message whose Ending says that it was cancelled, and calls without a result get
// an error result. Leaving the range loop stops everything as well, but then
// nothing more is yielded.
//
// # Limits
//
// A run makes at most [Agent.MaxTurns] calls of the model. The size of results,
// the number of tokens and the time are not limited here: use the context for
// the time, and let tools limit what they return.
package agent
