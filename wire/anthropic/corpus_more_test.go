package anthropic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
)

type recordingMeta struct {
	Path    string            `json:"path"`
	URL     string            `json:"url"`
	Status  int               `json:"status"`
	File    string            `json:"body_file"`
	Files   []string          `json:"files"`
	Headers map[string]string `json:"response_headers"`
	Chunks  []int             `json:"http_chunks"`
}

// plainMessage is what a plain reader with encoding/json finds in an answer.
type plainMessage struct {
	ID, Model, Text, Thinking, Stop string
	Calls                           []plainCall
}

type plainCall struct{ ID, Name, Args string }

type plainBlock struct {
	Type, Text, Thinking, ID, Name string
	Input                          json.RawMessage
}

// plainRead reads an answer without the codec. A stream must have its event
// names and types.
func plainRead(t *testing.T, body []byte, sse bool) (m plainMessage) {
	t.Helper()
	type message struct {
		ID, Model string
		Content   []plainBlock
		Stop      string `json:"stop_reason"`
	}
	args := map[int]string{}
	var order []int
	block := func(i int, b plainBlock) {
		m.Text += b.Text
		m.Thinking += b.Thinking
		if b.Type == "tool_use" {
			order = append(order, i)
			m.Calls = append(m.Calls, plainCall{b.ID, b.Name, string(b.Input)})
		}
	}
	if !sse {
		var w message
		if err := json.Unmarshal(body, &w); err != nil {
			t.Fatal(err)
		}
		m.ID, m.Model, m.Stop = w.ID, w.Model, w.Stop
		for i, b := range w.Content {
			block(i, b)
		}
		return m
	}
	for line := range strings.SplitSeq(string(body), "\n") {
		data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\r"), "data:")
		if !ok {
			continue
		}
		var ev struct {
			Type    string
			Index   int
			Message message
			Block   plainBlock `json:"content_block"`
			Delta   struct {
				Text, Thinking string
				JSON           string  `json:"partial_json"`
				Stop           *string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &ev); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		switch ev.Type {
		case "message_start":
			m.ID, m.Model = ev.Message.ID, ev.Message.Model
		case "content_block_start":
			block(ev.Index, ev.Block)
		case "content_block_delta":
			m.Text += ev.Delta.Text
			m.Thinking += ev.Delta.Thinking
			args[ev.Index] += ev.Delta.JSON
		case "message_delta":
			if ev.Delta.Stop != nil {
				m.Stop = *ev.Delta.Stop
			}
		}
	}
	for i, n := range order {
		if args[n] != "" {
			m.Calls[i].Args = args[n]
		}
	}
	return m
}

// TestCorpusLocal reads what servers that speak the protocol on one machine
// answered.
func TestCorpusLocal(t *testing.T) {
	dir := filepath.Join(corpus(t), "corpus-local")
	metas, err := filepath.Glob(filepath.Join(dir, "*.meta.json"))
	if err != nil || len(metas) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
	n := 0
	for _, file := range metas {
		var meta recordingMeta
		readJSON(t, file, &meta)
		if path, _, _ := strings.Cut(meta.Path, "?"); path != "/v1/messages" {
			continue
		}
		n++
		name := strings.TrimSuffix(filepath.Base(file), ".meta.json")
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join(dir, meta.File))
			if err != nil {
				t.Fatal(err)
			}
			if meta.Status != 200 {
				checkErrorBody(t, &meta, body)
				return
			}
			f := framingOf(meta.File)
			resp, evs, err := decodeAll(t, body, f)
			if err != nil {
				t.Fatal(err)
			}
			m := &resp.Message
			got := plainMessage{ID: m.Origin.ResponseID, Model: m.Origin.Model, Text: m.Text(), Thinking: m.Reasoning(), Stop: m.Ending.VendorFinish}
			for _, p := range m.Parts {
				if p.Kind == wire.PartToolCall {
					got.Calls = append(got.Calls, plainCall{p.ID, p.Name, p.Args})
				}
				if p.Partial {
					t.Errorf("a part is partial: %+v", p)
				}
			}
			if d := cmp.Diff(plainRead(t, body, f == wire.FramingSSE), got); d != "" {
				t.Errorf("message (-plain +codec):\n%s", d)
			}
			if (m.Ending.Finish == wire.FinishToolCall) != (len(got.Calls) > 0) || len(got.Calls) > 0 && len(m.ExecutableCalls()) != len(got.Calls) {
				t.Errorf("finish %s, %d calls of which %d would be run", m.Ending.Finish, len(got.Calls), len(m.ExecutableCalls()))
			}
			for _, ev := range evs {
				if ev.Kind == wire.EventNote || ev.Kind == wire.EventOther {
					t.Errorf("the stream is odd: %v %s", ev.Note, ev.Raw)
				}
			}
			if f == wire.FramingSSE {
				var pieces []io.Reader
				rest := body
				for _, n := range meta.Chunks {
					n = min(n, len(rest))
					pieces = append(pieces, bytes.NewReader(rest[:n]))
					rest = rest[n:]
				}
				chunked, err := read(t, io.MultiReader(append(pieces, bytes.NewReader(rest))...))
				if d := cmp.Diff(render(evs), render(chunked)); d != "" || err != nil {
					t.Errorf("as it arrived (%v): %s", err, d)
				}
				end := bytes.Index(body, []byte(`{"type":"message_stop"`)) + len(`{"type":"message_stop"}`)
				for i := range body {
					_, err := read(t, bytes.NewReader(body[:i]))
					if i < end && err == nil {
						t.Errorf("cut at %d of %d it looks finished", i, len(body))
					} else if i < end && !errors.Is(err, io.ErrUnexpectedEOF) {
						t.Errorf("cut at %d: %v", i, err)
					} else if i > end && err != nil {
						t.Errorf("cut at %d, behind the terminal mark: %v", i, err)
					}
				}
			}
			if len(m.Parts) > 0 {
				sendBack(t, *m)
			}
		})
	}
	if n == 0 {
		t.Error("no recording speaks this protocol")
	}
}

