package openaichat_test

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
	"github.com/handwire/handwire/wire/stream"
)

const benchPieces = 500

var benchKinds = []string{"text", "padded", "tools", "interleaved", "reasoning"}

// benchBody makes a stream of deltas and says how many chunks it has. Padded is
// text with a member of padding, interleaved are parallel calls that come by
// turns.
func benchBody(kind string, pieces int) (body []byte, events int) {
	chunk := func(i int, delta, reason string) string {
		pad := ""
		if kind == "padded" {
			pad = `,"obfuscation":"` + strings.Repeat("x", i%13) + `"`
		}
		return `{"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWx","object":"chat.completion.chunk","created":1790000000,"model":"gpt-4.1-2025-04-14","service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":` +
			delta + `,"logprobs":null,"finish_reason":` + reason + `}],"usage":null` + pad + `}`
	}
	evs := []string{chunk(0, `{"role":"assistant","content":"","refusal":null}`, "null")}
	calls, reason := 1, `"stop"`
	switch kind {
	case "tools", "interleaved":
		calls, reason = 3, `"tool_calls"`
		if kind == "interleaved" {
			for i := range calls {
				evs = append(evs, chunk(0, benchCall(i), "null"))
			}
		}
	}
	each := (pieces + calls - 1) / calls
	for i := range pieces {
		delta := ""
		switch kind {
		case "text", "padded":
			delta = `{"content":" a word or two"}`
			if i%20 == 19 {
				delta = `{"content":".\n\nNext"}`
			}
		case "reasoning":
			delta = `{"content":null,"reasoning_content":" and then ` + strconv.Itoa(i) + `"}`
		default:
			call, n := i/each, i%each
			if kind == "interleaved" {
				call, n = i%calls, i/calls
			} else if n == 0 {
				evs = append(evs, chunk(i, benchCall(call), "null"))
			}
			args := ` some more of it`
			switch n {
			case 0:
				args = `{\"text\":\"`
			case each / 2:
				args = `\\n\\t\\\"quoted\\\"`
			}
			delta = fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":"%s"}}]}`, call, args)
		}
		evs = append(evs, chunk(i, delta, "null"))
	}
	if calls > 1 {
		for i := range calls {
			evs = append(evs, chunk(0, fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":"\"}"}}]}`, i), "null"))
		}
	}
	evs = append(evs, chunk(0, `{}`, reason),
		`{"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWx","object":"chat.completion.chunk","created":1790000000,"model":"gpt-4.1-2025-04-14","choices":[],"usage":{"prompt_tokens":40,"completion_tokens":512,"total_tokens":552,"prompt_tokens_details":{"cached_tokens":0}}}`, evDone)
	return []byte(sse(evs...)), len(evs)
}

func benchCall(i int) string {
	return fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"call_%d","type":"function","function":{"name":"f","arguments":""}}]}`, i, i)
}

// leastMessage is what the least program keeps of an answer.
type leastMessage struct {
	id, model, finish string
	text, thinking    strings.Builder
	calls             []*leastCall
	in, out           int64
}

type leastCall struct {
	id, name string
	args     strings.Builder
}

// leastDecode is the least program that makes a message of a stream: lines, a
// look at each chunk, and strings that grow.
func leastDecode(body io.Reader) (*leastMessage, error) {
	m := &leastMessage{}
	lines := bufio.NewReaderSize(body, 16<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			data = bytes.TrimRight(data, "\r\n")
			if string(data) == "[DONE]" {
				return m, nil
			}
			ev := gjson.ParseBytes(data)
			if m.id == "" {
				m.id, m.model = ev.Get("id").Str, ev.Get("model").Str
			}
			choice := ev.Get("choices.0")
			delta := choice.Get("delta")
			if s := delta.Get("content").Str; s != "" {
				m.text.WriteString(s)
			} else if s := delta.Get("reasoning_content").Str; s != "" {
				m.thinking.WriteString(s)
			}
			delta.Get("tool_calls").ForEach(func(_, c gjson.Result) bool {
				i := int(c.Get("index").Int())
				for len(m.calls) <= i && i < 100 {
					m.calls = append(m.calls, &leastCall{})
				}
				call := m.calls[i]
				if s := c.Get("id").Str; s != "" {
					call.id, call.name = s, c.Get("function.name").Str
				}
				call.args.WriteString(c.Get("function.arguments").Str)
				return true
			})
			if s := choice.Get("finish_reason").Str; s != "" {
				m.finish = s
			}
			if u := ev.Get("usage"); u.IsObject() {
				m.in, m.out = u.Get("prompt_tokens").Int(), u.Get("completion_tokens").Int()
			}
		}
		if err != nil {
			return m, err
		}
	}
}

// TestDecodeFloor: the floor does the work that it stands for.
func TestDecodeFloor(t *testing.T) {
	for _, kind := range benchKinds {
		body, _ := benchBody(kind, benchPieces)
		resp, _, err := decodeBody(t, openCodec, bytes.NewReader(body), wire.FramingSSE)
		if err != nil {
			t.Fatal(err)
		}
		least, err := leastDecode(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		m := &resp.Message
		if m.Text() != least.text.String() || m.Reasoning() != least.thinking.String() || m.Ending.VendorFinish != least.finish || len(callsOf(m)) != len(least.calls) || resp.Usage.OutputTokens.Value() != least.out {
			t.Errorf("%s: the messages differ", kind)
		}
		for i, c := range m.ExecutableCalls() {
			if least.calls[i].args.String() != c.Args || least.calls[i].id != c.ID {
				t.Errorf("%s: call %d differs", kind, i)
			}
		}
		if len(m.ExecutableCalls()) != len(least.calls) || len(resp.Notes) != 0 {
			t.Errorf("%s: %d calls can be run, notes %v", kind, len(m.ExecutableCalls()), resp.Notes)
		}
	}
}

// BenchmarkDecode measures from bytes to the final message, the floor beside it.
func BenchmarkDecode(b *testing.B) {
	for _, kind := range benchKinds {
		body, events := benchBody(kind, benchPieces)
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
				if m, err := leastDecode(bytes.NewReader(body)); err != nil || m.finish == "" {
					b.Fatal(err)
				}
			})
		})
		b.Run(kind+"/codec", func(b *testing.B) {
			per(b, func() {
				resp, err := wire.Collect(stream.Read(bytes.NewReader(body), openCodec.NewDecoder(wire.Head{Status: 200}), wire.FramingSSE, nil))
				if err != nil || resp.Message.Ending == nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// BenchmarkDecodeLength shows that the time of a stream grows with its length
// and no faster.
func BenchmarkDecodeLength(b *testing.B) {
	for _, pieces := range []int{500, 1000, 2000, 4000} {
		body, events := benchBody("interleaved", pieces)
		b.Run(strconv.Itoa(pieces), func(b *testing.B) {
			for b.Loop() {
				if _, err := wire.Collect(stream.Read(bytes.NewReader(body), openCodec.NewDecoder(wire.Head{Status: 200}), wire.FramingSSE, nil)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
		})
	}
}
