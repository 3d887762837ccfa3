package wire_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/handwire/handwire/wire"
)

func TestCheckEventsAccepts(t *testing.T) {
	tests := []struct {
		name   string
		events []wire.Event
	}{
		{"start and end", []wire.Event{evStart(), evFinish(wire.FinishStop)}},
		{"end alone", []wire.Event{evFail(wire.CauseConnect)}},
		{"note, usage and other before the start", []wire.Event{evNote("a"), evUsage(1, 0), evOther(), evNote("b"), evStart(), evFinish(wire.FinishStop)}},
		{"note, usage and other, then a failure", []wire.Event{evNote("a"), evUsage(1, 0), evOther(), evFail(wire.CauseTruncated)}},
		{"note, usage and other in the body", []wire.Event{evStart(), evNote("a"), evUsage(1, 0), evOther(), evBegin(text, 0, nil), evNote("b"),
			evUsage(1, 1), evOther(), evOver(text, 0, nil), evNote("c"), evFinish(wire.FinishStop)}},
		{"part without deltas", []wire.Event{evStart(), evBegin(text, 0, nil), evOver(text, 0, nil), evFinish(wire.FinishStop)}},
		{"parts in a row", []wire.Event{evStart(), evBegin(text, 0, nil), evDelta(text, 0, " "), evOver(text, 0, nil),
			evBegin(reasoning, 1, nil), evDelta(reasoning, 1, "a"), evDelta(reasoning, 1, "b"), evOver(reasoning, 1, nil), evFinish(wire.FinishStop)}},
		{"parts that interleave", []wire.Event{evStart(), evBegin(toolCall, 0, nil), evBegin(toolCall, 1, nil), evDelta(toolCall, 1, "{"),
			evDelta(toolCall, 0, "{"), evOver(toolCall, 1, nil), evBegin(text, 2, nil), evOver(toolCall, 0, nil), evOver(text, 2, nil),
			evFinish(wire.FinishToolCall)}},
		{"facts", []wire.Event{evStart(), evBegin(toolCall, 0, &wire.Part{Kind: toolCall, ID: "t1", Name: "a"}),
			evOver(toolCall, 0, &wire.Part{Vendor: "{}"}), evFinish(wire.FinishStop)}},
		{"a part that was cut off", []wire.Event{evStart(), evBegin(text, 0, nil), evDelta(text, 0, "a"), evOver(text, 0, &wire.Part{Partial: true}),
			evFail(wire.CauseReset)}},
		{"facts of the whole message at the end", []wire.Event{evStart(), {Kind: wire.EventEnd, Raw: "{}",
			End: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishOther, VendorFinish: "new", Detail: "d"}}}},
		{"the vendor's reason without its mark", []wire.Event{evStart(), {Kind: wire.EventEnd,
			End: &wire.Ending{Cause: wire.CauseTruncated, VendorFinish: "stop", Err: &wire.Error{Cause: wire.CauseTruncated}}}}},
		{"a delta cut within a character", []wire.Event{evStart(), evBegin(text, 0, nil), evDelta(text, 0, "\xc3"), evDelta(text, 0, "\xa9"),
			evOver(text, 0, nil), evFinish(wire.FinishStop)}},
	}
	for _, k := range allPartKinds {
		tests = append(tests, struct {
			name   string
			events []wire.Event
		}{"part of kind " + string(k), []wire.Event{evStart(), evBegin(k, 0, nil), evOver(k, 0, nil), evFinish(wire.FinishStop)}})
	}
	for _, c := range allCauses[1:] {
		tests = append(tests, struct {
			name   string
			events []wire.Event
		}{"cause " + string(c), []wire.Event{evStart(), evFail(c)}})
	}
	for _, f := range allFinishes {
		tests = append(tests, struct {
			name   string
			events []wire.Event
		}{"finish reason " + string(f), []wire.Event{evStart(), evFinish(f)}})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := wire.CheckEvents(tt.events); err != nil {
				t.Error(err)
			}
			// Every beginning is one of a stream, but no stream.
			for n := range tt.events {
				var c wire.EventChecker
				for i := range tt.events[:n] {
					if err := c.Add(&tt.events[i]); err != nil {
						t.Errorf("the first %d: %v", n, err)
					}
				}
				if err := c.End(); err == nil || !strings.Contains(err.Error(), "no end event") {
					t.Errorf("the first %d: End() = %v, want that the end is missing", n, err)
				}
			}
		})
	}
}

