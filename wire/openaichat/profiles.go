package openaichat

// The profiles of vendors. They are functions, so that nobody can change
// another's.

// OpenAI is OpenAI itself, the zero value.
func OpenAI() Profile { return Profile{} }

// ZAI is Z.ai (Zhipu GLM).
// Unconfirmed: the exact bounds of the sampler.
func ZAI() Profile {
	return Profile{
		MaxTokens: MaxTokens, System: SystemSystem, SystemFirst: true, Thinking: ThinkingZAI, Replay: ReplayField, ToolChoice: ToolChoicesAuto,
		ToolStream: "tool_stream", NoStrict: true, NoParallel: true, NoCustom: true, IDs: IDsAny, NoRefusal: true, PlainText: true, NoNames: true, NoFiles: true,
		NoStreamOptions: true, NarrowSampler: true, NoPenalties: true, NoSeed: true, NoCacheKey: true, NoServiceTier: true, NoUser: true,
	}
}

// DeepSeek is DeepSeek, V4 and later, whose thinking is on unless it is switched
// off.
func DeepSeek() Profile {
	return Profile{
		MaxTokens: MaxTokens, System: SystemSystem, SystemFirst: true, Thinking: ThinkingDeepSeek,
		Efforts: []Effort{{"minimal", "low"}, {"medium", "high"}, {"xhigh", "high"}, {"ultra", "max"}},
		Replay:  ReplayAlways, ToolChoice: ToolChoicesPlain, ForcedChoice: ForcedWithoutThinking, NoStrict: true, NoParallel: true, NoCustom: true,
		NullContent: ContentEmpty, IDs: IDsAny, NoRefusal: true, PlainText: true, NoFiles: true, NoSeed: true, NoCacheKey: true, NoServiceTier: true,
		NoUser: true, NoJSONSchema: true,
	}
}

// OpenRouter is OpenRouter, which routes to many vendors.
func OpenRouter() Profile {
	return Profile{
		MaxTokens: MaxTokens, System: SystemByVendor, SystemFirst: true, AnyModel: true, Thinking: ThinkingOpenRouter,
		Efforts: []Effort{{"max", "xhigh"}, {"ultra", "xhigh"}}, Replay: ReplayDetails,
		ToolChoice: ToolChoicesPlain, NoCustom: true, NoRefusal: true, CacheControl: true, TopK: true, NoServiceTier: true, NoUser: true,
		BlankReasoning: []string{"moonshotai/kimi-k2.6"},
	}
}

// Moonshot is Moonshot's Kimi. Its models keep the reasoning of earlier turns only
// if they are told to, which k2.5 cannot be.
// Unconfirmed: that all models take a tool choice of required.
func Moonshot() Profile {
	return Profile{
		MaxTokens: MaxTokens, System: SystemSystem, Thinking: ThinkingKimi,
		Efforts: []Effort{{"minimal", "low"}, {"medium", "high"}, {"xhigh", "max"}, {"ultra", "max"}},
		Replay:  ReplayField, BlankReasoning: []string{"kimi"}, ToolChoice: ToolChoicesPlain, NoStrict: true, NoParallel: true, NoCustom: true,
		IDs: IDsAny, NoRefusal: true, PlainText: true, NoImageURLs: true, NoFiles: true, NoServiceTier: true,
	}
}

// Qwen is Alibaba's Model Studio (DashScope), in its compatible mode. It keeps no
// reasoning of earlier turns.
// Unconfirmed: that strict is not taken, and how many cache marks are.
func Qwen() Profile {
	return Profile{
		MaxTokens: MaxTokens, System: SystemSystem, SystemFirst: true, Thinking: ThinkingQwen, ToolChoice: ToolChoicesPlain, ForcedChoice: ForcedWithoutThinking,
		NoStrict: true, NoCustom: true, IDs: IDsAny, NoRefusal: true, PlainText: true, NoFiles: true, CacheControl: true, TopK: true,
		NoFrequencyPenalty: true, NoCacheKey: true, NoServiceTier: true, NoUser: true,
	}
}

// MiniMax is MiniMax, whose reasoning stands in the text between tags and goes
// back so. Much of it is not documented, and left out. Of models whose reasoning
// comes as all of the text so far, again and again, see [PiecesGrowing].
// Unconfirmed: stream_options.
func MiniMax() Profile {
	return Profile{
		System: SystemSystem, SystemFirst: true, Thinking: ThinkingAdaptive, Replay: ReplayTags, ToolChoice: ToolChoicesUnsaid, NoStrict: true, NoParallel: true,
		NoCustom: true, IDs: IDsAny, NoRefusal: true, PlainText: true, NoFiles: true, NoPenalties: true, NoSeed: true, NoCacheKey: true,
		NoServiceTier: true, NoUser: true, NoJSONSchema: true, ThinkTags: true,
	}
}

// Mistral is Mistral, whose reasoning comes and goes as typed chunks of the
// content. Where it has an effort at all, it is none or high.
func Mistral() Profile {
	return Profile{
		MaxTokens: MaxTokens, System: SystemSystem, SystemFirst: true, AnyModel: true,
		Efforts: []Effort{{"minimal", "high"}, {"low", "high"}, {"medium", "high"}, {"xhigh", "high"}, {"max", "high"}, {"ultra", "high"}},
		Replay:  ReplayChunks, ToolChoice: ToolChoicesPlain, NoCustom: true, NullContent: ContentEmpty, IDs: IDs9, ToolName: true,
		NoRefusal: true, PlainText: true, NoFiles: true, NoStreamOptions: true, SeedName: "random_seed", NoServiceTier: true, NoUser: true,
	}
}

