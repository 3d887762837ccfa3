package provider_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/retry"
	"github.com/handwire/handwire/wire"
)

// proxied makes one request to an address with a client of no settings and prints
// what came of it. It runs in a process of its own, since net/http reads the
// environment once.
func proxied(base string) {
	c, err := provider.New(provider.Config{Codec: toy{}, Model: "m1", BaseURL: base, APIKey: key, Retry: &retry.Policy{MaxAttempts: 1}})
	if err != nil {
		panic(err)
	}
	resp, err := c.Complete(context.Background(), text("q"))
	fmt.Printf("%s|%v\n", resp.Message.Text(), err)
	os.Exit(0)
}

// TestProxyOfEnvironment: the variables of proxies are heeded, NO_PROXY among
// them, and a proxy of HTTPS sees no key.
func TestProxyOfEnvironment(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, fmt.Sprint(r.Method, " ", r.RequestURI, " ", strings.Contains(fmt.Sprint(r.Header), key)))
		mu.Unlock()
		if r.Method == http.MethodConnect {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		answer(200, "text/event-stream", sse(`{"text":"by proxy"}`, stop))(w, r)
	})
	direct := serve(t, answer(200, "text/event-stream", sse(`{"text":"direct"}`, stop)))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, base string
		env        []string
		want       string // of what is printed
		seen       string
	}{
		{"http", "http://h.example", []string{"HTTP_PROXY=" + proxy.URL}, "by proxy|<nil>", "POST http://h.example/v1/messages true"},
		{"https", "https://h.example", []string{"HTTPS_PROXY=" + proxy.URL}, "|connect", "CONNECT h.example:443 false"},
		{"lower case", "http://h.example", []string{"http_proxy=" + proxy.URL}, "by proxy|<nil>", "POST http://h.example/v1/messages true"},
		{"not for this host", "http://127.0.0.2.nip.invalid", []string{"HTTP_PROXY=" + proxy.URL, "NO_PROXY=.invalid"}, "|connect", ""},
		{"not for this machine", direct.URL, []string{"HTTP_PROXY=" + proxy.URL}, "direct|<nil>", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mu.Lock()
			seen = nil
			mu.Unlock()
			child := exec.Command(self)
			for _, v := range os.Environ() {
				if name, _, _ := strings.Cut(strings.ToUpper(v), "="); !strings.HasSuffix(name, "_PROXY") && name != "REQUEST_METHOD" {
					child.Env = append(child.Env, v)
				}
			}
			child.Env = append(append(child.Env, manyMode+"=proxied:"+tt.base, noRaceSleep), tt.env...)
			out, err := child.CombinedOutput()
			if err != nil {
				t.Skipf("SKIPPED, NOT PROVED: no second process can be run: %v\n%s", err, out)
			}
			mu.Lock()
			defer mu.Unlock()
			if !strings.HasPrefix(string(out), tt.want) || strings.Join(seen, "; ") != tt.seen {
				t.Errorf("got %q, want %q; the proxy saw %q, want %q", out, tt.want, seen, tt.seen)
			}
			noKey(t, string(out))
		})
	}
}

// clientCertificate returns a certificate that signs itself.
func clientCertificate(t *testing.T) tls.Certificate {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the caller"}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private, Leaf: c}
}

// TestCallersTLS: the TLS settings of the caller's http.Client are used as they
// are. Without them a connection fails, and is not tried again.
func TestCallersTLS(t *testing.T) {
	mine := clientCertificate(t)
	pool := x509.NewCertPool()
	pool.AddCert(mine.Leaf)
	var subject atomic.Value
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subject.Store(r.TLS.PeerCertificates[0].Subject.CommonName + " " + r.Header.Get("X-Tenant"))
		answer(200, "text/event-stream", sse(hi, stop))(w, r)
	}))
	srv.Config.ErrorLog = discardLog
	srv.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	srv.StartTLS()
	defer srv.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(srv.Certificate())

	plain := serve(t, answer(200, "text/event-stream", sse(hi, stop)))
	for _, tt := range []struct {
		name  string
		base  string
		tls   *tls.Config
		cause wire.Cause // empty: it works
		words []string
	}{
		{"certificates of both", srv.URL, &tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{mine}}, "", nil},
		{"unknown authority", srv.URL, &tls.Config{Certificates: []tls.Certificate{mine}}, wire.CauseConnect, []string{"certificate", "Config.HTTP"}},
		{"another name", srv.URL, &tls.Config{RootCAs: trusted, ServerName: "other.test"}, wire.CauseConnect, []string{"other.test", "Config.HTTP"}},
		{"no certificate of the caller", srv.URL, &tls.Config{RootCAs: trusted}, wire.CauseConnect, []string{"certificate required"}},
		{"no common version", srv.URL, &tls.Config{RootCAs: trusted, MaxVersion: tls.VersionTLS10, MinVersion: tls.VersionTLS10}, wire.CauseConnect, []string{"version"}},
		{"no TLS", strings.Replace(plain.URL, "http", "https", 1), nil, wire.CauseConnect, []string{"HTTPS"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := &http.Transport{TLSClientConfig: tt.tls}
			defer tr.CloseIdleConnections()
			attempts := 0
			c := newClient(t, tt.base, func(cfg *provider.Config) {
				cfg.HTTP = &http.Client{Transport: tr}
				cfg.Header = []wire.Header{{Name: "X-Tenant", Value: "t1"}}
				cfg.Retry = &retry.Policy{BaseDelay: -1}
				cfg.Trace = &provider.Trace{Request: func(provider.TraceRequest) { attempts++ }}
			})
			res := read(t, c, limited(t), text("q"))
			if attempts != 1 {
				t.Errorf("%d attempts", attempts)
			}
			if tt.cause == "" {
				if res.err != nil || res.text != "hi" || subject.Load() != "the caller t1" {
					t.Errorf("got %q, %v; the server saw %v", res.text, res.err, subject.Load())
				}
				return
			}
			wantError(t, res.err, tt.cause, tt.words...)
		})
	}
}

// TestHandshakeFails: a handshake that breaks off may go well the next time.
func TestHandshakeFails(t *testing.T) {
	srv := httptest.NewUnstartedServer(answer(200, "text/event-stream", sse(hi, stop)))
	srv.Config.ErrorLog = discardLog
	srv.StartTLS()
	defer srv.Close()
	tr := srv.Client().Transport.(*http.Transport)
	inner := net.Dialer{}
	n := 0
	tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := inner.DialContext(ctx, network, addr)
		if n++; n == 1 && err == nil {
			conn.Close()
		}
		return conn, err
	}
	c := newClient(t, srv.URL, func(cfg *provider.Config) {
		cfg.HTTP, cfg.Retry = &http.Client{Transport: tr}, &retry.Policy{BaseDelay: -1}
	})
	if res := read(t, c, limited(t), text("q")); res.err != nil || n != 2 {
		t.Errorf("got %v after %d connections", res.err, n)
	}
}

// TestHandshakeTime: a handshake has the time of the clock, which is the first to
// run out.
func TestHandshakeTime(t *testing.T) {
	for limit, want := range map[time.Duration]time.Duration{0: provider.DefaultConnect + time.Second, time.Minute: time.Minute + time.Second,
		-1: 0, math.MaxInt64: 0} {
		c := newClient(t, "https://h.example", func(cfg *provider.Config) { cfg.Clocks.Connect = limit })
		if got := provider.TransportOf(c).(*http.Transport).TLSHandshakeTimeout; got != want {
			t.Errorf("Connect %v: the transport gives a handshake %v, want %v", limit, got, want)
		}
	}
}
