package golden

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/handwire/handwire/wire"
)

// Break is how a response body ends before its time.
type Break string

// The breaks.
const (
	// BreakNone sends the whole body.
	BreakNone Break = ""
	// BreakCut ends the body cleanly, as a proxy does that lost its server.
	BreakCut Break = "cut"
	// BreakReset breaks the connection within the body; a client of net/http
	// sees io.ErrUnexpectedEOF.
	BreakReset Break = "reset"
	// BreakStall sends nothing more and waits until the client goes.
	BreakStall Break = "stall"
)

// Faults are what can go wrong with one answer. The zero value sends the
// recording at once and whole.
type Faults struct {
	// Status answers with this status, and with Header and Body, in the place
	// of the recording. The request is not looked at, and the turn is not used
	// up, so that it answers the next request. It is from 200 to 599, and 0
	// is none; with any other, the request is an error like one that the
	// fixture does not have.
	Status int
	Header []wire.Header
	Body   []byte
	// Wait is the time before the head of the answer.
	Wait time.Duration
	// Piece is how many bytes go out at a time; 0 is all. A server flushes
	// each piece.
	Piece int
	// Split ends a piece after so many bytes of the body; 0 does not.
	Split int
	// Delay is the time between two pieces.
	Delay time.Duration
	// Break ends the body after At bytes, or at its end if it is shorter.
	Break Break
	At    int
}

// ServeOptions are the options of [Serve] and [NewReplay]. Nil and the zero
// value answer the turns in order, to requests of exactly their bytes.
type ServeOptions struct {
	// Match says whether a request body belongs to a turn, which counts from
	// 1. Nil compares it with the recorded body byte for byte.
	Match func(turn int, body []byte) error
	// AnyOrder answers each request from the first turn that it matches, as
	// often as one likes, rather than turn by turn.
	AnyOrder bool
	// Faults are those of every answer, unless Each is set.
	Faults
	// Each gives the faults of one answer. Requests count from 1, those
	// included that were not answered from the recording.
	Each func(request int) Faults
}

// maxRequestBytes limits the request body that is read, 64 MiB.
const maxRequestBytes = 64 << 20

// player answers requests from a fixture.
type player struct {
	f    *Fixture
	opts ServeOptions

	mu       sync.Mutex
	requests int
	next     int // the turn to be answered next, from 0
	err      error
}

// set prepares a player, before its first request.
func (p *player) set(f *Fixture, opts *ServeOptions) {
	p.f = f
	if opts != nil {
		p.opts = *opts
	}
}

// answer is one answer and what shall go wrong with it.
type answer struct {
	status int
	header []wire.Header
	body   []byte
	faults Faults
}

// answer chooses the answer to a request.
func (p *player) answer(body []byte) (answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	a, err := p.choose(body)
	if err == nil && !final(a.status) {
		err = fmt.Errorf("golden: request %d cannot be answered with status %d, only with one from 200 to 599", p.requests, a.status)
	}
	if err != nil {
		p.failed(err)
		return answer{}, err
	}
	return a, nil
}

func (p *player) choose(body []byte) (answer, error) {
	if p.f == nil {
		return answer{}, errors.New("golden: there is no fixture: use NewReplay or Serve")
	}
	faults := p.opts.Faults
	if p.opts.Each != nil {
		faults = p.opts.Each(p.requests)
	}
	if faults.Status != 0 {
		return answer{faults.Status, faults.Header, faults.Body, faults}, nil
	}
	turn := p.inOrder
	if p.opts.AnyOrder {
		turn = p.anyOrder
	}
	t, err := turn(body)
	if err != nil {
		return answer{}, err
	}
	return answer{t.Status, t.Header, t.Response, faults}, nil
}

// failed remembers the first error.
func (p *player) failed(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *player) inOrder(body []byte) (*Turn, error) {
	for p.next < len(p.f.Turns) && p.f.Turns[p.next].RequestBody == nil {
		p.next++ // a turn without files
	}
	n := p.next + 1
	if n > len(p.f.Turns) {
		return nil, fmt.Errorf("golden: request %d comes after the last of the %d turns of %s", n, len(p.f.Turns), p.f.Name)
	}
	t := &p.f.Turns[p.next]
	if t.Response == nil {
		return nil, fmt.Errorf("golden: request %d has no response in %s", n, p.f.Name)
	}
	if err := p.match(n, body); err != nil {
		return nil, err
	}
	p.next++
	return t, nil
}

func (p *player) anyOrder(body []byte) (*Turn, error) {
	var nearest error
	most := -1
	for i := range p.f.Turns {
		t := &p.f.Turns[i]
		if t.Response == nil {
			continue
		}
		err := p.match(i+1, body)
		if err == nil {
			return t, nil
		}
		if n := common(t.RequestBody, body); n > most {
			most, nearest = n, err
		}
	}
	if nearest == nil {
		return nil, fmt.Errorf("golden: %s has no responses", p.f.Name)
	}
	return nil, fmt.Errorf("golden: no turn of %s has this request; of the nearest: %w", p.f.Name, nearest)
}

