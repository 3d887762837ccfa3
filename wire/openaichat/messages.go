package openaichat

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
	roleDeveloper = "developer"
	roleTool      = "tool"
)

// turn is a run of neighbouring messages, from the first to before the last.
type turn struct{ from, to int }

// messages writes the conversation. It goes in pairs of turns: messages of the
// assistant's, and what answers them, up to the next message of the assistant's.
// Messages without anything to send belong to either.
//
// Of an answer the results come first, each behind the message with its call,
// since nothing may stand between the two; then one message with what the results
// hold besides text; then the rest.
func (e *encoder) messages() {
	e.lit(`,"messages":[`)
	e.system()
	ms := e.r.Messages
	for i := 0; i < len(ms); {
		j := i
		for j < len(ms) && (ms[j].Role == wire.RoleAssistant || j > i && e.silent(&ms[j])) {
			j++
		}
		k := j
		for k < len(ms) && (ms[k].Role != wire.RoleAssistant || e.silent(&ms[k])) {
			k++
		}
		calls, answer := turn{i, j}, turn{j, k}
		e.unanswered(calls, answer)
		media := 0
		for ; i < j; i++ {
			if e.message(i) {
				media += e.results(i, answer)
			}
		}
		e.orphans(calls, answer)
		e.moved(answer)
		if media > 0 {
			e.attachments(calls, answer)
		}
		for ; i < k; i++ {
			e.message(i)
		}
	}
	if e.role == "" {
		e.refuse("messages", "the protocol demands a message", "add a user message")
	}
	e.lit(`]`)
}

// open begins a message.
func (e *encoder) open(role string) {
	if e.role != "" {
		e.lit(`,`)
	}
	if e.role == roleTool && role != roleTool && role != roleAssistant && e.profile.AssistantAfterTools {
		e.lit(`{"role":"assistant","content":"I have the results."},`)
		e.note(wire.NoteInserted, "messages", "the server wants an assistant message between results and a message of the user's")
	}
	e.role = role
	e.lit(`{"role":"`)
	e.lit(role)
	e.lit(`"`)
}

// message writes message i without its results of tools, and reports whether
// there was anything to write.
func (e *encoder) message(i int) bool {
	m := &e.r.Messages[i]
	switch m.Role {
	case wire.RoleAssistant:
		return e.assistant(i)
	case wire.RoleSystem:
		if i < e.lead {
			return false
		}
	case wire.RoleUser, wire.RoleTool:
	default:
		e.refuse(codec.Item("messages", i).String()+".role", "no such role: "+strconv.Quote(string(m.Role)), "one of user, assistant, tool, system")
	}
	return e.user(i)
}

// fate is what becomes of a part.
type fate uint8

const (
	sent       fate = iota
	hollow          // there is nothing in it, so nothing to tell
	cut             // it, or its message, was cut off
	foreign         // only another server or model can read it
	unwanted        // the server takes no reasoning back
	withheld        // the caller's settings say so
	misplaced       // its role cannot hold it
	whatIsThat      // a kind that is unknown
)

var fates = [...]string{
	cut:        "it was cut off",
	foreign:    "only the model and host that wrote it can read it",
	unwanted:   "the server takes no reasoning back",
	withheld:   "the settings ask for no reasoning to go back",
	misplaced:  "a message of this role cannot hold it",
	whatIsThat: "unknown kind of part",
}

// fate decides what becomes of p, a part of m.
func (e *encoder) fate(m *wire.Message, p *wire.Part) fate {
	assistant := m.Role == wire.RoleAssistant
	switch p.Kind {
	case wire.PartText:
		if p.Text == "" && p.Vendor == "" {
			return hollow
		}
		return sent
	case wire.PartRefusal, wire.PartReasoning, wire.PartToolCall:
		if !assistant {
			return misplaced
		}
	case wire.PartToolResult, wire.PartMedia:
		if assistant || m.Role == wire.RoleSystem {
			return misplaced
		}
		return sent
	case wire.PartOpaque:
		if (assistant && p.ID == "" || m.Role == wire.RoleSystem) && e.own(m.Origin) {
			return misplaced
		}
	default:
		return whatIsThat
	}
	if unfinished(m, p) {
		return cut
	}
	switch p.Kind {
	case wire.PartRefusal:
		if p.Text == "" {
			return hollow
		}
	case wire.PartReasoning:
		return e.reasoningFate(m, p)
	case wire.PartOpaque:
		if !e.own(m.Origin) {
			return foreign
		}
	}
	return sent
}

// reasoningFate is fate for reasoning. It is decided by settings and by the part,
// never by what follows.
func (e *encoder) reasoningFate(m *wire.Message, p *wire.Part) fate {
	g := e.r.Reasoning
	switch {
	case e.profile.Replay == ReplayNever:
		return unwanted
	case g != nil && g.Replay == wire.ReplayNever, e.profile.Replay == ReplayAlways && e.off:
		return withheld
	case !e.own(m.Origin):
		return foreign
	case p.Text == "" && (e.profile.Replay == ReplayTags || e.profile.Replay == ReplayChunks || e.profile.Replay == ReplayDetails && p.Vendor == ""):
		return hollow
	}
	return sent
}

// unfinished reports whether a part was cut off, alone or with its message.
func unfinished(m *wire.Message, p *wire.Part) bool {
	return p != nil && p.Partial || m.Ending != nil && m.Ending.Cause != wire.CauseFinished
}

// own reports whether what only its writer can read may go to the model that the
// request names.
func (e *encoder) own(o *wire.Origin) bool {
	if o == nil {
		return true
	}
	return (o.Protocol == "" || o.Protocol == Protocol) &&
		(o.Endpoint == "" || e.r.Endpoint == "" || o.Endpoint == e.r.Endpoint) &&
		(o.Model == "" || o.Model == e.r.Model || bare(o.Model) == bare(e.r.Model))
}

// silent reports whether nothing of m is sent. Reasoning alone makes no message.
func (e *encoder) silent(m *wire.Message) bool {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind != wire.PartReasoning && e.fate(m, p) == sent && (p.Kind != wire.PartText || p.Text != "") {
			return false
		}
	}
	return true
}

