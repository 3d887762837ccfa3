package anthropic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
)

// head is how the body of every test request begins whose model is m and whose
// limit is 100.
const head = `{"model":"m","max_tokens":100,"stream":true`

// request fills in the model, the limit and a first message where they are
// missing.
func request(r wire.Request) *wire.Request {
	if r.Model == "" {
		r.Model = "m"
	}
	if r.MaxTokens == 0 {
		r.MaxTokens = 100
	}
	if r.Messages == nil {
		r.Messages = []wire.Message{wire.UserText("hi")}
	}
	return &r
}

const hi = `,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`

// encode encodes r, and fails unless the body is what a server can read and r is
// what it was.
func encode(t testing.TB, c anthropic.Codec, r *wire.Request) (*wire.Call, error) {
	t.Helper()
	before := clone(t, r)
	var call wire.Call
	err := c.Encode(&call, r)
	if d := cmp.Diff(before, r, sameFloat, sameError); d != "" {
		t.Errorf("the request was modified (-before +after):\n%s", d)
	}
	if err == nil {
		checkBody(t, call.Body)
	}
	return &call, err
}

var (
	sameFloat = cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })
	sameError = cmp.Comparer(func(a, b error) bool { return a == b })
)

// clone copies r to its depth.
func clone(t testing.TB, r *wire.Request) *wire.Request {
	t.Helper()
	c := *r
	parts := func(ps []wire.Part) []wire.Part { return cloneParts(ps) }
	c.System = parts(r.System)
	c.Messages = append([]wire.Message(nil), r.Messages...)
	if r.Messages != nil && c.Messages == nil {
		c.Messages = []wire.Message{}
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		m.Parts = parts(m.Parts)
		if m.Origin != nil {
			o := *m.Origin
			m.Origin = &o
		}
		if m.Ending != nil {
			e := *m.Ending
			m.Ending = &e
		}
	}
	c.Tools = append(r.Tools[:0:0], r.Tools...)
	for i := range c.Tools {
		if k := c.Tools[i].Cache; k != nil {
			v := *k
			c.Tools[i].Cache = &v
		}
	}
	c.StopSequences = append(r.StopSequences[:0:0], r.StopSequences...)
	c.Extra = append(r.Extra[:0:0], r.Extra...)
	c.Headers = append(r.Headers[:0:0], r.Headers...)
	c.ToolChoice.Allowed = append(r.ToolChoice.Allowed[:0:0], r.ToolChoice.Allowed...)
	if r.Reasoning != nil {
		v := *r.Reasoning
		c.Reasoning = &v
	}
	if r.Output != nil {
		v := *r.Output
		c.Output = &v
	}
	if r.Cache != nil {
		v := *r.Cache
		c.Cache = &v
	}
	return &c
}

func cloneParts(ps []wire.Part) []wire.Part {
	c := append(ps[:0:0], ps...)
	for i := range c {
		p := &c[i]
		p.Parts = cloneParts(p.Parts)
		if p.Media != nil {
			m := *p.Media
			m.Data = append(m.Data[:0:0], m.Data...)
			p.Media = &m
		}
		if p.Cache != nil {
			k := *p.Cache
			p.Cache = &k
		}
	}
	return c
}

// checkBody fails unless b is JSON in UTF-8 without half characters.
func checkBody(t testing.TB, b []byte) {
	t.Helper()
	if !json.Valid(b) {
		t.Errorf("the body is not JSON: %s", b)
	}
	if !utf8.Valid(b) {
		t.Errorf("the body is not UTF-8: %q", b)
	}
	if at := loneSurrogate(b); at >= 0 {
		t.Errorf("half a character is escaped at byte %d: %s", at, b[at:min(len(b), at+20)])
	}
}

// loneSurrogate returns the offset of the first escape of half a character in a
// JSON text, -1 if there is none.
func loneSurrogate(b []byte) int {
	at := func(i int) (n int) {
		if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
			return -1
		}
		if _, err := fmt.Sscanf(string(b[i+2:i+6]), "%04x", &n); err != nil {
			return -1
		}
		return n
	}
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		switch n := at(i); {
		case n >= 0xdc00 && n < 0xe000:
			return i
		case n >= 0xd800 && n < 0xdc00:
			if low := at(i + 6); low < 0xdc00 || low > 0xdfff {
				return i
			}
			i += 11
		default:
			i++
		}
	}
	return -1
}

// codes returns code and path of each note.
func codes(notes []wire.Note) []string {
	var s []string
	for _, n := range notes {
		s = append(s, string(n.Code)+" "+n.Path)
	}
	return s
}

// paths returns the paths of the findings of err.
func paths(t testing.TB, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var fs wire.Findings
	if !errors.As(err, &fs) {
		t.Fatalf("error %v (%T), want findings", err, err)
	}
	var s []string
	for _, f := range fs {
		if f.Rule == "" {
			t.Errorf("a finding at %q says no rule", f.Path)
		}
		s = append(s, f.Path)
	}
	return s
}

type encodeCase struct {
	name     string
	codec    anthropic.Codec
	req      wire.Request
	want     string // the body behind head; "" if it is not looked at
	notes    []string
	findings []string
}

func runEncode(t *testing.T, cases []encodeCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			r := request(tc.req)
			call, err := encode(t, tc.codec, r)
			if d := cmp.Diff(tc.findings, paths(t, err)); d != "" {
				t.Errorf("findings (-want +got):\n%s%v", d, err)
			}
			if d := cmp.Diff(tc.notes, codes(call.Notes)); d != "" {
				t.Errorf("notes (-want +got):\n%s%v", d, call.Notes)
			}
			// Check begins with what Encode refuses; its own rules have a test of theirs.
			if all := findingPaths(tc.codec.Check(r)); len(all) < len(tc.findings) || cmp.Diff(tc.findings, all[:len(tc.findings):len(tc.findings)], cmpopts.EquateEmpty()) != "" {
				t.Errorf("Check gives %q, which does not begin with %q", all, tc.findings)
			}
			if err != nil {
				return
			}
			got := string(call.Body)
			want := strings.Replace(head, `"m"`, `"`+r.Model+`"`, 1) + tc.want
			if tc.want != "" && got != want {
				t.Errorf("body\n got %s\nwant %s", got, want)
			}
		})
	}
}

func findingPaths(fs []wire.Finding) []string {
	var s []string
	for _, f := range fs {
		s = append(s, f.Path)
	}
	return s
}

func user(parts ...wire.Part) wire.Message { return wire.UserMessage(parts...) }

func assistant(parts ...wire.Part) wire.Message {
	return wire.Message{Role: wire.RoleAssistant, Parts: parts}
}

func text(s string) wire.Part { return wire.TextPart(s) }

func thinking(s, vendor string) wire.Part {
	return wire.Part{Kind: wire.PartReasoning, Text: s, Vendor: vendor}
}

func opaque(name, block string) wire.Part {
	return wire.Part{Kind: wire.PartOpaque, Name: name, Vendor: block}
}

func media(m wire.Media) wire.Part { return wire.Part{Kind: wire.PartMedia, Media: &m} }

func marked(p wire.Part, ttl string) wire.Part {
	p.Cache = &wire.CacheMark{TTL: ttl}
	return p
}

func ptr[T any](v T) *T { return &v }

// msgs is the tail of a body: the messages given as JSON.
func msgs(s string) string { return `,"messages":[` + s + `]}` }

const (
	jpeg = "\xff\xd8\xff\xe0rest"
	png  = "\x89PNG\r\n\x1a\nrest"
)

