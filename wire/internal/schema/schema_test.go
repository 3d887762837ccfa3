package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/handwire/handwire/wire/internal/schema"
)

func TestObject(t *testing.T) {
	for _, tc := range []struct {
		name, schema, want string
		changed            bool
		repairs            int
	}{
		{"empty", "", `{"type":"object","properties":{}}`, false, 0},
		{"whole", `{"type":"object","properties":{"b":1,"a":2}}`, `{"type":"object","properties":{"b":1,"a":2}}`, false, 0},
		{"bytes are kept", "{ \"properties\" : {\"z\":{}, \"a\":{\"minimum\":1.0}} ,\n\"type\":\"object\" }", "{ \"properties\" : {\"z\":{}, \"a\":{\"minimum\":1.0}} ,\n\"type\":\"object\" }", false, 0},
		{"white space around", "\n{\"type\":\"object\",\"properties\":{}} ", `{"type":"object","properties":{}}`, false, 0},
		{"nothing in it", `{}`, `{"type":"object","properties":{}}`, true, 0},
		{"white space in it", "{ \n}", `{"type":"object","properties":{}}`, true, 0},
		{"no properties", `{"type":"object"}`, `{"properties":{},"type":"object"}`, true, 0},
		{"no type", `{"properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`, true, 0},
		{"other members stay", `{ "$defs":{"x":1e2}, "required":[]}`, `{"type":"object","properties":{}, "$defs":{"x":1e2}, "required":[]}`, true, 0},
		{"null properties", `{"type":"object","properties":null}`, `{"properties":{},"type":"object"}`, true, 0},
		{"null required", `{"type":"object", "properties":{"a":{}},"required": null,"x":1}`, `{"type":"object","properties":{"a":{}},"x":1}`, true, 0},
		{"nothing but nulls", `{"properties":null,"required":null}`, `{"type":"object","properties":{}}`, true, 0},
		{"null elsewhere", `{"type":"object","properties":{"a":{"default":null}},"default":null}`, `{"type":"object","properties":{"a":{"default":null}},"default":null}`, false, 0},
		{"escaped names", `{"typ\u0065":"object","propertie\u0073":{}}`, `{"typ\u0065":"object","propertie\u0073":{}}`, false, 0},
		{"half a character", `{"type":"object","properties":{"\ud800":1}}`, `{"type":"object","properties":{"\ufffd":1}}`, false, 1},
		{"bad byte", "{\"type\":\"object\",\"properties\":{\"\xff\":1}}", "{\"type\":\"object\",\"properties\":{\"\uFFFD\":1}}", false, 1},
		{"half a character in what is mended", `{"title":"\ud800"}`, `{"type":"object","properties":{},"title":"\ufffd"}`, true, 1},
		{"brace in a name", `{"{":"}"}`, `{"type":"object","properties":{},"{":"}"}`, true, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, before := range []string{"", "{", "x,"} {
				got, changed, repairs, err := schema.Object([]byte(before), tc.schema)
				if err != nil || string(got) != before+tc.want || changed != tc.changed || repairs != tc.repairs {
					t.Errorf("behind %q: %s, changed %v, repairs %d, error %v; want %s, %v, %d", before, got, changed, repairs, err, before+tc.want, tc.changed, tc.repairs)
				}
			}
		})
	}
}

func TestObjectRefuses(t *testing.T) {
	for _, tc := range []struct{ name, schema string }{
		{"array", `[]`}, {"null", `null`}, {"true", `true`}, {"string", `"{}"`}, {"number", `1`},
		{"cut", `{"type":`}, {"two", `{}{}`}, {"blank", ` `}, {"text", `object`},
		{"another type", `{"type":"string"}`}, {"another type and properties", `{"properties":{},"type":"array"}`}, {"no properties", `{"type":"object","properties":[]}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, changed, repairs, err := schema.Object([]byte("x"), tc.schema)
			if err == nil || string(got) != "x" || changed || repairs != 0 {
				t.Errorf("%s, changed %v, repairs %d, error %v", got, changed, repairs, err)
			}
		})
	}
}

// TestObjectReuse: a schema that needs nothing costs nothing.
func TestObjectReuse(t *testing.T) {
	s := `{"type":"object","properties":{"a":{"type":"string"},"b":{"enum":[1,2,3]}},"required":["a"]}`
	dst := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() { dst, _, _, _ = schema.Object(dst[:0], s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzObject(f *testing.F) {
	for _, s := range []string{"", "{}", `{"type":"object"}`, `{"properties":null,"required":null,"type":null}`, `{"properties":{},"properties":null}`, `[]`, `{"a":"\ud800"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out, changed, repairs, err := schema.Object([]byte("["), s)
		if err != nil {
			if string(out) != "[" {
				t.Fatalf("%q is refused and %q written", s, out)
			}
			return
		}
		body := string(out[1:])
		if !json.Valid([]byte(body)) || !strings.HasPrefix(body, "{") {
			t.Fatalf("%q gives %q", s, body)
		}
		if !changed && repairs == 0 && s != "" && body != strings.Trim(s, " \t\r\n") {
			t.Fatalf("%q became %q and is said to be unchanged", s, body)
		}
		again, changed, _, err := schema.Object(nil, body)
		if err != nil || changed || string(again) != body {
			t.Fatalf("%q gives %q, and that %q (changed %v, %v)", s, body, again, changed, err)
		}
	})
}
