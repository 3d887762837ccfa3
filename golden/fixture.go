package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
)

// Fixture is one conversation with its exact requests and recorded responses.
type Fixture struct {
	// Name is the folder as it was given to Load.
	Name string
	// History is the whole conversation.
	History wire.Request
	Turns   []Turn
}

// Turn is one request and what came back.
type Turn struct {
	// Request is the history up to this turn.
	Request wire.Request
	// RequestBody is the exact request body. It is nil for a turn that has no
	// files, and for one whose request is refused.
	RequestBody []byte
	// Refusal is why the request cannot be sent, in the text form of
	// AppendFindings, a line for each finding. It is nil if it can.
	Refusal []byte
	// Response is the exact response body, nil if the turn has none.
	Response []byte
	// Status, Header and Framing are those of the response.
	Status  int
	Header  []wire.Header
	Framing wire.Framing
	// Events are the events of the response in text form.
	Events string
	// Terminal is the offset just behind the terminal mark, -1 if there is
	// none.
	Terminal int

	requestHead []byte // nil if there is none
}

// The names of a fixture's files.
const (
	historyFile  = "history.json"
	notesFile    = "notes.txt"
	noPrefixFile = "no-prefix"
)

var turnFile = regexp.MustCompile(`^([1-9][0-9]{0,3})\.(request\.json|request\.head|refusal\.txt|response\.sse|response\.ndjson|response\.json|response\.head|events\.txt)$`)

// bodyFiles are the endings of response files and what they mean.
var bodyFiles = []struct {
	ending  string
	framing wire.Framing
	content string
}{
	{"response.sse", wire.FramingSSE, "text/event-stream"},
	{"response.ndjson", wire.FramingLines, "application/x-ndjson"},
	{"response.json", wire.FramingWhole, "application/json"},
}

// List returns every folder of fsys that has a history.json, sorted.
func List(fsys fs.FS) ([]string, error) {
	var dirs []string
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() == historyFile {
			dirs = append(dirs, path.Dir(name))
		}
		return err
	})
	slices.Sort(dirs)
	return dirs, err
}

// Load reads the fixture in a folder of fsys. Its errors name the file, what is
// wrong with it and what to do.
func Load(fsys fs.FS, dir string) (*Fixture, error) {
	f, err := load(fsys, dir, false)
	if err != nil {
		return nil, err
	}
	return &f.Fixture, nil
}

// folder is a fixture with the files that only Check wants.
type folder struct {
	Fixture
	history  []byte // the file
	notes    []byte
	noPrefix string
}

// load reads a fixture. For an update the files that will be written may be
// missing.
func load(fsys fs.FS, dir string, update bool) (*folder, error) {
	bad := func(name, format string, args ...any) error {
		return fmt.Errorf("golden: %s: %s", path.Join(dir, name), fmt.Sprintf(format, args...))
	}
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("golden: the fixture folder cannot be read: %w", err)
	}
	files := map[string][]byte{}
	last := 0
	for _, e := range entries {
		name := e.Name()
		m := turnFile.FindStringSubmatch(name)
		known := m != nil || name == historyFile || name == notesFile || name == noPrefixFile
		if !known || e.IsDir() {
			return nil, bad(name, "a fixture has no such file; correct its name or remove it")
		}
		if m != nil {
			n, _ := strconv.Atoi(m[1])
			last = max(last, n)
		}
		data, err := fs.ReadFile(fsys, path.Join(dir, name))
		if err != nil {
			return nil, bad(name, "%v", err)
		}
		files[name] = append([]byte{}, data...)
	}
	f := &folder{history: files[historyFile], notes: files[notesFile]}
	f.Name = dir
	if f.history == nil {
		return nil, bad(historyFile, "is missing; write the conversation into it, a wire.Request as JSON")
	}
	if f.History, err = parseHistory(f.history); err != nil {
		return nil, bad(historyFile, "%v; it must be one wire.Request as JSON", err)
	}
	if reason, ok := files[noPrefixFile]; ok {
		if f.noPrefix = strings.TrimSpace(string(reason)); f.noPrefix == "" {
			return nil, bad(noPrefixFile, "is empty; write the reason into it")
		}
	}

	for n := 1; n <= max(last, turnsOf(&f.History)); n++ {
		num := strconv.Itoa(n) + "."
		t := Turn{
			Request:     turnRequest(&f.History, n, true),
			RequestBody: files[num+"request.json"],
			Refusal:     files[num+"refusal.txt"],
			requestHead: files[num+"request.head"],
			Terminal:    -1,
		}
		for _, b := range bodyFiles {
			body, ok := files[num+b.ending]
			if !ok {
				continue
			}
			if t.Response != nil {
				return nil, bad(num+b.ending, "turn %d has two responses; remove one", n)
			}
			t.Response, t.Framing, t.Status = body, b.framing, 200
			t.Header = []wire.Header{{Name: "Content-Type", Value: b.content}}
		}
		if head, ok := files[num+"response.head"]; ok {
			if t.Response == nil {
				return nil, bad(num+"response.head", "there is no response of turn %d beside it; add one or remove it", n)
			}
			if err := t.readHead(head); err != nil {
				return nil, bad(num+"response.head", "%v", err)
			}
		}
		if events, ok := files[num+"events.txt"]; ok {
			if t.Response == nil {
				return nil, bad(num+"events.txt", "there is no response of turn %d beside it; add one or remove it", n)
			}
			if err := t.readEvents(events); err != nil && !update {
				return nil, bad(num+"events.txt", "%v; run the test with -update to write it anew", err)
			}
		} else if t.Response != nil && !update {
			return nil, bad(num+"events.txt", "is missing; run the test with -update to write it")
		}
		if t.Refusal != nil && (t.RequestBody != nil || t.Response != nil || t.requestHead != nil) {
			return nil, bad(num+"refusal.txt", "turn %d has a request or a response beside it; remove it or them", n)
		}
		if t.RequestBody == nil && t.Refusal == nil && !update && (needed(&t.Request) || t.Response != nil || t.requestHead != nil) {
			return nil, bad(num+"request.json", "is missing; run the test with -update to write it")
		}
		f.Turns = append(f.Turns, t)
	}
	if len(f.Turns) == 0 {
		return nil, bad(historyFile, "has no messages; a fixture needs at least one turn")
	}
	return f, nil
}

