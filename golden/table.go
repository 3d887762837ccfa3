package golden

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/handwire/handwire/wire"
)

// How this file is organised: scenarios is the table, each row with the function
// that tells whether a fixture shows it. Those functions see a fixture as a
// list of turns (shown), each with what was answered, what the message became
// and what the next request says, and know nothing of any protocol.

// Scenario is a situation that every codec must have a fixture for.
type Scenario struct {
	// Name is the name of the fixture's folder.
	Name string
	// What is the situation, in one sentence.
	What string
}

// Scenarios returns the table, in its order.
func Scenarios() []Scenario {
	list := make([]Scenario, len(scenarios))
	for i := range scenarios {
		list[i] = scenarios[i].Scenario
	}
	return list
}

// naFile holds why a protocol does not have a scenario.
const naFile = "n-a"

// CheckTable checks that the root of fsys has a fixture for every scenario,
// holds the codec to each with [Check], and makes sure that it shows what the
// scenario says. Where the protocol cannot have a scenario, its folder holds one
// file n-a, in which the reason stands. Folders of other names are checked as
// well. One folder that fails does not keep the others from being checked.
func CheckTable(t TB, c wire.Codec, fsys fs.FS, opts *Options) {
	t.Helper()
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		t.Fatalf("golden: the fixtures cannot be read: %v", err)
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, e.Name())
		}
	}
	answers := map[string]string{} // the row by its responses
	for i := range scenarios {
		row := &scenarios[i]
		if !slices.Contains(dirs, row.Name) {
			t.Errorf("golden: %s is missing: %s; add the folder with a history.json and the responses and run the test with -update, "+
				"or, if %s cannot have it, with one file %s that says why", row.Name, row.What, c.Protocol(), naFile)
			continue
		}
		apart(t, func(t TB) {
			t.Helper()
			if notApplicable(t, fsys, row.Name) {
				return
			}
			Check(t, c, fsys, row.Name, opts)
			f, err := load(fsys, row.Name, false)
			if err != nil {
				t.Fatalf("%v", err)
			}
			s, err := show(t, c, f, opts)
			if err == nil {
				err = row.shows(s)
			}
			if err != nil {
				t.Errorf("golden: %s is not what it should be, %q: %v", row.Name, row.What, err)
			}
			key := ""
			for i := range f.Turns {
				key += string(f.Turns[i].Response) + "\n"
			}
			if other, ok := answers[key]; ok {
				t.Errorf("golden: %s has the responses of %s; give it its own", row.Name, other)
			}
			answers[key] = row.Name
		})
	}
	for _, dir := range dirs {
		if !slices.ContainsFunc(scenarios[:], func(r row) bool { return r.Name == dir }) {
			apart(t, func(t TB) {
				t.Helper()
				Check(t, c, fsys, dir, opts)
			})
		}
	}
}

// apart runs f so that a Fatalf ends f alone.
func apart(t TB, f func(TB)) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(rowTB{t})
	}()
	<-done
}

// rowTB is a TB whose Fatalf ends the goroutine and not the test.
type rowTB struct{ TB }

func (t rowTB) Fatalf(format string, args ...any) {
	t.Helper()
	t.Errorf(format, args...)
	runtime.Goexit()
}

// notApplicable reports whether a folder holds the reason why there is no
// fixture in it.
func notApplicable(t TB, fsys fs.FS, dir string) bool {
	t.Helper()
	reason, err := fs.ReadFile(fsys, path.Join(dir, naFile))
	if err != nil {
		return false
	}
	if strings.TrimSpace(string(reason)) == "" {
		t.Errorf("golden: %s is empty; write into it why the protocol cannot have this", path.Join(dir, naFile))
	}
	if entries, err := fs.ReadDir(fsys, dir); err != nil || len(entries) != 1 {
		t.Errorf("golden: %s stands beside other files; remove it or them", path.Join(dir, naFile))
	}
	return true
}

// shown is a fixture as the rows see it.
type shown struct {
	history *wire.Request
	turns   []shownTurn
	moving  []string
}

// shownTurn is one turn of it.
type shownTurn struct {
	*Turn
	events  []wire.Event // nil if there is no response
	message wire.Message // what the events build
	next    []byte       // the body of the next turn, nil if there is none
	answer  []wire.Part  // the results between this turn's message and the next
}

