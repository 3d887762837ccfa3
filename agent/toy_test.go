package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/handwire/handwire/agent"
	"github.com/handwire/handwire/golden"
	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/retry"
	"github.com/handwire/handwire/wire"
)

// telegraph is a codec of a protocol of our own, which shows that another
// protocol needs a codec and nothing else. An answer is one JSON object a line:
//
//	{"id":"m1"}        the message begins
//	{"say":"words"}    more text
//	{"do":"tool","with":"{…}","as":"c1"}
//	{"stop":"said"}    the terminal mark: said, or done if there are calls
//	{"fault":"words"}  the server failed
//
// A request is {"to":model,"tools":[names],"lines":[…]}, its lines in the same
// words, with hear for the user's text and {"got":"result","for":"c1"}.
type telegraph struct{}

type telegram struct {
	ID    string `json:"id,omitempty"`
	Say   string `json:"say,omitempty"`
	Hear  string `json:"hear,omitempty"`
	Do    string `json:"do,omitempty"`
	With  string `json:"with,omitempty"`
	As    string `json:"as,omitempty"`
	Got   string `json:"got,omitempty"`
	For   string `json:"for,omitempty"`
	Stop  string `json:"stop,omitempty"`
	Fault string `json:"fault,omitempty"`
}

func (telegraph) Protocol() string { return "telegraph" }

func (telegraph) Check(*wire.Request) []wire.Finding { return nil }

func (telegraph) Encode(c *wire.Call, r *wire.Request) error {
	c.Reset()
	c.Path, c.Framing = "/v1/telegraph", wire.FramingLines
	c.Header = append(c.Header, wire.Header{Name: "content-type", Value: "application/json"})
	write := func(v any) {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			panic(err) // strings alone are written
		}
		c.Body = append(c.Body, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
	}
	c.Body = append(c.Body, `{"to":`...)
	write(r.Model)
	c.Body = append(c.Body, `,"tools":[`...)
	for i, t := range r.Tools {
		if i > 0 {
			c.Body = append(c.Body, ',')
		}
		write(t.Name)
	}
	c.Body = append(c.Body, `],"lines":[`...)
	lines := 0
	for i, m := range r.Messages {
		for j, p := range m.Parts {
			var line telegram
			switch {
			case p.Kind == wire.PartText && m.Role == wire.RoleAssistant:
				line.Say = p.Text
			case p.Kind == wire.PartText:
				line.Hear = p.Text
			case p.Kind == wire.PartToolCall:
				line.Do, line.With, line.As = p.Name, p.Args, p.ID
			case p.Kind == wire.PartToolResult:
				for _, q := range p.Parts {
					line.Got += q.Text
				}
				line.For = p.ID
			default:
				c.Notes = append(c.Notes, wire.Note{Code: wire.NoteDropped, Path: fmt.Sprintf("messages[%d].parts[%d]", i, j)})
				continue
			}
			if lines++; lines > 1 {
				c.Body = append(c.Body, ',')
			}
			write(line)
		}
	}
	c.Body = append(c.Body, `]}`...)
	return nil
}

func (telegraph) DecodeError(h wire.Head, body []byte) *wire.Error {
	return &wire.Error{Cause: wire.CauseVendor, Status: h.Status, Message: wire.Excerpt(body)}
}

func (telegraph) NewDecoder(wire.Head) wire.Decoder { return &telegraphDecoder{} }

type telegraphDecoder struct {
	begun, ended, open bool // open says that the last part is a text that goes on
	parts, calls       int
	err                *wire.Error // of the end event
}

func (d *telegraphDecoder) Decode(dst []wire.Event, _ string, data []byte) ([]wire.Event, error) {
	if d.ended {
		return dst, nil
	}
	var line telegram
	if err := json.Unmarshal(data, &line); err != nil {
		return dst, &wire.Error{Cause: wire.CauseProtocol, Message: "a line is no telegram", Err: err}
	}
	switch {
	case line.Fault != "":
		dst, _ = d.end(dst, &wire.Error{Cause: wire.CauseVendor, Message: line.Fault})
		return dst, nil
	case line.ID != "" && !d.begun:
		d.begun = true
		start := &wire.Start{Origin: wire.Origin{Protocol: "telegraph", ResponseID: line.ID}}
		return append(dst, wire.Event{Kind: wire.EventStart, Start: start}), nil
	case !d.begun:
		return dst, &wire.Error{Cause: wire.CauseProtocol, Message: "a line came before the message"}
	case line.Say != "":
		if !d.open {
			dst = append(dst, wire.Event{Kind: wire.EventPartStart, Part: wire.PartText, Index: d.parts})
			d.open = true
			d.parts++
		}
		return append(dst, wire.Event{Kind: wire.EventDelta, Part: wire.PartText, Index: d.parts - 1, Delta: line.Say}), nil
	case line.Do != "" && line.With != "":
		i, k := d.parts, wire.PartToolCall
		dst = d.endText(dst, false)
		d.parts++
		d.calls++
		return append(dst,
			wire.Event{Kind: wire.EventPartStart, Part: k, Index: i, Data: &wire.Part{ID: line.As, Name: line.Do}},
			wire.Event{Kind: wire.EventDelta, Part: k, Index: i, Delta: line.With},
			wire.Event{Kind: wire.EventPartEnd, Part: k, Index: i}), nil
	case line.Stop != "":
		dst = d.endText(dst, false)
		d.ended = true
		end := &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop, VendorFinish: line.Stop}
		if d.calls > 0 {
			end.Finish = wire.FinishToolCall
		}
		return append(dst, wire.Event{Kind: wire.EventEnd, End: end}), nil
	}
	return append(dst, wire.Event{Kind: wire.EventOther, Raw: string(data)}), nil
}

