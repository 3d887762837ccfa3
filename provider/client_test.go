package provider_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/stream"
)

func TestStream(t *testing.T) {
	var got struct {
		method, uri, body, key, custom, kind string
		length                               int64
	}
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got.method, got.uri, got.body, got.length = r.Method, r.RequestURI, string(b), r.ContentLength
		got.key, got.custom, got.kind = r.Header.Get("x-api-key"), r.Header.Get("x-custom"), r.Header.Get("content-type")
		w.Header().Set("request-id", "req_7")
		answer(200, "text/event-stream", sse(`{"start":"r1"}`, hi, stop))(w, r)
	})
	c := newClient(t, srv.URL+"?api-version=2", func(cfg *provider.Config) {
		cfg.Model = "standing"
		cfg.Codec = toy{notes: []wire.Note{{Code: wire.NoteDropped, Path: "seed"}}}
		cfg.Header = []wire.Header{{Name: "X-Custom", Value: "c"}}
	})
	r := &wire.Request{Messages: []wire.Message{wire.UserText("q")}}
	before := *r
	res := read(t, c, limited(t), r)
	if res.err != nil || res.text != "hi" {
		t.Fatalf("got %q, %v", res.text, res.err)
	}
	if diff := cmp.Diff(&before, r, cmp.AllowUnexported(wire.Count{})); diff != "" {
		t.Errorf("the request was modified (-before +after):\n%s", diff)
	}
	host := strings.TrimPrefix(srv.URL, "http://")
	if want := `{"model":"standing","endpoint":"` + host + `","text":"q"}`; got.body != want || got.length != int64(len(want)) {
		t.Errorf("body %s of length %d, want %s", got.body, got.length, want)
	}
	if got.method != "POST" || got.uri != "/v1/messages?api-version=2" || got.key != key || got.custom != "c" || got.kind != "application/json" {
		t.Errorf("got request %+v", got)
	}
	if n := res.events[0].Note; n == nil || n.Path != "seed" {
		t.Errorf("first event %+v, want the note of Encode", res.events[0])
	}
	if s := res.events[1].Start; s == nil || s.Origin.Endpoint != host || s.RequestID != "req_7" || s.Origin.ResponseID != "r1" {
		t.Errorf("second event %+v, want a start of %s", res.events[1].Start, host)
	}

	resp, err := c.Complete(limited(t), r)
	if err != nil || resp.Message.Text() != "hi" || resp.RequestID != "req_7" || resp.Message.Origin.Endpoint != host || len(resp.Notes) != 1 {
		t.Errorf("Complete: got %+v, %v", resp, err)
	}
}

func TestCompleteKeepsWhatCame(t *testing.T) {
	srv := serve(t, answer(200, "text/event-stream", sse(hi)))
	resp, err := newClient(t, srv.URL).Complete(limited(t), text("q"))
	wantError(t, wire.AsError(err, ""), wire.CauseTruncated)
	if resp.Message.Text() != "hi" || !resp.Message.Parts[0].Partial || resp.Message.Ending.Cause != wire.CauseTruncated {
		t.Errorf("got %+v", resp)
	}
}

