package openaichat_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/handwire/handwire/wire"
)

// TestArgumentsRepeated is F34 where the repetition comes in pieces: arguments that
// come once more behind whole ones are left out, whatever the pieces, and all that
// is no repetition is handed out in its order.
func TestArgumentsRepeated(t *testing.T) {
	const args = `{"city":"Oslo","note":"a longer text"}`
	entries := func(s string, size int) (events []string) {
		for len(s) > 0 {
			n := min(size, len(s))
			events = append(events, tc(`{"index":0,"function":{"arguments":`+strconv.Quote(s[:n])+`}}`))
			s = s[n:]
		}
		return events
	}
	read := func(t *testing.T, cause wire.Cause, events []string) wire.Response {
		t.Helper()
		resp, _, err := decodeBody(t, openCodec, strings.NewReader(sse(events...)), wire.FramingSSE)
		if resp.Message.Ending.Cause != cause {
			t.Fatalf("ending %+v, %v; want %s", resp.Message.Ending, err, cause)
		}
		return resp
	}
	end := []string{oc(`{}`, "tool_calls"), evDone}
	begin, name := tc(`{"index":0,"id":"a"}`), tc(`{"index":0,"function":{"name":"f"}}`)
	for _, early := range []bool{true, false} { // the name before the arguments, and behind them
		for _, size := range []int{1, 3, 7, len(args) - 1, len(args), 2 * len(args)} {
			stream := func(again string) []string {
				events := []string{begin}
				if early {
					events = append(events, name)
				}
				events = append(append(events, entries(args, 5)...), entries(again, size)...)
				if !early {
					events = append(events, name)
				}
				return events
			}
			if size <= len(args) {
				for times := 1; times <= 3; times++ {
					events := stream("")
					for range times {
						events = append(events, entries(args, size)...)
					}
					resp := read(t, wire.CauseFinished, append(events, end...))
					if c := resp.Message.ExecutableCalls(); len(c) != 1 || c[0].Args != args || len(resp.Notes) != 1 || resp.Notes[0].Code != wire.NoteRepaired {
						t.Errorf("%d times in pieces of %d: %+v, notes %v", times, size, c, resp.Notes)
					}
				}
			}
			for _, other := range []string{"{", args[:len(args)-1], `{"city":"Rome"}`, `{"city":"Oslo","note":"a longer texT"}`, `{"city":"Oslo","note":"a longer text, and more"}`, "[]", "x"} {
				events := stream(other)
				resp := read(t, wire.CauseFinished, append(events, end...))
				if c := callsOf(&resp.Message); len(c) != 1 || c[0].Args != args+other || len(resp.Message.ExecutableCalls()) != 0 {
					t.Errorf("%q in pieces of %d: %+v", other, size, c)
				}
				resp = read(t, wire.CauseTruncated, events)
				if c := callsOf(&resp.Message); len(c) != 1 || c[0].Args != args+other || !c[0].Partial {
					t.Errorf("%q in pieces of %d, cut: %+v", other, size, c)
				}
			}
		}
	}
	for _, tt := range []struct {
		name   string
		events []string
		want   string // arguments
		runs   bool
	}{
		{"space around", append([]string{tc(`{"index":0,"id":"a","function":{"name":"f"}}`)}, entries("\n{}\n\n", 1)...), "\n{}\n\n", true},
		{"half a character in what was held back", []string{tc(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":\"\ud83c\udf0d\"}"}}`), tc(`{"index":0,"function":{"arguments":"{\"a\":\"\ud83c"}}`)},
			`{"a":"🌍"}{"a":"` + "\ufffd", false},
		{"another call in between", []string{tc(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":1}"}}`), tc(`{"index":0,"function":{"arguments":"{\"a\""}}`), tc(`{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}`), tc(`{"index":0,"function":{"arguments":":1}"}}`)},
			`{"a":1}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp := read(t, wire.CauseFinished, append(tt.events, end...))
			if c := callsOf(&resp.Message); c[0].Args != tt.want || c[0].Partial == tt.runs {
				t.Errorf("%+v", c)
			}
		})
	}
	resp := read(t, wire.CauseProtocol, append(append([]string{begin}, entries("{}{", 1)...), end...))
	if len(resp.Notes) != 1 || !strings.Contains(resp.Notes[0].Detail, "{}{") {
		t.Errorf("a call without a name: %v", resp.Notes)
	}
}
