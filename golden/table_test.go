package golden_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/handwire/handwire/golden"
)

func TestScenarios(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range golden.Scenarios() {
		if s.Name == "" || s.What == "" || seen[s.Name] {
			t.Errorf("a scenario without a name, without a sentence or there twice: %+v", s)
		}
		seen[s.Name] = true
	}
	if len(seen) != 22 {
		t.Errorf("%d scenarios", len(seen))
	}
	golden.Scenarios()[0].Name = "changed"
	if golden.Scenarios()[0].Name != "text" {
		t.Error("the table can be changed from outside")
	}
}

// toyRows are the scenarios that fixtures of the toy show.
var toyRows = map[string]string{"one-call": "toy/tool", "cut": "toy/cut", "vendor-error": "toy/error"}

// into copies a fixture into a folder of m, in the place of what is there.
func into(t *testing.T, m fstest.MapFS, row, dir string) {
	t.Helper()
	remove(m, row)
	for name, f := range mapFS(t, dir) {
		m[row+strings.TrimPrefix(name, dir)] = f
	}
}

func remove(m fstest.MapFS, row string) {
	for name := range m {
		if strings.HasPrefix(name, row+"/") {
			delete(m, name)
		}
	}
}

// toyTable returns a table of the toy that has nothing wrong with it, and a
// folder beyond it.
func toyTable(t *testing.T) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{"README": {}}
	for _, s := range golden.Scenarios() {
		m[s.Name+"/n-a"] = &fstest.MapFile{Data: []byte("The toy has nothing of the kind.\n")}
	}
	for row, dir := range toyRows {
		into(t, m, row, dir)
	}
	into(t, m, "more", "toy/whole")
	return m
}

func checkTable(m fstest.MapFS) []string {
	o := options()
	o.Update, o.Exhaustive = false, 64
	return failures(func(t golden.TB) { golden.CheckTable(t, toy{}, m, o) })
}

func TestCheckTable(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	tests := []struct {
		name string
		edit func(t *testing.T, m fstest.MapFS)
		want []string // in the failures, each in one of its own
	}{
		{"as it is", func(*testing.T, fstest.MapFS) {}, nil},
		{"a row is missing", func(_ *testing.T, m fstest.MapFS) { remove(m, "refusal") },
			[]string{"golden: refusal is missing: the model or the vendor declines; add the folder with a history.json and the responses and run the test with -update, or, if toy cannot have it, with one file n-a that says why"}},
		{"another scenario", func(t *testing.T, m fstest.MapFS) { into(t, m, "parallel-calls", "toy/tool") },
			[]string{`golden: parallel-calls is not what it should be, "several tool calls in one message, each with its result": no turn has two calls or more`,
				"parallel-calls has the responses of one-call"}},
		{"one fixture in two rows", func(t *testing.T, m fstest.MapFS) { into(t, m, "unknown-event", "toy/tool") },
			[]string{"golden: unknown-event has the responses of one-call; give it its own"}},
		{"no reason", func(_ *testing.T, m fstest.MapFS) { m["pause/n-a"] = file(" \n") },
			[]string{"golden: pause/n-a is empty; write into it why the protocol cannot have this"}},
		{"reason and fixture", func(_ *testing.T, m fstest.MapFS) { m["cut/n-a"] = file("No.\n") },
			[]string{"golden: cut/n-a stands beside other files"}},
		{"reason beyond the table", func(_ *testing.T, m fstest.MapFS) { m["other/n-a"] = file("No.\n") },
			[]string{"golden: other/n-a: a fixture has no such file"}},
		{"nothing in a row", func(t *testing.T, m fstest.MapFS) {
			remove(m, "image")
			m["image/1.request.json"] = file("{}")
		}, []string{"golden: image/history.json: is missing"}},
		{"the fixture of a row is wrong", func(t *testing.T, m fstest.MapFS) {
			replace(t, m, "one-call/history.json", `"finish": "stop"`, `"finish": "length"`)
		}, []string{"one-call, turn 2: the response builds another message than messages[3]"}},
		{"a fixture beyond the table is wrong", func(t *testing.T, m fstest.MapFS) {
			replace(t, m, "more/1.request.json", "toy-1", "toy-2")
		}, []string{"more, turn 1: 1.request.json differs at byte"}},
		{"one that cannot be read and others", func(t *testing.T, m fstest.MapFS) {
			delete(m, "one-call/history.json")
			delete(m, "more/history.json")
			remove(m, "cut")
		}, []string{"cut is missing", "one-call/history.json: is missing", "more/history.json: is missing"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := toyTable(t)
			tt.edit(t, m)
			got := checkTable(m)
			wants(t, got, tt.want...)
			if len(got) != len(tt.want) {
				t.Errorf("%d failures, want %d:\n%s", len(got), len(tt.want), strings.Join(got, "\n"))
			}
		})
	}
	got := failures(func(t golden.TB) { golden.CheckTable(t, toy{}, os.DirFS("testdata/none"), nil) })
	wants(t, got, "golden: the fixtures cannot be read")
}

// No row takes a fixture for what it does not show.
func TestRowsAreParticular(t *testing.T) {
	for dir, shows := range map[string][]string{
		"toy/tool":    {"one-call", "unknown-event"},
		"toy/crlf":    nil, // its text comes in one piece
		"toy/cut":     {"cut"},
		"toy/error":   {"vendor-error"},
		"toy/refused": {"vendor-error"},
	} {
		m := toyTable(t)
		for _, s := range golden.Scenarios() {
			into(t, m, s.Name, dir)
		}
		got := strings.Join(checkTable(m), "\n")
		for _, s := range golden.Scenarios() {
			refused := strings.Contains(got, "golden: "+s.Name+" is not what it should be")
			if refused == slices.Contains(shows, s.Name) {
				t.Errorf("%s in the row %s: refused %v", dir, s.Name, refused)
			}
		}
	}
}
