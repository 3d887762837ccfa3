package openaichat

import (
	"unsafe"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// scan follows the arguments of a call as far as is needed to see that they are
// whole, and that they come again.
type scan struct {
	head     [16]byte // the first bytes
	n        int
	sum      uint64
	depth    int
	inString bool
	escaped  bool
	whole    bool // one object or array is complete
	more     bool // and another one follows
	junk     bool // what follows is something else
}

const (
	sumStart = 14695981039346656037 // FNV-1a
	sumPrime = 1099511628211
)

func sumOf(sum uint64, s string) uint64 {
	for i := 0; i < len(s); i++ {
		sum = (sum ^ uint64(s[i])) * sumPrime
	}
	return sum
}

func (a *scan) add(s string) {
	if a.n == 0 {
		a.sum = sumStart
	}
	if a.n < len(a.head) {
		copy(a.head[a.n:], s)
	}
	a.n += len(s)
	a.sum = sumOf(a.sum, s)
	for i := 0; i < len(s); i++ {
		b := s[i]
		switch {
		case a.junk:
			return
		case a.inString:
			switch {
			case a.escaped:
				a.escaped = false
			case b == '\\':
				a.escaped = true
			case b == '"':
				a.inString = false
			}
		case b == ' ' || b == '\n' || b == '\t' || b == '\r':
		case b == '{' || b == '[':
			a.more = a.more || a.whole
			a.depth++
		case a.depth == 0:
			a.junk = true
		case b == '"':
			a.inString = true
		case b == '}' || b == ']':
			if a.depth--; a.depth == 0 {
				a.whole = true
			}
		}
	}
}

// complete reports whether the arguments are one object or array.
func (a *scan) complete() bool { return a.whole && !a.more && !a.junk }

// repeats reports whether s is all of the arguments once more.
func (a *scan) repeats(s string) bool {
	return a.complete() && len(s) == a.n && sumOf(sumStart, s) == a.sum
}

// mayRepeat reports whether s may be the beginning of all of the arguments once
// more, or all of it.
func (a *scan) mayRepeat(s string) bool {
	n := min(len(s), len(a.head))
	return a.complete() && len(s) <= a.n && s[:n] == string(a.head[:n])
}

// callArgs hands out the arguments of an entry.
func (d *decoder) callArgs(dst []wire.Event, c *call, e *entry) []wire.Event {
	switch {
	case e.args.IsNull():
		return dst
	case e.args.IsString():
		s, high := d.texts.Text(c.high, e.args, e.args.Plain())
		c.high = high
		return d.argsText(dst, c, s)
	}
	// They came as what they are rather than as a text.
	dst = d.argsText(dst, c, compact(e.args))
	if e.args.IsObject() && c.noted&notedRepeat == 0 {
		dst = c.odd(dst, notedObject, wire.NoteConverted, "its arguments came as an object rather than as a text, and became one without white space")
	}
	return dst
}

// compact returns a JSON value without the white space around its tokens.
func compact(v jsonw.Value) string {
	b := make([]byte, 0, len(v))
	for s := string(v); s != ""; {
		switch s[0] {
		case ' ', '\t', '\r', '\n':
			s = s[1:]
		case '"':
			n, _ := jsonw.ScanString(s)
			n = max(n, 1)
			b = append(b, s[:n]...)
			s = s[n:]
		default:
			b = append(b, s[0])
			s = s[1:]
		}
	}
	return string(b)
}

func (d *decoder) argsText(dst []wire.Event, c *call, s string) []wire.Event {
	c.last = d.chunks
	if s == "" {
		return dst
	}
	if !c.free {
		if c.args.complete() {
			return d.behindArgs(dst, c, s)
		}
		c.args.add(s)
	} else {
		c.args.n += len(s)
	}
	return c.handOut(dst, s)
}

// behindArgs takes what comes behind whole arguments. Some servers give all of
// them once more, in one piece or in several; what may be that is held back until
// it is as long as they are.
func (d *decoder) behindArgs(dst []wire.Event, c *call, s string) []wire.Event {
	if len(c.again) > 0 {
		c.again = append(c.again, s...)
		s = unsafe.String(unsafe.SliceData(c.again), len(c.again))
	}
	switch {
	case c.args.repeats(s):
		c.again = nil
		return c.odd(dst, notedRepeat, wire.NoteRepaired, "its arguments came again as a whole, which was left out")
	case !c.args.mayRepeat(s):
		c.again = nil
		c.args.add(s)
		return c.handOut(dst, s)
	case len(c.again) == 0:
		c.again = append(c.again, s...)
	}
	return dst
}

// flushArgs hands out what was held back and did not become a repetition.
func (c *call) flushArgs(dst []wire.Event) []wire.Event {
	if len(c.again) == 0 {
		return dst
	}
	s := string(c.again)
	c.again = nil
	c.args.add(s)
	return c.handOut(dst, s)
}

// handOut hands out arguments, once the call has a name.
func (c *call) handOut(dst []wire.Event, s string) []wire.Event {
	if !c.begun {
		c.pending = append(c.pending, s...)
		return dst
	}
	return append(dst, wire.Event{Kind: wire.EventDelta, Part: c.kind, Index: c.part.index, Delta: s})
}
