package sse_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/handwire/handwire/sse"
)

// item is an event with its data copied, and where the decoder stood after it.
type item struct {
	Kind           sse.Kind
	Type, Data, ID string
	Offset, End    int64
}

// result is all that a decoder says about a stream.
type result struct {
	Items       []item
	LastEventID string
	Retry       time.Duration
	HasRetry    bool
	Offset      int64
	Err         error
}

func (r result) equal(o result) bool {
	return slices.Equal(r.Items, o.Items) && r.LastEventID == o.LastEventID &&
		r.Retry == o.Retry && r.HasRetry == o.HasRetry && r.Offset == o.Offset && sameError(r.Err, o.Err)
}

func sameError(a, b error) bool {
	var la, lb *sse.LimitError
	if errors.As(a, &la) && errors.As(b, &lb) {
		return *la == *lb
	}
	return a == b
}

func (r result) String() string {
	var b strings.Builder
	for _, it := range r.Items {
		if len(it.Data) > 200 {
			it.Data = fmt.Sprintf("%s... (%d bytes)", it.Data[:200], len(it.Data))
		}
		fmt.Fprintf(&b, "\t%v %q %q id %q at %d to %d\n", it.Kind, it.Type, it.Data, it.ID, it.Offset, it.End)
	}
	fmt.Fprintf(&b, "\tlast id %q, retry %v %v, offset %d, error %v\n", r.LastEventID, r.Retry, r.HasRetry, r.Offset, r.Err)
	return b.String()
}

func (r result) data() []string {
	var data []string
	for _, it := range r.Items {
		data = append(data, it.Data)
	}
	return data
}

// decode runs a new decoder over r to its end.
func decode(r io.Reader, opts *sse.Options) result { return drain(sse.NewDecoder(r, opts)) }

func drain(d *sse.Decoder) (res result) {
	var ev sse.Event
	for {
		if res.Err = d.Decode(&ev); res.Err != nil {
			break
		}
		res.Items = append(res.Items, item{ev.Kind, ev.Type, string(ev.Data), ev.ID, ev.Offset, d.Offset()})
	}
	if again := d.Decode(&ev); again != res.Err {
		res.Err = fmt.Errorf("first %w, then %v", res.Err, again)
	}
	res.LastEventID, res.Offset = d.LastEventID(), d.Offset()
	res.Retry, res.HasRetry = d.Retry()
	return res
}

// pieces is a reader that returns its parts one Read at a time, an empty part
// as an empty read, and then err, io.EOF if that is nil.
type pieces struct {
	parts    [][]byte
	err      error
	withLast bool // the error comes together with the last part
}

func (p *pieces) Read(b []byte) (int, error) {
	err := p.err
	if err == nil {
		err = io.EOF
	}
	if len(p.parts) == 0 {
		return 0, err
	}
	n := copy(b, p.parts[0])
	if n < len(p.parts[0]) {
		p.parts[0] = p.parts[0][n:]
		return n, nil
	}
	p.parts = p.parts[1:]
	if len(p.parts) == 0 && p.withLast {
		return n, err
	}
	return n, nil
}

// cut divides s into parts of n bytes, with empty parts before each if empty
// is more than zero.
func cut(s []byte, n, empty int) (parts [][]byte) {
	for len(s) > 0 {
		for range empty {
			parts = append(parts, nil)
		}
		n := min(n, len(s))
		parts = append(parts, s[:n])
		s = s[n:]
	}
	return parts
}

// cutRandom divides s at random, mostly into small parts, some of them empty.
func cutRandom(s []byte, r *rand.Rand) (parts [][]byte) {
	for len(s) > 0 {
		n := r.IntN(8)
		if r.IntN(4) == 0 {
			n = r.IntN(5000)
		}
		n = min(n, len(s))
		parts = append(parts, s[:n])
		s = s[n:]
	}
	return parts
}

// everyWay calls f with readers that return s in many divisions.
func everyWay(s []byte, f func(how string, r io.Reader)) {
	f("whole", &pieces{parts: [][]byte{s}})
	f("whole with EOF", &pieces{parts: [][]byte{s}, withLast: true})
	small := len(s) <= 4096
	f("bytewise", &pieces{parts: cut(s, 1, 0)})
	if small {
		f("bytewise with EOF", &pieces{parts: cut(s, 1, 0), withLast: true})
		f("bytewise, empty reads between", &pieces{parts: cut(s, 1, 3)})
		for i := 1; i < len(s); i++ {
			f(fmt.Sprintf("cut at %d", i), &pieces{parts: [][]byte{s[:i], s[i:]}})
		}
	}
	for _, n := range []int{2, 3, 7, 4095, 4096, 4097, 65536} {
		if small && n < 10 || !small && n > 10 {
			f(fmt.Sprintf("parts of %d", n), &pieces{parts: cut(s, n, n%2)})
		}
	}
	r := rand.New(rand.NewPCG(1, uint64(len(s))))
	for i := range 4 {
		f(fmt.Sprintf("random parts %d", i), &pieces{parts: cutRandom(s, r)})
	}
}

// checkEveryWay checks that s is decoded as want however it is divided.
func checkEveryWay(t *testing.T, s string, opts *sse.Options, want result) {
	t.Helper()
	everyWay([]byte(s), func(how string, r io.Reader) {
		t.Helper()
		if got := decode(r, opts); !got.equal(want) {
			t.Errorf("%s:\ngot\n%vwant\n%v", how, got, want)
		}
	})
}

// checkReference checks s against the reference decoder, and returns the result.
func checkReference(t *testing.T, s string, opts *sse.Options) result {
	t.Helper()
	want := reference([]byte(s), opts)
	checkEveryWay(t, s, opts, want)
	return want
}

// checkData checks the data of the events of s, however it is divided.
func checkData(t *testing.T, s string, opts *sse.Options, want ...string) {
	t.Helper()
	if got := checkReference(t, s, opts).data(); !slices.Equal(got, want) {
		t.Errorf("data %q, want %q", got, want)
	}
}

