package wire_test

import (
	"errors"
	"io"
	"iter"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/wire"
)

// Short forms of events for tables.

func evStart() wire.Event {
	return wire.Event{Kind: wire.EventStart, Start: &wire.Start{Origin: wire.Origin{Protocol: "p", Model: "m"}}}
}

func evBegin(k wire.PartKind, i int, d *wire.Part) wire.Event {
	return wire.Event{Kind: wire.EventPartStart, Part: k, Index: i, Data: d}
}

func evDelta(k wire.PartKind, i int, s string) wire.Event {
	return wire.Event{Kind: wire.EventDelta, Part: k, Index: i, Delta: s}
}

func evOver(k wire.PartKind, i int, d *wire.Part) wire.Event {
	return wire.Event{Kind: wire.EventPartEnd, Part: k, Index: i, Data: d}
}

func evUsage(in, out int64) wire.Event {
	return wire.Event{Kind: wire.EventUsage, Usage: &wire.Usage{InputTokens: wire.CountOf(in), OutputTokens: wire.CountOf(out)}}
}

func evNote(detail string) wire.Event {
	return wire.Event{Kind: wire.EventNote, Note: &wire.Note{Code: wire.NoteOdd, Detail: detail}}
}

func evOther() wire.Event { return wire.Event{Kind: wire.EventOther, Raw: `{"type":"new"}`} }

func evFinish(f wire.FinishReason) wire.Event {
	return wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: wire.CauseFinished, Finish: f}}
}

func evFail(c wire.Cause) wire.Event {
	return wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: c, Err: &wire.Error{Cause: c, Message: "m", RequestID: "req_e"}}}
}

