package openaichat_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/openaichat"
)

// inWords says what events hold.
func inWords(evs []wire.Event) []string {
	var out []string
	data := func(p *wire.Part) string {
		if p == nil {
			return ""
		}
		s := ""
		for _, f := range [...]struct{ name, v string }{{"id", p.ID}, {"name", p.Name}, {"vendor", p.Vendor}} {
			if f.v != "" {
				s += " " + f.name + "=" + f.v
			}
		}
		if p.FreeForm {
			s += " free"
		}
		if p.Partial {
			s += " partial"
		}
		return s
	}
	for _, ev := range evs {
		switch ev.Kind {
		case wire.EventStart:
			out = append(out, fmt.Sprintf("start %s %s", ev.Start.Origin.ResponseID, ev.Start.Origin.Model))
		case wire.EventPartStart, wire.EventPartEnd:
			verb := "+"
			if ev.Kind == wire.EventPartEnd {
				verb = "-"
			}
			out = append(out, fmt.Sprintf("%s%d %s%s", verb, ev.Index, ev.Part, data(ev.Data)))
		case wire.EventDelta:
			out = append(out, fmt.Sprintf(" %d %q", ev.Index, ev.Delta))
		case wire.EventUsage:
			u := ev.Usage
			s := "usage"
			for _, f := range [...]struct {
				name string
				c    wire.Count
			}{{"in", u.InputTokens}, {"fresh", u.UncachedInputTokens}, {"read", u.CacheReadTokens}, {"write", u.CacheCreationTokens},
				{"out", u.OutputTokens}, {"reason", u.ReasoningTokens}} {
				if f.c.Known() {
					s += " " + f.name + ":" + f.c.String()
				}
			}
			out = append(out, s)
		case wire.EventNote:
			out = append(out, fmt.Sprintf("note %s %s", ev.Note.Code, ev.Note.Path))
		case wire.EventOther:
			out = append(out, "other "+ev.Raw)
		case wire.EventEnd:
			e := ev.End
			s := "end " + string(e.Cause)
			if e.Finish != "" {
				s += " " + string(e.Finish)
			}
			if e.VendorFinish != "" {
				s += " (" + e.VendorFinish + ")"
			}
			if e.Detail != "" {
				s += " detail=" + e.Detail
			}
			if e.Err != nil && e.Err.Class != "" {
				s += " " + string(e.Err.Class)
			}
			if e.Cause == wire.CauseVendor {
				s += fmt.Sprintf(" %d %s %s: %s", e.Err.Status, e.Err.Type, e.Err.Code, e.Err.Message)
			}
			if ev.Raw != "" {
				s += " raw=" + ev.Raw
			}
			out = append(out, s)
		}
	}
	return out
}

// sse makes server-sent events of JSON texts.
func sse(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
}

const evDone = "[DONE]"

