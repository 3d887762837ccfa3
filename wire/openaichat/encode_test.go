package openaichat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/openaichat"
)

// encHead is how the body of every request begins whose model is m.
const encHead = `{"model":"m","stream":true,"stream_options":{"include_usage":true}`

// encHi is the end of the body of a request that says nothing else.
const encHi = `,"messages":[{"role":"user","content":"hi"}]}`

const (
	encPNG  = "\x89PNG\r\n\x1a\nrest"
	encJPEG = "\xff\xd8\xff\xe0rest"

	encPNGURL = `{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgpyZXN0"}}`
)

func txt(s string) wire.Part { return wire.TextPart(s) }

func usr(parts ...wire.Part) wire.Message { return wire.UserMessage(parts...) }

func asst(parts ...wire.Part) wire.Message {
	return wire.Message{Role: wire.RoleAssistant, Parts: parts}
}

func sys(parts ...wire.Part) wire.Message { return wire.Message{Role: wire.RoleSystem, Parts: parts} }

func thought(s, vendor string) wire.Part {
	return wire.Part{Kind: wire.PartReasoning, Text: s, Vendor: vendor}
}

func file(m wire.Media) wire.Part { return wire.Part{Kind: wire.PartMedia, Media: &m} }

func cached(p wire.Part, ttl string) wire.Part {
	p.Cache = &wire.CacheMark{TTL: ttl}
	return p
}

func of[T any](v T) *T { return &v }

// deepCopy copies v and all that it points to.
func deepCopy(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(deepCopy(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(deepCopy(v.Index(i)))
			}
		}
	case reflect.Struct:
		out.Set(v)
		for i := range v.NumField() {
			if out.Field(i).CanSet() {
				out.Field(i).Set(deepCopy(v.Field(i)))
			}
		}
	default:
		out.Set(v)
	}
	return out
}

// encodeReq encodes r, and fails unless the body is what a server can read, Check
// says the same, and r is what it was.
func encodeReq(t testing.TB, p openaichat.Profile, r *wire.Request) (*wire.Call, error) {
	t.Helper()
	before := deepCopy(reflect.ValueOf(r)).Interface().(*wire.Request)
	var call wire.Call
	err := openaichat.Codec{Profile: p}.Encode(&call, r)
	sameFloat := cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })
	if d := cmp.Diff(before, r, sameFloat); d != "" {
		t.Errorf("the request was modified (-before +after):\n%s", d)
	}
	if err == nil {
		checkSent(t, call.Body)
	}
	findings := openaichat.Codec{Profile: p}.Check(r)
	var said wire.Findings
	if err != nil && !errors.As(err, &said) {
		t.Fatalf("error %v (%T), want findings", err, err)
	}
	if d := cmp.Diff([]wire.Finding(said), findings); d != "" {
		t.Errorf("Check (-Encode +Check):\n%s", d)
	}
	for _, f := range findings {
		if f.Rule == "" {
			t.Errorf("a finding at %q says no rule", f.Path)
		}
	}
	return &call, err
}

// checkSent fails unless b is JSON in UTF-8 without half characters.
func checkSent(t testing.TB, b []byte) {
	t.Helper()
	if !json.Valid(b) {
		t.Fatalf("the body is not JSON: %s", b)
	}
	if !utf8.Valid(b) {
		t.Errorf("the body is not UTF-8: %q", b)
	}
	for i := 0; i+6 <= len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		var n, low int
		if b[i+1] == 'u' {
			fmt.Sscanf(string(b[i+2:i+6]), "%04x", &n)
		}
		i++
		if n >= 0xd800 && n < 0xe000 {
			if i+11 <= len(b) && b[i+5] == '\\' && b[i+6] == 'u' {
				fmt.Sscanf(string(b[i+7:i+11]), "%04x", &low)
			}
			if n >= 0xdc00 || low < 0xdc00 || low >= 0xe000 {
				t.Fatalf("half a character is escaped at byte %d: %s", i, b)
			}
			i += 10
		}
	}
}

// checkMembers fails if an object of b has a member twice.
func checkMembers(t testing.TB, d *json.Decoder, b []byte) {
	t.Helper()
	tok, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	if tok != json.Delim('{') && tok != json.Delim('[') {
		return
	}
	seen := map[string]bool{}
	for d.More() {
		if tok == json.Delim('{') {
			name, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			if seen[name.(string)] {
				t.Errorf("the member %q is there twice: %s", name, b)
			}
			seen[name.(string)] = true
		}
		checkMembers(t, d, b)
	}
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
}

func notePaths(notes []wire.Note) (s []string) {
	for _, n := range notes {
		s = append(s, string(n.Code)+" "+n.Path)
	}
	return s
}

func findingPaths(err error) (s []string) {
	var fs wire.Findings
	errors.As(err, &fs)
	for _, f := range fs {
		s = append(s, f.Path)
	}
	return s
}

type encCase struct {
	name     string
	profile  openaichat.Profile
	req      wire.Request
	want     string // the body behind encHead; "" if it is not looked at
	notes    []string
	findings []string
}

func runCases(t *testing.T, cases []encCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			r := tc.req
			if r.Model == "" {
				r.Model = "m"
			}
			if r.Messages == nil {
				r.Messages = []wire.Message{wire.UserText("hi")}
			}
			call, err := encodeReq(t, tc.profile, &r)
			if d := cmp.Diff(tc.findings, findingPaths(err)); d != "" {
				t.Errorf("findings (-want +got):\n%s%v", d, err)
			}
			if d := cmp.Diff(tc.notes, notePaths(call.Notes)); d != "" {
				t.Errorf("notes (-want +got):\n%s%v", d, call.Notes)
			}
			if err == nil {
				checkMembers(t, json.NewDecoder(bytes.NewReader(call.Body)), call.Body)
			}
			if err != nil || tc.want == "" {
				return
			}
			head := encHead
			if tc.profile.NoStreamOptions {
				head = `{"model":"m","stream":true`
			}
			want := strings.Replace(head, `"m"`, `"`+r.Model+`"`, 1) + tc.want
			if got := string(call.Body); got != want {
				t.Errorf("body\n got %s\nwant %s", got, want)
			}
		})
	}
}

