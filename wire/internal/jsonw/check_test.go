package jsonw_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/handwire/handwire/wire/internal/jsonw"
)

var checkTests = []struct {
	in     string
	offset int // -1 for valid text
	reason string
}{
	{`{}`, -1, ""},
	{"\t\n\r [ ] \t\n\r", -1, ""},
	{`null`, -1, ""}, {`true`, -1, ""}, {`false`, -1, ""},
	{`0`, -1, ""}, {`-0`, -1, ""}, {`10`, -1, ""}, {`-12.50`, -1, ""}, {`1e5`, -1, ""}, {`1E+05`, -1, ""}, {`0.0e-0`, -1, ""},
	{`""`, -1, ""}, {`"a"`, -1, ""}, {`"\"\\\/\b\f\n\r\t\u12aF"`, -1, ""},
	{`"\ud83d"`, -1, ""}, {`"\udc00\ud800"`, -1, ""}, {"\"\xff\x7f\"", -1, ""},
	{`{"id":9007199254740993,"f":1.0,"e":1e21}`, -1, ""},
	{`{"a" : [ 1 , {"b":[[],{}]} , "x" ] , "c":null}`, -1, ""},
	{`{"a":1,"a":2}`, -1, ""},

	{``, 0, "unexpected end of JSON"},
	{`  `, 2, "unexpected end of JSON"},
	{`{`, 1, "unexpected end of JSON"},
	{`[`, 1, "unexpected end of JSON"},
	{`{"a"`, 4, "unexpected end of JSON"},
	{`{"a":`, 5, "unexpected end of JSON"},
	{`{"a":1`, 6, "unexpected end of JSON"},
	{`{"a":1,`, 7, "unexpected end of JSON"},
	{`"abc`, 4, "unexpected end of JSON"},
	{`"abcdefghijkl`, 13, "unexpected end of JSON"},
	{`"\`, 2, "unexpected end of JSON"},
	{`"\u12`, 5, "unexpected end of JSON"},
	{`tru`, 3, "unexpected end of JSON"},
	{`-`, 1, "unexpected end of JSON"},
	{`1.`, 2, "unexpected end of JSON"},
	{`1e`, 2, "unexpected end of JSON"},
	{`1e+`, 3, "unexpected end of JSON"},
	{`]`, 0, "expected a value"},
	{`[1,]`, 3, "expected a value"},
	{`{"a":}`, 5, "expected a value"},
	{`[+1]`, 1, "expected a value"},
	{`.5`, 0, "expected a value"},
	{`NaN`, 0, "expected a value"},
	{"\u00a0{}", 0, "expected a value"},
	{"\ufeff{}", 0, "expected a value"},
	{"\v1", 0, "expected a value"},
	{`{1:2}`, 1, "expected a string as key"},
	{`{"a":1,}`, 7, "expected a string as key"},
	{`{,}`, 1, "expected a string as key"},
	{`{"a" 1}`, 5, "expected a colon after the key"},
	{`{"a",1}`, 4, "expected a colon after the key"},
	{`[1 2]`, 3, "expected a comma or the end of the array or object"},
	{`[1}`, 2, "expected a comma or the end of the array or object"},
	{`{"a":1]`, 6, "expected a comma or the end of the array or object"},
	{`[01]`, 2, "expected a comma or the end of the array or object"},
	{`{} {}`, 3, "unexpected text after the value"},
	{`1,`, 1, "unexpected text after the value"},
	{`1:`, 1, "unexpected text after the value"},
	{`1/`, 1, "unexpected text after the value"},
	{`01`, 1, "unexpected text after the value"},
	{`truex`, 4, "unexpected text after the value"},
	{"{}\x00", 2, "unexpected text after the value"},
	{"\"a\nb\"", 2, "control character in a string"},
	{"\"\x00\"", 1, "control character in a string"},
	{"\"0123456789\x1f\"", 11, "control character in a string"},
	{`"\x41"`, 2, "unknown escape in a string"},
	{`"\U1234"`, 2, "unknown escape in a string"},
	{`"\u12G4"`, 5, "expected a hexadecimal digit"},
	{`"\u12"`, 5, "expected a hexadecimal digit"},
	{`-a`, 1, "expected a digit"},
	{`1.e5`, 2, "expected a digit"},
	{`1ex`, 2, "expected a digit"},
	{`1e+-1`, 3, "expected a digit"},
	{`trux`, 3, "misspelt literal"},
	{`fals `, 4, "misspelt literal"},
	{`nUll`, 1, "misspelt literal"},
}

func TestCheck(t *testing.T) {
	for _, tt := range checkTests {
		t.Run(tt.in, func(t *testing.T) {
			if std := json.Valid([]byte(tt.in)); std != (tt.offset < 0) {
				t.Fatalf("json.Valid = %t", std)
			}
			p := jsonw.Check(tt.in)
			if tt.offset < 0 {
				if p != nil {
					t.Fatalf("got %v, want valid", p)
				}
			} else if p == nil {
				t.Fatal("got valid")
			} else if p.Offset != tt.offset || p.Reason != tt.reason {
				t.Fatalf("got %d %q, want %d %q", p.Offset, p.Reason, tt.offset, tt.reason)
			}
			checkAll(t, tt.in)
		})
	}
	p := &jsonw.Problem{Offset: 12, Reason: "unexpected end of JSON"}
	if got := p.Error(); got != "offset 12: unexpected end of JSON" {
		t.Errorf("Error() = %q", got)
	}
}

// checkAll compares the four ways to check s with json.Valid.
func checkAll(t testing.TB, s string) {
	t.Helper()
	want := json.Valid([]byte(s))
	p, q := jsonw.Check(s), jsonw.CheckBytes([]byte(s))
	if (p == nil) != want {
		t.Fatalf("Check(%q) = %v, json.Valid %t", s, p, want)
	}
	if (q == nil) != want || p != nil && *p != *q {
		t.Fatalf("CheckBytes(%q) = %v, Check %v", s, q, p)
	}
	if jsonw.Valid(s) != want || jsonw.ValidBytes([]byte(s)) != want {
		t.Fatalf("Valid(%q) = %t, ValidBytes %t, want %t", s, jsonw.Valid(s), jsonw.ValidBytes([]byte(s)), want)
	}
	if p != nil && (p.Offset < 0 || p.Offset > len(s) || p.Reason == "") {
		t.Fatalf("Check(%q) = %#v", s, p)
	}
}

func FuzzCheck(f *testing.F) {
	for _, tt := range checkTests {
		f.Add(tt.in)
	}
	f.Add(nested(130))
	f.Fuzz(func(t *testing.T, s string) { checkAll(t, s) })
}

// nested returns a valid text with n open containers, in which no prefix of the
// kinds repeats with a period that divides 64.
func nested(n int) string {
	var open strings.Builder
	closers := make([]byte, 0, n)
	for i := range n {
		if i%3 == 0 || i%7 == 0 {
			open.WriteString(`{"k":`)
			closers = append(closers, '}')
		} else {
			open.WriteString(`[`)
			closers = append(closers, ']')
		}
	}
	open.WriteString("1")
	for i := n - 1; i >= 0; i-- {
		if i%5 == 0 {
			if closers[i] == '}' {
				open.WriteString(`,"z":0`)
			} else {
				open.WriteString(`,0`)
			}
		}
		open.WriteByte(closers[i])
	}
	return open.String()
}

func TestCheckDepth(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 127, 128, 129, 200, 640, jsonw.MaxDepth} {
		s := nested(n)
		if p := jsonw.Check(s); p != nil {
			t.Errorf("depth %d: %v", n, p)
		}
		checkAll(t, s)
		// Each closing bracket must be the one of its own level.
		for i := range s {
			if n > 200 || s[i] != ']' && s[i] != '}' {
				continue
			}
			b := []byte(s)
			b[i] ^= ']' ^ '}'
			if p := jsonw.CheckBytes(b); p == nil || p.Offset != i {
				t.Fatalf("depth %d: wrong bracket at %d: got %v", n, i, p)
			}
		}
	}
	s := nested(jsonw.MaxDepth + 1)
	checkAll(t, s)
	for name, s := range map[string]string{
		"closed": strings.Repeat("[", jsonw.MaxDepth+1) + strings.Repeat("]", jsonw.MaxDepth+1),
		"open":   strings.Repeat("[", 1e6),
	} {
		p := jsonw.Check(s)
		if p == nil || p.Offset != jsonw.MaxDepth || p.Reason != "nested too deeply" {
			t.Errorf("%s: got %v", name, p)
		}
	}
	if p := jsonw.Check(strings.Repeat(`{"":`, 1e6)); p == nil || p.Offset != 4*jsonw.MaxDepth {
		t.Errorf("objects: got %v", p)
	}
}

