package golden

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/handwire/handwire/sse"
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/stream"
)

// response checks what the codec makes of the response of turn n.
func (k *checker) response(n int) {
	k.t.Helper()
	t := &k.f.Turns[n-1]
	whole, err := k.decode(t, &pieces{data: t.Response})
	if err != nil {
		k.errorf(n, "the whole response: %v", err)
		return
	}
	text := AppendEvents(nil, whole)
	if !k.o.Update {
		k.compare(n, strconv.Itoa(n)+".events.txt, without its first line,", []byte(t.Events), text)
	} else if t.Terminal, err = k.findTerminal(t, whole); err != nil {
		k.errorf(n, "%v", err)
		return
	}
	if finished(whole) != (t.Terminal >= 0) {
		k.errorf(n, "the events file says terminal %d, and the whole response ends with cause %s", t.Terminal, ending(whole).Cause)
		return
	}
	k.message(n, whole)
	if !t.failed() {
		if err := k.chunks(t, whole); err != nil {
			k.errorf(n, "%v", err)
		}
	}
	if err := k.cuts(t, whole); err != nil {
		k.errorf(n, "%v", err)
		return
	}
	if k.o.Update {
		at := "none"
		if t.Terminal >= 0 {
			at = strconv.Itoa(t.Terminal)
		}
		k.save(strconv.Itoa(n)+".events.txt", append([]byte("terminal: "+at+"\n"), text...))
	}
}

// decode returns the events of a response body, whose grammar it checks. It
// fails if the codec panics or breaks the grammar.
func (k *checker) decode(t *Turn, body io.Reader) (events []wire.Event, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the codec panics: %v\n%s", p, debug.Stack())
		}
	}()
	if t.failed() {
		data, _ := io.ReadAll(body)
		e := k.c.DecodeError(t.head(), data)
		if e == nil {
			return nil, fmt.Errorf("DecodeError returns nil")
		}
		events = []wire.Event{{Kind: wire.EventEnd, End: &wire.Ending{Cause: e.Cause, Err: e}}}
	} else {
		dec := &forgetful{Decoder: k.c.NewDecoder(t.head())}
		for ev, failed := range stream.Read(body, dec, t.Framing, nil) {
			events = append(events, ev)
			if (failed != nil) != (ev.Kind == wire.EventEnd && ev.End != nil && ev.End.Err != nil) {
				return events, fmt.Errorf("event %d (%s) comes with the error %v", len(events)-1, ev.Kind, failed)
			}
		}
		if len(events) > 0 && ending(events) != nil {
			if err := over(dec, ending(events)); err != nil {
				return events, err
			}
		}
	}
	if err := wire.CheckEvents(events); err != nil {
		return events, fmt.Errorf("the events break the grammar: %w", err)
	}
	return events, nil
}

// over checks that a decoder adds nothing after its end event.
func over(dec wire.Decoder, end *wire.Ending) error {
	if more, err := dec.Decode(nil, "", []byte("{}")); len(more) > 0 || err != nil {
		return fmt.Errorf("a block after the end event gives %d events and the error %v", len(more), err)
	}
	more, err := dec.End(nil, nil)
	if len(more) > 0 {
		return fmt.Errorf("after the end event, End adds %s", AppendEvents(nil, more))
	}
	if (err == nil) != (end.Err == nil) || err != nil && err.Error() != end.Err.Error() {
		return fmt.Errorf("after the end event, End returns the error %v, not that of the event, %v", err, end.Err)
	}
	return nil
}

// forgetful is a decoder whose blocks are overwritten once they were decoded,
// so that it shows who keeps them.
type forgetful struct {
	wire.Decoder
	block []byte
}

func (f *forgetful) Decode(dst []wire.Event, name string, data []byte) ([]wire.Event, error) {
	f.block = append(f.block[:0], data...)
	dst, err := f.Decoder.Decode(dst, name, f.block)
	for i := range f.block {
		f.block[i] = '~'
	}
	return dst, err
}

// ending returns how events that CheckEvents accepted end.
func ending(events []wire.Event) *wire.Ending { return events[len(events)-1].End }

func finished(events []wire.Event) bool { return ending(events).Cause == wire.CauseFinished }

// message builds the message of events.
func message(events []wire.Event) wire.Message {
	var b wire.Builder
	for i := range events {
		b.Add(&events[i])
	}
	return b.Message()
}

// message checks that a response builds the message of the history.
func (k *checker) message(n int, whole []wire.Event) {
	k.t.Helper()
	at := assistant(&k.f.History, n)
	if at == len(k.f.History.Messages) {
		return
	}
	got, want := message(whole), k.f.History.Messages[at]
	if got.Origin != nil && want.Origin != nil && got.Origin.Endpoint == "" {
		got.Origin.Endpoint = want.Origin.Endpoint
	}
	if d := Diff(indented(want), indented(got)); d != "" {
		k.errorf(n, "the response builds another message than messages[%d] of the history (want), which %s", at, d)
	}
}

