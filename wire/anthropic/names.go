package anthropic

import (
	"strconv"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
)

// maxIDLen keeps ids portable; the server's own maximum is not documented.
const maxIDLen = 64

// id writes the id of a call or a result. One that the server refuses is
// renamed by a rule that depends on nothing but the id, so that call and result,
// this turn and the next, agree.
func (e *encoder) id(id string, at codec.Place) {
	if codec.ValidName(id, maxIDLen) {
		e.lit(`"`)
		e.lit(id)
		e.lit(`"`)
		return
	}
	name := codec.SafeName(id, maxIDLen)
	e.note(wire.NoteRenamed, at.String()+".id", strconv.Quote(id)+" is sent as "+name)
	e.str(name)
}
