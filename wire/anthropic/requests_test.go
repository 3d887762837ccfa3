package anthropic_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"mime"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
)

// recordedRequest is a request body as some client sent it.
type recordedRequest struct {
	name, model string
	header      map[string]string
	body        []byte
}

// recordedRequests returns every recorded request of the protocol.
func recordedRequests(t *testing.T) (all []recordedRequest) {
	dir := corpus(t)
	for _, pattern := range []string{"corpus/anthropic-messages/*.meta.json", "corpus/errors/err-am-*.meta.json", "corpus-local/*.meta.json"} {
		metas, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(metas) == 0 {
			t.Fatalf("no recordings at %s: %v", filepath.Join(dir, pattern), err)
		}
		n := 0
		for _, file := range metas {
			var meta struct {
				Model, Path string
				Header      map[string]string `json:"request_headers"`
			}
			readJSON(t, file, &meta)
			if path, _, _ := strings.Cut(meta.Path, "?"); path != "" && path != "/v1/messages" {
				continue
			}
			stem := strings.TrimSuffix(file, ".meta.json")
			body, err := os.ReadFile(stem + ".request.json")
			if os.IsNotExist(err) {
				continue // of some recordings there is the answer alone
			} else if err != nil {
				t.Fatal(err)
			}
			n++
			all = append(all, recordedRequest{filepath.Base(stem), meta.Model, meta.Header, body})
		}
		if n == 0 {
			t.Errorf("no requests at %s", pattern)
		}
	}
	return all
}

// jsonValue reads a JSON value. Numbers are kept exactly and compare by value.
func jsonValue(t testing.TB, raw []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		t.Fatalf("no JSON value: %.200s (%v)", raw, err)
	}
	return exactNumbers(v)
}

// exactNumber is a number in the one spelling that its value has.
type exactNumber string

func exactNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = exactNumbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = exactNumbers(v[i])
		}
	case json.Number:
		if r, ok := new(big.Rat).SetString(v.String()); ok && len(v) < 64 {
			return exactNumber(r.RatString())
		}
	}
	return v
}

// spelling is a way in which the codec writes a request differently from other
// clients, with the same meaning to the server.
type spelling struct {
	name  string
	why   string
	apply func(body map[string]any, rec *recordedRequest) bool // rewrites a recorded body, and reports whether it had to
}

var spellings = []spelling{
	{"text as a string", "content is always an array of blocks, so that what is appended later changes nothing before it",
		func(body map[string]any, _ *recordedRequest) (did bool) {
			blocks := func(in map[string]any, name string) {
				if s, ok := in[name].(string); ok {
					in[name], did = []any{map[string]any{"type": "text", "text": s}}, true
				}
			}
			blocks(body, "system")
			eachBlock(body, func(b map[string]any) {
				if b["type"] == "tool_result" {
					blocks(b, "content")
				}
			})
			for _, m := range list(body["messages"]) {
				blocks(m, "content")
			}
			return did
		}},
	{"no tool choice", "auto is sent when there are tools, so that the default is not left to hosts that differ",
		func(body map[string]any, _ *recordedRequest) bool {
			if body["tool_choice"] != nil || len(list(body["tools"])) == 0 {
				return false
			}
			body["tool_choice"] = map[string]any{"type": "auto"}
			return true
		}},
	{"parallel calls allowed", "disable_parallel_tool_use is sent only where it forbids something; false is the default",
		func(body map[string]any, _ *recordedRequest) bool {
			c, _ := body["tool_choice"].(map[string]any)
			return drop(c, "disable_parallel_tool_use", false)
		}},
	{"no stream", "stream is sent only where one is wanted; false is the default",
		func(body map[string]any, _ *recordedRequest) bool { return drop(body, "stream", false) }},
	{"no error", "is_error is sent only where the tool failed; false is the default",
		func(body map[string]any, _ *recordedRequest) (did bool) {
			eachBlock(body, func(b map[string]any) { did = b["type"] == "tool_result" && drop(b, "is_error", false) || did })
			return did
		}},
	{"model in the address", "Vertex names the model in the address and takes none in the body; making the address is not the codec's",
		func(body map[string]any, rec *recordedRequest) bool {
			if body["model"] != nil || body["anthropic_version"] == nil {
				return false
			}
			body["model"] = rec.model
			return true
		}},
}

