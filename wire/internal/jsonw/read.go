package jsonw

import (
	"math/bits"
	"strconv"
	"strings"
)

// Value is the raw text of one JSON value, without white space around it, that
// [Check] has found valid; on anything else its methods return nonsense, but do
// not panic. The zero value is a value that is not there. Reading copies
// nothing: results are parts of the text, except where an escape has to be
// decoded. Nothing recurses.
type Value string

// Parse returns s as a value. S must be valid JSON.
func Parse(s string) Value { return Value(trimSpace(s)) }

// Exists reports whether the value is there; null is.
func (v Value) Exists() bool { return v != "" }

// IsNull reports whether v is null or not there.
func (v Value) IsNull() bool { return v == "" || v[0] == 'n' }

// IsString reports whether v is a string.
func (v Value) IsString() bool { return v != "" && v[0] == '"' }

// IsObject reports whether v is an object.
func (v Value) IsObject() bool { return v != "" && v[0] == '{' }

// IsArray reports whether v is an array.
func (v Value) IsArray() bool { return v != "" && v[0] == '[' }

// Plain reports whether v is a string without escapes, so that [Value.Str] is
// part of the text.
func (v Value) Plain() bool {
	return v.IsString() && strings.IndexByte(string(v), '\\') < 0
}

// Str returns the text of a string, "" for every other value.
func (v Value) Str() string {
	if len(v) < 2 || v[0] != '"' {
		return ""
	}
	if v.Plain() {
		return string(v[1 : len(v)-1])
	}
	b, high := Unquote(make([]byte, 0, len(v)), string(v))
	if high != 0 {
		b = append(b, replacement...)
	}
	return string(b)
}

// Text returns the text of a string, the digits of a number as they stand, and
// "" for every other value.
func (v Value) Text() string {
	if v != "" && (v[0] == '-' || isDigit(v[0])) {
		return string(v)
	}
	return v.Str()
}

// Int returns a number that is whole and fits, in whatever form it is written.
func (v Value) Int() (n int64, ok bool) {
	if v == "" || v[0] != '-' && !isDigit(v[0]) {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if n = int64(f); err != nil || f < -1<<53 || f > 1<<53 || float64(n) != f {
		return 0, false
	}
	return n, true
}

// Get returns the first member of an object that has this name, "" if there is
// none.
func (v Value) Get(name string) Value {
	for c := v.Members(); c.Next(); {
		if c.Name() == name {
			return c.Value()
		}
	}
	return ""
}

// Members returns a cursor in front of the first member of an object. Of every
// other value there are none.
func (v Value) Members() Cursor {
	if !v.IsObject() {
		return Cursor{}
	}
	return Cursor{rest: string(v[1:]), object: true}
}

// Items returns a cursor in front of the first item of an array. Of every other
// value there are none.
func (v Value) Items() Cursor {
	if !v.IsArray() {
		return Cursor{}
	}
	return Cursor{rest: string(v[1:])}
}

// Cursor goes through the members of an object or the items of an array:
//
//	for c := v.Members(); c.Next(); {
//		use(c.Name(), c.Value())
//	}
//
// The end of a value is looked for when Value is called, or by the next Next.
type Cursor struct {
	rest   string // from the value of the member on; once it was read, from behind it
	key    Value
	value  Value
	object bool
	read   bool // value is the member's
	fresh  bool // there is a member
	plain  bool // the value is a string without escapes
	named  bool // the key has no escapes
}

// Next goes to the next member or item and reports whether there is one.
func (c *Cursor) Next() bool {
	if c.fresh && !c.read {
		n, _ := valueEnd(c.rest)
		c.rest = c.rest[n:]
	}
	c.fresh, c.read = false, false
	s := skip(c.rest)
	if c.object {
		if s == "" || s[0] != '"' {
			return false
		}
		n, plain := stringEnd(s)
		c.key, c.named = Value(s[:n]), plain
		s = skip(s[n:])
	}
	if s == "" || s[0] == ']' || s[0] == '}' {
		return false
	}
	c.rest, c.fresh = s, true
	return true
}

// Name returns the name of the member, "" for an item.
func (c *Cursor) Name() string {
	if c.named && len(c.key) >= 2 {
		return string(c.key[1 : len(c.key)-1])
	}
	return c.key.Str()
}

// Key returns the name of the member as it stands in the text, with its
// quotation marks.
func (c *Cursor) Key() Value { return c.key }

// Value returns the value of the member or the item.
func (c *Cursor) Value() Value {
	if !c.read && c.fresh {
		var n int
		n, c.plain = valueEnd(c.rest)
		c.value, c.rest, c.read = Value(c.rest[:n]), c.rest[n:], true
	}
	return c.value
}

// Plain reports whether the value is a string without escapes.
func (c *Cursor) Plain() bool {
	c.Value()
	return c.plain
}

// Open returns the value with everything that follows it, for a caller who goes
// through an object without looking for its end first.
func (c *Cursor) Open() Value {
	if c.read {
		return c.value
	}
	return Value(c.rest)
}

// ScanString checks the JSON string that s begins with. It returns its length
// and whether it has no escapes; n is 0 if it is not valid or does not end.
func ScanString(s string) (n int, plain bool) {
	if s == "" || s[0] != '"' {
		return 0, false
	}
	plain = true
	for i := 1; ; {
		for i <= len(s)-8 {
			x := load64(s[i:])
			if m := stops(x) &^ x & highs; m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		for i < len(s) && escapes[s[i]] == 0 {
			i++
		}
		if i >= len(s) {
			return 0, false
		}
		if s[i] == '"' {
			return i + 1, plain
		}
		if s[i] != '\\' || i+1 >= len(s) {
			return 0, false
		}
		plain = false
		switch s[i+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			i += 2
		case 'u':
			if hex4(s[i+2:]) < 0 {
				return 0, false
			}
			i += 6
		default:
			return 0, false
		}
	}
}

// skip skips white space, commas and colons.
func skip(s string) string {
	i := 0
	for i < len(s) && (s[i] <= ' ' || s[i] == ',' || s[i] == ':') {
		i++
	}
	return s[i:]
}

// stringEnd returns the length of the string that s begins with, and whether it
// has no escapes.
func stringEnd(s string) (n int, plain bool) {
	plain = true
	for i := 1; i < len(s); {
		for i <= len(s)-8 {
			x := load64(s[i:])
			if m := stops(x) &^ x & highs; m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		for i < len(s) && s[i] != '"' && s[i] != '\\' {
			i++
		}
		switch {
		case i >= len(s):
			return len(s), false
		case s[i] == '"':
			return i + 1, plain
		}
		plain = false
		i += 2
	}
	return len(s), false
}

// valueEnd returns the length of the value that s begins with, and whether it is
// a string without escapes.
func valueEnd(s string) (n int, plain bool) {
	switch s[0] {
	case '"':
		return stringEnd(s)
	case '{', '[':
		depth := 0
		for i := 0; i < len(s); i++ {
			switch s[i] {
			case '"':
				n, _ := stringEnd(s[i:])
				i += n - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1, false
				}
			}
		}
		return len(s), false
	}
	i := 1
	for i < len(s) && s[i] > ' ' && s[i] != ',' && s[i] != '}' && s[i] != ']' {
		i++
	}
	return i, false
}
