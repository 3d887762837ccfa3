package golden

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/handwire/handwire/wire"
)

// Check holds a codec to the fixture in a folder of fsys:
//
//   - Each turn encodes to the bytes of N.request.json, however often and into
//     whatever Call, with the notes of notes.txt, and neither the request nor
//     the history behind it is modified.
//   - A turn with a refusal is refused with the findings of N.refusal.txt,
//     however often, by Check as by Encode.
//   - The body of a turn begins like the body of the turn before it, up to the
//     end of that one's growing array.
//   - Each response decodes to N.events.txt, whose grammar is right, and the
//     message that they build is the assistant message of the history. That
//     comparison leaves out cache marks, and the endpoint where the decoder
//     does not know it.
//   - The response in pieces, split in two at every byte and with readers of
//     other habits gives the same events.
//   - The response cut or broken off at every byte is finished if and only if
//     the terminal mark was complete, has the right cause, and holds a
//     beginning of the whole message. What is not marked partial is whole.
//   - A recorded response of a failed request gives an error, cut anywhere.
//
// Of the breaks that are no clean end, those within the block that holds the
// terminal mark may count as finished or not: a block may be complete before
// its line end or blank line came.
func Check(t TB, c wire.Codec, fsys fs.FS, dir string, opts *Options) {
	t.Helper()
	o := opts.orDefault()
	f, err := load(fsys, dir, o.Update)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if o.Update && o.Dir == "" {
		t.Fatalf("golden: %s: an update needs Options.Dir, the folder that the file system shows", dir)
	}
	k := &checker{t: t, c: c, f: f, o: o}
	k.requests()
	k.prefixes()
	for i := range f.Turns {
		if f.Turns[i].Response != nil {
			k.response(i + 1)
		}
	}
}

// checker is one run of Check.
type checker struct {
	t TB
	c wire.Codec
	f *folder
	o Options
}

func (k *checker) errorf(turn int, format string, args ...any) {
	k.t.Helper()
	k.t.Errorf("golden: %s, turn %d: %s", k.f.Name, turn, fmt.Sprintf(format, args...))
}

// save writes a file of the fixture.
func (k *checker) save(name string, data []byte) {
	k.t.Helper()
	file := filepath.Join(k.o.Dir, filepath.FromSlash(path.Join(k.f.Name, name)))
	if err := write(file, data); err != nil {
		k.t.Fatalf("golden: %v", err)
	}
}

// compare compares a file of the fixture with what it should hold.
func (k *checker) compare(turn int, name string, want, got []byte) {
	k.t.Helper()
	if d := Diff(want, got); d != "" {
		k.errorf(turn, "%s %s", name, d)
	}
}

// requests checks what the codec writes.
func (k *checker) requests() {
	k.t.Helper()
	pristine, _ := parseHistory(k.f.history)
	given, _ := parseHistory(k.f.history)
	for _, h := range []*wire.Request{&pristine, &given} {
		h.System = withSpare(h.System)
		for i := range h.Messages {
			h.Messages[i].Parts = withSpare(h.Messages[i].Parts)
		}
	}
	var notes []byte
	var reused wire.Call
	for i := range k.f.Turns {
		t, n := &k.f.Turns[i], i+1
		if t.RequestBody == nil && t.Refusal == nil && t.Response == nil && !needed(&t.Request) {
			continue
		}
		req := turnRequest(&given, n, false)
		kept := turnRequest(&pristine, n, false)
		var first wire.Call
		err := k.c.Encode(&first, &req)
		if t.Refusal != nil {
			k.refusal(n, err, &reused, &req)
			if !k.untouched(n, &req, &kept, &given, &pristine) {
				return
			}
			continue
		}
		if err != nil {
			k.errorf(n, "the request cannot be encoded: %v", err)
			continue
		}
		name := strconv.Itoa(n) + ".request."
		if !wire.ValidJSON(string(first.Body)) {
			k.errorf(n, "the body is no valid JSON: %s", window(first.Body, 0))
		}
		if k.o.Update {
			t.RequestBody = bytes.Clone(first.Body)
			k.save(name+"json", first.Body)
		}
		k.compare(n, name+"json", t.RequestBody, first.Body)
		if t.requestHead != nil {
			head := requestHead(&first)
			if k.o.Update {
				t.requestHead = head
				k.save(name+"head", head)
			}
			k.compare(n, name+"head", t.requestHead, head)
		}
		for _, note := range first.Notes {
			notes = appendNote(notes, n, note)
		}
		k.again(n, &first, &reused, &req)
		if !k.untouched(n, &req, &kept, &given, &pristine) {
			return
		}
	}
	if !k.o.Update {
		if d := Diff(k.f.notes, notes); d != "" {
			k.t.Errorf("golden: %s: %s %s", k.f.Name, notesFile, d)
		}
		return
	}
	if notes != nil {
		k.save(notesFile, notes)
	} else if k.f.notes != nil {
		if err := os.Remove(filepath.Join(k.o.Dir, filepath.FromSlash(k.f.Name), notesFile)); err != nil {
			k.t.Fatalf("golden: %v", err)
		}
	}
}

