package openaichat_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/openaichat"
	"github.com/handwire/handwire/wire/stream"
)

// profiles are the profiles of vendors, and some that a program may write.
func profiles() map[string]openaichat.Profile {
	all := map[string]openaichat.Profile{
		"openai": openaichat.OpenAI(),
		"mistral": {MaxTokens: openaichat.MaxTokens, System: openaichat.SystemSystem, SystemFirst: true, AnyModel: true, Replay: openaichat.ReplayChunks,
			NullContent: openaichat.ContentEmpty, IDs: openaichat.IDs9, ToolName: true, AssistantAfterTools: true, NoStreamOptions: true, NoCustom: true},
		"minimax": {Thinking: openaichat.ThinkingAdaptive, Replay: openaichat.ReplayTags, ToolChoice: openaichat.ToolChoicesUnsaid, NoStrict: true, NoParallel: true,
			NoPenalties: true, NoSeed: true, NoCustom: true, ThinkTags: true, NullContent: openaichat.ContentOmit},
		"vllm": {AnyModel: true, Thinking: openaichat.ThinkingTemplate, Replay: openaichat.ReplayField, TopK: true, IDs: openaichat.IDsAny, NoCustom: true, NoFiles: true},
	}
	for _, v := range vendorProfiles() {
		all[v.name] = v.profile
	}
	return all
}

// switchCase shows what one field of a profile changes: the body with the zero
// profile has without and not with, the other the other way round.
type switchCase struct {
	field         string
	profile       openaichat.Profile
	req           wire.Request
	without, with string
	refused       string // the path of the only finding
}

var (
	switchTool  = wire.Tool{Name: "f", Strict: of(true)}
	switchFree  = wire.Tool{Name: "g", FreeForm: true}
	switchCalls = []wire.Message{wire.UserText("u"), {Role: wire.RoleAssistant, Parts: []wire.Part{thought("why", `{"field":"reasoning"}`), wire.ToolCallPart("call_1", "f", "{}")},
		Vendor: `{"reasoning_opaque":{"s":1}}`}, wire.ToolMessage(wire.ToolResultPart("call_1", "f", wire.TextPart("r"))), wire.UserText("v")}
	switchImage = []wire.Message{wire.UserMessage(wire.Part{Kind: wire.PartMedia, Media: &wire.Media{URL: "https://x.test/a.png"}})}
	switchPDF   = []wire.Message{wire.UserMessage(wire.Part{Kind: wire.PartMedia, Media: &wire.Media{Type: "application/pdf", FileID: "file-1"}})}
)

func reasons(mode wire.ReasoningMode, effort string, budget int) wire.Request {
	return wire.Request{Reasoning: &wire.Reasoning{Mode: mode, Effort: effort, Budget: budget}}
}