func drop(m map[string]any, name string, v any) bool {
	old, ok := m[name]
	if !ok || old != v {
		return false
	}
	delete(m, name)
	return true
}

func list(v any) (out []map[string]any) {
	l, _ := v.([]any)
	for _, v := range l {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// eachBlock visits the blocks of all messages.
func eachBlock(body map[string]any, visit func(map[string]any)) {
	for _, m := range list(body["messages"]) {
		for _, b := range list(m["content"]) {
			visit(b)
		}
	}
}

// exception is a recorded request that does not come back as it is.
type exception struct {
	why      string
	rewrite  func(body map[string]any) // makes of the recording what is sent; nil if nothing is
	notes    []string                  // code and path
	findings []string                  // paths
}

var exceptions = map[string]exception{
	"am-openinference-ic-test-instrumentor-test-anthropic-instrumentation-image-input-messages-with-stream": {
		why:   "the bytes are a JPEG and were sent as image/png; the type follows the bytes",
		notes: []string{"repaired messages[0].parts[1].media.type"},
		rewrite: func(body map[string]any) {
			eachBlock(body, func(b map[string]any) {
				if b["type"] == "image" {
					b["source"].(map[string]any)["media_type"] = "image/jpeg"
				}
			})
		},
	},
	"ollama-messages-err-maxtokens": {
		why:     "the recording leaves max_tokens out to see the server refuse it; the protocol demands one",
		rewrite: func(body map[string]any) { body["max_tokens"] = exactNumber("16384") },
	},
}

func TestRecordedRequests(t *testing.T) {
	used := map[string]int{}
	seen := map[string]bool{}
	for _, rec := range recordedRequests(t) {
		seen[rec.name] = true
		t.Run(rec.name, func(t *testing.T) { checkRequest(t, &rec, exceptions[rec.name], used) })
	}
	for _, s := range spellings {
		if used[s.name] == 0 {
			t.Errorf("no recording needs the spelling %q", s.name)
		}
		t.Logf("%3d × %s: %s", used[s.name], s.name, s.why)
	}
	for name := range exceptions {
		if !seen[name] {
			t.Errorf("the exception %q is of no recording", name)
		}
	}
}

// checkRequest reads a request, encodes it again and compares.
func checkRequest(t *testing.T, rec *recordedRequest, exc exception, used map[string]int) {
	t.Helper()
	codec, r := readRequest(t, rec.body, rec.model, rec.header)
	call, err := encode(t, codec, r)
	if exc.findings != nil || err != nil {
		if got := paths(t, err); !slices.Equal(got, exc.findings) {
			t.Fatalf("refused at %q, want %q (%s): %v", got, exc.findings, exc.why, err)
		}
		return
	}
	want := jsonValue(t, rec.body).(map[string]any)
	for _, s := range spellings {
		if s.apply(want, rec) {
			used[s.name]++
		}
	}
	got := jsonValue(t, call.Body)
	if exc.rewrite != nil {
		if reflect.DeepEqual(got, any(want)) {
			t.Errorf("the exception is not needed: %s", exc.why)
		}
		exc.rewrite(want)
	}
	if !reflect.DeepEqual(got, any(want)) {
		t.Errorf("(-recorded +encoded):\n%s", cmp.Diff(any(want), got))
	}
	var notes []string
	for _, n := range call.Notes {
		notes = append(notes, string(n.Code)+" "+n.Path)
	}
	if !slices.Equal(notes, exc.notes) {
		t.Errorf("notes %q, want %q", notes, exc.notes)
	}
	checkExact(t, r, call.Body)
	checkCall(t, rec, call, want["stream"] == true)
	// What was saved and loaded gives the same bytes.
	saved, err := json.Marshal(r)
	var loaded wire.Request
	if err == nil {
		err = json.Unmarshal(saved, &loaded)
	}
	if err != nil {
		t.Fatal(err)
	}
	if again, err := encode(t, codec, &loaded); err != nil || !bytes.Equal(again.Body, call.Body) {
		t.Errorf("saved and loaded it gives another body (%v): %s", err, again.Body)
	}
}

// checkExact looks for the bytes of what must go out as it came in.
func checkExact(t *testing.T, r *wire.Request, body []byte) {
	t.Helper()
	exact := func(what, raw string) {
		if raw != "" && !bytes.Contains(body, []byte(raw)) {
			t.Errorf("%s is not in the body as it was: %s", what, raw)
		}
	}
	for _, f := range r.Extra {
		exact(f.Name, f.Raw)
	}
	for _, tool := range r.Tools {
		exact("the schema of "+tool.Name, tool.Schema)
		if tool.Name == "" {
			exact("a tool", strings.TrimSuffix(tool.Vendor, "}"))
		}
	}
	var parts func([]wire.Part)
	parts = func(ps []wire.Part) {
		for _, p := range ps {
			switch p.Kind {
			case wire.PartToolCall:
				exact("the input of "+p.Name, p.Args)
			case wire.PartOpaque:
				exact("a block "+p.Name, strings.TrimSuffix(p.Vendor, "}")) // a cache mark may follow
				continue
			}
			if p.Vendor != "" && !strings.Contains(p.Vendor, `"signature":""`) { // which is dropped
				for _, f := range membersOf(t, p.Vendor) {
					exact(f.Name, f.Raw)
				}
			}
			parts(p.Parts)
		}
	}
	for _, m := range r.Messages {
		parts(m.Parts)
	}
}

// checkCall compares the head of a request.
func checkCall(t *testing.T, rec *recordedRequest, call *wire.Call, streams bool) {
	t.Helper()
	if f := map[bool]wire.Framing{true: wire.FramingSSE, false: wire.FramingWhole}[streams]; call.Framing != f {
		t.Errorf("framing %s, want %s", call.Framing, f)
	}
	sent := map[string]string{}
	for _, h := range call.Header {
		if _, twice := sent[h.Name]; twice {
			t.Errorf("the header %s is there twice", h.Name)
		}
		sent[h.Name] = h.Value
	}
	for name, want := range rec.header {
		name = strings.ToLower(name)
		got := sent[name]
		switch name {
		case "accept", "authorization", "x-api-key":
			continue // the transport's
		case "content-type":
			want, _, _ = mime.ParseMediaType(want) // JSON needs no charset
		}
		if got != want {
			t.Errorf("header %s: %q, want %q", name, got, want)
		}
	}
}

// writtenRequests are bodies with what no recording has. Where lost is given, it
// is what a Request does not hold.
var writtenRequests = []struct {
	name, body string
	lost       []string // members of the body that do not come back
	sent       string   // the messages that are sent instead
	notes      []string
}{
	{name: "top level", body: `{"model":"m","max_tokens":9,"stream":true,"temperature":0,"top_p":0.95,"top_k":40,"stop_sequences":["a","\n\nb"],
		"metadata":{"user_id":"u-1"},"service_tier":"standard_only","cache_control":{"type":"ephemeral"},"speed":"fast","inference_geo":"eu",
		"container":{"id":"c","skills":[{"type":"custom","skill_id":"s","version":"1"}]},"diagnostics":{"previous_message_id":null},
		"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},"fallbacks":"default",
		"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"text","text":"t"}],
		"messages":[{"role":"user","content":"hi"}]}`},
	{name: "blocks of the user's", body: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[
		{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"5m"}},
		{"type":"text","text":"<&> \u2028 \ud83d\ude00 \u0000","citations":null},
		{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},
		{"type":"image","source":{"type":"url","url":"https://h.test/a.png"},"cache_control":{"type":"ephemeral"}},
		{"type":"image","source":{"type":"file","file_id":"file_1"},"transformations":{"oversized_image":"error"}},
		{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0x"},"title":"t","context":"c","citations":{"enabled":true},"cache_control":{"type":"ephemeral"}},
		{"type":"document","source":{"type":"text","media_type":"text/plain","data":"é"},"title":null},
		{"type":"document","source":{"type":"url","url":"https://h.test/a.pdf"}},
		{"type":"document","source":{"type":"file","file_id":"file_2"}},
		{"type":"document","source":{"type":"content","content":[{"type":"text","text":"chunk"}]},"cache_control":{"type":"ephemeral","ttl":"1h"}},
		{"type":"search_result","source":"kb://1","title":"r","content":[{"type":"text","text":"x"}],"citations":{"enabled":true}},
		{"type":"container_upload","file_id":"file_3"}]}]}`, lost: []string{"messages.0.content.6.title"}},
	{name: "blocks of the assistant's", body: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"u"},{"role":"assistant","content":[
		{"type":"thinking","thinking":"","signature":"c2ln\/+="},{"type":"redacted_thinking","data":"ZGF0YQ=="},
		{"type":"text","text":"a","citations":[{"type":"char_location","cited_text":"x","document_index":0,"start_char_index":0,"end_char_index":1}]},
		{"type":"compaction","content":"c","encrypted_content":"e","signature":"s"},
		{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"},"caller":{"type":"direct"}},
		{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","encrypted_content":"x"}],"cache_control":{"type":"ephemeral"}},
		{"type":"mcp_tool_use","id":"mcptoolu_1","name":"n","server_name":"s","input":{}},
		{"type":"mcp_tool_result","tool_use_id":"mcptoolu_1","is_error":false,"content":[]},
		{"type":"tool_use","id":"toolu_1","name":"f","input":{"n": 9007199254740993,"f":1.0,"e":1e-7},"caller":{"type":"direct"}},
		{"type":"tool_use","id":"toolu_2","name":"g","input":{},"cache_control":{"type":"ephemeral"}}]},
		{"role":"user","content":[
		{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},
			{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlh"}},
			{"type":"document","source":{"type":"url","url":"https://h.test/a.pdf"}},
			{"type":"search_result","source":"s","title":"t","content":[]},{"type":"tool_reference","tool_name":"f"}]},
		{"type":"tool_result","tool_use_id":"toolu_2","is_error":true,"content":"no","cache_control":{"type":"ephemeral"}},
		{"type":"text","text":"go on"}]}]}`},
	{name: "a result without content", body: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"u"},
		{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`},
	{name: "tools", body: `{"model":"m","max_tokens":9,"mcp_servers":[{"type":"url","name":"x","url":"https://h.test","authorization_token":"t"}],"tools":[
		{"type":"custom","name":"a","description":"d","input_schema":{"type":"object","properties":{"b":{"minimum":1.0}, "a":{}},"required":["b"]},"strict":false,"defer_loading":true,
		"input_examples":[{"b":1}],"eager_input_streaming":false,"allowed_callers":["direct"],"cache_control":{"type":"ephemeral"}},
		{"type":"web_search_20260318","name":"web_search","max_uses":2,"cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"computer_toolset_20260801"},
		{"type":"mcp_toolset","mcp_server_name":"x"}],"tool_choice":{"type":"any","disable_parallel_tool_use":true},"messages":[{"role":"user","content":"u"}]}`},
	{name: "a tool of the vendor's forced", body: `{"model":"m","max_tokens":9,"tools":[{"type":"bash_20250124","name":"bash"}],"tool_choice":{"type":"tool","name":"bash"},"messages":[{"role":"user","content":"u"}]}`},
	{name: "no tool", body: `{"model":"m","max_tokens":9,"tools":[{"type":"bash_20250124","name":"bash"}],"tool_choice":{"type":"none"},"messages":[{"role":"user","content":"u"}]}`},
	{name: "thinking adaptive", body: `{"model":"m","max_tokens":9,"thinking":{"type":"adaptive"},"output_config":{"effort":"xhigh","format":{"type":"json_schema","schema":{"type":"object", "properties":{}}}},"messages":[{"role":"user","content":"u"}]}`},
	{name: "thinking adaptive on a model that has it always on", body: `{"model":"claude-opus-5-5","max_tokens":9,"thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"max"},"messages":[{"role":"user","content":"u"}]}`},
	{name: "thinking enabled", body: `{"model":"claude-opus-4-5","max_tokens":2000,"top_p":0.99,"thinking":{"type":"enabled","budget_tokens":1999,"display":"omitted"},"messages":[{"role":"user","content":"u"}]}`},
	{name: "thinking between tools", body: `{"model":"claude-sonnet-5-5","max_tokens":9,"thinking":{"type":"between_tools"},"messages":[{"role":"user","content":"u"}]}`},
	{name: "thinking disabled", body: `{"model":"claude-opus-5","max_tokens":9,"thinking":{"type":"disabled"},"output_config":{"effort":"low"},"messages":[{"role":"user","content":"u"}]}`},
	{name: "a system message within", body: `{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"u"},{"role":"system","content":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]},
		{"role":"assistant","content":"a"},{"role":"user","content":"v"}]}`},
	{name: "tools added within", body: `{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"u"},{"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_reference","name":"f"}}]}]}`},
	{name: "a beginning", body: `{"model":"claude-opus-4-5","max_tokens":9,"messages":[{"role":"user","content":"u"},{"role":"assistant","content":"{"}]}`},
	{name: "a paused turn", body: `{"model":"claude-opus-5-5","max_tokens":9,"messages":[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"text","text":"a "},{"type":"server_tool_use","id":"s","name":"web_search","input":{}}]}]}`},

	{name: "neighbours of one role", body: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"u"},{"role":"user","content":[{"type":"text","text":"v"}]},
		{"role":"assistant","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"w"}]}`,
		sent: `[{"role":"user","content":[{"type":"text","text":"u"},{"type":"text","text":"v"}]},
		{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"user","content":[{"type":"text","text":"w"}]}]`},
	{name: "text before a result", body: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
		{"role":"user","content":[{"type":"text","text":"v"},{"type":"tool_result","tool_use_id":"a"}]}]}`,
		sent: `[{"role":"user","content":[{"type":"text","text":"u"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"text","text":"v"}]}]`},
	{name: "texts without a character", body: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":" "},{"type":"text","text":"u"}]},
		{"role":"assistant","content":[{"type":"text","text":""},{"type":"thinking","thinking":"t","signature":""},{"type":"text","text":"a"}]},{"role":"user","content":"v"}]}`,
		sent:  `[{"role":"user","content":[{"type":"text","text":"u"}]},{"role":"assistant","content":[{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"v"}]}]`,
		notes: []string{"dropped messages[0].parts[0]", "dropped messages[1].parts[0]", "dropped messages[1].parts[1]"}},

	{name: "no place: of the metadata", body: `{"model":"m","max_tokens":9,"metadata":{"user_id":"u","x":1},"messages":[{"role":"user","content":"u"}]}`,
		lost: []string{"metadata.x"}},
	{name: "no place: of thinking", body: `{"model":"m","max_tokens":9,"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}},"messages":[{"role":"user","content":"u"}]}`,
		lost: []string{"thinking.block_binding"}},
	{name: "no place: of the output", body: `{"model":"m","max_tokens":9,"output_config":{"effort":"low","task_budget":{"type":"tokens","total":9}},"messages":[{"role":"user","content":"u"}]}`,
		lost: []string{"output_config.task_budget"}},
	{name: "members of a system message", body: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"u"},{"role":"system","clear_at":"next_user_message","output_config":{"effort":"low"},"content":"s"}]}`},
	{name: "no place: of the tool choice", body: `{"model":"m","max_tokens":9,"tools":[{"type":"bash_20250124","name":"bash"}],"tool_choice":{"type":"auto","x":1},"messages":[{"role":"user","content":"u"}]}`,
		lost: []string{"tool_choice.x"}},
	{name: "no tool to choose", body: `{"model":"m","max_tokens":9,"tool_choice":{"type":"none"},"messages":[{"role":"user","content":"u"}]}`,
		lost: []string{"tool_choice"}},
}

func TestWrittenRequests(t *testing.T) {
	for _, tc := range writtenRequests {
		t.Run(tc.name, func(t *testing.T) {
			rec := &recordedRequest{name: tc.name, body: []byte(tc.body), header: map[string]string{
				"anthropic-version": anthropic.Version20230601, "anthropic-beta": "a-1,b-2"}}
			exc := exception{notes: tc.notes}
			if tc.lost != nil || tc.sent != "" {
				exc.rewrite = func(body map[string]any) {
					if tc.sent != "" {
						body["messages"] = jsonValue(t, []byte(tc.sent))
					}
					for _, path := range tc.lost {
						remove(t, body, strings.Split(path, "."))
					}
				}
			}
			checkRequest(t, rec, exc, map[string]int{})
		})
	}
}

// remove removes the member that path leads to.
func remove(t *testing.T, v any, path []string) {
	t.Helper()
	for _, name := range path[:len(path)-1] {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i, _ := strconv.Atoi(name)
			v = in[i]
		}
	}
	m, _ := v.(map[string]any)
	name := path[len(path)-1]
	if _, ok := m[name]; !ok {
		t.Fatalf("there is no %s", strings.Join(path, "."))
	}
	delete(m, name)
}

// ---- turns ----

// recordedTurn is a recorded answer, its blocks as they were sent: of the members
// that came in pieces the pieces joined.
type recordedTurn struct {
	blocks   []recordedBlock
	finished bool
}

type recordedBlock struct {
	typ   string
	m     members
	whole string // the block's own bytes, where it came in one piece
}

func (m *members) put(name, raw string) {
	for i := range *m {
		if (*m)[i].Name == name {
			(*m)[i].Raw = raw
			return
		}
	}
	*m = append(*m, wire.Field{Name: name, Raw: raw})
}

func newBlock(t testing.TB, raw string) recordedBlock {
	b := recordedBlock{m: membersOf(t, raw), whole: raw}
	b.typ = value[string](t, b.m.get("type"))
	return b
}

// readTurn reads an answer with encoding/json alone. It knows only well-formed
// streams.
func readTurn(t testing.TB, body []byte, f wire.Framing) (turn recordedTurn) {
	t.Helper()
	message := func(raw string) {
		for _, raw := range value[[]json.RawMessage](t, membersOf(t, raw).get("content")) {
			turn.blocks = append(turn.blocks, newBlock(t, string(raw)))
		}
	}
	if f == wire.FramingWhole {
		message(string(bytes.TrimSpace(body)))
		turn.finished = true
		return turn
	}
	open := map[int]int{} // the vendor's index to that of blocks
	for line := range strings.SplitSeq(string(body), "\n") {
		line = strings.TrimSpace(line)
		if f == wire.FramingSSE {
			var ok bool
			if line, ok = strings.CutPrefix(line, "data:"); !ok {
				continue
			}
		}
		if line == "" {
			continue
		}
		ev := membersOf(t, line)
		index := value[int](t, ev.get("index"))
		switch value[string](t, ev.get("type")) {
		case "message_start": // which holds the whole of what a tool's program called
			message(ev.get("message"))
		case "message_stop":
			turn.finished = true
		case "content_block_start":
			open[index] = len(turn.blocks)
			turn.blocks = append(turn.blocks, newBlock(t, ev.get("content_block")))
		case "content_block_delta":
			turn.blocks[open[index]].add(t, membersOf(t, ev.get("delta")))
		}
	}
	for i := range turn.blocks {
		m := &turn.blocks[i].m
		if args := value[string](t, m.take("partial_json")); args != "" {
			m.put("input", args)
		}
	}
	return turn
}

// add takes a delta: texts are joined, a citation is one more of a list.
func (b *recordedBlock) add(t testing.TB, delta members) {
	b.whole = ""
	delta.take("type")
	for _, f := range delta {
		old := b.m.get(f.Name)
		switch {
		case f.Name == "citation":
			items := strings.TrimSpace(strings.TrimSuffix(b.m.get("citations"), "]"))
			if len(items) > 1 && items[0] == '[' {
				items += ","
			} else {
				items = "["
			}
			b.m.put("citations", items+f.Raw+"]")
		case f.Raw == "null":
		case !strings.HasPrefix(f.Raw, `"`):
			b.m.put(f.Name, f.Raw)
		case strings.HasPrefix(old, `"`): // joined raw, so that every byte of it counts
			b.m.put(f.Name, old[:len(old)-1]+f.Raw[1:])
		default:
			b.m.put(f.Name, f.Raw)
		}
	}
}

