package wire

import "strings"

// Role says whose turn a message is.
type Role string

// The roles. Vendors' other spellings (model, developer, function) are the
// codecs' business.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"   // tool results and nothing else
	RoleSystem    Role = "system" // in the middle of a conversation; the standing prompt is Request.System
)

// PartKind says what a [Part] is and so which of its fields mean something.
type PartKind string

// The kinds of part.
const (
	PartText       PartKind = "text"        // Text
	PartReasoning  PartKind = "reasoning"   // Text; without text it is redacted, withheld or empty, and what it has is in Vendor
	PartRefusal    PartKind = "refusal"     // Text
	PartToolCall   PartKind = "tool_call"   // ID, Name, Args, FreeForm
	PartToolResult PartKind = "tool_result" // ID, Name, Parts, IsError
	PartMedia      PartKind = "media"       // Media
	PartOpaque     PartKind = "opaque"      // Name (the vendor's block type), Vendor (the whole block), ID where it has one
)

// Part is one piece of a message: a run of text, a tool call, an image. It is
// one flat struct for all kinds; the comment beside each kind names the fields
// that it uses, and Cache, Vendor and Item may stand on any of them.
//
// Vendor text is held in strings, never in [encoding/json.RawMessage]: what a
// vendor sent is kept to the byte, also where it is not valid JSON.
//
// A Part is a value. Copying it shares Parts, Media and Cache; no function of
// this module changes what they point to.
type Part struct {
	Kind PartKind `json:"kind"`
	// Text is the text of a text, reasoning or refusal part.
	Text string `json:"text,omitempty"`
	// ID pairs a tool call with its result. Where a vendor gives none, or the
	// same one twice, the decoder makes one up, and what the vendor gave is in
	// Vendor. On an opaque part it is the id that the vendor gave to the block.
	ID string `json:"id,omitempty"`
	// Name is the name of the tool, or the vendor's type of an opaque part.
	Name string `json:"name,omitempty"`
	// Args is the exact text of a call's arguments as the model wrote it: JSON,
	// or free text where FreeForm is set. It may be cut or invalid; see
	// [Message.ExecutableCalls].
	Args string `json:"args,omitempty"`
	// FreeForm marks a call whose arguments are free text and no JSON.
	FreeForm bool `json:"free_form,omitempty"`
	// IsError marks the result of a tool that failed.
	IsError bool `json:"is_error,omitempty"`
	// Partial marks a part that was cut off. It is never run and never sent
	// back as if it were whole.
	Partial bool `json:"partial,omitempty"`
	// Parts is the content of a tool result.
	Parts []Part `json:"parts,omitempty"`
	// Media is the content of a media part.
	Media *Media `json:"media,omitempty"`
	// Cache asks for a prompt-cache breakpoint after this part, where the
	// vendor has such marks.
	Cache *CacheMark `json:"cache,omitempty"`
	// Vendor is JSON text that only the codec of the message's origin reads:
	// the whole block of an opaque part, or an object of what the unified
	// fields do not hold (a signature, an item id, citations).
	Vendor string `json:"vendor,omitempty"`
	// Item groups neighbours: parts of one message with an equal, non-empty
	// Item are one item of the vendor, whose facts are in the last one's
	// Vendor (OpenAI Responses: a message of several content parts, a
	// reasoning item of several summaries). What belongs to one piece of an
	// item rather than to the item is the member "part" of that piece's
	// Vendor. An item of one part needs no Item.
	Item string `json:"item,omitempty"`
}

// TextPart returns a text part.
func TextPart(text string) Part { return Part{Kind: PartText, Text: text} }

// ToolCallPart returns a tool call. Args is the exact text of its arguments.
func ToolCallPart(id, name, args string) Part {
	return Part{Kind: PartToolCall, ID: id, Name: name, Args: args}
}

// ToolResultPart returns the result of the call id of the tool name.
func ToolResultPart(id, name string, parts ...Part) Part {
	return Part{Kind: PartToolResult, ID: id, Name: name, Parts: parts}
}

// ImagePart returns a media part that holds the bytes of an image, whose type
// is read from the bytes (PNG, JPEG, GIF, WebP). The bytes are not copied.
func ImagePart(data []byte) Part {
	return Part{Kind: PartMedia, Media: &Media{Type: SniffImage(data), Data: data}}
}

// Media is an image, a document or another file, given in exactly one of three
// ways: as bytes, by URL, or as the id of a file that the vendor holds.
type Media struct {
	// Type is the media type, such as image/png. For bytes of the four common
	// image formats the codecs trust the bytes rather than Type; see
	// [Media.MediaType].
	Type   string `json:"type,omitempty"`
	Data   []byte `json:"data,omitempty"` // base64 in JSON
	URL    string `json:"url,omitempty"`
	FileID string `json:"file_id,omitempty"`
	// Name is a file name or title shown to the model, where the vendor has
	// a place for it.
	Name string `json:"name,omitempty"`
	// Detail is the vendor's word for the resolution wanted (low, high, auto).
	Detail string `json:"detail,omitempty"`
}

