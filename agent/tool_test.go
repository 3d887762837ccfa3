package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/handwire/handwire/agent"
)

func TestArgs(t *testing.T) {
	type inner struct {
		Name string `json:"name"`
	}
	type in struct {
		Path  string         `json:"path"`
		Limit int            `json:"limit"`
		Small *uint8         `json:"small"`
		On    bool           `json:"on"`
		Ratio float64        `json:"ratio"`
		Data  []byte         `json:"data"`
		List  []inner        `json:"list"`
		Inner inner          `json:"inner"`
		Any   any            `json:"any"`
		Map   map[string]any `json:"map"`
	}
	tests := []struct {
		args string
		want []string // nil: no error
	}{
		{`{}`, nil},
		{` {"path":"a","unknown":[1,2]} `, nil},
		{`null`, nil},
		{`{"path":1}`, []string{`"path"`, "expected a string", "got number"}},
		{`{"limit":"5"}`, []string{`"limit"`, "a whole number", "got string"}},
		{`{"limit":1.5}`, []string{`"limit"`, "a whole number", "1.5"}},
		{`{"small":300}`, []string{`"small"`, "8 bits", "300"}},
		{`{"on":"true"}`, []string{`"on"`, "true or false", "string"}},
		{`{"ratio":"x"}`, []string{`"ratio"`, "a number"}},
		{`{"data":5}`, []string{`"data"`, "base64"}},
		{`{"data":"?"}`, []string{"do not fit", "base64"}},
		{`{"list":{}}`, []string{`"list"`, "an array", "object"}},
		{`{"list":[{"name":1}]}`, []string{`"list.name"`, "a string"}},
		{`{"inner":{"name":[]}}`, []string{`"inner.name"`, "a string", "array"}},
		{`{"map":[]}`, []string{`"map"`, "an object", "array"}},
		{`[]`, []string{"expected an object", "array"}},
		{`{"path":"a"} x`, []string{"not valid JSON", "offset 13"}},
		{`{"path":"é`, []string{"not valid JSON", "offset 11", "too early"}},
		{``, []string{"not valid JSON", "offset 0"}},
	}
	for _, tt := range tests {
		_, err := agent.Args[in](tt.args)
		if (err == nil) != (tt.want == nil) {
			t.Errorf("%s: %v", tt.args, err)
			continue
		}
		if err != nil {
			contains(t, err.Error(), tt.want...)
			if strings.Contains(err.Error(), "Go ") {
				t.Errorf("%s: %v speaks of Go", tt.args, err)
			}
		}
	}

	got, err := agent.Args[in](`{"any":9007199254740993,"map":{"n":1e400}}`)
	if err != nil || fmt.Sprint(got.Any) != "9007199254740993" || got.Map["n"] != json.Number("1e400") {
		t.Errorf("got %+v, %v", got, err)
	}
	if s, err := agent.Args[string](` {"a" : 1}`); err != nil || s != ` {"a" : 1}` {
		t.Errorf("got %q, %v", s, err)
	}
	if r, err := agent.Args[json.RawMessage](` {"a" : <}`); err != nil || string(r) != ` {"a" : <}` {
		t.Errorf("got %q, %v", r, err)
	}
}

func TestFunc(t *testing.T) {
	tool := agent.Func("n", "d", `{ "type":"object" }`, func(_ context.Context, in struct{ A int }) (string, error) {
		return fmt.Sprint(in.A), nil
	})
	if tool.Name != "n" || tool.Description != "d" || tool.Schema != `{ "type":"object" }` {
		t.Errorf("got %+v", tool.Tool)
	}
	parts, err := tool.Run(t.Context(), `{"a":7}`)
	if err != nil || len(parts) != 1 || parts[0].Text != "7" {
		t.Errorf("got %+v, %v", parts, err)
	}
	if _, err := tool.Run(t.Context(), `{"a":"7"}`); err == nil {
		t.Error("a string was taken for a number")
	}
}