// show decodes the responses of a fixture.
func show(t TB, c wire.Codec, f *folder, opts *Options) (*shown, error) {
	k := &checker{t: t, c: c, f: f, o: opts.orDefault()}
	s := &shown{history: &f.History, moving: k.o.Moving}
	for i := range f.Turns {
		st := shownTurn{Turn: &f.Turns[i]}
		if st.Response != nil {
			events, err := k.decode(st.Turn, &pieces{data: st.Response})
			if err != nil {
				return nil, err
			}
			st.events, st.message = events, message(events)
		}
		if i+1 < len(f.Turns) {
			st.next = f.Turns[i+1].RequestBody
		}
		for j := assistant(&f.History, i+1) + 1; j < assistant(&f.History, i+2); j++ {
			for _, p := range f.History.Messages[j].Parts {
				if p.Kind == wire.PartToolResult {
					st.answer = append(st.answer, p)
				}
			}
		}
		s.turns = append(s.turns, st)
	}
	return s, nil
}

// any returns an error that says what is wanted unless one of the answered turns
// has it.
func (s *shown) any(want string, has func(t *shownTurn) bool) error {
	for i := range s.turns {
		if t := &s.turns[i]; t.events != nil && has(t) {
			return nil
		}
	}
	return fmt.Errorf("no turn has %s", want)
}

