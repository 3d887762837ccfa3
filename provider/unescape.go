package provider

import (
	"strconv"
	"strings"
)

// view is a text in which the ways of writing of URLs (%2B), JSON (\u002B and \/)
// and HTML (&#43; and &amp;) are undone, so often as its depth says.
type view struct {
	text  string
	from  []int // by byte of text, where in the first text it was written; nil is the same place
	depth int
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
	next := view{depth: v.depth + 1, from: make([]int, 0, len(v.text)+1)}
	var b strings.Builder
	changed := false
	i := 0
	for i < len(v.text) {
		text, n := unescape(v.text[i:])
		if n == 0 {
			text, n = v.text[i:i+1], 1
		} else {
			changed = true
		}
		for range len(text) {
			next.from = append(next.from, v.origin(i))
		}
		b.WriteString(text)
		i += n
	}
	next.text, next.from = b.String(), append(next.from, v.origin(i))
	return next, changed
}

// unescape returns what the beginning of s, which is not empty, stands for and how
// many bytes that is, 0 if it stands for itself.
func unescape(s string) (text string, n int) {
	switch s[0] {
	case '%':
		if len(s) >= 3 {
			if b, err := strconv.ParseUint(s[1:3], 16, 8); err == nil {
				return string([]byte{byte(b)}), 3
			}
		}
	case '\\':
		switch {
		case len(s) >= 2 && strings.IndexByte(`"\/`, s[1]) >= 0:
			return s[1:2], 2
		case len(s) >= 6 && s[1] == 'u':
			if r, err := strconv.ParseUint(s[2:6], 16, 16); err == nil {
				return string(rune(r)), 6
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