// Groq is Groq.
// Unconfirmed: that names of messages are refused.
func Groq() Profile {
	return Profile{
		System: SystemSystem, SystemFirst: true, AnyModel: true, Replay: ReplayField, ToolChoice: ToolChoicesPlain, NoStrict: true, NoCustom: true, IDs: IDsAny,
		NoRefusal: true, PlainText: true, NoNames: true, NoFiles: true, NoCacheKey: true, NoUser: true,
	}
}

// XAI is xAI's Chat Completions, which count reasoning apart and keep none of it.
func XAI() Profile {
	return Profile{
		System: SystemSystem, SystemFirst: true, AnyModel: true, ToolChoice: ToolChoicesPlain, NoCustom: true, IDs: IDsAny, NoRefusal: true, PlainText: true,
		NoFiles: true, NoCacheKey: true, NoServiceTier: true, NoUser: true, ReasoningPieces: PiecesDoubled, ReasoningApart: true,
	}
}

// Together is Together.
// Unconfirmed: tool_choice, parallel_tool_calls, and in which field reasoning comes;
// whichever it is, it goes back in it.
func Together() Profile {
	return Profile{
		MaxTokens: MaxTokens, System: SystemSystem, SystemFirst: true, Thinking: ThinkingTogether, Replay: ReplayField, ToolChoice: ToolChoicesPlain, NoStrict: true,
		NoCustom: true, IDs: IDsAny, NoRefusal: true, PlainText: true, NoFiles: true, TopK: true, NoCacheKey: true, NoServiceTier: true, NoUser: true,
	}
}

// Fireworks is Fireworks.
// Unconfirmed: strict and parallel_tool_calls.
func Fireworks() Profile {
	return Profile{
		System: SystemSystem, SystemFirst: true, Thinking: ThinkingBudget,
		Efforts: []Effort{{"minimal", "low"}, {"xhigh", "high"}, {"max", "high"}, {"ultra", "high"}},
		Replay:  ReplayField, ToolChoice: ToolChoicesPlain, NoCustom: true, IDs: IDsAny, NoRefusal: true, PlainText: true, NoFiles: true,
		NoUser: true,
	}
}

// Cerebras is Cerebras, which refuses what it does not know.
func Cerebras() Profile {
	return Profile{
		System: SystemSystem, SystemFirst: true, AnyModel: true, Replay: ReplayField, ToolChoice: ToolChoicesPlain, NoParallel: true, NoCustom: true, IDs: IDsAny,
		NoRefusal: true, PlainText: true, NoFiles: true, NoPenalties: true, NoCacheKey: true, NoServiceTier: true, NoUser: true,
	}
}

// AzureOpenAI is Azure's OpenAI, whose models are OpenAI's under the names of
// deployments. A deployment that is not called like its model needs
// [Profile.AnyModel]. The address is the customer's own, with /openai/v1, or with
// /openai/deployments/NAME and a query api-version.
func AzureOpenAI() Profile { return Profile{NoFiles: true} }

// GitHubModels is GitHub Models, with models of many vendors.
// Unconfirmed: that it is still to be had.
func GitHubModels() Profile {
	return Profile{
		MaxTokens: MaxTokensByModel, NoCustom: true, NoRefusal: true, NoFiles: true, NoCacheKey: true, NoServiceTier: true, NoUser: true,
	}
}

// Gemini is the endpoint of Gemini that speaks Chat Completions. Thoughts come in
// the text between tags and do not go back; the signatures of calls do.
// Unconfirmed: that parallel_tool_calls is refused, and which models fetch images by
// their address.
func Gemini() Profile {
	return Profile{
		System: SystemSystem, SystemFirst: true, AnyModel: true, Efforts: []Effort{{"xhigh", "high"}, {"max", "high"}, {"ultra", "high"}},
		ToolChoice: ToolChoicesPlain, NoStrict: true, NoParallel: true, NoCustom: true, Signatures: true, IDs: IDsAny, NoRefusal: true,
		PlainText: true, NoFiles: true, NoCacheKey: true, NoServiceTier: true, NoUser: true, ThoughtTags: true,
	}
}

// VLLM is a vLLM server. What its templates want depends on the model.
func VLLM() Profile { return local() }

// SGLang is an SGLang server.
func SGLang() Profile { return local() }

// LlamaCPP is the server of llama.cpp.
func LlamaCPP() Profile { return local() }

// local is what the servers of open models have in common.
func local() Profile {
	return Profile{
		System: SystemSystem, SystemFirst: true, Thinking: ThinkingTemplate, Replay: ReplayField, ToolChoice: ToolChoicesPlain, NoCustom: true, IDs: IDsAny,
		NoRefusal: true, PlainText: true, NoFiles: true, TopK: true, NoCacheKey: true, NoServiceTier: true, NoUser: true,
	}
}

// LMStudio is LM Studio.
// Unconfirmed: a tool choice that names a tool.
func LMStudio() Profile {
	return Profile{
		MaxTokens: MaxTokens, System: SystemSystem, SystemFirst: true, AnyModel: true, ToolChoice: ToolChoicesPlain, NoStrict: true, NoParallel: true, NoCustom: true,
		IDs: IDsAny, NoRefusal: true, PlainText: true, NoFiles: true, NoCacheKey: true, NoServiceTier: true, NoUser: true,
	}
}

// Ollama is Ollama's /v1, which ignores much and would let an output without its
// old limit run on for ever.
func Ollama() Profile {
	return Profile{
		MaxTokens: MaxTokens, System: SystemSystem, SystemFirst: true, AnyModel: true, Replay: ReplayField, ToolChoice: ToolChoicesUnsaid, NoStrict: true,
		NoParallel: true, NoCustom: true, IDs: IDsAny, NoRefusal: true, PlainText: true, NoImageURLs: true, NoFiles: true, NoCacheKey: true,
		NoServiceTier: true, NoUser: true,
	}
}
