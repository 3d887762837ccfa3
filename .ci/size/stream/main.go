// Program stream is the smallest useful client: one codec, one question, the
// answer on stdout. Its size is what the library costs.
package main

import (
	"context"
	"os"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
)

func main() {
	c, err := provider.New(provider.Config{
		Codec: anthropic.Codec{}, Model: "claude-sonnet-5-5", BaseURL: os.Getenv("BASE_URL"),
		APIKey: os.Getenv("API_KEY"), Auth: provider.Auth{Header: "x-api-key"},
	})
	if err != nil {
		fatal(err)
	}
	for ev, err := range c.Stream(context.Background(), &wire.Request{Messages: []wire.Message{wire.UserText("Say hello.")}}) {
		if err != nil {
			fatal(err)
		}
		os.Stdout.WriteString(ev.Text())
	}
}

func fatal(err error) {
	os.Stderr.WriteString(err.Error() + "\n")
	os.Exit(1)
}
