package anthropic_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
)

// sendBack appends m to a history and encodes that. Whatever a server said, what
// goes back to it is JSON.
func sendBack(t *testing.T, m wire.Message) {
	t.Helper()
	r := wire.Request{Model: m.Origin.Model, MaxTokens: 100, Messages: []wire.Message{wire.UserText("u"), m}}
	if r.Model == "" {
		r.Model = "m"
	}
	finished := m.Ending != nil && m.Ending.Cause == wire.CauseFinished
	seen := map[string]bool{}
	for _, p := range m.Parts {
		if p.Kind == wire.PartToolCall && !p.Partial && finished {
			if seen[p.ID] {
				return // two calls of one id are refused
			}
			seen[p.ID] = true
			r.Messages = append(r.Messages, wire.ToolMessage(wire.ToolResultPart(p.ID, p.Name, text("r"))))
		}
	}
	r.Messages = append(r.Messages, wire.UserText("v"))
	call, err := encode(t, anthropic.Codec{}, &r)
	if err != nil {
		t.Fatalf("the answer cannot be sent back: %v\n%+v", err, m.Parts)
	}
	if len(call.Body) == 0 {
		t.Fatal("no body")
	}
	// A history that was saved and loaded gives the same bytes.
	saved, err := json.Marshal(&r)
	if err != nil {
		t.Fatalf("the history cannot be saved: %v", err)
	}
	var loaded wire.Request
	if err := json.Unmarshal(saved, &loaded); err != nil {
		t.Fatalf("the history cannot be loaded: %v", err)
	}
	again, err := encode(t, anthropic.Codec{}, &loaded)
	if err != nil || string(again.Body) != string(call.Body) {
		t.Fatalf("saved and loaded it gives another body (%v)\n%s\n%s", err, call.Body, again.Body)
	}
}

// FuzzDecode reads hostile bytes as a stream.
func FuzzDecode(f *testing.F) {
	for i := range decodeCases {
		f.Add([]byte(decodeCases[i].body()))
	}
	f.Add([]byte(`{"type":"error","error":"x"}` + "\n"))
	f.Add([]byte("data: {\"type\":\"message_stop\""))
	f.Fuzz(func(t *testing.T, body []byte) {
		whole, err := read(t, strings.NewReader(string(body)))
		end := whole[len(whole)-1].End
		if (err == nil) != (end.Cause == wire.CauseFinished) {
			t.Fatalf("error %v at a stream that ended by %s", err, end.Cause)
		}
		want := render(whole)
		for _, r := range []io.Reader{iotest.OneByteReader(strings.NewReader(string(body))), iotest.DataErrReader(iotest.HalfReader(strings.NewReader(string(body))))} {
			evs, _ := read(t, r)
			if d := cmp.Diff(want, render(evs)); d != "" {
				t.Fatalf("the chunks matter (-whole +cut):\n%s", d)
			}
		}
		m := wireMessage(whole)
		for _, c := range m.ExecutableCalls() {
			if c.Partial || !json.Valid([]byte(c.Args)) {
				t.Fatalf("call %+v would be run", c)
			}
		}
		if m.Vendor != "" && !json.Valid([]byte(m.Vendor)) {
			t.Fatalf("what the vendor said is no JSON: %q", m.Vendor)
		}
		for _, p := range m.Parts {
			if p.Vendor != "" && !json.Valid([]byte(p.Vendor)) {
				t.Fatalf("vendor data is no JSON: %q", p.Vendor)
			}
		}
		if m.Origin != nil {
			sendBack(t, m)
		}
	})
}

