// Package golden holds requests and streamed answers as fixtures: folders of
// plain files that a person can read in a diff and that are compared byte for
// byte. [Check] holds a codec to a fixture, [Replay] and [Serve] play the
// recorded answers to any client, as an http.RoundTripper or as a real HTTP
// server on loopback, in pieces, cut, broken or silent as asked.
//
// It does not import package testing, so that a program can use it too. Any
// *testing.T is a [TB].
//
//	fsys := os.DirFS("testdata")
//	dirs, err := golden.List(fsys)
//	if err != nil {
//		t.Fatal(err)
//	}
//	for _, dir := range dirs {
//		t.Run(dir, func(t *testing.T) {
//			golden.Check(t, codec, fsys, dir, &golden.Options{Update: *update, Dir: "testdata"})
//		})
//	}
//
// # Files
//
// A fixture is a folder with these files and no others, which guards against
// misspelt names. N counts the turns from 1.
//
//	history.json        the conversation, a wire.Request
//	N.request.json      the exact request body
//	N.request.head      optional: the path, then a line for each header
//	N.refusal.txt       instead of a request: why it cannot be sent
//	N.response.sse      the exact response body: server-sent events,
//	N.response.ndjson   one JSON value a line,
//	N.response.json     or one JSON document
//	N.response.head     optional: the status, then a line for each header
//	N.events.txt        the terminal offset, then the events
//	notes.txt           what the encoding noted, if it noted anything
//	no-prefix           optional: why the requests do not share their beginning
//
// Turn N is what stands in the history before its Nth assistant message. If
// the history has fewer of them, it is the whole history. A turn needs no
// response; its request is then pinned all the same. A turn whose request would
// end with an assistant message (or be empty) needs no file at all.
//
// A head file begins with a line of its own, the status code of the response,
// from 200 to 599, or the path of the request; each further line is "name: value". Without one, a
// response has status 200 and the content type that its file's ending says. A
// request head is compared where the file is there; to have one, create it
// empty and update. The response of another status than 2xx goes through
// DecodeError, and its events are one end event.
//
// A turn whose request the codec is to refuse has N.refusal.txt and neither
// request nor response. It holds a line for each finding: its path or "-", the
// rule, and the remedy in parentheses. To have one, create it empty and update;
// an update makes none by itself, so that a codec that fails is not taken at its
// word.
//
// The first line of an events file is "terminal: " and the offset in the
// response body just behind which the vendor's terminal mark is complete. Cut
// before it the stream must not look finished, cut there or later it must. A
// stream that never finishes has "terminal: none".
//
// A line of notes.txt is the turn, the note's code, its path or "-", and its
// detail. The file no-prefix holds a sentence for people, and nothing else.
//
// An update writes N.request.json, N.request.head, N.refusal.txt, N.events.txt
// and notes.txt.
// The history and the responses are input and never written.
//
// # The table
//
// [Scenarios] lists the situations that every protocol meets, and [CheckTable]
// demands a fixture for each of them, in a folder of that name. A protocol that
// cannot have one says so in a folder with nothing but a file n-a, which holds
// the reason. Further folders are checked like the others.
//
// # Events as text
//
// [AppendEvent] writes an event on one line: its kind, for part events the
// index and the kind of part, and then its content as JSON without HTML
// escaping.
//
//	start {"origin":{"protocol":"anthropic-messages","model":"m","response_id":"msg_01"},"request_id":"req_1"}
//	part_start 0 text
//	delta 0 text "Hello <b>"
//	part_end 0 text
//	part_start 1 tool_call {"id":"toolu_1","name":"read"}
//	delta 1 tool_call "{\"path\":\"go.mod\"}"
//	part_end 1 tool_call
//	usage {"input_tokens":12,"output_tokens":3}
//	note {"code":"odd","path":"ping","detail":"a ping after the end"}
//	other "{\"type\":\"ping\"}"
//	end {"cause":"finished","finish":"tool_call","vendor_finish":"tool_use"}
//
// What the vendor said about the message as a whole follows the ending as a JSON
// string, if there is something. A part's data is written without its kind, which stands before it, and is
// left out if it is nil. Text that is not UTF-8 is written with \ufffd in the
// place of each ill-formed byte, followed by all of its bytes in hexadecimal:
//
//	delta 0 text "caf\ufffd" hex:636166c3
package golden
