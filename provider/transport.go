package provider

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxIdleConns is how many connections to one host are kept for later requests.
// Net/http keeps two, which is little for a program that talks to one host.
const maxIdleConns = 64

// newTransport returns a transport of our own. It bounds a handshake of TLS not by
// the 10 s of net/http but by the clock of connecting, 0 for none, and a second
// more: the clock is to tell first, and what it leaves must end too.
func newTransport(connect time.Duration) *http.Transport {
	handshake := connect
	if connect > 0 {
		handshake = max(0, connect+time.Second) // 0 if it overflows
	}
	if t, ok := http.DefaultTransport.(*http.Transport); ok && t != nil {
		t = t.Clone()
		t.MaxIdleConnsPerHost, t.TLSHandshakeTimeout = maxIdleConns, handshake
		return t
	}
	dialer := &net.Dialer{Timeout: DefaultConnect, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          100,
		MaxIdleConnsPerHost:   maxIdleConns,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   handshake,
		ExpectContinueTimeout: time.Second,
	}
}

// ErrGoAway is in the chain of an error whose reason is that the server wound an
// HTTP/2 connection up (GOAWAY) before the response was whole.
var ErrGoAway = errors.New("the server wound the connection up")

// maxFresh is how many new connections one attempt may take. Net/http opens one
// after the other, without end or wait, to a server that winds each up before it
// takes the request.
const maxFresh = 3

var errWoundUp = fmt.Errorf("%w before it took the request, time after time", ErrGoAway)

// StreamError is what [errors.As] finds in the chain of an error whose reason is
// that the server broke one stream of an HTTP/2 connection off (RST_STREAM). The
// other streams of the connection go on.
type StreamError struct {
	StreamID uint32
	// Code is the error code of RFC 9113, such as 2, INTERNAL_ERROR.
	Code uint32
	// Cause is a further reason, nil if there is none.
	Cause error
}

// Error tells the stream and the code.
func (e StreamError) Error() string {
	return fmt.Sprintf("HTTP/2 stream %d was broken off with the code %d", e.StreamID, e.Code)
}

// told returns an error of the transport with what callers can ask for, and
// without a URL. Net/http finds a [StreamError] in its own error by itself.
func told(err error) error {
	err = withoutURL(err)
	if strings.Contains(err.Error(), "server sent GOAWAY") && !errors.Is(err, ErrGoAway) {
		return fmt.Errorf("%w: %w", ErrGoAway, err)
	}
	return err
}

// withoutURL returns what is inside of an error that prints a URL with its
// query.
func withoutURL(err error) error {
	for {
		ue, ok := errors.AsType[*url.Error](err)
		if !ok || ue.Err == nil {
			return err
		}
		err = ue.Err
	}
}

// permanent reports whether a connection will fail the next time too.
func permanent(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns.IsNotFound
	}
	return has[*tls.CertificateVerificationError](err) || has[tls.RecordHeaderError](err) || errors.Is(err, http.ErrSchemeMismatch) ||
		refusedHandshake(err)
}

// refusedHandshake reports whether the server answered a handshake with an alert
// of TLS. One that says that the server itself failed is none.
func refusedHandshake(err error) bool {
	// The type of an alert is known only by what crypto/tls wraps it in.
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error" && !strings.HasSuffix(op.Err.Error(), "internal error")
}

// has reports whether an error of a type is in the chain of err.
func has[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
