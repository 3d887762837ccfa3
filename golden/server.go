package golden

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
)

// Server is a real HTTP server on loopback that answers from a fixture. It is
// made by [Serve].
type Server struct {
	// URL is the address, without a slash at its end.
	URL string

	player player
	srv    *http.Server
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup // the server and its answers

	closing sync.Mutex
	closed  bool // no answer is begun any more
}

// Serve starts a server on a free port of 127.0.0.1. It answers requests of any
// method and path, so that any client of the fixture's vendor can talk to it. A
// request that the fixture does not have is answered with status 400 and the
// reason, in a form that most vendors' clients can show, and [Server.Err]
// remembers it.
func Serve(f *Fixture, opts *ServeOptions) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + l.Addr().String()}
	s.player.set(f, opts)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.srv = &http.Server{
		Handler:  http.HandlerFunc(s.serve),
		ErrorLog: log.New(io.Discard, "", 0),
	}
	s.wg.Go(func() { _ = s.srv.Serve(l) })
	return s, nil
}

// Err returns the first thing that went wrong with a request: it was not the one
// that the fixture has, there was none left, or the status was none to answer
// with. Other faults on demand do not count.
func (s *Server) Err() error { return s.player.firstError() }

// Requests returns how many requests came.
func (s *Server) Requests() int { return s.player.count() }

// Close ends the server and every answer that is still going out, and waits for
// them. It returns what Err returns.
func (s *Server) Close() error {
	s.closing.Lock()
	s.closed = true
	s.closing.Unlock()
	s.cancel()
	_ = s.srv.Close()
	s.wg.Wait()
	return s.Err()
}

// begin counts an answer, unless the server is closed.
func (s *Server) begin() bool {
	s.closing.Lock()
	defer s.closing.Unlock()
	if !s.closed {
		s.wg.Add(1)
	}
	return !s.closed
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if !s.begin() {
		return
	}
	defer s.wg.Done()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()

	body, err := readRequest(r.Body)
	if err != nil {
		s.refuse(w, err)
		return
	}
	a, err := s.player.answer(body)
	if err != nil {
		s.refuse(w, err)
		return
	}
	if !wait(ctx, a.faults.Wait) {
		return
	}
	a.fill(w.Header())
	if len(a.header) == 0 {
		w.Header()["Content-Type"] = nil // else net/http guesses one
	}
	w.WriteHeader(a.status)
	out := http.NewResponseController(w)
	_ = out.Flush()
	for i, piece := range a.pieces() {
		if i > 0 && !wait(ctx, a.faults.Delay) {
			return
		}
		if _, err := w.Write(piece); err != nil {
			return
		}
		_ = out.Flush()
	}
	switch a.faults.Break {
	case BreakReset:
		panic(http.ErrAbortHandler)
	case BreakStall:
		<-ctx.Done()
		panic(http.ErrAbortHandler)
	}
}

// refuse answers a request that the fixture does not have.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	s.player.mu.Lock()
	s.player.failed(err)
	s.player.mu.Unlock()
	type detail struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	body, _ := json.Marshal(struct {
		Type  string `json:"type"`
		Error detail `json:"error"`
	}{"error", detail{"invalid_request_error", err.Error()}})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(body)
}