func TestEncodeParts(t *testing.T) {
	call := wire.ToolCallPart("t1", "f", `{"a":1}`)
	called := func(results ...wire.Part) []wire.Message {
		return []wire.Message{wire.UserText("u"), assistant(call), wire.ToolMessage(results...)}
	}
	const calledWant = `{"role":"user","content":[{"type":"text","text":"u"}]},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}]},` +
		`{"role":"user","content":[`
	turn := func(parts ...wire.Part) []wire.Message {
		return []wire.Message{wire.UserText("u"), assistant(parts...), wire.UserText("v")}
	}
	turned := func(s string) string {
		return msgs(`{"role":"user","content":[{"type":"text","text":"u"}]},{"role":"assistant","content":[` + s +
			`]},{"role":"user","content":[{"type":"text","text":"v"}]}`)
	}
	merged := msgs(`{"role":"user","content":[{"type":"text","text":"u"},{"type":"text","text":"v"}]}`)
	runEncode(t, []encodeCase{
		{name: "text", req: wire.Request{}, want: hi},
		{name: "text that needs care", req: wire.Request{Messages: []wire.Message{wire.UserText("<b>&\u2028\x01\"\\\n\xff")}},
			want: msgs(`{"role":"user","content":[{"type":"text","text":"<b>&` + "\u2028" + `\u0001\"\\\n` + "\uFFFD" + `"}]}`)},
		{name: "refusal", req: wire.Request{Messages: turn(wire.Part{Kind: wire.PartRefusal, Text: "no"})},
			want: turned(`{"type":"text","text":"no"}`), notes: []string{"converted messages[1].parts[0]"}},
		{name: "thinking", req: wire.Request{Messages: turn(thinking("why", `{"signature":"S/+="}`), text("a"))},
			want: turned(`{"type":"thinking","thinking":"why","signature":"S/+="},{"type":"text","text":"a"}`)},
		{name: "thinking without words", req: wire.Request{Messages: turn(thinking("", `{"signature":"S"}`))},
			want: turned(`{"type":"thinking","thinking":"","signature":"S"}`)},
		{name: "redacted thinking", req: wire.Request{Messages: turn(thinking("", `{"data":"Zm9v"}`))},
			want: turned(`{"type":"redacted_thinking","data":"Zm9v"}`)},
		{name: "thinking without a signature", req: wire.Request{Messages: turn(thinking("why", ""), text("a"))},
			want: turned(`{"type":"text","text":"a"}`), notes: []string{"dropped messages[1].parts[0]"}},
		{name: "thinking with an empty signature", req: wire.Request{Messages: turn(thinking("why", `{"signature":""}`))},
			want: merged, notes: []string{"dropped messages[1].parts[0]"}},
		{name: "thinking with a broken vendor object", req: wire.Request{Messages: turn(thinking("why", `{"signature":"S`))},
			want: merged, notes: []string{"dropped messages[1].parts[0]"}},
		{name: "thinking withheld", req: wire.Request{Messages: turn(thinking("why", `{"signature":"S"}`), text("a")),
			Reasoning: &wire.Reasoning{Replay: wire.ReplayNever}},
			want: turned(`{"type":"text","text":"a"}`), notes: []string{"dropped messages[1].parts[0]"}},
		{name: "citations", req: wire.Request{Messages: turn(wire.Part{Kind: wire.PartText, Text: "a", Vendor: `{"citations":[{"n":1.0}]}`})},
			want: turned(`{"type":"text","text":"a","citations":[{"n":1.0}]}`)},
		{name: "opaque, byte for byte", req: wire.Request{Messages: turn(opaque("x", ` {"type":"x", "n":1e2,"s":"\u0041"} `))},
			want: turned(`{"type":"x", "n":1e2,"s":"\u0041"}`)},
		{name: "opaque of the user's", req: wire.Request{Messages: []wire.Message{user(opaque("search_result", `{"type":"search_result"}`))}},
			want: msgs(`{"role":"user","content":[{"type":"search_result"}]}`)},
		{name: "opaque that is no object", req: wire.Request{Messages: turn(opaque("x", `[1]`))},
			findings: []string{"messages[1].parts[0].vendor"}},
		{name: "call and result", req: wire.Request{Messages: called(wire.ToolResultPart("t1", "f", text("r")))},
			want: msgs(calledWant + `{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"r"}]}]}`)},
		{name: "call with a caller", req: wire.Request{Messages: []wire.Message{wire.UserText("u"),
			assistant(wire.Part{Kind: wire.PartToolCall, ID: "t1", Name: "f", Args: "{}", Vendor: `{"caller":{"type":"direct"}}`}),
			wire.ToolMessage(wire.ToolResultPart("t1", "f"))}},
			want: msgs(`{"role":"user","content":[{"type":"text","text":"u"}]},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{},"caller":{"type":"direct"}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"}]}`)},
		{name: "result without content", req: wire.Request{Messages: called(wire.ToolResultPart("t1", "f"))},
			want: msgs(calledWant + `{"type":"tool_result","tool_use_id":"t1"}]}`)},
		{name: "result with blank content", req: wire.Request{Messages: called(wire.ToolResultPart("t1", "f", text(""), text(" \n")))},
			want: msgs(calledWant + `{"type":"tool_result","tool_use_id":"t1"}]}`), notes: []string{"dropped messages[2].parts[0].parts[1]"}},
		{name: "result of a failed tool", req: wire.Request{Messages: called(wire.Part{Kind: wire.PartToolResult, ID: "t1", IsError: true,
			Parts: []wire.Part{text("boom"), wire.ImagePart([]byte(png))}})},
			want:  msgs(calledWant + `{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"boom"}],"is_error":true}]}`),
			notes: []string{"dropped messages[2].parts[0].parts[1]"}},
		{name: "result with an image", req: wire.Request{Messages: called(wire.ToolResultPart("t1", "f", text("shot"), wire.ImagePart([]byte(png))))},
			want: msgs(calledWant + `{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"shot"},` +
				`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgpyZXN0"}}]}]}`)},
		{name: "result with a toolset", req: wire.Request{Messages: called(wire.Part{Kind: wire.PartToolResult, ID: "t1", Vendor: `{"toolset_name":"browser"}`})},
			want: msgs(calledWant + `{"type":"tool_result","tool_use_id":"t1","toolset_name":"browser"}]}`)},
		{name: "result within a result", req: wire.Request{Messages: called(wire.ToolResultPart("t1", "f", wire.ToolResultPart("t2", "g")))},
			findings: []string{"messages[2].parts[0].parts[0]"}},
		{name: "result of the assistant's", req: wire.Request{Messages: turn(wire.ToolResultPart("t1", "f"))},
			want: merged, notes: []string{"dropped messages[1].parts[0]"}},
		{name: "call of the user's", req: wire.Request{Messages: []wire.Message{user(call, text("u"))}},
			want: msgs(`{"role":"user","content":[{"type":"text","text":"u"}]}`), notes: []string{"dropped messages[0].parts[0]"}},
		{name: "image of the assistant's", req: wire.Request{Messages: turn(wire.ImagePart([]byte(png)))},
			want: merged, notes: []string{"dropped messages[1].parts[0]"}},
		{name: "unknown kind", req: wire.Request{Messages: []wire.Message{user(wire.Part{Kind: "sound"}, text("u"))}},
			findings: []string{"messages[0].parts[0].kind"}},
	})
}

