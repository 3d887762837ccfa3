package openaichat_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/openaichat"
	"github.com/handwire/handwire/wire/stream"
)

// recordings returns the folder of recorded traffic, or skips.
func recordings(t *testing.T) string {
	dir := os.Getenv("HANDWIRE_CORPUS")
	if dir == "" {
		t.Skip("HANDWIRE_CORPUS does not name the folder of recorded traffic; these cases were not run")
	}
	return dir
}

// summary is what a recording is expected to hold.
type summary struct {
	Body      string `json:"body"`
	Text      string `json:"text"`
	Thinking  string `json:"thinking"`
	ToolCalls []struct {
		ID, Name     string
		Arguments    any     `json:"arguments"`
		ArgumentsRaw *string `json:"arguments_raw"`
		Invalid      bool    `json:"arguments_invalid_json"`
	} `json:"tool_calls"`
	StopReason  *string        `json:"stop_reason"`
	Usage       map[string]any `json:"usage"`
	ID          string         `json:"id"`
	Model       string         `json:"model"`
	Error       map[string]any `json:"error"`
	Refusal     string         `json:"refusal"`
	Annotations int            `json:"annotations"`
}

func load(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// openCodec speaks to a server of which nothing is known.
var openCodec = openaichat.Codec{}

// decodeBody decodes a body and checks the grammar of what comes out.
func decodeBody(t testing.TB, c openaichat.Codec, body io.Reader, f wire.Framing) (wire.Response, []wire.Event, error) {
	t.Helper()
	var evs []wire.Event
	var b wire.Builder
	var failed error
	for ev, err := range stream.Read(body, c.NewDecoder(wire.Head{Status: 200, Framing: f}), f, nil) {
		evs = append(evs, ev)
		b.Add(&ev)
		failed = err
	}
	if err := wire.CheckEvents(evs); err != nil {
		t.Fatalf("the events break the grammar: %v\n%s", err, strings.Join(inWords(evs), "\n"))
	}
	return b.Response(), evs, failed
}

func callsOf(m *wire.Message) []wire.Part {
	var calls []wire.Part
	for _, p := range m.Parts {
		if p.Kind == wire.PartToolCall {
			calls = append(calls, p)
		}
	}
	return calls
}

func framing(file string) wire.Framing {
	switch {
	case strings.HasSuffix(file, ".sse"):
		return wire.FramingSSE
	case strings.HasSuffix(file, ".jsonl"):
		return wire.FramingLines
	}
	return wire.FramingWhole
}

// severalIDs are recordings whose chunks have different ids. The summaries hold
// the last one, the decoder takes the first, which is known when the message
// begins.
var severalIDs = map[string]bool{
	"oc-pydanticai-test-groq-test-groq-model-web-search-tool-stream":                true,
	"oc-fantasy-testopenaicompatiblecommon-avian-kimi-tool-streaming-i1":            true,
	"oc-genai-groq-groq-compound-thinking-genstream-json":                           true,
	"oc-genai-groq-openai-gpt-oss-safeguard-20b-thinking-genstream-tools-websearch": true,
}

// onlyDone is a recording of a stream that has the terminal mark and nothing
// else. The summary is that of an empty answer; it is a failure.
const onlyDone = "oc-genai-huggingface-meta-llama-llama-3.1-8b-instruct-genstream-json"

func TestDecodeCorpus(t *testing.T) {
	dir := recordings(t)
	metas, err := filepath.Glob(filepath.Join(dir, "corpus/openai-chat/*.meta.json"))
	if err != nil || len(metas) == 0 {
		t.Fatalf("no recordings below %s: %v", dir, err)
	}
	for _, meta := range metas {
		name := strings.TrimSuffix(filepath.Base(meta), ".meta.json")
		t.Run(name, func(t *testing.T) {
			var want summary
			load(t, filepath.Join(dir, "corpus/expected", name+".expect.json"), &want)
			body, err := os.ReadFile(filepath.Join(filepath.Dir(meta), want.Body))
			if err != nil {
				t.Fatal(err)
			}
			f := framing(want.Body)
			if name == onlyDone {
				if got, _, _ := decodeBody(t, openCodec, bytes.NewReader(body), f); got.Message.Ending.Cause != wire.CauseProtocol {
					t.Errorf("ending %+v", got.Message.Ending)
				}
				return
			}
			if severalIDs[name] {
				_, first, _ := bytes.Cut(body, []byte("data:"))
				first, _, _ = bytes.Cut(first, []byte("\n"))
				want.ID = gjson.GetBytes(first, "id").Str
			}
			checkRecorded(t, openCodec, want, body, f)
			if own, ok := recordedBy(t, meta); ok {
				t.Run("own profile", func(t *testing.T) { checkRecorded(t, own, want, body, f) })
			}
		})
	}
}

// recordedBy returns the codec with the profile of the server that a recording is
// of, if it has one.
func recordedBy(t *testing.T, meta string) (openaichat.Codec, bool) {
	t.Helper()
	var m struct{ Vendor string }
	load(t, meta, &m)
	name := map[string]string{"alibaba": "qwen", "azure": "azureopenai", "google": "gemini"}[m.Vendor]
	if name == "" {
		name = m.Vendor
	}
	for _, v := range vendorProfiles() {
		if v.name == name {
			return openaichat.Codec{Profile: v.profile}, true
		}
	}
	return openaichat.Codec{}, false
}

func checkRecorded(t *testing.T, codec openaichat.Codec, want summary, body []byte, f wire.Framing) {
	got, evs, err := decodeBody(t, codec, bytes.NewReader(body), f)
	m := &got.Message
	if testing.Verbose() {
		for _, ev := range evs {
			if ev.Kind == wire.EventNote || ev.Kind == wire.EventOther {
				t.Log(inWords([]wire.Event{ev})[0])
			}
		}
	}
	if want.Error != nil {
		if m.Ending.Cause != wire.CauseVendor || !strings.HasPrefix(m.Ending.Err.Message, want.Error["message"].(string)) {
			t.Errorf("ending %+v (%v), want the vendor's error %v", m.Ending, err, want.Error)
		}
	} else if err != nil || m.Ending.Cause != wire.CauseFinished {
		t.Errorf("ending %+v, error %v; want finished", m.Ending, err)
	}
	if m.Text() != want.Text {
		t.Errorf("text: %s", cmp.Diff(want.Text, m.Text()))
	}
	if m.Reasoning() != want.Thinking {
		t.Errorf("reasoning: %s", cmp.Diff(want.Thinking, m.Reasoning()))
	}
	refusal := ""
	for _, p := range m.Parts {
		if p.Kind == wire.PartRefusal {
			refusal += p.Text
		}
	}
	if refusal != want.Refusal {
		t.Errorf("refusal %q, want %q", refusal, want.Refusal)
	}
	calls := callsOf(m)
	if len(calls) != len(want.ToolCalls) {
		t.Fatalf("%d calls, want %d", len(calls), len(want.ToolCalls))
	}
	for i, w := range want.ToolCalls {
		c := calls[i]
		if c.ID != w.ID && w.ID != "" && w.ID != "null" || c.ID == "" || c.Name != w.Name {
			t.Errorf("call %d is %s %s, want %s %s", i, c.ID, c.Name, w.ID, w.Name)
		}
		if w.ArgumentsRaw != nil && *w.ArgumentsRaw != "" && c.Args != *w.ArgumentsRaw {
			t.Errorf("call %d: arguments %s, want %s", i, c.Args, *w.ArgumentsRaw)
		}
		var args any
		d := json.NewDecoder(strings.NewReader(c.Args))
		d.UseNumber()
		if err := d.Decode(&args); (err != nil) != w.Invalid || err == nil && !reflect.DeepEqual(args, w.Arguments) {
			t.Errorf("call %d: arguments %s (%v), want %v", i, c.Args, err, w.Arguments)
		}
	}
	if want.StopReason != nil && m.Ending.VendorFinish != *want.StopReason {
		t.Errorf("stop reason %q, want %q", m.Ending.VendorFinish, *want.StopReason)
	}
	if m.Origin != nil && (m.Origin.ResponseID != want.ID || m.Origin.Model != want.Model) || m.Origin == nil && want.Error == nil {
		t.Errorf("response %+v, want %s of %s", m.Origin, want.ID, want.Model)
	}
	if n := len(gjson.Get(m.Vendor, "annotations").Array()); n != want.Annotations {
		t.Errorf("%d annotations, want %d", n, want.Annotations)
	}
	if m.Vendor != "" && !json.Valid([]byte(m.Vendor)) {
		t.Errorf("the message's vendor data is no JSON: %s", m.Vendor)
	}
	checkCounts(t, got.Usage, want.Usage)
}

// checkCounts compares with the vendor's own object.
func checkCounts(t *testing.T, got wire.Usage, want map[string]any) {
	t.Helper()
	raw, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	count := func(paths ...string) wire.Count {
		for _, p := range paths {
			if v := gjson.GetBytes(raw, p); v.Type == gjson.Number {
				return wire.CountOf(v.Int())
			}
		}
		return wire.Count{}
	}
	prompt, out, total := count("prompt_tokens"), count("completion_tokens"), count("total_tokens")
	reasoning := count("completion_tokens_details.reasoning_tokens", "reasoning_tokens")
	if total.Known() && reasoning.Value() > 0 && total == prompt.Add(out).Add(reasoning) {
		out = out.Add(reasoning)
	}
	for _, c := range []struct {
		name      string
		got, want wire.Count
	}{
		{"input", got.InputTokens, prompt},
		{"output", got.OutputTokens, out},
		{"reasoning", got.ReasoningTokens, reasoning},
		{"cache read", got.CacheReadTokens, count("prompt_tokens_details.cached_tokens", "cached_tokens", "prompt_cache_hit_tokens")},
		{"cache creation", got.CacheCreationTokens, count("prompt_tokens_details.cache_write_tokens", "cache_creation_input_tokens")},
	} {
		if c.got != c.want {
			t.Errorf("%s tokens are %v, want %v (%s)", c.name, c.got, c.want, raw)
		}
	}
	var vendor map[string]any
	d := json.NewDecoder(strings.NewReader(got.Vendor))
	d.UseNumber()
	derr := d.Decode(&vendor)
	known := maps.Clone(want)
	maps.DeleteFunc(known, func(_ string, v any) bool { return v == nil })
	if len(known) > 0 && (derr != nil || !reflect.DeepEqual(numbers(vendor), numbers(known))) {
		t.Errorf("the vendor's usage (%v): %s", derr, cmp.Diff(known, vendor))
	}
}

// numbers makes all spellings of one number the same.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
	}
	return v
}