// msgs is the tail of a body: the messages given as JSON.
func msgs(s ...string) string { return `,"messages":[` + strings.Join(s, ",") + `]}` }

const (
	jsonU = `{"role":"user","content":"u"}`
	jsonV = `{"role":"user","content":"v"}`
)

func TestEncodeHead(t *testing.T) {
	r := wire.Request{Model: "m", Messages: []wire.Message{wire.UserText("hi")}, Headers: []wire.Header{{Name: "x-title", Value: "t"}}}
	call, err := encodeReq(t, openaichat.OpenAI(), &r)
	if err != nil {
		t.Fatal(err)
	}
	want := wire.Call{Path: "/v1/chat/completions", Framing: wire.FramingSSE, Body: []byte(encHead + encHi),
		Header: []wire.Header{{Name: "content-type", Value: "application/json"}, {Name: "x-title", Value: "t"}}}
	if d := cmp.Diff(want, *call); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	r.Whole = true
	call, err = encodeReq(t, openaichat.OpenAI(), &r)
	if err != nil || string(call.Body) != `{"model":"m"`+encHi || call.Framing != wire.FramingWhole {
		t.Errorf("%s %s %v", call.Framing, call.Body, err)
	}
}

func TestEncodeSettings(t *testing.T) {
	num := func(f float64) *float64 { return &f }
	runCases(t, []encCase{
		{name: "nothing", want: encHi},
		{name: "no model", req: wire.Request{Model: " ", Messages: []wire.Message{}}, findings: []string{"messages"}},
		{name: "limit", req: wire.Request{MaxTokens: 5}, want: ""},
		{name: "negative limit", req: wire.Request{MaxTokens: -1}, findings: []string{"max_tokens"}},
		{name: "sampling", req: wire.Request{Temperature: num(0), TopP: num(0.95), Seed: of(int64(9007199254740993)), PresencePenalty: num(-0.5), FrequencyPenalty: num(1e-7)},
			want: `,"temperature":0,"top_p":0.95,"seed":9007199254740993,"presence_penalty":-0.5,"frequency_penalty":1e-7` + encHi},
		{name: "top_k", req: wire.Request{TopK: of(3)}, want: encHi, notes: []string{"dropped top_k"}},
		{name: "not a number", req: wire.Request{TopP: num(math.NaN()), Temperature: num(math.Inf(1))}, findings: []string{"temperature", "top_p"}},
		{name: "stop", req: wire.Request{StopSequences: []string{"a", "\n"}}, want: `,"stop":["a","\n"]` + encHi},
		{name: "empty stop", req: wire.Request{StopSequences: []string{"a", ""}}, findings: []string{"stop_sequences[1]"}},
		{name: "too many stops", req: wire.Request{StopSequences: []string{"a", "b", "c", "d", "e"}}, findings: []string{"stop_sequences"}},
		{name: "text", req: wire.Request{Output: &wire.OutputFormat{Kind: wire.OutputText}}, want: encHi},
		{name: "JSON", req: wire.Request{Output: &wire.OutputFormat{Kind: wire.OutputJSON}}, want: `,"response_format":{"type":"json_object"}` + encHi},
		{name: "schema", req: wire.Request{Output: &wire.OutputFormat{Kind: wire.OutputJSONSchema, Name: "n", Description: "d", Schema: ` { "type":"object","x":1.0}`, Strict: of(true)}},
			want: `,"response_format":{"type":"json_schema","json_schema":{"name":"n","description":"d","strict":true,"schema":{ "type":"object","x":1.0}}}` + encHi},
		{name: "schema without a name", req: wire.Request{Output: &wire.OutputFormat{Kind: wire.OutputJSONSchema, Schema: `{}`}},
			want: `,"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{}}}` + encHi, notes: []string{"inserted output.name"}},
		{name: "schema with a bad name", req: wire.Request{Output: &wire.OutputFormat{Kind: wire.OutputJSONSchema, Name: "a b", Schema: `{`}}, findings: []string{"output.name", "output.schema"}},
		{name: "unknown output", req: wire.Request{Output: &wire.OutputFormat{Kind: "xml"}}, findings: []string{"output.kind"}},
		{name: "identity", req: wire.Request{ServiceTier: "flex", UserID: "u-1", Cache: &wire.CachePolicy{Key: "k"}},
			want: `,"service_tier":"flex","safety_identifier":"u-1","prompt_cache_key":"k"` + encHi},
		{name: "cache", req: wire.Request{Cache: &wire.CachePolicy{Auto: true, TTL: "1h"}}, want: encHi, notes: []string{"dropped cache.auto", "dropped cache.ttl"}},
		{name: "extra", req: wire.Request{Extra: []wire.Field{{Name: "verbosity", Raw: ` "low" `}, {Name: "store", Raw: "true"}}}, want: `,"verbosity":"low","store":true` + encHi},
		{name: "extra that is written", req: wire.Request{Temperature: num(1), UserID: "u", Extra: []wire.Field{{Name: "temperature", Raw: "1"}, {Name: "top_p", Raw: "1"},
			{Name: "max_tokens", Raw: "1"}, {Name: "stream_options", Raw: "{}"}, {Name: "safety_identifier", Raw: `"x"`}, {Name: "messages", Raw: "[]"}}},
			findings: []string{"extra[0]", "extra[2]", "extra[3]", "extra[4]", "extra[5]"}},
		{name: "extra twice, bad, and for several answers", req: wire.Request{Extra: []wire.Field{{Name: "a", Raw: "1"}, {Name: "a", Raw: "{"}, {Name: "n", Raw: "2"}}},
			findings: []string{"extra[1]", "extra[1]", "extra[2]"}},
		{name: "one answer", req: wire.Request{Extra: []wire.Field{{Name: "n", Raw: "1"}}}, want: `,"n":1` + encHi},
		{name: "the order of everything", req: wire.Request{Model: "m", Temperature: num(1), StopSequences: []string{"s"}, Output: &wire.OutputFormat{Kind: wire.OutputJSON},
			Reasoning: &wire.Reasoning{Effort: "low"}, ServiceTier: "t", UserID: "u", Cache: &wire.CachePolicy{Key: "k"}, Extra: []wire.Field{{Name: "x", Raw: "1"}},
			ParallelToolCalls: of(false), Tools: []wire.Tool{{Name: "f"}}, System: []wire.Part{txt("s")}},
			want: `,"temperature":1,"stop":["s"],"response_format":{"type":"json_object"},"reasoning_effort":"low","service_tier":"t","safety_identifier":"u","prompt_cache_key":"k","x":1,` +
				`"parallel_tool_calls":false,"tool_choice":"auto","tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}],` +
				`"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]}`},
	})
	call, err := encodeReq(t, openaichat.OpenAI(), &wire.Request{Model: "m", MaxTokens: 5, Messages: []wire.Message{wire.UserText("hi")}})
	if want := `{"model":"m","max_completion_tokens":5,"stream":true,"stream_options":{"include_usage":true}` + encHi; err != nil || string(call.Body) != want {
		t.Errorf("%s %v", call.Body, err)
	}
	if _, err := encodeReq(t, openaichat.OpenAI(), &wire.Request{Messages: []wire.Message{wire.UserText("hi")}}); err == nil || findingPaths(err)[0] != "model" {
		t.Errorf("no model: %v", err)
	}
}