func TestCheckEventsRejects(t *testing.T) {
	end := evFinish(wire.FinishStop)
	part := []wire.Event{evStart(), evBegin(text, 0, nil)}
	with := func(first []wire.Event, more ...wire.Event) []wire.Event { return append(slices.Clone(first), more...) }
	ended := func(e *wire.Ending) []wire.Event { return []wire.Event{evStart(), {Kind: wire.EventEnd, End: e}} }
	tests := []struct {
		name   string
		events []wire.Event
		at     int    // the event that is at fault
		want   string // in the error
	}{
		{"nothing at all", nil, 0, "no end event"},
		{"no end", with(part, evOver(text, 0, nil)), 3, "no end event"},

		{"second end", []wire.Event{evStart(), end, end}, 2, "after the end"},
		{"note after the end", []wire.Event{evStart(), end, evNote("a")}, 2, "after the end"},
		{"usage after the end", []wire.Event{evStart(), end, evUsage(1, 1)}, 2, "after the end"},
		{"start after the end", []wire.Event{evFail(wire.CauseReset), evStart()}, 1, "after the end"},
		{"delta after the end", with(part, evOver(text, 0, nil), end, evDelta(text, 0, "a")), 4, "after the end"},

		{"second start", []wire.Event{evStart(), evStart(), end}, 1, "started already"},
		{"part before the start", []wire.Event{evBegin(text, 0, nil)}, 0, "not started"},
		{"delta before the start", []wire.Event{evDelta(text, 0, "a")}, 0, "not started"},
		{"end of a part before the start", []wire.Event{evOver(text, 0, nil)}, 0, "not started"},
		{"finish without a start", []wire.Event{evNote("a"), end}, 1, "without a start"},

		{"first index not 0", []wire.Event{evStart(), evBegin(text, 1, nil)}, 1, "index 1, want 0"},
		{"index gap", with(part, evBegin(text, 2, nil)), 2, "index 2, want 1"},
		{"index again", with(part, evBegin(text, 0, nil)), 2, "index 0, want 1"},
		{"negative index", []wire.Event{evStart(), evBegin(text, -1, nil)}, 1, "index -1, want 0"},
		{"delta of a negative index", with(part, evDelta(text, -1, "a")), 2, "part -1 has not started"},
		{"delta of no part", with(part, evDelta(text, 1, "a")), 2, "part 1 has not started"},
		{"end of no part", with(part, evOver(text, 1, nil)), 2, "part 1 has not started"},

		{"delta after the end of its part", with(part, evOver(text, 0, nil), evDelta(text, 0, "a")), 3, "part 0 is over"},
		{"second end of a part", with(part, evOver(text, 0, nil), evOver(text, 0, nil)), 3, "part 0 is over"},
		{"delta of another kind", with(part, evDelta(reasoning, 0, "a")), 2, "is text, not reasoning"},
		{"end of another kind", with(part, evOver(toolCall, 0, nil)), 2, "is text, not tool_call"},
		{"open part at the end", with(part, end), 2, "part 0 is still open"},
		{"open part at a failure", with(part, evFail(wire.CauseReset)), 2, "part 0 is still open"},

		{"empty delta", with(part, evDelta(text, 0, "")), 2, "lacks"},
		{"delta of media", []wire.Event{evStart(), evBegin(wire.PartMedia, 0, nil), evDelta(wire.PartMedia, 0, "a")}, 2, "lacks"},
		{"delta of an opaque part", []wire.Event{evStart(), evBegin(wire.PartOpaque, 0, nil), evDelta(wire.PartOpaque, 0, "a")}, 2, "lacks"},
		{"delta of a result", []wire.Event{evStart(), evBegin(wire.PartToolResult, 0, nil), evDelta(wire.PartToolResult, 0, "a")}, 2, "lacks"},
		{"part without a kind", []wire.Event{evStart(), evBegin("", 0, nil)}, 1, "lacks"},
		{"part of unknown kind", []wire.Event{evStart(), evBegin("another", 0, nil)}, 1, "lacks"},
		{"start without its facts", []wire.Event{{Kind: wire.EventStart}}, 0, "lacks"},
		{"usage without counts", []wire.Event{{Kind: wire.EventUsage}}, 0, "lacks"},
		{"note without a note", []wire.Event{{Kind: wire.EventNote}}, 0, "lacks"},
		{"note without a code", []wire.Event{{Kind: wire.EventNote, Note: &wire.Note{Detail: "a"}}}, 0, "lacks"},
		{"other without data", []wire.Event{{Kind: wire.EventOther}}, 0, "lacks"},
		{"end without an ending", []wire.Event{{Kind: wire.EventEnd}}, 0, "lacks"},
		{"no kind", []wire.Event{{}}, 0, "unknown kind"},
		{"unknown kind", []wire.Event{{Kind: "another"}}, 0, "unknown kind"},

		{"Partial at the start of a part", []wire.Event{evStart(), evBegin(text, 0, &wire.Part{Partial: true})}, 1, "partial when it starts"},
		{"text in the facts at the start", []wire.Event{evStart(), evBegin(text, 0, &wire.Part{Text: "a"})}, 1, "has text"},
		{"arguments in the facts at the start", []wire.Event{evStart(), evBegin(toolCall, 0, &wire.Part{Args: "{}"})}, 1, "has text"},
		{"text in the facts at the end", with(part, evOver(text, 0, &wire.Part{Text: "a"})), 2, "has text"},
		{"arguments in the facts at the end", with(part, evOver(text, 0, &wire.Part{Args: "a"})), 2, "has text"},
		{"another kind in the facts", []wire.Event{evStart(), evBegin(text, 0, &wire.Part{Kind: toolCall})}, 1, "another kind"},

		{"ending without a cause", ended(&wire.Ending{}), 1, `cause ""`},
		{"finished without a reason", ended(&wire.Ending{Cause: wire.CauseFinished}), 1, "cause"},
		{"finished with an error", ended(&wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop, Err: &wire.Error{Cause: wire.CauseReset}}), 1, "cause"},
		{"finished with the vendor's reason alone", ended(&wire.Ending{Cause: wire.CauseFinished, VendorFinish: "stop"}), 1, "cause"},
		{"failed without an error", ended(&wire.Ending{Cause: wire.CauseReset}), 1, "cause"},
		{"failed with a finish reason", ended(&wire.Ending{Cause: wire.CauseReset, Finish: wire.FinishStop, Err: &wire.Error{Cause: wire.CauseReset}}), 1, "cause"},
		{"error of another cause", ended(&wire.Ending{Cause: wire.CauseReset, Err: &wire.Error{Cause: wire.CauseIdle}}), 1, "an error of cause"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := wire.CheckEvents(tt.events)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			// The checker says so at the event itself, and not before.
			var c wire.EventChecker
			for i := range tt.events {
				err := c.Add(&tt.events[i])
				if (err != nil) != (i == tt.at) {
					t.Errorf("event %d: %v; want an error at %d", i, err, tt.at)
				}
				if i == tt.at {
					break
				}
			}
		})
	}
}