// all returns the first error.
func all(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func need(ok bool, want string) error {
	if ok {
		return nil
	}
	return fmt.Errorf("there is no %s", want)
}

// ends reports whether a turn finished for this reason.
func (t *shownTurn) ends(why wire.FinishReason) bool {
	return finished(t.events) && t.message.Ending.Finish == why
}

func (t *shownTurn) parts(kind wire.PartKind) (ps []wire.Part) {
	for _, p := range t.message.Parts {
		if p.Kind == kind {
			ps = append(ps, p)
		}
	}
	return ps
}

// answered reports whether calls have one result each before the next turn,
// which has a request.
func (t *shownTurn) answered(calls []wire.Part) bool {
	for _, c := range calls {
		n := 0
		for _, r := range t.answer {
			if r.ID == c.ID {
				n++
			}
		}
		if n != 1 {
			return false
		}
	}
	return t.next != nil
}

// runs reports whether a turn ends with n calls or more that may be run, and all
// of them are answered.
func (t *shownTurn) runs(n int) bool {
	calls := t.message.ExecutableCalls()
	return t.ends(wire.FinishToolCall) && len(calls) >= n && len(calls) == len(t.parts(wire.PartToolCall)) && t.answered(calls)
}

// holds reports whether a body has a text as it is, or as a JSON string.
func holds(body []byte, text string) bool {
	if text == "" {
		return false
	}
	quoted := appendJSON(nil, text)
	return bytes.Contains(body, []byte(text)) || bytes.Contains(body, quoted[1:len(quoted)-1])
}

// plain reports whether a body has the three characters as they are, not as
// escapes for HTML.
func plain(body []byte) bool {
	for _, c := range []string{"<", ">", "&"} {
		if !bytes.Contains(body, []byte(c)) || bytes.Contains(bytes.ToLower(body), fmt.Appendf(nil, "\\u%04x", c[0])) {
			return false
		}
	}
	return true
}

// goesBack reports whether a body has a text of the vendor data: a signature, an
// encrypted content, an id.
func goesBack(body []byte, vendor string) bool {
	if vendor == "" {
		return false
	}
	var v any
	if json.Unmarshal([]byte(vendor), &v) != nil {
		return false
	}
	var within func(v any) bool
	within = func(v any) bool {
		switch v := v.(type) {
		case string:
			return len(v) >= 4 && holds(body, v)
		case []any:
			return slices.ContainsFunc(v, within)
		case map[string]any:
			for _, m := range v {
				if within(m) {
					return true
				}
			}
		}
		return false
	}
	return within(v)
}

// media returns the media parts of messages that are not within results, and
// those that are.
func media(messages []wire.Message) (outside, inside []wire.Part) {
	for i := range messages {
		for _, p := range messages[i].Parts {
			if p.Kind == wire.PartMedia && p.Media != nil {
				outside = append(outside, p)
			}
			for _, q := range p.Parts {
				if p.Kind == wire.PartToolResult && q.Kind == wire.PartMedia && q.Media != nil {
					inside = append(inside, q)
				}
			}
		}
	}
	return outside, inside
}

// sends reports whether some request has one of the media of a type in its body:
// its bytes, its text, its address or its id.
func (s *shown) sends(parts []wire.Part, image bool) bool {
	for _, p := range parts {
		m := p.Media
		if typ := m.MediaType(); strings.HasPrefix(typ, "image/") != image || typ == "" {
			continue
		}
		for i := range s.turns {
			body := s.turns[i].RequestBody
			if holds(body, base64.StdEncoding.EncodeToString(m.Data)) || holds(body, m.URL) || holds(body, m.FileID) ||
				!image && holds(body, string(m.Data)) {
				return true
			}
		}
	}
	return false
}

// marks reports whether a request asks for cache breakpoints at places that it
// names.
func marks(r *wire.Request) bool {
	marked := func(p wire.Part) bool { return p.Cache != nil }
	if slices.ContainsFunc(r.System, marked) || slices.ContainsFunc(r.Tools, func(t wire.Tool) bool { return t.Cache != nil }) {
		return true
	}
	return slices.ContainsFunc(r.Messages, func(m wire.Message) bool { return slices.ContainsFunc(m.Parts, marked) })
}

// moves reports whether a body is a beginning of the next one only without the
// bytes that may move.
func (s *shown) moves() bool {
	k := &checker{o: Options{Moving: s.moving}}
	stays := func(a, b []byte) bool { return common(a, b) >= len(bytes.TrimRight(a, "]} \n")) }
	for i := range s.turns {
		if a, b := s.turns[i].RequestBody, s.turns[i].next; a != nil && b != nil && !stays(a, b) && stays(k.unmarked(a), k.unmarked(b)) {
			return true
		}
	}
	return false
}

// beyond reports whether a text has a character outside the basic plane.
func beyond(s string) bool { return strings.ContainsFunc(s, func(r rune) bool { return r > 0xffff }) }

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// row is a scenario and what shows it.
type row struct {
	Scenario
	shows func(s *shown) error
}

var scenarios = [...]row{
	{Scenario{"text", "a text that comes in several pieces and ends by itself"}, func(s *shown) error {
		return s.any("an answer of text alone, in two deltas or more, that ends with stop", func(t *shownTurn) bool {
			deltas := 0
			for i := range t.events {
				if t.events[i].Text() != "" {
					deltas++
				}
			}
			return t.ends(wire.FinishStop) && deltas > 1 && len(t.parts(wire.PartText)) == len(t.message.Parts)
		})
	}},
	{Scenario{"unicode", "characters of every kind and white space that is content, out and in"}, func(s *shown) error {
		asked := slices.ContainsFunc(s.history.Messages, func(m wire.Message) bool {
			text := m.Text()
			return m.Role == wire.RoleUser && beyond(text) && plain([]byte(text))
		})
		return all(
			need(asked, "user message with a character outside the basic plane and with <, > and &"),
			s.any("<, > and & in its request as they are", func(t *shownTurn) bool { return plain(t.RequestBody) }),
			s.any("an answer with a delta of white space alone and a character outside the basic plane", func(t *shownTurn) bool {
				return beyond(t.message.Text()) && slices.ContainsFunc(t.events, func(ev wire.Event) bool { return ev.Text() != "" && blank(ev.Text()) })
			}))
	}},
	{Scenario{"one-call", "one tool call, its result, and the answer to that"}, func(s *shown) error {
		return all(
			s.any("exactly one call, with arguments, that may be run and is answered", func(t *shownTurn) bool {
				calls := t.parts(wire.PartToolCall)
				return t.runs(1) && len(calls) == 1 && calls[0].Args != "{}"
			}),
			s.any("an answer after the result that ends with stop", func(t *shownTurn) bool {
				last := t.Request.Messages[len(t.Request.Messages)-1]
				return t.ends(wire.FinishStop) && last.Role == wire.RoleTool
			}))
	}},
	{Scenario{"parallel-calls", "several tool calls in one message, each with its result"}, func(s *shown) error {
		return s.any("two calls or more with ids of their own that may be run and are answered", func(t *shownTurn) bool {
			ids := map[string]bool{}
			for _, c := range t.parts(wire.PartToolCall) {
				ids[c.ID] = true
			}
			return t.runs(2) && len(ids) == len(t.parts(wire.PartToolCall))
		})
	}},
	{Scenario{"call-without-arguments", "a tool call without arguments, which are then an empty object"}, func(s *shown) error {
		return s.any("a call with the arguments {} that may be run and is answered", func(t *shownTurn) bool {
			return t.runs(1) && slices.ContainsFunc(t.parts(wire.PartToolCall), func(c wire.Part) bool { return c.Args == "{}" })
		})
	}},
	{Scenario{"big-numbers", "arguments with numbers that no float holds or spells alike, and with <, > and &, back byte for byte"}, func(s *shown) error {
		return s.any("a call with 9007199254740993, 1.0, 1e21, <, > and & in its arguments, which the next request has as they are", func(t *shownTurn) bool {
			for _, c := range t.parts(wire.PartToolCall) {
				if number(c.Args, "9007199254740993") && number(c.Args, "1.0") && number(c.Args, "1e21") && plain([]byte(c.Args)) {
					return t.runs(1) && holds(t.next, c.Args)
				}
			}
			return false
		})
	}},
	{Scenario{"reasoning-call", "reasoning with what proves it, then a tool call; it goes back with the result"}, func(s *shown) error {
		return s.any("reasoning with text before a call, which goes back in the next request", func(t *shownTurn) bool {
			seen := false
			for _, p := range t.message.Parts {
				seen = seen || p.Kind == wire.PartReasoning && p.Text != ""
				if p.Kind == wire.PartToolCall && seen {
					break
				}
			}
			back := slices.ContainsFunc(t.message.Parts, func(p wire.Part) bool {
				return p.Kind == wire.PartReasoning && holds(t.next, p.Text) ||
					(p.Kind == wire.PartReasoning || p.Kind == wire.PartToolCall) && goesBack(t.next, p.Vendor)
			})
			return seen && t.runs(1) && back
		})
	}},
	{Scenario{"reasoning-empty", "reasoning without text that the vendor signed; it goes back all the same"}, func(s *shown) error {
		return s.any("reasoning without text and with vendor data that the next request has", withheldReasoning)
	}},
	{Scenario{"reasoning-redacted", "reasoning that the vendor encrypted; it goes back as it came"}, func(s *shown) error {
		return s.any("reasoning without text and with vendor data that the next request has", withheldReasoning)
	}},
	{Scenario{"image", "images in a user message"}, func(s *shown) error {
		outside, _ := media(s.history.Messages)
		return need(s.sends(outside, true), "image in a message that is in a request")
	}},
	{Scenario{"image-in-result", "an image in the result of a tool"}, func(s *shown) error {
		_, inside := media(s.history.Messages)
		return need(s.sends(inside, true), "image in a tool result that is in a request")
	}},
	{Scenario{"document", "a document, such as a PDF or a text file, in a user message"}, func(s *shown) error {
		outside, _ := media(s.history.Messages)
		return need(s.sends(outside, false), "document in a message that is in a request")
	}},
	{Scenario{"refusal", "the model or the vendor declines"}, func(s *shown) error {
		return s.any("an answer that ends with refusal or content_filter", func(t *shownTurn) bool {
			return (t.ends(wire.FinishRefusal) || t.ends(wire.FinishContentFilter)) && len(t.message.ExecutableCalls()) == 0
		})
	}},
	{Scenario{"length-in-call", "the output limit is reached within a tool call, which is then not run"}, func(s *shown) error {
		return s.any("an answer that ends with length, a call as its last part, and none that may be run", func(t *shownTurn) bool {
			n := len(t.message.Parts)
			return t.ends(wire.FinishLength) && n > 0 && t.message.Parts[n-1].Kind == wire.PartToolCall && len(t.message.ExecutableCalls()) == 0
		})
	}},
	{Scenario{"stop-sequence", "the output ends at a stop sequence"}, func(s *shown) error {
		return all(
			need(len(s.history.StopSequences) > 0, "stop sequence in the history"),
			s.any("an answer that ends with stop, without the sequence in its text, for which its request asked", func(t *shownTurn) bool {
				end := t.message.Ending
				for _, q := range s.history.StopSequences {
					if !holds(t.RequestBody, q) || strings.Contains(t.message.Text(), q) {
						return false
					}
				}
				return t.ends(wire.FinishStop) && (end.Detail == "" || slices.Contains(s.history.StopSequences, end.Detail))
			}))
	}},
	{Scenario{"pause", "the vendor pauses, and the message goes back as it is to be continued"}, func(s *shown) error {
		for i := range s.turns {
			if t := &s.turns[i]; t.events != nil && t.ends(wire.FinishPause) && i+1 < len(s.turns) && t.next != nil {
				r := &s.turns[i+1]
				if last := r.Request.Messages[len(r.Request.Messages)-1]; last.Role == wire.RoleAssistant && r.events != nil && finished(r.events) {
					return nil
				}
			}
		}
		return fmt.Errorf("no turn ends with pause and is followed by one whose request ends with that message and is answered")
	}},
	{Scenario{"vendor-error", "the vendor reports that it failed, where it can within the stream"}, func(s *shown) error {
		return s.any("an answer of cause vendor_error with a class and a message", func(t *shownTurn) bool {
			end := t.message.Ending
			return end.Cause == wire.CauseVendor && t.Terminal < 0 && end.Err.Class != "" && end.Err.Message != ""
		})
	}},
	{Scenario{"unknown-event", "an event of a kind that nobody knows yet, passed on raw within an answer that is whole"}, func(s *shown) error {
		return s.any("an other event in an answer that finished and has no opaque part", func(t *shownTurn) bool {
			return finished(t.events) && len(t.parts(wire.PartOpaque)) == 0 && slices.ContainsFunc(t.events, func(ev wire.Event) bool { return ev.Kind == wire.EventOther })
		})
	}},
	{Scenario{"unknown-part", "a part of a kind that nobody knows yet, kept and sent back byte for byte"}, func(s *shown) error {
		return s.any("an opaque part that the next request has to the byte", func(t *shownTurn) bool {
			return slices.ContainsFunc(t.parts(wire.PartOpaque), func(p wire.Part) bool {
				return p.Vendor != "" && bytes.Contains(t.next, []byte(p.Vendor))
			})
		})
	}},
	{Scenario{"cut", "the body ends before the terminal mark, with something said"}, func(s *shown) error {
		return s.any("an answer of cause truncated that has parts and no terminal mark", func(t *shownTurn) bool {
			return t.Terminal < 0 && t.message.Ending.Cause == wire.CauseTruncated && len(t.message.Parts) > 0
		})
	}},
	{Scenario{"cache-marks", "cache breakpoints at fixed places and one that moves with the conversation"}, func(s *shown) error {
		return all(
			need(marks(s.history), "cache mark on a part or a tool of the history"),
			need(s.moves(), "turn whose body is like that of the turn before only without the bytes of Options.Moving"))
	}},
	{Scenario{"structured-output", "an answer in a form that was asked for"}, func(s *shown) error {
		o := s.history.Output
		return all(
			need(o != nil && (o.Kind == wire.OutputJSONSchema && o.Schema != "" || o.Kind == wire.OutputJSON), "output format in the history"),
			s.any("an answer whose text is JSON, to a request with the schema as it is", func(t *shownTurn) bool {
				return t.ends(wire.FinishStop) && wire.ValidJSON(t.message.Text()) && (o.Schema == "" || holds(t.RequestBody, o.Schema))
			}))
	}},
}

// withheldReasoning reports whether a turn has reasoning without a text whose
// vendor data is in the next request.
func withheldReasoning(t *shownTurn) bool {
	return finished(t.events) && slices.ContainsFunc(t.parts(wire.PartReasoning), func(p wire.Part) bool {
		return p.Text == "" && goesBack(t.next, p.Vendor)
	})
}

// number reports whether a JSON text has a number in this spelling.
func number(text, spelling string) bool {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			return false
		}
		if n, ok := tok.(json.Number); ok && n.String() == spelling {
			return true
		}
	}
}