// tell says what became of a part that is not sent.
func (e *encoder) tell(f fate, p *wire.Part, at codec.Place) {
	switch f {
	case sent, hollow:
	case whatIsThat:
		e.refuse(at.String()+".kind", fates[f]+": "+strconv.Quote(string(p.Kind)), "")
	default:
		e.dropped(at.String(), string(p.Kind)+": "+fates[f])
	}
}

// content is the content of a message in the making: one string, or parts.
type content struct {
	parts bool
	n     int // texts or parts written
}

// content begins the content of a message.
func (e *encoder) content(parts bool) content {
	e.lit(`,"content":`)
	return content{parts: parts}
}

// next begins a part.
func (e *encoder) next(c *content) {
	if c.n++; c.n == 1 {
		e.lit(`[`)
	} else {
		e.lit(`,`)
	}
}

// text adds s, the text of p or one that stands for it.
func (e *encoder) text(c *content, s string, p *wire.Part, own bool, at codec.Place) {
	if !c.parts {
		if c.n++; c.n == 1 {
			e.str(s)
		} else {
			e.line(s)
		}
		e.trimmings(p, false, false, at)
		return
	}
	e.next(c)
	e.lit(`{"type":"text","text":`)
	e.str(s)
	if own {
		e.members(p.Vendor, at, "", "type", "text", e.markName(p))
	}
	e.trimmings(p, own, true, at)
	e.lit(`}`)
}

// markName is the member that the cache mark of a text will be, "" for none.
func (e *encoder) markName(p *wire.Part) string {
	switch {
	case p.Kind != wire.PartText:
	case e.profile.CacheControl && (p.Cache != nil || p == e.auto.last || p == e.auto.system):
		return "cache_control"
	case e.family.marks && p.Cache != nil:
		return "prompt_cache_breakpoint"
	}
	return ""
}

// trimmings writes the cache mark of a text, which is a part of its own or one of
// several in a string, and tells of what has no place.
func (e *encoder) trimmings(p *wire.Part, own, part bool, at codec.Place) {
	if p.Vendor != "" && !own {
		e.dropped(at.String()+".vendor", "there is no place for it, or only its own host can read it")
	}
	switch {
	case p.Cache != nil && e.profile.CacheControl && p.Kind == wire.PartText:
		e.mark(p.Cache.TTL)
	case p.Cache != nil && e.family.marks && part && p.Kind == wire.PartText:
		e.breakpoint(p.Cache.TTL, at)
	case p.Cache != nil:
		e.dropped(at.String()+".cache", "there are no cache marks here")
	case p == e.auto.last || p == e.auto.system:
		e.mark(e.r.Cache.TTL)
	}
}

// end ends a content that is not empty.
func (e *encoder) end(c *content) {
	if c.parts {
		e.lit(`]`)
	}
}

// trimmed reports whether a text has something that only a part can hold: a cache
// mark, or members of the vendor's.
func (e *encoder) trimmed(p *wire.Part, own bool) bool {
	return p.Kind == wire.PartText && p.Text != "" && (e.auto.on || own && p.Vendor != "" || p.Cache != nil && e.profile.CacheControl)
}

// system writes the standing prompt, and what follows it of system messages
// before all others, so that no two of them stand at the beginning.
func (e *encoder) system() {
	r := e.r
	n, parts := 0, false
	for i := range r.System {
		if p := &r.System[i]; p.Kind == wire.PartText && p.Text != "" {
			n++
			parts = parts || e.trimmed(p, true)
		}
	}
	standing := n > 0
	for e.lead < len(r.Messages) && (r.Messages[e.lead].Role == wire.RoleSystem || e.silent(&r.Messages[e.lead])) {
		if m := &r.Messages[e.lead]; m.Role == wire.RoleSystem {
			own := e.own(m.Origin)
			for j := range m.Parts {
				if p := &m.Parts[j]; p.Kind == wire.PartText && p.Text != "" {
					n++
					parts = parts || e.trimmed(p, own)
				}
			}
		}
		e.lead++
	}
	var c content
	if n > 0 {
		e.open(e.systemRole())
		c = e.content(parts)
	}
	for i := range r.System {
		p := &r.System[i]
		at := codec.Item("system", i)
		if p.Kind != wire.PartText {
			e.refuse(at.String(), "a system prompt holds text, not "+strconv.Quote(string(p.Kind)), "move it into a message")
		} else if p.Text != "" {
			e.text(&c, p.Text, p, true, at)
		}
	}
	for i := range e.lead {
		m := &r.Messages[i]
		if m.Role != wire.RoleSystem {
			continue
		}
		if standing && !e.silent(m) {
			e.note(wire.NoteConverted, codec.Item("messages", i).String(), "joined with the system prompt, since the first message alone may be one")
		}
		own := e.own(m.Origin)
		for j := range m.Parts {
			p := &m.Parts[j]
			at := codec.Part(i, j)
			if f := e.fate(m, p); f != sent {
				e.tell(f, p, at)
			} else if p.Text != "" {
				e.text(&c, p.Text, p, own, at)
			}
		}
		if m.Vendor != "" {
			e.dropped(codec.Item("messages", i).String()+".vendor", "the system prompt has no further members")
		}
	}
	if n > 0 {
		e.end(&c)
		e.lit(`}`)
	}
}

// systemRole is the role of system messages.
func (e *encoder) systemRole() string {
	switch e.profile.System {
	case SystemSystem:
		return roleSystem
	case SystemDeveloper:
		return roleDeveloper
	case SystemByVendor:
		if strings.HasPrefix(e.r.Model, "openai/") || strings.HasPrefix(e.r.Model, "anthropic/") {
			return roleDeveloper
		}
		return roleSystem
	}
	if e.family.developer {
		return roleDeveloper
	}
	return roleSystem
}