func TestEncodeTools(t *testing.T) {
	f := wire.Tool{Name: "f"}
	const fWant = `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}]`
	choice := func(m wire.ToolChoiceMode, name string) wire.ToolChoice {
		return wire.ToolChoice{Mode: m, Name: name}
	}
	one := func(s string) string { return `,"tool_choice":"auto","tools":[` + s + `]` + encHi }
	runCases(t, []encCase{
		{name: "choice without tools", req: wire.Request{ToolChoice: choice(wire.ToolChoiceAuto, ""), ParallelToolCalls: of(true)}, want: encHi},
		{name: "forced choice without tools", req: wire.Request{ToolChoice: choice(wire.ToolChoiceRequired, "")}, findings: []string{"tool_choice"}},
		{name: "auto", req: wire.Request{Tools: []wire.Tool{f}}, want: `,"tool_choice":"auto",` + fWant + encHi},
		{name: "none", req: wire.Request{Tools: []wire.Tool{f}, ToolChoice: choice(wire.ToolChoiceNone, "")}, want: `,"tool_choice":"none",` + fWant + encHi},
		{name: "required", req: wire.Request{Tools: []wire.Tool{f}, ToolChoice: choice(wire.ToolChoiceRequired, "")}, want: `,"tool_choice":"required",` + fWant + encHi},
		{name: "named", req: wire.Request{Tools: []wire.Tool{f}, ToolChoice: choice(wire.ToolChoiceTool, "f")},
			want: `,"tool_choice":{"type":"function","function":{"name":"f"}},` + fWant + encHi},
		{name: "unknown name", req: wire.Request{Tools: []wire.Tool{f}, ToolChoice: choice(wire.ToolChoiceTool, "")}, findings: []string{"tool_choice.name"}},
		{name: "unknown mode", req: wire.Request{Tools: []wire.Tool{f}, ToolChoice: choice("any", "")}, findings: []string{"tool_choice.mode"}},
		{name: "narrowed", req: wire.Request{Tools: []wire.Tool{f, {Vendor: `{"type":"custom","custom":{"name":"g"}}`}},
			ToolChoice: wire.ToolChoice{Mode: wire.ToolChoiceRequired, Allowed: []string{"f", "g"}}},
			want: `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}},{"type":"custom","custom":{"name":"g"}}]}},` +
				`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}},{"type":"custom","custom":{"name":"g"}}]` + encHi},
		{name: "narrowed to what is not there", req: wire.Request{Tools: []wire.Tool{f}, ToolChoice: wire.ToolChoice{Mode: wire.ToolChoiceNone, Allowed: []string{"x"}}},
			findings: []string{"tool_choice.allowed", "tool_choice.allowed"}},
		{name: "everything of a tool", req: wire.Request{Tools: []wire.Tool{{Name: "f", Description: "d <x>", Schema: `{"type":"object", "properties":{"b":{"const":1.0},"a":{}}}`,
			Strict: of(false), Vendor: `{"x":1e2}`}}},
			want: one(`{"type":"function","function":{"name":"f","description":"d <x>","parameters":{"type":"object", "properties":{"b":{"const":1.0},"a":{}}},"strict":false},"x":1e2}`)},
		{name: "schema made acceptable", req: wire.Request{Tools: []wire.Tool{{Name: "f", Schema: `{}`}}},
			want: one(`{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}`), notes: []string{"repaired tools[0].schema"}},
		{name: "schema with half a character", req: wire.Request{Tools: []wire.Tool{{Name: "f", Schema: `{"type":"object","properties":{},"d":"\ud83d"}`}}},
			want: one(`{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{},"d":"\ufffd"}}}`), notes: []string{"repaired tools[0].schema"}},
		{name: "schema that is none", req: wire.Request{Tools: []wire.Tool{{Name: "f", Schema: `[]`}}}, findings: []string{"tools[0].schema"}},
		{name: "free form", req: wire.Request{Tools: []wire.Tool{{Name: "g", Description: "d", FreeForm: true}}}, want: one(`{"type":"custom","custom":{"name":"g","description":"d"}}`)},
		{name: "free form with a format", req: wire.Request{Tools: []wire.Tool{{Name: "g", FreeForm: true, Grammar: `{"type":"grammar","grammar":{"syntax":"lark","definition":"start: /x/"}}`}}},
			want: one(`{"type":"custom","custom":{"name":"g","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: /x/"}}}}`)},
		{name: "free form with a grammar", req: wire.Request{Tools: []wire.Tool{{Name: "g", FreeForm: true, Grammar: `{"syntax":"regex", "definition":"x"}`}}},
			want: one(`{"type":"custom","custom":{"name":"g","format":{"type":"grammar","grammar":{"syntax":"regex", "definition":"x"}}}}`)},
		{name: "free form with the flat form", req: wire.Request{Tools: []wire.Tool{{Name: "g", FreeForm: true, Grammar: `{"type":"grammar","definition":"x","syntax":"regex"}`}}},
			want: one(`{"type":"custom","custom":{"name":"g","format":{"type":"grammar","grammar":{"syntax":"regex","definition":"x"}}}}`)},
		{name: "free form with a schema", req: wire.Request{Tools: []wire.Tool{{Name: "g", FreeForm: true, Schema: `{}`, Strict: of(true)}}},
			want: one(`{"type":"custom","custom":{"name":"g"}}`), notes: []string{"dropped tools[0].schema", "dropped tools[0].strict"}},
		{name: "free form with a bad grammar", req: wire.Request{Tools: []wire.Tool{{Name: "g", FreeForm: true, Grammar: `x`}}}, findings: []string{"tools[0].grammar"}},
		{name: "free form, named", req: wire.Request{Tools: []wire.Tool{{Name: "g", FreeForm: true}}, ToolChoice: choice(wire.ToolChoiceTool, "g")},
			want: `,"tool_choice":{"type":"custom","custom":{"name":"g"}},"tools":[{"type":"custom","custom":{"name":"g"}}]` + encHi},
		{name: "vendor tool", req: wire.Request{Tools: []wire.Tool{{Vendor: ` {"type":"web_search", "n":1.0}`}}}, want: one(`{"type":"web_search", "n":1.0}`)},
		{name: "no tool", req: wire.Request{Tools: []wire.Tool{{}}}, findings: []string{"tools[0]", "tools[0]"}},
		{name: "bad names", req: wire.Request{Tools: []wire.Tool{{Name: "a.b"}, {Name: strings.Repeat("x", 65)}, {Name: "f"}, {Name: "f"}}},
			findings: []string{"tools[0].name", "tools[1].name", "tools[3].name"}},
		{name: "cache mark", req: wire.Request{Tools: []wire.Tool{{Name: "f", Cache: &wire.CacheMark{}}}}, want: `,"tool_choice":"auto",` + fWant + encHi, notes: []string{"dropped tools[0].cache"}},
	})
}

