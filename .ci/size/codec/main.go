// Program codec decodes a recorded stream from stdin, without a network: one
// codec and the framing. Its size is what the pure part costs.
package main

import (
	"os"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
	"github.com/handwire/handwire/wire/stream"
)

func main() {
	dec := anthropic.Codec{}.NewDecoder(wire.Head{Status: 200})
	for ev, err := range stream.Read(os.Stdin, dec, wire.FramingSSE, nil) {
		if err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Stdout.WriteString(ev.Text())
	}
}
