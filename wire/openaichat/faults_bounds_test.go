package openaichat_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/handwire/handwire/wire"
)

// TestUsageIsBounded: what is kept of the vendor's usage has a limit, which a note
// tells once and which no count depends on.
func TestUsageIsBounded(t *testing.T) {
	grown := func(n int, more string) string {
		return strings.Replace(content("x"), `"choices"`, `"usage":{"prompt_tokens":10,"completion_tokens":`+strconv.Itoa(n)+more+`},"choices"`, 1)
	}
	var growing, wide []string
	parts := ""
	for i := range 2000 {
		parts += `,{"n":` + strconv.Itoa(i) + `}`
		growing = append(growing, grown(i+1, `,"steps":[`+parts[1:]+`]`))
		wide = append(wide, grown(i+1, `,"k`+strconv.Itoa(i)+`":1`))
	}
	for name, events := range map[string][]string{
		"a member that grows": growing,
		"ever more members":   wide,
		"one that is large":   {grown(1, ""), grown(2000, `,"big":"`+strings.Repeat("x", 1<<20)+`"`)},
	} {
		t.Run(name, func(t *testing.T) {
			resp, evs, err := decodeBody(t, openCodec, strings.NewReader(sse(append(events, oc(`{}`, "stop"), evDone)...)), wire.FramingSSE)
			if err != nil {
				t.Fatal(err)
			}
			u := resp.Usage
			if u.OutputTokens.Value() != 2000 || u.InputTokens.Value() != 10 || !json.Valid([]byte(u.Vendor)) || len(u.Vendor) > 17<<10 || !strings.Contains(u.Vendor, `"completion_tokens":2000`) {
				t.Errorf("%d output tokens, %d bytes of the vendor's usage: %.100s", u.OutputTokens.Value(), len(u.Vendor), u.Vendor)
			}
			notes := 0
			for i := range evs {
				if evs[i].Kind == wire.EventNote {
					notes++
				}
			}
			if notes != 1 || resp.Notes[0].Code != wire.NoteDropped || resp.Notes[0].Path != "usage" {
				t.Errorf("%v", resp.Notes)
			}
		})
	}
}
