package wire

import "github.com/handwire/handwire/wire/internal/jsonw"

// Framing is how the blocks of a response body are told apart.
type Framing string

// The framings.
const (
	FramingSSE         Framing = "sse"         // server-sent events
	FramingLines       Framing = "lines"       // one JSON value a line
	FramingEventStream Framing = "eventstream" // the binary frames of AWS; wire/stream does not read them
	FramingWhole       Framing = "whole"       // one JSON document
)

// Call is an encoded request: all that has to be sent except the address and
// the credentials.
type Call struct {
	// Path follows the base URL and begins with a slash; it may have a query.
	Path string
	// Header are the request headers that the protocol wants, in order.
	Header []Header
	// Body is the request body.
	Body []byte
	// Framing is how the answer is asked for. The answer's head may say
	// otherwise.
	Framing Framing
	// Notes tell what the encoding dropped, renamed, converted or repaired.
	Notes []Note
}

// Reset empties c and keeps its memory.
func (c *Call) Reset() {
	*c = Call{Header: c.Header[:0], Body: c.Body[:0], Notes: c.Notes[:0]}
}

// Head is the head of a response, as much of it as a codec needs.
type Head struct {
	Status  int
	Framing Framing
	// Get returns the first value of a header, "" if it is not there. It is
	// asked for names as net/http keeps them, such as Request-Id, so that a
	// look into the map of an http.Header will do. It may be nil.
	Get func(name string) string
}

// Header returns the first value of a header, "" if it is not there.
func (h Head) Header(name string) string {
	if h.Get == nil {
		return ""
	}
	return h.Get(name)
}

// Codec speaks one protocol. It is pure: it does no I/O, starts no goroutine,
// reads no clock and keeps nothing between calls, so one Codec may be used by
// any number of goroutines.
type Codec interface {
	// Protocol returns the protocol's name, such as anthropic-messages.
	Protocol() string
	// Encode writes r into c, which it resets first and whose slices it
	// reuses. Notes say what was changed. It fails with [Findings] if r cannot
	// be expressed; c is then without meaning. r is not modified and not
	// kept.
	Encode(c *Call, r *Request) error
	// Check returns every rule of the protocol that r breaks, nil if none.
	Check(r *Request) []Finding
	// NewDecoder returns a decoder for one response body.
	NewDecoder(Head) Decoder
	// DecodeError reads the body of a response whose status says that it
	// failed. It never returns nil. The body may be cut, empty or anything at
	// all.
	DecodeError(h Head, body []byte) *Error
}

// TokenCounter is a [Codec] whose protocol can say how many input tokens a
// request has, without answering it.
type TokenCounter interface {
	Codec
	// EncodeCount is Encode for the question. What the protocol does not take
	// into account is left out without a note.
	EncodeCount(c *Call, r *Request) error
	// DecodeCount reads the answer, the whole body of a response of status
	// 2xx. Its error is a *Error of cause protocol_error.
	DecodeCount(body []byte) (int64, error)
}

// Decoder turns the blocks of one response body into events. It is used by one
// goroutine and for one body.
type Decoder interface {
	// Decode appends to dst the events of one block and returns it. Name is
	// the event's name where the framing has one. Data is only read during
	// the call. If it fails, the events so far are in the result, and End
	// must be called with that error.
	//
	// After an end event, be it the vendor's finish or an error that it sent,
	// every further block is ignored.
	Decode(dst []Event, name string, data []byte) ([]Event, error)
	// End says that no more blocks will come: with nil at the clean end of
	// the body, else with what cut it off. It appends what is needed to close
	// the stream: the ends of open parts and the end event. The error is nil
	// if the stream finished and else a *Error, the same as in the end event.
	// After an end event it adds nothing and returns that event's error.
	End(dst []Event, cause error) ([]Event, error)
}

// ValidJSON reports whether s is exactly one JSON value, white space around it
// allowed. It does not recurse, so nesting cannot exhaust the stack; a value
// nested deeper than 10,000 levels counts as invalid.
func ValidJSON(s string) bool { return jsonw.Valid(s) }
