// Command agentctl runs an agent from the shell and shows what goes over the
// wire. Run it without arguments for its verbs.
//
// # Exit codes
//
// Every verb exits with
//
//	0    done
//	1    a negative answer: a run ended at its limit of turns
//	2    wrong usage, an unreadable file, a wrong setting, a missing key
//	3    the stream was cut: truncated, reset, silent, out of time, no connection
//	4    the vendor reported an error
//	5    what came was not the protocol, or was larger than a limit
//	130  interrupted
//
// An answer that ends at a token limit or in a refusal is an answer: 0. A
// closed pipe is 0 too.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/handwire/handwire/wire"
)

// The exit codes, the same for all verbs.
const (
	exitDone        = 0
	exitNegative    = 1
	exitUsage       = 2
	exitCut         = 3
	exitVendor      = 4
	exitProtocol    = 5
	exitInterrupted = 130
)

const usage = `agentctl runs an agent and shows what goes over the wire.

  agentctl run [flags] "task"       run an agent with tools that read files here
  agentctl encode [flags] [file|-]  show the exact request of a history
  agentctl decode [flags] [file|-]  show a recorded response as events
  agentctl providers [flags]        list the vendors that are known by name

"agentctl VERB -h" lists the flags of a verb. Without any key,

  agentctl run "Read README.md and tell me how to start the project"

plays a recording over real HTTP on this machine.

exit codes:
  0    done
  1    a negative answer: a run ended at its limit of turns
  2    wrong usage, an unreadable file, a wrong setting, a missing key
  3    the stream was cut: truncated, reset, silent, out of time, no connection
  4    the vendor reported an error
  5    what came was not the protocol, or was larger than a limit
  130  interrupted
`

func main() {
	// A closed pipe shows as an error of the write that meets it.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	context.AfterFunc(ctx, stop)       // a second signal ends what hangs in a write
	configDir, _ := os.UserConfigDir() // where there is none, there is no file
	interrupts := make(chan os.Signal, 8)
	signal.Notify(interrupts, os.Interrupt)
	p := program{configDir: configDir, args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, dir: ".",
		talks: isTerminal(os.Stdin), interrupts: interrupts}
	code := p.main(ctx)
	stop()
	os.Exit(code)
}

// program is one run of the command, with all that it takes from outside.
type program struct {
	args   []string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	getenv func(string) string
	dir    string // what the tools see

	configDir string // the user's folder of configuration files, "" if there is none

	talks      bool             // somebody sits at stdin
	interrupts <-chan os.Signal // Ctrl-C
}

// interruptible returns a context that the first Ctrl-C cancels; the second then
// ends the program as it ends every other.
func (p *program) interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-p.interrupts:
			signal.Reset(os.Interrupt)
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func (p *program) main(ctx context.Context) int {
	verb := ""
	if len(p.args) > 0 {
		verb, p.args = p.args[0], p.args[1:]
	}
	switch verb {
	case "help", "-h", "-help", "--help":
		if len(p.args) == 0 {
			fmt.Fprint(p.stdout, usage)
			return exitDone
		}
		verb, p.args = p.args[0], []string{"-h"}
	}
	if verb != "run" { // which looks at Ctrl-C itself
		var stop context.CancelFunc
		ctx, stop = p.interruptible(ctx)
		defer stop()
	}
	var err error
	switch verb {
	case "run":
		err = p.run(ctx)
	case "encode":
		err = p.encode(ctx)
	case "decode":
		err = p.decode(ctx)
	case "providers":
		err = p.providers(ctx)
	case "":
		fmt.Fprint(p.stderr, usage)
		return exitUsage
	default:
		err = usageError("there is no verb " + verb + "; \"agentctl help\" lists them")
	}
	return p.exit(err)
}

// exit reports err, unless that was done already, and returns its exit code.
func (p *program) exit(err error) int {
	var u usageError
	var e *wire.Error
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitDone
	case errors.Is(err, errNegative):
		return exitNegative
	case errors.As(err, &u):
		if u != "" {
			fmt.Fprintln(p.stderr, "agentctl: "+visibleLines(string(u)))
		}
		return exitUsage
	case errors.As(err, &e):
		if e.Cause != wire.CauseCancelled {
			fmt.Fprintln(p.stderr, "agentctl: "+visible(e.Error()))
		}
		return exitOf(e.Cause)
	case errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe): // of stdout: a connection's has a cause
		return exitDone // whoever read has seen enough
	}
	fmt.Fprintln(p.stderr, "agentctl: "+visible(err.Error()))
	return exitUsage
}

// usageError is a mistake of the caller's. An empty one has been reported.
type usageError string

func (e usageError) Error() string { return string(e) }

// errNegative is a negative answer that has been reported.
var errNegative = errors.New("a negative answer")

// exitOf is the exit code of a stream that ended in this way.
func exitOf(c wire.Cause) int {
	switch c {
	case wire.CauseFinished:
		return exitDone
	case wire.CauseVendor:
		return exitVendor
	case wire.CauseProtocol, wire.CauseLimit:
		return exitProtocol
	case wire.CauseConfig:
		return exitUsage
	case wire.CauseCancelled:
		return exitInterrupted
	}
	return exitCut
}

// parse parses the flags of a verb and returns what follows them. Help goes to
// stdout, a mistake to stderr.
func (p *program) parse(fs *flag.FlagSet) ([]string, error) {
	var said bytes.Buffer
	fs.SetOutput(&said)
	switch err := fs.Parse(p.args); {
	case errors.Is(err, flag.ErrHelp):
		_, _ = p.stdout.Write(said.Bytes())
		return nil, err
	case err != nil:
		_, _ = p.stderr.Write(said.Bytes())
		return nil, usageError("")
	}
	return fs.Args(), nil
}
