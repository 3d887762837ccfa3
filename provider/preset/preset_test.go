package preset_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/provider/preset"
	"github.com/handwire/handwire/wire"
)

func TestLookup(t *testing.T) {
	for _, name := range []string{"anthropic-messages", "anthropic", "Anthropic", " ANTHROPIC "} {
		p, ok := preset.Lookup(name)
		if !ok || p.Name != "anthropic-messages" || p.Protocol != "anthropic-messages" || p.KeyVariable != "ANTHROPIC_API_KEY" {
			t.Errorf("Lookup(%q): got %+v, %v", name, p, ok)
		}
	}
	for _, name := range []string{"", " ", "anthropi", "anthropic-"} {
		if p, ok := preset.Lookup(name); ok {
			t.Errorf("Lookup(%q): got %+v", name, p)
		}
	}
}

// TestTable checks what every preset must hold, and that each makes a client.
func TestTable(t *testing.T) {
	names := map[string]bool{}
	for _, p := range preset.All() {
		t.Run(p.Name, func(t *testing.T) {
			for _, name := range append([]string{p.Name}, p.Aliases...) {
				if names[name] || name != strings.ToLower(name) {
					t.Errorf("the name %q is taken or not in lower case", name)
				}
				names[name] = true
				c := preset.Config{Protocol: name, Model: "m", APIKey: "k"}
				full, err := c.Provider()
				if err != nil || full.Codec.Protocol() != p.Protocol || full.BaseURL != p.BaseURL || full.Auth != p.Auth {
					t.Errorf("Provider of %s: got %v, %v", name, full, err)
				}
				if c.BaseURL == "" && p.BaseURL == "" { // the customer's own
					c.BaseURL = "https://own.example"
				}
				if _, err := preset.New(c, nil); err != nil {
					t.Errorf("New of %s: %v", name, err)
				}
			}
			switch local := strings.HasPrefix(p.BaseURL, "http://localhost:"); {
			case local && (!p.Auth.Optional || p.KeyVariable != "" || p.Vendor != ""):
				t.Errorf("a server of one's own needs no key: %+v", p)
			case local, p.BaseURL == "" && p.Vendor != "":
			case p.Vendor == "" || preset.VendorOf(p.BaseURL) != p.Vendor:
				t.Errorf("%s is %q's, not %q's", p.BaseURL, preset.VendorOf(p.BaseURL), p.Vendor)
			}
		})
	}
	all := preset.All()
	all[0].Name, all[0].Aliases[0] = "changed", "changed"
	if p, ok := preset.Lookup("anthropic"); !ok || p.Name != "anthropic-messages" {
		t.Error("the table can be changed from outside")
	}
}