func TestEncodeMedia(t *testing.T) {
	one := func(s string) string { return msgs(`{"role":"user","content":[` + s + `]}`) }
	req := func(m wire.Media) wire.Request { return wire.Request{Messages: []wire.Message{user(media(m))}} }
	b64 := func(typ, data string) string {
		return one(`{"type":"image","source":{"type":"base64","media_type":"` + typ + `","data":"` + data + `"}}`)
	}
	runEncode(t, []encodeCase{
		{name: "bytes of a PNG", req: wire.Request{Messages: []wire.Message{user(wire.ImagePart([]byte(png)))}}, want: b64("image/png", "iVBORw0KGgpyZXN0")},
		{name: "JPEG that says PNG", req: req(wire.Media{Type: "image/png", Data: []byte(jpeg)}), want: b64("image/jpeg", "/9j/4HJlc3Q="), notes: []string{"repaired messages[0].parts[0].media.type"}},
		{name: "JPEG that says jpg", req: req(wire.Media{Type: "image/jpg", Data: []byte(jpeg)}), want: b64("image/jpeg", "/9j/4HJlc3Q=")},
		{name: "unknown bytes that say jpg", req: req(wire.Media{Type: "image/jpg", Data: []byte("x")}), want: b64("image/jpeg", "eA==")},
		{name: "GIF", req: req(wire.Media{Data: []byte("GIF89a")}), want: b64("image/gif", "R0lGODlh")},
		{name: "WebP", req: req(wire.Media{Type: "IMAGE/PNG", Data: []byte("RIFFxxxxWEBP")}), want: b64("image/webp", "UklGRnh4eHhXRUJQ"), notes: []string{"repaired messages[0].parts[0].media.type"}},
		{name: "unknown bytes without a type", req: req(wire.Media{Data: []byte("x")}), findings: []string{"messages[0].parts[0].media.type"}},
		{name: "type without a place", req: req(wire.Media{Type: "audio/wav", Data: []byte("x")}), findings: []string{"messages[0].parts[0].media.type"}},
		{name: "URL", req: req(wire.Media{Type: "image/png", URL: "https://example.test/a.png?x=1&y=2"}),
			want: one(`{"type":"image","source":{"type":"url","url":"https://example.test/a.png?x=1&y=2"}}`)},
		{name: "URL of a PDF", req: req(wire.Media{Type: "application/pdf", URL: "https://example.test/a.pdf", Name: "A"}),
			want: one(`{"type":"document","source":{"type":"url","url":"https://example.test/a.pdf"},"title":"A"}`)},
		{name: "file", req: req(wire.Media{Type: "image/png", FileID: "file_1"}), want: one(`{"type":"image","source":{"type":"file","file_id":"file_1"}}`)},
		{name: "file of a document", req: req(wire.Media{Type: "application/pdf", FileID: "file_1"}),
			want: one(`{"type":"document","source":{"type":"file","file_id":"file_1"}}`)},
		{name: "bytes of a PDF", req: req(wire.Media{Type: "application/pdf", Data: []byte("%PDF-1"), Name: "Spec"}),
			want: one(`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0x"},"title":"Spec"}`)},
		{name: "plain text", req: req(wire.Media{Type: "text/plain", Data: []byte("a\n<b>")}),
			want: one(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a\n<b>"}}`)},
		{name: "other text", req: req(wire.Media{Type: "text/markdown", Data: []byte("# a")}),
			want:  one(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"# a"}}`),
			notes: []string{"converted messages[0].parts[0].media.type"}},
		{name: "name and detail of an image", req: req(wire.Media{Data: []byte("GIF89a"), Name: "n", Detail: "high"}), want: b64("image/gif", "R0lGODlh"),
			notes: []string{"dropped messages[0].parts[0].media.name", "dropped messages[0].parts[0].media.detail"}},
		{name: "vendor members", req: wire.Request{Messages: []wire.Message{user(wire.Part{Kind: wire.PartMedia,
			Media: &wire.Media{Type: "application/pdf", FileID: "f"}, Vendor: `{"context":"c","citations":{"enabled":true}}`})}},
			want: one(`{"type":"document","source":{"type":"file","file_id":"f"},"context":"c","citations":{"enabled":true}}`)},
		{name: "two ways at once", req: req(wire.Media{Type: "image/png", URL: "u", FileID: "f"}), findings: []string{"messages[0].parts[0].media"}},
		{name: "no way", req: req(wire.Media{Type: "image/png"}), findings: []string{"messages[0].parts[0].media"}},
	})
}

func TestEncodeTurns(t *testing.T) {
	callA, callB := wire.ToolCallPart("a", "f", "{}"), wire.ToolCallPart("b", "f", "{}")
	resA, resB := wire.ToolResultPart("a", "f", text("1")), wire.ToolResultPart("b", "f", text("2"))
	const wantCalls = `{"role":"user","content":[{"type":"text","text":"u"}]},{"role":"assistant","content":[` +
		`{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]},{"role":"user","content":[` +
		`{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"1"}]},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"2"}]}`
	newest := "claude-opus-4-8"
	runEncode(t, []encodeCase{
		{name: "neighbours of the user's", req: wire.Request{Messages: []wire.Message{wire.UserText("a"), wire.UserText("b")}},
			want: msgs(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`)},
		{name: "neighbours of the assistant's", req: wire.Request{Messages: []wire.Message{wire.UserText("a"), assistant(text("b")), assistant(text("c")), wire.UserText("d")}},
			want: msgs(`{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]},` +
				`{"role":"user","content":[{"type":"text","text":"d"}]}`)},
		{name: "results in two messages", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(callA, callB),
			wire.ToolMessage(resA), wire.ToolMessage(resB)}}, want: msgs(wantCalls + `]}`)},
		{name: "results come first", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(callA, callB),
			user(text("x"), resA), wire.UserText("y"), wire.ToolMessage(resB)}},
			want: msgs(wantCalls + `,{"type":"text","text":"x"},{"type":"text","text":"y"}]}`)},
		{name: "results and text as they stand", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(callA, callB),
			wire.ToolMessage(resA, resB), wire.UserText("x")}}, want: msgs(wantCalls + `,{"type":"text","text":"x"}]}`)},
		{name: "calls in two messages", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(callA), assistant(callB), wire.ToolMessage(resA, resB)}},
			want: msgs(wantCalls + `]}`)},
		{name: "empty message between calls and results", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(callA, callB),
			wire.UserText(""), assistant(), wire.ToolMessage(resA), assistant(text(" ")), wire.ToolMessage(resB)}},
			want: msgs(wantCalls + `]}`), notes: []string{"dropped messages[2].parts[0]", "dropped messages[5].parts[0]"}},
		{name: "empty texts", req: wire.Request{Messages: []wire.Message{user(text(""), text("hi"), text(" \t\n\u00a0"))}}, want: hi,
			notes: []string{"dropped messages[0].parts[0]", "dropped messages[0].parts[2]"}},
		{name: "empty assistant", req: wire.Request{Messages: []wire.Message{wire.UserText("a"), assistant(), wire.UserText("b")}},
			want: msgs(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`)},
		{name: "no message", req: wire.Request{Messages: []wire.Message{}}, findings: []string{"messages"}},
		{name: "nothing in the only message", req: wire.Request{Messages: []wire.Message{wire.UserText(" ")}},
			notes: []string{"dropped messages[0].parts[0]"}, findings: []string{"messages"}},
		{name: "assistant first", req: wire.Request{Messages: []wire.Message{assistant(text("a")), wire.UserText("b")}}, findings: []string{"messages"}},
		{name: "no such role", req: wire.Request{Messages: []wire.Message{{Role: "developer", Parts: []wire.Part{text("a")}}}}, findings: []string{"messages[0].role"}},
		{name: "system in between, where the model has it", req: wire.Request{Model: newest, Messages: []wire.Message{wire.UserText("a"),
			{Role: wire.RoleSystem, Parts: []wire.Part{text("s")}}, assistant(text("b")), wire.UserText("c")}},
			want: msgs(`{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"system","content":[{"type":"text","text":"s"}]},` +
				`{"role":"assistant","content":[{"type":"text","text":"b"}]},{"role":"user","content":[{"type":"text","text":"c"}]}`)},
		{name: "system in between, where it has not", req: wire.Request{Model: "claude-sonnet-4-6", Messages: []wire.Message{wire.UserText("a"),
			{Role: wire.RoleSystem, Parts: []wire.Part{text("s")}}, assistant(text("b")), wire.UserText("c")}},
			want: msgs(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"s"}]},` +
				`{"role":"assistant","content":[{"type":"text","text":"b"}]},{"role":"user","content":[{"type":"text","text":"c"}]}`),
			notes: []string{"converted messages[1]"}},
		{name: "prefill", req: wire.Request{Model: "claude-sonnet-4-5", Messages: []wire.Message{wire.UserText("a"), assistant(text("x  "), text("{\n  "))}},
			want:  msgs(`{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"x  "},{"type":"text","text":"{"}]}`),
			notes: []string{"repaired messages"}},
		{name: "prefill with a mark", req: wire.Request{Model: "claude-sonnet-4-5", Messages: []wire.Message{wire.UserText("a"), assistant(marked(text("{ "), "1h"))}},
			want: msgs(`{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[` +
				`{"type":"text","text":"{","cache_control":{"type":"ephemeral","ttl":"1h"}}]}`),
			notes: []string{"repaired messages"}},
		{name: "prefill of a model that has none", req: wire.Request{Model: "claude-opus-4-6", Messages: []wire.Message{wire.UserText("a"), assistant(text("x"))}},
			findings: []string{"messages"}},
		{name: "prefill behind an empty message", req: wire.Request{Model: "claude-opus-4-6", Messages: []wire.Message{wire.UserText("a"), assistant(text("x")), wire.UserText("")}},
			notes: []string{"dropped messages[2].parts[0]"}, findings: []string{"messages"}},
	})
}