var switchCases = []switchCase{
	{field: "MaxTokens", profile: openaichat.Profile{MaxTokens: openaichat.MaxTokens}, req: wire.Request{MaxTokens: 7}, without: `"max_completion_tokens":7`, with: `"max_tokens":7`},
	{field: "System", profile: openaichat.Profile{System: openaichat.SystemSystem}, req: wire.Request{Model: "o3", System: []wire.Part{txt("s")}}, without: `"developer"`, with: `"system"`},
	{field: "System", profile: openaichat.Profile{System: openaichat.SystemDeveloper}, req: wire.Request{System: []wire.Part{txt("s")}}, without: `"system"`, with: `"developer"`},
	{field: "System", profile: openaichat.Profile{System: openaichat.SystemByVendor}, req: wire.Request{Model: "anthropic/x", System: []wire.Part{txt("s")}}, without: `"system"`, with: `"developer"`},
	{field: "System", profile: openaichat.Profile{System: openaichat.SystemByVendor}, req: wire.Request{Model: "openai/o3", System: []wire.Part{txt("s")}}, with: `"developer"`},
	{field: "System", profile: openaichat.Profile{System: openaichat.SystemByVendor}, req: wire.Request{Model: "o3", System: []wire.Part{txt("s")}}, without: `"developer"`, with: `"system"`},
	{field: "SystemFirst", profile: openaichat.Profile{SystemFirst: true}, req: wire.Request{Messages: []wire.Message{wire.UserText("u"), sys(txt("s"))}},
		without: `{"role":"system","content":"s"}`, with: `{"role":"user","content":"s"}`},
	{field: "AnyModel", profile: openaichat.Profile{AnyModel: true}, req: wire.Request{Model: "gpt-5.4", Temperature: of(0.5), System: []wire.Part{txt("s")}, Reasoning: &wire.Reasoning{Effort: "low"}},
		without: `"developer"`, with: `"temperature":0.5`},

	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingZAI}, req: reasons(wire.ReasoningOn, "high", 0), without: `{"include_usage":true},"reasoning_effort":"high","messages"`,
		with: `,"thinking":{"type":"enabled"},"reasoning_effort":"high","messages"`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingDeepSeek}, req: reasons(wire.ReasoningOff, "", 0), without: `"reasoning_effort":"none"`, with: `,"thinking":{"type":"disabled"},"messages"`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingBudget}, req: reasons("", "", 2048), with: `,"thinking":{"type":"enabled","budget_tokens":2048},"messages"`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingAdaptive}, req: reasons(wire.ReasoningOn, "", 0), with: `,"thinking":{"type":"adaptive"},"messages"`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingQwen}, req: reasons("", "", 99), with: `,"enable_thinking":true,"thinking_budget":99,"messages"`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingQwen}, req: reasons(wire.ReasoningOff, "", 99), with: `,"enable_thinking":false,"messages"`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingTemplate}, req: reasons(wire.ReasoningOff, "", 0), with: `,"chat_template_kwargs":{"enable_thinking":false},"messages"`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingOpenRouter}, req: reasons("", "low", 0), with: `,"reasoning":{"effort":"low"},"messages"`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingOpenRouter}, req: reasons("", "", 2048), with: `,"reasoning":{"max_tokens":2048},"messages"`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingOpenRouter}, req: reasons(wire.ReasoningOn, "", 0), with: `,"reasoning":{"enabled":true},"messages"`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingOpenRouter}, req: reasons(wire.ReasoningOff, "", 0), with: `,"reasoning":{"effort":"none"},"messages"`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingNone}, req: reasons("", "low", 0), without: `"reasoning_effort"`, with: `{"include_usage":true},"messages"`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingNone}, req: reasons(wire.ReasoningOn, "", 0), refused: "reasoning.mode"},
	{field: "Thinking", profile: openaichat.Profile{Thinking: "magic"}, req: reasons(wire.ReasoningOn, "", 0), refused: "reasoning"},
	{field: "Efforts", profile: openaichat.Profile{Efforts: []openaichat.Effort{{From: "ultra", To: "max"}}}, req: reasons("", "ultra", 0), without: `"reasoning_effort":"ultra"`, with: `"reasoning_effort":"max"`},
	{field: "Efforts", profile: openaichat.Profile{Efforts: []openaichat.Effort{{From: "low"}}}, req: reasons("", "low", 0), without: `"reasoning_effort":"low"`, with: `{"include_usage":true},"messages"`},

	{field: "Replay", profile: openaichat.Profile{Replay: openaichat.ReplayField}, req: wire.Request{Messages: switchCalls}, without: `"content":null,"tool_calls"`, with: `"content":null,"reasoning":"why","tool_calls"`},
	{field: "Replay", profile: openaichat.Profile{Replay: openaichat.ReplayAlways}, req: wire.Request{Messages: switchCalls}, with: `"content":null,"reasoning_content":"why","tool_calls"`},
	{field: "Replay", profile: openaichat.Profile{Replay: openaichat.ReplayDetails}, req: wire.Request{Messages: switchCalls}, with: `"content":null,"reasoning":"why","tool_calls"`},
	{field: "Replay", profile: openaichat.Profile{Replay: openaichat.ReplayTags}, req: wire.Request{Messages: switchCalls}, with: `"content":"<think>why</think>","tool_calls"`},
	{field: "Replay", profile: openaichat.Profile{Replay: openaichat.ReplayChunks}, req: wire.Request{Messages: switchCalls}, with: `"content":[{"type":"thinking","thinking":[{"type":"text","text":"why"}]}],"tool_calls"`},
	{field: "BlankReasoning", profile: openaichat.Profile{BlankReasoning: []string{"k2"}}, req: wire.Request{Model: "k2:free", Messages: switchCalls}, without: `"content":null,"tool_calls"`, with: `"content":null,"reasoning_content":"","tool_calls"`},
	{field: "PlainText", profile: openaichat.Profile{PlainText: true}, req: wire.Request{Messages: []wire.Message{wire.UserMessage(txt("a\""), txt("b"))}},
		without: `"content":[{"type":"text","text":"a\""},{"type":"text","text":"b"}]`, with: `"content":"a\"\nb"`},
	{field: "PlainText", profile: openaichat.Profile{PlainText: true}, req: wire.Request{Messages: []wire.Message{wire.UserMessage(txt("a"), switchImage[0].Parts[0], txt("b"))}},
		with: `"content":[{"type":"text","text":"a"},{"type":"image_url"`},
	{field: "NoNames", profile: openaichat.Profile{NoNames: true}, req: wire.Request{Messages: []wire.Message{{Role: wire.RoleUser, Parts: []wire.Part{txt("u")}, Vendor: `{"name":"n"}`}}}, without: `,"name":"n"`, with: `{"role":"user","content":"u"}`},
	{field: "Members", profile: openaichat.Profile{Members: []string{"reasoning_opaque"}}, req: wire.Request{Messages: switchCalls}, without: `"content":null,"tool_calls"`, with: `"content":null,"reasoning_opaque":{"s":1},"tool_calls"`},

	{field: "ToolChoice", profile: openaichat.Profile{ToolChoice: openaichat.ToolChoicesAuto}, req: wire.Request{Tools: []wire.Tool{switchTool}, ToolChoice: wire.ToolChoice{Mode: wire.ToolChoiceNone}},
		without: `"tool_choice":"none","tools"`, with: `{"include_usage":true},"messages"`},
	{field: "ToolChoice", profile: openaichat.Profile{ToolChoice: openaichat.ToolChoicesAuto}, req: wire.Request{Tools: []wire.Tool{switchTool}}, with: `"tool_choice":"auto","tools"`},
	{field: "ToolChoice", profile: openaichat.Profile{ToolChoice: openaichat.ToolChoicesAuto}, req: wire.Request{Tools: []wire.Tool{switchTool}, ToolChoice: wire.ToolChoice{Mode: wire.ToolChoiceRequired}}, refused: "tool_choice"},
	{field: "ToolChoice", profile: openaichat.Profile{ToolChoice: openaichat.ToolChoicesPlain}, req: wire.Request{Tools: []wire.Tool{switchTool}, ToolChoice: wire.ToolChoice{Allowed: []string{"f"}}}, refused: "tool_choice.allowed"},
	{field: "ToolChoice", profile: openaichat.Profile{ToolChoice: openaichat.ToolChoicesUnsaid}, req: wire.Request{Tools: []wire.Tool{switchTool}}, without: `"tool_choice"`, with: `{"include_usage":true},"tools"`},
	{field: "ToolChoice", profile: openaichat.Profile{ToolChoice: openaichat.ToolChoicesUnsaid}, req: wire.Request{Tools: []wire.Tool{switchTool}, ToolChoice: wire.ToolChoice{Mode: wire.ToolChoiceTool, Name: "f"}}, refused: "tool_choice"},
	{field: "ForcedChoice", profile: openaichat.Profile{ForcedChoice: openaichat.ForcedWithoutThinking}, req: wire.Request{Tools: []wire.Tool{switchTool}, ToolChoice: wire.ToolChoice{Mode: wire.ToolChoiceRequired}}, refused: "tool_choice"},
	{field: "ForcedChoice", profile: openaichat.Profile{ForcedChoice: openaichat.ForcedWithoutThinking}, req: wire.Request{Tools: []wire.Tool{switchTool}, ToolChoice: wire.ToolChoice{Mode: wire.ToolChoiceRequired},
		Reasoning: &wire.Reasoning{Mode: wire.ReasoningOff}}, with: `"tool_choice":"required"`},
	{field: "ToolStream", profile: openaichat.Profile{ToolStream: "tool_stream"}, req: wire.Request{Tools: []wire.Tool{switchTool}}, with: `,"tool_stream":true,"tool_choice"`},
	{field: "ToolStream", profile: openaichat.Profile{ToolStream: "tool_stream"}, req: wire.Request{Tools: []wire.Tool{switchTool}, Extra: []wire.Field{{Name: "tool_stream", Raw: "true"}}}, refused: "extra[0]"},
	{field: "NoStrict", profile: openaichat.Profile{NoStrict: true}, req: wire.Request{Tools: []wire.Tool{switchTool}}, without: `"strict":true`, with: `"properties":{}}}}]`},
	{field: "NoParallel", profile: openaichat.Profile{NoParallel: true}, req: wire.Request{Tools: []wire.Tool{switchTool}, ParallelToolCalls: of(false)}, without: `"parallel_tool_calls":false`, with: `{"include_usage":true},"tool_choice"`},
	{field: "NoCustom", profile: openaichat.Profile{NoCustom: true}, req: wire.Request{Tools: []wire.Tool{switchFree}}, refused: "tools[0].free_form"},
	{field: "NoCustom", profile: openaichat.Profile{NoCustom: true}, req: wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(wire.Part{Kind: wire.PartToolCall, ID: "c", Name: "g", Args: "a\"b", FreeForm: true}),
		wire.ToolMessage(wire.ToolResultPart("c", "g"))}}, without: `"type":"custom"`, with: `"type":"function","function":{"name":"g","arguments":"{\"input\":\"a\\\"b\"}"}`},

	{field: "Signatures", profile: openaichat.Profile{Signatures: true}, req: wire.Request{Messages: switchCalls}, without: `"arguments":"{}"}}]`,
		with: `"arguments":"{}"},"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}}]`},
	{field: "Signatures", profile: openaichat.Profile{Signatures: true}, req: wire.Request{Messages: []wire.Message{wire.UserText("u"),
		asst(wire.Part{Kind: wire.PartToolCall, ID: "a", Name: "f", Args: "{}", Vendor: `{"extra_content":{"google":{"thought_signature":"S="}}}`}, wire.ToolCallPart("b", "f", "{}")),
		wire.ToolMessage(wire.ToolResultPart("a", "f"), wire.ToolResultPart("b", "f"))}}, with: `"extra_content":{"google":{"thought_signature":"S="}}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]`},
	{field: "NarrowSampler", profile: openaichat.Profile{NarrowSampler: true}, req: wire.Request{Temperature: of(1.5), TopP: of(0.0)}, without: `"temperature":1.5,"top_p":0,"messages"`, with: `"temperature":1,"top_p":0.01,"messages"`},
	{field: "NarrowSampler", profile: openaichat.Profile{NarrowSampler: true}, req: wire.Request{Temperature: of(0.0), TopP: of(1.0)}, with: `"temperature":0,"top_p":1,"messages"`},
	{field: "NoFrequencyPenalty", profile: openaichat.Profile{NoFrequencyPenalty: true}, req: wire.Request{PresencePenalty: of(0.5), FrequencyPenalty: of(0.25)}, without: `"frequency_penalty":0.25`, with: `"presence_penalty":0.5,"messages"`},
	{field: "SeedName", profile: openaichat.Profile{SeedName: "random_seed"}, req: wire.Request{Seed: of(int64(7))}, without: `"seed":7`, with: `"random_seed":7`},
	{field: "SeedName", profile: openaichat.Profile{SeedName: "random_seed"}, req: wire.Request{Seed: of(int64(7)), Extra: []wire.Field{{Name: "random_seed", Raw: "1"}}}, refused: "extra[0]"},
	{field: "MaxTokens", profile: openaichat.Profile{MaxTokens: openaichat.MaxTokensByModel}, req: wire.Request{Model: "openai/gpt-4.1", MaxTokens: 7}, without: `"max_completion_tokens":7`, with: `"max_tokens":7`},
	{field: "MaxTokens", profile: openaichat.Profile{MaxTokens: openaichat.MaxTokensByModel}, req: wire.Request{Model: "openai/o3", MaxTokens: 7}, with: `"max_completion_tokens":7`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingKimi}, req: wire.Request{Model: "kimi-k2.6", Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn, Budget: 2048}}, with: `,"thinking":{"type":"enabled","keep":"all","budget_tokens":2048},"messages"`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingKimi}, req: wire.Request{Model: "kimi-k2.5", Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn}}, with: `,"thinking":{"type":"enabled"},"messages"`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingKimi}, req: wire.Request{Model: "kimi-k2.6", Reasoning: &wire.Reasoning{Mode: wire.ReasoningOff}}, with: `,"thinking":{"type":"disabled"},"messages"`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingKimi}, req: wire.Request{Model: "kimi-k3", Reasoning: &wire.Reasoning{Effort: "low"}}, with: `,"thinking":{"type":"enabled","keep":"all"},"reasoning_effort":"low","messages"`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingKimi}, req: wire.Request{Model: "kimi-k3", Reasoning: &wire.Reasoning{Mode: wire.ReasoningOff}}, refused: "reasoning"},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingTogether}, req: reasons(wire.ReasoningOff, "", 0), with: `,"reasoning":{"enabled":false},"messages"`},
	{field: "Thinking", profile: openaichat.Profile{Thinking: openaichat.ThinkingTogether}, req: reasons("", "low", 0), with: `,"reasoning":{"enabled":true},"reasoning_effort":"low","messages"`},

	{field: "NullContent", profile: openaichat.Profile{NullContent: openaichat.ContentEmpty}, req: wire.Request{Messages: switchCalls}, without: `"content":null`, with: `"role":"assistant","content":"","tool_calls"`},
	{field: "NullContent", profile: openaichat.Profile{NullContent: openaichat.ContentOmit}, req: wire.Request{Messages: switchCalls}, without: `"content":null`, with: `"role":"assistant","tool_calls"`},
	{field: "IDs", profile: openaichat.Profile{IDs: openaichat.IDs9}, req: wire.Request{Messages: switchCalls}, without: `"call_1"`, with: `"tool_call_id":"`},
	{field: "IDs", profile: openaichat.Profile{IDs: openaichat.IDsAny}, req: wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(wire.ToolCallPart(strings.Repeat("x", 41), "f", "{}")),
		wire.ToolMessage(wire.ToolResultPart(strings.Repeat("x", 41), "f"))}}, with: `"tool_call_id":"` + strings.Repeat("x", 41) + `"`},
	{field: "ToolName", profile: openaichat.Profile{ToolName: true}, req: wire.Request{Messages: switchCalls}, without: `"tool_call_id":"call_1","content"`, with: `"tool_call_id":"call_1","name":"f","content"`},
	{field: "AssistantAfterTools", profile: openaichat.Profile{AssistantAfterTools: true}, req: wire.Request{Messages: switchCalls}, without: `"content":"r"},{"role":"user"`,
		with: `"content":"r"},{"role":"assistant","content":"I have the results."},{"role":"user"`},
	{field: "NoRefusal", profile: openaichat.Profile{NoRefusal: true}, req: wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(txt("a"), wire.Part{Kind: wire.PartRefusal, Text: "no"}), wire.UserText("v")}},
		without: `"content":"a","refusal":"no"`, with: `"content":"a\nno"`},
	{field: "NoImages", profile: openaichat.Profile{NoImages: true}, req: wire.Request{Messages: switchImage}, without: `"image_url"`, with: `"content":"(an image is left out: the model sees none)"`},
	{field: "NoImages", profile: openaichat.Profile{NoImages: true}, req: wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(wire.ToolCallPart("c", "f", "{}")),
		wire.ToolMessage(wire.ToolResultPart("c", "f", txt("shot"), wire.ImagePart([]byte(encPNG))))}}, without: `"image_url"`, with: `"content":"shot\n(an image is left out: the model sees none)"}]`},
	{field: "NoImageURLs", profile: openaichat.Profile{NoImageURLs: true}, req: wire.Request{Messages: switchImage}, without: `"image_url"`, with: `"(an image is left out that stands at https://x.test/a.png)"`},
	{field: "NoFiles", profile: openaichat.Profile{NoFiles: true}, req: wire.Request{Messages: switchPDF}, without: `"file_id"`, with: `"content":"(a file is left out: the model takes none)"`},
	{field: "CacheControl", profile: openaichat.Profile{CacheControl: true}, req: wire.Request{Messages: []wire.Message{usr(cached(txt("u"), "1h"))}}, without: `"content":"u"`,
		with: `"content":[{"type":"text","text":"u","cache_control":{"type":"ephemeral","ttl":"1h"}}]`},

	{field: "NoStreamOptions", profile: openaichat.Profile{NoStreamOptions: true}, without: `"stream_options"`, with: `"stream":true,"messages"`},
	{field: "TopK", profile: openaichat.Profile{TopK: true}, req: wire.Request{TopK: of(5)}, with: `"top_k":5`},
	{field: "NoPenalties", profile: openaichat.Profile{NoPenalties: true}, req: wire.Request{PresencePenalty: of(1.0), FrequencyPenalty: of(1.0)}, without: `_penalty`, with: `{"include_usage":true},"messages"`},
	{field: "NoSeed", profile: openaichat.Profile{NoSeed: true}, req: wire.Request{Seed: of(int64(1))}, without: `"seed":1`, with: `{"include_usage":true},"messages"`},
	{field: "NoCacheKey", profile: openaichat.Profile{NoCacheKey: true}, req: wire.Request{Cache: &wire.CachePolicy{Key: "k"}}, without: `"prompt_cache_key":"k"`, with: `{"include_usage":true},"messages"`},
	{field: "NoServiceTier", profile: openaichat.Profile{NoServiceTier: true}, req: wire.Request{ServiceTier: "flex"}, without: `"service_tier":"flex"`, with: `{"include_usage":true},"messages"`},
	{field: "NoUser", profile: openaichat.Profile{NoUser: true}, req: wire.Request{UserID: "u"}, without: `"safety_identifier":"u"`, with: `{"include_usage":true},"messages"`},
	{field: "NoJSONSchema", profile: openaichat.Profile{NoJSONSchema: true}, req: wire.Request{Output: &wire.OutputFormat{Kind: wire.OutputJSONSchema, Name: "n", Schema: "{}"}}, refused: "output.kind"},
}

