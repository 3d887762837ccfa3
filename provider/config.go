package provider

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/handwire/handwire/retry"
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/stream"
)

// Config says where requests go and how. Printed with fmt by itself or in an
// exported field, logged or written as JSON it is a short text, which shows
// neither the key nor the values of headers; it is no form to be stored. In an
// unexported field fmt calls no methods, and shows the key.
type Config struct {
	// Codec speaks the server's protocol. It is required.
	Codec wire.Codec
	// Model is used where Request.Model is empty.
	Model string
	// BaseURL is the server's address: scheme, host and, where it has one, a
	// prefix. The codec's path is appended; a version such as /v1 that the
	// base ends in already is not doubled, and a base that is the whole
	// endpoint already stays as it is. Below a prefix that is known to have no
	// version the path goes without one, as below a deployment of Azure's
	// (/openai/deployments/NAME). A query such as api-version is kept; one with
	// a parameter that holds a key is refused, and so is a user name. Plain
	// http is allowed.
	BaseURL string
	// URL is the exact URL of every request, instead of BaseURL and the
	// codec's path. One of the two must be set, and not both.
	URL string
	// APIKey is the key. White space around it is removed, and then empty is
	// none. Requests to another machine need one, unless Auth.Optional is set
	// or Header holds a credential.
	APIKey string `json:"-"`
	// KeyHint is what an error about a missing or refused key tells the user
	// to set, such as the name of an environment variable. Empty is APIKey.
	KeyHint string
	// Auth is how the key is sent.
	Auth Auth
	// HTTP sends the requests. Nil is a client of our own, with the settings
	// of [http.DefaultTransport], up to 64 idle connections to a host, and
	// the time of Clocks.Connect for handshakes. A given one is copied and
	// never modified: its transport, cookies and timeout are used as they are,
	// its redirects are not followed. This is the place for a proxy other than
	// the environment's, for certificates and for limits of connections.
	HTTP *http.Client
	// Header is added to every request. A name that the codec or the request
	// sets too is sent once, with the values joined by commas. A header whose
	// name speaks of a credential is treated like the key: one that contains
	// auth, api-key, token, secret, cookie or password, or ends in -key but not
	// in idempotency-key. It must not be the one of Auth if there is a key as
	// well.
	Header []wire.Header
	// Stream are the limits of reading a response; nil is the defaults.
	Stream *stream.Options
	// Clocks are the limits of time; the zero value is the defaults.
	Clocks Clocks
	// Retry says how often and how fast a request is sent again that failed
	// before any part of its answer was handed out; nil is the defaults of
	// [retry.Policy], which are two further attempts, and a policy whose
	// MaxAttempts is 1 is none. It is copied; its budget is shared.
	Retry *retry.Policy
	// Trace is told what goes over the wire. Nil is nobody. It is copied.
	Trace *Trace
}

// Auth is the form in which a key is sent: one header, whose value is Prefix
// and the key.
type Auth struct {
	// Header is the name. Empty is Authorization with the prefix Bearer, if
	// Prefix is empty too.
	Header string
	// Prefix stands before the key, such as "Bearer " with its space.
	Prefix string
	// Optional says that requests without a key are fine.
	Optional bool
}

// String returns the settings that may be shown.
func (c Config) String() string {
	var b strings.Builder
	b.WriteString("provider.Config{")
	sep := ""
	add := func(name, value string) {
		if value != "" {
			b.WriteString(sep + name + ": " + value)
			sep = ", "
		}
	}
	if c.Codec != nil {
		add("Codec", c.Codec.Protocol())
	}
	add("Model", c.Model)
	add("BaseURL", shownURL(c.BaseURL))
	add("URL", shownURL(c.URL))
	if strings.TrimSpace(c.APIKey) != "" {
		add("APIKey", hidden)
	}
	for _, h := range c.Header {
		add("Header", h.Name)
	}
	b.WriteString("}")
	return maskerOf(c.APIKey).text(b.String())
}

// GoString returns what String returns.
func (c Config) GoString() string { return c.String() }

// Format writes what String returns, whatever the verb.
func (c Config) Format(f fmt.State, verb rune) { f.Write([]byte(c.String())) }

// MarshalText returns what String returns, for loggers and encoding/json.
func (c Config) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// shownURL returns text without user, query and fragment.
func shownURL(text string) string {
	if text == "" {
		return ""
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" {
		return "(not a URL)"
	}
	return plainURL(u)
}

func configError(message string) *wire.Error {
	return &wire.Error{Cause: wire.CauseConfig, Message: message}
}

// New returns a client. It does no I/O. Its errors are *[wire.Error] with cause
// config. A missing key is no error here but of the first request, since
// [Client.Encode] needs none.
func New(cfg Config) (*Client, error) {
	c, err := newClient(cfg)
	if err != nil {
		return nil, maskerOf(cfg.APIKey).error(err)
	}
	return c, nil
}

func newClient(cfg Config) (*Client, *wire.Error) {
	if cfg.Codec == nil {
		return nil, configError("Codec is not set")
	}
	c := &Client{codec: cfg.Codec, model: cfg.Model, exact: cfg.URL != ""}

	name, text := "BaseURL", cfg.BaseURL
	switch {
	case cfg.URL != "" && cfg.BaseURL != "":
		return nil, configError("URL and BaseURL are both set")
	case cfg.URL != "":
		name, text = "URL", cfg.URL
	case cfg.BaseURL == "":
		return nil, configError("BaseURL is not set")
	}
	base, err := parseAddress(name, text)
	if err != nil {
		return nil, err
	}
	c.base, c.endpoint = base, endpoint(base)

	auth, header, err := credentialsOf(&cfg)
	if err != nil {
		return nil, err
	}
	c.auth, c.header = func() *credentials { return auth }, header
	// A short key is a stand-in, and may well be the host's name.
	if auth.mask.in(base.String(), longSecret) || auth.mask.in(base.RawQuery, shortSecret) {
		return nil, configError(name + " holds the key, which no URL may: URLs are logged")
	}
	auth.optional = cfg.Auth.Optional || isLoopback(base)

	c.clocks = cfg.Clocks.orDefault()
	c.http = &http.Client{}
	if cfg.HTTP != nil {
		*c.http = *cfg.HTTP
	} else {
		c.http.Transport = newTransport(c.clocks.Connect)
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	// The timeout is kept by the context of a request, which tells what ran out.
	c.timeout, c.http.Timeout = c.http.Timeout, 0

	if cfg.Retry != nil {
		c.retry = *cfg.Retry
	}
	if cfg.Trace != nil {
		trace := *cfg.Trace
		c.trace = &trace
	}
	if cfg.Stream != nil {
		opts := *cfg.Stream
		c.stream = &opts
	}
	return c, nil
}
