package preset_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/golden"
	"github.com/handwire/handwire/provider/preset"
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/stream"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

const (
	handoffDir  = "testdata/handoff"
	handoffHome = "anthropic-messages"
)

// handoffTargets are the models that the conversation is handed to, one for each
// preset, and whether their server takes the settings of reasoning.
var handoffTargets = map[string]struct {
	model    string
	reasoned bool
}{
	handoffHome:     {"claude-sonnet-5-5", true},
	"openai-chat":   {"gpt-4.1", false},
	"zai":           {"glm-5.1", true},
	"deepseek":      {"deepseek-v4-pro", true},
	"openrouter":    {"anthropic/claude-sonnet-5.5", true},
	"moonshot":      {"kimi-k2.6", true},
	"qwen":          {"qwen3-max", true},
	"minimax":       {"MiniMax-M3", true},
	"mistral":       {"mistral-medium-3.5", true},
	"groq":          {"qwen/qwen3-32b", true},
	"xai":           {"grok-3-mini", true},
	"together":      {"deepseek-ai/DeepSeek-V4-Pro", true},
	"fireworks":     {"accounts/fireworks/models/glm-5p2", true},
	"cerebras":      {"gpt-oss-120b", true},
	"azure-openai":  {"gpt-4.1", false},
	"github-models": {"openai/gpt-4.1", false},
	"gemini-openai": {"gemini-3-pro", true},
	"vllm":          {"Qwen/Qwen3-8B", true},
	"sglang":        {"Qwen/Qwen3-8B", true},
	"llama.cpp":     {"qwen3-8b", true},
	"lmstudio":      {"qwen3-8b", true},
	"ollama-openai": {"qwen3:8b", true},
}

// TestHandoff hands one conversation that Anthropic's model led to every other
// preset, lets that one answer, and brings it back. The golden files hold, for each
// preset, the body that it gets and the notes on what was lost (name.json,
// name.notes), the next body to the same vendor (name.next.json), and the body that
// Anthropic gets afterwards (name.back.json).
func TestHandoff(t *testing.T) {
	home := handoffHistory(t)
	stayed := handoffEncode(t, handoffHome, home)
	handoffGolden(t, handoffHome, stayed)
	if len(stayed.Notes) > 0 {
		t.Errorf("notes on a history that stays: %v", stayed.Notes)
	}
	handoffPrefixes(t, handoffHome, home, stayed.Body)
	for _, p := range preset.All() {
		if p.Name == handoffHome {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			saved := handoffSaved(t, home)

			away := handoffFor(t, p.Name, home)
			sent := handoffEncode(t, p.Name, away)
			handoffGolden(t, p.Name, sent)
			handoffPrefixes(t, p.Name, away, sent.Body)
			handoffNothingSilent(t, home, sent)

			// The vendor answers, and its call gets a result.
			grown := away
			answer := handoffAnswer(t, p.Name, p.Name+".sse")
			calls := answer.ExecutableCalls()
			if len(calls) != 1 || answer.Reasoning() == "" {
				t.Fatalf("the vendor's answer has %d calls and the reasoning %q", len(calls), answer.Reasoning())
			}
			grown.Messages = append(append([]wire.Message(nil), home.Messages...), answer,
				wire.ToolMessage(wire.ToolResultPart(calls[0].ID, calls[0].Name, wire.TextPart("The lamp is old."))))
			next := handoffEncode(t, p.Name, grown)
			handoffGolden(t, p.Name+".next", next)
			handoffExtends(t, sent.Body, next.Body)

			// It comes back.
			back := home
			back.Messages = grown.Messages
			returned := handoffEncode(t, handoffHome, back)
			handoffGolden(t, p.Name+".back", returned)
			handoffExtends(t, stayed.Body, returned.Body)
			handoffAccepted(t, home, returned.Body)

			// Nothing that was given was changed, and nothing depends on
			// whether it was saved meanwhile.
			if diff := cmp.Diff(saved, home); diff != "" {
				t.Errorf("encoding changed the history (-before +after):\n%s", diff)
			}
			for _, c := range []struct {
				name string
				r    wire.Request
				want wire.Call
			}{{p.Name, away, sent}, {p.Name, grown, next}, {handoffHome, back, returned}, {handoffHome, home, stayed}} {
				loaded := handoffSaved(t, c.r)
				if diff := cmp.Diff(c.r, loaded); diff != "" {
					t.Errorf("saved and loaded (-before +after):\n%s", diff)
				}
				if diff := cmp.Diff(c.want, handoffEncode(t, c.name, loaded)); diff != "" {
					t.Errorf("%s, saved and loaded, encodes to (-before +after):\n%s", c.name, diff)
				}
			}
		})
	}
}

