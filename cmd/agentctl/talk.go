package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/wire"
)

// openSession returns the conversation of a file, a new one if there is no name.
func (p *program) openSession(name string) (*agent.Conversation, error) {
	if name == "" {
		return &agent.Conversation{}, nil
	}
	c, notes, err := agent.OpenSession(p.path(name))
	if err != nil {
		return nil, usageError(err.Error())
	}
	for _, n := range notes {
		fmt.Fprintf(p.stderr, "note: %s %s: %s\n", n.Code, oneLine(n.Path), oneLine(n.Detail))
	}
	return c, nil
}

// maxLineBytes is how long a line at the terminal may be.
const maxLineBytes = 1 << 20

// typed is a line that was typed, or the end.
type typed struct {
	text string
	err  error
}

// lines reads stdin line by line. The goroutine that reads ends with stdin, or
// with the program.
func (p *program) lines() <-chan typed {
	out := make(chan typed)
	go func() {
		in := bufio.NewScanner(p.stdin)
		in.Buffer(nil, maxLineBytes)
		for in.Scan() {
			out <- typed{text: in.Text()}
		}
		err := in.Err()
		if err == nil {
			err = io.EOF
		} else if errors.Is(err, bufio.ErrTooLong) {
			err = usageError("a line is longer than 1 MiB")
		}
		out <- typed{err: err}
	}()
	return out
}

// talk is a conversation at a terminal: each line is a turn.
func (p *program) talk(ctx context.Context, a *agent.Agent, c *agent.Conversation, asJSON bool) error {
	if n := c.Snapshot().Len(); n > 0 {
		fmt.Fprintf(p.stderr, "the conversation has %d entries\n", n)
	}
	lines := p.lines()
	pressed := false // Ctrl-C, and nothing was typed since
	for {
		fmt.Fprint(p.stderr, "> ")
		select {
		case <-ctx.Done():
			return interrupted()
		case <-p.interrupts:
			if pressed {
				return interrupted()
			}
			pressed = true
			fmt.Fprintln(p.stderr, "\nCtrl-C once more ends the conversation")
		case line := <-lines:
			if line.err == io.EOF {
				fmt.Fprintln(p.stderr)
				return nil
			} else if line.err != nil {
				return line.err
			}
			if strings.TrimSpace(line.text) == "" {
				continue
			}
			var quit bool
			var err error
			if pressed, quit, err = p.turn(ctx, a, c, line.text, asJSON); quit {
				return interrupted()
			} else if err != nil {
				return err
			}
		}
	}
}

// turn is one turn of a conversation. Ctrl-C ends it, and twice the whole. What
// went wrong is told, and is no error unless there is nobody to go on with.
func (p *program) turn(ctx context.Context, a *agent.Agent, c *agent.Conversation, text string, asJSON bool) (pressed, quit bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan struct{})
	watched := make(chan int, 1)
	go func() {
		n := 0
		defer func() { watched <- n }()
		for {
			select {
			case <-p.interrupts:
				n++
				cancel()
				if n > 1 {
					return
				}
			case <-over:
				return
			}
		}
	}()
	err = p.show(a.Run(ctx, c, wire.TextPart(text)), asJSON)
	close(over)
	n := <-watched
	var e *wire.Error
	switch {
	case err == nil, errors.Is(err, errNegative):
		err = nil
	case errors.As(err, &e) && e.Cause != wire.CauseConfig:
		if e.Cause == wire.CauseCancelled {
			fmt.Fprintln(p.stderr, "cancelled")
		} else {
			fmt.Fprintln(p.stderr, "agentctl: "+visible(e.Error()))
		}
		err = nil
	}
	return n == 1, n > 1, err
}

// interrupted is the error of a conversation that was ended by a signal.
func interrupted() error {
	return &wire.Error{Cause: wire.CauseCancelled, Message: "interrupted", Err: context.Canceled}
}
