package provider_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/provider/preset"
	"github.com/handwire/handwire/retry"
	"github.com/handwire/handwire/wire"
)

// secretPaths are servers that repeat a text in every place there is in an
// answer, by name.
var secretPaths = map[string]func(form string) http.HandlerFunc{
	"error, every field": func(form string) http.HandlerFunc {
		return answer(401, "application/json", `{"type":"error","error":{"type":"`+form+`","code":"`+form+`","param":"`+form+`","status":"`+form+`","message":"bad key `+form+`"},"request_id":"`+form+`","message":"`+form+`"}`)
	},
	"error, a string": func(form string) http.HandlerFunc { return answer(400, "application/json", `{"error":"`+form+`"}`) },
	"error, an array": func(form string) http.HandlerFunc {
		return answer(429, "application/json", `[{"error":{"code":429,"message":"`+form+`","status":"RESOURCE_EXHAUSTED","details":[{"reason":"`+form+`","metadata":{"k":"`+form+`"}}]}}]`)
	},
	"error, detail": func(form string) http.HandlerFunc {
		return answer(422, "application/json", `{"detail":[{"loc":["`+form+`"],"msg":"`+form+`"}]}`)
	},
	"error, unknown JSON": func(form string) http.HandlerFunc { return answer(500, "application/json", `{"x":"`+form+`"}`) },
	"error, text":         func(form string) http.HandlerFunc { return answer(503, "text/plain", form) },
	"error, page":         func(form string) http.HandlerFunc { return answer(502, "text/html", "<html>"+form) },
	"error, long": func(form string) http.HandlerFunc {
		return answer(504, "text/plain", strings.Repeat("x", 290)+form)
	},
	"response headers": func(form string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for _, name := range []string{"Request-Id", "X-Request-Id", "Retry-After", "X-Echo", "X-Limit", "Anthropic-Ratelimit-Requests-Reset",
				"X-Ratelimit-Reset-Requests", "X-Amzn-Errortype", "Www-Authenticate", "Set-Cookie", "Server", "X-Should-Retry"} {
				w.Header().Set(name, form)
			}
			answer(529, "application/json", `{"error":{"message":"busy"}}`)(w, r)
		}
	},
	"redirect": func(form string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "https://d.example/a/"+form+"/b?key="+form)
			answer(307, "", "")(w, r)
		}
	},
	"redirect, host": func(form string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "https://"+form+".example/")
			answer(308, "", "")(w, r)
		}
	},
	"redirect, not a URL": func(form string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "://"+form+"%zz")
			answer(302, "", "")(w, r)
		}
	},
	"content type": func(form string) http.HandlerFunc { return answer(200, "text/"+form, form) },
	"encoding": func(form string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", form)
			answer(200, "", "")(w, r)
		}
	},
	"page": func(form string) http.HandlerFunc { return answer(200, "text/html", "<html>"+form) },
	"stream, comment and fields": func(form string) http.HandlerFunc {
		return answer(200, "text/event-stream", ": "+form+"\nid: "+form+"\nretry: "+form+"\n"+form+": x\n"+form+"\n\n")
	},
	"stream, event": func(form string) http.HandlerFunc {
		return answer(200, "text/event-stream", "event: "+form+"\ndata: {}\n\nevent: "+form+"\ndata: {\"type\":\""+form+"\"}\n\n")
	},
	"stream, no JSON": func(form string) http.HandlerFunc { return answer(200, "text/event-stream", sse(form)) },
	"stream, half JSON": func(form string) http.HandlerFunc {
		return answer(200, "text/event-stream", sse(`{"type":"`+form+`","x":"`+form))
	},
	"stream, error": func(form string) http.HandlerFunc {
		return answer(200, "text/event-stream", sse(`{"type":"error","error":{"type":"`+form+`","code":"`+form+`","message":"`+form+`"}}`))
	},
	"stream, toy": func(form string) http.HandlerFunc {
		return answer(200, "text/event-stream", sse(`{"start":"`+form+`","model":"`+form+`"}`, `{"odd":"`+form+`"}`, `{"other":"`+form+`"}`, `{"usage":{"tier":"`+form+`"}}`, `{"error":"`+form+`"}`))
	},
	"stream, toy, cut": func(form string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			answer(200, "text/event-stream", sse(`{"start":"`+form+`","model":"`+form+`"}`, `{"other":"`+form+`"}`, hi))(w, r)
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	},
	"document": func(form string) http.HandlerFunc { return answer(200, "application/json", `{"other":"`+form+`"}`) },
	"document, no JSON": func(form string) http.HandlerFunc {
		return answer(200, "application/json", `{"`+form+`"`)
	},
}

