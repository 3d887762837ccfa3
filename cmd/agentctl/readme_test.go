package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readme returns README.md.
func readme(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

// blocks returns the code blocks of a language.
func blocks(text, language string) (list []string) {
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// TestReadmeCommands: the first commands are those that the recording answers
// to and quotes.
func TestReadmeCommands(t *testing.T) {
	sh := blocks(readme(t), "sh")
	if len(sh) == 0 {
		t.Fatal("there is no sh block")
	}
	want := strings.Join(demoQuotes[:], "\n") + "\n"
	if d := cmp.Diff(want, sh[0]); d != "" {
		t.Errorf("the first commands (-quoted +README):\n%s", d)
	}
	if !strings.Contains(demoQuotes[0], `"`+demoTask+`"`) || !strings.Contains(usage, demoTask) {
		t.Errorf("the task %q is not that of %q", demoTask, demoQuotes[0])
	}
	f := demoFixture(t)
	answer := f.History.Messages[len(f.History.Messages)-1].Text()
	for _, line := range demoQuotes {
		if !strings.Contains(answer, "\n    "+line+"\n") {
			t.Errorf("the recorded answer does not quote %q", line)
		}
	}
}

// TestReadmePrograms compiles the programs of the README as a newcomer would
// who copies them.
func TestReadmePrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("runs go vet")
	}
	list := blocks(readme(t), "go")
	if len(list) != 4 {
		t.Fatalf("%d go blocks, not 4", len(list))
	}
	programs := map[string]string{
		"whole": list[0],
		"tools": `package main

import (
	"context"
	"fmt"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/wire"
)

func main() { fmt.Println(run(context.Background(), nil)) }

func run(ctx context.Context, client *provider.Client) error {
` + list[1] + `	return nil
}
`,
		"another dialect": `package main

import (
	"fmt"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/wire/openaichat"
)

func main() {
	key := "k"
` + list[3] + `	fmt.Println(client, err)
}
`,
		"another vendor": `package main

import (
	"os"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/provider/preset"
)

func main() {
	var a agent.Agent
	var err error
` + list[2] + `	if err != nil {
		panic(err)
	}
}
`,
	}
	for name, text := range programs {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("go", "vet", file)
			cmd.Dir = "../.."
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s\n%s", err, out, text)
			}
		})
	}
}

// section returns a section of the README of the second level.
func section(t *testing.T, name string) string {
	t.Helper()
	_, after, ok := strings.Cut(readme(t), "\n## "+name+"\n")
	if !ok {
		t.Fatalf("there is no section %q", name)
	}
	text, _, _ := strings.Cut(after, "\n## ")
	return text
}

// help returns what a command line writes to stdout.
func help(t *testing.T, args ...string) string {
	t.Helper()
	got := command{}.run(t, args...)
	if got.code != exitDone {
		t.Fatalf("%q: exit code %d", args, got.code)
	}
	return got.stdout
}

