package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/handwire/handwire/golden"
	"github.com/handwire/handwire/sse"
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/stream"
)

const decodeUsage = `usage: agentctl decode [flags] [file|-]

Shows a recorded response, from a file or stdin, as events, one a line, the
ending last. What the response is (server-sent events, JSON lines, one JSON
document) is seen from its beginning.

`

func (p *program) decode(ctx context.Context) error {
	fs := flag.NewFlagSet("decode", flag.ContinueOnError)
	var v vendorFlags
	v.add(fs)
	framing := fs.String("framing", "", "")
	asJSON := fs.Bool("json", false, "")
	summary := fs.Bool("summary", false, "")
	frames := fs.Bool("frames", false, "")
	fs.Usage = func() {
		fmt.Fprintf(fs.Output(), decodeUsage+"flags:\n"+protocolHelp+`  --framing NAME       sse, lines or whole, where the beginning misleads
  --json               events as JSON lines
  --summary            one JSON object: text, calls, usage, ending
  --frames             the server-sent events as JSON lines, undecoded
`, protocolList())
	}
	args, err := p.parse(fs)
	if err != nil {
		return err
	}
	if len(args) > 1 {
		return usageError("decode takes one file; flags come before it")
	}
	if n := count(*asJSON, *summary, *frames); n > 1 {
		return usageError("--json, --summary and --frames exclude each other")
	}
	in, done, err := p.input(ctx, args)
	if err != nil {
		return err
	}
	defer done()
	out := &lineWriter{w: p.stdout}
	if *frames {
		return p.frames(in, out)
	}
	if v.protocol == "" && v.profile == "" {
		return usageError("decode needs -p PROTOCOL: " + protocolNames())
	}
	c, _, _, err := p.choose(v)
	if err != nil {
		return err
	}
	settings, err := c.Provider()
	if err != nil {
		return err
	}
	codec := settings.Codec
	br := bufio.NewReaderSize(in, 1<<20) // sniff looks no further
	head := wire.Head{Status: 200, Framing: wire.Framing(*framing)}
	switch head.Framing {
	case "":
		head.Framing = sniff(br)
	case wire.FramingSSE, wire.FramingLines, wire.FramingWhole:
	default:
		return usageError("unknown framing " + *framing + ": sse, lines, whole")
	}
	if head.Framing != wire.FramingSSE {
		if mark, _ := br.Peek(3); string(mark) == "\xef\xbb\xbf" { // must not stand before JSON
			_, _ = br.Discard(3)
		}
	}

	var b wire.Builder
	for ev, err := range stream.Read(br, codec.NewDecoder(head), head.Framing, nil) {
		switch {
		case *summary:
			b.Add(&ev)
		case *asJSON:
			out.json(&ev)
		default:
			out.write(golden.AppendEvent(nil, &ev))
		}
		if out.err != nil {
			return out.err
		}
		if err != nil {
			if *summary {
				out.json(summarize(&b))
			}
			if out.err != nil {
				return out.err
			}
			return err
		}
	}
	if *summary {
		out.json(summarize(&b))
	}
	return out.err
}

// input returns what a verb reads: the file that args name, or stdin.
func (p *program) input(ctx context.Context, args []string) (in io.Reader, done func(), err error) {
	in, done = p.stdin, func() {}
	if len(args) == 1 && args[0] != "-" {
		f, err := os.Open(p.path(args[0]))
		if err != nil {
			return nil, nil, usageError(err.Error())
		}
		in, done = f, func() { f.Close() }
	}
	if f, ok := in.(*os.File); ok {
		if st, err := f.Stat(); err == nil && st.IsDir() {
			done()
			return nil, nil, usageError(f.Name() + " is a directory")
		}
	}
	return &cancelReader{ctx, in}, done, nil
}

func count(bs ...bool) (n int) {
	for _, b := range bs {
		if b {
			n++
		}
	}
	return n
}

// path makes a file name of the command line relative to the program's folder.
func (p *program) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.dir, name)
}

// cancelReader ends a read that is between two calls when the context ends.
type cancelReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelReader) Read(b []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	if err := c.ctx.Err(); err != nil {
		return 0, cancelled(err)
	}
	done := make(chan result, 1)
	buf := make([]byte, min(len(b), 64<<10)) // the read may outlive this call
	go func() {
		n, err := c.r.Read(buf)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(b, buf[:r.n]), r.err
	case <-c.ctx.Done():
		return 0, cancelled(c.ctx.Err())
	}
}

func cancelled(err error) error {
	return &wire.Error{Cause: wire.CauseCancelled, Message: "interrupted", Err: err}
}

