package provider

import (
	"strconv"
	"strings"
)

// view is a text in which the ways of writing of URLs (%2B), JSON (\u002B and \/)
// and HTML (&#43; and &amp;) are undone, so often as its depth says.
type view struct {
	text   string
	mapped bool  // from is kept
	from   []int // by byte of text, where in the first text it was written; nil is the same place
	depth  int
}

// maxDepth is how often they are undone. A body of JSON that a URL quotes and
// that another body of JSON quotes has three.
const maxDepth = 4

// origin returns where in the first text the byte i was written.
func (v *view) origin(i int) int {
	if v.from == nil {
		return i
	}
	return v.from[i]
}

// undone returns the next view, and false if there is none that differs.
func (v view) undone() (view, bool) {
	if v.depth == maxDepth || !strings.ContainsAny(v.text, `%\&`) {
		return v, false
	}
	next := view{depth: v.depth + 1, mapped: v.mapped}
	var b strings.Builder
	b.Grow(len(v.text))
	changed := false
	i := 0
	for i < len(v.text) {
		text, n := unescape(v.text[i:])
		step := 0 // what is undone was all written in one place
		if n == 0 {
			text, step = plain(v.text[i:]), 1
			n = len(text)
		} else {
			changed = true
		}
		for j := 0; v.mapped && j < len(text); j++ {
			next.from = append(next.from, v.origin(i+j*step))
		}
		b.WriteString(text)
		i += n
	}
	next.text = b.String()
	if v.mapped {
		next.from = append(next.from, v.origin(i))
	}
	return next, changed
}

// plain returns the beginning of s, of at least one byte, up to where something
// may have to be undone.
func plain(s string) string {
	if n := strings.IndexAny(s[1:], `%\&`); n >= 0 {
		return s[:n+1]
	}
	return s
}

// unescape returns what the beginning of s, which is not empty, stands for and how
// many bytes that is, 0 if it stands for itself.
func unescape(s string) (text string, n int) {
	switch s[0] {
	case '%':
		if len(s) >= 3 {
			if b, ok := hex(s[1:3]); ok {
				return string([]byte{byte(b)}), 3
			}
		}
	case '\\':
		switch {
		case len(s) >= 2 && strings.IndexByte(`"\/`, s[1]) >= 0:
			return s[1:2], 2
		case len(s) >= 6 && s[1] == 'u':
			if r, ok := hex(s[2:6]); ok {
				return string(r), 6
			}
		}
	case '&':
		if end := strings.IndexByte(s[:min(len(s), 10)], ';'); end > 0 {
			if text = entity(s[1:end]); text != "" {
				return text, end + 1
			}
		}
	}
	return "", 0
}

// hex reads digits of base 16, at most seven. Unlike strconv it makes no error,
// since most of what is looked at is none.
func hex(digits string) (n rune, ok bool) {
	for _, c := range []byte(digits) {
		switch lower := c | 0x20; {
		case '0' <= c && c <= '9':
			n = n<<4 | rune(c-'0')
		case 'a' <= lower && lower <= 'f':
			n = n<<4 | rune(lower-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// entity returns what a name between & and ; stands for in HTML, "" if that is
// nothing in which keys are written.
func entity(name string) string {
	switch name {
	case "amp":
		return "&"
	case "lt":
		return "<"
	case "gt":
		return ">"
	case "quot":
		return `"`
	case "apos":
		return "'"
	}
	digits, ok := strings.CutPrefix(name, "#")
	base := 10
	if hex, is := strings.CutPrefix(strings.ToLower(digits), "x"); is {
		digits, base = hex, 16
	}
	r, err := strconv.ParseUint(digits, base, 16)
	if !ok || err != nil {
		return ""
	}
	return string(rune(r))
}