var rawTests = []struct {
	name, in, want string
	repairs        int
}{
	{"as it is", `{"id":9007199254740993,"f":1.0,"e":1e21, "h":"<1>&\u003c\/"}`, `{"id":9007199254740993,"f":1.0,"e":1e21, "h":"<1>&\u003c\/"}`, 0},
	{"trimmed", " \t\n[ 1 ]\r\n ", "[ 1 ]", 0},
	{"pair", `"\ud83e\udd8a\uD83E\uDD8A"`, `"\ud83e\udd8a\uD83E\uDD8A"`, 0},
	{"lone high", `"\ud83d"`, `"\ufffd"`, 1},
	{"lone low", `"a\uDC00b"`, `"a\ufffdb"`, 1},
	{"wrong order", `"\udd8a\ud83e"`, `"\ufffd\ufffd"`, 2},
	{"two lows", `"\udd8a\udd8a"`, `"\ufffd\ufffd"`, 2},
	{"high before a pair", `"\ud83e\ud83e\udd8a"`, `"\ufffd\ud83e\udd8a"`, 1},
	{"high before another escape", `"\ud83e\n\udd8a"`, `"\ufffd\n\ufffd"`, 2},
	{"high before text", `"\ud83eudd8a"`, `"\ufffdudd8a"`, 1},
	{"escaped backslash before u", `"\\ud83d\\\\ud83d"`, `"\\ud83d\\\\ud83d"`, 0},
	{"edges of the range", `"\ud7ff\ud800\udbff\udc00\udfff\ue000"`, `"\ud7ff\ufffd\udbff\udc00\ufffd\ue000"`, 2},
	{"in a key", `{"\ud83d":"\ud83d"}`, `{"\ufffd":"\ufffd"}`, 2},
	{"ill-formed", "{\"a\xff\":\"\xed\xa0\xbd\"}", "{\"a\uFFFD\":\"\uFFFD\uFFFD\uFFFD\"}", 4},
	{"both", "\"é\xff\\ud83d\xe6\x97\\n日\"", "\"é\uFFFD\\ufffd\uFFFD\uFFFD\\n日\"", 4},
}