// user writes what message i, which is not the assistant's, has besides results.
func (e *encoder) user(i int) bool {
	m := &e.r.Messages[i]
	own := e.own(m.Origin)
	n, parts, results := 0, false, false
	for j := range m.Parts {
		p := &m.Parts[j]
		if p.Kind == wire.PartToolResult && m.Role != wire.RoleSystem {
			results = true
			continue
		}
		if f := e.fate(m, p); f != sent {
			e.tell(f, p, codec.Part(i, j))
			continue
		}
		if p.Kind == wire.PartText && p.Text == "" {
			continue
		}
		n++
		parts = parts || n > 1 && m.Role != wire.RoleSystem || p.Kind == wire.PartOpaque || e.trimmed(p, own) ||
			p.Kind == wire.PartMedia && e.omitted(p.Media) == ""
	}
	if n == 0 {
		if !results && len(m.Parts) > 0 {
			e.dropped(codec.Item("messages", i).String(), "there is nothing in it to send")
		}
		return false
	}
	role := roleUser
	if m.Role == wire.RoleSystem {
		if role = e.systemRole(); e.profile.SystemFirst {
			role = roleUser
			e.note(wire.NoteConverted, codec.Item("messages", i).String(), "the first message alone may be a system message; sent as the user's")
		}
	}
	e.open(role)
	c := e.content(parts)
	for j := range m.Parts {
		p := &m.Parts[j]
		if p.Kind == wire.PartToolResult || e.fate(m, p) != sent {
			continue
		}
		at := codec.Part(i, j)
		switch p.Kind {
		case wire.PartText:
			if p.Text != "" {
				e.text(&c, p.Text, p, own, at)
			}
		case wire.PartMedia:
			e.media(&c, p, own, at)
		case wire.PartOpaque:
			e.next(&c)
			e.opaque(p, at)
		}
	}
	e.end(&c)
	switch {
	case m.Vendor == "":
	case own:
		at, but := codec.Item("messages", i), ""
		if e.profile.NoNames {
			if but = "name"; jsonw.Valid(m.Vendor) && jsonw.Parse(m.Vendor).Get(but).Exists() {
				e.dropped(at.String()+".vendor", "the server takes no names of messages")
			}
		}
		e.members(m.Vendor, at, but, "role", "content")
	default:
		e.dropped(codec.Item("messages", i).String()+".vendor", fates[foreign])
	}
	e.lit(`}`)
	return true
}

// opaque writes a block in the vendor's own words.
func (e *encoder) opaque(p *wire.Part, at codec.Place) {
	from := len(e.b)
	e.raw(p.Vendor, at)
	if e.b[from] != '{' {
		e.refuse(at.String()+".vendor", "an opaque part holds the whole block as a JSON object", "")
	}
	if p.Cache != nil {
		e.dropped(at.String()+".cache", "there are no cache marks here")
	}
}

// assistant writes message i, which is the assistant's: its text as one string,
// its refusal, its reasoning where the server wants that, and its calls.
func (e *encoder) assistant(i int) bool {
	m := &e.r.Messages[i]
	own := e.own(m.Origin)
	texts, refusals, reasons, calls, parts := 0, 0, 0, 0, false
	for j := range m.Parts {
		p := &m.Parts[j]
		if f := e.fate(m, p); f != sent {
			e.tell(f, p, codec.Part(i, j))
			continue
		}
		switch p.Kind {
		case wire.PartText:
			if p.Text != "" {
				texts++
				parts = parts || p.Cache != nil && e.profile.CacheControl
			}
		case wire.PartRefusal:
			refusals++
			if e.profile.NoRefusal {
				e.note(wire.NoteConverted, codec.Part(i, j).String(), "a refusal is sent as text")
				refusals--
				texts++
			}
		case wire.PartReasoning:
			reasons++
		default:
			calls++
		}
	}
	if texts+refusals+calls == 0 {
		e.dropped(codec.Item("messages", i).String(), "it has neither text nor calls")
		return false
	}
	e.open(roleAssistant)
	// Only a message with calls may be without content.
	alone := refusals > 0 && texts+calls == 0 && e.profile.Replay != ReplayTags && e.profile.Replay != ReplayChunks
	if alone {
		e.lit(`,"content":[{"type":"refusal"`)
	} else {
		e.words(i, texts, reasons, parts)
	}
	if refusals > 0 {
		e.refusal(m)
	}
	if alone {
		e.lit(`}]`)
	}
	e.reasoning(i, reasons, calls)
	switch {
	case !own && m.Vendor != "" && m.Vendor != nothingReasoned:
		e.dropped(codec.Item("messages", i).String()+".vendor", fates[foreign])
	case own && !unfinished(m, nil):
		e.kept(m.Vendor, codec.Item("messages", i))
	}
	if calls > 0 {
		e.calls(i, own)
	}
	e.lit(`}`)
	return true
}

// refusal writes the refusals of a message as one.
func (e *encoder) refusal(m *wire.Message) {
	e.lit(`,"refusal":`)
	n := 0
	for j := range m.Parts {
		if p := &m.Parts[j]; p.Kind == wire.PartRefusal && e.fate(m, p) == sent {
			if n++; n == 1 {
				e.str(p.Text)
			} else {
				e.line(p.Text)
			}
		}
	}
}

