package anthropic_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
	"github.com/handwire/handwire/wire/stream"
)

const benchDeltas = 500

// benchStream makes a stream of one block with deltas, and says how many events
// it has.
func benchStream(kind string, deltas int) (body []byte, events int) {
	const usage = `"usage":{"input_tokens":12,"cache_creation_input_tokens":0,"cache_read_input_tokens":900,"output_tokens":1}`
	evs := []string{strings.Replace(evStart, `"content":[]`, `"content":[],`+usage, 1)}
	block, reason := blockText, "end_turn"
	switch kind {
	case "tool":
		block, reason = blockTool, "tool_use"
	case "thinking":
		block = blockThink
	}
	evs = append(evs, evBlock(0, block), evPing)
	var piece func(i int) string
	switch kind {
	case "tool":
		piece = func(i int) string {
			switch i {
			case 0:
				return evArgs(0, `"{\"text\":\""`)
			case deltas - 1:
				return evArgs(0, `"\"}"`)
			case deltas / 2:
				return evArgs(0, `"\\n\\t\\\"quoted\\\""`)
			}
			return evArgs(0, `" some more of it"`)
		}
	case "thinking":
		piece = func(i int) string {
			return evDelta(0, `{"type":"thinking_delta","thinking":" and then `+strconv.Itoa(i)+`"}`)
		}
	default:
		piece = func(i int) string {
			if i%20 == 19 {
				return evText(0, `".\n\nNext"`)
			}
			return evText(0, `" a word or two"`)
		}
	}
	for i := range deltas {
		evs = append(evs, piece(i))
	}
	if kind == "thinking" {
		evs = append(evs, evDelta(0, `{"type":"signature_delta","signature":"`+strings.Repeat("Ab+/", 100)+`"}`))
	}
	evs = append(evs, evEnd(0), `{"type":"message_delta","delta":{"stop_reason":"`+reason+`","stop_sequence":null},"usage":{"output_tokens":512}}`, evStop)
	return []byte(an(evs...)), len(evs)
}

// floorMessage is what the least program keeps of an answer.
type floorMessage struct {
	id, model, stop, signature, callID, name string
	text, thinking, args                     strings.Builder
	in, out                                  int64
}

// floorDecode is the least program that makes a message of a stream: lines, one
// look at each event, and strings that grow.
func floorDecode(body io.Reader) (*floorMessage, error) {
	m := &floorMessage{}
	lines := bufio.NewReaderSize(body, 16<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			ev := gjson.ParseBytes(bytes.TrimRight(data, "\r\n"))
			switch ev.Get("type").Str {
			case "message_start":
				msg := ev.Get("message")
				m.id, m.model, m.in = msg.Get("id").Str, msg.Get("model").Str, msg.Get("usage.input_tokens").Int()
			case "content_block_start":
				m.callID, m.name = ev.Get("content_block.id").Str, ev.Get("content_block.name").Str
			case "content_block_delta":
				d := ev.Get("delta")
				switch d.Get("type").Str {
				case "text_delta":
					m.text.WriteString(d.Get("text").Str)
				case "thinking_delta":
					m.thinking.WriteString(d.Get("thinking").Str)
				case "input_json_delta":
					m.args.WriteString(d.Get("partial_json").Str)
				case "signature_delta":
					m.signature += d.Get("signature").Str
				}
			case "message_delta":
				m.stop, m.out = ev.Get("delta.stop_reason").Str, ev.Get("usage.output_tokens").Int()
			case "message_stop":
				return m, nil
			}
		}
		if err != nil {
			return m, err
		}
	}
}

