package wire_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire"
)

// The gate asks whether the vocabulary holds enough. For each protocol
// testdata/gate has
//
//   - history.json, a [wire.Request] written by hand, and
//   - turn-N.json, what the Nth assistant message was on that vendor's wire.
//
// The histories have to come through the types byte for byte, and the encoders
// of the gate_*_test.go files have to rebuild the vendor's turns from nothing
// but a [wire.Message]. They know no rules about what may be sent; that is the
// codecs' business.
//
// A turn is written in the order of keys in which the vendor documents it, and
// without marks of the caller's (cache breakpoints). It is one line, except that
// the items of Responses are one line each. An assistant message has no
// turn-N.json if it has no parts, a partial part, or another protocol's origin.
var gateProtocols = []struct {
	name string
	turn func(*wire.Message) []byte
}{
	{"anthropic-messages", gateAnthropic},
	{"openai-chat", gateChat},
	{"openai-responses", gateResponses},
	{"gemini", gateGemini},
	{"ollama", gateOllama},
	{"bedrock-converse", gateBedrock},
}

func TestGate(t *testing.T) {
	for _, p := range gateProtocols {
		t.Run(p.name, func(t *testing.T) {
			file, req := gateHistory(t, p.name)
			t.Run("roundtrip", func(t *testing.T) { gateRoundTrip(t, file, req) })
			t.Run("media", func(t *testing.T) { gateMedia(t, file, req) })
			t.Run("events", func(t *testing.T) { gateEvents(t, req) })
			t.Run("rebuild", func(t *testing.T) { gateRebuild(t, p.name, req, p.turn) })
			t.Run("rebuild-after-save-load", func(t *testing.T) {
				gateRebuild(t, p.name, gateSaveLoad(t, req), p.turn)
			})
		})
	}
}

// gateHistory reads the history of a protocol. A key that the types do not
// have fails the test.
func gateHistory(t *testing.T, protocol string) ([]byte, *wire.Request) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("testdata", "gate", protocol, "history.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	req := new(wire.Request)
	if err := d.Decode(req); err != nil {
		t.Fatal(err)
	}
	return file, req
}

func gateSaveLoad(t *testing.T, req *wire.Request) *wire.Request {
	t.Helper()
	saved, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	loaded := new(wire.Request)
	if err := json.Unmarshal(saved, loaded); err != nil {
		t.Fatal(err)
	}
	return loaded
}

func gateRoundTrip(t *testing.T, file []byte, req *wire.Request) {
	var indented bytes.Buffer
	e := json.NewEncoder(&indented)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(req); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(file), indented.String()); d != "" {
		t.Errorf("the indented form differs (-file +encoded):\n%s", d)
	}

	loaded := gateSaveLoad(t, req)
	if !reflect.DeepEqual(req, loaded) {
		t.Errorf("the loaded request differs (-before +after):\n%s", cmp.Diff(req, loaded))
	}
	once, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := json.Marshal(loaded)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(once, twice) {
		t.Errorf("saved again it differs:\n%s\n%s", once, twice)
	}
}

// gateMedia looks at the bytes of images and documents that the caller's
// messages hold, those in tool results above all.
func gateMedia(t *testing.T, file []byte, req *wire.Request) {
	loaded := gateSaveLoad(t, req)
	inResults := 0
	for i := range req.Messages {
		m, l := &req.Messages[i], &loaded.Messages[i]
		if m.Role == wire.RoleAssistant {
			continue
		}
		path := fmt.Sprintf("messages.%d.parts", i)
		inResults += gateMediaParts(t, file, path, m.Parts, l.Parts, false)
	}
	if inResults == 0 {
		t.Error("the history has no image in a tool result")
	}
}

func gateMediaParts(t *testing.T, file []byte, path string, parts, loaded []wire.Part, result bool) (n int) {
	for i := range parts {
		p, l := &parts[i], &loaded[i]
		here := fmt.Sprintf("%s.%d", path, i)
		n += gateMediaParts(t, file, here+".parts", p.Parts, l.Parts, p.Kind == wire.PartToolResult)
		if p.Media == nil || len(p.Media.Data) == 0 {
			continue
		}
		want := gjson.GetBytes(file, here+".media.data").String()
		for _, m := range []*wire.Media{p.Media, l.Media} {
			if got := base64.StdEncoding.EncodeToString(m.Data); got != want {
				t.Errorf("%s: %s, want %s", here, got, want)
			}
		}
		if s := wire.SniffImage(p.Media.Data); s != "" {
			if s != p.Media.Type || l.Media.MediaType() != s {
				t.Errorf("%s: the bytes are %s, not %s", here, s, p.Media.Type)
			}
			if result {
				n++
			}
		}
	}
	return n
}