// oc is a chunk with a delta and, in the second argument, a finish reason.
func oc(delta string, finish ...string) string {
	reason := "null"
	if len(finish) > 0 {
		reason = strconv.Quote(finish[0])
	}
	return `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + reason + `}]}`
}

// tc is a chunk with entries of tool_calls.
func tc(entries ...string) string { return oc(`{"tool_calls":[` + strings.Join(entries, ",") + `]}`) }

func content(s string) string { return oc(`{"content":` + strconv.Quote(s) + `}`) }

// decodeCase is a stream and the events that it gives. Whole is one document
// instead of events.
type decodeCase struct {
	name    string
	profile openaichat.Profile
	events  []string
	whole   string
	want    []string
}

func (c *decodeCase) body() string {
	if c.whole != "" {
		return c.whole
	}
	return sse(c.events...)
}

func (c *decodeCase) framing() wire.Framing {
	if c.whole != "" {
		return wire.FramingWhole
	}
	return wire.FramingSSE
}

func (c *decodeCase) codec() openaichat.Codec { return openaichat.Codec{Profile: c.profile} }

var tags = openaichat.Profile{ThinkTags: true}

var decodeCases = []decodeCase{
	{
		name: "text, with usage after the finish reason",
		events: []string{
			`{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"a8"}`,
			`{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"Ra"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"xyz"}`,
			`{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"in\n"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":""}`,
			`{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}`,
			`{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":40,"completion_tokens":3,"total_tokens":43,"prompt_tokens_details":{"cached_tokens":8,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}`,
			evDone, content("late"),
		},
		want: []string{"start c1 m", "+0 text", ` 0 "Ra"`, ` 0 "in\n"`, "usage in:40 fresh:32 read:8 out:3 reason:0", "-0 text", `end finished stop (stop) raw={"service_tier":"default"}`},
	},
	{
		name: "a whole response",
		whole: `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Rain.","refusal":null,"annotations":[{"type":"url_citation"}],
			"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"q\": 1}"}}]},"logprobs":{"content":[{"token":"Rain."}]},"finish_reason":"tool_calls"}],
			"usage":{"prompt_tokens":4,"completion_tokens":2,"total_tokens":6},"service_tier":"default","system_fingerprint":null}`,
		want: []string{"start c1 m", "+0 text", ` 0 "Rain."`, "+1 tool_call id=a name=f", ` 1 "{\"q\": 1}"`, "usage in:4 fresh:4 out:2", "-0 text", "-1 tool_call",
			`end finished tool_call (tool_calls) raw={"service_tier":"default","annotations":[{"type":"url_citation"}],"logprobs":{"content":[{"token":"Rain."}]}}`},
	},
	{
		name: "a whole response without an answer", whole: `{"id":"c1","object":"chat.completion","model":"m","choices":null}`,
		want: []string{"start c1 m", "end protocol_error"},
	},
	{
		name:  "a whole response whose message was withheld",
		whole: `{"choices":[{"content_filter_results":{"hate":{"filtered":true}},"finish_reason":"content_filter","index":0,"logprobs":null}],"id":"c1","model":"m","object":"chat.completion","prompt_filter_results":[{"prompt_index":0}]}`,
		want:  []string{"start c1 m", `end finished content_filter (content_filter) raw={"prompt_filter_results":[{"prompt_index":0}],"content_filter_results":{"hate":{"filtered":true}}}`},
	},
	{
		name: "Azure: an empty first chunk, filter results",
		events: []string{
			`{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0}]}`,
			`{"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"x"},"content_filter_results":{"hate":{"filtered":false}},"finish_reason":null}]}`,
			`{"id":"","object":"","model":"","choices":[{"index":0,"content_filter_results":{"hate":{"filtered":true}},"content_filter_offsets":{"check_offset":1},"finish_reason":null}]}`,
			oc(`{}`, "stop"), evDone,
		},
		want: []string{"start c1 m", "+0 text", ` 0 "x"`,
			`other {"id":"","object":"","model":"","choices":[{"index":0,"content_filter_results":{"hate":{"filtered":true}},"content_filter_offsets":{"check_offset":1},"finish_reason":null}]}`,
			"-0 text", `end finished stop (stop) raw={"prompt_filter_results":[{"prompt_index":0}],"content_filter_results":{"hate":{"filtered":true}},"content_filter_offsets":{"check_offset":1}}`},
	},
	{
		name:   "reasoning, its name is kept",
		events: []string{oc(`{"role":"assistant","content":null,"reasoning_content":""}`), oc(`{"content":null,"reasoning_content":"Hm"}`), oc(`{"content":null,"reasoning_content":"m"}`), content("ok"), oc(`{"content":""}`, "stop"), evDone},
		want:   []string{"start c1 m", "+0 reasoning", ` 0 "Hm"`, ` 0 "m"`, "+1 text", ` 1 "ok"`, `-0 reasoning vendor={"field":"reasoning_content"}`, "-1 text", "end finished stop (stop)"},
	},
	{
		name:   "reasoning that is there and empty",
		events: []string{oc(`{"content":"x","reasoning_content":""}`), oc(`{}`, "stop"), evDone},
		want:   []string{"start c1 m", "+0 text", ` 0 "x"`, "-0 text", `end finished stop (stop) raw={"reasoning_content":""}`},
	},
	{
		name: "reasoning details beside their text, signed after the call",
		events: []string{
			oc(`{"reasoning":"Hm","reasoning_details":[{"type":"reasoning.text","text":"Hm","signature":null,"format":"anthropic-claude-v1","index":0}]}`),
			oc(`{"reasoning":"m","reasoning_details":[{"type":"reasoning.text","text":"m","format":"anthropic-claude-v1","index":0}]}`),
			tc(`{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}`),
			oc(`{"reasoning_details":[{"type":"reasoning.text","signature":"S","format":"anthropic-claude-v1","index":0}]}`),
			oc(`{}`, "tool_calls"),
			oc(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"E","id":"rs_1","index":1}]}`), evDone,
		},
		want: []string{"start c1 m", "+0 reasoning", ` 0 "Hm"`, ` 0 "m"`, "+1 tool_call id=a name=f", ` 1 "{}"`,
			`-0 reasoning vendor={"field":"reasoning","reasoning_details":[{"type":"reasoning.text","text":"Hmm","signature":"S","format":"anthropic-claude-v1","index":0},{"type":"reasoning.encrypted","data":"E","id":"rs_1","index":1}]}`,
			"-1 tool_call", "end finished tool_call (tool_calls)"},
	},
	{
		name: "reasoning details alone: two summaries of different indices, one after a signature",
		events: []string{
			oc(`{"reasoning_details":[{"type":"reasoning.summary","summary":"A","index":0},{"type":"reasoning.summary","summary":"B","index":1}]}`),
			oc(`{"reasoning_details":[{"type":"reasoning.summary","summary":"C","index":1,"signature":"S"}]}`),
			oc(`{"reasoning_details":[{"type":"reasoning.summary","summary":"D","index":1}]}`), oc(`{"content":"x"}`, "stop"), evDone,
		},
		want: []string{"start c1 m", "+0 reasoning", ` 0 "A"`, ` 0 "B"`, ` 0 "C"`, ` 0 "D"`, "+1 text", ` 1 "x"`,
			`-0 reasoning vendor={"reasoning_details":[{"type":"reasoning.summary","summary":"A","index":0},{"type":"reasoning.summary","summary":"BC","index":1,"signature":"S"},{"type":"reasoning.summary","summary":"D","index":1}]}`,
			"-1 text", "end finished stop (stop)"},
	},
	{
		name:   "reasoning that is withheld",
		events: []string{content("x"), oc(`{"reasoning_opaque":"sig"}`), oc(`{}`, "stop"), evDone},
		want:   []string{"start c1 m", "+0 text", ` 0 "x"`, "-0 text", `end finished stop (stop) raw={"reasoning_opaque":"sig"}`},
	},
	{
		name: "typed chunks in the content",
		events: []string{oc(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Let"},{"type":"text","text":" me"}]}]}`), content("An"),
			oc(`{"content":[{"type":"text","text":"swer"},{"type":"reference","reference_ids":[1]}]}`), oc(`{}`, "stop"), evDone},
		want: []string{"start c1 m", "+0 reasoning", ` 0 "Let"`, ` 0 " me"`, "+1 text", ` 1 "An"`, ` 1 "swer"`, "-0 reasoning", "-1 text",
			`end finished stop (stop) raw={"content_parts":[{"type":"reference","reference_ids":[1]}]}`},
	},
	{
		name: "tags", profile: tags,
		events: []string{content("<th"), content("ink>se"), content("cret</thi"), content("nk>vis"), content("ible <"), content("b> <thi"), oc(`{}`, "stop"), evDone},
		want:   []string{"start c1 m", "+0 reasoning", ` 0 "se"`, ` 0 "cret"`, "+1 text", ` 1 "vis"`, ` 1 "ible "`, ` 1 "<b> "`, ` 1 "<thi"`, "-0 reasoning", "-1 text", "end finished stop (stop)"},
	},
	{
		name: "a closing tag alone", profile: tags,
		events: []string{content("secret</think>visible"), content("</think>!"), oc(`{}`, "stop"), evDone},
		want:   []string{"start c1 m", "+0 reasoning", ` 0 "secret"`, "+1 text", ` 1 "visible"`, "note odd choices.delta.content", ` 1 "!"`, "-0 reasoning", "-1 text", "end finished stop (stop)"},
	},
	{
		name: "an opening tag alone, cut", profile: tags,
		events: []string{content("a<think>b</")},
		want:   []string{"start c1 m", "+0 text", ` 0 "a"`, "+1 reasoning", ` 1 "b"`, ` 1 "</"`, "-0 text partial", "-1 reasoning partial", "end truncated"},
	},
	{
		name:   "a custom tool",
		events: []string{tc(`{"index":0,"id":"b2","type":"custom","custom":{"name":"run_sql","input":""}}`), tc(`{"index":0,"id":null,"type":null,"function":null,"custom":{"input":"sel"}}`), tc(`{"index":0,"custom":{"input":"{}{}"}}`), oc(`{}`, "tool_calls"), evDone},
		want:   []string{"start c1 m", "+0 tool_call id=b2 name=run_sql free", ` 0 "sel"`, ` 0 "{}{}"`, "-0 tool_call", "end finished tool_call (tool_calls)"},
	},
	{
		name: "a thought signature on a call, and a type of its own",
		events: []string{oc(`{"role":"assistant","tool_calls":[{"extra_content":{"google":{"thought_signature":"c2ln"}},"function":{"arguments":"{\"p\":1}","name":"read"},"id":"call_7","type":"function"},{"index":1,"id":"b","type":"builtin_function","function":{"name":"$web","arguments":"{}"}}]}`),
			oc(`{}`, "stop"), evDone},
		want: []string{"start c1 m", "+0 tool_call id=call_7 name=read", ` 0 "{\"p\":1}"`, "+1 tool_call id=b name=$web", ` 1 "{}"`,
			`-0 tool_call vendor={"extra_content":{"google":{"thought_signature":"c2ln"}}}`, `-1 tool_call vendor={"type":"builtin_function"}`, "end finished tool_call (stop)"},
	},
	{
		name:   "a call of an unknown type",
		events: []string{tc(`{"index":0,"id":"x","type":"mcp","mcp":{"server":"s"}}`), oc(`{}`, "tool_calls"), evDone},
		want:   []string{"start c1 m", "+0 opaque id=x name=mcp", `-0 opaque vendor={"id":"x","type":"mcp","mcp":{"server":"s"}}`, "end finished tool_call (tool_calls)"},
	},
	{
		name:   "the older function call",
		events: []string{oc(`{"function_call":{"name":"f","arguments":""}}`), oc(`{"function_call":{"arguments":"{}"}}`), oc(`{}`, "function_call"), evDone},
		want:   []string{"start c1 m", "note repaired tool_calls[0]", "+0 tool_call id=" + minted + " name=f", "note converted tool_calls[0]", ` 0 "{}"`, "-0 tool_call", "end finished tool_call (function_call)"},
	},
	{
		name:   "an id that comes again",
		events: []string{tc(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\":1}"}}`, `{"index":1,"id":"a","function":{"name":"g","arguments":"{\"n\":2}"}}`), oc(`{}`, "tool_calls"), evDone},
		want: []string{"start c1 m", "+0 tool_call id=a name=f", ` 0 "{\"n\":1}"`, "note repaired tool_calls[1]", "+1 tool_call id=" + minted1 + " name=g", ` 1 "{\"n\":2}"`,
			"-0 tool_call", `-1 tool_call vendor={"id":"a"}`, "end finished tool_call (tool_calls)"},
	},
	{
		name:   "the calls of a gateway that gives all of them one id and one index",
		events: []string{tc(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\":1}"}}`), tc(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\":2}"}}`), oc(`{}`, "tool_calls"), evDone},
		want: []string{"start c1 m", "+0 tool_call id=a name=f", ` 0 "{\"n\":1}"`, "note repaired tool_calls[1]", "+1 tool_call id=" + minted1 + " name=f", ` 1 "{\"n\":2}"`,
			"-0 tool_call", `-1 tool_call vendor={"id":"a"}`, "end finished tool_call (tool_calls)"},
	},
	{
		name:   "an index that only the continuations have",
		events: []string{tc(`{"id":"a","function":{"name":"f","arguments":""}}`), tc(`{"index":0,"function":{"arguments":"{}"}}`), oc(`{}`, "tool_calls"), evDone},
		want:   []string{"start c1 m", "+0 tool_call id=a name=f", ` 0 "{}"`, "-0 tool_call", "end finished tool_call (tool_calls)"},
	},
	{
		name:   "an id that comes too late, and the id null",
		events: []string{tc(`{"index":0,"id":"null","function":{"name":"f","arguments":""}}`), tc(`{"index":0,"id":"a","function":{"arguments":"{}"}}`), oc(`{}`, "tool_calls"), evDone},
		want:   []string{"start c1 m", "note repaired tool_calls[0]", "+0 tool_call id=" + minted + " name=f", "note repaired tool_calls[0]", ` 0 "{}"`, `-0 tool_call vendor={"id":"a"}`, "end finished tool_call (tool_calls)"},
	},
	{
		name:   "two values of arguments under one call",
		events: []string{tc(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\":1}"}}`), tc(`{"index":0,"function":{"arguments":"{\"n\":2}"}}`), oc(`{}`, "tool_calls"), evDone},
		want:   []string{"start c1 m", "+0 tool_call id=a name=f", ` 0 "{\"n\":1}"`, ` 0 "{\"n\":2}"`, "note odd tool_calls[0]", "-0 tool_call partial", "end finished tool_call (tool_calls)"},
	},
	{
		name:   "several choices",
		events: []string{`{"id":"c1","model":"m","object":"chat.completion.chunk","choices":[{"index":1,"delta":{"content":"B"}},{"index":0,"delta":{"content":"A"}}]}`, `{"choices":[{"index":1,"delta":{"content":"B"},"finish_reason":"length"}]}`, oc(`{}`, "stop"), evDone},
		want: []string{"start c1 m", "note odd choices",
			`other {"id":"c1","model":"m","object":"chat.completion.chunk","choices":[{"index":1,"delta":{"content":"B"}},{"index":0,"delta":{"content":"A"}}]}`, "+0 text", ` 0 "A"`,
			`other {"choices":[{"index":1,"delta":{"content":"B"},"finish_reason":"length"}]}`, "-0 text", "end finished stop (stop)"},
	},
	{
		name:   "a finish reason on the chunk that begins a call",
		events: []string{`{"id":"c1","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]},"finish_reason":"tool_calls"}]}`, tc(`{"index":0,"function":{"arguments":"{\"n\":1}"}}`), evDone},
		want:   []string{"start c1 m", "+0 tool_call id=a name=f", ` 0 "{\"n\":1}"`, "-0 tool_call", "end finished tool_call (tool_calls)"},
	},
	{
		name: "a finish reason on every chunk",
		events: []string{`{"id":"c1","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]},"finish_reason":"tool_calls"}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":""}}]},"finish_reason":"tool_calls"}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"n\":1}"}}]},"finish_reason":"tool_calls"}]}`},
		want: []string{"start c1 m", "+0 tool_call id=a name=f", ` 0 "{\"n\":1}"`, "-0 tool_call", "end finished tool_call (tool_calls)"},
	},
	{
		name:   "a call that begins after the finish reason",
		events: []string{oc(`{"content":"x"}`, "stop"), tc(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`)},
		want:   []string{"start c1 m", "+0 text", ` 0 "x"`, "+1 tool_call id=a name=f", "-0 text", "note odd tool_calls[0]", "-1 tool_call partial", "end finished tool_call (stop)"},
	},
	{
		name:   "a call without arguments and no finish reason",
		events: []string{tc(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`), evDone},
		want:   []string{"start c1 m", "+0 tool_call id=a name=f", "note odd choices.finish_reason", "note odd tool_calls[0]", "-0 tool_call partial", "end finished tool_call"},
	},
	{
		name:   "finish reasons that are none",
		events: []string{oc(`{"content":"x"}`, "null"), oc(`{"content":"y"}`, " "), `{"choices":[{"index":0,"delta":{},"finish_reason":0}]}`, oc(`{}`, "stop"), evDone},
		want:   []string{"start c1 m", "+0 text", ` 0 "x"`, ` 0 "y"`, "-0 text", "end finished stop (stop)"},
	},
	{
		name:   "a call that is promised and does not come",
		events: []string{content("x"), oc(`{}`, "tool_calls"), evDone},
		want:   []string{"start c1 m", "+0 text", ` 0 "x"`, "note odd choices.finish_reason", "-0 text", "end finished stop (tool_calls)"},
	},
	{
		name:   "nothing but the promise of a call",
		events: []string{oc(`{}`, "tool_calls"), evDone},
		want:   []string{"start c1 m", "end protocol_error (tool_calls)"},
	},
	{
		name:   "arguments again, and no id",
		events: []string{tc(`{"index":0,"function":{"name":"f","arguments":"{\"x\":1}"}}`), tc(`{"index":0,"function":{"arguments":"{\"x\":1}"}}`), oc(`{}`, "tool_calls"), evDone},
		want:   []string{"start c1 m", "note repaired tool_calls[0]", "+0 tool_call id=" + minted + " name=f", ` 0 "{\"x\":1}"`, "note repaired tool_calls[0]", "-0 tool_call", "end finished tool_call (tool_calls)"},
	},
	{
		name:   "two finish reasons",
		events: []string{oc(`{"content":"x"}`, "length"), oc(`{}`, "stop"), oc(`{}`, "stop"), evDone},
		want:   []string{"start c1 m", "+0 text", ` 0 "x"`, "note odd choices.finish_reason", "-0 text", "end finished length (length)"},
	},
	{
		name:   "a reason that is an error",
		events: []string{content("par"), oc(`{}`, "network_error"), evDone},
		want:   []string{"start c1 m", "+0 text", ` 0 "par"`, "-0 text partial", `end vendor_error (network_error) server 200  network_error: the server gave up in the middle of the message, with the finish reason "network_error"`},
	},
	{
		name:   "the end without a reason",
		events: []string{content("x"), evDone},
		want:   []string{"start c1 m", "+0 text", ` 0 "x"`, "note odd choices.finish_reason", "-0 text", "end finished stop"},
	},
	{
		name:   "neither ids nor a model",
		events: []string{`{"choices":[{"delta":{"content":"x"}}]}`, `{"id":"late","model":"late","choices":[{"delta":{},"finish_reason":"stop"}]}`},
		want:   []string{"start  ", "+0 text", ` 0 "x"`, "-0 text", "end finished stop (stop)"},
	},
	{
		name:   "a surrogate pair cut between two pieces, and one that stays alone",
		events: []string{oc(`{"content":"a\ud83d"}`), oc(`{"content":"\ude00b\ud83d"}`), oc(`{}`, "stop"), evDone},
		want:   []string{"start c1 m", "+0 text", ` 0 "a"`, ` 0 "😀b"`, ` 0 "` + "\uFFFD" + `"`, "-0 text", "end finished stop (stop)"},
	},
	{
		name: "what Groq adds",
		events: []string{
			`{"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"x","channel":"final"}}],"x_groq":{"id":"req_1"}}`,
			`{"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}},"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`, evDone,
		},
		want: []string{"start c1 m", "+0 text", ` 0 "x"`,
			"usage in:3 fresh:3 out:1", "-0 text", `end finished stop (stop) raw={"channel":"final","x_groq":{"id":"req_1"}}`},
	},
	{
		name:   "something that is no JSON",
		events: []string{content("x"), "<html>"},
		want:   []string{"start c1 m", "+0 text", ` 0 "x"`, "-0 text partial", "end protocol_error"},
	},
	{
		name:   "JSON that is no object",
		events: []string{content("x"), `[1]`},
		want:   []string{"start c1 m", "+0 text", ` 0 "x"`, "-0 text partial", "end protocol_error"},
	},
	{
		name:   "values of other kinds than they should be",
		events: []string{oc(`{"content":7,"refusal":true,"reasoning":{"a":1},"role":3,"tool_calls":"x","function_call":1}`), oc(`{"content":"y","reasoning":"a","reasoning_content":"b"}`), oc(`{}`, "refusal"), evDone},
		want: []string{"start c1 m", "other " + oc(`{"content":7,"refusal":true,"reasoning":{"a":1},"role":3,"tool_calls":"x","function_call":1}`), "+0 reasoning", ` 0 "b"`,
			"other " + oc(`{"content":"y","reasoning":"a","reasoning_content":"b"}`), "+1 text", ` 1 "y"`, `-0 reasoning vendor={"field":"reasoning_content"}`, "-1 text", `end finished refusal (refusal) raw={"reasoning":{"a":1}}`},
	},
	{
		name:   "the stop sequence that matched",
		events: []string{content("x"), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","stop_reason":"END"}]}`, evDone},
		want:   []string{"start c1 m", "+0 text", ` 0 "x"`, "-0 text", `end finished stop (stop) detail=END raw={"stop_reason":"END"}`},
	},
	{
		name: "audio in pieces, images",
		events: []string{oc(`{"audio":{"id":"au","transcript":"Hel"}}`), oc(`{"audio":{"transcript":"lo","data":"QUI="}}`), oc(`{"audio":{"expires_at":9}}`),
			oc(`{"images":[{"n":1}]}`), oc(`{"images":[{"n":2}]}`), oc(`{}`, "stop"), evDone},
		want: []string{"start c1 m", `end finished stop (stop) raw={"images":[{"n":1},{"n":2}],"audio":{"id":"au","transcript":"Hello","data":"QUI=","expires_at":9}}`},
	},
	{
		name:   "events of another protocol",
		events: []string{`{"type":"ping"}`, `{"type":"message_start","message":{"id":"x"}}`},
		want:   []string{`other {"type":"message_start","message":{"id":"x"}}`, "end truncated"},
	},
	{
		name: "usage: Moonshot's place, MiniMax's zeros, xAI's counting",
		events: []string{
			`{"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"x"}}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`,
			`{"id":"c1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":17,"cached_tokens":4,"completion_tokens_details":{"reasoning_tokens":5}}}]}`,
			`{"id":"c1","model":"m","choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`, evDone,
		},
		want: []string{"start c1 m", "+0 text", ` 0 "x"`, "usage", "usage in:10 fresh:6 read:4 out:7 reason:5", "-0 text", "end finished stop (stop)"},
	},
	{
		name:   "an error beside choices",
		events: []string{content("a"), `{"id":"c1","model":"m","error":{"code":502,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"busy\",\"type\":\"overloaded_error\"}}"}},"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"error"}]}`, evDone},
		want:   []string{"start c1 m", "+0 text", ` 0 "a"`, ` 0 "b"`, "-0 text partial", "end vendor_error (error) overloaded 502  502: Provider returned error: busy"},
	},
	{
		name:   "the message once more as a whole",
		events: []string{content("a"), `{"id":"c1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}]}`, evDone},
		want: []string{"start c1 m", "+0 text", ` 0 "a"`, `other {"id":"c1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}]}`,
			"note odd choices.message", "-0 text", "end finished stop (stop)"},
	},
	{
		name:   "the older protocol of completions",
		events: []string{`{"id":"c1","object":"text_completion","model":"m","choices":[{"index":0,"text":"ab"}]}`, `{"id":"c1","object":"text_completion","model":"m","choices":[{"index":0,"text":"","finish_reason":"length"}]}`, evDone},
		want:   []string{"start c1 m", "+0 text", ` 0 "ab"`, "-0 text", "end finished length (length)"},
	},
}

