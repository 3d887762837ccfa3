package wire

// EventKind says what an [Event] is.
type EventKind string

// The kinds of event.
const (
	EventStart     EventKind = "start"      // Start: the message begins
	EventPartStart EventKind = "part_start" // Part, Index, Data: a part begins
	EventDelta     EventKind = "delta"      // Part, Index, Delta: more of an open part
	EventPartEnd   EventKind = "part_end"   // Part, Index, Data: a part is over
	EventUsage     EventKind = "usage"      // Usage: all that is known so far
	EventNote      EventKind = "note"       // Note: something was repaired or is worth knowing
	EventOther     EventKind = "other"      // Raw: a vendor's event without a counterpart here
	EventEnd       EventKind = "end"        // End, Raw: the stream is over, and why
)

// Event is one step of an answer as it arrives. The events of one stream obey
// this grammar, which [CheckEvents] checks:
//
//	stream = before* ( Start body* )? End
//	before = Note | Usage | Other
//	body   = PartStart | Delta | PartEnd | Note | Usage | Other
//
// Part i has one PartStart, then its deltas, then one PartEnd; parts may
// interleave. Indices count the PartStarts from 0. Every part is ended before
// End: one that was cut off gets a PartEnd whose Data has Partial set. Start is
// missing only where the stream failed before the message began. Nothing
// follows End.
//
// Event is one flat struct, so that a stream costs no allocation for each
// delta; the comment beside each kind names the fields it uses. An event is a
// value, and its strings and what its pointers lead to are never changed once
// it was handed out: keep them as long as you like.
type Event struct {
	Kind EventKind `json:"kind"`
	// Part is, on the three part events, the kind of part that Index is.
	Part PartKind `json:"part,omitempty"`
	// Index is, on the three part events, the part's place in the message.
	Index int `json:"index"`
	// Delta is a piece of text or of arguments, never empty. Text and
	// arguments always come as deltas, also where a vendor sends them whole.
	// A piece may end within a character.
	Delta string `json:"delta,omitempty"`
	// Data holds facts about the part besides its text and arguments. On
	// PartStart: what is known, or nil. On PartEnd: what has become known
	// since, or nil; a field that is set replaces what PartStart said.
	Data  *Part   `json:"data,omitempty"`
	Start *Start  `json:"start,omitempty"`
	End   *Ending `json:"end,omitempty"`
	// Usage is a snapshot of the whole message so far, not an increment.
	Usage *Usage `json:"usage,omitempty"`
	Note  *Note  `json:"note,omitempty"`
	// Raw is, on Other, the data of the vendor's event. On End it is a JSON
	// object of what the vendor said about the message as a whole and the
	// other fields do not hold; it becomes [Message.Vendor].
	Raw string `json:"raw,omitempty"`
}

// IsPart reports whether the event belongs to a part of the message.
func (e *Event) IsPart() bool {
	return e.Kind == EventDelta || e.Kind == EventPartStart || e.Kind == EventPartEnd
}

// Text returns the delta of a text part, and "" for every other event.
func (e *Event) Text() string { return e.deltaOf(PartText) }

// Reasoning returns the delta of a reasoning part, and "" for every other
// event.
func (e *Event) Reasoning() string { return e.deltaOf(PartReasoning) }

func (e *Event) deltaOf(k PartKind) string {
	if e.Kind == EventDelta && e.Part == k {
		return e.Delta
	}
	return ""
}

// Start is what is known when a message begins.
type Start struct {
	Origin Origin `json:"origin"`
	// RequestID is the vendor's id of the request, to be quoted to its support.
	RequestID string `json:"request_id,omitempty"`
	// RateLimit is what the response's headers say about limits.
	RateLimit RateLimits `json:"rate_limit,omitempty"`
}

// RateLimits are the limits that one response tells of.
type RateLimits []RateLimit

// RateLimit is one limit of the vendor.
type RateLimit struct {
	// Name is what is limited, in the vendor's words: requests, tokens,
	// input-tokens.
	Name      string `json:"name"`
	Limit     Count  `json:"limit,omitzero"`
	Remaining Count  `json:"remaining,omitzero"`
	// Reset is when the limit is full again, in the vendor's own form: an
	// RFC 3339 time or a duration such as 6m0s.
	Reset string `json:"reset,omitempty"`
}
