package stream_test

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/stream"
)

// plainToy is the toy decoder without encoding/json and without a record of
// what it was given, so that a benchmark shows the reader.
type plainToy struct {
	toy
}

var (
	textMark = []byte(`"text"`)
	doneMark = []byte(`"done"`)
)

func (d *plainToy) Decode(dst []wire.Event, name string, data []byte) ([]wire.Event, error) {
	if bytes.Contains(data, doneMark) {
		return d.toy.Decode(dst, name, data)
	}
	if bytes.Contains(data, textMark) {
		if dst = d.start(dst); !d.open {
			d.open = true
			dst = append(dst, wire.Event{Kind: wire.EventPartStart, Part: wire.PartText})
		}
		dst = append(dst, wire.Event{Kind: wire.EventDelta, Part: wire.PartText, Delta: "x"})
	}
	return dst, nil
}

func BenchmarkRead(b *testing.B) {
	const n = 1000
	for _, bb := range []struct {
		name    string
		framing wire.Framing
		before  string
		after   string
	}{
		{"sse", wire.FramingSSE, "event: delta\ndata: ", "\n\n"},
		{"lines", wire.FramingLines, "", "\n"},
	} {
		var body bytes.Buffer
		for i := range n {
			body.WriteString(bb.before + `{"text":"some words of text, as a model gives them","n":` + strconv.Itoa(i) + "}" + bb.after)
		}
		body.WriteString(bb.before + `{"done":true}` + bb.after)
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(body.Len()))
			b.ReportAllocs()
			for b.Loop() {
				events := 0
				for _, err := range stream.Read(bytes.NewReader(body.Bytes()), new(plainToy), bb.framing, nil) {
					if err != nil {
						b.Fatal(err)
					}
					events++
				}
				if events != n+4 {
					b.Fatalf("%d events", events)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/event")
		})
	}
}

// TestAllocations: an event costs the reader no allocation.
func TestAllocations(t *testing.T) {
	for _, bb := range []struct {
		framing       wire.Framing
		before, after string
	}{{wire.FramingSSE, "event: delta\ndata: ", "\n\n"}, {wire.FramingLines, "", "\n"}} {
		run := func(n int) float64 {
			body := append(bytes.Repeat([]byte(bb.before+`{"text":"some words"}`+bb.after), n), bb.before+`{"done":true}`+bb.after...)
			return testing.AllocsPerRun(10, func() {
				for _, err := range stream.Read(bytes.NewReader(body), new(plainToy), bb.framing, nil) {
					if err != nil {
						t.Fatal(err)
					}
				}
			})
		}
		if few, many := run(100), run(2000); many > few+5 {
			t.Errorf("%s: %v allocations for 100 events, %v for 2000", bb.framing, few, many)
		}
	}
}
