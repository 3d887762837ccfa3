package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/provider/preset"
)

const testConfig = `{"default":"cheap","models":{
	"cheap":{"protocol":"zai","model":"glm-5.3","base_url":"https://models.example/v4","api_key":"file-key"},
	"big":{"protocol":"anthropic","model":"claude-opus-5-5"},
	"bare":{"protocol":"zai"}}}`

// TestChoose: flags come before the configuration file, and this before the
// environment.
func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		name  string
		flags vendorFlags
		file  string
		env   map[string]string
		want  preset.Config
		named bool
		pre   string // the preset
		err   string // a part of it
		asked string // a part of the error where the file is asked for
	}{
		{name: "nothing", want: preset.Config{Protocol: "anthropic-messages"}, pre: "anthropic-messages"},
		{name: "a key", env: map[string]string{"ANTHROPIC_API_KEY": "a"}, want: preset.Config{Protocol: "anthropic-messages", APIKey: "a"}, pre: "anthropic-messages"},
		{name: "the key of another vendor", env: map[string]string{"ZAI_API_KEY": "z"}, want: preset.Config{Protocol: "zai", APIKey: "z"}, pre: "zai"},
		{name: "DeepSeek from the environment", env: map[string]string{"DEEPSEEK_API_KEY": "d"}, want: preset.Config{Protocol: "deepseek", APIKey: "d"}, pre: "deepseek"},
		{name: "OpenRouter from the environment", env: map[string]string{"OPENROUTER_API_KEY": "o"}, want: preset.Config{Protocol: "openrouter", APIKey: "o"}, pre: "openrouter"},
		{name: "a blank key", env: map[string]string{"ANTHROPIC_API_KEY": " ", "ZAI_API_KEY": "z"}, want: preset.Config{Protocol: "zai", APIKey: "z"}, pre: "zai"},
		{name: "several keys", env: map[string]string{"ANTHROPIC_API_KEY": "a", "ZAI_API_KEY": "z"}, want: preset.Config{Protocol: "anthropic-messages", APIKey: "a"}, pre: "anthropic-messages"},
		{name: "a protocol", flags: vendorFlags{protocol: "ZAI"}, env: map[string]string{"ANTHROPIC_API_KEY": "a"}, want: preset.Config{Protocol: "ZAI"}, named: true, pre: "zai"},
		{name: "a model alone", flags: vendorFlags{model: "m"}, env: map[string]string{"ZAI_API_KEY": "z"}, want: preset.Config{Protocol: "zai", Model: "m", APIKey: "z"}, named: true, pre: "zai"},
		{name: "a variable alone", flags: vendorFlags{keyEnv: "OPENAI_API_KEY"}, env: map[string]string{"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a"}, want: preset.Config{Protocol: "openai-chat", APIKey: "o"}, named: true, pre: "openai-chat"},
		{name: "no variable but a key", flags: vendorFlags{keyEnv: "sk-live-1"}, err: "--api-key-env takes the name of a variable"},
		{name: "a profile", flags: vendorFlags{profile: "zai", model: "m"}, env: map[string]string{"ZAI_API_KEY": "z"}, want: preset.Config{Protocol: "zai", Model: "m", APIKey: "z"}, named: true, pre: "zai"},
		{name: "a profile of the protocol", flags: vendorFlags{protocol: "openai-chat", profile: "zai"}, want: preset.Config{Protocol: "zai"}, named: true, pre: "zai"},
		{name: "a profile of another protocol", flags: vendorFlags{protocol: "anthropic", profile: "zai"}, err: "the profile zai is a dialect of openai-chat, not of anthropic"},
		{name: "no such profile", flags: vendorFlags{profile: "smtp"}, err: "there is no profile smtp; the profiles are " + protocolNames()},
		{name: "no such protocol", flags: vendorFlags{protocol: "smtp"}, err: "there is no protocol smtp; the protocols are " + protocolNames()},
		{name: "a key of another name", flags: vendorFlags{keyEnv: "MINE"}, env: map[string]string{"MINE": "mine", "ANTHROPIC_API_KEY": "a"}, want: preset.Config{Protocol: "anthropic-messages", APIKey: "mine"}, named: true, pre: "anthropic-messages"},

		{name: "file: the default", file: testConfig, env: map[string]string{"ZAI_API_KEY": "z"}, want: preset.Config{Protocol: "zai", Model: "glm-5.3", BaseURL: "https://models.example/v4", APIKey: "file-key"}, named: true, pre: "zai"},
		{name: "file: a model by name", file: testConfig, flags: vendorFlags{model: "big"}, env: map[string]string{"ANTHROPIC_API_KEY": "a"}, want: preset.Config{Protocol: "anthropic", Model: "claude-opus-5-5", APIKey: "a"}, named: true, pre: "anthropic-messages"},
		{name: "file: a model that it does not have", file: testConfig, flags: vendorFlags{model: "m"}, asked: `has no model called "m"; it has bare, big, cheap`, want: preset.Config{Protocol: "anthropic-messages", Model: "m"}, named: true, pre: "anthropic-messages"},
		{name: "file: a protocol by flag", file: testConfig, asked: "exclude each other", flags: vendorFlags{protocol: "zai", model: "cheap"}, want: preset.Config{Protocol: "zai", Model: "cheap"}, named: true, pre: "zai"},
		{name: "file: its key stays with its address", file: testConfig, flags: vendorFlags{model: "cheap", baseURL: "https://elsewhere.example"}, want: preset.Config{Protocol: "zai", Model: "glm-5.3", BaseURL: "https://elsewhere.example"}, named: true, pre: "zai"},
		{name: "file: a profile on top", file: testConfig, flags: vendorFlags{model: "cheap", profile: "deepseek"}, want: preset.Config{Protocol: "deepseek", Model: "glm-5.3", BaseURL: "https://models.example/v4", APIKey: "file-key"}, named: true, pre: "deepseek"},
		{name: "file: no default", file: `{"models":{"a":{"protocol":"zai"}}}`, want: preset.Config{Protocol: "anthropic-messages"}, pre: "anthropic-messages"},
		{name: "file: a wrong default", file: `{"default":"x","models":{}}`, err: `there is no model called "x", which is its default`},
		{name: "file: unknown field", file: `{"models":{"a":{"protcol":"zai"}}}`, err: `models.a has a member "protcol"; its members are protocol, model, base_url and api_key`},
		{name: "file: a second document", file: `{} {}`, err: "the file is followed by something else"},
		{name: "file: no JSON", file: "default = x", err: "the file must be a JSON object"},
		{name: "file: unknown protocol", file: `{"default":"a","models":{"a":{"protocol":"smtp"}}}`, err: `models.a.protocol: there is no protocol "smtp"; the protocols are anthropic-messages,`},
		{name: "file: no protocol", file: `{"models":{"a":{"model":"m"}}}`, err: "models.a has no protocol; the protocols are anthropic-messages,"},
		{name: "file: null for a model", file: `{"models":{"a":null}}`, err: "models.a must be a JSON object"},
		{name: "file: null", file: `null`, err: "the file must be a JSON object"},
		{name: "file: empty", file: " ", err: "the file is empty"},
		{name: "file: cut", file: `{"models":{"a":{"protocol":"zai"`, err: "the file is not JSON, near byte"},
		{name: "file: a number", file: `{"models":{"a":{"protocol":5}}}`, err: "models.a.protocol must be a string"},
		{name: "file: a model twice", file: `{"models":{"a":{"protocol":"zai"},"a":{"protocol":"openai"}}}`, err: `models has two members "a"`},
		{name: "file: a member twice", file: `{"models":{"a":{"protocol":"zai","protocol":"openai"}}}`, err: `models.a has two members "protocol"`},
		{name: "file: another case", file: `{"models":{"a":{"protocol":"zai","API_KEY":"k"}}}`, err: `models.a has a member "API_KEY"`},
		{name: "file: a key of two lines", file: `{"models":{"a":{"protocol":"zai","api_key":"k\nl"}}}`, err: "models.a.api_key has a line break"},
		{name: "file: with a mark", file: "\ufeff" + testConfig, flags: vendorFlags{model: "bare"}, want: preset.Config{Protocol: "zai"}, named: true, pre: "zai"},
		{name: "file: its key stays with its vendor", file: `{"models":{"a":{"protocol":"openai","model":"m","api_key":"k"}}}`, flags: vendorFlags{model: "a", profile: "zai"}, want: preset.Config{Protocol: "zai", Model: "m"}, named: true, pre: "zai"},
		{name: "file: the default at another address", file: testConfig, flags: vendorFlags{baseURL: "https://b.example"}, want: preset.Config{Protocol: "zai", Model: "glm-5.3", BaseURL: "https://b.example"}, named: true, pre: "zai"},
		{name: "file: broken, and not needed", file: "x", asked: "exclude each other", flags: vendorFlags{protocol: "zai"}, want: preset.Config{Protocol: "zai"}, named: true, pre: "zai"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, asked := range []bool{false, true} {
				if asked && tt.file == "" {
					continue
				}
				dir := t.TempDir()
				name := filepath.Join(dir, "agentctl.json")
				if tt.file != "" {
					if err := os.WriteFile(name, []byte(tt.file), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				p := program{getenv: func(name string) string { return tt.env[name] }, configDir: dir, dir: "."}
				flags := tt.flags
				if asked {
					p.configDir, flags.config = "", name
				}
				got, pre, named, err := p.choose(flags)
				want := tt.err
				if asked && tt.asked != "" {
					want = tt.asked
				}
				if want != "" {
					if !errors.As(err, new(usageError)) || !strings.Contains(err.Error(), want) {
						t.Errorf("asked %t: error %v, want one with %q", asked, err, want)
					}
					continue
				}
				if err != nil {
					t.Fatalf("asked %t: %v", asked, err)
				}

				if got != tt.want {
					t.Errorf("asked %t: %s %q, want %s %q", asked, got, got.APIKey, tt.want, tt.want.APIKey)
				}
				if named != tt.named || pre.Name != tt.pre {
					t.Errorf("asked %t: named %t, preset %s", asked, named, pre.Name)
				}
			}
		})
	}
}

