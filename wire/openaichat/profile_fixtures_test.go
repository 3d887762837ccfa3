package openaichat_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/handwire/handwire/golden"
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/openaichat"
	"github.com/handwire/handwire/wire/stream"
)

// covered are the switches that another one of the same profile may cover, so
// that turning them back changes nothing there. Their fixtures may show them
// alone: what the profile that turns this one switch does otherwise than OpenAI.
var covered = map[string]string{
	"System":   "by default the role depends on the model, and only OpenAI's rules of models know a developer; another style of thinking does not apply them",
	"AnyModel": "another style of thinking does not apply OpenAI's rules of models anyway",
}

// switchFolder begins the names of the fixtures for one switch each.
const switchFolder = "switch-"

// TestProfileFixtures: for each switch that a profile turns there is a fixture
// that holds under the profile and does not hold without the switch, in the
// folder switch-<name of the field>. Further ones have a dash and more behind
// that name. To add one, write its history.json by hand (and an empty
// N.refusal.txt where the request is to be refused) and run the test with
// -update.
func TestProfileFixtures(t *testing.T) {
	fields := reflect.VisibleFields(reflect.TypeFor[openaichat.Profile]())
	for _, v := range vendorProfiles() {
		entries, err := os.ReadDir(v.root())
		if err != nil {
			t.Errorf("%s turns switches and has no fixtures: %v", v.name, err)
		}
		shown := map[string]bool{} // by field
		for _, entry := range entries {
			dir := entry.Name()
			name, ok := strings.CutPrefix(dir, switchFolder)
			if !ok {
				continue
			}
			name, _, _ = strings.Cut(name, "-")
			i := slices.IndexFunc(fields, func(f reflect.StructField) bool { return snake(f.Name) == name })
			if i < 0 || reflect.ValueOf(v.profile).Field(i).IsZero() {
				t.Errorf("%s/%s: the profile turns no such switch; correct the name or remove the folder", v.root(), dir)
				continue
			}
			shown[fields[i].Name] = true
			t.Run(v.name+"/"+dir, func(t *testing.T) {
				v.check(t, dir)
				f, err := golden.Load(os.DirFS(v.root()), dir)
				if err != nil {
					t.Fatal(err)
				}
				if problem := showsSwitch(v.profile, i, f); problem != "" {
					t.Errorf("it does not show %s: %s", fields[i].Name, problem)
				}
			})
		}
		for i, f := range fields {
			if !reflect.ValueOf(v.profile).Field(i).IsZero() && !shown[f.Name] {
				t.Errorf("%s/%s%s is missing: the profile turns %s; write a history.json that shows it and run the test with -update",
					v.root(), switchFolder, snake(f.Name), f.Name)
			}
		}
	}
}

// showsSwitch says why a fixture does not show field i of the profile, "" if it
// does.
func showsSwitch(p openaichat.Profile, i int, f *golden.Fixture) string {
	if !slices.Equal(results(p, f), recorded(f)) {
		return "it does not hold under the profile"
	}
	if !slices.Equal(results(turnedBack(p, i), f), recorded(f)) {
		return ""
	}
	var alone openaichat.Profile
	reflect.ValueOf(&alone).Elem().Field(i).Set(reflect.ValueOf(p).Field(i))
	if covered[reflect.TypeOf(p).Field(i).Name] != "" && !slices.Equal(results(alone, f), results(openaichat.Profile{}, f)) {
		return ""
	}
	return "it holds without the switch as well"
}

// turnedBack returns the profile with field i as OpenAI has it.
func turnedBack(p openaichat.Profile, i int) openaichat.Profile {
	reflect.ValueOf(&p).Elem().Field(i).SetZero()
	return p
}

// recorded is what a fixture holds, for each turn the body or the refusal, and
// the events.
func recorded(f *golden.Fixture) []string {
	var all []string
	for i := range f.Turns {
		turn := &f.Turns[i]
		all = append(all, string(turn.RequestBody)+string(turn.Refusal), turn.Events)
	}
	return all
}

// results is the same as a codec with this profile has it.
func results(p openaichat.Profile, f *golden.Fixture) []string {
	codec := openaichat.Codec{Profile: p}
	var all []string
	for i := range f.Turns {
		turn := &f.Turns[i]
		var said []byte
		if turn.RequestBody != nil || turn.Refusal != nil {
			var call wire.Call
			var found wire.Findings
			if err := codec.Encode(&call, &turn.Request); errors.As(err, &found) {
				said = golden.AppendFindings(nil, found)
			} else {
				said = call.Body
			}
		}
		var events []wire.Event
		if turn.Response != nil {
			dec := codec.NewDecoder(wire.Head{Status: turn.Status, Framing: turn.Framing, Get: func(name string) string {
				for _, h := range turn.Header {
					if strings.EqualFold(h.Name, name) {
						return h.Value
					}
				}
				return ""
			}})
			for ev := range stream.Read(bytes.NewReader(turn.Response), dec, turn.Framing, nil) {
				events = append(events, ev)
			}
		}
		all = append(all, string(said), string(golden.AppendEvents(nil, events)))
	}
	return all
}

