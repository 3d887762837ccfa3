package wire_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/wire"
)

// newLike returns a pointer to a zero value of what v points to.
func newLike(v any) any { return reflect.New(reflect.TypeOf(v).Elem()).Interface() }

func TestCount(t *testing.T) {
	tests := []struct {
		name  string
		count wire.Count
		known bool
		value int64
		text  string
		json  string
	}{
		{"the zero value", wire.Count{}, false, 0, "unknown", "null"},
		{"zero", wire.CountOf(0), true, 0, "0", "0"},
		{"one", wire.CountOf(1), true, 1, "1", "1"},
		{"more than a float64 holds", wire.CountOf(9007199254740993), true, 9007199254740993, "9007199254740993", "9007199254740993"},
		{"the greatest", wire.CountOf(math.MaxInt64 - 1), true, math.MaxInt64 - 1, "9223372036854775806", "9223372036854775806"},
		{"minus one", wire.CountOf(-1), false, 0, "unknown", "null"},
		{"the least", wire.CountOf(math.MinInt64), false, 0, "unknown", "null"},
		{"too great to hold", wire.CountOf(math.MaxInt64), false, 0, "unknown", "null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.count
			if c.Known() != tt.known || c.Value() != tt.value || c.String() != tt.text {
				t.Errorf("Known %t, Value %d, String %s; want %t, %d, %s", c.Known(), c.Value(), c, tt.known, tt.value, tt.text)
			}
			if c.IsZero() == tt.known {
				t.Errorf("IsZero %t of a count that is known: %t", c.IsZero(), tt.known)
			}
			if !tt.known && !c.Equal(wire.Count{}) {
				t.Error("not equal to another unknown count")
			}
			got, err := json.Marshal(c)
			if err != nil || string(got) != tt.json {
				t.Errorf("JSON %s, %v; want %s", got, err, tt.json)
			}
			back := wire.CountOf(99)
			if err := json.Unmarshal(got, &back); err != nil || !back.Equal(c) {
				t.Errorf("loaded again: %v, %v", back, err)
			}
		})
	}
}

func TestCountUnmarshal(t *testing.T) {
	tests := []struct {
		name, in string
		want     wire.Count
		bad      bool
	}{
		{"zero", "0", wire.CountOf(0), false},
		{"number", "12", wire.CountOf(12), false},
		{"null is unknown", "null", wire.Count{}, false},
		{"white space", " 7 ", wire.CountOf(7), false},
		{"greatest", "9223372036854775806", wire.CountOf(math.MaxInt64 - 1), false},
		{"too great by one", "9223372036854775807", wire.Count{}, true},
		{"too great", "92233720368547758080", wire.Count{}, true},
		{"negative", "-1", wire.Count{}, true},
		{"fraction", "1.5", wire.Count{}, true},
		{"whole, written as a fraction", "1.0", wire.Count{}, true},
		{"exponent", "1e3", wire.Count{}, true},
		{"string", `"12"`, wire.Count{}, true},
		{"boolean", "true", wire.Count{}, true},
		{"object", `{"n":1}`, wire.Count{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := wire.CountOf(99)
			err := json.Unmarshal([]byte(tt.in), &got)
			if (err != nil) != tt.bad {
				t.Fatalf("error %v, want one: %t", err, tt.bad)
			}
			if tt.bad {
				if !strings.Contains(err.Error(), "count") {
					t.Errorf("the error does not say what is wanted: %v", err)
				}
				tt.want = wire.CountOf(99)
			}
			if !got.Equal(tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestCountArithmetic(t *testing.T) {
	unknown := wire.Count{}
	n := wire.CountOf
	tests := []struct {
		name           string
		a, b, sum, sub wire.Count
	}{
		{"known", n(5), n(3), n(8), n(2)},
		{"zero", n(0), n(0), n(0), n(0)},
		{"equal", n(7), n(7), n(14), n(0)},
		{"negative difference", n(3), n(5), n(8), unknown},
		{"first unknown", unknown, n(5), unknown, unknown},
		{"second unknown", n(5), unknown, unknown, unknown},
		{"both unknown", unknown, unknown, unknown, unknown},
		{"overflow", n(math.MaxInt64 - 1), n(math.MaxInt64 - 1), unknown, n(0)},
		{"overflow by one", n(math.MaxInt64 - 1), n(1), unknown, n(math.MaxInt64 - 2)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.a.Add(tt.b); !got.Equal(tt.sum) {
				t.Errorf("%v + %v = %v, want %v", tt.a, tt.b, got, tt.sum)
			}
			if got := tt.a.Sub(tt.b); !got.Equal(tt.sub) {
				t.Errorf("%v - %v = %v, want %v", tt.a, tt.b, got, tt.sub)
			}
		})
	}
}

func TestUsageJSON(t *testing.T) {
	tests := []struct {
		name  string
		usage wire.Usage
		json  string
		zero  bool
	}{
		{"nothing known", wire.Usage{}, `{}`, true},
		{"zero is not unknown", wire.Usage{InputTokens: wire.CountOf(0), OutputTokens: wire.Count{}}, `{"input_tokens":0}`, false},
		{"a vendor object alone", wire.Usage{Vendor: `{"a": 1.0}`}, `{"vendor":"{\"a\": 1.0}"}`, false},
		{"negative counts of a server", wire.Usage{OutputTokens: wire.CountOf(-3)}, `{}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := plain(t, tt.usage); got != tt.json {
				t.Errorf("got %s, want %s", got, tt.json)
			}
			if got := tt.usage.IsZero(); got != tt.zero {
				t.Errorf("IsZero %t, want %t", got, tt.zero)
			}
			var back wire.Usage
			if err := json.Unmarshal([]byte(tt.json), &back); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.usage, back); d != "" {
				t.Errorf("loaded again (-want +got):\n%s", d)
			}
			if got := strings.Contains(plain(t, wire.Response{Usage: tt.usage}), `"usage"`); got == tt.zero {
				t.Errorf("a response has usage in its JSON: %t", got)
			}
		})
	}
	var u wire.Usage
	if err := json.Unmarshal([]byte(`{"input_tokens":null,"output_tokens":3}`), &u); err != nil || u.InputTokens.Known() || u.OutputTokens.Value() != 3 {
		t.Errorf("null: %+v, %v", u, err)
	}
	for _, in := range []string{`{"input_tokens":1.5}`, `{"input_tokens":-1}`, `{"input_tokens":"1"}`} {
		if err := json.Unmarshal([]byte(in), &u); err == nil {
			t.Errorf("%s was accepted", in)
		}
	}
}

// TestCountErrorIsShort: a hostile value does not make a hostile error.
func TestCountErrorIsShort(t *testing.T) {
	var c wire.Count
	err := json.Unmarshal([]byte(strconv.Quote(strings.Repeat("x", 1<<20))), &c)
	if err == nil {
		t.Fatal("a string was accepted")
	}
	if n := len(err.Error()); n > 1000 {
		t.Errorf("the error has %d bytes", n)
	}
}
