// Package wire is the vocabulary of handwire: requests, messages and their
// parts, the events of a streamed answer, endings, errors, and the contract of
// a protocol's codec. It knows no vendor and no network; it does no I/O, starts
// no goroutine, reads no clock and keeps no state outside its values.
//
// # The line
//
// A program holds a [Request]. A [Codec] encodes it into a [Call], which some
// transport sends. The response body, cut into blocks by its [Framing], goes
// through the codec's [Decoder] and comes out as a stream of [Event], whose
// grammar stands above that type. A [Builder] or [Collect] makes a [Response]
// of the stream, whose Message is appended to the conversation. Packages
// wire/anthropic and its neighbours are the codecs, wire/stream joins framing
// and codec over an io.Reader, and provider is the transport.
//
// # Words
//
// The names are those of the OpenTelemetry GenAI conventions where vendors
// disagree: a message has parts; finish reason; input and output tokens; cache
// read and creation; tool call id.
//
// A stream ends exactly once, and the [Cause] says how. It finished if and
// only if the vendor's terminal mark arrived; anything else is a failure with
// a [*Error], and what had arrived is kept.
//
// # JSON
//
// All values here go through encoding/json and back unchanged; the field tags
// are a stable format, in which histories, sessions and fixtures are kept. Raw
// vendor text (arguments, schemas, opaque blocks) is a JSON string in that
// format, so that it comes back byte for byte even if it is cut or invalid.
// encoding/json writes <, > and & as escapes unless told otherwise; both
// spellings load as the same value.
//
// # Text that is not UTF-8
//
// Each byte of ill-formed UTF-8 becomes one U+FFFD when a request is encoded,
// exactly as encoding/json does it when a history is saved, so that saving and
// loading changes no byte of a later request.
//
// # Raw JSON
//
// Arguments, schemas and vendor blocks go out as the bytes that came in, after
// a check that they are valid JSON. The one exception is what no JSON text may
// carry: a lone surrogate escape or a byte that is not UTF-8 is replaced by
// U+FFFD, with a note.
package wire
