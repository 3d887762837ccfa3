// Package anthropic speaks Anthropic Messages, the protocol of
// POST /v1/messages: it writes request bodies and reads streams, whole responses
// and errors. It knows no network; see packages provider and wire/stream for
// that.
//
//	var call wire.Call
//	err := anthropic.Codec{}.Encode(&call, &wire.Request{
//		Model:    "claude-sonnet-5-5",
//		Messages: []wire.Message{wire.UserText("Hello")},
//	})
//	// call.Body is the exact body, call.Path is /v1/messages.
//
// # Words
//
//	here                        there
//	Request.System              system, text blocks
//	Part of kind text           text block; citations are in Vendor
//	reasoning                   thinking block; its signature is in Vendor
//	reasoning without text      thinking with an empty text, or redacted_thinking, whose data is in Vendor
//	tool_call                   tool_use block; caller and toolset_name are in Vendor
//	tool_result, role tool      tool_result block in a user message
//	media                       image or document block
//	opaque                      every other block, whole (server tools and their results, compaction, fallback)
//	Request.MaxTokens           max_tokens, which the protocol demands: 16384 if there is none,
//	                            8192 for Claude 3.5 and 4096 for Claude 3
//	Reasoning.Mode, Budget      thinking
//	Reasoning.Effort            output_config.effort
//	Request.Output              output_config.format
//	CacheMark, CachePolicy      cache_control
//	Extra                       every other top-level field
//
// Finish reasons: end_turn and stop_sequence are stop, or tool_call if there is
// a call with end_turn; tool_use is tool_call, or stop if there is no call;
// max_tokens and model_context_window_exceeded are length; pause_turn and
// compaction are pause; refusal is refusal; everything else is other. The
// vendor's word is kept beside it. The stop sequence that matched, or the
// category and explanation of a refusal, are the ending's detail.
//
// Usage: the vendor's input_tokens leave out what was cached; InputTokens here
// is the whole. Its numbers are totals, so a later one replaces an earlier one.
//
// # What is supported
//
//	encoded         system, text, images and documents by bytes, URL and file id, tool calls and
//	                results, thinking and redacted thinking of the same model and host, tools,
//	                tool choice, parallel switch, thinking in the forms that the model takes, effort,
//	                structured output, sampling, stop sequences, cache marks, user id, service tier,
//	                both API versions, beta headers
//	passed through  opaque parts, vendor members of parts and tools, vendor tools, Extra: byte for byte
//	decoded         every event and delta of the protocol, whole responses, errors
//	passed on raw   events and deltas that are unknown, deltas of opaque blocks
//	not passed on   pings, empty data, [DONE] of a proxy
//	left out        with a note: settings that the model or the protocol lacks; parts that were cut off;
//	                reasoning and opaque parts of another model or host; texts without a character
//	refused         as findings: a call without a result in the turn that follows, a result without a
//	                call, a first message that is not the user's, a forced tool choice or a form of
//	                thinking that the model lacks, free-form tools, an output format other than a JSON
//	                schema, more than 4 cache breakpoints, names and values that cannot be sent
//
// [Codec.Check] tells all of that and every other rule and limit of the protocol
// that can be seen in a request, also what encoding would mend or leave out. Only
// what cannot be written at all keeps a request from being encoded: a history that
// the server would refuse can still be looked at.
//
// What depends on the model is decided by its name; a name that is unknown is
// let through with everything that the protocol has, and the server decides.
//
// # The body
//
// Fields come in a fixed order, messages last, so that the bodies of a
// conversation that grows share their beginning. Content is always an array of
// blocks. Neighbours of one role become one message, the results of tools first.
// Where [wire.CachePolicy.Auto] is set, a breakpoint moves along with the last
// message; apart from such marks nothing of an earlier turn changes.
//
// Arguments of a call go out as the model wrote them. Those that are no JSON
// become {}, those that are no object {"input":…}, both with a note, since the
// protocol demands an object.
package anthropic
