package wire_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/wire"
)

var allCauses = []wire.Cause{
	wire.CauseFinished, wire.CauseTruncated, wire.CauseReset, wire.CauseIdle, wire.CauseStalled, wire.CauseCancelled,
	wire.CauseDeadline, wire.CauseLimit, wire.CauseVendor, wire.CauseProtocol, wire.CauseConnect, wire.CauseConfig,
}

var allFinishes = []wire.FinishReason{
	wire.FinishStop, wire.FinishLength, wire.FinishToolCall, wire.FinishContentFilter, wire.FinishRefusal,
	wire.FinishPause, wire.FinishOther,
}

var allPartKinds = []wire.PartKind{
	wire.PartText, wire.PartReasoning, wire.PartRefusal, wire.PartToolCall, wire.PartToolResult, wire.PartMedia, wire.PartOpaque,
}

// callArgs are arguments of a call, with whether they are one complete JSON
// value.
var callArgs = []struct {
	name, args string
	whole      bool
}{
	{"object", `{"path":"a.txt"}`, true},
	{"empty object", `{}`, true},
	{"object with white space around it", " {\"a\":1}\r\n", true},
	{"array", `[1,2]`, true},
	{"string", `"a"`, true},
	{"number", `12`, true},
	{"null", `null`, true},
	{"empty", ``, false},
	{"white space", " \n", false},
	{"cut", `{"path": "a.txt"`, false},
	{"cut in a string", `{"path":"a.txt","text":"abc`, false},
	{"cut in a number", `1.`, false},
	{"two values", `{}{}`, false},
	{"comma at the end", `{"a":1,}`, false},
	{"no JSON", `path = a.txt`, false},
	{"single quotes", `{'a':1}`, false},
	{"control character", "{\"a\":\"\n\"}", false},
}

// TestExecutableCalls goes through every combination of what decides whether a
// call may run.
func TestExecutableCalls(t *testing.T) {
	roles := []wire.Role{wire.RoleAssistant, wire.RoleUser, wire.RoleTool, wire.RoleSystem, ""}
	var endings []*wire.Ending
	for _, cause := range append(allCauses, "", "another") {
		for _, finish := range append(allFinishes, "", "another") {
			endings = append(endings, &wire.Ending{Cause: cause, Finish: finish})
		}
	}
	endings = append(endings, nil)
	combinations, run := 0, 0
	for _, role := range roles {
		for _, ending := range endings {
			for _, a := range callArgs {
				for flags := range 4 {
					partial, free := flags&1 != 0, flags&2 != 0
					call := wire.ToolCallPart("t1", "read", a.args)
					call.Partial, call.FreeForm = partial, free
					m := wire.Message{Role: role, Ending: ending, Parts: []wire.Part{wire.TextPart("so"), call}}

					want := role == wire.RoleAssistant && ending != nil && ending.Cause == wire.CauseFinished &&
						(ending.Finish == wire.FinishToolCall || ending.Finish == wire.FinishStop) &&
						!partial && (a.whole || free)
					got := m.ExecutableCalls()
					if want != (len(got) == 1) || len(got) > 1 {
						t.Errorf("role %q, ending %+v, arguments %s, partial %t, free-form %t: calls %+v, want one: %t",
							role, ending, a.name, partial, free, got, want)
					} else if want {
						run++
						if d := cmp.Diff(call, got[0]); d != "" {
							t.Errorf("the call changed (-want +got):\n%s", d)
						}
					}
					combinations++
				}
			}
		}
	}
	whole := 0
	for _, a := range callArgs {
		if a.whole {
			whole++
		}
	}
	// One role, one cause, two finish reasons, not partial.
	if want := 2 * (whole + len(callArgs)); run != want {
		t.Errorf("%d of %d combinations may run, want %d", run, combinations, want)
	}
}