func TestEncodeSystem(t *testing.T) {
	runCases(t, []encCase{
		{name: "parts are joined", req: wire.Request{System: []wire.Part{txt("a\""), txt(""), txt("b")}}, want: msgs(`{"role":"system","content":"a\"\nb"}`, `{"role":"user","content":"hi"}`)},
		{name: "nothing in it", req: wire.Request{System: []wire.Part{txt("")}}, want: encHi},
		{name: "not a text", req: wire.Request{System: []wire.Part{wire.ImagePart([]byte(encPNG))}}, findings: []string{"system[0]"}},
		{name: "a part with members", req: wire.Request{System: []wire.Part{txt("a"), {Kind: wire.PartText, Text: "b", Vendor: `{"prompt_cache_breakpoint":{"mode":"explicit"}}`}}},
			want: msgs(`{"role":"system","content":[{"type":"text","text":"a"},{"type":"text","text":"b","prompt_cache_breakpoint":{"mode":"explicit"}}]}`, `{"role":"user","content":"hi"}`)},
		{name: "system message first", req: wire.Request{Messages: []wire.Message{sys(txt("s")), wire.UserText("u")}}, want: msgs(`{"role":"system","content":"s"}`, jsonU)},
		{name: "two system messages first", req: wire.Request{System: []wire.Part{txt("a")}, Messages: []wire.Message{sys(txt("b"), txt("c")), usr(), sys(txt("d")), wire.UserText("u")}},
			want: msgs(`{"role":"system","content":"a\nb\nc\nd"}`, jsonU), notes: []string{"converted messages[0]", "converted messages[2]"}},
		{name: "system message later", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), sys(txt("s"), txt("t")), asst(txt("a")), sys(txt("s")), wire.UserText("v")}},
			want: msgs(jsonU, `{"role":"system","content":"s\nt"}`, `{"role":"assistant","content":"a"}`, `{"role":"system","content":"s"}`, jsonV)},
		{name: "developer", req: wire.Request{Model: "gpt-5-mini", System: []wire.Part{txt("a")}, Messages: []wire.Message{wire.UserText("u"), sys(txt("s"))}},
			want: msgs(`{"role":"developer","content":"a"}`, jsonU, `{"role":"developer","content":"s"}`)},
		{name: "later, where the first alone may be one", profile: openaichat.Profile{SystemFirst: true}, req: wire.Request{Messages: []wire.Message{sys(txt("s")), wire.UserText("u"), sys(txt("t"), txt("t"))}},
			want: msgs(`{"role":"system","content":"s"}`, jsonU, `{"role":"user","content":"t\nt"}`), notes: []string{"converted messages[2]"}},
		{name: "image in a system message", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), sys(wire.ImagePart([]byte(encPNG)))}}, want: msgs(jsonU),
			notes: []string{"dropped messages[1].parts[0]", "dropped messages[1]"}},
	})
}

