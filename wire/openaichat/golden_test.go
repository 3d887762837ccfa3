package openaichat_test

import (
	"flag"
	"os"
	"testing"

	"github.com/handwire/handwire/golden"
	"github.com/handwire/handwire/wire/openaichat"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// TestGolden checks the table of scenarios and every further fixture of the
// protocol: the bytes of the requests, the events of the responses, and both
// under every split and cut.
func TestGolden(t *testing.T) {
	const dir = "../../golden/testdata/" + openaichat.Protocol
	golden.CheckTable(t, openaichat.Codec{}, os.DirFS(dir), &golden.Options{Update: *update, Dir: dir})
}

// TestGoldenProfiles checks the fixtures of the servers that depart from OpenAI,
// above all what goes back of the reasoning.
func TestGoldenProfiles(t *testing.T) {
	for _, server := range []struct {
		name    string
		profile openaichat.Profile
	}{
		{"zai", openaichat.ZAI()},
		{"deepseek", openaichat.DeepSeek()},
		{"openrouter", openaichat.OpenRouter()},
	} {
		root := "../../golden/testdata/" + openaichat.Protocol + "-" + server.name
		fsys := os.DirFS(root)
		dirs, err := golden.List(fsys)
		if err != nil {
			t.Fatal(err)
		}
		if len(dirs) == 0 {
			t.Errorf("%s: there are no fixtures", root)
		}
		for _, dir := range dirs {
			t.Run(server.name+"/"+dir, func(t *testing.T) {
				golden.Check(t, openaichat.Codec{Profile: server.profile}, fsys, dir, &golden.Options{
					Update: *update, Dir: root, Moving: []string{`,"cache_control":{"type":"ephemeral"}`},
				})
			})
		}
	}
}