// handoffHistory returns the conversation, up to a question of the user's that is not
// answered yet: reasoning with a signature, a search that the server ran, text with
// and without citations, two calls at once, an image and a failure as results, an
// answer whose reasoning is hidden.
func handoffHistory(t *testing.T) wire.Request {
	image, err := os.ReadFile(filepath.Join(handoffDir, "lamp.png"))
	if err != nil {
		t.Fatal(err)
	}
	question := wire.TextPart("What is in a.png, what do the notes say, and which side has red lamps?")
	question.Cache = &wire.CacheMark{}
	first := handoffAnswer(t, handoffHome, handoffHome+".1.sse")
	calls := first.ExecutableCalls()
	if len(calls) != 2 {
		t.Fatalf("%d calls, want 2", len(calls))
	}
	missing := wire.ToolResultPart(calls[1].ID, calls[1].Name, wire.TextPart("no such file: notes & <more>.txt"))
	missing.IsError = true
	r := wire.Request{
		System: []wire.Part{wire.TextPart("You help in a harbour.")},
		Tools: []wire.Tool{
			{Name: "look", Description: "Shows a picture.", Schema: `{"type":"object","properties":{"path":{"type":"string"},"zoom":{"type":"number"}},"required":["path"]}`},
			{Name: "read", Description: "Reads a file.", Schema: `{"type":"object","properties":{"path":{"type":"string"},"from":{"type":"integer"}},"required":["path"]}`},
		},
		MaxTokens: 4096,
		Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn, Effort: "high"},
		Messages: []wire.Message{
			wire.UserMessage(question),
			first,
			wire.ToolMessage(
				wire.ToolResultPart(calls[0].ID, calls[0].Name, wire.TextPart("a.png, 1 by 1"), wire.ImagePart(image)),
				missing,
			),
			handoffAnswer(t, handoffHome, handoffHome+".2.sse"),
			wire.UserText("Are there other notes?"),
		},
	}
	return handoffFor(t, handoffHome, r)
}

// handoffFor returns r as it goes to a preset: with its model and host.
func handoffFor(t *testing.T, name string, r wire.Request) wire.Request {
	target, ok := handoffTargets[name]
	if !ok {
		t.Fatalf("no model of %s is in the table of this test", name)
	}
	r.Model, r.Endpoint = target.model, handoffHost(t, name)
	if !target.reasoned {
		r.Reasoning = nil
	}
	return r
}

func handoffCodec(t *testing.T, name string) wire.Codec {
	t.Helper()
	c, err := preset.Config{Protocol: name}.Provider()
	if err != nil {
		t.Fatal(err)
	}
	return c.Codec
}

// handoffHost returns the host of a preset, as a client would set it on what comes in.
func handoffHost(t *testing.T, name string) string {
	t.Helper()
	p, ok := preset.Lookup(name)
	if !ok {
		t.Fatalf("no preset %s", name)
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(p.BaseURL, "https://"), "/")
	return host
}

