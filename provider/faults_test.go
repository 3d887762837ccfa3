package provider_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/wire"
)

// TestFaults is named after the known kinds of fault of adapters like this one.
func TestFaults(t *testing.T) {
	t.Run("F17 plain JSON to a streaming request", func(t *testing.T) {
		srv := serve(t, answer(200, "application/json", `{"text":"whole","stop":true}`))
		if res := read(t, newClient(t, srv.URL), limited(t), text("q")); res.err != nil || res.text != "whole" {
			t.Errorf("got %q, %v", res.text, res.err)
		}
		srv = serve(t, answer(200, "application/json", `{"error":"no such thing"}`))
		wantError(t, read(t, newClient(t, srv.URL), limited(t), text("q")).err, wire.CauseVendor, "no such thing")
		srv = serve(t, answer(200, "application/json", `{}`))
		wantError(t, read(t, newClient(t, srv.URL), limited(t), text("q")).err, wire.CauseTruncated)
	})
	t.Run("F18 a web page", func(t *testing.T) {
		srv := serve(t, answer(200, "text/html; charset=utf-8", `<!doctype html><title>Sign in</title>`))
		res := read(t, newClient(t, srv.URL+"/a?api-version=HIDDEN"), limited(t), text("q"))
		wantError(t, res.err, wire.CauseProtocol, "200", "text/html", srv.URL+"/a/v1/messages", "Sign in", "web page")
		if strings.Contains(res.err.Error(), "HIDDEN") {
			t.Errorf("the error shows the query: %v", res.err)
		}
		srv = serve(t, answer(200, "text/html", "<html>"+strings.Repeat("é", 1<<20)))
		e := read(t, newClient(t, srv.URL), limited(t), text("q")).err
		if len(e.Body) > 300 || !utf8.ValidString(e.Body) || !strings.HasSuffix(e.Body, "é…") {
			t.Errorf("got %d bytes of body: %q", len(e.Body), e.Body)
		}
	})
	t.Run("F18 a page that does not end", func(t *testing.T) {
		srv := streamingType(t, "text/html", "<html>")
		promptly(t, time.Second, func() {
			wantError(t, read(t, newClient(t, srv), limited(t), text("q")).err, wire.CauseProtocol, "<html>")
		})
	})
	t.Run("F19 content-type spelling", func(t *testing.T) {
		srv := serve(t, answer(200, "Text/Event-Stream; charset=ISO-8859-1", sse(`{"text":"é"}`, stop)))
		if res := read(t, newClient(t, srv.URL), limited(t), text("q")); res.err != nil || res.text != "é" {
			t.Errorf("got %q, %v", res.text, res.err)
		}
	})
	t.Run("F20 compressed stream", func(t *testing.T) {
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			answer(200, "text/event-stream", gzipped(sse(`{"text":"z"}`, stop)))(w, r)
		})
		if res := read(t, newClient(t, srv.URL), limited(t), text("q")); res.err != nil || res.text != "z" {
			t.Errorf("got %q, %v", res.text, res.err)
		}
		own := newClient(t, srv.URL, func(cfg *provider.Config) { cfg.Header = []wire.Header{{Name: "Accept-Encoding", Value: "gzip"}} })
		wantError(t, read(t, own, limited(t), text("q")).err, wire.CauseProtocol, "gzip", "Accept-Encoding")

		srv = serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "Identity")
			answer(200, "text/event-stream", sse(`{"text":"z"}`, stop))(w, r)
		})
		if res := read(t, newClient(t, srv.URL), limited(t), text("q")); res.err != nil || res.text != "z" {
			t.Errorf("identity: got %q, %v", res.text, res.err)
		}
	})
	t.Run("F22 reset in mid-stream", func(t *testing.T) {
		var requests atomic.Int64
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			answer(200, "text/event-stream", sse(`{"text":"par"}`))(w, r)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		})
		res := read(t, newClient(t, srv.URL), limited(t), text("q"))
		wantError(t, res.err, wire.CauseReset)
		if res.text != "par" || requests.Load() != 1 || !errors.Is(res.err, io.ErrUnexpectedEOF) {
			t.Errorf("got %q in %d requests, inside %#v", res.text, requests.Load(), res.err.Err)
		}
	})
	t.Run("F22 reset by the peer", func(t *testing.T) {
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			conn, buf, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			fmt.Fprintf(buf, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n%s", sse(`{"text":"par"}`))
			buf.Flush()
			time.Sleep(20 * time.Millisecond)
			conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		})
		res := read(t, newClient(t, srv.URL), limited(t), text("q"))
		wantError(t, res.err, wire.CauseReset, "reset")
		if op := (*net.OpError)(nil); res.text != "par" || !errors.As(res.err, &op) {
			t.Errorf("got %q, inside %#v", res.text, res.err.Err)
		}
	})
	t.Run("F93 an error body that is not JSON", func(t *testing.T) {
		srv := serve(t, answer(502, "text/html", "<html><h1>502 Bad Gateway</h1></html>"))
		e := read(t, newClient(t, srv.URL), limited(t), text("q")).err
		wantError(t, e, wire.CauseVendor, "502 Bad Gateway", "web page")
		if strings.Contains(e.Error(), "invalid character") {
			t.Errorf("%v is about JSON", e)
		}
		wantError(t, read(t, newClient(t, serve(t, answer(500, "", "")).URL), limited(t), text("q")).err, wire.CauseVendor, "500")
	})
	t.Run("F94 error shapes reach the codec whole", func(t *testing.T) {
		srv := serve(t, answer(400, "application/json", `{"error":{"message":"m1","code":400}}`))
		e := read(t, newClient(t, srv.URL), limited(t), text("q")).err
		if e.Message != "m1" || e.Code != "400" {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("F95 endless error body", func(t *testing.T) {
		gone := make(chan struct{})
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			defer close(gone)
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(500)
			piece := []byte(strings.Repeat("x", 1<<20))
			for range 1 << 10 {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
			t.Error("the whole body was taken")
		})
		var bytes atomic.Int64
		c := newClient(t, srv.URL, func(cfg *provider.Config) {
			cfg.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				resp, err := http.DefaultTransport.RoundTrip(r)
				if err == nil {
					resp.Body = &meter{resp.Body, &bytes}
				}
				return resp, err
			})}
		})
		e := read(t, c, limited(t), text("q")).err
		wantError(t, e, wire.CauseVendor, "500")
		if n := bytes.Load(); n > 64<<10 || len(e.Body) > 1024 {
			t.Errorf("%d bytes were read, %d shown", n, len(e.Body))
		}
		<-gone
	})
	t.Run("F96 key in an error text", func(t *testing.T) {
		srv := serve(t, answer(401, "application/json", `{"error":{"message":"Incorrect API key provided: KEY-OPENAI-0001"}}`))
		c := newClient(t, srv.URL, func(cfg *provider.Config) { cfg.APIKey = "KEY-OPENAI-0001" })
		e := read(t, c, limited(t), text("q")).err
		wantError(t, e, wire.CauseVendor, "Incorrect API key provided: [key hidden]")
		if strings.Contains(fmt.Sprintf("%v %+v %#v %v", e, e, e, c), "KEY-OPENAI") {
			t.Errorf("the key shows in %v", e)
		}
	})
	t.Run("F97 redirect", func(t *testing.T) {
		b := serve(t, func(w http.ResponseWriter, r *http.Request) { t.Errorf("the redirect was followed with %v", r.Header) })
		other := strings.Replace(b.URL, "127.0.0.1", "localhost", 1)
		for _, status := range []int{301, 302, 303, 307, 308} {
			for location, host := range map[string]string{
				other + "/p?q=HIDDEN":                            other,
				strings.Replace(other, "//", "//u:HIDDEN@", 1):   other,
				"/moved?q=HIDDEN":                                "http://127.0.0.1:",
				"//c.example/?" + url.QueryEscape(key):           "http://c.example",
				"https://d.example/" + url.PathEscape(key) + "/": "https://d.example",
				"http://e.example/%zz" + key:                     "cannot be read",
				"://" + key:                                      "cannot be read",
			} {
				a := serve(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Location", location)
					answer(status, "", "")(w, r)
				})
				res := read(t, newClient(t, a.URL), limited(t), text("q"))
				wantError(t, res.err, wire.CauseConfig, host)
				if strings.Contains(res.err.Error(), "HIDDEN") {
					t.Errorf("the error shows too much: %v", res.err)
				}
				a.Close()
			}
		}
	})
	t.Run("F99 the body can be had again", func(t *testing.T) {
		c := newClient(t, "http://h.example", func(cfg *provider.Config) {
			cfg.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				first, _ := io.ReadAll(r.Body)
				again, err := r.GetBody()
				if err != nil {
					return nil, err
				}
				second, _ := io.ReadAll(again)
				if string(first) != string(second) || int64(len(first)) != r.ContentLength {
					t.Errorf("got %q, %q, length %d", first, second, r.ContentLength)
				}
				return nil, errors.New("enough")
			})}
		})
		wantError(t, read(t, c, limited(t), text("q")).err, wire.CauseConnect, "enough")
	})
	t.Run("F103 no timeout on the whole", func(t *testing.T) {
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for range 20 {
				io.WriteString(w, sse(`{"text":"."}`))
				w.(http.Flusher).Flush()
				time.Sleep(10 * time.Millisecond)
			}
			io.WriteString(w, sse(stop))
		})
		c := newClient(t, srv.URL, func(cfg *provider.Config) {
			tr := http.DefaultTransport.(*http.Transport).Clone()
			tr.ResponseHeaderTimeout = 100 * time.Millisecond
			cfg.HTTP = &http.Client{Transport: tr}
		})
		if res := read(t, c, limited(t), text("q")); res.err != nil || len(res.text) != 20 {
			t.Errorf("got %q, %v", res.text, res.err)
		}
	})
	t.Run("F103 no timeout at all", func(t *testing.T) {
		asked := 0
		c := newClient(t, "http://h.example", func(cfg *provider.Config) {
			cfg.Codec = counter{}
			cfg.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				asked++
				if d, ok := r.Context().Deadline(); ok {
					t.Errorf("the request has the deadline %v", d)
				}
				return nil, errors.New("enough")
			})}
		})
		c.Complete(t.Context(), text("q"))
		c.CountTokens(t.Context(), text("q"))
		if asked != 2 {
			t.Errorf("%d requests were sent", asked)
		}
	})
	t.Run("F104 consumer stops early", testLeaving)
	t.Run("F105 body not closed", testBodiesClosed)
	t.Run("F106 cancelling", testCancel)
	t.Run("F106 deadline", testDeadline)
	t.Run("F107 proxy", testProxy)
	t.Run("F108 base URL", testAddress)
	t.Run("F109 key with a newline", func(t *testing.T) {
		for _, k := range []string{"sk-1\n", " sk-1 ", "\t\r\nsk-1"} {
			var sent string
			c := newClient(t, "https://h.example", func(cfg *provider.Config) {
				cfg.APIKey = k
				cfg.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					sent = r.Header.Get("x-api-key")
					return nil, errors.New("enough")
				})}
			})
			res := read(t, c, limited(t), text("q"))
			if sent != "sk-1" {
				t.Errorf("%q was sent as %q", k, sent)
			}
			if n := res.events[0].Note; n == nil || n.Code != wire.NoteRepaired || n.Path != "api_key" || strings.Contains(n.Detail, "sk-1") {
				t.Errorf("%q: no note, but %+v", k, res.events[0])
			}
		}
		for _, k := range []string{"MARKED\n1", "MARKED\x00", "a\x7fMARKED"} {
			k += "x"
			_, err := provider.New(provider.Config{Codec: toy{}, BaseURL: "https://h.example", APIKey: k, KeyHint: "H_API_KEY"})
			wantError(t, wire.AsError(err, ""), wire.CauseConfig, "APIKey", "H_API_KEY", "control character")
		}
		for _, k := range []string{"MARKED two", "MARKED\u200b1", "\ufeffMARKED", "MARKED\u00e9"} {
			_, err := provider.New(provider.Config{Codec: toy{}, BaseURL: "https://h.example", APIKey: k, KeyHint: "H_API_KEY"})
			wantError(t, wire.AsError(err, ""), wire.CauseConfig, "APIKey", "H_API_KEY", "blank")
		}
		c := newClient(t, "https://h.example", unreachable(t), func(cfg *provider.Config) { cfg.APIKey = "   " })
		wantError(t, read(t, c, limited(t), text("q")).err, wire.CauseConfig, "no API key")
	})
}

