package wire

import "strings"

// NoteCode says what kind of thing a [Note] tells. The codes are API, the
// details are for people.
type NoteCode string

// The codes.
const (
	NoteDropped   NoteCode = "dropped"   // left out, because the target has no place for it
	NoteConverted NoteCode = "converted" // sent in another form
	NoteRenamed   NoteCode = "renamed"   // an id or name that the target refuses
	NoteRepaired  NoteCode = "repaired"  // what no JSON text or no protocol can carry was mended
	NoteInserted  NoteCode = "inserted"  // the protocol demands something that was not there
	NoteOdd       NoteCode = "odd"       // the vendor's stream departs from its own protocol
	NoteRetried   NoteCode = "retried"   // an attempt failed before any of its answer was seen, and was made again
)

// Note tells of something that an encoding or a decoding changed, left out or
// wondered about, so that nothing is lost silently.
type Note struct {
	Code NoteCode `json:"code"`
	// Path is the place: of a request in the form messages[2].parts[0], of a
	// stream the vendor's event type.
	Path   string `json:"path,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Finding is a rule of a protocol that a request breaks.
type Finding struct {
	// Path is the place in the request, in the form messages[2].parts[0].
	Path string `json:"path,omitempty"`
	// Rule is what the protocol demands.
	Rule string `json:"rule"`
	// Remedy is what to do about it.
	Remedy string `json:"remedy,omitempty"`
}

// Findings are all the rules that a request breaks, as an error.
type Findings []Finding

// Error lists the findings, one after the other.
func (f Findings) Error() string {
	var b strings.Builder
	b.WriteString("the request cannot be sent")
	sep := ": "
	for i := range f {
		b.WriteString(sep)
		sep = "; "
		if f[i].Path != "" {
			b.WriteString(f[i].Path + ": ")
		}
		b.WriteString(f[i].Rule)
		if f[i].Remedy != "" {
			b.WriteString(" (" + f[i].Remedy + ")")
		}
	}
	return b.String()
}
