package provider_test

import (
	"testing"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/wire"
)

const (
	messages = "/v1/messages"
	chat     = "/v1/chat/completions"
	gemini   = "/v1beta/models/g:streamGenerateContent?alt=sse"
)

func testAddress(t *testing.T) {
	tests := []struct{ name, base, path, want string }{
		{"F108 host", "https://h.example", chat, "https://h.example/v1/chat/completions"},
		{"F108 slash", "https://h.example/", chat, "https://h.example/v1/chat/completions"},
		{"F108 v1", "https://h.example/v1", chat, "https://h.example/v1/chat/completions"},
		{"F108 v1 slash", "https://h.example/v1/", chat, "https://h.example/v1/chat/completions"},
		{"F108 prefix", "https://h.example/api/v1", chat, "https://h.example/api/v1/chat/completions"},
		{"F108 v4", "https://h.example/api/paas/v4", chat, "https://h.example/api/paas/v4/chat/completions"},
		{"F108 messages host", "https://h.example", messages, "https://h.example/v1/messages"},
		{"F108 messages slash", "https://h.example/", messages, "https://h.example/v1/messages"},
		{"F108 messages v1", "https://h.example/v1", messages, "https://h.example/v1/messages"},
		{"F108 messages v1 slash", "https://h.example/v1/", messages, "https://h.example/v1/messages"},
		{"F108 messages prefix", "https://h.example/api/v1", messages, "https://h.example/api/v1/messages"},
		{"F108 messages v4", "https://h.example/api/paas/v4", messages, "https://h.example/api/paas/v4/messages"},

		{"vendor prefix", "https://h.example/anthropic", messages, "https://h.example/anthropic/v1/messages"},
		{"vendor prefix slash", "https://h.example/api/anthropic/", messages, "https://h.example/api/anthropic/v1/messages"},
		{"two slashes at the end", "https://h.example/v1//", messages, "https://h.example/v1/messages"},
		{"v1beta", "https://h.example/v1beta", messages, "https://h.example/v1beta/messages"},
		{"v1alpha2", "https://h.example/v1alpha2", messages, "https://h.example/v1alpha2/messages"},
		{"no version", "https://h.example/vault", messages, "https://h.example/vault/v1/messages"},
		{"no version either", "https://h.example/v1x", messages, "https://h.example/v1x/v1/messages"},
		{"Gemini's OpenAI", "https://g.example/v1beta/openai/", chat, "https://g.example/v1beta/openai/chat/completions"},
		{"Groq", "https://g.example/openai/v1", chat, "https://g.example/openai/v1/chat/completions"},
		{"GitHub Models", "https://m.example/inference", chat, "https://m.example/inference/chat/completions"},
		{"GitHub Models, organisation", "https://m.example/orgs/o/inference", chat, "https://m.example/orgs/o/inference/chat/completions"},
		{"Fireworks chat", "https://f.example/inference/v1", chat, "https://f.example/inference/v1/chat/completions"},
		{"Fireworks messages", "https://f.example/inference", messages, "https://f.example/inference/v1/messages"},
		{"not inference", "https://m.example/myinference", chat, "https://m.example/myinference/v1/chat/completions"},

		{"endpoint", "https://h.example/v1/messages", messages, "https://h.example/v1/messages"},
		{"endpoint slash", "https://h.example/p/v1/messages/", messages, "https://h.example/p/v1/messages"},
		{"endpoint, other version", "https://h.example/api/paas/v4/chat/completions", chat, "https://h.example/api/paas/v4/chat/completions"},
		{"endpoint, no version", "https://h.example/chat/completions", chat, "https://h.example/chat/completions"},
		{"endpoint, query", "https://h.example/openai/deployments/d/chat/completions?api-version=2024-10-21", chat, "https://h.example/openai/deployments/d/chat/completions?api-version=2024-10-21"},
		{"Azure's deployment", "https://h.example/openai/deployments/d?api-version=2024-10-21", chat, "https://h.example/openai/deployments/d/chat/completions?api-version=2024-10-21"},
		{"Azure's v1", "https://h.example/openai/v1/", chat, "https://h.example/openai/v1/chat/completions"},
		{"a prefix that is no endpoint", "https://h.example/messages", messages, "https://h.example/messages/v1/messages"},

		{"query kept", "https://h.example/v1?api-version=preview", messages, "https://h.example/v1/messages?api-version=preview"},
		{"query of the path", "https://h.example", gemini, "https://h.example/v1beta/models/g:streamGenerateContent?alt=sse"},
		{"both queries", "https://h.example/v1?a=b", gemini, "https://h.example/v1/models/g:streamGenerateContent?a=b&alt=sse"},
		{"path without a version", "https://h.example/v1", "/api/chat", "https://h.example/v1/api/chat"},
		{"escapes", "https://h.example/a%2Fb%20c", messages, "https://h.example/a%2Fb%20c/v1/messages"},
		{"escapes in the path", "https://h.example", "/model/a%3Ab%2Fc/converse", "https://h.example/model/a%3Ab%2Fc/converse"},
		{"IPv6", "http://[::1]:80/", messages, "http://[::1]:80/v1/messages"},
		{"spaces around", " https://h.example\n", messages, "https://h.example/v1/messages"},
		{"private host, plain", "http://10.0.0.7:8080", messages, "http://10.0.0.7:8080/v1/messages"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClient(t, tt.base, func(cfg *provider.Config) { cfg.Codec = toy{path: tt.path} })
			var call wire.Call
			if got, err := c.Encode(&call, text("x")); err != nil || got != tt.want {
				t.Errorf("Encode: got %s, %v, want %s", got, err, tt.want)
			}
		})
	}
	t.Run("exact", func(t *testing.T) {
		const exact = "https://h.example/any/where/?api-version=1"
		c := newClient(t, "", func(cfg *provider.Config) { cfg.URL = exact })
		var call wire.Call
		if got, err := c.Encode(&call, text("x")); err != nil || got != exact {
			t.Errorf("Encode: got %s, %v, want %s", got, err, exact)
		}
	})
	t.Run("codec's path", func(t *testing.T) {
		for _, path := range []string{"v1/messages", "/a%zz"} {
			c := newClient(t, "https://h.example", func(cfg *provider.Config) { cfg.Codec = toy{path: path} })
			var call wire.Call
			_, err := c.Encode(&call, text("x"))
			wantError(t, wire.AsError(err, ""), wire.CauseConfig, "path")
		}
	})
}