// match compares a request body with turn n.
func (p *player) match(n int, body []byte) error {
	if p.opts.Match != nil {
		if err := p.opts.Match(n, body); err != nil {
			return fmt.Errorf("golden: request %d does not match: %w", n, err)
		}
		return nil
	}
	if d := Diff(p.f.Turns[n-1].RequestBody, body); d != "" {
		return fmt.Errorf("golden: request %d %s", n, strings.Join(strings.Fields(d), " "))
	}
	return nil
}

func (p *player) firstError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

func (p *player) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests
}

// readRequest reads a request body.
func readRequest(r io.Reader) ([]byte, error) {
	if r == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(r, maxRequestBytes+1))
	if err == nil && len(body) > maxRequestBytes {
		err = fmt.Errorf("golden: the request body is larger than the limit of %d bytes", maxRequestBytes)
	}
	return body, err
}

// fill copies the headers of an answer, without those that belong to the
// connection and the length, which are made anew.
func (a *answer) fill(h http.Header) {
	for _, line := range a.header {
		switch http.CanonicalHeaderKey(line.Name) {
		case "Connection", "Content-Length", "Keep-Alive", "Transfer-Encoding", "Trailer", "Upgrade":
		default:
			h.Add(line.Name, line.Value)
		}
	}
}

// pieces returns what of the body goes out, in pieces.
func (a *answer) pieces() [][]byte {
	body := a.body
	if a.faults.Break != BreakNone {
		body = body[:min(len(body), max(0, a.faults.At))]
	}
	size := a.faults.Piece
	if size <= 0 {
		size = max(1, len(body))
	}
	split := a.faults.Split
	if split <= 0 || split >= len(body) {
		return slices.Collect(slices.Chunk(body, size))
	}
	return append(slices.Collect(slices.Chunk(body[:split], size)), slices.Collect(slices.Chunk(body[split:], size))...)
}

// wait waits, and reports false if ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Replay is an http.RoundTripper that answers from a fixture without a network.
// It is made by [NewReplay], and may be used by several goroutines.
type Replay struct{ player player }

var _ http.RoundTripper = (*Replay)(nil)

// NewReplay returns a Replay of f.
func NewReplay(f *Fixture, opts *ServeOptions) *Replay {
	r := &Replay{}
	r.player.set(f, opts)
	return r
}

// Err returns the first thing that went wrong with a request: it was not the one
// that the fixture has, there was none left, or the status was none to answer
// with. Other faults on demand do not count.
func (r *Replay) Err() error { return r.player.firstError() }

// Requests returns how many requests came.
func (r *Replay) Requests() int { return r.player.count() }

// RoundTrip answers one request. One that the fixture does not have is an error,
// which [Replay.Err] remembers.
func (r *Replay) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = readRequest(req.Body)
		_ = req.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a, err := r.player.answer(body)
	if err != nil {
		return nil, err
	}
	if !wait(ctx, a.faults.Wait) {
		return nil, ctx.Err()
	}
	resp := &http.Response{
		Status:     strings.TrimSpace(strconv.Itoa(a.status) + " " + http.StatusText(a.status)),
		StatusCode: a.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{},
		ContentLength: -1,
		Request:       req,
	}
	a.fill(resp.Header)
	ctx, cancel := context.WithCancelCause(ctx)
	resp.Body = &replayBody{ctx: ctx, cancel: cancel, pieces: a.pieces(), faults: a.faults}
	return resp, nil
}

// replayBody is the body of a replayed answer.
type replayBody struct {
	ctx    context.Context // ends with the request and with Close
	cancel context.CancelCauseFunc
	pieces [][]byte
	faults Faults
	begun  bool // a piece was read to its end
}

var errClosed = errors.New("golden: read on a closed response body")

func (b *replayBody) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if len(b.pieces) == 0 {
		switch b.faults.Break {
		case BreakReset:
			return 0, io.ErrUnexpectedEOF
		case BreakStall:
			<-b.ctx.Done()
			return 0, context.Cause(b.ctx)
		}
		return 0, io.EOF
	}
	if b.begun && b.faults.Delay > 0 {
		if !wait(b.ctx, b.faults.Delay) {
			return 0, context.Cause(b.ctx)
		}
	}
	n := copy(p, b.pieces[0])
	b.pieces[0] = b.pieces[0][n:]
	if b.begun = len(b.pieces[0]) == 0; b.begun {
		b.pieces = b.pieces[1:]
	}
	return n, nil
}

func (b *replayBody) Close() error {
	b.cancel(errClosed)
	return nil
}
