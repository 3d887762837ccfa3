package anthropic

// How this file is organised: the request is encoded once, which finds all that
// cannot be sent, and is then judged as it was given. What Encode mends, leaves
// out or sorts is therefore a finding too, with a remedy that says so; only the
// conversion of what another model wrote is none, for that is Encode's work.
// read lays the conversation out as pieces and runs, a run being what becomes one
// message of the body, and the rules go over these. Findings are sorted into the
// order of the request at the end, so no rule has to care about its turn.
//
// A number beside a rule is the section of the notes on the protocol that it
// comes from; 3.4 is rule 4 of section 3, and 3.5T is the section on thinking in
// the history, which has the same number as rule 5.

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/body"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

type checker struct {
	e        *encoder // after its work
	limits   *limits
	thinking thinkingState // asked for
	on       bool          // asked for, or the model's default
	known    bool          // the model is one that the tables know
	betas    []string
	pieces   []piece
	runs     []run
	found    []found
}

// piece is a part of a message, or of a result.
type piece struct {
	at   codec.Place
	m    *wire.Message
	p    *wire.Part
	fate fate
	own  bool
	typ  string      // the vendor's word for the piece
	raw  jsonw.Value // an opaque part's block, else the vendor's members
}

// run is a message of the body: pieces from one to before the other.
type run struct {
	role            string
	from, to        int
	first, last     int // messages of the request, the ones that send something
	calls, resulted int // blocks that are calls and results
	others          int // all other blocks
}

type found struct {
	rank int
	at   codec.Place
	wire.Finding
}

// fieldOrder is the order of the request, in which findings are told.
var fieldOrder = [...]string{"model", "system", "messages", "tools", "tool_choice", "max_tokens", "reasoning", "temperature",
	"top_p", "top_k", "stop_sequences", "output", "cache", "user_id", "service_tier", "extra", ""}

// check returns the findings of the encoder, followed by those that it lets pass.
func (e *encoder) check() []wire.Finding {
	c := checker{e: e, limits: limitsOf(e.r.Model), known: e.family.prefix != ""}
	probe := encoder{codec: e.codec, r: e.r, Writer: body.Writer{Call: new(wire.Call)}, family: e.family}
	c.thinking = probe.thinking(probe.maxTokens())
	g := e.r.Reasoning
	c.on = c.thinking.on || c.limits.on && (g == nil || g.Mode == "")
	c.betas = c.allBetas()
	c.read()
	c.turns()
	c.ending()
	c.reasoning()
	c.content()
	c.tools()
	c.settings()
	c.marks()
	slices.SortStableFunc(c.found, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), a.at.Compare(b.at))
	})
	for i := range c.found {
		e.Findings = append(e.Findings, c.found[i].Finding)
	}
	return e.Findings
}

// add tells of a rule that is broken at a place, or at a field of it.
func (c *checker) add(at codec.Place, field, rule, remedy string) {
	rank := slices.Index(fieldOrder[:], at.List())
	c.found = append(c.found, found{rank, at, wire.Finding{Path: at.String() + field, Rule: rule, Remedy: remedy}})
}

// allBetas returns the beta values that go out, the body's included, where some
// hosts want them.
func (c *checker) allBetas() []string {
	betas := slices.Clone(c.e.codec.Betas)
	for _, h := range c.e.r.Headers {
		if strings.EqualFold(h.Name, betaHeader) {
			for s := range strings.SplitSeq(h.Value, ",") {
				betas = append(betas, strings.TrimSpace(s))
			}
		}
	}
	for i := range c.e.r.Extra {
		if f := &c.e.r.Extra[i]; f.Name == "anthropic_beta" && jsonw.Valid(f.Raw) {
			for v := jsonw.Parse(f.Raw).Items(); v.Next(); {
				betas = append(betas, v.Value().Str())
			}
		}
	}
	return betas
}

// beta reports whether a beta is on whose name begins with one of these.
func (c *checker) beta(names ...string) bool {
	for _, b := range c.betas {
		for _, name := range names {
			if strings.HasPrefix(b, name) {
				return true
			}
		}
	}
	return false
}

// look lays out one part.
func (c *checker) look(at codec.Place, m *wire.Message, p *wire.Part, f fate) piece {
	b := piece{at: at, m: m, p: p, fate: f, own: c.e.own(m.Origin)}
	if p.Vendor != "" && (p.Kind == wire.PartOpaque || b.own && !unfinished(m, p)) && jsonw.Valid(p.Vendor) {
		b.raw = jsonw.Parse(p.Vendor)
	}
	switch p.Kind {
	case wire.PartText, wire.PartRefusal:
		b.typ = "text"
	case wire.PartReasoning:
		b.typ = "thinking"
	case wire.PartToolCall:
		b.typ = "tool_use"
	case wire.PartToolResult:
		b.typ = "tool_result"
	case wire.PartMedia:
		b.typ = "document"
		if p.Media == nil {
			b.typ = "image"
		} else if t := p.Media.MediaType(); t == "" || strings.HasPrefix(t, "image/") {
			b.typ = "image"
		}
	case wire.PartOpaque:
		b.typ = b.raw.Get("type").Str()
	}
	return b
}

