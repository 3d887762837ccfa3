package anthropic

import (
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// toolView is a tool, however it is given.
type toolView struct {
	name   string
	typ    string // "" of a tool of the caller's
	schema jsonw.Value
	at     string // the field of the schema
	strict bool
	raw    jsonw.Value // the definition, or the further members of it
}

func readTool(t *wire.Tool) toolView {
	v := toolView{name: t.Name, at: ".schema", strict: t.Strict != nil && *t.Strict}
	if t.Vendor != "" && jsonw.Valid(t.Vendor) {
		v.raw = jsonw.Parse(t.Vendor)
	}
	if t.Name != "" {
		switch {
		case t.Schema == "":
			v.schema = `{"type":"object","properties":{}}`
		case jsonw.Valid(t.Schema):
			v.schema = jsonw.Parse(t.Schema)
		}
		return v
	}
	v.name, v.at = v.raw.Get("name").Str(), ".vendor"
	if v.typ = v.raw.Get("type").Str(); v.typ == "custom" {
		v.typ = ""
	}
	v.schema, v.strict = v.raw.Get("input_schema"), v.raw.Get("strict") == "true"
	return v
}

const (
	portableName   = 64
	maxStrictTools = 20
	maxOptional    = 24
	maxUnions      = 16
)

// tools judges the tools, and all strict schemas together.
func (c *checker) tools() {
	const typed, vendors = 1, 2
	names := map[string]int{}
	strict := 0
	var sum schemaSum
	for i := range c.e.r.Tools {
		t := &c.e.r.Tools[i]
		at := codec.Item("tools", i)
		v := readTool(t)
		nameAt, kind := ".name", typed
		if t.Name == "" {
			nameAt, kind = ".vendor", vendors
		}
		if had := names[v.name]; v.name != "" && had != 0 && (kind == vendors || had&typed == 0) { // 2.5; two of the caller's Encode refuses
			c.add(at, nameAt, "there are two tools "+strconv.Quote(v.name), "rename one")
		}
		names[v.name] |= kind
		if strings.HasPrefix(v.typ, "computer_toolset_") || strings.HasPrefix(v.typ, "browser_toolset_") {
			if c.beta("fine-grained-tool-streaming-") { // 1.4
				c.add(at, ".vendor", "a toolset cannot be combined with the beta fine-grained-tool-streaming", "take the beta off and set eager_input_streaming of single tools")
			}
		}
		if v.typ != "" || t.Name == "" && !v.raw.IsObject() {
			continue
		}
		switch {
		case kind == vendors && !codec.ValidName(v.name, 128): // 2.5
			c.add(at, nameAt, "a tool name is 1 to 128 letters, digits, _ or -", "rename the tool")
		case len(v.name) > portableName && codec.ValidName(v.name, 128): // 2.5: stay within 64
			c.add(at, nameAt, "a tool name of more than 64 characters is not portable: the server takes 128, its documentation says 64", "shorten the name")
		}
		if v.schema.IsObject() || kind == vendors {
			c.toolSchema(at, &v)
		}
		if v.strict {
			strict++
			c.schema(at, v.at, v.schema, &sum)
		}
	}
	if strict > maxStrictTools { // 2.7
		c.add(codec.Field("tools"), "", "at most 20 strict tools, not "+strconv.Itoa(strict), "let some of them be checked by yourself instead")
	}
	all := codec.Field("tools")
	if o := c.e.r.Output; c.schemaWanted() && jsonw.Valid(o.Schema) {
		if strict == 0 {
			all = codec.Field("output")
		}
		c.schema(codec.Field("output"), ".schema", jsonw.Parse(o.Schema), &sum)
	}
	const remedy = "require them, or make schemas that need not be strict lenient"
	if sum.optional > maxOptional { // 2.7
		c.add(all, "", "all strict schemas together have at most 24 optional parameters, not "+strconv.Itoa(sum.optional), remedy)
	}
	if sum.unions > maxUnions { // 2.7
		c.add(all, "", "all strict schemas together have at most 16 parameters of a union type, not "+strconv.Itoa(sum.unions), "give parameters one type each")
	}
}

// toolSchema judges the schema of a tool and the examples of its arguments. 2.5
// throughout.
func (c *checker) toolSchema(at codec.Place, v *toolView) {
	typ := v.schema.Get("type")
	// Of a tool's own schema Encode adds what is missing and finds what is wrong.
	if seen := v.at == ".schema" && (typ.IsNull() || typ.IsString()); !seen && typ.Text() != "object" {
		c.add(at, v.at, "the schema of a tool must be of type object", "put the arguments into an object")
	}
	for m := v.schema.Members(); m.Next(); {
		switch name := m.Name(); name {
		case "anyOf", "oneOf", "allOf":
			c.add(at, v.at, "the schema of a tool cannot have "+name+" at its top", "move it into a property")
		}
	}
	examples := v.raw.Get("input_examples")
	if !examples.IsArray() {
		return
	}
	props := map[string]jsonw.Value{}
	for m := v.schema.Get("properties").Members(); m.Next(); {
		props[m.Name()] = m.Value().Get("type")
	}
	closed := v.schema.Get("additionalProperties") == "false"
	required, in := []string(nil), map[string]bool{}
	for it := v.schema.Get("required").Items(); it.Next(); {
		if s := it.Value().Str(); !in[s] {
			in[s] = true
			required = append(required, s)
		}
	}
	n := 0
	for it := examples.Items(); it.Next(); n++ {
		if why := exampleFault(it.Value(), props, required, closed); why != "" {
			c.add(at, ".vendor", "example "+strconv.Itoa(n)+" of the arguments does not fit the schema: "+why, "mend the example or take it out")
		}
	}
}

// exampleFault says how an example departs from the top level of its schema, as
// far as types and names go.
func exampleFault(v jsonw.Value, props map[string]jsonw.Value, required []string, closed bool) string {
	if !v.IsObject() {
		return "it is no object"
	}
	has := map[string]bool{}
	for m := v.Members(); m.Next(); {
		name := m.Name()
		has[name] = true
		typ, ok := props[name]
		switch {
		case !ok && closed:
			return "there is no property " + strconv.Quote(name)
		case ok && !fits(m.Value(), typ.Str()):
			return strconv.Quote(name) + " is no " + typ.Str()
		}
	}
	for _, name := range required {
		if !has[name] {
			return strconv.Quote(name) + " is missing"
		}
	}
	return ""
}

// fits reports whether a value can be of a type; of a type that it does not know
// every value is.
func fits(v jsonw.Value, typ string) bool {
	if v == "" {
		return true
	}
	switch typ {
	case "string":
		return v.IsString()
	case "object":
		return v.IsObject()
	case "array":
		return v.IsArray()
	case "boolean":
		return v == "true" || v == "false"
	case "null":
		return v.IsNull()
	case "number", "integer":
		return v[0] == '-' || digits(string(v[:1]))
	}
	return true
}