// snake is the name of a field as folders have it: NoJSONSchema is
// no_json_schema, and the plural IDs is ids.
func snake(field string) string {
	rs := []rune(field)
	var b []rune
	for i, r := range rs {
		if i > 0 && unicode.IsUpper(r) && (unicode.IsLower(rs[i-1]) || i+2 < len(rs) && unicode.IsLower(rs[i+1])) {
			b = append(b, '_')
		}
		b = append(b, unicode.ToLower(r))
	}
	return string(b)
}

// TestShowsSwitch: what a fixture shows is told from what it does not, of
// requests, refusals and responses alike.
func TestShowsSwitch(t *testing.T) {
	const user = `"messages":[{"role":"user","parts":[{"kind":"text","text":"Hi"}]}]`
	const schema = `{"model":"m","output":{"kind":"json_schema","name":"n","schema":"{}"},` + user + `}`
	const said = `{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"<think>a</think>b"},"finish_reason":"stop"}]}`
	const silent = "it holds without the switch as well"
	tags := openaichat.Profile{ThinkTags: true, NoSeed: true}
	for _, tc := range []struct {
		name    string
		profile openaichat.Profile
		field   string
		files   map[string]string
		want    string
	}{
		{"body", tags, "NoSeed", map[string]string{"history.json": `{"model":"m","seed":1,` + user + `}`}, ""},
		{"the same body", tags, "NoSeed", map[string]string{"history.json": `{"model":"m",` + user + `}`}, silent},
		{"events", tags, "ThinkTags", map[string]string{"history.json": `{"model":"m",` + user + `}`, "1.response.json": said}, ""},
		{"the same events", tags, "ThinkTags", map[string]string{"history.json": `{"model":"m",` + user + `}`, "1.response.json": strings.ReplaceAll(said, "think>", "b>")}, silent},
		{"refusal", openaichat.Profile{NoJSONSchema: true}, "NoJSONSchema", map[string]string{"history.json": schema, "1.refusal.txt": ""}, ""},
		{"refused either way", openaichat.Profile{NoJSONSchema: true, NoCustom: true}, "NoCustom", map[string]string{"history.json": schema, "1.refusal.txt": ""}, silent},
		{"covered", openaichat.Profile{AnyModel: true, Thinking: openaichat.ThinkingNone}, "AnyModel", map[string]string{"history.json": `{"model":"o3","temperature":1,` + user + `}`}, ""},
		{"covered and the same", openaichat.Profile{AnyModel: true, Thinking: openaichat.ThinkingNone}, "AnyModel", map[string]string{"history.json": `{"model":"m","temperature":1,` + user + `}`}, silent},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			o := &golden.Options{Update: true, Dir: root}
			for name, data := range tc.files {
				golden.File(t, o, filepath.Join("f", name), []byte(data))
			}
			golden.Check(t, openaichat.Codec{Profile: tc.profile}, os.DirFS(root), "f", o)
			f, err := golden.Load(os.DirFS(root), "f")
			if err != nil {
				t.Fatal(err)
			}
			field, ok := reflect.TypeFor[openaichat.Profile]().FieldByName(tc.field)
			if !ok {
				t.Fatalf("there is no field %s", tc.field)
			}
			if got := showsSwitch(tc.profile, field.Index[0], f); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
			if got := showsSwitch(openaichat.Profile{MaxTokens: openaichat.MaxTokens, NoStreamOptions: true}, field.Index[0], f); got != "it does not hold under the profile" {
				t.Errorf("under another profile: %q", got)
			}
		})
	}
}

func TestSnake(t *testing.T) {
	for field, want := range map[string]string{
		"MaxTokens": "max_tokens", "IDs": "ids", "NoJSONSchema": "no_json_schema", "NoImageURLs": "no_image_urls", "TopK": "top_k", "AnyModel": "any_model",
	} {
		if got := snake(field); got != want {
			t.Errorf("%s is %s, want %s", field, got, want)
		}
	}
}

// TestVendorProfiles: no profile of the package and no folder of fixtures is
// without a row, and no row is there twice.
func TestVendorProfiles(t *testing.T) {
	rows := map[string]bool{}
	for _, v := range vendorProfiles() {
		if rows[v.name] {
			t.Errorf("there are two rows %s", v.name)
		}
		rows[v.name] = true
	}
	folders, err := filepath.Glob(goldenRoot + "-*")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if !rows[strings.TrimPrefix(folder, goldenRoot+"-")] {
			t.Errorf("%s belongs to no row of vendorProfiles", folder)
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "profiles.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !f.Name.IsExported() || f.Type.Results == nil || len(f.Type.Results.List) != 1 {
			continue
		}
		if result, ok := f.Type.Results.List[0].Type.(*ast.Ident); !ok || result.Name != "Profile" {
			continue
		}
		found++
		if name := strings.ToLower(f.Name.Name); name != "openai" && !rows[name] {
			t.Errorf("%s has no row %s in vendorProfiles", f.Name.Name, name)
		}
	}
	if want := len(rows) + 1; found < want {
		t.Errorf("profiles.go has %d profiles, want %d, OpenAI's among them", found, want)
	}
}