func TestEncodeUser(t *testing.T) {
	one := func(s string) string { return msgs(`{"role":"user","content":` + s + `}`) }
	req := func(parts ...wire.Part) wire.Request { return wire.Request{Messages: []wire.Message{usr(parts...)}} }
	med := func(m wire.Media) wire.Request { return req(file(m)) }
	const at = "messages[0].parts[0]"
	runCases(t, []encCase{
		{name: "text that needs care", req: req(txt("<b>&\u2028\x01\"\\\n\xff")), want: one(`"<b>&` + "\u2028" + `\u0001\"\\\n` + "\uFFFD" + `"`)},
		{name: "two texts", req: req(txt("a"), txt("b")), want: one(`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`)},
		{name: "neighbours", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), wire.UserText("v")}}, want: msgs(jsonU, jsonV)},
		{name: "an empty text is nothing", req: req(txt(""), txt("a")), want: one(`"a"`)},
		{name: "a blank text is a text", req: req(txt(" ")), want: one(`" "`)},
		{name: "nothing at all", req: wire.Request{Messages: []wire.Message{usr(txt("")), wire.UserText("u")}}, want: msgs(jsonU), notes: []string{"dropped messages[0]"}},
		{name: "only nothing", req: req(txt("")), findings: []string{"messages"}, notes: []string{"dropped messages[0]"}},
		{name: "image", req: req(txt("a"), wire.ImagePart([]byte(encPNG))), want: one(`[{"type":"text","text":"a"},` + encPNGURL + `]`)},
		{name: "image by its address", req: med(wire.Media{URL: "https://x.test/a.png?a=1&b", Detail: "high"}), want: one(`[{"type":"image_url","image_url":{"url":"https://x.test/a.png?a=1&b","detail":"high"}}]`)},
		{name: "image that says another type", req: med(wire.Media{Type: "image/png", Data: []byte(encJPEG)}), notes: []string{"repaired " + at + ".media.type"},
			want: one(`[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,/9j/4HJlc3Q="}}]`)},
		{name: "image that says jpg", req: med(wire.Media{Type: "image/jpg", Data: []byte("x")}), want: one(`[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,eA=="}}]`)},
		{name: "image with a name", req: med(wire.Media{Data: []byte(encPNG), Name: "n"}), want: one(`[` + encPNGURL + `]`), notes: []string{"dropped " + at + ".media.name"}},
		{name: "document", req: med(wire.Media{Type: "application/pdf", Data: []byte("%PDF-1"), Name: "a.pdf", Detail: "low"}), notes: []string{"dropped " + at + ".media.detail"},
			want: one(`[{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0x"}}]`)},
		{name: "document without a name", req: med(wire.Media{Type: "application/pdf", Data: []byte("%PDF-1")}), notes: []string{"inserted " + at + ".media.name"},
			want: one(`[{"type":"file","file":{"filename":"file","file_data":"data:application/pdf;base64,JVBERi0x"}}]`)},
		{name: "document as text", req: med(wire.Media{Type: "text/markdown", Data: []byte("# a\n")}), want: one(`[{"type":"text","text":"# a\n"}]`), notes: []string{"converted " + at}},
		{name: "document by its address", req: med(wire.Media{Type: "application/pdf", URL: "https://x.test/a.pdf"}), findings: []string{at + ".media.url"}},
		{name: "file", req: med(wire.Media{Type: "image/png", FileID: "file-1"}), want: one(`[{"type":"file","file":{"file_id":"file-1"}}]`)},
		{name: "sound", req: req(file(wire.Media{Type: "audio/wav", Data: []byte("RIFF")}), file(wire.Media{Type: "audio/mpeg", Data: []byte("ID3")})),
			want: one(`[{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}},{"type":"input_audio","input_audio":{"data":"SUQz","format":"mp3"}}]`)},
		{name: "another sound", req: med(wire.Media{Type: "audio/flac", Data: []byte("x")}), findings: []string{at + ".media.type"}},
		{name: "unknown type", req: med(wire.Media{Data: []byte("x")}), findings: []string{at + ".media.type"}},
		{name: "two ways", req: med(wire.Media{URL: "u", FileID: "f"}), findings: []string{at + ".media"}},
		{name: "no way", req: req(wire.Part{Kind: wire.PartMedia}), findings: []string{at + ".media"}},
		{name: "further members", req: req(wire.Part{Kind: wire.PartText, Text: "a", Vendor: `{"prompt_cache_breakpoint":{"mode":"explicit"}}`}),
			want: one(`[{"type":"text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}}]`)},
		{name: "members of media", req: req(wire.Part{Kind: wire.PartMedia, Media: &wire.Media{URL: "u"}, Vendor: `{"x":1.0}`}), want: one(`[{"type":"image_url","image_url":{"url":"u"},"x":1.0}]`)},
		{name: "members of a message", req: wire.Request{Messages: []wire.Message{{Role: wire.RoleUser, Parts: []wire.Part{txt("a")}, Vendor: `{"name":"n"}`}}}, want: msgs(`{"role":"user","content":"a","name":"n"}`)},
		{name: "members that are none", req: wire.Request{Messages: []wire.Message{{Role: wire.RoleUser, Parts: []wire.Part{txt("a")}, Vendor: `[]`}}}, findings: []string{"messages[0].vendor"}},
		{name: "members of another protocol", req: wire.Request{Messages: []wire.Message{{Role: wire.RoleUser, Vendor: `{"name":"n"}`, Origin: &wire.Origin{Protocol: "gemini"},
			Parts: []wire.Part{{Kind: wire.PartText, Text: "a", Vendor: `{"x":1}`}}}}}, want: one(`"a"`), notes: []string{"dropped " + at + ".vendor", "dropped messages[0].vendor"}},
		{name: "opaque", req: req(wire.Part{Kind: wire.PartOpaque, Name: "video_url", Vendor: `{"type":"video_url", "video_url":{"url":"u"}}`}), want: one(`[{"type":"video_url", "video_url":{"url":"u"}}]`)},
		{name: "opaque that is no object", req: req(wire.Part{Kind: wire.PartOpaque, Vendor: `1`}), findings: []string{at + ".vendor"}},
		{name: "opaque of another protocol", req: wire.Request{Messages: []wire.Message{{Role: wire.RoleUser, Origin: &wire.Origin{Protocol: "gemini"},
			Parts: []wire.Part{txt("u"), {Kind: wire.PartOpaque, Vendor: `{}`}}}}}, want: msgs(jsonU), notes: []string{"dropped messages[0].parts[1]"}},
		{name: "what only the assistant has", req: req(txt("u"), wire.ToolCallPart("t", "f", "{}"), thought("t", ""), wire.Part{Kind: wire.PartRefusal, Text: "r"}), want: msgs(jsonU),
			notes: []string{"dropped messages[0].parts[1]", "dropped messages[0].parts[2]", "dropped messages[0].parts[3]"}},
		{name: "unknown kind and role", req: wire.Request{Messages: []wire.Message{{Role: "model", Parts: []wire.Part{txt("u"), {Kind: "sound"}}}}},
			findings: []string{"messages[0].role", "messages[0].parts[1].kind"}},
		{name: "cache mark without a place", req: req(cached(txt("a"), "")), want: one(`"a"`), notes: []string{"dropped " + at + ".cache"}},
	})
}

