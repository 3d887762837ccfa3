package agent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/handwire/handwire/wire"
)

// The reasons for which a run ends at one of the limits of [Agent]. Each is in the
// chain of the run's error, a [*wire.Error] with the cause limit. The conversation
// is valid then, and another run can go on from it.
var (
	// ErrTurnLimit is that the model was called as often as allowed:
	// [Agent.MaxTurns] times in all, or [MaxPauses] times in a row after a pause.
	ErrTurnLimit = errors.New("the run reached its limit of model calls")
	// ErrCallLimit is [Agent.MaxCalls].
	ErrCallLimit = errors.New("the run reached its limit of tool calls")
	// ErrTokenLimit is [Agent.MaxTokens].
	ErrTokenLimit = errors.New("the run reached its limit of tokens")
	// ErrTimeLimit is [Agent.MaxTime].
	ErrTimeLimit = errors.New("the run reached its limit of time")
)

// limitError is the error of a run that reached a limit.
func limitError(limit error, message string) *wire.Error {
	return &wire.Error{Cause: wire.CauseLimit, Message: "agent: " + message, Err: limit}
}

// stopped returns the error of a run whose context is done, and nil as long as
// it is not.
func stopped(ctx context.Context) *wire.Error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, ErrTimeLimit) {
		return limitError(ErrTimeLimit, "the time of the run was up")
	}
	e := &wire.Error{Cause: wire.CauseCancelled, Message: "the run was cancelled", Err: err}
	if errors.Is(err, context.DeadlineExceeded) {
		e.Cause, e.Message = wire.CauseDeadline, "the time for the run was up"
	}
	if !errors.Is(cause, err) {
		e.Err = errors.Join(err, cause)
	}
	return e
}

// spent returns why the run may not call the model again, nil if it may.
func (r *run) spent() *wire.Error {
	a := r.agent
	switch {
	case r.turn == r.limit:
		return limitError(ErrTurnLimit, fmt.Sprintf("the model was called %d times, as often as a run may", r.limit))
	case a.MaxCalls > 0 && r.calls >= a.MaxCalls:
		return limitError(ErrCallLimit, fmt.Sprintf("the model called tools %d times, of %d that a run may", r.calls, a.MaxCalls))
	case a.MaxTokens > 0 && r.tokens >= a.MaxTokens:
		return limitError(ErrTokenLimit, fmt.Sprintf("the run cost %d tokens, of %d that it may", r.tokens, a.MaxTokens))
	}
	return nil
}

// DefaultMaxResult is how many bytes of text a tool's result has at most, unless
// [Agent.MaxResult] says otherwise.
const DefaultMaxResult = 256 << 10

// shorten makes the texts of a result no longer than most bytes together. Of each
// that is cut the beginning and the end stay, and the number of bytes between
// them stands in their place.
func shorten(parts []wire.Part, most int) {
	total, texts := 0, 0
	for i := range parts {
		if parts[i].Kind == wire.PartText {
			total += len(parts[i].Text)
			texts++
		}
	}
	if total <= most {
		return
	}
	left := most
	for i := range parts {
		if p := &parts[i]; p.Kind == wire.PartText {
			p.Text = middleOut(p.Text, left/texts)
			left -= min(left, len(p.Text))
			texts--
		}
	}
}

// middleOut returns a text of about most bytes: the beginning of s and its end, in
// whole characters, and between them how much is missing.
func middleOut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	head, tail := most*2/3, len(s)-most/3
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + "\n[" + strconv.Itoa(tail-head) + " of " + strconv.Itoa(len(s)) + " bytes left out here]\n" + s[tail:]
}

// toolTime returns the context of one call.
func (a *Agent) toolTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.ToolTimeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, a.ToolTimeout, errToolTime)
}

var errToolTime = errors.New("the time for the tool was up")