// decodeSwitches show what the fields change that only the decoder looks at.
var decodeSwitches = []struct {
	field   string
	profile openaichat.Profile
	body    string
	differs func(wire.Response) string
	want    [2]string // with the zero profile, with the other
}{
	{"ThinkTags", openaichat.Profile{ThinkTags: true}, `{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"<think>a</think>b"},"finish_reason":"stop"}]}`,
		func(r wire.Response) string { return r.Message.Reasoning() + "|" + r.Message.Text() }, [2]string{"|<think>a</think>b", "a|b"}},
	{"ThoughtTags", openaichat.Profile{ThoughtTags: true}, `{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"<thought>a</thought>b<think>"},"finish_reason":"stop"}]}`,
		func(r wire.Response) string { return r.Message.Reasoning() + "|" + r.Message.Text() }, [2]string{"|<thought>a</thought>b<think>", "a|b<think>"}},
	{"ReasoningPieces", openaichat.Profile{ReasoningPieces: openaichat.PiecesDoubled}, `{"id":"c","model":"m","choices":[{"index":0,"delta":{"reasoning_content":"a"}},{"index":0,"delta":{"reasoning_content":"a"}},{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}]}`,
		func(r wire.Response) string { return r.Message.Reasoning() }, [2]string{"aa", "a"}},
	{"ReasoningApart", openaichat.Profile{ReasoningApart: true}, `{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"b"},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":1,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":5}}}`,
		func(r wire.Response) string { return r.Usage.OutputTokens.String() }, [2]string{"2", "7"}},
}