func TestEncodeAssistant(t *testing.T) {
	turn := func(m wire.Message) wire.Request {
		return wire.Request{Messages: []wire.Message{wire.UserText("u"), m, wire.UserText("v")}}
	}
	turned := func(s string) string { return msgs(jsonU, s, jsonV) }
	call := wire.ToolCallPart("t1", "f", `{"a":1}`)
	cut := func(parts ...wire.Part) wire.Message {
		m := asst(parts...)
		m.Ending = &wire.Ending{Cause: wire.CauseReset, Err: &wire.Error{Cause: wire.CauseReset}}
		return m
	}
	foreign := func(parts ...wire.Part) wire.Message {
		m := asst(parts...)
		m.Origin = &wire.Origin{Protocol: "anthropic-messages", Model: "m"}
		return m
	}
	called := func(m wire.Message) wire.Request {
		return wire.Request{Messages: []wire.Message{wire.UserText("u"), m, wire.ToolMessage(wire.ToolResultPart("t1", "f", txt("r")))}}
	}
	calledWant := func(s string) string {
		return msgs(jsonU, s, `{"role":"tool","tool_call_id":"t1","content":"r"}`)
	}
	runCases(t, []encCase{
		{name: "texts are joined", req: turn(asst(txt("a "), txt(""), txt("b\n"))), want: turned(`{"role":"assistant","content":"a \nb\n"}`)},
		{name: "refusal", req: turn(asst(wire.Part{Kind: wire.PartRefusal, Text: "no"}, wire.Part{Kind: wire.PartRefusal, Text: "never"})), want: turned(`{"role":"assistant","content":[{"type":"refusal","refusal":"no\nnever"}]}`)},
		{name: "text and refusal", req: turn(asst(txt("a"), wire.Part{Kind: wire.PartRefusal, Text: "no"})), want: turned(`{"role":"assistant","content":"a","refusal":"no"}`)},
		{name: "call", req: called(asst(call)), want: calledWant(`{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}`)},
		{name: "text and call", req: called(asst(txt("a"), call)), want: calledWant(`{"role":"assistant","content":"a","tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}`)},
		{name: "empty text and call", req: called(asst(txt(""), call)), want: calledWant(`{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}`)},
		{name: "arguments as they came", req: called(asst(wire.ToolCallPart("t1", "f", " {\"a\" :9007199254740993,,<\n"))),
			want: calledWant(`{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":" {\"a\" :9007199254740993,,<\n"}}]}`)},
		{name: "no arguments", req: called(asst(wire.ToolCallPart("t1", "f", ""))), want: calledWant(`{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{}"}}]}`)},
		{name: "free form", req: called(asst(wire.Part{Kind: wire.PartToolCall, ID: "t1", Name: "f", Args: "", FreeForm: true})),
			want: calledWant(`{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"custom","custom":{"name":"f","input":""}}]}`)},
		{name: "name of elsewhere", req: called(asst(wire.ToolCallPart("t1", "a.b", "{}"))), notes: []string{"renamed messages[1].parts[0].name"},
			want: calledWant(`{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"a_b_e61d99190466522c","arguments":"{}"}}]}`)},
		{name: "members of a call", req: called(asst(wire.Part{Kind: wire.PartToolCall, ID: "t1", Name: "f", Args: "{}", Vendor: `{"extra_content":{"s":"x"},"id":"null"}`})),
			want: calledWant(`{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"s":"x"}}]}`)},
		{name: "members of a foreign call", req: called(foreign(wire.Part{Kind: wire.PartToolCall, ID: "t1", Name: "f", Args: "{}", Vendor: `{"caller":1}`})),
			want:  calledWant(`{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{}"}}]}`),
			notes: []string{"dropped messages[1].parts[0].vendor"}},
		{name: "call of an unknown type", req: called(asst(wire.Part{Kind: wire.PartOpaque, ID: "t1", Name: "browser", Vendor: `{"id":"t1","type":"browser", "n":1e2}`})),
			want: calledWant(`{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"browser", "n":1e2}]}`)},
		{name: "opaque parts that are no calls, or foreign", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(txt("a"), wire.Part{Kind: wire.PartOpaque, Vendor: `{}`}),
			foreign(txt("a"), wire.Part{Kind: wire.PartOpaque, ID: "x", Vendor: `{"id":"x"}`})}}, want: msgs(jsonU, `{"role":"assistant","content":"a"}`, `{"role":"assistant","content":"a"}`),
			notes: []string{"dropped messages[1].parts[1]", "dropped messages[2].parts[1]"}},
		{name: "neither text nor calls", req: turn(asst(thought("t", ""))), want: msgs(jsonU, jsonV), notes: []string{"dropped messages[1].parts[0]", "dropped messages[1]"}},
		{name: "no parts", req: turn(asst()), want: msgs(jsonU, jsonV), notes: []string{"dropped messages[1]"}},
		{name: "unfinished", req: turn(cut(thought("t", ""), txt("half"), wire.Part{Kind: wire.PartRefusal, Text: "no"}, call, wire.Part{Kind: wire.PartOpaque, ID: "x", Vendor: "{}"})),
			want:  turned(`{"role":"assistant","content":"half"}`),
			notes: []string{"dropped messages[1].parts[0]", "dropped messages[1].parts[2]", "dropped messages[1].parts[3]", "dropped messages[1].parts[4]"}},
		{name: "unfinished without text", req: turn(cut(call)), want: msgs(jsonU, jsonV), notes: []string{"dropped messages[1].parts[0]", "dropped messages[1]"}},
		{name: "a call that was cut off", req: turn(asst(txt("a"), wire.Part{Kind: wire.PartToolCall, ID: "t1", Name: "f", Args: `{"`, Partial: true})), want: turned(`{"role":"assistant","content":"a"}`),
			notes: []string{"dropped messages[1].parts[1]"}},
		{name: "what it cannot hold", req: turn(asst(txt("a"), wire.ImagePart([]byte(encPNG)), wire.ToolResultPart("t1", "f"))), want: turned(`{"role":"assistant","content":"a"}`),
			notes: []string{"dropped messages[1].parts[1]", "dropped messages[1].parts[2]"}},
		{name: "facts of a text, marks", req: called(asst(wire.Part{Kind: wire.PartText, Text: "a", Vendor: `{"citations":[]}`}, cached(call, ""))),
			want:  calledWant(`{"role":"assistant","content":"a","tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}`),
			notes: []string{"dropped messages[1].parts[0].vendor", "dropped messages[1].parts[1].cache"}},
		{name: "facts of the message stay", req: turn(wire.Message{Role: wire.RoleAssistant, Parts: []wire.Part{txt("a")}, Vendor: `{"annotations":[],"content":""}`}), want: turned(`{"role":"assistant","content":"a"}`)},
	})
}