// The rules of the standard, one small stream each. An event is written as
// type|data|id.
var rules = []struct {
	name, in string
	events   []string
	lastID   string
	retry    int // milliseconds, -1 for none
}{
	{"empty stream", "", nil, "", -1},
	{"one event", "data: a\n\n", []string{"message|a|"}, "", -1},
	{"LF", "data: a\n\ndata: b\n\n", []string{"message|a|", "message|b|"}, "", -1},
	{"CR", "data: a\r\rdata: b\r\r", []string{"message|a|", "message|b|"}, "", -1},
	{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"message|a|", "message|b|"}, "", -1},
	{"mixed terminators", "data: a\rdata: b\ndata: c\r\ndata: d\n\rdata: e\r\r\n", []string{"message|a\nb\nc\nd|", "message|e|"}, "", -1},
	{"CR CRLF is a line and a blank line", "data: a\r\r\ndata: b\n\n", []string{"message|a|", "message|b|"}, "", -1},
	{"LF CR is a line and a blank line", "data: a\n\rdata: b\n\r", []string{"message|a|", "message|b|"}, "", -1},
	{"CRLF is one terminator", "data: a\r\ndata: b\r\n\r\n", []string{"message|a\nb|"}, "", -1},
	{"blank line of CR at the end", "data: a\n\r", []string{"message|a|"}, "", -1},
	{"no other terminators", "data: a\vb\fc\u0085d\u2028e\u2029f\n\n", []string{"message|a\vb\fc\u0085d\u2028e\u2029f|"}, "", -1},
	{"blank lines only", "\n\n\r\n\r\r\n", nil, "", -1},
	{"blank lines first", "\n\r\n\rdata: a\n\n", []string{"message|a|"}, "", -1},
	{"blank lines between", "data: a\n\n\n\n\ndata: b\n\n", []string{"message|a|", "message|b|"}, "", -1},
	{"a space is no blank line", "data: a\n \ndata: b\n\n", []string{"message|a\nb|"}, "", -1},

	{"BOM", "\ufeffdata: a\n\n", []string{"message|a|"}, "", -1},
	{"two BOMs", "\ufeff\ufeffdata: a\n\ndata: b\n\n", []string{"message|b|"}, "", -1},
	{"BOM later", "data: a\n\n\ufeffdata: b\n\n", []string{"message|a|"}, "", -1},
	{"BOM after a blank line", "\n\ufeffdata: a\n\n", nil, "", -1},
	{"BOM in a value", "data: \ufeffa\n\n", []string{"message|\ufeffa|"}, "", -1},
	{"BOM alone", "\ufeff", nil, "", -1},
	{"BOM and blank line", "\ufeff\n\ndata: a\n\n", []string{"message|a|"}, "", -1},
	{"part of a BOM", "\xef\xbbdata: a\n\ndata: b\n\n", []string{"message|b|"}, "", -1},
	{"BOM then comment", "\ufeff: x\ndata: a\n\n", []string{"message|a|"}, "", -1},

	{"no space", "data:a\n\n", []string{"message|a|"}, "", -1},
	{"one space of two", "data:  a\n\n", []string{"message| a|"}, "", -1},
	{"space at the end", "data: a \n\n", []string{"message|a |"}, "", -1},
	{"a tab is no space", "data:\ta\n\n", []string{"message|\ta|"}, "", -1},
	{"no-break space stays", "data:\u00a0a\n\n", []string{"message|\u00a0a|"}, "", -1},
	{"only a space", "data: \n\n", []string{"message||"}, "", -1},
	{"two spaces", "data:  \n\n", []string{"message| |"}, "", -1},
	{"colons in a value", "data: a:b: c\ndata::d\n\n", []string{"message|a:b: c\n:d|"}, "", -1},

	{"comment", ": x\n\n", nil, "", -1},
	{"empty comment", ":\n\n", nil, "", -1},
	{"comment in a block", "data: a\n: x\ndata: b\n:data: c\n\n", []string{"message|a\nb|"}, "", -1},
	{"comment between blocks", "data: a\n\n: x\n\ndata: b\n\n", []string{"message|a|", "message|b|"}, "", -1},
	{"comment with a NUL", ": \x00\ndata: a\n\n", []string{"message|a|"}, "", -1},
	{"a space before the colon is no comment", " : x\ndata: a\n\n", []string{"message|a|"}, "", -1},

	{"two lines", "data: a\ndata: b\n\n", []string{"message|a\nb|"}, "", -1},
	{"empty lines of data", "data\ndata:\ndata: \n\n", []string{"message|\n\n|"}, "", -1},
	{"data without colon", "data\n\n", []string{"message||"}, "", -1},
	{"data without value", "data:\n\n", []string{"message||"}, "", -1},
	{"empty first line of data", "data\ndata: a\n\n", []string{"message|\na|"}, "", -1},
	{"empty last line of data", "data: a\ndata\n\n", []string{"message|a\n|"}, "", -1},
	{"data apart", "data: a\nevent: e\nid: 1\nfoo: b\ndata: c\n\n", []string{"e|a\nc|1"}, "1", -1},
	{"NUL in data", "data: a\x00b\n\n", []string{"message|a\x00b|"}, "", -1},
	{"ill-formed UTF-8 passes", "data: a\xff\xe2\x82\n\n", []string{"message|a\xff\xe2\x82|"}, "", -1},

	{"event name", "event: e\ndata: a\n\n", []string{"e|a|"}, "", -1},
	{"event name after data", "data: a\nevent: e\n\n", []string{"e|a|"}, "", -1},
	{"last event name counts", "event: e\nevent: f\ndata: a\n\n", []string{"f|a|"}, "", -1},
	{"empty event name", "event: e\nevent\ndata: a\n\nevent:\ndata: b\n\n", []string{"message|a|", "message|b|"}, "", -1},
	{"event name does not stick", "event: e\ndata: a\n\ndata: b\n\n", []string{"e|a|", "message|b|"}, "", -1},
	{"event name without data does not stick", "event: e\n\ndata: a\n\n", []string{"message|a|"}, "", -1},
	{"event name repeated", "event: e\ndata: a\n\nevent: e\ndata: b\n\nevent: ee\ndata: c\n\nevent:e\ndata: d\n\n", []string{"e|a|", "e|b|", "ee|c|", "e|d|"}, "", -1},
	{"event name keeps spaces", "event:  e \ndata: a\n\n", []string{" e |a|"}, "", -1},

	{"id", "id: 1\ndata: a\n\n", []string{"message|a|1"}, "1", -1},
	{"id sticks", "id: 1\ndata: a\n\ndata: b\n\n", []string{"message|a|1", "message|b|1"}, "1", -1},
	{"id after data", "data: a\nid: 1\n\n", []string{"message|a|1"}, "1", -1},
	{"last id counts", "id: 1\nid: 2\ndata: a\n\n", []string{"message|a|2"}, "2", -1},
	{"empty id resets", "id: 1\ndata: a\n\nid\ndata: b\n\n", []string{"message|a|1", "message|b|"}, "", -1},
	{"id without data is committed", "id: 1\n\n", nil, "1", -1},
	{"id in an unfinished block is not", "id: 1\ndata: a\n\nid: 2\ndata: b\n", []string{"message|a|1"}, "1", -1},
	{"id with NUL is ignored", "id: 1\ndata: a\n\nid: 2\x00\ndata: b\n\n", []string{"message|a|1", "message|b|1"}, "1", -1},

	{"retry", "retry: 1500\n\n", nil, "", 1500},
	{"retry needs no blank line", "retry: 1500\n", nil, "", 1500},
	{"retry needs its line end", "retry: 1500", nil, "", -1},
	{"last retry counts", "retry: 1\nretry: 2\n", nil, "", 2},
	{"retry is digits only", "retry: 1\nretry: +2\nretry: -3\nretry: 4.0\nretry: 5x\nretry: 0x6\nretry:  7\nretry: 8 \nretry: ٩\n", nil, "", 1},
	{"empty retry", "retry: 1\nretry\nretry:\nretry: \n", nil, "", 1},
	{"retry of zero", "retry: 0\n", nil, "", 0},
	{"retry with zeros before", "retry: 0000000000000000000000000000042\n", nil, "", 42},
	{"retry in another block with data", "data: a\nretry:3\n\n", []string{"message|a|"}, "", 3},

	{"unknown field", "foo: x\ndata: a\nfoo\n\n", []string{"message|a|"}, "", -1},
	{"names are exact", "Data: a\nDATA: b\n data: c\ndata : d\ndatax: e\ndat: f\neven: g\nevents: h\nIdd: i\ni: j\nretry1: 4\nretr: 5\n\n", nil, "", -1},
	{"unfinished block", "data: a\n", nil, "", -1},
	{"unfinished line", "data: a\n\ndata: b", []string{"message|a|"}, "", -1},
	{"unfinished line after data", "data: a\nfoo", nil, "", -1},
}