// TestCheckEventsForeignFields puts each field on each kind of event that has
// no use for it.
func TestCheckEventsForeignFields(t *testing.T) {
	kinds := []struct {
		name   string
		before []wire.Event
		event  wire.Event
		uses   string
	}{
		{"start", nil, evStart(), "Start"},
		{"part start", []wire.Event{evStart(), evBegin(text, 0, nil)}, evBegin(text, 1, nil), "Part Index Data"},
		{"delta", []wire.Event{evStart(), evBegin(text, 0, nil)}, evDelta(text, 0, "a"), "Part Index Delta"},
		{"part end", []wire.Event{evStart(), evBegin(text, 0, nil)}, evOver(text, 0, nil), "Part Index Data"},
		{"usage", nil, evUsage(1, 1), "Usage"},
		{"note", nil, evNote("a"), "Note"},
		{"other", nil, evOther(), "Raw"},
		{"end", []wire.Event{evStart()}, evFinish(wire.FinishStop), "End Raw"},
	}
	fields := []struct {
		name string
		set  func(*wire.Event)
	}{
		{"Part", func(ev *wire.Event) { ev.Part = text }},
		{"Index", func(ev *wire.Event) { ev.Index++ }},
		{"Delta", func(ev *wire.Event) { ev.Delta = "a" }},
		{"Data", func(ev *wire.Event) { ev.Data = &wire.Part{} }},
		{"Start", func(ev *wire.Event) { ev.Start = &wire.Start{} }},
		{"End", func(ev *wire.Event) { ev.End = &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop} }},
		{"Usage", func(ev *wire.Event) { ev.Usage = &wire.Usage{} }},
		{"Note", func(ev *wire.Event) { ev.Note = &wire.Note{Code: wire.NoteOdd} }},
		{"Raw", func(ev *wire.Event) { ev.Raw = "{}" }},
	}
	for _, k := range kinds {
		for _, f := range fields {
			t.Run(k.name+" with "+f.name, func(t *testing.T) {
				if slices.Contains(strings.Fields(k.uses), f.name) {
					return
				}
				var c wire.EventChecker
				for i := range k.before {
					if err := c.Add(&k.before[i]); err != nil {
						t.Fatal(err)
					}
				}
				ok := c
				ev := k.event
				if err := ok.Add(&ev); err != nil {
					t.Fatalf("without it: %v", err)
				}
				f.set(&ev)
				if err := c.Add(&ev); err == nil || !strings.Contains(err.Error(), "fields of another kind") {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}
