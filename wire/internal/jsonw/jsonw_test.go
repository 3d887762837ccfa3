package jsonw_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/handwire/handwire/wire/internal/jsonw"
)

// stdString returns s as encoding/json writes it, with the three things undone
// that it escapes and this package writes raw.
func stdString(t testing.TB, s string) string {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	out := strings.TrimSuffix(buf.String(), "\n")
	var b strings.Builder
	for i := 0; i < len(out); i++ {
		if out[i] == '\\' && out[i+1] == 'u' {
			switch esc := out[i : i+6]; esc {
			case `\ufffd`, `\u2028`, `\u2029`:
				n, _ := strconv.ParseUint(esc[2:], 16, 32)
				b.WriteRune(rune(n))
			default:
				b.WriteString(esc)
			}
			i += 5
			continue
		}
		if out[i] == '\\' {
			b.WriteByte('\\')
			i++
		}
		b.WriteByte(out[i])
	}
	return b.String()
}

var stringTests = []struct {
	name, in, want string
}{
	{"empty", "", `""`},
	{"plain", "hello", `"hello"`},
	{"a word and more", "12345678abc", `"12345678abc"`},
	{"html stays", "<b>a&b</b>", `"<b>a&b</b>"`},
	{"quote and backslash", `a"b\c/d`, `"a\"b\\c/d"`},
	{"short escapes", "\b\f\n\r\t", `"\b\f\n\r\t"`},
	{"long escapes", "\x00\x01\x1f\x0b", `"\u0000\u0001\u001f\u000b"`},
	{"next to the escapes", " !#[]\x7f", "\" !#[]\x7f\""},
	{"separators stay", "a\u2028\u2029b", "\"a\u2028\u2029b\""},
	{"non-ASCII", "äöü 日本語 🦊\n", `"äöü 日本語 🦊\n"`},
	{"stray byte and encoded surrogate", "a\xff\xed\xa0\xbdb", "\"a\uFFFD\uFFFD\uFFFD\uFFFDb\""},
	{"cut character", "ab\xe6\x97", "\"ab\uFFFD\uFFFD\""},
	{"overlong", "\xc0\xaf", "\"\uFFFD\uFFFD\""},
	{"overlong of three", "\xe0\x80\x80\xe0\xa0\x80", "\"\uFFFD\uFFFD\uFFFD\u0800\""},
	{"character cut by a letter", "\xe6\x97x\xe6xy\xc3x", "\"\uFFFD\uFFFDx\uFFFDxy\uFFFDx\""},
	{"ill-formed between escapes", "ä\"\xff\"\n\x01é", "\"ä\\\"\uFFFD\\\"\\n\\u0001é\""},
	{"a real U+FFFD", "\uFFFD", "\"\uFFFD\""},
	{"escape after eight", "12345678\"", `"12345678\""`},
	{"false mark above a true one", "\x1f\x20\x21\x22\x23ab\x5d", `"\u001f !\"#ab]"`},
}

func TestAppendString(t *testing.T) {
	for _, tt := range stringTests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(jsonw.AppendString([]byte("x"), tt.in)); got != "x"+tt.want {
				t.Errorf("got %q, want %q", got, "x"+tt.want)
			}
			if std := stdString(t, tt.in); std != tt.want {
				t.Errorf("encoding/json gives %q, want %q", std, tt.want)
			}
		})
	}
}

// TestAppendStringPositions puts every byte at every place of a word of eight
// and around it.
func TestAppendStringPositions(t *testing.T) {
	for n := range 20 {
		for at := range n {
			for c := range 256 {
				b := bytes.Repeat([]byte("x"), n)
				b[at] = byte(c)
				checkString(t, string(b))
				if at+1 < n {
					b[at+1] = '"'
					checkString(t, string(b))
				}
			}
		}
	}
}

