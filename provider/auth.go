package provider

import (
	"errors"
	"net/textproto"
	"strings"

	"github.com/handwire/handwire/wire"
)

// credentials is what proves who asks.
type credentials struct {
	header   []wire.Header // the key's, and those of Config.Header that are credentials
	mask     masker
	hint     string // what to set
	optional bool
	notes    []wire.Note
}

// credentialsOf divides the headers of a configuration into credentials, the
// key among them, and others.
func credentialsOf(cfg *Config) (*credentials, []wire.Header, *wire.Error) {
	auth := &credentials{hint: cfg.KeyHint}
	if auth.hint == "" {
		auth.hint = "APIKey"
	}
	key := strings.TrimSpace(cfg.APIKey)
	switch {
	case strings.ContainsFunc(key, isControl):
		return nil, nil, configError("APIKey (" + auth.hint + ") has a line break or another control character in it")
	case strings.ContainsFunc(key, func(r rune) bool { return r == ' ' || r > '~' }):
		return nil, nil, configError("APIKey (" + auth.hint + ") has a blank or a character that is not ASCII in it, which no key has")
	case key != "" && key != cfg.APIKey:
		auth.notes = []wire.Note{{Code: wire.NoteRepaired, Path: "api_key", Detail: "white space around the key was left out: " + auth.hint}}
	}
	header, prefix := cfg.Auth.Header, cfg.Auth.Prefix
	if header == "" && prefix == "" {
		prefix = "Bearer "
	}
	if header == "" {
		header = "Authorization"
	}
	if err := checkHeader("Auth", wire.Header{Name: header, Value: prefix}); err != nil {
		return nil, nil, err
	}
	if key != "" {
		auth.header = append(auth.header, wire.Header{Name: header, Value: prefix + key})
		auth.mask = append(auth.mask, formsOf(key)...)
	}
	var rest []wire.Header
	for _, h := range cfg.Header {
		if err := checkHeader("Header", h); err != nil {
			return nil, nil, err
		}
		own := strings.EqualFold(h.Name, header)
		switch {
		case own && key != "":
			return nil, nil, configError("Header sets " + header + ", which already carries APIKey")
		case own || isCredential(h.Name):
			auth.header = append(auth.header, h)
			auth.mask = append(auth.mask, formsOf(strings.TrimSpace(h.Value))...)
			if _, token, ok := strings.Cut(strings.TrimSpace(h.Value), " "); ok {
				auth.mask = append(auth.mask, formsOf(strings.TrimSpace(token))...)
			}
		default:
			rest = append(rest, h)
		}
	}
	return auth, rest, nil
}

// ErrNoKey is in the chain of the error of a request that was refused before
// anything was sent, because there was no key.
var ErrNoKey = errors.New("there is no API key")

// check refuses a request for which there is no credential but should be.
func (a *credentials) check() *wire.Error {
	if a.optional || len(a.header) > 0 {
		return nil
	}
	return &wire.Error{Cause: wire.CauseConfig, Message: ErrNoKey.Error(), Err: ErrNoKey, Hint: "set " + a.hint}
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// isCredential reports whether the name of a header speaks of a credential.
func isCredential(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	for _, s := range [...]string{"auth", "api-key", "apikey", "token", "secret", "cookie", "password"} {
		if strings.Contains(name, s) {
			return true
		}
	}
	return strings.HasSuffix(name, "-key") && !strings.HasSuffix(name, "idempotency-key")
}

// checkHeader refuses a header that cannot be sent. The error does not show the
// value.
func checkHeader(where string, h wire.Header) *wire.Error {
	if h.Name == "" || strings.ContainsFunc(h.Name, notToken) {
		return configError(where + " has a header whose name cannot be sent")
	}
	if strings.ContainsFunc(h.Value, func(r rune) bool { return isControl(r) && r != '\t' }) {
		return configError(where + ": the value of " + h.Name + " has a line break or another control character in it")
	}
	switch textproto.CanonicalMIMEHeaderKey(h.Name) {
	case "Host", "Content-Length", "Transfer-Encoding", "Trailer", "Connection":
		return configError(where + ": " + h.Name + " is set by the transport alone")
	}
	return nil
}

func notToken(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
}

// addHeader appends h to list. A name that is there already is not sent twice:
// another value is joined to the one that is there.
func addHeader(list []wire.Header, h wire.Header) []wire.Header {
	for i := range list {
		if old := &list[i]; strings.EqualFold(old.Name, h.Name) {
			if old.Value != h.Value {
				old.Value += "," + h.Value
			}
			return list
		}
	}
	return append(list, h)
}