// seq makes a stream of events, the last pair as a reader of streams gives it.
func seq(evs []wire.Event) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) {
		for _, ev := range evs {
			var err error
			if ev.Kind == wire.EventEnd && ev.End.Err != nil {
				err = ev.End.Err
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

func collect(t testing.TB, evs []wire.Event) wire.Response {
	t.Helper()
	r, err := wire.Collect(seq(evs))
	if m := r.Message; m.Ending != nil && (err == nil) != (m.Ending.Err == nil) {
		t.Fatalf("Collect returned %v with the ending %+v", err, m.Ending)
	}
	return r
}

const (
	text      = wire.PartText
	reasoning = wire.PartReasoning
	toolCall  = wire.PartToolCall
)

var buildTests = []struct {
	name   string
	events []wire.Event
	want   wire.Response
}{
	{"text", []wire.Event{
		evStart(), evBegin(text, 0, nil), evDelta(text, 0, "Hel"), evDelta(text, 0, "lo"), evDelta(text, 0, ", world"), evOver(text, 0, nil),
		evUsage(3, 2), evFinish(wire.FinishStop),
	}, wire.Response{
		Message: wire.Message{Role: wire.RoleAssistant, Parts: []wire.Part{wire.TextPart("Hello, world")},
			Origin: &wire.Origin{Protocol: "p", Model: "m"}, Ending: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop}},
		Usage: wire.Usage{InputTokens: wire.CountOf(3), OutputTokens: wire.CountOf(2)},
	}},
	{"interleaved parts", []wire.Event{
		evStart(), evBegin(reasoning, 0, nil), evDelta(reasoning, 0, "hm"), evBegin(toolCall, 1, &wire.Part{ID: "t1", Name: "a"}),
		evBegin(toolCall, 2, &wire.Part{ID: "t2", Name: "b"}), evDelta(toolCall, 2, `{"x"`), evDelta(toolCall, 1, `{}`),
		evOver(toolCall, 1, nil), evDelta(reasoning, 0, "m"), evDelta(toolCall, 2, `:1}`), evOver(toolCall, 2, nil),
		evOver(reasoning, 0, &wire.Part{Vendor: `{"signature":"s"}`}), evFinish(wire.FinishToolCall),
	}, wire.Response{
		Message: wire.Message{Role: wire.RoleAssistant, Parts: []wire.Part{
			{Kind: reasoning, Text: "hmm", Vendor: `{"signature":"s"}`},
			wire.ToolCallPart("t1", "a", `{}`), wire.ToolCallPart("t2", "b", `{"x":1}`)},
			Origin: &wire.Origin{Protocol: "p", Model: "m"}, Ending: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishToolCall}},
	}},
	{"facts at the start and at the end of a part", []wire.Event{
		evStart(),
		evBegin(toolCall, 0, &wire.Part{ID: "t1", Name: "a", Vendor: "{1}", Item: "i1", FreeForm: true}),
		evOver(toolCall, 0, &wire.Part{Name: "b", Vendor: "{2}"}),
		evBegin(wire.PartMedia, 1, &wire.Part{Kind: wire.PartMedia, Media: &wire.Media{URL: "u1"}}),
		evOver(wire.PartMedia, 1, &wire.Part{Media: &wire.Media{URL: "u2"}}),
		evBegin(wire.PartToolResult, 2, nil),
		evOver(wire.PartToolResult, 2, &wire.Part{ID: "s1", IsError: true, Parts: []wire.Part{wire.TextPart("r")}, Item: "i2"}),
		evBegin(wire.PartOpaque, 3, &wire.Part{Name: "blob"}),
		evOver(wire.PartOpaque, 3, &wire.Part{Vendor: `{"type":"blob"}`}),
		evFinish(wire.FinishToolCall),
	}, wire.Response{
		Message: wire.Message{Role: wire.RoleAssistant, Parts: []wire.Part{
			{Kind: toolCall, ID: "t1", Name: "b", Vendor: "{2}", Item: "i1", FreeForm: true},
			{Kind: wire.PartMedia, Media: &wire.Media{URL: "u2"}},
			{Kind: wire.PartToolResult, ID: "s1", IsError: true, Parts: []wire.Part{wire.TextPart("r")}, Item: "i2"},
			{Kind: wire.PartOpaque, Name: "blob", Vendor: `{"type":"blob"}`}},
			Origin: &wire.Origin{Protocol: "p", Model: "m"}, Ending: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishToolCall}},
	}},
	{"cut in the middle of a call", []wire.Event{
		evStart(), evBegin(text, 0, nil), evDelta(text, 0, "so"), evOver(text, 0, nil),
		evBegin(toolCall, 1, &wire.Part{ID: "t1", Name: "a"}), evDelta(toolCall, 1, `{"x`), evOver(toolCall, 1, &wire.Part{Partial: true}),
		evFail(wire.CauseTruncated),
	}, wire.Response{
		Message: wire.Message{Role: wire.RoleAssistant, Parts: []wire.Part{
			wire.TextPart("so"), {Kind: toolCall, ID: "t1", Name: "a", Args: `{"x`, Partial: true}},
			Origin: &wire.Origin{Protocol: "p", Model: "m"},
			Ending: &wire.Ending{Cause: wire.CauseTruncated, Err: &wire.Error{Cause: wire.CauseTruncated, Message: "m", RequestID: "req_e"}}},
		RequestID: "req_e",
	}},
	{"failed before the start", []wire.Event{evNote("a"), evUsage(0, 0), evOther(), evFail(wire.CauseVendor)}, wire.Response{
		Message: wire.Message{Role: wire.RoleAssistant,
			Ending: &wire.Ending{Cause: wire.CauseVendor, Err: &wire.Error{Cause: wire.CauseVendor, Message: "m", RequestID: "req_e"}}},
		Usage: wire.Usage{InputTokens: wire.CountOf(0), OutputTokens: wire.CountOf(0)},
		Notes: []wire.Note{{Code: wire.NoteOdd, Detail: "a"}}, RequestID: "req_e",
	}},
	{"usage is a snapshot and not an increment", []wire.Event{evStart(), evUsage(27, 1), evUsage(27, 47), evFinish(wire.FinishStop)}, wire.Response{
		Message: wire.Message{Role: wire.RoleAssistant, Origin: &wire.Origin{Protocol: "p", Model: "m"},
			Ending: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop}},
		Usage: wire.Usage{InputTokens: wire.CountOf(27), OutputTokens: wire.CountOf(47)},
	}},
	{"facts of the response", []wire.Event{
		evNote("a"),
		{Kind: wire.EventStart, Start: &wire.Start{Origin: *fullOrigin(), RequestID: "req_s", RateLimit: fullLimits}},
		evNote("b"), evOther(),
		{Kind: wire.EventEnd, End: &wire.Ending{Cause: wire.CauseVendor, VendorFinish: "v", Err: &wire.Error{Cause: wire.CauseVendor, RequestID: "req_e"}}, Raw: `{"container":1}`},
	}, wire.Response{
		Message: wire.Message{Role: wire.RoleAssistant, Origin: fullOrigin(), Vendor: `{"container":1}`,
			Ending: &wire.Ending{Cause: wire.CauseVendor, VendorFinish: "v", Err: &wire.Error{Cause: wire.CauseVendor, RequestID: "req_e"}}},
		Notes:     []wire.Note{{Code: wire.NoteOdd, Detail: "a"}, {Code: wire.NoteOdd, Detail: "b"}},
		RequestID: "req_s", RateLimit: fullLimits,
	}},
	{"parts without text", []wire.Event{
		evStart(), evBegin(text, 0, nil), evOver(text, 0, nil), evBegin(reasoning, 1, &wire.Part{Vendor: `{"data":"x"}`}),
		evOver(reasoning, 1, nil), evFinish(wire.FinishStop),
	}, wire.Response{
		Message: wire.Message{Role: wire.RoleAssistant, Parts: []wire.Part{{Kind: text}, {Kind: reasoning, Vendor: `{"data":"x"}`}},
			Origin: &wire.Origin{Protocol: "p", Model: "m"}, Ending: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop}},
	}},
	{"deltas cut within a character", []wire.Event{
		evStart(), evBegin(text, 0, nil), evDelta(text, 0, "n\xc3"), evDelta(text, 0, "\xa9\xf0\x9f"), evDelta(text, 0, "\x8c\x8d"), evOver(text, 0, nil),
		evFinish(wire.FinishStop),
	}, wire.Response{
		Message: wire.Message{Role: wire.RoleAssistant, Parts: []wire.Part{wire.TextPart("né🌍")},
			Origin: &wire.Origin{Protocol: "p", Model: "m"}, Ending: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop}},
	}},
}

