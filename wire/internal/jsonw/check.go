package jsonw

import (
	"math/bits"
	"strconv"
)

// MaxDepth is how many arrays and objects may be open at once in text that
// [Check] accepts. [encoding/json] has the same limit.
const MaxDepth = 10000

// Problem says why a text is not JSON. Its Error method gives both fields, as
// in "offset 12: unexpected end of JSON", and nothing of the text itself.
type Problem struct {
	// Offset counts bytes from the start of the text to the first byte that
	// cannot stand where it is. It is the length of the text when that ends
	// too early.
	Offset int

	// Reason is a phrase in lower case for people to read.
	Reason string
}

// Error returns the offset and the reason.
func (p *Problem) Error() string {
	return "offset " + strconv.Itoa(p.Offset) + ": " + p.Reason
}

// Check returns nil if s is exactly one JSON value as RFC 8259 defines it, with
// nothing around it but JSON white space, and otherwise the first problem.
// Nesting is limited to [MaxDepth]. Ill-formed UTF-8 inside strings and escapes
// of lone surrogates are accepted; [AppendRaw] repairs them. Check allocates
// nothing unless there is a problem or more than 64 arrays and objects are open
// at once, and takes time linear in the length of s.
func Check(s string) *Problem {
	return check(s)
}

// CheckBytes is [Check] for a byte slice, which it neither copies nor keeps.
func CheckBytes(b []byte) *Problem {
	return check(b)
}

// Valid reports whether [Check] finds no problem in s.
func Valid(s string) bool {
	_, _, reason := scan(s)
	return reason == ""
}

// ValidBytes reports whether [CheckBytes] finds no problem in b.
func ValidBytes(b []byte) bool {
	_, _, reason := scan(b)
	return reason == ""
}

func check[T string | []byte](s T) *Problem {
	at, _, reason := scan(s)
	if reason == "" {
		return nil
	}
	return &Problem{at, reason}
}

// The reasons of a [Problem].
const (
	reasonEnd     = "unexpected end of JSON"
	reasonValue   = "expected a value"
	reasonKey     = "expected a string as key"
	reasonColon   = "expected a colon after the key"
	reasonNext    = "expected a comma or the end of the array or object"
	reasonAfter   = "unexpected text after the value"
	reasonControl = "control character in a string"
	reasonEscape  = "unknown escape in a string"
	reasonHex     = "expected a hexadecimal digit"
	reasonDigit   = "expected a digit"
	reasonLiteral = "misspelt literal"
	reasonDepth   = "nested too deeply"
)

