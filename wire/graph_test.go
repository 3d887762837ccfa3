package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The import graph of the module, its requirements, and what makes a package
// pure: no input or output, no goroutine, no clock, no state.

const (
	module = "github.com/handwire/handwire"
	gjsonp = "github.com/tidwall/gjson"
)

// graphRow says what the non-test files of a package may import besides the
// standard library: packages of this module without the module's path, and
// others with theirs. A name that ends in a slash stands for all below it.
type graphRow struct {
	name string // of the package, without the module's path
	pure bool
	may  []string
}

var graphCodecs = []string{"wire/anthropic", "wire/openaichat", "wire/openairesponses", "wire/gemini", "wire/ollama", "wire/bedrock"}

func graphRows() []graphRow {
	rows := []graphRow{
		{"sse", true, nil},
		{"retry", false, nil}, // it speaks of times and reads no clock, but is not held to the rest
		{"wire", true, []string{"wire/internal/jsonw"}},
		{"wire/internal/jsonw", true, nil},
		{"wire/stream", true, []string{"wire", "sse", "wire/internal/jsonw"}},
		{"provider", false, []string{"wire", "wire/stream", "sse", "retry"}},
		{"provider/preset", false, append([]string{"provider", "retry", "wire"}, graphCodecs...)},
		{"agent", false, []string{"wire"}},
		{"agent/fstool", false, []string{"agent", "wire"}},
		{"golden", false, []string{"wire", "wire/stream", "sse"}},
		{"cmd/agentctl", false, []string{"sse", "retry", "wire", "wire/stream", "provider", "provider/preset", "agent", "agent/fstool", "golden", gjsonp}},
	}
	for _, c := range graphCodecs {
		rows = append(rows, graphRow{c, true, []string{"wire", "wire/internal/"}})
	}
	for _, name := range []string{"wire/internal/schema", "wire/internal/codec"} {
		rows = append(rows, graphRow{name, true, []string{"wire/internal/jsonw"}})
	}
	rows = append(rows, graphRow{"wire/internal/body", true, []string{"wire", "wire/internal/codec", "wire/internal/jsonw", "wire/internal/schema"}})
	rows = append(rows, graphRow{"wire/internal/head", true, []string{"wire"}})
	last := &rows[10]
	last.may = append(last.may, graphCodecs...)
	return rows
}

// graphRoot is the root of the module, seen from this package.
const graphRoot = ".."

type graphPackage struct {
	ImportPath, Dir string
	Standard        bool
	GoFiles         []string
	Imports, Deps   []string
}

func (p *graphPackage) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// goCommand runs the go command in the root of the module.
func goCommand(t *testing.T, env []string, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("SKIPPED, NOT PROVED: there is no go command on the PATH, so the import graph was not looked at")
	}
	c := exec.Command("go", args...)
	c.Dir = graphRoot
	c.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return out
}

