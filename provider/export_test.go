package provider

import "net/http"

// TransportOf returns the transport that a client uses.
func TransportOf(c *Client) http.RoundTripper { return c.http.Transport }