// rawPaths are answers that are no HTTP, or odd HTTP, and that net/http repeats
// in its errors.
var rawPaths = map[string]func(form string) string{
	"no HTTP":         func(form string) string { return form + "\r\n\r\n" },
	"odd status":      func(form string) string { return "HTTP/1.1 " + form + "\r\n\r\n" },
	"odd version":     func(form string) string { return form + " 200 OK\r\n\r\n" },
	"reason":          func(form string) string { return "HTTP/1.1 401 " + form + "\r\nContent-Length: 0\r\n\r\n" },
	"odd header":      func(form string) string { return "HTTP/1.1 200 OK\r\n" + form + "\r\n\r\n" },
	"odd header name": func(form string) string { return "HTTP/1.1 200 OK\r\n" + form + " x: y\r\n\r\n" },
	"header name": func(form string) string {
		return "HTTP/1.1 500 x\r\nX-" + form + ": y\r\nContent-Length: 0\r\n\r\n"
	},
	"odd length": func(form string) string { return "HTTP/1.1 200 OK\r\nContent-Length: " + form + "\r\n\r\n" },
	"odd coding": func(form string) string { return "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + form + "\r\n\r\n" },
	"odd chunk": func(form string) string {
		return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + form + "\r\n"
	},
	"trailer": func(form string) string {
		return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: " + form + "\r\n\r\n0\r\n" + form + "\r\n\r\n"
	},
}

// rawServer answers every request with one text and closes the connection.
func rawServer(t *testing.T, text string) string {
	return "http://" + listen(t, func(conn net.Conn) {
		defer conn.Close()
		buf := make([]byte, 1<<16)
		conn.Read(buf)
		io.WriteString(conn, text)
		conn.(*net.TCPConn).CloseWrite()
		for { // what is unread would make the close a reset
			if _, err := conn.Read(buf); err != nil {
				return
			}
		}
	})
}

// watched makes a client whose Trace, notes and errors are all kept, and returns
// what each way of asking shows.
func watched(t *testing.T, cfg provider.Config) (shown []string) {
	t.Helper()
	seen := map[string]bool{}
	add := func(v any) {
		if text := everything(v); !seen[text] {
			seen[text] = true
			shown = append(shown, text)
		}
	}
	cfg.Retry = &retry.Policy{MaxAttempts: 2, BaseDelay: -1}
	cfg.Trace = &provider.Trace{
		Request:  func(r provider.TraceRequest) { add(r); add(string(r.Body)) },
		Response: func(r provider.TraceResponse) { add(r) },
		Failed:   func(f provider.TraceFailure) { add(f); add(f.Err) },
	}
	add(cfg)
	add(&cfg)
	add(*cfg.Trace)
	c, err := provider.New(cfg)
	if err != nil {
		add(err)
		return shown
	}
	defer c.CloseIdleConnections()
	add(c)
	add(*c)
	r := &wire.Request{Model: "m1", MaxTokens: 9, Messages: []wire.Message{wire.UserText("q")}}
	for ev, err := range c.Stream(limited(t), r) {
		add(ev)
		if err != nil {
			add(err)
		}
		if ev.Start != nil {
			add(*ev.Start)
		}
		if ev.Note != nil {
			add(*ev.Note)
		}
		if ev.End != nil {
			add(*ev.End)
		}
	}
	resp, err := c.Complete(limited(t), r)
	add(resp)
	add(err)
	if _, err := c.CountTokens(limited(t), r); err != nil {
		add(err)
	}
	var call wire.Call
	u, err := c.Encode(&call, r)
	add(u)
	add(err)
	add(call)
	add(string(call.Body))
	return shown
}

// wantNoLeak checks what was shown.
func wantNoLeak(t *testing.T, what string, shown []string, key string) {
	t.Helper()
	for _, s := range shown {
		if l := leak(s, key); l != "" {
			t.Errorf("%s: %s", what, l)
			return
		}
	}
}

// secretServer repeats, in the place and the form that the header X-Path names,
// one of the forms.
func secretServer(t *testing.T, all map[string]string) *httptest.Server {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		path, form, _ := strings.Cut(r.Header.Get("X-Path"), "|")
		secretPaths[path](all[form])(w, r)
	})
}

