package openaichat_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/openaichat"
)

// TestReasoningPieces: what the pieces of reasoning say again is left out where the
// profile says that they do.
func TestReasoningPieces(t *testing.T) {
	const growing, doubled = openaichat.PiecesGrowing, openaichat.PiecesDoubled
	for _, tt := range []struct {
		name   string
		form   openaichat.ReasoningPieces
		pieces string // separated by bars
		want   string
		notes  int
	}{
		{"growing", growing, "a|ab|abc|abc|abcdé🌍|abcdé🌍!", "abcdé🌍!", 1},
		{"three", growing, "a|ab|abc", "abc", 1},
		{"two are not enough", growing, "a|ab", "aab", 0},
		{"one", growing, "a", "a", 0},
		{"the second is another", growing, "a|b|bc|bcd", "abbcbcd", 0},
		{"the second is the same", growing, "a|a|ab|abc", "aaababc", 0},
		{"the third is another", growing, "a|ab|b|bc", "aabbbc", 0},
		{"the third is the same", growing, "a|ab|ab", "aabab", 0},
		{"it begins anew", growing, "a|ab|abc|x|xy", "abcxy", 1},
		{"growing, not asked for", openaichat.PiecesPlain, "a|ab|abc", "aababc", 0},
		{"doubled", doubled, "a|a|b|b|b|a", "aba", 1},
		{"doubled, none", doubled, "a|b|a|b", "abab", 0},
		{"doubled, not asked for", openaichat.PiecesPlain, "a|a", "aa", 0},
	} {
		for field, chunk := range map[string]string{"reasoning_content": `{"reasoning_content":%}`, "reasoning": `{"reasoning":%,"content":""}`, "details": `{"reasoning_details":[{"type":"reasoning.text","text":%,"index":0}]}`,
			"both": `{"reasoning_content":%,"reasoning_details":[{"type":"reasoning.text","text":%,"index":0}]}`} {
			t.Run(tt.name+"/"+field, func(t *testing.T) {
				var events []string
				for s := range strings.SplitSeq(tt.pieces, "|") {
					events = append(events, oc(strings.ReplaceAll(chunk, "%", strconv.Quote(s))))
				}
				codec := openaichat.Codec{Profile: openaichat.Profile{ReasoningPieces: tt.form}}
				for _, end := range [][]string{{content("T"), oc(`{}`, "stop"), evDone}, {oc(`{"content":"T"}`, "stop")}, {content("T")}} {
					resp, evs, _ := decodeBody(t, codec, strings.NewReader(sse(append(events, end...)...)), wire.FramingSSE)
					p := &resp.Message.Parts[0]
					if p.Kind != wire.PartReasoning || p.Text != tt.want || resp.Message.Text() != "T" || len(resp.Notes) != tt.notes {
						t.Errorf("%+v, notes %v", resp.Message.Parts, resp.Notes)
					}
					if tt.form == growing && tt.notes > 0 && tt.name != "it begins anew" && strings.Contains(chunk, "details") && !strings.Contains(p.Vendor, `"text":`+strconv.Quote(tt.want)) {
						t.Errorf("kept as %s", p.Vendor)
					}
					last := 0
					for i := range evs {
						if evs[i].Kind == wire.EventDelta && evs[i].Part == wire.PartReasoning {
							last = i
						} else if evs[i].Kind == wire.EventDelta && i < last {
							t.Error("the text comes before the reasoning")
						}
					}
				}
			})
		}
	}
}