func TestEncode(t *testing.T) {
	var served http.Header
	var body string
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		served, body = r.Header, string(b)
		answer(200, "text/event-stream", sse(stop))(w, r)
	})
	change := func(cfg *provider.Config) {
		cfg.Codec = toy{header: []wire.Header{{Name: "x-beta", Value: "a"}, {Name: "X-Beta", Value: "b"}}}
		cfg.Header = []wire.Header{{Name: "x-beta", Value: "b,c"}, {Name: "x-plain", Value: "p"}, {Name: "X-Gateway-Token", Value: "MARKED-token"}}
	}
	c := newClient(t, srv.URL, change)
	r := text("q")
	r.Headers = []wire.Header{{Name: "x-plain", Value: "p"}}
	call := wire.Call{Header: []wire.Header{{Name: "old", Value: "old"}}, Body: []byte("old"), Notes: make([]wire.Note, 3)}
	url, err := c.Encode(&call, r)
	if err != nil || url != srv.URL+"/v1/messages" {
		t.Fatalf("Encode: got %s, %v", url, err)
	}
	want := []wire.Header{{Name: "content-type", Value: "application/json"}, {Name: "x-beta", Value: "a,b,b,c"}, {Name: "x-plain", Value: "p"}}
	if diff := cmp.Diff(want, call.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if res := read(t, c, limited(t), r); res.err != nil {
		t.Fatal(res.err)
	}
	if body != string(call.Body) {
		t.Errorf("Encode gave %s, sent was %s", call.Body, body)
	}
	for _, h := range call.Header {
		if got := served[http.CanonicalHeaderKey(h.Name)]; len(got) != 1 || got[0] != h.Value {
			t.Errorf("header %s: sent %q, Encode gave %q", h.Name, got, h.Value)
		}
	}
	if served.Get("X-Gateway-Token") != "MARKED-token" || served.Get("x-api-key") != key {
		t.Errorf("the credentials were not sent: %v", served)
	}
	noKey(t, call)

	for name, secret := range map[string]bool{
		"Ocp-Apim-Subscription-Key": true, "x-functions-key": true, "X_Api_Key": true, "X-Auth": true, "x-goog-authenticated": true,
		"Idempotency-Key": false, "x-idempotency-key": false, "x-keyed": false,
	} {
		cfg := provider.Config{Codec: toy{}, BaseURL: "https://h.example", Header: []wire.Header{{Name: name, Value: "MARKED-0001"}}}
		noKey(t, cfg)
		c, err := provider.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Encode(&call, text("q")); err != nil {
			t.Fatal(err)
		}
		if shown := len(call.Header) == 2; shown == secret {
			t.Errorf("%s: Encode gives %v", name, call.Header)
		}
	}

	// No key is needed, and nothing is sent.
	c = newClient(t, "https://h.example", func(cfg *provider.Config) { cfg.APIKey = "" })
	if url, err := c.Encode(&call, text("q")); err != nil || url != "https://h.example/v1/messages" {
		t.Errorf("Encode without a key: got %s, %v", url, err)
	}
	for _, r := range []*wire.Request{nil, {MaxTokens: -1}, {Headers: []wire.Header{{Name: "a b", Value: "c"}}},
		{Headers: []wire.Header{{Name: "a", Value: "b\nc"}}}, {Headers: []wire.Header{{Name: "content-length", Value: "1"}}}} {
		_, err := c.Encode(&call, r)
		wantError(t, wire.AsError(err, ""), wire.CauseConfig)
	}
}

// unreachable fails the test when something is sent.
func unreachable(t *testing.T) func(*provider.Config) {
	return func(cfg *provider.Config) {
		cfg.HTTP = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			t.Error("a request was sent")
			return nil, errors.New("sent")
		})}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNothingSent(t *testing.T) {
	single := func(t *testing.T, res result) {
		t.Helper()
		if len(res.events) != 1 {
			t.Errorf("got %d events, want the end alone", len(res.events))
		}
	}
	t.Run("findings", func(t *testing.T) {
		res := read(t, newClient(t, "https://h.example", unreachable(t)), limited(t), &wire.Request{MaxTokens: -1})
		wantError(t, res.err, wire.CauseConfig, "max_tokens", "must not be negative")
		var f wire.Findings
		if !errors.As(res.err, &f) || len(f) != 1 {
			t.Errorf("errors.As finds %v", f)
		}
		single(t, res)
	})
	t.Run("nil request", func(t *testing.T) {
		res := read(t, newClient(t, "https://h.example", unreachable(t)), limited(t), nil)
		wantError(t, res.err, wire.CauseConfig, "no request")
		single(t, res)
	})
	t.Run("no key", func(t *testing.T) {
		for hint, say := range map[string]string{"": "APIKey", "H_API_KEY": "H_API_KEY"} {
			c := newClient(t, "https://h.example", unreachable(t), func(cfg *provider.Config) { cfg.APIKey, cfg.KeyHint = " \n", hint })
			res := read(t, c, limited(t), text("q"))
			wantError(t, res.err, wire.CauseConfig, "no API key", say)
			single(t, res)
		}
	})
	t.Run("cancelled before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(limited(t))
		cancel()
		res := read(t, newClient(t, "https://h.example", unreachable(t)), ctx, text("q"))
		wantError(t, res.err, wire.CauseCancelled)
		single(t, res)
	})
	t.Run("authentication twice", func(t *testing.T) {
		c := newClient(t, "https://h.example", unreachable(t))
		r := text("q")
		r.Headers = []wire.Header{{Name: "X-API-Key", Value: "MARKED-other"}}
		res := read(t, c, limited(t), r)
		wantError(t, res.err, wire.CauseConfig, "X-API-Key")
		single(t, res)
	})
}