// words writes the content of a message of the assistant's.
func (e *encoder) words(i, texts, reasons int, parts bool) {
	m := &e.r.Messages[i]
	tags := e.profile.Replay == ReplayTags && reasons > 0
	chunks := e.profile.Replay == ReplayChunks && reasons > 0
	if texts == 0 && !tags && !chunks {
		switch e.profile.NullContent {
		case ContentEmpty:
			e.lit(`,"content":""`)
		case ContentOmit:
		default:
			e.lit(`,"content":null`)
		}
		return
	}
	c := e.content(parts || chunks)
	switch {
	case chunks:
		for j := range m.Parts {
			if p := &m.Parts[j]; p.Kind == wire.PartReasoning && e.fate(m, p) == sent {
				e.next(&c)
				e.lit(`{"type":"thinking","thinking":[{"type":"text","text":`)
				e.str(p.Text)
				e.lit(`}]}`)
			}
		}
	case tags:
		if c.parts {
			e.next(&c)
			e.lit(`{"type":"text","text":`)
		}
		e.str(openTag)
		for j := range m.Parts {
			if p := &m.Parts[j]; p.Kind == wire.PartReasoning && e.fate(m, p) == sent {
				e.more(p.Text)
			}
		}
		e.more(closeTag)
		if c.parts {
			e.lit(`}`)
		}
	}
	glue := tags && !c.parts // the first text follows the tag with nothing between
	for j := range m.Parts {
		p := &m.Parts[j]
		if p.Kind != wire.PartText && (p.Kind != wire.PartRefusal || !e.profile.NoRefusal) || p.Text == "" || e.fate(m, p) != sent {
			continue
		}
		if glue {
			glue = false
			c.n++
			e.more(p.Text)
			e.trimmings(p, false, false, codec.Part(i, j))
			continue
		}
		e.text(&c, p.Text, p, false, codec.Part(i, j))
	}
	e.end(&c)
}

// nothingReasoned is the Vendor of a message whose only fact is that its reasoning
// was empty.
const nothingReasoned = `{"reasoning_content":""}`

// fieldOf is the field that the text of a reasoning part came in.
func fieldOf(p *wire.Part) string {
	if p.Vendor != "" && jsonw.Valid(p.Vendor) {
		name := jsonw.Parse(p.Vendor).Get("field").Str()
		for _, field := range reasoningFields {
			if name == field {
				return field
			}
		}
	}
	return reasoningFields[0]
}

// details returns the array reasoning_details of a part, "" if it has none.
func details(p *wire.Part) jsonw.Value {
	if p.Vendor == "" || !jsonw.Valid(p.Vendor) {
		return ""
	}
	if d := jsonw.Parse(p.Vendor).Get("reasoning_details"); d.IsArray() {
		return d
	}
	return ""
}

// reasoning writes the reasoning of message i, of which so many parts are sent, as
// are calls.
func (e *encoder) reasoning(i, parts, calls int) {
	m := &e.r.Messages[i]
	blank := calls > 0 && !e.off && e.blank()
	switch e.profile.Replay {
	case ReplayAlways:
		if e.off {
			return
		}
		e.lit(`,"reasoning_content":""`)
		for j := range m.Parts {
			if p := &m.Parts[j]; p.Kind == wire.PartReasoning && e.fate(m, p) == sent {
				e.more(p.Text)
			}
		}
		return
	case ReplayField, ReplayDetails:
	default:
		if blank {
			e.lit(`,"reasoning_content":""`)
		}
		return
	}
	if parts == 0 {
		if blank {
			e.lit(`,"reasoning_content":""`)
		} else if g := e.r.Reasoning; m.Vendor != "" && e.own(m.Origin) && (g == nil || g.Replay != wire.ReplayNever) &&
			!unfinished(m, nil) && jsonw.Valid(m.Vendor) && jsonw.Parse(m.Vendor).Get(reasoningFields[0]) == `""` {
			e.lit(`,"reasoning_content":""`) // it reasoned nothing, and said so
		}
		return
	}
	if e.profile.Replay == ReplayField || !e.details(i) {
		e.fields(i)
	}
}

// blank reports whether the model is one of the profile's that want reasoning of
// every message with calls.
func (e *encoder) blank() bool {
	for _, prefix := range e.profile.BlankReasoning {
		if rest, ok := strings.CutPrefix(e.r.Model, prefix); ok && (rest == "" || strings.ContainsAny(rest[:1], "-:@")) {
			return true
		}
	}
	return false
}

// fields writes the text of the reasoning of message i in the fields that it came
// in.
func (e *encoder) fields(i int) {
	m := &e.r.Messages[i]
	for _, field := range reasoningFields {
		n := 0
		for j := range m.Parts {
			p := &m.Parts[j]
			if p.Kind != wire.PartReasoning || e.fate(m, p) != sent || fieldOf(p) != field {
				continue
			}
			if n++; n > 1 {
				e.more(p.Text)
				continue
			}
			e.lit(`,"`)
			e.lit(field)
			e.lit(`":`)
			e.str(p.Text)
		}
	}
}

// details writes the structured reasoning of message i, several arrays as one,
// and reports whether there was any.
func (e *encoder) details(i int) bool {
	m := &e.r.Messages[i]
	arrays, items := 0, 0
	for j := range m.Parts {
		p := &m.Parts[j]
		if p.Kind != wire.PartReasoning || e.fate(m, p) != sent {
			continue
		}
		d := details(p)
		if d == "" {
			continue
		}
		if arrays++; arrays == 1 {
			e.lit(`,"reasoning_details":[`)
		}
		d = jsonw.Parse(string(d[1 : len(d)-1]))
		if d == "" {
			continue
		}
		if items++; items > 1 {
			e.lit(`,`)
		}
		// The brackets are put back for the check and taken away again.
		from := len(e.b)
		e.raw(string(details(p)), codec.Part(i, j))
		e.b = append(e.b[:from], e.b[from+1:len(e.b)-1]...)
	}
	if arrays > 0 {
		e.lit(`]`)
	}
	return arrays > 0
}

// kept writes the members of a message that the profile sends back.
func (e *encoder) kept(vendor string, at codec.Place) {
	if vendor == "" || len(e.profile.Members) == 0 || !jsonw.Valid(vendor) {
		return
	}
	for c := jsonw.Parse(vendor).Members(); c.Next(); {
		if slices.Contains(e.profile.Members, c.Name()) {
			e.member(&c, at)
		}
	}
}