func TestRules(t *testing.T) {
	for _, c := range rules {
		t.Run(c.name, func(t *testing.T) {
			got := checkReference(t, c.in, nil)
			var events []string
			for _, it := range got.Items {
				events = append(events, it.Type+"|"+it.Data+"|"+it.ID)
			}
			if !slices.Equal(events, c.events) {
				t.Errorf("events %q, want %q", events, c.events)
			}
			if got.LastEventID != c.lastID {
				t.Errorf("last event ID %q, want %q", got.LastEventID, c.lastID)
			}
			retry := -1
			if got.HasRetry {
				retry = int(got.Retry / time.Millisecond)
			}
			if retry != c.retry {
				t.Errorf("retry %d, want %d", retry, c.retry)
			}
			if got.Err != io.EOF {
				t.Errorf("error %v, want EOF", got.Err)
			}
			// The same with everything else handed out: the events are no others.
			all := checkReference(t, c.in, &sse.Options{Comments: true, Lines: true, Pending: true})
			all.Items = slices.DeleteFunc(all.Items, func(it item) bool { return it.Kind != sse.KindEvent })
			if !slices.Equal(all.Items, got.Items) {
				t.Errorf("events with extras:\n%vwithout:\n%v", all, got)
			}
		})
	}
}

func TestRetryHuge(t *testing.T) {
	const most = time.Duration(1<<63-1) / time.Millisecond * time.Millisecond
	for in, want := range map[string]time.Duration{
		"retry: 9223372036854\n":                         most,
		"retry: 9223372036853\n":                         most - time.Millisecond,
		"retry: 9223372036855\n":                         most,
		"retry: 92233720368540\n":                        most,
		"retry: " + strings.Repeat("9", 100) + "\n":      most,
		"retry: 7\nretry: 99999999999999999999999999x\n": 7 * time.Millisecond,
	} {
		if got := checkReference(t, in, nil); !got.HasRetry || got.Retry != want {
			t.Errorf("%.40q: retry %v %v, want %v", in, got.Retry, got.HasRetry, want)
		}
	}
}

// chatChunk is one chunk of a chat stream whose delta is the JSON text delta.
func chatChunk(delta string) string {
	return `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}` + "\n\n"
}

const done = "data: [DONE]\n\n"

