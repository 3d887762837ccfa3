package preset

import (
	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
	"github.com/handwire/handwire/wire/openaichat"
)

// row is a preset and the codec that it takes.
type row struct {
	Preset
	codec wire.Codec
}

// table returns all presets. Each call makes a new one, so that nobody can
// change another's.
func table() []row {
	return []row{
		{Preset{
			Name:        "anthropic-messages",
			Aliases:     []string{"anthropic"},
			Vendor:      "Anthropic",
			Protocol:    "anthropic-messages",
			BaseURL:     "https://api.anthropic.com",
			Auth:        provider.Auth{Header: "x-api-key"},
			KeyVariable: "ANTHROPIC_API_KEY",
		}, anthropic.Codec{}},
		chat("openai-chat", "OpenAI", "https://api.openai.com", "OPENAI_API_KEY", openaichat.OpenAI(), "openai"),
		chat("zai", "Z.ai", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY", openaichat.ZAI(), "z.ai", "glm"),
		chat("deepseek", "DeepSeek", "https://api.deepseek.com", "DEEPSEEK_API_KEY", openaichat.DeepSeek()),
		chat("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", openaichat.OpenRouter()),
		chat("moonshot", "Moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", openaichat.Moonshot(), "kimi"),
		chat("qwen", "Alibaba", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY", openaichat.Qwen(), "dashscope"),
		chat("minimax", "MiniMax", "https://api.minimax.io/v1", "MINIMAX_API_KEY", openaichat.MiniMax()),
		chat("mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", openaichat.Mistral()),
		chat("groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", openaichat.Groq()),
		chat("xai", "xAI", "https://api.x.ai/v1", "XAI_API_KEY", openaichat.XAI(), "grok"),
		chat("together", "Together", "https://api.together.ai/v1", "TOGETHER_API_KEY", openaichat.Together()),
		chat("fireworks", "Fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", openaichat.Fireworks()),
		chat("cerebras", "Cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", openaichat.Cerebras()),
		azure(),
		chat("github-models", "GitHub", "https://models.github.ai/inference", "GITHUB_MODELS_TOKEN", openaichat.GitHubModels()),
		chat("gemini-openai", "Google", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", openaichat.Gemini()),
		local("vllm", "http://localhost:8000/v1", openaichat.VLLM()),
		local("sglang", "http://localhost:30000/v1", openaichat.SGLang()),
		local("llama.cpp", "http://localhost:8080/v1", openaichat.LlamaCPP(), "llamacpp"),
		local("lmstudio", "http://localhost:1234/v1", openaichat.LMStudio(), "lm-studio"),
		local("ollama-openai", "http://localhost:11434/v1", openaichat.Ollama()),
	}
}

// chat is the row of a vendor that speaks Chat Completions.
func chat(name, vendor, base, variable string, profile openaichat.Profile, aliases ...string) row {
	return row{Preset{
		Name: name, Aliases: aliases, Vendor: vendor, Protocol: openaichat.Protocol, BaseURL: base,
		Auth: provider.Auth{Header: "Authorization", Prefix: "Bearer "}, KeyVariable: variable,
	}, openaichat.Codec{Profile: profile}}
}

// azure is Azure's OpenAI, whose address is the customer's own.
func azure() row {
	r := chat("azure-openai", "Microsoft", "", "AZURE_OPENAI_API_KEY", openaichat.AzureOpenAI(), "azure")
	r.Auth = provider.Auth{Header: "api-key"}
	return r
}

// local is the row of a server of one's own, which needs no key.
func local(name, base string, profile openaichat.Profile, aliases ...string) row {
	r := chat(name, "", base, "", profile, aliases...)
	r.Auth.Optional = true
	return r
}

// vendorDomains are domains that belong to one vendor, with all hosts below
// them. A key that the environment holds for one vendor is not sent to another's.
var vendorDomains = [...]struct{ domain, vendor string }{
	{"anthropic.com", "Anthropic"},
	{"openai.com", "OpenAI"},
	{"openai.azure.com", "Microsoft"},
	{"cognitiveservices.azure.com", "Microsoft"},
	{"services.ai.azure.com", "Microsoft"},
	{"inference.ai.azure.com", "Microsoft"},
	{"github.ai", "GitHub"},
	{"githubcopilot.com", "GitHub"},
	{"googleapis.com", "Google"},
	{"amazonaws.com", "Amazon"},
	{"api.aws", "Amazon"},
	{"z.ai", "Z.ai"},
	{"bigmodel.cn", "Z.ai"},
	{"deepseek.com", "DeepSeek"},
	{"moonshot.ai", "Moonshot"},
	{"moonshot.cn", "Moonshot"},
	{"kimi.com", "Moonshot"},
	{"minimax.io", "MiniMax"},
	{"minimaxi.com", "MiniMax"},
	{"aliyuncs.com", "Alibaba"},
	{"mistral.ai", "Mistral"},
	{"groq.com", "Groq"},
	{"x.ai", "xAI"},
	{"openrouter.ai", "OpenRouter"},
	{"together.ai", "Together"},
	{"together.xyz", "Together"},
	{"fireworks.ai", "Fireworks"},
	{"cerebras.ai", "Cerebras"},
	{"ollama.com", "Ollama"},
}