func TestConfigFileMissing(t *testing.T) {
	got := command{}.run(t, "run", "--config", "none.json", "x")
	if got.code != exitUsage || !strings.Contains(got.stderr, "none.json") {
		t.Errorf("exit code %d, stderr %q", got.code, got.stderr)
	}
}

// TestRunConfigFile: another vendor is another entry of a file.
func TestRunConfigFile(t *testing.T) {
	const answer = `data: {"id":"c1","object":"chat.completion.chunk","model":"glm-5.3","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello."}}]}

data: {"id":"c1","object":"chat.completion.chunk","model":"glm-5.3","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}

data: [DONE]

`
	var path, auth string
	var body struct{ Model string }
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, auth = r.URL.Path, r.Header.Get("Authorization")
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write([]byte(answer))
	}))
	defer srv.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "models.json"),
		[]byte(`{"default":"mine","models":{"mine":{"protocol":"zai","model":"glm-5.3","base_url":"`+srv.URL+`/v4","api_key":"`+testKey+`"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := command{dir: dir}.run(t, "run", "--config", "models.json", "Say hello")
	if got.code != exitDone || got.stdout != "Hello.\n" {
		t.Errorf("exit code %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
	}
	if d := cmp.Diff([]string{"/v4/chat/completions", "Bearer " + testKey, "glm-5.3"}, []string{path, auth, body.Model}); d != "" {
		t.Errorf("request (-want +got):\n%s", d)
	}
}

func TestUsageErrorsShowNoEscapes(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.json"), []byte(`{"default":"`+"\\u001b"+`[31mX","models":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := command{dir: dir}.run(t, "run", "--config", "m.json", "x")
	if got.code != exitUsage || !strings.Contains(got.stderr, "which is its default") {
		t.Errorf("exit code %d, stderr %q", got.code, got.stderr)
	}
	got = command{dir: dir}.run(t, "run", "-p", "\x1b[31m", "x")
	if got.code != exitUsage || !strings.Contains(got.stderr, "there is no protocol  [31m") {
		t.Errorf("exit code %d, stderr %q", got.code, got.stderr)
	}
}
