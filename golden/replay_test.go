package golden_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/handwire/handwire/golden"
	"github.com/handwire/handwire/wire"
)

func load(t *testing.T, dir string) *golden.Fixture {
	t.Helper()
	f, err := golden.Load(os.DirFS("testdata"), dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// both runs a test against a replay and against a server. ask posts a body; errs
// returns what the replay or server remembers.
func both(t *testing.T, f *golden.Fixture, opts *golden.ServeOptions, test func(t *testing.T, ask func(context.Context, []byte) (*http.Response, error), errs func() error)) {
	t.Helper()
	post := func(c *http.Client, url string) func(context.Context, []byte) (*http.Response, error) {
		return func(ctx context.Context, body []byte) (*http.Response, error) {
			req, err := http.NewRequestWithContext(ctx, "POST", url, bytes.NewReader(body))
			if err != nil {
				return nil, err
			}
			return c.Do(req)
		}
	}
	t.Run("replay", func(t *testing.T) {
		r := golden.NewReplay(f, opts)
		test(t, post(&http.Client{Transport: r}, "https://toy.invalid/v1"), r.Err)
	})
	t.Run("server", func(t *testing.T) {
		s, err := golden.Serve(f, opts)
		if err != nil {
			t.Fatal(err)
		}
		tr := &http.Transport{}
		defer tr.CloseIdleConnections()
		test(t, post(&http.Client{Transport: tr}, s.URL+"/any/path"), s.Err)
		if got, want := s.Close(), s.Err(); got != want {
			t.Errorf("Close = %v, Err = %v", got, want)
		}
	})
}

// read reads a body to its end and returns what came and what ended it.
func read(t *testing.T, resp *http.Response, err error) (string, error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return string(data), err
}

func TestReplay(t *testing.T) {
	f := load(t, "toy/tool")
	for _, faults := range []golden.Faults{
		{}, {Piece: 1}, {Piece: 7, Delay: time.Microsecond}, {Split: 20}, {Split: 20, Piece: 64}, {Split: 1 << 20}, {Wait: time.Millisecond},
		{Break: golden.BreakCut, At: 1 << 20},
	} {
		t.Run(fmt.Sprintf("%+v", faults), func(t *testing.T) {
			both(t, f, &golden.ServeOptions{Faults: faults}, func(t *testing.T, ask func(context.Context, []byte) (*http.Response, error), errs func() error) {
				for i := range 2 {
					turn := f.Turns[i]
					resp, err := ask(t.Context(), turn.RequestBody)
					got, err := read(t, resp, err)
					if got != string(turn.Response) || err != nil {
						t.Fatalf("turn %d: got %q, %v", i+1, got, err)
					}
					if resp.StatusCode != 200 {
						t.Errorf("turn %d: status %s", i+1, resp.Status)
					}
					for _, h := range turn.Header {
						if got := resp.Header.Values(h.Name); len(got) != 1 || got[0] != h.Value {
							t.Errorf("turn %d: header %s is %q, want %q", i+1, h.Name, got, h.Value)
						}
					}
				}
				if err := errs(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The pieces are the reads of a replay.
func TestReplayPieces(t *testing.T) {
	f := load(t, "toy/tool")
	r := golden.NewReplay(f, &golden.ServeOptions{Faults: golden.Faults{Split: 10, Piece: 100}})
	resp, err := (&http.Client{Transport: r}).Post("https://toy.invalid", "", bytes.NewReader(f.Turns[0].RequestBody))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got []int
	for p := make([]byte, 4096); ; {
		n, err := resp.Body.Read(p)
		if err != nil {
			break
		}
		got = append(got, n)
	}
	if len(got) < 3 || got[0] != 10 || got[1] != 100 || got[2] != 100 {
		t.Errorf("reads of %v bytes", got)
	}
}

func TestBreaks(t *testing.T) {
	f := load(t, "toy/tool")
	for _, at := range []int{0, 1, 100, len(f.Turns[0].Response), 1 << 20} {
		want := string(f.Turns[0].Response[:min(at, len(f.Turns[0].Response))])
		for _, brk := range []golden.Break{golden.BreakCut, golden.BreakReset, golden.BreakStall} {
			t.Run(fmt.Sprintf("%s at %d", brk, at), func(t *testing.T) {
				opts := &golden.ServeOptions{Faults: golden.Faults{Break: brk, At: at, Piece: 50}}
				both(t, f, opts, func(t *testing.T, ask func(context.Context, []byte) (*http.Response, error), errs func() error) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					resp, err := ask(ctx, f.Turns[0].RequestBody)
					if brk == golden.BreakStall && err == nil {
						resp.Body = &cancelAfter{ReadCloser: resp.Body, n: len(want), cancel: cancel}
					}
					got, err := read(t, resp, err)
					if got != want {
						t.Errorf("got %q, want %q", got, want)
					}
					switch brk {
					case golden.BreakCut:
						if err != nil {
							t.Errorf("a clean end gives %v", err)
						}
					case golden.BreakReset:
						if !errors.Is(err, io.ErrUnexpectedEOF) {
							t.Errorf("a broken connection gives %v", err)
						}
					case golden.BreakStall:
						if !errors.Is(err, context.Canceled) {
							t.Errorf("silence and then cancelling gives %v", err)
						}
					}
					if err := errs(); err != nil {
						t.Errorf("a fault on demand is remembered as %v", err)
					}
				})
			})
		}
	}
}

// cancelAfter cancels, a little later, once n bytes were read.
type cancelAfter struct {
	io.ReadCloser
	n      int
	cancel func()
}

func (c *cancelAfter) Read(p []byte) (int, error) {
	if c.n <= 0 {
		time.AfterFunc(time.Millisecond, c.cancel)
	}
	n, err := c.ReadCloser.Read(p)
	c.n -= n
	return n, err
}

// A server that is silent can be closed, and a body that is silent too.
func TestCloseWhileStalled(t *testing.T) {
	f := load(t, "toy/tool")
	opts := &golden.ServeOptions{Faults: golden.Faults{Break: golden.BreakStall}}
	s, err := golden.Serve(f, opts)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(s.URL, "", bytes.NewReader(f.Turns[0].RequestBody))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := read(t, resp, nil); err == nil {
		t.Error("the body of a closed server ends cleanly")
	}

	r := golden.NewReplay(f, opts)
	resp, err = (&http.Client{Transport: r}).Post("https://toy.invalid", "", bytes.NewReader(f.Turns[0].RequestBody))
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(time.Millisecond, func() { resp.Body.Close() })
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("a closed body ends cleanly")
	}
}

// A status on demand leaves the turn for the next request.
func TestStatus(t *testing.T) {
	f := load(t, "toy/tool")
	opts := &golden.ServeOptions{Each: func(request int) golden.Faults {
		if request == 1 {
			return golden.Faults{Status: 529, Body: []byte("busy"), Header: []wire.Header{{Name: "Retry-After", Value: "1"}}}
		}
		return golden.Faults{}
	}}
	both(t, f, opts, func(t *testing.T, ask func(context.Context, []byte) (*http.Response, error), errs func() error) {
		resp, err := ask(t.Context(), f.Turns[0].RequestBody)
		if got, err := read(t, resp, err); got != "busy" || err != nil || resp.StatusCode != 529 || resp.Header.Get("Retry-After") != "1" {
			t.Errorf("got %q, %v, status %s, headers %v", got, err, resp.Status, resp.Header)
		}
		resp, err = ask(t.Context(), f.Turns[0].RequestBody)
		if got, err := read(t, resp, err); got != string(f.Turns[0].Response) || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if err := errs(); err != nil {
			t.Error(err)
		}
	})
	// The recording can have another status too.
	f = load(t, "toy/refused")
	both(t, f, nil, func(t *testing.T, ask func(context.Context, []byte) (*http.Response, error), _ func() error) {
		resp, err := ask(t.Context(), f.Turns[0].RequestBody)
		if got, err := read(t, resp, err); got != `{"msg":"too fast"}` || err != nil || resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "3" {
			t.Errorf("got %q, %v, status %s, headers %v", got, err, resp.Status, resp.Header)
		}
	})
}

// A status that ends no request is refused, on demand or in a fixture made by
// hand.
func TestNoStatus(t *testing.T) {
	for _, status := range []int{-1, 0, 99, 101, 199, 600, 1000} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			opts := &golden.ServeOptions{Faults: golden.Faults{Status: status}}
			f := load(t, "toy/tool")
			f.Turns[0].Status = status
			both(t, f, opts, func(t *testing.T, ask func(context.Context, []byte) (*http.Response, error), errs func() error) {
				want := fmt.Sprintf("golden: request 1 cannot be answered with status %d, only with one from 200 to 599", status)
				resp, err := ask(t.Context(), f.Turns[0].RequestBody)
				if err == nil {
					got, _ := read(t, resp, nil)
					if resp.StatusCode != 400 {
						t.Errorf("the answer is %s", resp.Status)
					}
					err = errors.New(got)
				}
				if !strings.Contains(err.Error(), want) || errs() == nil || errs().Error() != want {
					t.Errorf("got %v, and %v is remembered", err, errs())
				}
			})
		})
	}
}

// Without a fixture there is an error, and no panic.
func TestNoFixture(t *testing.T) {
	var zero golden.Replay
	for _, r := range []*golden.Replay{&zero, golden.NewReplay(nil, nil)} {
		if r.Err() != nil || r.Requests() != 0 {
			t.Errorf("before a request: %v, %d requests", r.Err(), r.Requests())
		}
		_, err := (&http.Client{Transport: r}).Get("https://toy.invalid")
		if err == nil || !strings.Contains(err.Error(), "there is no fixture") || r.Err() == nil || r.Requests() != 1 {
			t.Errorf("got %v, %v, %d requests", err, r.Err(), r.Requests())
		}
	}
}

func TestMismatch(t *testing.T) {
	f := load(t, "toy/tool")
	first, second := f.Turns[0].RequestBody, f.Turns[1].RequestBody
	other := append(bytes.Clone(second[:30]), "other"...)
	tests := []struct {
		name   string
		opts   *golden.ServeOptions
		bodies [][]byte // the last one is refused
		want   []string
	}{
		{"bytes", nil, [][]byte{first, other}, []string{"golden: request 2 differs at byte 30, line 1: want (", "other"}},
		{"order", nil, [][]byte{second}, []string{"golden: request 1 differs at byte"}},
		{"too many", nil, [][]byte{first, second, first}, []string{"golden: request 3 has no response in toy/tool"}},
		{"any order", &golden.ServeOptions{AnyOrder: true}, [][]byte{second, first, second, other}, []string{"no turn of toy/tool has this request", "differs at byte 30"}},
		{"own match", &golden.ServeOptions{Match: func(turn int, body []byte) error {
			if len(body) != turn {
				return fmt.Errorf("%d bytes, want %d", len(body), turn)
			}
			return nil
		}}, [][]byte{[]byte("1"), []byte("22"), []byte("333")}, []string{"request 3 has no response"}},
		{"own refusal", &golden.ServeOptions{Match: func(int, []byte) error { return errors.New("not today") }},
			[][]byte{first}, []string{"golden: request 1 does not match: not today"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			both(t, f, tt.opts, func(t *testing.T, ask func(context.Context, []byte) (*http.Response, error), errs func() error) {
				last := len(tt.bodies) - 1
				for i, body := range tt.bodies[:last] {
					resp, err := ask(t.Context(), body)
					if _, err := read(t, resp, err); err != nil || resp.StatusCode != 200 {
						t.Fatalf("request %d: %s, %v", i+1, resp.Status, err)
					}
				}
				if err := errs(); err != nil {
					t.Fatal(err)
				}
				var message string
				resp, err := ask(t.Context(), tt.bodies[last])
				if err != nil {
					message = err.Error()
				} else {
					got, _ := read(t, resp, nil)
					var answer struct {
						Type  string
						Error struct{ Type, Message string }
					}
					if err := json.Unmarshal([]byte(got), &answer); err != nil || resp.StatusCode != 400 ||
						answer.Type != "error" || answer.Error.Type != "invalid_request_error" {
						t.Errorf("the answer is %s %q", resp.Status, got)
					}
					message = answer.Error.Message
				}
				if errs() == nil || !strings.Contains(message, errs().Error()) {
					t.Errorf("the message is %q, and %v is remembered", message, errs())
				}
				for _, want := range tt.want {
					if !strings.Contains(message, want) {
						t.Errorf("the message is %q, it lacks %q", message, want)
					}
				}
			})
		})
	}
}

// A request without a body is answered like any other, and one whose context is
// over is not asked.
func TestReplayOdd(t *testing.T) {
	r := golden.NewReplay(load(t, "toy/tool"), &golden.ServeOptions{Match: func(_ int, body []byte) error {
		if body != nil {
			return errors.New("a body")
		}
		return nil
	}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, _ := http.NewRequestWithContext(ctx, "GET", "https://toy.invalid", nil)
	if _, err := r.RoundTrip(req); !errors.Is(err, context.Canceled) || r.Requests() != 0 {
		t.Errorf("error %v, %d requests", err, r.Requests())
	}
	resp, err := (&http.Client{Transport: r}).Get("https://toy.invalid")
	if got, err := read(t, resp, err); got == "" || err != nil || r.Requests() != 1 {
		t.Errorf("got %q, %v, %d requests", got, err, r.Requests())
	}
}