func TestCollect(t *testing.T) {
	for _, tt := range buildTests {
		t.Run(tt.name, func(t *testing.T) {
			if err := wire.CheckEvents(tt.events); err != nil {
				t.Fatal(err)
			}
			got, err := wire.Collect(seq(tt.events))
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			var want error
			if e := tt.events[len(tt.events)-1].End.Err; e != nil {
				want = e
			}
			if err != want {
				t.Errorf("error %v, want %v", err, want)
			}
		})
	}
}

func TestCollectErrorWithoutEnd(t *testing.T) {
	broken := errors.New("broken")
	r, err := wire.Collect(func(yield func(wire.Event, error) bool) {
		_ = yield(evStart(), nil) && yield(evBegin(text, 0, nil), nil) && yield(evDelta(text, 0, "so"), nil) && yield(wire.Event{}, broken)
	})
	if err != broken {
		t.Errorf("error %v", err)
	}
	if r.Message.Text() != "so" || !r.Message.Parts[0].Partial || r.Message.Ending != nil {
		t.Errorf("what arrived is not kept: %+v", r)
	}
	for name, s := range map[string]iter.Seq2[wire.Event, error]{
		"nothing at all": seq(nil),
		"a start alone":  func(yield func(wire.Event, error) bool) { yield(evStart(), nil) },
	} {
		r, err := wire.Collect(s)
		var e *wire.Error
		if !errors.As(err, &e) || e.Cause != wire.CauseTruncated || !errors.Is(err, io.ErrUnexpectedEOF) || len(r.Message.Parts) != 0 || r.Message.Ending != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	cut := &wire.Error{Cause: wire.CauseTruncated}
	_, err = wire.Collect(func(yield func(wire.Event, error) bool) {
		yield(wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: cut.Cause, Err: cut}}, nil)
	})
	if err != error(cut) {
		t.Errorf("an end event with an error in a pair without: %v", err)
	}
}

// frozen is what a snapshot looked like when it was taken: its JSON form, and
// its bytes where JSON does not hold them. It shares no memory with it.
func frozen(t testing.TB, r wire.Response) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(plain(t, r))
	for i := range r.Message.Parts {
		b.WriteString("\n" + strconv.QuoteToASCII(r.Message.Parts[i].Text+r.Message.Parts[i].Args))
	}
	return b.String()
}

