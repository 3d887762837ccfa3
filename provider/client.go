package provider

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/handwire/handwire/retry"
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/stream"
)

// Client sends requests to one address. It is made by [New], never changes, and
// may be used by any number of goroutines. Printed with fmt, in any form, it
// shows no credential.
type Client struct {
	codec    wire.Codec
	model    string
	base     *url.URL
	exact    bool // base is the URL of every request
	endpoint string
	header   []wire.Header
	auth     func() *credentials // a function, since fmt looks through all else
	http     *http.Client
	timeout  time.Duration // of the caller's http.Client, 0 for none
	clocks   Clocks        // 0 is none
	retry    retry.Policy
	trace    *Trace
	stream   *stream.Options
}

// String returns the protocol and the address.
func (c *Client) String() string {
	return c.auth().mask.text("provider.Client(" + c.codec.Protocol() + " " + plainURL(c.base) + ")")
}

// GoString returns what String returns.
func (c *Client) GoString() string { return c.String() }

// Format writes what String returns, whatever the verb.
func (c *Client) Format(f fmt.State, verb rune) { f.Write([]byte(c.String())) }

// CloseIdleConnections closes the connections that no request uses. With a
// transport of the caller's these are all idle connections of that transport.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// Complete sends r and returns the whole answer. If the stream fails, what had
// arrived is returned beside the *[wire.Error].
func (c *Client) Complete(ctx context.Context, r *wire.Request) (wire.Response, error) {
	return wire.Collect(c.Stream(ctx, r))
}

// Stream sends r when the loop begins and gives the events of the answer; a
// second loop sends it a second time. What the encoding changed comes as notes
// before the start of the message. The last pair holds the end event, with a
// nil error if the stream finished and else with its *[wire.Error].
//
// R is read when the loop begins, not modified and not kept. Cancelling ctx
// ends the stream at once; leaving the loop cancels the request and closes the
// connection. After the end event the loop takes up to 50 ms more to make the
// connection ready for the next request.
func (c *Client) Stream(ctx context.Context, r *wire.Request) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) {
		q := request{c: c, caller: ctx}
		q.stream(r, yield)
	}
}

// CountTokens asks the vendor how many input tokens r has, where the protocol
// can be asked that; see [wire.TokenCounter]. The number is the vendor's
// estimate. R is not modified and not kept. The errors are *[wire.Error]; where
// the protocol has no such call, or [Config.URL] is set, of cause config, and
// nothing is sent.
func (c *Client) CountTokens(ctx context.Context, r *wire.Request) (int64, error) {
	q := request{c: c, caller: ctx}
	n, e := q.count(r)
	if e != nil {
		return 0, c.auth().mask.error(e)
	}
	return n, nil
}

// Encode writes into call exactly what Stream would send for r, and returns the
// URL to which it would go; only the credentials are missing. It does no I/O
// and needs no key. Call is reset first and its slices are reused. R is not
// modified and not kept. The errors are *[wire.Error] with cause config; call is
// then without meaning.
func (c *Client) Encode(call *wire.Call, r *wire.Request) (url string, err error) {
	u, e := c.encode(call, r)
	if e != nil {
		return "", c.auth().mask.error(e)
	}
	return u.String(), nil
}

func (c *Client) encode(call *wire.Call, r *wire.Request) (*url.URL, *wire.Error) {
	return c.encodeWith(c.codec.Encode, call, r)
}

// encodeWith is encode by one of the codec's methods.
func (c *Client) encodeWith(encode func(*wire.Call, *wire.Request) error, call *wire.Call, r *wire.Request) (*url.URL, *wire.Error) {
	if r == nil {
		return nil, configError("there is no request")
	}
	req := *r
	if req.Model == "" {
		req.Model = c.model
	}
	if req.Endpoint == "" {
		req.Endpoint = c.endpoint
	}
	if err := encode(call, &req); err != nil {
		return nil, wire.AsError(err, wire.CauseConfig)
	}
	header := call.Header
	call.Header = call.Header[:0]
	for _, h := range header { // each is read before its place is written
		call.Header = addHeader(call.Header, h)
	}
	for _, h := range c.header {
		call.Header = addHeader(call.Header, h)
	}
	for _, h := range call.Header {
		if err := checkHeader("the request", h); err != nil {
			return nil, err
		}
		for _, secret := range c.auth().header {
			if http.CanonicalHeaderKey(h.Name) == http.CanonicalHeaderKey(secret.Name) {
				return nil, configError("the request sets the header " + h.Name + ", which carries the client's credentials")
			}
		}
	}
	if c.exact {
		return c.base, nil
	}
	return join(c.base, call.Path)
}

// newRequest returns the HTTP request of a call. The transport may read the
// body for longer than the response takes, so call.Body must not be reused.
func (c *Client) newRequest(ctx context.Context, u *url.URL, call *wire.Call) (*http.Request, *wire.Error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(call.Body))
	if err != nil {
		return nil, configError("the address cannot be requested") // err shows the URL
	}
	for _, h := range call.Header {
		req.Header.Set(h.Name, h.Value)
	}
	for _, h := range c.auth().header {
		req.Header.Add(h.Name, h.Value)
	}
	return req, nil
}
