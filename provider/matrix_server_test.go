package provider_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// pingEvery is the time between two signs of life.
const pingEvery = 50 * time.Millisecond

// spoiled is an answer with a fault in it.
type spoiled struct {
	place, fault string
	contentType  string
	before       string      // what is sent of the body
	ping         string      // a sign of life, in the place
	failure      string      // the vendor's error, in the place
	good         string      // the whole body, for the attempts after the first
	once         bool        // only the first attempt is spoiled
	read         gate        // the client has read before
	reached      atomic.Bool // the server has sent before and comes to the fault
}

// gate is passed once somebody has opened it.
type gate struct {
	once sync.Once
	c    chan struct{}
}

func (g *gate) open() { g.once.Do(func() { close(g.c) }) }

// reading is a transport that tells when the client has read what comes before
// the fault, so that a reset takes nothing with it that was sent.
type reading struct {
	*http.Transport
	s *spoiled
}

func (r *reading) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.Transport.RoundTrip(req)
	if err == nil {
		b := &readBody{ReadCloser: resp.Body, s: r.s, left: len(r.s.before)}
		b.had(0)
		resp.Body = b
	}
	return resp, err
}

type readBody struct {
	io.ReadCloser
	s    *spoiled
	left int
}

func (b *readBody) had(n int) {
	if b.left -= n; b.left <= 0 {
		b.s.read.open()
	}
}

func (b *readBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.had(n)
	return n, err
}

// page and garbage are what does not belong into an answer. Like the vendors'
// errors they repeat the key, in two forms.
var (
	page    = "<!doctype html><title>Sign in, " + key + "</title>\n"
	garbage = "\x00\x01\xfe\xff\x80 no answer " + base64.StdEncoding.EncodeToString([]byte(key)) + "\n"
)

// longLine is a line over the limit of the client.
var longLine = strings.Repeat("x", 256<<10)

// inserted is what a fault puts into the body, and then the body ends.
func (s *spoiled) inserted() (text string, ok bool) {
	end := "" // of the event that it got into
	if s.place == "mid event" && s.contentType == "text/event-stream" {
		end = "\n"
	}
	switch s.fault {
	case "page":
		return page + end, true
	case "error":
		return s.failure, true
	case "garbage":
		return garbage + end, true
	case "long line":
		if s.place == "after headers" && s.contentType == "text/event-stream" {
			return "data: " + longLine, true
		}
		return longLine, true
	}
	return "", false
}

// packed returns a gzip stream of text that is not ended.
func packed(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Flush()
	if text == "" {
		return b.Bytes()[:5]
	}
	return b.Bytes()
}

// matrixServer serves spoiled answers, told apart by the header X-Cell.
type matrixServer struct {
	t        *testing.T
	mu       sync.Mutex
	cells    map[string]*spoiled
	requests map[string]int
	over     chan struct{}
}

func newMatrixServer(t *testing.T) *matrixServer {
	m := &matrixServer{t: t, cells: map[string]*spoiled{}, requests: map[string]int{}, over: make(chan struct{})}
	t.Cleanup(func() { close(m.over) })
	return m
}

// await waits until the client has read what comes before the fault.
func (m *matrixServer) await(s *spoiled) {
	select {
	case <-s.read.c:
	case <-m.over:
	}
}

func (m *matrixServer) add(name string, s *spoiled) {
	s.read.c = make(chan struct{})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cells[name] = s
}

// next returns the cell of a request and whether it is to be spoiled.
func (m *matrixServer) next(name string) (s *spoiled, spoil bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s = m.cells[name]
	m.requests[name]++
	return s, !s.once || m.requests[name] == 1
}

func (m *matrixServer) count(name string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests[name]
}

// http1 serves over TCP, byte by byte as it likes. It returns the address.
func (m *matrixServer) http1(t *testing.T) string {
	return "http://" + listen(t, func(c net.Conn) { m.serve1(c.(*net.TCPConn)) })
}