func TestBuilderSnapshots(t *testing.T) {
	for _, tt := range buildTests {
		t.Run(tt.name, func(t *testing.T) {
			var (
				b     wire.Builder
				taken []wire.Response
				was   []string
				texts = map[int]string{}
				open  = map[int]bool{}
			)
			for i := range tt.events {
				ev := &tt.events[i]
				b.Add(ev)
				switch ev.Kind {
				case wire.EventPartStart:
					open[ev.Index] = true
				case wire.EventDelta:
					texts[ev.Index] += ev.Delta
				case wire.EventPartEnd:
					open[ev.Index] = ev.Data != nil && ev.Data.Partial
				}
				r := b.Response()
				m := b.Message()
				if d := cmp.Diff(r.Message, m); d != "" {
					t.Fatalf("event %d: Message and Response().Message differ:\n%s", i, d)
				}
				if m.Role != wire.RoleAssistant {
					t.Errorf("event %d: role %s", i, m.Role)
				}
				if (m.Ending != nil) != (ev.Kind == wire.EventEnd) {
					t.Errorf("event %d (%s): ending %+v", i, ev.Kind, m.Ending)
				}
				if calls := m.ExecutableCalls(); len(calls) > 0 && i < len(tt.events)-1 {
					t.Errorf("event %d: calls may run before the end: %+v", i, calls)
				}
				if len(m.Parts) != len(open) {
					t.Errorf("event %d: %d parts, want %d", i, len(m.Parts), len(open))
				}
				for k := range m.Parts {
					p := &m.Parts[k]
					if p.Text+p.Args != texts[k] {
						t.Errorf("event %d: part %d has %q, want %q", i, k, p.Text+p.Args, texts[k])
					}
					if p.Partial != open[k] {
						t.Errorf("event %d: part %d: Partial %t, want %t", i, k, p.Partial, open[k])
					}
				}
				taken, was = append(taken, r), append(was, frozen(t, r))
			}
			b.Reset()
			for _, ev := range buildTests[0].events {
				b.Add(&ev)
			}
			for i := range taken {
				if got := frozen(t, taken[i]); got != was[i] {
					t.Errorf("the snapshot after event %d changed:\n was %s\n now %s", i, was[i], got)
				}
			}
		})
	}
}

// TestBuilderSnapshotsAreTheirOwn: a caller who changes a snapshot changes
// nothing else.
func TestBuilderSnapshotsAreTheirOwn(t *testing.T) {
	var b wire.Builder
	for _, ev := range []wire.Event{evStart(), evNote("a"), evBegin(text, 0, nil), evDelta(text, 0, "so")} {
		b.Add(&ev)
	}
	r := b.Response()
	r.Message.Parts[0].Text = "changed"
	r.Message.Parts = append(r.Message.Parts, wire.TextPart("more"))
	r.Notes[0].Detail = "changed"
	_ = append(r.Notes, wire.Note{})
	again := b.Response()
	if again.Message.Text() != "so" || again.Notes[0].Detail != "a" {
		t.Errorf("the builder changed with its snapshot: %+v", again)
	}
}