func graphPackages(t *testing.T) (list []graphPackage) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(goCommand(t, nil, "list", "-json=ImportPath,Dir,Standard,GoFiles,Imports,Deps", "./...")))
	for {
		var p graphPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// isStandard reports whether an import path is one of the standard library: its
// first element has no dot.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// impure are the packages that no pure package may depend on, not even by way
// of others.
var impure = []string{"net", "net/http", "os/exec", "os/signal", "crypto/tls", "log", "flag", "testing", "math/rand", "math/rand/v2", "crypto/rand"}

// impureDirectly are those that it may not import itself. Others of the standard
// library do: fmt needs os.
var impureDirectly = append([]string{"os", "syscall", "io/fs", "plugin", "runtime", "runtime/debug", "context", "sync", "sync/atomic", "embed"}, impure...)

func TestGraph(t *testing.T) {
	rows := map[string]graphRow{}
	for _, r := range graphRows() {
		if _, twice := rows[r.name]; twice {
			t.Fatalf("%s has two rows", r.name)
		}
		rows[r.name] = r
	}
	list := graphPackages(t)
	for _, p := range list {
		t.Run(p.name(), func(t *testing.T) {
			row, ok := rows[p.name()]
			if !ok {
				t.Fatal("the package has no row in the table of what may import what")
			}
			for _, imp := range p.Imports {
				if isStandard(imp) {
					if row.pure && slices.Contains(impureDirectly, imp) {
						t.Errorf("imports %s, and is to be pure", imp)
					}
					continue
				}
				target := strings.TrimPrefix(imp, module+"/")
				if !slices.ContainsFunc(row.may, func(may string) bool {
					return may == target || strings.HasSuffix(may, "/") && strings.HasPrefix(target, may)
				}) {
					t.Errorf("imports %s; of what is not the standard library it may import %q", imp, row.may)
				}
			}
			for _, dep := range p.Deps {
				if row.pure && slices.Contains(impure, dep) {
					t.Errorf("depends on %s, and is to be pure", dep)
				}
				if dep == "testing" || dep == "github.com/google/go-cmp/cmp" {
					t.Errorf("depends on %s, which is for tests", dep)
				}
				if dep == "flag" && p.name() != "cmd/agentctl" {
					t.Errorf("depends on %s, which is for programs", dep)
				}
			}
		})
	}
	if len(list) == 0 {
		t.Error("there are no packages")
	}
}

func TestRequirements(t *testing.T) {
	var mod struct {
		Module  struct{ Path string }
		Require []struct {
			Path, Version string
			Indirect      bool
		}
		Replace, Exclude, Tool []any
		Toolchain              string
	}
	if err := json.Unmarshal(goCommand(t, nil, "mod", "edit", "-json"), &mod); err != nil {
		t.Fatal(err)
	}
	if mod.Module.Path != module {
		t.Errorf("the module is %s", mod.Module.Path)
	}
	got := map[string]string{}
	for _, r := range mod.Require {
		got[r.Path] = "direct"
		if r.Indirect {
			got[r.Path] = "indirect"
		}
	}
	want := map[string]string{
		gjsonp:                      "direct",
		"github.com/google/go-cmp":  "direct",
		"github.com/tidwall/match":  "indirect",
		"github.com/tidwall/pretty": "indirect",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the requirements differ (-want +got):\n%s", d)
	}
	if len(mod.Replace)+len(mod.Exclude)+len(mod.Tool) != 0 || mod.Toolchain != "" {
		t.Errorf("go.mod has more than requirements: %+v", mod)
	}
}

// statePermitted are package-level variables that are no state in spite of
// their form: error values that are compared and never changed. Unexported
// arrays need no entry; see [sourceFaults].
var statePermitted = []string{
	"sse.errCount",
}

// clocks are the functions of package time that read a clock or wait for one.
var clocks = []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "NewTimer", "NewTicker", "Tick"}

// TestPureSource looks at the source of the pure packages for what an import
// graph does not show.
func TestPureSource(t *testing.T) {
	rows := map[string]graphRow{}
	for _, r := range graphRows() {
		rows[r.name] = r
	}
	used := map[string]bool{}
	for _, p := range graphPackages(t) {
		if !rows[p.name()].pure {
			continue
		}
		t.Run(p.name(), func(t *testing.T) {
			fset := token.NewFileSet()
			var files []*ast.File
			// Files of every platform count, not only those of this one.
			names, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				if strings.HasSuffix(name, "_test.go") {
					continue
				}
				f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				} else if err != nil {
					t.Fatal(err)
				}
				files = append(files, f)
			}
			if len(files) < len(p.GoFiles) {
				t.Errorf("looked at %d files, the package has %d", len(files), len(p.GoFiles))
			}
			permitted := func(name string) bool {
				id := p.name() + "." + name
				used[id] = true
				return slices.Contains(statePermitted, id)
			}
			for _, f := range sourceFaults(fset, files, permitted) {
				t.Error(f)
			}
		})
	}
	for _, id := range statePermitted {
		if !used[id] {
			t.Errorf("%s is permitted and not there", id)
		}
	}
}