func TestNoKeyNeeded(t *testing.T) {
	for name, tt := range map[string]struct {
		base     string
		optional bool
		header   []wire.Header
	}{
		"localhost":   {"http://localhost:1", false, nil},
		"LOCALHOST":   {"http://LOCALHOST:1", false, nil},
		"127.0.0.1":   {"http://127.0.0.1:1", false, nil},
		"127.9.8.7":   {"http://127.9.8.7:1", false, nil},
		"::1":         {"http://[::1]:1", false, nil},
		"mapped":      {"http://[::ffff:127.0.0.1]:1", false, nil},
		"optional":    {"http://h.example", true, nil},
		"own header":  {"http://h.example", false, []wire.Header{{Name: "X-Api-Key", Value: "own"}}},
		"other proof": {"http://h.example", false, []wire.Header{{Name: "Authorization", Value: "Bearer MARKED"}}},
		"gateway":     {"http://h.example", false, []wire.Header{{Name: "Ocp-Apim-Subscription-Key", Value: "MARKED"}}},
	} {
		t.Run(name, func(t *testing.T) {
			sent := false
			c := newClient(t, tt.base, func(cfg *provider.Config) {
				cfg.APIKey, cfg.Auth.Optional, cfg.Header = "", tt.optional, tt.header
				cfg.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					sent = true
					if len(tt.header) == 0 && (r.Header.Get("x-api-key") != "" || r.Header.Get("Authorization") != "") {
						t.Errorf("sent %v without a key", r.Header)
					}
					for _, h := range tt.header {
						if r.Header.Get(h.Name) != h.Value {
							t.Errorf("sent %v, want %v", r.Header, h)
						}
					}
					return nil, errors.New("enough")
				})}
			})
			wantError(t, read(t, c, limited(t), text("q")).err, wire.CauseConnect, "enough")
			if !sent {
				t.Error("nothing was sent")
			}
		})
	}
	c := newClient(t, "http://h.example", unreachable(t), func(cfg *provider.Config) {
		cfg.APIKey, cfg.Header = "", []wire.Header{{Name: "Idempotency-Key", Value: "1"}}
	})
	wantError(t, read(t, c, limited(t), text("q")).err, wire.CauseConfig, "no API key")
	for _, base := range []string{"http://localhost.example", "http://128.0.0.1", "http://[::2]", "http://127.0.0.1.example", "http://0.0.0.0"} {
		c := newClient(t, base, unreachable(t), func(cfg *provider.Config) { cfg.APIKey = "" })
		wantError(t, read(t, c, limited(t), text("q")).err, wire.CauseConfig, "no API key")
	}
}