// untouched compares the request of a turn, and the history behind it, with what
// they were before they were encoded.
func (k *checker) untouched(turn int, req, kept, given, pristine *wire.Request) bool {
	k.t.Helper()
	if reflect.DeepEqual(req, kept) && reflect.DeepEqual(given, pristine) && sameSpare(given, pristine) {
		return true
	}
	k.errorf(turn, "Encode modified the request: it %s",
		cmpDiff(Diff(appendJSON(nil, pristine), appendJSON(nil, given))))
	return false
}

// refusal checks the error with which a request was refused, and that it is
// refused in the same way again.
func (k *checker) refusal(turn int, err error, reused *wire.Call, req *wire.Request) {
	k.t.Helper()
	name := strconv.Itoa(turn) + ".refusal.txt"
	var found wire.Findings
	switch {
	case err == nil:
		k.errorf(turn, "the request can be encoded; remove %s", name)
		return
	case !errors.As(err, &found) || len(found) == 0:
		k.errorf(turn, "the request fails without findings: %v", err)
		return
	}
	text := AppendFindings(nil, found)
	if k.o.Update {
		k.f.Turns[turn-1].Refusal = text
		k.save(name, text)
	}
	k.compare(turn, name, k.f.Turns[turn-1].Refusal, text)
	if d := Diff(text, AppendFindings(nil, k.c.Check(req))); d != "" {
		k.errorf(turn, "what Check finds %s", d)
	}
	for range 16 {
		found = nil
		errors.As(k.c.Encode(reused, req), &found)
		if d := Diff(text, AppendFindings(nil, found)); d != "" {
			k.errorf(turn, "encoded again the refusal %s", d)
			return
		}
	}
}

// cmpDiff stands in where two values differ and their JSON does not.
func cmpDiff(d string) string {
	if d == "" {
		return "differs in what its JSON does not show, such as the memory behind a slice"
	}
	return d
}

// again encodes a request several times more and compares. That is enough for
// the order of a map to show.
func (k *checker) again(turn int, first, reused *wire.Call, req *wire.Request) {
	k.t.Helper()
	for i := range 16 {
		call, what := reused, "into a call that was used before"
		if i%2 == 0 {
			call, what = new(wire.Call), "again"
		} else {
			call.Path, call.Framing = "/used", "used"
			call.Header = append(call.Header, wire.Header{Name: "Used", Value: "used"})
			call.Body = append(call.Body, "used"...)
			call.Notes = append(call.Notes, wire.Note{Code: "used"})
		}
		if err := k.c.Encode(call, req); err != nil {
			k.errorf(turn, "encoded %s it fails: %v", what, err)
			return
		}
		if d := Diff(first.Body, call.Body); d != "" {
			k.errorf(turn, "encoded %s the body %s", what, d)
			return
		}
		if d := Diff(requestHead(first), requestHead(call)); d != "" {
			k.errorf(turn, "encoded %s the path and headers %s", what, d)
			return
		}
		if !slices.Equal(first.Notes, call.Notes) || first.Framing != call.Framing {
			k.errorf(turn, "encoded %s the framing or the notes differ: %q %+v and %q %+v", what,
				first.Framing, first.Notes, call.Framing, call.Notes)
			return
		}
	}
}

