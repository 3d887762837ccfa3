package provider_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/retry"
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
	"github.com/handwire/handwire/wire/openaichat"
	"github.com/handwire/handwire/wire/stream"
)

var discardLog = log.New(io.Discard, "", 0)

// matrixCodec is what a codec needs to stand in the matrix: an answer of the text
// hi, and what a server of the protocol says besides.
type matrixCodec struct {
	name  string
	codec wire.Codec
	// The streamed answer: its events before the first part, the following ones up
	// to the text, the beginning of the next event up to a place where white space
	// is allowed, and the rest of it all.
	start, first, half, rest string
	document                 string // the answer as one document
	ping                     string // an event that brings nothing
	failure                  string // the vendor's error as an event
	failureDocument          string // and as a document
	// early is a beginning of the streamed answer after which its terminal event
	// is still to come, and after which it is finished all the same; empty if the
	// protocol has none.
	early string
}

// chatFinish is the rest of a chunk with the finish reason.
const chatFinish = "\"model\":\"m1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"

var matrixCodecs = []matrixCodec{
	{
		name: "anthropic-messages", codec: anthropic.Codec{},
		start: "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m1\",\"content\":[],\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n",
		first: "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n",
		half: "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",",
		rest: "\"index\":0}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}\n\n" +
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		document:        `{"id":"msg_1","type":"message","role":"assistant","model":"m1","content":[{"type":"text", "text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":7}}`,
		ping:            "event: ping\ndata: {\"type\":\"ping\"}\n\n",
		failure:         "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy " + key + "\"}}\n\n",
		failureDocument: `{"type":"error","error":{"type":"overloaded_error","message":"busy ` + key + `"}}`,
	},
	{
		name: "openai-chat", codec: openaichat.Codec{},
		start:           "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"m1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
		first:           "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"m1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n",
		half:            "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",",
		rest:            chatFinish + "data: [DONE]\n\n",
		document:        `{"id":"c1","object":"chat.completion","model":"m1","choices":[{"index":0, "message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`,
		ping:            ": OPENROUTER PROCESSING\n\n",
		failure:         "data: {\"error\":{\"message\":\"busy " + key + "\",\"type\":\"overloaded_error\"}}\n\n",
		failureDocument: `{"error":{"message":"busy ` + key + `","type":"overloaded_error"}}`,
		early:           chatFinish,
	},
}

var (
	matrixPlaces = []string{"before headers", "after headers", "mid event", "between events", "after the terminal event"}
	earlyPlace   = "before the terminal event, finished all the same"
	heldPlace    = "between the start and the first part"
	matrixFaults = []string{"clean close", "reset", "silence", "pings", "page", "error", "garbage", "gzip cut", "long line"}
	framings     = []wire.Framing{wire.FramingSSE, wire.FramingWhole}
	protos       = []string{"HTTP/1.1", "HTTP/2"}
)

// spoil returns an answer with a fault in a place. A document has no events: its
// middle stands for the middle of an event, and the white space that may stand
// before it for the place between two.
func (m *matrixCodec) spoil(place, fault string, framing wire.Framing) *spoiled {
	s := &spoiled{place: place, fault: fault}
	if framing == wire.FramingSSE {
		s.contentType, s.failure, s.ping, s.good = "text/event-stream", m.failure, ": still here\n\n"+m.ping, m.start+m.first+m.half+m.rest
		switch place {
		case "mid event":
			s.before, s.ping = m.start+m.first+m.half, " " // an event that grows is no content either
			s.failure = "\n\n" + m.failure
		case "between events":
			s.before = m.start + m.first
		case earlyPlace:
			s.before = m.start + m.first + m.half + m.early
		case heldPlace:
			s.before = m.start
		case "after the terminal event":
			s.before = s.good
		case "before headers":
			s.failure = m.failureDocument
		}
		return s
	}
	s.contentType, s.failure, s.ping, s.good = "application/json", m.failureDocument, " ", m.document
	switch place {
	case "mid event":
		s.before = m.document[:strings.Index(m.document, ", ")+1]
	case "between events":
		s.before = "\n \n"
	case "after the terminal event":
		s.before = m.document
	}
	return s
}

// ended is how a cell ends.
type ended struct {
	cause wire.Cause
	clock provider.Clock // that runs out
	class wire.Class     // of a vendor's error
	is    error          // what errors.Is finds besides
	rst   bool           // errors.As finds that the server reset the stream of HTTP/2
	odd   bool           // a note tells of what was passed over
}

// connReset is what the system says of a connection that was reset, nil where
// it has a word for it that package syscall does not know.
func connReset() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return syscall.ECONNRESET
}

