package agent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
)

// A saved conversation is lines of JSON: a line that says what the file is, and
// then one for each entry. An entry that changed has a further line, and the last
// one counts. Lines are only ever appended, each in one write, so that a crash
// can tear the last one alone.

const (
	sessionHead = `{"handwire":"conversation","version":1}`
	// maxLine is the greatest length of an entry's line, and maxHead that of the
	// first one, in bytes.
	maxLine = 256 << 20
	maxHead = 4 << 10
)

// journal is where the entries of a conversation are saved. Nil is nowhere.
type journal struct {
	f    *os.File
	size int64 // of the file, as long as nobody else writes in it
	err  error // of the first write that failed; nothing is written after it
}

func (j *journal) write(e *Entry) {
	if j == nil || j.err != nil {
		return
	}
	line, err := encodeEntry(e)
	if err == nil && len(line) > maxLine {
		err = fmt.Errorf("an entry is longer than %d bytes", maxLine)
	}
	if err == nil {
		err = j.append(line)
	}
	if err != nil {
		j.err = fmt.Errorf("agent: the conversation can no longer be saved: %w", err)
	}
}

// append writes a line, unless another program has the file open too: its entries
// would have the ids of ours, and be taken for changes of them.
func (j *journal) append(line []byte) error {
	st, err := j.f.Stat()
	if err != nil {
		return err
	}
	if st.Size() != j.size {
		return errors.New("another program writes in the file")
	}
	n, err := j.f.Write(line)
	j.size += int64(n)
	return err
}

func (j *journal) failure() error {
	if j == nil {
		return nil
	}
	return j.err
}

// encodeEntry returns the line of an entry.
func encodeEntry(e *Entry) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return b.Bytes(), err
}

// Save writes the whole conversation as it stands, in the form that [Load] reads.
func (c *Conversation) Save(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString(sessionHead + "\n")
	for _, e := range c.Snapshot().All() {
		line, err := encodeEntry(&e)
		if err != nil {
			return err
		}
		b.Write(line)
	}
	return b.Flush()
}

// Load reads a conversation that was saved. A last line that a crash tore is left
// out, with a note. An answer whose stream went on when it was saved is
// cancelled, and a call that waited for its result gets one that says that none
// was recorded. What cannot be read at all is an error that names the line; so is
// an entry of more than 256 MiB.
func Load(r io.Reader) (*Conversation, []wire.Note, error) {
	c, notes, _, err := load(r)
	if err == nil {
		c.settle("")
	}
	return c, notes, err
}

// OpenSession returns the conversation that a file holds, an empty one if there
// is no such file yet, and saves in it from then on: each entry when it is added
// or its stream ends. The notes are those of [Load]; a line that a crash tore is
// cut off the file. It must be a regular file; a new one is its owner's alone to
// read. One program at a time may have the file open; where another one has written
// in it, nothing more is saved, and [Conversation.Err] says so. Close ends it.
func OpenSession(name string) (*Conversation, []wire.Note, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		f.Close()
		return nil, nil, fmt.Errorf("agent: %s is no file in which a conversation can be kept", name)
	}
	c, notes, whole, err := load(f)
	size := int64(0)
	if err == nil {
		size, err = repair(f, whole)
	}
	if err != nil {
		f.Close()
		return nil, notes, fmt.Errorf("%s: %w", name, err)
	}
	c.log = &journal{f: f, size: size}
	c.settle("")
	if err := c.log.failure(); err != nil {
		f.Close()
		return nil, notes, err
	}
	return c, notes, nil
}

// repair makes the file end behind its last whole line, and returns its size then.
func repair(f *os.File, whole extent) (int64, error) {
	if err := f.Truncate(whole.size); err != nil {
		return 0, err
	}
	if _, err := f.Seek(whole.size, io.SeekStart); err != nil {
		return 0, err
	}
	add := ""
	switch {
	case whole.size == 0:
		add = sessionHead + "\n"
	case whole.open:
		add = "\n"
	}
	_, err := io.WriteString(f, add)
	return whole.size + int64(len(add)), err
}

