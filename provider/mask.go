package provider

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/handwire/handwire/wire"
)

// hidden stands where a credential stood. It can stand in a JSON string.
const hidden = "[key hidden]"

// masker is the texts that must not be shown: each credential in every form in
// which a server or an error might repeat it. The zero value hides nothing.
type masker []string

// maskerOf returns the masker of one key.
func maskerOf(key string) masker { return formsOf(strings.TrimSpace(key)) }

// formsOf returns the forms of a credential, itself first.
func formsOf(secret string) masker {
	if secret == "" {
		return nil
	}
	forms := masker{secret}
	add := func(form string) {
		if !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	add(url.QueryEscape(secret))
	add(url.PathEscape(secret))
	add(strings.NewReplacer(`\`, `\\`, `"`, `\"`, "<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(secret)) // in JSON
	quoted := fmt.Sprintf("%q", secret)
	add(quoted[1 : len(quoted)-1])
	if len(secret) >= shortSecret {
		add(base64.RawStdEncoding.EncodeToString([]byte(secret))) // the padding may stay
		add(base64.RawURLEncoding.EncodeToString([]byte(secret)))
	}
	return forms
}

const (
	// shortSecret is a length in bytes. What is shorter is a stand-in for a
	// key rather than one ("none", "ollama"), and is hidden only where it is
	// a word of its own.
	shortSecret = 8
	// longSecret is a length in bytes from which half of a credential is
	// hidden too, so that one that was cut off does not show.
	longSecret = 16
)

// text returns s with every credential replaced.
func (m masker) text(s string) string { return m.hide(s, 0) }

// data returns s, which programs read, with every credential replaced that is no
// stand-in: one might be a word of the syntax of s, or the name of a model.
func (m masker) data(s string) string { return m.hide(s, shortSecret) }

// hide replaces the forms of at least so many bytes.
func (m masker) hide(s string, least int) string {
	var next []int // by form, where it is found next, len(s) if nowhere
	for i, form := range m {
		at := len(s)
		if len(form) >= least {
			at = find(s, form, 0)
		}
		if at < len(s) && next == nil {
			next = slices.Repeat([]int{len(s)}, len(m))
		}
		if next != nil {
			next[i] = at
		}
	}
	if next == nil {
		return s
	}
	var b strings.Builder
	from := 0
	for {
		at := slices.Min(next)
		if at == len(s) {
			b.WriteString(s[from:])
			return b.String()
		}
		b.WriteString(s[from:at] + hidden)
		// The forms begin alike: what is there is the one that goes on longest.
		for i, form := range m {
			if next[i] == at {
				from = max(from, at+common(s[at:], form))
			}
		}
		for i, form := range m {
			if next[i] < from {
				next[i] = find(s, form, from)
			}
		}
	}
}

// find returns where form, or so much of it as must not show, is found in
// s[from:], as an index of s; len(s) if nowhere.
func find(s, form string, from int) int {
	needle := form
	if len(form) >= longSecret {
		needle = form[:len(form)/2]
	}
	for {
		i := strings.Index(s[from:], needle)
		if i < 0 {
			return len(s)
		}
		i += from
		end := i + len(form)
		if len(form) >= shortSecret || !(i > 0 && isWord(s[i-1]) || end < len(s) && isWord(s[end])) {
			return i
		}
		from = end
	}
}

// common returns the length of what s and t begin with alike.
func common(s, t string) int {
	n := 0
	for n < len(s) && n < len(t) && s[n] == t[n] {
		n++
	}
	return n
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// The most bytes of an error's texts. Codecs keep to less; these bound what a
// server makes them say.
const (
	maxMessage = 4096
	maxBody    = 1024
)

// error returns a copy of e that shows no credential.
func (m masker) error(e *wire.Error) *wire.Error {
	c := *e
	for _, s := range [...]*string{&c.Message, &c.Type, &c.Code, &c.RequestID, &c.Hint, &c.Body} {
		*s = m.text(*s)
	}
	c.Message, c.Body = cut(c.Message, maxMessage), cut(c.Body, maxBody)
	c.Err = m.goError(c.Err)
	return &c
}

// goError returns err, or, if it shows a credential in any form of printing,
// one that does not. Of what it wraps only what callers ask for most is kept.
func (m masker) goError(err error) error {
	if err == nil || len(m) == 0 {
		return err
	}
	if all := fmt.Sprintf("%v %+v %#v", err, err, err); m.text(all) == all {
		return err
	}
	masked := &maskedError{text: m.text(err.Error())}
	for _, kept := range [...]error{context.Canceled, context.DeadlineExceeded, io.ErrUnexpectedEOF, io.EOF} {
		if errors.Is(err, kept) {
			masked.is = append(masked.is, kept)
		}
	}
	return masked
}

// maskedError stands for an error whose text held a credential.
type maskedError struct {
	text string
	is   []error
}

func (e *maskedError) Error() string   { return e.text }
func (e *maskedError) Unwrap() []error { return e.is }

// cut returns at most n bytes of s, whole characters only, and says with an
// ellipsis that something is missing.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const mark = "…"
	n -= len(mark)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark
}