// sourceFaults returns what makes the files of a package impure: goroutines,
// clocks, functions init, and package-level variables. A variable called _ is a
// check of types. An unexported one is a table if it is declared as an array
// with its elements. Any other must be permitted. Nothing may assign to one or
// to a part of it; what is written through a pointer is not seen.
func sourceFaults(fset *token.FileSet, files []*ast.File, permitted func(name string) bool) (faults []string) {
	fault := func(n ast.Node, format string, args ...any) {
		pos := fset.Position(n.Pos())
		faults = append(faults, fmt.Sprintf("%s:%d: ", filepath.Base(pos.Filename), pos.Line)+fmt.Sprintf(format, args...))
	}
	vars := map[string]bool{}
	for _, f := range files {
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					fault(d, "func init")
				}
			case *ast.GenDecl:
				if d.Tok != token.VAR {
					continue
				}
				for _, s := range d.Specs {
					spec := s.(*ast.ValueSpec)
					for i, name := range spec.Names {
						if name.Name == "_" {
							continue
						}
						vars[name.Name] = true
						if !isTable(spec, i) && !permitted(name.Name) {
							fault(name, "the package-level variable %s may be state", name.Name)
						}
					}
				}
			}
		}
	}
	for _, f := range files {
		clock := ""
		for _, imp := range f.Imports {
			if p, _ := strconv.Unquote(imp.Path.Value); p == "time" {
				clock = path.Base(p)
				if imp.Name != nil {
					clock = imp.Name.Name
				}
			}
		}
		changed := func(n ast.Node, e ast.Expr) {
			if name := rootName(e); vars[name] && !declaredLocally(f, n, name) {
				fault(n, "the package-level variable %s is assigned to", name)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				fault(n, "go statement")
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
					fault(n, "%s writes to standard error", f.Name)
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && clock != "" && x.Name == clock && slices.Contains(clocks, n.Sel.Name) {
					fault(n, "%s.%s", clock, n.Sel.Name)
				}
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					for _, l := range n.Lhs {
						changed(n, l)
					}
				}
			case *ast.IncDecStmt:
				changed(n, n.X)
			case *ast.RangeStmt:
				if n.Tok == token.ASSIGN {
					changed(n, n.Key)
					changed(n, n.Value)
				}
			}
			return true
		})
	}
	return faults
}

// isTable reports whether the i-th variable of spec is unexported and an array
// written out.
func isTable(spec *ast.ValueSpec, i int) bool {
	if spec.Names[i].IsExported() || len(spec.Values) <= i {
		return false
	}
	lit, ok := spec.Values[i].(*ast.CompositeLit)
	if !ok {
		return false
	}
	typ, ok := lit.Type.(*ast.ArrayType)
	return ok && typ.Len != nil
}

// rootName returns the name that an expression such as a.b[i] begins with.
func rootName(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return ""
		}
	}
}

func enclosing(f *ast.File, n ast.Node) *ast.FuncDecl {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Pos() <= n.Pos() && n.End() <= fn.End() {
			return fn
		}
	}
	return nil
}