// handoffAnswer decodes a recorded stream of a preset's vendor.
func handoffAnswer(t *testing.T, name, file string) wire.Message {
	t.Helper()
	f, err := os.Open(filepath.Join(handoffDir, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dec := handoffCodec(t, name).NewDecoder(wire.Head{Status: 200, Framing: wire.FramingSSE})
	resp, err := wire.Collect(stream.Read(f, dec, wire.FramingSSE, nil))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if len(resp.Notes) > 0 {
		t.Errorf("%s: notes %v", file, resp.Notes)
	}
	resp.Message.Origin.Endpoint = handoffHost(t, name)
	return resp.Message
}

// handoffEncode encodes r, which nothing may be found wrong with.
func handoffEncode(t *testing.T, name string, r wire.Request) wire.Call {
	t.Helper()
	c := handoffCodec(t, name)
	if f := c.Check(&r); len(f) > 0 {
		t.Errorf("%s: %v", name, wire.Findings(f))
	}
	var call wire.Call
	if err := c.Encode(&call, &r); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if !json.Valid(call.Body) {
		t.Errorf("%s: the body is no JSON: %s", name, call.Body)
	}
	return call
}

// handoffGolden compares a body and its notes, a line each, with their files.
func handoffGolden(t *testing.T, name string, call wire.Call) {
	t.Helper()
	var notes strings.Builder
	for _, n := range call.Notes {
		notes.WriteString(string(n.Code) + " " + n.Path + " " + n.Detail + "\n")
	}
	for i, n := range call.Notes {
		if n.Path == "" || n.Detail == "" || i > 0 && n == call.Notes[i-1] {
			t.Errorf("%s: the note %+v lacks something, or is there twice", name, n)
		}
	}
	opts := &golden.Options{Update: *update, Dir: handoffDir}
	golden.File(t, opts, name+".json", call.Body)
	golden.File(t, opts, name+".notes", []byte(notes.String()))
}

// handoffSaved returns r as it is after it was saved and loaded, which shares nothing
// with r.
func handoffSaved(t *testing.T, r wire.Request) wire.Request {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var loaded wire.Request
	if err := json.Unmarshal(b, &loaded); err != nil {
		t.Fatal(err)
	}
	return loaded
}

// handoffExtends checks that a body holds all of an earlier one up to the end of its
// last message, and then another message.
func handoffExtends(t *testing.T, earlier, later []byte) {
	t.Helper()
	prefix, ok := bytes.CutSuffix(earlier, []byte(`]}`))
	if !ok {
		t.Fatalf("the messages are not the last member of %s", earlier)
	}
	if rest, ok := bytes.CutPrefix(later, prefix); !ok || !bytes.HasPrefix(rest, []byte(`,{"role":"assistant"`)) {
		t.Errorf("the earlier body is not the beginning of the later one: %s", golden.Diff(prefix, later[:min(len(prefix), len(later))]))
	}
}

// handoffPrefixes checks that the requests of the earlier turns of r, of which body is
// the encoding, are its beginning.
func handoffPrefixes(t *testing.T, name string, r wire.Request, body []byte) {
	t.Helper()
	all := r.Messages
	for i, m := range all {
		if m.Role == wire.RoleAssistant {
			r.Messages = all[:i]
			handoffExtends(t, handoffEncode(t, name, r).Body, body)
		}
	}
}

// handoffNothingSilent checks, apart from the golden files, that each part of a
// conversation that is handed away is in the body or in a note.
func handoffNothingSilent(t *testing.T, home wire.Request, call wire.Call) {
	t.Helper()
	noted := func(path string) bool {
		return slices.ContainsFunc(call.Notes, func(n wire.Note) bool { return n.Path == path })
	}
	holds := func(s string) bool {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		inner := strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n")
		return bytes.Contains(call.Body, []byte(inner))
	}
	var check func(path string, p wire.Part)
	check = func(path string, p wire.Part) {
		switch p.Kind {
		case wire.PartText:
			if !holds(p.Text) || p.Vendor != "" && !noted(path+".vendor") {
				t.Errorf("%s: a text, or what belongs to it, is lost", path)
			}
		case wire.PartToolCall:
			if !holds(p.Args) || !holds(p.ID) && !noted(path+".id") {
				t.Errorf("%s: arguments or the id of a call are lost", path)
			}
		case wire.PartToolResult:
			for i, inner := range p.Parts {
				check(path+".parts["+strconv.Itoa(i)+"]", inner)
			}
			if p.IsError && !noted(path+".is_error") {
				t.Errorf("%s: that the tool failed is lost", path)
			}
		default:
			if !noted(path) {
				t.Errorf("%s: a part of kind %s is lost", path, p.Kind)
			}
		}
	}
	for i, m := range home.Messages {
		for j, p := range m.Parts {
			check("messages["+strconv.Itoa(i)+"].parts["+strconv.Itoa(j)+"]", p)
		}
	}
}

// handoffAccepted checks a body by Anthropic's rules, apart from the codec's own
// check: roles alternate, every call is answered in the message that follows, results
// stand first, and the only reasoning is what Anthropic signed.
func handoffAccepted(t *testing.T, home wire.Request, body []byte) {
	t.Helper()
	var b struct {
		Messages []struct {
			Role    string
			Content []struct {
				Type, ID, Text, Signature, Data string
				ToolUseID                       string `json:"tool_use_id"`
				Input                           json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatal(err)
	}
	signed := map[string]bool{}
	for _, m := range home.Messages {
		for _, p := range m.Parts {
			if p.Kind == wire.PartReasoning {
				var v struct{ Signature, Data string }
				if err := json.Unmarshal([]byte(p.Vendor), &v); err != nil {
					t.Fatal(err)
				}
				signed[v.Signature+v.Data] = true
			}
		}
	}
	open := map[string]bool{}
	reasoned := 0
	for i, m := range b.Messages {
		if want := [...]string{"user", "assistant"}[i%2]; m.Role != want || len(m.Content) == 0 {
			t.Errorf("message %d has role %s and %d blocks, want role %s and some", i, m.Role, len(m.Content), want)
		}
		others := false
		for j, c := range m.Content {
			switch c.Type {
			case "text":
				if strings.TrimSpace(c.Text) == "" {
					t.Errorf("messages.%d.content.%d is an empty text", i, j)
				}
			case "thinking", "redacted_thinking":
				reasoned++
				if !signed[c.Signature+c.Data] {
					t.Errorf("messages.%d.content.%d is reasoning that Anthropic did not sign", i, j)
				}
			case "tool_use":
				if strings.Trim(c.ID, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || c.Input[0] != '{' {
					t.Errorf("messages.%d.content.%d has the id %q and the input %s", i, j, c.ID, c.Input)
				}
				open[c.ID] = true
			case "tool_result":
				if others || !open[c.ToolUseID] {
					t.Errorf("messages.%d.content.%d: the result %q stands behind other blocks or has no call", i, j, c.ToolUseID)
				}
				delete(open, c.ToolUseID)
			}
			others = others || c.Type != "tool_result"
		}
		if m.Role == "user" && len(open) > 0 {
			t.Errorf("messages.%d does not answer the calls %v", i, open)
		}
	}
	if len(signed) == 0 || reasoned != len(signed) {
		t.Errorf("%d blocks of reasoning came back, %d were signed", reasoned, len(signed))
	}
}