func TestAuth(t *testing.T) {
	for want, auth := range map[wire.Header]provider.Auth{
		{Name: "X-Api-Key", Value: "k1"}:            {Header: "x-api-key"},
		{Name: "Authorization", Value: "Bearer k1"}: {Header: "Authorization", Prefix: "Bearer "},
		{Name: "Authorization", Value: "Token k1"}:  {Prefix: "Token "},
		{Name: "Api-Key", Value: "k1"}:              {Header: "api-key", Optional: true},
	} {
		sees := func(cfg *provider.Config) {
			cfg.APIKey, cfg.Auth = "k1", auth
			cfg.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				if got := r.Header[want.Name]; len(got) != 1 || got[0] != want.Value {
					t.Errorf("%+v: sent %v, want %v", auth, r.Header, want)
				}
				return nil, errors.New("enough")
			})}
		}
		wantError(t, read(t, newClient(t, "https://h.example", sees), limited(t), text("q")).err, wire.CauseConnect)
	}
	c := newClient(t, "https://h.example", func(cfg *provider.Config) {
		cfg.Auth = provider.Auth{}
		cfg.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if got := r.Header.Get("Authorization"); got != "Bearer "+key {
				t.Errorf("sent %q", got)
			}
			return nil, errors.New("enough")
		})}
	})
	wantError(t, read(t, c, limited(t), text("q")).err, wire.CauseConnect)

	for name, change := range map[string]func(*provider.Config){
		"header of the key":   func(cfg *provider.Config) { cfg.Header = []wire.Header{{Name: "X-API-KEY", Value: "MARKED"}} },
		"name of a header":    func(cfg *provider.Config) { cfg.Header = []wire.Header{{Name: "a:b", Value: "c"}} },
		"empty name":          func(cfg *provider.Config) { cfg.Header = []wire.Header{{Value: "c"}} },
		"value of a header":   func(cfg *provider.Config) { cfg.Header = []wire.Header{{Name: "a", Value: "MARKED\r\nb: c"}} },
		"host":                func(cfg *provider.Config) { cfg.Header = []wire.Header{{Name: "Host", Value: "h"}} },
		"name of the key's":   func(cfg *provider.Config) { cfg.Auth.Header = "a b" },
		"prefix of the key's": func(cfg *provider.Config) { cfg.Auth.Prefix = "a\n" },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := provider.Config{Codec: toy{}, BaseURL: "https://h.example", APIKey: key, Auth: provider.Auth{Header: "x-api-key"}}
			change(&cfg)
			_, err := provider.New(cfg)
			wantError(t, wire.AsError(err, ""), wire.CauseConfig)
		})
	}
}

func TestCallersClient(t *testing.T) {
	srv := serve(t, answer(307, "", ""))
	var asked atomic.Bool
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	own := &http.Client{Transport: tr, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { asked.Store(true); return nil }}
	c := newClient(t, srv.URL, func(cfg *provider.Config) { cfg.HTTP = own })
	read(t, c, limited(t), text("q"))
	if own.Transport != tr || own.Timeout != time.Minute || own.CheckRedirect == nil || asked.Load() {
		t.Errorf("the caller's client was modified or asked: %+v", own)
	}
	// Later changes of the caller's settings do not reach the client.
	header := []wire.Header{{Name: "x-a", Value: "1"}}
	opts := &stream.Options{MaxBlockBytes: 10}
	c = newClient(t, srv.URL, func(cfg *provider.Config) { cfg.Header, cfg.Stream = header, opts })
	header[0].Name, opts.MaxBlockBytes = "changed", 1
	var call wire.Call
	if _, err := c.Encode(&call, text("q")); err != nil || call.Header[1].Name != "x-a" {
		t.Errorf("Encode: got %v, %v", call.Header, err)
	}
}

