package provider

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/handwire/handwire/wire"
)

// hidden stands where a credential stood. It can stand in a JSON string.
const hidden = "[key hidden]"

// masker is the texts that must not be shown: each credential, itself and in
// base64. In the other forms in which a server or an error might repeat it, see
// [view], it is found by undoing them. The zero value hides nothing.
type masker []string

// maskerOf returns the masker of one key.
func maskerOf(key string) masker { return formsOf(strings.TrimSpace(key)) }

// formsOf returns the forms of a credential, itself first.
func formsOf(secret string) masker {
	if secret == "" {
		return nil
	}
	forms := masker{secret}
	if len(secret) < shortSecret {
		return forms
	}
	forms = append(forms, base64.RawStdEncoding.EncodeToString([]byte(secret))) // the padding may stay
	// Behind other bytes, as in user:key, it is what those have no part in.
	for before := 1; before < 3; before++ {
		text := base64.RawStdEncoding.EncodeToString([]byte("::"[:before] + secret))
		forms = append(forms, text[before+1:(before+len(secret))*8/6])
	}
	for _, form := range forms[1:] {
		if other := strings.NewReplacer("+", "-", "/", "_").Replace(form); other != form { // in URLs
			forms = append(forms, other)
		}
	}
	// What is undone in a text is undone in a credential that looks so by itself.
	for v, ok := (view{text: secret}).undone(); ok && len(v.text) >= shortSecret; v, ok = v.undone() {
		forms = append(forms, v.text)
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
	if !m.shows(s, least) { // which is nearly always so, and needs no map
		return s
	}
	covered := make([]bool, len(s))
	for v, ok := (view{text: s, mapped: true}), true; ok; v, ok = v.undone() {
		for _, form := range m {
			if len(form) < least {
				continue
			}
			for i := find(v.text, form, 0); i < len(v.text); {
				end := i + common(v.text[i:], form)
				for j := v.origin(i); j < v.origin(end); j++ {
					covered[j] = true
				}
				if end < i+len(form) {
					end = i + 1 // a part of one, within which a whole one may begin
				}
				i = find(v.text, form, end)
			}
		}
	}
	var b strings.Builder
	for i, secret := range covered {
		switch {
		case !secret:
			b.WriteByte(s[i])
		case i == 0 || !covered[i-1]:
			b.WriteString(hidden)
		}
	}
	return b.String()
}

// shows reports whether hide would change s.
func (m masker) shows(s string, least int) bool {
	for v, ok := (view{text: s}), len(m) > 0; ok; v, ok = v.undone() {
		for _, form := range m {
			if len(form) >= least && find(v.text, form, 0) < len(v.text) {
				return true
			}
		}
	}
	return false
}

// in reports whether s has a form of at least so many bytes in it, whole.
func (m masker) in(s string, least int) bool {
	for v, ok := (view{text: s}), len(m) > 0; ok; v, ok = v.undone() {
		for _, form := range m {
			if len(form) >= least && strings.Contains(v.text, form) {
				return true
			}
		}
	}
	return false
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
	maxWord    = 1024 // a type, a code or an id
)

// error returns a copy of e that shows no credential.
func (m masker) error(e *wire.Error) *wire.Error {
	c := *e
	for _, s := range [...]*string{&c.Message, &c.Type, &c.Code, &c.RequestID, &c.Hint, &c.Body} {
		*s = m.text(*s)
	}
	c.Message, c.Body = cut(c.Message, maxMessage), cut(c.Body, maxBody)
	c.Type, c.Code, c.RequestID = cut(c.Type, maxWord), cut(c.Code, maxWord), cut(c.RequestID, maxWord)
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
