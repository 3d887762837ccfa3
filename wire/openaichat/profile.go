package openaichat

// Profile says in which ways a server departs from the Chat Completions of
// OpenAI. It is data: every field is a switch whose zero value is OpenAI's own
// behaviour, and a program may write its own. What a stream shows by itself
// (names of fields, places of usage, shapes of errors, indices that are missing)
// needs no switch: the decoder reads all of it, whatever the profile.
//
// A setting that a server lacks is left out with a note where it only shapes the
// output (sampling, tiers, ids of users, cache keys), and refused where the
// answer would be another one without it (a forced tool choice, an output
// format, a free-form tool).
type Profile struct {
	// MaxTokens is the name of the output limit. Many servers know only the
	// old one, and some ignore the new one silently.
	MaxTokens MaxTokensField
	// System is the role of the standing system prompt and of system messages.
	System SystemRole
	// SystemFirst says that only the first message may be a system message.
	// Later ones become the user's, with a note.
	SystemFirst bool
	// AnyModel lets every model through with every setting: none of the rules
	// about the vendor's own models is applied, and the server decides. It is
	// for servers that give their models the names of OpenAI's, and for
	// gateways that lift OpenAI's rules.
	AnyModel bool

	// Thinking is how reasoning is switched and graded.
	Thinking ThinkingStyle
	// Efforts translates words of effort, the first row that fits. A word
	// without a row goes out as it is.
	Efforts []Effort
	// Replay is which reasoning of earlier turns goes back.
	Replay Replay
	// BlankReasoning are models, by the beginning of their ids up to a dash, a
	// colon or an at sign, that want a reasoning_content in every message with
	// calls: "" goes out where there is no reasoning to send, unless reasoning
	// is off.
	BlankReasoning []string
	// Members are the further members of an assistant message that go back
	// to the model that wrote them, such as reasoning_opaque. All others stay.
	Members []string

	// ToolChoice is which choices of tools the server takes.
	ToolChoice ToolChoices
	// ForcedChoice says that a forced tool choice needs thinking switched off.
	ForcedChoice ForcedChoice
	// ToolStream is the name of a top-level switch without which calls come
	// whole rather than as a stream of arguments.
	ToolStream string
	// NoStrict leaves "strict" out of tools.
	NoStrict bool
	// NoParallel leaves parallel_tool_calls out.
	NoParallel bool
	// NoCustom says that there are no tools with free text arguments. Calls
	// of such tools in the history become functions with one member, input.
	NoCustom bool

	// Signatures says that calls need a thought signature (Gemini): the first one
	// of a message that has none gets the placeholder for those of other models.
	Signatures bool

	// NullContent is the content of an assistant message that has calls and
	// no text.
	NullContent NullContent
	// IDs is which tool-call ids the server takes.
	IDs IDRule
	// ToolName writes the tool's name into messages of results.
	ToolName bool
	// AssistantAfterTools puts a short assistant message between the results
	// of tools and a message of the user's, for chat templates that fail
	// without one.
	AssistantAfterTools bool
	// NoRefusal sends refusals of earlier turns as text.
	NoRefusal bool
	// PlainText joins the texts of a user's message that has nothing else with
	// line ends, as those of the assistant's always are, for servers and
	// templates that take a list only with images in it.
	PlainText bool
	// NoNames leaves the name of a message out.
	NoNames bool
	// NoImages says that no model of the server sees images: they become a
	// line of text in what is sent.
	NoImages bool
	// NoImageURLs says that images are taken as bytes alone: one that is given
	// by its address becomes a line of text with the address.
	NoImageURLs bool
	// NoFiles says that the server takes neither documents nor audio: they
	// become a line of text.
	NoFiles bool
	// CacheControl writes cache marks as cache_control members on text parts,
	// as Anthropic has them.
	CacheControl bool

	// NoStreamOptions leaves stream_options out; usage may then be unknown.
	NoStreamOptions bool
	// TopK says that there is a top_k.
	TopK bool
	// NarrowSampler moves a temperature above 1 to 1, and a top_p below 0.01 to
	// 0.01, with a note.
	NarrowSampler bool
	// NoPenalties leaves presence_penalty and frequency_penalty out.
	NoPenalties bool
	// NoFrequencyPenalty leaves frequency_penalty alone out.
	NoFrequencyPenalty bool
	// SeedName is the name of the seed; empty is seed.
	SeedName string
	// NoSeed leaves the seed out.
	NoSeed bool
	// NoCacheKey leaves prompt_cache_key out.
	NoCacheKey bool
	// NoServiceTier leaves service_tier out.
	NoServiceTier bool
	// NoUser leaves safety_identifier out.
	NoUser bool
	// NoJSONSchema refuses an output format with a schema.
	NoJSONSchema bool

	// ThinkTags takes <think>…</think> in the answer's text as reasoning.
	ThinkTags bool
	// ThoughtTags takes <thought>…</thought> in the answer's text as reasoning,
	// and no other tags.
	ThoughtTags bool
	// ReasoningPieces says what the pieces of reasoning say again.
	ReasoningPieces ReasoningPieces
	// ReasoningApart says that completion_tokens leaves reasoning out.
	ReasoningApart bool
}

// MaxTokensField is the name of the output limit.
type MaxTokensField string

