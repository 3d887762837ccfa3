package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/handwire/handwire/wire"
)

const (
	// DefaultMaxTurns is how many times a run calls the model at most, unless
	// [Agent.MaxTurns] says otherwise.
	DefaultMaxTurns = 50

	// MaxPauses is how many times in a row a run calls the model again after
	// the finish reason pause.
	MaxPauses = 10

	// DefaultMaxParallel is how many tools run at once at most, unless
	// [Agent.MaxParallel] says otherwise.
	DefaultMaxParallel = 8

	// ToolGrace is how long a run that was cancelled waits for the tools that
	// are running, before it goes on without them; and a run that is not, for
	// one whose time is up.
	ToolGrace = time.Second
)

// Model answers a request with a stream of events, which ends with one pair of
// the end event and its error as [wire.Decoder] describes it. It ends the
// stream soon after ctx is cancelled, and releases what it holds when the loop
// over the stream is left. It neither changes r nor what r leads to, but may
// keep it. A provider's client is a Model.
type Model interface {
	Stream(ctx context.Context, r *wire.Request) iter.Seq2[wire.Event, error]
}

// Agent is a model with its settings and tools. It holds no state of a run, so
// that any number of runs may go on at once, as long as its fields are not
// changed meanwhile and the model and the tools allow it.
type Agent struct {
	// Model answers the requests. It must not be nil.
	Model Model
	// Request holds the settings and the system prompt of every request of a
	// run. Its Messages must be empty, because the conversation is given to Run.
	// Its Tools are those that the vendor runs; they are offered before the
	// local ones. A ToolChoice that demands a call demands one in every turn,
	// so that such a run goes on up to its limit.
	Request wire.Request
	// Tools are run here. Their names must be unique and not empty.
	Tools []Tool
	// Hooks are asked and told as the run goes.
	Hooks Hooks

	// MaxTurns is how many times a run may call the model. Zero and less is
	// DefaultMaxTurns. The calls of the last turn still run, so that another
	// run can go on from there.
	MaxTurns int
	// MaxCalls is how many calls of tools a run may see before it calls the
	// model no more. Zero is any number.
	MaxCalls int
	// MaxTokens is how many tokens a run may cost, of input and output together,
	// before it calls the model no more. Those that the vendor does not count
	// are none. Zero is any number.
	MaxTokens int64
	// MaxTime is how long a run may take; it is then stopped as if it were
	// cancelled. Zero is any time.
	MaxTime time.Duration
	// MaxParallel is how many tools run at once. Zero and less is
	// DefaultMaxParallel; 1 is one after the other.
	MaxParallel int
	// ToolTimeout is how long one tool may run. Zero is any time.
	ToolTimeout time.Duration
	// MaxResult is how many bytes of text a result has; what is longer loses its
	// middle. Zero is DefaultMaxResult, less is any number.
	MaxResult int
}

// Run adds what the user says to the conversation, unless there is no input, asks
// the model, runs the calls of the answer, asks again, and so on until the model
// is done, a limit is reached, something fails or ctx is cancelled. All of it is
// added to the conversation as it comes. See the package comment for the rules
// and [Event] for what it yields. The error of the last pair is nil if the model
// finished. Otherwise it is the error of the model's stream, or a [*wire.Error]
// with the cause cancelled or deadline (of ctx), limit (see [ErrTurnLimit]) or
// config (the Agent cannot be used; nothing was added). The error of a hook that is
// no [*wire.Error] is in the chain of one with the cause config
// ([Hooks.BeforeRequest]) or cancelled ([Hooks.AfterTurn]).
//
// Nothing happens before the sequence is ranged over, and each range is a run of
// its own. A conversation takes one run at a time; what others add meanwhile is
// sent with the next request, behind the results of the calls that it came upon.
// Each tool runs in a goroutine. One that is still running [ToolGrace] after ctx was
// cancelled or the loop left is left behind, and its goroutine ends when the tool
// returns: a tool that ignores its context is at fault. What it returns then
// becomes a notice.
func (a *Agent) Run(ctx context.Context, c *Conversation, input ...wire.Part) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if a.MaxTime > 0 {
			var stop context.CancelFunc
			ctx, stop = context.WithTimeoutCause(ctx, a.MaxTime, ErrTimeLimit)
			defer stop()
		}
		r := run{agent: a, ctx: ctx, cancel: cancel, yield: yield, conv: c, limit: a.MaxTurns}
		if r.limit <= 0 {
			r.limit = DefaultMaxTurns
		}
		ending, err := r.turns(input)
		if err == errLeft {
			return
		}
		r.send(Event{Kind: EventEnd, End: &End{Ending: ending, Usage: r.usage, Turns: r.turn}}, err)
	}
}