func TestExecutableCallsOfSeveral(t *testing.T) {
	cut := wire.ToolCallPart("t2", "b", `{"a":`)
	partial := wire.ToolCallPart("t4", "d", `{}`)
	partial.Partial = true
	// Fields of a call on a part of another kind do not make a call of it.
	other := wire.Part{Kind: wire.PartOpaque, ID: "x", Name: "server_tool", Args: `{}`}
	result := wire.Part{Kind: wire.PartToolResult, ID: "t1", Name: "a", Args: `{}`}
	m := wire.Message{
		Role:   wire.RoleAssistant,
		Ending: &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishToolCall},
		Parts: []wire.Part{
			wire.ToolCallPart("t3", "c", `{"z":1}`), wire.TextPart("x"), cut, other, partial, result, wire.ToolCallPart("t1", "a", `{}`),
		},
	}
	want := []wire.Part{wire.ToolCallPart("t3", "c", `{"z":1}`), wire.ToolCallPart("t1", "a", `{}`)}
	got := m.ExecutableCalls()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	got[0].Args = "changed"
	if m.Parts[0].Args != `{"z":1}` {
		t.Error("the calls share memory with the message")
	}
	m.Parts = nil
	if got := m.ExecutableCalls(); got != nil {
		t.Errorf("a message without parts has the calls %v", got)
	}
}

// TestFaults states the faults of adapters that the types alone have to rule
// out.
func TestFaults(t *testing.T) {
	ending := func(f wire.FinishReason) wire.Event {
		return wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: wire.CauseFinished, Finish: f}}
	}
	call := func(args string, f wire.FinishReason) wire.Message {
		t.Helper()
		evs := []wire.Event{
			{Kind: wire.EventStart, Start: &wire.Start{}},
			{Kind: wire.EventPartStart, Part: wire.PartToolCall, Data: &wire.Part{ID: "t1", Name: "write"}},
			{Kind: wire.EventDelta, Part: wire.PartToolCall, Delta: args},
			{Kind: wire.EventPartEnd, Part: wire.PartToolCall},
			ending(f),
		}
		if err := wire.CheckEvents(evs); err != nil {
			t.Fatal(err)
		}
		return collect(t, evs).Message
	}
	t.Run("F37 arguments that are not valid JSON", func(t *testing.T) {
		const args = `{"path": "a.txt"`
		m := call(args, wire.FinishToolCall)
		if got := m.ExecutableCalls(); len(got) != 0 {
			t.Errorf("the call may run: %+v", got)
		}
		if got := m.Parts[0].Args; got != args {
			t.Errorf("the arguments are %s, want the raw text %s", got, args)
		}
	})
	t.Run("F69 image type taken from the name", func(t *testing.T) {
		for _, declared := range []string{"image/png", "image/jpg", ""} {
			m := wire.Media{Type: declared, Data: []byte("\xff\xd8\xff\xe0\x00\x10JFIF")}
			if got := m.MediaType(); got != "image/jpeg" {
				t.Errorf("declared as %q: %s", declared, got)
			}
		}
	})
	t.Run("F82 length in the middle of a call", func(t *testing.T) {
		for _, args := range []string{`{"path":"a.txt","text":"abc`, `{"path":"a.txt"}`} {
			m := call(args, wire.FinishLength)
			if got := m.ExecutableCalls(); len(got) != 0 {
				t.Errorf("%s: the call may run: %+v", args, got)
			}
			if m.Ending.Finish != wire.FinishLength {
				t.Errorf("%s: finish reason %s", args, m.Ending.Finish)
			}
		}
	})
	t.Run("F124 white space is content", func(t *testing.T) {
		for _, kind := range []wire.PartKind{wire.PartText, wire.PartReasoning, wire.PartRefusal, wire.PartToolCall} {
			evs := []wire.Event{{Kind: wire.EventStart, Start: &wire.Start{}}, {Kind: wire.EventPartStart, Part: kind}}
			for _, s := range []string{"Hi", " ", "again", "\n\n", "  x "} {
				evs = append(evs, wire.Event{Kind: wire.EventDelta, Part: kind, Delta: s})
			}
			evs = append(evs, wire.Event{Kind: wire.EventPartEnd, Part: kind}, ending(wire.FinishStop))
			if err := wire.CheckEvents(evs); err != nil {
				t.Fatal(err)
			}
			p := collect(t, evs).Message.Parts[0]
			if got := p.Text + p.Args; got != "Hi again\n\n  x " {
				t.Errorf("%s: %q", kind, got)
			}
		}
	})
}

