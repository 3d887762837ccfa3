package wire

// Request is everything that decides the bytes of a request body: the same
// Request gives the same bytes, in every process, until an entry under Wire
// changes in the changelog says otherwise.
//
// A nil pointer and an empty field mean "say nothing about it": the key is left
// out and the vendor's default holds, except where the field's comment says
// that a protocol demands one. Nil and empty slices encode alike.
type Request struct {
	// Model is the model's id as the vendor spells it.
	Model string `json:"model"`
	// Endpoint is the host that the request goes to, to be compared with the
	// Origin of messages; empty matches every host. A client fills it in.
	Endpoint string `json:"endpoint,omitempty"`
	// System is the standing system prompt, text parts.
	System []Part `json:"system,omitempty"`
	// Messages is the conversation, oldest first.
	Messages []Message `json:"messages,omitempty"`
	// Tools are offered to the model in this order.
	Tools      []Tool     `json:"tools,omitempty"`
	ToolChoice ToolChoice `json:"tool_choice,omitzero"`
	// ParallelToolCalls allows or forbids several calls in one turn.
	ParallelToolCalls *bool `json:"parallel_tool_calls,omitempty"`
	// MaxTokens limits the output, reasoning included where the vendor counts
	// so. Zero leaves it out, or takes the codec's documented default where
	// the protocol demands a number.
	MaxTokens int `json:"max_tokens,omitempty"`
	// Reasoning is nil for the vendor's default.
	Reasoning *Reasoning `json:"reasoning,omitempty"`

	// Sampling. Zero is a value and is sent; nil is not. A vendor or model
	// that has no such setting gets none, with a note.
	Temperature      *float64 `json:"temperature,omitempty"`
	TopP             *float64 `json:"top_p,omitempty"`
	TopK             *int     `json:"top_k,omitempty"`
	Seed             *int64   `json:"seed,omitempty"`
	PresencePenalty  *float64 `json:"presence_penalty,omitempty"`
	FrequencyPenalty *float64 `json:"frequency_penalty,omitempty"`

	// StopSequences end the output where one of them appears. Where the vendor
	// or the model has none, the request is refused before it is sent.
	StopSequences []string `json:"stop_sequences,omitempty"`
	// Output asks for a form of the answer; nil is plain text.
	Output *OutputFormat `json:"output,omitempty"`
	// Cache is how prompt caching is asked for; nil leaves all to the marks on
	// parts and tools and to the vendor.
	Cache *CachePolicy `json:"cache,omitempty"`
	// UserID is an opaque id of the end user, without personal data.
	UserID string `json:"user_id,omitempty"`
	// ServiceTier is the vendor's word for the tier wanted.
	ServiceTier string `json:"service_tier,omitempty"`
	// Whole asks for the answer as one JSON document rather than as a stream.
	// Streams are the default and the better choice: an answer that takes
	// minutes is then seen to be alive, and what came before a cut is kept.
	Whole bool `json:"whole,omitempty"`
	// Extra are further top-level members of the body in the vendor's own
	// words, written in this order. A name that the codec writes itself for
	// this request is refused.
	Extra []Field `json:"extra,omitempty"`
	// Headers are further request headers in the vendor's own words, without
	// credentials.
	Headers []Header `json:"headers,omitempty"`
}

// Field is a member of a JSON object, its value as raw JSON text.
type Field struct {
	Name string `json:"name"`
	Raw  string `json:"raw"`
}

// Header is one HTTP header line.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Tool is a tool that the model may call.
type Tool struct {
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	// Schema is the JSON Schema of the arguments. It goes out byte for byte.
	// Empty is an object without properties.
	Schema string `json:"schema,omitempty"`
	// Strict asks the vendor to hold the arguments to the schema.
	Strict *bool `json:"strict,omitempty"`
	// FreeForm makes the arguments free text; Grammar, where given, is the
	// vendor's description of it as a JSON object.
	FreeForm bool   `json:"free_form,omitempty"`
	Grammar  string `json:"grammar,omitempty"`
	// Cache asks for a cache breakpoint after this tool.
	Cache *CacheMark `json:"cache,omitempty"`
	// Vendor is a JSON object in the vendor's own words: further members of
	// the definition, or, where Name is empty, the whole definition (a tool
	// that the vendor runs itself), which goes out byte for byte.
	Vendor string `json:"vendor,omitempty"`
}

