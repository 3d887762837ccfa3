package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
)

// Tool is a tool that runs here.
type Tool struct {
	// Tool is what the model is told. Its Name must not be empty.
	wire.Tool
	// Run runs one call. Args is the exact text of the arguments as the model
	// wrote it: one JSON value, or free text where the call is free-form. With
	// an error the model gets an error result of the parts, if any, and the
	// error's text, so the text should say what to do better. A panic, of Run
	// or of the error's methods, becomes an error result too.
	//
	// The parts are texts and media; none is a result without content. Of each
	// part only its Text or Media counts, so a Cache mark or Vendor data does
	// not reach the history. Media must have exactly one source, and bytes a
	// media type. With any other part the model gets an error result of the
	// parts that are right and a text that says what was wrong.
	//
	// Run must return soon after ctx is cancelled. Only then does its goroutine
	// not outlive the run. What it returns belongs to the run and must not be
	// changed afterwards.
	Run func(ctx context.Context, args string) ([]wire.Part, error) `json:"-"`
}

// Func returns a tool that decodes its arguments into an In, as [Args] does, and
// calls fn with them. The text that fn returns is the result; an empty one is a
// result without content. An error of fn makes an error result of the text and
// the error's text. Schema is the JSON Schema of the arguments and goes to the
// model byte for byte; empty means that there are none.
func Func[In any](name, description, schema string, fn func(ctx context.Context, in In) (string, error)) Tool {
	return Tool{
		Tool: wire.Tool{Name: name, Description: description, Schema: schema},
		Run: func(ctx context.Context, args string) ([]wire.Part, error) {
			in, err := Args[In](args)
			if err != nil {
				return nil, err
			}
			text, err := fn(ctx, in)
			if text == "" {
				return nil, err
			}
			return []wire.Part{wire.TextPart(text)}, err
		},
	}
}

// Args decodes the arguments of a call, for tools that are not made by [Func].
// If In is string or [encoding/json.RawMessage] it is the exact text. Otherwise
// encoding/json decodes the text, with numbers as [encoding/json.Number] where
// In holds an interface; fields that In does not have are ignored, and fields
// that the model left out stay zero. The error says, in words for the model,
// which field did not fit and what was expected there.
func Args[In any](args string) (In, error) {
	var in In
	switch p := any(&in).(type) {
	case *string:
		*p = args
		return in, nil
	case *json.RawMessage:
		*p = json.RawMessage(args)
		return in, nil
	}
	if !wire.ValidJSON(args) {
		return in, errors.New("the arguments are not valid JSON: " + jsonProblem(args))
	}
	d := json.NewDecoder(bytes.NewReader([]byte(args)))
	d.UseNumber()
	if err := d.Decode(&in); err != nil {
		return in, argsError(err)
	}
	return in, nil
}

// argsError says for a model why its arguments do not fit.
func argsError(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("the arguments do not fit: %w", err)
	}
	where := "the arguments do not fit"
	if wrong.Field != "" {
		where = fmt.Sprintf("the argument %q does not fit", wrong.Field)
	}
	return fmt.Errorf("%s: expected %s, got %s", where, jsonWord(wrong.Type), wrong.Value)
}

// jsonWord says in the words of JSON what decodes into t.
func jsonWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonWord(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number of at most " + strconv.Itoa(t.Bits()) + " bits"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return "a whole number from 0 of at most " + strconv.Itoa(t.Bits()) + " bits"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a string in base64"
		}
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return t.String()
}

// jsonProblem says where and why a text is not one JSON value.
func jsonProblem(text string) string {
	var p wire.PartialJSON
	p.Write(text)
	err := p.Err()
	if err == nil {
		where := ""
		if text != "" {
			const most = 24
			tail := text[max(0, len(text)-most):]
			where = ", after " + strconv.Quote(strings.ToValidUTF8(tail, ""))
		}
		return fmt.Sprintf("offset %d: it ends too early%s", len(text), where)
	}
	return strings.TrimPrefix(err.Error(), "wire: partial JSON: ")
}

