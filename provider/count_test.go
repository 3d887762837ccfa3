package provider_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/wire"
)

// counter is the toy codec with a call that counts tokens.
type counter struct{ toy }

func (counter) EncodeCount(c *wire.Call, r *wire.Request) error {
	c.Reset()
	c.Path, c.Framing = "/v1/count", wire.FramingWhole
	c.Body = append(c.Body, r.Model...)
	return nil
}

func (counter) DecodeCount(body []byte) (int64, error) {
	if len(body) != 4 {
		return 0, &wire.Error{Cause: wire.CauseProtocol, Message: "no count"}
	}
	return int64(body[1]-'0')*10 + int64(body[2]-'0'), nil
}

func TestCountTokens(t *testing.T) {
	for _, tt := range []struct {
		name, contentType, body string
		status                  int
		want                    int64
		cause                   wire.Cause
	}{
		{"count", "application/json", `"42"`, 200, 42, ""},
		{"refused", "application/json", `{"message":"no"}`, 400, 0, wire.CauseVendor},
		{"no count", "application/json", `{}`, 200, 0, wire.CauseProtocol},
		{"a stream", "text/event-stream", "data: 1\n\n", 200, 0, wire.CauseProtocol},
		{"a page", "text/html", "<html>", 200, 0, wire.CauseProtocol},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var path, body string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				path, body = r.URL.Path, string(b)
				w.Header().Set("Content-Type", tt.contentType)
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			}))
			defer srv.Close()
			c, err := provider.New(provider.Config{Codec: counter{}, Model: "m", BaseURL: srv.URL + "/x"})
			if err != nil {
				t.Fatal(err)
			}
			n, err := c.CountTokens(limited(t), &wire.Request{})
			var e *wire.Error
			if errors.As(err, &e) != (tt.cause != "") || n != tt.want || e != nil && e.Cause != tt.cause {
				t.Errorf("%d, %v", n, err)
			}
			if path != "/x/v1/count" || body != "m" {
				t.Errorf("the request was %q to %s", body, path)
			}
		})
	}
	c, err := provider.New(provider.Config{Codec: toy{}, BaseURL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	var e *wire.Error
	if _, err := c.CountTokens(limited(t), &wire.Request{}); !errors.As(err, &e) || e.Cause != wire.CauseConfig {
		t.Errorf("a protocol without such a call: %v", err)
	}
	c, err = provider.New(provider.Config{Codec: counter{}, URL: "http://127.0.0.1:1/exact"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CountTokens(limited(t), &wire.Request{}); !errors.As(err, &e) || e.Cause != wire.CauseConfig {
		t.Errorf("an exact URL: %v", err)
	}
	ctx, cancel := context.WithCancel(limited(t))
	cancel()
	if _, err := c.CountTokens(ctx, &wire.Request{}); err == nil {
		t.Error("cancelled, and no error")
	}
}