// parseHistory reads a history and refuses what it does not know, so that a
// misspelt name is not lost.
func parseHistory(data []byte) (wire.Request, error) {
	var r wire.Request
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		return r, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return r, errors.New("something follows the request")
	}
	return r, nil
}

// assistant returns the index of the nth assistant message, len(r.Messages) if
// there are fewer.
func assistant(r *wire.Request, n int) int {
	for i := range r.Messages {
		if r.Messages[i].Role == wire.RoleAssistant {
			if n--; n == 0 {
				return i
			}
		}
	}
	return len(r.Messages)
}

// turnRequest returns the request of turn n. Unless clip is set, its messages
// can be appended to at the cost of the history, which shows who does so.
func turnRequest(history *wire.Request, n int, clip bool) wire.Request {
	r := *history
	r.Messages = r.Messages[:assistant(history, n)]
	if clip {
		r.Messages = slices.Clip(r.Messages)
	}
	return r
}

// turnsOf returns how many turns a history has by itself: one for each
// assistant message, and one more if it does not end with such a message.
func turnsOf(r *wire.Request) int {
	n := 0
	for i := range r.Messages {
		if r.Messages[i].Role == wire.RoleAssistant || i == len(r.Messages)-1 {
			n++
		}
	}
	return n
}

// needed reports whether a turn with this request must have files.
func needed(r *wire.Request) bool {
	return len(r.Messages) > 0 && r.Messages[len(r.Messages)-1].Role != wire.RoleAssistant
}

// readHead takes the head of a response.
func (t *Turn) readHead(data []byte) error {
	first, rest, _ := strings.Cut(string(data), "\n")
	status, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return fmt.Errorf("the first line is %q; it must be a status code such as 200", first)
	}
	if !final(status) {
		return fmt.Errorf("the status is %d; that of a response is from 200 to 599", status)
	}
	t.Status = status
	for line := range strings.Lines(rest) {
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || name == "" || strings.TrimSpace(name) != name {
			return fmt.Errorf("the line %q is no header; write it as \"name: value\"", line)
		}
		value = strings.TrimSpace(value)
		if strings.EqualFold(name, "content-type") {
			t.Header[0].Value = value
			continue
		}
		t.Header = append(t.Header, wire.Header{Name: name, Value: value})
	}
	return nil
}

// readEvents takes an events file.
func (t *Turn) readEvents(data []byte) error {
	first, rest, _ := strings.Cut(string(data), "\n")
	at, ok := strings.CutPrefix(first, "terminal: ")
	if !ok {
		return fmt.Errorf("the first line is %q; it must be \"terminal: \" and an offset or none", first)
	}
	t.Events = rest
	if at == "none" {
		t.Terminal = -1
		return nil
	}
	n, err := strconv.Atoi(at)
	if err != nil || n < 1 || n > len(t.Response) || strconv.Itoa(n) != at {
		return fmt.Errorf("the terminal offset is %q; it must be none or between 1 and the %d bytes of the response", at, len(t.Response))
	}
	t.Terminal = n
	return nil
}

// head returns the response's head as a codec wants it.
func (t *Turn) head() wire.Head {
	return wire.Head{Status: t.Status, Framing: t.Framing, Get: func(name string) string {
		for _, h := range t.Header {
			if strings.EqualFold(h.Name, name) {
				return h.Value
			}
		}
		return ""
	}}
}

// final reports whether a response can end a request with this status.
func final(status int) bool { return 200 <= status && status <= 599 }

// failed reports whether the status says that the request failed.
func (t *Turn) failed() bool { return t.Status < 200 || t.Status > 299 }
