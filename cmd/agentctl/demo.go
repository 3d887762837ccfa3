package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/golden"
	"github.com/handwire/handwire/provider/preset"
)

// The recording that "run" plays without a key: the requests and responses of
// one task, served over real HTTP on loopback. The server looks at what it is
// asked, and it gives the answer only if the tool really read the lines that the
// answer quotes.
const (
	demoTask  = "Read README.md and tell me how to start the project"
	demoModel = "claude-sonnet-5-5"
)

//go:embed demo
var demoFiles embed.FS

// demoQuotes are the lines of README.md that the recorded answer quotes.
var demoQuotes = [...]string{
	`go run ./cmd/agentctl run "` + demoTask + `"`,
	`go test ./...`,
}

// demo starts the server of the recording and returns a client of it.
func (p *program) demo() (agent.Model, func(), error) {
	files, err := fs.Sub(demoFiles, "demo")
	if err != nil {
		return nil, nil, err
	}
	f, err := golden.Load(files, "readme")
	if err != nil {
		return nil, nil, err
	}
	srv, err := golden.Serve(f, &golden.ServeOptions{
		Match:  demoMatch,
		Faults: golden.Faults{Piece: 96, Delay: 3 * time.Millisecond},
	})
	if err != nil {
		return nil, nil, err
	}
	client, err := preset.New(preset.Config{Protocol: "anthropic", Model: demoModel, BaseURL: srv.URL}, nil)
	if err != nil {
		srv.Close()
		return nil, nil, err
	}
	fmt.Fprintf(p.stderr, "no key: playing a recording of %s over HTTP at %s; the tools are real\n", demoModel, srv.URL)
	return client, func() {
		client.CloseIdleConnections()
		srv.Close()
	}, nil
}

// demoMatch says whether a request is the one that the recording answers.
func demoMatch(turn int, body []byte) error {
	root := gjson.ParseBytes(body)
	messages := root.Get("messages").Array()
	if len(messages) == 0 || strings.TrimSpace(messages[0].Get("content.0.text").Str) != demoTask {
		return errors.New("the recording answers one task only: " + demoTask)
	}
	if turn == 1 {
		return nil
	}
	if len(messages) != 3 {
		return fmt.Errorf("the recording goes on after one call of a tool, not after %d messages", len(messages))
	}
	result := messages[2].Get("content.0")
	if result.Get("type").Str != "tool_result" || result.Get("tool_use_id").Str != messages[1].Get("content.1.id").Str {
		return errors.New("the second request does not hold the result of the recorded call")
	}
	text := result.Get("content.0.text").Str
	for _, line := range demoQuotes {
		if !strings.Contains(text, line) {
			return errors.New("the recorded answer quotes a line that the tool did not read: is this the folder of the project? The line is: " + line)
		}
	}
	return nil
}