// TestFaults holds what streams in the field have broken decoders with.
func TestFaults(t *testing.T) {
	all := &sse.Options{Comments: true, Lines: true, Pending: true}
	payload := func(block string) string {
		return strings.TrimSuffix(strings.TrimPrefix(block, "data: "), "\n\n")
	}
	t.Run("F01", func(t *testing.T) {
		r := &pieces{parts: [][]byte{[]byte("data: A\r\ndata: B\r"), []byte("\ndata: C\r\n\r"), []byte("\n")}}
		if got := decode(r, nil).data(); !slices.Equal(got, []string{"A\nB\nC"}) {
			t.Errorf("data %q", got)
		}
		checkData(t, "data: A\r\ndata: B\r\ndata: C\r\n\r\n", nil, "A\nB\nC")
	})
	t.Run("F02", func(t *testing.T) {
		in := "data: 1\r\n\r\ndata: 2\n\ndata: 3\r\r"
		checkData(t, in, nil, "1", "2", "3")
		checkPrompt(t, []byte(in), strings.Index(in, "\r\n\r")+3, 1)
		checkPrompt(t, []byte(in), strings.Index(in, "data: 3"), 2)
		checkPrompt(t, []byte(in), len(in), 3)
	})
	t.Run("F03", func(t *testing.T) {
		chunk := chatChunk(`{"content":"né🌍"}`)
		checkData(t, chunk+done, nil, payload(chunk), "[DONE]")
	})
	t.Run("F04", func(t *testing.T) {
		r := &pieces{parts: [][]byte{[]byte("\xef\xbb"), []byte("\xbfdata: x\n\ndata: y\n\n")}}
		if got := decode(r, nil).data(); !slices.Equal(got, []string{"x", "y"}) {
			t.Errorf("data %q", got)
		}
		checkData(t, "\xef\xbb\xbfdata: x\n\ndata: y\n\n", nil, "x", "y")
	})
	t.Run("F05", func(t *testing.T) {
		checkData(t, "data:a\n\ndata:  b\n\ndata: c \n\n", nil, "a", " b", "c ")
	})
	t.Run("F06", func(t *testing.T) {
		chunk := chatChunk(`{"content":"hi"}`)
		checkData(t, ": PROCESSING\n\n:\n\n"+chunk+done, nil, payload(chunk), "[DONE]")
		checkData(t, ": PROCESSING\n\n:\n\n"+chunk+done, all, " PROCESSING", "", payload(chunk), "[DONE]")
	})
	t.Run("F07", func(t *testing.T) {
		got := checkReference(t, "data: {\"a\":\ndata: 1}\n\n", nil).data()
		if len(got) != 1 || got[0] != "{\"a\":\n1}" || !json.Valid([]byte(got[0])) {
			t.Errorf("data %q", got)
		}
	})
	t.Run("F08", func(t *testing.T) {
		chunk := chatChunk(`{"content":"` + strings.Repeat("A", 1<<20) + `"}`)
		checkData(t, chunk+done, nil, payload(chunk), "[DONE]")
		got := decode(strings.NewReader(chunk+done), &sse.Options{MaxEventBytes: 1 << 20})
		var limit *sse.LimitError
		if !errors.As(got.Err, &limit) || limit.Limit != 1<<20 || limit.Offset != 0 || len(got.Items) != 0 {
			t.Errorf("over the limit: %v", got)
		}
	})
	t.Run("F09", func(t *testing.T) {
		first, last := chatChunk(`{"content":"hi"}`), strings.TrimSuffix(chatChunk(`{}`), "\n\n")
		checkData(t, first+last, nil, payload(first))
		checkData(t, first+last, &sse.Options{Pending: true}, payload(first), payload(last))
	})
	t.Run("F16", func(t *testing.T) {
		got := checkReference(t, "event: ping\ndata: {\"type\":\"ping\"}\n\nevent: ping\ndata: \n\ndata:\n\nevent: e\ndata: ok\n\n", nil)
		var events []string
		for _, it := range got.Items {
			events = append(events, it.Type+"|"+it.Data)
		}
		if want := []string{`ping|{"type":"ping"}`, "ping|", "message|", "e|ok"}; !slices.Equal(events, want) {
			t.Errorf("events %q, want %q", events, want)
		}
	})
	t.Run("F19", func(t *testing.T) {
		// Whatever a header says of the charset, the bytes are handed on.
		chunk := chatChunk(`{"content":"é"}`)
		checkData(t, chunk, nil, payload(chunk))
	})
	t.Run("F21", func(t *testing.T) {
		got := checkReference(t, "retry: 5x\nretry: 1500\nfoo: q\ndata: a\n\n", nil)
		if !slices.Equal(got.data(), []string{"a"}) || got.Retry != 1500*time.Millisecond || !got.HasRetry {
			t.Errorf("got %v", got)
		}
	})
	t.Run("F22", func(t *testing.T) {
		chunk := chatChunk(`{"content":"par"}`)
		for _, withLast := range []bool{false, true} {
			r := &pieces{parts: [][]byte{[]byte(chunk + "data: rest")}, err: io.ErrUnexpectedEOF, withLast: withLast}
			got := decode(r, all)
			if got.Err != io.ErrUnexpectedEOF || !slices.Equal(got.data(), []string{payload(chunk)}) {
				t.Errorf("error with the last bytes %v: %v", withLast, got)
			}
		}
	})
	t.Run("F23", func(t *testing.T) {
		got := checkReference(t, "event: ping\n\ndata: 1\n\n", nil)
		if len(got.Items) != 1 || got.Items[0].Type != "message" || got.Items[0].Data != "1" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("F124", func(t *testing.T) {
		checkData(t, "data: Hi\n\ndata:  \n\ndata: again\n\ndata: \ndata: \ndata: \n\ndata:   x  \n\ndata:\t\n\n", nil,
			"Hi", " ", "again", "\n\n", "  x  ", "\t")
	})
}

func TestExtras(t *testing.T) {
	all := sse.Options{Comments: true, Lines: true, Pending: true}
	// The columns of want: kind, type, data, id, offset, end.
	for _, c := range []struct {
		name, in string
		opts     sse.Options
		want     []item
	}{
		{"all off", ": c\nstray\ndata: a\n\ndata: b", sse.Options{}, []item{
			{sse.KindEvent, "message", "a", "", 0, 19},
		}},
		{"comments", ": c\ndata: a\n:\n:  d \n\n:e", sse.Options{Comments: true}, []item{
			{sse.KindComment, "", " c", "", 0, 4},
			{sse.KindComment, "", "", "", 12, 14},
			{sse.KindComment, "", "  d ", "", 14, 20},
			{sse.KindEvent, "message", "a", "", 0, 21},
		}},
		{"comments, CRLF", ": c\r\ndata: a\r\n\r\n: d\r\n", sse.Options{Comments: true}, []item{
			{sse.KindComment, "", " c", "", 0, 4},
			{sse.KindEvent, "message", "a", "", 0, 15},
			{sse.KindComment, "", " d", "", 16, 20},
		}},
		{"JSON error between events", "id: 1\ndata: a\n\n{\n  \"error\": {\n    \"code\": 503\n  }\n}\n\ndata: b\n\n", sse.Options{Lines: true}, []item{
			{sse.KindEvent, "message", "a", "1", 0, 15},
			{sse.KindLine, "", "{", "1", 15, 17},
			{sse.KindLine, "", "  \"error\": {", "1", 17, 30},
			{sse.KindLine, "", "    \"code\": 503", "1", 30, 46},
			{sse.KindLine, "", "  }", "1", 46, 50},
			{sse.KindLine, "", "}", "1", 50, 52},
			{sse.KindEvent, "message", "b", "1", 53, 62},
		}},
		{"JSON body, no line end", `{"error":{"message":"no"}}`, sse.Options{Lines: true}, []item{
			{sse.KindLine, "", `{"error":{"message":"no"}}`, "", 0, 26},
		}},
		{"line before the event of its block", "id: 1\ndata: a\nstray: x\ndata: b\n\n", all, []item{
			{sse.KindLine, "", "stray: x", "", 14, 23},
			{sse.KindEvent, "message", "a\nb", "1", 0, 32},
		}},
		{"known fields are no lines", "data\nid\nevent\nretry: x\n:\n\n", sse.Options{Lines: true}, []item{
			{sse.KindEvent, "message", "", "", 0, 26},
		}},
		{"line with a BOM", "\ufeff\ufeffdata: a\n\ndata: b\n\n", sse.Options{Lines: true}, []item{
			{sse.KindLine, "", "\ufeffdata: a", "", 3, 14},
			{sse.KindEvent, "message", "b", "", 15, 24},
		}},
		{"part of a BOM alone", "\xef\xbb", sse.Options{Lines: true}, []item{
			{sse.KindLine, "", "\xef\xbb", "", 0, 2},
		}},
		{"pending", "id: 1\n\nevent: e\nid: 2\ndata: a\ndata: b\n", sse.Options{Pending: true}, []item{
			{sse.KindPending, "e", "a\nb", "2", 7, 38},
		}},
		{"pending, last line without end", "data: a\n\ndata: b\ndata: c", sse.Options{Pending: true}, []item{
			{sse.KindEvent, "message", "a", "", 0, 9},
			{sse.KindPending, "message", "b\nc", "", 9, 24},
		}},
		{"pending, last line is the only one", "data: [DONE]", sse.Options{Pending: true}, []item{
			{sse.KindPending, "message", "[DONE]", "", 0, 12},
		}},
		{"pending, data cut in its name", "data: a\ndat", all, []item{
			{sse.KindLine, "", "dat", "", 8, 11},
			{sse.KindPending, "message", "a", "", 0, 11},
		}},
		{"pending, event last", "data: a\nevent: e", sse.Options{Pending: true}, []item{
			{sse.KindPending, "e", "a", "", 0, 16},
		}},
		{"nothing pending without data", "event: e\nid: 1\n", all, nil},
		{"nothing pending after a blank line", "data: a\n\n", all, []item{
			{sse.KindEvent, "message", "a", "", 0, 9},
		}},
		{"unfinished comment", ": a", all, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := checkReference(t, c.in, &c.opts)
			if !slices.Equal(got.Items, c.want) {
				t.Errorf("got\n%vwant\n%v", got, result{Items: c.want})
			}
			if strings.HasPrefix(c.name, "pending") && got.LastEventID == "2" {
				t.Error("a pending block committed its id")
			}
		})
	}
}

// TestOffsets checks that the offsets of an event lead back to its bytes.
func TestOffsets(t *testing.T) {
	blocks := []string{"event: e\ndata: a\n\n", ": c\r\ndata: b\r\ndata: c\r\n\r\n", "data: d\r\r", "id: 5\ndata\n\n", ": only\n\n", "data: e\n\r"}
	in := "\ufeff"
	var want []int64
	for _, b := range blocks {
		if !strings.HasPrefix(b, ": only") {
			want = append(want, int64(len(in)))
		}
		in += b
	}
	got := checkReference(t, in, nil)
	for i, it := range got.Items {
		if it.Offset != want[i] {
			t.Errorf("event %d at %d, want %d", i, it.Offset, want[i])
		}
		// A stream cut where the decoder stood has the event, a byte earlier not.
		if n := len(decode(strings.NewReader(in[:it.End]), nil).Items); n != i+1 {
			t.Errorf("%d events up to %d, want %d", n, it.End, i+1)
		}
		if n := len(decode(strings.NewReader(in[:it.End-1]), nil).Items); n != i {
			t.Errorf("%d events up to %d, want %d", n, it.End-1, i)
		}
	}
}

func TestLimit(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, limit := range []int{1, 5, 6, 7, 100, 5000} {
		for _, c := range []struct {
			name, in string
			n        int   // events before the end
			offset   int64 // of the limit error, -1 for none
		}{
			{"exact data", "data: a\n\ndata: " + x(limit) + "\n\n", 2, -1},
			{"long data", "data: a\n\ndata: " + x(limit+1) + "\n\n", 1, 9},
			{"long data, never ended", "data: a\n\ndata: " + x(limit+1), 1, 9},
			{"long data, no space", "data: a\n\ndata:" + x(limit+1) + "\n\n", 1, 9},
			{"exact many lines", "data: a\n\n" + strings.Repeat("data\n", limit+1) + "\n", 2, -1},
			{"long many lines", "data: a\n\n" + strings.Repeat("data\n", limit+2) + "\n", 1, 9},
			{"exact two lines", "data: a\n\ndata\ndata: " + x(limit-1) + "\n\n", 2, -1},
			{"long two lines", "data: a\n\ndata\ndata: " + x(limit) + "\n\n", 1, 9},
			{"exact comment", "data: a\n\n:" + x(limit-1) + "\n", 1, -1},
			{"long comment", "data: a\n\n:" + x(limit) + "\n", 1, 9},
			{"long comment in a block", "data: a\n\ndata: b\n:" + x(limit) + "\n", 1, 17},
			{"exact unknown field", "data: a\n\n" + x(limit) + "\n", 1, -1},
			{"long unknown field", "data: a\n\n" + x(limit+1) + "\n", 1, 9},
			{"comments do not add up", "data: a\n\ndata: b\n" + strings.Repeat(":\n", 3*limit) + "\n", 2, -1},
			{"blank lines do not add up", strings.Repeat("\n", 3*limit) + "data: a\n\n", 1, -1},
			{"blocks do not add up", strings.Repeat("data: a\n\n", 3*limit), 3 * limit, -1},
		} {
			t.Run(fmt.Sprintf("%s/%d", c.name, limit), func(t *testing.T) {
				opts := &sse.Options{MaxEventBytes: limit}
				want := decode(strings.NewReader(c.in), opts)
				if len(want.Items) != c.n {
					t.Errorf("%d events, want %d", len(want.Items), c.n)
				}
				var le *sse.LimitError
				switch {
				case c.offset < 0:
					if want.Err != io.EOF {
						t.Errorf("error %v, want EOF", want.Err)
					}
				case !errors.As(want.Err, &le) || le.Limit != limit || le.Offset != c.offset:
					t.Errorf("error %v, want a limit error at %d", want.Err, c.offset)
				}
				checkEveryWay(t, c.in, opts, want)
				opts.Comments, opts.Lines, opts.Pending = true, true, true
				checkEveryWay(t, c.in, opts, decode(strings.NewReader(c.in), opts))
			})
		}
	}
	t.Run("message", func(t *testing.T) {
		msg := (&sse.LimitError{Limit: 12, Offset: 34}).Error()
		for _, part := range []string{"sse: ", "12", "34", "MaxEventBytes"} {
			if !strings.Contains(msg, part) {
				t.Errorf("%q does not say %q", msg, part)
			}
		}
	})
	t.Run("default", func(t *testing.T) {
		if testing.Short() {
			t.Skip("a stream of 64 MiB")
		}
		in := "data: " + x(sse.DefaultMaxEventBytes) + "\n\n"
		if got := decode(strings.NewReader(in), nil); got.Err != io.EOF || len(got.Items) != 1 {
			t.Errorf("at the limit: %d events, %v", len(got.Items), got.Err)
		}
		in = "data: x" + in[len("data: "):]
		var le *sse.LimitError
		if got := decode(strings.NewReader(in), &sse.Options{}); !errors.As(got.Err, &le) {
			t.Errorf("over the limit: %d events, %v", len(got.Items), got.Err)
		}
		if got := decode(strings.NewReader(in), &sse.Options{MaxEventBytes: -1}); got.Err != io.EOF || len(got.Items) != 1 {
			t.Errorf("no limit: %d events, %v", len(got.Items), got.Err)
		}
	})
	t.Run("repeated name", func(t *testing.T) {
		in, opts := "event:x\ndata: a\n\nevent: x\ndata: b\n\n", &sse.Options{MaxEventBytes: 7}
		want := decode(strings.NewReader(in), opts)
		var le *sse.LimitError
		if len(want.Items) != 1 || !errors.As(want.Err, &le) || le.Offset != 17 {
			t.Errorf("got %v", want)
		}
		checkEveryWay(t, in, opts, want)
	})
	t.Run("pending", func(t *testing.T) {
		opts := &sse.Options{MaxEventBytes: 3, Pending: true}
		checkEveryWay(t, "data: a\ndata: b", opts, decode(strings.NewReader("data: a\ndata: b"), opts))
		var le *sse.LimitError
		if got := decode(strings.NewReader("\ndata: ab\ndata: b"), opts); !errors.As(got.Err, &le) || le.Offset != 1 {
			t.Errorf("got %v", got)
		}
	})
}

// widest is a reader that notes the greatest room it was offered.
type widest struct {
	r    io.Reader
	most int
}

func (w *widest) Read(b []byte) (int, error) {
	w.most = max(w.most, len(b))
	return w.r.Read(b)
}

// endless repeats its bytes until limit bytes were read.
type endless struct {
	s    string
	at   int
	left int
}

func (e *endless) Read(b []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(b) {
		c := copy(b[n:], e.s[e.at:])
		n += c
		e.at = (e.at + c) % len(e.s)
	}
	e.left -= n
	return n, nil
}

// TestMemory checks that the buffer stays small where the stream permits it and
// bounded where it does not.
func TestMemory(t *testing.T) {
	const limit = 64 << 10
	opts := &sse.Options{MaxEventBytes: limit}
	for _, c := range []struct {
		name, in string
		repeat   string
		most     int
	}{
		{"small events", "", "data: a\n\n", 4 << 10},
		{"comments", "", ": c\n\n", 4 << 10},
		{"comments in a block", "data: a\n", ": c\n", 4 << 10},
		{"empty events", "", "event: e\n", 4 << 10},
		{"one long line", "data: ", "x", 4 * limit},
		{"many lines", "", "data: x\n", 4 * limit},
		{"long comments after long data", "data: " + strings.Repeat("x", limit) + "\n", ":" + strings.Repeat("c", limit-1) + "\n", 4 * limit},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &widest{r: io.MultiReader(strings.NewReader(c.in), &endless{s: c.repeat, left: 16 * limit})}
			decode(w, opts)
			if w.most > c.most {
				t.Errorf("a Read was offered %d bytes, want at most %d", w.most, c.most)
			}
		})
	}
	t.Run("names", func(t *testing.T) {
		var b strings.Builder
		for i := range 5000 {
			fmt.Fprintf(&b, "event: name %d\ndata\n\n", i)
		}
		d := sse.NewDecoder(strings.NewReader(b.String()), nil)
		if n := len(drain(d).Items); n != 5000 {
			t.Fatalf("%d events", n)
		}
		if n := sse.Names(d); n > 64 {
			t.Errorf("%d names are kept", n)
		}
	})
}

