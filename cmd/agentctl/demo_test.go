package main

import (
	"flag"
	"os"
	"testing"

	"github.com/handwire/handwire/golden"
	"github.com/handwire/handwire/wire/anthropic"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// TestDemoFixture holds the embedded recording to what every fixture is held to.
func TestDemoFixture(t *testing.T) {
	golden.Check(t, anthropic.Codec{}, os.DirFS("demo"), "readme", &golden.Options{Update: *update, Dir: "demo"})
}