func TestUnknown(t *testing.T) {
	for _, name := range []string{"nonesuch", ""} {
		c, err := preset.New(preset.Config{Protocol: name, APIKey: "MARKED"}, nil)
		var e *wire.Error
		if c != nil || !errors.As(err, &e) || e.Cause != wire.CauseConfig || !strings.Contains(e.Error(), "rotocol") ||
			!strings.Contains(e.Error(), "anthropic-messages (anthropic)") || strings.Contains(e.Error(), "MARKED") {
			t.Errorf("New(%q): got %v, %v", name, c, err)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Run("F110 which key wins", func(t *testing.T) {
		env := func(value string) func(string) string {
			return func(name string) string {
				if name == "ANTHROPIC_API_KEY" {
					return value
				}
				return "not to be used"
			}
		}
		tests := []struct{ name, key, env, base, want string }{
			{"both", "A", "B", "", "A"},
			{"environment alone", "", "B", "", "B"},
			{"blank option", " \n", "B", "", "B"},
			{"empty variable", "", "", "", ""},
			{"blank variable", "", " \n", "", ""},
			{"spaces around", "", " B\n", "", "B"},
			{"empty variable, option", "A", "", "", "A"},
			{"the vendor's host", "", "B", "https://api.anthropic.com/v1", "B"},
			{"another host", "", "B", "https://gateway.example/anthropic", "B"},
			{"another vendor", "", "B", "https://api.openai.com/v1", ""},
			{"another vendor, spelling", "", "B", " HTTPS://API.OpenAI.com.:443/", ""},
			{"another vendor, its Anthropic form", "", "B", "https://api.z.ai/api/anthropic", ""},
			{"another vendor, explicit key", "A", "B", "https://api.z.ai/api/anthropic", "A"},
			{"like another vendor", "", "B", "https://notopenai.com", "B"},
			{"another vendor in front", "", "B", "https://api.openai.com.gateway.example", "B"},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				c := preset.Config{Protocol: "anthropic", BaseURL: tt.base, APIKey: tt.key}
				if got := c.WithEnv(env(tt.env)).APIKey; strings.TrimSpace(got) != tt.want {
					t.Errorf("got key %q, want %q", got, tt.want)
				}
			})
		}
		c := preset.Config{Protocol: "anthropic"}.WithEnv(env(""))
		client, err := preset.New(c, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Complete(t.Context(), request())
		if e := wire.AsError(err, ""); e == nil || e.Cause != wire.CauseConfig || !strings.Contains(e.Error(), "ANTHROPIC_API_KEY") {
			t.Errorf("without a key: got %v", err)
		}
		if got := (preset.Config{Protocol: "nonesuch"}).WithEnv(env("B")); got.APIKey != "" {
			t.Errorf("an unknown protocol got the key %q", got.APIKey)
		}
		if got := (preset.Config{Protocol: "anthropic"}).WithEnv(nil); got.APIKey != "" {
			t.Errorf("without an environment: got the key %q", got.APIKey)
		}
	})
}

func request() *wire.Request {
	return &wire.Request{Messages: []wire.Message{wire.UserText("Hi.")}}
}

func TestNew(t *testing.T) {
	var got *http.Request
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(529)
		io.WriteString(w, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
	}))
	defer srv.Close()
	opts := &preset.Options{HTTP: srv.Client(), Header: []wire.Header{{Name: "x-a", Value: "b"}}}
	client, err := preset.New(preset.Config{Protocol: "anthropic", Model: "m1", BaseURL: srv.URL, APIKey: "k1"}, opts)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Complete(t.Context(), request())
	if e := wire.AsError(err, ""); e == nil || e.Status != 529 || e.Cause != wire.CauseVendor {
		t.Errorf("got %v", err)
	}
	if got == nil || got.URL.Path != "/v1/messages" || got.Header.Get("x-api-key") != "k1" ||
		got.Header.Get("authorization") != "" || got.Header.Get("x-a") != "b" || got.Header.Get("anthropic-version") == "" {
		t.Errorf("got request %+v", got)
	}
}

func TestConfigForms(t *testing.T) {
	want := preset.Config{Protocol: "anthropic", Model: "m", BaseURL: "https://h.example", APIKey: "MARKED"}
	var c preset.Config
	text := `{"protocol":"anthropic","model":"m","base_url":"https://h.example","api_key":"MARKED"}`
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("Unmarshal (-want +got):\n%s", diff)
	}
	b, err := json.Marshal(c)
	if err != nil || string(b) != `{"protocol":"anthropic","model":"m","base_url":"https://h.example"}` {
		t.Errorf("Marshal: got %s, %v", b, err)
	}
	exported := struct{ C preset.Config }{c}
	if s := fmt.Sprintf("%v %+v %#v %s %q %d %v %v %#v", c, c, c, c, c, c, &c, exported, exported); strings.Contains(s, "MARKED") {
		t.Errorf("the key shows in %s", s)
	}
}

func Example() {
	environment := map[string]string{"ANTHROPIC_API_KEY": "sk-example"}
	cfg := preset.Config{Protocol: "anthropic", Model: "claude-sonnet-5-5"}
	client, err := preset.New(cfg.WithEnv(func(name string) string { return environment[name] }), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(client)
	// Output: provider.Client(anthropic-messages https://api.anthropic.com)
}

// TestWithEnvForeignLetters: a host that is no ASCII may be resolved to any.
func TestWithEnvForeignLetters(t *testing.T) {
	env := func(string) string { return "k" }
	for _, address := range []string{"https://api．openai．com", "https://ｏpenai.com", "https://exämple.org"} {
		if c := (preset.Config{Protocol: "zai", BaseURL: address}).WithEnv(env); c.APIKey != "" {
			t.Errorf("%s gets the key", address)
		}
	}
	if c := (preset.Config{Protocol: "zai", BaseURL: "https://proxy.example"}).WithEnv(env); c.APIKey != "k" {
		t.Errorf("a host that is nobody's gets no key")
	}
}
