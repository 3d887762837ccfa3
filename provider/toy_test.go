package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/retry"
	"github.com/handwire/handwire/wire"
)

// toy is a codec of one text part. Its blocks are JSON objects: {"start":"id"},
// {"text":"…"}, {"odd":"…"}, {"other":…}, {"usage":…}, {"error":"…"}, whose text
// may be the name of a class, {"stop":true}. A start may have a model; a stop, a
// finish, a detail and vendor data. A whole body is {"text":"…","stop":true} or {"error":"…"}.
type toy struct {
	path    string
	framing wire.Framing
	notes   []wire.Note
	header  []wire.Header
	gave    *[]wire.Event // nil, or where the decoder keeps what it hands out
}

type toyBlock struct {
	Start  string          `json:"start"`
	Model  string          `json:"model"`
	Text   string          `json:"text"`
	Odd    string          `json:"odd"`
	Other  json.RawMessage `json:"other"`
	Usage  json.RawMessage `json:"usage"`
	Error  json.RawMessage `json:"error"`
	Stop   bool            `json:"stop"`
	Finish string          `json:"finish"`
	Detail string          `json:"detail"`
	Vendor json.RawMessage `json:"vendor"`
}

func (toy) Protocol() string { return "toy" }

func (t toy) Encode(c *wire.Call, r *wire.Request) error {
	c.Reset()
	if f := t.Check(r); f != nil {
		return wire.Findings(f)
	}
	c.Path, c.Framing = t.path, t.framing
	if c.Path == "" {
		c.Path = "/v1/messages"
	}
	c.Header = append(c.Header, wire.Header{Name: "content-type", Value: "application/json"})
	c.Header = append(append(c.Header, t.header...), r.Headers...)
	c.Notes = append(c.Notes, t.notes...)
	text := ""
	if len(r.Messages) > 0 {
		text = r.Messages[0].Text()
	}
	c.Body = fmt.Appendf(c.Body, `{"model":%q,"endpoint":%q,"text":%q}`, r.Model, r.Endpoint, text)
	return nil
}

func (toy) Check(r *wire.Request) []wire.Finding {
	if r.MaxTokens < 0 {
		return []wire.Finding{{Path: "max_tokens", Rule: "must not be negative"}}
	}
	return nil
}

// toyClass is the class of the errors whose type or text is its name.
func toyClass(word string) wire.Class {
	switch c := wire.Class(word); c {
	case wire.ClassAuth, wire.ClassPermission, wire.ClassBadRequest, wire.ClassNotFound, wire.ClassOverflow, wire.ClassRateLimit,
		wire.ClassQuota, wire.ClassOverloaded, wire.ClassServer, wire.ClassTimeout, wire.ClassContentFilter:
		return c
	}
	return ""
}

func (t toy) NewDecoder(h wire.Head) wire.Decoder { return &toyDecoder{head: h, gave: t.gave} }