// TestLinear checks that time grows with the size of a stream and not faster,
// for streams that would tempt a decoder to search or move the same bytes again.
func TestLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const small, factor = 128 << 10, 8
	for _, c := range []struct {
		name string
		make func(size int) string
	}{
		{"CR only", func(n int) string {
			return "data: " + strings.Repeat("x", n/2) + "\r\r" + strings.Repeat("data: y\r\r", n/18)
		}},
		{"LF only", func(n int) string {
			return "data: " + strings.Repeat("x", n/2) + "\n\n" + strings.Repeat("data: y\n\n", n/18)
		}},
		{"one CR far ahead", func(n int) string {
			return "data: " + strings.Repeat("x", n/2) + "\n\n" + strings.Repeat("data: y\n\n", n/18) + "\r"
		}},
		{"one LF far ahead", func(n int) string {
			return "data: " + strings.Repeat("x", n/2) + "\r\r" + strings.Repeat("data: y\r\r", n/18) + "\n"
		}},
		{"many lines of data", func(n int) string { return strings.Repeat("data: y\n", n/8) + "\n" }},
		{"many empty lines", func(n int) string { return strings.Repeat("data\n", n/5) + "\n" }},
		{"comments after data", func(n int) string {
			return "data: " + strings.Repeat("x", n/2) + "\n" + strings.Repeat(": c\n", n/8) + "\n"
		}},
	} {
		for how, part := range map[string]int{"whole": 1 << 30, "bytewise": 1} {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				best := func(size int) time.Duration {
					least := time.Duration(1<<63 - 1)
					for range 3 {
						d := sse.NewDecoder(&pieces{parts: cut([]byte(c.make(size)), part, 0)}, nil)
						start := time.Now()
						for _, err := range d.All() {
							if err != nil {
								t.Fatal(err)
							}
						}
						least = min(least, time.Since(start))
					}
					return least
				}
				// Linear time is a ratio of about 8, square time one of 64. Other
				// programs make single runs slow, but not every one of five tries.
				var one, more time.Duration
				for range 5 {
					if one, more = best(small), best(factor*small); more <= 4*factor*one {
						return
					}
				}
				t.Errorf("%d times the bytes took %v, once %v", factor, more, one)
			})
		}
	}
}

