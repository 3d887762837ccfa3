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

	// ToolGrace is how long a run that was cancelled waits for the tool that
	// is running, before it goes on without it.
	ToolGrace = time.Second
)

// ErrTurnLimit is in the chain of the error of a run that ended because the
// model was called as often as allowed: [Agent.MaxTurns] times in all, or
// [MaxPauses] times in a row after a pause. That error is a [*wire.Error] with
// the cause limit. The history is valid, and another run can go on from it.
var ErrTurnLimit = errors.New("the run reached its limit of model calls")

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
	// run. Its Messages must be empty, because the history is given to Run.
	// Its Tools are those that the vendor runs; they are offered before the
	// local ones. A ToolChoice that demands a call demands one in every turn,
	// so that such a run goes on up to its limit.
	Request wire.Request
	// Tools are run here. Their names must be unique and not empty.
	Tools []Tool
	// MaxTurns is how many times a run may call the model. Zero and less is
	// DefaultMaxTurns. The calls of the last turn still run, so that another
	// run can go on from there.
	MaxTurns int
}

// Run sends the history, runs the calls of the answer, sends the results, and
// so on until the model is done, MaxTurns is reached, something fails or ctx is
// cancelled. See the package comment for the rules and [Event] for what it
// yields. The error of the last pair is nil if the model finished. Otherwise it
// is the error of the model's stream, or a [*wire.Error] with the cause
// cancelled or deadline (of ctx), limit (see [ErrTurnLimit]) or config (the
// Agent cannot be used; the model was not called).
//
// Nothing happens before the sequence is ranged over, and each range is a run
// of its own. The tools run in a goroutine, one at a time, while the loop waits
// for the next event. A tool that is still running [ToolGrace] after ctx was
// cancelled is left behind, and its goroutine ends when the tool returns: a tool
// that ignores its context is at fault.
//
// The history is read when the range begins. Neither it nor anything that it
// leads to is modified.
func (a *Agent) Run(ctx context.Context, history []wire.Message) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r := run{
			agent:   a,
			ctx:     ctx,
			yield:   yield,
			history: slices.Clone(history),
			limit:   a.MaxTurns,
		}
		if r.limit <= 0 {
			r.limit = DefaultMaxTurns
		}
		ending, err := r.turns()
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
	yield   func(Event, error) bool
	history []wire.Message // only appended to
	tools   []wire.Tool    // what the model is told
	limit   int
	turn    int
	usage   wire.Usage
	counted bool // usage holds a turn
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

// add appends m to the history and yields it.
func (r *run) add(m wire.Message) error {
	r.history = append(r.history, m)
	return r.emit(Event{Kind: EventMessage, Message: &m})
}