// gateEvents plays the assistant messages as streams, since a history can hold
// only what a [wire.Builder] can make of one.
func gateEvents(t *testing.T, req *wire.Request) {
	for i := range req.Messages {
		m := req.Messages[i]
		if m.Role != wire.RoleAssistant || m.Origin == nil || m.Ending == nil {
			continue
		}
		events := []wire.Event{{Kind: wire.EventStart, Start: &wire.Start{Origin: *m.Origin}}}
		for n, p := range m.Parts {
			on := wire.Event{Part: p.Kind, Index: n}
			begin, end := on, on
			begin.Kind = wire.EventPartStart
			begin.Data = &wire.Part{ID: p.ID, Name: p.Name, FreeForm: p.FreeForm, Item: p.Item}
			events = append(events, begin)
			for s := p.Text + p.Args; s != ""; {
				piece := on
				piece.Kind = wire.EventDelta
				piece.Delta = s[:min(3, len(s))]
				s = s[len(piece.Delta):]
				events = append(events, piece)
			}
			end.Kind = wire.EventPartEnd
			end.Data = &wire.Part{
				IsError: p.IsError, Partial: p.Partial, Parts: p.Parts, Media: p.Media, Vendor: p.Vendor,
			}
			events = append(events, end)
		}
		events = append(events, wire.Event{Kind: wire.EventEnd, End: m.Ending, Raw: m.Vendor})
		if err := wire.CheckEvents(events); err != nil {
			t.Errorf("messages[%d]: %v", i, err)
		}
		var b wire.Builder
		for n := range events {
			b.Add(&events[n])
		}
		if d := cmp.Diff(m, b.Message()); d != "" {
			t.Errorf("messages[%d] differs (-history +built):\n%s", i, d)
		}
	}
}