func TestAddressRefused(t *testing.T) {
	for _, address := range []string{
		"", "h.example", "h.example/v1", "localhost:8080", "//h.example", "/v1", "https://", "https:h.example", "https:///v1",
		"ftp://h.example", "ws://h.example", "https://h.example:port", "https://h.example/%zz", "https://h.example/#part",
		"https://user@h.example", "https://user:MARKED@h.example", "https://h.example?key=MARKED",
		"https://h.example?a=b&API_KEY=MARKED", "https://h.example?api%2Dkey=MARKED", "https://h.example?apikey", "https://h.example?token=",
		"https://h.example?access_token=MARKED", "https://h.example/" + key,
		"https://h.example?Subscription-Key=MARKED", "https://h.example?sig=MARKED", "https://h.example?signature=MARKED",
		"https://h.example?code=MARKED", "https://h.example?auth=MARKED", "https://h.example?a=b&Authorization=MARKED",
	} {
		for _, set := range []func(*provider.Config){
			func(cfg *provider.Config) { cfg.BaseURL = address },
			func(cfg *provider.Config) { cfg.URL = address },
		} {
			cfg := provider.Config{Codec: toy{}, APIKey: key}
			set(&cfg)
			c, err := provider.New(cfg)
			if c != nil || err == nil {
				t.Errorf("New with %q: got no error", address)
				continue
			}
			wantError(t, wire.AsError(err, ""), wire.CauseConfig, "URL")
			noKey(t, cfg)
		}
	}
	_, err := provider.New(provider.Config{Codec: toy{}, BaseURL: "https://h.example", URL: "https://h.example"})
	wantError(t, wire.AsError(err, ""), wire.CauseConfig, "URL", "BaseURL")
	_, err = provider.New(provider.Config{BaseURL: "https://h.example"})
	wantError(t, wire.AsError(err, ""), wire.CauseConfig, "Codec")
}

func TestEndpoint(t *testing.T) {
	for base, want := range map[string]string{
		"https://H.example":          "h.example",
		"https://h.example:443/v1":   "h.example",
		"http://h.example:80":        "h.example",
		"https://h.example:80":       "h.example:80",
		"http://h.example:8080/v1/":  "h.example:8080",
		"http://[2001:DB8::1]:80":    "[2001:db8::1]",
		"http://[2001:db8::1]:11434": "[2001:db8::1]:11434",
	} {
		c := newClient(t, base)
		var call wire.Call
		if _, err := c.Encode(&call, text("x")); err != nil {
			t.Fatal(err)
		}
		if got := string(call.Body); got != `{"model":"m1","endpoint":"`+want+`","text":"x"}` {
			t.Errorf("%s: got body %s, want endpoint %s", base, got, want)
		}
	}
}
