// Package codec has the small things that every codec needs and that are about
// no protocol: places in a request, names that a server accepts, JSON objects in
// the making, and the memory of deltas.
package codec

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/handwire/handwire/wire/internal/jsonw"
)

// Place is where in a request something stands. Its text is only made if there
// is something to say about it.
type Place struct {
	list       string // messages, system, tools, extra, or the name of a single field
	i          int    // -1 for a single field
	part, deep int    // of a message; of a result within a part; -1 for none
}

// Field is the place of a single field.
func Field(name string) Place { return Place{name, -1, -1, -1} }

// Item is the place of an item of a list.
func Item(list string, i int) Place { return Place{list, i, -1, -1} }

// Part is the place of a part of a message.
func Part(message, part int) Place { return Place{"messages", message, part, -1} }

// Inner is the place of a part within the part that p is.
func (p Place) Inner(i int) Place {
	p.deep = i
	return p
}

// List is the list that the place is in, or the name of the single field.
func (p Place) List() string { return p.list }

// Compare orders places of one list as they stand in the request.
func (p Place) Compare(q Place) int {
	return cmp.Or(cmp.Compare(p.i, q.i), cmp.Compare(p.part, q.part), cmp.Compare(p.deep, q.deep))
}

// String returns the place in the form messages[2].parts[0].
func (p Place) String() string {
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

// ValidName reports whether s is 1 to most letters, digits, _ or -.
func ValidName(s string, most int) bool {
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

// SafeName returns a valid name of at most so many characters, of which there
// must be 18 at least, that is as good as unique to s: what of s is allowed, and
// a hash of all of it. It depends on nothing but s as it is after it was saved
// and loaded as JSON.
func SafeName(s string, most int) string {
	s = string([]rune(s))
	h := fnv.New64a()
	h.Write([]byte(s))
	b := make([]byte, 0, most)
	for i := 0; i < len(s) && len(b) < most-17; i++ {
		if ValidName(s[i:i+1], 1) {
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

// Twice returns the name of a member that an object has more than once, and
// whether there is one. The time is linear.
func Twice(v jsonw.Value) (name string, found bool) {
	var few [8]string
	seen := few[:0]
	var many map[string]bool
	for c := v.Members(); c.Next(); {
		name := c.Name()
		if many[name] || many == nil && slices.Contains(seen, name) {
			return name, true
		}
		switch {
		case many != nil:
			many[name] = true
		case len(seen) < len(few):
			seen = append(seen, name)
		default:
			many = map[string]bool{name: true}
			for _, s := range seen {
				many[s] = true
			}
		}
	}
	return "", false
}

// Blank reports whether s has no character but white space.
func Blank(s string) bool { return strings.TrimSpace(s) == "" }

// Members is a JSON object in the making: raw values by name, in the order of
// their first appearance. The zero value is empty.
type Members struct {
	List  []Member
	index map[string]int // of List, once that is long
}

// Member is a member of an object, its value as raw JSON.
type Member struct {
	Name string
	Raw  []byte
}

// longList is how many members are searched one by one.
const longList = 32

// Find returns the member of this name, nil if there is none. The pointer is good
// until a member is added.
func (m *Members) Find(name string) *Member {
	if m.index == nil {
		for i := range m.List {
			if m.List[i].Name == name {
				return &m.List[i]
			}
		}
	} else if i, ok := m.index[name]; ok {
		return &m.List[i]
	}
	return nil
}

// At returns the member of this name, a new one without a value if there is
// none. The pointer is good until the next call.
func (m *Members) At(name string) *Member {
	if f := m.Find(name); f != nil {
		return f
	}
	name = strings.Clone(name)
	m.List = append(m.List, Member{Name: name})
	switch {
	case m.index != nil:
		m.index[name] = len(m.List) - 1
	case len(m.List) > longList:
		m.index = make(map[string]int, 2*longList)
		for i := range m.List {
			m.index[m.List[i].Name] = i
		}
	}
	return &m.List[len(m.List)-1]
}

// Set sets a member to a copy of v.
func (m *Members) Set(name string, v jsonw.Value) {
	f := m.At(name)
	f.Raw = append(f.Raw[:0], v...)
}

// AppendText appends to a member that is a JSON string.
func (m *Members) AppendText(name string, v jsonw.Value) {
	f := m.At(name)
	if n := len(f.Raw); n < 2 || f.Raw[0] != '"' {
		f.Raw = append(f.Raw[:0], v...)
	} else {
		f.Raw = append(f.Raw[:n-1], v[1:]...) // both are valid, so their texts can be joined as they are
	}
}

// AppendItem appends to a member that is a JSON array.
func (m *Members) AppendItem(name string, v jsonw.Value) {
	f := m.At(name)
	n := len(f.Raw)
	switch {
	case n < 2 || f.Raw[0] != '[', n <= 64 && Blank(string(f.Raw[1:n-1])):
		f.Raw = append(append(append(f.Raw[:0], '['), v...), ']')
	default:
		f.Raw = append(append(append(f.Raw[:n-1], ','), v...), ']')
	}
}

// Object returns the object, "" if it has no member.
func (m *Members) Object() string {
	if len(m.List) == 0 {
		return ""
	}
	n := 2
	for i := range m.List {
		n += len(m.List[i].Name) + len(m.List[i].Raw) + 4
	}
	b := append(make([]byte, 0, n), '{')
	for i := range m.List {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonw.AppendString(b, m.List[i].Name)
		b = append(b, ':')
		b = append(b, m.List[i].Raw...)
	}
	b = append(b, '}')
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Texts makes the strings of deltas. They share memory: one that is kept keeps
// up to a kilobyte. The zero value is ready.
type Texts struct{ buf []byte }

// textChunk is the greatest size in bytes of the memory that deltas share.
const textChunk = 1024

// Text returns the text of v, a JSON string; plain says that it has no escapes.
// High is the surrogate that the piece before ended with, 0 for none; next is
// the one that this piece ends with, whose other half is due in the next.
func (t *Texts) Text(high rune, v jsonw.Value, plain bool) (s string, next rune) {
	n := len(t.buf)
	if room := len(v) + utf8.UTFMax; cap(t.buf)-n < room {
		t.buf = make([]byte, 0, max(room, min(textChunk, max(textChunk/4, 2*cap(t.buf)))))
		n = 0
	}
	if high == 0 && plain {
		t.buf = append(t.buf, v[1:len(v)-1]...)
	} else {
		t.buf, next = jsonw.UnquoteJoin(t.buf, high, string(v))
	}
	if len(t.buf) == n {
		return "", next
	}
	return unsafe.String(&t.buf[n], len(t.buf)-n), next // what was appended is never changed again
}
