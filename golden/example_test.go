package golden_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/handwire/handwire/golden"
	"github.com/handwire/handwire/wire"
)

// A recorded answer, cut before its terminal mark, from a real server.
func ExampleServe() {
	f, err := golden.Load(os.DirFS("testdata"), "toy/tool")
	if err != nil {
		panic(err)
	}
	s, err := golden.Serve(f, &golden.ServeOptions{
		Faults: golden.Faults{Piece: 1, Break: golden.BreakCut, At: 77},
	})
	if err != nil {
		panic(err)
	}
	defer s.Close()

	resp, err := http.Post(s.URL+"/v1", "application/json", bytes.NewReader(f.Turns[0].RequestBody))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.Status, resp.Header.Get("Content-Type"))
	fmt.Printf("%s\n", body)
	// Output:
	// 200 OK text/event-stream
	// data: {"t":"start","id":"r1","model":"toy-1"}
	//
	// data: {"t":"open","kind":"text
}

func ExampleAppendEvent() {
	ev := wire.Event{Kind: wire.EventDelta, Part: wire.PartText, Delta: "a <b>\n"}
	os.Stdout.Write(golden.AppendEvent(nil, &ev))
	// Output: delta 0 text "a <b>\n"
}