// staysBehind says why a block of a finished turn cannot go back, "" if it can.
func (b *recordedBlock) staysBehind(t testing.TB) string {
	switch b.typ {
	case "text":
		if strings.TrimSpace(value[string](t, b.m.get("text"))) == "" {
			return "a text without a character is refused"
		}
	case "thinking":
		if value[string](t, b.m.get("signature")) == "" {
			return "thinking without a signature is refused"
		}
	}
	return ""
}

// compare reports how a block that went back differs from the recorded one. What
// the codec decodes and writes anew is equal as a value, all else to the byte.
func (b *recordedBlock) compare(t *testing.T, sent string) {
	t.Helper()
	if b.typ != "text" && b.typ != "thinking" && b.typ != "redacted_thinking" && b.typ != "tool_use" && b.whole != "" && sent != b.whole {
		t.Errorf("block of type %s (-recorded +encoded):\n%s", b.typ, cmp.Diff(b.whole, sent))
		return
	}
	got := membersOf(t, sent)
	for _, f := range b.m {
		g := got.get(f.Name)
		got.take(f.Name)
		switch f.Name {
		case "type", "text", "thinking", "id", "name":
			if value[string](t, g) != value[string](t, f.Raw) || g == "" {
				t.Errorf("block of type %s: %s is %s, want %s", b.typ, f.Name, g, f.Raw)
			}
		default:
			if g != strings.TrimSpace(f.Raw) {
				t.Errorf("block of type %s: %s is\n%s\nwant\n%s", b.typ, f.Name, g, f.Raw)
			}
		}
	}
	if len(got) > 0 {
		t.Errorf("block of type %s: %s was added", b.typ, got.object())
	}
}

