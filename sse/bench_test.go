package sse_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/handwire/handwire/sse"
)

// readOnly hides every method of a reader but Read.
type readOnly struct{ io.Reader }

// textStream is a stream of n named events whose data is a short JSON text, as
// a model server sends them, from a fixed seed.
func textStream(n int) []byte {
	r := rand.New(rand.NewPCG(7, 11))
	var b bytes.Buffer
	for i := range n {
		b.WriteString("event: message_piece_delta\ndata: {\"kind\":\"message_piece_delta\",\"n\":" + strconv.Itoa(i) + ",\"piece\":{\"kind\":\"plain_text\",\"text\":\"")
		b.WriteString(letters(r, 4+r.IntN(70)))
		b.WriteString("\"}}\n\n")
	}
	return b.Bytes()
}

// bigStream is a stream of n events of size bytes each.
func bigStream(n, size int) []byte {
	r := rand.New(rand.NewPCG(13, 17))
	var b bytes.Buffer
	for range n {
		b.WriteString("event: message_piece_delta\ndata: ")
		b.WriteString(letters(r, size))
		b.WriteString("\n\n")
	}
	return b.Bytes()
}

func letters(r *rand.Rand, n int) string {
	const set = "abcdefghijklmnopqrstuvwxyz        ,.-"
	b := make([]byte, n)
	for i := range b {
		b[i] = set[r.IntN(len(set))]
	}
	return string(b)
}

// floor cuts data lines out of a reused buffer, and knows nothing else of the
// format: the least that a framer of this kind of stream can do.
type floor struct{ buf []byte }

func (f *floor) run(r io.Reader, emit func([]byte)) error {
	if f.buf == nil {
		f.buf = make([]byte, 4<<10)
	}
	line, end := 0, 0
	for {
		n, err := r.Read(f.buf[end:])
		from := end
		end += n
		for {
			i := bytes.IndexByte(f.buf[from:end], '\n')
			if i < 0 {
				break
			}
			l := f.buf[line : from+i]
			from += i + 1
			line = from
			if len(l) > 6 && l[0] == 'd' && string(l[:6]) == "data: " {
				if l[len(l)-1] == '\r' {
					l = l[:len(l)-1]
				}
				emit(l[6:])
			}
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if line > 0 {
			end = copy(f.buf, f.buf[line:end])
			line = 0
		} else if end == len(f.buf) {
			f.buf = append(f.buf, make([]byte, len(f.buf))...)
		}
	}
}

// BenchmarkDecode measures the decoder against a floor in the same run. The
// ratio of the two ns/event is what counts: at most 1.5 for LF, 2.0 for CRLF,
// 1.2 for events of 1 MiB.
func BenchmarkDecode(b *testing.B) {
	lf := textStream(2000)
	for _, s := range []struct {
		name   string
		stream []byte
		events int
	}{
		{"LF", lf, 2000},
		{"CRLF", bytes.ReplaceAll(lf, []byte("\n"), []byte("\r\n")), 2000},
		{"CR", bytes.ReplaceAll(lf, []byte("\n"), []byte("\r")), 2000},
		{"1MiB", bigStream(8, 1<<20), 8},
	} {
		if s.name != "CR" {
			b.Run(s.name+"/floor", func(b *testing.B) {
				var f floor
				perEvent(b, s.stream, s.events, func(r io.Reader) (n int) {
					if err := f.run(r, func([]byte) { n++ }); err != nil {
						b.Fatal(err)
					}
					return n
				})
			})
		}
		b.Run(s.name+"/decoder", func(b *testing.B) {
			d := sse.NewDecoder(nil, nil)
			var ev sse.Event
			perEvent(b, s.stream, s.events, func(r io.Reader) (n int) {
				d.Reset(r)
				for {
					switch err := d.Decode(&ev); err {
					case nil:
						n++
					case io.EOF:
						return n
					default:
						b.Fatal(err)
					}
				}
			})
		})
		b.Run(s.name+"/fresh", func(b *testing.B) {
			perEvent(b, s.stream, s.events, func(r io.Reader) (n int) {
				for _, err := range sse.NewDecoder(r, nil).All() {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				return n
			})
		})
	}
}

// perEvent runs a decoder over the stream b.N times and reports per event.
func perEvent(b *testing.B, stream []byte, events int, run func(io.Reader) int) {
	r := bytes.NewReader(stream)
	ro := &readOnly{r}
	if n := run(ro); n != events {
		b.Fatalf("%d events, want %d", n, events)
	}
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		r.Reset(stream)
		run(ro)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
}
