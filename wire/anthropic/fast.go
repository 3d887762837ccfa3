package anthropic

import (
	"strings"
	"unsafe"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// deltaForms are the deltas that a stream consists of, as the vendor spells them.
var deltaForms = [...]struct {
	text string
	kind wire.PartKind
}{
	{`text_delta","text":`, wire.PartText},
	{`input_json_delta","partial_json":`, wire.PartToolCall},
	{`thinking_delta","thinking":`, wire.PartReasoning},
}

// usualDelta reads a delta in exactly the vendor's spelling, in one pass: what
// stands around the text is compared, and the text is checked while its end is
// looked for. It reports false for everything else, also for what is no JSON, and
// has then done nothing: the general way decides what it is.
func (d *decoder) usualDelta(dst []wire.Event, data []byte) ([]wire.Event, bool) {
	s, ok := strings.CutPrefix(unsafe.String(unsafe.SliceData(data), len(data)), `{"type":"content_block_delta","index":`)
	if !ok {
		return dst, false
	}
	index, i := 0, 0
	for i < len(s) && i < 4 && s[i]-'0' <= 9 {
		index = index*10 + int(s[i]-'0')
		i++
	}
	if i == 0 || i > 1 && s[0] == '0' {
		return dst, false
	}
	if s, ok = strings.CutPrefix(s[i:], `,"delta":{"type":"`); !ok {
		return dst, false
	}
	for f := range deltaForms {
		form := &deltaForms[f]
		if len(s) < len(form.text) || s[:len(form.text)] != form.text {
			continue
		}
		s = s[len(form.text):]
		n, plain := jsonw.ScanString(s)
		if n == 0 || strings.TrimRight(s[n:], " ") != "}}" {
			return dst, false
		}
		b := d.find(index)
		if b == nil || b.kind != form.kind {
			return dst, false
		}
		return d.text(dst, b, jsonw.Value(s[:n]), plain), true
	}
	return dst, false
}