func (d *telegraphDecoder) End(dst []wire.Event, cause error) ([]wire.Event, error) {
	switch {
	case d.ended && d.err == nil:
		return dst, nil
	case d.ended:
		return dst, d.err
	case cause != nil:
		return d.end(dst, wire.AsError(cause, wire.CauseReset))
	}
	return d.end(dst, &wire.Error{Cause: wire.CauseTruncated, Message: "the lines stopped before stop", Err: io.ErrUnexpectedEOF})
}

// end closes what is open and ends the stream with err.
func (d *telegraphDecoder) end(dst []wire.Event, err *wire.Error) ([]wire.Event, error) {
	dst = d.endText(dst, true)
	d.ended, d.err = true, err
	return append(dst, wire.Event{Kind: wire.EventEnd, End: &wire.Ending{Cause: err.Cause, Err: err}}), err
}

func (d *telegraphDecoder) endText(dst []wire.Event, partial bool) []wire.Event {
	if !d.open {
		return dst
	}
	d.open = false
	ev := wire.Event{Kind: wire.EventPartEnd, Part: wire.PartText, Index: d.parts - 1}
	if partial {
		ev.Data = &wire.Part{Partial: true}
	}
	return append(dst, ev)
}

// The two answers of the conversation. The first has an event that the codec
// does not know.
const (
	telegraphArgs = `{"city": "Oslo <&>", "n": 9007199254740993}`
	telegraphCall = `{"id":"m1"}` + "\n" + `{"say":"I "}` + "\n" + `{"say":"look."}` + "\n" + `{"mood":"fine"}` + "\n" +
		`{"do":"weather","with":"{\"city\": \"Oslo <&>\", \"n\": 9007199254740993}","as":"c1"}` + "\n" + `{"stop":"done"}` + "\n"
	telegraphText = `{"id":"m2"}` + "\n" + `{"say":"Rain."}` + "\n" + `{"stop":"said"}` + "\n"
)

// telegraphFixture is a folder of two turns, written by hand from the protocol
// above.
func telegraphFixture(t *testing.T) fstest.MapFS {
	t.Helper()
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	terminal := func(answer, events string) *fstest.MapFile {
		// The object of the last line is the mark; its line end is not needed.
		return file(fmt.Sprintf("terminal: %d\n%s", len(answer)-1, events))
	}
	finished := func(id string, f wire.FinishReason, vendor string, parts ...wire.Part) wire.Message {
		return wire.Message{Role: wire.RoleAssistant, Parts: parts,
			Origin: &wire.Origin{Protocol: "telegraph", ResponseID: id},
			Ending: &wire.Ending{Cause: wire.CauseFinished, Finish: f, VendorFinish: vendor}}
	}
	history := wire.Request{Model: "morse-1", Tools: []wire.Tool{{Name: "weather"}}, Messages: []wire.Message{
		wire.UserText("Weather?"),
		finished("m1", wire.FinishToolCall, "done", wire.TextPart("I look."),
			wire.ToolCallPart("c1", "weather", telegraphArgs)),
		wire.ToolMessage(wire.ToolResultPart("c1", "weather", wire.TextPart("rain"))),
		finished("m2", wire.FinishStop, "said", wire.TextPart("Rain.")),
	}}
	text, err := json.Marshal(history)
	if err != nil {
		t.Fatal(err)
	}
	const before = `{"to":"morse-1","tools":["weather"],"lines":[{"hear":"Weather?"}`
	return fstest.MapFS{
		"weather/history.json":   {Data: text},
		"weather/1.request.json": file(before + `]}`),
		"weather/2.request.json": file(before + `,{"say":"I look."},` +
			`{"do":"weather","with":"{\"city\": \"Oslo <&>\", \"n\": 9007199254740993}","as":"c1"},{"got":"rain","for":"c1"}]}`),
		"weather/1.response.ndjson": file(telegraphCall),
		"weather/2.response.ndjson": file(telegraphText),
		"weather/1.events.txt": terminal(telegraphCall, `start {"origin":{"protocol":"telegraph","response_id":"m1"}}
part_start 0 text
delta 0 text "I "
delta 0 text "look."
other "{\"mood\":\"fine\"}"
part_end 0 text
part_start 1 tool_call {"id":"c1","name":"weather"}
delta 1 tool_call "{\"city\": \"Oslo <&>\", \"n\": 9007199254740993}"
part_end 1 tool_call
end {"cause":"finished","finish":"tool_call","vendor_finish":"done"}
`),
		"weather/2.events.txt": terminal(telegraphText, `start {"origin":{"protocol":"telegraph","response_id":"m2"}}
part_start 0 text
delta 0 text "Rain."
part_end 0 text
end {"cause":"finished","finish":"stop","vendor_finish":"said"}
`),
	}
}

