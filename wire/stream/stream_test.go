package stream_test

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/sse"
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/stream"
)

// bodies are one answer in each framing. mark is the number of bytes of body
// after which it is finished.
var bodies = []struct {
	name    string
	framing wire.Framing
	body    string
	mark    int
}{
	{"sse", wire.FramingSSE, sseBody, len(sseBody)},
	{"sse by default", "", sseBody, len(sseBody)},
	{"sse with CRLF", wire.FramingSSE, crlf(sseBody), len(crlf(sseBody)) - 1}, // the last CR is a line end already
	{"sse with more after the mark", wire.FramingSSE, sseBody + ": bye\n\ndata: {\"text\":\"x\"}\n\n", len(sseBody)},
	{"lines", wire.FramingLines, linesBody, len(linesBody)},
	{"lines with CRLF", wire.FramingLines, crlf(linesBody), len(crlf(linesBody))},
	{"lines with more after the mark", wire.FramingLines, linesBody + "{\"text\":\"x\"}\n", len(linesBody)},
	{"lines with blank ones", wire.FramingLines, "\n \r\n" + strings.ReplaceAll(linesBody, "\n", "\n\n\t\n"), len(linesBody) + 4 + 3*3},
	{"whole", wire.FramingWhole, wholeBody, len(wholeBody)},
	{"whole with white space", wire.FramingWhole, "\r\n " + wholeBody + "\n", len(wholeBody) + 3},
}

const (
	sseBody = ": hello\n\nevent: a\ndata: {\"text\":\"né\"}\n\nid: 7\ndata: {\"note\":\"odd\",\ndata: \"other\":\"{}\"}\n\n" +
		"data: {\"text\":\"🌍 \"}\n\nevent: ping\ndata: {}\n\ndata: {\"text\":\"end\",\"done\":true}\n\n"
	linesBody = "{\"text\":\"né\"}\n{\"note\":\"odd\",\"other\":\"{}\"}\n{\"text\":\"🌍 \"}\n{\"text\":\"end\",\"done\":true}\n"
	wholeBody = `{"note":"odd","other":"{}","text":"né🌍 end","done":true}`
)

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

func TestReadWhole(t *testing.T) {
	for _, b := range bodies {
		t.Run(b.name, func(t *testing.T) {
			r, d := read(t, strings.NewReader(b.body), b.framing, nil)
			if r.err != nil || r.cause() != wire.CauseFinished {
				t.Fatalf("%v, %+v", r.err, r.end())
			}
			if got := r.text(); got != "né🌍 end" {
				t.Errorf("text %q", got)
			}
			if d := cmp.Diff([]string{"odd"}, r.notes()); d != "" {
				t.Errorf("notes (-want +got):\n%s", d)
			}
			if len(d.ends) != 0 {
				t.Errorf("End was called after the end event, with %v", d.ends)
			}
		})
	}
}