func TestDecodeErrorCorpus(t *testing.T) {
	dir := recordings(t)
	metas, err := filepath.Glob(filepath.Join(dir, "corpus/errors/err-oc-*.meta.json"))
	if err != nil || len(metas) == 0 {
		t.Fatalf("no recordings below %s: %v", dir, err)
	}
	for _, meta := range metas {
		name := strings.TrimSuffix(filepath.Base(meta), ".meta.json")
		t.Run(name, func(t *testing.T) {
			var head struct{ Status int }
			load(t, meta, &head)
			files, err := filepath.Glob(strings.TrimSuffix(meta, ".meta.json") + ".response.*")
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			body, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			checkFailure(t, openCodec, head.Status, body)
			if own, ok := recordedBy(t, meta); ok {
				checkFailure(t, own, head.Status, body)
			}
		})
	}
}

// checkFailure compares an error with what a look at its body tells.
func checkFailure(t *testing.T, codec openaichat.Codec, status int, body []byte) {
	t.Helper()
	e := codec.DecodeError(wire.Head{Status: status}, body)
	t.Log(e)
	want := map[int][]wire.Class{
		400: {wire.ClassBadRequest, wire.ClassOverflow, wire.ClassServer, wire.ClassNotFound}, 401: {wire.ClassAuth}, 402: {wire.ClassQuota}, 403: {wire.ClassPermission},
		404: {wire.ClassNotFound}, 422: {wire.ClassBadRequest}, 429: {wire.ClassRateLimit}, 500: {wire.ClassServer}, 502: {wire.ClassServer}, 503: {wire.ClassOverloaded},
	}[status]
	if e.Cause != wire.CauseVendor || e.Status != status || !slices.Contains(want, e.Class) {
		t.Errorf("%+v, want one of the classes %v", e, want)
	}
	message := ""
	for _, p := range []string{"error.metadata.raw", "error.message", "message", "error", "detail.0.msg"} {
		if v := gjson.GetBytes(body, p); message == "" && v.Type == gjson.String {
			message = v.Str
			for _, deeper := range []string{"detail"} {
				if in := gjson.Get(message, deeper); in.Type == gjson.String {
					message = in.Str
				}
			}
		}
	}
	if !strings.Contains(e.Message, message) {
		t.Errorf("message %q, want %q in it", e.Message, message)
	}
	if message == "" && e.Body == "" {
		t.Errorf("%+v, want the beginning of the body", e)
	}
}

