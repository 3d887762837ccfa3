package wire

import (
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/handwire/handwire/wire/internal/jsonw"
)

// PartialJSON reads the arguments of a tool call while they stream in and gives,
// at any moment, a valid JSON value that shows what has arrived. It is for user
// interfaces only: what it completes must never be run, because a call that was
// cut off can look whole ("rm -r /tmp" until "/cache" arrives). A call runs
// when its part ended, its arguments are one complete value, and the message
// finished for a reason that permits it.
//
// The zero value is ready for use. The text is kept, and each byte of it is
// looked at once, so that the time for all calls of [PartialJSON.Write] together
// is linear in the length of the text. Arrays and objects may be nested 10,000
// deep; more is an error. A PartialJSON must not be used by several goroutines
// at once.
type PartialJSON struct {
	raw     []byte // the text up to the first error
	closers []byte // what closes the open arrays and objects, outermost first
	err     error

	state partialState
	isKey bool   // the open string is a key
	count uint8  // in partialHex: digits read
	code  uint16 // in partialHex: their value
	lit   string // in partialLiteral: what is left of it

	begin int // where the value begins, once it has
	safe  int // end of the last value or opening bracket: the text up to here needs only the closers
	num   int // end of the longest prefix of the open number that is one, 0 if none
	esc   int // start of the open escape
	high  int // start of the escape of a high surrogate that ended at after, if any
	after int
}

// partialState is what the next byte belongs to.
type partialState uint8

const (
	partialValue      partialState = iota // a value must begin
	partialFirstValue                     // a value or the end of an empty array
	partialFirstKey                       // a key or the end of an empty object
	partialKey                            // a key
	partialColon                          // the colon after a key
	partialNext                           // a comma or a closing bracket
	partialDone                           // nothing but white space
	partialString                         // in a string
	partialEscape                         // after the backslash in a string
	partialHex                            // in the digits of a \u escape
	partialLiteral                        // in true, false or null
	partialMinus                          // after the minus of a number
	partialZero                           // after the zero that a number begins with
	partialInt                            // in the integer digits of a number
	partialDot                            // after the decimal point
	partialFrac                           // in the digits after it
	partialExp                            // after the e of a number
	partialExpSign                        // after the sign of the exponent
	partialExpDigits                      // in the digits of the exponent
)

// Write adds the next piece of the text. Where a text is cut into pieces makes
// no difference; a piece may end inside an escape or a character. After an error
// (see [PartialJSON.Err]) it does nothing.
func (p *PartialJSON) Write(s string) {
	if p.err != nil {
		return
	}
	base := len(p.raw)
	p.raw = append(p.raw, s...)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if p.state == partialString {
			for c >= 0x20 && c != '"' && c != '\\' {
				if i++; i == len(s) {
					return
				}
				c = s[i]
			}
		}
		if reason := p.step(c, base+i); reason != "" {
			p.raw = p.raw[:base+i]
			p.err = errors.New("wire: partial JSON: offset " + strconv.Itoa(base+i) + ": " + reason)
			return
		}
	}
}

// step takes the byte c at offset at. It returns why that byte cannot stand
// there, and then leaves the state as it was, or "".
func (p *PartialJSON) step(c byte, at int) (reason string) {
	if p.state >= partialMinus {
		next, ok := p.number(c)
		if ok {
			p.state = next
			if next == partialZero || next == partialInt || next == partialFrac || next == partialExpDigits {
				p.num = at + 1
			}
			return ""
		}
		if p.num != at {
			return "expected a digit"
		}
		// The number ended before c, which belongs to what surrounds it.
		if reason = p.outside(c, at, p.stateAfterValue()); reason == "" && p.safe < p.num {
			p.safe = p.num
		}
		return reason
	}
	switch p.state {
	case partialString:
		switch {
		case c == '"':
			if p.isKey {
				p.state = partialColon
			} else {
				p.endValue(at + 1)
			}
		case c == '\\':
			p.esc = at
			p.state = partialEscape
		case c < 0x20:
			return "control character in a string"
		}
	case partialEscape:
		switch c {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			p.state = partialString
		case 'u':
			p.state, p.count, p.code = partialHex, 0, 0
		default:
			return "unknown escape in a string"
		}
	case partialHex:
		d, ok := hexValue(c)
		if !ok {
			return "expected a hexadecimal digit"
		}
		p.code = p.code<<4 | uint16(d)
		if p.count++; p.count == 4 {
			p.state = partialString
			if p.code&0xfc00 == 0xd800 {
				p.high, p.after = p.esc, at+1
			}
		}
	case partialLiteral:
		if c != p.lit[0] {
			return "misspelt literal"
		}
		if p.lit = p.lit[1:]; p.lit == "" {
			p.endValue(at + 1)
		}
	default:
		return p.outside(c, at, p.state)
	}
	return ""
}

// outside is step for a byte outside strings, literals and numbers. state is
// what that byte belongs to; p.state is set unless there is a reason.
func (p *PartialJSON) outside(c byte, at int, state partialState) (reason string) {
	if c == ' ' || c == '\n' || c == '\r' || c == '\t' {
		p.state = state
		return ""
	}
	switch state {
	case partialValue, partialFirstValue:
		if state == partialFirstValue && c == ']' {
			p.pop(at)
			return ""
		}
		return p.value(c, at)
	case partialFirstKey, partialKey:
		if state == partialFirstKey && c == '}' {
			p.pop(at)
			return ""
		}
		if c != '"' {
			return "expected a string as key"
		}
		p.state, p.isKey = partialString, true
	case partialColon:
		if c != ':' {
			return "expected a colon after the key"
		}
		p.state = partialValue
	case partialNext:
		switch closer := p.closers[len(p.closers)-1]; {
		case c == closer:
			p.pop(at)
		case c != ',':
			return "expected a comma or the end of the array or object"
		case closer == '}':
			p.state = partialKey
		default:
			p.state = partialValue
		}
	case partialDone:
		return "unexpected text after the value"
	}
	return ""
}

