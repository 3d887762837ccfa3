package anthropic

import (
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/body"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// Protocol is the name of the protocol, as [Codec.Protocol] returns it.
const Protocol = "anthropic-messages"

// The versions of the API that are live. They differ in what the server
// accepts, not in what it answers.
const (
	Version20230601 = "2023-06-01"
	Version20261021 = "2026-10-21" // refuses temperature, top_p and top_k, whatever their value
)

const (
	path       = "/v1/messages"
	countPath  = path + "/count_tokens"
	betaHeader = "anthropic-beta" // one line, its values joined by commas
)

// Codec speaks Anthropic Messages. The zero value is ready. It holds settings
// only, and any number of goroutines may use one.
type Codec struct {
	// Version is the anthropic-version header. Empty is [Version20230601].
	Version string
	// Betas are the values of the anthropic-beta header, sent joined in one
	// header line. They are exact, and one wrong value fails the request.
	Betas []string
}

var _ wire.TokenCounter = Codec{}

// Protocol returns "anthropic-messages".
func (Codec) Protocol() string { return Protocol }

func (c Codec) version() string {
	if c.Version == "" {
		return Version20230601
	}
	return c.Version
}

// Encode implements [wire.Codec].
func (c Codec) Encode(call *wire.Call, r *wire.Request) error {
	return c.encode(call, r, false)
}

// EncodeCount implements [wire.TokenCounter]: the call that counts the input
// tokens of r. The number is an estimate, and the call has a rate limit of its
// own.
func (c Codec) EncodeCount(call *wire.Call, r *wire.Request) error {
	return c.encode(call, r, true)
}

// DecodeCount implements [wire.TokenCounter].
func (Codec) DecodeCount(body []byte) (int64, error) {
	if p := jsonw.CheckBytes(body); p != nil {
		return 0, protocolError("the count is not JSON: "+p.Error(), body)
	}
	n, ok := jsonw.Parse(string(body)).Get("input_tokens").Int()
	if !ok || n < 0 {
		return 0, protocolError("the answer has no number input_tokens", body)
	}
	return n, nil
}

func (c Codec) encode(call *wire.Call, r *wire.Request, count bool) error {
	call.Reset()
	e := encoder{codec: c, r: r, Writer: body.Writer{B: call.Body, Call: call}, family: familyOf(r.Model), count: count}
	e.request()
	call.Body = e.B
	call.Path = path
	call.Framing = wire.FramingSSE
	if count {
		call.Path = countPath
	}
	if count || r.Whole {
		call.Framing = wire.FramingWhole
	}
	call.Header = append(call.Header,
		wire.Header{Name: "content-type", Value: "application/json"},
		wire.Header{Name: "anthropic-version", Value: c.version()})
	betas := strings.Join(c.Betas, ",")
	for _, h := range r.Headers {
		if !strings.EqualFold(h.Name, betaHeader) {
			call.Header = append(call.Header, h)
		} else if betas != "" {
			betas += "," + h.Value
		} else {
			betas = h.Value
		}
	}
	if betas != "" {
		call.Header = append(call.Header, wire.Header{Name: betaHeader, Value: betas})
	}
	if len(e.Findings) > 0 {
		return wire.Findings(e.Findings)
	}
	return nil
}

// Check implements [wire.Codec].
func (c Codec) Check(r *wire.Request) []wire.Finding {
	var call wire.Call
	e := encoder{codec: c, r: r, Writer: body.Writer{Call: &call}, family: familyOf(r.Model)}
	e.request()
	return e.check()
}

// NewDecoder implements [wire.Codec].
func (Codec) NewDecoder(h wire.Head) wire.Decoder { return &decoder{head: h} }
