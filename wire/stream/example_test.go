package stream_test

import (
	"fmt"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/stream"
)

// A body that a connection cut: what had arrived is there, and the last pair
// says what is wrong. Here a decoder of a made-up protocol reads it.
func ExampleRead() {
	body := strings.NewReader("data: {\"text\":\"Hello, \"}\n\ndata: {\"text\":\"wor\"}\n\ndata: {\"te")
	var b wire.Builder
	for ev, err := range b.Tee(stream.Read(body, new(toy), wire.FramingSSE, nil)) {
		switch {
		case err != nil:
			fmt.Println("failed:", err)
		case ev.Kind == wire.EventNote:
			fmt.Println("note:", ev.Note.Detail)
		case ev.Text() != "":
			fmt.Printf("%q\n", ev.Text())
		}
	}
	m := b.Message()
	fmt.Printf("%q, partial %t, %s\n", m.Text(), m.Parts[0].Partial, m.Ending.Cause)
	// Output:
	// "Hello, "
	// "wor"
	// note: the body ends within an event, after 4 bytes of its data
	// failed: truncated: no mark
	// "Hello, wor", partial true, truncated
}
