package provider

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/handwire/handwire/wire"
)

// completePrefixes are ends of a base URL's path to which a codec's path is
// joined without its version segment, although they do not end in one. Only
// says for which paths below the version that holds; empty is all of them.
var completePrefixes = [...]struct {
	prefix string
	only   string
}{
	{"/v1beta/openai", ""},                      // Gemini's form of OpenAI's protocols
	{"/inference", "/chat/completions"},         // GitHub Models; Fireworks has /inference/v1/messages
	{"/openai/v1", ""},                          // Azure, Groq, Bedrock
	{"/api/paas/v4", ""},                        // Z.ai
	{"/compatible-mode/v1", ""},                 // Alibaba Model Studio
	{"/endpoints/openapi", "/chat/completions"}, // Vertex
}

// keyParameters are the names of query parameters that hold a key.
var keyParameters = [...]string{
	"key", "api_key", "api-key", "apikey", "subscription-key", "token", "access_token",
	"auth", "authorization", "code", "sig", "signature",
}

// parseAddress reads the URL of the setting called name. Its errors do not show
// the URL, which may hold what must not be shown.
func parseAddress(name, text string) (*url.URL, *wire.Error) {
	refuse := func(what string) (*url.URL, *wire.Error) {
		return nil, configError(name + " " + what)
	}
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil:
		return refuse("cannot be read as a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return refuse("must begin with http:// or https://")
	case u.User != nil:
		return refuse("must hold no user name or password: the key has a setting of its own")
	case u.Hostname() == "":
		return refuse("names no host")
	case u.Fragment != "" || u.RawFragment != "":
		return refuse("must have no fragment")
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		k, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(k); err == nil {
			k = plain
		}
		for _, bad := range keyParameters {
			if strings.EqualFold(k, bad) {
				return refuse("must hold no key: the query parameter " + bad + " is refused, since URLs are logged; the key has a setting of its own")
			}
		}
	}
	return u, nil
}

// join returns the address of a call: base with the codec's path, which may
// have a query.
func join(base *url.URL, callPath string) (*url.URL, *wire.Error) {
	path, query, _ := strings.Cut(callPath, "?")
	if !strings.HasPrefix(path, "/") {
		return nil, configError("the codec's path does not begin with a slash")
	}
	// The paths are joined in their escaped form and read again, so that an
	// escaped slash stays one.
	joined, err := url.Parse("http://host" + joinPath(base.EscapedPath(), path))
	if err != nil {
		return nil, configError("the codec's path cannot be read as a URL")
	}
	u := *base
	u.Path, u.RawPath = joined.Path, joined.RawPath
	switch {
	case u.RawQuery == "":
		u.RawQuery = query
	case query != "":
		u.RawQuery += "&" + query
	}
	return &u, nil
}

// joinPath joins the path of a base URL and a codec's path, both escaped.
//
//	base                     /v1/messages
//	(nothing)                /v1/messages
//	/anthropic               /anthropic/v1/messages
//	/api/v4                  /api/v4/messages           a version is not doubled
//	/proxy/v1/messages       /proxy/v1/messages         a full endpoint stays
func joinPath(base, path string) string {
	base = strings.TrimRight(base, "/")
	version, below := cutVersion(path)
	if strings.HasSuffix(base, path) {
		return base
	}
	if version == "" {
		return base + path
	}
	if head, ok := strings.CutSuffix(base, below); ok && (complete(head, below) || strings.Count(below, "/") > 1) {
		return base // the endpoint, under another version or none
	}
	if complete(base, below) {
		return base + below
	}
	return base + path
}

// complete reports whether what stands below the version follows base at once.
func complete(base, below string) bool {
	if isVersion(base[strings.LastIndexByte(base, '/')+1:]) {
		return true
	}
	if i := strings.LastIndexByte(base, '/'); i > 0 && strings.HasSuffix(base[:i], "/deployments") {
		return true // Azure's, below which there is no version
	}
	for _, c := range completePrefixes {
		if strings.HasSuffix(base, c.prefix) && (c.only == "" || c.only == below) {
			return true
		}
	}
	return false
}

// cutVersion divides a path into its leading version segment and the rest. The
// version is empty if there is none.
func cutVersion(path string) (version, below string) {
	if i := strings.IndexByte(path[1:], '/'); i >= 0 && isVersion(path[1:1+i]) {
		return path[:1+i], path[1+i:]
	}
	return "", path
}

// isVersion reports whether a segment is a version such as v1, v4 or v1beta2.
func isVersion(s string) bool {
	digits := func() bool {
		rest := strings.TrimLeft(s, "0123456789")
		some := len(rest) < len(s)
		s = rest
		return some
	}
	if s == "" || s[0] != 'v' && s[0] != 'V' {
		return false
	}
	if s = s[1:]; !digits() {
		return false
	}
	if s == "" {
		return true
	}
	for _, stage := range [...]string{"alpha", "beta"} {
		if rest, ok := strings.CutPrefix(s, stage); ok {
			s = rest
			digits()
			return s == ""
		}
	}
	return false
}

// endpoint returns the host of u, and its port unless it is the scheme's own.
func endpoint(u *url.URL) string {
	host := strings.ToLower(u.Host)
	port := u.Port()
	if port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		return strings.TrimSuffix(host, ":"+port)
	}
	return host
}

// plainURL returns u without credentials, query and fragment, to be shown.
func plainURL(u *url.URL) string {
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}

// isLoopback reports whether u leads to this machine.
func isLoopback(u *url.URL) bool {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}