// playTelegraph talks to a server that has the fixture, and returns the history, the
// calls that ran and the last error.
func playTelegraph(t *testing.T, f *golden.Fixture, opts *golden.ServeOptions) (history []wire.Message, ran []string, last error) {
	t.Helper()
	server, err := golden.Serve(f, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}()
	client, err := provider.New(provider.Config{Codec: telegraph{}, Model: "morse-1", BaseURL: server.URL, Retry: &retry.Policy{MaxAttempts: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	weather := agent.Tool{Tool: wire.Tool{Name: "weather"}, Run: func(_ context.Context, args string) ([]wire.Part, error) {
		ran = append(ran, args)
		return []wire.Part{wire.TextPart("rain")}, nil
	}}
	a := agent.Agent{Model: client, Tools: []agent.Tool{weather}}
	history = []wire.Message{wire.UserText("Weather?")}
	for ev, err := range a.Run(t.Context(), agent.NewConversation(history...)) {
		if ev.Message != nil {
			history = append(history, *ev.Message)
		}
		last = err
	}
	return history, ran, last
}

func TestSecondCodec(t *testing.T) {
	fsys := telegraphFixture(t)
	golden.Check(t, telegraph{}, fsys, "weather", nil)
	f, err := golden.Load(fsys, "weather")
	if err != nil {
		t.Fatal(err)
	}

	// Whole, and in pieces of one byte.
	for _, piece := range []int{0, 1} {
		history, ran, err := playTelegraph(t, f, &golden.ServeOptions{Faults: golden.Faults{Piece: piece}})
		if err != nil {
			t.Fatal(err)
		}
		// The client adds the host, and that is all.
		for i := range history {
			if o := history[i].Origin; o != nil {
				bare := *o
				bare.Endpoint = ""
				history[i].Origin = &bare
			}
		}
		got, _ := json.Marshal(history)
		want, _ := json.Marshal(f.History.Messages)
		if !bytes.Equal(got, want) {
			t.Errorf("pieces of %d: the history %s", piece, golden.Diff(want, got))
		}
		if len(ran) != 1 || ran[0] != telegraphArgs {
			t.Errorf("pieces of %d: ran %q", piece, ran)
		}
	}

	// Cut before the terminal mark nothing runs, and the cause is kept.
	mark := f.Turns[0].Terminal
	for _, at := range []int{0, 1, mark / 2, mark - 1, mark} {
		for _, how := range []golden.Break{golden.BreakCut, golden.BreakReset} {
			opts := &golden.ServeOptions{Each: func(request int) golden.Faults {
				if request == 1 {
					return golden.Faults{Break: how, At: at}
				}
				return golden.Faults{}
			}}
			history, ran, err := playTelegraph(t, f, opts)
			if how == golden.BreakCut && at == mark {
				if err != nil || len(ran) != 1 {
					t.Errorf("%s at the mark: %v, ran %q", how, err, ran)
				}
				continue
			}
			if at == mark { // the line end that did not come may still matter
				continue
			}
			want := wire.CauseTruncated
			if how == golden.BreakReset {
				want = wire.CauseReset
			}
			var e *wire.Error
			if !errors.As(err, &e) || e.Cause != want || len(ran) > 0 {
				t.Errorf("%s at %d: %v, ran %q", how, at, err, ran)
			}
			for _, m := range history[1:] {
				if m.Ending == nil || m.Ending.Cause != want || len(m.ExecutableCalls()) > 0 {
					t.Errorf("%s at %d: the message %+v", how, at, m)
				}
			}
		}
	}

	// A status that is no success goes through the codec too.
	_, ran, err := playTelegraph(t, f, &golden.ServeOptions{Faults: golden.Faults{Status: 503, Body: []byte("the line is busy")}})
	var e *wire.Error
	if !errors.As(err, &e) || e.Cause != wire.CauseVendor || e.Status != 503 || !strings.Contains(e.Message, "busy") || len(ran) > 0 {
		t.Errorf("status 503: %v, ran %q", err, ran)
	}
}
