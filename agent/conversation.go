package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/handwire/handwire/wire"
)

// Conversation is a list of entries that grows: what the user said, what models
// answered, what tools returned, and notices for people. Any number of goroutines
// may use one. The zero value is an empty conversation.
//
// What it hands out with [Snapshot.Messages] can be sent at every moment, once a
// message of the user's is appended, wherever it was cancelled, forked, saved and
// loaded. To that end a call of a tool that has no result when something else
// follows gets one that says so, as an entry of its own; a result that comes
// after that is kept as a notice. What the user says while the answer still comes,
// or during a run, is no such thing: it is sent behind the results.
type Conversation struct {
	mu      sync.Mutex
	records []*record // appended to; a record that is over is replaced in a copy alone
	open    []int     // the records of streams that go on
	index   map[string]int
	held    int    // runs that go on, and bring the results of calls
	last    int    // the number of the last id
	version uint64 // counts changes
	changed chan struct{}
	log     *journal
}

// record is an entry, or while its stream goes on what becomes one.
type record struct {
	entry Entry // not changed once build is nil
	build *wire.Builder
}

// now returns the entry as it stands.
func (r *record) now() Entry {
	e := r.entry
	if r.build != nil {
		resp := r.build.Response()
		e.respond(&resp)
	}
	return e
}

// NewConversation returns a conversation that begins with a history. Answers
// that did not finish get the status that their Ending says. The messages are
// not modified.
func NewConversation(history ...wire.Message) *Conversation {
	c := &Conversation{}
	for _, m := range history {
		c.add(entryOf(m))
	}
	return c
}

// Add appends an entry and returns its id. Its ID must be empty. A Status that is
// empty is complete, and a Time that is zero is now. An entry of the assistant's
// with the status streaming is filled with [Conversation.Append]; it has no parts
// yet.
//
// A result of a tool that no call waits for, because it has one or because the
// conversation went on, is kept as a notice, whose id is returned if it was the
// only one. Calls that still wait for a result get one before an entry of another
// role, unless a run is about to bring theirs.
//
// An error without an id says what is wrong with the entry, which was not added.
// One beside an id is that of [Conversation.Err]: the entry is there and may not be
// saved.
func (c *Conversation) Add(e Entry) (id string, err error) {
	switch {
	case e.ID != "":
		return "", errors.New("agent: an entry gets its id when it is added")
	case e.Status == "":
		e.Status = StatusComplete
	}
	if err := e.check(); err != nil {
		return "", fmt.Errorf("agent: %w", err)
	}
	if e.Status == StatusStreaming && len(e.Parts) > 0 {
		return "", errors.New("agent: an entry that is to be streamed has no parts yet")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add(e), c.log.failure()
}

// AddUser appends what the user says, and returns the id of the entry.
func (c *Conversation) AddUser(parts ...wire.Part) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add(Entry{Role: RoleUser, Parts: parts})
}

// AddNotice appends a notice, and returns the id of the entry.
func (c *Conversation) AddNotice(text string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add(Entry{Role: RoleNotice, Parts: []wire.Part{wire.TextPart(text)}})
}

// add appends a valid entry. The caller holds the lock, or is the only one.
func (c *Conversation) add(e Entry) string {
	if e.Status == "" {
		e.Status = StatusComplete
	}
	switch e.Role {
	case RoleTool:
		awaited, late := c.awaited(e.Parts)
		if len(awaited) == 0 {
			e.Role = RoleNotice
			break
		}
		if len(late) > 0 {
			kept := e
			kept.Role, kept.Parts = RoleNotice, late
			defer c.push(kept)
		}
		e.Parts = awaited
	case RoleUser, RoleSystem:
		if c.held == 0 {
			c.settle("")
		}
	case RoleAssistant:
		c.settle("")
	}
	return c.push(e)
}

// push appends an entry as it is.
func (c *Conversation) push(e Entry) string {
	c.last++
	e.ID = idPrefix + strconv.Itoa(c.last)
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	r := &record{entry: e}
	if e.Status == StatusStreaming {
		r.build = &wire.Builder{}
		c.open = append(c.open, len(c.records))
	}
	if c.index == nil {
		c.index = map[string]int{}
	}
	c.index[e.ID] = len(c.records)
	c.records = append(c.records, r)
	if r.build == nil {
		c.log.write(&r.entry)
	}
	c.touch()
	return e.ID
}

// idPrefix begins every id, which goes on with a number in the order of the
// entries.
const idPrefix = "e"