// TestEncodePairing looks at calls and results that do not fit.
func TestEncodePairing(t *testing.T) {
	call := func(id string) wire.Part { return wire.ToolCallPart(id, "f", "{}") }
	res := func(id string) wire.Part { return wire.ToolResultPart(id, "f", text("r")) }
	runEncode(t, []encodeCase{
		{name: "unanswered", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(text("x"), call("a"), call("b")),
			wire.ToolMessage(res("a")), wire.UserText("go on")}}, findings: []string{"messages[1].parts[2]"}},
		{name: "unanswered by text", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(call("a")), wire.UserText("v")}},
			findings: []string{"messages[1].parts[0]"}},
		{name: "unanswered at the end", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(call("a"))}},
			findings: []string{"messages[1].parts[0]"}},
		{name: "answered a turn too late", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(call("a")), wire.UserText("v"),
			assistant(text("x")), wire.ToolMessage(res("a"))}}, findings: []string{"messages[1].parts[0]", "messages[4].parts[0]"}},
		{name: "orphan", req: wire.Request{Messages: []wire.Message{user(res("a"))}}, findings: []string{"messages[0].parts[0]"}},
		{name: "orphan beside a good one", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(call("a")), wire.ToolMessage(res("a"), res("b"))}},
			findings: []string{"messages[2].parts[1]"}},
		{name: "two results", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(call("a")), wire.ToolMessage(res("a")), wire.ToolMessage(res("a"))}},
			findings: []string{"messages[3].parts[0]"}},
		{name: "one id twice in a turn", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(call("a"), call("a")), wire.ToolMessage(res("a"))}},
			findings: []string{"messages[1].parts[1].id"}},
		{name: "all at once", req: wire.Request{Temperature: ptr(math.NaN()), StopSequences: []string{"x", " "}, Extra: []wire.Field{{Name: "model", Raw: "1"}},
			System: []wire.Part{wire.ImagePart([]byte(png))}, Tools: []wire.Tool{{Name: "a b"}},
			Messages: []wire.Message{assistant(call("a")), wire.UserText("v"), wire.ToolMessage(res("b"))}},
			findings: []string{"temperature", "stop_sequences[1]", "extra[0]", "tools[0].name", "system[0]", "messages", "messages[0].parts[0]", "messages[2].parts[0]"}},
	})
}

func TestEncodeUnfinished(t *testing.T) {
	cut := &wire.Ending{Cause: wire.CauseTruncated, Err: &wire.Error{Cause: wire.CauseTruncated}}
	finished := &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop}
	parts := []wire.Part{thinking("t", `{"signature":"S"}`), text("half"), opaque("x", `{"type":"x"}`), wire.ToolCallPart("a", "f", "{}")}
	partial := func(p wire.Part) wire.Part { p.Partial = true; return p }
	const wantText = `{"role":"user","content":[{"type":"text","text":"u"}]},{"role":"assistant","content":[{"type":"text","text":"half"}]},` +
		`{"role":"user","content":[{"type":"text","text":"v"}]}`
	dropped := []string{"dropped messages[1].parts[0]", "dropped messages[1].parts[2]", "dropped messages[1].parts[3]"}
	runEncode(t, []encodeCase{
		{name: "cut message", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), {Role: wire.RoleAssistant, Parts: parts, Ending: cut}, wire.UserText("v")}},
			want: msgs(wantText), notes: dropped},
		{name: "cut message without text", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), {Role: wire.RoleAssistant, Parts: parts[:1], Ending: cut}, wire.UserText("v")}},
			want: msgs(`{"role":"user","content":[{"type":"text","text":"u"},{"type":"text","text":"v"}]}`), notes: dropped[:1]},
		{name: "partial parts of a finished message", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), {Role: wire.RoleAssistant, Ending: finished,
			Parts: []wire.Part{partial(parts[0]), partial(parts[1]), partial(parts[2]), partial(parts[3])}}, wire.UserText("v")}},
			want: msgs(wantText), notes: dropped},
		{name: "result of a call that was cut", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), {Role: wire.RoleAssistant, Parts: parts, Ending: cut},
			wire.ToolMessage(wire.ToolResultPart("a", "f"))}}, notes: dropped, findings: []string{"messages[2].parts[0]"}},
		{name: "vendor data of a cut text", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), {Role: wire.RoleAssistant, Ending: cut,
			Parts: []wire.Part{{Kind: wire.PartText, Text: "half", Vendor: `{"citations":[{"type":"char_location"}]}`, Partial: true}}}, wire.UserText("v")}},
			want: msgs(wantText), notes: []string{"dropped messages[1].parts[0].vendor"}},
	})
}

func TestEncodeOrigin(t *testing.T) {
	const model = "claude-opus-4-8"
	parts := []wire.Part{thinking("t", `{"signature":"S"}`), {Kind: wire.PartText, Text: "x", Vendor: `{"citations":[]}`}, opaque("y", `{"type":"y"}`)}
	own := msgs(`{"role":"user","content":[{"type":"text","text":"u"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"S"},` +
		`{"type":"text","text":"x","citations":[]},{"type":"y"}]},{"role":"user","content":[{"type":"text","text":"v"}]}`)
	foreign := msgs(`{"role":"user","content":[{"type":"text","text":"u"}]},{"role":"assistant","content":[{"type":"text","text":"x"}]},` +
		`{"role":"user","content":[{"type":"text","text":"v"}]}`)
	lost := []string{"dropped messages[1].parts[0]", "dropped messages[1].parts[1].vendor", "dropped messages[1].parts[2]"}
	from := func(o *wire.Origin) wire.Request {
		return wire.Request{Model: model, Endpoint: "api.example", Messages: []wire.Message{wire.UserText("u"),
			{Role: wire.RoleAssistant, Parts: parts, Origin: o}, wire.UserText("v")}}
	}
	runEncode(t, []encodeCase{
		{name: "unknown", req: from(nil), want: own},
		{name: "the same", req: from(&wire.Origin{Protocol: anthropic.Protocol, Endpoint: "api.example", Model: model}), want: own},
		{name: "a dated name of the same model", req: from(&wire.Origin{Protocol: anthropic.Protocol, Model: model + "-20260401"}), want: own},
		{name: "nothing known", req: from(&wire.Origin{}), want: own},
		{name: "another protocol", req: from(&wire.Origin{Protocol: "gemini", Model: model}), want: foreign, notes: lost},
		{name: "another endpoint", req: from(&wire.Origin{Protocol: anthropic.Protocol, Endpoint: "other.example", Model: model}), want: foreign, notes: lost},
		{name: "another model", req: from(&wire.Origin{Protocol: anthropic.Protocol, Endpoint: "api.example", Model: "claude-opus-4-7"}), want: foreign, notes: lost},
	})
}

// TestEncodeMessageMembers has vendor objects of whole messages: only a system
// message of the protocol's own keeps them.
func TestEncodeMessageMembers(t *testing.T) {
	const knows, lacks = "claude-opus-4-8", "claude-sonnet-5"
	away := &wire.Origin{Protocol: "openai-chat"}
	req := func(model string, role wire.Role, vendor string, o *wire.Origin) wire.Request {
		return wire.Request{Model: model, Messages: []wire.Message{wire.UserText("u"), assistant(text("a")), wire.UserText("v"),
			{Role: role, Parts: []wire.Part{text("m")}, Vendor: vendor, Origin: o}}}
	}
	const head = `{"role":"user","content":[{"type":"text","text":"u"}]},{"role":"assistant","content":[{"type":"text","text":"a"}]},` +
		`{"role":"user","content":[{"type":"text","text":"v"}`
	merged := msgs(head + `,{"type":"text","text":"m"}]}`)
	system := func(members string) string {
		return msgs(head + `]},{"role":"system","content":[{"type":"text","text":"m"}]` + members + `}`)
	}
	lost := []string{"dropped messages[3].vendor"}
	runEncode(t, []encodeCase{
		{name: "system", req: req(knows, wire.RoleSystem, `{"clear_at":"never"}`, nil), want: system(`,"clear_at":"never"`)},
		{name: "foreign system", req: req(knows, wire.RoleSystem, `{"name":"n"}`, away), want: system(``), notes: lost},
		{name: "system sent as the user's", req: req(lacks, wire.RoleSystem, `{"clear_at":"never"}`, nil), want: merged,
			notes: []string{"converted messages[3]", "dropped messages[3].vendor"}},
		{name: "user", req: req(knows, wire.RoleUser, `{"name":"n"}`, nil), want: merged, notes: lost},
		{name: "foreign user", req: req(knows, wire.RoleUser, `{"name":"n"}`, away), want: merged, notes: lost},
	})
}

