package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/handwire/handwire/provider/preset"
)

// vendorFlags are the flags that name a model and where it is found.
type vendorFlags struct{ protocol, profile, model, baseURL, keyEnv, config string }

// add defines the flags that every verb with a protocol has.
func (v *vendorFlags) add(fs *flag.FlagSet) {
	fs.StringVar(&v.protocol, "p", "", "")
	fs.StringVar(&v.protocol, "protocol", "", "")
	fs.StringVar(&v.profile, "profile", "", "")
}

const (
	protocolHelp = `  -p, --protocol NAME  the protocol, or a vendor that speaks one: %s
  --profile NAME       the vendor whose dialect of the protocol is spoken
`
	modelHelp = `  --model NAME         the model, or a name of the configuration file
  --base-url URL       another server that speaks the protocol
`
	configHelp = `  --config FILE        the configuration file: {"default":NAME,"models":{NAME:
                       {"protocol":…,"model":…,"base_url":…,"api_key":…}}}; else
                       agentctl.json in the user's configuration folder
`
)

// defaultModels are the models of the presets where --model names none.
var defaultModels = map[string]string{
	"anthropic-messages": "claude-sonnet-5-5",
	"openai-chat":        "gpt-4.1",
	"zai":                "glm-5.3",
	"deepseek":           "deepseek-v4-pro",
	"openrouter":         "anthropic/claude-haiku-4.5",
}

// configFile is the configuration: models by name, of four fields each.
type configFile struct {
	Default string                   `json:"default"`
	Models  map[string]preset.Config `json:"models"`
}

// readConfig reads the configuration file. One that was not asked for need not
// be there.
func (p *program) readConfig(name string) (configFile, error) {
	var c configFile
	asked := name != ""
	if !asked {
		if p.configDir == "" {
			return c, nil
		}
		name = filepath.Join(p.configDir, "agentctl.json")
	} else {
		name = p.path(name)
	}
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && !asked {
		return c, nil
	} else if err != nil {
		return c, usageError(err.Error())
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, usageError(name + " is no configuration: " + err.Error())
	}
	if _, err := d.Token(); err != io.EOF {
		return c, usageError(name + ": the configuration is followed by something else")
	}
	if _, ok := c.Models[c.Default]; c.Default != "" && !ok {
		return c, usageError(name + ` has no model called "` + c.Default + `", which is its default`)
	}
	return c, nil
}

// choose makes the four fields of the flags, the configuration file and the
// environment, in this order. Named says that the flags or the file named a
// vendor or a model.
func (p *program) choose(v vendorFlags) (c preset.Config, pre preset.Preset, named bool, err error) {
	flagged := v != (vendorFlags{config: v.config})
	c = preset.Config{Protocol: v.protocol, Model: v.model, BaseURL: v.baseURL}
	named = flagged
	if v.protocol == "" {
		file, err := p.readConfig(v.config)
		if err != nil {
			return c, pre, false, err
		}
		name := v.model
		if !flagged {
			name = file.Default
		}
		if m, ok := file.Models[name]; ok {
			c, named = m, true
			if v.baseURL != "" {
				c.BaseURL, c.APIKey = v.baseURL, "" // the key is for the file's address
			}
		}
	}
	if v.profile != "" {
		dialect, ok := preset.Lookup(v.profile)
		if !ok {
			return c, pre, named, usageError("there is no profile " + v.profile + "; the profiles are " + protocolNames())
		}
		if base, ok := preset.Lookup(c.Protocol); c.Protocol != "" && (!ok || base.Protocol != dialect.Protocol) {
			return c, pre, named, usageError("the profile " + dialect.Name + " is a dialect of " + dialect.Protocol + ", not of " + c.Protocol)
		}
		c.Protocol = dialect.Name
	}
	if c.Protocol == "" {
		c.Protocol = "anthropic"
		if i := slices.IndexFunc(preset.All(), func(pre preset.Preset) bool {
			return pre.KeyVariable != "" && strings.TrimSpace(p.getenv(pre.KeyVariable)) != ""
		}); i >= 0 && !named {
			c.Protocol = preset.All()[i].Name
		}
	}
	pre, ok := preset.Lookup(c.Protocol)
	if !ok {
		return c, pre, named, usageError("there is no protocol " + c.Protocol + "; the protocols are " + protocolNames())
	}
	switch {
	case v.keyEnv != "":
		if c.APIKey = strings.TrimSpace(p.getenv(v.keyEnv)); c.APIKey == "" {
			return c, pre, named, usageError("the variable " + v.keyEnv + " is empty or not set")
		}
	default:
		c = c.WithEnv(p.getenv)
	}
	return c, pre, named, nil
}

// protocolNames lists the presets.
func protocolNames() string {
	var list []string
	for _, pre := range preset.All() {
		list = append(list, pre.Name)
	}
	return strings.Join(list, ", ")
}
