// Package openaichat speaks OpenAI Chat Completions, the protocol of
// POST /v1/chat/completions, in the dialects of OpenAI and of the servers that
// took it over: it writes request bodies and reads streams, whole responses and
// errors. It knows no network; see packages provider and wire/stream for that.
//
//	var call wire.Call
//	err := openaichat.Codec{}.Encode(&call, &wire.Request{
//		Model:    "gpt-4.1",
//		Messages: []wire.Message{wire.UserText("Hello")},
//	})
//	// call.Body is the exact body, call.Path is /v1/chat/completions.
//
// # Words
//
//	here                        there
//	Request.System              the first message, role system, or developer for OpenAI's reasoning models
//	role system                 a system or developer message in its place
//	role user                   a user message, its content a string, or parts if there is more than one text
//	role assistant              an assistant message, its texts joined by line ends into one string
//	role tool                   a tool message for each result
//	text                        content, or a part text; prompt_cache_breakpoint and the like are in Vendor
//	refusal                     refusal
//	tool_call                   tool_calls[].function, or .custom if FreeForm; extra_content and the like are in Vendor
//	reasoning                   reasoning_content, reasoning or reasoning_text, named by "field" in Vendor;
//	                            reasoning_details, an array, is in Vendor
//	media                       image_url with a data URL or an address; file; input_audio
//	opaque                      a call of an unknown type, its pieces put together; of the user's, a part of an
//	                            unknown type
//	Request.MaxTokens           max_completion_tokens, or max_tokens by profile
//	Reasoning                   reasoning_effort, thinking, reasoning … by profile
//	Request.Output              response_format
//	StopSequences               stop
//	ToolChoice.Allowed          tool_choice of type allowed_tools
//	Tool.Grammar                custom.format, or the grammar within it
//	UserID                      safety_identifier
//	CachePolicy.Key             prompt_cache_key
//	CacheMark                   prompt_cache_breakpoint on parts, where the model has it (gpt-5.6 and later);
//	                            cache_control on text parts, where the profile has it
//	CachePolicy.Auto            cache_control, where the profile has it
//	Extra                       every other top-level field (verbosity, store, logprobs, prompt_cache_options)
//
// # What is supported
//
//	encoded         system prompts, text, images by bytes and address, documents and sound by bytes, files by
//	                id, tool calls and results, free-form tools, tools, every tool choice, parallel switch,
//	                reasoning in the forms that profile and model take, its replay, structured output,
//	                sampling, stop sequences, user id, service tier, cache key, cache marks
//	passed through  vendor members of parts, messages and tools, vendor tools, opaque parts, Extra: byte for byte
//	converted       with a note: the mark of a failed tool becomes the word Error; images of results follow in a
//	                message of the user's; documents of text become text; images whose address the server does not
//	                take become a line of text with it; ids and names that are refused become others; words of
//	                effort become the server's; a sampler's numbers are moved into the server's narrower bounds
//	left out        with a note: settings that server or model lack; parts that were cut off; reasoning that the
//	                server does not take, or of another model or host; messages with neither text nor calls; media
//	                that the server or the model does not take, for which a line of text stands
//	refused         as findings: a call without a result in the turn that follows, a result without a call, tools
//	                with a reasoning effort that the model refuses, a forced tool choice, stop sequences or an
//	                output format that the server lacks, media by an address that is no image's, images that are
//	                neither PNG, JPEG, WEBP nor GIF, schemas of arguments that are no object's, numbers out of the
//	                protocol's range, names and values that cannot be sent, vendor members that the codec writes
//	                itself, several answers
//
// What depends on the model (which efforts there are, whether none is one, the
// developer role, sampling, stop sequences, tools) is decided by its name:
// OpenAI's under [ThinkingEffort], Z.ai's under [ThinkingZAI], Moonshot's under
// [ThinkingKimi]. A name that is unknown is let through with everything, and the
// server decides; [Profile.AnyModel] does that for all names. From gpt-5.4 on OpenAI
// refuses tools here unless the reasoning effort is none; such a request is
// refused before it is sent, with the remedies: the effort none, where the model
// has it, or the Responses protocol.
//
// # The body
//
// Fields come in a fixed order, messages last, so that the bodies of a
// conversation that grows share their beginning. Neighbours of one role stay
// messages of their own, but for system messages at the beginning, which become
// one. tool_choice is written wherever there are tools.
//
// Arguments of a call go out as the model wrote them, also where they are no
// JSON or have white space in them, since the protocol holds them in a string;
// none at all are {}. The text of a result is its texts joined by line ends;
// "(no tool output)" stands for nothing, "(see attached image)" and "(see
// attached file)" for media alone. The text of a failed tool begins with the word
// Error and a colon unless it begins with that word anyway. What the results of
// one answer hold besides text follows the last of them in one message of the
// user's, the media of each call behind a line that names it. What stands before
// a result in an answer is sent behind it, with a note.
//
// Reasoning of earlier turns goes back as [Profile.Replay] says, to the server
// and the model that wrote it and to no other, and never where
// [wire.Reasoning.Replay] forbids it. That is decided by the settings of the
// conversation and not by turn, so that what was sent once is sent again.
//
// What a message of the assistant's says about itself (annotations, logprobs, the
// tier of the service; see [wire.Message]) goes back to nobody but for
// [Profile.Members], and that the reasoning was empty, which their writer gets.
// That is so of every answer, so no note tells of it, unless the message is of
// another model, host or protocol.
//
// Where the caller or [wire.CachePolicy.Auto] marks anything for the cache, and the
// server has marks ([Profile.CacheControl], or a model that takes
// prompt_cache_breakpoint), all texts but the assistant's are written as parts, so
// that nothing but the marks changes in earlier turns when they move, as long as
// there is one in every request. A text of the assistant's becomes a part where it
// is marked under CacheControl; for OpenAI its mark is dropped.
//
// # Profiles
//
// A [Profile] is data, and the zero value is OpenAI itself. There is a function for
// each vendor and server of which something is known, from [ZAI] to [Ollama]; the
// module's README has a table of them all, and agentctl providers lists it. One for
// a server that is not there is a literal of the switches in which it departs from
// OpenAI, or the nearest one with some of them changed:
//
//	MaxTokens, System, SystemFirst   most servers know max_tokens and a first system message alone
//	AnyModel                         unless the models are OpenAI's own
//	Thinking, Efforts                how reasoning is asked for
//	Replay                           what the server wants back; some refuse a tool loop without it
//	ToolChoice, ForcedChoice         what of tool_choice it takes
//	NullContent, IDs, ToolName       the form of calls and results
//	No…                              what it refuses or does not have
//
// GitHub Copilot would be ReplayField with the Members reasoning_opaque. The note of
// a dropped setting and the findings of [Codec.Check] show what a profile does to a
// request. What the profiles say of servers is as it was in late 2026; what could
// not be confirmed is said beside them.
package openaichat