// TestSecrets: nothing that can be printed or recorded shows a key, however it is
// repeated and wherever. Of one key that is every form in every place; of the
// others, every form in some places and some forms in every place.
func TestSecrets(t *testing.T) {
	for keyName, key := range secretKeys {
		t.Run(keyName, func(t *testing.T) {
			t.Parallel()
			all := forms(key)
			srv := secretServer(t, all)
			for form, text := range all {
				few := (keyName != "signs" || testing.Short()) && form != "plain" && form != "JSON"
				cfg := provider.Config{Codec: counter{}, Model: "m1", APIKey: key, Auth: provider.Auth{Header: "x-api-key"}}
				for path := range secretPaths {
					if few && path != "error, every field" && path != "stream, toy" {
						continue
					}
					cfg.BaseURL, cfg.Header = srv.URL, []wire.Header{{Name: "X-Path", Value: path + "|" + form}}
					wantNoLeak(t, path+", "+form, watched(t, cfg), key)
				}
				cfg.Header = nil
				for path, f := range rawPaths {
					if few && path != "no HTTP" {
						continue
					}
					cfg.BaseURL = rawServer(t, f(text))
					wantNoLeak(t, path+", "+form, watched(t, cfg), key)
				}
			}
		})
	}
}

// TestSecretsOfProtocols: the same with the codecs of all protocols.
func TestSecretsOfProtocols(t *testing.T) {
	key := secretKeys["signs"]
	all := forms(key)
	srv := secretServer(t, all)
	seen := map[string]bool{}
	for _, p := range preset.All() {
		if seen[p.Protocol] {
			continue
		}
		seen[p.Protocol] = true
		t.Run(p.Protocol, func(t *testing.T) {
			t.Parallel()
			own := preset.Config{Protocol: p.Name, Model: "m1", BaseURL: srv.URL, APIKey: key}
			cfg, err := own.Provider()
			if err != nil {
				t.Fatal(err)
			}
			wantNoLeak(t, "settings", []string{everything(own), everything(&own), everything(struct{ C preset.Config }{own})}, key)
			for path := range secretPaths {
				for _, form := range []string{"plain", "JSON, slashes", "base64, Basic"} {
					cfg.Header = []wire.Header{{Name: "X-Path", Value: path + "|" + form}}
					wantNoLeak(t, path+", "+form, watched(t, cfg), key)
				}
			}
		})
	}
}

