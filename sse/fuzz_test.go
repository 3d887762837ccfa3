package sse_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/handwire/handwire/sse"
)

// reference decodes a whole stream by the steps of the standard, taken
// literally, and notes what opts asks for besides. It knows no limit.
func reference(stream []byte, opts *sse.Options) (res result) {
	if opts == nil {
		opts = &sse.Options{}
	}
	res.Err = io.EOF
	s, base := string(stream), 0
	if strings.HasPrefix(s, "\ufeff") {
		s, base = s[3:], 3
	}
	var (
		data     []byte
		name, id string
		at       = base // of the line
		block    = base
	)
	emit := func(it item, end int) {
		it.End = int64(end)
		res.Items = append(res.Items, it)
		res.Offset = it.End
	}
	typeOf := func() string {
		if name == "" {
			return "message"
		}
		return name
	}
	process := func(line string, end int) {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "":
			if opts.Comments {
				emit(item{Kind: sse.KindComment, Data: line[1:], ID: res.LastEventID, Offset: int64(at)}, end)
			}
		case "event":
			name = value
		case "data":
			data = append(data, value+"\n"...)
		case "id":
			if !strings.Contains(value, "\x00") {
				id = value
			}
		case "retry":
			if value == "" || strings.Trim(value, "0123456789") != "" {
				break
			}
			const most = int64(1<<63-1) / int64(time.Millisecond)
			ms, err := strconv.ParseInt(value, 10, 64)
			if err != nil || ms > most {
				ms = most
			}
			res.Retry, res.HasRetry = time.Duration(ms)*time.Millisecond, true
		default:
			if opts.Lines {
				emit(item{Kind: sse.KindLine, Data: line, ID: res.LastEventID, Offset: int64(at)}, end)
			}
		}
	}
	for {
		i := strings.IndexAny(s, "\r\n")
		if i < 0 {
			break
		}
		line, end := s[:i], at+i+1
		n := i + 1
		if strings.HasPrefix(s[i:], "\r\n") {
			n++
		}
		if line == "" {
			res.LastEventID = id
			if len(data) > 0 {
				emit(item{Type: typeOf(), Data: string(data[:len(data)-1]), ID: res.LastEventID, Offset: int64(block)}, end)
			}
			data, name, block = nil, "", at+n
		} else {
			process(line, end)
		}
		s, at = s[n:], at+n
	}
	if s != "" && s[0] != ':' && (opts.Lines || opts.Pending) {
		retry, hasRetry := res.Retry, res.HasRetry
		process(s, len(stream))
		res.Retry, res.HasRetry = retry, hasRetry
	}
	if len(data) > 0 && opts.Pending {
		emit(item{Kind: sse.KindPending, Type: typeOf(), Data: string(data[:len(data)-1]), ID: id, Offset: int64(block)}, len(stream))
	}
	return res
}

// FuzzDecode compares the decoder with the reference, with the stream divided
// in many ways, and checks that a limit does not depend on the division.
func FuzzDecode(f *testing.F) {
	for _, c := range rules {
		f.Add([]byte(c.in), uint64(len(c.in)))
	}
	f.Add([]byte(": ok\r\n\r\nevent: e\r\ndata: 1\r\n\r\n{\"error\": 1}\ndata: 2\r\rid: \x00\nretry: 12\n\ndata: 3\ndata:4"), uint64(1))
	f.Add(bytes.Repeat([]byte("event: e\ndata: 0123456789\n\n"), 300), uint64(2))
	f.Fuzz(func(t *testing.T, s []byte, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		for _, opts := range []*sse.Options{nil, {Comments: true, Lines: true, Pending: true}, {Lines: true}, {Pending: true}, {Comments: true}} {
			check := func(how string, want result, opts *sse.Options) {
				compare := func(r io.Reader) {
					if got := decode(r, opts); !got.equal(want) {
						t.Fatalf("%q, %s, options %+v:\ngot\n%vwant\n%v", s, how, opts, got, want)
					}
				}
				compare(bytes.NewReader(s))
				compare(&pieces{parts: cut(s, 1, 0)})
				if len(s) <= 256 {
					for i := range s {
						compare(&pieces{parts: [][]byte{s[:i], s[i:]}, withLast: i%2 == 0})
					}
				}
				for range 3 {
					compare(&pieces{parts: cutRandom(s, rnd)})
				}
			}
			free := reference(s, opts)
			check("no limit", free, opts)

			limited := sse.Options{MaxEventBytes: 1 + int(seed%40)}
			if opts != nil {
				limited.Comments, limited.Lines, limited.Pending = opts.Comments, opts.Lines, opts.Pending
			}
			want := decode(bytes.NewReader(s), &limited)
			check("limit", want, &limited)
			if n := len(want.Items); n > len(free.Items) || !slices.Equal(want.Items, free.Items[:n]) {
				t.Fatalf("%q: with a limit\n%vwithout\n%v", s, want, free)
			}
			for _, it := range want.Items {
				if len(it.Data) > limited.MaxEventBytes {
					t.Fatalf("%q: %d bytes, limit %d", s, len(it.Data), limited.MaxEventBytes)
				}
			}
			var le *sse.LimitError
			if want.Err != io.EOF && !errors.As(want.Err, &le) {
				t.Fatalf("%q: error %v", s, want.Err)
			}
			if want.Err == io.EOF && !want.equal(free) {
				t.Fatalf("%q: no limit error, but\n%vinstead of\n%v", s, want, free)
			}
		}
	})
}
