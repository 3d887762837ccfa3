package anthropic_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
	"github.com/handwire/handwire/wire/stream"
)

// corpus returns the folder of recorded traffic, or skips.
func corpus(t *testing.T) string {
	dir := os.Getenv("HANDWIRE_CORPUS")
	if dir == "" {
		t.Skip("HANDWIRE_CORPUS does not name the folder of recorded traffic; these cases were not run")
	}
	return dir
}

type expectation struct {
	Body      string `json:"body"`
	Text      string `json:"text"`
	Thinking  string `json:"thinking"`
	ToolCalls []struct {
		ID, Name     string
		Arguments    any     `json:"arguments"`
		ArgumentsRaw *string `json:"arguments_raw"`
		Invalid      bool    `json:"arguments_invalid_json"`
	} `json:"tool_calls"`
	StopReason   *string        `json:"stop_reason"`
	StopSequence string         `json:"stop_sequence"`
	Usage        map[string]any `json:"usage"`
	ID           string         `json:"id"`
	Model        string         `json:"model"`
	Error        map[string]any `json:"error"`
	Blocks       []struct {
		Type string `json:"type"`
	} `json:"blocks"`
}

func TestCorpus(t *testing.T) {
	dir := corpus(t)
	metas, err := filepath.Glob(filepath.Join(dir, "corpus/anthropic-messages/*.meta.json"))
	if err != nil || len(metas) == 0 {
		t.Fatalf("no recordings below %s: %v", dir, err)
	}
	for _, meta := range metas {
		name := strings.TrimSuffix(filepath.Base(meta), ".meta.json")
		t.Run(name, func(t *testing.T) {
			var want expectation
			readJSON(t, filepath.Join(dir, "corpus/expected", name+".expect.json"), &want)
			body, err := os.ReadFile(filepath.Join(filepath.Dir(meta), want.Body))
			if err != nil {
				t.Fatal(err)
			}
			checkRecording(t, want, body, framingOf(want.Body))
		})
	}
}

func framingOf(file string) wire.Framing {
	switch {
	case strings.HasSuffix(file, ".sse"):
		return wire.FramingSSE
	case strings.HasSuffix(file, ".jsonl"):
		return wire.FramingLines
	}
	return wire.FramingWhole
}

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// decodeAll decodes a body and checks the grammar of what comes out.
func decodeAll(t *testing.T, body []byte, f wire.Framing) (wire.Response, []wire.Event, error) {
	t.Helper()
	return decodeFrom(t, bytes.NewReader(body), f)
}

func decodeFrom(t *testing.T, body io.Reader, f wire.Framing) (wire.Response, []wire.Event, error) {
	t.Helper()
	dec := anthropic.Codec{}.NewDecoder(wire.Head{Status: 200, Framing: f})
	var evs []wire.Event
	var b wire.Builder
	var failed error
	for ev, err := range stream.Read(body, dec, f, nil) {
		evs = append(evs, ev)
		b.Add(&ev)
		failed = err
	}
	if err := wire.CheckEvents(evs); err != nil {
		t.Fatalf("the events break the grammar: %v", err)
	}
	return b.Response(), evs, failed
}

func checkRecording(t *testing.T, want expectation, body []byte, f wire.Framing) {
	got, _, err := decodeAll(t, body, f)
	m := &got.Message
	if want.Error != nil {
		if m.Ending.Cause != wire.CauseVendor || m.Ending.Err.Message != want.Error["message"] || m.Ending.Err.Type != want.Error["type"] {
			t.Errorf("ending %+v (%v), want the vendor's error %v", m.Ending, err, want.Error)
		}
	} else if err != nil || m.Ending.Cause != wire.CauseFinished {
		t.Errorf("ending %+v, error %v; want finished", m.Ending, err)
	}
	if m.Text() != want.Text {
		t.Errorf("text: %s", cmp.Diff(want.Text, m.Text()))
	}
	if m.Reasoning() != want.Thinking {
		t.Errorf("reasoning: %s", cmp.Diff(want.Thinking, m.Reasoning()))
	}
	var calls []wire.Part
	for _, p := range m.Parts {
		if p.Kind == wire.PartToolCall {
			calls = append(calls, p)
		}
	}
	if len(calls) != len(want.ToolCalls) {
		t.Fatalf("%d calls, want %d", len(calls), len(want.ToolCalls))
	}
	for i, w := range want.ToolCalls {
		c := calls[i]
		if c.ID != w.ID || c.Name != w.Name {
			t.Errorf("call %d is %s %s, want %s %s", i, c.ID, c.Name, w.ID, w.Name)
		}
		if w.ArgumentsRaw != nil && *w.ArgumentsRaw != "" && c.Args != *w.ArgumentsRaw {
			t.Errorf("call %d: arguments %s, want %s", i, c.Args, *w.ArgumentsRaw)
		}
		var args any
		d := json.NewDecoder(strings.NewReader(c.Args))
		d.UseNumber()
		if err := d.Decode(&args); (err != nil) != w.Invalid || err == nil && !reflect.DeepEqual(args, w.Arguments) {
			t.Errorf("call %d: arguments %s (%v), want %v", i, c.Args, err, w.Arguments)
		}
	}
	if want.StopReason != nil && m.Ending.VendorFinish != *want.StopReason {
		t.Errorf("stop reason %q, want %q", m.Ending.VendorFinish, *want.StopReason)
	}
	if want.StopSequence != "" && m.Ending.Detail != want.StopSequence {
		t.Errorf("stop sequence %q, want %q", m.Ending.Detail, want.StopSequence)
	}
	if m.Origin.ResponseID != want.ID || m.Origin.Model != want.Model {
		t.Errorf("response %s of %s, want %s of %s", m.Origin.ResponseID, m.Origin.Model, want.ID, want.Model)
	}
	if len(want.Blocks) != 0 && len(want.Blocks) != len(m.Parts) {
		t.Errorf("%d parts, want %d", len(m.Parts), len(want.Blocks))
	}
	checkUsage(t, got.Usage, want.Usage)
}

// checkUsage compares with the vendor's own objects: in a stream there are two,
// and what the second one has replaces the first.
func checkUsage(t *testing.T, got wire.Usage, want map[string]any) {
	t.Helper()
	merged := map[string]any{}
	merge := func(m any) {
		if m, ok := m.(map[string]any); ok {
			for k, v := range m {
				if v != nil {
					merged[k] = v
				}
			}
		}
	}
	_, start := want["message_start"]
	_, delta := want["message_delta"]
	if start || delta {
		merge(want["message_start"])
		merge(want["message_delta"])
	} else {
		merge(want)
	}
	for key, c := range map[string]wire.Count{
		"input_tokens":                got.UncachedInputTokens,
		"cache_read_input_tokens":     got.CacheReadTokens,
		"cache_creation_input_tokens": got.CacheCreationTokens,
		"output_tokens":               got.OutputTokens,
	} {
		w, ok := merged[key]
		if !ok && c.Known() || ok && c.String() != w.(json.Number).String() {
			t.Errorf("%s is %v, want %v", key, c, w)
		}
	}
	var vendor map[string]any
	d := json.NewDecoder(strings.NewReader(got.Vendor))
	d.UseNumber()
	err := d.Decode(&vendor)
	for k, v := range vendor {
		if v == nil {
			delete(vendor, k)
		}
	}
	if len(merged) > 0 && (err != nil || !reflect.DeepEqual(vendor, merged)) {
		t.Errorf("the vendor's usage (%v): %s", err, cmp.Diff(merged, vendor))
	}
}
