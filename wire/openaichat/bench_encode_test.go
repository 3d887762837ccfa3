package openaichat_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/openaichat"
)

// benchTalk is a conversation of almost 200 messages with 40 calls, about 200 KB.
func benchTalk() *wire.Request {
	para := strings.Repeat("A line of plain text, with \"quotes\" now and then, and naïve words.\n", 18)
	r := &wire.Request{Model: "gpt-4.1", MaxTokens: 4096, System: []wire.Part{txt("be brief")},
		Tools: []wire.Tool{{Name: "lookup", Description: "finds things", Schema: `{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`}}}
	for i := range 60 {
		r.Messages = append(r.Messages, wire.UserText(para))
		if i < 40 {
			id := "call_" + strconv.Itoa(i)
			r.Messages = append(r.Messages, asst(txt("I look it up."), wire.ToolCallPart(id, "lookup", fmt.Sprintf(`{"q":"thing %d","limit":10}`, i))),
				wire.ToolMessage(wire.ToolResultPart(id, "lookup", txt(para))))
		}
		r.Messages = append(r.Messages, asst(txt(para)))
	}
	r.Messages = r.Messages[:len(r.Messages)-1] // the model's turn
	return r
}

// floorText is the least way to write a JSON string.
func floorText(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		if c == '\n' {
			b = append(b, '\\', 'n')
		} else {
			b = append(b, '\\', c)
		}
		start = i + 1
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// floorBody is the least program that writes the conversation of benchTalk: no
// rule is looked at and nothing is checked.
func floorBody(b []byte, r *wire.Request) []byte {
	b = append(b, `{"model":`...)
	b = floorText(b, r.Model)
	b = append(b, `,"max_completion_tokens":`...)
	b = strconv.AppendInt(b, int64(r.MaxTokens), 10)
	b = append(b, `,"stream":true,"stream_options":{"include_usage":true},"tool_choice":"auto","tools":[`...)
	for i := range r.Tools {
		t := &r.Tools[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"function","function":{"name":`...)
		b = floorText(b, t.Name)
		b = append(b, `,"description":`...)
		b = floorText(b, t.Description)
		b = append(b, `,"parameters":`...)
		b = append(b, t.Schema...)
		b = append(b, `}}`...)
	}
	b = append(b, `],"messages":[{"role":"system","content":`...)
	b = floorText(b, r.System[0].Text)
	b = append(b, '}')
	for i := range r.Messages {
		m := &r.Messages[i]
		p := &m.Parts[0]
		switch m.Role {
		case wire.RoleTool:
			b = append(b, `,{"role":"tool","tool_call_id":`...)
			b = floorText(b, p.ID)
			b = append(b, `,"content":`...)
			b = floorText(b, p.Parts[0].Text)
		default:
			b = append(b, `,{"role":"`...)
			b = append(b, m.Role...)
			b = append(b, `","content":`...)
			b = floorText(b, p.Text)
		}
		if len(m.Parts) > 1 {
			b = append(b, `,"tool_calls":[`...)
			for j := 1; j < len(m.Parts); j++ {
				p := &m.Parts[j]
				if j > 1 {
					b = append(b, ',')
				}
				b = append(b, `{"id":`...)
				b = floorText(b, p.ID)
				b = append(b, `,"type":"function","function":{"name":`...)
				b = floorText(b, p.Name)
				b = append(b, `,"arguments":`...)
				b = floorText(b, p.Args)
				b = append(b, `}}`...)
			}
			b = append(b, ']')
		}
		b = append(b, '}')
	}
	return append(b, `]}`...)
}

// TestEncodeFloor: the floor does the work that it stands for, and the encoder
// needs no memory of its own.
func TestEncodeFloor(t *testing.T) {
	r := benchTalk()
	call, err := encodeReq(t, openaichat.OpenAI(), r)
	if err != nil || string(call.Body) != string(floorBody(nil, r)) {
		t.Errorf("the bodies differ (%v)", err)
	}
	if len(r.Messages) != 199 || len(call.Body) < 190<<10 || len(call.Body) > 220<<10 {
		t.Errorf("%d messages, %d bytes", len(r.Messages), len(call.Body))
	}
	for name, p := range profiles() {
		if p.IDs == openaichat.IDs9 || p.AssistantAfterTools || p.Signatures {
			continue // which rename, or insert, and tell
		}
		c := openaichat.Codec{Profile: p}
		if n := testing.AllocsPerRun(10, func() {
			if err := c.Encode(call, r); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// BenchmarkEncode measures a long conversation into a call that is used again.
func BenchmarkEncode(b *testing.B) {
	r := benchTalk()
	b.Run("floor", func(b *testing.B) {
		body := floorBody(nil, r)
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			body = floorBody(body[:0], r)
		}
	})
	for _, name := range []string{"openai", "deepseek", "openrouter"} {
		b.Run(name, func(b *testing.B) {
			c := openaichat.Codec{Profile: profiles()[name]}
			var call wire.Call
			if err := c.Encode(&call, r); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(call.Body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Encode(&call, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
