package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxProblems is how many places an error result about arguments names.
const maxProblems = 5

// misfits says, in words for the model, where arguments do not have the members
// and types that a schema demands, "" if they fit. It looks at type, required,
// properties, items and enum; what else a schema says is the tool's own business.
// A schema that cannot be read fits everything.
func misfits(schema, args string) string {
	var s, v any
	if decodeJSON(schema, &s) != nil || decodeJSON(args, &v) != nil {
		return ""
	}
	var c checker
	c.check(s, v, "")
	if len(c.problems) == 0 {
		return ""
	}
	more := ""
	if n := len(c.problems) - maxProblems; n > 0 {
		c.problems, more = c.problems[:maxProblems], fmt.Sprintf("; and %d more", n)
	}
	return "The arguments do not fit the schema of the tool: " + strings.Join(c.problems, "; ") + more + "."
}

func decodeJSON(text string, v *any) error {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	return d.Decode(v)
}

type checker struct{ problems []string }

func (c *checker) problem(at, format string, args ...any) {
	where := "the arguments"
	if at != "" {
		where = at
	}
	c.problems = append(c.problems, where+" "+fmt.Sprintf(format, args...))
}

// check holds a value at a path against a schema.
func (c *checker) check(schema, v any, at string) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	if types := typesOf(s["type"]); len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return isType(v, t) }) {
		c.problem(at, "must be of the type %s, not %s", strings.Join(types, " or "), typeName(v))
		return
	}
	if enum, ok := s["enum"].([]any); ok && len(enum) > 0 && !slices.ContainsFunc(enum, func(e any) bool { return sameJSON(e, v) }) {
		c.problem(at, "must be one of %s", jsonText(enum))
	}
	switch v := v.(type) {
	case map[string]any:
		required, _ := s["required"].([]any)
		for _, name := range required {
			if name, ok := name.(string); ok {
				if _, there := v[name]; !there {
					c.problem(at, "must have the member %q", name)
				}
			}
		}
		properties, _ := s["properties"].(map[string]any)
		for _, name := range sortedKeys(properties) {
			if member, there := v[name]; there {
				c.check(properties[name], member, join(at, name))
			}
		}
	case []any:
		for i := range v {
			c.check(s["items"], v[i], fmt.Sprintf("%s[%d]", at, i))
		}
	}
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// typesOf returns the types that a schema allows, none if it does not say.
func typesOf(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var types []string
		for _, t := range v {
			if t, ok := t.(string); ok {
				types = append(types, t)
			}
		}
		return types
	}
	return nil
}

// isType reports whether a value is of a type of JSON Schema. One that is unknown
// is every value's.
func isType(v any, t string) bool {
	name := typeName(v)
	switch t {
	case "integer":
		if n, ok := v.(json.Number); ok {
			return whole(n)
		}
		return false
	case "number", "string", "boolean", "object", "array", "null":
		return name == t
	}
	return true
}

// whole reports whether a number has no fraction, in whatever form it is written.
func whole(n json.Number) bool {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(n.String(), "-")), "e")
	integer, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimRight(integer+fraction, "0")
	if digits == "" {
		return true
	}
	e, err := strconv.Atoi(strings.TrimPrefix(exponent, "+"))
	if exponent != "" && err != nil {
		return !strings.HasPrefix(exponent, "-") // it is too large to be reckoned with
	}
	return len(digits) <= len(integer)+e
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

func sameJSON(a, b any) bool {
	x, ok := a.(json.Number)
	y, also := b.(json.Number)
	if ok && also {
		return x == y || jsonText(x) == jsonText(y)
	}
	return jsonText(a) == jsonText(b)
}

// jsonText returns a value as JSON, cut if it is long.
func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	const most = 300
	if len(b) > most {
		return strings.ToValidUTF8(string(b[:most]), "") + "…"
	}
	return string(b)
}