// Close stops saving, and returns the first error that saving met. A
// conversation that is saved nowhere need not be closed.
func (c *Conversation) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.log == nil {
		return nil
	}
	err := errors.Join(c.log.err, c.log.f.Close())
	c.log = nil
	return err
}

// Err returns the first error that saving met, nil if all is saved. After it
// nothing more is saved; the conversation goes on.
func (c *Conversation) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.failure()
}

// extent is how much of a file is whole lines.
type extent struct {
	size int64
	open bool // the last one has no line end
}

// load reads a saved conversation without settling it.
func load(r io.Reader) (c *Conversation, notes []wire.Note, whole extent, err error) {
	c = &Conversation{}
	br := bufio.NewReader(r)
	var entries []Entry
	at := map[string]int{}
	for n := 1; ; n++ {
		most := maxLine
		if n == 1 {
			most = maxHead // another file may have no lines at all
		}
		line, err := readLine(br, most)
		if err != nil && err != io.EOF {
			return nil, notes, whole, fmt.Errorf("agent: line %d of the saved conversation: %w", n, err)
		}
		torn := err == io.EOF
		if torn && len(line) == 0 {
			break
		}
		var e Entry
		problem := readSaved(line, n, &e)
		switch {
		case problem != nil && torn && (n > 1 || strings.HasPrefix(sessionHead, string(line))): // else it is another file
			notes = append(notes, wire.Note{Code: wire.NoteRepaired, Path: "line " + strconv.Itoa(n),
				Detail: "the last line is torn, and was left out: " + strconv.Itoa(len(line)) + " bytes"})
		case problem != nil:
			return nil, notes, whole, fmt.Errorf("agent: line %d of the saved conversation: %w", n, problem)
		default:
			whole.size += int64(len(line))
			whole.open = torn
			if n == 1 {
				break
			}
			if i, again := at[e.ID]; again {
				entries[i] = e
			} else {
				at[e.ID] = len(entries)
				entries = append(entries, e)
			}
		}
		if torn {
			break
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return numberOf(a.ID) - numberOf(b.ID) })
	c.index = make(map[string]int, len(entries))
	for i := range entries {
		e := &entries[i]
		if e.Status == StatusStreaming {
			e.Status = StatusCancelled
			if e.Ending == nil {
				e.Ending = &wire.Ending{Cause: wire.CauseCancelled, Err: &wire.Error{Cause: wire.CauseCancelled, Message: "the program ended meanwhile"}}
			}
		}
		c.index[e.ID] = i
		c.records = append(c.records, &record{entry: *e})
		c.last = numberOf(e.ID)
	}
	c.version = uint64(len(entries))
	return c, notes, whole, nil
}

// readLine returns the next line with its end, and [io.EOF] beside one that has
// none. Most is the greatest length in bytes.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		if len(line)+len(piece) > most {
			return nil, fmt.Errorf("it is longer than %d bytes", most)
		}
		line = append(line, piece...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// readSaved reads line n, the first of which says what the file is.
func readSaved(line []byte, n int, e *Entry) error {
	if n == 1 {
		var head struct {
			Handwire string `json:"handwire"`
			Version  int    `json:"version"`
		}
		if err := json.Unmarshal(line, &head); err != nil || head.Handwire != "conversation" {
			return errors.New("it is no saved conversation: the first line would say so")
		}
		if head.Version != 1 {
			return fmt.Errorf("it was saved in the form %d, and form 1 is all that is known here", head.Version)
		}
		return nil
	}
	if err := json.Unmarshal(line, e); err != nil {
		return err
	}
	if err := e.check(); err != nil {
		return err
	}
	if numberOf(e.ID) == 0 {
		return fmt.Errorf("%q is no id of an entry", e.ID)
	}
	return nil
}