func TestAppendRaw(t *testing.T) {
	for _, tt := range rawTests {
		t.Run(tt.name, func(t *testing.T) {
			out, repairs, p := jsonw.AppendRaw([]byte("x"), tt.in)
			if p != nil {
				t.Fatal(p)
			}
			if string(out) != "x"+tt.want || repairs != tt.repairs {
				t.Errorf("got %s with %d repairs, want x%s with %d", out, repairs, tt.want, tt.repairs)
			}
			checkRaw(t, tt.in)
		})
	}
	dst := []byte("kept")
	for _, in := range []string{"", "{", `{"a":1}x`, "\"\xff"} {
		out, repairs, p := jsonw.AppendRaw(dst, in)
		want := jsonw.Check(in)
		if p == nil || *p != *want || string(out) != "kept" || repairs != 0 {
			t.Errorf("AppendRaw(%q) = %q, %d, %v; want problem %v", in, out, repairs, p, want)
		}
	}
}

// checkRaw checks what AppendRaw promises for any s.
func checkRaw(t testing.TB, s string) {
	t.Helper()
	out, repairs, p := jsonw.AppendRaw(nil, s)
	if p != nil {
		if out != nil || repairs != 0 || json.Valid([]byte(s)) {
			t.Fatalf("AppendRaw(%q) = %q, %d, %v", s, out, repairs, p)
		}
		return
	}
	if !json.Valid(out) || !utf8.Valid(out) {
		t.Fatalf("AppendRaw(%q) = %q: JSON %t, UTF-8 %t", s, out, json.Valid(out), utf8.Valid(out))
	}
	if trimmed := strings.Trim(s, " \t\r\n"); (repairs == 0) != (string(out) == trimmed) {
		t.Fatalf("AppendRaw(%q) = %q with %d repairs", s, out, repairs)
	}
	if n := loneEscapes(string(out)); n != 0 {
		t.Fatalf("AppendRaw(%q) = %q: %d lone surrogates", s, out, n)
	}
	ill := 0
	for rest := s; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError && size == 1 {
			ill++
		}
		rest = rest[size:]
	}
	if want := ill + loneEscapes(s); repairs != want {
		t.Fatalf("AppendRaw(%q): %d repairs, want %d", s, repairs, want)
	}
	again, repairs, p := jsonw.AppendRaw(nil, string(out))
	if string(again) != string(out) || repairs != 0 || p != nil {
		t.Fatalf("AppendRaw(%q) = %q, and of that %q, %d, %v", s, out, again, repairs, p)
	}
	// encoding/json reads the same values from both.
	var a, b any
	if json.Unmarshal([]byte(s), &a) == nil && json.Unmarshal(out, &b) == nil {
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if string(x) != string(y) {
			t.Fatalf("AppendRaw(%q) = %q reads differently", s, out)
		}
	}
}

// loneEscapes counts the escapes of lone surrogates in valid JSON. It tells
// them from pairs by hiding what cannot matter, so that it shares no idea with
// the code under test.
func loneEscapes(s string) int {
	s = strings.ReplaceAll(s, `\\`, "--")
	n, high := 0, false
	for i := 0; i < len(s); i++ {
		low := false
		if strings.HasPrefix(s[i:], `\u`) {
			switch d := strings.ToLower(s[i+2 : i+4]); {
			case d >= "d8" && d <= "db":
				if high {
					n++
				}
				high = true
				i += 5
				continue
			case d >= "dc" && d <= "df":
				low = true
			}
		}
		if low != high {
			n++
		}
		if low {
			i += 5
		}
		high = false
	}
	return n
}

