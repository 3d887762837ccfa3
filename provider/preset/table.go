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
	}
}

// chat is the row of a vendor that speaks Chat Completions.
func chat(name, vendor, base, variable string, profile openaichat.Profile, aliases ...string) row {
	return row{Preset{
		Name: name, Aliases: aliases, Vendor: vendor, Protocol: openaichat.Protocol, BaseURL: base,
		Auth: provider.Auth{Header: "Authorization", Prefix: "Bearer "}, KeyVariable: variable,
	}, openaichat.Codec{Profile: profile}}
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