// withSpare returns parts with room for one more, which holds a mark that an
// append would overwrite, also in the parts of parts.
func withSpare(parts []wire.Part) []wire.Part {
	if parts == nil {
		return nil
	}
	c := make([]wire.Part, len(parts)+1)
	copy(c, parts)
	for i := range parts {
		c[i].Parts = withSpare(c[i].Parts)
	}
	c[len(parts)] = wire.Part{Kind: "spare"}
	return c[:len(parts)]
}

// sameSpare compares what withSpare put behind the parts.
func sameSpare(a, b *wire.Request) bool {
	same := spare(a.System) == spare(b.System)
	for i := range a.Messages {
		same = same && spare(a.Messages[i].Parts) == spare(b.Messages[i].Parts)
	}
	return same
}

// spare counts the marks behind parts.
func spare(parts []wire.Part) int {
	if parts == nil {
		return 0
	}
	n := 0
	if reflect.DeepEqual(parts[:len(parts)+1][len(parts)], wire.Part{Kind: "spare"}) {
		n = 1
	}
	for i := range parts {
		n += spare(parts[i].Parts)
	}
	return n
}

// requestHead returns the path and the headers of a call as a head file has
// them.
func requestHead(c *wire.Call) []byte {
	head := append([]byte(c.Path), '\n')
	for _, h := range c.Header {
		head = append(head, h.Name+": "+h.Value+"\n"...)
	}
	return head
}

// appendNote appends a line of notes.txt.
func appendNote(dst []byte, turn int, n wire.Note) []byte {
	p := n.Path
	if p == "" {
		p = "-"
	}
	dst = fmt.Appendf(dst, "%d %s %s", turn, n.Code, p)
	return append(appendPhrase(dst, "", n.Detail, ""), '\n')
}

// AppendFindings appends the text form of findings, a line for each: the path
// or "-", the rule, and in parentheses the remedy if there is one.
func AppendFindings(dst []byte, findings []wire.Finding) []byte {
	for i := range findings {
		f := &findings[i]
		p := f.Path
		if p == "" {
			p = "-"
		}
		dst = append(dst, p...)
		dst = appendPhrase(dst, "", f.Rule, "")
		dst = append(appendPhrase(dst, "(", f.Remedy, ")"), '\n')
	}
	return dst
}

// appendPhrase appends a space and what people are told, unless that is empty,
// on one line.
func appendPhrase(dst []byte, before, s, after string) []byte {
	switch {
	case s == "":
		return dst
	case strings.ContainsFunc(s, unicode.IsControl):
		s = strconv.Quote(s)
	}
	return append(dst, " "+before+s+after...)
}

// prefixes checks that a body begins like the body of the turn before.
func (k *checker) prefixes() {
	k.t.Helper()
	holds := true
	earlier := 0 // the turn before, counted from 1
	for i := range k.f.Turns {
		body := k.f.Turns[i].RequestBody
		if body == nil {
			continue
		}
		if earlier > 0 {
			a, b := k.unmarked(k.f.Turns[earlier-1].RequestBody), k.unmarked(body)
			// What closes the growing array, and what closes the last message in
			// it, may come later in the longer body.
			if n := common(a, b); n < len(bytes.TrimRight(a, "]} \n")) {
				holds = false
				if k.f.noPrefix == "" {
					k.errorf(i+1, "the body does not begin like that of turn %d, which must stay as it was up to byte %d: it %s",
						earlier, len(bytes.TrimRight(a, "]} \n")), Diff(a, b))
				}
			}
		}
		earlier = i + 1
	}
	if holds && k.f.noPrefix != "" {
		k.t.Errorf("golden: %s: every body begins like the one before; remove %s", k.f.Name, noPrefixFile)
	}
}

// unmarked returns a body without what may move.
func (k *checker) unmarked(body []byte) []byte {
	for _, m := range k.o.Moving {
		body = bytes.ReplaceAll(body, []byte(m), nil)
	}
	return body
}
