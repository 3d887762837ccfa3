package agent

import (
	"time"

	"github.com/handwire/handwire/wire"
)

// EventKind says what an [Event] is.
type EventKind string

// The kinds of event. Turn is set on all of them.
const (
	EventTurnStart EventKind = "turn_start" // the model is about to be called
	EventModel     EventKind = "model"      // Model, Entry: an event of the model's stream
	EventMessage   EventKind = "message"    // Message, Entry: a whole message of the model's, or all results of its calls
	EventToolStart EventKind = "tool_start" // Call: the call is about to run
	EventToolEnd   EventKind = "tool_end"   // Call, Result, Entry, Display, Duration: the call has its result
	EventNote      EventKind = "note"       // Note: what is sent otherwise than it stands in the conversation, or that this cannot be saved
	EventEnd       EventKind = "end"        // End: the run is over, and why
)

// Event is one step of a run. The events of one run obey this grammar:
//
//	run   = turn* End
//	turn  = TurnStart Note* Model* ( Message tools? )?
//	tools = ( ToolStart | ToolEnd )+ Message
//
// The Model events of a turn are one whole stream as [wire.Event] describes it,
// its end included, also where the stream was cut or the run was cancelled.
// They are missing only where the run was stopped before the model was called.
// The first Message of a turn is the model's, and it is missing only where the
// stream failed before any part of a message began. In a turn with tools each
// call of that message has exactly one ToolEnd; one without a ToolStart before it
// did not run. They come as the tools end. The second Message, of role tool,
// holds the Result of every ToolEnd, in the order of the calls.
//
// End comes exactly once and last. Only its pair can have an error, which is nil
// if and only if the model finished, whatever the finish reason. End says the
// same in its Err.
//
// Event is one flat struct; the comment beside each kind names the fields that
// it uses. An event is a value. What its pointers lead to is shared with the
// rest of the run, is never changed by it, and must not be changed by the
// caller; it may be kept as long as you like.
type Event struct {
	Kind EventKind `json:"kind"`
	// Turn counts the calls of the model from 1. On an End it is how many
	// there were.
	Turn int `json:"turn"`
	// Entry is the id of the entry of the conversation that the event belongs
	// to. The Message of results has none, since each of them is an entry.
	Entry   string        `json:"entry,omitempty"`
	Model   *wire.Event   `json:"model,omitempty"`
	Message *wire.Message `json:"message,omitempty"`
	// Call is the tool call, as it stands in the model's message.
	Call *wire.Part `json:"call,omitempty"`
	// Result is the tool result, as it will stand in the message of results.
	Result *wire.Part `json:"result,omitempty"`
	// Display is what people are shown of the result, if the tool says so; see
	// [Display].
	Display string     `json:"display,omitempty"`
	Note    *wire.Note `json:"note,omitempty"`
	// Duration is how long the tool ran, 0 if it did not. In JSON it is a
	// number of nanoseconds.
	Duration time.Duration `json:"duration_ns,omitempty"`
	End      *End          `json:"end,omitempty"`
}

// Text returns the piece of the model's text that e brings, and "" for every
// other event.
func (e *Event) Text() string {
	if e.Model == nil {
		return ""
	}
	return e.Model.Text()
}

// Reasoning returns the piece of the model's reasoning that e brings, and "" for
// every other event.
func (e *Event) Reasoning() string {
	if e.Model == nil {
		return ""
	}
	return e.Model.Reasoning()
}

// End is how a run ended.
type End struct {
	// Ending is the ending of the last message, with two exceptions. A run that
	// was stopped between two messages has the cause that stopped it:
	// cancelled, deadline, limit or config. And where the model's finish reason
	// was tool_call but there was no call, Finish is stop.
	wire.Ending
	// Usage is the sum over all turns. A count that is unknown for one of the
	// turns that began is unknown here. Vendor is empty.
	Usage wire.Usage `json:"usage,omitzero"`
	// Turns is how many times the model was called.
	Turns int `json:"turns"`
}