// The names of the output limit.
const (
	MaxCompletionTokens MaxTokensField = ""           // max_completion_tokens
	MaxTokens           MaxTokensField = "max_tokens" // the old name
	// MaxTokensByModel is the new name for OpenAI's reasoning models, the old one
	// for all others.
	MaxTokensByModel MaxTokensField = "by_model"
)

// SystemRole is the role of the system prompt.
type SystemRole string

// The roles of the system prompt.
const (
	SystemByModel   SystemRole = ""          // developer for OpenAI's reasoning models, system for all others
	SystemSystem    SystemRole = "system"    // always system
	SystemDeveloper SystemRole = "developer" // always developer
	// SystemByVendor is developer for models whose id begins with openai/ or
	// anthropic/, system for all others (OpenRouter).
	SystemByVendor SystemRole = "by_vendor"
)

// ThinkingStyle is how reasoning is switched and graded.
type ThinkingStyle string

// The styles. Where a style has no place for an effort or a budget, that is
// left out with a note; where it has no switch, a mode is refused.
const (
	ThinkingEffort     ThinkingStyle = ""           // reasoning_effort; off is the effort none
	ThinkingZAI        ThinkingStyle = "zai"        // thinking {"type","clear_thinking":false}, and reasoning_effort
	ThinkingDeepSeek   ThinkingStyle = "deepseek"   // thinking {"type"}, and reasoning_effort
	ThinkingBudget     ThinkingStyle = "budget"     // thinking {"type","budget_tokens"}, and reasoning_effort (Fireworks)
	ThinkingAdaptive   ThinkingStyle = "adaptive"   // thinking {"type"}, adaptive or disabled (MiniMax)
	ThinkingQwen       ThinkingStyle = "qwen"       // enable_thinking, thinking_budget and reasoning_effort
	ThinkingTemplate   ThinkingStyle = "template"   // chat_template_kwargs {"enable_thinking"}, and reasoning_effort (vLLM, SGLang, llama.cpp)
	ThinkingOpenRouter ThinkingStyle = "openrouter" // reasoning {"effort"} or {"max_tokens"}, {"enabled"}
	ThinkingKimi       ThinkingStyle = "kimi"       // thinking {"type","keep":"all","budget_tokens"}, and reasoning_effort (Moonshot)
	ThinkingTogether   ThinkingStyle = "together"   // reasoning {"enabled"}, and reasoning_effort
	ThinkingNone       ThinkingStyle = "none"       // there is no such setting
)

// Effort translates one word of effort. An empty To leaves it out.
type Effort struct{ From, To string }

// Replay is which reasoning of earlier turns goes back. It never depends on what
// later turns do, and never goes to another server or another model than wrote
// the reasoning.
type Replay string

// The ways of replay.
const (
	ReplayNever   Replay = ""        // none
	ReplayField   Replay = "field"   // in the field that it came in
	ReplayAlways  Replay = "always"  // as reasoning_content on every assistant message while thinking is on, "" where there is none
	ReplayDetails Replay = "details" // as reasoning_details, unmodified; without them in the field that it came in
	ReplayTags    Replay = "tags"    // at the beginning of the text, between <think> and </think>
	ReplayChunks  Replay = "chunks"  // as typed chunks of the content (Mistral)
)

// ReasoningPieces is what the pieces of reasoning in a stream say again.
type ReasoningPieces string

// The forms.
const (
	PiecesPlain ReasoningPieces = "" // each is new
	// PiecesGrowing: each may hold all of the text so far, which is taken to be
	// so if the first three pieces do. The second piece is held back until the
	// third has come, or something else.
	PiecesGrowing ReasoningPieces = "growing"
	// PiecesDoubled: one that is exactly the one before it is left out.
	PiecesDoubled ReasoningPieces = "doubled"
)

// ToolChoices is which choices of tools a server takes.
type ToolChoices string

// The sets of choices. What is not in the set is refused, but for none, which
// can always be had by leaving the tools out.
const (
	ToolChoicesAll    ToolChoices = ""       // none, auto, required, a named tool, and narrowed to some tools
	ToolChoicesPlain  ToolChoices = "plain"  // none, auto, required, a named tool
	ToolChoicesAuto   ToolChoices = "auto"   // auto alone
	ToolChoicesUnsaid ToolChoices = "unsaid" // none is ever written: there is no such field, or it is ignored
)

// ForcedChoice says when a forced tool choice is taken.
type ForcedChoice string

// When a forced tool choice is taken.
const (
	ForcedAlways          ForcedChoice = ""
	ForcedWithoutThinking ForcedChoice = "without_thinking" // only where the request switches reasoning off
)

// NullContent is the content of a message that has none.
type NullContent string

// The contents.
const (
	ContentNull  NullContent = ""      // null
	ContentEmpty NullContent = "empty" // ""
	ContentOmit  NullContent = "omit"  // no such member
)

// IDRule is which tool-call ids a server takes. Others are renamed, call and
// result alike, by a rule that depends on nothing but the id.
type IDRule string

// The rules.
const (
	IDs40  IDRule = ""     // 1 to 40 characters, none of them a control character
	IDsAny IDRule = "any"  // all
	IDs9   IDRule = "nine" // exactly nine letters and digits
)

// seedName is the name of the seed.
func (p *Profile) seedName() string {
	if p.SeedName != "" {
		return p.SeedName
	}
	return "seed"
}
