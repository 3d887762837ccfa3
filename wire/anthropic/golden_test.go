package anthropic_test

import (
	"flag"
	"os"
	"testing"

	"github.com/handwire/handwire/golden"
	"github.com/handwire/handwire/wire/anthropic"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// TestGolden checks every fixture of the protocol: the bytes of the requests,
// the events of the responses, and both under every split and cut.
func TestGolden(t *testing.T) {
	const dir = "../../golden/testdata/" + anthropic.Protocol
	fixtures := os.DirFS(dir)
	names, err := golden.List(fixtures)
	if err != nil || len(names) == 0 {
		t.Fatalf("no fixtures in %s: %v", dir, err)
	}
	opts := golden.Options{Update: *update, Dir: dir, Moving: []string{`,"cache_control":{"type":"ephemeral"}`}}
	for _, name := range names {
		t.Run(name, func(t *testing.T) { golden.Check(t, anthropic.Codec{}, fixtures, name, &opts) })
	}
}