// matrixWant says how each cell ends. Only the place, the fault and the framing
// matter, and where it says so the version of HTTP.
func matrixWant(place, fault string, framing wire.Framing, proto string) ended {
	sse := framing == wire.FramingSSE
	if place == "after the terminal event" { // a document's is its last bracket
		return ended{cause: wire.CauseFinished}
	}
	if place == earlyPlace { // what else there is to come is waited for, and does not count
		switch fault {
		case "silence":
			return ended{cause: wire.CauseFinished, clock: provider.ClockBytes, odd: true}
		case "pings":
			return ended{cause: wire.CauseFinished, clock: provider.ClockContent, odd: true}
		case "clean close":
			return ended{cause: wire.CauseFinished}
		case "error": // the vendor takes it back
			return ended{cause: wire.CauseVendor, class: wire.ClassOverloaded}
		}
		return ended{cause: wire.CauseFinished, odd: true}
	}
	if place == "before headers" {
		switch fault {
		case "silence", "pings": // an interim response is no answer
			return ended{cause: wire.CauseIdle, clock: provider.ClockHead}
		case "page":
			return ended{cause: wire.CauseVendor, class: wire.ClassServer}
		case "error": // what the vendor says counts before the status
			return ended{cause: wire.CauseVendor, class: wire.ClassOverloaded}
		case "reset":
			if proto == "HTTP/1.1" {
				return ended{cause: wire.CauseConnect, is: connReset()}
			}
			return ended{cause: wire.CauseConnect, rst: true}
		}
		return ended{cause: wire.CauseConnect}
	}
	switch fault {
	case "clean close": // half an event is passed over
		return ended{cause: wire.CauseTruncated, is: io.ErrUnexpectedEOF, odd: sse && place == "mid event"}
	case "reset":
		if proto == "HTTP/1.1" {
			return ended{cause: wire.CauseReset, is: connReset()}
		}
		return ended{cause: wire.CauseReset, rst: true}
	case "gzip cut":
		return ended{cause: wire.CauseReset, is: io.ErrUnexpectedEOF}
	case "silence":
		return ended{cause: wire.CauseIdle, clock: provider.ClockBytes}
	case "pings":
		return ended{cause: wire.CauseStalled, clock: provider.ClockContent}
	case "long line":
		return ended{cause: wire.CauseLimit}
	case "error":
		if place == "mid event" { // it breaks the event that it stands in
			return ended{cause: wire.CauseProtocol}
		}
		return ended{cause: wire.CauseVendor, class: wire.ClassOverloaded}
	case "page", "garbage":
		// Lines that are no field are passed over, as the standard of event
		// streams wants it. Unless they are all that there is, the stream is
		// then one that ends early. Within an event they spoil it.
		if sse && (place == "between events" || place == heldPlace) {
			return ended{cause: wire.CauseTruncated, is: io.ErrUnexpectedEOF, odd: true}
		}
		return ended{cause: wire.CauseProtocol, odd: sse && place == "after headers"}
	}
	panic("no such fault: " + fault)
}

// matrixCell is one cell and the client that looks at it.
type matrixCell struct {
	name    string
	codec   *matrixCodec
	spoiled *spoiled
	want    ended
	place   string
	framing wire.Framing
	count   *counting
	tr      *http.Transport
	client  *provider.Client
}

// matrixClocks are limits of time that are short where a cell waits for them, and
// else longer than any machine is slow.
func matrixClocks(waits provider.Clock) provider.Clocks {
	const short, long = 2 * time.Second, 25 * time.Second
	c := provider.Clocks{Connect: long, Head: long, Bytes: long, Content: long}
	switch waits {
	case provider.ClockHead:
		c.Head = short
	case provider.ClockBytes:
		c.Bytes, c.Content = short, 3*short
	case provider.ClockContent: // while signs of life come, the other one does not run out
		c.Bytes, c.Content = short, short+short/2
	}
	return c
}