// calls writes the calls of message i.
func (e *encoder) calls(i int, own bool) {
	m := &e.r.Messages[i]
	e.lit(`,"tool_calls":[`)
	n := 0
	for j := range m.Parts {
		p := &m.Parts[j]
		if p.Kind != wire.PartToolCall && p.Kind != wire.PartOpaque || e.fate(m, p) != sent {
			continue
		}
		if n++; n > 1 {
			e.lit(`,`)
		}
		at := codec.Part(i, j)
		if p.Kind == wire.PartOpaque {
			e.opaque(p, at)
			continue
		}
		e.lit(`{"id":`)
		e.id(p.ID, at)
		custom, kind := p.FreeForm && !e.profile.NoCustom, "function"
		if custom {
			kind = "custom"
			e.lit(`,"type":"custom","custom":{"name":`)
		} else {
			e.lit(`,"type":"function","function":{"name":`)
		}
		e.name(p.Name, at)
		switch {
		case custom:
			e.lit(`,"input":`)
			e.str(p.Args)
		case p.FreeForm:
			e.note(wire.NoteConverted, at.String()+".args", `free text is sent as {"input":…}`)
			var b []byte
			b = append(jsonw.AppendString(append(b, `{"input":`...), p.Args), '}')
			e.lit(`,"arguments":`)
			e.str(string(b))
		case p.Args == "":
			e.lit(`,"arguments":"{}"`)
		default:
			e.lit(`,"arguments":`)
			e.str(p.Args)
		}
		e.lit(`}`)
		if p.Vendor != "" {
			if own { // the type and the id that it came with are facts of the decoder's
				e.members(p.Vendor, at, "id type", kind)
			} else {
				e.dropped(at.String()+".vendor", fates[foreign])
			}
		}
		if p.Cache != nil {
			e.dropped(at.String()+".cache", "a call cannot carry a cache mark")
		}
		e.lit(`}`)
	}
	e.lit(`]`)
}

// name writes the name of a tool that was called.
func (e *encoder) name(s string, at codec.Place) {
	if codec.ValidName(s, maxName) {
		e.lit(`"`)
		e.lit(s)
		e.lit(`"`)
		return
	}
	safe := codec.SafeName(s, maxName)
	e.note(wire.NoteRenamed, at.String()+".name", strconv.Quote(s)+" is sent as "+safe)
	e.str(safe)
}

// maxID is the most characters of the id of a call.
const maxID = 40

// idOf is the id that a call and its result go out with.
func (e *encoder) idOf(id string) string {
	switch e.profile.IDs {
	case IDsAny:
		if id != "" {
			return id
		}
	case IDs9:
		if len(id) == 9 && strings.IndexFunc(id, func(c rune) bool { return c == '_' || c == '-' }) < 0 && codec.ValidName(id, 9) {
			return id
		}
		return nine(id)
	}
	if id == "" || len(id) > maxID && utf8.RuneCountInString(id) > maxID {
		return codec.SafeName(id, maxID)
	}
	for i := range len(id) {
		if id[i] < ' ' || id[i] == 0x7f {
			return codec.SafeName(id, maxID)
		}
	}
	return id
}

// nine returns nine letters and digits that are as good as unique to id.
func nine(id string) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	name := codec.SafeName(id, 18) // ends in a hash of all of it
	n, err := strconv.ParseUint(name[len(name)-16:], 16, 64)
	if err != nil {
		panic("openaichat: a safe name without a hash: " + name)
	}
	var b [9]byte
	for i := range b {
		b[i] = digits[n%uint64(len(digits))]
		n /= uint64(len(digits))
	}
	return string(b[:])
}

// id writes the id of a call or a result.
func (e *encoder) id(id string, at codec.Place) {
	name := e.idOf(id)
	if name != id {
		e.note(wire.NoteRenamed, at.String()+".id", strconv.Quote(id)+" is sent as "+name)
	}
	e.str(name)
}

// find returns the first part of a turn that is sent and has this kind and id,
// nil if there is none.
func (e *encoder) find(t turn, kind wire.PartKind, id string) *wire.Part {
	for i := t.from; i < t.to; i++ {
		m := &e.r.Messages[i]
		for j := range m.Parts {
			if p := &m.Parts[j]; p.Kind == kind && p.ID == id && e.fate(m, p) == sent {
				return p
			}
		}
	}
	return nil
}

// findCall returns the call of a turn with this id. A call of an unknown type is
// one too.
func (e *encoder) findCall(t turn, id string) *wire.Part {
	if p := e.find(t, wire.PartToolCall, id); p != nil {
		return p
	}
	return e.findOpaque(t, id)
}

// findOpaque is find for the opaque parts of the assistant's messages.
func (e *encoder) findOpaque(t turn, id string) *wire.Part {
	for i := t.from; i < t.to; i++ {
		if e.r.Messages[i].Role == wire.RoleAssistant {
			if p := e.find(turn{i, i + 1}, wire.PartOpaque, id); p != nil {
				return p
			}
		}
	}
	return nil
}

// unanswered refuses the calls that are there twice, and those without a result
// in the turn that answers.
func (e *encoder) unanswered(calls, answer turn) {
	for i := calls.from; i < calls.to; i++ {
		m := &e.r.Messages[i]
		for j := range m.Parts {
			p := &m.Parts[j]
			if m.Role != wire.RoleAssistant || p.Kind != wire.PartToolCall && p.Kind != wire.PartOpaque || e.fate(m, p) != sent {
				continue
			}
			if e.findCall(calls, p.ID) != p {
				e.refuse(codec.Part(i, j).String()+".id", "the call "+strconv.Quote(p.ID)+" is there twice", "give every call of a turn its own id")
			} else if e.find(answer, wire.PartToolResult, p.ID) == nil {
				e.refuse(codec.Part(i, j).String(), "the call "+strconv.Quote(p.ID)+" has no result in the turn that follows",
					"append its result, or an error result that says it was not run")
			}
		}
	}
}

// orphans refuses the results that have no call, and second ones.
func (e *encoder) orphans(calls, answer turn) {
	for i := answer.from; i < answer.to; i++ {
		m := &e.r.Messages[i]
		for j := range m.Parts {
			p := &m.Parts[j]
			if p.Kind != wire.PartToolResult || e.fate(m, p) != sent {
				continue
			}
			if e.findCall(calls, p.ID) == nil {
				e.refuse(codec.Part(i, j).String(), "the result "+strconv.Quote(p.ID)+" has no call in the assistant turn before it", "drop it, or add the message with the call")
			} else if e.find(answer, wire.PartToolResult, p.ID) != p {
				e.refuse(codec.Part(i, j).String(), "the call "+strconv.Quote(p.ID)+" has two results", "keep one")
			}
		}
	}
}

