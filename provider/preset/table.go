package preset

import (
	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
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
	}
}

// vendorDomains are domains that belong to one vendor, with all hosts below
// them. A key that the environment holds for one vendor is not sent to another's.
var vendorDomains = [...]struct{ domain, vendor string }{
	{"anthropic.com", "Anthropic"},
	{"openai.com", "OpenAI"},
	{"openai.azure.com", "Microsoft"},
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