// sniff tells the framing of a recorded response from its beginning: JSON that
// ends with the first line and goes on with another is lines, other JSON is one
// document, and everything else is server-sent events.
func sniff(br *bufio.Reader) wire.Framing {
	var head []byte
	for n := 4; ; n *= 2 { // from few, so that a stream that is still open shows at once
		var err error
		n = min(n, br.Size())
		head, err = br.Peek(n)
		text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
		switch {
		case len(text) == 0 && err == nil && n < br.Size():
			continue
		case len(text) == 0 || text[0] != '{' && text[0] != '[':
			return wire.FramingSSE
		}
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		rest = bytes.TrimLeft(rest, " \t\r\n")
		if err == nil && n < br.Size() && (!ended || len(rest) == 0) {
			continue // not enough seen
		}
		if ended && len(rest) > 0 && wire.ValidJSON(string(line)) {
			return wire.FramingLines
		}
		return wire.FramingWhole
	}
}

// lineWriter writes lines and remembers the first error.
type lineWriter struct {
	w   io.Writer
	err error
}

func (l *lineWriter) write(b []byte) {
	if l.err == nil {
		_, l.err = l.w.Write(b)
	}
}

// json writes v as one line of JSON, <, > and & as they are.
func (l *lineWriter) json(v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil && l.err == nil {
		l.err = err
		return
	}
	l.write(b.Bytes())
}

// ---- summary ----

// summaryOf is the form of --summary.
type summaryOf struct {
	Text         string            `json:"text"`
	Reasoning    string            `json:"reasoning"`
	ToolCalls    []summaryCall     `json:"tool_calls"`
	Finish       wire.FinishReason `json:"finish_reason,omitempty"`
	VendorFinish string            `json:"vendor_finish_reason,omitempty"`
	Usage        wire.Usage        `json:"usage"`
	ResponseID   string            `json:"response_id,omitempty"`
	Model        string            `json:"model,omitempty"`
	Ending       wire.Cause        `json:"ending"`
	Error        *summaryError     `json:"error,omitempty"`
	Notes        []wire.Note       `json:"notes,omitempty"`
}

type summaryCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // the exact text
	Complete  bool   `json:"complete"`  // the call may be run
}

type summaryError struct {
	Cause     wire.Cause `json:"cause"`
	Class     wire.Class `json:"class,omitempty"`
	Status    int        `json:"status,omitempty"`
	Type      string     `json:"type,omitempty"`
	Code      string     `json:"code,omitempty"`
	Message   string     `json:"message,omitempty"`
	RequestID string     `json:"request_id,omitempty"`
}

func summarize(b *wire.Builder) summaryOf {
	r := b.Response()
	m := &r.Message
	s := summaryOf{Text: m.Text(), Reasoning: m.Reasoning(), ToolCalls: []summaryCall{}, Usage: r.Usage, Notes: r.Notes}
	s.Usage.Vendor = ""
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == wire.PartToolCall {
			alone := *m
			alone.Parts = m.Parts[i : i+1]
			s.ToolCalls = append(s.ToolCalls, summaryCall{p.ID, p.Name, p.Args, len(alone.ExecutableCalls()) == 1})
		}
	}
	if o := m.Origin; o != nil {
		s.ResponseID, s.Model = o.ResponseID, o.Model
	}
	if e := m.Ending; e != nil {
		s.Ending, s.Finish, s.VendorFinish = e.Cause, e.Finish, e.VendorFinish
		if e := e.Err; e != nil {
			s.Error = &summaryError{e.Cause, e.Class, e.Status, e.Type, e.Code, e.Message, e.RequestID}
		}
	}
	return s
}

// ---- frames ----

// The forms of --frames, one for each kind of line.
type (
	frameEvent struct {
		Offset  int64  `json:"offset"`
		Type    string `json:"type"`
		Data    string `json:"data"`
		ID      string `json:"id"`
		Pending bool   `json:"pending,omitempty"`
	}
	frameComment struct {
		Offset  int64  `json:"offset"`
		Comment string `json:"comment"`
	}
	frameLine struct {
		Offset int64  `json:"offset"`
		Line   string `json:"line"`
	}
)

func (p *program) frames(in io.Reader, out *lineWriter) error {
	d := sse.NewDecoder(in, &sse.Options{Comments: true, Lines: true, Pending: true})
	pending := false
	var ev sse.Event
	for {
		switch err := d.Decode(&ev); {
		case err == io.EOF && pending:
			return &wire.Error{Cause: wire.CauseTruncated, Message: "the stream ends within an event", Err: io.ErrUnexpectedEOF}
		case err == io.EOF:
			return nil
		case err != nil:
			return frameError(err)
		}
		switch ev.Kind {
		case sse.KindComment:
			out.json(frameComment{ev.Offset, string(ev.Data)})
		case sse.KindLine:
			out.json(frameLine{ev.Offset, string(ev.Data)})
		default:
			pending = ev.Kind == sse.KindPending
			out.json(frameEvent{ev.Offset, ev.Type, string(ev.Data), ev.ID, pending})
		}
		if out.err != nil {
			return out.err
		}
	}
}

// frameError gives a reader's or decoder's error its cause.
func frameError(err error) error {
	if le := (*sse.LimitError)(nil); errors.As(err, &le) {
		return &wire.Error{Cause: wire.CauseLimit, Message: le.Error(), Err: err}
	}
	return wire.AsError(err, wire.CauseReset)
}
