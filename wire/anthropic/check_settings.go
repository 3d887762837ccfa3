package anthropic

import (
	"slices"
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

const maxStopSequences = 100

// settings judges the fields of the request that are single values.
func (c *checker) settings() {
	r := c.e.r
	for i := range r.System {
		if p := &r.System[i]; p.Kind == wire.PartText && codec.Blank(p.Text) {
			c.add(codec.Item("system", i), "", "a text must have more than white space", "remove the part"+encodeOmits) // 3.3
			if p.Cache != nil {                                                                                         // 2.4
				c.add(codec.Item("system", i), ".cache", "an empty text cannot carry a cache mark", "mark a part that is sent")
			}
		}
	}
	if most := c.limits.maxTokens; most > 0 && r.MaxTokens > most { // 2.1
		c.add(codec.Field("max_tokens"), "", r.Model+" writes at most "+strconv.Itoa(most)+" tokens", "ask for fewer")
	}
	c.reasoningSettings()
	c.sampling()
	if n := len(r.StopSequences); n > maxStopSequences { // 2.1: a cap of ours
		c.add(codec.Field("stop_sequences"), "", "more than 100 stop sequences are likely a mistake; the vendor documents no limit, this one is the codec's own", "give fewer")
	}
	if strings.Contains(r.UserID, "@") { // 2.1: opaque, no personal data
		c.add(codec.Field("user_id"), "", "a user id is opaque and no mail address", "send a hash or a number of your own")
	}
	if t := r.ServiceTier; t != "" && t != "auto" && t != "standard_only" { // 2.1
		c.add(codec.Field("service_tier"), "", "there is no service tier "+strconv.Quote(t), "auto or standard_only, or leave it out")
	}
	managed := slices.ContainsFunc(r.Extra, func(f wire.Field) bool { return f.Name == "context_management" })
	for i := range r.Extra {
		f := &r.Extra[i]
		if f.Name == "compaction" && managed { // 2.8
			c.add(codec.Item("extra", i), "", "compaction cannot be combined with context_management", "leave one of them out")
		}
		if jsonw.Valid(f.Raw) {
			c.extra(codec.Item("extra", i), f.Name, jsonw.Parse(f.Raw))
		}
	}
	if n, _, _ := hostLimits(r.Endpoint); len(c.e.B) > n { // 1.6, 2.3
		c.add(codec.Field(""), "", "the body of a request has at most "+strconv.Itoa(n>>20)+" MB, not "+strconv.Itoa(len(c.e.B))+" bytes", "leave out images and documents of old turns, or upload them as files")
	}
}

// reasoningSettings judges the settings of reasoning that Encode lets pass.
func (c *checker) reasoningSettings() {
	g := c.e.r.Reasoning
	if g == nil {
		return
	}
	at := codec.Field("reasoning")
	off := g.Mode == wire.ReasoningOff
	switch g.Display { // 2.6
	case "":
	case "summarized", "omitted", "updates":
		if off {
			c.add(at, ".display", "there is nothing to display with thinking off", "leave the display out"+encodeOmits)
		} else if g.Display == "updates" && !c.beta("thinking-display-updates-") { // 1.4
			c.add(at, ".display", "the display updates needs a beta", "add thinking-display-updates-2026-08-18 to Betas")
		}
	default:
		c.add(at, ".display", "there is no display "+strconv.Quote(g.Display), "summarized or omitted, or leave it out")
	}
	switch names := strings.Fields(c.limits.effort); { // 2.1, 2.6
	case g.Effort == "":
	case !c.e.family.effort:
		c.add(at, ".effort", c.e.r.Model+" takes no effort", "leave it out"+encodeOmits)
	case !slices.Contains(names, g.Effort):
		c.add(at, ".effort", c.e.r.Model+" has no effort "+strconv.Quote(g.Effort), "one of "+strings.Join(names, ", "))
	case off && c.limits.offAtHigh && (g.Effort == "xhigh" || g.Effort == "max"):
		c.add(at, ".effort", c.e.r.Model+" thinks at every effort above high, and thinking is off", "lower the effort to high, or leave thinking on")
	}
}

// sampling judges temperature, top_p and top_k.
func (c *checker) sampling() {
	r := c.e.r
	thinking := c.thinking.on && c.known
	why := ""
	switch {
	case c.e.codec.version() == Version20261021: // 1.3
		why = "API version " + Version20261021 + " refuses it, whatever the value"
	case !c.e.family.sampling: // 2.1, 1.3: newer models accept only defaults
		why = r.Model + " takes the default only"
	}
	fixed := why != "" && c.e.codec.version() != Version20261021
	const remedy = "leave it out" + encodeOmits
	number := func(name string, v *float64, low, high float64, withThinking bool) {
		switch {
		case v == nil || !jsonw.IsFinite(*v) || fixed && *v == 1:
		case why != "":
			c.add(codec.Field(name), "", why, remedy)
		case thinking && !withThinking: // 2.1, 2.6
			c.add(codec.Field(name), "", "it cannot be combined with thinking", remedy)
		case *v < low || *v > high: // 2.1
			c.add(codec.Field(name), "", "it is a number from "+strconv.FormatFloat(low, 'g', -1, 64)+" to "+strconv.FormatFloat(high, 'g', -1, 64), "move it into the range")
		}
	}
	number("temperature", r.Temperature, 0, 1, false)
	low := 0.0
	if thinking {
		low = 0.95
	}
	number("top_p", r.TopP, low, 1, true)
	switch {
	case r.TopK == nil:
	case why != "":
		c.add(codec.Field("top_k"), "", why, remedy)
	case thinking: // 2.1
		c.add(codec.Field("top_k"), "", "it cannot be combined with thinking", remedy)
	}
}

// extraBetas returns the names of the betas of which a top-level field needs one.
// 2.1 for the fields, 1.4 for the names.
func extraBetas(name string) []string {
	switch name {
	case "context_management":
		return []string{"context-management-2025-06-27", "compact-2026-01-12"}
	case "compaction":
		return []string{"compact-2026-09-04"}
	case "mcp_servers":
		return []string{"mcp-client-"}
	case "fallbacks":
		return []string{"server-side-fallback-2026-07-01", "server-side-fallback-2026-06-01"}
	case "fallback_credit_token":
		return []string{"fallback-credit-"}
	case "thread":
		return []string{"message-threads-"}
	case "output_format":
		return []string{"structured-outputs-"}
	}
	return nil
}

// extra judges a top-level field that the codec does not write. Names that are
// unknown are let through.
func (c *checker) extra(at codec.Place, name string, v jsonw.Value) {
	if betas := extraBetas(name); betas != nil && !c.beta(betas...) {
		c.add(at, "", name+" needs a beta", "add "+strings.TrimSuffix(betas[0], "-")+" to Betas, with its date")
	}
	switch name {
	case "speed": // 2.1
		if s := v.Str(); s != "standard" && s != "fast" {
			c.add(at, "", "the speed is standard or fast", "name one of them, or leave it out")
		}
	case "fallbacks": // 2.8
		n := 0
		for it := v.Items(); it.Next(); {
			n++
		}
		if n > 3 || !v.IsArray() && v.Str() != "default" {
			c.add(at, "", `fallbacks are "default" or at most three models`, "name fewer")
		}
	case "context_management":
		n := 0
		for it := v.Get("edits").Items(); it.Next(); n++ {
			c.edit(at, n, it.Value())
		}
	}
}

// edit judges one edit of the context management. 2.8.
func (c *checker) edit(at codec.Place, n int, v jsonw.Value) {
	switch v.Get("type").Str() {
	case "clear_thinking_20251015":
		if n > 0 {
			c.add(at, "", "the edit clear_thinking_20251015 must be listed first", "move it to the front of the edits")
		}
	case "compact_20260112":
		if !c.beta("compact-2026-01-12") { // 1.4
			c.add(at, "", "the edit compact_20260112 needs a beta", "add compact-2026-01-12 to Betas")
		}
		t := v.Get("trigger")
		if t.IsObject() {
			t = t.Get("value")
		}
		if tokens, ok := t.Int(); ok && tokens < 50_000 {
			c.add(at, "", "compaction begins at 50,000 tokens or more", "raise the trigger")
		}
	}
}
