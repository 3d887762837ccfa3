package openaichat

import (
	"strconv"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
)

// fate is what becomes of a part.
type fate uint8

const (
	sent       fate = iota
	hollow          // there is nothing in it, so nothing to tell
	cut             // it, or its message, was cut off
	foreign         // only another server or model can read it
	unwanted        // the server takes no reasoning back
	withheld        // the caller's settings say so
	misplaced       // its role cannot hold it
	whatIsThat      // a kind that is unknown
)

var fates = [...]string{
	cut:        "it was cut off",
	foreign:    "only the model and host that wrote it can read it",
	unwanted:   "the server takes no reasoning back",
	withheld:   "the settings ask for no reasoning to go back",
	misplaced:  "a message of this role cannot hold it",
	whatIsThat: "unknown kind of part",
}

// fate decides what becomes of p, a part of m.
func (e *encoder) fate(m *wire.Message, p *wire.Part) fate {
	assistant := m.Role == wire.RoleAssistant
	switch p.Kind {
	case wire.PartText:
		if p.Text == "" && p.Vendor == "" {
			return hollow
		}
		return sent
	case wire.PartRefusal, wire.PartReasoning, wire.PartToolCall:
		if !assistant {
			return misplaced
		}
	case wire.PartToolResult, wire.PartMedia:
		if assistant || m.Role == wire.RoleSystem {
			return misplaced
		}
		return sent
	case wire.PartOpaque:
		if (assistant && p.ID == "" || m.Role == wire.RoleSystem) && e.own(m.Origin) {
			return misplaced
		}
	default:
		return whatIsThat
	}
	if unfinished(m, p) {
		return cut
	}
	switch p.Kind {
	case wire.PartRefusal:
		if p.Text == "" {
			return hollow
		}
	case wire.PartReasoning:
		return e.reasoningFate(m, p)
	case wire.PartOpaque:
		if !e.own(m.Origin) {
			return foreign
		}
	}
	return sent
}

// reasoningFate is fate for reasoning. It is decided by settings and by the part,
// never by what follows.
func (e *encoder) reasoningFate(m *wire.Message, p *wire.Part) fate {
	g := e.r.Reasoning
	switch {
	case e.profile.Replay == ReplayNever:
		return unwanted
	case g != nil && g.Replay == wire.ReplayNever, e.profile.Replay == ReplayAlways && e.off:
		return withheld
	case !e.own(m.Origin):
		return foreign
	case p.Text == "" && (e.profile.Replay == ReplayTags || e.profile.Replay == ReplayChunks || e.profile.Replay == ReplayDetails && p.Vendor == ""):
		return hollow
	}
	return sent
}

// unfinished reports whether a part was cut off, alone or with its message.
func unfinished(m *wire.Message, p *wire.Part) bool {
	return p != nil && p.Partial || m.Ending != nil && m.Ending.Cause != wire.CauseFinished
}

// own reports whether what only its writer can read may go to the model that the
// request names.
func (e *encoder) own(o *wire.Origin) bool {
	if o == nil {
		return true
	}
	return (o.Protocol == "" || o.Protocol == Protocol) &&
		(o.Endpoint == "" || e.r.Endpoint == "" || o.Endpoint == e.r.Endpoint) &&
		(o.Model == "" || o.Model == e.r.Model || bare(o.Model) == bare(e.r.Model))
}

// silent reports whether nothing of m is sent. Reasoning alone makes no message.
func (e *encoder) silent(m *wire.Message) bool {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind != wire.PartReasoning && e.fate(m, p) == sent && (p.Kind != wire.PartText || p.Text != "") {
			return false
		}
	}
	return true
}

// tell says what became of a part that is not sent.
func (e *encoder) tell(f fate, p *wire.Part, at codec.Place) {
	switch f {
	case sent, hollow:
	case whatIsThat:
		e.Refuse(at.String()+".kind", fates[f]+": "+strconv.Quote(string(p.Kind)), "")
	default:
		e.Dropped(at.String(), string(p.Kind)+": "+fates[f])
	}
}
