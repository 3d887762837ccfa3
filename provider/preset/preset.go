package preset

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/retry"
	"github.com/handwire/handwire/wire"
)

// Preset is what is known about one protocol of a vendor, or of a server of one's
// own.
type Preset struct {
	// Name is unique; so are Aliases, which are shorter or older names.
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	// Vendor is the vendor's name, empty for a server of one's own.
	Vendor string `json:"vendor,omitempty"`
	// Protocol is the codec's name of the protocol.
	Protocol string `json:"protocol"`
	// BaseURL is the vendor's address, or the usual one of a server on this
	// machine. It is empty where each customer has another; [Config.BaseURL]
	// must then be set.
	BaseURL string `json:"base_url,omitempty"`
	// Auth is how the vendor takes its key.
	Auth provider.Auth `json:"auth,omitzero"`
	// KeyVariable is the environment variable in which programs look for the
	// key, empty if there is none.
	KeyVariable string `json:"key_variable,omitempty"`
}

// Lookup returns the preset of a name or alias. Upper and lower case are the
// same, and white space around the name does not count.
func Lookup(name string) (Preset, bool) {
	r, ok := lookup(name)
	return r.Preset, ok
}

func lookup(name string) (row, bool) {
	name = strings.TrimSpace(name)
	for _, r := range table() {
		if strings.EqualFold(name, r.Name) {
			return r, true
		}
		for _, alias := range r.Aliases {
			if strings.EqualFold(name, alias) {
				return r, true
			}
		}
	}
	return row{}, false
}

// All returns every preset, in an order that stays. The slice is the caller's.
func All() []Preset {
	rows := table()
	all := make([]Preset, len(rows))
	for i, r := range rows {
		all[i] = r.Preset
	}
	return all
}

// Config are the four fields. Printed with fmt by itself or in an exported field
// it does not show the key; in an unexported field fmt calls no methods, and
// shows it. Written as JSON it leaves the key out, and read from JSON it takes it.
type Config struct {
	// Protocol is the name or an alias of a preset.
	Protocol string `json:"protocol,omitempty"`
	// Model is used where a request names none.
	Model string `json:"model,omitempty"`
	// BaseURL replaces the preset's address; blank is none. See
	// [provider.Config.BaseURL].
	BaseURL string `json:"base_url,omitempty"`
	// APIKey is the key. White space around it is removed, and then empty is
	// none.
	APIKey string `json:"api_key,omitempty"`
}

// String returns the settings that may be shown.
func (c Config) String() string {
	return "preset." + strings.TrimPrefix(provider.Config{Model: c.Model, BaseURL: c.BaseURL, APIKey: c.APIKey}.String(), "provider.") +
		" of " + c.Protocol
}

// GoString returns what String returns.
func (c Config) GoString() string { return c.String() }

// Format writes what String returns, whatever the verb.
func (c Config) Format(f fmt.State, verb rune) { f.Write([]byte(c.String())) }

// MarshalJSON writes all fields but the key.
func (c Config) MarshalJSON() ([]byte, error) {
	type plain Config // without the methods
	c.APIKey = ""
	return json.Marshal(plain(c))
}

// WithEnv returns c with its key taken from the environment variable of its
// preset, if c has none. A blank variable counts as none. The variable is left
// alone if BaseURL leads to a host that is known as another vendor's. Getenv is
// [os.Getenv] or stands for it.
func (c Config) WithEnv(getenv func(string) string) Config {
	p, ok := Lookup(c.Protocol)
	if !ok || p.KeyVariable == "" || getenv == nil || strings.TrimSpace(c.APIKey) != "" {
		return c
	}
	if owner := vendorOf(c.BaseURL); owner != "" && owner != p.Vendor {
		return c
	}
	if key := getenv(p.KeyVariable); strings.TrimSpace(key) != "" {
		c.APIKey = key // with its white space, on which the client has a note
	}
	return c
}

// vendorOf returns whose host a URL leads to, "" if that is not known. A host that
// is not ASCII is taken as somebody else's.
func vendorOf(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if strings.IndexFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
		return "another" // resolving it may make any host of it
	}
	vendor, longest := "", 0
	for _, d := range vendorDomains {
		if (host == d.domain || strings.HasSuffix(host, "."+d.domain)) && len(d.domain) > longest {
			vendor, longest = d.vendor, len(d.domain)
		}
	}
	return vendor
}

// Options are further settings of [New]. Nil and the zero value are the
// defaults.
type Options struct {
	// HTTP sends the requests; see [provider.Config.HTTP].
	HTTP *http.Client
	// Header is added to every request; see [provider.Config.Header].
	Header []wire.Header
	// Auth is how the key is sent, instead of the preset's way: some vendors
	// take API keys in one header and access tokens in another.
	Auth *provider.Auth
	// Clocks, Retry and Trace are those of [provider.Config].
	Clocks provider.Clocks
	Retry  *retry.Policy
	Trace  *provider.Trace
}

// New returns a client for c. It does no I/O and does not look at the
// environment; see [Config.WithEnv]. Its errors are *[wire.Error] with cause
// config.
func New(c Config, opts *Options) (*provider.Client, error) {
	p, err := c.Provider()
	if err != nil {
		return nil, err
	}
	if opts != nil {
		p.HTTP, p.Header = opts.HTTP, opts.Header
		p.Clocks, p.Retry, p.Trace = opts.Clocks, opts.Retry, opts.Trace
		if opts.Auth != nil {
			p.Auth = *opts.Auth
		}
	}
	return provider.New(p)
}

// Provider returns the settings of which [New] makes a client, for programs that
// change one of them first. The only error is that of a protocol that is not
// known, a *[wire.Error] with cause config that lists the names.
func (c Config) Provider() (provider.Config, error) {
	r, ok := lookup(c.Protocol)
	if !ok {
		return provider.Config{}, unknown(c.Protocol)
	}
	base := c.BaseURL
	if strings.TrimSpace(base) == "" {
		base = r.BaseURL
	}
	return provider.Config{
		Codec:   r.codec,
		Model:   c.Model,
		BaseURL: base,
		APIKey:  c.APIKey,
		KeyHint: r.KeyVariable,
		Auth:    r.Auth,
	}, nil
}

func unknown(name string) *wire.Error {
	var names []string
	for _, p := range All() {
		text := p.Name
		if len(p.Aliases) > 0 {
			text += " (" + strings.Join(p.Aliases, ", ") + ")"
		}
		names = append(names, text)
	}
	e := &wire.Error{Cause: wire.CauseConfig, Hint: "the protocols are " + strings.Join(names, ", ")}
	if strings.TrimSpace(name) == "" {
		e.Message = "Protocol is not set"
	} else {
		e.Message = fmt.Sprintf("there is no protocol %q", name)
	}
	return e
}