// FuzzDecodeFrame gives the lines of a text to a decoder, each as one block.
func FuzzDecodeFrame(f *testing.F) {
	for i := range decodeCases {
		f.Add("", strings.Join(decodeCases[i].events, "\n"))
	}
	f.Add("message", `{"content":[{"type":"text"}]}`)
	f.Add("error", `{"message":"x"}`)
	f.Fuzz(func(t *testing.T, name, blocks string) {
		dec := anthropic.Codec{}.NewDecoder(wire.Head{Status: 200})
		var evs []wire.Event
		var err error
		for block := range strings.SplitSeq(blocks, "\n") {
			data := []byte(block)
			n := len(evs)
			evs, err = dec.Decode(evs, name, data)
			if string(data) != block {
				t.Fatal("the data was changed")
			}
			if len(evs) < n {
				t.Fatal("events were taken back")
			}
			if err != nil {
				break
			}
		}
		evs, endErr := dec.End(evs, err)
		if endErr == nil && err != nil {
			t.Fatalf("End forgets the error %v", err)
		}
		if again, _ := dec.End(evs, nil); len(again) != len(evs) {
			t.Fatal("End twice adds events")
		}
		if err := wire.CheckEvents(evs); err != nil {
			t.Fatalf("%v\n%q", err, render(evs))
		}
	})
}

// FuzzEncode encodes whatever a file of a request may hold.
func FuzzEncode(f *testing.F) {
	for _, r := range []wire.Request{
		{},
		{Model: "claude-opus-4-8", System: []wire.Part{marked(text("s"), "1h")}, Tools: []wire.Tool{{Name: "f", Schema: `{"type":"object"}`}, {Vendor: `{"type":"x","name":"y"}`}},
			Cache: &wire.CachePolicy{Auto: true}, Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn, Effort: "low"}, Extra: []wire.Field{{Name: "speed", Raw: `"fast"`}},
			Messages: []wire.Message{user(text("u"), wire.ImagePart([]byte(png)), opaque("search_result", `{"type":"search_result"}`)),
				assistant(thinking("t", `{"signature":"S"}`), text("a "), wire.ToolCallPart("c|1", "f.g", `{"a":1.0}`), opaque("x", `{"type":"x"}`)),
				wire.ToolMessage(wire.ToolResultPart("c|1", "f.g", text("r")))}},
		{Model: "claude-opus-4-5", Messages: []wire.Message{wire.UserText("u"), assistant(text("{\n "))}},
		{Model: "m", Output: &wire.OutputFormat{Kind: wire.OutputJSONSchema, Schema: `{}`}, Temperature: ptr(0.5), StopSequences: []string{"x"}, Messages: []wire.Message{wire.UserText("\xff")}},
	} {
		b, err := json.Marshal(&r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r wire.Request
		if json.Unmarshal(data, &r) != nil {
			t.Skip()
		}
		call, err := encode(t, anthropic.Codec{}, &r) // which checks the body, and that r stays as it is
		findings := anthropic.Codec{}.Check(&r)
		if err != nil && len(findings) == 0 {
			t.Fatalf("Encode says %v, Check %v", err, findings)
		}
		if err != nil {
			return
		}
		reused := wire.Call{Body: []byte(strings.Repeat("x", 100)), Header: make([]wire.Header, 5), Notes: make([]wire.Note, 5)}
		if err := (anthropic.Codec{}).Encode(&reused, &r); err != nil || string(reused.Body) != string(call.Body) {
			t.Fatalf("a second encoding differs (%v)\n%s\n%s", err, call.Body, reused.Body)
		}
	})
}

// FuzzDecodeError reads whatever a failing server may answer.
func FuzzDecodeError(f *testing.F) {
	for _, s := range []string{"", `{"type":"error","error":{"type":"api_error","message":"m","details":{"error_code":"c"}},"request_id":"r"}`, `{"error":"m"}`, `{"error":{"code":1e999}}`, `[{}]`, "<html>", "\xff"} {
		f.Add(500, s)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		e := anthropic.Codec{}.DecodeError(wire.Head{Status: status}, []byte(body))
		if e == nil || e.Cause != wire.CauseVendor || e.Class == "" || e.Status != status {
			t.Fatalf("%+v", e)
		}
		if e.Message == "" && e.Type == "" || len(e.Body) > 310 || utf8.ValidString(body) && !utf8.ValidString(e.Body) {
			t.Fatalf("%+v", e)
		}
		if len(e.Message)+len(e.Type)+len(e.Code)+len(e.RequestID) > 4*len(body)+200 {
			t.Fatalf("an error larger than its body: %+v", e)
		}
	})
}