// meter counts the bytes that are read.
type meter struct {
	io.ReadCloser
	n *atomic.Int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	m.n.Add(int64(n))
	return n, err
}

// streamingType serves a piece of a body and then nothing more.
func streamingType(t *testing.T, contentType, body string) string {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, body)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}).URL
}

func testProxy(t *testing.T) {
	old := http.DefaultTransport
	defer func() { http.DefaultTransport = old }()
	for name, tr := range map[string]http.RoundTripper{
		"usual":     old,
		"other":     roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("not to be used") }),
		"typed nil": (*http.Transport)(nil),
	} {
		http.DefaultTransport = tr
		own, ok := provider.TransportOf(newClient(t, "https://h.example")).(*http.Transport)
		if !ok || own == nil || own == old || own.Proxy == nil {
			t.Errorf("%s: got transport %v", name, own)
		}
	}
}

// TestKeyHidden has servers and transports repeat the key in every way.
func TestKeyHidden(t *testing.T) {
	forms := []string{
		key, url.QueryEscape(key), url.PathEscape(key), "Bearer " + key,
		base64.StdEncoding.EncodeToString([]byte(key)), base64.URLEncoding.EncodeToString([]byte(key)),
		base64.RawStdEncoding.EncodeToString([]byte(key)), key + key, "x" + key + "y", key[:len(key)-3],
	}
	const far = 191 // so that the excerpt of the toy codec ends within the key, before its half
	for _, form := range forms {
		for name, h := range map[string]http.HandlerFunc{
			"message":       answer(401, "application/json", `{"error":{"message":"bad `+form+`"}}`),
			"type and code": answer(403, "application/json", `{"error":{"type":"`+form+`","code":"`+form+`","message":"m"}}`),
			"body":          answer(500, "text/plain", form),
			"body cut":      answer(500, "text/plain", strings.Repeat(" ", far)+form),
			"request id": func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("request-id", form)
				answer(500, "", "")(w, r)
			},
			"redirect": func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("location", form)
				answer(302, "", "")(w, r)
			},
			"redirect, host": func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("location", "https://"+form+".example/")
				answer(302, "", "")(w, r)
			},
			"encoding": func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("content-encoding", form)
				answer(200, "", "")(w, r)
			},
			"content type":   answer(200, "text/"+form, "x"),
			"page":           answer(200, "text/html", "<html>"+form),
			"page cut":       answer(200, "text/html", strings.Repeat("x", 288)+form), // 9 bytes before the ellipsis
			"vendor's error": answer(200, "text/event-stream", sse(`{"start":"r"}`, `{"error":"bad `+form+`"}`)),
			"decode error":   answer(200, "text/event-stream", sse(form)),
			"note":           answer(200, "text/event-stream", sse(`{"odd":"`+form+`"}`)),
			"stray line":     answer(200, "text/event-stream", form+"\n\n"),
			"other":          answer(200, "text/event-stream", sse(`{"other":"`+form+`"}`)),
			"start": func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("request-id", form)
				answer(200, "text/event-stream", sse(hi))(w, r)
			},
		} {
			t.Run(name, func(t *testing.T) {
				srv := serve(t, h)
				defer srv.Close()
				c := newClient(t, srv.URL)
				resp, err := c.Complete(limited(t), text("q"))
				if err == nil {
					t.Fatal("no failure")
				}
				noKey(t, err)
				noKey(t, resp)
				for _, ev := range read(t, c, limited(t), text("q")).events {
					noKey(t, ev)
				}
				noKey(t, c)
				noKey(t, *c)
			})
		}
		t.Run("transport", func(t *testing.T) {
			for _, inner := range []error{
				errors.New("no route for " + form),
				&url.Error{Op: "Post", URL: "https://h.example/?key=" + form, Err: errors.New(form)},
				fmt.Errorf("%s: %w", form, io.ErrUnexpectedEOF),
				fmt.Errorf("%s: %w", form, context.DeadlineExceeded),
				&wire.Error{Cause: wire.CauseConnect, Message: form, Err: shows{form}},
				shows{form},
			} {
				c := newClient(t, "http://h.example", func(cfg *provider.Config) {
					cfg.HTTP = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, inner })}
				})
				res := read(t, c, limited(t), text("q"))
				wantError(t, res.err, wire.CauseConnect)
				for _, kept := range []error{io.ErrUnexpectedEOF, context.DeadlineExceeded} {
					if errors.Is(inner, kept) != errors.Is(res.err, kept) {
						t.Errorf("%v got lost in %#v", kept, res.err.Err)
					}
				}
			}
		})
	}
	t.Run("settings", func(t *testing.T) {
		cfg := provider.Config{Codec: toy{}, Model: "m1", BaseURL: "https://h.example/p?api-version=1", APIKey: key,
			Header: []wire.Header{{Name: "Cookie", Value: "a=MARKED"}, {Name: "x-a", Value: "b"}}}
		noKey(t, cfg)
		noKey(t, &cfg)
		noKey(t, struct{ C provider.Config }{cfg})
		if s := cfg.String(); !strings.Contains(s, "https://h.example/p") || !strings.Contains(s, "m1") || !strings.Contains(s, "toy") {
			t.Errorf("got %s", s)
		}
		c, err := provider.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		noKey(t, c)
		noKey(t, struct{ c *provider.Client }{c})
		noKey(t, struct{ c provider.Client }{*c})
		if s := fmt.Sprint(c); s != "provider.Client(toy https://h.example/p)" {
			t.Errorf("got %s", s)
		}
	})
	t.Run("settings of a gateway", func(t *testing.T) {
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			answer(401, "text/plain", "bad key "+r.Header.Get("Ocp-Apim-Subscription-Key"))(w, r)
		})
		c := newClient(t, srv.URL, func(cfg *provider.Config) {
			cfg.APIKey, cfg.Header = "", []wire.Header{{Name: "ocp-apim-subscription-key", Value: "MARKED-0001"}}
		})
		e := read(t, c, limited(t), text("q")).err
		wantError(t, e, wire.CauseVendor, "bad key [key hidden]", "check the key")
	})
	t.Run("own credential", func(t *testing.T) {
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			answer(401, "text/plain", "bad token "+token)(w, r)
		})
		c := newClient(t, srv.URL, func(cfg *provider.Config) {
			cfg.APIKey, cfg.Header = "", []wire.Header{{Name: "Authorization", Value: "Bearer MARKED-0001"}}
		})
		wantError(t, read(t, c, limited(t), text("q")).err, wire.CauseVendor, "bad token [key hidden]")
	})
	t.Run("a stand-in", func(t *testing.T) {
		srv := serve(t, answer(401, "application/json", `{"error":{"message":"nonesuch: bad key 'none'"}}`))
		c := newClient(t, srv.URL, func(cfg *provider.Config) { cfg.APIKey = "none" })
		wantError(t, read(t, c, limited(t), text("q")).err, wire.CauseVendor, "nonesuch: bad key '[key hidden]'")
		srv = serve(t, answer(401, "application/json", `{"error":{"message":"still read"}}`))
		c = newClient(t, srv.URL, func(cfg *provider.Config) { cfg.APIKey = "error" })
		wantError(t, read(t, c, limited(t), text("q")).err, wire.CauseVendor, "still read")
	})
	t.Run("a stand-in that is the host", func(t *testing.T) {
		c := newClient(t, "http://ollama:11434", func(cfg *provider.Config) { cfg.APIKey = "ollama" })
		var call wire.Call
		if got, err := c.Encode(&call, text("q")); err != nil || got != "http://ollama:11434/v1/messages" {
			t.Errorf("got %s, %v", got, err)
		}
	})
	t.Run("the model's text is left alone", func(t *testing.T) {
		srv := serve(t, answer(200, "text/event-stream", sse(`{"text":"`+key+`"}`, stop)))
		if res := read(t, newClient(t, srv.URL), limited(t), text("q")); res.text != key {
			t.Errorf("got %q", res.text)
		}
	})
}