// errLeft says that the caller left the loop, so that nothing may be yielded.
var errLeft = errors.New("the loop was left")

// run is one run of an Agent. Its methods return errLeft as soon as the caller
// has left the loop.
type run struct {
	agent   *Agent
	ctx     context.Context
	cancel  context.CancelFunc
	yield   func(Event, error) bool
	conv    *Conversation
	tools   []wire.Tool // what the model is told
	limit   int
	turn    int
	calls   int   // of tools
	tokens  int64 // that are known
	usage   wire.Usage
	counted bool               // usage holds a turn
	told    map[wire.Note]bool // notes that were yielded
}

// emit yields an event that is not the last.
func (r *run) emit(ev Event) error { return r.send(ev, nil) }

// send yields a pair.
func (r *run) send(ev Event, err error) error {
	ev.Turn = r.turn
	if !r.yield(ev, err) {
		return errLeft
	}
	return nil
}

// turns runs the loop and returns how it ended.
func (r *run) turns(input []wire.Part) (wire.Ending, error) {
	if err := r.prepare(); err != nil {
		return failed(err)
	}
	if len(input) > 0 {
		r.conv.AddUser(input...)
	}
	defer r.conv.hold()()
	for pauses := 0; ; {
		if err := stopped(r.ctx); err != nil {
			return failed(err)
		}
		if err := r.spent(); err != nil {
			return failed(err)
		}
		r.turn++
		if err := r.emit(Event{Kind: EventTurnStart}); err != nil {
			return wire.Ending{}, err
		}
		if err := stopped(r.ctx); err != nil {
			r.turn-- // the model was not called
			return failed(err)
		}
		entry, failure := r.ask()
		if failure == errLeft {
			return wire.Ending{}, errLeft
		}
		if entry.Ending == nil { // the model was not called
			r.turn--
			return failed(wire.AsError(failure, wire.CauseConfig))
		}
		m := entry.message()
		if failure == nil || len(m.Parts) > 0 {
			if err := r.emit(Event{Kind: EventMessage, Entry: entry.ID, Message: &m}); err != nil {
				return wire.Ending{}, err
			}
		}
		ending := *m.Ending
		if failure != nil {
			return ending, failure
		}
		if hook := r.agent.Hooks.AfterTurn; hook != nil {
			if err := hook(r.ctx, wire.Response{Message: m, Usage: entry.Usage, Notes: entry.Notes, RequestID: entry.RequestID}); err != nil {
				r.conv.Settle("")
				return failed(wire.AsError(err, wire.CauseCancelled))
			}
		}
		if ending.Finish != wire.FinishPause {
			pauses = 0
		}
		switch ending.Finish {
		case wire.FinishToolCall, wire.FinishStop:
			if !slices.ContainsFunc(m.Parts, isCall) {
				ending.Finish = wire.FinishStop
				return ending, nil
			}
			if err := r.answer(&m); err != nil {
				return wire.Ending{}, err
			}
		case wire.FinishPause:
			if pauses++; pauses > MaxPauses {
				return failed(limitError(ErrTurnLimit, fmt.Sprintf("the model paused %d times in a row", pauses)))
			}
		default:
			return ending, nil
		}
	}
}

