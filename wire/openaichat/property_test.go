package openaichat_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/openaichat"
)

// randomTalk is a random conversation, made of turns that are complete.
type randomTalk struct {
	r     *rand.Rand
	model string
	ids   int
}

var talkWords = []string{"a", "naïve", "日本語", "🌍🚀", "<b>&amp;</b>", "\"quoted\"", "back\\slash", "line\nbreak", "tab\t", "\u2028",
	"\x00\x1f", "bad\xffbyte", "\xed\xa0\xbd", "\uFFFD", " ", "  trailing ", "{\"j\":1}", "error", "<think>"}

func (h *randomTalk) text() string {
	var b strings.Builder
	for range h.r.IntN(6) {
		b.WriteString(talkWords[h.r.IntN(len(talkWords))])
	}
	return b.String()
}

func (h *randomTalk) args() string {
	switch h.r.IntN(5) {
	case 0:
		return ""
	case 1:
		return `{"id": 9007199254740993,"f":1.0,"e":1e21}`
	case 2:
		return `{"cut": "`
	case 3:
		return `{"s":"\ud83d <1>"}` + "\xff"
	}
	return fmt.Sprintf(`{"q":"%d","n":[1,2,{"x":null}]}`, h.r.IntN(1000))
}

func (h *randomTalk) media() wire.Part {
	switch h.r.IntN(5) {
	case 0:
		return wire.Part{Kind: wire.PartMedia, Media: &wire.Media{URL: "https://x.test/\"a\".png", Detail: "low"}}
	case 1:
		return wire.Part{Kind: wire.PartMedia, Media: &wire.Media{Type: "application/pdf", Data: []byte("%PDF-1")}}
	case 2:
		return wire.Part{Kind: wire.PartMedia, Media: &wire.Media{Type: "text/csv", Data: []byte("a,b\n")}}
	}
	return wire.ImagePart([]byte(encPNG))
}

func (h *randomTalk) user() wire.Message {
	var ps []wire.Part
	for range h.r.IntN(3) {
		switch h.r.IntN(6) {
		case 0:
			ps = append(ps, h.media())
		case 1:
			ps = append(ps, wire.Part{Kind: wire.PartText, Text: "v" + h.text(), Vendor: `{"prompt_cache_breakpoint":{"mode":"explicit"}}`})
		default:
			ps = append(ps, txt(h.text()))
		}
	}
	m := usr(append(ps, txt("x"+h.text()))...)
	if h.r.IntN(8) == 0 {
		m = sys(txt("s" + h.text()))
	}
	return m
}

// answer appends what the model says, complete, and what answers it.
func (h *randomTalk) answer(ms []wire.Message) []wire.Message {
	m := wire.Message{Role: wire.RoleAssistant, Origin: &wire.Origin{Protocol: openaichat.Protocol, Model: h.model},
		Ending: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop}}
	switch h.r.IntN(8) {
	case 0:
		m.Origin = &wire.Origin{Protocol: "gemini", Model: "other"}
	case 1:
		m.Vendor = `{"reasoning_content":"","annotations":[]}`
	}
	switch h.r.IntN(6) {
	case 0:
		m.Parts = append(m.Parts, thought(h.text(), `{"field":"reasoning_content"}`))
	case 1:
		m.Parts = append(m.Parts, thought(h.text(), `{"field":"reasoning","reasoning_details":[{"type":"reasoning.text","n":1.0}, {"signature":"S"}]}`))
	case 2:
		m.Parts = append(m.Parts, thought(h.text(), ""), thought("", `{"reasoning_details":[{"x":1}]}`))
	}
	switch h.r.IntN(6) {
	case 0:
	case 1:
		m.Parts = append(m.Parts, wire.Part{Kind: wire.PartRefusal, Text: "no" + h.text()})
	default:
		m.Parts = append(m.Parts, txt("x"+h.text()), txt(h.text()))
	}
	var results []wire.Part
	if h.r.IntN(2) == 0 {
		m.Ending.Finish = wire.FinishToolCall
		for range 1 + h.r.IntN(3) {
			h.ids++
			id := fmt.Sprintf("call_%d", h.ids)
			if h.r.IntN(4) == 0 {
				id = fmt.Sprintf("call_%d|fc_%s", h.ids, strings.Repeat("β", 40))
			}
			c := wire.ToolCallPart(id, "f", h.args())
			if h.r.IntN(8) == 0 {
				c.Name = "a.b"
			}
			c.FreeForm = h.r.IntN(8) == 0
			m.Parts = append(m.Parts, c)
			res := wire.ToolResultPart(id, "f", txt(h.text()))
			switch h.r.IntN(5) {
			case 0:
				res.Parts = nil
			case 1:
				res.IsError = true
			case 2:
				res.Parts = append(res.Parts, h.media(), h.media())
			}
			results = append(results, res)
		}
	}
	ms = append(ms, m)
	switch {
	case results == nil:
		return append(ms, h.user(), h.user())
	case h.r.IntN(3) == 0: // text and results in the wrong order, over several messages
		u := h.user()
		u.Role = wire.RoleUser
		u.Parts = append(u.Parts, results[1:]...)
		return append(ms, u, wire.ToolMessage(results[0]))
	case h.r.IntN(3) == 0:
		return append(ms, wire.ToolMessage(results...), h.user())
	}
	return append(ms, wire.ToolMessage(results...))
}