const encodeOmits = "; Encode leaves it out"

// read lays out the conversation, and judges what is not sent.
func (c *checker) read() {
	ms := c.e.r.Messages
	gap := -1       // the first message since the last one sent that is not the assistant's
	var empty []int // messages without a part
	for i := range ms {
		m := &ms[i]
		at := codec.Item("messages", i)
		own := c.e.own(m.Origin)
		role := c.e.roleOf(m)
		from, sends := len(c.pieces), false
		for j := range m.Parts {
			p := &m.Parts[j]
			b := c.look(codec.Part(i, j), m, p, c.e.fate(m, p))
			c.pieces = append(c.pieces, b)
			sends = sends || b.fate == sent
			c.unsent(&b)
		}
		refused := m.Role == wire.RoleAssistant && own && m.Ending != nil && m.Ending.Cause == wire.CauseFinished && m.Ending.Finish == wire.FinishRefusal
		if refused { // 4.8: a refused turn is not kept
			c.add(at, "", "a refused turn must not stay in the history", "remove it, and ask anew or otherwise")
		}
		switch n := len(c.runs); {
		case !sends:
			if n > 0 {
				c.runs[n-1].to = len(c.pieces)
			}
			if gap < 0 && role == roleUser {
				gap = i
			}
			final := m.Role == wire.RoleAssistant && i == len(ms)-1
			if len(m.Parts) == 0 && !refused && !final {
				empty = append(empty, i)
			}
			continue
		case n > 0 && c.runs[n-1].role == role:
			if gap >= 0 && role == roleAssistant { // 3.2, 3.3: blank blocks are dropped, neighbours of one role merge
				c.add(codec.Item("messages", gap), "", "nothing of this message can be sent, and the assistant's messages around it become one",
					"give it text, or remove it together with the answer to it")
				if k, ok := slices.BinarySearch(empty, gap); ok { // told
					empty = slices.Delete(empty, k, k+1)
				}
			}
			c.runs[n-1].to, c.runs[n-1].last = len(c.pieces), i
		default:
			c.runs = append(c.runs, run{role: role, from: from, to: len(c.pieces), first: i, last: i})
		}
		gap = -1
		t := &c.runs[len(c.runs)-1]
		for j := from; j < len(c.pieces); j++ {
			switch b := &c.pieces[j]; {
			case b.fate != sent:
			case b.typ == "tool_use":
				t.calls++
			case b.typ == "tool_result":
				t.resulted++
			default:
				t.others++
			}
		}
	}
	for _, i := range empty { // 3.3: non-empty, but for a final message of the assistant's
		c.add(codec.Item("messages", i), "", "a message must have content", "leave the message out"+encodeOmits)
	}
	if len(c.runs) > maxMessages { // 2.1
		c.add(codec.Field("messages"), "", "at most 100,000 messages, not "+strconv.Itoa(len(c.runs)), "begin a new conversation with a summary of this one")
	}
}

const maxMessages = 100_000

// unsent judges a part that Encode leaves out. That of another model is none of
// the request's faults, but half a call is nobody's.
func (c *checker) unsent(b *piece) {
	if !b.own && (b.fate != cut || b.p.Kind != wire.PartToolCall) {
		return
	}
	switch b.fate {
	case textless: // 3.3
		c.add(b.at, "", "a text must have more than white space", "remove the part"+encodeOmits)
		if b.p.Cache != nil { // 2.4
			c.add(b.at, ".cache", "an empty text cannot carry a cache mark", "mark a part that is sent")
		}
	case hollow: // 3.3
		c.add(b.at, "", "a block must have content", "remove the part"+encodeOmits)
	case cut: // 3.5T: without its signature it is never replayed; 4.7: thinking and calls cannot be resumed
		c.add(b.at, "", "what was cut off cannot go back, and this is a part of kind "+string(b.p.Kind), "keep the text of the message alone"+encodeOmits)
	case misplaced: // 2.3; 1.3 for documents
		assistant := b.m.Role == wire.RoleAssistant
		if assistant && b.typ == "document" && c.e.codec.version() != Version20261021 {
			return
		}
		c.add(b.at, "", "a message of role "+string(b.m.Role)+" cannot hold a part of kind "+string(b.p.Kind), "move it to where it belongs"+encodeOmits)
	}
}