func TestEncodeArguments(t *testing.T) {
	for _, tc := range []struct {
		name, args string
		freeForm   bool
		want       string
		note       wire.NoteCode
	}{
		{"object", `{"a":1}`, false, `{"a":1}`, ""},
		{"bytes are kept", `{"b": 9007199254740993,"a":1.0,"a":1e21,"h":"<1>\u0026\/"}`, false, `{"b": 9007199254740993,"a":1.0,"a":1e21,"h":"<1>\u0026\/"}`, ""},
		{"white space around", " \n{\"a\": 1}\t", false, `{"a": 1}`, ""},
		{"white space that is not JSON's", "\u00a0{\"a\":1}", false, `{}`, wire.NoteRepaired},
		{"empty", "", false, `{}`, ""},
		{"blank", " ", false, `{}`, ""},
		{"null", "null", false, `{}`, wire.NoteConverted},
		{"cut", `{"path": "a.txt"`, false, `{}`, wire.NoteRepaired},
		{"two values", `{}{"a":1}`, false, `{}`, wire.NoteRepaired},
		{"array", `[1, 2]`, false, `{"input":[1, 2]}`, wire.NoteConverted},
		{"string", `"x"`, false, `{"input":"x"}`, wire.NoteConverted},
		{"free text", "SELECT \"a\"\n", true, `{"input":"SELECT \"a\"\n"}`, wire.NoteConverted},
		{"free text that is JSON", `{"a":1}`, true, `{"input":"{\"a\":1}"}`, wire.NoteConverted},
		{"lone surrogate", `{"a":"\ud83d"}`, false, `{"a":"\ufffd"}`, wire.NoteRepaired},
		{"pair", `{"a":"\ud83d\ude00"}`, false, `{"a":"\ud83d\ude00"}`, ""},
		{"bad byte", "{\"a\":\"\xff\"}", false, "{\"a\":\"\uFFFD\"}", wire.NoteRepaired},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := wire.ToolCallPart("a", "f", tc.args)
			p.FreeForm = tc.freeForm
			call, err := encode(t, anthropic.Codec{}, request(wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(p),
				wire.ToolMessage(wire.ToolResultPart("a", "f"))}}))
			if err != nil {
				t.Fatal(err)
			}
			if got := gjson.GetBytes(call.Body, "messages.1.content.0.input").Raw; got != tc.want {
				t.Errorf("input %s, want %s", got, tc.want)
			}
			if tc.note == "" && len(call.Notes) > 0 || tc.note != "" && (len(call.Notes) != 1 || call.Notes[0].Code != tc.note) {
				t.Errorf("notes %v, want %q", call.Notes, tc.note)
			}
		})
	}
}

func TestEncodeTools(t *testing.T) {
	tools := func(s string) string { return `,"tool_choice":{"type":"auto"},"tools":[` + s + `]` + hi }
	const obj = `"input_schema":{"type":"object","properties":{}}`
	runEncode(t, []encodeCase{
		{name: "none", req: wire.Request{Tools: []wire.Tool{}, ToolChoice: wire.ToolChoice{Mode: wire.ToolChoiceAuto}, ParallelToolCalls: ptr(false)}, want: hi},
		{name: "all fields", req: wire.Request{Tools: []wire.Tool{{Name: "f", Description: "d <x>", Schema: `{"type":"object", "properties":{"z":{},"a":{}}}`,
			Strict: ptr(true), Vendor: `{"eager_input_streaming":true}`, Cache: &wire.CacheMark{}}}},
			want: tools(`{"name":"f","description":"d <x>","input_schema":{"type":"object", "properties":{"z":{},"a":{}}},"strict":true,` +
				`"eager_input_streaming":true,"cache_control":{"type":"ephemeral"}}`)},
		{name: "strict false", req: wire.Request{Tools: []wire.Tool{{Name: "f", Strict: ptr(false)}}}, want: tools(`{"name":"f",` + obj + `,"strict":false}`)},
		{name: "order of the caller", req: wire.Request{Tools: []wire.Tool{{Name: "z"}, {Name: "a"}}}, want: tools(`{"name":"z",` + obj + `},{"name":"a",` + obj + `}`)},
		{name: "schema repaired", req: wire.Request{Tools: []wire.Tool{{Name: "f", Schema: `{"properties":{"a":{"type":"string"}}}`}}},
			want:  tools(`{"name":"f","input_schema":{"type":"object","properties":{"a":{"type":"string"}}}}`),
			notes: []string{"repaired tools[0].schema"}},
		{name: "schema with half a character", req: wire.Request{Tools: []wire.Tool{{Name: "f", Schema: `{"type":"object","properties":{"\ud800":{}}}`}}},
			want: tools(`{"name":"f","input_schema":{"type":"object","properties":{"\ufffd":{}}}}`), notes: []string{"repaired tools[0].schema"}},
		{name: "schema that is no object", req: wire.Request{Tools: []wire.Tool{{Name: "f", Schema: `true`}}}, findings: []string{"tools[0].schema"}},
		{name: "schema that is no JSON", req: wire.Request{Tools: []wire.Tool{{Name: "f", Schema: `{"type":`}}}, findings: []string{"tools[0].schema"}},
		{name: "tool of the vendor's", req: wire.Request{Tools: []wire.Tool{{Vendor: ` {"type":"web_search_20260318", "name":"web_search"} `}}},
			want: tools(`{"type":"web_search_20260318", "name":"web_search"}`)},
		{name: "tool of the vendor's with a mark", req: wire.Request{Tools: []wire.Tool{{Vendor: `{"type":"x"}`, Cache: &wire.CacheMark{TTL: "5m"}}}},
			want: tools(`{"type":"x","cache_control":{"type":"ephemeral","ttl":"5m"}}`)},
		{name: "tool without a name", req: wire.Request{Tools: []wire.Tool{{Vendor: "5"}}}, findings: []string{"tools[0]"}},
		{name: "vendor members that are none", req: wire.Request{Tools: []wire.Tool{{Name: "f", Vendor: "[]"}}}, findings: []string{"tools[0].vendor"}},
		{name: "names", req: wire.Request{Tools: []wire.Tool{{Name: "f.g"}, {Name: "ok"}, {Name: "ok"}, {Name: strings.Repeat("x", 129)}}},
			findings: []string{"tools[0].name", "tools[2].name", "tools[3].name"}},
		{name: "free text", req: wire.Request{Tools: []wire.Tool{{Name: "f", FreeForm: true}}}, findings: []string{"tools[0].free_form"}},
	})
}