func TestReaderErrors(t *testing.T) {
	broken := errors.New("broken")
	all := &sse.Options{Comments: true, Lines: true, Pending: true}
	for _, withLast := range []bool{false, true} {
		for _, opts := range []*sse.Options{nil, all} {
			r := &pieces{parts: [][]byte{[]byte("data: a\n\ndata: b\n\ndata: c\nstr")}, err: broken, withLast: withLast}
			got := decode(r, opts)
			if got.Err != broken {
				t.Errorf("error %v, want the reader's own", got.Err)
			}
			if !slices.Equal(got.data(), []string{"a", "b"}) {
				t.Errorf("data %q", got.data())
			}
		}
	}
	t.Run("no progress", func(t *testing.T) {
		r := &pieces{parts: append([][]byte{[]byte("data: a\n\ndata: b")}, make([][]byte, 1000)...)}
		got := decode(r, all)
		if got.Err != io.ErrNoProgress || !slices.Equal(got.data(), []string{"a"}) {
			t.Errorf("got %v", got)
		}
		if n := 1000 - len(r.parts); n != 100 {
			t.Errorf("gave up after %d empty reads, want 100", n)
		}
		r = &pieces{parts: append(make([][]byte, 99), []byte("data: a\n\n"))}
		if got := decode(r, nil); got.Err != io.EOF || len(got.Items) != 1 {
			t.Errorf("99 empty reads: %v", got)
		}
	})
	t.Run("impossible count", func(t *testing.T) {
		for _, n := range []int{-1, 1 << 30} {
			if got := decode(liar(n), nil); got.Err == nil || got.Err == io.EOF {
				t.Errorf("count %d: %v", n, got.Err)
			}
		}
	})
	t.Run("event is zero after an error", func(t *testing.T) {
		ev := sse.Event{Kind: sse.KindLine, Type: "x", Data: []byte("x"), ID: "x", Offset: 1}
		if err := sse.NewDecoder(strings.NewReader(""), nil).Decode(&ev); err != io.EOF {
			t.Fatal(err)
		}
		if ev.Kind != 0 || ev.Type != "" || ev.Data != nil || ev.ID != "" || ev.Offset != 0 {
			t.Errorf("event %+v", ev)
		}
	})
	t.Run("no read after the end", func(t *testing.T) {
		r := &onceEOF{t: t}
		got := decode(r, all)
		if got.Err != io.EOF {
			t.Errorf("error %v", got.Err)
		}
	})
}

