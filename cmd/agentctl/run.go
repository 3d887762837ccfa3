package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"unicode"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/agent/fstool"
	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/provider/preset"
	"github.com/handwire/handwire/retry"
	"github.com/handwire/handwire/wire"
)

const runUsage = `usage: agentctl run [flags] "task"

Runs an agent that can read the files of this folder. Its answer goes to stdout
as it arrives; what the tools do, notes and usage go to stderr. Without a task,
stdin is the task, and a terminal a conversation: each line is a turn, Ctrl-C
ends the answer that is coming, twice the program, and so does Ctrl-D.

`

const runSystem = "You are an agent in a terminal. You can look at the files of the current folder with your tools, " +
	"and at nothing else. Read what you need before you answer, never guess what a file says, and answer briefly."

func (p *program) run(ctx context.Context) error {
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	var v vendorFlags
	v.add(fs)
	fs.StringVar(&v.model, "model", "", "")
	fs.StringVar(&v.baseURL, "base-url", "", "")
	fs.StringVar(&v.keyEnv, "api-key-env", "", "")
	fs.StringVar(&v.config, "config", "", "")
	asJSON := fs.Bool("json", false, "")
	maxTurns := fs.Int("max-turns", 0, "")
	maxTokens := fs.Int("max-tokens", 0, "")
	session := fs.String("session", "", "")
	retries := fs.Int("retries", retry.DefaultMaxAttempts-1, "")
	fs.Usage = func() {
		fmt.Fprintf(fs.Output(), runUsage+"flags:\n"+protocolHelp+modelHelp+`  --api-key-env NAME   the environment variable that holds the key
`+configHelp+`  --max-turns N        how often the model is called at most (%d)
  --max-tokens N       how much it may write in a turn
  --retries N          how often a request is sent again of whose answer nothing
                       was seen yet (%d)
  --session FILE       keep the conversation in a file, and go on from what it
                       holds
  --json               the agent's events as JSON lines, and nothing else on
                       stdout
`, protocolList(), agent.DefaultMaxTurns, retry.DefaultMaxAttempts-1)
	}
	args, err := p.parse(fs)
	if err != nil {
		return err
	}
	small := false
	fs.Visit(func(f *flag.Flag) {
		n, ok := f.Value.(flag.Getter).Get().(int)
		small = small || ok && n < 1 && f.Name != "retries"
	})
	if small || *retries < 0 {
		return usageError("--max-turns and --max-tokens take a number from 1, --retries one from 0")
	}
	talk := p.talks && len(args) == 0
	if !talk {
		var stop context.CancelFunc
		ctx, stop = p.interruptible(ctx)
		defer stop()
	}
	task := ""
	if !talk {
		if task, err = p.task(ctx, args); err != nil {
			return err
		}
	}
	c, pre, named, err := p.choose(v)
	if err != nil {
		return err
	}
	model, name, done, err := p.model(c, pre, named, task, *retries)
	if err != nil {
		return err
	}
	defer done()

	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return usageError("this folder cannot be read: " + err.Error())
	}
	defer root.Close()
	a := agent.Agent{
		Model:    model,
		Request:  wire.Request{Model: name, System: []wire.Part{wire.TextPart(runSystem)}, MaxTokens: *maxTokens},
		Tools:    fstool.All(root),
		MaxTurns: *maxTurns,
	}
	conversation, err := p.openSession(*session)
	if err != nil {
		return err
	}
	if c.APIKey == "" && !named && conversation.Snapshot().Len() > 0 {
		conversation.Close()
		return usageError("without a key there is a recording, which begins a conversation, and " + *session + " holds one already: name another file")
	}
	if talk {
		err = p.talk(ctx, &a, conversation, *asJSON)
	} else {
		err = p.show(a.Run(ctx, conversation, wire.TextPart(task)), *asJSON)
	}
	if e := conversation.Close(); e != nil {
		fmt.Fprintln(p.stderr, "agentctl: "+visible(e.Error()))
		if err == nil {
			return usageError("")
		}
	}
	if errors.Is(err, provider.ErrNoKey) {
		if p.getenv(pre.KeyVariable) != "" {
			return usageError("the key in " + pre.KeyVariable + " is not sent to " + hostOf(c.BaseURL) +
				", which is another vendor's; name the variable with its key by --api-key-env")
		}
		return usageError("there is no API key" + keyHelp(pre))
	}
	return err
}