// scan checks s and returns the offset and the reason of the first problem. The
// reason is empty if there is none. surrogate reports whether s holds the
// escape of a surrogate, paired or not.
//
// It is one loop without recursion. Labels stand for what is expected next; the
// kinds of the open arrays and objects are a stack of bits, the innermost one
// lowest in top, and each full word of 64 waits in deep.
func scan[T string | []byte](s T) (at int, surrogate bool, reason string) {
	var (
		i     int
		c     byte
		isKey bool
		top   uint64 // 1 for an object, 0 for an array
		depth int
		deep  []uint64
	)

value:
	for {
		if i >= len(s) {
			return i, surrogate, reasonEnd
		}
		if c = s[i]; !isSpace(c) {
			break
		}
		i++
	}
	switch c {
	case '"':
		isKey = false
		goto str
	case '{', '[':
		if depth == MaxDepth {
			return i, surrogate, reasonDepth
		}
		if depth&63 == 0 && depth > 0 {
			deep = append(deep, top)
		}
		depth++
		i++
		if c == '[' {
			top <<= 1
			for i < len(s) && isSpace(s[i]) {
				i++
			}
			if i < len(s) && s[i] == ']' {
				goto pop
			}
			goto value
		}
		top = top<<1 | 1
		for i < len(s) && isSpace(s[i]) {
			i++
		}
		if i < len(s) && s[i] == '}' {
			goto pop
		}
		goto key
	case 't':
		if len(s)-i >= 4 && s[i+1] == 'r' && s[i+2] == 'u' && s[i+3] == 'e' {
			i += 4
			goto after
		}
		at, reason = badLiteral(s, i, "true")
		return at, surrogate, reason
	case 'f':
		if len(s)-i >= 5 && s[i+1] == 'a' && s[i+2] == 'l' && s[i+3] == 's' && s[i+4] == 'e' {
			i += 5
			goto after
		}
		at, reason = badLiteral(s, i, "false")
		return at, surrogate, reason
	case 'n':
		if len(s)-i >= 4 && s[i+1] == 'u' && s[i+2] == 'l' && s[i+3] == 'l' {
			i += 4
			goto after
		}
		at, reason = badLiteral(s, i, "null")
		return at, surrogate, reason
	case '-':
		i++
		if i >= len(s) {
			return i, surrogate, reasonEnd
		}
		if c = s[i]; !isDigit(c) {
			return i, surrogate, reasonDigit
		}
	default:
		if !isDigit(c) {
			return i, surrogate, reasonValue
		}
	}

	// A number, with its first digit c at i.
	i++
	if c != '0' {
		for i < len(s) && isDigit(s[i]) {
			i++
		}
	}
	if i < len(s) && s[i] == '.' {
		i++
		if i >= len(s) {
			return i, surrogate, reasonEnd
		}
		if !isDigit(s[i]) {
			return i, surrogate, reasonDigit
		}
		for i++; i < len(s) && isDigit(s[i]); i++ {
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if i >= len(s) {
			return i, surrogate, reasonEnd
		}
		if !isDigit(s[i]) {
			return i, surrogate, reasonDigit
		}
		for i++; i < len(s) && isDigit(s[i]); i++ {
		}
	}

after:
	if depth == 0 {
		for i < len(s) && isSpace(s[i]) {
			i++
		}
		if i < len(s) {
			return i, surrogate, reasonAfter
		}
		return i, surrogate, ""
	}
	for {
		if i >= len(s) {
			return i, surrogate, reasonEnd
		}
		if c = s[i]; !isSpace(c) {
			break
		}
		i++
	}
	if top&1 == 0 {
		if c == ',' {
			i++
			goto value
		}
		if c != ']' {
			return i, surrogate, reasonNext
		}
		goto pop
	}
	if c == ',' {
		i++
		goto key
	}
	if c != '}' {
		return i, surrogate, reasonNext
	}

pop:
	i++
	depth--
	top >>= 1
	if depth&63 == 0 && depth > 0 {
		top = deep[len(deep)-1]
		deep = deep[:len(deep)-1]
	}
	goto after

key:
	for {
		if i >= len(s) {
			return i, surrogate, reasonEnd
		}
		if c = s[i]; !isSpace(c) {
			break
		}
		i++
	}
	if c != '"' {
		return i, surrogate, reasonKey
	}
	isKey = true

str:
	i++
	for {
		for i <= len(s)-8 {
			x := load64(s[i:])
			if m := stops(x) &^ x & highs; m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				goto stop
			}
			i += 8
		}
		for i < len(s) && escapes[s[i]] == 0 {
			i++
		}
		if i >= len(s) {
			return i, surrogate, reasonEnd
		}
	stop:
		switch s[i] {
		case '"':
			i++
			if !isKey {
				goto after
			}
			goto colon
		case '\\':
			i++
			if i >= len(s) {
				return i, surrogate, reasonEnd
			}
			switch s[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				i++
			case 'u':
				i++
				for end := i + 4; i < end; i++ {
					if i >= len(s) {
						return i, surrogate, reasonEnd
					}
					if !isHex(s[i]) {
						return i, surrogate, reasonHex
					}
				}
				if s[i-4]|0x20 == 'd' && s[i-3] >= '8' {
					surrogate = true
				}
			default:
				return i, surrogate, reasonEscape
			}
		default:
			return i, surrogate, reasonControl
		}
	}

colon:
	for {
		if i >= len(s) {
			return i, surrogate, reasonEnd
		}
		if c = s[i]; !isSpace(c) {
			break
		}
		i++
	}
	if c != ':' {
		return i, surrogate, reasonColon
	}
	i++
	goto value
}

// badLiteral finds where the text at s[i:] stops being lit.
func badLiteral[T string | []byte](s T, i int, lit string) (at int, reason string) {
	for j := range len(lit) {
		if i+j >= len(s) {
			return i + j, reasonEnd
		}
		if s[i+j] != lit[j] {
			return i + j, reasonLiteral
		}
	}
	return i, reasonLiteral
}

func isSpace(c byte) bool {
	return c <= ' ' && (c == ' ' || c == '\n' || c == '\r' || c == '\t')
}

func isDigit(c byte) bool {
	return c-'0' <= 9
}

func isHex(c byte) bool {
	return isDigit(c) || (c|0x20)-'a' <= 5
}