// flagsIn returns the flags that a text names: -x or --xyz, with nothing before
// it that makes it a part of another word. Of -p, --protocol it returns one.
func flagsIn(text string) []string {
	found := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)(?:^|[\\s`(/])(-[a-z]\\b|--[a-z][a-z-]*)").FindAllStringSubmatch(text, -1) {
		if m[1] == "--protocol" {
			m[1] = "-p"
		}
		found[m[1]] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// TestReadmeFlags: the README names the flags that the help names, and these are
// the flags that there are.
func TestReadmeFlags(t *testing.T) {
	text := section(t, "agentctl")
	run, encode, ok := strings.Cut(text, "\n`encode -p ")
	if !ok {
		t.Fatal("the README has no paragraph on encode")
	}
	encode, decode, ok := strings.Cut(encode, "\n`decode -p ")
	if !ok {
		t.Fatal("the README has no paragraph on decode")
	}
	encode = "`encode -p " + encode
	decode, _, _ = strings.Cut("`decode -p "+decode, "\nExit codes")
	for verb, told := range map[string]string{"run": run, "encode": encode, "decode": decode} {
		t.Run(verb, func(t *testing.T) {
			helped := flagsIn(help(t, verb, "-h"))
			if len(helped) < 4 {
				t.Fatalf("the help names %q", helped)
			}
			if d := cmp.Diff(helped, flagsIn(told)); d != "" {
				t.Errorf("flags (-help +README):\n%s", d)
			}
			for _, f := range helped {
				// A flag that there is either takes no value or misses one.
				got := command{}.run(t, verb, f)
				if strings.Contains(got.stderr, "not defined") {
					t.Errorf("%s: %s", f, got.stderr)
				}
			}
		})
	}
}

// TestReadmeExitCodes: the README, the package comment and the help have the
// same exit codes, and they are those of the program.
func TestReadmeExitCodes(t *testing.T) {
	codes := []string{"0", "1", "130", "2", "3", "4", "5"} // sorted as text
	find := func(text, pattern string) []string {
		var list []string
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			list = append(list, m[1])
		}
		slices.Sort(list)
		return list
	}
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	comment, _, _ := strings.Cut(string(source), "\npackage main")
	for name, got := range map[string][]string{
		"README":          find(section(t, "agentctl"), `(?m)^\| (\d+) \|`),
		"package comment": find(comment, `(?m)^//\t(\d+) `),
		"constants":       find(string(source), `(?m)^\texit[A-Z]\w+ += (\d+)$`),
		"help":            find(help(t, "help"), `(?m)^ +(\d+) +\S`),
	} {
		if d := cmp.Diff(codes, got); d != "" {
			t.Errorf("exit codes of the %s (-want +got):\n%s", name, d)
		}
	}
}

// TestReadmeSummary: the README names every member of --summary and --frames.
func TestReadmeSummary(t *testing.T) {
	text := section(t, "agentctl")
	got := decode(t, join(callBlock("0", "toolu_1", "read", `{}`))+"x\n", "--summary").stdout +
		decode(t, textAnswer("end_turn", "hi"), "--summary").stdout
	got += command{stdin: strings.NewReader(": c\nline\ndata: 1\n")}.run(t, "decode", "--frames").stdout
	for _, m := range regexp.MustCompile(`[{,]"([a-z_]+)":`).FindAllStringSubmatch(got, -1) {
		switch m[1] {
		case "code", "path", "detail", "input_tokens", "uncached_input_tokens", "output_tokens": // of notes and usage
			continue
		}
		if !strings.Contains(text, "`"+m[1]+"`") {
			t.Errorf("the README does not name %q", m[1])
		}
	}
}

// TestReadmePackages: the table of packages holds the packages of the module.
func TestReadmePackages(t *testing.T) {
	cmd := exec.Command("go", "list", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	table := section(t, "How it is built")
	for name := range strings.FieldsSeq(string(out)) {
		name = strings.TrimPrefix(name, "github.com/handwire/handwire/")
		if strings.Contains("/"+name, "/internal") || strings.Contains(name, "/testdata") {
			continue
		}
		if !strings.Contains(table, "`"+name+"`") {
			t.Errorf("the README does not name the package %s", name)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^|]+)` \\|").FindAllStringSubmatch(table, -1) {
		for name := range strings.SplitSeq(m[1], "`, `") {
			if !slices.Contains(strings.Fields(string(out)), "github.com/handwire/handwire/"+name) {
				t.Errorf("the README names a package %s", name)
			}
		}
	}
}

// TestReadmeLinks: files that the README names are there.
func TestReadmeLinks(t *testing.T) {
	text := readme(t)
	names := []string{"wire/codec.go", "provider/preset/table.go", "wire/graph_test.go", "golden/testdata"}
	for _, m := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[1], "://") {
			names = append(names, m[1])
		}
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join("../..", filepath.FromSlash(name))); err != nil || !strings.Contains(text, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDemoBytes: the recording is kept to the byte in every checkout.
func TestDemoBytes(t *testing.T) {
	b, err := os.ReadFile("../../.gitattributes")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^/?cmd/agentctl/demo/\*\* -text$`).Match(b) {
		t.Error(".gitattributes does not keep the line ends of cmd/agentctl/demo")
	}
}
