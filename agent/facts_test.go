package agent_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/wire"
)

// TestFacts: the facts of a conversation stay what they were, also when it is
// saved and resumed, and no request holds them but as the caller says.
func TestFacts(t *testing.T) {
	var c agent.Conversation
	const want = "Facts about where you work:\n- working directory: /w with a line\n- date: 2026-12-01"
	first := c.Facts(agent.Fact{Name: "working directory", Value: "/w with\na line"}, agent.Fact{Name: "empty"}, agent.Fact{Name: "date", Value: "2026-12-01"})
	if first.Text != want {
		t.Errorf("got %q", first.Text)
	}
	c.AddUser(text("q"))
	if next := c.Facts(agent.Fact{Name: "date", Value: "2026-12-02"}); next.Text != want {
		t.Errorf("then %q", next.Text)
	}
	var b bytes.Buffer
	if err := c.Save(&b); err != nil {
		t.Fatal(err)
	}
	loaded, _, err := agent.Load(&b)
	if err != nil {
		t.Fatal(err)
	}
	if next := loaded.Facts(agent.Fact{Name: "date", Value: "2026-12-03"}); next.Text != want {
		t.Errorf("resumed: %q", next.Text)
	}
	if messages, _ := loaded.Snapshot().Messages(); brief(messages) != "user(q)" {
		t.Errorf("sent %s", brief(messages))
	}
	var none agent.Conversation
	if p := none.Facts(); p.Text != "" {
		t.Errorf("of nothing: %q", p.Text)
	}
}

func TestEstimateTokens(t *testing.T) {
	if n := agent.EstimateTokens(nil); n != 0 {
		t.Errorf("of nothing: %d", n)
	}
	n := agent.EstimateTokens([]wire.Message{wire.UserText(strings.Repeat("word ", 800))})
	if n < 900 || n > 1100 {
		t.Errorf("of 4,000 bytes: %d", n)
	}
	shot := agent.EstimateTokens([]wire.Message{wire.ToolMessage(wire.ToolResultPart("1", "f", wire.ImagePart([]byte("\x89PNG\r\n\x1a\nrest"))))})
	if shot < 1500 || shot > 1600 {
		t.Errorf("of an image: %d", shot)
	}
}