// writtenTurns are answers with what no recording has.
var writtenTurns = []struct {
	name string
	body string // a whole answer, or the events of a stream, one a line
}{
	{"arguments as they were written", block(`{"type":"tool_use","id":"a","name":"f","input":{}}`,
		`{"type":"input_json_delta","partial_json":""}`, `{"type":"input_json_delta","partial_json":"{ \"n\" :"}`,
		`{"type":"input_json_delta","partial_json":" 9007199254740993, \"f\":1.0,\n\"s\":\"\\u00e9<&\\/\" }"}`)},
	{"arguments with the start", block(`{"type":"tool_use","id":"a","name":"f","input":{"a": 1.0},"caller":{"type": "direct"}}`)},
	{"arguments that are empty", block(`{"type":"tool_use","id":"a","name":"f","input":{}}`, `{"type":"input_json_delta","partial_json":""}`)},
	{"a signature in pieces", block(`{"type":"thinking","thinking":"","signature":""}`, `{"type":"thinking_delta","thinking":"\ud83d"}`,
		`{"type":"thinking_delta","thinking":"\ude00 <\u0000"}`, `{"type":"signature_delta","signature":"a\/"}`, `{"type":"signature_delta","signature":"\u003d="}`)},
	{"a signature without text", block(`{"type":"thinking","thinking":"","signature":""}`, `{"type":"signature_delta","signature":"a"}`)},
	{"redacted", block(`{"type":"redacted_thinking","data":"a\/\u003d", "x":{"b":1.0}}`)},
	{"citations", block(`{"type":"text","text":"","citations":[ ]}`, `{"type":"citations_delta","citation":{"a": 1.0}}`,
		`{"type":"text_delta","text":"x"}`, `{"type":"citations_delta","citation":{"b":"\/"}}`)},
	{"the input of a server's tool", block(`{"type":"server_tool_use","id":"a","name":"f","input":{}}`, `{"type":"input_json_delta","partial_json":"{ \"n\":"}`,
		`{"type":"input_json_delta","partial_json":"1.0 }"}`)},
	{"a block that is unknown", block(`{"type": "new", "a": "x\/", "n":null, "list":[ 1.0 ]}`)},
	{"a block that is unknown, in pieces", block(`{"type":"new","a":"x\/","b":null,"list":[ 1.0 ]}`, `{"type":"new_delta","a":"\/y","b":"z","c":{ }}`)},
	{"a whole answer", `{"type":"message","id":"m","model":"m","role":"assistant","stop_reason":"tool_use","content":[
		{"type":"thinking","thinking":"a","signature":"b\/"}, {"type":"text","text":"c","citations":[{"x": 1.0}]},
		{"type":"new", "a":[ 1 ]}, {"type":"tool_use","id":"a","name":"f","input":{ "n": 1.0,
			"s":"\/"}}]}`},
}

