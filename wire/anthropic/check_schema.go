package anthropic

import (
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// schemaSum is what is counted over all strict schemas.
type schemaSum struct{ optional, unions int }

// maxSchemaDepth is how deep schemas are looked into, so that time stays linear
// in their length.
const maxSchemaDepth = 64

// schemaWalk goes through one strict schema. 2.7 throughout.
type schemaWalk struct {
	c     *checker
	at    codec.Place
	field string
	sum   *schemaSum
	path  []string            // of JSON Pointer
	owner string              // the definition that is gone through, "" for the schema itself
	refs  map[string][]string // from definition to definitions
}

func (c *checker) schema(at codec.Place, field string, v jsonw.Value, sum *schemaSum) {
	w := schemaWalk{c: c, at: at, field: field, sum: sum, refs: map[string][]string{}}
	if !v.IsObject() {
		if v.Exists() {
			w.add("must be a JSON object", "give a JSON Schema of an object")
		}
		return
	}
	w.node(v, false)
	if w.recursive() {
		w.path = nil
		w.add("must not be recursive", "write the levels out, or describe the inner ones in text")
	}
}

func (w *schemaWalk) add(rule, remedy string) {
	where := ""
	for i, name := range w.path {
		if i == 0 {
			where = " at #"
		}
		if len(name) > 40 {
			name = strings.ToValidUTF8(name[:40], "") + "…"
		}
		where += "/" + name
	}
	w.c.add(w.at, w.field, "a schema that the server compiles "+rule+where, remedy)
}

// node judges one schema; param says that it is a property of an object.
func (w *schemaWalk) node(v jsonw.Value, param bool) {
	if len(w.path) > maxSchemaDepth || !v.IsObject() {
		return
	}
	var object, closed, union bool
	var props jsonw.Value
	required := map[string]bool(nil)
	for m := v.Members(); m.Next(); {
		name := m.Name()
		switch name {
		case "type":
			object = object || m.Value().Str() == "object"
			n := 0
			for it := m.Value().Items(); it.Next(); n++ {
				object = object || it.Value().Str() == "object"
			}
			union = union || n > 1
		case "properties":
			object, props = true, m.Value()
		case "required":
			required = map[string]bool{}
			for it := m.Value().Items(); it.Next(); {
				required[it.Value().Str()] = true
			}
		case "additionalProperties":
			closed = m.Value() == "false"
		case "minimum", "maximum", "minLength", "maxLength":
			w.add("cannot have "+name, "say it in the description, and check the answer")
		case "minItems":
			if n, ok := m.Value().Int(); !ok || n < 0 || n > 1 {
				w.add("has minItems 0 or 1 only", "say it in the description, and check the answer")
			}
		case "$ref":
			w.ref(m.Value().Str())
		case "anyOf", "oneOf":
			union = true
			w.list(name, m.Value())
		case "allOf", "prefixItems":
			w.list(name, m.Value())
		case "items", "not", "contains":
			w.child(name, m.Value(), false)
		case "$defs", "definitions":
			w.members(name, m.Value())
		}
	}
	for m := props.Members(); m.Next(); {
		name := m.Name()
		if !required[name] {
			w.sum.optional++
		}
		w.path = append(w.path, "properties")
		w.child(name, m.Value(), true)
		w.path = w.path[:len(w.path)-1]
	}
	if object && !closed {
		w.add("needs additionalProperties false in every object", `add "additionalProperties":false`)
	}
	if param && union {
		w.sum.unions++
	}
}

func (w *schemaWalk) child(name string, v jsonw.Value, param bool) {
	w.path = append(w.path, name)
	w.node(v, param)
	w.path = w.path[:len(w.path)-1]
}

func (w *schemaWalk) list(name string, v jsonw.Value) {
	w.path = append(w.path, name)
	n := 0
	for it := v.Items(); it.Next(); n++ {
		w.child(strconv.Itoa(n), it.Value(), false)
	}
	w.path = w.path[:len(w.path)-1]
}

// members goes through definitions. Those at the top are what refs lead to.
func (w *schemaWalk) members(name string, v jsonw.Value) {
	owner, top := w.owner, len(w.path) == 0
	w.path = append(w.path, name)
	for m := v.Members(); m.Next(); {
		if top {
			w.owner = "#/" + name + "/" + m.Name()
		}
		w.child(m.Name(), m.Value(), false)
	}
	w.path = w.path[:len(w.path)-1]
	w.owner = owner
}

func (w *schemaWalk) ref(to string) {
	if !strings.HasPrefix(to, "#") {
		w.add("has internal $ref only", "put the definition into $defs")
		return
	}
	if to == "#" || to == "#/" {
		to = ""
	}
	w.refs[w.owner] = append(w.refs[w.owner], to)
}

// recursive reports whether the refs lead in a circle: it takes away, again and
// again, definitions without a ref to one that is left.
func (w *schemaWalk) recursive() bool {
	left := map[string]int{} // refs of a definition to others that are left
	from := map[string][]string{}
	var free []string
	for owner, to := range w.refs {
		left[owner] += len(to)
		for _, t := range to {
			from[t] = append(from[t], owner)
			if w.refs[t] == nil && left[t] == 0 {
				left[t] = 0
			}
		}
	}
	for d, n := range left {
		if n == 0 {
			free = append(free, d)
		}
	}
	done := 0
	for ; done < len(free); done++ {
		for _, owner := range from[free[done]] {
			if left[owner]--; left[owner] == 0 {
				free = append(free, owner)
			}
		}
	}
	return done < len(left)
}
