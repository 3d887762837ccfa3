package anthropic_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
)

// history is a random conversation, made of turns that are complete.
type history struct {
	r     *rand.Rand
	model string
	ids   int
}

var words = []string{"a", "naïve", "日本語", "🌍🚀", "<b>&amp;</b>", "\"quoted\"", "back\\slash", "line\nbreak", "tab\t", "\u2028",
	"\x00\x1f", "bad\xffbyte", "\xed\xa0\xbd", "\uFFFD", " ", "  trailing ", "{\"j\":1}", "cache_control"}

func (h *history) text() string {
	var b strings.Builder
	for range 1 + h.r.IntN(6) {
		b.WriteString(words[h.r.IntN(len(words))])
	}
	return b.String()
}

func (h *history) args() string {
	switch h.r.IntN(6) {
	case 0:
		return ""
	case 1:
		return `{"id": 9007199254740993,"f":1.0,"e":1e21}`
	case 2:
		return `{"cut": "` // a call whose arguments are no JSON
	case 3:
		return `["no object"]`
	case 4:
		return `{"s":"\ud83d\ude00 \ud83d <1>"}`
	}
	return fmt.Sprintf(`{"q":"%d","n":[1,2,{"x":null}]}`, h.r.IntN(1000))
}

func (h *history) userParts() []wire.Part {
	var ps []wire.Part
	for range 1 + h.r.IntN(2) {
		switch h.r.IntN(8) {
		case 0:
			ps = append(ps, wire.ImagePart([]byte(png)))
		case 1:
			ps = append(ps, text(" "))
		case 2:
			ps = append(ps, opaque("search_result", `{"type":"search_result","source":"kb", "title":"T"}`))
		default:
			ps = append(ps, text(h.text()))
		}
	}
	return append(ps, text("x"+h.text()))
}

// turn appends an assistant message that is complete, and what answers it.
func (h *history) turn(ms []wire.Message) []wire.Message {
	m := wire.Message{Role: wire.RoleAssistant, Origin: &wire.Origin{Protocol: anthropic.Protocol, Model: h.model},
		Ending: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop}}
	if h.r.IntN(8) == 0 {
		m.Origin = &wire.Origin{Protocol: "gemini", Model: "other"}
	}
	if h.r.IntN(2) == 0 {
		sig := fmt.Sprintf(`{"signature":"S%d/+=="}`, h.r.Uint32())
		switch h.r.IntN(4) {
		case 0:
			m.Parts = append(m.Parts, thinking("", sig))
		case 1:
			m.Parts = append(m.Parts, thinking("", `{"data":"Zm9v"}`))
		case 2:
			m.Parts = append(m.Parts, thinking(h.text(), "")) // unsigned
		default:
			m.Parts = append(m.Parts, thinking(h.text(), sig))
		}
	}
	if h.r.IntN(6) == 0 {
		m.Parts = append(m.Parts, opaque("server_tool_use", `{"type":"server_tool_use","id":"s1", "input":{"q":1.0}}`),
			opaque("web_search_tool_result", `{"type":"web_search_tool_result","content":[{"u":"<>&"}]}`))
	}
	p := text("x" + h.text())
	if h.r.IntN(3) == 0 {
		p.Vendor = `{"citations":[{"cited_text":"\u00e9","start":0}]}`
	}
	m.Parts = append(m.Parts, p)
	var results []wire.Part
	if h.r.IntN(2) == 0 {
		m.Ending.Finish = wire.FinishToolCall
		for range 1 + h.r.IntN(3) {
			h.ids++
			id := fmt.Sprintf("toolu_%d", h.ids)
			if h.r.IntN(4) == 0 {
				id = fmt.Sprintf("call_%d|fc_%s", h.ids, "β")
			}
			c := wire.ToolCallPart(id, "f", h.args())
			c.FreeForm = h.r.IntN(8) == 0
			m.Parts = append(m.Parts, c)
			res := wire.ToolResultPart(id, "f", text(h.text()))
			switch h.r.IntN(5) {
			case 0:
				res.Parts = nil
			case 1:
				res.IsError = true
			case 2:
				res.Parts = append(res.Parts, wire.ImagePart([]byte(jpeg)))
			}
			results = append(results, res)
		}
	}
	ms = append(ms, m)
	switch {
	case results == nil:
		return append(ms, user(h.userParts()...))
	case h.r.IntN(3) == 0: // text and results in the wrong order, over several messages
		ms = append(ms, user(append(h.userParts(), results[1:]...)...))
		return append(ms, wire.ToolMessage(results[0]))
	case h.r.IntN(3) == 0:
		return append(ms, wire.ToolMessage(results...), user(h.userParts()...))
	}
	return append(ms, wire.ToolMessage(results...))
}

var cacheControl = regexp.MustCompile(`,"cache_control":\{"type":"ephemeral"(,"ttl":"[^"]*")?\}`)