// block is a stream of one block, one event a line.
func block(start string, deltas ...string) string {
	lines := []string{`{"type":"message_start","message":{"id":"m","model":"m","role":"assistant","content":[]}}`,
		`{"type":"content_block_start","index":0,"content_block":` + start + `}`}
	for _, d := range deltas {
		lines = append(lines, `{"type":"content_block_delta","index":0,"delta":`+d+`}`)
	}
	lines = append(lines, `{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`)
	return strings.Join(lines, "\n")
}

func TestWrittenTurns(t *testing.T) {
	for _, tc := range writtenTurns {
		t.Run(tc.name, func(t *testing.T) {
			f := wire.FramingLines
			if strings.HasPrefix(tc.body, `{"type":"message",`) {
				f = wire.FramingWhole
			}
			behind := map[string]int{}
			checkTurn(t, "m", []byte(tc.body), f, behind, map[string]int{})
			if len(behind) > 0 {
				t.Errorf("stayed behind: %v", behind)
			}
		})
	}
}

func TestRecordedTurns(t *testing.T) {
	dir := corpus(t)
	behind := map[string]int{}
	types := map[string]int{}
	for _, pattern := range []string{"corpus/anthropic-messages/*.meta.json", "corpus-local/*.meta.json"} {
		metas, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(metas) == 0 {
			t.Fatalf("no recordings at %s: %v", filepath.Join(dir, pattern), err)
		}
		for _, file := range metas {
			var meta struct {
				recordingMeta
				Model string
			}
			readJSON(t, file, &meta)
			if path, _, _ := strings.Cut(meta.Path, "?"); path != "" && path != "/v1/messages" || meta.Status >= 400 {
				continue
			}
			name := meta.File
			for _, f := range meta.Files {
				if !strings.HasSuffix(f, ".request.json") {
					name = f
				}
			}
			t.Run(strings.TrimSuffix(filepath.Base(file), ".meta.json"), func(t *testing.T) {
				body, err := os.ReadFile(filepath.Join(filepath.Dir(file), name))
				if err != nil {
					t.Fatal(err)
				}
				checkTurn(t, meta.Model, body, framingOf(name), behind, types)
			})
		}
	}
	t.Logf("went back: %v", types)
	t.Logf("stayed behind: %v", behind)
}