// oddTurn appends what is no whole turn: messages that were cut, or empty.
func (h *randomTalk) oddTurn(ms []wire.Message) []wire.Message {
	if h.r.IntN(2) == 0 {
		return append(ms, wire.Message{Role: wire.RoleAssistant, Ending: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop}}, h.user())
	}
	m := wire.Message{Role: wire.RoleAssistant, Ending: &wire.Ending{Cause: wire.CauseReset, Err: &wire.Error{Cause: wire.CauseReset}},
		Parts: []wire.Part{thought("t", ""), txt("half"), wire.ToolCallPart("c", "f", `{"a`)}}
	m.Parts = m.Parts[:h.r.IntN(4)]
	return append(ms, m, h.user())
}

// withoutMarks takes the moving marks out of a body.
func withoutMarks(b []byte) []byte {
	return bytes.ReplaceAll(b, []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
}

// TestStablePrefix: for every profile, the body of a turn is, but for its last
// bytes and the moving mark of the cache, how the body of the next one begins.
func TestStablePrefix(t *testing.T) {
	all := profiles()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			p := all[name]
			for seed := range uint64(150) {
				h := &randomTalk{r: rand.New(rand.NewPCG(seed, 1)), model: "m"}
				base := wire.Request{Model: h.model, MaxTokens: 4096, System: []wire.Part{txt("s1"), txt("s2 " + h.text())},
					Tools: []wire.Tool{{Name: "f", Schema: `{"type":"object","properties":{"q":{}}}`}, {Name: "g", Schema: `{}`}}}
				if seed%7 == 0 {
					base.System = nil
				}
				auto := seed%2 == 0 && p.CacheControl
				if auto {
					base.Cache = &wire.CachePolicy{Auto: true}
				}
				switch seed % 5 {
				case 0:
					base.Reasoning = &wire.Reasoning{Replay: wire.ReplayNever}
				case 1:
					base.Reasoning = &wire.Reasoning{Mode: wire.ReasoningOff}
				}
				ms := []wire.Message{h.user(), h.user()}
				var before []byte
				for n := range 8 {
					r := base
					r.Messages = ms
					if n == 7 { // and all that a request is checked for
						_, _ = encodeReq(t, p, &r)
					}
					var call wire.Call
					if err := (openaichat.Codec{Profile: p}).Encode(&call, &r); err != nil {
						t.Fatalf("seed %d, turn %d: %v", seed, n, err)
					}
					body := call.Body
					if auto {
						if bytes.Count(body, []byte("cache_control")) > 4 {
							t.Fatalf("seed %d, turn %d: too many marks", seed, n)
						}
						body = withoutMarks(body)
					}
					checkOrder(t, p, body)
					if before != nil {
						same := before[:len(before)-len(`]}`)] // the end of the list and of the body
						if !bytes.HasPrefix(body, same) {
							i := 0
							for i < min(len(body), len(same)) && body[i] == same[i] {
								i++
							}
							t.Fatalf("seed %d, turn %d: the body departs from the one before at byte %d\n%s\n%s", seed, n, i, same[max(0, i-60):min(len(same), i+60)], body[max(0, i-60):min(len(body), i+60)])
						}
					}
					before = append(before[:0:0], body...)
					if h.r.IntN(5) == 0 {
						ms = h.oddTurn(ms)
					} else {
						ms = h.answer(ms)
					}
				}
			}
		})
	}
}

