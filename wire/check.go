package wire

import "fmt"

// CheckEvents reports the first way in which the events of one stream depart
// from the grammar of [Event]. The stream must be whole, its end included.
func CheckEvents(events []Event) error {
	var c EventChecker
	for i := range events {
		if err := c.Add(&events[i]); err != nil {
			return err
		}
	}
	return c.End()
}

// EventChecker checks the grammar of [Event] on a stream as it passes. The zero
// value is ready.
type EventChecker struct {
	n       int
	started bool
	ended   bool
	parts   []partState
}

type partState struct {
	kind PartKind
	done bool
}

// Add takes the next event and reports how it departs from the grammar.
func (c *EventChecker) Add(ev *Event) error {
	err := c.add(ev)
	if err != nil {
		err = fmt.Errorf("event %d (%s): %w", c.n, ev.Kind, err)
	}
	c.n++
	return err
}

// End reports whether the stream may end here.
func (c *EventChecker) End() error {
	if !c.ended {
		return fmt.Errorf("event %d: the stream has no end event", c.n)
	}
	return nil
}

func (c *EventChecker) add(ev *Event) error {
	if c.ended {
		return fmt.Errorf("comes after the end event")
	}
	if err := fields(ev); err != nil {
		return err
	}
	switch ev.Kind {
	case EventStart:
		if c.started {
			return fmt.Errorf("the message has started already")
		}
		c.started = true
	case EventPartStart:
		if !c.started {
			return fmt.Errorf("the message has not started")
		}
		if ev.Index != len(c.parts) {
			return fmt.Errorf("index %d, want %d", ev.Index, len(c.parts))
		}
		c.parts = append(c.parts, partState{kind: ev.Part})
	case EventDelta, EventPartEnd:
		if ev.Index < 0 || ev.Index >= len(c.parts) {
			return fmt.Errorf("part %d has not started", ev.Index)
		}
		p := &c.parts[ev.Index]
		if p.done {
			return fmt.Errorf("part %d is over", ev.Index)
		}
		if p.kind != ev.Part {
			return fmt.Errorf("part %d is %s, not %s", ev.Index, p.kind, ev.Part)
		}
		p.done = ev.Kind == EventPartEnd
	case EventEnd:
		for i := range c.parts {
			if !c.parts[i].done {
				return fmt.Errorf("part %d is still open", i)
			}
		}
		if !c.started && ev.End.Cause == CauseFinished {
			return fmt.Errorf("finished without a start")
		}
		c.ended = true
	}
	return nil
}

// fields checks that an event has the fields of its kind and no others.
func fields(ev *Event) error {
	want := Event{Kind: ev.Kind}
	missing := false
	switch ev.Kind {
	case EventStart:
		want.Start = ev.Start
		missing = ev.Start == nil
	case EventPartStart, EventPartEnd:
		want.Part, want.Index, want.Data = ev.Part, ev.Index, ev.Data
		if d := ev.Data; d != nil && (d.Text != "" || d.Args != "" || d.Kind != "" && d.Kind != ev.Part) {
			return fmt.Errorf("its data has text, arguments or another kind")
		}
		if d := ev.Data; d != nil && d.Partial && ev.Kind == EventPartStart {
			return fmt.Errorf("a part cannot be partial when it starts")
		}
		missing = !ev.Part.known()
	case EventDelta:
		want.Part, want.Index, want.Delta = ev.Part, ev.Index, ev.Delta
		missing = ev.Delta == "" || !ev.Part.streams()
	case EventUsage:
		want.Usage = ev.Usage
		missing = ev.Usage == nil
	case EventNote:
		want.Note = ev.Note
		missing = ev.Note == nil || ev.Note.Code == ""
	case EventOther:
		want.Raw = ev.Raw
		missing = ev.Raw == ""
	case EventEnd:
		want.End, want.Raw = ev.End, ev.Raw
		if missing = ev.End == nil; !missing {
			fin := ev.End.Cause == CauseFinished
			if ev.End.Cause == "" || fin != (ev.End.Finish != "") || fin != (ev.End.Err == nil) {
				return fmt.Errorf("cause %q with finish reason %q and error %v", ev.End.Cause, ev.End.Finish, ev.End.Err)
			}
			if !fin && ev.End.Err.Cause != ev.End.Cause {
				return fmt.Errorf("cause %q and an error of cause %q", ev.End.Cause, ev.End.Err.Cause)
			}
		}
	default:
		return fmt.Errorf("unknown kind")
	}
	if missing {
		return fmt.Errorf("lacks what its kind needs")
	}
	if *ev != want {
		return fmt.Errorf("has fields of another kind of event")
	}
	return nil
}

func (k PartKind) known() bool {
	switch k {
	case PartText, PartReasoning, PartRefusal, PartToolCall, PartToolResult, PartMedia, PartOpaque:
		return true
	}
	return false
}

// streams reports whether parts of this kind have text or arguments.
func (k PartKind) streams() bool {
	switch k {
	case PartText, PartReasoning, PartRefusal, PartToolCall:
		return true
	}
	return false
}