// turns judges the order of the runs, of what is in them, and the pairs of calls
// and results.
func (c *checker) turns() {
	calls := map[string]int{}        // ids of calls, with the run
	open := map[string]codec.Place{} // server tools without a result
	sets := map[string]string{}      // ids of calls with their toolset
	for t := range c.runs {
		r := &c.runs[t]
		switch r.role {
		case roleUser:
			c.resultsFirst(r)
			c.toolsets(r, sets)
			clear(sets)
		case roleSystem:
			c.systemRun(t)
		case roleAssistant:
			for i := r.from; i < r.to; i++ {
				b := &c.pieces[i]
				if b.fate != sent {
					continue
				}
				id := b.raw.Get("id").Str()
				switch {
				case b.p.Kind == wire.PartToolCall:
					c.call(b)
					if first, ok := calls[b.p.ID]; !ok {
						calls[b.p.ID] = t
					} else if first != t { // 3.5; within a turn Encode refuses it
						c.add(b.at, ".id", "the id "+strconv.Quote(b.p.ID)+" was given to another call before", "give every call of the conversation its own id")
					}
					if set := b.raw.Get("toolset_name").Str(); set != "" {
						sets[b.p.ID] = set
					}
				case b.typ == "server_tool_use":
					open[id] = b.at
				case serverResult(b.typ):
					id := b.raw.Get("tool_use_id").Str()
					if _, ok := open[id]; !ok { // 3.6
						c.add(b.at, "", "the server's result "+strconv.Quote(id)+" has no call before it", "keep the server_tool_use block that it belongs to, or remove both")
					}
					delete(open, id)
				}
			}
			if len(open) > 0 && t+1 < len(c.runs) {
				c.openServerTools(r, &c.runs[t+1], open)
			}
		}
	}
	if len(c.e.r.Tools) == 0 && slices.ContainsFunc(c.runs, func(r run) bool { return r.calls+r.resulted > 0 }) { // 2.5
		c.add(codec.Field("tools"), "", "a history with calls needs the tools again", "give the tools, and tool choice none if no call is wanted")
	}
}

// resultsFirst judges what stands before the results of its turn.
func (c *checker) resultsFirst(r *run) {
	left := r.resulted
	for i := r.from; i < r.to && left > 0; i++ {
		switch b := &c.pieces[i]; {
		case b.fate != sent:
		case b.typ == "tool_result":
			left--
		default: // 3.4
			c.add(b.at, "", "a part of kind "+string(b.p.Kind)+" stands before the results of its turn", "put the results first; Encode does so")
		}
	}
}

// toolsets judges the results of the calls that belong to a toolset.
func (c *checker) toolsets(r *run, sets map[string]string) {
	if len(sets) == 0 {
		return
	}
	for i := r.from; i < r.to; i++ {
		b := &c.pieces[i]
		set := sets[b.p.ID]
		if b.fate != sent || b.p.Kind != wire.PartToolResult || set == "" {
			continue
		}
		if b.raw.Get("toolset_name").Str() != set { // 2.3
			c.add(b.at, ".vendor", "the result of a toolset's call must say the toolset", `put {"toolset_name":`+strconv.Quote(set)+`} into its vendor object`)
		}
		for k := range b.p.Parts {
			in := c.look(b.at.Inner(k), b.m, &b.p.Parts[k], sent)
			if in.typ != "text" && in.typ != "image" && in.typ != "" { // 2.3
				c.add(in.at, "", "the result of a toolset's call holds text and images alone", "give it as text")
			}
		}
	}
}

// openServerTools judges how a turn goes on in which a server tool has no result.
func (c *checker) openServerTools(r, next *run, open map[string]codec.Place) {
	if r.calls > 0 && next.role == roleUser {
		for i := next.from; i < next.to && next.others > 0; i++ { // 3.7
			if b := &c.pieces[i]; b.fate == sent && b.typ != "tool_result" {
				c.add(b.at, "", "only results may follow a turn in which a tool of the server is unfinished", "send the results alone, and this with the turn after")
			}
		}
		if next.others > 0 {
			clear(open)
		}
		return
	}
	for id, at := range open { // 3.6
		c.add(at, "", "the server's tool call "+strconv.Quote(id)+" has no result in its message", "keep the result block of the answer, or remove the call")
	}
	clear(open)
}

// systemRun judges where a system message stands. 2.2 throughout.
func (c *checker) systemRun(t int) {
	if t == 0 {
		return // Encode refuses it
	}
	r, before := &c.runs[t], &c.runs[t-1]
	at := codec.Item("messages", r.first)
	const remedy = "put it behind a user message or the results, at the end or before the assistant's answer"
	switch {
	case before.calls > 0 && before.role == roleAssistant:
		c.add(at, "", "a system message cannot stand between a call and its result", remedy)
		return
	case before.role == roleAssistant && !serverResult(c.lastSent(before).typ):
		c.add(at, "", "a system message must follow a user message, or an assistant turn that ends in a server's result", remedy)
	}
	if t+1 < len(c.runs) && c.runs[t+1].role != roleAssistant {
		c.add(at, "", "a system message must be the last one or stand before the assistant's", remedy)
	}
}