// TestStablePrefix: the body of a turn is, but for its last bytes and the moving
// mark of the cache, how the body of the next one begins.
func TestStablePrefix(t *testing.T) {
	for seed := range uint64(300) {
		h := &history{r: rand.New(rand.NewPCG(seed, 1)), model: "claude-opus-5-5"}
		if seed%3 == 0 {
			h.model = "claude-sonnet-4-5"
		}
		base := wire.Request{Model: h.model, MaxTokens: 4096, System: []wire.Part{text("s1"), text("s2 " + h.text())},
			Tools: []wire.Tool{{Name: "f", Schema: `{"type":"object","properties":{"q":{}}}`}, {Name: "g", Schema: `{}`}}}
		auto := seed%2 == 0
		if auto {
			base.Cache = &wire.CachePolicy{Auto: true}
		}
		if seed%5 == 0 {
			base.Reasoning = &wire.Reasoning{Mode: wire.ReasoningOn, Replay: wire.ReplayNever}
		}
		ms := []wire.Message{user(h.userParts()...)}
		var before []byte
		var beforeText string
		for n := range 8 {
			r := base
			r.Messages = ms
			call, err := encode(t, anthropic.Codec{}, &r)
			if err != nil {
				t.Fatalf("seed %d, turn %d: %v", seed, n, err)
			}
			body := call.Body
			if auto {
				sys, tools := gjson.GetBytes(body, "system").Raw, gjson.GetBytes(body, "tools").Raw
				if now := sys + tools; n > 0 && now != beforeText {
					t.Fatalf("seed %d, turn %d: system or tools changed\nfrom %s\nto   %s", seed, n, beforeText, now)
				} else {
					beforeText = now
				}
				marks := cacheControl.FindAllIndex(body, -1)
				if len(marks) > 4 {
					t.Fatalf("seed %d, turn %d: %d marks", seed, n, len(marks))
				}
				body = cacheControl.ReplaceAll(body, nil)
			}
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
			ms = h.turn(ms)
		}
	}
}

// TestSameBytes: one request gives one body, every time, also in a call that was
// used for another before.
func TestSameBytes(t *testing.T) {
	h := &history{r: rand.New(rand.NewPCG(7, 7)), model: "claude-opus-4-8"}
	r := &wire.Request{Model: h.model, Cache: &wire.CachePolicy{Auto: true}, System: []wire.Part{text("s")}, Messages: []wire.Message{user(h.userParts()...)}}
	for i := range 12 {
		var props []string
		for j := range 6 {
			props = append(props, fmt.Sprintf(`"p%d":{"type":"string"}`, (j*5+i)%7))
		}
		r.Tools = append(r.Tools, wire.Tool{Name: fmt.Sprintf("tool_%d", (i*7)%12), Schema: `{"type":"object","properties":{` + strings.Join(props, ",") + `}}`})
	}
	for range 6 {
		r.Messages = h.turn(r.Messages)
	}
	first, err := encode(t, anthropic.Codec{}, r)
	if err != nil {
		t.Fatal(err)
	}
	other := request(wire.Request{StopSequences: []string{"x"}, Messages: []wire.Message{assistant(text("refused"))}})
	var call wire.Call
	for range 100 {
		_ = anthropic.Codec{}.Encode(&call, other)
		if err := (anthropic.Codec{}).Encode(&call, r); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(call.Body, first.Body) || len(call.Notes) != len(first.Notes) || len(call.Header) != len(first.Header) {
			t.Fatalf("another body\n%s\n%s", first.Body, call.Body)
		}
	}
}

// TestStablePrefixOverCuts adds messages that were cut and turns that were empty:
// what was sent before stays, though a message may still grow at its end.
func TestStablePrefixOverCuts(t *testing.T) {
	for seed := range uint64(100) {
		h := &history{r: rand.New(rand.NewPCG(seed, 2)), model: "claude-opus-4-8"}
		ms := []wire.Message{user(h.userParts()...)}
		var before []byte
		for n := range 8 {
			call, err := encode(t, anthropic.Codec{}, &wire.Request{Model: h.model, Messages: ms})
			if err != nil {
				t.Fatalf("seed %d, turn %d: %v", seed, n, err)
			}
			if before != nil && !bytes.HasPrefix(call.Body, before[:len(before)-len(`]}]}`)]) {
				t.Fatalf("seed %d, turn %d: the past changed\n%s\n%s", seed, n, before, call.Body)
			}
			before = append(before[:0:0], call.Body...)
			switch h.r.IntN(4) {
			case 0:
				ms = append(ms, wire.Message{Role: wire.RoleAssistant, Ending: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop}}, user(h.userParts()...))
			case 1:
				m := wire.Message{Role: wire.RoleAssistant, Ending: &wire.Ending{Cause: wire.CauseReset, Err: &wire.Error{Cause: wire.CauseReset}},
					Parts: []wire.Part{thinking("t", `{"signature":"S"}`), text("half"), wire.ToolCallPart("c", "f", `{"a`)}}
				m.Parts = m.Parts[:1+h.r.IntN(3)]
				ms = append(ms, m, user(h.userParts()...))
			default:
				ms = h.turn(ms)
			}
		}
	}
}