// TestProfileSwitches: each switch does what it says, and there is none that no
// row turns.
func TestProfileSwitches(t *testing.T) {
	turned := map[string]bool{}
	only := func(t *testing.T, p openaichat.Profile, field string) {
		t.Helper()
		v := reflect.ValueOf(p)
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Field(i).IsZero() == (name == field) {
				t.Errorf("the profile of the row for %s sets %s", field, name)
			}
		}
		turned[field] = true
	}
	for _, tc := range switchCases {
		t.Run(tc.field, func(t *testing.T) {
			only(t, tc.profile, tc.field)
			r := tc.req
			if r.Model == "" {
				r.Model = "m"
			}
			if r.Messages == nil {
				r.Messages = []wire.Message{wire.UserText("hi")}
			}
			plain, err := encodeReq(t, openaichat.Profile{}, &r)
			if err != nil {
				t.Fatal(err)
			}
			other, err := encodeReq(t, tc.profile, &r)
			if tc.refused != "" {
				if d := cmp.Diff([]string{tc.refused}, findingPaths(err)); d != "" {
					t.Errorf("findings (-want +got):\n%s%v", d, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if tc.without != "" && (!strings.Contains(string(plain.Body), tc.without) || strings.Contains(string(other.Body), tc.without)) {
				t.Errorf("%s is not what the switch turns off\nzero  %s\nother %s", tc.without, plain.Body, other.Body)
			}
			if !strings.Contains(string(other.Body), tc.with) {
				t.Errorf("%s is missing\nzero  %s\nother %s", tc.with, plain.Body, other.Body)
			}
		})
	}
	for _, tc := range decodeSwitches {
		t.Run(tc.field, func(t *testing.T) {
			only(t, tc.profile, tc.field)
			for i, p := range []openaichat.Profile{{}, tc.profile} {
				dec := openaichat.Codec{Profile: p}.NewDecoder(wire.Head{Status: 200, Framing: wire.FramingWhole})
				resp, err := wire.Collect(stream.Read(strings.NewReader(tc.body), dec, wire.FramingWhole, nil))
				if err != nil {
					t.Fatal(err)
				}
				if got := tc.differs(resp); got != tc.want[i] {
					t.Errorf("profile %d: %s, want %s", i, got, tc.want[i])
				}
			}
		})
	}
	for i := range reflect.TypeFor[openaichat.Profile]().NumField() {
		if name := reflect.TypeFor[openaichat.Profile]().Field(i).Name; !turned[name] {
			t.Errorf("no row turns the switch %s", name)
		}
	}
}

// TestProfileRows: the profiles of vendors as they stand.
func TestProfileRows(t *testing.T) {
	if d := cmp.Diff(openaichat.Profile{}, openaichat.OpenAI()); d != "" {
		t.Errorf("OpenAI is not the zero value:\n%s", d)
	}
	a, b := openaichat.DeepSeek(), openaichat.DeepSeek()
	a.Efforts[0].To = "x"
	if b.Efforts[0].To == "x" {
		t.Error("two profiles share a list")
	}
	full := func(model string) *wire.Request {
		return &wire.Request{Model: model, MaxTokens: 9, System: []wire.Part{txt("s")}, Tools: []wire.Tool{{Name: "f", Strict: of(true)}}, ParallelToolCalls: of(true),
			Reasoning: &wire.Reasoning{Mode: wire.ReasoningOn, Effort: "high"}, Seed: of(int64(1)), TopK: of(2), PresencePenalty: of(0.0), UserID: "u", ServiceTier: "t",
			Cache: &wire.CachePolicy{Key: "k"}, Messages: []wire.Message{wire.UserText("hi")}}
	}
	const fn = `{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}`
	for _, tc := range []struct {
		model   string
		profile openaichat.Profile
		want    string
	}{
		{"local", openaichat.OpenAI(), `{"model":"local","max_completion_tokens":9,"stream":true,"stream_options":{"include_usage":true},"seed":1,"presence_penalty":0,"reasoning_effort":"high",` +
			`"service_tier":"t","safety_identifier":"u","prompt_cache_key":"k","parallel_tool_calls":true,"tool_choice":"auto","tools":[` + fn + `,"strict":true}}],"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]}`},
		{"glm-5.2", openaichat.ZAI(), `{"model":"glm-5.2","max_tokens":9,"stream":true,"thinking":{"type":"enabled","clear_thinking":false},"reasoning_effort":"high",` +
			`"tool_stream":true,"tool_choice":"auto","tools":[` + fn + `}}],"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]}`},
		{"deepseek-v4-pro", openaichat.DeepSeek(), `{"model":"deepseek-v4-pro","max_tokens":9,"stream":true,"stream_options":{"include_usage":true},"presence_penalty":0,"thinking":{"type":"enabled"},"reasoning_effort":"high",` +
			`"tool_choice":"auto","tools":[` + fn + `}}],"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]}`},
		{"openai/gpt-5.6-sol", openaichat.OpenRouter(), `{"model":"openai/gpt-5.6-sol","max_tokens":9,"stream":true,"stream_options":{"include_usage":true},"top_k":2,"seed":1,"presence_penalty":0,"reasoning":{"effort":"high"},` +
			`"prompt_cache_key":"k","parallel_tool_calls":true,"tool_choice":"auto","tools":[` + fn + `,"strict":true}}],"messages":[{"role":"developer","content":"s"},{"role":"user","content":"hi"}]}`},
	} {
		call, err := encodeReq(t, tc.profile, full(tc.model))
		if err != nil || string(call.Body) != tc.want {
			t.Errorf("%s\n got %s\nwant %s\n%v", tc.model, call.Body, tc.want, err)
		}
	}
}

// TestReplayByTurn shows which reasoning goes out on the second and the third
// turn: what the second turn sent is sent again, whatever came after.
func TestReplayByTurn(t *testing.T) {
	at := func(m wire.Message, host, model string) wire.Message {
		m.Origin = &wire.Origin{Protocol: openaichat.Protocol, Endpoint: host, Model: model}
		m.Ending = &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop}
		return m
	}
	const details = `{"field":"reasoning","reasoning_details":[{"type":"reasoning.text","text":"why","signature":"S/+=", "index":0}]}`
	ms := []wire.Message{wire.UserText("u"),
		at(asst(thought("why", details), wire.ToolCallPart("t1", "f", "{}")), "h", "m-2026-01-02"), wire.ToolMessage(wire.ToolResultPart("t1", "f", txt("r"))),
		at(asst(txt("plain")), "h", "m"), wire.UserText("v"),
		at(asst(thought("alien", `{"field":"reasoning_content"}`), txt("other")), "elsewhere", "m"), wire.UserText("w"),
		at(asst(thought("older", `{"field":"reasoning_content"}`), txt("model")), "h", "m-mini"), wire.UserText("x"),
	}
	const call = `"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	const fields = `"reasoning":"why",`
	const all = `"reasoning_details":[{"type":"reasoning.text","text":"why","signature":"S/+=", "index":0}],`
	const nine = "c8WS20R1k" // what becomes of t1
	shown := map[string]bool{}
	plain := []string{`"content":"plain"}`, `"content":"other"}`, `"content":"model"}`}
	empty := []string{`"content":"plain","reasoning_content":""}`, `"content":"other","reasoning_content":""}`, `"content":"model","reasoning_content":""}`}
	off, never := &wire.Reasoning{Mode: wire.ReasoningOff}, &wire.Reasoning{Replay: wire.ReplayNever}
	for _, tc := range []struct {
		name    string
		profile openaichat.Profile
		set     *wire.Reasoning
		first   string
		rest    []string
	}{
		{"OpenAI", openaichat.OpenAI(), nil, `"content":null,` + call, plain},
		{"ZAI", openaichat.ZAI(), nil, `"content":null,` + fields + call, plain},
		{"ZAI, none wanted", openaichat.ZAI(), never, `"content":null,` + call, plain},
		{"ZAI, off", openaichat.ZAI(), off, `"content":null,` + fields + call, plain},
		{"DeepSeek", openaichat.DeepSeek(), nil, `"content":"","reasoning_content":"why",` + call, empty},
		{"DeepSeek, none wanted", openaichat.DeepSeek(), never, `"content":"","reasoning_content":"",` + call, empty},
		{"DeepSeek, off", openaichat.DeepSeek(), off, `"content":"",` + call, plain},
		{"OpenRouter", openaichat.OpenRouter(), nil, `"content":null,` + all + call, plain},
		{"OpenRouter, none wanted", openaichat.OpenRouter(), never, `"content":null,` + call, plain},
		{"Moonshot", openaichat.Moonshot(), nil, `"content":null,` + fields + call, plain},
		{"Groq", openaichat.Groq(), nil, `"content":null,` + fields + call, plain},
		{"Together", openaichat.Together(), nil, `"content":null,` + fields + call, plain},
		{"Fireworks", openaichat.Fireworks(), nil, `"content":null,` + fields + call, plain},
		{"Cerebras", openaichat.Cerebras(), nil, `"content":null,` + fields + call, plain},
		{"VLLM", openaichat.VLLM(), nil, `"content":null,` + fields + call, plain},
		{"SGLang", openaichat.SGLang(), nil, `"content":null,` + fields + call, plain},
		{"LlamaCPP", openaichat.LlamaCPP(), nil, `"content":null,` + fields + call, plain},
		{"Ollama", openaichat.Ollama(), nil, `"content":null,` + fields + call, plain},
		{"Qwen", openaichat.Qwen(), nil, `"content":null,` + call, plain},
		{"XAI", openaichat.XAI(), nil, `"content":null,` + call, plain},
		{"AzureOpenAI", openaichat.AzureOpenAI(), nil, `"content":null,` + call, plain},
		{"GitHubModels", openaichat.GitHubModels(), nil, `"content":null,` + call, plain},
		{"LMStudio", openaichat.LMStudio(), nil, `"content":null,` + call, plain},
		{"Gemini", openaichat.Gemini(), nil, `"content":null,` + strings.TrimSuffix(call, `}]}`) + `,"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}}]}`, plain},
		{"MiniMax", openaichat.MiniMax(), nil, `"content":"<think>why</think>",` + call, plain},
		{"Mistral", openaichat.Mistral(), nil, `"content":[{"type":"thinking","thinking":[{"type":"text","text":"why"}]}],` + call, plain},
		{"tags", openaichat.Profile{Replay: openaichat.ReplayTags}, nil, `"content":"<think>why</think>",` + call, plain},
		{"chunks", openaichat.Profile{Replay: openaichat.ReplayChunks}, nil, `"content":[{"type":"thinking","thinking":[{"type":"text","text":"why"}]}],` + call, plain},
	} {
		shown[strings.ToLower(tc.name)] = true
		t.Run(tc.name, func(t *testing.T) {
			for _, n := range []int{3, 5, 7, 9} { // turns 2, 3 …
				r := &wire.Request{Model: "m", Endpoint: "h", Messages: ms[:n], Reasoning: tc.set}
				c, err := encodeReq(t, tc.profile, r)
				if err != nil {
					t.Fatal(err)
				}
				want := `"messages":[{"role":"user","content":"u"},{"role":"assistant",` + tc.first + `,{"role":"tool","tool_call_id":"t1","content":"r"}`
				if tc.profile.IDs == openaichat.IDs9 { // which the server takes alone, with the name of the tool
					want = strings.ReplaceAll(want, `"t1"`, `"`+nine+`"`)
					want = strings.Replace(want, `"`+nine+`","content"`, `"`+nine+`","name":"f","content"`, 1)
				}
				for i := range (n - 3) / 2 {
					want += `,{"role":"assistant",` + tc.rest[i] + `,{"role":"user","content":"` + "vwx"[i:i+1] + `"}`
				}
				if !strings.HasSuffix(string(c.Body), want+`]}`) {
					t.Errorf("%d messages\n got %s\nwant %s", n, c.Body, want)
				}
			}
		})
	}
	for _, v := range vendorProfiles() {
		if !shown[v.name] {
			t.Errorf("no row shows the profile %s", v.name)
		}
	}
}

