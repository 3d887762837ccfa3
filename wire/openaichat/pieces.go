package openaichat

import (
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// retold follows the pieces of the reasoning of servers that say things again; see
// [ReasoningPieces].
type retold struct {
	n       int    // pieces, each of which holds the one before it
	size    int    // of the last piece
	sum     uint64 // of the last piece
	out     int    // bytes of it that were handed out
	held    string // the second piece, until the third one says what it was
	growing bool   // every piece holds all of the text so far
	decided bool   // they do not
	noted   bool
}

// remember keeps what a piece is known by.
func (r *retold) remember(s string) { r.size, r.sum = len(s), sumOf(sumStart, s) }

// thought hands out a piece of the reasoning, a JSON string.
func (d *decoder) thought(dst []wire.Event, v jsonw.Value) []wire.Event {
	r := &d.retold
	switch {
	case v == `""`:
		return dst
	case d.says.pieces == PiecesGrowing:
		d.forms.odd = true
		s, _ := d.texts.Text(0, v, v.Plain()) // half a character comes whole in the next piece
		return d.grown(dst, s)
	case d.says.pieces == PiecesDoubled:
		d.forms.odd = true
		if s := string(v); r.size == len(s) && r.sum == sumOf(sumStart, s) {
			return d.retells(dst, "a piece came again right behind itself, which was left out")
		}
		r.remember(string(v))
	}
	return d.piece(dst, &d.reasoning, v, v.Plain())
}

// grown hands out what is new of a piece that may hold all of the text so far.
// That is decided by the first three.
func (d *decoder) grown(dst []wire.Event, s string) []wire.Event {
	r := &d.retold
	switch {
	case r.decided:
		return d.emit(dst, &d.reasoning, s)
	case r.n == 0 || len(s) > r.size && sumOf(sumStart, s[:r.size]) == r.sum:
	case !r.growing:
		r.decided = true
		return d.emit(d.flushThought(dst), &d.reasoning, s)
	case len(s) == r.size && sumOf(sumStart, s) == r.sum:
		return dst // nothing new
	default: // it begins anew
		r.out = 0
	}
	r.remember(s)
	switch r.n++; r.n {
	case 2:
		r.held = strings.Clone(s)
		return dst
	case 3:
		r.growing, r.held = true, ""
		dst = d.retells(dst, "every piece holds all of the text so far, of which the new is taken")
	}
	from := r.out
	r.out = len(s)
	return d.emit(dst, &d.reasoning, s[from:])
}

// flushThought hands out what was held back of the reasoning.
func (d *decoder) flushThought(dst []wire.Event) []wire.Event {
	r := &d.retold
	if r.held == "" {
		return dst
	}
	s := r.held
	r.held, r.decided = "", true
	return d.emit(dst, &d.reasoning, s)
}

// retells is a note, once.
func (d *decoder) retells(dst []wire.Event, detail string) []wire.Event {
	if d.retold.noted {
		return dst
	}
	d.retold.noted = true
	return note(dst, wire.NoteRepaired, "choices.delta.reasoning", detail)
}