// indented returns a message as JSON of many lines, without cache marks.
func indented(m wire.Message) []byte {
	m.Parts = slices.Clone(m.Parts)
	for i := range m.Parts {
		m.Parts[i].Cache = nil
	}
	var b bytes.Buffer
	_ = json.Indent(&b, appendJSON(nil, &m), "", "  ")
	return b.Bytes()
}

// pieces is a body that comes in pieces.
type pieces struct {
	data     []byte
	size     int   // of a piece; 0 is as much as fits
	split    int   // the length of the first piece, if it is not 0
	err      error // what follows the data; nil is io.EOF
	together bool  // err comes with the last piece
	empty    bool  // every other read gives nothing

	off  int
	idle bool
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.empty && !p.idle && len(b) > 0 {
		p.idle = true
		return 0, nil
	}
	p.idle = false
	end := len(p.data)
	if p.off < p.split {
		end = p.split
	}
	if p.size > 0 {
		end = min(end, p.off+p.size)
	}
	n := copy(b, p.data[p.off:end])
	p.off += n
	if p.off == len(p.data) && (n == 0 || p.together) {
		if p.err == nil {
			return n, io.EOF
		}
		return n, p.err
	}
	return n, nil
}

// chunks checks that the reads do not matter.
func (k *checker) chunks(t *Turn, whole []wire.Event) error {
	same := func(how string, body io.Reader) error {
		got, err := k.decode(t, body)
		if err == nil && !sameEvents(whole, got) {
			err = fmt.Errorf("the events, compared with the whole response, %s", Diff(AppendEvents(nil, whole), AppendEvents(nil, got)))
		}
		if err != nil {
			return fmt.Errorf("the response %s: %w", how, err)
		}
		return nil
	}
	for _, size := range []int{1, 2, 3, 7, 64, 4096} {
		if err := same(fmt.Sprintf("in pieces of %d bytes", size), &pieces{data: t.Response, size: size}); err != nil {
			return err
		}
	}
	if err := same("in pieces of 5 bytes, with reads of nothing between them", &pieces{data: t.Response, size: 5, empty: true}); err != nil {
		return err
	}
	if err := same("with its end in the same read as its last bytes", &pieces{data: t.Response, together: true}); err != nil {
		return err
	}
	return each(k.positions(t, 1, len(t.Response)-1), func(n int) error {
		return same(fmt.Sprintf("split at byte %d", n), &pieces{data: t.Response, split: n})
	})
}

// cuts checks the response cut and broken at every byte.
func (k *checker) cuts(t *Turn, whole []wire.Event) error {
	settled := t.settled()
	all := message(whole)
	return each(k.positions(t, 0, len(t.Response)), func(n int) error {
		for _, broken := range []error{nil, io.ErrUnexpectedEOF} {
			how := fmt.Sprintf("the response cut at byte %d", n)
			if broken != nil {
				how = fmt.Sprintf("the response broken at byte %d", n)
			}
			fail := func(format string, args ...any) error {
				return fmt.Errorf("%s (terminal %d): %s\n\tthe cut is at %s", how, t.Terminal, fmt.Sprintf(format, args...), window(t.Response, n))
			}
			evs, err := k.decode(t, &pieces{data: t.Response[:n], err: broken})
			if err != nil {
				return fail("%v", err)
			}
			if t.failed() {
				if finished(evs) {
					return fail("it looks finished")
				}
				continue
			}
			end := ending(evs)
			must := t.Terminal >= 0 && (n >= t.Terminal && broken == nil || n >= settled)
			may := must || t.Terminal >= 0 && n >= t.Terminal
			switch {
			case end.Cause == wire.CauseFinished && !may:
				return fail("it looks finished")
			case end.Cause != wire.CauseFinished && must:
				return fail("it must be finished and ends with cause %s: %v", end.Cause, end.Err)
			case end.Cause != wire.CauseFinished:
				want := wire.CauseTruncated
				if broken != nil {
					want = wire.CauseReset
				}
				// A stream that failed by itself may have done so before the cut.
				own := t.Terminal < 0 && all.Ending.Cause != wire.CauseTruncated && end.Cause == all.Ending.Cause
				if end.Cause != want && !own {
					return fail("it ends with cause %s, want %s: %v", end.Cause, want, end.Err)
				}
			}
			if err := beginning(message(evs), all); err != nil {
				return fail("%v", err)
			}
		}
		return nil
	})
}

