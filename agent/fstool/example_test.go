package fstool_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/handwire/handwire/agent/fstool"
)

// The tools are given to an agent.Agent. Here they are called by hand.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("milk\nbread\ntea\n"), 0o666); err != nil {
		log.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer root.Close()

	for _, call := range []struct{ tool, args string }{
		{"ls", `{}`},
		{"read", `{"path":"notes.txt","start_line":2,"end_line":2}`},
		{"read", `{"path":"note.txt"}`},
		{"read", `{"path":"../notes.txt"}`},
	} {
		for _, tool := range fstool.All(root) {
			if tool.Name != call.tool {
				continue
			}
			parts, err := tool.Run(context.Background(), call.args)
			for _, p := range parts {
				fmt.Printf("%s: %q\n", call.tool, p.Text)
			}
			if err != nil {
				fmt.Println("error:", err)
			}
		}
	}
	// Output:
	// ls: "notes.txt\t15\n"
	// read: "bread\n"
	// error: there is no "note.txt": names near it are "notes.txt"
	// error: the path leads out of the folder that this tool may look at: give a path relative to that folder, without a leading slash, that stays in it
}