func TestDecodeLocal(t *testing.T) {
	dir := recordings(t)
	metas, err := filepath.Glob(filepath.Join(dir, "corpus-local/*.meta.json"))
	if err != nil || len(metas) == 0 {
		t.Fatalf("no recordings below %s: %v", dir, err)
	}
	ran := 0
	for _, meta := range metas {
		var head struct {
			Path     string
			Status   int
			BodyFile string `json:"body_file"`
		}
		load(t, meta, &head)
		if !strings.HasSuffix(head.Path, "/chat/completions") {
			continue
		}
		ran++
		t.Run(strings.TrimSuffix(filepath.Base(meta), ".meta.json"), func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join(filepath.Dir(meta), head.BodyFile))
			if err != nil {
				t.Fatal(err)
			}
			if head.Status >= 400 {
				checkFailure(t, openCodec, head.Status, body)
				return
			}
			checkLocal(t, openCodec, body, framing(head.BodyFile))
			if strings.HasPrefix(filepath.Base(meta), "ollama-") { // a real server
				checkLocal(t, openaichat.Codec{Profile: openaichat.Ollama()}, body, framing(head.BodyFile))
			}
		})
	}
	if ran == 0 {
		t.Error("none of the recordings is of this protocol")
	}
}

// checkLocal compares with what a plain look at each chunk finds.
func checkLocal(t *testing.T, codec openaichat.Codec, body []byte, f wire.Framing) {
	got, evs, err := decodeBody(t, codec, bytes.NewReader(body), f)
	m := &got.Message
	if err != nil || m.Ending.Cause != wire.CauseFinished {
		t.Fatalf("ending %+v, error %v\n%s", m.Ending, err, strings.Join(inWords(evs), "\n"))
	}
	var text, thinking, finish string
	var ids, names []string
	args := map[int64]string{}
	usage := gjson.Result{}
	for line := range strings.SplitSeq(string(body), "\n") {
		data := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "data:"))
		if f == wire.FramingWhole {
			data = string(body)
		}
		if !gjson.Valid(data) {
			continue
		}
		delta := gjson.Get(data, "choices.0.delta")
		if f == wire.FramingWhole {
			delta = gjson.Get(data, "choices.0.message")
		}
		text += delta.Get("content").Str
		if s := delta.Get("reasoning_content").Str; s != "" {
			thinking += s
		} else {
			thinking += delta.Get("reasoning").Str
		}
		for _, c := range delta.Get("tool_calls").Array() {
			i := c.Get("index").Int()
			if s := c.Get("id").Str; s != "" {
				ids = append(ids, s)
			}
			if s := c.Get("function.name").Str; s != "" {
				names = append(names, s)
			}
			args[i] += c.Get("function.arguments").Str
		}
		if s := gjson.Get(data, "choices.0.finish_reason").Str; s != "" {
			finish = s
		}
		if u := gjson.Get(data, "usage"); u.IsObject() {
			usage = u
		}
		if f == wire.FramingWhole {
			break
		}
	}
	calls := callsOf(m)
	if m.Text() != text || m.Reasoning() != thinking || m.Ending.VendorFinish != finish || len(calls) != len(names) {
		t.Errorf("%q, %q, %s, %d calls; want %q, %q, %s, %d", m.Text(), m.Reasoning(), m.Ending.VendorFinish, len(calls), text, thinking, finish, len(names))
	}
	for i, c := range calls {
		if c.ID != ids[i] || c.Name != names[i] || c.Args != args[int64(i)] {
			t.Errorf("call %d is %+v, want %s %s %s", i, c, ids[i], names[i], args[int64(i)])
		}
	}
	if len(m.ExecutableCalls()) != len(calls) {
		t.Errorf("%d of %d calls can be run", len(m.ExecutableCalls()), len(calls))
	}
	if n := usage.Get("prompt_tokens").Int(); usage.Exists() && n > 0 && (got.Usage.InputTokens.Value() != n || got.Usage.OutputTokens.Value() != usage.Get("completion_tokens").Int()) {
		t.Errorf("usage %+v, want %s", got.Usage, usage.Raw)
	}
}
