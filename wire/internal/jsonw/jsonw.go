// Package jsonw writes JSON by appending to a byte slice, and checks and reads
// the JSON text that the codecs insert or receive. It exists because a request
// body must be the same bytes every time: the caller fixes the order of the
// fields, and nothing is reformatted.
//
// Three decisions hold for everything that the package writes:
//
//   - No HTML escaping: <, > and & are written as they are.
//   - U+2028 and U+2029, like all other characters from U+0020 on except the
//     quotation mark and the backslash, are written raw.
//   - Ill-formed UTF-8 is replaced, never refused and never passed on: each
//     byte that belongs to no character becomes one U+FFFD, written raw. The
//     count per byte is that of [encoding/json], so a string that was saved and
//     loaded with that package yields the same bytes as before.
//
// Functions that append take the destination first and return the extended
// slice; they allocate only when its capacity does not suffice. They keep no
// reference to any argument, and their inputs must not overlap the destination.
// There is no state, so everything may be used from several goroutines.
package jsonw

import (
	"encoding/base64"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

const (
	hexDigits = "0123456789abcdef"

	// U+FFFD in UTF-8, and as an escape in a JSON string.
	replacement       = "\uFFFD"
	replacementEscape = `\ufffd`

	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// escapes says how a byte below 0x80 is written inside a JSON string: 0 stands
// for the byte itself, 'u' for the six-byte form, anything else follows a
// backslash.
var escapes = [256]byte{
	'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u',
	'b', 't', 'n', 'u', 'f', 'r', 'u', 'u',
	'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u',
	'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u',
	'"': '"', '\\': '\\',
}

// load64 returns the first eight bytes of s, the first one lowest. The compiler
// makes one load of it where the machine allows that.
func load64[T string | []byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// stops returns a word whose high bits, one per byte of x, mark the bytes that
// end a plain run of a JSON string: quotation mark, backslash, and bytes below
// 0x20. Only the lowest mark is exact; borrows may set false ones above it. The
// marks of bytes from 0x80 on mean nothing, and the other bits must be masked
// off too.
func stops(x uint64) uint64 {
	// Flipping bit 1 moves the quotation mark (0x22) to 0x20 and keeps the
	// control bytes below that, so one subtraction finds both.
	return ((x ^ 0x02*ones) - 0x21*ones) | ((x ^ 0x5c*ones) - ones)
}

// AppendString appends s as a JSON string, with its quotation marks, in the
// form that the package comment describes. The quotation mark, the backslash
// and the bytes below 0x20 are escaped: \b, \f, \n, \r and \t in the short
// form, the other control bytes as \u00xx with lower-case digits.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start, i := 0, 0 // s[start:i] is plain and not yet copied
	for {
		for i <= len(s)-8 {
			x := load64(s[i:])
			if m := (stops(x) | x) & highs; m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		for i < len(s) && s[i] < utf8.RuneSelf && escapes[s[i]] == 0 {
			i++
		}
		if i >= len(s) {
			dst = append(dst, s[start:]...)
			return append(dst, '"')
		}
		if s[i] < utf8.RuneSelf {
			dst = append(dst, s[start:i]...)
			c := s[i]
			if e := escapes[c]; e != 'u' {
				dst = append(dst, '\\', e)
			} else {
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			start = i
			continue
		}
		// The characters of two bytes and most of those of three are decided
		// here, the others and what is ill-formed by package utf8.
		for i < len(s) {
			c := s[i]
			if c < utf8.RuneSelf {
				break
			}
			if c >= 0xc2 && c <= 0xdf && i+1 < len(s) && s[i+1]&0xc0 == 0x80 {
				i += 2
				continue
			}
			if c >= 0xe1 && c <= 0xef && c != 0xed && i+2 < len(s) && s[i+1]&0xc0 == 0x80 && s[i+2]&0xc0 == 0x80 {
				i += 3
				continue
			}
			_, size := utf8.DecodeRuneInString(s[i:])
			if size == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, replacement...)
				start = i + 1
			}
			i += size
		}
	}
}

// AppendInt appends n in decimal.
func AppendInt(dst []byte, n int64) []byte {
	return strconv.AppendInt(dst, n, 10)
}

// IsFinite reports whether f is a number that JSON can hold: neither NaN nor an
// infinity.
func IsFinite(f float64) bool {
	return f-f == 0
}

// AppendFloat appends the shortest decimal form that reads back as f, in the
// form that [encoding/json] writes: without an exponent from 1e-6 up to but not
// including 1e21 in magnitude, with one outside. Zero is 0 and negative zero is
// -0. JSON has no form for NaN and the infinities; the caller must have refused
// them (see [IsFinite]), or the output is not JSON.
func AppendFloat(dst []byte, f float64) []byte {
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	if format == 'e' {
		// strconv writes at least two digits of exponent: 1e-09 becomes 1e-9.
		if n := len(dst); n >= 4 && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
			dst[n-2] = dst[n-1]
			dst = dst[:n-1]
		}
	}
	return dst
}

// AppendBase64 appends data as a JSON string in standard base64 with padding.
func AppendBase64(dst, data []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, '"')
}