// checkTurn appends an answer to a history, and looks for all of it in the request
// that goes on from there. Model is the model as it was asked for, often by an
// alias of the name that answered.
func checkTurn(t *testing.T, model string, body []byte, f wire.Framing, behind, types map[string]int) {
	t.Helper()
	turn := readTurn(t, body, f)
	resp, _, err := decodeAll(t, body, f)
	m := resp.Message
	if (err == nil) != turn.finished {
		t.Fatalf("error %v, finished %v", err, turn.finished)
	}
	r := &wire.Request{Model: model, MaxTokens: 100, Messages: []wire.Message{wire.UserText("u"), m}}
	if model == "" {
		r.Model = m.Origin.Model
	}
	var results []wire.Part
	for _, b := range turn.blocks {
		if b.typ == "tool_use" && turn.finished {
			results = append(results, wire.ToolResultPart(value[string](t, b.m.get("id")), "", text("r")))
		}
	}
	switch {
	case len(results) > 0:
		r.Messages = append(r.Messages, wire.ToolMessage(results...))
	case m.Ending.Finish != wire.FinishPause:
		r.Messages = append(r.Messages, wire.UserText("v"))
	}
	call, err := encode(t, anthropic.Codec{}, r)
	if err != nil {
		t.Fatal(err)
	}
	var sent []json.RawMessage
	for _, raw := range value[[]json.RawMessage](t, membersOf(t, string(call.Body)).get("messages")) {
		if m := membersOf(t, string(raw)); m.get("role") == `"assistant"` {
			sent = append(sent, value[[]json.RawMessage](t, m.get("content"))...)
		}
	}
	dropped := 0
	for _, b := range turn.blocks {
		why := b.staysBehind(t)
		if !turn.finished {
			if b.typ != "text" {
				why = "of a turn that was cut off the text alone goes back"
			}
			b.m = slices.DeleteFunc(b.m, func(f wire.Field) bool { return f.Name != "type" && f.Name != "text" })
		}
		if why != "" {
			behind[b.typ+": "+why]++
			dropped++
			continue
		}
		if len(sent) == 0 {
			t.Fatalf("the block of type %s is missing", b.typ)
		}
		if typ := value[string](t, membersOf(t, string(sent[0])).get("type")); typ != b.typ {
			t.Fatalf("the block of type %s is missing; notes %+v", b.typ, call.Notes)
		}
		types[b.typ]++
		b.compare(t, string(sent[0]))
		sent = sent[1:]
	}
	if len(sent) > 0 {
		t.Errorf("%d blocks too many: %s", len(sent), sent)
	}
	for _, n := range call.Notes {
		if n.Code == wire.NoteDropped && strings.HasPrefix(n.Path, "messages[1].parts[") {
			dropped--
		} else {
			t.Errorf("note %+v", n)
		}
	}
	if dropped != 0 {
		t.Errorf("%d blocks were dropped without a note", dropped)
	}
}
