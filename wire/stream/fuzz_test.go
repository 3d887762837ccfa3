package stream_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/stream"
)

// FuzzRead gives any bytes in any pieces: the events obey the grammar (drain
// looks), are the same however the bytes are divided and whether the error comes
// with the last of them, and finish only where there is a mark.
func FuzzRead(f *testing.F) {
	framings := [...]wire.Framing{wire.FramingSSE, wire.FramingLines, wire.FramingWhole}
	for _, b := range bodies {
		for i := range framings {
			f.Add(b.body, uint8(i), uint8(7), int16(0))
			f.Add(b.body[:len(b.body)*2/3], uint8(i), uint8(1), int16(20))
		}
	}
	f.Add("{\n\"error\":\n\"busy\"}\n\nfoo\n\ndata: [DONE]", uint8(0), uint8(3), int16(40))
	f.Add("data: {\"text\":\"a\"}\n\n{\"a\r\n\r\n", uint8(0), uint8(2), int16(0))
	f.Add("{}\n{\"text\":\"a cut line that is too long", uint8(1), uint8(4), int16(20))
	f.Add("{}\n{\"text\":\"a cut line that is too long", uint8(1), uint8(254), int16(20))
	f.Add("[1,2,3,4,5,6,7,8,9]", uint8(2), uint8(254), int16(18))
	f.Add("{}\r\n{\"done\":true}", uint8(1), uint8(2), int16(12))
	f.Fuzz(func(t *testing.T, body string, framing, size uint8, limit int16) {
		fr := framings[int(framing)%len(framings)]
		opts := &stream.Options{MaxBlockBytes: int(limit)}
		var broken error
		if size&2 != 0 {
			broken = syscall.ECONNRESET
		}
		want, _ := read(t, &script{pieces: []string{body}, err: broken}, fr, opts)
		got, _ := read(t, &script{pieces: cut(body, 1+int(size)), err: broken, with: size&1 == 0}, fr, opts)
		if d := cmp.Diff(want.merged(), got.merged(), cmp.Comparer(sameError)); d != "" {
			t.Errorf("in pieces of %d (-want +got):\n%s", 1+int(size), d)
		}
		if want.cause() == wire.CauseFinished && !strings.Contains(strings.ToLower(body), "done") {
			// The name of a key may be written in escapes.
			if !strings.Contains(body, `\u`) {
				t.Errorf("finished without a mark: %q", body)
			}
		}
		if n := len(want.notes()); n > len(body) {
			t.Errorf("%d notes of %d bytes", n, len(body))
		}
	})
}

// sameError compares errors by what they say: those of encoding/json have no
// fields to look at.
func sameError(a, b *wire.Error) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Error() == b.Error()
}