// checkOrder fails unless the messages of a body are in an order that every
// server takes.
func checkOrder(t testing.TB, p openaichat.Profile, body []byte) {
	t.Helper()
	if !json.Valid(body) || !utf8.Valid(body) {
		t.Fatalf("no JSON in UTF-8: %q", body)
	}
	due := map[string]bool{}
	before := ""
	for i, m := range gjson.GetBytes(body, "messages").Array() {
		role := m.Get("role").Str
		if len(due) > 0 && role != "tool" {
			t.Fatalf("message %d stands between calls and results: %s", i, body)
		}
		switch role {
		case "tool":
			id := m.Get("tool_call_id").Str
			if !due[id] {
				t.Fatalf("message %d answers no call: %s", i, body)
			}
			delete(due, id)
			if m.Get("content").String() == "" {
				t.Fatalf("message %d is empty: %s", i, body)
			}
		case "assistant":
			for _, c := range m.Get("tool_calls").Array() {
				due[c.Get("id").Str] = true
			}
			if m.Get("content").String() == "" && m.Get("refusal").Str == "" && len(due) == 0 {
				t.Fatalf("message %d is empty: %s", i, body)
			}
			if p.Replay == openaichat.ReplayAlways && gjson.GetBytes(body, "thinking.type").Str != "disabled" && !m.Get("reasoning_content").Exists() {
				t.Fatalf("message %d has no reasoning: %s", i, body)
			}
		case "user":
			if p.AssistantAfterTools && before == "tool" {
				t.Fatalf("message %d follows a result: %s", i, body)
			}
		case "system", "developer":
			if i > 0 && (p.SystemFirst || i == 1 && before == role) {
				t.Fatalf("message %d is a system message: %s", i, body)
			}
		default:
			t.Fatalf("message %d has the role %q", i, role)
		}
		before = role
	}
	if len(due) > 0 {
		t.Fatalf("calls without results: %s", body)
	}
}

// TestSameBytes: one request gives one body, every time, also in a call that was
// used for another before, and after it was saved and loaded.
func TestSameBytes(t *testing.T) {
	for name, p := range profiles() {
		h := &randomTalk{r: rand.New(rand.NewPCG(7, 7)), model: "m"}
		r := &wire.Request{Model: h.model, System: []wire.Part{txt("s")}, Messages: []wire.Message{h.user()}}
		for i := range 12 {
			r.Tools = append(r.Tools, wire.Tool{Name: fmt.Sprintf("tool_%d", (i*7)%12), Schema: fmt.Sprintf(`{"type":"object","properties":{"b%d":{},"a":{}}}`, i)})
		}
		for range 8 {
			r.Messages = h.answer(r.Messages)
		}
		first, err := encodeReq(t, p, r)
		if err != nil {
			t.Fatal(err)
		}
		other := &wire.Request{Model: "x", StopSequences: []string{""}, Messages: []wire.Message{asst(txt("refused"))}}
		var call wire.Call
		for range 50 {
			_ = openaichat.Codec{}.Encode(&call, other)
			if err := (openaichat.Codec{Profile: p}).Encode(&call, r); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(call.Body, first.Body) || len(call.Notes) != len(first.Notes) || len(call.Header) != len(first.Header) {
				t.Fatalf("%s: another body\n%s\n%s", name, first.Body, call.Body)
			}
		}
		saved, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var loaded wire.Request
		if err := json.Unmarshal(saved, &loaded); err != nil {
			t.Fatal(err)
		}
		again, err := encodeReq(t, p, &loaded)
		if err != nil || !bytes.Equal(again.Body, first.Body) {
			t.Fatalf("%s: saved and loaded it gives another body (%v)\n%s\n%s", name, err, first.Body, again.Body)
		}
	}
}