func TestEncodeToolChoice(t *testing.T) {
	tool := []wire.Tool{{Name: "f"}}
	const tools = `,"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}]` + hi
	choice := func(m wire.ToolChoiceMode, name string) wire.ToolChoice { return wire.ToolChoice{Mode: m, Name: name} }
	runEncode(t, []encodeCase{
		{name: "default", req: wire.Request{Tools: tool}, want: `,"tool_choice":{"type":"auto"}` + tools},
		{name: "auto", req: wire.Request{Tools: tool, ToolChoice: choice("auto", ""), ParallelToolCalls: ptr(true)}, want: `,"tool_choice":{"type":"auto"}` + tools},
		{name: "not parallel", req: wire.Request{Tools: tool, ParallelToolCalls: ptr(false)}, want: `,"tool_choice":{"type":"auto","disable_parallel_tool_use":true}` + tools},
		{name: "none", req: wire.Request{Tools: tool, ToolChoice: choice("none", ""), ParallelToolCalls: ptr(false)}, want: `,"tool_choice":{"type":"none"}` + tools},
		{name: "required", req: wire.Request{Tools: tool, ToolChoice: choice("required", "")}, want: `,"tool_choice":{"type":"any"}` + tools},
		{name: "tool", req: wire.Request{Tools: tool, ToolChoice: choice("tool", "f"), ParallelToolCalls: ptr(false)},
			want: `,"tool_choice":{"type":"tool","name":"f","disable_parallel_tool_use":true}` + tools},
		{name: "tool of the vendor's", req: wire.Request{Tools: []wire.Tool{{Vendor: `{"type":"bash_20250124","name":"bash"}`}}, ToolChoice: choice("tool", "bash")},
			want: `,"tool_choice":{"type":"tool","name":"bash"},"tools":[{"type":"bash_20250124","name":"bash"}]` + hi},
		{name: "no such tool", req: wire.Request{Tools: tool, ToolChoice: choice("tool", "g")}, findings: []string{"tool_choice.name"}},
		{name: "no such mode", req: wire.Request{Tools: tool, ToolChoice: choice("maybe", "")}, findings: []string{"tool_choice.mode"}},
		{name: "allowed", req: wire.Request{Tools: tool, ToolChoice: wire.ToolChoice{Allowed: []string{"f"}}}, findings: []string{"tool_choice.allowed"}},
		{name: "required without tools", req: wire.Request{ToolChoice: choice("required", "")}, findings: []string{"tool_choice"}},
		{name: "none without tools", req: wire.Request{ToolChoice: choice("none", "")}, want: hi},
		{name: "forced on a model that refuses it", req: wire.Request{Model: "claude-opus-5-5", Tools: tool, ToolChoice: choice("required", "")}, findings: []string{"tool_choice"}},
		{name: "forced beside a thinking budget", req: wire.Request{Model: "claude-opus-4-5", MaxTokens: 2048, Tools: tool, ToolChoice: choice("tool", "f"),
			Reasoning: &wire.Reasoning{Budget: 1024}}, findings: []string{"tool_choice"}},
	})
}

func TestEncodeSettings(t *testing.T) {
	runEncode(t, []encodeCase{
		{name: "nil everywhere", req: wire.Request{}, want: hi},
		{name: "system", req: wire.Request{System: []wire.Part{text("a"), text(" "), marked(text("b"), "1h")}},
			want:  `,"system":[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{"type":"ephemeral","ttl":"1h"}}]` + hi,
			notes: []string{"dropped system[1]"}},
		{name: "blank system", req: wire.Request{System: []wire.Part{text("")}}, want: hi, notes: []string{"dropped system[0]"}},
		{name: "system that is no text", req: wire.Request{System: []wire.Part{opaque("x", "{}")}}, findings: []string{"system[0]"}},
		{name: "sampling", req: wire.Request{Temperature: ptr(0.0), TopP: ptr(0.0), TopK: ptr(0)}, want: `,"temperature":0,"top_p":0,"top_k":0` + hi},
		{name: "sampling in digits", req: wire.Request{Temperature: ptr(0.1), TopP: ptr(1e-7)}, want: `,"temperature":0.1,"top_p":1e-7` + hi},
		{name: "sampling of the newer version", codec: anthropic.Codec{Version: anthropic.Version20261021},
			req: wire.Request{Temperature: ptr(1.0), TopP: ptr(1.0), TopK: ptr(1)}, want: hi, notes: []string{"dropped temperature", "dropped top_p", "dropped top_k"}},
		{name: "sampling of a newer model", req: wire.Request{Model: "claude-opus-4-7", Temperature: ptr(1.0), TopP: ptr(1.0), TopK: ptr(1)}, want: hi,
			notes: []string{"dropped temperature", "dropped top_p", "dropped top_k"}},
		{name: "sampling with thinking", req: wire.Request{Model: "claude-opus-4-6", Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn}, Temperature: ptr(1.0), TopP: ptr(0.97), TopK: ptr(1)},
			want: `,"thinking":{"type":"adaptive"},"top_p":0.97` + hi, notes: []string{"dropped temperature", "dropped top_k"}},
		{name: "sampling with thinking off", req: wire.Request{Reasoning: &wire.Reasoning{Mode: wire.ReasoningOff}, Temperature: ptr(1.0)},
			want: `,"thinking":{"type":"disabled"},"temperature":1` + hi},
		{name: "sampling that is no number", req: wire.Request{Temperature: ptr(math.NaN()), TopP: ptr(math.Inf(1))}, findings: []string{"temperature", "top_p"}},
		{name: "settings of other vendors", req: wire.Request{Seed: ptr(int64(1)), PresencePenalty: ptr(0.0), FrequencyPenalty: ptr(0.0), Cache: &wire.CachePolicy{Key: "k"}},
			want: hi, notes: []string{"dropped seed", "dropped presence_penalty", "dropped frequency_penalty", "dropped cache.key"}},
		{name: "stop sequences", req: wire.Request{StopSequences: []string{"a", "<|\n"}}, want: `,"stop_sequences":["a","<|\n"]` + hi},
		{name: "blank stop sequence", req: wire.Request{StopSequences: []string{"\n"}}, findings: []string{"stop_sequences[0]"}},
		{name: "metadata and tier", req: wire.Request{UserID: "u1", ServiceTier: "standard_only"}, want: `,"metadata":{"user_id":"u1"},"service_tier":"standard_only"` + hi},
		{name: "negative limit", req: wire.Request{MaxTokens: -1}, findings: []string{"max_tokens"}},
		{name: "negative limit beside thinking", req: wire.Request{MaxTokens: -1, Reasoning: &wire.Reasoning{Budget: 1024}}, findings: []string{"max_tokens", "reasoning.budget"}},
		{name: "output format", req: wire.Request{Output: &wire.OutputFormat{Kind: wire.OutputJSONSchema, Schema: `{"type":"object", "b":1,"a":1.0}`, Name: "n"}},
			want: `,"output_config":{"format":{"type":"json_schema","schema":{"type":"object", "b":1,"a":1.0}}}` + hi, notes: []string{"dropped output.name"}},
		{name: "output format and effort", req: wire.Request{Output: &wire.OutputFormat{Kind: wire.OutputJSONSchema, Schema: `{}`}, Reasoning: &wire.Reasoning{Effort: "low"}},
			want: `,"output_config":{"effort":"low","format":{"type":"json_schema","schema":{}}}` + hi},
		{name: "text output", req: wire.Request{Output: &wire.OutputFormat{Kind: wire.OutputText}}, want: hi},
		{name: "output without a schema", req: wire.Request{Output: &wire.OutputFormat{Kind: wire.OutputJSON}}, findings: []string{"output.kind"}},
		{name: "broken output schema", req: wire.Request{Output: &wire.OutputFormat{Kind: wire.OutputJSONSchema, Schema: `{`}}, findings: []string{"output.schema"}},
		{name: "extra", req: wire.Request{Extra: []wire.Field{{Name: "speed", Raw: ` "fast" `}, {Name: "container", Raw: `{"id": "c"}`}}},
			want: `,"speed":"fast","container":{"id": "c"}` + hi},
		{name: "extra that is reserved", req: wire.Request{Extra: []wire.Field{{Name: "messages", Raw: "[]"}, {Name: "stream", Raw: "false"}}}, findings: []string{"extra[0]", "extra[1]"}},
		{name: "extra twice", req: wire.Request{Extra: []wire.Field{{Name: "x", Raw: "1"}, {Name: "x", Raw: "2"}}}, findings: []string{"extra[1]"}},
		{name: "extra that is no JSON", req: wire.Request{Extra: []wire.Field{{Name: "x", Raw: "1 2"}, {Name: "y", Raw: ""}}}, findings: []string{"extra[0]", "extra[1]"}},
		{name: "extra with half a character", req: wire.Request{Extra: []wire.Field{{Name: "x", Raw: `"\udc00"`}}}, want: `,"x":"\ufffd"` + hi, notes: []string{"repaired extra[0]"}},
	})

	t.Run("without a model", func(t *testing.T) {
		r := request(wire.Request{})
		r.Model = ""
		if _, err := encode(t, anthropic.Codec{}, r); !cmp.Equal(paths(t, err), []string{"model"}) {
			t.Errorf("error %v, want a finding about the model", err)
		}
	})
	t.Run("whole answer", func(t *testing.T) {
		call, err := encode(t, anthropic.Codec{}, request(wire.Request{Whole: true}))
		if err != nil || call.Framing != wire.FramingWhole || string(call.Body) != `{"model":"m","max_tokens":100`+hi {
			t.Errorf("framing %s, body %s, error %v", call.Framing, call.Body, err)
		}
	})
}