// TestSecretsOfTransport: proxies, certificates and the frames of HTTP/2 that
// repeat a key.
func TestSecretsOfTransport(t *testing.T) {
	key := secretKeys["signs"]
	private, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for form, text := range forms(key) {
		cfg := provider.Config{Codec: counter{}, Model: "m1", APIKey: key}
		said := func(what string, words ...string) {
			t.Helper()
			shown := watched(t, cfg)
			wantNoLeak(t, what+", "+form, shown, key)
			for _, w := range words {
				if !strings.Contains(strings.Join(shown, ""), w) {
					t.Errorf("%s, %s: nothing says %q", what, form, w)
				}
			}
		}
		proxy, err := url.Parse(rawServer(t, "HTTP/1.1 407 no "+text+"\r\nX-Echo: "+text+"\r\nContent-Length: 0\r\n\r\n"))
		if err != nil {
			t.Fatal(err)
		}
		cfg.HTTP = &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}
		cfg.BaseURL = "https://h.example"
		said("proxy, https", "[key hidden]")
		cfg.BaseURL = "http://h.example"
		said("proxy, http", "[key hidden]")

		cert := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{text + ".example"}, NotAfter: time.Now().Add(time.Hour)}
		der, err := x509.CreateCertificate(crand.Reader, cert, cert, private.Public(), private)
		if err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewUnstartedServer(nil)
		srv.Config.ErrorLog = discardLog
		srv.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}}}
		srv.StartTLS()
		cfg.HTTP = nil
		cfg.BaseURL = strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)
		said("certificate", "x509")
		srv.Close()

		goAway := h2Frame(h2GoAway, 0, 0, append([]byte{0, 0, 0, 1, 0, 0, 0, 11}, text...)...)
		for _, head := range []bool{false, true} {
			addr, use := h2Server(t, head, goAway)
			use(&cfg)
			cfg.BaseURL = addr
			said("go away", "GOAWAY", "[key hidden]")
		}
	}
}

// TestSecretsRefused: what [provider.New] says of settings that hold the key where
// it does not belong.
func TestSecretsRefused(t *testing.T) {
	for _, key := range secretKeys {
		for form, text := range forms(key) {
			for what, change := range map[string]func(*provider.Config){
				"query":           func(cfg *provider.Config) { cfg.BaseURL = "https://h.example/?x=" + url.QueryEscape(text) },
				"query, as it is": func(cfg *provider.Config) { cfg.BaseURL = "https://h.example/?x=" + text },
				"user":            func(cfg *provider.Config) { cfg.BaseURL = "https://u:" + url.PathEscape(text) + "@h.example/" },
				"fragment":        func(cfg *provider.Config) { cfg.BaseURL = "https://h.example/#" + text },
				"no URL":          func(cfg *provider.Config) { cfg.BaseURL = text },
				"scheme":          func(cfg *provider.Config) { cfg.BaseURL = text + "://h.example" },
				"port":            func(cfg *provider.Config) { cfg.BaseURL = "https://h.example:" + text },
				"exact URL":       func(cfg *provider.Config) { cfg.BaseURL, cfg.URL = "", "https://h.example/?key="+text },
				"header's name":   func(cfg *provider.Config) { cfg.Header = []wire.Header{{Name: text + " ", Value: "x"}} },
				"header's value":  func(cfg *provider.Config) { cfg.Header = []wire.Header{{Name: "X-A", Value: text + "\n"}} },
				"key's header":    func(cfg *provider.Config) { cfg.Auth.Header = text + " " },
				"key's prefix":    func(cfg *provider.Config) { cfg.Auth.Prefix = text + "\n" },
				"twice":           func(cfg *provider.Config) { cfg.Header = []wire.Header{{Name: "authorization", Value: text}} },
				"line break":      func(cfg *provider.Config) { cfg.APIKey = key + "\n" + key },
				"blank":           func(cfg *provider.Config) { cfg.APIKey = key + " " + key },
				"not ASCII":       func(cfg *provider.Config) { cfg.APIKey = key + "\u00e9" },
			} {
				cfg := provider.Config{Codec: toy{}, BaseURL: "https://h.example", APIKey: key}
				change(&cfg)
				_, err := provider.New(cfg)
				if err == nil {
					t.Errorf("%s, %s: %q is not refused", what, form, text)
				}
				wantNoLeak(t, what+", "+form, []string{everything(cfg), everything(err)}, key)
			}
		}
	}
}