// TestBlocks states what a decoder is given.
func TestBlocks(t *testing.T) {
	tests := []struct {
		name    string
		framing wire.Framing
		body    string
		want    []string
	}{
		{"sse", wire.FramingSSE, "data: {}\n\nevent: a\ndata: {\ndata: }\n\ndata:[DONE]\n\n", []string{"message:{}", "a:{\n}", "message:[DONE]"}},
		{"sse, data without content", wire.FramingSSE, "event: a\n\ndata: {\"done\":true}\n\n", []string{`message:{"done":true}`}},
		{"lines", wire.FramingLines, "{}\r\n\n  {\"note\":\" \"}\t\n{\"done\":true}", []string{":{}", `:{"note":" "}`, `:{"done":true}`}},
		{"whole", wire.FramingWhole, " {\"done\":\ntrue}\n", []string{": {\"done\":\ntrue}"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, d := read(t, strings.NewReader(tt.body), tt.framing, nil)
			if diff := cmp.Diff(tt.want, d.blocks); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPartitions: how the bytes are divided into reads changes nothing.
func TestPartitions(t *testing.T) {
	for _, b := range bodies {
		t.Run(b.name, func(t *testing.T) {
			want, _ := read(t, strings.NewReader(b.body), b.framing, nil)
			same := func(name string, body io.Reader) {
				t.Helper()
				got, _ := read(t, body, b.framing, nil)
				if d := cmp.Diff(want.events, got.events); d != "" {
					t.Errorf("%s (-want +got):\n%s", name, d)
				}
			}
			for n := 1; n < 20; n++ {
				same("pieces of "+strconv.Itoa(n), &script{pieces: cut(b.body, n)})
				same("the end with the last of the pieces of "+strconv.Itoa(n), &script{pieces: cut(b.body, n), with: true})
			}
			for i := range len(b.body) + 1 {
				same("cut at "+strconv.Itoa(i), &script{pieces: []string{b.body[:i], b.body[i:]}})
				for k := i; k <= len(b.body); k += 7 {
					same(fmt.Sprintf("cut at %d and %d", i, k), &script{pieces: []string{b.body[:i], b.body[i:k], b.body[k:]}})
				}
			}
			same("half reads", iotest.HalfReader(strings.NewReader(b.body)))
			same("data and error at once", iotest.DataErrReader(strings.NewReader(b.body)))
			var empty []string
			for _, p := range cut(b.body, 3) {
				empty = append(empty, "", "", p, "")
			}
			same("reads that give nothing", &script{pieces: empty})
		})
	}
}

// TestCut cuts each body at every byte, by a clean end and by a broken one:
// before the mark nothing looks finished, after it everything does.
func TestCut(t *testing.T) {
	broken := syscall.ECONNRESET
	for _, b := range bodies {
		t.Run(b.name, func(t *testing.T) {
			whole, _ := read(t, strings.NewReader(b.body), b.framing, nil)
			for i := range len(b.body) + 1 {
				if t.Failed() {
					break // the rest would say the same
				}
				for _, err := range []error{nil, broken} {
					for _, with := range []bool{false, true} {
						r, _ := read(t, &script{pieces: []string{b.body[:i]}, err: err, with: with}, b.framing, nil)
						at := fmt.Sprintf("cut at %d by %v", i, err)
						if !strings.HasPrefix(whole.text(), r.text()) {
							t.Errorf("%s: text %q", at, r.text())
						}
						if i >= b.mark {
							if r.cause() != wire.CauseFinished || r.text() != whole.text() {
								t.Errorf("%s, which is after the mark: %+v", at, r.end())
							}
							continue
						}
						// At a clean end a last block that lacks only its line end or blank line counts.
						if rest := b.body[i:b.mark]; strings.Trim(rest, "\r\n\t ") == "" && err == nil {
							if r.cause() != wire.CauseFinished {
								t.Errorf("%s, which only lacks %q: %+v", at, rest, r.end())
							}
							continue
						}
						want := wire.CauseTruncated
						if err != nil {
							want = wire.CauseReset
						}
						if r.cause() != want {
							t.Errorf("%s: cause %s (%v), want %s", at, r.cause(), r.err, want)
						}
						if err != nil && !errors.Is(r.err, broken) {
							t.Errorf("%s: the error %v does not lead to the reader's", at, r.err)
						}
					}
				}
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	ours := &wire.Error{Cause: wire.CauseIdle, Message: "no byte for 5m0s"}
	tests := []struct {
		name  string
		err   error
		cause wire.Cause
		is    error // in the chain
		same  *wire.Error
	}{
		{"reset", syscall.ECONNRESET, wire.CauseReset, syscall.ECONNRESET, nil},
		{"unexpected end", io.ErrUnexpectedEOF, wire.CauseReset, io.ErrUnexpectedEOF, nil},
		{"wrapped", fmt.Errorf("read: %w", io.ErrUnexpectedEOF), wire.CauseReset, io.ErrUnexpectedEOF, nil},
		{"a *wire.Error", ours, wire.CauseIdle, ours, ours},
		{"a wrapped *wire.Error", fmt.Errorf("body: %w", ours), wire.CauseIdle, ours, ours},
	}
	starts := map[wire.Framing]string{
		wire.FramingSSE:   "data: {\"text\":\"so\"}\n\ndata: {\"te",
		wire.FramingLines: "{\"text\":\"so\"}\n{\"te",
		wire.FramingWhole: `{"text":"so",`,
	}
	for _, tt := range tests {
		for framing, body := range starts {
			t.Run(tt.name+"/"+string(framing), func(t *testing.T) {
				for _, with := range []bool{false, true} {
					r, d := read(t, &script{pieces: []string{body}, err: tt.err, with: with}, framing, nil)
					if r.cause() != tt.cause {
						t.Errorf("cause %s, want %s", r.cause(), tt.cause)
					}
					if !errors.Is(r.err, tt.is) {
						t.Errorf("%v does not lead to %v", r.err, tt.is)
					}
					if tt.same != nil && r.end().Err != tt.same {
						t.Errorf("the error is another one: %v", r.err)
					}
					if len(d.ends) != 1 || d.ends[0] == nil {
						t.Errorf("End was given %v", d.ends)
					}
					if framing != wire.FramingWhole && r.text() != "so" {
						t.Errorf("what arrived before it is lost: %q", r.text())
					}
				}
			})
		}
	}
}

// TestWholeThenReset: a document that is whole is finished, whatever happens to
// the connection after it.
func TestWholeThenReset(t *testing.T) {
	for _, body := range []string{wholeBody, wholeBody + "\n"} {
		r, _ := read(t, &script{pieces: []string{body}, err: syscall.ECONNRESET}, wire.FramingWhole, nil)
		if r.cause() != wire.CauseFinished {
			t.Errorf("%v", r.err)
		}
	}
	// One that is whole and has no mark is not.
	r, _ := read(t, &script{pieces: []string{`{"text":"hi"}`}, err: syscall.ECONNRESET}, wire.FramingWhole, nil)
	if r.cause() != wire.CauseTruncated || r.text() != "hi" {
		t.Errorf("without a mark: text %q, %v", r.text(), r.err)
	}
}

func TestNoProgress(t *testing.T) {
	for _, framing := range []wire.Framing{wire.FramingSSE, wire.FramingLines, wire.FramingWhole} {
		t.Run(string(framing), func(t *testing.T) {
			r, _ := read(t, &emptyReader{most: 100_000}, framing, nil)
			if r.cause() != wire.CauseReset || !errors.Is(r.err, io.ErrNoProgress) {
				t.Errorf("got %v, want %v", r.err, io.ErrNoProgress)
			}
		})
	}
}

// emptyReader gives nothing and no error, over and over.
type emptyReader struct{ most int }

func (r *emptyReader) Read([]byte) (int, error) {
	if r.most--; r.most < 0 {
		return 0, errors.New("asked without end")
	}
	return 0, nil
}

func TestLeftEarly(t *testing.T) {
	bodies := map[wire.Framing][]string{
		wire.FramingSSE:   {"data: {\"text\":\"a\"}\n\n", "data: {\"text\":\"b\"}\n\n", "data: {\"done\":true}\n\n"},
		wire.FramingLines: {"{\"text\":\"a\"}\n", "{\"text\":\"b\"}\n", "{\"done\":true}\n"},
	}
	for framing, pieces := range bodies {
		t.Run(string(framing), func(t *testing.T) {
			// Each event is there as soon as its block is, and no read goes ahead of it.
			body := &script{pieces: append([]string(nil), pieces...)}
			d := new(toy)
			for ev := range stream.Read(body, d, framing, nil) {
				if ev.Kind == wire.EventDelta {
					if body.reads != 1 {
						t.Errorf("%d reads before the first delta, want 1", body.reads)
					}
					break
				}
			}
			if body.reads != 1 || len(d.blocks) != 1 || len(d.ends) != 0 {
				t.Errorf("after leaving: %d reads, %d blocks, %d calls of End", body.reads, len(d.blocks), len(d.ends))
			}

			// The events that came with the one at which the loop was left stay away.
			body = &script{pieces: []string{strings.Join(pieces, "")}}
			n := 0
			for range stream.Read(body, new(toy), framing, nil) {
				if n++; n == 1 {
					break
				}
			}
			if n != 1 || body.reads != 1 {
				t.Errorf("%d events, %d reads", n, body.reads)
			}
		})
	}
	t.Run("whole", func(t *testing.T) {
		d := new(toy)
		for range stream.Read(strings.NewReader(wholeBody), d, wire.FramingWhole, nil) {
			break
		}
		if len(d.ends) != 0 {
			t.Error("End was called")
		}
	})
	t.Run("nothing before the loop", func(t *testing.T) {
		body := &script{pieces: []string{sseBody}}
		_ = stream.Read(body, new(toy), wire.FramingSSE, nil)
		if body.reads != 0 {
			t.Errorf("%d reads", body.reads)
		}
	})
}

// TestNothingAfterTheEnd: a server that leaves the connection open after its
// mark does not hold the stream up.
func TestNothingAfterTheEnd(t *testing.T) {
	for framing, end := range map[wire.Framing]string{
		wire.FramingSSE:   "data: {\"text\":\"a\",\"done\":true}\n\n",
		wire.FramingLines: "{\"text\":\"a\",\"done\":true}\n",
	} {
		for name, more := range map[string][]string{
			"in another read": {end, "more"},
			"in the same one": {end + strings.Repeat(end, 3), "more"},
		} {
			t.Run(string(framing)+"/"+name, func(t *testing.T) {
				body := &script{pieces: append([]string(nil), more...), err: syscall.ECONNRESET}
				r, d := read(t, body, framing, nil)
				if r.cause() != wire.CauseFinished || body.reads != 1 || len(d.blocks) != 1 {
					t.Errorf("cause %s, %d reads, blocks %q", r.cause(), body.reads, d.blocks)
				}
			})
		}
		t.Run(string(framing)+"/after a vendor's error", func(t *testing.T) {
			body := &script{pieces: []string{strings.Replace(end, `"done":true`, `"error":"busy"`, 1), end}}
			r, _ := read(t, body, framing, nil)
			if r.cause() != wire.CauseVendor || body.reads != 1 || r.text() != "a" {
				t.Errorf("cause %s, %d reads, text %q", r.cause(), body.reads, r.text())
			}
		})
	}
}

func TestLimits(t *testing.T) {
	const limit = 64
	block := func(n int) string { // an object of n bytes
		const around = `{"text":""}`
		return `{"text":"` + strings.Repeat("x", n-len(around)) + `"}`
	}
	over := block(limit + 1)
	tests := []struct {
		name    string
		framing wire.Framing
		body    string
		limit   int
		offset  int // where the block begins that is too large, -1 if none is
	}{
		{"sse, exactly the limit", wire.FramingSSE, "data: " + block(limit) + "\n\ndata: {\"done\":true}\n\n", limit, -1},
		{"sse, one more", wire.FramingSSE, "data: {}\n\ndata: " + over + "\n\n", limit, 10},
		{"sse, without end", wire.FramingSSE, "data: {}\n\ndata: " + strings.Repeat("x", 5000), limit, 10},
		{"sse, many lines", wire.FramingSSE, "data: {}\n\n" + strings.Repeat("data: 1234567\n", 9) + "\n", limit, 10},
		{"sse, pending", wire.FramingSSE, "data: {}\n\ndata: " + over, limit, 10},
		{"stray JSON, exactly the limit", wire.FramingSSE, block(limit) + "\ndata: {\"done\":true}\n\n", limit, -1},
		{"stray JSON of one line, one more", wire.FramingSSE, "data: {}\n\n" + over + "\n", limit, 10},
		{"stray JSON of several lines", wire.FramingSSE, "data: {}\n\n{\"text\":\n\"" + strings.Repeat("x", 20) + "\",\n\"a\":\"" + strings.Repeat("x", 20) + "\",\n\"b\":\"" + strings.Repeat("x", 20) + "\"}\n", limit, 10},
		{"lines, exactly the limit", wire.FramingLines, block(limit) + "\n{\"done\":true}\n", limit, -1},
		{"lines, exactly the limit and CRLF", wire.FramingLines, block(limit) + "\r\n{\"done\":true}\r\n", limit, -1},
		{"lines, exactly the limit at the end", wire.FramingLines, "{\"note\":\"a\"}\n" + strings.Replace(block(limit-12), "}", `,"done":true}`, 1), limit, -1},
		{"lines, one more", wire.FramingLines, "{}\n\n" + over + "\n", limit, 4},
		{"lines, one more at the end", wire.FramingLines, "{}\n\n" + over, limit, 4},
		{"lines, without end", wire.FramingLines, "{}\n\n" + strings.Repeat("x", 100_000), limit, 4},
		{"lines, after many", wire.FramingLines, strings.Repeat("{}\n", 10_000) + over + "\n", limit, 30_000},
		{"whole, exactly the limit", wire.FramingWhole, strings.Replace(block(limit-12), "}", `,"done":true}`, 1), limit, -1},
		{"whole, one more", wire.FramingWhole, over, limit, 0},
		{"whole, without end", wire.FramingWhole, strings.Repeat("[", 100_000), limit, 0},
		{"sse, no limit", wire.FramingSSE, "data: " + block(100_000) + "\n\ndata: {\"done\":true}\n\n", -1, -1},
		{"stray JSON, no limit", wire.FramingSSE, block(100_000) + "\ndata: {\"done\":true}\n\n", -1, -1},
		{"lines, no limit", wire.FramingLines, block(100_000) + "\n{\"done\":true}\n", -1, -1},
		{"whole, no limit", wire.FramingWhole, strings.Replace(block(100_000), "}", `,"done":true}`, 1), -1, -1},
		{"sse, the default", wire.FramingSSE, "data: " + block(1<<20) + "\n\ndata: {\"done\":true}\n\n", 0, -1},
		{"lines, the default", wire.FramingLines, block(1<<20) + "\n{\"done\":true}\n", 0, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 7, 64, 4096, len(tt.body)} {
				if len(tt.body) > 10_000 && size < 64 {
					continue
				}
				r, _ := read(t, &script{pieces: cut(tt.body, size)}, tt.framing, &stream.Options{MaxBlockBytes: tt.limit})
				if tt.offset < 0 {
					if r.cause() != wire.CauseFinished {
						t.Errorf("pieces of %d: %v", size, r.err)
					}
					continue
				}
				isLimit(t, &r, size, tt.limit, tt.offset)
				// It does not matter what comes after the bytes that are too many.
				r, _ = read(t, &script{pieces: cut(tt.body, size), err: syscall.ECONNRESET, with: true}, tt.framing,
					&stream.Options{MaxBlockBytes: tt.limit})
				if !strings.HasSuffix(tt.name, "pending") {
					isLimit(t, &r, size, tt.limit, tt.offset)
				}
			}
		})
	}
	if stream.DefaultMaxBlockBytes != 32<<20 {
		t.Errorf("the default limit is %d", stream.DefaultMaxBlockBytes)
	}
}

// isLimit checks that a stream ended at the limit, and that the error says which
// one and where.
func isLimit(t *testing.T, r *result, size, limit, offset int) {
	t.Helper()
	if r.cause() != wire.CauseLimit {
		t.Errorf("pieces of %d: cause %s (%v)", size, r.cause(), r.err)
		return
	}
	text := r.err.Error()
	for _, want := range []string{"byte " + strconv.Itoa(offset) + ",", strconv.Itoa(limit) + " bytes", "MaxBlockBytes"} {
		if !strings.Contains(text, want) {
			t.Errorf("pieces of %d: %q does not say %q", size, text, want)
		}
	}
	var le *sse.LimitError
	if errors.As(r.err, &le) && (le.Limit != limit || le.Offset != int64(offset)) {
		t.Errorf("pieces of %d: %+v", size, le)
	}
}

// TestLimitStopsReading: what is too large is not read to its end.
func TestLimitStopsReading(t *testing.T) {
	for _, framing := range []wire.Framing{wire.FramingSSE, wire.FramingLines, wire.FramingWhole} {
		body := &script{pieces: cut("data: "+strings.Repeat("x", 1<<20), 512)}
		r, _ := read(t, body, framing, &stream.Options{MaxBlockBytes: 1000})
		if r.cause() != wire.CauseLimit || body.bytes > 16<<10 {
			t.Errorf("%s: cause %s after %d bytes", framing, r.cause(), body.bytes)
		}
	}
}

// TestFaults are faults of adapters that lie in the joint of framing and codec.
func TestFaults(t *testing.T) {
	const hi = "data: {\"text\":\"hi\"}\n\n"
	tests := []struct {
		name    string
		framing wire.Framing
		body    string
		cause   wire.Cause
		text    string
		notes   []string // each in one note, in this order
	}{
		{"F01 CRLF", wire.FramingSSE, "data: {\"text\":\r\ndata: \"a\"}\r\n\r\ndata: [DONE]\r\n\r\n", wire.CauseFinished, "a", nil},
		{"F04 byte order mark", wire.FramingSSE, "\ufeff" + hi + "data: [DONE]\n\n", wire.CauseFinished, "hi", nil},
		{"F05 space after the colon", wire.FramingSSE, "data:{\"text\":\"a\"}\n\ndata:[DONE]\n\n", wire.CauseFinished, "a", nil},
		{"F06 comments", wire.FramingSSE, ": PROCESSING\n\n:\n\n" + hi + "data: [DONE]\n\n", wire.CauseFinished, "hi", nil},
		{"F09 last event without its blank line", wire.FramingSSE, hi + `data: {"done":true}`, wire.CauseFinished, "hi", nil},
		{"F09 with one line end", wire.FramingSSE, hi + "data: {\"done\":true}\n", wire.CauseFinished, "hi", nil},
		{"F09 with CR", wire.FramingSSE, hi + "data: {\"done\":true}\r", wire.CauseFinished, "hi", nil},
		{"F09 of two lines", wire.FramingSSE, hi + "event: a\ndata: {\"done\":\ndata: true}", wire.CauseFinished, "hi", nil},
		{"F09 [DONE]", wire.FramingSSE, hi + "data: [DONE]", wire.CauseFinished, "hi", nil},
		{"F09 whole, but no mark", wire.FramingSSE, hi + `data: {"text":"!"}`, wire.CauseTruncated, "hi!", nil},
		{"F10 cut JSON", wire.FramingSSE, hi + `data: {"text":"x","do`, wire.CauseTruncated, "hi", []string{"ends within an event, after 15 bytes"}},
		{"F10 cut [DONE]", wire.FramingSSE, hi + "data: [DON", wire.CauseTruncated, "hi", []string{"ends within an event"}},
		{"F10 cut in the field's name", wire.FramingSSE, hi + "dat", wire.CauseTruncated, "hi", nil},
		{"F10 cut before the data", wire.FramingSSE, hi + "event: a\n", wire.CauseTruncated, "hi", nil},
		{"F10 lines", wire.FramingLines, "{\"text\":\"hi\"}\n{\"text\":\"x\",\"do", wire.CauseTruncated, "hi", nil},
		{"F10 whole", wire.FramingWhole, `{"text":"x","do`, wire.CauseTruncated, "", nil},
		{"F11 clean end before the mark", wire.FramingSSE, hi, wire.CauseTruncated, "hi", nil},
		{"F11 lines", wire.FramingLines, "{\"text\":\"hi\"}\n", wire.CauseTruncated, "hi", nil},
		{"F11 whole", wire.FramingWhole, `{"text":"hi"}`, wire.CauseTruncated, "hi", nil},
		{"F14 error in the stream", wire.FramingSSE, hi + "data: {\"error\":\"busy\"}\n\ndata: [DONE]\n\n", wire.CauseVendor, "hi", nil},
		{"F15 empty", wire.FramingSSE, "", wire.CauseTruncated, "", nil},
		{"F15 comments alone", wire.FramingSSE, ": wait\n\n", wire.CauseTruncated, "", nil},
		{"F15 lines", wire.FramingLines, "\n\n", wire.CauseTruncated, "", nil},
		{"F15 whole", wire.FramingWhole, "", wire.CauseTruncated, "", nil},
		{"F15 white space", wire.FramingWhole, " \n", wire.CauseTruncated, "", nil},
		{"F18 a page", wire.FramingSSE, "<!doctype html>\n<title>Sign in</title>\n", wire.CauseProtocol, "", []string{"doctype", "Sign in"}},
		{"F18 a page as a document", wire.FramingWhole, "<!doctype html>", wire.CauseProtocol, "", nil},
		{"F21 unknown fields", wire.FramingSSE, "retry: 5x\nfoo: q\n" + hi + "data: [DONE]\n\n", wire.CauseFinished, "hi", []string{`"foo: q"`}},
		{"F23 type without data", wire.FramingSSE, "event: ping\n\n" + hi + "data: [DONE]\n\n", wire.CauseFinished, "hi", nil},
		{"F124 white space", wire.FramingSSE, "data: {\"text\":\" \"}\n\ndata: {\"text\":\"\\n\\n\"}\n\ndata: {\"text\":\"  x \"}\n\ndata: [DONE]\n\n", wire.CauseFinished, " \n\n  x ", nil},
		{"F124 lines", wire.FramingLines, "{\"text\":\" \"}\n{\"text\":\"\\n\\n\"}\n{\"text\":\"  x \",\"done\":true}\n", wire.CauseFinished, " \n\n  x ", nil},

		{"lines, the last without its end", wire.FramingLines, "{\"text\":\"hi\"}\n{\"done\":true}", wire.CauseFinished, "hi", nil},
		{"lines, one that is no JSON", wire.FramingLines, "{\"text\":\"hi\"}\noops\n{\"done\":true}\n", wire.CauseProtocol, "hi", nil},
		{"lines, the last that is no JSON", wire.FramingLines, "{\"text\":\"hi\"}\noops", wire.CauseProtocol, "hi", nil},
		{"whole, and a page behind it", wire.FramingWhole, `{"text":"a","done":true}<html>`, wire.CauseFinished, "a", nil},
		{"whole, a document behind one that is not the end", wire.FramingWhole, `{"text":"a"}{"done":true}`, wire.CauseTruncated, "a", nil},
		{"whole, and brackets in it", wire.FramingWhole, " \n{\"text\":\"}]\\\"}\\\\\",\"x\":[{}],\"done\":true}]", wire.CauseFinished, "}]\"}\\", nil},
		{"whole, brackets that do not match", wire.FramingWhole, `{"text":"a","x":[}`, wire.CauseProtocol, "", nil},
		{"whole, a mark before it", wire.FramingWhole, "\ufeff{\"text\":\"a\",\"done\":true}", wire.CauseFinished, "a", nil},
		{"whole, a number", wire.FramingWhole, "12", wire.CauseProtocol, "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 2, 3, 5, 1 << 10} {
				r, _ := read(t, &script{pieces: cut(tt.body, size)}, tt.framing, nil)
				if r.cause() != tt.cause || r.text() != tt.text {
					t.Errorf("pieces of %d: cause %s, text %q; want %s, %q (%v)", size, r.cause(), r.text(), tt.cause, tt.text, r.err)
				}
				hasNotes(t, &r, tt.notes)
			}
		})
	}
}

// hasNotes checks that there are as many notes as words, each with its word.
func hasNotes(t *testing.T, r *result, want []string) {
	t.Helper()
	got := r.notes()
	ok := len(got) == len(want)
	for i := range want {
		ok = ok && strings.Contains(got[i], want[i])
	}
	if !ok {
		t.Errorf("notes %q, want %q", got, want)
	}
}

// TestStray are lines between the events that are no fields.
func TestStray(t *testing.T) {
	const hi, done = "data: {\"text\":\"hi\"}\n\n", "data: [DONE]\n\n"
	long := strings.Repeat("日", 200)
	tests := []struct {
		name   string
		body   string
		blocks []string // that are not hi and done
		cause  wire.Cause
		notes  []string
	}{
		{"an error of one line", hi + "{\"error\":\"busy\"}\n\n" + done, []string{`:{"error":"busy"}`}, wire.CauseVendor, nil},
		{"an error of several lines", hi + "{\n  \"error\": \"busy\"\n}\n", []string{":{\n  \"error\": \"busy\"\n}"}, wire.CauseVendor, nil},
		{"the same with CRLF", hi + "{\r\n  \"error\": \"busy\"\r\n}\r\n", []string{":{\n  \"error\": \"busy\"\n}"}, wire.CauseVendor, nil},
		{"the same without the last line end", hi + "{\n  \"error\": \"busy\"\n}", []string{":{\n  \"error\": \"busy\"\n}"}, wire.CauseVendor, nil},
		{"the same with blank lines in it", hi + "{\n\n  \"error\":\n\n \"busy\"\n\n}\n", []string{":{\n  \"error\":\n \"busy\"\n}"}, wire.CauseVendor, nil},
		{"an error and nothing else", "{\"error\":\"busy\"}", []string{`:{"error":"busy"}`}, wire.CauseVendor, nil},
		{"white space before it", "  {\"error\":\"busy\"}\n", []string{`:  {"error":"busy"}`}, wire.CauseVendor, nil},
		{"an object that says nothing", hi + "{}\n" + done, []string{":{}"}, wire.CauseFinished, nil},
		{"two objects", "{\"text\":\"a\"}\n{\"text\":\n\"b\"}\n" + done, []string{`:{"text":"a"}`, ":{\"text\":\n\"b\"}"}, wire.CauseFinished, nil},
		{"a bracket within a string", hi + "{\"error\":\n\"}{\"\n}\n", []string{":{\"error\":\n\"}{\"\n}"}, wire.CauseVendor, nil},
		{"between the lines of an event", "event: a\n{\"error\":\"busy\"}\ndata: {}\n\n", []string{`:{"error":"busy"}`}, wire.CauseVendor, nil},
		{"text", hi + "oops\n" + done, nil, wire.CauseFinished, []string{`"oops"`}},
		{"a scalar", hi + "\"oops\"\n" + done, nil, wire.CauseFinished, []string{`"\"oops\""`}},
		{"the beginning of a field's name, as a line", hi + "da\n" + done, nil, wire.CauseFinished, []string{`"da"`}},
		{"text before the first event", "upstream connect error\n\n" + hi + done, nil, wire.CauseFinished, []string{"upstream connect error"}},
		{"begins as JSON and is none", hi + "{oops\n" + done, nil, wire.CauseFinished, []string{"{oops"}},
		{"JSON that an event cuts off", "{\"error\":\n" + hi + done, nil, wire.CauseFinished, []string{`{\"error\":`}},
		{"JSON that the end cuts off", hi + "{\"error\":\n [1", nil, wire.CauseTruncated, []string{`{\"error\":`}},
		{"JSON before a last block without its blank line", "{\"error\":\n" + hi + "data: [DONE]", nil, wire.CauseFinished, []string{`{\"error\":`}},
		{"no JSON, and then an error", hi + "{oops\n{\"error\":\"busy\"}\n", []string{`:{"error":"busy"}`}, wire.CauseVendor, []string{"{oops"}},
		{"JSON that goes wrong at an error", hi + "{\"a\"\n{\"error\":\"busy\"}\n", []string{`:{"error":"busy"}`}, wire.CauseVendor, []string{`{\"a\"`}},
		{"after the mark", done + "{\"error\":\"late\"}\noops\n", nil, wire.CauseFinished, nil},
		{"long", long + "\n" + hi + done, nil, wire.CauseFinished, []string{"日日"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 3, 1 << 10} {
				r, d := read(t, &script{pieces: cut(tt.body, size)}, wire.FramingSSE, nil)
				var blocks []string
				for _, b := range d.blocks {
					if b != `message:{"text":"hi"}` && b != "message:[DONE]" {
						blocks = append(blocks, b)
					}
				}
				if d := cmp.Diff(tt.blocks, blocks); d != "" {
					t.Errorf("blocks (-want +got):\n%s", d)
				}
				if r.cause() != tt.cause {
					t.Errorf("cause %s (%v), want %s", r.cause(), r.err, tt.cause)
				}
				hasNotes(t, &r, tt.notes)
				for _, n := range r.notes() {
					if len(n) > 1000 || strings.Contains(n, `\x`) {
						t.Errorf("a note that is long or cuts a character: %s", n)
					}
				}
			}
		})
	}
}

// TestStrayIsBounded: a body of nothing but stray lines makes few notes.
func TestStrayIsBounded(t *testing.T) {
	for line, cause := range map[string]wire.Cause{
		"oops\n": wire.CauseProtocol, "{oops\n": wire.CauseProtocol,
		"{\"a\":\n\n": wire.CauseTruncated, "[\n": wire.CauseTruncated, // JSON that may go on
	} {
		r, _ := read(t, strings.NewReader(strings.Repeat(line, 10_000)), wire.FramingSSE, &stream.Options{MaxBlockBytes: 1 << 20})
		if n := len(r.notes()); n == 0 || n > 20 {
			t.Errorf("%q: %d notes", line, n)
		}
		if r.cause() != cause {
			t.Errorf("%q: %v", line, r.err)
		}
	}
}

func TestDecodeFails(t *testing.T) {
	for framing, body := range map[wire.Framing]string{
		wire.FramingSSE:   "data: {\"text\":\"a\"}\n\ndata: {\"text\":\"b\",\"note\":\"n\",\"broken\":true}\n\ndata: {\"text\":\"c\"}\n\n",
		wire.FramingLines: "{\"text\":\"a\"}\n{\"text\":\"b\",\"note\":\"n\",\"broken\":true}\n{\"text\":\"c\"}\n",
		wire.FramingWhole: `{"text":"ab","note":"n","broken":true}`,
	} {
		t.Run(string(framing), func(t *testing.T) {
			r, d := read(t, strings.NewReader(body), framing, nil)
			if r.text() != "ab" || r.cause() != wire.CauseProtocol {
				t.Errorf("text %q, cause %s", r.text(), r.cause())
			}
			hasNotes(t, &r, []string{"n"})
			evs := r.events
			if p := evs[len(evs)-2]; p.Kind != wire.EventPartEnd || p.Data == nil || !p.Data.Partial {
				t.Errorf("before the end comes %+v", p)
			}
			if len(d.ends) != 1 || d.ends[0] == nil || d.ends[0].Error() != r.err.Error() {
				t.Errorf("End was given %v", d.ends)
			}

			// What a decoder cannot read is not the protocol, also if it says so in a plain error.
			r, _ = read(t, strings.NewReader(strings.Replace(body, "broken", "plain", 1)), framing, nil)
			if r.cause() != wire.CauseProtocol || !errors.Is(r.err, errPlain) {
				t.Errorf("a plain error: %s, %v", r.cause(), r.err)
			}
		})
	}
}

func TestUnknownFraming(t *testing.T) {
	for _, framing := range []wire.Framing{wire.FramingEventStream, "another"} {
		body := &script{pieces: []string{sseBody}}
		r, d := read(t, body, framing, nil)
		if r.cause() != wire.CauseConfig || !strings.Contains(r.err.Error(), string(framing)) {
			t.Errorf("%v", r.err)
		}
		if body.reads != 0 || len(d.blocks) != 0 {
			t.Errorf("%d reads, blocks %q", body.reads, d.blocks)
		}
	}
}

// TestRangedTwice: a stream can be ranged over once; another time there is
// nothing in it, and nothing is read.
func TestRangedTwice(t *testing.T) {
	for _, leave := range []bool{false, true} {
		body := &script{pieces: cut(sseBody+"oops\n\ndata: {\"text\":\"x\"}\n\n", 20)}
		s := stream.Read(body, new(toy), wire.FramingSSE, nil)
		for range s {
			if leave {
				break
			}
		}
		reads := body.reads
		n := 0
		for ev, err := range s {
			if n++; ev.Kind != wire.EventEnd || ev.End.Cause != wire.CauseConfig || err != ev.End.Err || n > 1 {
				t.Errorf("leaving early %t: the second time there is %+v, %v", leave, ev, err)
			}
		}
		if n != 1 {
			t.Errorf("leaving early %t: the second time there are %d events", leave, n)
		}
		if body.reads != reads {
			t.Errorf("leaving early %t: %d more reads", leave, body.reads-reads)
		}
	}
}

// TestEventsStay: what was handed out does not change when more is read.
func TestEventsStay(t *testing.T) {
	for _, b := range bodies {
		var was []string
		var evs []wire.Event
		for ev := range stream.Read(&script{pieces: cut(b.body, 5)}, new(toy), b.framing, nil) {
			was = append(was, strings.Clone(fmt.Sprintf("%+v", ev)))
			evs = append(evs, ev)
		}
		for i := range evs {
			if now := fmt.Sprintf("%+v", evs[i]); now != was[i] {
				t.Errorf("%s: event %d was %s and is now %s", b.name, i, was[i], now)
			}
		}
	}
}