// task returns the task: the arguments, or else stdin.
func (p *program) task(ctx context.Context, args []string) (string, error) {
	const missing = `give a task: agentctl run "Read README.md and tell me how to start the project"`
	switch {
	case len(args) > 1:
		return "", usageError("the task is one argument, in quotation marks; flags come before it")
	case len(args) == 1:
		if strings.TrimSpace(args[0]) == "" {
			return "", usageError(missing)
		}
		return args[0], nil
	}
	if f, ok := p.stdin.(*os.File); ok {
		if st, err := f.Stat(); err != nil || st.Mode()&os.ModeCharDevice != 0 {
			return "", usageError(missing) // it is no terminal, and nothing can be read from it
		}
	}
	const most = 1 << 20
	b, err := io.ReadAll(io.LimitReader(&cancelReader{ctx, p.stdin}, most+1))
	switch {
	case err != nil:
		return "", err
	case len(b) > most:
		return "", usageError("the task on stdin is longer than 1 MiB")
	case strings.TrimSpace(string(b)) == "":
		return "", usageError(missing)
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

// model returns what answers: a vendor, or where no key and no vendor is named,
// and the task is the one of the recording, the recording.
func (p *program) model(c preset.Config, pre preset.Preset, named bool, task string, retries int) (m agent.Model, name string, done func(), err error) {
	if c.APIKey == "" && !named {
		if strings.TrimSpace(task) != demoTask {
			for _, other := range preset.All() {
				if p.hasKey(other) { // of which no model is known
					return nil, "", nil, usageError("name a model of " + other.Name + ", whose key is in " + other.KeyVariable + ", with --model")
				}
			}
			return nil, "", nil, usageError("there is no API key" + keyHelp(preset.All()...) +
				"\nWithout a key there is a recording of one task:\n  agentctl run \"" + demoTask + `"`)
		}
		m, done, err = p.demo()
		return m, demoModel, done, err
	}
	name = c.Model
	if name == "" {
		if name = defaultModels[pre.Name]; name == "" {
			return nil, "", nil, usageError("name a model of " + pre.Name + " with --model")
		}
	}
	if c.BaseURL == "" && pre.BaseURL == "" {
		return nil, "", nil, usageError(pre.Name + " has another address for every customer: name yours with --base-url")
	}
	client, err := preset.New(c, &preset.Options{Retry: &retry.Policy{MaxAttempts: retries + 1}})
	if err != nil {
		return nil, "", nil, err
	}
	if !named { // the key alone decides that a vendor is asked, and paid
		fmt.Fprintf(p.stderr, "asking %s at %s, with the key in %s\n", name, hostOf(pre.BaseURL), pre.KeyVariable)
	}
	return client, name, client.CloseIdleConnections, nil
}

// hostOf returns the host of an address, for people.
func hostOf(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" {
		return "an address that cannot be read"
	}
	return oneLine(u.Host)
}

// keyHelp lists the environment variables that can hold a key for one of presets.
func keyHelp(presets ...preset.Preset) string {
	var b strings.Builder
	b.WriteString("; set one of these variables, or name another with --api-key-env:")
	for _, pre := range presets {
		if pre.KeyVariable != "" {
			b.WriteString("\n  " + pre.KeyVariable + "  (" + pre.Name + ")")
		}
	}
	return b.String()
}

// show prints a run as it goes.
func (p *program) show(run func(func(agent.Event, error) bool), asJSON bool) error {
	out := &lineWriter{w: p.stdout}
	text := textWriter{out: out, terminal: isTerminal(p.stdout)}
	var failed error
	for ev, err := range run {
		if asJSON {
			out.json(&ev)
		} else {
			p.tell(&text, &ev)
		}
		if out.err != nil {
			return out.err // nobody reads any more; leaving the loop ends the run
		}
		failed = err
	}
	if out.err == nil && !asJSON {
		text.endLine()
	}
	if out.err != nil {
		return out.err
	}
	if errors.Is(failed, agent.ErrTurnLimit) {
		fmt.Fprintln(p.stderr, "agentctl: "+failed.Error())
		return errNegative
	}
	return failed
}

// tell prints one event of a run for people.
func (p *program) tell(text *textWriter, ev *agent.Event) {
	switch ev.Kind {
	case agent.EventModel:
		switch m := ev.Model; m.Kind {
		case wire.EventDelta:
			if m.Part == wire.PartText || m.Part == wire.PartRefusal {
				text.write(m.Delta)
			}
		case wire.EventNote:
			text.endLine()
			fmt.Fprintf(p.stderr, "note: %s %s: %s\n", m.Note.Code, oneLine(m.Note.Path), oneLine(m.Note.Detail))
		case wire.EventEnd:
			text.endLine()
		}
	case agent.EventNote:
		text.endLine()
		fmt.Fprintf(p.stderr, "note: %s %s: %s\n", ev.Note.Code, oneLine(ev.Note.Path), oneLine(ev.Note.Detail))
	case agent.EventToolStart:
		text.endLine()
		fmt.Fprintf(p.stderr, "tool: %s %s\n", oneLine(ev.Call.Name), oneLine(ev.Call.Args))
	case agent.EventToolEnd:
		what := "done"
		if ev.Result.IsError {
			what = "error"
			if len(ev.Result.Parts) > 0 {
				what += ": " + oneLine(ev.Result.Parts[0].Text)
			}
		} else if n := resultBytes(ev.Result); n > 0 {
			what = fmt.Sprintf("%d bytes", n)
		}
		fmt.Fprintf(p.stderr, "tool: %s: %s\n", oneLine(ev.Call.Name), what)
	case agent.EventEnd:
		text.endLine()
		e := ev.End
		if e.Finish != "" && e.Finish != wire.FinishStop {
			what := fmt.Sprintf("%s (%s) %s", e.Finish, oneLine(e.VendorFinish), oneLine(e.Detail))
			fmt.Fprintf(p.stderr, "finish: %s\n", strings.TrimSpace(what))
		}
		if !e.Usage.IsZero() {
			turns := "turns"
			if e.Turns == 1 {
				turns = "turn"
			}
			fmt.Fprintf(p.stderr, "usage: %s tokens in (%s from cache), %s out, %d %s\n",
				e.Usage.InputTokens, e.Usage.CacheReadTokens, e.Usage.OutputTokens, e.Turns, turns)
		}
	}
}

func resultBytes(p *wire.Part) (n int) {
	for i := range p.Parts {
		n += len(p.Parts[i].Text)
		if m := p.Parts[i].Media; m != nil {
			n += len(m.Data)
		}
	}
	return n
}

// isTerminal reports whether f, a reader or writer, may be a terminal.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	if !ok {
		return false
	}
	st, err := file.Stat()
	if err != nil || st.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(st, null)
}

// oneLine makes a short line of text for a terminal.
func oneLine(s string) string {
	const most = 200
	cut := ""
	if len(s) > most {
		s, cut = strings.ToValidUTF8(s[:most], ""), "…"
	}
	return visible(s) + cut
}

// visibleLines is visible for each line of a text.
func visibleLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = visible(lines[i])
	}
	return strings.Join(lines, "\n")
}

// visible puts a blank in the place of each control character.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// textWriter writes the answer's text and ends each message with one line end.
type textWriter struct {
	out      *lineWriter
	open     bool // the line is not ended
	terminal bool // control characters would be obeyed
}

func (t *textWriter) write(s string) {
	b := []byte(s)
	if t.terminal {
		for i, c := range b {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				b[i] = ' '
			}
		}
	}
	t.out.write(b)
	t.open = !strings.HasSuffix(s, "\n")
}

func (t *textWriter) endLine() {
	if t.open {
		t.write("\n")
	}
}