func TestEncodeHead(t *testing.T) {
	const ct = "content-type: application/json"
	for _, tc := range []struct {
		name    string
		codec   anthropic.Codec
		headers []wire.Header
		want    []string
	}{
		{"default", anthropic.Codec{}, nil, []string{ct, "anthropic-version: 2023-06-01"}},
		{"version", anthropic.Codec{Version: anthropic.Version20261021}, nil, []string{ct, "anthropic-version: 2026-10-21"}},
		{"betas in one line", anthropic.Codec{Betas: []string{"a-1", "b-2"}}, nil, []string{ct, "anthropic-version: 2023-06-01", "anthropic-beta: a-1,b-2"}},
		{"headers of the request", anthropic.Codec{}, []wire.Header{{Name: "x-a", Value: "1"}}, []string{ct, "anthropic-version: 2023-06-01", "x-a: 1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			call, err := encode(t, tc.codec, request(wire.Request{Headers: tc.headers}))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, h := range call.Header {
				got = append(got, h.Name+": "+h.Value)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("headers (-want +got):\n%s", d)
			}
			if call.Path != "/v1/messages" || call.Framing != wire.FramingSSE || (anthropic.Codec{}).Protocol() != "anthropic-messages" {
				t.Errorf("path %s, framing %s", call.Path, call.Framing)
			}
		})
	}
}