// matrix makes all cells of the places, of the codecs that have them.
func matrix(t *testing.T, m *matrixServer, attempts int, places ...string) []*matrixCell {
	addr1 := m.http1(t)
	addr2, client2 := m.http2(t)
	var cells []*matrixCell
	for c := range matrixCodecs {
		for _, place := range places {
			for _, fault := range matrixFaults {
				for _, framing := range framings {
					for _, proto := range protos {
						if (place == earlyPlace || place == heldPlace) && framing != wire.FramingSSE || place == earlyPlace && matrixCodecs[c].early == "" {
							continue
						}
						// Each cell has connections of its own, since some break them.
						tr, base := http.DefaultTransport.(*http.Transport).Clone(), addr1
						if proto == "HTTP/2" {
							tr, base = client2.Transport.(*http.Transport).Clone(), addr2
						}
						x := &matrixCell{codec: &matrixCodecs[c], place: place, framing: framing, tr: tr, want: matrixWant(place, fault, framing, proto)}
						x.name = fmt.Sprintf("%s, %s, %s, %s, %s", x.codec.name, framing, proto, place, fault)
						x.spoiled = x.codec.spoil(place, fault, framing)
						x.spoiled.once = attempts > 1
						m.add(x.name, x.spoiled)
						x.connect(t, base, attempts)
						cells = append(cells, x)
					}
				}
			}
		}
	}
	return cells
}

// connect makes the client of a cell.
func (x *matrixCell) connect(t *testing.T, base string, attempts int) {
	x.tr.MaxResponseHeaderBytes = 64 << 10
	x.count = &counting{RoundTripper: &reading{x.tr, x.spoiled}}
	t.Cleanup(x.tr.CloseIdleConnections)
	x.client = newClient(t, base, func(cfg *provider.Config) {
		cfg.Codec = x.codec.codec
		cfg.HTTP = &http.Client{Transport: x.count}
		cfg.Header = []wire.Header{{Name: "X-Cell", Value: x.name}}
		cfg.Stream = &stream.Options{MaxBlockBytes: 64 << 10}
		cfg.Clocks = matrixClocks(x.want.clock)
		cfg.Trace = &provider.Trace{
			Request:  func(r provider.TraceRequest) { noKey(t, r) },
			Response: func(r provider.TraceResponse) { noKey(t, r) },
			Failed:   func(f provider.TraceFailure) { noKey(t, f); noKey(t, f.Err) },
		}
		cfg.Retry = &retry.Policy{MaxAttempts: attempts, BaseDelay: 100 * time.Millisecond, Rand: func() float64 { return 1 }}
	})
}

// whole fails unless there is a cell for every combination.
func whole(t *testing.T, cells []*matrixCell) []*matrixCell {
	t.Helper()
	if want := len(matrixCodecs) * 5 * 9 * 2 * 2; len(cells) != want {
		t.Fatalf("%d cells, want %d", len(cells), want)
	}
	return cells
}

// each looks at all cells and then at what is left of them. Cells that wait do it
// together, after the others, which are few at a time so that none waits for the
// machine.
func each(t *testing.T, cells []*matrixCell, look func(t *testing.T, x *matrixCell)) {
	before := runtime.NumGoroutine()
	for _, waits := range []bool{false, true} {
		var wg sync.WaitGroup
		gate := make(chan struct{}, map[bool]int{false: 8, true: len(cells)}[waits])
		for _, x := range cells {
			if (x.want.clock != "") != waits {
				continue
			}
			gate <- struct{}{}
			wg.Go(func() {
				defer func() { <-gate }()
				look(t, x)
				if x.count.open.Load() != 0 {
					t.Errorf("%s: a body is open", x.name)
				}
			})
		}
		wg.Wait()
	}
	for _, x := range cells { // a client that is finished does not wait for the server to come there
		within(t, 5*time.Second, x.name+": the server comes to the fault", x.spoiled.reached.Load)
	}
	within(t, 5*time.Second, "the goroutines are gone", func() bool {
		for _, x := range cells { // of HTTP/2, a connection is idle a little after its stream
			x.tr.CloseIdleConnections()
		}
		return runtime.NumGoroutine() <= before
	})
}

// collected is a stream that was read to its end, with all that must hold for it.
func (x *matrixCell) collected(t *testing.T) result {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var res result
	var last error
	for ev, err := range x.client.Stream(ctx, &wire.Request{Model: "m1", MaxTokens: 9, Messages: []wire.Message{wire.UserText("q")}}) {
		if last != nil {
			t.Errorf("%s: an event after the error", x.name)
		}
		res.events = append(res.events, ev)
		res.text += ev.Text()
		last = err
	}
	if err := wire.CheckEvents(res.events); err != nil {
		t.Errorf("%s: %v", x.name, err)
	}
	if last != nil {
		res.err = wire.AsError(last, "")
		if end := res.events[len(res.events)-1].End; end == nil || end.Err != res.err {
			t.Errorf("%s: the end event %+v does not belong to the error %v", x.name, end, res.err)
		}
		noKey(t, last)
	}
	noKey(t, res.events)
	return res
}