// moved tells of what stands before a result in an answer and is sent behind it,
// once for each message.
func (e *encoder) moved(answer turn) {
	last, part := -1, -1 // the last result
	for k := answer.to - 1; k >= answer.from && last < 0; k-- {
		m := &e.r.Messages[k]
		for j := len(m.Parts) - 1; j >= 0 && last < 0; j-- {
			if p := &m.Parts[j]; p.Kind == wire.PartToolResult && e.fate(m, p) == sent {
				last, part = k, j
			}
		}
	}
	for k := max(answer.from, e.lead); k <= last; k++ {
		m := &e.r.Messages[k]
		for j := range m.Parts {
			if k == last && j > part {
				break
			}
			if p := &m.Parts[j]; p.Kind != wire.PartToolResult && e.fate(m, p) == sent && (p.Kind != wire.PartText || p.Text != "") {
				e.note(wire.NoteConverted, codec.Item("messages", k).String(), "what stands before the result of a tool is sent behind it, since results follow their call at once")
				break
			}
		}
	}
}

// results writes the results of the calls of message i, and returns how many
// media parts of theirs have to follow.
func (e *encoder) results(i int, answer turn) (media int) {
	for k := answer.from; k < answer.to; k++ {
		m := &e.r.Messages[k]
		for j := range m.Parts {
			p := &m.Parts[j]
			if p.Kind != wire.PartToolResult || e.fate(m, p) != sent {
				continue
			}
			if call := e.findCall(turn{i, i + 1}, p.ID); call != nil {
				media += e.result(p, call, e.own(m.Origin), codec.Part(k, j))
			}
		}
	}
	return media
}

// The texts that stand for what a message of a tool cannot hold.
const (
	noOutput   = "(no tool output)"
	seeImage   = "(see attached image)"
	seeFile    = "(see attached file)"
	errorText  = "Error: "
	errorWord  = "error"
	noVision   = "(an image is left out: the model sees none)"
	noFiles    = "(a file is left out: the model takes none)"
	linkBegins = "(an image is left out that stands at "
)

// result writes the result of a call as one message, its texts joined. There is
// no mark for a failed tool, so the text says it.
func (e *encoder) result(p, call *wire.Part, own bool, at codec.Place) (media int) {
	texts, parts, image, first := 0, false, false, ""
	for i := range p.Parts {
		c := &p.Parts[i]
		switch s := e.said(c); {
		case s != "":
			if texts++; texts == 1 {
				first = s
			}
			parts = parts || e.trimmed(c, own)
		case c.Kind == wire.PartMedia:
			media++
			image = image || c.Media == nil || c.Media.FileID == "" && isImage(c.Media)
		}
	}
	e.open(roleTool)
	e.lit(`,"tool_call_id":`)
	if call.Kind == wire.PartOpaque {
		e.str(p.ID) // the call goes out as it is
	} else {
		e.id(p.ID, at)
	}
	if e.profile.ToolName {
		e.lit(`,"name":`)
		if p.Name != "" {
			e.name(p.Name, at)
		} else {
			e.name(call.Name, at)
		}
	}
	prefix := ""
	if p.IsError && !saysError(first) {
		prefix = errorText
		e.note(wire.NoteConverted, at.String()+".is_error", "the text begins with "+strconv.Quote(errorText))
	}
	c := e.content(parts)
	for i := range p.Parts {
		q := &p.Parts[i]
		inner := at.Inner(i)
		s := e.said(q)
		switch {
		case q.Kind == wire.PartText && s == "":
		case s != "":
			if q.Kind == wire.PartMedia {
				e.local(q.Media, inner)
				e.tellOmitted(s, inner)
			}
			if c.n == 0 && prefix != "" {
				s = prefix + s
			}
			e.text(&c, s, q, own && q.Kind == wire.PartText, inner)
		case q.Kind == wire.PartMedia:
			e.note(wire.NoteConverted, inner.String(), "it follows the results in a message of the user's")
		case q.Kind == wire.PartOpaque:
			e.dropped(inner.String(), "the result of a tool holds text alone")
		default:
			e.refuse(inner.String(), "a result holds text and media, not "+strconv.Quote(string(q.Kind)), "")
		}
	}
	if c.n == 0 {
		switch {
		case image:
			e.lit(`"` + prefix + seeImage + `"`)
		case media > 0:
			e.lit(`"` + prefix + seeFile + `"`)
		default:
			e.lit(`"` + prefix + noOutput + `"`)
			e.note(wire.NoteInserted, at.String(), "a result without anything in it says "+noOutput)
		}
		c.n, c.parts = 1, false
	}
	e.end(&c)
	if p.Vendor != "" {
		e.dropped(at.String()+".vendor", "a message of a tool has no further members")
	}
	if p.Cache != nil {
		e.dropped(at.String()+".cache", "a result cannot carry a cache mark, its text can")
	}
	e.lit(`}`)
	return media
}

// said is what a part of a result says within the message of the tool: its text,
// or a line that stands for media that the server does not take.
func (e *encoder) said(p *wire.Part) string {
	switch p.Kind {
	case wire.PartText:
		return p.Text
	case wire.PartMedia:
		return e.omitted(p.Media)
	}
	return ""
}

// saysError reports whether a text begins with the word error.
func saysError(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n")
	return len(s) >= len(errorWord) && strings.EqualFold(s[:len(errorWord)], errorWord)
}