func TestEncodeCache(t *testing.T) {
	const mark = `,"cache_control":{"type":"ephemeral"}`
	auto := &wire.CachePolicy{Auto: true}
	tools := []wire.Tool{{Name: "f"}, {Name: "g"}}
	system := []wire.Part{text("s1"), text("s2")}
	const toolF = `{"name":"f","input_schema":{"type":"object","properties":{}}}`
	body := func(toolMark, systemMark, m string) string {
		return `,"tool_choice":{"type":"auto"},"tools":[` + toolF + `,{"name":"g","input_schema":{"type":"object","properties":{}}` + toolMark + `}]` +
			`,"system":[{"type":"text","text":"s1"},{"type":"text","text":"s2"` + systemMark + `}]` + m
	}
	hiMarked := `,"messages":[{"role":"user","content":[{"type":"text","text":"hi"` + mark + `}]}]}`
	four := user(marked(text("1"), ""), marked(text("2"), ""), marked(text("3"), ""), marked(text("4"), ""))
	runEncode(t, []encodeCase{
		{name: "automatic", req: wire.Request{Tools: tools, System: system, Cache: auto}, want: body(mark, mark, hiMarked)},
		{name: "automatic with a time", req: wire.Request{Cache: &wire.CachePolicy{Auto: true, TTL: "1h"}},
			want: msgs(`{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral","ttl":"1h"}}]}`)},
		{name: "no policy", req: wire.Request{Tools: tools, System: system, Cache: &wire.CachePolicy{TTL: "1h"}}, want: body("", "", hi)},
		{name: "own marks win", req: wire.Request{Cache: auto, Tools: tools, System: system,
			Messages: []wire.Message{user(marked(text("1"), ""), marked(text("2"), ""), text("3"))}},
			want: body("", mark, msgs(`{"role":"user","content":[{"type":"text","text":"1"`+mark+`},`+
				`{"type":"text","text":"2"`+mark+`},{"type":"text","text":"3"`+mark+`}]}`))},
		{name: "an hour before five minutes", req: wire.Request{Cache: auto, Tools: tools, System: system,
			Messages: []wire.Message{user(marked(text("1"), "1h"), text("2"))}}, notes: []string{"dropped cache.auto", "dropped cache.auto"},
			want: body("", "", msgs(`{"role":"user","content":[{"type":"text","text":"1","cache_control":{"type":"ephemeral","ttl":"1h"}},`+
				`{"type":"text","text":"2"`+mark+`}]}`))},
		{name: "five minutes before an hour", req: wire.Request{Cache: &wire.CachePolicy{Auto: true, TTL: "1h"}, Tools: tools, System: system,
			Messages: []wire.Message{user(marked(text("1"), ""), text("2"))}},
			want: body(`,"cache_control":{"type":"ephemeral","ttl":"1h"}`, `,"cache_control":{"type":"ephemeral","ttl":"1h"}`, msgs(`{"role":"user","content":[{"type":"text","text":"1"`+mark+`},`+
				`{"type":"text","text":"2"`+mark+`}]}`))},
		{name: "no room", req: wire.Request{Cache: auto, Tools: tools, System: system, Messages: []wire.Message{four, assistant(text("a")), wire.UserText("b")}},
			want: body("", "", msgs(`{"role":"user","content":[{"type":"text","text":"1"`+mark+`},{"type":"text","text":"2"`+mark+`},{"type":"text","text":"3"`+mark+
				`},{"type":"text","text":"4"`+mark+`}]},{"role":"assistant","content":[{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"b"}]}`))},
		{name: "own mark at the end", req: wire.Request{Cache: auto, Messages: []wire.Message{user(marked(text("1"), "1h"))}},
			want: msgs(`{"role":"user","content":[{"type":"text","text":"1","cache_control":{"type":"ephemeral","ttl":"1h"}}]}`)},
		{name: "not on blank text", req: wire.Request{Cache: auto, Messages: []wire.Message{user(text("1"), text(" "))}},
			want: msgs(`{"role":"user","content":[{"type":"text","text":"1"` + mark + `}]}`), notes: []string{"dropped messages[0].parts[1]"}},
		{name: "not on thinking", req: wire.Request{Cache: auto, Messages: []wire.Message{user(text("1")), assistant(text("a"), thinking("", `{"signature":"S"}`))}},
			want: msgs(`{"role":"user","content":[{"type":"text","text":"1"}]},{"role":"assistant","content":[{"type":"text","text":"a"` + mark +
				`},{"type":"thinking","thinking":"","signature":"S"}]}`)},
		{name: "five", req: wire.Request{System: []wire.Part{marked(text("s"), "")}, Messages: []wire.Message{four}}, findings: []string{""}},
		{name: "four and the top-level one", req: wire.Request{Extra: []wire.Field{{Name: "cache_control", Raw: `{"type":"ephemeral"}`}}, Messages: []wire.Message{four}}, findings: []string{""}},
		{name: "marks within results count", req: wire.Request{Cache: auto, Tools: tools, System: system, Messages: []wire.Message{wire.UserText("u"),
			assistant(wire.ToolCallPart("a", "f", "{}")),
			wire.ToolMessage(wire.ToolResultPart("a", "f", marked(text("1"), ""), marked(text("2"), "")))}},
			want: body("", mark, msgs(`{"role":"user","content":[{"type":"text","text":"u"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},`+
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"1"`+mark+`},{"type":"text","text":"2"`+mark+`}]`+mark+`}]}`))},
		{name: "automatic on a result", req: wire.Request{Cache: auto, Messages: []wire.Message{wire.UserText("u"), assistant(wire.ToolCallPart("a", "f", "{}")),
			wire.ToolMessage(wire.ToolResultPart("a", "f", text("1")))}},
			want: msgs(`{"role":"user","content":[{"type":"text","text":"u"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"1"}]` + mark + `}]}`)},
		{name: "automatic on the last block, not on the last part", req: wire.Request{Cache: auto, Messages: []wire.Message{wire.UserText("u"), assistant(wire.ToolCallPart("a", "f", "{}")),
			wire.UserText("x"), wire.ToolMessage(wire.ToolResultPart("a", "f", text("1")))}},
			want: msgs(`{"role":"user","content":[{"type":"text","text":"u"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"1"}]},{"type":"text","text":"x"` + mark + `}]}`)},
		{name: "on a block of the vendor's", req: wire.Request{Messages: []wire.Message{user(marked(opaque("x", `{"type":"x"}`), ""))}},
			want: msgs(`{"role":"user","content":[{"type":"x"` + mark + `}]}`)},
		{name: "blank system prompts need no room", req: wire.Request{Cache: auto, System: []wire.Part{text("s"), text("")},
			Messages: []wire.Message{user(marked(text("1"), ""), marked(text("2"), ""), text("3"))}},
			want: `,"system":[{"type":"text","text":"s"` + mark + `}]` + msgs(`{"role":"user","content":[{"type":"text","text":"1"`+mark+`},{"type":"text","text":"2"`+mark+
				`},{"type":"text","text":"3"`+mark+`}]}`),
			notes: []string{"dropped system[1]"}},
	})
}

// TestEncodeCacheOnNothing puts marks on objects of the vendor's that are empty:
// refused or not, what is sent is JSON.
func TestEncodeCacheOnNothing(t *testing.T) {
	for _, tc := range []struct {
		name string
		req  wire.Request
	}{
		{"block", wire.Request{Messages: []wire.Message{user(marked(opaque("x", `{}`), ""))}}},
		{"block with white space", wire.Request{Messages: []wire.Message{user(marked(opaque("x", "{ \n}"), ""))}}},
		{"block with the automatic mark", wire.Request{Cache: &wire.CachePolicy{Auto: true}, Messages: []wire.Message{user(opaque("x", `{}`))}}},
		{"tool", wire.Request{Tools: []wire.Tool{{Vendor: `{ }`, Cache: &wire.CacheMark{}}}}},
		{"tool with the automatic mark", wire.Request{Cache: &wire.CachePolicy{Auto: true}, Tools: []wire.Tool{{Vendor: `{}`}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _ = encode(t, anthropic.Codec{}, request(tc.req)) // which checks the body
		})
	}
}

// TestEncodeNames looks at ids and names that the server refuses.
func TestEncodeNames(t *testing.T) {
	ids := []string{"call_1|fc_0:β", "call_1|fc_0:γ", "fine-1_A", strings.Repeat("x", 65), strings.Repeat("x", 66), "a b", "a_b", ""}
	var calls, results []wire.Part
	for i, id := range ids {
		name := "f"
		if i == 1 {
			name = "a.b/c"
		}
		calls = append(calls, wire.ToolCallPart(id, name, "{}"))
		results = append(results, wire.ToolResultPart(id, name))
	}
	r := request(wire.Request{Messages: []wire.Message{wire.UserText("u"), assistant(calls...), wire.ToolMessage(results...)}})
	call, err := encode(t, anthropic.Codec{}, r)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, id := range ids {
		got := gjson.GetBytes(call.Body, fmt.Sprintf("messages.1.content.%d.id", i)).Str
		res := gjson.GetBytes(call.Body, fmt.Sprintf("messages.2.content.%d.tool_use_id", i)).Str
		if got != res {
			t.Errorf("call %q and result %q of %q differ", got, res, id)
		}
		if seen[got] {
			t.Errorf("%q of %q is there twice", got, id)
		}
		seen[got] = true
		if len(got) == 0 || len(got) > 64 || strings.Trim(got, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			t.Errorf("%q of %q is refused", got, id)
		}
		if (id == "fine-1_A" || id == "a_b") && got != id {
			t.Errorf("%q became %q", id, got)
		}
	}
	if name := gjson.GetBytes(call.Body, "messages.1.content.1.name").Str; name == "a.b/c" || name == "" || len(name) > 64 {
		t.Errorf("name %q", name)
	}
	for _, n := range call.Notes {
		if n.Code != wire.NoteRenamed || !strings.HasPrefix(n.Path, "messages[") {
			t.Errorf("note %+v", n)
		}
	}
	if len(call.Notes) != 13 { // six ids of calls and of results, and a name
		t.Errorf("%d notes, want 13: %v", len(call.Notes), call.Notes)
	}
	again, _ := encode(t, anthropic.Codec{}, r)
	if string(again.Body) != string(call.Body) {
		t.Error("a second encoding renames otherwise")
	}
}

// TestEncodeNamesSaved: a history that was saved and loaded renames as before,
// though saving turns bytes that are no character into U+FFFD.
func TestEncodeNamesSaved(t *testing.T) {
	body := func(id string) string {
		call, err := encode(t, anthropic.Codec{}, request(wire.Request{Messages: []wire.Message{wire.UserText("u"),
			assistant(wire.ToolCallPart(id, id, "{}")), wire.ToolMessage(wire.ToolResultPart(id, id))}}))
		if err != nil {
			t.Fatal(err)
		}
		return string(call.Body)
	}
	if a, b := body("x\xff"), body("x\uFFFD"); a != b {
		t.Errorf("before and after saving\n%s\n%s", a, b)
	}
}

// TestEncodePause: what the model paused in goes back as it is, so that it can
// go on from there.
func TestEncodePause(t *testing.T) {
	for _, model := range []string{"claude-opus-4-5", "claude-opus-4-8", "claude-opus-5-5", "m"} {
		t.Run(model, func(t *testing.T) {
			m := assistant(text("let me see \n"))
			m.Ending = &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishPause, VendorFinish: "pause_turn"}
			call, err := encode(t, anthropic.Codec{}, request(wire.Request{Model: model, Messages: []wire.Message{wire.UserText("u"), m}}))
			if err != nil {
				t.Fatal(err)
			}
			if got := gjson.GetBytes(call.Body, "messages.1.content.0.text").Str; got != m.Parts[0].Text {
				t.Errorf("the text of the paused message became %q", got)
			}
		})
	}
}

// TestEncodeNothingSilent: settings that have no place leave a note.
func TestEncodeNothingSilent(t *testing.T) {
	for _, tc := range []struct {
		name string
		req  wire.Request
	}{
		{"display of thinking that is off", wire.Request{Reasoning: &wire.Reasoning{Mode: wire.ReasoningOff, Display: "summarized"}}},
		{"budget of thinking that is off", wire.Request{Reasoning: &wire.Reasoning{Mode: wire.ReasoningOff, Budget: 2000}}},
		{"strictness of an output format", wire.Request{Output: &wire.OutputFormat{Kind: wire.OutputJSONSchema, Schema: "{}", Strict: ptr(false)}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			call, err := encode(t, anthropic.Codec{}, request(tc.req))
			if err == nil && len(call.Notes) == 0 {
				t.Error("neither a note nor a finding")
			}
		})
	}
}

// TestEncodeReuse encodes into a call that is used again and again.
func TestEncodeReuse(t *testing.T) {
	plain := request(wire.Request{System: []wire.Part{text("be brief")}, Messages: []wire.Message{
		wire.UserText("u"), assistant(text("a"), wire.ToolCallPart("c1", "f", `{"q":"x"}`)),
		wire.ToolMessage(wire.ToolResultPart("c1", "f", text("r"))), assistant(text("b")), wire.UserText("v")}})
	withTools := *plain
	withTools.Tools = []wire.Tool{{Name: "f", Description: "d", Schema: `{"type":"object","properties":{"q":{"type":"string"}}}`}}
	signed := *plain
	signed.Messages = []wire.Message{wire.UserText("u"), assistant(thinking("t", `{"signature":"S"}`), text("a")), wire.UserText("v")}
	for _, tc := range []struct {
		name string
		req  *wire.Request
	}{{"plain", plain}, {"tools", &withTools}, {"reasoning", &signed}} {
		t.Run(tc.name, func(t *testing.T) {
			var c anthropic.Codec
			var call wire.Call
			if err := c.Encode(&call, tc.req); err != nil {
				t.Fatal(err)
			}
			first := string(call.Body)
			if n := testing.AllocsPerRun(100, func() { _ = c.Encode(&call, tc.req) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
			if string(call.Body) != first || len(call.Header) != 2 || len(call.Notes) != 0 {
				t.Errorf("a reused call has body %s, headers %v, notes %v", call.Body, call.Header, call.Notes)
			}
		})
	}
}