// MediaType returns the media type to send: what the bytes say for a PNG,
// JPEG, GIF or WebP image, else Type in its usual spelling (image/jpg becomes
// image/jpeg).
func (m *Media) MediaType() string {
	if t := SniffImage(m.Data); t != "" {
		return t
	}
	t := strings.ToLower(strings.TrimSpace(m.Type))
	if t == "image/jpg" {
		return "image/jpeg"
	}
	return t
}

// SniffImage returns the media type of data if it begins as a PNG, JPEG, GIF
// or WebP image does, else "".
func SniffImage(data []byte) string {
	s := string(data[:min(len(data), 12)])
	switch {
	case strings.HasPrefix(s, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(s, "\xff\xd8\xff"):
		return "image/jpeg"
	case strings.HasPrefix(s, "GIF87a"), strings.HasPrefix(s, "GIF89a"):
		return "image/gif"
	case len(s) == 12 && s[:4] == "RIFF" && s[8:] == "WEBP":
		return "image/webp"
	}
	return ""
}

// CacheMark is a prompt-cache breakpoint.
type CacheMark struct {
	// TTL is how long the vendor shall keep the prefix, in its own spelling
	// (5m, 1h, 30m, 12h); empty is its default.
	TTL string `json:"ttl,omitempty"`
}

// Message is one turn of a conversation. A message given to this module is
// never modified.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts,omitempty"`
	// Origin says where a message came from, or for a message with vendor data
	// that no model wrote, whom it is for. Nil means unknown: the message is
	// taken as the target's own.
	Origin *Origin `json:"origin,omitempty"`
	// Ending says how an assistant message ended. Nil means unknown or still
	// streaming: its calls are not executable.
	Ending *Ending `json:"ending,omitempty"`
	// Vendor is a JSON object of facts about the whole message that only the
	// origin's codec reads.
	Vendor string `json:"vendor,omitempty"`
}

// UserMessage returns a user message of parts.
func UserMessage(parts ...Part) Message { return Message{Role: RoleUser, Parts: parts} }

// UserText returns a user message of one text part.
func UserText(text string) Message { return UserMessage(TextPart(text)) }

// ToolMessage returns a message of tool results.
func ToolMessage(results ...Part) Message { return Message{Role: RoleTool, Parts: results} }

// Text returns the text parts of m, joined with nothing between.
func (m *Message) Text() string { return m.join(PartText) }

// Reasoning returns the text of the reasoning parts of m, joined with nothing
// between.
func (m *Message) Reasoning() string { return m.join(PartReasoning) }

func (m *Message) join(k PartKind) string {
	var one string
	var b strings.Builder
	n := 0
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == k && p.Text != "" {
			if n == 1 {
				b.WriteString(one)
			}
			if n++; n == 1 {
				one = p.Text
			} else {
				b.WriteString(p.Text)
			}
		}
	}
	if n < 2 {
		return one
	}
	return b.String()
}

// ExecutableCalls returns the tool calls of m that may be run, in the model's
// order. A call may be run when its part came to its end, its arguments are
// one complete JSON value (or free text where the call says so), and the
// message finished for a reason that permits it: finish reason tool_call or
// stop. Of a message that was cut, refused, paused or ended at the length
// limit none may be run, whatever a repair could make of it.
func (m *Message) ExecutableCalls() []Part {
	if m.Role != RoleAssistant || m.Ending == nil || m.Ending.Cause != CauseFinished ||
		m.Ending.Finish != FinishToolCall && m.Ending.Finish != FinishStop {
		return nil
	}
	var calls []Part
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == PartToolCall && p.executable() {
			calls = append(calls, *p)
		}
	}
	return calls
}

func (p *Part) executable() bool { return !p.Partial && (p.FreeForm || ValidJSON(p.Args)) }

// Origin is where a message came from. It decides what of the
// message can go back verbatim.
type Origin struct {
	// Protocol is the protocol's name, as [Codec.Protocol] gives it.
	Protocol string `json:"protocol,omitempty"`
	// Endpoint is the host that answered. An encrypted part of one host means
	// nothing to another that speaks the same protocol.
	Endpoint string `json:"endpoint,omitempty"`
	// Model is the model that answered, in the response's own spelling.
	Model string `json:"model,omitempty"`
	// ResponseID is the vendor's id of the response.
	ResponseID string `json:"response_id,omitempty"`
}

// Response is one answer of a model, whole or as much of it as arrived.
type Response struct {
	Message   Message    `json:"message"`
	Usage     Usage      `json:"usage,omitzero"`
	Notes     []Note     `json:"notes,omitempty"`
	RequestID string     `json:"request_id,omitempty"`
	RateLimit RateLimits `json:"rate_limit,omitempty"`
}
