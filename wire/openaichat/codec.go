package openaichat

import (
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/body"
)

// Protocol is the name of the protocol, as [Codec.Protocol] returns it.
const Protocol = "openai-chat"

const path = "/v1/chat/completions"

// Codec speaks Chat Completions. The zero value is OpenAI's own dialect. It
// holds settings only, and any number of goroutines may use one.
type Codec struct {
	// Profile says in which ways the server departs from OpenAI.
	Profile Profile
}

var _ wire.Codec = Codec{}

// Protocol returns "openai-chat".
func (Codec) Protocol() string { return Protocol }

// Encode implements [wire.Codec].
func (c Codec) Encode(call *wire.Call, r *wire.Request) error {
	call.Reset()
	e := encoder{profile: c.Profile, r: r, Writer: body.Writer{B: call.Body, Call: call}, family: familyOf(&c.Profile, r.Model)}
	e.request()
	call.Body = e.B
	call.Path = path
	call.Framing = wire.FramingSSE
	if r.Whole {
		call.Framing = wire.FramingWhole
	}
	call.Header = append(call.Header, wire.Header{Name: "content-type", Value: "application/json"})
	call.Header = append(call.Header, r.Headers...)
	if len(e.Findings) > 0 {
		return wire.Findings(e.Findings)
	}
	return nil
}

// Check implements [wire.Codec].
func (c Codec) Check(r *wire.Request) []wire.Finding {
	var call wire.Call
	e := encoder{profile: c.Profile, r: r, Writer: body.Writer{Call: &call}, family: familyOf(&c.Profile, r.Model)}
	e.request()
	return e.Findings
}

// NewDecoder implements [wire.Codec].
func (c Codec) NewDecoder(h wire.Head) wire.Decoder { return newDecoder(c.Profile, h) }