// TestReplayForms holds what reasoning looks like beside other things.
func TestReplayForms(t *testing.T) {
	field := openaichat.Profile{Replay: openaichat.ReplayField}
	details := openaichat.Profile{Replay: openaichat.ReplayDetails}
	tags := openaichat.Profile{Replay: openaichat.ReplayTags, CacheControl: true}
	chunks := openaichat.Profile{Replay: openaichat.ReplayChunks}
	turn := func(parts ...wire.Part) wire.Request {
		return wire.Request{Messages: []wire.Message{wire.UserText("u"), asst(parts...), wire.UserText("v")}}
	}
	turned := func(s string) string { return msgs(jsonU, `{"role":"assistant",`+s+`}`, jsonV) }
	blank := turn(txt("a"))
	blank.Messages[1].Vendor = `{"reasoning_content":""}`
	runCases(t, []encCase{
		{name: "no field is known", profile: field, req: turn(thought("a\"", ""), thought("b", ""), txt("c")), want: turned(`"content":"c","reasoning_content":"a\"b"`)},
		{name: "two fields", profile: field, req: turn(thought("a", `{"field":"reasoning_text"}`), thought("b", `{"field":"reasoning"}`), thought("c", `{"field":"content"}`), txt("c")),
			want: turned(`"content":"c","reasoning_content":"c","reasoning":"b","reasoning_text":"a"`)},
		{name: "an empty field", profile: field, req: turn(thought("", `{"field":"reasoning_content"}`), txt("c")), want: turned(`"content":"c","reasoning_content":""`)},
		{name: "an empty field without a part", profile: field, req: blank, want: turned(`"content":"a","reasoning_content":""`)},
		{name: "broken vendor data", profile: field, req: turn(thought("a", `{"field":`), txt("c")), want: turned(`"content":"c","reasoning_content":"a"`)},
		{name: "details of two parts", profile: details, req: turn(thought("a", `{"reasoning_details":[{"n":1.0}, {"n":2}]}`), thought("b", `{"reasoning_details":[ ]}`), thought("", `{"reasoning_details":[{"n":3}]}`), txt("c")),
			want: turned(`"content":"c","reasoning_details":[{"n":1.0}, {"n":2},{"n":3}]`)},
		{name: "empty details", profile: details, req: turn(thought("", `{"reasoning_details":[]}`), txt("c")), want: turned(`"content":"c","reasoning_details":[]`)},
		{name: "details that are none", profile: details, req: turn(thought("a", `{"field":"reasoning","reasoning_details":"x"}`), txt("c")), want: turned(`"content":"c","reasoning":"a"`)},
		{name: "nothing to give back", profile: details, req: turn(thought("", ""), txt("c")), want: turned(`"content":"c"`)},
		{name: "tags and text", profile: tags, req: turn(thought("a", ""), txt("b"), txt("c")), want: turned(`"content":"<think>a</think>b\nc"`)},
		{name: "tags and a mark", profile: tags, req: turn(thought("a", ""), cached(txt("b"), "")),
			want: msgs(`{"role":"user","content":[{"type":"text","text":"u"}]}`, `{"role":"assistant","content":[{"type":"text","text":"<think>a</think>"},{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]}`,
				`{"role":"user","content":[{"type":"text","text":"v"}]}`)},
		{name: "chunks and text", profile: chunks, req: turn(thought("a", ""), txt("b")), want: turned(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]},{"type":"text","text":"b"}]`)},
		{name: "cut off", profile: openaichat.Profile{Replay: openaichat.ReplayAlways}, req: turn(wire.Part{Kind: wire.PartReasoning, Text: "a", Partial: true}, txt("b")),
			want: turned(`"content":"b","reasoning_content":""`), notes: []string{"dropped messages[1].parts[0]"}},
	})
}

// TestReasoning holds the rules of models and styles.
func TestReasoning(t *testing.T) {
	tool := []wire.Tool{{Name: "f"}}
	const toolWant = `,"tool_choice":"auto","tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}]`
	set := func(model string, g wire.Reasoning) wire.Request { return wire.Request{Model: model, Reasoning: &g} }
	on, off := wire.Reasoning{Mode: wire.ReasoningOn}, wire.Reasoning{Mode: wire.ReasoningOff}
	word := func(s string) wire.Reasoning { return wire.Reasoning{Effort: s} }
	tools := func(r wire.Request) wire.Request { r.Tools = tool; return r }
	sampled := func(r wire.Request) wire.Request {
		r.Temperature, r.TopP, r.PresencePenalty = of(0.0), of(0.5), of(0.0)
		return r
	}
	effort := func(s string) string { return `,"reasoning_effort":"` + s + `"` }
	const none = effortWant + `"none"`
	penalty := []string{"dropped presence_penalty"}
	unsampled := []string{"dropped temperature", "dropped top_p", "dropped presence_penalty"}
	zai, deepseek, router := openaichat.ZAI(), openaichat.DeepSeek(), openaichat.OpenRouter()
	runCases(t, []encCase{
		{name: "unknown, on", req: set("m", on), want: effort("medium") + encHi},
		{name: "unknown, off", req: set("m", off), want: none + encHi},
		{name: "unknown, any word", req: set("m", word("ultra")), want: effort("ultra") + encHi},
		{name: "nothing asked", req: set("m", wire.Reasoning{Replay: wire.ReplayNever}), want: encHi},
		{name: "off and an effort", req: set("m", wire.Reasoning{Mode: wire.ReasoningOff, Effort: "low"}), want: none + encHi, notes: []string{"dropped reasoning.effort"}},
		{name: "budget and display", req: set("m", wire.Reasoning{Effort: "low", Budget: 9, Display: "auto"}), want: effort("low") + encHi, notes: []string{"dropped reasoning.budget", "dropped reasoning.display"}},
		{name: "further settings", req: set("m", wire.Reasoning{Vendor: `{"a":1}`}), findings: []string{"reasoning.vendor"}},
		{name: "between tools", req: set("m", wire.Reasoning{Mode: wire.ReasoningBetweenTools}), findings: []string{"reasoning.mode"}},
		{name: "no such mode", req: set("m", wire.Reasoning{Mode: "x", Budget: -1}), findings: []string{"reasoning.mode", "reasoning.budget"}},
		{name: "effort that the codec writes", req: wire.Request{Reasoning: &on, Extra: []wire.Field{{Name: "reasoning_effort", Raw: `"low"`}}}, findings: []string{"extra[0]"}},

		{name: "gpt-4o", req: sampled(set("gpt-4o-2024-08-06", word("low"))), want: `,"temperature":0,"top_p":0.5,"presence_penalty":0` + encHi, notes: []string{"dropped reasoning.effort"}},
		{name: "gpt-4.1, on", req: set("gpt-4.1", on), findings: []string{"reasoning.mode"}},
		{name: "gpt-4.1, off", req: set("gpt-4.1", off), want: encHi},
		{name: "chat variant", req: sampled(set("gpt-5.1-chat-latest", word(""))), want: `,"temperature":0,"top_p":0.5,"presence_penalty":0` + encHi},
		{name: "o3", req: sampled(set("o3", word("low"))), want: effort("low") + encHi, notes: unsampled},
		{name: "o3, none", req: set("o3", word("none")), findings: []string{"reasoning"}},
		{name: "o4-mini, stop", req: wire.Request{Model: "o4-mini", StopSequences: []string{"x"}}, findings: []string{"stop_sequences"}},
		{name: "o1, stop", req: wire.Request{Model: "o1", StopSequences: []string{"x"}}, want: `,"stop":["x"]` + encHi},
		{name: "gpt-5, off", req: set("gpt-5", off), findings: []string{"reasoning"}},
		{name: "gpt-5, minimal and tools", req: tools(set("gpt-5-nano", word("minimal"))), want: effort("minimal") + toolWant + encHi},
		{name: "gpt-5, xhigh", req: set("gpt-5", word("xhigh")), findings: []string{"reasoning.effort"}},
		{name: "gpt-5, on", req: set("gpt-5", on), want: encHi},
		{name: "gpt-5.1, on", req: set("gpt-5.1", on), want: effort("medium") + encHi},
		{name: "gpt-5.1 samples without reasoning", req: sampled(wire.Request{Model: "gpt-5.1"}), want: `,"temperature":0,"top_p":0.5` + encHi, notes: penalty},
		{name: "gpt-5.1 with it", req: sampled(set("gpt-5.1", word("low"))), want: effort("low") + encHi, notes: unsampled},
		{name: "gpt-5.2 and tools", req: tools(set("gpt-5.2", word("high"))), want: effort("high") + toolWant + encHi},
		{name: "gpt-5.4 and tools", req: tools(wire.Request{Model: "gpt-5.4"}), want: toolWant + encHi},
		{name: "gpt-5.4, low and tools", req: tools(set("gpt-5.4", word("low"))), findings: []string{"tools"}},
		{name: "gpt-5.5 and tools", req: tools(wire.Request{Model: "gpt-5.5"}), want: toolWant + encHi},
		{name: "gpt-5.6 and tools", req: tools(wire.Request{Model: "gpt-5.6-sol"}), findings: []string{"tools"}},
		{name: "gpt-5.6, none and tools", req: tools(set("gpt-5.6-sol", word("none"))), want: none + toolWant + encHi},
		{name: "gpt-5.6, off and tools", req: sampled(tools(set("gpt-5.6-terra", off))), want: `,"temperature":0,"top_p":0.5` + none + toolWant + encHi, notes: penalty},
		{name: "gpt-5.6, max", req: set("gpt-5.6-luna", word("max")), want: effort("max") + encHi},
		{name: "gpt-6-sol and tools", req: tools(wire.Request{Model: "gpt-6-sol-2026-09-09"}), findings: []string{"tools"}},
		{name: "gpt-6.2-astra and tools", req: tools(wire.Request{Model: "gpt-6.2-astra"}), findings: []string{"tools"}},
		{name: "gpt-6.2-sol, off", req: set("gpt-6.2-sol", off), findings: []string{"reasoning"}},
		{name: "gpt-6.2-sol without tools", req: sampled(set("gpt-6.2-sol", word("xhigh"))), want: effort("xhigh") + encHi, notes: unsampled},
		{name: "a later model", req: sampled(tools(set("gpt-7", word("max")))), want: `,"temperature":0,"top_p":0.5,"presence_penalty":0` + effort("max") + toolWant + encHi},

		{name: "GLM, nothing said", profile: zai, req: wire.Request{Model: "glm-5"}, want: encHi},
		{name: "GLM, off", profile: zai, req: set("glm-5", off), want: `,"thinking":{"type":"disabled"}` + encHi},
		{name: "GLM, no replay", profile: zai, req: set("glm-5", wire.Reasoning{Mode: wire.ReasoningOn, Replay: wire.ReplayNever}), want: `,"thinking":{"type":"enabled"}` + encHi},
		{name: "GLM-5, effort", profile: zai, req: set("glm-5.1", word("low")), want: `,"thinking":{"type":"enabled","clear_thinking":false}` + encHi, notes: []string{"dropped reasoning.effort"}},
		{name: "GLM-5.2, effort", profile: zai, req: set("zai-org/glm-5.2", word("low")), want: `,"thinking":{"type":"enabled","clear_thinking":false},"reasoning_effort":"low"` + encHi},
		{name: "GLM-5.2, effort none", profile: zai, req: set("glm-5.2", word("none")), want: `,"thinking":{"type":"disabled"}` + encHi},
		{name: "GLM-5.3, medium", profile: zai, req: set("glm-5.3", word("medium")), findings: []string{"reasoning.effort"}},
		{name: "GLM-5.3, off", profile: zai, req: set("glm-5.3", off), findings: []string{"reasoning"}},
		{name: "GLM-4.5 cannot stream arguments", profile: zai, req: tools(wire.Request{Model: "glm-4.5-air"}), want: toolWant + encHi},
		{name: "GLM without a V", profile: zai, req: wire.Request{Model: "glm-5.2", Messages: []wire.Message{usr(wire.ImagePart([]byte(encPNG)))}},
			want: msgs(`{"role":"user","content":"(an image is left out: the model sees none)"}`), notes: []string{"dropped messages[0].parts[0]"}},
		{name: "GLM with a V", profile: zai, req: wire.Request{Model: "glm-5v-turbo", Messages: []wire.Message{usr(wire.ImagePart([]byte(encPNG)))}}, want: msgs(`{"role":"user","content":[` + encPNGURL + `]}`)},

		{name: "Kimi, k2.6", profile: openaichat.Moonshot(), req: sampled(wire.Request{Model: "kimi-k2.6"}), want: `,"presence_penalty":0` + encHi, notes: []string{"dropped temperature", "dropped top_p"}},
		{name: "Kimi, k2", profile: openaichat.Moonshot(), req: sampled(wire.Request{Model: "kimi-k2"}), want: `,"temperature":0,"top_p":0.5,"presence_penalty":0` + encHi},
		{name: "DeepSeek, words", profile: deepseek, req: set("d", word("medium")), want: `,"thinking":{"type":"enabled"},"reasoning_effort":"high"` + encHi, notes: []string{"converted reasoning.effort"}},
		{name: "DeepSeek, off and more", profile: deepseek, req: set("d", wire.Reasoning{Mode: wire.ReasoningOff, Budget: 3}), want: `,"thinking":{"type":"disabled"}` + encHi, notes: []string{"dropped reasoning.budget"}},
		{name: "DeepSeek, further settings", profile: deepseek, req: set("d", wire.Reasoning{Vendor: `{"keep":"all"}`}), want: `,"thinking":{"type":"enabled","keep":"all"}` + encHi},
		{name: "adaptive, effort", profile: openaichat.Profile{Thinking: openaichat.ThinkingAdaptive}, req: set("d", word("low")), want: `,"thinking":{"type":"adaptive"}` + encHi, notes: []string{"dropped reasoning.effort"}},
		{name: "template, effort", profile: openaichat.Profile{Thinking: openaichat.ThinkingTemplate}, req: set("d", wire.Reasoning{Effort: "low", Vendor: `{"x":1}`}),
			want: `,"chat_template_kwargs":{"enable_thinking":true,"x":1},"reasoning_effort":"low"` + encHi},
		{name: "OpenRouter, hidden", profile: router, req: set("x/y", wire.Reasoning{Mode: wire.ReasoningOn, Display: "omitted", Vendor: `{"z":1}`}), want: `,"reasoning":{"enabled":true,"exclude":true,"z":1}` + encHi},
		{name: "OpenRouter, both", profile: router, req: set("x/y", wire.Reasoning{Effort: "low", Budget: 2000}), findings: []string{"reasoning"}},
		{name: "OpenRouter lifts rules", profile: router, req: tools(sampled(set("openai/gpt-5.6", word("low")))), want: `,"temperature":0,"top_p":0.5,"presence_penalty":0,"reasoning":{"effort":"low"}` + toolWant + encHi},
	})
	_, err := encodeReq(t, openaichat.OpenAI(), &wire.Request{Model: "gpt-5.6", Tools: tool, Messages: []wire.Message{wire.UserText("u")}})
	if err == nil || !strings.Contains(err.Error(), "Responses") || !strings.Contains(err.Error(), "reasoning_effort none") {
		t.Errorf("no remedy: %v", err)
	}
	_, err = encodeReq(t, openaichat.OpenAI(), &wire.Request{Model: "gpt-6-astra", Tools: tool, Messages: []wire.Message{wire.UserText("u")}})
	if err == nil || !strings.Contains(err.Error(), "Responses") || strings.Contains(err.Error(), "or reasoning_effort none") {
		t.Errorf("a remedy that is none: %v", err)
	}
}

const effortWant = `,"reasoning_effort":`

func TestIDs(t *testing.T) {
	long := strings.Repeat("x", 41)
	for _, tc := range []struct {
		rule     openaichat.IDRule
		id, want string
	}{
		{openaichat.IDs40, "call_1|fc_0:β", "call_1|fc_0:β"},
		{openaichat.IDs40, strings.Repeat("β", 40), strings.Repeat("β", 40)},
		{openaichat.IDs40, long, "xxxxxxxxxxxxxxxxxxxxxxx_"},
		{openaichat.IDs40, "a\nb", "a_b_"},
		{openaichat.IDs40, "a\x7f", "a__"},
		{openaichat.IDs40, "", "_"},
		{openaichat.IDsAny, long, long},
		{openaichat.IDs9, "abcDEF789", "abcDEF789"},
		{openaichat.IDs9, "abcDEF78_", ""},
		{openaichat.IDs9, "call_1|fc_0:β", ""},
		{openaichat.IDs9, "call_1|fc_0:γ", ""},
	} {
		r := &wire.Request{Model: "m", Messages: []wire.Message{wire.UserText("u"), asst(wire.ToolCallPart(tc.id, "f", "{}")), wire.ToolMessage(wire.ToolResultPart(tc.id, "f", wire.ImagePart([]byte(encPNG))))}}
		call, err := encodeReq(t, openaichat.Profile{IDs: tc.rule}, r)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(call.Body), `"tool_calls":[{"id":"`)
		id, _, _ := strings.Cut(rest, `","type"`)
		if n := strings.Count(string(call.Body), id); n < 3 || !strings.Contains(string(call.Body), `"tool_call_id":"`+id+`"`) || !strings.Contains(string(call.Body), "tool call "+id+" (f)") {
			t.Errorf("%q: call and result do not agree: %s", tc.id, call.Body)
		}
		renamed := 0
		for _, n := range call.Notes {
			if n.Code == wire.NoteRenamed {
				renamed++
			}
		}
		if (id != tc.id) != (renamed == 2) {
			t.Errorf("%q became %q with %d notes", tc.id, id, renamed)
		}
		switch {
		case tc.rule == openaichat.IDs9:
			if len(id) != 9 || strings.Trim(id, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != "" || tc.want != "" && id != tc.want {
				t.Errorf("%q became %q", tc.id, id)
			}
		case tc.id == tc.want:
			if id != tc.want {
				t.Errorf("%q became %q", tc.id, id)
			}
		case !strings.HasPrefix(id, tc.want) || len(id) > 40:
			t.Errorf("%q became %q, want %s…", tc.id, id, tc.want)
		}
	}
}

// TestCacheMarks holds the marks of servers that have them.
func TestCacheMarks(t *testing.T) {
	p := openaichat.Profile{CacheControl: true}
	auto := &wire.CachePolicy{Auto: true, TTL: "1h"}
	const mark, hour = `,"cache_control":{"type":"ephemeral"}`, `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	part := func(s, mark string) string { return `{"type":"text","text":"` + s + `"` + mark + `}` }
	msg := func(role string, parts ...string) string {
		return `{"role":"` + role + `","content":[` + strings.Join(parts, ",") + `]}`
	}
	calls := []wire.Message{wire.UserText("u"), asst(txt("a"), wire.ToolCallPart("t1", "f", "{}")), wire.ToolMessage(wire.ToolResultPart("t1", "f", txt("r"), wire.ImagePart([]byte(encPNG))))}
	const callWant = `{"role":"assistant","content":"a","tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	tool := func(s string) string { return `{"role":"tool","tool_call_id":"t1","content":[` + s + `]}` }
	shot := msg("user", part("Attached by tool call t1 (f):", ""), encPNGURL)
	moved := []string{"converted messages[2].parts[0].parts[1]"}
	runCases(t, []encCase{
		{name: "own", profile: p, req: wire.Request{System: []wire.Part{txt("s"), cached(txt("t"), "")}, Messages: []wire.Message{usr(cached(txt("u"), ""), txt("v")), asst(cached(txt("a"), "")), wire.UserText("v")}},
			want: msgs(msg("system", part("s", ""), part("t", mark)), msg("user", part("u", mark), part("v", "")), msg("assistant", part("a", mark)), `{"role":"user","content":[{"type":"text","text":"v"}]}`)},
		{name: "auto", profile: p, req: wire.Request{System: []wire.Part{txt("s")}, Messages: []wire.Message{wire.UserText("u")}, Cache: auto},
			want: msgs(msg("system", part("s", hour)), msg("user", part("u", hour)))},
		{name: "auto, on a result", profile: p, req: wire.Request{Messages: calls, Cache: auto}, want: msgs(msg("user", part("u", "")), callWant, tool(part("r", hour)), shot), notes: moved},
		{name: "auto, behind results", profile: p, req: wire.Request{Messages: append(calls[:3:3], wire.UserText("v")), Cache: auto},
			want: msgs(msg("user", part("u", "")), callWant, tool(part("r", "")), shot, msg("user", part("v", hour))), notes: moved},
		{name: "auto beside own of another time", profile: p, req: wire.Request{System: []wire.Part{cached(txt("s"), "5m")}, Cache: auto},
			want: msgs(msg("system", part("s", `,"cache_control":{"type":"ephemeral","ttl":"5m"}`)), msg("user", part("hi", ""))), notes: []string{"dropped cache.auto"}},
		{name: "auto beside own", profile: p, req: wire.Request{System: []wire.Part{cached(txt("s"), "1h"), txt("t")}, Messages: []wire.Message{usr(cached(txt("a"), "1h"), cached(txt("b"), "1h")), wire.UserText("c")}, Cache: auto},
			want: msgs(msg("system", part("s", hour), part("t", "")), msg("user", part("a", hour), part("b", hour)), msg("user", part("c", hour)))},
		{name: "too many", profile: p, req: wire.Request{Messages: []wire.Message{usr(cached(txt("a"), ""), cached(txt("b"), ""), cached(txt("c"), ""), cached(txt("d"), ""), cached(txt("e"), ""))}}, findings: []string{""}},
		{name: "on what cannot carry it", profile: p, req: wire.Request{Messages: []wire.Message{usr(txt("u"), cached(wire.ImagePart([]byte(encPNG)), ""))}}, want: msgs(msg("user", part("u", ""), encPNGURL)),
			notes: []string{"dropped messages[0].parts[1].cache"}},
	})
}