// TestKeyHiddenInAnswer has a server repeat the key in an answer that is fine.
func TestKeyHiddenInAnswer(t *testing.T) {
	serving := func(key string) *httptest.Server {
		return serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Limit", key)
			answer(200, "text/event-stream", sse(
				`{"start":"`+key+`","model":"`+key+`"}`, hi, `{"usage":{"tier":"`+key+`"}}`,
				`{"stop":true,"finish":"`+key+`","detail":"stopped at `+key+`","vendor":{"echo":"`+key+`"}}`))(w, r)
		})
	}
	var gave []wire.Event
	c := newClient(t, serving(key).URL, func(cfg *provider.Config) { cfg.Codec = toy{gave: &gave} })
	res := read(t, c, limited(t), text("q"))
	if res.err != nil {
		t.Fatal(res.err)
	}
	for _, ev := range res.events {
		noKey(t, ev.Raw)
		switch ev.Kind {
		case wire.EventStart:
			o, l := ev.Start.Origin, ev.Start.RateLimit
			if o.ResponseID != "[key hidden]" || o.Model != "[key hidden]" {
				t.Errorf("got origin %+v", o)
			}
			if len(l) != 1 || l[0].Name != "[key hidden]" || l[0].Reset != "[key hidden]" {
				t.Errorf("got limits %+v", l)
			}
		case wire.EventUsage:
			if ev.Usage.Vendor != `{"tier":"[key hidden]"}` || ev.Usage.InputTokens != wire.CountOf(1) {
				t.Errorf("got usage %+v", ev.Usage)
			}
		case wire.EventEnd:
			if e := ev.End; e.VendorFinish != "[key hidden]" || e.Detail != "stopped at [key hidden]" || ev.Raw != `{"echo":"[key hidden]"}` {
				t.Errorf("got end %+v, %s", e, ev.Raw)
			}
		}
	}
	for _, ev := range gave {
		switch {
		case ev.Start != nil && (ev.Start.Origin.Model != key || ev.Start.RateLimit[0].Name != key),
			ev.Usage != nil && !strings.Contains(ev.Usage.Vendor, key), ev.End != nil && ev.End.VendorFinish != key:
			t.Errorf("the decoder's event was modified: %+v", ev)
		}
	}
	resp, err := c.Complete(limited(t), text("q"))
	if err != nil {
		t.Fatal(err)
	}
	noKey(t, resp)

	// A stand-in may be a word of what programs read.
	resp, err = newClient(t, serving("tier").URL, func(cfg *provider.Config) { cfg.APIKey = "tier" }).Complete(limited(t), text("q"))
	if err != nil || resp.Usage.Vendor != `{"tier":"tier"}` || resp.Message.Origin.Model != "tier" {
		t.Errorf("got %+v, %v", resp, err)
	}
}

// shows is an error that tells more to %#v than to %v.
type shows struct{ secret string }

func (shows) Error() string { return "failed" }

// TestLongWords: what a server makes long is cut in an error, whatever it is.
func TestLongWords(t *testing.T) {
	long := strings.Repeat("é", 40<<10/2)
	s := server{tries: []try{{status: 400, header: "Request-Id: " + long, body: `{"error":{"type":"` + long + `","code":1` + strings.Repeat("0", 10<<10) + `,"message":"m"}}`}}}
	e := read(t, newClient(t, "http://h.example", s.use), limited(t), text("q")).err
	wantError(t, e, wire.CauseVendor, "…")
	if n := len(e.Error()); n > 4<<10 || !utf8.ValidString(e.Error()) {
		t.Errorf("an error of %d bytes", n)
	}
}
