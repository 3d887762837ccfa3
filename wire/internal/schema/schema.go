// Package schema makes the schema of a tool's arguments acceptable to vendors
// that want an object with properties, and leaves every other byte alone.
package schema

import (
	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/wire/internal/jsonw"
)

// Object appends schema, the JSON Schema of a tool's arguments, byte for byte
// where it is an object that says "type" and has "properties" that are an
// object. What is missing is put in front, a null "properties" and a null
// "required" are replaced, and changed is true. An empty schema is an object
// without properties and counts as unchanged. Repairs are those of
// [jsonw.AppendRaw]. The error says what is wrong with a schema that is no
// JSON object.
func Object(dst []byte, schema string) (out []byte, changed bool, repairs int, err error) {
	if schema == "" {
		return append(dst, `{"type":"object","properties":{}}`...), false, 0, nil
	}
	start := len(dst)
	dst, repairs, problem := jsonw.AppendRaw(dst, schema)
	if problem != nil {
		return dst, false, 0, problem
	}
	raw := string(dst[start:])
	if raw[0] != '{' {
		return dst[:start], false, 0, errNotObject
	}
	var members, hasType, hasProps, nulls bool
	gjson.Parse(raw).ForEach(func(k, v gjson.Result) bool {
		members = true
		switch k.Str {
		case "type":
			hasType = true
		case "properties":
			hasProps = v.Type != gjson.Null
			nulls = nulls || !hasProps
		case "required":
			nulls = nulls || v.Type == gjson.Null
		}
		return true
	})
	if hasType && hasProps && !nulls {
		return dst, false, repairs, nil
	}
	dst = append(dst[:start], '{')
	sep := func() {
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
	}
	if !hasType {
		dst = append(dst, `"type":"object"`...)
	}
	if !hasProps {
		sep()
		dst = append(dst, `"properties":{}`...)
	}
	if !nulls { // the members as they stand, white space included
		if members {
			sep()
			return append(dst, raw[1:]...), true, repairs, nil
		}
		return append(dst, '}'), true, repairs, nil
	}
	gjson.Parse(raw).ForEach(func(k, v gjson.Result) bool {
		if (k.Str == "properties" || k.Str == "required") && v.Type == gjson.Null {
			return true
		}
		sep()
		dst = append(append(append(dst, k.Raw...), ':'), v.Raw...)
		return true
	})
	return append(dst, '}'), true, repairs, nil
}

type schemaError string

func (e schemaError) Error() string { return string(e) }

const errNotObject = schemaError("the schema is no JSON object")