// value takes the first byte of a value.
func (p *PartialJSON) value(c byte, at int) (reason string) {
	top := len(p.closers) == 0
	switch c {
	case '"':
		p.state, p.isKey = partialString, false
	case '{', '[':
		if len(p.closers) == jsonw.MaxDepth {
			return "nested too deeply"
		}
		p.safe = at + 1
		if c == '{' {
			p.closers = append(p.closers, '}')
			p.state = partialFirstKey
		} else {
			p.closers = append(p.closers, ']')
			p.state = partialFirstValue
		}
	case 't':
		p.state, p.lit = partialLiteral, "rue"
	case 'f':
		p.state, p.lit = partialLiteral, "alse"
	case 'n':
		p.state, p.lit = partialLiteral, "ull"
	case '-':
		p.state, p.num = partialMinus, 0
	case '0':
		p.state, p.num = partialZero, at+1
	default:
		if c < '1' || c > '9' {
			return "expected a value"
		}
		p.state, p.num = partialInt, at+1
	}
	if top {
		p.begin = at
	}
	return ""
}

// number returns the state after c in a number, and false if c cannot continue
// it.
func (p *PartialJSON) number(c byte) (next partialState, ok bool) {
	digit := c >= '0' && c <= '9'
	switch p.state {
	case partialMinus:
		if c == '0' {
			return partialZero, true
		}
		return partialInt, digit
	case partialZero, partialInt:
		switch {
		case digit && p.state == partialInt:
			return partialInt, true
		case c == '.':
			return partialDot, true
		}
		return partialExp, c == 'e' || c == 'E'
	case partialDot:
		return partialFrac, digit
	case partialFrac:
		if digit {
			return partialFrac, true
		}
		return partialExp, c == 'e' || c == 'E'
	case partialExp:
		if c == '+' || c == '-' {
			return partialExpSign, true
		}
	}
	return partialExpDigits, digit
}

// pop takes the bracket at offset at, which closes the innermost array or
// object.
func (p *PartialJSON) pop(at int) {
	p.closers = p.closers[:len(p.closers)-1]
	p.endValue(at + 1)
}

// endValue notes that a value ended before offset end.
func (p *PartialJSON) endValue(end int) {
	p.safe = end
	p.state = p.stateAfterValue()
}

func (p *PartialJSON) stateAfterValue() partialState {
	if len(p.closers) == 0 {
		return partialDone
	}
	return partialNext
}

// AppendCompletion appends one valid JSON value to dst and returns the extended
// slice: the text so far, byte for byte, without the white space around it, and
// the least that closes it.
//
//   - Open arrays and objects are closed; a comma with nothing after it is left
//     out, and so is a key that is not followed by the beginning of a value.
//   - An open string is closed. An escape or a UTF-8 character that was cut at
//     the end is left out, and so is the escape of a high surrogate there, which
//     the other half may still follow. Lone surrogates elsewhere, and ill-formed
//     UTF-8, stay as they are.
//   - A literal such as tru is completed.
//   - A number is cut back to the longest beginning that is a number. If there
//     is none, it is left out together with its key.
//
// As long as nothing of the value can be shown, the completion is {}, because
// arguments are objects. After an error it is the completion of the text before
// it. The cost is that of copying the text. The result does not refer to memory
// of p.
func (p *PartialJSON) AppendCompletion(dst []byte) []byte {
	end, tail := p.safe, ""
	switch p.state {
	case partialString, partialEscape, partialHex:
		if !p.isKey {
			end, tail = p.stringEnd(), `"`
		}
	case partialLiteral:
		end, tail = len(p.raw), p.lit
	default:
		if p.state >= partialMinus && p.num != 0 {
			end = p.num
		}
	}
	if end == 0 {
		return append(dst, "{}"...)
	}
	dst = append(dst, p.raw[p.begin:end]...)
	dst = append(dst, tail...)
	for i := len(p.closers) - 1; i >= 0; i-- {
		dst = append(dst, p.closers[i])
	}
	return dst
}

// stringEnd returns the end of what can be shown of the open string.
func (p *PartialJSON) stringEnd() int {
	end := len(p.raw)
	if p.state != partialString {
		end = p.esc
	}
	if p.after == end {
		return p.high
	}
	if p.state != partialString {
		return end
	}
	// At most the last three bytes can be a cut character. The search ends at
	// the quotation mark at the latest.
	for n := 1; n < utf8.UTFMax; n++ {
		if utf8.RuneStart(p.raw[end-n]) {
			if !utf8.FullRune(p.raw[end-n : end]) {
				end -= n
			}
			break
		}
	}
	return end
}

// Complete reports whether what arrived is one whole JSON value, with or without
// white space around it. More text can still change that: a number at the top
// may go on, and anything but white space after a value is an error.
func (p *PartialJSON) Complete() bool {
	if p.err != nil || len(p.closers) != 0 {
		return false
	}
	return p.state == partialDone || p.state >= partialMinus && p.num == len(p.raw)
}

// Err returns the first syntax error, or nil while more text can still make the
// whole valid. Its text gives the offset in bytes from the start of the
// arguments, and nothing of the arguments themselves.
func (p *PartialJSON) Err() error {
	return p.err
}

// Reset makes p as good as new, for the arguments of another call. It keeps the
// memory.
func (p *PartialJSON) Reset() {
	*p = PartialJSON{raw: p.raw[:0], closers: p.closers[:0]}
}

func hexValue(c byte) (v byte, ok bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