// declaredLocally reports whether the function around n has a variable or
// parameter called name, so that name is not the package's.
func declaredLocally(f *ast.File, n ast.Node, name string) bool {
	fn := enclosing(f, n)
	if fn == nil {
		return false
	}
	found := false
	is := func(ids ...*ast.Ident) {
		for _, id := range ids {
			found = found || id.Name == name
		}
	}
	ast.Inspect(fn, func(m ast.Node) bool {
		switch m := m.(type) {
		case *ast.Field:
			is(m.Names...)
		case *ast.ValueSpec:
			is(m.Names...)
		case *ast.AssignStmt:
			for _, l := range m.Lhs {
				if id, ok := l.(*ast.Ident); ok && m.Tok == token.DEFINE {
					is(id)
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{m.Key, m.Value} {
				if id, ok := e.(*ast.Ident); ok && m.Tok == token.DEFINE {
					is(id)
				}
			}
		}
		return !found
	})
	return found
}

// TestSourceFaults: the check of the source finds what it is to find.
func TestSourceFaults(t *testing.T) {
	tests := []struct {
		name, source string
		want         []string // in this order, each in one fault
	}{
		{"nothing", `func f(d time.Duration) time.Duration { return d * time.Second }`, nil},
		{"check of types", `var _ error = (*E)(nil)`, nil},
		{"table", `var table = [...]string{"a"}; func f(i int) string { return table[i] }`, nil},
		{"table of a length", `var table = [4]byte{1: 2}`, nil},
		{"permitted", `var errGood = errors.New("a")`, nil},
		{"address of a row that is read", `var table = [...]T{{}}; func f() int { for i := range table { if r := &table[i]; r.n > 0 { return r.n } }; return 0 }`, nil},
		{"local of the same name", `var table = [...]int{1}; func f() { table := []int{2}; table[0] = 3 }`, nil},
		{"goroutine", `func f() { go f() }`, []string{"go statement"}},
		{"clock", `func f() { _ = time.Now(); time.Sleep(1) }`, []string{"time.Now", "time.Sleep"}},
		{"clock as a value", `func f() func() time.Time { return time.Now }`, []string{"time.Now"}},
		{"timer", `func f() { time.NewTimer(1); <-time.After(1); time.AfterFunc(1, f) }`, []string{"time.NewTimer", "time.After", "time.AfterFunc"}},
		{"init", `func init() {}`, []string{"func init"}},
		{"method init", `func (T) init() {}`, nil},
		{"variable", `var n int`, []string{"variable n "}},
		{"map", `var table = map[string]int{"a": 1}`, []string{"variable table "}},
		{"slice", `var table = []string{"a"}`, []string{"variable table "}},
		{"error", `var errBad = errors.New("a")`, []string{"variable errBad "}},
		{"exported table", `var Table = [...]string{"a"}`, []string{"variable Table "}},
		{"pool", `var pool sync.Pool`, []string{"variable pool "}},
		{"several", `var a, b = 1, 2`, []string{"variable a ", "variable b "}},
		{"table that is assigned to", `var table = [...]int{1}; func f() { table[0] = 2 }`, []string{"assigned to"}},
		{"table that is counted up", `var table = [...]T{{}}; func f() { table[0].n++ }`, []string{"assigned to"}},
		{"permitted, but assigned to", `var errGood = errors.New("a"); func f() { errGood = nil }`, []string{"assigned to"}},
		{"table that a loop assigns to", `var table = [...]int{1}; func f() { for table[0] = range 3 { } }`, []string{"assigned to"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, "a.go", "package a\nimport \"time\"\n"+tt.source, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			got := sourceFaults(fset, []*ast.File{f}, func(name string) bool { return name == "errGood" })
			ok := len(got) == len(tt.want)
			for i := range tt.want {
				ok = ok && strings.Contains(got[i], tt.want[i])
			}
			if !ok {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestWebAssembly builds the pure packages where there is neither a network nor
// a file system.
func TestWebAssembly(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the standard library for another platform")
	}
	rows := map[string]graphRow{}
	for _, r := range graphRows() {
		rows[r.name] = r
	}
	args := []string{"build"}
	for _, p := range graphPackages(t) {
		if rows[p.name()].pure {
			args = append(args, p.ImportPath)
		}
	}
	if len(args) < 4 {
		t.Fatalf("pure are only %q", args[1:])
	}
	goCommand(t, []string{"GOOS=js", "GOARCH=wasm", "GOFLAGS=-mod=readonly"}, args...)
}