// The ids that are made up for the first two calls of the response c1.
const (
	minted  = "call_d2a054e0b2d8e4d2"
	minted1 = "call_d2a055e0b2d8e685"
)

func TestDecode(t *testing.T) {
	for i := range decodeCases {
		c := &decodeCases[i]
		t.Run(c.name, func(t *testing.T) {
			_, evs, _ := decodeBody(t, c.codec(), strings.NewReader(c.body()), c.framing())
			if d := cmp.Diff(c.want, inWords(evs)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// TestDecodeCut cuts every stream at every byte, and gives it in two pieces cut
// there.
func TestDecodeCut(t *testing.T) {
	for i := range decodeCases {
		c := &decodeCases[i]
		t.Run(c.name, func(t *testing.T) {
			body := c.body()
			terminal := len(body)
			for _, mark := range []string{`"finish_reason":"`, evDone} {
				if at := strings.Index(body, mark); at >= 0 && c.whole == "" {
					terminal = min(terminal, at)
				}
			}
			if c.name == "finish reasons that are none" {
				terminal = strings.Index(body, `"stop"`)
			}
			for n := 0; n <= len(body); n++ {
				split, evs, _ := decodeBody(t, c.codec(), io.MultiReader(strings.NewReader(body[:n]), strings.NewReader(body[n:])), c.framing())
				if got := inWords(evs); !slices.Equal(got, c.want) {
					t.Fatalf("split at %d: %s", n, cmp.Diff(c.want, got))
				}
				cut, _, err := decodeBody(t, c.codec(), strings.NewReader(body[:n]), c.framing())
				m := &cut.Message
				if finished := m.Ending.Cause == wire.CauseFinished; finished != (err == nil) || finished && n < terminal {
					t.Fatalf("cut at %d: %+v, %v", n, m.Ending, err)
				}
				for _, c := range m.ExecutableCalls() { // a cut makes no call up
					if !slices.ContainsFunc(split.Message.ExecutableCalls(), func(o wire.Part) bool { return o.Name == c.Name && o.Args == c.Args }) {
						t.Fatalf("cut at %d: the call %s %s", n, c.Name, c.Args)
					}
				}
				if n < terminal && (m.Ending.Cause != wire.CauseTruncated || len(m.ExecutableCalls()) > 0) && split.Message.Ending.Cause == wire.CauseFinished {
					t.Fatalf("cut at %d: %+v", n, m.Ending)
				}
			}
		})
	}
}

// TestDecodeReset: a connection that breaks after the finish reason does not
// undo it.
func TestDecodeReset(t *testing.T) {
	reset := errors.New("connection reset")
	got, evs, err := decodeBody(t, openCodec, io.MultiReader(strings.NewReader(sse(content("x"), oc(`{}`, "stop"))), iotest.ErrReader(reset)), wire.FramingSSE)
	if err != nil || got.Message.Ending.Finish != wire.FinishStop || len(got.Notes) != 1 {
		t.Errorf("%v: %v", err, inWords(evs))
	}
	got, _, err = decodeBody(t, openCodec, io.MultiReader(strings.NewReader(sse(content("x"))), iotest.ErrReader(reset)), wire.FramingSSE)
	if !errors.Is(err, reset) || got.Message.Ending.Cause != wire.CauseReset || !got.Message.Parts[0].Partial {
		t.Errorf("%v: %+v", err, got.Message)
	}
}

// TestDecodeHead: the start has what the headers say.
func TestDecodeHead(t *testing.T) {
	h := http.Header{}
	for k, v := range map[string]string{"x-request-id": "req_1", "x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "59", "x-ratelimit-reset-requests": "1s", "x-ratelimit-limit-tokens": "1e5"} {
		h.Set(k, v)
	}
	get := func(name string) string { // as a map of an http.Header is read
		if v := h[name]; len(v) > 0 {
			return v[0]
		}
		return ""
	}
	evs, err := openCodec.NewDecoder(wire.Head{Status: 200, Get: get}).Decode(nil, "", []byte(content("x")))
	if err != nil || evs[0].Start.RequestID != "req_1" {
		t.Fatalf("%+v, %v", evs, err)
	}
	want := wire.RateLimits{{Name: "requests", Limit: wire.CountOf(60), Remaining: wire.CountOf(59), Reset: "1s"}}
	if d := cmp.Diff(want, evs[0].Start.RateLimit); d != "" {
		t.Error(d)
	}
	if e := openCodec.DecodeError(wire.Head{Status: 500, Get: get}, nil); e.RequestID != "req_1" {
		t.Errorf("%+v", e)
	}
}

// TestDecodeKept: an event that was handed out does not change, and the caller's
// data is left alone.
func TestDecodeKept(t *testing.T) {
	dec := openCodec.NewDecoder(wire.Head{Status: 200})
	var evs []wire.Event
	buf := make([]byte, 0, 1<<10)
	want := ""
	for i := range 2000 {
		s := strconv.Itoa(i) + "é\n"
		want += s
		buf = append(buf[:0], content(s)...)
		if i%7 == 0 {
			buf = append(buf[:0], oc(`{"content":`+strconv.Quote(s)+`,"x":`+strconv.Itoa(i)+`}`)...)
		}
		var err error
		if evs, err = dec.Decode(evs, "", buf); err != nil {
			t.Fatal(err)
		}
		for j := range buf {
			buf[j] = 'X'
		}
	}
	got := ""
	for i := range evs {
		got += evs[i].Text()
		if evs[i].Kind == wire.EventOther && !json.Valid([]byte(evs[i].Raw)) {
			t.Fatalf("%q", evs[i].Raw)
		}
	}
	if got != want {
		t.Error("the text is another one")
	}
}

// TestDecodeManyCalls: the number of calls is bounded, their indices are not.
func TestDecodeManyCalls(t *testing.T) {
	var evs []string
	for i := range 2000 {
		evs = append(evs, tc(fmt.Sprintf(`{"index":%d,"id":"a%d","function":{"name":"f","arguments":"{}"}}`, i*1_000_000_007, i)))
	}
	_, _, err := decodeBody(t, openCodec, strings.NewReader(sse(evs...)), wire.FramingSSE)
	if e := wire.AsError(err, ""); e.Cause != wire.CauseLimit {
		t.Errorf("%v", err)
	}
	got, _, err := decodeBody(t, openCodec, strings.NewReader(sse(append(evs[:300], oc(`{}`, "stop"), evDone)...)), wire.FramingSSE)
	if err != nil || len(got.Message.ExecutableCalls()) != 300 {
		t.Errorf("%v", err)
	}
}

// TestDecodeRandom makes streams of random chunks. The grammar holds, ids are
// distinct, and the fast way gives what the general way gives.
func TestDecodeRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	var library []string
	for i := range decodeCases {
		for _, e := range decodeCases[i].events {
			if e != evDone && !strings.Contains(e, `"error"`) && !strings.Contains(e, `finish_reason":"`) {
				library = append(library, e)
			}
		}
	}
	entry := func() string {
		return `{` + pick("", "", `"index":0,`, `"index":0,`, `"index":1,`, `"index":7,`) + pick("", "", "", `"id":"a",`, `"id":"b",`, `"id":"",`, `"id":null,`) + pick("", "", "", `"extra_content":{"s":1},`) +
			`"function":{` + pick("", "", `"name":"f",`, `"name":"g",`, `"name":"",`) + `"arguments":` + pick(`""`, `"{\"a\":"`, `"1}"`, `"{\"a\":1}"`, `"{}"`, `" "`, `null`, `{"a":1}`, `"\ud83d"`, `"\ude00"`) + `}}`
	}
	for i := range 5_000 {
		c := openCodec
		c.Profile.ThinkTags = i%3 == 0
		var evs []string
		for range 2 + r.IntN(12) {
			var e string
			switch r.IntN(6) {
			case 0:
				e = library[r.IntN(len(library))]
			case 1, 2:
				e = content(pick("", "a", "b\n", "<think>", "</think>", "<thi", "nk>", " "))
			case 3:
				e = oc(`{"reasoning` + pick("", "_content", "_text") + `":` + pick(`"r"`, `"\ud83d"`, `"\ude00"`, `""`) + pick("", "", `,"content":"x"`, `,"reasoning_details":[{"type":"reasoning.text","text":"r"}]`) + `}`)
			default:
				e = tc(entry())
				if r.IntN(8) == 0 {
					e = tc(entry(), entry())
				}
			}
			for range 1 + r.IntN(2) {
				evs = append(evs, e)
			}
		}
		evs = append(evs, pick(evDone, oc(`{}`, "stop"), oc(`{}`, "length"), oc(`{"content":"z"}`, "tool_calls"), `{"error":"x"}`, content("y")))
		run := func(space string) (wire.Message, []string) {
			dec := c.NewDecoder(wire.Head{Status: 200})
			var out []wire.Event
			var b wire.Builder
			var err error
			for _, e := range evs {
				if out, err = dec.Decode(out, "", []byte(space+e)); err != nil {
					break
				}
			}
			out, _ = dec.End(out, err)
			if err := wire.CheckEvents(out); err != nil {
				t.Fatalf("%v\n%s", err, strings.Join(evs, "\n"))
			}
			for i := range out {
				b.Add(&out[i])
			}
			return b.Message(), inWords(out)
		}
		general, generalWords := run(" ")
		m, fastWords := run("")
		if d := cmp.Diff(generalWords, fastWords); d != "" {
			t.Fatalf("(-general +fast)\n%s\n%s", d, strings.Join(evs, "\n"))
		}
		ids := map[string]bool{}
		for _, p := range callsOf(&m) {
			if ids[p.ID] || p.ID == "" || p.Name == "" {
				t.Fatalf("call %+v\n%s", p, strings.Join(evs, "\n"))
			}
			ids[p.ID] = true
		}
		if len(general.ExecutableCalls()) != len(m.ExecutableCalls()) {
			t.Fatal("other calls")
		}
	}
}