// turns runs the loop and returns how it ended.
func (r *run) turns() (wire.Ending, error) {
	if err := r.prepare(); err != nil {
		return failed(err)
	}
	for pauses := 0; ; {
		if err := stopped(r.ctx); err != nil {
			return failed(err)
		}
		if r.turn == r.limit {
			return failed(limitError(fmt.Sprintf("the model was called %d times, as often as a run may", r.limit)))
		}
		r.turn++
		if err := r.emit(Event{Kind: EventTurnStart}); err != nil {
			return wire.Ending{}, err
		}
		if err := stopped(r.ctx); err != nil {
			r.turn-- // the model was not called
			return failed(err)
		}
		m, failure := r.ask()
		if failure == errLeft {
			return wire.Ending{}, errLeft
		}
		if failure == nil || len(m.Parts) > 0 {
			if err := r.add(m); err != nil {
				return wire.Ending{}, err
			}
		}
		ending := *m.Ending
		if failure != nil {
			return ending, failure
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
				return failed(limitError(fmt.Sprintf("the model paused %d times in a row", pauses)))
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
	if a.Model == nil {
		return bad("there is no model")
	}
	if len(a.Request.Messages) > 0 {
		return bad("the request has messages, which belong in the history")
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

// ask calls the model once and passes its stream on. The message always has an
// Ending. The error is that of the stream, and nil if and only if the message
// finished.
func (r *run) ask() (wire.Message, error) {
	req := r.agent.Request
	req.Tools = slices.Clone(r.tools)
	req.Messages = Sendable(r.history)

	var b wire.Builder
	var open []wire.PartKind // the kinds of the parts, "" for those that are over
	var failure error
	ended := false
	pass := func(ev wire.Event) error {
		b.Add(&ev)
		switch ev.Kind {
		case wire.EventPartStart:
			open = append(open, ev.Part)
		case wire.EventPartEnd:
			if uint(ev.Index) < uint(len(open)) {
				open[ev.Index] = ""
			}
		case wire.EventEnd:
			ended = true
		}
		return r.emit(Event{Kind: EventModel, Model: &ev})
	}
	stream := r.agent.Model.Stream(r.ctx, &req)
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
			return wire.Message{}, err
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
		e := r.modelError(failure, b.Response().RequestID)
		if failure == nil {
			failure = e
		}
		for i, k := range open {
			if k == "" {
				continue
			}
			cut := wire.Event{Kind: wire.EventPartEnd, Part: k, Index: i, Data: &wire.Part{Kind: k, Partial: true}}
			if err := pass(cut); err != nil {
				return wire.Message{}, err
			}
		}
		if err := pass(wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: e.Cause, Err: e}}); err != nil {
			return wire.Message{}, err
		}
	}

	resp := b.Response()
	r.count(&resp)
	m := resp.Message
	if end := m.Ending; end == nil || failure != nil && (end.Cause == wire.CauseFinished || end.Err == nil) {
		e := r.modelError(failure, resp.RequestID)
		m.Ending = &wire.Ending{Cause: e.Cause, Err: e}
	} else if end.Cause != wire.CauseFinished && end.Err == nil {
		c := *end
		c.Err = &wire.Error{Cause: end.Cause, RequestID: resp.RequestID}
		m.Ending = &c
	}
	if failure == nil && m.Ending.Err != nil {
		failure = m.Ending.Err
	}
	return m, failure
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
func (r *run) count(resp *wire.Response) {
	u := resp.Usage
	if u.IsZero() && resp.Message.Origin == nil {
		return
	}
	u.Vendor = ""
	if r.counted {
		t := &r.usage
		u = wire.Usage{
			InputTokens:           t.InputTokens.Add(u.InputTokens),
			UncachedInputTokens:   t.UncachedInputTokens.Add(u.UncachedInputTokens),
			CacheReadTokens:       t.CacheReadTokens.Add(u.CacheReadTokens),
			CacheCreationTokens:   t.CacheCreationTokens.Add(u.CacheCreationTokens),
			CacheCreation1hTokens: t.CacheCreation1hTokens.Add(u.CacheCreation1hTokens),
			OutputTokens:          t.OutputTokens.Add(u.OutputTokens),
			ReasoningTokens:       t.ReasoningTokens.Add(u.ReasoningTokens),
		}
	}
	r.usage, r.counted = u, true
}

// answer runs the calls of m that can run and adds the message of results. It
// does so too when the run is cancelled meanwhile.
func (r *run) answer(m *wire.Message) error {
	var results []wire.Part
	for i := range m.Parts {
		if !isCall(m.Parts[i]) {
			continue
		}
		call := m.Parts[i]
		var result wire.Part
		var took time.Duration
		at := slices.IndexFunc(r.agent.Tools, func(t Tool) bool { return t.Name == call.Name })
		switch {
		case !executable(m, i):
			result = errorResult(&call, notRun(m, &call))
		case r.ctx.Err() != nil:
			result = errorResult(&call, notStarted(r.ctx))
		case at < 0:
			result = errorResult(&call, unknownTool(call.Name, r.agent.Tools))
		default:
			if err := r.emit(Event{Kind: EventToolStart, Call: &call}); err != nil {
				return err
			}
			if r.ctx.Err() != nil {
				result = errorResult(&call, notStarted(r.ctx))
				break
			}
			begin := time.Now()
			result = r.agent.Tools[at].result(r.ctx, &call)
			took = time.Since(begin)
		}
		if err := r.emit(Event{Kind: EventToolEnd, Call: &call, Result: &result, Duration: took}); err != nil {
			return err
		}
		results = append(results, result)
	}
	return r.add(wire.ToolMessage(results...))
}

func isCall(p wire.Part) bool { return p.Kind == wire.PartToolCall }

// executable reports whether part i of m is among its executable calls.
func executable(m *wire.Message, i int) bool {
	one := *m
	one.Parts = m.Parts[i : i+1]
	return len(one.ExecutableCalls()) == 1
}

// failed is the ending of a run, or of a message, that failed with e.
func failed(e *wire.Error) (wire.Ending, error) {
	return wire.Ending{Cause: e.Cause, Err: e}, e
}

// limitError is the error of a run that called the model as often as allowed.
func limitError(message string) *wire.Error {
	return &wire.Error{Cause: wire.CauseLimit, Message: "agent: " + message, Err: ErrTurnLimit}
}

// stopped returns the error of a run whose context is done, and nil as long as
// it is not.
func stopped(ctx context.Context) *wire.Error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	e := &wire.Error{Cause: wire.CauseCancelled, Message: "the run was cancelled", Err: err}
	if errors.Is(err, context.DeadlineExceeded) {
		e.Cause, e.Message = wire.CauseDeadline, "the time for the run was up"
	}
	if cause := context.Cause(ctx); !errors.Is(cause, err) {
		e.Err = errors.Join(err, cause)
	}
	return e
}