// outcome is what a tool returned. It holds no error, because the methods of a
// tool's error are the tool's code.
type outcome struct {
	parts   []wire.Part
	failed  bool
	text    string // the error's
	stopped bool   // the error is that of the context
}

// start runs the tool in a goroutine, with the methods of its error, and sends
// the one outcome.
func (t *Tool) start(ctx context.Context, args string) <-chan outcome {
	done := make(chan outcome, 1) // so that a tool left behind can still send
	go func() {
		o := outcome{failed: true, text: "the tool ended without a result"}
		defer func() {
			recover() // of a panic's value that panics
			done <- o
		}()
		defer func() {
			if v := recover(); v != nil {
				o.text = fmt.Sprintf("the tool %q panicked", t.Name)
				o.text += fmt.Sprintf(": %v", v)
			}
		}()
		parts, err := t.Run(ctx, args)
		if err == nil {
			o = outcome{parts: parts}
			return
		}
		text := err.Error()
		stopped := ctx.Err() != nil && errors.Is(err, ctx.Err())
		o = outcome{parts, true, text, stopped}
	}()
	return done
}

// partProblem says why p cannot stand in a result, and nothing if it can.
func partProblem(p *wire.Part) string {
	switch {
	case p.Kind == wire.PartText:
		return ""
	case p.Kind != wire.PartMedia:
		return fmt.Sprintf("is of the kind %q, not a text or media", p.Kind)
	case p.Media == nil:
		return "is media without content"
	}
	sources := 0
	for _, given := range [...]bool{len(p.Media.Data) > 0, p.Media.URL != "", p.Media.FileID != ""} {
		if given {
			sources++
		}
	}
	switch {
	case sources == 0:
		return "is media without content"
	case sources > 1:
		return "is media with more than one of bytes, a URL and a file id"
	case len(p.Media.Data) > 0 && p.Media.MediaType() == "":
		return "is media of an unknown type"
	}
	return ""
}

// errorResult is the result of a call that did not run.
func errorResult(call *wire.Part, text string) wire.Part {
	result := wire.ToolResultPart(call.ID, call.Name, wire.TextPart(text))
	result.IsError = true
	return result
}

// The texts below are read by the model. Those of notRun also stand in for
// results that a history lacks, so they are a part of later requests: changing
// them changes the bytes of what is sent.

// notRun says why the call p of the finished message m has no result.
func notRun(m *wire.Message, p *wire.Part) string {
	if e := m.Ending; e != nil {
		switch e.Finish {
		case wire.FinishToolCall, wire.FinishStop:
		case wire.FinishLength:
			return "This call was not run: your output was cut at the length limit."
		default:
			return "This call was not run: your message ended with the reason " + string(e.Finish) + "."
		}
	}
	switch {
	case p.Partial:
		return "This call was not run: it was cut off before its end."
	case !p.FreeForm && !wire.ValidJSON(p.Args):
		return "This call was not run: its arguments were not valid JSON (" + jsonProblem(p.Args) + ")."
	}
	return "No result was recorded for this call."
}

func unknownTool(name string, tools []Tool) string {
	if len(tools) == 0 {
		return fmt.Sprintf("There is no tool named %q. There are no tools here.", name)
	}
	names := make([]string, len(tools))
	for i := range tools {
		names[i] = tools[i].Name
	}
	return fmt.Sprintf("There is no tool named %q. The tools are: %s.", name, strings.Join(names, ", "))
}

func notStarted(ctx context.Context) string {
	return "This call was not started: " + why(ctx) + "."
}

// whileRunning says why a call was stopped whose context is done, as that of the
// run may be.
func whileRunning(ctx, run context.Context) string {
	reason := "it took longer than a tool may"
	if run.Err() != nil {
		reason = why(run)
	}
	return "This call was stopped while it ran: " + reason + ". It may have done a part of its work."
}

func why(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(context.Cause(ctx), ErrTimeLimit) {
		return "the time for the run was up"
	}
	return "the user cancelled the run"
}
