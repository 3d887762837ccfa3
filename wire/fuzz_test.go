package wire_test

import (
	"strings"
	"testing"

	"github.com/handwire/handwire/wire"
)

// fuzzEvents makes a sequence of events of data: two bytes an event, the first
// for what it is, the second for the part it speaks of and its delta.
func fuzzEvents(data []byte) (evs []wire.Event) {
	kinds := [...]wire.PartKind{text, reasoning, toolCall, wire.PartOpaque, wire.PartMedia, wire.PartRefusal, wire.PartToolResult, "another"}
	for ; len(data) >= 2 && len(evs) < 200; data = data[2:] {
		index := int(data[1]&0x0f) - 1
		kind := kinds[data[1]>>4&7]
		switch data[0] % 16 {
		case 0:
			evs = append(evs, evStart())
		case 1, 2:
			evs = append(evs, evBegin(kind, index, nil))
		case 3:
			evs = append(evs, evBegin(kind, index, &wire.Part{ID: "i", Name: "n", FreeForm: data[1]&1 == 0}))
		case 4, 5, 6, 7:
			const letters = "é{}\" a" // a piece may begin and end within a character
			evs = append(evs, evDelta(kind, index, letters[data[1]&3:][:1+data[0]>>6]))
		case 8, 9:
			evs = append(evs, evOver(kind, index, nil))
		case 10:
			evs = append(evs, evOver(kind, index, &wire.Part{Partial: true, Vendor: "{}"}))
		case 11:
			evs = append(evs, evUsage(int64(data[1]), 1))
		case 12:
			evs = append(evs, evNote("a"))
		case 13:
			evs = append(evs, wire.Event{Kind: wire.EventKind(string(data[1:2])), Index: index, Delta: "x", Raw: "{}"})
		case 14:
			evs = append(evs, evFinish(allFinishes[int(data[1])%len(allFinishes)]))
		case 15:
			evs = append(evs, evFail(allCauses[1:][int(data[1])%(len(allCauses)-1)]))
		}
	}
	return evs
}

func FuzzBuilder(f *testing.F) {
	f.Add([]byte{0, 0, 1, 1, 4, 1, 4, 0x11, 8, 1, 14, 0})
	f.Add([]byte{0, 0, 1, 0x21, 0x84, 0x21, 1, 2, 4, 2, 8, 0x21, 12, 0, 10, 2, 15, 3})
	f.Add([]byte{12, 0, 11, 9, 15, 1})
	f.Add([]byte{0, 0, 1, 1, 8, 1, 4, 1, 14, 0, 14, 1, 1, 2})
	f.Add([]byte{13, 'x', 4, 0, 8, 0xff, 1, 0xf0})
	f.Fuzz(func(t *testing.T, data []byte) {
		evs := fuzzEvents(data)
		var b wire.Builder
		var taken []wire.Response
		var was []string
		want := map[int]string{}
		for i := range evs {
			b.Add(&evs[i])
			if i < 40 || i%50 == 0 {
				r := b.Response()
				taken, was = append(taken, r), append(was, frozen(t, r))
			}
			if evs[i].Kind == wire.EventDelta {
				want[evs[i].Index] += evs[i].Delta
			}
		}
		for i := range taken {
			if got := frozen(t, taken[i]); got != was[i] {
				t.Fatalf("snapshot %d changed:\n was %s\n now %s", i, was[i], got)
			}
		}
		if wire.CheckEvents(evs) != nil {
			return
		}
		r := b.Response()
		m := &r.Message
		if m.Role != wire.RoleAssistant || m.Ending == nil || m.Ending.Cause == "" {
			t.Fatalf("no message that has ended: %+v", m)
		}
		for i := range m.Parts {
			p := &m.Parts[i]
			if p.Text+p.Args != want[i] {
				t.Errorf("part %d has %q, want %q", i, p.Text+p.Args, want[i])
			}
			if (p.Args != "") && p.Kind != toolCall {
				t.Errorf("part %d of kind %s has arguments", i, p.Kind)
			}
		}
		whole := 0
		for i := range evs {
			switch ev := &evs[i]; ev.Kind {
			case wire.EventPartStart:
				whole++
			case wire.EventPartEnd:
				if m.Parts[ev.Index].Partial != (ev.Data != nil && ev.Data.Partial) {
					t.Errorf("part %d: Partial %t", ev.Index, m.Parts[ev.Index].Partial)
				}
			}
		}
		if whole != len(m.Parts) {
			t.Errorf("%d parts, want %d", len(m.Parts), whole)
		}
		for _, c := range m.ExecutableCalls() {
			if c.Partial || m.Ending.Cause != wire.CauseFinished || !c.FreeForm && !wire.ValidJSON(c.Args) {
				t.Errorf("half a call may run: %+v of %+v", c, m.Ending)
			}
		}
		if n := strings.Count(plain(t, r), `"code":"odd"`); n != len(r.Notes) {
			t.Errorf("%d notes in the JSON, want %d", n, len(r.Notes))
		}
	})
}

func FuzzCountJSON(f *testing.F) {
	for _, s := range []string{"0", "12", "null", "-1", "1.0", "1e3", `"1"`, "9223372036854775807", "9223372036854775806", "{}", "00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var c wire.Count
		if c.UnmarshalJSON([]byte(s)) != nil {
			return
		}
		if !c.Known() && s != "null" {
			t.Fatalf("%q is unknown", s)
		}
		b, err := c.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var back wire.Count
		if err := back.UnmarshalJSON(b); err != nil || back != c {
			t.Fatalf("%q: %s, %v, %v", s, b, back, err)
		}
	})
}
