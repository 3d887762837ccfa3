package provider_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// secretKeys are keys of all sorts: with what URLs, JSON and base64 write in
// other ways, short and long.
var secretKeys = map[string]string{
	"usual":   "sk-proj-Zq81LmXw_07-TtRb5",
	"signs":   "sk-Zq81+Lm/Xw07==Tt/Rb+5",
	"8 bytes": "q+Z/8=1L",
	"40":      "0d7Zq81LmXw07TtRb5kVn3Yc9Gh2Js4Pf6Qa8We1",
	"quotes":  `zq"81\Lm<Xw>07&Tt'Rb`,
}

// forms returns the ways in which a server may write a key, by name.
func forms(key string) map[string]string {
	inJSON, _ := json.Marshal(key)
	quoted := strings.Trim(string(inJSON), `"`)
	each := func(format string) (s string) {
		for i := range len(key) {
			s += fmt.Sprintf(format, key[i])
		}
		return s
	}
	lower := regexp.MustCompile("%..").ReplaceAllStringFunc(url.QueryEscape(key), strings.ToLower)
	return map[string]string{
		"plain":               key,
		"a header's":          "Bearer " + key,
		"twice":               key + key,
		"in a word":           "x" + key + "y",
		"query":               url.QueryEscape(key),
		"query, lower case":   lower,
		"query, slashes stay": strings.ReplaceAll(url.QueryEscape(key), "%2F", "/"),
		"query, twice":        url.QueryEscape(url.QueryEscape(key)),
		"path":                url.PathEscape(key),
		"percent":             each("%%%02X"),
		"JSON":                quoted,
		"JSON, slashes":       strings.ReplaceAll(quoted, "/", `\/`),
		"JSON, signs":         strings.NewReplacer("+", `\u002B`, "'", `\u0027`).Replace(quoted),
		"JSON, all":           each(`\u%04x`),
		"JSON in JSON":        strings.ReplaceAll(strings.ReplaceAll(quoted, "/", `\/`), `\`, `\\`),
		"HTML":                html.EscapeString(key),
		"HTML, numbers":       each("&#x%x;"),
		"base64":              base64.StdEncoding.EncodeToString([]byte(key)),
		"base64, URL":         base64.URLEncoding.EncodeToString([]byte(key)),
		"base64, raw":         base64.RawStdEncoding.EncodeToString([]byte(key)),
		"base64, Bearer":      base64.StdEncoding.EncodeToString([]byte("Bearer " + key)),
		"base64, Basic":       base64.StdEncoding.EncodeToString([]byte("user:" + key)),
		"base64, Basic, none": base64.StdEncoding.EncodeToString([]byte(":" + key)),
	}
}

// everything returns all that can be printed of v, and of an error all that is
// in its chain.
func everything(v any) string {
	var b strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&b, verb+"\n", v)
	}
	j, _ := json.Marshal(v)
	b.Write(j)
	if e, ok := v.(error); ok {
		b.WriteString(e.Error() + "\n")
		switch w := e.(type) {
		case interface{ Unwrap() error }:
			if in := w.Unwrap(); in != nil {
				b.WriteString(everything(in))
			}
		case interface{ Unwrap() []error }:
			for _, in := range w.Unwrap() {
				b.WriteString(everything(in))
			}
		}
	}
	return b.String()
}

// unescaped undoes one level of the ways of writing of URLs, JSON and HTML.
func unescaped(s string) string {
	var b strings.Builder
	number := func(from, to int) bool {
		if to > len(s) {
			return false
		}
		n, err := strconv.ParseUint(s[from:to], 16, 8)
		if err == nil {
			b.WriteByte(byte(n))
			s = s[to:]
		}
		return err == nil
	}
	for {
		i := strings.IndexAny(s, `%\&`)
		if i < 0 {
			return b.String() + s
		}
		b.WriteString(s[:i])
		s = s[i:]
		end := strings.IndexByte(s[:min(len(s), 9)], ';')
		switch {
		case s[0] == '%' && number(1, 3), strings.HasPrefix(s, `\u00`) && number(4, 6):
			continue
		case len(s) > 1 && s[0] == '\\' && strings.IndexByte(`\/"`, s[1]) >= 0:
			b.WriteByte(s[1])
			s = s[2:]
			continue
		case s[0] == '&' && end > 0:
			b.WriteString(html.UnescapeString(s[:end+1]))
			s = s[end+1:]
			continue
		}
		b.WriteByte(s[0])
		s = s[1:]
	}
}

// inBase64 returns what of s, and of further text around it, base64 writes alike
// whatever stands before s.
func inBase64(s string) (cores []string) {
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + s))
		core := text[(before*8+5)/6 : (before+len(s))*8/6]
		cores = append(cores, core, strings.NewReplacer("+", "-", "/", "_").Replace(core))
	}
	return cores
}

// leak says in which form a text shows a key, or enough of it, "" if it does
// not.
func leak(text, key string) string {
	needles := append(inBase64(key), key, hex.EncodeToString([]byte(key)), strings.ToUpper(hex.EncodeToString([]byte(key))))
	if len(key) > 16 {
		needles = append(needles, key[:len(key)/2], key[len(key)/2:])
	}
	for level := range 5 {
		for _, n := range needles {
			if i := strings.Index(text, n); i >= 0 {
				return fmt.Sprintf("level %d: …%q…", level, text[max(0, i-80):min(len(text), i+len(n)+40)])
			}
		}
		next := unescaped(text)
		if next == text {
			break
		}
		text = next
	}
	return ""
}

// TestLeak: the test's own detector finds every form, also in what is printed.
func TestLeak(t *testing.T) {
	for name, key := range secretKeys {
		for form, text := range forms(key) {
			for _, v := range []any{text, []byte(text), errors.New(text), fmt.Errorf("a: %w", errors.New(text)), struct{ s string }{text}} {
				if leak(everything(v), key) == "" {
					t.Errorf("%s, %s: %q is not found in %T", name, form, text, v)
				}
			}
		}
	}
}