// attachments writes one message of the user's with the media of the results, a
// line before those of each call.
func (e *encoder) attachments(calls, answer turn) {
	e.open(roleUser)
	c := e.content(true)
	for i := answer.from; i < answer.to; i++ {
		m := &e.r.Messages[i]
		for j := range m.Parts {
			p := &m.Parts[j]
			if p.Kind != wire.PartToolResult || e.fate(m, p) != sent {
				continue
			}
			call := e.findCall(calls, p.ID)
			if call == nil {
				continue
			}
			said := false
			for k := range p.Parts {
				q := &p.Parts[k]
				if q.Kind != wire.PartMedia || e.omitted(q.Media) != "" {
					continue
				}
				if !said {
					said = true
					e.next(&c)
					e.lit(`{"type":"text","text":`)
					e.str(e.label(p, call))
					e.lit(`}`)
				}
				e.media(&c, q, e.own(m.Origin), codec.Part(i, j).Inner(k))
			}
		}
	}
	e.end(&c)
	e.lit(`}`)
}

// label says which call the media that follow belong to.
func (e *encoder) label(p, call *wire.Part) string {
	id := p.ID
	if call.Kind == wire.PartToolCall {
		id = e.idOf(id)
	}
	s := "Attached by tool call " + id
	if call.Name != "" {
		s += " (" + call.Name + ")"
	}
	return s + ":"
}

func isImage(m *wire.Media) bool {
	t := m.MediaType()
	return t == "" || strings.HasPrefix(t, "image/")
}

// omitted is the line that stands for media that the server does not take, "" for
// those that it does.
func (e *encoder) omitted(m *wire.Media) string {
	switch {
	case m == nil:
	case !isImage(m):
		if e.profile.NoFiles && !strings.HasPrefix(m.MediaType(), "text/") {
			return noFiles
		}
	case e.profile.NoImages || e.family.blind:
		return noVision
	case m.FileID != "" && e.profile.NoFiles:
		return noFiles
	case e.profile.NoImageURLs && m.URL != "" && !strings.HasPrefix(m.URL, "data:"):
		return linkBegins + m.URL + ")"
	}
	return ""
}

// tellOmitted tells of media that became a line of text: what an address is left
// of was converted, of the rest nothing is left.
func (e *encoder) tellOmitted(line string, at codec.Place) {
	code := wire.NoteDropped
	if strings.HasPrefix(line, linkBegins) {
		code = wire.NoteConverted
	}
	e.note(code, at.String(), line)
}

// media writes an image, a document or a sound.
func (e *encoder) media(c *content, p *wire.Part, own bool, at codec.Place) {
	e.local(p.Media, at)
	if s := e.omitted(p.Media); s != "" {
		e.tellOmitted(s, at)
		if !c.parts {
			e.str(s)
			c.n++
			return
		}
		e.next(c)
		e.lit(`{"type":"text","text":`)
		e.str(s)
		e.lit(`}`)
		return
	}
	m := p.Media
	if m == nil {
		m = &wire.Media{}
	}
	ways := 0
	for _, given := range [...]bool{len(m.Data) > 0, m.URL != "", m.FileID != ""} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		e.refuse(at.String()+".media", "exactly one of data, url and file_id must be given", "")
	}
	typ := m.MediaType()
	if said := strings.ToLower(m.Type); len(m.Data) > 0 && said != "" && said != typ && said != "image/jpg" {
		e.note(wire.NoteRepaired, at.String()+".media.type", "the bytes are "+typ+", not "+said)
	}
	if len(m.Data) > 0 && typ == "" {
		e.refuse(at.String()+".media.type", "the type of the data is unknown", "set Media.Type")
	}
	switch {
	case !isImage(m), m.FileID != "":
	case typ != "" && !imageType(typ):
		e.refuse(at.String()+".media.type", "the protocol takes PNG, JPEG, WEBP and GIF, not "+typ, "convert it")
	case typ == "" && hasScheme(m.URL, dataScheme) && !imageType(dataType(m.URL)):
		e.refuse(at.String()+".media.url", "the protocol takes PNG, JPEG, WEBP and GIF", "convert it, or set Media.Type if it is no image")
	}
	e.next(c)
	titled, detailed, kind := false, false, "file"
	switch {
	case m.FileID != "":
		e.lit(`{"type":"file","file":{"file_id":`)
		e.str(m.FileID)
		e.lit(`}`)
	case isImage(m):
		kind = "image_url"
		e.lit(`{"type":"image_url","image_url":{"url":`)
		if m.URL != "" {
			e.str(m.URL)
		} else {
			e.dataURL(typ, m.Data)
		}
		if detailed = m.Detail != ""; detailed {
			e.lit(`,"detail":`)
			e.str(m.Detail)
		}
		e.lit(`}`)
	case m.URL != "" && !strings.HasPrefix(m.URL, "data:"):
		e.refuse(at.String()+".media.url", "the protocol takes the address of an image alone", "give the bytes")
		e.lit(`{"type":"file","file":{}`)
	case strings.HasPrefix(typ, "audio/"):
		kind = "input_audio"
		e.lit(`{"type":"input_audio","input_audio":{"data":`)
		e.b = jsonw.AppendBase64(e.b, m.Data)
		switch typ {
		case "audio/wav", "audio/x-wav", "audio/wave":
			e.lit(`,"format":"wav"}`)
		case "audio/mpeg", "audio/mp3":
			e.lit(`,"format":"mp3"}`)
		default:
			e.refuse(at.String()+".media.type", "the protocol takes WAV and MP3, not "+typ, "convert it")
			e.lit(`}`)
		}
	case strings.HasPrefix(typ, "text/"):
		e.note(wire.NoteConverted, at.String(), typ+" is sent as text")
		kind = "text"
		e.lit(`{"type":"text","text":`)
		e.str(string(m.Data))
	default:
		e.lit(`{"type":"file","file":{"filename":`)
		if titled = m.Name != ""; titled {
			e.str(m.Name)
		} else {
			e.lit(`"file"`)
			e.note(wire.NoteInserted, at.String()+".media.name", "the protocol demands a name; sent as file")
		}
		e.lit(`,"file_data":`)
		if m.URL != "" {
			e.str(m.URL)
		} else {
			e.dataURL(typ, m.Data)
		}
		e.lit(`}`)
	}
	if m.Name != "" && !titled {
		e.dropped(at.String()+".media.name", "there is no place for it")
	}
	if m.Detail != "" && !detailed {
		e.dropped(at.String()+".media.detail", "only an image has it")
	}
	if p.Vendor != "" {
		if own {
			mark := ""
			if p.Cache != nil && e.family.marks {
				mark = "prompt_cache_breakpoint"
			}
			e.members(p.Vendor, at, "", "type", kind, mark)
		} else {
			e.dropped(at.String()+".vendor", fates[foreign])
		}
	}
	switch {
	case p.Cache == nil:
	case e.family.marks:
		e.breakpoint(p.Cache.TTL, at)
	default:
		e.dropped(at.String()+".cache", "a text alone can carry a cache mark")
	}
	e.lit(`}`)
}