// onceEOF fails the test if it is read after it returned io.EOF.
type onceEOF struct {
	t     *testing.T
	reads int
}

func (o *onceEOF) Read(b []byte) (int, error) {
	o.reads++
	switch o.reads {
	case 1:
		return copy(b, "data: a\n\ndata: b\nstray"), io.EOF
	default:
		o.t.Error("read again after io.EOF")
		return 0, io.EOF
	}
}

type liar int

func (l liar) Read([]byte) (int, error) { return int(l), nil }

// stalled returns s once, and then fails the test if it is read again before
// the test is ready for it.
type stalled struct {
	t     *testing.T
	s     []byte
	ready bool
}

func (r *stalled) Read(b []byte) (int, error) {
	if len(r.s) == 0 {
		if !r.ready {
			r.t.Error("read again while an event was due")
		}
		return 0, io.EOF
	}
	n := copy(b, r.s)
	r.s = r.s[n:]
	return n, nil
}

// checkPrompt checks that of the first n bytes of s, k events are handed out
// without a read that would block.
func checkPrompt(t *testing.T, s []byte, n, k int) {
	t.Helper()
	r := &stalled{t: t, s: s[:n]}
	d := sse.NewDecoder(r, nil)
	var ev sse.Event
	for i := range k {
		if err := d.Decode(&ev); err != nil {
			t.Fatalf("event %d of the first %d bytes: %v", i, n, err)
		}
	}
	r.ready = true
	if err := d.Decode(&ev); err != io.EOF {
		t.Errorf("more than %d events in the first %d bytes: %v", k, n, err)
	}
}