func (toy) DecodeError(h wire.Head, body []byte) *wire.Error {
	e := &wire.Error{Cause: wire.CauseVendor, Status: h.Status}
	var b struct {
		Error struct {
			Type    string          `json:"type"`
			Code    json.RawMessage `json:"code"`
			Message string          `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &b) == nil && b.Error.Message != "" {
		e.Type, e.Message, e.Code = b.Error.Type, b.Error.Message, string(b.Error.Code)
		e.Class = toyClass(e.Type)
	} else {
		e.Message, e.Body = http.StatusText(h.Status), string(body[:min(len(body), 200)])
	}
	return e
}

type toyDecoder struct {
	head  wire.Head
	begun bool
	open  bool
	end   *wire.Ending
	gave  *[]wire.Event
}

func (d *toyDecoder) start(dst []wire.Event, id, model string) []wire.Event {
	if d.begun {
		return dst
	}
	d.begun = true
	start := &wire.Start{Origin: wire.Origin{Protocol: "toy", Model: model, ResponseID: id}}
	if limit := d.head.Get("X-Limit"); limit != "" {
		start.RateLimit = wire.RateLimits{{Name: limit, Reset: limit}}
	}
	return append(dst, wire.Event{Kind: wire.EventStart, Start: start})
}

func (d *toyDecoder) Decode(dst []wire.Event, name string, data []byte) (evs []wire.Event, err error) {
	if d.gave != nil {
		defer func(n int) { *d.gave = append(*d.gave, evs[n:]...) }(len(dst))
	}
	if d.end != nil {
		return dst, nil
	}
	var b toyBlock
	if err := json.Unmarshal(data, &b); err != nil {
		return dst, &wire.Error{Cause: wire.CauseProtocol, Message: "no JSON", Body: string(data)}
	}
	if b.Start != "" {
		dst = d.start(dst, b.Start, b.Model)
	}
	if b.Text != "" {
		dst = d.start(dst, "", "")
		if !d.open {
			d.open = true
			dst = append(dst, wire.Event{Kind: wire.EventPartStart, Part: wire.PartText})
		}
		dst = append(dst, wire.Event{Kind: wire.EventDelta, Part: wire.PartText, Delta: b.Text})
	}
	if b.Odd != "" {
		dst = append(dst, wire.Event{Kind: wire.EventNote, Note: &wire.Note{Code: wire.NoteOdd, Detail: b.Odd}})
	}
	if b.Other != nil {
		dst = append(dst, wire.Event{Kind: wire.EventOther, Raw: string(b.Other)})
	}
	if b.Usage != nil {
		dst = append(dst, wire.Event{Kind: wire.EventUsage, Usage: &wire.Usage{InputTokens: wire.CountOf(1), Vendor: string(b.Usage)}})
	}
	switch {
	case b.Error != nil:
		word := strings.Trim(string(b.Error), `"`)
		return d.close(dst, &wire.Error{Cause: wire.CauseVendor, Class: toyClass(word), Message: word})
	case b.Stop:
		dst, _ = d.close(d.start(dst, "", ""), nil)
		d.end.VendorFinish, d.end.Detail = b.Finish, b.Detail
		dst[len(dst)-1].Raw = string(b.Vendor)
	}
	return dst, nil
}

func (d *toyDecoder) close(dst []wire.Event, e *wire.Error) ([]wire.Event, error) {
	if d.open {
		d.open = false
		ev := wire.Event{Kind: wire.EventPartEnd, Part: wire.PartText}
		if e != nil {
			ev.Data = &wire.Part{Partial: true}
		}
		dst = append(dst, ev)
	}
	d.end = &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop}
	if e != nil {
		d.end = &wire.Ending{Cause: e.Cause, Err: e}
	}
	return append(dst, wire.Event{Kind: wire.EventEnd, End: d.end}), nil
}

func (d *toyDecoder) End(dst []wire.Event, cause error) ([]wire.Event, error) {
	if d.end == nil {
		if cause == nil {
			cause = &wire.Error{Cause: wire.CauseTruncated, Message: "the body ended early"}
		}
		dst, _ = d.close(dst, wire.AsError(cause, wire.CauseReset))
	}
	if d.end.Err != nil {
		return dst, d.end.Err
	}
	return dst, nil
}

// limited returns a context of the test that ends long before the test's own
// time does.
func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// key is a key that must show nowhere.
const key = "sk-MARKED-key/0001+x="

// text is a request.
func text(s string) *wire.Request {
	return &wire.Request{Model: "m1", Messages: []wire.Message{wire.UserText(s)}}
}

// sse is a stream of blocks.
func sse(blocks ...string) string {
	return "data: " + strings.Join(blocks, "\n\ndata: ") + "\n\n"
}

const (
	hi   = `{"text":"hi"}`
	stop = `{"stop":true}`
)

// answer serves one body.
func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header()["Content-Type"] = nil
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