// prepare checks the agent and gathers the tools.
func (r *run) prepare() *wire.Error {
	a := r.agent
	bad := func(format string, args ...any) *wire.Error {
		return &wire.Error{Cause: wire.CauseConfig, Message: "agent: " + fmt.Sprintf(format, args...)}
	}
	switch {
	case a.Model == nil:
		return bad("there is no model")
	case r.conv == nil:
		return bad("there is no conversation")
	case len(a.Request.Messages) > 0:
		return bad("the request has messages, which belong in the conversation")
	}
	r.tools = slices.Clone(a.Request.Tools)
	for i := range a.Tools {
		t := &a.Tools[i]
		switch {
		case t.Name == "":
			return bad("tool %d has no name", i)
		case t.Run == nil:
			return bad("the tool %q has no Run", t.Name)
		case slices.ContainsFunc(r.tools, func(u wire.Tool) bool { return u.Name == t.Name }):
			return bad("there are two tools named %q", t.Name)
		}
		r.tools = append(r.tools, t.Tool)
	}
	return nil
}

// request makes the next request. Notes on the conversation are yielded once.
func (r *run) request() (*wire.Request, error) {
	s := r.conv.Snapshot()
	messages, notes := s.Messages()
	if err := r.conv.Err(); err != nil {
		notes = append(notes, wire.Note{Code: wire.NoteOdd, Path: "session", Detail: err.Error()})
	}
	for i := range notes {
		if r.told[notes[i]] {
			continue
		}
		if r.told == nil {
			r.told = map[wire.Note]bool{}
		}
		r.told[notes[i]] = true
		if err := r.emit(Event{Kind: EventNote, Note: &notes[i]}); err != nil {
			return nil, err
		}
	}
	req := r.agent.Request
	req.Tools = slices.Clone(r.tools)
	req.Messages = messages
	if hook := r.agent.Hooks.BeforeRequest; hook != nil {
		var past []wire.Usage
		for _, e := range s.All() {
			if e.Role == RoleAssistant && e.Status == StatusComplete {
				past = append(past, e.Usage)
			}
		}
		if err := hook(r.ctx, &req, past); err != nil {
			return nil, err
		}
	}
	return &req, nil
}

// ask calls the model once, passes its stream on and records it. The entry always
// has an Ending, unless the model was not called. The error is that of the stream,
// and nil if and only if the message finished.
func (r *run) ask() (Entry, error) {
	r.conv.Settle("") // a pause may leave calls
	req, err := r.request()
	if err != nil {
		return Entry{}, err
	}
	id, _ := r.conv.Add(Entry{Role: RoleAssistant, Status: StatusStreaming})
	var open []wire.PartKind // the kinds of the parts, "" for those that are over
	var failure error
	requestID := ""
	ended := false
	defer func() {
		if !ended { // the loop was left, or the model panicked
			r.conv.Cancel(id)
		}
	}()
	pass := func(ev wire.Event) error {
		switch ev.Kind {
		case wire.EventStart:
			if ev.Start != nil {
				requestID = ev.Start.RequestID
			}
		case wire.EventPartStart:
			open = append(open, ev.Part)
		case wire.EventPartEnd:
			if uint(ev.Index) < uint(len(open)) {
				open[ev.Index] = ""
			}
		case wire.EventEnd:
			ended = true
			ev.End = r.ending(ev.End, &failure, requestID)
		}
		r.conv.Append(id, ev) // it is ours, and open
		return r.emit(Event{Kind: EventModel, Entry: id, Model: &ev})
	}
	stream := r.agent.Model.Stream(r.ctx, req)
	if stream == nil {
		failure = &wire.Error{Cause: wire.CauseProtocol, Message: "agent: the model returned no stream"}
		stream = func(func(wire.Event, error) bool) {}
	}
	for ev, err := range stream {
		if ended {
			break
		}
		if err != nil && ev.Kind != wire.EventEnd {
			failure = err
			break
		}
		failure = err
		if err := pass(ev); err != nil {
			return Entry{}, err
		}
		// After the end event the model may have something to clean up, so the
		// loop is not left then.
		if err := stopped(r.ctx); err != nil && !ended {
			failure = err
			break
		}
	}
	if !ended {
		// The stream is closed on the model's behalf.
		for i, k := range open {
			if k == "" {
				continue
			}
			cut := wire.Event{Kind: wire.EventPartEnd, Part: k, Index: i, Data: &wire.Part{Kind: k, Partial: true}}
			if err := pass(cut); err != nil {
				return Entry{}, err
			}
		}
		if failure == nil {
			failure = r.modelError(nil, requestID)
		}
		e := r.modelError(failure, requestID)
		if err := pass(wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: e.Cause, Err: e}}); err != nil {
			return Entry{}, err
		}
	}
	entry, _ := r.conv.Snapshot().Find(id)
	if failure == nil && entry.Ending.Err != nil { // another one ended the entry
		failure = entry.Ending.Err
	}
	r.count(&entry)
	return entry, failure
}