// numberOf returns the number of an id, 0 if it is none.
func numberOf(id string) int {
	digits, ok := strings.CutPrefix(id, idPrefix)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || strconv.Itoa(n) != digits {
		return 0
	}
	return n
}

// waiting returns the calls that have no result yet: of the last answer, if it
// finished, and that answer. What the user said when they had to wait is behind it.
func (c *Conversation) waiting() ([]wire.Part, wire.Message) {
	results := map[resultKey]int{}
	for i := len(c.records) - 1; i >= 0; i-- {
		r := c.records[i]
		switch r.entry.Role {
		case RoleTool:
			for k := range r.entry.Parts {
				results[keyOf(&r.entry.Parts[k])]++
			}
		case RoleAssistant:
			if r.build != nil || r.entry.Status != StatusComplete {
				return nil, wire.Message{}
			}
			var calls []wire.Part
			for _, p := range r.entry.Parts {
				if !isCall(p) || cutCall(p) {
					continue
				}
				if key := keyOf(&p); results[key] > 0 {
					results[key]--
				} else {
					calls = append(calls, p)
				}
			}
			return calls, r.entry.message()
		}
	}
	return nil, wire.Message{}
}

// awaited divides results into those that a call waits for and others.
func (c *Conversation) awaited(results []wire.Part) (awaited, late []wire.Part) {
	calls, _ := c.waiting()
	for i := range results {
		p := &results[i]
		at := slices.IndexFunc(calls, func(q wire.Part) bool { return p.Kind == wire.PartToolResult && answers(p, &q) })
		if at < 0 {
			late = append(late, *p)
			continue
		}
		calls = slices.Delete(calls, at, at+1)
		awaited = append(awaited, *p)
	}
	return awaited, late
}

// settle gives each call that waits a result, which says why there is no other.
func (c *Conversation) settle(why string) {
	calls, m := c.waiting()
	for i := range calls {
		text := why
		if text == "" {
			text = notRun(&m, &calls[i])
		}
		c.push(Entry{Role: RoleTool, Status: StatusComplete, Parts: []wire.Part{errorResult(&calls[i], text)}})
	}
}

// Settle gives each call that waits for a result one that says why there is no
// other, in words for the model; empty is that none was recorded. It returns how
// many there were. A program that brings its own loop calls it when that loop
// was cancelled.
func (c *Conversation) Settle(why string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.records)
	c.settle(why)
	return len(c.records) - n
}

// hold says that a run goes on, which brings the results of the calls that wait, until the
// function that it returns is called.
func (c *Conversation) hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.held--
	}
}

// at returns the record of an id whose stream goes on.
func (c *Conversation) at(id string) (*record, error) {
	i, ok := c.index[id]
	if !ok {
		return nil, fmt.Errorf("agent: the conversation has no entry %q", id)
	}
	if r := c.records[i]; r.build != nil {
		return r, nil
	}
	return nil, fmt.Errorf("agent: the entry %q is %s, so nothing can be appended to it", id, c.records[i].entry.Status)
}

// Append adds the next event of a model's stream to the entry of an id, whose
// status is streaming. The end event ends the entry: its status becomes complete,
// error or cancelled. It fails if there is no such entry or its stream is over; at
// the end event the error may also be that of [Conversation.Err]. Its time does not
// depend on what the conversation holds already.
func (c *Conversation) Append(id string, ev wire.Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.at(id)
	if err != nil {
		return err
	}
	r.build.Add(&ev)
	if ev.Kind == wire.EventEnd {
		c.end(r)
		return c.log.failure()
	}
	c.touch()
	return nil
}

// Cancel ends the entry of an id whose status is streaming, as one that the
// caller cancelled. What had arrived stays. It fails as [Conversation.Append] does.
func (c *Conversation) Cancel(id string) error {
	return c.Append(id, wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: wire.CauseCancelled,
		Err: &wire.Error{Cause: wire.CauseCancelled, Message: "the caller cancelled", Err: context.Canceled}}})
}

// end makes an entry of a stream that is over.
func (c *Conversation) end(r *record) {
	e := r.now()
	if e.Ending == nil {
		err := &wire.Error{Cause: wire.CauseProtocol, RequestID: e.RequestID, Message: "the end event does not say how the stream ended"}
		e.Ending = &wire.Ending{Cause: err.Cause, Err: err}
	}
	e.Status = statusOf(e.Ending)
	i := c.index[e.ID]
	// Snapshots of before hold what they saw of this entry, and none looks at
	// its place in the list.
	c.records[i] = &record{entry: e}
	c.open = slices.DeleteFunc(c.open, func(k int) bool { return k == i })
	c.log.write(&e)
	c.touch()
}

