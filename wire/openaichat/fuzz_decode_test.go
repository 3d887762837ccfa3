package openaichat_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/wire"
)

// FuzzDecodeStream reads hostile bytes as a stream.
func FuzzDecodeStream(f *testing.F) {
	for i := range decodeCases {
		f.Add([]byte(decodeCases[i].body()), decodeCases[i].profile.ThinkTags)
	}
	f.Add([]byte(`{"error":"x"}`+"\n"), false)
	f.Add([]byte(sse(tc(`{"index":0,"function":{"arguments":"{"}}`), tc(`{"function":{"name":"f"}}`), oc(`{"tool_calls":{"id":1}}`, "length"))), false)
	f.Fuzz(func(t *testing.T, body []byte, withTags bool) {
		c := openCodec
		c.Profile.ThinkTags = withTags
		resp, evs, err := decodeBody(t, c, strings.NewReader(string(body)), wire.FramingSSE)
		m := resp.Message
		if (err == nil) != (m.Ending.Cause == wire.CauseFinished) {
			t.Fatalf("error %v at a stream that ended by %s", err, m.Ending.Cause)
		}
		want := inWords(evs)
		for _, r := range []io.Reader{iotest.OneByteReader(strings.NewReader(string(body))), iotest.DataErrReader(iotest.HalfReader(strings.NewReader(string(body))))} {
			_, evs, _ := decodeBody(t, c, r, wire.FramingSSE)
			if d := cmp.Diff(want, inWords(evs)); d != "" {
				t.Fatalf("the chunks matter (-whole +cut):\n%s", d)
			}
		}
		if m.Vendor != "" && !json.Valid([]byte(m.Vendor)) {
			t.Fatalf("what the vendor said is no JSON: %q", m.Vendor)
		}
		ids := map[string]bool{}
		for _, p := range m.Parts {
			if p.Vendor != "" && !json.Valid([]byte(p.Vendor)) {
				t.Fatalf("vendor data is no JSON: %q", p.Vendor)
			}
			if p.Kind == wire.PartToolCall {
				if ids[p.ID] || p.ID == "" || p.Name == "" {
					t.Fatalf("call %+v", p)
				}
				ids[p.ID] = true
			}
		}
		for _, p := range m.ExecutableCalls() {
			if p.Partial || !p.FreeForm && !json.Valid([]byte(p.Args)) {
				t.Fatalf("call %+v would be run", p)
			}
		}
	})
}

// FuzzDecodeForms gives the lines of a text to a decoder, each as one block, and
// to one that knows no usual form of a chunk.
func FuzzDecodeForms(f *testing.F) {
	for i := range decodeCases {
		f.Add("", strings.Join(decodeCases[i].events, "\n"))
	}
	f.Add("", strings.Join([]string{content("a"), content("b"), oc(`{"content":"c","x":1}`), oc(`{"content":"d","x":1}`), oc(`{"content":"e","x":2}`), oc(`{"content":"f","x":1}`)}, "\n"))
	f.Add("", strings.Join([]string{tc(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`), tc(`{"index":0,"function":{"arguments":"1"}}`), tc(`{"index":0,"id":"b","function":{"name":"f","arguments":"2"}}`), tc(`{"index":0,"function":{"arguments":"3"}}`)}, "\n"))
	f.Add("error", `{"message":"x"}`)
	f.Fuzz(func(t *testing.T, name, blocks string) {
		run := func(space string) []wire.Event {
			dec := openCodec.NewDecoder(wire.Head{Status: 200})
			var evs []wire.Event
			var err error
			for block := range strings.SplitSeq(blocks, "\n") {
				data := []byte(space + block)
				n := len(evs)
				evs, err = dec.Decode(evs, name, data)
				if string(data) != space+block {
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
			if again, _ := dec.End(evs, nil); len(again) != len(evs) || endErr == nil && again[len(again)-1].End.Err != nil {
				t.Fatal("End twice adds events or forgets the error")
			}
			if err := wire.CheckEvents(evs); err != nil {
				t.Fatalf("%v\n%q", err, inWords(evs))
			}
			return evs
		}
		// White space before a chunk keeps it from having a form that came before.
		if d := cmp.Diff(inWords(run(" ")), inWords(run(""))); d != "" {
			t.Fatalf("the fast way differs (-general +fast):\n%s", d)
		}
	})
}

// FuzzDecodeFailure reads whatever a failing server may answer.
func FuzzDecodeFailure(f *testing.F) {
	for _, s := range []string{"", `{"error":{"message":"m","type":"t","code":1e999}}`, `[[{"error":[{"error":{}}]}]]`, `{"error":{"metadata":{"raw":"{\"error\":{\"metadata\":{\"raw\":\"{}\"}}}"}}}`,
		`{"detail":[{"detail":[{"detail":[{"detail":["x"]}]}]}]}`, `{"error":{"message":"maximum context length is "}}`, "<html>", "\xff"} {
		f.Add(500, s)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		e := openCodec.DecodeError(wire.Head{Status: status}, []byte(body))
		if e == nil || e.Cause != wire.CauseVendor || e.Class == "" || status >= 400 && e.Status != status {
			t.Fatalf("%+v", e)
		}
		if e.Message == "" || len(e.Body) > 310 || utf8.ValidString(body) && !utf8.ValidString(e.Body) {
			t.Fatalf("%+v", e)
		}
		if len(e.Message)+len(e.Type)+len(e.Code)+len(e.RequestID) > 8*len(body)+200 {
			t.Fatalf("an error larger than its body: %+v", e)
		}
	})
}