// ending returns the ending of a message whose end event came, with an error if
// and only if it did not finish. One that [Agent.MaxTime] stopped says so.
func (r *run) ending(end *wire.Ending, failure *error, requestID string) *wire.Ending {
	switch {
	case end == nil && *failure == nil, *failure != nil && (end == nil || end.Cause == wire.CauseFinished || end.Err == nil):
		e := r.modelError(*failure, requestID)
		end = &wire.Ending{Cause: e.Cause, Err: e}
	case end.Cause != wire.CauseFinished && end.Err == nil:
		c := *end
		c.Err = &wire.Error{Cause: end.Cause, RequestID: requestID}
		end = &c
	}
	if end.Cause == wire.CauseCancelled || end.Cause == wire.CauseDeadline {
		if e := stopped(r.ctx); e != nil && e.Cause == wire.CauseLimit { // the model does not know why
			e.RequestID, e.Err = requestID, errors.Join(e.Err, end.Err)
			end, *failure = &wire.Ending{Cause: e.Cause, Err: e}, e
		}
	}
	if *failure == nil && end.Err != nil {
		*failure = end.Err
	}
	return end
}

// modelError makes a [*wire.Error] of what a model's stream failed with. A nil
// err is that of a stream which just stopped.
func (r *run) modelError(err error, requestID string) *wire.Error {
	if err == nil {
		if e := stopped(r.ctx); e != nil {
			e.RequestID = requestID
			return e
		}
		return &wire.Error{Cause: wire.CauseTruncated, RequestID: requestID, Message: "the model's stream stopped without an end event"}
	}
	cause := wire.CauseProtocol
	switch e := stopped(r.ctx); {
	case e != nil:
		cause = e.Cause
	case errors.Is(err, context.Canceled):
		cause = wire.CauseCancelled
	case errors.Is(err, context.DeadlineExceeded):
		cause = wire.CauseDeadline
	}
	e := wire.AsError(err, cause)
	if e.Cause == "" || e.Cause == wire.CauseFinished {
		c := *e
		c.Cause = cause
		e = &c
	}
	return e
}

// count adds the usage of one turn. A turn that never began has none.
func (r *run) count(e *Entry) {
	if e.Usage.IsZero() && e.Origin == nil {
		return
	}
	r.tokens += e.Usage.InputTokens.Value() + e.Usage.OutputTokens.Value()
	r.usage, r.counted = addUsage(r.usage, e.Usage, r.counted), true
}

func isCall(p wire.Part) bool { return p.Kind == wire.PartToolCall }

// failed is the ending of a run, or of a message, that failed with e.
func failed(e *wire.Error) (wire.Ending, error) {
	return wire.Ending{Cause: e.Cause, Err: e}, e
}