// The beginnings of addresses that are none of another host's.
const (
	dataScheme = "data:"
	fileScheme = "file:"
)

// hasScheme reports whether an address begins with a scheme and its colon.
func hasScheme(url, scheme string) bool {
	return len(url) >= len(scheme) && strings.EqualFold(url[:len(scheme)], scheme)
}

// local refuses media that the server would have to read from the caller's disk.
func (e *encoder) local(m *wire.Media, at codec.Place) {
	if m != nil && hasScheme(m.URL, fileScheme) {
		e.refuse(at.String()+".media.url", "a server cannot read a file of the caller's", "give the bytes")
	}
}

// imageType reports whether the protocol takes images of a type.
func imageType(typ string) bool {
	switch typ {
	case "image/png", "image/jpeg", "image/jpg", "image/webp", "image/gif":
		return true
	}
	return false
}

// dataType is the media type that a data URL names.
func dataType(url string) string {
	url = url[len(dataScheme):]
	if i := strings.IndexAny(url, ";,"); i >= 0 {
		url = url[:i]
	}
	return strings.ToLower(url)
}

// dataURL writes bytes as a string.
func (e *encoder) dataURL(typ string, data []byte) {
	e.str("data:")
	e.more(typ)
	e.more(";base64,")
	n := len(e.b) - 2
	last := e.b[n]
	e.b = jsonw.AppendBase64(e.b[:n], data)
	e.b[n] = last
}

const maxMarks = 4

// mark writes a cache mark as the last member of a text part.
func (e *encoder) mark(ttl string) {
	e.marks++
	e.lit(`,"cache_control":{"type":"ephemeral"`)
	if ttl != "" {
		e.lit(`,"ttl":`)
		e.str(ttl)
	}
	e.lit(`}`)
}

// breakpoint writes a cache mark as OpenAI has it, as the last member of a part.
func (e *encoder) breakpoint(ttl string, at codec.Place) {
	e.marks++
	e.lit(`,"prompt_cache_breakpoint":{"mode":"explicit"`)
	switch ttl {
	case "":
	case "30m", "12h":
		e.lit(`,"ttl":`)
		e.str(ttl)
	default:
		e.dropped(at.String()+".cache.ttl", "a mark holds for 30m or 12h, not "+strconv.Quote(ttl)+"; sent without a time")
	}
	e.lit(`}`)
}

// marked reports whether the caller marks a part of the request for the cache.
func (e *encoder) marked() bool {
	for i := range e.r.System {
		if e.r.System[i].Cache != nil {
			return true
		}
	}
	for i := range e.r.Messages {
		for j := range e.r.Messages[i].Parts {
			p := &e.r.Messages[i].Parts[j]
			if p.Cache != nil {
				return true
			}
			for k := range p.Parts {
				if p.Parts[k].Cache != nil {
					return true
				}
			}
		}
	}
	return false
}

// plan chooses the places of the automatic cache marks: the last text of the
// conversation that is not the assistant's, and the last of the system prompt.
// The caller's own marks win where there is no room for all, and where their
// time is another one, for a longer time must not follow a shorter one.
func (e *encoder) plan() {
	r := e.r
	e.auto.on = e.family.marks && e.marked()
	if r.Cache == nil || !r.Cache.Auto || !e.profile.CacheControl {
		return
	}
	e.auto.on = true
	room, others := maxMarks, 0
	count := func(p *wire.Part) {
		if p.Cache != nil && p.Kind == wire.PartText && p.Text != "" {
			if room--; p.Cache.TTL != r.Cache.TTL {
				others++
			}
		}
	}
	for i := range r.System {
		count(&r.System[i])
	}
	for i := range r.Messages {
		for j := range r.Messages[i].Parts {
			p := &r.Messages[i].Parts[j]
			count(p)
			for k := range p.Parts {
				count(&p.Parts[k])
			}
		}
	}
	if others > 0 {
		e.dropped("cache.auto", "the time of the automatic marks is not that of the others")
		return
	}
	if p := e.lastText(); p != nil && p.Cache == nil && room > 0 {
		e.auto.last = p
		room--
	}
	for i := len(r.System) - 1; i >= 0 && room > 0; i-- {
		if p := &r.System[i]; p.Kind == wire.PartText && p.Text != "" {
			if p.Cache == nil {
				e.auto.system = p
			}
			return
		}
	}
}

// lastText returns the last text that is written, apart from the assistant's:
// within an answer what is no result stands last.
func (e *encoder) lastText() *wire.Part {
	var result *wire.Part
	for i := len(e.r.Messages) - 1; i >= 0; i-- {
		m := &e.r.Messages[i]
		if m.Role == wire.RoleAssistant {
			if result != nil && !e.silent(m) {
				return result
			}
			continue
		}
		for j := len(m.Parts) - 1; j >= 0; j-- {
			p := &m.Parts[j]
			if p.Kind == wire.PartText && p.Text != "" {
				return p
			}
			if p.Kind != wire.PartToolResult || result != nil {
				continue
			}
			for k := len(p.Parts) - 1; k >= 0 && result == nil; k-- {
				if q := &p.Parts[k]; q.Kind == wire.PartText && q.Text != "" {
					result = q
				}
			}
		}
	}
	return result
}
