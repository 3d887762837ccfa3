package anthropic_test

import (
	"flag"
	"os"
	"testing"

	"github.com/handwire/handwire/golden"
	"github.com/handwire/handwire/wire/anthropic"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// TestGolden checks the table of scenarios and every further fixture of the
// protocol: the bytes of the requests, the events of the responses, and both
// under every split and cut.
func TestGolden(t *testing.T) {
	const dir = "../../golden/testdata/" + anthropic.Protocol
	golden.CheckTable(t, anthropic.Codec{}, os.DirFS(dir), &golden.Options{
		Update: *update, Dir: dir, Moving: []string{`,"cache_control":{"type":"ephemeral"}`},
	})
}