// lastSent returns the last piece of a run.
func (c *checker) lastSent(r *run) *piece {
	for i := r.to - 1; i > r.from; i-- {
		if c.pieces[i].fate == sent {
			return &c.pieces[i]
		}
	}
	return &c.pieces[r.from]
}

// firstSent returns the first piece of a run.
func (c *checker) firstSent(r *run) *piece {
	for i := r.from; i < r.to-1; i++ {
		if c.pieces[i].fate == sent {
			return &c.pieces[i]
		}
	}
	return &c.pieces[r.to-1]
}

// serverResult reports whether a block is the result of a tool that the server
// runs. Those of betas are left to the server.
func serverResult(typ string) bool {
	switch typ {
	case "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result",
		"text_editor_code_execution_tool_result", "tool_search_tool_result":
		return true
	}
	return false
}

// call judges the id and the name of a call. Those of other models are renamed
// as a matter of course.
func (c *checker) call(b *piece) {
	if !b.own {
		return
	}
	if !codec.ValidName(b.p.ID, maxIDLen) { // 2.5: the pattern; 64 is a cap of ours
		c.add(b.at, ".id", "the id of a call is letters, digits, _ and -, and here at most 64 of them, the vendor's own limit being unknown",
			"give the call and its result another id; Encode renames both")
	}
	if !codec.ValidName(b.p.Name, 128) { // 2.5
		c.add(b.at, ".name", "the name of a tool is 1 to 128 letters, digits, _ or -", "use the tool's name as it is declared; Encode renames it")
	}
}

// ending judges a conversation that ends with the assistant.
func (c *checker) ending() {
	if len(c.runs) == 0 {
		return
	}
	r := &c.runs[len(c.runs)-1]
	last := &c.e.r.Messages[r.last]
	if r.role != roleAssistant || !c.e.family.prefill || last.Ending != nil && last.Ending.Finish == wire.FinishPause {
		return // what the family refuses Encode has told
	}
	at := codec.Item("messages", r.last)
	const remedy = "end the conversation with a user message"
	if c.thinking.on && c.known { // 3.8
		c.add(at, "", "an assistant message cannot be continued with thinking on", remedy+", or switch thinking off")
	}
	if c.schemaWanted() { // 2.7
		c.add(at, "", "an assistant message cannot be continued in an output format", remedy+", or ask for no format")
	}
	if b := c.lastSent(r); b.p.Kind == wire.PartText && strings.TrimRight(b.p.Text, " \t\r\n") != b.p.Text { // 3.8
		c.add(b.at, "", "the text to be continued cannot end in white space", "take the white space off; Encode does so")
	}
}

func (c *checker) schemaWanted() bool {
	o := c.e.r.Output
	return o != nil && o.Kind == wire.OutputJSONSchema
}

// reasoning judges the thinking that goes back, and that which does not.
func (c *checker) reasoning() {
	loop := 0 // where the last tool loop begins: behind the last user turn that is more than results
	for t := len(c.runs) - 1; t >= 0; t-- {
		if r := &c.runs[t]; r.role == roleUser && r.others > 0 {
			loop = r.to
			break
		}
	}
	later := false
	for i := len(c.pieces) - 1; i >= 0; i-- {
		b := &c.pieces[i]
		if b.p.Kind != wire.PartReasoning {
			continue
		}
		remedy := "send the reasoning as it came, with its vendor object"
		if b.fate == withheld {
			remedy = "leave Replay out"
		}
		switch {
		case b.fate == sent:
			later = true
		case b.fate != unsigned && b.fate != withheld || !c.known:
		case i >= loop && c.on: // 3.5T: echo every thinking block of a tool loop
			c.add(b.at, "", "within a tool loop thinking must go back as it came, and this cannot or shall not: "+fates[b.fate], remedy+", or switch thinking off")
		case later && c.limits.bound: // 3.5T: a thinking block in between was removed
			c.add(b.at, "", "reasoning without its signature cannot go back, and "+c.e.r.Model+" refuses the later reasoning if what came before it is gone",
				remedy+", or set Replay to never")
		}
	}
	n := len(c.runs)
	if !c.thinking.manual || !c.known || n < 2 || c.runs[n-1].role != roleUser || c.runs[n-1].others > 0 || c.runs[n-2].role != roleAssistant {
		return
	}
	if b := c.firstSent(&c.runs[n-2]); b.typ != "thinking" && b.typ != "redacted_thinking" { // 3.5T: manual mode
		c.add(b.at, "", "with a thinking budget the assistant's turn of a tool loop must begin with its thinking", "send its thinking back, or switch thinking off for this request")
	}
}