func TestPartConstructors(t *testing.T) {
	png := []byte("\x89PNG\r\n\x1a\n....")
	tests := []struct {
		name      string
		got, want any
	}{
		{"text", wire.TextPart("a"), wire.Part{Kind: wire.PartText, Text: "a"}},
		{"tool call", wire.ToolCallPart("t1", "read", `{"a":1.0}`),
			wire.Part{Kind: wire.PartToolCall, ID: "t1", Name: "read", Args: `{"a":1.0}`}},
		{"tool result", wire.ToolResultPart("t1", "read", wire.TextPart("a"), wire.ImagePart(png)),
			wire.Part{Kind: wire.PartToolResult, ID: "t1", Name: "read", Parts: []wire.Part{
				{Kind: wire.PartText, Text: "a"}, {Kind: wire.PartMedia, Media: &wire.Media{Type: "image/png", Data: png}}}}},
		{"tool result without parts", wire.ToolResultPart("t1", "read"), wire.Part{Kind: wire.PartToolResult, ID: "t1", Name: "read"}},
		{"image", wire.ImagePart(png), wire.Part{Kind: wire.PartMedia, Media: &wire.Media{Type: "image/png", Data: png}}},
		{"image of unknown type", wire.ImagePart([]byte("BM")), wire.Part{Kind: wire.PartMedia, Media: &wire.Media{Data: []byte("BM")}}},
		{"user message", wire.UserMessage(wire.TextPart("a"), wire.TextPart("b")),
			wire.Message{Role: wire.RoleUser, Parts: []wire.Part{{Kind: wire.PartText, Text: "a"}, {Kind: wire.PartText, Text: "b"}}}},
		{"user text", wire.UserText("a"), wire.Message{Role: wire.RoleUser, Parts: []wire.Part{{Kind: wire.PartText, Text: "a"}}}},
		{"tool message", wire.ToolMessage(wire.ToolResultPart("t1", "f")),
			wire.Message{Role: wire.RoleTool, Parts: []wire.Part{{Kind: wire.PartToolResult, ID: "t1", Name: "f"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, tt.got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	if p := wire.ImagePart(png); &p.Media.Data[0] != &png[0] {
		t.Error("ImagePart copied the bytes")
	}
}

func TestMessageText(t *testing.T) {
	reasoning := func(s string) wire.Part { return wire.Part{Kind: wire.PartReasoning, Text: s} }
	tests := []struct {
		name            string
		parts           []wire.Part
		text, reasoning string
		allocs          float64 // of Text and Reasoning together
	}{
		{"nothing", nil, "", "", 0},
		{"one text", []wire.Part{wire.TextPart("a")}, "a", "", 0},
		{"one of each", []wire.Part{reasoning("r"), wire.TextPart("a")}, "a", "r", 0},
		{"empty ones around one", []wire.Part{wire.TextPart(""), reasoning(""), wire.TextPart("a"), wire.TextPart("")}, "a", "", 0},
		{"other kinds", []wire.Part{
			{Kind: wire.PartRefusal, Text: "no"}, wire.ToolCallPart("t", "f", "{}"), {Kind: wire.PartOpaque, Text: "x"},
			wire.ToolResultPart("t", "f", wire.TextPart("result")),
		}, "", "", 0},
		{"several", []wire.Part{wire.TextPart("a "), reasoning("r1"), wire.TextPart("b"), reasoning("\nr2"), wire.TextPart("c")}, "a bc", "r1\nr2", 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := wire.Message{Role: wire.RoleAssistant, Parts: tt.parts}
			if got := m.Text(); got != tt.text {
				t.Errorf("Text() = %q, want %q", got, tt.text)
			}
			if got := m.Reasoning(); got != tt.reasoning {
				t.Errorf("Reasoning() = %q, want %q", got, tt.reasoning)
			}
			var n int
			if got := testing.AllocsPerRun(100, func() { n += len(m.Text()) + len(m.Reasoning()) }); got > tt.allocs {
				t.Errorf("%v allocations, want at most %v", got, tt.allocs)
			}
		})
	}
}

func TestEventText(t *testing.T) {
	for _, kind := range allPartKinds {
		for _, ek := range []wire.EventKind{wire.EventDelta, wire.EventPartStart, wire.EventPartEnd, wire.EventOther} {
			ev := wire.Event{Kind: ek, Part: kind, Delta: "d", Raw: "raw"}
			text, reasoning := "", ""
			if ek == wire.EventDelta && kind == wire.PartText {
				text = "d"
			}
			if ek == wire.EventDelta && kind == wire.PartReasoning {
				reasoning = "d"
			}
			if got := ev.Text(); got != text {
				t.Errorf("%s of %s: Text() = %q", ek, kind, got)
			}
			if got := ev.Reasoning(); got != reasoning {
				t.Errorf("%s of %s: Reasoning() = %q", ek, kind, got)
			}
		}
	}
}

func TestSniffImage(t *testing.T) {
	tests := []struct{ name, data, want string }{
		{"png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image/png"},
		{"png, nothing but the signature", "\x89PNG\r\n\x1a\n", "image/png"},
		{"png, cut", "\x89PNG\r\n\x1a", ""},
		{"png, line ends changed", "\x89PNG\n\x1a\n\x00", ""},
		{"jpeg", "\xff\xd8\xff\xe0\x00\x10JFIF", "image/jpeg"},
		{"jpeg, exif", "\xff\xd8\xff\xe1", "image/jpeg"},
		{"jpeg, raw", "\xff\xd8\xff\xdb", "image/jpeg"},
		{"jpeg, cut", "\xff\xd8", ""},
		{"gif 87", "GIF87a\x01", "image/gif"},
		{"gif 89", "GIF89a", "image/gif"},
		{"gif, unknown version", "GIF88a", ""},
		{"webp", "RIFF\x24\x00\x00\x00WEBPVP8 ", "image/webp"},
		{"webp, cut", "RIFF\x24\x00\x00\x00WEB", ""},
		{"wave", "RIFF\x24\x00\x00\x00WAVEfmt ", ""},
		{"bmp", "BM\x00\x00", ""},
		{"base64 of a png", "iVBORw0KGgo=", ""},
		{"signature not at the start", " \x89PNG\r\n\x1a\n", ""},
		{"svg", "<svg xmlns=", ""},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := wire.SniffImage([]byte(tt.data)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMediaType(t *testing.T) {
	const jpeg = "\xff\xd8\xff\xe0"
	tests := []struct {
		name  string
		media wire.Media
		want  string
	}{
		{"bytes against the declared type", wire.Media{Type: "image/png", Data: []byte(jpeg)}, "image/jpeg"},
		{"bytes without a type", wire.Media{Data: []byte("GIF89a")}, "image/gif"},
		{"unknown bytes keep the declared type", wire.Media{Type: "application/pdf", Data: []byte("%PDF-1.7")}, "application/pdf"},
		{"unknown image bytes", wire.Media{Type: "image/heic", Data: []byte("....ftyp")}, "image/heic"},
		{"image/jpg is never sent", wire.Media{Type: "image/jpg", Data: []byte("?")}, "image/jpeg"},
		{"image/jpg of a URL", wire.Media{Type: "image/jpg", URL: "https://a.invalid/a.png"}, "image/jpeg"},
		{"spelling", wire.Media{Type: " Image/JPG "}, "image/jpeg"},
		{"case", wire.Media{Type: "Application/PDF"}, "application/pdf"},
		{"nothing known", wire.Media{FileID: "file-1"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.media.MediaType(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestValidJSON(t *testing.T) {
	for _, a := range callArgs {
		if got := wire.ValidJSON(a.args); got != a.whole {
			t.Errorf("%s: %t, want %t", a.name, got, a.whole)
		}
	}
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	if !wire.ValidJSON(deep(10000)) {
		t.Error("10,000 levels are refused")
	}
	if wire.ValidJSON(deep(10001)) {
		t.Error("10,001 levels are accepted")
	}
}

// plain marshals v without the escapes of HTML.
func plain(t testing.TB, v any) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func ptr[T any](v T) *T { return &v }

// fullPart and the values beside it have every field set.
func fullPart() wire.Part {
	return wire.Part{
		Kind: wire.PartToolResult, Text: "text", ID: "t1", Name: "read", Args: `{"a":1.0}`, FreeForm: true, IsError: true, Partial: true,
		Parts: []wire.Part{{Kind: wire.PartText, Text: "<&>"}},
		Media: &wire.Media{Type: "image/png", Data: []byte{1, 2}, URL: "u", FileID: "f", Name: "n", Detail: "low"},
		Cache: &wire.CacheMark{TTL: "1h"}, Vendor: `{"s": 1}`, Item: "i1",
	}
}

const fullPartJSON = `{"kind":"tool_result","text":"text","id":"t1","name":"read","args":"{\"a\":1.0}","free_form":true,"is_error":true,` +
	`"partial":true,"parts":[{"kind":"text","text":"<&>"}],"media":` + fullMediaJSON + `,"cache":{"ttl":"1h"},"vendor":"{\"s\": 1}","item":"i1"}`

const fullMediaJSON = `{"type":"image/png","data":"AQI=","url":"u","file_id":"f","name":"n","detail":"low"}`

func fullError() *wire.Error {
	return &wire.Error{Cause: wire.CauseVendor, Class: wire.ClassOverloaded, Status: 529, Type: "overloaded_error", Code: "c",
		Message: "busy", RequestID: "req_1", RetryAfter: 2, Hint: "wait", Body: "b"}
}

const fullErrorJSON = `{"cause":"vendor_error","class":"overloaded","status":529,"type":"overloaded_error","code":"c","message":"busy",` +
	`"request_id":"req_1","retry_after_ns":2,"hint":"wait","body":"b"}`

func fullEnding() *wire.Ending {
	return &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop, VendorFinish: "end_turn", Detail: "d", Err: fullError()}
}

const fullEndingJSON = `{"cause":"finished","finish":"stop","vendor_finish":"end_turn","detail":"d","error":` + fullErrorJSON + `}`

func fullUsage() *wire.Usage {
	return &wire.Usage{InputTokens: wire.CountOf(7), UncachedInputTokens: wire.CountOf(1), CacheReadTokens: wire.CountOf(2),
		CacheCreationTokens: wire.CountOf(4), CacheCreation1hTokens: wire.CountOf(3), OutputTokens: wire.CountOf(9),
		ReasoningTokens: wire.CountOf(0), Vendor: `{"x": 1}`}
}

const fullUsageJSON = `{"input_tokens":7,"uncached_input_tokens":1,"cache_read_tokens":2,"cache_creation_tokens":4,` +
	`"cache_creation_1h_tokens":3,"output_tokens":9,"reasoning_tokens":0,"vendor":"{\"x\": 1}"}`

func fullOrigin() *wire.Origin {
	return &wire.Origin{Protocol: "p", Endpoint: "e", Model: "m", ResponseID: "r"}
}

const fullOriginJSON = `{"protocol":"p","endpoint":"e","model":"m","response_id":"r"}`

var fullLimits = wire.RateLimits{{Name: "tokens", Limit: wire.CountOf(10), Remaining: wire.CountOf(0), Reset: "6m0s"}}

const fullLimitsJSON = `[{"name":"tokens","limit":10,"remaining":0,"reset":"6m0s"}]`

func fullMessage() wire.Message {
	return wire.Message{Role: wire.RoleAssistant, Parts: []wire.Part{fullPart()}, Origin: fullOrigin(), Ending: fullEnding(), Vendor: "{}"}
}

const fullMessageJSON = `{"role":"assistant","parts":[` + fullPartJSON + `],"origin":` + fullOriginJSON + `,"ending":` + fullEndingJSON + `,"vendor":"{}"}`

func fullTool() wire.Tool {
	return wire.Tool{Name: "read", Description: "Reads.", Schema: `{"type": "object"}`, Strict: ptr(false), FreeForm: true,
		Grammar: "{}", Cache: &wire.CacheMark{}, Vendor: "{}"}
}

const fullToolJSON = `{"name":"read","description":"Reads.","schema":"{\"type\": \"object\"}","strict":false,"free_form":true,` +
	`"grammar":"{}","cache":{},"vendor":"{}"}`

// TestJSONForm pins the JSON form, in which histories, sessions and fixtures
// are kept: a name or an order that changes makes it fail.
func TestJSONForm(t *testing.T) {
	tests := []struct {
		name  string
		value any // a pointer
		want  string
	}{
		{"Part", ptr(fullPart()), fullPartJSON},
		{"Part, empty", &wire.Part{}, `{"kind":""}`},
		{"Media", fullPart().Media, fullMediaJSON},
		{"Media, empty", &wire.Media{}, `{}`},
		{"CacheMark", &wire.CacheMark{TTL: "5m"}, `{"ttl":"5m"}`},
		{"CacheMark, empty", &wire.CacheMark{}, `{}`},
		{"Origin", fullOrigin(), fullOriginJSON},
		{"Origin, empty", &wire.Origin{}, `{}`},
		{"Ending", fullEnding(), fullEndingJSON},
		{"Ending, empty", &wire.Ending{}, `{"cause":""}`},
		{"Error", fullError(), fullErrorJSON},
		{"Error, empty", &wire.Error{}, `{"cause":""}`},
		{"Message", ptr(fullMessage()), fullMessageJSON},
		{"Message, empty", &wire.Message{}, `{"role":""}`},
		{"Usage", fullUsage(), fullUsageJSON},
		{"Usage, empty", &wire.Usage{}, `{}`},
		{"RateLimits", &fullLimits, fullLimitsJSON},
		{"RateLimit, empty", &wire.RateLimit{}, `{"name":""}`},
		{"Response", &wire.Response{Message: fullMessage(), Usage: *fullUsage(), Notes: []wire.Note{{Code: wire.NoteOdd}},
			RequestID: "req_1", RateLimit: fullLimits},
			`{"message":` + fullMessageJSON + `,"usage":` + fullUsageJSON + `,"notes":[{"code":"odd"}],"request_id":"req_1","rate_limit":` + fullLimitsJSON + `}`},
		{"Response, empty", &wire.Response{}, `{"message":{"role":""}}`},
		{"Note", &wire.Note{Code: wire.NoteDropped, Path: "messages[0].parts[1]", Detail: "d"},
			`{"code":"dropped","path":"messages[0].parts[1]","detail":"d"}`},
		{"Finding", &wire.Finding{Path: "messages[0]", Rule: "r", Remedy: "m"}, `{"path":"messages[0]","rule":"r","remedy":"m"}`},
		{"Finding, empty", &wire.Finding{}, `{"rule":""}`},
		{"Start", &wire.Start{Origin: *fullOrigin(), RequestID: "req_1", RateLimit: fullLimits},
			`{"origin":` + fullOriginJSON + `,"request_id":"req_1","rate_limit":` + fullLimitsJSON + `}`},
		{"Start, empty", &wire.Start{}, `{"origin":{}}`},
		{"Event", &wire.Event{Kind: wire.EventDelta, Part: wire.PartText, Index: 1, Delta: "d", Data: ptr(fullPart()),
			Start: &wire.Start{}, End: fullEnding(), Usage: fullUsage(), Note: &wire.Note{Code: wire.NoteOdd}, Raw: "{}"},
			`{"kind":"delta","part":"text","index":1,"delta":"d","data":` + fullPartJSON + `,"start":{"origin":{}},"end":` + fullEndingJSON +
				`,"usage":` + fullUsageJSON + `,"note":{"code":"odd"},"raw":"{}"}`},
		{"Event, empty", &wire.Event{}, `{"kind":"","index":0}`},
		{"Tool", ptr(fullTool()), fullToolJSON},
		{"Tool, empty", &wire.Tool{}, `{}`},
		{"ToolChoice", &wire.ToolChoice{Mode: wire.ToolChoiceTool, Name: "read", Allowed: []string{"read"}},
			`{"mode":"tool","name":"read","allowed":["read"]}`},
		{"Reasoning", &wire.Reasoning{Mode: wire.ReasoningOn, Effort: "high", Budget: 1024, Display: "omitted", Replay: wire.ReplayNever},
			`{"mode":"on","effort":"high","budget":1024,"display":"omitted","replay":"never"}`},
		{"OutputFormat", &wire.OutputFormat{Kind: wire.OutputJSONSchema, Name: "n", Description: "d", Schema: "{}", Strict: ptr(true)},
			`{"kind":"json_schema","name":"n","description":"d","schema":"{}","strict":true}`},
		{"CachePolicy", &wire.CachePolicy{Auto: true, TTL: "1h", Key: "k"}, `{"auto":true,"ttl":"1h","key":"k"}`},
		{"Field", &wire.Field{Name: "n", Raw: `{"a": 1.0}`}, `{"name":"n","raw":"{\"a\": 1.0}"}`},
		{"Header", &wire.Header{Name: "N", Value: "v"}, `{"name":"N","value":"v"}`},
		{"Request", &wire.Request{
			Model: "m", Endpoint: "e", System: []wire.Part{wire.TextPart("s")}, Messages: []wire.Message{wire.UserText("u")},
			Tools: []wire.Tool{fullTool()}, ToolChoice: wire.ToolChoice{Mode: wire.ToolChoiceAuto}, ParallelToolCalls: ptr(false),
			MaxTokens: 100, Reasoning: &wire.Reasoning{}, Temperature: ptr(0.0), TopP: ptr(0.9), TopK: ptr(0), Seed: ptr(int64(9007199254740993)),
			PresencePenalty: ptr(0.0), FrequencyPenalty: ptr(-1.5), StopSequences: []string{"\n"}, Output: &wire.OutputFormat{Kind: wire.OutputJSON},
			Cache: &wire.CachePolicy{}, UserID: "u1", ServiceTier: "flex", Whole: true,
			Extra: []wire.Field{{Name: "b", Raw: "1"}, {Name: "a", Raw: "2"}}, Headers: []wire.Header{{Name: "H", Value: "v"}},
		}, `{"model":"m","endpoint":"e","system":[{"kind":"text","text":"s"}],"messages":[{"role":"user","parts":[{"kind":"text","text":"u"}]}],` +
			`"tools":[` + fullToolJSON + `],"tool_choice":{"mode":"auto"},"parallel_tool_calls":false,"max_tokens":100,"reasoning":{},` +
			`"temperature":0,"top_p":0.9,"top_k":0,"seed":9007199254740993,"presence_penalty":0,"frequency_penalty":-1.5,` +
			`"stop_sequences":["\n"],"output":{"kind":"json_object"},"cache":{},"user_id":"u1","service_tier":"flex","whole":true,` +
			`"extra":[{"name":"b","raw":"1"},{"name":"a","raw":"2"}],"headers":[{"name":"H","value":"v"}]}`},
		{"Request, empty", &wire.Request{}, `{"model":""}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := plain(t, tt.value)
			if got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
			loaded := newLike(tt.value)
			if err := json.Unmarshal([]byte(got), loaded); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.value, loaded); d != "" {
				t.Errorf("loaded again it differs (-want +got):\n%s", d)
			}
		})
	}
}

// TestJSONWords pins the words that the constants stand for.
func TestJSONWords(t *testing.T) {
	tests := []struct {
		name string
		got  []any
		want string
	}{
		{"roles", []any{wire.RoleUser, wire.RoleAssistant, wire.RoleTool, wire.RoleSystem}, "user assistant tool system"},
		{"part kinds", anys(allPartKinds), "text reasoning refusal tool_call tool_result media opaque"},
		{"causes", anys(allCauses), "finished truncated reset idle stalled cancelled deadline limit vendor_error protocol_error connect config"},
		{"finish reasons", anys(allFinishes), "stop length tool_call content_filter refusal pause other"},
		{"event kinds", []any{wire.EventStart, wire.EventPartStart, wire.EventDelta, wire.EventPartEnd, wire.EventUsage, wire.EventNote,
			wire.EventOther, wire.EventEnd}, "start part_start delta part_end usage note other end"},
		{"classes", []any{wire.ClassAuth, wire.ClassPermission, wire.ClassBadRequest, wire.ClassNotFound, wire.ClassOverflow,
			wire.ClassRateLimit, wire.ClassQuota, wire.ClassOverloaded, wire.ClassServer, wire.ClassTimeout, wire.ClassContentFilter},
			"auth permission bad_request not_found overflow rate_limit quota overloaded server timeout content_filter"},
		{"notes", []any{wire.NoteDropped, wire.NoteConverted, wire.NoteRenamed, wire.NoteRepaired, wire.NoteInserted, wire.NoteOdd},
			"dropped converted renamed repaired inserted odd"},
		{"framings", []any{wire.FramingSSE, wire.FramingLines, wire.FramingEventStream, wire.FramingWhole}, "sse lines eventstream whole"},
		{"tool choice", []any{wire.ToolChoiceAuto, wire.ToolChoiceNone, wire.ToolChoiceRequired, wire.ToolChoiceTool}, "auto none required tool"},
		{"reasoning", []any{wire.ReasoningOn, wire.ReasoningOff, wire.ReasoningBetweenTools, wire.ReplayNever}, "on off between_tools never"},
		{"output", []any{wire.OutputText, wire.OutputJSON, wire.OutputJSONSchema}, "text json_object json_schema"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.TrimSuffix(fmt.Sprintln(tt.got...), "\n"); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func anys[T any](s []T) (out []any) {
	for _, v := range s {
		out = append(out, v)
	}
	return out
}

func TestCallReset(t *testing.T) {
	c := wire.Call{Path: "/v1", Header: make([]wire.Header, 2, 4), Body: make([]byte, 3, 64), Framing: wire.FramingSSE, Notes: make([]wire.Note, 1, 8)}
	c.Reset()
	if c.Path != "" || c.Framing != "" || len(c.Header) != 0 || len(c.Body) != 0 || len(c.Notes) != 0 {
		t.Errorf("not empty: %+v", c)
	}
	if cap(c.Header) != 4 || cap(c.Body) != 64 || cap(c.Notes) != 8 {
		t.Errorf("the memory was not kept: %d, %d, %d", cap(c.Header), cap(c.Body), cap(c.Notes))
	}
	new(wire.Call).Reset()
}

func TestHeadHeader(t *testing.T) {
	if got := (wire.Head{}).Header("x"); got != "" {
		t.Errorf("without Get: %q", got)
	}
	h := wire.Head{Get: func(name string) string { return "<" + name + ">" }}
	if got := h.Header("x"); got != "<x>" {
		t.Errorf("got %q", got)
	}
}
