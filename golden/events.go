package golden

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/handwire/handwire/wire"
)

// AppendEvents appends the text form of events, a line for each.
func AppendEvents(dst []byte, events []wire.Event) []byte {
	for i := range events {
		dst = AppendEvent(dst, &events[i])
	}
	return dst
}

// AppendEvent appends the text form of ev, which the package comment describes:
// one line with its line end.
func AppendEvent(dst []byte, ev *wire.Event) []byte {
	dst = append(dst, ev.Kind...)
	dst = append(dst, ' ')
	switch ev.Kind {
	case wire.EventStart:
		dst = appendJSON(dst, ev.Start)
	case wire.EventPartStart, wire.EventPartEnd:
		dst = appendPart(dst, ev)
		if ev.Data != nil {
			d := partData(*ev.Data)
			d.Kind = ""
			dst = append(dst, ' ')
			dst = appendJSON(dst, d)
		}
	case wire.EventDelta:
		dst = appendPart(dst, ev)
		dst = append(dst, ' ')
		dst = appendText(dst, ev.Delta)
	case wire.EventUsage:
		dst = appendJSON(dst, ev.Usage)
	case wire.EventNote:
		dst = appendJSON(dst, ev.Note)
	case wire.EventOther:
		dst = appendText(dst, ev.Raw)
	case wire.EventEnd:
		dst = appendJSON(dst, ev.End)
		if ev.Raw != "" {
			dst = append(dst, ' ')
			dst = appendText(dst, ev.Raw)
		}
	default:
		dst = appendJSON(dst, ev)
	}
	return append(dst, '\n')
}

func appendPart(dst []byte, ev *wire.Event) []byte {
	dst = strconv.AppendInt(dst, int64(ev.Index), 10)
	dst = append(dst, ' ')
	return append(dst, ev.Part...)
}

// partData is a wire.Part whose kind can be left out. The conversion between
// the two compiles only as long as they have the same fields.
type partData struct {
	Kind     wire.PartKind   `json:"kind,omitempty"`
	Text     string          `json:"text,omitempty"`
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name,omitempty"`
	Args     string          `json:"args,omitempty"`
	FreeForm bool            `json:"free_form,omitempty"`
	IsError  bool            `json:"is_error,omitempty"`
	Partial  bool            `json:"partial,omitempty"`
	Parts    []wire.Part     `json:"parts,omitempty"`
	Media    *wire.Media     `json:"media,omitempty"`
	Cache    *wire.CacheMark `json:"cache,omitempty"`
	Vendor   string          `json:"vendor,omitempty"`
	Item     string          `json:"item,omitempty"`
}

// appendText appends s as a JSON string and, if it is not UTF-8, its bytes.
func appendText(dst []byte, s string) []byte {
	dst = appendJSON(dst, s)
	if !utf8.ValidString(s) {
		dst = append(dst, " hex:"...)
		dst = hex.AppendEncode(dst, []byte(s))
	}
	return dst
}

// appendJSON appends v as encoding/json writes it, without HTML escaping.
func appendJSON(dst []byte, v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return strconv.AppendQuote(dst, err.Error())
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// sameEvents reports whether a and b have the same text form.
func sameEvents(a, b []wire.Event) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if *x == *y {
			continue
		}
		if x.Kind == wire.EventDelta && y.Kind == wire.EventDelta {
			return false
		}
		// The text is the slow way; only the Go error behind an Error makes two
		// events of the same text differ here.
		if !reflect.DeepEqual(x, y) && !bytes.Equal(AppendEvent(nil, x), AppendEvent(nil, y)) {
			return false
		}
	}
	return true
}
