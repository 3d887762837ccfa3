// Package provider sends a [wire.Request] to a model server over HTTP and gives
// the events of the answer as they arrive:
//
//	client, err := provider.New(provider.Config{
//		Codec:   anthropic.Codec{},
//		Model:   "claude-sonnet-5-5",
//		BaseURL: "https://api.anthropic.com",
//		APIKey:  key,
//		Auth:    provider.Auth{Header: "x-api-key"},
//	})
//	if err != nil {
//		return err
//	}
//	for ev, err := range client.Stream(ctx, request) {
//		if err != nil {
//			return err
//		}
//		fmt.Print(ev.Text())
//	}
//
// It knows no vendor and imports no codec; package provider/preset knows the
// vendors. A [Client] holds settings only, and any number of goroutines may use
// one.
//
// # Endings
//
// A stream ends with one end event. If it failed, that event comes together with
// its [*wire.Error], also where nothing was sent. The error's Cause tells:
//
//	config          the settings or the request are at fault, or the server redirects
//	connect         there was no connection, or no response on it
//	idle            nothing came for too long, see [Clocks]
//	stalled         bytes came and no content, for too long
//	vendor_error    a status that is no success, or an error that came in the stream
//	protocol_error  the answer is not what the protocol says
//	truncated       the body ended cleanly before the vendor's terminal mark
//	reset           the body broke off
//	limit           a block of the body was larger than [stream.Options] allow
//	cancelled       the context was cancelled; errors.Is finds [context.Canceled]
//	deadline        the time of the context ran out, or Clocks.Total, or the timeout
//	                of the caller's own http.Client; errors.Is finds
//	                [context.DeadlineExceeded]
//
// What the transport said stays reachable: errors.Is finds [io.ErrUnexpectedEOF],
// [ErrGoAway] and the system's errors such as ECONNRESET, errors.As a
// [StreamError] of HTTP/2 and the [TimeoutError] that names a clock.
//
// Once the vendor's terminal mark has arrived the stream is finished, whatever
// the connection does afterwards.
//
// # The connection
//
// Leaving the loop, by break, return or panic, cancels the request and closes
// the body. After the end event the rest of the body is read for at most 50 ms,
// so that the connection can be used again. The package starts no goroutine.
// Redirects are never followed: they are an error that names the new host.
//
// # Attempts
//
// A request is sent again if it failed before any part of its answer was handed
// out, and if another attempt may help: there was no connection, the answer broke
// off, was silent or empty, or the vendor said that it is busy, too often asked,
// or failed itself. What the vendor names counts before the status: a quota that
// is used up, a wrong key or an input that is too long is never sent again. How
// often and how fast is a [retry.Policy]; by default there are two further
// attempts. The start of the message, its notes, usage and what belongs to no
// part are held back until the first part, within bounds, so that they do not
// come twice. A note with the code [wire.NoteRetried] says before each wait why
// there is one, and [Trace] sees every attempt.
//
// A request that got no answer may have been processed all the same: sending it
// again may then be billed twice. It has no other effect, since a model changes
// nothing but by the caller's tools, except where the request makes the vendor
// store something or run its own tools. Where that matters, set MaxAttempts to 1.
//
// # Time
//
// [Clocks] bound how long the server is waited for: for a connection, for the
// head of the response, for the next byte and for the next content. None of them
// bounds how long a healthy stream may be, and none runs while the caller handles
// an event. Clocks.Total and the context's deadline bound the whole.
//
// # Keys
//
// The key goes into one header and nowhere else. Where a server echoes it,
// plain, as URLs, JSON and HTML write it, each up to four times over, or in
// base64, [key hidden] stands in its place in every error and in what the
// events tell about the answer: its origin, ids, limits, usage, notes, vendor's
// events and ending. The content of the model's parts (text, arguments, opaque
// blocks) is left verbatim. A key of less than 8 bytes is a stand-in rather
// than a secret: it is hidden where it is a word of its own, and in no data
// that programs read, such as the vendor's JSON. A printed [Client] shows no
// key; of a [Config] see there. Headers of [Config.Header] whose names speak of
// a credential are treated alike.
package provider
