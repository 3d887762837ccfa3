package codec_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

func TestPlace(t *testing.T) {
	for want, p := range map[string]codec.Place{
		"model":                          codec.Field("model"),
		"tools[3]":                       codec.Item("tools", 3),
		"messages[2].parts[0]":           codec.Part(2, 0),
		"messages[2].parts[10].parts[1]": codec.Part(2, 10).Inner(1),
	} {
		if got := p.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if got := p.List(); !strings.HasPrefix(want, got) || got == "" {
			t.Errorf("%s is in %q", want, got)
		}
	}
	order := []codec.Place{codec.Part(0, 9), codec.Part(1, 0), codec.Part(1, 0).Inner(0), codec.Part(1, 0).Inner(2), codec.Part(1, 1), codec.Part(10, 0)}
	for i := range order {
		for j := range order {
			if got := order[i].Compare(order[j]); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s against %s: %d", order[i], order[j], got)
			}
		}
	}
}

func TestNames(t *testing.T) {
	for s, want := range map[string]bool{"": false, "a": true, "A_z-09": true, "a b": false, "a.b": false, "é": false, strings.Repeat("x", 64): true, strings.Repeat("x", 65): false} {
		if got := codec.ValidName(s, 64); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
	seen := map[string]string{}
	for _, s := range []string{"", "a", "b", "call_1|fc_0:β", "call_1|fc_0:γ", strings.Repeat("x", 500), strings.Repeat("x", 501), "\xff", "\xfe\xff"} {
		for _, most := range []int{18, 40, 64} {
			got := codec.SafeName(s, most)
			if !codec.ValidName(got, most) || got != codec.SafeName(s, most) {
				t.Errorf("%q becomes %q", s, got)
			}
			if old, ok := seen[got]; ok && old != s {
				t.Errorf("%q and %q both become %q", old, s, got)
			}
			seen[got] = s
		}
		var loaded string // what encoding/json makes of it
		if b, err := json.Marshal(s); err != nil || json.Unmarshal(b, &loaded) != nil || codec.SafeName(loaded, 40) != codec.SafeName(s, 40) {
			t.Errorf("%q has another name once it was saved", s)
		}
	}
}

func TestMembers(t *testing.T) {
	var m codec.Members
	if got := m.Object(); got != "" {
		t.Errorf("nothing is %q", got)
	}
	m.Set("b", `1.0`)
	m.AppendText("t", `"x\u00e9"`)
	m.AppendItem("l", `{"a": 1}`)
	m.Set("b", `[ 2 ]`)
	m.AppendText("t", `"\"y"`)
	m.AppendItem("l", `"]"`)
	m.Set("e", `[ ]`)
	m.AppendItem("e", `3`)
	m.Set("s", `"a"`)
	m.AppendItem("s", `4`)
	m.AppendText("b", `"z"`)
	const want = `{"b":"z","t":"x\u00e9\"y","l":[{"a": 1},"]"],"e":[3],"s":[4]}`
	if got := m.Object(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for i := range 1000 { // past the length from which an index is kept
		m.Set("k"+strconv.Itoa(i), jsonw.Value(strconv.Itoa(i)))
	}
	for i := range 1000 {
		if got := string(m.At("k" + strconv.Itoa(i)).Raw); got != strconv.Itoa(i) {
			t.Fatalf("member %d is %s", i, got)
		}
	}
	if len(m.List) != 1005 || !json.Valid([]byte(m.Object())) {
		t.Errorf("%d members: %.100s", len(m.List), m.Object())
	}
}

func TestTexts(t *testing.T) {
	var texts codec.Texts
	var kept []string
	var want []string
	high := rune(0)
	for i := range 2000 {
		s := strings.Repeat("é"+strconv.Itoa(i), i%50)
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		got, high = texts.Text(high, jsonw.Value(raw), true)
		kept, want = append(kept, got), append(want, s)
	}
	for i := range kept { // later pieces change no earlier one
		if kept[i] != want[i] {
			t.Fatalf("piece %d is %q, want %q", i, kept[i], want[i])
		}
	}
	s, high := texts.Text(0, `"a\ud83c"`, false)
	if s != "a" || high == 0 {
		t.Errorf("%q, %x", s, high)
	}
	if s, high = texts.Text(high, `"\udf0db"`, false); s != "🌍b" || high != 0 {
		t.Errorf("%q, %x", s, high)
	}
	_, high = texts.Text(0, `"\ud83c"`, false)
	if s, high = texts.Text(high, `"b"`, true); s != "\ufffdb" || high != 0 {
		t.Errorf("%q, %x", s, high)
	}
	big := jsonw.Value(`"` + strings.Repeat("x", 10_000) + `"`)
	if s, _ := texts.Text(0, big, true); len(s) != 10_000 {
		t.Errorf("%d bytes", len(s))
	}
}