func TestContentTypes(t *testing.T) {
	const whole = `{"text":"hi","stop":true}`
	bom := "\xef\xbb\xbf"
	tests := []struct {
		name, contentType, body string
		asked                   wire.Framing
		cause                   wire.Cause // empty is finished with the text hi
	}{
		{"sse", "text/event-stream", sse(hi, stop), "", ""},
		{"spelling", "Text/Event-Stream ; charset=ISO-8859-1", sse(hi, stop), "", ""},
		{"whole though sse was asked", "application/json; charset=utf-8", whole, wire.FramingSSE, ""},
		{"sse though whole was asked", "text/event-stream", sse(hi, stop), wire.FramingWhole, ""},
		{"error in a 200", "application/json", `{"error":"no"}`, wire.FramingSSE, wire.CauseVendor},
		{"sse called json", "application/json", sse(hi, stop), wire.FramingWhole, ""},
		{"sse called json, event first", "application/json; charset=utf-8", "event: x\n" + sse(hi, stop), "", ""},
		{"sse called json, comment first", "application/json", ": ping\n\n" + sse(hi, stop), "", ""},
		{"sse called json, blank line first", "application/json", "\r\n" + sse(hi, stop), "", ""},
		{"json, white space first", "application/json", strings.Repeat(" \n", 2000) + whole, "", ""},
		{"json, byte order mark", "application/json", bom + whole, "", ""},
		{"json, no object", "application/json", `"hi"`, "", wire.CauseProtocol},
		{"json, null", "application/json", "null", "", wire.CauseTruncated},
		{"json, empty", "application/json", "", "", wire.CauseTruncated},
		{"json, cut", "application/json", whole[:5], "", wire.CauseTruncated},
		{"text called json", "application/json", "date: none", "", wire.CauseProtocol},
		{"ndjson", "application/x-ndjson", hi + "\n" + stop + "\n", "", ""},
		{"jsonl", "application/jsonl", hi + "\n" + stop, "", ""},
		{"stream+json", "application/stream+json", hi + "\n" + stop, "", ""},
		{"none, sse asked", "", sse(hi, stop), wire.FramingSSE, ""},
		{"none, nothing asked", "", sse(hi, stop), "", ""},
		{"none, lines asked", "", hi + "\n" + stop, wire.FramingLines, ""},
		{"none, whole asked", "", whole, wire.FramingWhole, ""},
		{"plain sse", "text/plain", sse(hi, stop), "", ""},
		{"plain sse, byte order mark", "text/plain; charset=utf-8", bom + sse(hi, stop), "", ""},
		{"plain sse, event first", "text/plain", "event: x\n" + sse(hi, stop), "", ""},
		{"plain sse, id first", "text/plain", "id:1\n" + sse(hi, stop), "", ""},
		{"plain sse, retry first", "text/plain", "retry: 1\n\n" + sse(hi, stop), "", ""},
		{"plain sse, comment first", "text/plain", ": ping\n\n" + sse(hi, stop), "", ""},
		{"plain sse, blank line first", "text/plain", "\r\n\n" + sse(hi, stop), "", ""},
		{"binary sse", "application/octet-stream", sse(hi, stop), "", ""},
		{"plain whole", "text/plain", "\n " + whole, wire.FramingSSE, ""},
		{"plain whole, byte order mark", "text/plain", bom + whole, wire.FramingSSE, ""},
		{"problem", "application/problem+json", `{"error":"no"}`, "", wire.CauseVendor},
		{"plain text", "text/plain", "date: none", "", wire.CauseProtocol},
		{"plain, a field cut off", "text/plain", "dat", "", wire.CauseProtocol},
		{"plain, mark cut off", "text/plain", "\xef\xbb", "", wire.CauseProtocol},
		{"plain, empty", "text/plain", "", "", wire.CauseProtocol},
		{"image", "image/png", "\x89PNG", "", wire.CauseProtocol},
		{"page", "text/html", "<!doctype html>", "", wire.CauseProtocol},
		{"aws frames", "application/vnd.amazon.eventstream", "x", "", wire.CauseProtocol},
		{"empty", "text/event-stream", "", "", wire.CauseTruncated},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Content-Type"] = nil
				if tt.contentType != "" {
					w.Header().Set("Content-Type", tt.contentType)
				}
				for i := range len(tt.body) { // in the smallest pieces
					io.WriteString(w, tt.body[i:i+1])
					if i < 20 {
						w.(http.Flusher).Flush()
					}
				}
			})
			res := read(t, newClient(t, srv.URL, func(cfg *provider.Config) { cfg.Codec = toy{framing: tt.asked} }), limited(t), text("q"))
			if tt.cause == "" {
				if res.err != nil || res.text != "hi" {
					t.Errorf("got %q, %v", res.text, res.err)
				}
				return
			}
			wantError(t, res.err, tt.cause)
			if res.err.Status != 200 {
				t.Errorf("got status %d", res.err.Status)
			}
		})
	}
}

