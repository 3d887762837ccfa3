package sse_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// part is a piece of a large value: the bytes, as often as Repeat says.
type part struct {
	Base64 []byte `json:"base64"`
	Repeat *int   `json:"repeat"`
}

func join(parts []part) []byte {
	var b []byte
	for _, p := range parts {
		n := 1
		if p.Repeat != nil {
			n = *p.Repeat
		}
		b = append(b, bytes.Repeat(p.Base64, n)...)
	}
	return b
}

// conformanceCase is one case of sse-cases.json.
type conformanceCase struct {
	Name   string `json:"name"`
	Note   string `json:"note"`
	Input  []byte `json:"input_base64"`
	Parts  []part `json:"input_parts"`
	Chunks []int  `json:"chunks"`
	Events []struct {
		Type      string `json:"type"`
		Data      string `json:"data"`
		ID        string `json:"id"`
		DataParts []part `json:"data_parts"`
		DataLen   *int   `json:"data_len"`
		DataSHA   string `json:"data_sha256"`
		Repeat    *int   `json:"repeat"`
	} `json:"events"`
	RawEvents []struct {
		Type string `json:"type_base64"`
		Data string `json:"data_base64"`
		ID   string `json:"id_base64"`
	} `json:"raw_events"`
	LastEventID string   `json:"last_event_id"`
	RetryMS     *int64   `json:"retry_ms"`
	Lax         []string `json:"lax"`
	Prompt      [][2]int `json:"prompt"`
}

// want returns the events of the case. Ill-formed UTF-8 is passed through, so
// where the case has raw events, those count.
func (c *conformanceCase) want(t *testing.T) (items []item) {
	decode64 := func(s string) string {
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if c.RawEvents != nil {
		for _, e := range c.RawEvents {
			items = append(items, item{Type: decode64(e.Type), Data: decode64(e.Data), ID: decode64(e.ID)})
		}
		return items
	}
	for _, e := range c.Events {
		if e.DataParts != nil {
			data := join(e.DataParts)
			sum := sha256.Sum256(data)
			if len(data) != *e.DataLen || hex.EncodeToString(sum[:]) != e.DataSHA {
				t.Fatal("the data of the case does not match its own length and sum")
			}
			e.Data = string(data)
		}
		n := 1
		if e.Repeat != nil {
			n = *e.Repeat
		}
		items = append(items, slices.Repeat([]item{{Type: e.Type, Data: e.Data, ID: e.ID}}, n)...)
	}
	return items
}

// TestConformance runs the cases of $HANDWIRE_CORPUS/sse-cases.json.
func TestConformance(t *testing.T) {
	dir := os.Getenv("HANDWIRE_CORPUS")
	if dir == "" {
		t.Skip("HANDWIRE_CORPUS is not set: the cases of sse-cases.json are not run, TestRules alone proves the rules")
	}
	text, err := os.ReadFile(filepath.Join(dir, "sse-cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []conformanceCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			in := c.Input
			if c.Parts != nil {
				in = join(c.Parts)
			}
			want := c.want(t)
			check := func(how string, got result) {
				t.Helper()
				items := slices.Clone(got.Items)
				for i := range items {
					items[i].Offset, items[i].End = 0, 0
				}
				if got.Err != io.EOF || !slices.Equal(items, want) {
					t.Errorf("%s: %s\ngot\n%vwant\n%v", how, c.Note, got, result{Items: want})
				}
				if got.LastEventID != c.LastEventID && c.RawEvents == nil {
					t.Errorf("%s: last event ID %q, want %q", how, got.LastEventID, c.LastEventID)
				}
				switch {
				case got.Retry < 0:
					t.Errorf("%s: retry %v", how, got.Retry)
				case slices.Contains(c.Lax, "retry_ms"):
				case c.RetryMS == nil && got.HasRetry, c.RetryMS != nil && !got.HasRetry,
					c.RetryMS != nil && got.Retry != time.Duration(*c.RetryMS)*time.Millisecond:
					t.Errorf("%s: retry %v %v, want %v", how, got.Retry, got.HasRetry, c.RetryMS)
				}
			}
			first := reference(in, nil)
			check("reference", first)
			everyWay(in, func(how string, r io.Reader) {
				got := decode(r, nil)
				if !got.equal(first) {
					t.Errorf("%s: not as the reference:\ngot\n%vwant\n%v", how, got, first)
				}
				check(how, got)
			})
			if c.Chunks != nil {
				var parts [][]byte
				rest := in
				for _, n := range c.Chunks {
					parts, rest = append(parts, rest[:n]), rest[n:]
				}
				if len(rest) > 0 {
					t.Fatal("the chunks of the case do not sum to its length")
				}
				check("chunks", decode(&pieces{parts: parts}, nil))
			}
			for _, p := range c.Prompt {
				checkPrompt(t, in, p[0], p[1])
			}
		})
	}
}
