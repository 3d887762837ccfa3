package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/handwire/handwire/wire"
)

// job is one call of an answer on its way to its result.
type job struct {
	call    *wire.Part
	tool    *Tool
	args    string
	shown   display
	result  wire.Part
	started time.Time
	took    time.Duration
}

// display is what a tool shows people of its result.
type display struct {
	mu   sync.Mutex
	text string
}

func (d *display) set(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.text = text
}

func (d *display) get() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text
}

// answer runs the calls of m that can run, as many at once as may, and adds the
// result of each. It does so too when the run is cancelled meanwhile.
func (r *run) answer(m *wire.Message) error {
	var jobs []*job
	for i := range m.Parts {
		if isCall(m.Parts[i]) {
			call := m.Parts[i]
			jobs = append(jobs, &job{call: &call})
		}
	}
	parallel := r.agent.MaxParallel
	if parallel <= 0 {
		parallel = DefaultMaxParallel
	}
	for i, j := range jobs {
		if slices.ContainsFunc(jobs[:i], func(k *job) bool { return k.call.ID == j.call.ID }) {
			parallel = 1 // only their order tells their results apart
		}
	}
	done := make(chan *job, len(jobs)) // so that nobody waits to be heard
	running, whole := 0, false
	over := make(chan struct{}) // every call has its result
	defer close(over)
	defer func() {
		if whole {
			return
		}
		r.cancel() // the caller has left: the tools end, each within its time of grace
		for ; running > 0; running-- {
			r.record(<-done)
		}
		r.conv.Settle("")
	}()
	for next := 0; next < len(jobs) || running > 0; {
		if next == len(jobs) || running == parallel {
			j := <-done
			running--
			if err := r.finish(j); err != nil {
				return err
			}
			continue
		}
		j := jobs[next]
		next++
		r.calls++
		if !r.ready(m, j) {
			if err := r.finish(j); err != nil {
				return err
			}
			continue
		}
		if err := r.emit(Event{Kind: EventToolStart, Call: j.call}); err != nil {
			return err
		}
		if r.ctx.Err() != nil {
			j.result = errorResult(j.call, notStarted(r.ctx))
			if err := r.finish(j); err != nil {
				return err
			}
			continue
		}
		running++
		j.started = time.Now()
		go func() {
			r.work(j, over)
			done <- j
		}()
	}
	whole = true
	var results []wire.Part
	for _, j := range jobs {
		results = append(results, j.result)
	}
	if len(results) == 0 {
		return nil
	}
	tool := wire.ToolMessage(results...)
	return r.emit(Event{Kind: EventMessage, Message: &tool})
}

// ready reports whether a call is to run. If not, its result is there.
func (r *run) ready(m *wire.Message, j *job) bool {
	at := slices.IndexFunc(r.agent.Tools, func(t Tool) bool { return t.Name == j.call.Name })
	one := *m
	one.Parts = []wire.Part{*j.call}
	text := ""
	switch {
	case len(one.ExecutableCalls()) == 0:
		text = notRun(m, j.call)
	case r.ctx.Err() != nil:
		text = notStarted(r.ctx)
	case at < 0:
		text = unknownTool(j.call.Name, r.agent.Tools)
	case !j.call.FreeForm:
		text = misfits(r.agent.Tools[at].Schema, j.call.Args)
	}
	if text != "" {
		j.result = errorResult(j.call, text)
		return false
	}
	j.tool, j.args = &r.agent.Tools[at], j.call.Args
	hook := r.agent.Hooks.BeforeTool
	if hook == nil {
		return true
	}
	switch d := hook(r.ctx, *j.call); {
	case d.Deny != "":
		j.result = errorResult(j.call, "This call was not run: "+d.Deny)
		return false
	case d.Result != nil:
		j.result = resultOf(j.call, outcome{parts: d.Result})
		return false
	case d.Args != "":
		j.args = d.Args
	}
	return true
}

// work runs a call. What its tool returns too late is taken when over is closed, so
// that it does not come before the result that stands in.
func (r *run) work(j *job, over <-chan struct{}) {
	ctx, cancel := r.agent.toolTime(context.WithValue(r.ctx, displayKey{}, &j.shown))
	defer cancel()
	j.result = j.tool.result(ctx, r.ctx, j.call, j.args, func(o outcome) {
		<-over
		late := &job{call: j.call, result: resultOf(j.call, o)}
		r.trim(&late.result)
		r.record(late)
	})
	r.trim(&j.result)
	j.took = time.Since(j.started)
}

// trim bounds the size of a result.
func (r *run) trim(result *wire.Part) {
	most := r.agent.MaxResult
	if most == 0 {
		most = DefaultMaxResult
	}
	if most > 0 {
		shorten(result.Parts, most)
	}
}

// finish takes a result: the hook's word on it, the conversation, the event.
func (r *run) finish(j *job) error {
	if hook := r.agent.Hooks.AfterTool; hook != nil {
		result := hook(r.ctx, *j.call, j.result)
		result.Kind, result.ID, result.Name = wire.PartToolResult, j.call.ID, j.call.Name
		j.result = result
	}
	id := r.record(j)
	return r.emit(Event{Kind: EventToolEnd, Entry: id, Call: j.call, Result: &j.result, Display: j.shown.get(), Duration: j.took})
}

// record adds a result to the conversation.
func (r *run) record(j *job) string {
	id, _ := r.conv.Add(Entry{Role: RoleTool, Parts: []wire.Part{j.result}, Display: j.shown.get()})
	return id
}

// result runs one call and returns its result. After ctx, that of the call, is
// done it waits for the tool only as long as [ToolGrace]; what the tool returns
// after that goes to late. Run is the context of the run.
func (t *Tool) result(ctx, run context.Context, call *wire.Part, args string, late func(outcome)) wire.Part {
	done := t.start(ctx, args)
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		grace := time.NewTimer(ToolGrace)
		defer grace.Stop()
		select {
		case o = <-done:
		case <-grace.C:
			o.failed, o.stopped = true, true
			go func() { late(<-done) }()
		}
	}
	if o.failed && ctx.Err() != nil {
		said := o.text
		if o.text = whileRunning(ctx, run); !o.stopped {
			o.text += " The tool said: " + said
		}
	}
	return resultOf(call, o)
}

// resultOf makes the result of a call of what a tool returned.
func resultOf(call *wire.Part, o outcome) wire.Part {
	result := wire.ToolResultPart(call.ID, call.Name)
	wrong := ""
	for i := range o.parts {
		p := &o.parts[i]
		switch problem := partProblem(p); {
		case problem != "":
			if wrong == "" {
				wrong = fmt.Sprintf("The tool %q returned a result that cannot be sent: part %d %s.", call.Name, i, problem)
			}
		case p.Kind == wire.PartMedia:
			result.Parts = append(result.Parts, wire.Part{Kind: p.Kind, Media: p.Media})
		case p.Text != "":
			result.Parts = append(result.Parts, wire.TextPart(p.Text))
		}
	}
	if wrong != "" {
		result.IsError = true
		result.Parts = append(result.Parts, wire.TextPart(wrong))
	}
	if !o.failed {
		return result
	}
	if o.text == "" {
		o.text = "The tool failed without saying why."
	}
	result.IsError = true
	result.Parts = append(result.Parts, wire.TextPart(strings.ToValidUTF8(o.text, "\ufffd")))
	return result
}
