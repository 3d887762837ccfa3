// Package schema makes the schema of a tool's arguments acceptable to vendors
// that want an object with properties, and leaves every other byte alone.
package schema

import "github.com/handwire/handwire/wire/internal/jsonw"

// Object appends schema, the JSON Schema of a tool's arguments, byte for byte
// where it is an object that says "type" and has "properties" that are an
// object. What is missing is put in front, a null "properties" and a null
// "required" are replaced, and changed is true. An empty schema is an object
// without properties and counts as unchanged. Repairs are those of
// [jsonw.AppendRaw]. The error says what is wrong with a schema that is no
// JSON object, or that is not the schema of one.
func Object(dst []byte, schema string) (out []byte, changed bool, repairs int, err error) {
	if schema == "" {
		return append(dst, `{"type":"object","properties":{}}`...), false, 0, nil
	}
	start := len(dst)
	dst, repairs, problem := jsonw.AppendRaw(dst, schema)
	if problem != nil {
		return dst, false, 0, problem
	}
	if dst[start] != '{' {
		return dst[:start], false, 0, errNotObject
	}
	var members, hasType, hasProps, nulls bool
	raw := jsonw.Parse(schema)
	if repairs > 0 {
		raw = jsonw.Value(dst[start:])
	}
	for c := raw.Members(); c.Next(); {
		members = true
		switch c.Name() {
		case "type":
			hasType = !c.Value().IsNull()
			nulls = nulls || !hasType
			if v := c.Value(); v.IsString() && v.Text() != "object" {
				return dst[:start], false, 0, errType
			}
		case "properties":
			hasProps = !c.Value().IsNull()
			nulls = nulls || !hasProps
			if hasProps && !c.Value().IsObject() {
				return dst[:start], false, 0, errProperties
			}
		case "required":
			nulls = nulls || c.Value().IsNull()
		}
	}
	if hasType && hasProps && !nulls {
		return dst, false, repairs, nil
	}
	dst = append(dst[:start], '{')
	add := func(parts ...string) {
		if len(dst) > start+1 {
			dst = append(dst, ',')
		}
		for _, s := range parts {
			dst = append(dst, s...)
		}
	}
	if !hasType {
		add(`"type":"object"`)
	}
	if !hasProps {
		add(`"properties":{}`)
	}
	if !nulls { // the members as they stand, white space included
		if members {
			add(string(raw[1:]))
			return dst, true, repairs, nil
		}
		return append(dst, '}'), true, repairs, nil
	}
	for c := raw.Members(); c.Next(); {
		if name := c.Name(); !c.Value().IsNull() || name != "type" && name != "properties" && name != "required" {
			add(string(c.Key()), ":", string(c.Value()))
		}
	}
	return append(dst, '}'), true, repairs, nil
}

type schemaError string

func (e schemaError) Error() string { return string(e) }

const (
	errNotObject  = schemaError("the schema is no JSON object")
	errType       = schemaError("the type of the schema is not object: arguments are a JSON object")
	errProperties = schemaError("the properties of the schema are no JSON object")
)
