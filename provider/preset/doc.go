// Package preset makes a client of four fields:
//
//	cfg := preset.Config{Protocol: "anthropic", Model: "claude-sonnet-5-5"}
//	client, err := preset.New(cfg.WithEnv(os.Getenv), nil)
//
// It knows the protocols' codecs, the vendors' addresses, the form in which each
// takes its key, and the names of the environment variables. It links every
// codec; a program that must stay small uses package provider with the one
// codec that it needs. There is no registry: the table is fixed, and what it
// does not hold is written as a [provider.Config].
package preset
