package jsonw_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/handwire/handwire/wire/internal/jsonw"
)

// tree rebuilds what encoding/json makes of a value, by reading it.
func tree(v jsonw.Value) any {
	switch {
	case v.IsObject():
		m := map[string]any{}
		for c := v.Members(); c.Next(); {
			m[c.Name()] = tree(c.Value())
		}
		return m
	case v.IsArray():
		a := []any{}
		for c := v.Items(); c.Next(); {
			a = append(a, tree(c.Value()))
		}
		return a
	case v.IsString():
		return v.Str()
	case v.IsNull():
		return nil
	case v == "true" || v == "false":
		return v == "true"
	}
	return json.Number(v)
}

func wantTree(t *testing.T, s string) any {
	t.Helper()
	var want any
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if err := d.Decode(&want); err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return want
}

var readTable = []string{
	`null`, ` true `, `0`, `-1.5e+3`, `""`, `"a\"b"`, `"\\"`, `"\\\""`, `"\\\\"`, "\"\\ud83c\\udf0d\"", `"\ud83c"`,
	`{}`, `[]`, "{\n}", `[ ]`, `[[],[[]],{}]`, `{"a":1,"b":"}","c":[1,"]",{"d":"\"}"}],"":null}`,
	"{ \"a\" :\t[ 1 , 2 ] , \"\\u0062\" : { \"x\" : [ ] } }\n", `[1,2.0,"x",null,true,false,{"k":[{}]}]`,
}

func TestRead(t *testing.T) {
	for _, s := range readTable {
		if got, want := tree(jsonw.Parse(s)), wantTree(t, s); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %#v, want %#v", s, got, want)
		}
	}
}

func TestReadGet(t *testing.T) {
	v := jsonw.Parse(` {"a":{"b":[1,{"c":"x\ty"}]},"a":2,"\u0064":7,"n":null} `)
	for _, c := range []struct {
		got  jsonw.Value
		want jsonw.Value
	}{
		{v.Get("a"), `{"b":[1,{"c":"x\ty"}]}`},
		{v.Get("a").Get("b"), `[1,{"c":"x\ty"}]`},
		{v.Get("a").Get("b").Get("c"), ``},
		{v.Get("d"), `7`},
		{v.Get("n"), `null`},
		{v.Get("x"), ``},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	if !v.Get("n").Exists() || !v.Get("n").IsNull() || v.Get("x").Exists() || !v.Get("x").IsNull() {
		t.Error("null is there, and what is missing is not")
	}
}

func TestReadNumbers(t *testing.T) {
	for _, c := range []struct {
		v    jsonw.Value
		n    int64
		ok   bool
		text string
	}{
		{`0`, 0, true, "0"}, {`-7`, -7, true, "-7"}, {`9007199254740993`, 9007199254740993, true, "9007199254740993"},
		{`1e3`, 1000, true, "1e3"}, {`12.0`, 12, true, "12.0"}, {`1.5`, 0, false, "1.5"}, {`1e300`, 0, false, "1e300"},
		{`99999999999999999999`, 0, false, "99999999999999999999"}, {`"5"`, 0, false, "5"}, {`null`, 0, false, ""}, {``, 0, false, ""}, {`{}`, 0, false, ""},
	} {
		n, ok := c.v.Int()
		if n != c.n && c.ok || ok != c.ok || c.v.Text() != c.text {
			t.Errorf("%s is %d, %v, %q; want %d, %v, %q", c.v, n, ok, c.v.Text(), c.n, c.ok, c.text)
		}
	}
}

func TestReadAllocatesNothing(t *testing.T) {
	v := jsonw.Parse(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}`)
	if n := testing.AllocsPerRun(100, func() {
		if v.Get("delta").Get("text").Str() != "Hello" {
			t.Error("not read")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range readTable {
		f.Add(s)
	}
	f.Add(`{"a":`)
	f.Add(`["\`)
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 0 { // invalid text gives nonsense, but no panic and no endless loop
			tree(bounded(s))
		}
		if !jsonw.Valid(s) || !utf8.ValidString(s) { // text that is not UTF-8 is passed on as it is
			return
		}
		got, err1 := json.Marshal(tree(jsonw.Parse(s)))
		want, err2 := json.Marshal(wantTree(t, s))
		if err1 != nil || err2 != nil || string(got) != string(want) {
			t.Errorf("%s is read as %s (%v), want %s (%v)", s, got, err1, want, err2)
		}
	})
}

// bounded keeps the recursion of tree within bounds.
func bounded(s string) jsonw.Value {
	if strings.Count(s, "{")+strings.Count(s, "[") > 100 {
		return ""
	}
	return jsonw.Value(s)
}

func FuzzScanString(f *testing.F) {
	for _, s := range []string{`""`, `"a"x`, `"a\"b"`, `"\u12ab"`, `"\u12a"`, `"\x"`, "\"a\nb\"", `"`, `a`, ``, `"abcdefgh\\ijklmnop"`, `"` + strings.Repeat("x", 40) + `\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, plain := jsonw.ScanString(s)
		want := 0 // the shortest beginning that is a whole string
		for i := 2; i <= len(s) && s[0] == '"'; i++ {
			if jsonw.Valid(s[:i]) {
				want = i
				break
			}
		}
		if n != want || n > 0 && plain == strings.Contains(s[:n], `\`) {
			t.Errorf("%q is %d, %v; want %d", s, n, plain, want)
		}
	})
}