// TestSecretsOfHeaders: credentials of Config.Header are treated like the key.
func TestSecretsOfHeaders(t *testing.T) {
	key := secretKeys["signs"]
	all := forms(key)
	srv := secretServer(t, all)
	for _, h := range []wire.Header{{Name: "authorization", Value: "Bearer " + key}, {Name: "X-Goog-Api-Key", Value: key},
		{Name: "Cookie", Value: key}, {Name: "Proxy-Authorization", Value: "Basic " + all["base64, Basic"]}} {
		for form := range all {
			cfg := provider.Config{Codec: counter{}, Model: "m1", BaseURL: srv.URL,
				Header: []wire.Header{h, {Name: "X-Path", Value: "error, every field|" + form}}}
			if h.Name == "Proxy-Authorization" && form != "base64, Basic" { // what is sent is what is hidden
				continue
			}
			wantNoLeak(t, h.Name+", "+form, watched(t, cfg), key)
		}
	}
}

// TestSecretsOfRequest: the credential that one request brings does not show in a
// trace.
func TestSecretsOfRequest(t *testing.T) {
	key := secretKeys["signs"]
	srv := secretServer(t, forms(key))
	var shown []string
	c := newClient(t, srv.URL, func(cfg *provider.Config) {
		cfg.Trace = &provider.Trace{Request: func(r provider.TraceRequest) { shown = append(shown, everything(r)) }}
	})
	r := text("q")
	r.Headers = []wire.Header{{Name: "X-Tenant-Token", Value: key}, {Name: "X-Path", Value: "document|plain"}}
	c.Complete(limited(t), r)
	if len(shown) != 1 {
		t.Fatalf("%d requests", len(shown))
	}
	wantNoLeak(t, "a header of the request", shown, key)
}

// TestSecretsCost: looking for the key in what the vendor says takes little memory,
// however much of it could be written otherwise.
func TestSecretsCost(t *testing.T) {
	const size = 1 << 20
	for name, unit := range map[string]string{"JSON": `\\`, "JSON, twice": `{\\\"a\\\":1}`, "URLs": "%", "HTML": "&amp;"} {
		cost := func(key string) int64 {
			body := sse(`{"other":"`+strings.Repeat(unit, size/len(unit))+`"}`, stop)
			c := newClient(t, "http://127.0.0.1:1", responds(200, "text/event-stream", func(*http.Request) io.Reader { return strings.NewReader(body) }),
				func(cfg *provider.Config) { cfg.APIKey = key })
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := c.Complete(limited(t), text("q")); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			return int64(after.TotalAlloc - before.TotalAlloc)
		}
		if with, without := cost(key), cost(""); with-without > 6*size {
			t.Errorf("%s: %d MiB more than without a key", name, (with-without)>>20)
		}
	}
}

// TestSecretsOddKeys: keys that repeat themselves, or look as if they were written
// for a URL.
func TestSecretsOddKeys(t *testing.T) {
	for _, tt := range []struct{ key, told string }{
		{"abababababababab-MARKED-012345", "the key ababababababababab-MARKED-012345"},
		{"tok%2Bab/cdef-MARKED", `the key tok%2Bab\/cdef-MARKED`},
		{"tok%2Bab/cdef-MARKED", `the key tok%2Bab&#47;cdef-MARKED`},
		{"tok%2Bab/cdef-MARKED", `the key tok%252Bab%2Fcdef-MARKED`},
	} {
		c := newClient(t, serve(t, answer(500, "text/plain", tt.told)).URL, func(cfg *provider.Config) { cfg.APIKey = tt.key })
		_, err := c.Complete(limited(t), text("q"))
		wantError(t, wire.AsError(err, ""), wire.CauseVendor, "[key hidden]")
	}
}