// TestUnreadableFraming shows that a framing without a reader is told before the
// body is read, and as the server's doing.
func TestUnreadableFraming(t *testing.T) {
	c := newClient(t, "https://h.example", responds(200, "application/vnd.amazon.eventstream", func(*http.Request) io.Reader {
		return readerFunc(func([]byte) (int, error) { t.Error("the body was read"); return 0, io.EOF })
	}))
	res := read(t, c, limited(t), text("q"))
	wantError(t, res.err, wire.CauseProtocol, "200", "Amazon", "https://h.example/v1/messages")
}

func TestStatusErrors(t *testing.T) {
	const vendor = `{"error":{"type":"t1","code":"c1","message":"m1"}}`
	tests := []struct {
		name        string
		status      int
		header      string
		contentType string
		body        string
		say         []string
	}{
		{"json", 400, "", "application/json", vendor, []string{"status 400", "t1", "c1", "m1"}},
		{"request id", 500, "X-Request-Id: r-9", "application/json", vendor, []string{"r-9"}},
		{"key refused", 401, "", "application/json", vendor, []string{"H_API_KEY"}},
		{"key not allowed", 403, "", "application/json", vendor, []string{"H_API_KEY", "may"}},
		{"not found", 404, "", "application/json", vendor, []string{"model", "/v1/messages", "speaks toy"}},
		{"no POST", 405, "", "text/plain", "", []string{"/v1/messages", "POST"}},
		{"too large", 413, "", "text/plain", "", []string{"bytes"}},
		{"page", 404, "", "text/html", "<html>", []string{"web page"}},
		{"empty", 500, "", "", "", []string{"Internal Server Error"}},
		{"not modified", 304, "", "", "", []string{"status 304"}},
		{"redirect to nowhere", 307, "", "", "", []string{"status 307"}},
		{"encoded", 500, "Content-Encoding: br", "application/json", "\x01\x02", []string{"status 500", "Accept-Encoding"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if name, value, ok := strings.Cut(tt.header, ": "); ok {
					w.Header().Set(name, value)
				}
				answer(tt.status, tt.contentType, tt.body)(w, r)
			})
			c := newClient(t, srv.URL, func(cfg *provider.Config) { cfg.KeyHint = "H_API_KEY" })
			res := read(t, c, limited(t), text("q"))
			wantError(t, res.err, wire.CauseVendor, tt.say...)
			if res.err.Status != tt.status || len(res.events) != 1 {
				t.Errorf("status %d in %d events", res.err.Status, len(res.events))
			}
		})
	}
	t.Run("no key was sent", func(t *testing.T) {
		srv := serve(t, answer(401, "", ""))
		c := newClient(t, srv.URL, func(cfg *provider.Config) { cfg.APIKey = "" })
		wantError(t, read(t, c, limited(t), text("q")).err, wire.CauseVendor, "no key was sent", "APIKey")
	})
	for _, tt := range []struct {
		name, message string
		status        int
		tools, hint   bool
	}{
		{"no tools there", "m1 does not support tools", 400, true, true},
		{"nor here", "No endpoints found that support tool use", 404, true, true},
		{"must be enabled", `\"auto\" tool choice requires --enable-auto-tool-choice`, 400, true, true},
		{"functions", "Function calling is not enabled for this model", 422, true, true},
		{"no tools were sent", "m1 does not support tools", 400, false, false},
		{"about something else", "the tool t1 has no result", 400, true, false},
		{"another status", "m1 does not support tools", 500, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := text("q")
			if tt.tools {
				r.Tools = []wire.Tool{{Name: "f"}}
			}
			srv := serve(t, answer(tt.status, "application/json", `{"error":{"message":"`+tt.message+`"}}`))
			e := read(t, newClient(t, srv.URL), limited(t), r).err
			wantError(t, e, wire.CauseVendor)
			if strings.Contains(e.Hint, "has tools") != tt.hint {
				t.Errorf("hint %q", e.Hint)
			}
		})
	}
	t.Run("an encoded body is not quoted", func(t *testing.T) {
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			answer(401, "text/plain", "QUOTED")(w, r)
		})
		e := read(t, newClient(t, srv.URL), limited(t), text("q")).err
		wantError(t, e, wire.CauseVendor, "401", "Accept-Encoding")
		if strings.Contains(e.Error(), "QUOTED") || e.Body != "" {
			t.Errorf("the body is quoted in %v", e)
		}
	})
	t.Run("retry after", func(t *testing.T) {
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			answer(429, "", "")(w, r)
		})
		if e := read(t, newClient(t, srv.URL), limited(t), text("q")).err; e.RetryAfter != 7*time.Second {
			t.Errorf("got %v", e.RetryAfter)
		}
	})
	t.Run("notes come before", func(t *testing.T) {
		srv := serve(t, answer(400, "", ""))
		c := newClient(t, srv.URL, func(cfg *provider.Config) { cfg.Codec = toy{notes: []wire.Note{{Code: wire.NoteDropped}}} })
		if res := read(t, c, limited(t), text("q")); len(res.events) != 2 || res.events[0].Note == nil {
			t.Errorf("got %+v", res.events)
		}
	})
	t.Run("body cut", func(t *testing.T) {
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(503)
			io.WriteString(w, "busy")
		})
		e := read(t, newClient(t, srv.URL), limited(t), text("q")).err
		wantError(t, e, wire.CauseVendor, "503", "busy")
		if !errors.Is(e, io.ErrUnexpectedEOF) {
			t.Errorf("got %v inside", e.Err)
		}
	})
	t.Run("long message", func(t *testing.T) {
		srv := serve(t, answer(400, "", `{"error":{"message":"`+strings.Repeat("é", 10000)+`"}}`))
		e := read(t, newClient(t, srv.URL), limited(t), text("q")).err
		if len(e.Message) > 4096 || !strings.HasSuffix(e.Message, "é…") {
			t.Errorf("got %d bytes that end in %q", len(e.Message), e.Message[len(e.Message)-10:])
		}
	})
}

