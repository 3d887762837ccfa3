package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/provider/preset"
)

func TestProviders(t *testing.T) {
	env := map[string]string{"DEEPSEEK_API_KEY": testKey, "GROQ_API_KEY": " "}
	got := command{env: env}.run(t, "providers")
	got.check(t, exitDone, got.stdout, "")
	for _, want := range []string{
		"anthropic-messages (anthropic)\n    anthropic-messages  https://api.anthropic.com  ANTHROPIC_API_KEY (not set)\n",
		"openai-chat (openai)\n    openai-chat  https://api.openai.com  OPENAI_API_KEY (not set)\nzai ",
		"deepseek\n    openai-chat  https://api.deepseek.com  DEEPSEEK_API_KEY (set)\n    MaxTokens=max_tokens System=system SystemFirst Thinking=deepseek Efforts=minimal>low+medium>high+xhigh>high+ultra>max Replay=always ",
		"https://api.groq.com/openai/v1  GROQ_API_KEY (not set)\n",
		"vllm\n    openai-chat  http://localhost:8000/v1  no key needed\n",
		"azure-openai (azure)\n    openai-chat  address of your own  AZURE_OPENAI_API_KEY (not set)\n    NoFiles\n",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("no %q in\n%s", want, got.stdout)
		}
	}
	lines := strings.Split(strings.TrimSpace(command{env: env}.run(t, "providers", "--json").stdout), "\n")
	if len(lines) != len(preset.All()) {
		t.Errorf("%d lines for %d presets", len(lines), len(preset.All()))
	}
	for i, line := range lines {
		var k knownProvider
		if err := json.Unmarshal([]byte(line), &k); err != nil || k.Name != preset.All()[i].Name || k.KeySet != (k.Name == "deepseek") {
			t.Errorf("%v: %s", err, line)
		}
		if k.Name != "anthropic-messages" && k.Name != "openai-chat" && len(k.Switches) == 0 {
			t.Errorf("no switches: %s", line)
		}
	}
	command{}.run(t, "providers", "x").check(t, exitUsage, "", "agentctl: providers takes no argument\n")
}

// TestReadmeDialects holds the README's table of vendors against the profiles.
func TestReadmeDialects(t *testing.T) {
	const begin, end = "<!-- dialects: written by go test ./cmd/agentctl -run Dialects -update -->\n", "<!-- end of dialects -->\n"
	var b strings.Builder
	b.WriteString("| name | address | key | departs from `openai-chat` in |\n| --- | --- | --- | --- |\n")
	for _, p := range preset.All() {
		if p.Protocol != "openai-chat" {
			continue
		}
		base, key := p.BaseURL, "–"
		if base == "" {
			base = "your own"
		}
		if p.KeyVariable != "" {
			key = "`" + p.KeyVariable + "`"
		}
		list := switchTexts(switchesOf(p.Name))
		for i := range list {
			list[i] = "`" + list[i] + "`"
		}
		if len(list) == 0 {
			list = []string{"nothing"}
		}
		b.WriteString("| `" + p.Name + "` | " + base + " | " + key + " | " + strings.Join(list, " ") + " |\n")
	}
	text := readme(t)
	before, rest, ok := strings.Cut(text, begin)
	table, after, also := strings.Cut(rest, end)
	if !ok || !also {
		t.Fatal("the README has no place for the table")
	}
	if *update {
		if err := os.WriteFile("../../README.md", []byte(before+begin+b.String()+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(b.String(), table); d != "" {
		t.Errorf("the README is stale (-want +got):\n%s", d)
	}
}