func TestEncodeResults(t *testing.T) {
	c1, c2 := wire.ToolCallPart("t1", "f", "{}"), wire.ToolCallPart("t2", "g", "{}")
	const w1, w2 = `{"id":"t1","type":"function","function":{"name":"f","arguments":"{}"}}`, `{"id":"t2","type":"function","function":{"name":"g","arguments":"{}"}}`
	const calls1, calls2 = `{"role":"assistant","content":null,"tool_calls":[` + w1 + `]}`, `{"role":"assistant","content":null,"tool_calls":[` + w1 + `,` + w2 + `]}`
	res := func(id, s string) string { return `{"role":"tool","tool_call_id":"` + id + `","content":"` + s + `"}` }
	result := func(parts ...wire.Part) wire.Request {
		return wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(c1), wire.ToolMessage(wire.ToolResultPart("t1", "f", parts...))}}
	}
	failed := func(parts ...wire.Part) wire.Request {
		p := wire.ToolResultPart("t1", "f", parts...)
		p.IsError = true
		return wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(c1), wire.ToolMessage(p)}}
	}
	resulted := func(s string) string { return msgs(jsonU, calls1, res("t1", s)) }
	png := wire.ImagePart([]byte(encPNG))
	shot := func(id, name string) string {
		return `{"type":"text","text":"Attached by tool call ` + id + ` (` + name + `):"},` + encPNGURL
	}
	after := func(s ...string) string {
		return `{"role":"user","content":[` + strings.Join(s, ",") + `]}`
	}
	r1, r2 := wire.ToolResultPart("t1", "f", txt("1")), wire.ToolResultPart("t2", "g", txt("2"))
	p1 := wire.ToolResultPart("t1", "f", png)
	p2 := wire.ToolResultPart("t2", "g", txt("two"), png, txt("more"))
	conv := func(ms ...wire.Message) wire.Request {
		return wire.Request{Messages: append([]wire.Message{wire.UserText("u"), asst(c1, c2)}, ms...)}
	}
	const at = "messages[2].parts[0]"
	runCases(t, []encCase{
		{name: "texts are joined", req: result(txt("a"), txt(""), txt("b")), want: resulted(`a\nb`)},
		{name: "no output", req: result(), want: resulted(`(no tool output)`), notes: []string{"inserted " + at}},
		{name: "empty output", req: result(txt("")), want: resulted(`(no tool output)`), notes: []string{"inserted " + at}},
		{name: "failed", req: failed(txt("boom"), txt("bang")), want: resulted(`Error: boom\nbang`), notes: []string{"converted " + at + ".is_error"}},
		{name: "failed, and says so", req: failed(txt(" ERROR 5: boom")), want: resulted(` ERROR 5: boom`)},
		{name: "failed without a word", req: failed(), want: resulted(`Error: (no tool output)`), notes: []string{"converted " + at + ".is_error", "inserted " + at}},
		{name: "failed with an image", req: failed(png), want: msgs(jsonU, calls1, res("t1", "Error: (see attached image)"), after(shot("t1", "f"))),
			notes: []string{"converted " + at + ".is_error", "converted " + at + ".parts[0]"}},
		{name: "an image without its call, beside one that has its call", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(c1), wire.ToolMessage(p1, wire.ToolResultPart("t9", "f", png))}}, findings: []string{"messages[2].parts[1]"}, notes: []string{"converted " + at + ".parts[0]"}},
		{name: "an assistant's answer behind the results", profile: openaichat.Profile{AssistantAfterTools: true}, req: wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(c1), wire.ToolMessage(r1), asst(txt("v"))}},
			want: msgs(jsonU, calls1, res("t1", "1"), `{"role":"assistant","content":"v"}`)},
		{name: "only an image", req: result(png), want: msgs(jsonU, calls1, res("t1", "(see attached image)"), after(shot("t1", "f"))), notes: []string{"converted " + at + ".parts[0]"}},
		{name: "only a document", req: result(file(wire.Media{Type: "application/pdf", Data: []byte("x"), Name: "n"})),
			want: msgs(jsonU, calls1, res("t1", "(see attached file)"), after(`{"type":"text","text":"Attached by tool call t1 (f):"}`,
				`{"type":"file","file":{"filename":"n","file_data":"data:application/pdf;base64,eA=="}}`)), notes: []string{"converted " + at + ".parts[0]"}},
		{name: "what a result cannot hold", req: result(txt("a"), wire.ToolCallPart("x", "y", "")), findings: []string{at + ".parts[1]"}},
		{name: "an opaque part of a result", req: result(txt("a"), wire.Part{Kind: wire.PartOpaque, Vendor: "{}"}), want: resulted(`a`), notes: []string{"dropped " + at + ".parts[1]"}},
		{name: "members of a part", req: result(txt("a"), wire.Part{Kind: wire.PartText, Text: "b", Vendor: `{"x":1}`}),
			want: msgs(jsonU, calls1, `{"role":"tool","tool_call_id":"t1","content":[{"type":"text","text":"a"},{"type":"text","text":"b","x":1}]}`)},
		{name: "members and marks of a result", req: conv(wire.ToolMessage(cached(wire.Part{Kind: wire.PartToolResult, ID: "t1", Parts: r1.Parts, Vendor: `{"x":1}`}, ""), r2)),
			want: msgs(jsonU, calls2, res("t1", "1"), res("t2", "2")), notes: []string{"dropped " + at + ".vendor", "dropped " + at + ".cache"}},
		{name: "two results", req: conv(wire.ToolMessage(r1, r2)), want: msgs(jsonU, calls2, res("t1", "1"), res("t2", "2"))},
		{name: "two results in two messages", req: conv(wire.ToolMessage(r1), wire.ToolMessage(r2)), want: msgs(jsonU, calls2, res("t1", "1"), res("t2", "2"))},
		{name: "the model's order does not matter", req: conv(wire.ToolMessage(r2, r1)), want: msgs(jsonU, calls2, res("t2", "2"), res("t1", "1"))},
		{name: "images wait for the last result", req: conv(wire.ToolMessage(p1), wire.ToolMessage(p2), wire.UserText("v")),
			want:  msgs(jsonU, calls2, res("t1", "(see attached image)"), res("t2", `two\nmore`), after(shot("t1", "f"), shot("t2", "g")), jsonV),
			notes: []string{"converted messages[2].parts[0].parts[0]", "converted messages[3].parts[0].parts[1]"}},
		{name: "images before the next answer", req: conv(wire.ToolMessage(p1, r2), asst(txt("a")), wire.UserText("v")),
			want:  msgs(jsonU, calls2, res("t1", "(see attached image)"), res("t2", "2"), after(shot("t1", "f")), `{"role":"assistant","content":"a"}`, jsonV),
			notes: []string{"converted messages[2].parts[0].parts[0]"}},
		{name: "text between the results", req: conv(usr(txt("v"), r1), sys(txt("s")), usr(r2)),
			want:  msgs(jsonU, calls2, res("t1", "1"), res("t2", "2"), jsonV, `{"role":"system","content":"s"}`),
			notes: []string{"converted messages[2]", "converted messages[3]"}},
		{name: "text behind the results", req: conv(wire.ToolMessage(r1), usr(r2, txt("v")), sys(txt("s"))),
			want: msgs(jsonU, calls2, res("t1", "1"), res("t2", "2"), jsonV, `{"role":"system","content":"s"}`)},
		{name: "several things before a result, and nothing", req: conv(usr(txt("v"), txt("w"), r1, txt("x"), r2), usr(txt(""))),
			want:  msgs(jsonU, calls2, res("t1", "1"), res("t2", "2"), `{"role":"user","content":[{"type":"text","text":"v"},{"type":"text","text":"w"},{"type":"text","text":"x"}]}`),
			notes: []string{"converted messages[2]", "dropped messages[3]"}},
		{name: "nothing between call and results", req: conv(usr(), asst(), wire.ToolMessage(r1), asst(), wire.ToolMessage(r2)),
			want: msgs(jsonU, calls2, res("t1", "1"), res("t2", "2")), notes: []string{"dropped messages[3]", "dropped messages[5]"}},
		{name: "calls in two messages", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(c1), asst(txt("and")), asst(c2), wire.ToolMessage(r2, p1)}},
			want: msgs(jsonU, calls1, res("t1", "(see attached image)"), `{"role":"assistant","content":"and"}`,
				`{"role":"assistant","content":null,"tool_calls":[`+w2+`]}`, res("t2", "2"), after(shot("t1", "f"))),
			notes: []string{"converted messages[4].parts[1].parts[0]"}},
		{name: "call without a result", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(c1, c2), wire.ToolMessage(r1), wire.UserText("go on")}}, findings: []string{"messages[1].parts[1]"}},
		{name: "call at the end", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(c1)}}, findings: []string{"messages[1].parts[0]"}},
		{name: "call of an unknown type without a result", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(wire.Part{Kind: wire.PartOpaque, ID: "t1", Vendor: `{"id":"t1"}`})}},
			findings: []string{"messages[1].parts[0]"}},
		{name: "result without a call", req: wire.Request{Messages: []wire.Message{wire.ToolMessage(r1), wire.UserText("u")}}, findings: []string{"messages[0].parts[0]"}},
		{name: "result of an earlier call", req: conv(wire.ToolMessage(r1, r2), asst(txt("a")), wire.ToolMessage(r1)), findings: []string{"messages[4].parts[0]"}},
		{name: "result twice", req: conv(wire.ToolMessage(r1, r2, r1)), findings: []string{"messages[2].parts[2]"}},
		{name: "call twice", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(c1, c1), wire.ToolMessage(r1)}}, findings: []string{"messages[1].parts[1].id"}},
		{name: "result of a system message", req: wire.Request{Messages: []wire.Message{wire.UserText("u"), sys(r1)}}, want: msgs(jsonU), notes: []string{"dropped messages[1].parts[0]", "dropped messages[1]"}},
	})
}