func gateRebuild(t *testing.T, protocol string, req *wire.Request, turn func(*wire.Message) []byte) {
	n, compared := 0, 0
	for i := range req.Messages {
		m := &req.Messages[i]
		if m.Role != wire.RoleAssistant {
			continue
		}
		n++
		name := filepath.Join("testdata", "gate", protocol, fmt.Sprintf("turn-%d.json", n))
		want, err := os.ReadFile(name)
		partial := slices.ContainsFunc(m.Parts, func(p wire.Part) bool { return p.Partial })
		foreign := m.Origin != nil && m.Origin.Protocol != protocol
		if len(m.Parts) == 0 || partial || foreign {
			if err == nil {
				t.Errorf("%s: messages[%d] is not a whole turn of this vendor", name, i)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		compared++
		if got := string(turn(m)) + "\n"; got != string(want) {
			t.Errorf("%s: messages[%d]\ngot  %swant %s", name, i, got, want)
		}
	}
	files, err := filepath.Glob(filepath.Join("testdata", "gate", protocol, "turn-*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if compared == 0 || len(files) != compared {
		t.Errorf("%d turns compared, but there are %d files", compared, len(files))
	}
}

// TestGateFields fails for a field of the vocabulary that no history sets, since
// nothing then proves that it comes through.
func TestGateFields(t *testing.T) {
	exempt := map[string]string{
		"wire.Error.Err": "is not part of the JSON form",
	}
	seen := make(map[string]bool)
	types := make(map[reflect.Type]bool)
	gateTypes(reflect.TypeFor[wire.Request](), types)
	for _, p := range gateProtocols {
		_, req := gateHistory(t, p.name)
		gateSet(reflect.ValueOf(*req), seen)
	}
	for typ := range types {
		for i := range typ.NumField() {
			name := typ.String() + "." + typ.Field(i).Name
			reason, ok := exempt[name]
			switch {
			case seen[name] && ok:
				t.Errorf("%s is set by a history, though it %s", name, reason)
			case !seen[name] && !ok:
				t.Errorf("%s is set by no history under testdata/gate", name)
			}
			delete(exempt, name)
		}
	}
	for name := range exempt {
		t.Errorf("there is no %s", name)
	}
	for _, want := range []reflect.Type{
		reflect.TypeFor[wire.Part](), reflect.TypeFor[wire.Message](), reflect.TypeFor[wire.Origin](),
		reflect.TypeFor[wire.Ending](), reflect.TypeFor[wire.Error](), reflect.TypeFor[wire.Tool](),
	} {
		if !types[want] {
			t.Errorf("a request does not lead to %s", want)
		}
	}
}

// TestGateGoError states that the Go error behind an [wire.Error] is left out
// when it is saved, and hinders nothing.
func TestGateGoError(t *testing.T) {
	saved, err := json.Marshal(&wire.Error{Cause: wire.CauseReset, Message: "m", Err: errors.New("<secret>")})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(saved), `{"cause":"reset","message":"m"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// gateTypes collects the struct types that typ leads to.
func gateTypes(typ reflect.Type, into map[reflect.Type]bool) {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		gateTypes(typ.Elem(), into)
	case reflect.Struct:
		if !into[typ] {
			into[typ] = true
			for i := range typ.NumField() {
				gateTypes(typ.Field(i).Type, into)
			}
		}
	}
}

// gateSet notes the fields below v that are not zero.
func gateSet(v reflect.Value, seen map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			gateSet(v.Elem(), seen)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			gateSet(v.Index(i), seen)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				seen[v.Type().String()+"."+v.Type().Field(i).Name] = true
				gateSet(f, seen)
			}
		}
	}
}

// TestGateIllFormed states what a save makes of text that is not UTF-8: each
// byte that belongs to no character becomes one U+FFFD. Saving again changes
// nothing more.
func TestGateIllFormed(t *testing.T) {
	const r = "\uFFFD"
	tests := []struct{ name, in, want string }{
		{"a byte that is never part of a character", "a\xffb", "a" + r + "b"},
		{"a continuation without a start", "a\x80\x80", "a" + r + r},
		{"a start without continuation", "\xc3(", r + "("},
		{"a cut character", "5 \xe2\x82", "5 " + r + r},
		{"a cut character of four bytes", "\xf0\x9f\x98", r + r + r},
		{"a surrogate half", "\xed\xa0\xbd", r + r + r},
		{"an overlong form", "\xc0\xaf", r + r},
		{"beyond the last character", "\xf4\x90\x80\x80", r + r + r + r},
		{"a replacement character that was there", "a" + r, "a" + r},
		{"escapes are text", `{"s":"\ud83d\u0000"}`, `{"s":"\ud83d\u0000"}`},
		{"controls and separators", "\x00\x1f\x7f\u2028\u2029\ufeff", "\x00\x1f\x7f\u2028\u2029\ufeff"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := &wire.Request{Messages: []wire.Message{{
				Role: wire.RoleAssistant,
				Parts: []wire.Part{
					{Kind: wire.PartText, Text: tt.in},
					{Kind: wire.PartToolCall, Args: tt.in, Vendor: tt.in, Partial: true},
				},
				Vendor: tt.in,
			}}}
			once := gateSaveLoad(t, req)
			m := &once.Messages[0]
			for i, got := range []string{m.Parts[0].Text, m.Parts[1].Args, m.Parts[1].Vendor, m.Vendor} {
				if got != tt.want {
					t.Errorf("string %d: got %q, want %q", i, got, tt.want)
				}
			}
			if twice := gateSaveLoad(t, once); !reflect.DeepEqual(once, twice) {
				t.Errorf("changed again:\n%s", cmp.Diff(once, twice))
			}
			// Raw bytes in a file, as another program may write them, load
			// the same way.
			if !strings.ContainsAny(tt.in, "\\\"\x00\x1f") {
				var p wire.Part
				if err := json.Unmarshal([]byte(`{"kind":"text","text":"`+tt.in+`"}`), &p); err != nil {
					t.Fatal(err)
				}
				if p.Text != tt.want {
					t.Errorf("raw: got %q, want %q", p.Text, tt.want)
				}
			}
		})
	}
}

// gateString appends s as a JSON string in which <, > and & stay as they are.
func gateString(dst []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err)
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// gateKey begins a member of an object: what separates it from an earlier one,
// and its key.
func gateKey(dst []byte, key string) []byte {
	return append(gateString(gateNext(dst), key), ':')
}

// gateNext appends a comma unless an array or object has just been opened.
func gateNext(dst []byte) []byte {
	if n := len(dst); n == 0 || dst[n-1] == '{' || dst[n-1] == '[' {
		return dst
	}
	return append(dst, ',')
}

// gateMembers appends the members of the object in vendor, their values byte
// for byte, without those of the names given.
func gateMembers(dst []byte, vendor string, without ...string) []byte {
	gjson.Parse(vendor).ForEach(func(key, value gjson.Result) bool {
		if !slices.Contains(without, key.Str) {
			dst = append(gateNext(dst), key.Raw...)
			dst = append(append(dst, ':'), value.Raw...)
		}
		return true
	})
	return dst
}

// gateObject appends arguments to where a vendor wants an object. What is none
// cannot go there; an empty object then stands in for it.
func gateObject(dst []byte, args string) []byte {
	if !wire.ValidJSON(args) {
		return append(dst, "{}"...)
	}
	return append(dst, args...)
}
