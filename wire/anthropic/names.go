package anthropic

import (
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
)

// place is where in the request something stands. Its text is only made if there
// is something to say about it.
type place struct {
	list       string // messages, system, tools, extra, or the name of a single field
	i          int    // -1 for a single field
	part, deep int    // of a message; of a result within a part; -1 for none
}

func field(name string) place           { return place{name, -1, -1, -1} }
func item(list string, i int) place     { return place{list, i, -1, -1} }
func partPlace(message, part int) place { return place{"messages", message, part, -1} }
func (p place) inner(i int) place       { p.deep = i; return p }
func (p place) String() string {
	s := p.list
	if p.i >= 0 {
		s += "[" + strconv.Itoa(p.i) + "]"
	}
	if p.part >= 0 {
		s += ".parts[" + strconv.Itoa(p.part) + "]"
	}
	if p.deep >= 0 {
		s += ".parts[" + strconv.Itoa(p.deep) + "]"
	}
	return s
}

func validName(s string, most int) bool {
	if s == "" || len(s) > most {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// maxIDLen keeps ids portable; the server's own maximum is not documented.
const maxIDLen = 64

// id writes the id of a call or a result. One that the server refuses is
// renamed by a rule that depends on nothing but the id, so that call and result,
// this turn and the next, agree.
func (e *encoder) id(id string, at place) {
	if validName(id, maxIDLen) {
		e.lit(`"`)
		e.lit(id)
		e.lit(`"`)
		return
	}
	name := safeName(id)
	e.note(wire.NoteRenamed, at.String()+".id", strconv.Quote(id)+" is sent as "+name)
	e.str(name)
}

// safeName returns a name of the server's alphabet that is as good as unique to
// s: what of s is allowed, and a hash of all of it.
func safeName(s string) string {
	s = string([]rune(s)) // as it is after it was saved and loaded
	h := fnv.New64a()
	h.Write([]byte(s))
	b := make([]byte, 0, maxIDLen)
	for i := 0; i < len(s) && len(b) < maxIDLen-17; i++ {
		if validName(s[i:i+1], 1) {
			b = append(b, s[i])
		} else {
			b = append(b, '_')
		}
	}
	b = append(b, '_')
	sum := strconv.FormatUint(h.Sum64(), 16)
	b = append(b, "0000000000000000"[len(sum):]...)
	return string(append(b, sum...))
}

// blank reports whether s has no character but white space, as the server
// counts it.
func blank(s string) bool { return strings.TrimSpace(s) == "" }
