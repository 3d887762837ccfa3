package sse_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/handwire/handwire/sse"
)

func Example() {
	body := strings.NewReader("event: greeting\ndata: hello\n\n: still here\n\ndata: two\ndata: lines\n\n")
	d := sse.NewDecoder(body, nil)
	var ev sse.Event
	for {
		err := d.Decode(&ev)
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %q\n", ev.Type, ev.Data)
	}
	// Output:
	// greeting: "hello"
	// message: "two\nlines"
}

func ExampleDecoder_All() {
	d := sse.NewDecoder(strings.NewReader("id: 7\nretry: 1500\ndata: a\n\ndata: b\n\n"), nil)
	for ev, err := range d.All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s, id %s, at %d\n", ev.Data, ev.ID, ev.Offset)
	}
	wait, _ := d.Retry()
	fmt.Println("to go on: last event", d.LastEventID(), "after", wait)
	// Output:
	// a, id 7, at 0
	// b, id 7, at 27
	// to go on: last event 7 after 1.5s
}

// A stream as servers under load send it: comments, an error that is no event,
// and an end without a blank line.
func ExampleOptions() {
	body := strings.NewReader(": wait\n\ndata: a\n\n{\"error\": \"busy\"}\n\ndata: [DONE]")
	d := sse.NewDecoder(body, &sse.Options{Comments: true, Lines: true, Pending: true})
	for ev, err := range d.All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v %q\n", ev.Kind, ev.Data)
	}
	// Output:
	// comment " wait"
	// event "a"
	// line "{\"error\": \"busy\"}"
	// pending "[DONE]"
}

func ExampleLimitError() {
	d := sse.NewDecoder(strings.NewReader("data: short\n\ndata: much too long\n\n"), &sse.Options{MaxEventBytes: 10})
	for ev, err := range d.All() {
		var limit *sse.LimitError
		switch {
		case errors.As(err, &limit):
			fmt.Println(limit)
		case err != nil:
			fmt.Println("other error:", err)
		default:
			fmt.Printf("%s\n", ev.Data)
		}
	}
	// Output:
	// short
	// sse: event at offset 13 is longer than 10 bytes (raise Options.MaxEventBytes)
}
