// Package sse decodes server-sent events, the text/event-stream format of the
// WHATWG HTML standard, section "Server-sent events".
//
// A [Decoder] reads from any [io.Reader] and hands out one [Event] at a time:
//
//	d := sse.NewDecoder(body, nil)
//	var ev sse.Event
//	for {
//		err := d.Decode(&ev)
//		if err == io.EOF {
//			break
//		}
//		if err != nil {
//			return err
//		}
//		use(ev.Type, ev.Data)
//	}
//
// The package does no input or output of its own beyond calling Read, starts
// no goroutine, reads no clock and keeps no global state. It does not connect
// and does not reconnect; [Decoder.LastEventID] and [Decoder.Retry] tell a
// program that does what the stream said about it.
//
// # Terms
//
// A line ends with LF, CR or CRLF, in any mix. A block is a run of lines up to
// and including a blank line. A line of a block is a comment if it begins with
// a colon, and otherwise a field: a name, and after the first colon a value,
// from which one leading U+0020 is removed. The known fields are data, event,
// id and retry.
//
// # What the standard asks, and this package does
//
//   - A byte order mark is removed if it is the first three bytes of the
//     stream, and nowhere else.
//   - A block with at least one data line is an event. Its data lines are
//     joined with LF. A block without one is no event, but commits its id.
//   - The event name holds for its block. The last event ID stays until the
//     stream changes it; an id that holds a NUL is ignored.
//   - A retry field counts if its value is ASCII digits only, as soon as its
//     line ends.
//   - A block that the end of the stream cuts off is discarded. A cut-off event
//     is never handed out as a whole one.
//
// An event is handed out when the first byte that completes its blank line has
// been read, without a further Read. A CR completes a line by itself; an LF
// that follows it belongs to it, whenever it arrives. How the bytes are divided
// into reads changes neither the events nor their offsets.
//
// # What differs from the standard
//
// Bytes are passed through as they are. The standard decodes the stream as
// UTF-8 and puts U+FFFD in the place of ill-formed parts; this package leaves
// such bytes in Data, Type and ID, so that what was received can be recorded
// and compared exactly. The structure of the stream is ASCII, so the division
// into events is the same either way.
//
// An event has a size limit, [Options].MaxEventBytes. A retry value too great
// for a [time.Duration] becomes the greatest whole number of milliseconds that
// fits.
//
// # Beyond events
//
// Servers also put things into a stream that a browser would drop: comments
// that keep a connection alive, a bare JSON error between two events, a last
// event without its blank line. [Options] has a switch for each; [Event].Kind
// then tells what was found. With all switches off the answer is the
// standard's.
package sse
