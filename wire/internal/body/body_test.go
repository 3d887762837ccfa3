package body_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/body"
	"github.com/handwire/handwire/wire/internal/codec"
)

// TestWriter: what each method writes, notes and refuses.
func TestWriter(t *testing.T) {
	at := codec.Item("tools", 1)
	media := func(m *wire.Media) func(*body.Writer) {
		return func(w *body.Writer) {
			_, typ := w.Media(&wire.Part{Kind: wire.PartMedia, Media: m}, at)
			w.Lit(typ)
		}
	}
	png := []byte("\x89PNG\r\n\x1a\n")
	for _, tc := range []struct {
		name  string
		write func(w *body.Writer)
		want  string
		notes string // code and path of each
		finds string // path of each
	}{
		{"string", func(w *body.Writer) { w.Str("a\"\xff") }, "\"a\\\"\uFFFD\"", "", ""},
		{"raw", func(w *body.Writer) { w.Raw(` {"a": 1} `, at) }, `{"a": 1}`, "", ""},
		{"raw, mended", func(w *body.Writer) { w.Raw("\"\xff\"", at) }, "\"\uFFFD\"", "repaired tools[1]", ""},
		{"raw, no JSON", func(w *body.Writer) { w.Raw(`{"a":`, at) }, `null`, "", "tools[1]"},
		{"dropped", func(w *body.Writer) { w.Dropped("seed", "none") }, "", "dropped seed", ""},
		{"members", func(w *body.Writer) { w.Members(`{"a":1,"b":{"c": 2}}`, at, "", "", "x", "") }, `,"a":1,"b":{"c": 2}`, "", ""},
		{"members of nothing", func(w *body.Writer) { w.Members("", at, "", "", "a") }, "", "", ""},
		{"members, but some", func(w *body.Writer) { w.Members(`{"a":1,"b":2,"cc":3}`, at, "", "b  a c") }, `,"cc":3`, "", ""},
		{"members that are written", func(w *body.Writer) { w.Members(`{"a":1,"b":2}`, at, "", "", "b") }, `,"a":1,"b":2`, "", "tools[1].vendor"},
		{"members twice", func(w *body.Writer) { w.Members(`{"a":1,"\u0061":2}`, at, "", "") }, `,"a":1,"\u0061":2`, "", "tools[1].vendor"},
		{"members of an array", func(w *body.Writer) { w.Members(`[1]`, at, "", "") }, "", "", "tools[1].vendor"},
		{"members, cut off", func(w *body.Writer) { w.Members(`{"a":1`, at, "", "") }, "", "", "tools[1].vendor"},
		{"a field", func(w *body.Writer) { w.Field(&wire.Field{Name: "a\n", Raw: "[1]"}, at) }, `,"a\n":[1]`, "", ""},
		{"a name", func(w *body.Writer) { w.Name("a-b_1", 5, at, ".name") }, `"a-b_1"`, "", ""},
		{"a name that is too long", func(w *body.Writer) { w.Name(strings.Repeat("a", 19), 18, at, ".id") }, `"a_` + safe(strings.Repeat("a", 19)) + `"`, "renamed tools[1].id", ""},
		{"a schema", func(w *body.Writer) { w.Schema(`{"type":"object","properties":{}}`, at) }, `{"type":"object","properties":{}}`, "", ""},
		{"a schema, mended", func(w *body.Writer) { w.Schema(`{}`, at) }, `{"type":"object","properties":{}}`, "repaired tools[1].schema", ""},
		{"a schema with half a character", func(w *body.Writer) { w.Schema(`{"type":"object","properties":{},"title":"\ud800"}`, at) }, `{"type":"object","properties":{},"title":"\ufffd"}`, "repaired tools[1].schema", ""},
		{"no schema", func(w *body.Writer) { w.Schema(`[]`, at) }, `null`, "", "tools[1].schema"},
		{"media", media(&wire.Media{Type: "image/png", Data: png}), "image/png", "", ""},
		{"media of another type", media(&wire.Media{Type: "IMAGE/GIF", Data: png}), "image/png", "repaired tools[1].media.type", ""},
		{"media of a usual mistake", media(&wire.Media{Type: "image/jpg", Data: []byte("\xff\xd8\xff")}), "image/jpeg", "", ""},
		{"no media", media(nil), "", "", "tools[1].media"},
		{"media in two ways", media(&wire.Media{URL: "https://h.example/a", FileID: "f"}), "", "", "tools[1].media"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := body.Writer{Call: new(wire.Call)}
			tc.write(&w)
			var notes, finds []string
			for _, n := range w.Call.Notes {
				notes = append(notes, string(n.Code)+" "+n.Path)
			}
			for _, f := range w.Findings {
				finds = append(finds, f.Path)
			}
			if string(w.B) != tc.want || strings.Join(notes, ",") != tc.notes || strings.Join(finds, ",") != tc.finds {
				t.Errorf("%s, notes %v, findings %v; want %s, %s, %s", w.B, notes, finds, tc.want, tc.notes, tc.finds)
			}
		})
	}
}

// safe is the hash that a safe name ends with.
func safe(s string) string {
	name := codec.SafeName(s, 18)
	return name[strings.LastIndexByte(name, '_')+1:]
}

// TestMarks: the marks among members are counted, also those that are refused.
func TestMarks(t *testing.T) {
	w := body.Writer{Call: new(wire.Call)}
	if n := w.Members(`{"m":1,"a":2,"n":3}`, codec.Field("x"), "m n", "a", "n"); n != 2 || string(w.B) != `,"m":1,"n":3` {
		t.Errorf("%d marks in %s", n, w.B)
	}
}

// TestExtra: a field has a name, and one that no other has once both are JSON.
func TestExtra(t *testing.T) {
	fields := []wire.Field{{Name: "a"}, {Name: ""}, {Name: "a"}, {Name: "\xff"}, {Name: "\xfe"}, {Name: "b"}}
	w := body.Writer{Call: new(wire.Call)}
	for i := range fields {
		w.Extra(fields, i)
	}
	var paths []string
	for _, f := range w.Findings {
		paths = append(paths, f.Path)
	}
	if want := []string{"extra[1]", "extra[2]", "extra[4]"}; !slices.Equal(paths, want) {
		t.Errorf("findings at %v, want %v", paths, want)
	}
}

// TestNothingAllocated: what needs no note makes no text.
func TestNothingAllocated(t *testing.T) {
	w := body.Writer{B: make([]byte, 0, 1024), Call: new(wire.Call)}
	at := codec.Part(3, 1)
	p := &wire.Part{Kind: wire.PartMedia, Media: &wire.Media{Type: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}}
	if n := testing.AllocsPerRun(100, func() {
		w.B = w.B[:0]
		w.Str("a")
		w.Name("call_1", 64, at, ".id")
		w.Schema(`{"type":"object","properties":{}}`, at)
		w.Members(`{"a":1}`, at, "m", "n", "x")
		w.Media(p, at)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