func TestBuilderReset(t *testing.T) {
	var b wire.Builder
	for _, tt := range buildTests {
		b.Reset()
		for i := range tt.events {
			b.Add(&tt.events[i])
		}
		if d := cmp.Diff(tt.want, b.Response()); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
	b.Reset()
	if d := cmp.Diff(wire.Response{Message: wire.Message{Role: wire.RoleAssistant}}, b.Response()); d != "" {
		t.Errorf("after Reset (-want +got):\n%s", d)
	}
}

func TestBuilderOutOfGrammar(t *testing.T) {
	kinds := []wire.EventKind{wire.EventStart, wire.EventPartStart, wire.EventDelta, wire.EventPartEnd, wire.EventUsage, wire.EventNote,
		wire.EventOther, wire.EventEnd, "", "another"}
	var b wire.Builder
	for _, first := range kinds {
		for _, kind := range kinds {
			for _, index := range []int{-1, 0, 1, math.MaxInt, math.MinInt} {
				b.Reset()
				b.Add(&wire.Event{Kind: first, Part: text})
				b.Add(&wire.Event{Kind: kind, Part: text, Index: index, Delta: "d"})
				b.Add(&wire.Event{Kind: kind, Part: "another", Index: index, Data: &wire.Part{ID: "i", Text: "t", Args: "a"}})
				r := b.Response()
				if len(r.Message.ExecutableCalls()) != 0 {
					t.Errorf("%s, %s: %+v", first, kind, r)
				}
			}
		}
	}
}

// TestBuilderAfterTheEnd: what was finished stays as it was, whatever a broken
// stream adds.
func TestBuilderAfterTheEnd(t *testing.T) {
	whole := []wire.Event{evStart(), evBegin(toolCall, 0, &wire.Part{ID: "t1", Name: "a"}), evDelta(toolCall, 0, `{}`),
		evOver(toolCall, 0, nil)}
	tests := []struct {
		name   string
		events []wire.Event
	}{
		{"delta after the end of its part", []wire.Event{evDelta(toolCall, 0, " "), evFinish(wire.FinishToolCall)}},
		{"facts after the end of its part", []wire.Event{evOver(toolCall, 0, &wire.Part{Name: "rm", Partial: true}), evFinish(wire.FinishToolCall)}},
		{"second end", []wire.Event{evFinish(wire.FinishToolCall), evFail(wire.CauseReset)}},
		{"part after the end", []wire.Event{evFinish(wire.FinishToolCall), evBegin(text, 1, nil)}},
		{"start after the end", []wire.Event{evFinish(wire.FinishToolCall), {Kind: wire.EventStart, Start: &wire.Start{}}}},
	}
	want := collect(t, append(slices.Clone(whole), evFinish(wire.FinishToolCall)))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b wire.Builder
			for _, ev := range append(slices.Clone(whole), tt.events...) {
				b.Add(&ev)
			}
			if d := cmp.Diff(want, b.Response()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestTee(t *testing.T) {
	for _, tt := range buildTests {
		t.Run(tt.name, func(t *testing.T) {
			var b wire.Builder
			var got []wire.Event
			var failed error
			for ev, err := range b.Tee(seq(tt.events)) {
				got = append(got, ev)
				failed = err
				// The builder is not behind.
				if (b.Message().Ending != nil) != (ev.Kind == wire.EventEnd) {
					t.Errorf("at %s the builder has the ending %+v", ev.Kind, b.Message().Ending)
				}
			}
			if d := cmp.Diff(tt.events, got); d != "" {
				t.Errorf("the events changed (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.want, b.Response()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if e := tt.events[len(tt.events)-1].End.Err; e != nil && failed != error(e) {
				t.Errorf("error %v, want %v", failed, e)
			}
		})
	}
}

func TestTeeLeftEarly(t *testing.T) {
	given := 0
	stream := func(yield func(wire.Event, error) bool) {
		for _, ev := range buildTests[0].events {
			given++
			if !yield(ev, nil) {
				return
			}
		}
	}
	var b wire.Builder
	for ev := range b.Tee(stream) {
		if ev.Kind == wire.EventDelta {
			break
		}
	}
	if given != 3 {
		t.Errorf("%d events were asked for, want 3", given)
	}
	if m := b.Message(); m.Text() != "Hel" || !m.Parts[0].Partial {
		t.Errorf("got %+v", m)
	}
}

// TestBuilderIsLinear counts the bytes that building allocates: twice the
// deltas may not cost much more than twice.
func TestBuilderIsLinear(t *testing.T) {
	build := func(parts, deltas int) (bytes, mallocs uint64) {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var b wire.Builder
		for i := range parts {
			b.Add(ptr(evBegin(text, i, nil)))
		}
		ev := evDelta(text, 0, "a delta of some length, ")
		for i := range deltas {
			ev.Index = i % parts
			b.Add(&ev)
			if i%16 == 0 {
				_ = b.Message()
			}
		}
		m := b.Message()
		runtime.ReadMemStats(&after)
		if got := len(m.Text()); got != deltas*len(ev.Delta) {
			t.Fatalf("%d bytes of text", got)
		}
		return after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs
	}
	for _, parts := range []int{1, 4} {
		for _, n := range []int{1 << 12, 1 << 14} {
			bytes1, mallocs1 := build(parts, n)
			bytes2, mallocs2 := build(parts, 2*n)
			const factor = 2.5
			if float64(bytes2) > factor*float64(bytes1)+1<<16 {
				t.Errorf("%d parts: %d deltas allocate %d bytes, %d deltas %d", parts, n, bytes1, 2*n, bytes2)
			}
			if float64(mallocs2) > factor*float64(mallocs1)+100 {
				t.Errorf("%d parts: %d deltas make %d allocations, %d deltas %d", parts, n, mallocs1, 2*n, mallocs2)
			}
		}
	}
}
