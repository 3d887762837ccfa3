package anthropic

import (
	"strconv"
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
)

// messages writes the conversation. Neighbours of one role become one message;
// within a turn of the user's the results of tools come first, as the server
// demands.
func (e *encoder) messages() {
	e.Lit(`,"messages":[`)
	ms := e.r.Messages
	for i := 0; i < len(ms); {
		role := e.roleOf(&ms[i])
		j := i + 1
		for j < len(ms) && (e.roleOf(&ms[j]) == role || e.silent(&ms[j])) {
			j++
		}
		switch role {
		case roleUser:
			e.userTurn(i, j)
			e.turn = turn{}
		default:
			if role == roleAssistant {
				e.turn = turn{i, j}
			}
			for ; i < j; i++ {
				e.message(i, role, all)
			}
		}
		i = j
	}
	e.unanswered(turn{})
	if e.role == "" {
		e.Refuse("messages", "the protocol demands a message", "add a user message")
	} else {
		if e.role == roleAssistant {
			e.prefill()
		}
		e.close()
	}
	e.Lit(`]`)
}

func (e *encoder) roleOf(m *wire.Message) string {
	switch {
	case m.Role == wire.RoleAssistant:
		return roleAssistant
	case m.Role == wire.RoleSystem && e.family.system:
		return roleSystem
	}
	return roleUser
}

// close ends the message that is open.
func (e *encoder) close() {
	e.Lit(`]`)
	e.members(e.tail, codec.Field("messages"), "role", "content")
	e.Lit(`}`)
}

// begin opens a block in a message of role, and the message where one of
// another role is open. Tail are the vendor members of the message.
func (e *encoder) begin(role, tail string) {
	e.last = textBlock{}
	if e.role == role && e.tail == tail {
		e.Lit(`,`)
		return
	}
	if e.role != "" {
		e.close()
		e.Lit(`,`)
	} else if role != roleUser {
		e.Refuse("messages", "the first message must be the user's", "begin the conversation with a user message")
	}
	e.role, e.tail = role, tail
	e.Lit(`{"role":"`)
	e.Lit(role)
	e.Lit(`","content":[`)
}

// which says which parts of a message are to be written.
type which uint8

const (
	all which = iota
	results
	others
)

// userTurn writes the messages from i to before j as one turn of the user's.
func (e *encoder) userTurn(i, j int) {
	sorted, seenOther := true, false
	for k := i; k < j; k++ {
		for n := range e.r.Messages[k].Parts {
			if e.r.Messages[k].Parts[n].Kind == wire.PartToolResult {
				sorted = sorted && !seenOther
			} else {
				seenOther = true
			}
		}
	}
	e.unanswered(turn{i, j})
	if sorted {
		for ; i < j; i++ {
			e.message(i, roleUser, all)
		}
		return
	}
	for k := i; k < j; k++ {
		e.message(k, roleUser, results)
	}
	for k := i; k < j; k++ {
		e.message(k, roleUser, others)
	}
}