// beginning checks that m is a beginning of whole, all of it if m finished.
func beginning(m, whole wire.Message) error {
	if len(m.Parts) > len(whole.Parts) {
		return fmt.Errorf("it has %d parts, the whole has %d", len(m.Parts), len(whole.Parts))
	}
	all := m.Ending.Cause == wire.CauseFinished
	if all && len(m.Parts) < len(whole.Parts) {
		return fmt.Errorf("it is finished with %d parts, the whole has %d", len(m.Parts), len(whole.Parts))
	}
	if all && m.Ending.Finish != whole.Ending.Finish {
		return fmt.Errorf("its finish reason is %s, that of the whole is %s", m.Ending.Finish, whole.Ending.Finish)
	}
	for i := range m.Parts {
		p, w := &m.Parts[i], &whole.Parts[i]
		switch {
		case p.Kind != w.Kind:
			return fmt.Errorf("part %d is %s, in the whole it is %s", i, p.Kind, w.Kind)
		case p.ID != "" && p.ID != w.ID, p.Name != "" && p.Name != w.Name:
			return fmt.Errorf("part %d is %q %q, in the whole it is %q %q", i, p.ID, p.Name, w.ID, w.Name)
		case !strings.HasPrefix(w.Text, p.Text):
			return fmt.Errorf("the text of part %d is no beginning of that in the whole: it %s", i, Diff([]byte(w.Text), []byte(p.Text)))
		case !strings.HasPrefix(w.Args, p.Args):
			return fmt.Errorf("the arguments of part %d are no beginning of those in the whole: they %s", i, Diff([]byte(w.Args), []byte(p.Args)))
		case all && p.Partial && !w.Partial:
			return fmt.Errorf("it is finished and part %d is partial", i)
		case !p.Partial && (p.Text != w.Text || p.Args != w.Args):
			return fmt.Errorf("part %d is cut off and not marked partial", i)
		}
	}
	return nil
}

// findTerminal returns the shortest length at which the response is finished.
// Whether that holds for all lengths is the business of cuts.
func (k *checker) findTerminal(t *Turn, whole []wire.Event) (int, error) {
	if !finished(whole) {
		return -1, nil
	}
	looks := func(n int) bool {
		evs, err := k.decode(t, &pieces{data: t.Response[:n]})
		return err == nil && finished(evs)
	}
	if looks(0) {
		return 0, fmt.Errorf("the response looks finished without a single byte")
	}
	return sort.Search(len(t.Response), looks), nil
}

// settled returns from which length on a broken response must be finished: that
// at which the block with the terminal mark has ended by its own means. It is
// more than the length of the response if that never happens.
func (t *Turn) settled() int {
	never := len(t.Response) + 1
	if t.Terminal < 0 {
		return never
	}
	switch t.Framing {
	case wire.FramingLines:
		if i := bytes.IndexByte(t.Response[t.Terminal-1:], '\n'); i >= 0 {
			return t.Terminal + i
		}
	case wire.FramingSSE:
		d := sse.NewDecoder(bytes.NewReader(t.Response), &sse.Options{Lines: true})
		var ev sse.Event
		for d.Decode(&ev) == nil {
			if n := int(d.Offset()); n >= t.Terminal {
				return n
			}
		}
	}
	return never
}

// positions returns the offsets to try between from and to, both included.
func (k *checker) positions(t *Turn, from, to int) []int {
	// Each place costs a run over the response, so that the larger it is the
	// fewer they are.
	const work, around = 64 << 20, 64
	ends := min(max(work/max(1, len(t.Response)), 64), k.o.Exhaustive/4)
	others := min(ends, 500)
	var ps []int
	if len(t.Response) <= k.o.Exhaustive {
		for n := from; n <= to; n++ {
			ps = append(ps, n)
		}
		return ps
	}
	span := func(lo, hi int) {
		for n := max(from, lo); n <= min(to, hi); n++ {
			ps = append(ps, n)
		}
	}
	span(from, from+ends)
	span(to-ends, to)
	span(t.Terminal-around, t.Terminal+around)
	rnd := rand.New(rand.NewPCG(1, uint64(len(t.Response))))
	for range others {
		ps = append(ps, from+rnd.IntN(to-from+1))
	}
	slices.Sort(ps)
	return slices.Compact(ps)
}

// each calls f for every position, several at a time, and returns the error of
// the first position that has one.
func each(positions []int, f func(int) error) error {
	var (
		mu    sync.Mutex
		next  int
		first = len(positions) // the first position that failed
		found error
		wg    sync.WaitGroup
	)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= first
				mu.Unlock()
				if stop {
					return
				}
				if err := f(positions[i]); err != nil {
					mu.Lock()
					if i < first {
						first, found = i, err
					}
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return found
}