func TestCorpusErrors(t *testing.T) {
	dir := filepath.Join(corpus(t), "corpus/errors")
	metas, err := filepath.Glob(filepath.Join(dir, "err-am-*.meta.json"))
	if err != nil || len(metas) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
	for _, file := range metas {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".meta.json"), func(t *testing.T) {
			var meta recordingMeta
			readJSON(t, file, &meta)
			for _, name := range meta.Files {
				if !strings.Contains(name, ".response.") {
					continue
				}
				body, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				checkErrorBody(t, &meta, body)
			}
		})
	}
}

func checkErrorBody(t *testing.T, meta *recordingMeta, body []byte) {
	t.Helper()
	h := http.Header{}
	for k, v := range meta.Headers {
		h.Set(k, v)
	}
	e := anthropic.Codec{}.DecodeError(wire.Head{Status: meta.Status, Get: h.Get}, body)
	var want struct {
		Error struct{ Type, Message string }
		ID    string `json:"request_id"`
	}
	if err := json.Unmarshal(body, &want); err != nil {
		t.Fatal(err)
	}
	if e.Type != want.Error.Type || e.Message != want.Error.Message || e.Status != meta.Status || want.ID != "" && e.RequestID != want.ID || e.Body != "" {
		t.Errorf("%+v, want %+v", e, want)
	}
	class := map[int]wire.Class{400: wire.ClassBadRequest, 401: wire.ClassAuth, 404: wire.ClassNotFound, 429: wire.ClassRateLimit, 500: wire.ClassServer}
	if c, ok := class[meta.Status]; ok && e.Class != c {
		t.Errorf("class %s at status %d", e.Class, meta.Status)
	}
}