// newClient returns a client of the toy codec.
func newClient(t *testing.T, base string, change ...func(*provider.Config)) *provider.Client {
	t.Helper()
	cfg := provider.Config{Codec: toy{}, BaseURL: base, APIKey: key, Auth: provider.Auth{Header: "x-api-key"}, Retry: &retry.Policy{MaxAttempts: 1}}
	for _, f := range change {
		f(&cfg)
	}
	c, err := provider.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// result is a stream that was read to its end.
type result struct {
	events []wire.Event
	text   string
	err    *wire.Error
}

// read reads a stream to its end and checks its grammar.
func read(t *testing.T, c *provider.Client, ctx context.Context, r *wire.Request) result {
	t.Helper()
	var res result
	var last error
	for ev, err := range c.Stream(ctx, r) {
		if last != nil {
			t.Errorf("event %v after the error %v", ev, last)
		}
		res.events = append(res.events, ev)
		res.text += ev.Text()
		last = err
	}
	if err := wire.CheckEvents(res.events); err != nil {
		t.Errorf("CheckEvents: %v", err)
	}
	if last != nil {
		if !errors.As(last, &res.err) || last != error(res.err) {
			t.Fatalf("error of type %T, want *wire.Error", last)
		}
		if end := res.events[len(res.events)-1].End; end == nil || end.Err != res.err || end.Cause != res.err.Cause {
			t.Errorf("end event %+v does not belong to the error %v", end, res.err)
		}
	}
	return res
}

// wantError checks a failure's cause and words of its text.
func wantError(t *testing.T, e *wire.Error, cause wire.Cause, words ...string) {
	t.Helper()
	if e == nil || e.Cause != cause {
		t.Fatalf("got error %v, want cause %s", e, cause)
	}
	for _, w := range words {
		if !strings.Contains(e.Error(), w) {
			t.Errorf("error %q does not say %q", e, w)
		}
	}
	noKey(t, e)
}

// noKey checks that no printing of v shows the key.
func noKey(t *testing.T, v any) {
	t.Helper()
	j, _ := json.Marshal(v)
	all := fmt.Sprintf("%v\n%+v\n%#v\n%s\n%q\n%d\n%x\n%s", v, v, v, v, v, v, v, j)
	if e, ok := v.(error); ok {
		for e != nil {
			all += fmt.Sprintf("%v %+v %#v", e, e, e)
			e = errors.Unwrap(e)
		}
	}
	if strings.Contains(all, "MARKED") || strings.Contains(all, "c2stTUFSS0VE") || strings.Contains(all, fmt.Sprintf("%x", "MARKED")) {
		t.Errorf("the key shows in %s", all)
	}
}

// counting is a transport that counts the bodies that are open.
type counting struct {
	http.RoundTripper
	open, total, closes atomic.Int64
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.RoundTripper.RoundTrip(r)
	if err == nil {
		c.open.Add(1)
		c.total.Add(1)
		resp.Body = &countedBody{ReadCloser: resp.Body, c: c}
	}
	return resp, err
}

type countedBody struct {
	io.ReadCloser
	c    *counting
	done atomic.Bool
}

func (b *countedBody) Close() error {
	b.c.closes.Add(1)
	if !b.done.Swap(true) {
		b.c.open.Add(-1)
	}
	return b.ReadCloser.Close()
}

// counted makes a client use a counting transport, which it returns.
func counted(t *testing.T) (*counting, func(*provider.Config)) {
	tr := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(tr.CloseIdleConnections)
	c := &counting{RoundTripper: tr}
	return c, func(cfg *provider.Config) { cfg.HTTP = &http.Client{Transport: c} }
}

// responds makes a client get a response without a network, and ends with the
// request that was made.
func responds(status int, contentType string, body func(*http.Request) io.Reader) func(*provider.Config) {
	return func(cfg *provider.Config) {
		cfg.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}},
				Body: io.NopCloser(body(r)), Request: r}, nil
		})}
	}
}

// listen serves every connection to an address, which it returns, each in a
// goroutine of its own.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go acceptAll(l, serve)
	return l.Addr().String()
}

// acceptAll serves every connection until the listener is closed.
func acceptAll(l net.Listener, serve func(net.Conn)) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go serve(conn)
	}
}

// connections counts the connections to a server that is not started yet.
func connections(srv *httptest.Server) *atomic.Int64 {
	n := new(atomic.Int64)
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			n.Add(1)
		}
	}
	return n
}

// readerFunc is a reader of one function.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// within waits for a condition.
func within(t *testing.T, d time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(d); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", d, what)
		}
	}
}