// TestExtraOfWritten: a member that the codec writes cannot be given as an extra
// one, in any profile.
func TestExtraOfWritten(t *testing.T) {
	all := profiles()
	for i, style := range []openaichat.ThinkingStyle{openaichat.ThinkingZAI, openaichat.ThinkingBudget, openaichat.ThinkingQwen, openaichat.ThinkingNone} {
		all[fmt.Sprint("style ", i)] = openaichat.Profile{Thinking: style, TopK: true}
	}
	for name, p := range all {
		r := wire.Request{Model: "m", MaxTokens: 1, Temperature: of(1.0), TopP: of(1.0), TopK: of(1), Seed: of(int64(1)), PresencePenalty: of(1.0), FrequencyPenalty: of(1.0),
			StopSequences: []string{"s"}, Output: &wire.OutputFormat{Kind: wire.OutputJSON}, Reasoning: &wire.Reasoning{Effort: "high", Budget: 2000},
			ServiceTier: "t", UserID: "u", Cache: &wire.CachePolicy{Key: "k"}, ParallelToolCalls: of(true), Tools: []wire.Tool{{Name: "f"}}, Messages: []wire.Message{wire.UserText("u")}}
		if p.Thinking == openaichat.ThinkingOpenRouter {
			r.Reasoning.Budget = 0
		}
		call, err := encodeReq(t, p, &r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		gjson.ParseBytes(call.Body).ForEach(func(key, _ gjson.Result) bool {
			again := r
			again.Extra = []wire.Field{{Name: key.Str, Raw: "1"}}
			if _, err := encodeReq(t, p, &again); len(findingPaths(err)) != 1 || findingPaths(err)[0] != "extra[0]" {
				t.Errorf("%s: %s can be written twice (%v)", name, key.Str, err)
			}
			return true
		})
	}
}