// SetMeta sets a value of the metadata of an entry; an empty value removes it. It
// fails if there is no such entry; else the error is that of [Conversation.Err].
func (c *Conversation) SetMeta(id, key, value string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.index[id]
	if !ok {
		return fmt.Errorf("agent: the conversation has no entry %q", id)
	}
	old := c.records[i]
	r := &record{entry: old.entry.with(key, value), build: old.build}
	c.records = slices.Clone(c.records) // snapshots look at the old list
	c.records[i] = r
	if r.build == nil {
		c.log.write(&r.entry)
	}
	c.touch()
	return c.log.failure()
}

// Record passes a model's stream on and records it, as an entry of the
// assistant's that it adds when the loop begins and whose id it stores in id,
// unless that is nil. It is the turn of a program that brings its own loop:
//
//	c.AddUser(wire.TextPart(question))
//	messages, _ := c.Snapshot().Messages()
//	for ev, err := range c.Record(model.Stream(ctx, &wire.Request{Messages: messages}), nil) {
//		…
//	}
//
// If the loop is left before the stream has ended, the entry is cancelled. A stream
// with an error has failed, whatever its end event says.
func (c *Conversation) Record(stream iter.Seq2[wire.Event, error], id *string) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) {
		entry, _ := c.Add(Entry{Role: RoleAssistant, Status: StatusStreaming})
		if id != nil {
			*id = entry
		}
		ended := false
		defer func() {
			if !ended {
				c.Cancel(entry)
			}
		}()
		failed := &wire.Error{Cause: wire.CauseTruncated, Message: "the stream has no end event"}
		for ev, err := range stream {
			if err != nil {
				failed = wire.AsError(err, wire.CauseProtocol)
			}
			if ev.Kind == wire.EventEnd {
				ended = true
				if err != nil && (ev.End == nil || ev.End.Cause == wire.CauseFinished) {
					ev.End = &wire.Ending{Cause: failed.Cause, Err: failed}
				}
			}
			c.Append(entry, ev) // it is ours, and open
			if !yield(ev, err) || ended {
				return
			}
		}
		if !ended {
			ended = true
			c.Append(entry, wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: failed.Cause, Err: failed}})
		}
	}
}

// Fork returns a conversation of its own that begins with the entries up to and
// with the one of an id, all of them if it is empty. A stream that goes on is
// cut off in the fork, as if it had been cancelled. The fork is not saved
// anywhere. Entries are shared, so a fork costs little. It fails if there is no such
// entry.
func (c *Conversation) Fork(last string) (*Conversation, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.records)
	if last != "" {
		i, ok := c.index[last]
		if !ok {
			return nil, fmt.Errorf("agent: the conversation has no entry %q", last)
		}
		n = i + 1
	}
	f := &Conversation{records: slices.Clone(c.records[:n]), index: make(map[string]int, n), last: c.last}
	for i, r := range f.records {
		f.index[r.entry.ID] = i
		if r.build != nil {
			e := r.now()
			e.Status = StatusCancelled
			e.Ending = &wire.Ending{Cause: wire.CauseCancelled, Err: &wire.Error{Cause: wire.CauseCancelled, Message: "the conversation was forked meanwhile"}}
			f.records[i] = &record{entry: e}
		}
	}
	return f, nil
}

// Usage returns the sum of what the answers cost. A count that is unknown for
// one of them is unknown in the sum.
func (c *Conversation) Usage() wire.Usage { return c.Snapshot().Usage() }

// touch tells those who wait that something changed.
func (c *Conversation) touch() {
	c.version++
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// Wait returns the conversation as it stands once it is newer than the version of
// a snapshot, which may be so at once; 0 is older than every entry. It returns the
// cause of ctx, as [context.Cause] does, if that is done first. A user interface
// loops with it and needs no timer; changes that come while it draws are taken
// together.
func (c *Conversation) Wait(ctx context.Context, version uint64) (Snapshot, error) {
	for {
		c.mu.Lock()
		if c.version > version {
			s := c.snapshot()
			c.mu.Unlock()
			return s, nil
		}
		if c.changed == nil {
			c.changed = make(chan struct{})
		}
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return Snapshot{}, context.Cause(ctx)
		}
	}
}
