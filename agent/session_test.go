package agent_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/wire"
)

// fill makes a conversation of all that entries can hold.
func fill(t *testing.T, c *agent.Conversation) {
	t.Helper()
	c.AddUser(text("<a> & \u2028 \"b\"\n"), wire.ImagePart([]byte("\x89PNG\r\n\x1a\nrest")))
	id, err := c.Add(agent.Entry{Role: agent.RoleAssistant, Status: agent.StatusStreaming, Meta: map[string]string{"k": "v"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range says(wire.FinishToolCall, wire.Part{Kind: wire.PartReasoning, Text: "hm", Vendor: `{"signature":"S/+="}`}, text("I look."), call("1", "get", `{"n": 9007199254740993}`), call("2", "get", `{}`)) {
		if err := c.Append(id, ev); err != nil {
			t.Fatal(err)
		}
	}
	c.Add(agent.Entry{Role: agent.RoleTool, Parts: []wire.Part{result("1", "one")}, Display: "shown"})
	c.Add(toolResult("2", "two"))
	c.AddNotice("saved")
	c.Add(agent.Entry{Role: agent.RoleAssistant, Status: agent.StatusError, Parts: []wire.Part{text("half")},
		Ending: &wire.Ending{Cause: wire.CauseReset, Err: &wire.Error{Cause: wire.CauseReset, Message: "m", Err: errors.New("inside")}}})
	c.AddUser(text("go on"))
	c.SetMeta(id, "k", "w")
}

// same compares conversations; the Go error behind an ending is not saved.
func same(t *testing.T, got, want *agent.Conversation) {
	t.Helper()
	a, b := entries(got.Snapshot()), entries(want.Snapshot())
	for _, list := range [][]agent.Entry{a, b} {
		for i := range list {
			list[i].Time = list[i].Time.Round(0).UTC()
			if end := list[i].Ending; end != nil && end.Err != nil {
				e := *end
				inner := *end.Err
				inner.Err = nil
				e.Err = &inner
				list[i].Ending = &e
			}
		}
	}
	if d := cmp.Diff(b, a, countsAlike); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestSaveLoad(t *testing.T) {
	var c agent.Conversation
	fill(t, &c)
	var b bytes.Buffer
	if err := c.Save(&b); err != nil {
		t.Fatal(err)
	}
	saved := b.String()
	if !strings.Contains(saved, `"<a> & `) || strings.Count(saved, "\n") != c.Snapshot().Len()+1 {
		t.Errorf("saved as\n%s", saved)
	}
	loaded, notes, err := agent.Load(strings.NewReader(saved))
	if err != nil || len(notes) > 0 {
		t.Fatalf("%v, notes %v", err, notes)
	}
	same(t, loaded, &c)
	one, _ := c.Snapshot().Messages()
	two, _ := loaded.Snapshot().Messages()
	if d := cmp.Diff(one, two, countsAlike); d != "" {
		t.Errorf("the messages are others (-saved +loaded):\n%s", d)
	}
	if id := loaded.AddUser(text("more")); id != c.AddUser(text("more")) {
		t.Errorf("the next id is %q", id)
	}
	b.Reset()
	if loaded.Save(&b); !strings.HasPrefix(b.String(), saved) {
		t.Error("saved again it is not the same")
	}
}

// TestLoadAnywhere: a file that ends at any byte, as a crash leaves it, loads with
// at most its last line lost, and can be sent.
func TestLoadAnywhere(t *testing.T) {
	var c agent.Conversation
	fill(t, &c)
	var b bytes.Buffer
	if err := c.Save(&b); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "session")
	for n := range b.Len() + 1 {
		part := b.Bytes()[:n]
		whole := bytes.Count(part, []byte("\n")) - 1
		if n > 0 && n < b.Len() && b.Bytes()[n] == '\n' {
			whole++ // the line is whole without its end
		}
		loaded, notes, err := agent.Load(bytes.NewReader(part))
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		made := 0 // results that stand in
		for _, e := range entries(loaded.Snapshot()) {
			if e.Role == agent.RoleTool && e.Parts[0].IsError {
				made++
			}
		}
		if got := loaded.Snapshot().Len() - made; got != max(whole, 0) {
			t.Fatalf("%d bytes: %d entries, want %d", n, got, whole)
		}
		torn := n > 0 && part[n-1] != '\n' && !(n < b.Len() && b.Bytes()[n] == '\n')
		if (len(notes) == 1) != torn || torn && notes[0].Code != wire.NoteRepaired {
			t.Fatalf("%d bytes: notes %v", n, notes)
		}
		sendable(t, loaded)

		// The same in a file, which then goes on.
		if err := os.WriteFile(name, part, 0o600); err != nil {
			t.Fatal(err)
		}
		s, _, err := agent.OpenSession(name)
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		s.AddUser(text("after the crash"))
		before := entries(s.Snapshot())
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		again, notes, err := agent.OpenSession(name)
		if err != nil || len(notes) > 0 {
			t.Fatalf("%d bytes: opened again: %v, %v", n, err, notes)
		}
		if after := entries(again.Snapshot()); len(after) != len(before) || after[len(after)-1].Text() != "after the crash" {
			t.Fatalf("%d bytes: %d entries after %d", n, len(after), len(before))
		}
		again.Close()
	}
}

func TestLoadRefused(t *testing.T) {
	const head = `{"handwire":"conversation","version":1}` + "\n"
	for _, tt := range []struct{ name, file, say string }{
		{"another file", "# notes\nline\n", "line 1"},
		{"another file of one line", "my only note", "no saved conversation"},
		{"other JSON", "{\"a\":1}\n", "line 1"},
		{"a later form", `{"handwire":"conversation","version":2}` + "\n", "form 2"},
		{"a broken line in the middle", head + "{\"id\n" + `{"id":"e2","role":"user","status":"complete"}` + "\n", "line 2"},
		{"no role", head + `{"id":"e1","role":"robot","status":"complete"}` + "\n", "robot"},
		{"no status", head + `{"id":"e1","role":"user","status":"odd"}` + "\n", "odd"},
		{"a user's that streams", head + `{"id":"e1","role":"user","status":"streaming"}` + "\n", "streaming"},
		{"no id", head + `{"id":"x","role":"user","status":"complete"}` + "\n", `"x"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := agent.Load(strings.NewReader(tt.file)); err == nil || !strings.Contains(err.Error(), tt.say) {
				t.Errorf("got %v", err)
			}
			name := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(name, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := agent.OpenSession(name); err == nil || !strings.Contains(err.Error(), tt.say) || !strings.Contains(err.Error(), name) {
				t.Errorf("got %v", err)
			}
			if b, _ := os.ReadFile(name); string(b) != tt.file {
				t.Errorf("the file was changed to %q", b)
			}
		})
	}
	t.Run("what streamed when it was saved", func(t *testing.T) {
		c, _, err := agent.Load(strings.NewReader(head + `{"id":"e1","role":"user","status":"complete","parts":[{"kind":"text","text":"q"}]}` + "\n" +
			`{"id":"e3","role":"assistant","status":"streaming","parts":[{"kind":"text","text":"half","partial":true}]}` + "\n" + `{"id":"e2","role":"notice","status":"complete"}` + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		s := c.Snapshot()
		if e := s.Entry(2); e.Status != agent.StatusCancelled || e.Ending.Cause != wire.CauseCancelled || s.Entry(1).ID != "e2" {
			t.Errorf("got %+v", entries(s))
		}
		if id := c.AddUser(text("x")); id != "e4" {
			t.Errorf("the next id is %q", id)
		}
	})
}

// TestSessionFails: what is no file, or no file that can be opened, is refused.
func TestSessionFails(t *testing.T) {
	for _, name := range []string{t.TempDir(), filepath.Join(t.TempDir(), "no", "folder"), os.DevNull} {
		if _, _, err := agent.OpenSession(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	name := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(name, bytes.Repeat([]byte{0}, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := agent.OpenSession(name); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a file without lines: %v", err)
	}
}

// TestSessionSavesAsItGoes: another reader sees each entry once it is over.
func TestSessionSavesAsItGoes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s")
	c, _, err := agent.OpenSession(name)
	if err != nil {
		t.Fatal(err)
	}
	count := func() int {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(b, []byte("\n")) - 1
	}
	c.AddUser(text("q"))
	id, _ := c.Add(agent.Entry{Role: agent.RoleAssistant, Status: agent.StatusStreaming})
	if n := count(); n != 1 {
		t.Errorf("%d entries are saved", n)
	}
	for _, ev := range says(wire.FinishToolCall, call("1", "get", "{}")) {
		c.Append(id, ev)
	}
	if n := count(); n != 2 {
		t.Errorf("%d entries are saved", n)
	}
	// The process is killed here: the call has no result yet.
	f, _, err := agent.OpenSession(name)
	if err != nil {
		t.Fatal(err)
	}
	if s := f.Snapshot(); s.Len() != 3 || s.Entry(2).Role != agent.RoleTool || !s.Entry(2).Parts[0].IsError {
		t.Errorf("got %+v", entries(s))
	}
	f.Close()
	if st, err := os.Stat(name); err != nil || st.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v, %v", st.Mode(), err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(c.AddUser(text("after"))); got == "" {
		t.Error("it cannot go on unsaved")
	}
}

// TestSessionTold: a run tells that the conversation can no longer be saved, once.
func TestSessionTold(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s")
	c, _, err := agent.OpenSession(name)
	if err != nil {
		t.Fatal(err)
	}
	agent.CloseFile(c) // as if the disk were gone
	s := &script{turns: [][]wire.Event{says(wire.FinishToolCall, call("1", "get", "{}")), says(wire.FinishStop, text("ok"))}}
	told := 0
	for ev, err := range (&agent.Agent{Model: s, Tools: []agent.Tool{echo("get")}}).Run(t.Context(), c, text("q")) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind == agent.EventNote && ev.Note.Path == "session" {
			told++
		}
	}
	if told != 1 || c.Err() == nil || c.Snapshot().Len() != 4 {
		t.Errorf("told %d times, %v, %d entries", told, c.Err(), c.Snapshot().Len())
	}
	if err := c.Close(); err == nil {
		t.Error("closed without an error")
	}
}

// TestSessionShared: of two that have one file open the second to write stops saving
// and says so; nothing that was saved is lost.
func TestSessionShared(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s")
	a, _, err := agent.OpenSession(name)
	if err != nil {
		t.Fatal(err)
	}
	a.AddUser(text("one"))
	b, _, err := agent.OpenSession(name)
	if err != nil {
		t.Fatal(err)
	}
	a.AddUser(text("two, which is longer"))
	b.AddUser(text("three"))
	a.AddUser(text("four"))
	if a.Err() != nil || b.Err() == nil || b.Snapshot().Len() != 2 {
		t.Errorf("the first %v, the second %v", a.Err(), b.Err())
	}
	b.Close()
	a.Close()
	c, notes, err := agent.OpenSession(name)
	if err != nil || len(notes) > 0 {
		t.Fatal(err, notes)
	}
	defer c.Close()
	if got := brief(func() []wire.Message { m, _ := c.Snapshot().Messages(); return m }()); got != "user(one|two, which is longer|four)" {
		t.Errorf("saved is %s", got)
	}
}

func FuzzLoad(f *testing.F) {
	var c agent.Conversation
	c.AddUser(text("q"))
	c.AddNotice("n")
	var b bytes.Buffer
	c.Save(&b)
	f.Add(b.Bytes())
	f.Add([]byte(`{"handwire":"conversation","version":1}` + "\n" + `{"id":"e1","role":"assistant","status":"complete","parts":[{"kind":"tool_call","id":"1","args":"{}"}],"ending":{"cause":"finished","finish":"tool_call"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, _, err := agent.Load(bytes.NewReader(data))
		if err != nil {
			return
		}
		messages, _ := c.Snapshot().Messages()
		for i, m := range messages {
			if m.Role == wire.RoleTool && (i == 0 || messages[i-1].Role != wire.RoleAssistant) {
				t.Errorf("results do not follow calls")
			}
		}
		var b bytes.Buffer
		if err := c.Save(&b); err != nil {
			t.Fatal(err)
		}
		again, notes, err := agent.Load(&b)
		if err != nil || len(notes) > 0 || again.Snapshot().Len() != c.Snapshot().Len() {
			t.Errorf("saved and loaded: %v, %v", err, notes)
		}
	})
}