// BenchmarkDecode measures from bytes to the final message, the floor beside it.
func BenchmarkDecode(b *testing.B) {
	for _, kind := range []string{"text", "tool", "thinking"} {
		body, events := benchStream(kind, benchDeltas)
		per := func(b *testing.B, run func()) {
			var before, after runtime.MemStats
			b.SetBytes(int64(len(body)))
			runtime.ReadMemStats(&before)
			for b.Loop() {
				run()
			}
			runtime.ReadMemStats(&after)
			n := float64(b.N) * float64(events)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/event")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/n, "allocs/event")
			b.ReportMetric(0, "ns/op")
		}
		b.Run(kind+"/floor", func(b *testing.B) {
			per(b, func() {
				if m, err := floorDecode(bytes.NewReader(body)); err != nil || m.stop == "" {
					b.Fatal(err)
				}
			})
		})
		b.Run(kind+"/codec", func(b *testing.B) {
			per(b, func() {
				dec := anthropic.Codec{}.NewDecoder(wire.Head{Status: 200})
				resp, err := wire.Collect(stream.Read(bytes.NewReader(body), dec, wire.FramingSSE, nil))
				if err != nil || resp.Message.Ending == nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// BenchmarkDecodeLength shows that the time of a stream grows with its length and
// not with its square.
func BenchmarkDecodeLength(b *testing.B) {
	for _, n := range []int{500, 1000, 2000, 4000} {
		body, events := benchStream("text", n)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				dec := anthropic.Codec{}.NewDecoder(wire.Head{})
				if _, err := wire.Collect(stream.Read(bytes.NewReader(body), dec, wire.FramingSSE, nil)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
		})
	}
}

// benchRequest is a conversation of almost 200 messages with 40 calls, about 200 KB.
func benchRequest() *wire.Request {
	para := strings.Repeat("A line of plain text, with \"quotes\" now and then, and naïve words.\n", 18)
	r := &wire.Request{Model: "claude-opus-4-8", MaxTokens: 4096, System: []wire.Part{text("be brief")},
		Tools: []wire.Tool{{Name: "lookup", Description: "finds things", Schema: `{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`}}}
	for i := range 60 {
		r.Messages = append(r.Messages, wire.UserText(para))
		if i < 40 {
			id := "toolu_" + strconv.Itoa(i)
			r.Messages = append(r.Messages, assistant(text("I look it up."), wire.ToolCallPart(id, "lookup", fmt.Sprintf(`{"q":"thing %d","limit":10}`, i))),
				wire.ToolMessage(wire.ToolResultPart(id, "lookup", text(para))))
		}
		r.Messages = append(r.Messages, assistant(text(para)))
	}
	r.Messages = r.Messages[:len(r.Messages)-1] // the model's turn
	return r
}

// floorString is the least way to write a JSON string.
func floorString(b []byte, s string) []byte {
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

// floorEncode is the least program that writes the conversation of benchRequest:
// no rule is looked at and nothing is checked.
func floorEncode(b []byte, r *wire.Request) []byte {
	b = append(b, `{"model":`...)
	b = floorString(b, r.Model)
	b = append(b, `,"max_tokens":`...)
	b = strconv.AppendInt(b, int64(r.MaxTokens), 10)
	b = append(b, `,"stream":true,"tool_choice":{"type":"auto"},"tools":[`...)
	for i := range r.Tools {
		t := &r.Tools[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"name":`...)
		b = floorString(b, t.Name)
		b = append(b, `,"description":`...)
		b = floorString(b, t.Description)
		b = append(b, `,"input_schema":`...)
		b = append(b, t.Schema...)
		b = append(b, '}')
	}
	b = append(b, `],"system":[{"type":"text","text":`...)
	b = floorString(b, r.System[0].Text)
	b = append(b, `}],"messages":[`...)
	for i := range r.Messages {
		m := &r.Messages[i]
		if i > 0 {
			b = append(b, ',')
		}
		role := "user"
		if m.Role == wire.RoleAssistant {
			role = "assistant"
		}
		b = append(b, `{"role":"`...)
		b = append(b, role...)
		b = append(b, `","content":[`...)
		for j := range m.Parts {
			p := &m.Parts[j]
			if j > 0 {
				b = append(b, ',')
			}
			switch p.Kind {
			case wire.PartText:
				b = append(b, `{"type":"text","text":`...)
				b = floorString(b, p.Text)
			case wire.PartToolCall:
				b = append(b, `{"type":"tool_use","id":`...)
				b = floorString(b, p.ID)
				b = append(b, `,"name":`...)
				b = floorString(b, p.Name)
				b = append(b, `,"input":`...)
				b = append(b, p.Args...)
			case wire.PartToolResult:
				b = append(b, `{"type":"tool_result","tool_use_id":`...)
				b = floorString(b, p.ID)
				b = append(b, `,"content":[{"type":"text","text":`...)
				b = floorString(b, p.Parts[0].Text)
				b = append(b, `}]`...)
			}
			b = append(b, '}')
		}
		b = append(b, `]}`...)
	}
	return append(b, `]}`...)
}

// TestBenchFloors: the floors do the work that they stand for.
func TestBenchFloors(t *testing.T) {
	r := benchRequest()
	call, err := encode(t, anthropic.Codec{}, r)
	if err != nil || string(call.Body) != string(floorEncode(nil, r)) {
		t.Errorf("the bodies differ (%v)", err)
	}
	if len(r.Messages) != 199 || len(call.Body) < 190<<10 || len(call.Body) > 220<<10 {
		t.Errorf("%d messages, %d bytes", len(r.Messages), len(call.Body))
	}
	for _, kind := range []string{"text", "tool", "thinking"} {
		body, _ := benchStream(kind, benchDeltas)
		resp, _, err := decodeAll(t, body, wire.FramingSSE)
		if err != nil {
			t.Fatal(err)
		}
		floor, err := floorDecode(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if m := resp.Message; m.Text() != floor.text.String() || m.Reasoning() != floor.thinking.String() || kind == "tool" && m.Parts[0].Args != floor.args.String() {
			t.Errorf("%s: the messages differ", kind)
		}
		if kind == "tool" && len(resp.Message.ExecutableCalls()) != 1 {
			t.Error("the call cannot be run")
		}
	}
}

// BenchmarkEncode measures a long conversation into a call that is used again.
func BenchmarkEncode(b *testing.B) {
	r := benchRequest()
	b.Run("floor", func(b *testing.B) {
		body := floorEncode(nil, r)
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			body = floorEncode(body[:0], r)
		}
	})
	b.Run("codec", func(b *testing.B) {
		var c anthropic.Codec
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
