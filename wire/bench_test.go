package wire_test

import (
	"strconv"
	"testing"

	"github.com/handwire/handwire/wire"
)

func BenchmarkBuilder(b *testing.B) {
	for _, n := range []int{500, 1000, 2000} {
		b.Run(strconv.Itoa(n)+" deltas", func(b *testing.B) {
			start, begin, over, end := evStart(), evBegin(text, 0, nil), evOver(text, 0, nil), evFinish(wire.FinishStop)
			delta := evDelta(text, 0, "some words of text ")
			b.SetBytes(int64(n * len(delta.Delta)))
			b.ReportAllocs()
			for b.Loop() {
				var builder wire.Builder
				builder.Add(&start)
				builder.Add(&begin)
				for range n {
					builder.Add(&delta)
				}
				builder.Add(&over)
				builder.Add(&end)
				if r := builder.Response(); len(r.Message.Parts) != 1 {
					b.Fatal("no message")
				}
			}
		})
	}
}

func BenchmarkEventChecker(b *testing.B) {
	start, begin, delta := evStart(), evBegin(text, 0, nil), evDelta(text, 0, "some words of text ")
	var c wire.EventChecker
	_, _ = c.Add(&start), c.Add(&begin)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Add(&delta); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExecutableCalls(b *testing.B) {
	m := wire.Message{Role: wire.RoleAssistant, Ending: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishToolCall},
		Parts: []wire.Part{wire.TextPart("Let me look."), wire.ToolCallPart("t1", "read", `{"path":"src/main.go","from":1,"to":200}`)}}
	b.ReportAllocs()
	for b.Loop() {
		if len(m.ExecutableCalls()) != 1 {
			b.Fatal("no call")
		}
	}
}
