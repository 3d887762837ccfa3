package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/provider/preset"
	"github.com/handwire/handwire/wire"
)

const encodeUsage = `usage: agentctl encode [flags] [file|-]

Prints the exact request body that a history becomes. The history is a
wire.Request as JSON, from a file or stdin, such as the history.json of a
fixture. What had to be changed or left out is told on stderr. A history that
the protocol cannot express is refused with all reasons (exit code 2).

`

func (p *program) encode(ctx context.Context) error {
	fs := flag.NewFlagSet("encode", flag.ContinueOnError)
	var v vendorFlags
	v.add(fs)
	fs.StringVar(&v.model, "model", "", "")
	fs.StringVar(&v.baseURL, "base-url", "", "")
	turn := fs.Int("turn", 0, "")
	curl := fs.Bool("curl", false, "")
	fs.Usage = func() {
		fmt.Fprintf(fs.Output(), encodeUsage+"flags:\n"+protocolHelp+modelHelp+`  --turn N             the request of the Nth answer: what stands before it
  --curl               the whole request as a curl command, with the key as a
                       variable
`, protocolList())
	}
	args, err := p.parse(fs)
	switch {
	case err != nil:
		return err
	case len(args) > 1:
		return usageError("encode takes one file; flags come before it")
	case v.protocol == "" && v.profile == "":
		return usageError("encode needs -p PROTOCOL: " + protocolNames())
	case *turn < 0:
		return usageError("--turn takes a number from 1")
	}
	c, pre, _, err := p.choose(v)
	if err != nil {
		return err
	}
	in, done, err := p.input(ctx, args)
	if err != nil {
		return err
	}
	defer done()
	var r wire.Request
	d := json.NewDecoder(in)
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return usageError("the history is no wire.Request: " + err.Error())
	}
	if _, err := d.Token(); err != io.EOF {
		return usageError("the history is followed by something else")
	}
	if c.Model != "" {
		r.Model = c.Model
	}
	if *turn > 0 {
		if r.Messages, err = before(r.Messages, *turn); err != nil {
			return err
		}
	}
	client, err := preset.New(c, nil)
	if err != nil {
		return err
	}
	var call wire.Call
	url, err := client.Encode(&call, &r)
	if findings := (wire.Findings)(nil); errors.As(err, &findings) {
		for _, f := range findings {
			fmt.Fprintln(p.stderr, "refused: "+visible(wire.Findings{f}.Error()))
		}
		return usageError("")
	} else if err != nil {
		return err
	}
	for _, n := range call.Notes {
		fmt.Fprintf(p.stderr, "note: %s %s: %s\n", n.Code, oneLine(n.Path), oneLine(n.Detail))
	}
	out := &lineWriter{w: p.stdout}
	if *curl {
		out.write([]byte(curlOf(url, &call, pre.Auth, pre.KeyVariable)))
	} else {
		out.write(call.Body)
	}
	return out.err
}

// before returns the messages that stand before the nth answer.
func before(ms []wire.Message, n int) ([]wire.Message, error) {
	answers := 0
	for i := range ms {
		if ms[i].Role == wire.RoleAssistant {
			if answers++; answers == n {
				return ms[:i], nil
			}
		}
	}
	if n == answers+1 {
		return ms, nil
	}
	return nil, usageError(fmt.Sprintf("the history has %d answers, so there is no turn %d", answers, n))
}

// curlOf returns a shell command that sends a call.
func curlOf(url string, call *wire.Call, auth provider.Auth, variable string) string {
	var b strings.Builder
	b.WriteString("curl --no-buffer " + shellQuote(url))
	for _, h := range call.Header {
		b.WriteString(" \\\n  -H " + shellQuote(h.Name+": "+h.Value))
	}
	if variable != "" {
		b.WriteString(" \\\n  -H \"" + auth.Header + ": " + auth.Prefix + "$" + variable + "\"")
	}
	b.WriteString(" \\\n  --data-binary " + shellQuote(string(call.Body)) + "\n")
	return b.String()
}

// shellQuote quotes s for a POSIX shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
