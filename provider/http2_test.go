package provider_test

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"testing"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/wire"
)

// Types and flags of the frames of HTTP/2, RFC 9113, section 6.
const (
	h2Data, h2Headers, h2Reset, h2Settings, h2GoAway = 0, 1, 3, 4, 7
	h2Ack, h2EndHeaders                              = 1, 4
	h2InternalError                                  = 2 // section 7
)

// h2Frame is one frame.
func h2Frame(typ, flags byte, stream uint32, payload ...byte) []byte {
	b := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), typ, flags}
	return append(binary.BigEndian.AppendUint32(b, stream), payload...)
}

// h2Server serves one connection of HTTP/2: the head of a stream of events, one
// event, and then frames of its choice, after which it closes the connection.
// It returns the address and what a client of it needs.
func h2Server(t *testing.T, head bool, frames ...[]byte) (string, func(*provider.Config)) {
	t.Helper()
	certs := httptest.NewUnstartedServer(nil)
	certs.EnableHTTP2 = true
	certs.StartTLS()
	t.Cleanup(certs.Close)
	client := certs.Client()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: certs.TLS.Certificates, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	serve := func(conn net.Conn) {
		defer conn.Close()
		io.ReadFull(conn, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")))
		conn.Write(h2Frame(h2Settings, 0, 0))
		for { // until the request is there, its body included
			var h [9]byte
			if _, err := io.ReadFull(conn, h[:]); err != nil {
				return
			}
			io.CopyN(io.Discard, conn, int64(h[0])<<16|int64(h[1])<<8|int64(h[2]))
			if h[3] == h2Settings && h[4]&h2Ack == 0 {
				conn.Write(h2Frame(h2Settings, h2Ack, 0))
			}
			if h[3] == h2Data && h[4]&1 != 0 {
				break
			}
		}
		if head {
			block := []byte{0x88} // :status 200
			block = append(block, 0x0f, 0x10, 17)
			block = append(block, "text/event-stream"...) // content-type, literal without indexing
			conn.Write(h2Frame(h2Headers, h2EndHeaders, 1, block...))
			conn.Write(h2Frame(h2Data, 0, 1, []byte(sse(hi))...))
		}
		for _, f := range frames {
			conn.Write(f)
		}
		if len(frames) > 0 && frames[len(frames)-1][3] == h2Reset {
			io.Copy(io.Discard, conn) // the connection goes on
		}
	}
	go acceptAll(l, serve)
	return "https://" + l.Addr().String(), func(cfg *provider.Config) { cfg.HTTP = client }
}

// TestHTTP2Endings: what ended an HTTP/2 stream is told apart, and reachable.
func TestHTTP2Endings(t *testing.T) {
	goAway := h2Frame(h2GoAway, 0, 0, 0, 0, 0, 1, 0, 0, 0, 11) // up to stream 1, ENHANCE_YOUR_CALM
	woundUp := h2Frame(h2GoAway, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) // no stream was taken, and no error
	reset := h2Frame(h2Reset, 0, 1, 0, 0, 0, 2)                // INTERNAL_ERROR
	for _, tt := range []struct {
		name   string
		head   bool
		frames [][]byte
		cause  wire.Cause
		goAway bool
		code   uint32 // of a stream error, 0 for none
	}{
		{"reset of the stream", true, [][]byte{reset}, wire.CauseReset, false, 2},
		{"reset before the head", false, [][]byte{reset}, wire.CauseConnect, false, 2},
		{"end of the connection", true, nil, wire.CauseReset, false, 0},
		{"end of the connection before the head", false, nil, wire.CauseConnect, false, 0},
		{"go away", true, [][]byte{goAway}, wire.CauseReset, true, 0},
		{"go away before the head", false, [][]byte{goAway}, wire.CauseConnect, true, 0},
		{"go away from every connection", false, [][]byte{woundUp}, wire.CauseConnect, true, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			addr, use := h2Server(t, tt.head, tt.frames...)
			res := read(t, newClient(t, addr, use), limited(t), text("q"))
			wantError(t, res.err, tt.cause)
			if want := map[bool]string{true: "hi"}[tt.head]; res.text != want {
				t.Errorf("text %q, want %q", res.text, want)
			}
			if got := errors.Is(res.err, provider.ErrGoAway); got != tt.goAway {
				t.Errorf("go away: %v in %v", got, res.err)
			}
			var stream provider.StreamError
			if errors.As(res.err, &stream) != (tt.code != 0) || stream.Code != tt.code || tt.code != 0 && stream.StreamID != 1 {
				t.Errorf("stream error %+v in %v", stream, res.err)
			}
			if tt.head && !tt.goAway && tt.code == 0 && !errors.Is(res.err, io.ErrUnexpectedEOF) {
				t.Errorf("no unexpected EOF in %v", res.err)
			}
		})
	}
}