func (m *matrixServer) serve1(c *net.TCPConn) {
	defer c.Close()
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	io.Copy(io.Discard, req.Body)
	s, spoil := m.next(req.Header.Get("X-Cell"))
	head := func(status, contentType, more string) {
		fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\nConnection: close\r\nX-Echo: %s\r\nRequest-Id: %s\r\n%s\r\n", status, contentType, key, key, more)
	}
	chunk := func(b string) error {
		if b == "" {
			return nil
		}
		_, err := fmt.Fprintf(c, "%x\r\n%s\r\n", len(b), b)
		return err
	}
	end := func() { io.WriteString(c, "0\r\n\r\n") }
	reset := func() { c.SetLinger(0) }
	hang := func() { c.SetReadDeadline(time.Time{}); io.Copy(io.Discard, c) } // until the client is gone
	if !spoil {
		head("200 OK", s.contentType, "")
		chunk(s.good)
		end()
		return
	}
	if s.place == "before headers" {
		s.reached.Store(true)
		switch s.fault {
		case "reset":
			reset()
		case "silence":
			hang()
		case "pings": // responses that are none yet; the transport bears few of them
			for range 3 {
				io.WriteString(c, "HTTP/1.1 102 Processing\r\n\r\n")
				time.Sleep(pingEvery)
			}
			hang()
		case "page":
			head("502 Bad Gateway", "text/html", "")
			chunk(page)
			end()
		case "error":
			head("500 Internal Server Error", "application/json", "")
			chunk(s.failure)
			end()
		case "garbage":
			io.WriteString(c, garbage)
		case "gzip cut":
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encod")
		case "long line":
			io.WriteString(c, "HTTP/1.1 200 OK\r\nX-Long: "+longLine+"\r\n\r\n")
		}
		return
	}
	if s.fault == "gzip cut" {
		head("200 OK", s.contentType, "Content-Encoding: gzip\r\n")
		s.reached.Store(chunk(string(packed(s.before))) == nil)
		end()
		return
	}
	head("200 OK", s.contentType, "")
	s.reached.Store(chunk(s.before) == nil)
	switch s.fault {
	case "clean close":
		end()
	case "reset":
		m.await(s)
		reset()
	case "silence":
		hang()
	case "pings":
		for chunk(s.ping) == nil {
			time.Sleep(pingEvery)
		}
	default:
		text, _ := s.inserted()
		chunk(text)
		end()
	}
}

// connKey is where the context of a request has its connection.
type connKey struct{}

// http2 serves over TLS. It returns the address and a client that knows it.
func (m *matrixServer) http2(t *testing.T) (string, *http.Client) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(m.serve2))
	srv.EnableHTTP2 = true
	srv.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) }
	srv.Config.ErrorLog = discardLog
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv.URL, srv.Client()
}

func (m *matrixServer) serve2(w http.ResponseWriter, req *http.Request) {
	io.Copy(io.Discard, req.Body)
	if req.ProtoMajor != 2 {
		m.t.Errorf("%s: asked over %s", req.Header.Get("X-Cell"), req.Proto)
	}
	s, spoil := m.next(req.Header.Get("X-Cell"))
	conn := req.Context().Value(connKey{}).(net.Conn)
	hang := func() {
		select {
		case <-req.Context().Done():
		case <-m.over:
		}
	}
	write := func(b string) error {
		if _, err := io.WriteString(w, b); err != nil {
			return err
		}
		return http.NewResponseController(w).Flush()
	}
	head := func(status int, contentType string) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("X-Echo", key)
		w.Header().Set("Request-Id", key)
		w.WriteHeader(status)
		http.NewResponseController(w).Flush()
	}
	if !spoil {
		head(200, s.contentType)
		write(s.good)
		return
	}
	if s.place == "before headers" {
		s.reached.Store(true)
		switch s.fault {
		case "clean close", "gzip cut": // a handler that returns has answered
			conn.Close()
			hang()
		case "reset":
			panic(http.ErrAbortHandler)
		case "silence":
			hang()
		case "pings":
			for range 3 {
				w.WriteHeader(http.StatusProcessing)
				time.Sleep(pingEvery)
			}
			hang()
		case "page":
			head(502, "text/html")
			write(page)
		case "error":
			head(500, "application/json")
			write(s.failure)
		case "garbage":
			conn.Write(bytes.Repeat([]byte{0xff}, 64)) // a frame that is too large
			hang()
		case "long line":
			w.Header().Set("X-Long", longLine)
			head(200, s.contentType)
		}
		return
	}
	if s.fault == "gzip cut" {
		w.Header().Set("Content-Encoding", "gzip")
		head(200, s.contentType)
		s.reached.Store(write(string(packed(s.before))) == nil)
		return
	}
	head(200, s.contentType)
	s.reached.Store(s.before == "" || write(s.before) == nil)
	switch s.fault {
	case "clean close":
	case "reset":
		m.await(s)
		panic(http.ErrAbortHandler)
	case "silence":
		hang()
	case "pings":
		for write(s.ping) == nil && req.Context().Err() == nil {
			time.Sleep(pingEvery)
		}
	default:
		text, _ := s.inserted()
		write(text)
	}
}