// unanswered refuses the calls of the last assistant turn that have no result in
// the turn that answers it.
func (e *encoder) unanswered(answer turn) {
	for i := e.turn.from; i < e.turn.to; i++ {
		m := &e.r.Messages[i]
		for j := range m.Parts {
			p := &m.Parts[j]
			if p.Kind != wire.PartToolCall || e.fate(m, p) != sent || e.find(answer, wire.PartToolResult, p.ID) != nil {
				continue
			}
			e.Refuse(codec.Part(i, j).String(), "the call "+strconv.Quote(p.ID)+" has no result in the turn that follows",
				"append its result, or an error result that says it was not run")
		}
	}
	if answer == (turn{}) {
		e.turn = turn{}
	}
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

// maxIDLen keeps ids portable; the server's own maximum is not documented.
const maxIDLen = 64

// fate is what becomes of a part.
type fate uint8

const (
	sent       fate = iota
	textless        // a text without a character, which the server refuses
	cut             // it, or its message, was cut off
	foreign         // only another model or host can read it
	unsigned        // reasoning without what proves it
	withheld        // the caller's settings say so
	misplaced       // its role cannot hold it
	hollow          // a block without anything in it
	whatIsThat      // a kind that is unknown
)

var fates = [...]string{
	textless:   "a text without a character is refused",
	cut:        "it was cut off",
	foreign:    "only the model and host that wrote it can read it",
	unsigned:   "reasoning without a signature cannot go back",
	withheld:   "the settings ask for no reasoning to go back",
	misplaced:  "a message of this role cannot hold it",
	hollow:     "the block is empty",
	whatIsThat: "unknown kind of part",
}

// fate decides what becomes of p, a part of m.
func (e *encoder) fate(m *wire.Message, p *wire.Part) fate {
	assistant := m.Role == wire.RoleAssistant
	switch p.Kind {
	case wire.PartText, wire.PartRefusal:
		if codec.Blank(p.Text) {
			return textless
		}
		return sent
	case wire.PartToolResult:
		if assistant || m.Role == wire.RoleSystem {
			return misplaced
		}
		return sent
	case wire.PartMedia:
		if assistant || m.Role == wire.RoleSystem {
			return misplaced
		}
		return sent
	case wire.PartReasoning, wire.PartToolCall, wire.PartOpaque:
	default:
		return whatIsThat
	}
	if p.Kind == wire.PartOpaque && strings.HasPrefix(p.Vendor, "{") {
		if c := jsonw.Parse(p.Vendor).Members(); !c.Next() && jsonw.Valid(p.Vendor) {
			return hollow
		}
	}
	if !assistant {
		if p.Kind == wire.PartOpaque {
			return sent
		}
		return misplaced
	}
	if unfinished(m, p) {
		return cut
	}
	if p.Kind == wire.PartToolCall {
		return sent
	}
	if p.Kind == wire.PartOpaque && p.Name == "fallback" && e.ownHost(m.Origin) {
		return sent // it tells that another model answered, which the origin then names
	}
	if !e.own(m.Origin) {
		return foreign
	}
	if p.Kind == wire.PartReasoning {
		if g := e.r.Reasoning; g != nil && g.Replay == wire.ReplayNever {
			return withheld
		}
		if p.Vendor == "" || !signed(p.Vendor) {
			return unsigned
		}
	}
	return sent
}

// unfinished reports whether a part was cut off, alone or with its message.
func unfinished(m *wire.Message, p *wire.Part) bool {
	return p.Partial || m.Role == wire.RoleAssistant && m.Ending != nil && m.Ending.Cause != wire.CauseFinished
}

// signed reports whether the vendor object of reasoning proves it.
func signed(vendor string) bool {
	if !jsonw.Valid(vendor) {
		return false
	}
	v := jsonw.Parse(vendor)
	return v.Get("signature").Str() != "" || v.Get("data").Str() != ""
}

// own reports whether what only its writer can read may go to the model that
// the request names.
func (e *encoder) own(o *wire.Origin) bool {
	if o == nil {
		return true
	}
	return e.ownHost(o) && (o.Model == "" || o.Model == e.r.Model || bare(o.Model) == bare(e.r.Model))
}

// ownHost reports whether an answer came from the host that the request goes to.
func (e *encoder) ownHost(o *wire.Origin) bool {
	return o == nil || (o.Protocol == "" || o.Protocol == Protocol) &&
		(o.Endpoint == "" || e.r.Endpoint == "" || o.Endpoint == e.r.Endpoint)
}

// silent reports whether nothing of m is sent.
func (e *encoder) silent(m *wire.Message) bool {
	for i := range m.Parts {
		if e.fate(m, &m.Parts[i]) == sent {
			return false
		}
	}
	return true
}

// message writes the parts of message i that are wanted.
func (e *encoder) message(i int, role string, w which) {
	m := &e.r.Messages[i]
	switch m.Role {
	case wire.RoleUser, wire.RoleAssistant, wire.RoleTool:
	case wire.RoleSystem:
		if role != roleSystem && w != results {
			e.Note(wire.NoteConverted, "messages["+strconv.Itoa(i)+"]", e.r.Model+" has no system messages within the conversation; sent as the user's")
		}
	default:
		if w != results {
			e.Refuse("messages["+strconv.Itoa(i)+"].role", "no such role: "+strconv.Quote(string(m.Role)), "one of user, assistant, tool, system")
		}
	}
	if m.Vendor != "" && m.Role != wire.RoleAssistant && w != results {
		// What an answer says about itself goes to nobody, its own host included.
		at := "messages[" + strconv.Itoa(i) + "].vendor"
		if !e.own(m.Origin) {
			e.Dropped(at, fates[foreign])
		} else if role != roleSystem {
			e.Dropped(at, "a message of this role has no further members")
		}
	}
	for j := range m.Parts {
		p := &m.Parts[j]
		if w != all && (w == results) != (p.Kind == wire.PartToolResult) {
			continue
		}
		at := codec.Part(i, j)
		f := e.fate(m, p)
		switch f {
		case sent:
		case whatIsThat:
			e.Refuse(at.String()+".kind", fates[f]+": "+strconv.Quote(string(p.Kind)), "")
			continue
		default:
			e.Dropped(at.String(), string(p.Kind)+": "+fates[f])
			continue
		}
		r := e.blockRole(role, m)
		tail := ""
		if r == roleSystem && e.own(m.Origin) {
			tail = m.Vendor
		}
		e.begin(r, tail)
		if p.Kind == wire.PartToolCall && e.find(e.turn, wire.PartToolCall, p.ID) != p {
			e.Refuse(at.String()+".id", "the call "+strconv.Quote(p.ID)+" is there twice", "give every call of a turn its own id")
		}
		if p.Kind == wire.PartToolResult {
			e.pair(p, i, at)
		}
		own := e.own(m.Origin)
		if own && p.Vendor != "" && unfinished(m, p) {
			e.Dropped(at.String()+".vendor", fates[cut])
			p = &wire.Part{Kind: p.Kind, Text: p.Text, Cache: p.Cache}
		}
		e.block(p, own, at)
	}
}

// blockRole is the role that a block of m is written under.
func (e *encoder) blockRole(role string, m *wire.Message) string {
	if r := e.roleOf(m); r != role {
		return r
	}
	return role
}

// block writes one part as a content block.
func (e *encoder) block(p *wire.Part, own bool, at codec.Place) {
	switch p.Kind {
	case wire.PartText, wire.PartRefusal:
		if p.Kind == wire.PartRefusal {
			e.Note(wire.NoteConverted, at.String(), "a refusal is sent as text")
		}
		e.Lit(`{"type":"text","text":`)
		from := len(e.B)
		e.Str(p.Text)
		if e.role == roleAssistant {
			e.last = textBlock{from, len(e.B), p.Text}
		}
		e.vendor(p, own, at, "type", "text")
	case wire.PartReasoning:
		if jsonw.Parse(p.Vendor).Get("data").Exists() {
			e.Lit(`{"type":"redacted_thinking"`)
		} else {
			e.Lit(`{"type":"thinking","thinking":`)
			e.Str(p.Text)
		}
		e.members(p.Vendor, at, "type", "thinking")
	case wire.PartToolCall:
		e.Lit(`{"type":"tool_use","id":`)
		e.Name(p.ID, maxIDLen, at, ".id")
		e.Lit(`,"name":`)
		if codec.ValidName(p.Name, 128) {
			e.Str(p.Name)
		} else {
			e.Renamed(p.Name, codec.SafeName(p.Name, maxIDLen), at, ".name")
		}
		e.Lit(`,"input":`)
		e.input(p, at)
		e.vendor(p, own, at, "type", "id", "name", "input")
	case wire.PartToolResult:
		e.result(p, own, at)
	case wire.PartMedia:
		e.media(p, own, at)
	case wire.PartOpaque:
		e.Raw(p.Vendor, at)
		v := jsonw.Parse(p.Vendor)
		if c := v.Members(); !c.Next() {
			e.Refuse(at.String()+".vendor", "an opaque part holds the whole block as a JSON object", "")
			return
		}
		if v.Get("cache_control").Exists() {
			e.marks++
		}
		if p.Cache == nil && p != e.auto.part {
			return
		}
		e.B = e.B[:len(e.B)-1]
	}
	switch {
	case p == e.auto.part:
		e.mark(&e.auto.mark)
	case p.Cache != nil && p.Kind == wire.PartReasoning:
		e.Dropped(at.String()+".cache", "reasoning cannot carry a cache mark")
	default:
		e.mark(p.Cache)
	}
	e.Lit(`}`)
}

// vendor appends the members that only the origin can read.
func (e *encoder) vendor(p *wire.Part, own bool, at codec.Place, written ...string) {
	if p.Vendor == "" {
		return
	}
	if !own {
		e.Dropped(at.String()+".vendor", fates[foreign])
		return
	}
	e.members(p.Vendor, at, written...)
}

// input writes the arguments of a call, which must be an object.
func (e *encoder) input(p *wire.Part, at codec.Place) {
	args := strings.Trim(p.Args, " \t\r\n")
	switch {
	case p.FreeForm:
		e.Note(wire.NoteConverted, at.String()+".args", `free text is sent as {"input":…}`)
		e.Lit(`{"input":`)
		e.Str(p.Args)
		e.Lit(`}`)
	case args == "":
		e.Lit(`{}`)
	case args == "null":
		e.Note(wire.NoteConverted, at.String()+".args", "null is sent as {}")
		e.Lit(`{}`)
	case !jsonw.Valid(args):
		e.Note(wire.NoteRepaired, at.String()+".args", "arguments that are no JSON are sent as {}: "+wire.Excerpt([]byte(args)))
		e.Lit(`{}`)
	case args[0] != '{':
		e.Note(wire.NoteConverted, at.String()+".args", `arguments that are no object are sent as {"input":…}`)
		e.Lit(`{"input":`)
		e.Raw(args, at)
		e.Lit(`}`)
	default:
		e.Raw(p.Args, at)
	}
}

// pair refuses a result, part of message i, that has no call or is the second.
// A block of the assistant's of a kind that is not known here may be a call too.
func (e *encoder) pair(p *wire.Part, i int, at codec.Place) {
	if e.find(e.turn, wire.PartToolCall, p.ID) == nil && e.find(e.turn, wire.PartOpaque, p.ID) == nil {
		e.Refuse(at.String(), "the result "+strconv.Quote(p.ID)+" has no call in the assistant turn before it", "drop it, or add the message with the call")
	} else if first := e.find(turn{e.turn.to, i + 1}, wire.PartToolResult, p.ID); first != p {
		e.Refuse(at.String(), "the call "+strconv.Quote(p.ID)+" has two results", "keep one")
	}
}

// result writes the result of a call.
func (e *encoder) result(p *wire.Part, own bool, at codec.Place) {
	e.Lit(`{"type":"tool_result","tool_use_id":`)
	e.Name(p.ID, maxIDLen, at, ".id")
	n := 0
	for i := range p.Parts {
		c := &p.Parts[i]
		inner := at.Inner(i)
		switch {
		case c.Kind == wire.PartText && codec.Blank(c.Text):
			if c.Text != "" {
				e.Dropped(inner.String(), fates[textless])
			}
			continue
		case c.Kind == wire.PartMedia && p.IsError:
			e.Dropped(inner.String(), "the result of a failed tool holds text alone")
			continue
		case c.Kind == wire.PartText, c.Kind == wire.PartMedia, c.Kind == wire.PartOpaque:
		default:
			e.Refuse(inner.String(), "a result holds text and media, not "+strconv.Quote(string(c.Kind)), "")
			continue
		}
		if n++; n == 1 {
			e.Lit(`,"content":[`)
		} else {
			e.Lit(`,`)
		}
		e.block(c, own, inner)
	}
	if n > 0 {
		e.Lit(`]`)
	}
	if p.IsError {
		e.Lit(`,"is_error":true`)
	}
	e.vendor(p, own, at, "type", "tool_use_id", "content", "is_error")
}

// media writes an image or a document.
func (e *encoder) media(p *wire.Part, own bool, at codec.Place) {
	m, typ := e.Media(p, at)
	image := strings.HasPrefix(typ, "image/") || typ == ""
	if image {
		e.Lit(`{"type":"image","source":{`)
	} else {
		e.Lit(`{"type":"document","source":{`)
	}
	switch {
	case m.URL != "":
		e.Lit(`"type":"url","url":`)
		e.Str(m.URL)
	case m.FileID != "":
		e.Lit(`"type":"file","file_id":`)
		e.Str(m.FileID)
	case !image && strings.HasPrefix(typ, "text/"):
		e.Lit(`"type":"text","media_type":"text/plain","data":`)
		e.Str(string(m.Data))
		if typ != "text/plain" {
			e.Note(wire.NoteConverted, at.String()+".media.type", typ+" is sent as text/plain")
		}
	default:
		switch typ {
		case "image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf":
		default:
			e.Refuse(at.String()+".media.type", "the protocol takes PNG, JPEG, GIF, WebP, PDF and plain text, not "+strconv.Quote(typ),
				"convert it, or give it as text")
		}
		e.Lit(`"type":"base64","media_type":`)
		e.Str(typ)
		e.Lit(`,"data":`)
		e.B = jsonw.AppendBase64(e.B, m.Data)
	}
	e.Lit(`}`)
	if m.Name != "" {
		if image {
			e.Dropped(at.String()+".media.name", "an image has no name")
		} else {
			e.Lit(`,"title":`)
			e.Str(m.Name)
		}
	}
	if m.Detail != "" {
		e.Dropped(at.String()+".media.detail", "the protocol has no such setting")
	}
	e.vendor(p, own, at, "type", "source")
}

// prefill checks a conversation that ends with the assistant: the model is asked
// to go on from there.
func (e *encoder) prefill() {
	last := &e.r.Messages[len(e.r.Messages)-1]
	for i := len(e.r.Messages) - 1; i >= 0 && e.silent(last); i-- {
		last = &e.r.Messages[i]
	}
	if last.Ending != nil && last.Ending.Finish == wire.FinishPause {
		return // it goes back as it is
	}
	if !e.family.prefill {
		e.Refuse("messages", e.r.Model+" does not continue an assistant message", "end the conversation with a user message")
	}
	if t := strings.TrimRight(e.last.text, " \t\r\n"); e.last.to > 0 && t != e.last.text {
		tail := string(e.B[e.last.to:])
		e.B = jsonw.AppendString(e.B[:e.last.from], t)
		e.Lit(tail)
		e.Note(wire.NoteRepaired, "messages", "white space at the end of the last assistant text is refused and was left out")
	}
}
