package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/wire"
)

func TestErrorText(t *testing.T) {
	cause := errors.New("read tcp: connection reset by peer")
	tests := []struct {
		name string
		err  wire.Error
		want string
	}{
		{"cause alone", wire.Error{Cause: wire.CauseTruncated}, "truncated"},
		{"message", wire.Error{Cause: wire.CauseTruncated, Message: "the body ended early"}, "truncated: the body ended early"},
		{"the Go error where there is no message", wire.Error{Cause: wire.CauseReset, Err: cause}, "reset: read tcp: connection reset by peer"},
		{"the message before the Go error", wire.Error{Cause: wire.CauseReset, Message: "gone", Err: cause}, "reset: gone"},
		{"status", wire.Error{Cause: wire.CauseVendor, Status: 500}, "vendor_error: status 500"},
		{"type and code", wire.Error{Cause: wire.CauseVendor, Type: "t", Code: "c"}, "vendor_error: t: c"},
		{"everything, in order", wire.Error{Cause: wire.CauseVendor, Class: wire.ClassRateLimit, Status: 429, Type: "rate_limit_error",
			Code: "slow_down", Message: "too fast", RequestID: "req_1", RetryAfter: time.Second, Hint: "wait", Body: "<html>", Err: cause},
			`vendor_error (rate_limit): status 429: rate_limit_error: slow_down: too fast: body "<html>" (request id req_1); wait`},
		{"a body of several lines", wire.Error{Cause: wire.CauseProtocol, Body: "<html>\r\n<title>x</title>\n"},
			`protocol_error: body "<html>\r\n<title>x</title>\n"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.err.Error(); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestErrorTextIsOneLine: vendors and Go errors bring texts of several lines,
// which a log must not show as several entries.
func TestErrorTextIsOneLine(t *testing.T) {
	const text = "first\nsecond\r\nthird"
	tests := []struct {
		name string
		err  wire.Error
	}{
		{"message", wire.Error{Cause: wire.CauseVendor, Message: text}},
		{"type", wire.Error{Cause: wire.CauseVendor, Type: text}},
		{"code", wire.Error{Cause: wire.CauseVendor, Code: text}},
		{"request id", wire.Error{Cause: wire.CauseVendor, RequestID: text}},
		{"hint", wire.Error{Cause: wire.CauseVendor, Hint: text}},
		{"body", wire.Error{Cause: wire.CauseVendor, Body: text}},
		{"Go error", wire.Error{Cause: wire.CauseReset, Err: errors.Join(errors.New("first"), errors.New("second third"))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.err.Error()
			if strings.ContainsAny(got, "\r\n") {
				t.Errorf("more than one line: %q", got)
			}
			for _, word := range []string{"first", "second", "third"} {
				if !strings.Contains(got, word) {
					t.Errorf("%q lacks %q", got, word)
				}
			}
		})
	}
}

func TestErrorChain(t *testing.T) {
	e := &wire.Error{Cause: wire.CauseReset, Err: fmt.Errorf("read: %w", io.ErrUnexpectedEOF)}
	err := fmt.Errorf("turn 3: %w", e)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("errors.Is does not reach the Go error")
	}
	var got *wire.Error
	if !errors.As(err, &got) || got != e {
		t.Error("errors.As does not find the *Error")
	}
	if (&wire.Error{Cause: wire.CauseTruncated}).Unwrap() != nil {
		t.Error("Unwrap of an error without a Go error is not nil")
	}
}

func TestAsError(t *testing.T) {
	e := &wire.Error{Cause: wire.CauseVendor, Class: wire.ClassQuota}
	plainErr := errors.New("broken pipe")
	tests := []struct {
		name string
		err  error
		want *wire.Error
		same bool // the very error
	}{
		{"nil", nil, nil, true},
		{"an *Error", e, e, true},
		{"a wrapped *Error", fmt.Errorf("a: %w", fmt.Errorf("b: %w", e)), e, true},
		{"an *Error among joined ones", errors.Join(plainErr, e), e, true},
		{"any other error", plainErr, &wire.Error{Cause: wire.CauseReset, Message: "broken pipe", Err: plainErr}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := wire.AsError(tt.err, wire.CauseReset)
			if tt.same {
				if got != tt.want {
					t.Errorf("got %v, want the same error %v", got, tt.want)
				}
				return
			}
			if d := cmp.Diff(plain(t, tt.want), plain(t, got)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if !errors.Is(got, tt.err) {
				t.Error("the Go error is not in the chain")
			}
		})
	}
}

func TestErrorJSON(t *testing.T) {
	e := fullError()
	e.Err = io.ErrUnexpectedEOF
	got, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != fullErrorJSON {
		t.Errorf("\n got %s\nwant %s", got, fullErrorJSON)
	}
	var back wire.Error
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if back.Err != nil {
		t.Errorf("loaded with the Go error %v", back.Err)
	}
	if back.Error() != e.Error() {
		t.Errorf("loaded, its text is %s, want %s", back.Error(), e)
	}
}

func TestExcerpt(t *testing.T) {
	const most = 300
	tests := []struct {
		name, body, want string
	}{
		{"empty", "", ""},
		{"white space", " \r\n\t", ""},
		{"short", "<html>", "<html>"},
		{"white space around it", "\n <html>\n</html> \n", "<html>\n</html>"},
		{"exactly as much", strings.Repeat("x", most), strings.Repeat("x", most)},
		{"one byte more", strings.Repeat("x", most+1), strings.Repeat("x", most) + "…"},
		{"much more", strings.Repeat("x", 1<<20), strings.Repeat("x", most) + "…"},
		{"two bytes a character", "a" + strings.Repeat("é", 400), "a" + strings.Repeat("é", 149) + "…"},
		{"three bytes a character", "a" + strings.Repeat("日", 400), "a" + strings.Repeat("日", 99) + "…"},
		{"four bytes a character", "a" + strings.Repeat("🦊", 400), "a" + strings.Repeat("🦊", 74) + "…"},
		{"four bytes, the cut between two", strings.Repeat("🦊", 400), strings.Repeat("🦊", 75) + "…"},
		{"white space before much", strings.Repeat(" ", 10) + strings.Repeat("x", 1000), strings.Repeat("x", most) + "…"},
		{"white space before characters", strings.Repeat("\n", 5) + strings.Repeat("日", 400), strings.Repeat("日", 100) + "…"},
		{"more white space than an excerpt", strings.Repeat("\n", 1000) + "<html>", "<html>"},
		{"white space where it is cut", strings.Repeat("x", 298) + strings.Repeat(" ", 50) + "y", strings.Repeat("x", 298) + "…"},
		{"white space after as much", strings.Repeat("x", most) + "\n\n", strings.Repeat("x", most)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := wire.Excerpt([]byte(tt.body))
			if strings.TrimRight(strings.TrimSuffix(got, "…"), " ") != strings.TrimSuffix(tt.want, "…") ||
				strings.HasSuffix(got, "…") != strings.HasSuffix(tt.want, "…") {
				t.Errorf("\n got %q (%d bytes)\nwant %q", got, len(got), tt.want)
			}
			if !utf8.ValidString(got) {
				t.Errorf("cut within a character: %q", got)
			}
		})
	}
	// What is no text at all is cut somewhere and bounded.
	for n := range 10 {
		if got := wire.Excerpt([]byte(strings.Repeat("\x80", 295+n))); len(got) > most+len("…") {
			t.Errorf("%d bytes of an excerpt", len(got))
		}
	}
}

func TestFindingsError(t *testing.T) {
	tests := []struct {
		name     string
		findings wire.Findings
		want     string
	}{
		{"none", nil, "the request cannot be sent"},
		{"rule alone", wire.Findings{{Rule: "there must be a message"}}, "the request cannot be sent: there must be a message"},
		{"path and rule", wire.Findings{{Path: "model", Rule: "is missing"}}, "the request cannot be sent: model: is missing"},
		{"several, in order", wire.Findings{
			{Path: "messages[2].parts[0]", Rule: "a result without a call", Remedy: "leave it out"},
			{Rule: "b"}, {Path: "a", Rule: "c"},
		}, "the request cannot be sent: messages[2].parts[0]: a result without a call (leave it out); b; a: c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.findings.Error(); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
			var got wire.Findings
			if err := fmt.Errorf("encode: %w", tt.findings); !errors.As(err, &got) || len(got) != len(tt.findings) {
				t.Error("errors.As does not find the findings")
			}
		})
	}
}
