package agent

import (
	"context"

	"github.com/handwire/handwire/wire"
)

// Hooks are functions that a run asks or tells at certain points. Each may be nil.
// They are called one at a time, by the goroutine that ranges over the run;
// tools that run go on meanwhile.
type Hooks struct {
	// BeforeRequest is called before each call of the model. It may change what
	// q points to, above all replace q.Messages by a shorter list; the
	// conversation stays as it is. Past holds what each answer of the
	// conversation that finished cost, the last one last. An error ends the
	// run.
	BeforeRequest func(ctx context.Context, q *wire.Request, past []wire.Usage) error
	// BeforeTool decides whether a call runs, once it is known that it can.
	BeforeTool func(ctx context.Context, call wire.Part) Decision
	// AfterTool may replace the result of a call, whether it ran or not. The id,
	// name and kind stay those of the call.
	AfterTool func(ctx context.Context, call, result wire.Part) wire.Part
	// AfterTurn is told of each answer that finished, before its calls run. An
	// error ends the run; the calls then get error results.
	AfterTurn func(ctx context.Context, r wire.Response) error
}

// Decision is what becomes of a call. The zero value lets it run.
type Decision struct {
	// Deny is why the call does not run, in words for the model.
	Deny string
	// Args replaces the arguments that the tool gets. The conversation keeps
	// those of the model.
	Args string
	// Result is the content of the result instead of what the tool would
	// return; it does not run.
	Result []wire.Part
}

// Display sets what people are shown of a tool's result, in place of what the
// model gets. A tool calls it with the context of its Run; the last text counts.
// It is on the event and the entry of the result, and is never sent to a model.
func Display(ctx context.Context, text string) {
	if d, ok := ctx.Value(displayKey{}).(*display); ok {
		d.set(text)
	}
}

type displayKey struct{}
