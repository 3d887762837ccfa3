package wire_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/handwire/handwire/wire"
)

func ExamplePartialJSON() {
	var p wire.PartialJSON
	for _, delta := range []string{`{"path":"ma`, `in.go","li`, `nes":[1,2`, `0],"dry":t`, `rue}`} {
		p.Write(delta)
		fmt.Printf("%s %t\n", p.AppendCompletion(nil), p.Complete())
	}
	// Output:
	// {"path":"ma"} false
	// {"path":"main.go"} false
	// {"path":"main.go","lines":[1,2]} false
	// {"path":"main.go","lines":[1,20],"dry":true} false
	// {"path":"main.go","lines":[1,20],"dry":true} true
}

// readPartial gives the text to a new reader in one piece.
func readPartial(s string) *wire.PartialJSON {
	p := new(wire.PartialJSON)
	p.Write(s)
	return p
}

var partialTests = []struct {
	in, want string
}{
	{"", "{}"}, {" \t\r\n", "{}"},
	{"{", "{}"}, {" { ", "{}"}, {"[", "[]"}, {`{}`, "{}"}, {` {} `, "{}"},
	{`{"`, "{}"}, {`{"a`, "{}"}, {`{"a"`, "{}"}, {`{"a" :`, "{}"}, {`{"a": `, "{}"},
	{`{"a":1,`, `{"a":1}`}, {`{"a":1 , "b`, `{"a":1}`}, {`{"a":1,"b":`, `{"a":1}`},
	{`{"a":{`, `{"a":{}}`}, {`{"a":[{"b":[`, `{"a":[{"b":[]}]}`}, {`[{"b":[]`, `[{"b":[]}]`},
	{`[1,`, `[1]`}, {`[1 , `, `[1]`}, {`["a",`, `["a"]`}, {`[[],`, `[[]]`},
	// Strings.
	{`"`, `""`}, {`"ab`, `"ab"`}, {`{"a":"`, `{"a":""}`}, {`{"a":"b c`, `{"a":"b c"}`},
	{`"a\`, `"a"`}, {`"a\n`, `"a\n"`}, {`"a\u`, `"a"`}, {`"a\u00e`, `"a"`}, {`"a\u00e9`, `"a\u00e9"`},
	{`"a\\`, `"a\\"`}, {`"a\"`, `"a\""`}, {`"\ud83`, `""`},
	{`"a\ud83e`, `"a"`}, {`"a\ud83e\`, `"a"`}, {`"a\ud83e\u`, `"a"`}, {`"a\ud83e\udd8`, `"a"`},
	{`"a\ud83e\udd8a`, `"a\ud83e\udd8a"`}, {`"a\ud83e\n`, `"a\ud83e\n"`}, {`"a\ud83eb`, `"a\ud83eb"`},
	{`"a\ud83e\ud83e`, `"a\ud83e"`}, {`"a\udd8a`, `"a\udd8a"`}, {`"a\ud83e"`, `"a\ud83e"`}, {`["\ud83e","`, `["\ud83e",""]`},
	{`"\ud83ex\`, `"\ud83ex"`},
	{"\"é\xc3", `"é"`}, {"\"\xe6\x97", `""`}, {"\"\xe6\x97\xa5", `"日"`}, {"\"\xf0\x9f\xa6", `""`}, {"\"\xf0\x9f\xa6\x8a", `"🦊"`},
	{"\"\xff", "\"\xff\""}, {"\"\x97\x97\x97", "\"\x97\x97\x97\""}, {"\"\xe6\x97\\", "\"\xe6\x97\""}, {"\"\xe6x", "\"\xe6x\""},
	{`{"\ud83e`, `{}`}, {`{"\`, `{}`}, {"{\"\xe6", `{}`},
	// Literals.
	{`t`, `true`}, {`{"a":tru`, `{"a":true}`}, {`[f`, `[false]`}, {`[false`, `[false]`}, {`[null,n`, `[null,null]`}, {`true `, `true`},
	// Numbers.
	{`-`, `{}`}, {` -`, `{}`}, {`[-`, `[]`}, {`[1,-`, `[1]`}, {`{"a":-`, `{}`}, {`{"a":1,"b":-`, `{"a":1}`},
	{`{"a":12`, `{"a":12}`}, {`-0`, `-0`}, {`[0.`, `[0]`}, {`[-1.`, `[-1]`}, {`[1.5`, `[1.5]`}, {`[1.50e`, `[1.50]`}, {`[1e`, `[1]`},
	{`[1E+`, `[1]`}, {`[1e-0`, `[1e-0]`}, {`[1e10`, `[1e10]`}, {`[1,2.`, `[1,2]`}, {`[1e5 `, `[1e5]`}, {`[0,`, `[0]`},
	{`[9007199254740993,1.0,1e21`, `[9007199254740993,1.0,1e21]`},
}

func TestPartialJSONCompletion(t *testing.T) {
	for _, tt := range partialTests {
		t.Run(tt.in, func(t *testing.T) {
			p := readPartial(tt.in)
			if err := p.Err(); err != nil {
				t.Fatal(err)
			}
			if got := string(p.AppendCompletion([]byte("x"))); got != "x"+tt.want {
				t.Errorf("got %s, want x%s", got, tt.want)
			}
			checkPartial(t, tt.in)
		})
	}
}

func TestPartialJSONErrors(t *testing.T) {
	tests := []struct {
		in, want, err string
	}{
		{`}`, `{}`, "offset 0: expected a value"},
		{`{"a":1}}`, `{"a":1}`, "offset 7: unexpected text after the value"},
		{`{"a":1} x`, `{"a":1}`, "offset 8: unexpected text after the value"},
		{`12x`, `12`, "offset 2: unexpected text after the value"},
		{`{"a":12x`, `{"a":12}`, "offset 7: expected a comma or the end of the array or object"},
		{`{"a":1]`, `{"a":1}`, "offset 6: expected a comma or the end of the array or object"},
		{`[1}`, `[1]`, "offset 2: expected a comma or the end of the array or object"},
		{`[1 2`, `[1]`, "offset 3: expected a comma or the end of the array or object"},
		{`[1,]`, `[1]`, "offset 3: expected a value"},
		{`{"a":1,}`, `{"a":1}`, "offset 7: expected a string as key"},
		{`{,`, `{}`, "offset 1: expected a string as key"},
		{`{a`, `{}`, "offset 1: expected a string as key"},
		{`{"a",`, `{}`, "offset 4: expected a colon after the key"},
		{`[01`, `[0]`, "offset 2: expected a comma or the end of the array or object"},
		{`[.5`, `[]`, "offset 1: expected a value"},
		{`[-x`, `[]`, "offset 2: expected a digit"},
		{`[1.e`, `[1]`, "offset 3: expected a digit"},
		{`[1e+]`, `[1]`, "offset 4: expected a digit"},
		{`[1.5ee`, `[1.5]`, "offset 5: expected a digit"},
		{`[trux`, `[true]`, "offset 4: misspelt literal"},
		{`[truee`, `[true]`, "offset 5: expected a comma or the end of the array or object"},
		{"{\"a\":\"b\nc\"}", `{"a":"b"}`, "offset 7: control character in a string"},
		{`["a\x`, `["a"]`, "offset 4: unknown escape in a string"},
		{`["a\u12g`, `["a"]`, "offset 7: expected a hexadecimal digit"},
		{"\ufeff{}", `{}`, "offset 0: expected a value"},
		{strings.Repeat("[", 10001), strings.Repeat("[", 10000) + strings.Repeat("]", 10000), "offset 10000: nested too deeply"},
	}
	for _, tt := range tests {
		t.Run(tt.in[:min(len(tt.in), 20)], func(t *testing.T) {
			p := readPartial(tt.in)
			if err := p.Err(); err == nil || err.Error() != "wire: partial JSON: "+tt.err {
				t.Errorf("Err() = %v, want %s", err, tt.err)
			}
			if got := string(p.AppendCompletion(nil)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if p.Complete() {
				t.Error("complete in spite of an error")
			}
			p.Write(`"]}`)
			if got := string(p.AppendCompletion(nil)); got != tt.want {
				t.Errorf("after more text: got %s, want %s", got, tt.want)
			}
			checkPartial(t, tt.in)
			p.Reset()
			p.Write(`{"b":[2]}`)
			if got := string(p.AppendCompletion(nil)); got != `{"b":[2]}` || !p.Complete() || p.Err() != nil {
				t.Errorf("after Reset: %s, %t, %v", got, p.Complete(), p.Err())
			}
			p.Reset()
			p.Write("]")
			if err := p.Err(); err == nil || !strings.Contains(err.Error(), "offset 0:") {
				t.Errorf("after Reset: %v, want an error at offset 0", err)
			}
		})
	}
}

var partialDocuments = []string{
	`{"path":"src/main.go","old":"a := \"x\"\n","new":"b\\","all":true,"n":-12.5e+3,"none":null,"list":[1,[],{},{"k":"v"},false]}`,
	" {\r\n\t\"id\" : 9007199254740993 , \"f\":1.0,\"e\":1e21, \"h\":\"<1>&\" , \"deep\":{\"a\":{\"b\":[[[\"c\"]]]}} } \n",
	`{"text":"日本語 \u65e5\u672c 🦊 \ud83e\udd8a \ud83e lone \udd8a","":"","\u0061\"":[0,-0,0.0,10]}`,
	`["x",{"a":[1,2,{"b":[true,false,null]}]},-1]`,
	`"just a string"`,
	`-120.50E-7`,
	`{"a":1,"a":{"a":2}}`,
	`null`,
}

func TestPartialJSONPrefixes(t *testing.T) {
	for _, doc := range partialDocuments {
		if !json.Valid([]byte(doc)) {
			t.Fatalf("not valid: %s", doc)
		}
		var before any
		var p wire.PartialJSON
		for i := range len(doc) {
			checkPartial(t, doc[:i])
			p.Write(doc[i : i+1])
			var now any
			if err := json.Unmarshal(p.AppendCompletion(nil), &now); err != nil {
				t.Fatal(err)
			}
			if before != nil && !grew(before, now, true) {
				t.Fatalf("%q: %v became %v", doc[:i+1], before, now)
			}
			if before = now; isEmpty(now) {
				before = nil
			}
			if !utf8.ValidString(string(p.AppendCompletion(nil))) {
				t.Fatalf("%q: completion is not UTF-8", doc[:i+1])
			}
		}
		checkPartial(t, doc)
		if got, want := string(p.AppendCompletion(nil)), strings.TrimSpace(doc); got != want || !p.Complete() {
			t.Errorf("got %s, %t; want %s", got, p.Complete(), want)
		}
	}
}

// isEmpty reports whether v is what stands for a text that shows nothing yet.
func isEmpty(v any) bool {
	m, ok := v.(map[string]any)
	return ok && len(m) == 0
}

// grew reports whether b can be a later reading of what was a. Only what is
// last may change: a string gets longer, a number or literal may change, and an
// array or object gets more elements.
func grew(a, b any, last bool) bool {
	if !last {
		return reflect.DeepEqual(a, b)
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(b) < len(a) {
			return false
		}
		// Maps do not say which member was last: one may have changed.
		changed := 0
		for k, v := range a {
			w, ok := b[k]
			if !ok {
				return false
			}
			if !reflect.DeepEqual(v, w) {
				changed++
				if !grew(v, w, true) {
					if _, again := w.(map[string]any); !again { // a duplicate key
						return false
					}
				}
			}
		}
		return changed <= 1
	case []any:
		b, ok := b.([]any)
		if !ok || len(b) < len(a) {
			return false
		}
		for i, v := range a {
			if !grew(v, b[i], i == len(a)-1 && len(a) == len(b)) {
				return false
			}
		}
		return true
	case string:
		b, ok := b.(string)
		return ok && strings.HasPrefix(b, a)
	case float64:
		_, ok := b.(float64)
		return ok
	}
	return reflect.DeepEqual(a, b)
}

// checkPartial checks what holds for every text.
func checkPartial(t testing.TB, s string) {
	t.Helper()
	whole := readPartial(s)
	got := string(whole.AppendCompletion(nil))
	if !json.Valid([]byte(got)) {
		t.Fatalf("%q: completion %q is not valid", s, got)
	}
	valid := json.Valid([]byte(s))
	if whole.Complete() != valid {
		t.Fatalf("%q: Complete() = %t, json.Valid %t", s, whole.Complete(), valid)
	}
	if trimmed := strings.Trim(s, " \t\r\n"); valid && (got != trimmed || whole.Err() != nil) {
		t.Fatalf("%q: completion %q, %v", s, got, whole.Err())
	}
	if utf8.ValidString(s) && !utf8.ValidString(got) {
		t.Fatalf("%q: completion %q is not UTF-8", s, got)
	}
	if whole.Err() == nil && !valid {
		// While there is no error, there is a way to go on to a valid text.
		if !canContinue(s, got) {
			t.Fatalf("%q: no error, but nothing makes it valid", s)
		}
	}

	var bytewise, pieces wire.PartialJSON
	for i := range len(s) {
		bytewise.Write(s[i : i+1])
	}
	for rest, n := s, 1; rest != ""; n = n*5%7 + 1 {
		pieces.Write(rest[:min(n, len(rest))])
		pieces.Write("")
		_ = pieces.AppendCompletion(nil)
		rest = rest[min(n, len(rest)):]
	}
	for name, p := range map[string]*wire.PartialJSON{"byte by byte": &bytewise, "in pieces": &pieces} {
		if other := string(p.AppendCompletion(nil)); other != got || p.Complete() != whole.Complete() ||
			fmt.Sprint(p.Err()) != fmt.Sprint(whole.Err()) {
			t.Fatalf("%q %s: %q, %t, %v; whole: %q, %t, %v", s, name,
				other, p.Complete(), p.Err(), got, whole.Complete(), whole.Err())
		}
	}
}

// canContinue reports whether some ending makes s valid. The brackets to close
// are those at the end of the completion.
func canContinue(s, completion string) bool {
	closers := completion[len(strings.TrimRight(completion, "]}")):]
	for i := range len(closers) + 1 {
		for _, ending := range []string{
			"", "{}", "0", `"`, `""`, `"":0`, `":0`, ":0", `n"`, `n":0`,
			"0000\"", "000\"", "00\"", "0\"", "0000\":0", "000\":0", "00\":0", "0\":0",
			"rue", "ue", "e", "alse", "lse", "se", "ull", "ll", "l",
		} {
			if json.Valid([]byte(s + ending + closers[i:])) {
				return true
			}
		}
	}
	return false
}

func TestPartialJSONAllocs(t *testing.T) {
	doc := partialDocuments[0]
	dst := make([]byte, 0, 2*len(doc))
	var p wire.PartialJSON
	p.Write(doc)
	n := testing.AllocsPerRun(100, func() {
		p.Reset()
		for i := 0; i < len(doc); i += 4 {
			p.Write(doc[i:min(i+4, len(doc))])
			dst = p.AppendCompletion(dst[:0])
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkPartialJSON writes a text in pieces of four bytes. The time per byte
// must be the same for both sizes.
func BenchmarkPartialJSON(b *testing.B) {
	for _, lines := range []int{100, 10000} {
		b.Run(fmt.Sprint(lines), func(b *testing.B) {
			doc := `{"path":"a.go","edits":[` + strings.Repeat(`{"line":12,"text":"if err != nil {\n"},`, lines) + `0]}`
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				var p wire.PartialJSON
				for i := 0; i < len(doc); i += 4 {
					p.Write(doc[i:min(i+4, len(doc))])
				}
				if !p.Complete() {
					b.Fatal(p.Err())
				}
			}
		})
	}
}