// checkString checks what AppendString promises for any s.
func checkString(t testing.TB, s string) {
	t.Helper()
	got := string(jsonw.AppendString(nil, s))
	if want := stdString(t, s); got != want {
		t.Fatalf("AppendString(%q) = %q, encoding/json %q", s, got, want)
	}
	if !utf8.ValidString(got) {
		t.Fatalf("AppendString(%q) = %q is not UTF-8", s, got)
	}
	saved, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var loaded string
	if err := json.Unmarshal(saved, &loaded); err != nil {
		t.Fatal(err)
	}
	if again := string(jsonw.AppendString(nil, loaded)); again != got {
		t.Fatalf("AppendString(%q) = %q, but %q after saving and loading", s, got, again)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, tt := range stringTests {
		f.Add(tt.in)
	}
	f.Fuzz(func(t *testing.T, s string) { checkString(t, s) })
}

func TestAppendNumbers(t *testing.T) {
	for _, n := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 9007199254740993} {
		if got, want := string(jsonw.AppendInt(nil, n)), strconv.FormatInt(n, 10); got != want {
			t.Errorf("AppendInt(%d) = %s", n, got)
		}
	}
	floats := []struct {
		f    float64
		want string
	}{
		{0, "0"}, {math.Copysign(0, -1), "-0"}, {1, "1"}, {-1.5, "-1.5"}, {0.1, "0.1"},
		{1e-6, "0.000001"}, {9.99e-7, "9.99e-7"}, {1e-7, "1e-7"}, {1e-9, "1e-9"}, {-1.5e-9, "-1.5e-9"},
		{1e-10, "1e-10"}, {1e20, "100000000000000000000"}, {1e21, "1e+21"}, {1e100, "1e+100"}, {1e-100, "1e-100"},
		{math.MaxFloat64, "1.7976931348623157e+308"}, {math.SmallestNonzeroFloat64, "5e-324"},
	}
	for _, tt := range floats {
		if got := string(jsonw.AppendFloat([]byte("x"), tt.f)); got != "x"+tt.want {
			t.Errorf("AppendFloat(%g) = %s, want x%s", tt.f, got, tt.want)
		}
		if std, _ := json.Marshal(tt.f); string(std) != tt.want {
			t.Errorf("encoding/json writes %s for %g, want %s", std, tt.f, tt.want)
		}
		if !jsonw.IsFinite(tt.f) {
			t.Errorf("IsFinite(%g) = false", tt.f)
		}
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if jsonw.IsFinite(f) {
			t.Errorf("IsFinite(%g) = true", f)
		}
	}
}

func FuzzAppendFloat(f *testing.F) {
	f.Add(math.Float64bits(1e-9))
	f.Add(math.Float64bits(1e21))
	f.Fuzz(func(t *testing.T, bits uint64) {
		v := math.Float64frombits(bits)
		want, err := json.Marshal(v)
		if (err == nil) != jsonw.IsFinite(v) {
			t.Fatalf("IsFinite(%g) = %t, encoding/json: %v", v, jsonw.IsFinite(v), err)
		}
		if err != nil {
			return
		}
		if got := jsonw.AppendFloat(nil, v); !bytes.Equal(got, want) {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

func TestAppendBase64(t *testing.T) {
	for n := range 10 {
		data := []byte("\xff\xfe\xfd\x00\x01\x02\x03\x04\x05\x06")[:n]
		want := `x"` + base64.StdEncoding.EncodeToString(data) + `"`
		if got := string(jsonw.AppendBase64([]byte("x"), data)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestAllocs(t *testing.T) {
	dst := make([]byte, 0, 4096)
	text := strings.Repeat("line with \"quotes\" and ä\n", 20)
	bad := text + "\xff"
	raw := `{"a":[1,2.5,"x\ud83dy\u00e9"],"b":"` + "\xff" + `"}`
	quoted := `"one\ntwo\ud83e\udd8a` + "\xff" + `\ud83d"`
	data := []byte(raw)
	var sink int
	for name, f := range map[string]func(){
		"AppendString":   func() { sink += len(jsonw.AppendString(dst, text)) },
		"AppendString 2": func() { sink += len(jsonw.AppendString(dst, bad)) },
		"AppendInt":      func() { sink += len(jsonw.AppendInt(dst, math.MinInt64)) },
		"AppendFloat":    func() { sink += len(jsonw.AppendFloat(dst, 1.2345e-9)) },
		"AppendBase64":   func() { sink += len(jsonw.AppendBase64(dst, data)) },
		"Check":          func() { jsonw.Check(raw) },
		"CheckBytes":     func() { jsonw.CheckBytes(data) },
		"AppendRaw":      func() { out, _, _ := jsonw.AppendRaw(dst, raw); sink += len(out) },
		"Unquote":        func() { out, high := jsonw.Unquote(dst, quoted); sink += len(out) + int(high) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
