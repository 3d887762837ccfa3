package openaichat_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/handwire/handwire/golden"
	"github.com/handwire/handwire/wire/openaichat"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// goldenRoot is where the fixtures are; those of a profile are behind a dash and
// its name.
const goldenRoot = "../../golden/testdata/" + openaichat.Protocol

// TestGolden checks the table of scenarios and every further fixture of the
// protocol: the bytes of the requests, the events of the responses, and both
// under every split and cut.
func TestGolden(t *testing.T) {
	golden.CheckTable(t, openaichat.Codec{}, os.DirFS(goldenRoot), &golden.Options{Update: *update, Dir: goldenRoot})
}

// vendorProfile is a profile of the package, and the end of the name of the
// folder with its fixtures.
type vendorProfile struct {
	name    string
	profile openaichat.Profile
}

// root is the folder with the fixtures.
func (v *vendorProfile) root() string { return goldenRoot + "-" + v.name }

// vendorProfiles are all the profiles that depart from OpenAI. A further one
// needs its row here and a fixture for each switch that it turns; the tests say
// which are missing.
func vendorProfiles() []vendorProfile {
	return []vendorProfile{
		{"zai", openaichat.ZAI()},
		{"deepseek", openaichat.DeepSeek()},
		{"openrouter", openaichat.OpenRouter()},
		{"moonshot", openaichat.Moonshot()},
		{"qwen", openaichat.Qwen()},
		{"minimax", openaichat.MiniMax()},
		{"mistral", openaichat.Mistral()},
		{"groq", openaichat.Groq()},
		{"xai", openaichat.XAI()},
		{"together", openaichat.Together()},
		{"fireworks", openaichat.Fireworks()},
		{"cerebras", openaichat.Cerebras()},
		{"azureopenai", openaichat.AzureOpenAI()},
		{"githubmodels", openaichat.GitHubModels()},
		{"gemini", openaichat.Gemini()},
		{"vllm", openaichat.VLLM()},
		{"sglang", openaichat.SGLang()},
		{"llamacpp", openaichat.LlamaCPP()},
		{"lmstudio", openaichat.LMStudio()},
		{"ollama", openaichat.Ollama()},
	}
}

// check checks one of the fixtures under the profile.
func (v *vendorProfile) check(t *testing.T, dir string) {
	golden.Check(t, openaichat.Codec{Profile: v.profile}, os.DirFS(v.root()), dir, &golden.Options{
		Update: *update, Dir: v.root(), Moving: []string{`,"cache_control":{"type":"ephemeral"}`},
	})
}

// TestGoldenProfiles checks whole conversations with the servers that depart from
// OpenAI. TestProfileFixtures has those for one switch each.
func TestGoldenProfiles(t *testing.T) {
	for _, v := range vendorProfiles() {
		dirs, err := golden.List(os.DirFS(v.root()))
		if err != nil {
			t.Errorf("%s: %v", v.name, err)
		}
		for _, dir := range dirs {
			if !strings.HasPrefix(dir, switchFolder) {
				t.Run(v.name+"/"+dir, func(t *testing.T) { v.check(t, dir) })
			}
		}
	}
}