// ToolChoiceMode says how freely the model may choose among the tools.
type ToolChoiceMode string

// The modes of tool choice. The zero value says nothing and leaves the
// vendor's default, or the codec's documented one.
const (
	ToolChoiceAuto     ToolChoiceMode = "auto"     // the model decides
	ToolChoiceNone     ToolChoiceMode = "none"     // no call
	ToolChoiceRequired ToolChoiceMode = "required" // at least one call
	ToolChoiceTool     ToolChoiceMode = "tool"     // the tool called Name
)

// ToolChoice restricts the model's choice of tools.
type ToolChoice struct {
	Mode ToolChoiceMode `json:"mode,omitempty"`
	// Name is the tool of mode tool.
	Name string `json:"name,omitempty"`
	// Allowed narrows the choice to these tools without changing Tools, where
	// the vendor can do so.
	Allowed []string `json:"allowed,omitempty"`
}

// ReasoningMode switches the model's reasoning.
type ReasoningMode string

// The modes of reasoning. The zero value leaves the vendor's default.
const (
	ReasoningOn           ReasoningMode = "on"
	ReasoningOff          ReasoningMode = "off"
	ReasoningBetweenTools ReasoningMode = "between_tools" // none up front, only between tool calls (Anthropic)
)

// Reasoning are the settings of the model's reasoning. Keep them constant over
// a conversation: a change makes the vendors' prompt caches miss, and some drop
// or refuse earlier reasoning after one.
type Reasoning struct {
	Mode ReasoningMode `json:"mode,omitempty"`
	// Effort is the vendors' word for how hard to think: none, minimal, low,
	// medium, high, xhigh, max, ultra. Which of them a model takes differs.
	Effort string `json:"effort,omitempty"`
	// Budget is a number of tokens, for the models that take one.
	Budget int `json:"budget,omitempty"`
	// Display is the vendors' word for what is shown of it: summarized,
	// omitted, auto, concise, detailed.
	Display string `json:"display,omitempty"`
	// Replay says which reasoning of earlier turns goes back. The zero value
	// follows the rules of the target.
	Replay ReasoningReplay `json:"replay,omitempty"`
	// Vendor is a JSON object of further settings in the vendor's own words.
	Vendor string `json:"vendor,omitempty"`
}

// ReasoningReplay says whether reasoning of earlier turns goes back to the
// vendor. It is a setting of the whole conversation and never decided by turn,
// so that what was sent once is sent again.
type ReasoningReplay string

// ReplayNever sends no reasoning back. Some vendors refuse that in a tool loop.
const ReplayNever ReasoningReplay = "never"

// OutputKind is a form of answer.
type OutputKind string

// The forms of answer.
const (
	OutputText       OutputKind = "text"
	OutputJSON       OutputKind = "json_object"
	OutputJSONSchema OutputKind = "json_schema"
)

// OutputFormat asks for a form of the answer.
type OutputFormat struct {
	Kind        OutputKind `json:"kind"`
	Name        string     `json:"name,omitempty"`
	Description string     `json:"description,omitempty"`
	Schema      string     `json:"schema,omitempty"` // JSON Schema, byte for byte
	Strict      *bool      `json:"strict,omitempty"`
}

// CachePolicy asks for prompt caching beyond the marks on parts and tools.
type CachePolicy struct {
	// Auto sets breakpoints at the stable ends of the system prompt, the tools
	// and the last message. The mark on the last message moves from turn to
	// turn; nothing else of an earlier turn's bytes changes.
	Auto bool `json:"auto,omitempty"`
	// TTL is the vendor's spelling of how long to keep the prefix.
	TTL string `json:"ttl,omitempty"`
	// Key routes equal prefixes to the same cache, where the vendor has it.
	Key string `json:"key,omitempty"`
}