// check holds a result against what the cell is to be.
func (x *matrixCell) check(t *testing.T, res result) {
	cause := wire.CauseFinished
	if res.err != nil {
		cause = res.err.Cause
	}
	w := x.want
	switch {
	case cause != w.cause:
		t.Errorf("%s: cause %s, want %s: %v", x.name, cause, w.cause, res.err)
		return
	case res.err != nil && res.err.Class != w.class:
		t.Errorf("%s: class %q, want %q", x.name, res.err.Class, w.class)
	case w.is != nil && !errors.Is(res.err, w.is):
		t.Errorf("%s: no %v in %v", x.name, w.is, res.err)
	}
	var rst provider.StreamError
	if got := res.err != nil && errors.As(res.err, &rst); got != w.rst || got && rst.Code != h2InternalError {
		t.Errorf("%s: reset of a stream: %v, want %v: %v", x.name, got, w.rst, res.err)
	}
	var timeout *provider.TimeoutError
	if res.err != nil && errors.As(res.err, &timeout) != (w.clock != "") || timeout != nil && timeout.Clock != w.clock {
		t.Errorf("%s: clock %v, want %q", x.name, timeout, w.clock)
	}
	text := ""
	if x.delivers() || cause == wire.CauseFinished {
		text = "hi"
	}
	if res.text != text {
		t.Errorf("%s: text %q, want %q", x.name, res.text, text)
	}
	partial, odd := false, false
	for _, ev := range res.events {
		odd = odd || ev.Kind == wire.EventNote && ev.Note.Code == wire.NoteOdd
		partial = partial || ev.Kind == wire.EventPartEnd && ev.Data != nil && ev.Data.Partial
	}
	if partial != (text != "" && cause != wire.CauseFinished) {
		t.Errorf("%s: a part was cut off: %v", x.name, partial)
	}
	if w.odd != odd {
		t.Errorf("%s: a note on what was passed over: %v, want %v", x.name, odd, w.odd)
	}
}

// delivers reports whether a part of the answer comes before the fault.
func (x *matrixCell) delivers() bool {
	return x.framing == wire.FramingSSE && x.place != "before headers" && x.place != "after headers" && x.place != heldPlace
}

// TestMatrix: every fault, in every place, of every codec, in both framings of an
// answer and both versions of HTTP, over real connections.
func TestMatrix(t *testing.T) {
	m := newMatrixServer(t)
	each(t, whole(t, matrix(t, m, 1, matrixPlaces...)), func(t *testing.T, x *matrixCell) {
		x.check(t, x.collected(t))
		if n := m.count(x.name); n != 1 {
			t.Errorf("%s: %d requests", x.name, n)
		}
	})
}

// TestMatrixAgain: the same with a second attempt, which is made if and only if
// nothing was seen of the first one and another may help, and then brings the
// answer once. A start that is followed by no part was not seen.
func TestMatrixAgain(t *testing.T) {
	m := newMatrixServer(t)
	cells := append(whole(t, matrix(t, m, 2, matrixPlaces...)), matrix(t, m, 2, heldPlace)...)
	each(t, cells, func(t *testing.T, x *matrixCell) {
		res := x.collected(t)
		again := !x.delivers()
		switch x.want.cause {
		case wire.CauseFinished, wire.CauseProtocol, wire.CauseLimit:
			again = false
		}
		if n := m.count(x.name); n != map[bool]int{false: 1, true: 2}[again] {
			t.Errorf("%s: %d requests, again %v: %v", x.name, n, again, res.err)
			return
		}
		if !again {
			x.check(t, res)
			return
		}
		starts, retried := 0, 0
		for _, ev := range res.events {
			switch {
			case ev.Kind == wire.EventStart:
				starts++
			case ev.Kind == wire.EventNote && ev.Note.Code == wire.NoteRetried:
				if retried++; starts > 0 {
					t.Errorf("%s: the note comes after the start", x.name)
				}
			}
		}
		if res.err != nil || res.text != "hi" || starts != 1 || retried != 1 {
			t.Errorf("%s: %d starts, %d notes, text %q, %v", x.name, starts, retried, res.text, res.err)
		}
	})
}

// TestMatrixEarly: an answer whose protocol says that it is finished before its
// terminal event is finished whatever comes instead of that, unless it is the
// vendor's error, and a note tells of what did.
func TestMatrixEarly(t *testing.T) {
	m := newMatrixServer(t)
	cells := matrix(t, m, 1, earlyPlace)
	if len(cells) == 0 {
		t.Fatal("no cells")
	}
	each(t, cells, func(t *testing.T, x *matrixCell) { x.check(t, x.collected(t)) })
}