func TestStreamErrors(t *testing.T) {
	t.Run("vendor", func(t *testing.T) {
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Request-Id", "req_1")
			answer(200, "text/event-stream", sse(hi, `{"error":"overloaded"}`))(w, r)
		})
		res := read(t, newClient(t, srv.URL), limited(t), text("q"))
		wantError(t, res.err, wire.CauseVendor, "overloaded", "req_1", "200")
		if res.text != "hi" {
			t.Errorf("got text %q", res.text)
		}
	})
	t.Run("protocol", func(t *testing.T) {
		srv := serve(t, answer(200, "text/event-stream", sse(hi, "no json")))
		wantError(t, read(t, newClient(t, srv.URL), limited(t), text("q")).err, wire.CauseProtocol, "no JSON", "speaks toy at /v1/messages")
	})
	t.Run("limit", func(t *testing.T) {
		srv := serve(t, answer(200, "text/event-stream", sse(hi, `{"text":"`+strings.Repeat("x", 200)+`"}`)))
		c := newClient(t, srv.URL, func(cfg *provider.Config) { cfg.Stream = &stream.Options{MaxBlockBytes: 100} })
		wantError(t, read(t, c, limited(t), text("q")).err, wire.CauseLimit, "100")
	})
}

func TestConnect(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		base := "http://" + l.Addr().String()
		l.Close()
		res := read(t, newClient(t, base+"?secretish=1"), limited(t), text("q"))
		wantError(t, res.err, wire.CauseConnect, "refused", "check the address", "server runs")
		if strings.Contains(res.err.Error(), "secretish") {
			t.Errorf("the error shows the query: %v", res.err)
		}
		if op := (*net.OpError)(nil); !errors.As(res.err, &op) {
			t.Errorf("no net.OpError in %#v", res.err.Err)
		}
	})
	t.Run("no URL", func(t *testing.T) {
		c := newClient(t, "https://h.example/p?api-version=HIDDEN", func(cfg *provider.Config) {
			cfg.HTTP = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("enough") })}
		})
		e := read(t, c, limited(t), text("q")).err
		wantError(t, e, wire.CauseConnect)
		if e.Message != "enough" {
			t.Errorf("got message %q", e.Message)
		}
		for err := error(e); err != nil; err = errors.Unwrap(err) {
			if all := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(all, "HIDDEN") {
				t.Errorf("the query shows in %s", all)
			}
		}
	})
	t.Run("no head", func(t *testing.T) {
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
		wantError(t, read(t, newClient(t, srv.URL), limited(t), text("q")).err, wire.CauseConnect)
	})
	t.Run("not HTTP", func(t *testing.T) {
		address := listen(t, func(conn net.Conn) {
			conn.Read(make([]byte, 1000))
			io.WriteString(conn, "hello\n\n")
			conn.Close()
		})
		wantError(t, read(t, newClient(t, "http://"+address), limited(t), text("q")).err, wire.CauseConnect)
	})
	t.Run("TLS", func(t *testing.T) {
		srv := httptest.NewUnstartedServer(answer(200, "text/event-stream", sse(hi, stop)))
		srv.Config.ErrorLog = log.New(io.Discard, "", 0)
		srv.StartTLS()
		defer srv.Close()
		wantError(t, read(t, newClient(t, srv.URL), limited(t), text("q")).err, wire.CauseConnect, "certificate")
		res := read(t, newClient(t, srv.URL, func(cfg *provider.Config) { cfg.HTTP = srv.Client() }), limited(t), text("q"))
		if res.err != nil || res.text != "hi" {
			t.Errorf("got %q, %v", res.text, res.err)
		}
	})
	t.Run("a transport's own error", func(t *testing.T) {
		own := &wire.Error{Cause: wire.CauseProtocol, Message: "differs from the recording"}
		c := newClient(t, "http://h.example", func(cfg *provider.Config) {
			cfg.HTTP = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, own })}
		})
		wantError(t, read(t, c, limited(t), text("q")).err, wire.CauseProtocol, "differs")
		own.Cause = wire.CauseConnect
		if wantError(t, read(t, c, limited(t), text("q")).err, wire.CauseConnect, "server runs"); own.Hint != "" {
			t.Error("the transport's error was modified")
		}
	})
}

// TestConcurrent shows that streams of one client do not disturb each other.
func TestConcurrent(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		_, after, _ := bytes.Cut(b, []byte(`"text":"`))
		said, _, _ := bytes.Cut(after, []byte(`"`))
		answer(200, "text/event-stream", sse(`{"text":"`+string(said)+`"}`, stop))(w, r)
	})
	c := newClient(t, srv.URL)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				want := fmt.Sprintf("q%d-%d", i, j)
				resp, err := c.Complete(limited(t), text(want))
				if err != nil || resp.Message.Text() != want {
					t.Errorf("got %q, %v, want %q", resp.Message.Text(), err, want)
				}
			}
		})
	}
	wg.Wait()
}

// gzipped compresses a body.
func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, s)
	w.Close()
	return b.String()
}