func TestPrompt(t *testing.T) {
	for _, c := range rules {
		s := []byte(c.in)
		for n := range len(s) + 1 {
			checkPrompt(t, s, n, len(reference(s[:n], nil).Items))
		}
	}
}

func TestReset(t *testing.T) {
	all := &sse.Options{Comments: true, Lines: true, Pending: true}
	d := sse.NewDecoder(strings.NewReader(""), all)
	for _, in := range []string{
		"\ufeffid: 1\nretry: 5\nevent: e\ndata: a\ndata: b", // all kinds of state left over
		"data: a\r\r", // an LF may follow
		"\ndata: b\n\n",
		"\ufeffdata: c\n\nstray",
		"",
		strings.Repeat("data: "+strings.Repeat("x", 5000)+"\r\n", 3) + "\r\n",
		"\xef\xbb",
		"data: d\n\n",
	} {
		d.Reset(strings.NewReader(in))
		if got, want := drain(d), reference([]byte(in), all); !got.equal(want) {
			t.Errorf("%.30q after a reset:\ngot\n%vwant\n%v", in, got, want)
		}
	}
	d = sse.NewDecoder(&pieces{err: errors.New("broken")}, &sse.Options{MaxEventBytes: 2})
	drain(d)
	d.Reset(strings.NewReader("data: abc\n\n"))
	var le *sse.LimitError
	if got := drain(d); !errors.As(got.Err, &le) {
		t.Errorf("the options were lost: %v", got)
	}
}

func TestNoAllocation(t *testing.T) {
	lf := bytes.Repeat([]byte("event: one\nid: 7\ndata: a\n\n: ping\n\nevent: two\ndata: b\ndata: c\n\nstray\nretry: 5\n"), 50)
	for name, in := range map[string][]byte{
		"LF":   lf,
		"CRLF": bytes.ReplaceAll(lf, []byte("\n"), []byte("\r\n")),
		"CR":   bytes.ReplaceAll(lf, []byte("\n"), []byte("\r")),
		"long": []byte("data: " + strings.Repeat("x", 100000) + "\n\n"),
	} {
		d := sse.NewDecoder(nil, &sse.Options{Comments: true, Lines: true})
		r := bytes.NewReader(nil)
		var ev sse.Event
		run := func() {
			r.Reset(in)
			d.Reset(r)
			for d.Decode(&ev) == nil {
			}
		}
		run()
		// The id is a new string once for each stream.
		if got, want := testing.AllocsPerRun(10, run), float64(bytes.Count(in[:min(len(in), 20)], []byte("id: 7"))); got > want {
			t.Errorf("%s: %v allocations per stream, want %v", name, got, want)
		}
	}
}

func TestData(t *testing.T) {
	d := sse.NewDecoder(strings.NewReader("data: a\n\ndata: b\n\nevent: e\ndata\n\n"), nil)
	var a, b sse.Event
	if err := d.Decode(&a); err != nil {
		t.Fatal(err)
	}
	_ = append(a.Data, "!!!!!!!!!!"...) // must not reach the decoder's buffer
	if err := d.Decode(&b); err != nil || string(b.Data) != "b" {
		t.Fatalf("data %q, %v", b.Data, err)
	}
	if err := d.Decode(&b); err != nil || b.Data == nil || len(b.Data) != 0 {
		t.Fatalf("empty data %#v, %v", b.Data, err)
	}
	if a.Type != "message" || b.Type != "e" {
		t.Errorf("types %q and %q", a.Type, b.Type)
	}
}

func TestAll(t *testing.T) {
	broken := errors.New("broken")
	d := sse.NewDecoder(&pieces{parts: [][]byte{[]byte("data: a\n\ndata: b\n\ndata: c\n\n")}, err: broken}, nil)
	var got []string
	for ev, err := range d.All() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(ev.Data))
		break
	}
	for ev, err := range d.All() {
		if err != nil {
			if ev != nil {
				t.Errorf("event %v with an error", ev)
			}
			got = append(got, err.Error())
			continue
		}
		got = append(got, string(ev.Data))
	}
	if want := []string{"a", "b", "c", "broken"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for ev, err := range sse.NewDecoder(strings.NewReader(": c\n\n"), nil).All() {
		t.Errorf("got %v, %v", ev, err)
	}
}

func TestKindString(t *testing.T) {
	got := fmt.Sprint(sse.KindEvent, sse.KindComment, sse.KindLine, sse.KindPending, sse.Kind(9))
	if want := "event comment line pending Kind(9)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
