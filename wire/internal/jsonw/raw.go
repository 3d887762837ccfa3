package jsonw

import (
	"strings"
	"unicode/utf8"
)

// AppendRaw appends the JSON value s byte for byte, without the white space
// around it: nothing inside is reformatted, numbers keep their digits and
// objects their order. What no receiver may be sent is repaired: each
// ill-formed byte of UTF-8 becomes U+FFFD, written raw, and each escape of a
// surrogate without its other half becomes \ufffd. repairs counts both. If s is
// not one JSON value, as [Check] defines it, p says why and out is dst
// unchanged.
func AppendRaw(dst []byte, s string) (out []byte, repairs int, p *Problem) {
	at, surrogate, reason := scan(s)
	if reason != "" {
		return dst, 0, &Problem{at, reason}
	}
	s = trimSpace(s)
	wellFormed := utf8.ValidString(s)
	if wellFormed && !surrogate {
		return append(dst, s...), 0, nil
	}
	start := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\':
			r, size := readEscape(s[i:])
			if isSurrogate(r) {
				dst = append(dst, s[start:i]...)
				dst = append(dst, replacementEscape...)
				repairs++
				start = i + size
			}
			i += size
		case c >= utf8.RuneSelf && !wellFormed:
			_, size := utf8.DecodeRuneInString(s[i:])
			if size == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, replacement...)
				repairs++
				start = i + 1
			}
			i += size
		default:
			i++
		}
	}
	return append(dst, s[start:]...), repairs, nil
}

// trimSpace returns s without the JSON white space around it.
func trimSpace(s string) string {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// Unquote appends the text of raw, a JSON string with its quotation marks that
// must be known to be valid, and returns the extended slice. Escapes are
// decoded, the two halves of a surrogate pair joined, and what stands for no
// character becomes U+FFFD, one for each lone surrogate and each ill-formed
// byte, so that the result is well-formed UTF-8.
//
// There is one exception, for text that was cut into several strings. If the
// string ends in the escape of a high surrogate, that escape is left out of the
// result and returned in high instead of 0. The caller hands it to
// [UnquoteJoin] with the next string, or appends U+FFFD if none follows.
func Unquote(dst []byte, raw string) (out []byte, high rune) {
	return UnquoteJoin(dst, 0, raw)
}

// UnquoteJoin is [Unquote] for the string that follows one that ended in the
// surrogate high. If raw begins with the escape of a low surrogate, the two
// give one character; if it begins with anything else, U+FFFD is written for
// high first. An empty string decides nothing: high is returned as it came. A
// high of 0 stands for none.
func UnquoteJoin(dst []byte, high rune, raw string) (out []byte, next rune) {
	if len(raw) <= 2 {
		return dst, high
	}
	s := raw[1 : len(raw)-1]
	if high != 0 {
		if r, size := readEscape(s); isLow(r) {
			dst = utf8.AppendRune(dst, joinSurrogates(high, r))
			s = s[size:]
		} else {
			dst = append(dst, replacement...)
		}
	}
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			return appendWellFormed(dst, s), 0
		}
		dst = appendWellFormed(dst, s[:i])
		s = s[i:]
		r, size := readEscape(s)
		if size == 0 || size > len(s) { // not valid JSON; no text is lost
			return appendWellFormed(dst, s), 0
		}
		s = s[size:]
		switch {
		case !isSurrogate(r):
			dst = utf8.AppendRune(dst, r)
		case isHigh(r) && s == "":
			return dst, r
		default:
			dst = append(dst, replacement...)
		}
	}
}

// appendWellFormed appends s with U+FFFD for each ill-formed byte.
func appendWellFormed(dst []byte, s string) []byte {
	if utf8.ValidString(s) {
		return append(dst, s...)
	}
	for _, r := range s {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// readEscape decodes the escape at the start of s, which belongs to a valid
// string: the character and the number of bytes that it takes. A pair of
// surrogates counts as one escape; a lone surrogate is returned as it is. If s
// begins with something else, size is 0.
func readEscape(s string) (r rune, size int) {
	if len(s) < 2 || s[0] != '\\' {
		return 0, 0
	}
	switch c := s[1]; c {
	case 'u':
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	default:
		return rune(c), 2
	}
	r = hex4(s[2:])
	if isHigh(r) && len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if low := hex4(s[8:]); isLow(low) {
			return joinSurrogates(r, low), 12
		}
	}
	return r, 6
}

// hex4 returns the value of four hexadecimal digits, and -1 if the first four
// bytes of s are something else.
func hex4(s string) rune {
	if len(s) < 4 {
		return -1
	}
	var r rune
	for i := range 4 {
		c := s[i]
		switch {
		case isDigit(c):
			c -= '0'
		case isHex(c):
			c = (c | 0x20) - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

func isHigh(r rune) bool      { return r&^0x3ff == 0xd800 }
func isLow(r rune) bool       { return r&^0x3ff == 0xdc00 }
func isSurrogate(r rune) bool { return r&^0x7ff == 0xd800 }

func joinSurrogates(high, low rune) rune {
	return 0x10000 + (high&0x3ff)<<10 + low&0x3ff
}
