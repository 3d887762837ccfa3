package preset_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/provider/preset"
	"github.com/handwire/handwire/wire"
)

// TestSwitchVendor: one program, whose turns go to one vendor after the other by
// the four fields alone, with calls, results and reasoning in the conversation.
func TestSwitchVendor(t *testing.T) {
	var paths, bodies []string
	turn := map[string]int{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		paths, bodies = append(paths, r.URL.Path), append(bodies, string(b))
		anthropic := strings.HasSuffix(r.URL.Path, "/messages")
		turn[r.URL.Path]++
		calls := turn[r.URL.Path]%2 == 1
		w.Header().Set("Content-Type", "application/json")
		switch {
		case anthropic && calls:
			io.WriteString(w, `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5-5","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"tool_use","id":"toolu_1","name":"get","input":{"n": 1}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":2}}`)
		case anthropic:
			io.WriteString(w, `{"id":"msg_2","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"from A"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":2}}`)
		case calls:
			io.WriteString(w, `{"id":"c1","object":"chat.completion","model":"deepseek-v4-pro","choices":[{"index":0,"message":{"role":"assistant","content":null,"reasoning_content":"well","tool_calls":[{"id":"call_1","type":"function","function":{"name":"get","arguments":"{\"n\": 2}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`)
		default:
			io.WriteString(w, `{"id":"c2","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"from B"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`)
		}
	}))
	defer srv.Close()
	get := agent.Func("get", "", `{"type":"object","properties":{"n":{"type":"integer"}}}`, func(_ context.Context, in struct{ N int }) (string, error) {
		return strings.Repeat("x", in.N), nil
	})
	var c agent.Conversation
	answer := func(cfg preset.Config, question string) string {
		client, err := preset.New(cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer client.CloseIdleConnections()
		text := ""
		a := agent.Agent{Model: client, Request: wire.Request{MaxTokens: 99}, Tools: []agent.Tool{get}}
		for ev, err := range a.Run(t.Context(), &c, wire.TextPart(question)) {
			if err != nil {
				t.Fatal(err)
			}
			text += ev.Text()
		}
		return text
	}
	a := preset.Config{Protocol: "anthropic", Model: "claude-sonnet-5-5", BaseURL: srv.URL, APIKey: "k"}
	b := preset.Config{Protocol: "deepseek", Model: "deepseek-v4-pro", BaseURL: srv.URL, APIKey: "k"}
	for i, cfg := range []preset.Config{a, b, a, b} {
		want := []string{"from A", "from B"}[i%2]
		if got := answer(cfg, "question"); got != want {
			t.Errorf("turn %d: %q, want %q", i, got, want)
		}
	}
	if got, want := strings.Join(paths, " "), strings.TrimSpace(strings.Repeat("/v1/messages /v1/messages /v1/chat/completions /v1/chat/completions ", 2)); got != want && len(paths) != 8 {
		t.Errorf("requests to %s", got)
	}
	// The last request to each vendor has its own reasoning, and not the other's.
	if last := bodies[5]; !strings.Contains(last, `"signature":"c2ln"`) || strings.Contains(last, "well") || !strings.Contains(last, `"input":{"n": 1}`) || !strings.Contains(last, "from B") {
		t.Errorf("to A: %s", last)
	}
	if last := bodies[7]; !strings.Contains(last, `"reasoning_content":"well"`) || strings.Contains(last, "c2ln") || !strings.Contains(last, `"arguments":"{\"n\": 2}"`) || !strings.Contains(last, "from A") {
		t.Errorf("to B: %s", last)
	}
	if u := c.Usage(); u.InputTokens.Value() != 48 || u.OutputTokens.Value() != 20 {
		t.Errorf("usage %+v", u)
	}
}