func FuzzAppendRaw(f *testing.F) {
	for _, tt := range rawTests {
		f.Add(tt.in)
	}
	f.Add(`{"a":`)
	f.Fuzz(func(t *testing.T, s string) { checkRaw(t, s) })
}

var unquoteTests = []struct {
	name, in, want string
	high           rune
}{
	{"empty", `""`, "", 0},
	{"plain", `"abc"`, "abc", 0},
	{"escapes", `"\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\u0000"`, "\"\\/\b\f\n\r\tAé€\x00", 0},
	{"pair", `"a\ud83e\udd8ab"`, "a🦊b", 0},
	{"pair at the end", `"\ud83e\udd8a"`, "🦊", 0},
	{"high at the end", `"a\ud83e"`, "a", 0xd83e},
	{"high alone", `"\uD83E"`, "", 0xd83e},
	{"high before text", `"\ud83eb"`, "\uFFFDb", 0},
	{"two highs", `"\ud83e\ud83e"`, "\uFFFD", 0xd83e},
	{"low at the end", `"a\udd8a"`, "a\uFFFD", 0},
	{"ill-formed", "\"\xff\\n\xed\xa0\xbd\"", "\uFFFD\n\uFFFD\uFFFD\uFFFD", 0},
}

func TestUnquote(t *testing.T) {
	for _, tt := range unquoteTests {
		t.Run(tt.name, func(t *testing.T) {
			out, high := jsonw.Unquote([]byte("x"), tt.in)
			if string(out) != "x"+tt.want || high != tt.high {
				t.Errorf("got %q, %#x; want %q, %#x", out, high, "x"+tt.want, tt.high)
			}
			checkUnquote(t, tt.in)
		})
	}
}

func TestUnquoteJoin(t *testing.T) {
	tests := []struct {
		name string
		high rune
		in   string
		want string
		next rune
	}{
		{"joined", 0xd83e, `"\udd8ab"`, "🦊b", 0},
		{"joined alone", 0xd83e, `"\udd8a"`, "🦊", 0},
		{"joined, and another half", 0xd83e, `"\udd8a\ud83e"`, "🦊", 0xd83e},
		{"text", 0xd83e, `"b"`, "\uFFFDb", 0},
		{"another escape", 0xd83e, `"\n"`, "\uFFFD\n", 0},
		{"another high", 0xd83e, `"\ud83e"`, "\uFFFD", 0xd83e},
		{"a pair", 0xd83e, `"\ud83e\udd8a"`, "\uFFFD🦊", 0},
		{"looks like a low", 0xd83e, `"udd8a12"`, "\uFFFDudd8a12", 0},
		{"empty", 0xd83e, `""`, "", 0xd83e},
		{"none pending", 0, `"\udd8a"`, "\uFFFD", 0},
		{"first and last", 0xd800, `"\udc00"`, "\U00010000", 0},
		{"last of all", 0xdbff, `"\udfff"`, "\U0010FFFF", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, next := jsonw.UnquoteJoin([]byte("x"), tt.high, tt.in)
			if string(out) != "x"+tt.want || next != tt.next {
				t.Errorf("got %q, %#x; want %q, %#x", out, next, "x"+tt.want, tt.next)
			}
		})
	}
}

// checkUnquote checks Unquote of any string token against encoding/json, whole
// and cut in two at every place where a sender can cut it.
func checkUnquote(t testing.TB, raw string) {
	t.Helper()
	var want string
	if err := json.Unmarshal([]byte(raw), &want); err != nil {
		t.Fatal(err)
	}
	if got := finish(jsonw.Unquote(nil, raw)); got != want {
		t.Fatalf("Unquote(%s) = %q, want %q", raw, got, want)
	}
	if !utf8.ValidString(raw) {
		return
	}
	for i := 1; i < len(raw); i++ {
		a, b := raw[:i]+`"`, `"`+raw[i:]
		if !json.Valid([]byte(a)) || !json.Valid([]byte(b)) || !utf8.ValidString(b) {
			continue
		}
		out, high := jsonw.Unquote(nil, a)
		out, high = jsonw.UnquoteJoin(out, high, `""`)
		if got := finish(jsonw.UnquoteJoin(out, high, b)); got != want {
			t.Fatalf("%s and %s give %q, want %q", a, b, got, want)
		}
	}
}

// finish ends a text whose last string gave the two values.
func finish(out []byte, high rune) string {
	if high != 0 {
		out = append(out, "\uFFFD"...)
	}
	return string(out)
}

func FuzzUnquote(f *testing.F) {
	for _, tt := range unquoteTests {
		f.Add(tt.in)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' || !json.Valid([]byte(raw)) {
			return
		}
		checkUnquote(t, raw)
	})
}
