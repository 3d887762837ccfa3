package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	protocolHelp = `  -p, --protocol NAME  the protocol, or a vendor that speaks one:
%s
  --profile NAME       the vendor whose dialect of the protocol is spoken
`
	modelHelp = `  --model NAME         the model, or without -p a name of the configuration file
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
	name     string // of the file
	standard string // the member default
	models   map[string]preset.Config
}

func (c *configFile) names() string {
	if len(c.models) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(c.models)), ", ")
}

// readConfig reads the configuration file. One that was not asked for need not
// be there.
func (p *program) readConfig(asked string) (c configFile, err error) {
	c.name = asked
	if asked == "" {
		if p.configDir == "" {
			return c, nil
		}
		c.name = filepath.Join(p.configDir, "agentctl.json")
	}
	b, err := os.ReadFile(p.path(c.name))
	if errors.Is(err, fs.ErrNotExist) && asked == "" {
		return c, nil
	} else if err != nil {
		return c, usageError(err.Error())
	}
	if err := c.read(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))); err != nil {
		return c, usageError(c.name + ": " + err.Error())
	}
	return c, nil
}

func (c *configFile) read(b []byte) error {
	c.models = map[string]preset.Config{}
	err := readObject(b, "the file", func(name string, v json.RawMessage) error {
		switch name {
		case "default":
			return readText(v, name, &c.standard)
		case "models":
			return readObject(v, "models", func(model string, v json.RawMessage) error {
				m, err := readModel(v, "models."+model)
				c.models[model] = m
				return err
			})
		}
		return fmt.Errorf("it has a member %q; its members are default and models", name)
	})
	if err != nil {
		return err
	}
	if _, ok := c.models[c.standard]; c.standard != "" && !ok {
		return fmt.Errorf("there is no model called %q, which is its default", c.standard)
	}
	return nil
}

func readModel(v json.RawMessage, what string) (c preset.Config, err error) {
	err = readObject(v, what, func(name string, v json.RawMessage) error {
		switch name {
		case "protocol":
			return readText(v, what+"."+name, &c.Protocol)
		case "model":
			return readText(v, what+"."+name, &c.Model)
		case "base_url":
			return readText(v, what+"."+name, &c.BaseURL)
		case "api_key":
			return readText(v, what+"."+name, &c.APIKey)
		}
		return fmt.Errorf("%s has a member %q; its members are protocol, model, base_url and api_key", what, name)
	})
	switch {
	case err != nil:
	case strings.TrimSpace(c.Protocol) == "":
		err = fmt.Errorf("%s has no protocol; the protocols are %s", what, protocolNames())
	case strings.ContainsAny(strings.TrimSpace(c.APIKey), "\r\n"):
		err = fmt.Errorf("%s.api_key has a line break", what)
	}
	if _, ok := preset.Lookup(c.Protocol); err == nil && !ok {
		err = fmt.Errorf("%s.protocol: there is no protocol %q; the protocols are %s", what, c.Protocol, protocolNames())
	}
	return c, err
}

// readObject reads a JSON object in which every member stands once. The errors
// of package json tell a place, and no key.
func readObject(b []byte, what string, member func(name string, v json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err == io.EOF {
		return errors.New(what + " is empty")
	} else if err != nil || t != json.Delim('{') {
		return errors.New(what + " must be a JSON object")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return fmt.Errorf("%s is not JSON, near byte %d: %w", what, d.InputOffset(), err)
		}
		name, _ := t.(string)
		if seen[name] {
			return fmt.Errorf("%s has two members %q", what, name)
		}
		seen[name] = true
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return fmt.Errorf("%s is not JSON, near byte %d: %w", what, d.InputOffset(), err)
		}
		if err := member(name, v); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("%s is not JSON, near byte %d: it is not closed", what, d.InputOffset())
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New(what + " is followed by something else")
	}
	return nil
}

func readText(v json.RawMessage, what string, s *string) error {
	if len(v) == 0 || v[0] != '"' || json.Unmarshal(v, s) != nil {
		return errors.New(what + " must be a string")
	}
	return nil
}

// choose makes the four fields of the flags, the configuration file and the
// environment, in this order. Named says that the flags or the file named a
// vendor or a model.
func (p *program) choose(v vendorFlags) (c preset.Config, pre preset.Preset, named bool, err error) {
	fail := func(s string) (preset.Config, preset.Preset, bool, error) {
		return preset.Config{}, preset.Preset{}, true, usageError(s)
	}
	if v.config != "" && v.protocol != "" {
		return fail("--config and --protocol exclude each other: the file names the protocol")
	}
	if v.keyEnv != "" && !isVariable(v.keyEnv) {
		return fail("--api-key-env takes the name of a variable, not a key")
	}
	c = preset.Config{Protocol: v.protocol, Model: v.model, BaseURL: v.baseURL}
	named = v != (vendorFlags{config: v.config})
	if v.protocol == "" {
		file, err := p.readConfig(v.config)
		if err != nil {
			return c, pre, named, err
		}
		name := v.model
		if name == "" && v.profile == "" {
			name = file.standard
		}
		if m, ok := file.models[name]; ok {
			c, named = m, true
			if v.baseURL != "" {
				c.BaseURL, c.APIKey = v.baseURL, "" // the key is for the file's address
			}
		} else if v.config != "" && name != "" {
			return fail(v.config + " has no model called " + strconv.Quote(name) + "; it has " + file.names())
		}
	}
	if v.profile != "" {
		dialect, ok := preset.Lookup(v.profile)
		if !ok {
			return fail("there is no profile " + v.profile + "; the profiles are " + protocolNames())
		}
		base, ok := preset.Lookup(c.Protocol)
		if c.Protocol != "" && (!ok || base.Protocol != dialect.Protocol) {
			return fail("the profile " + dialect.Name + " is a dialect of " + dialect.Protocol + ", not of " + c.Protocol)
		}
		if base.Name != dialect.Name && c.BaseURL == "" {
			c.APIKey = "" // the key is for the other vendor's address
		}
		c.Protocol = dialect.Name
	}
	if c.Protocol == "" {
		c.Protocol = p.vendor(v.keyEnv, c.Model)
	}
	pre, ok := preset.Lookup(c.Protocol)
	if !ok {
		return fail("there is no protocol " + c.Protocol + "; the protocols are " + protocolNames())
	}
	if v.keyEnv == "" {
		return c.WithEnv(p.getenv), pre, named, nil
	}
	if c.APIKey = strings.TrimSpace(p.getenv(v.keyEnv)); c.APIKey == "" {
		return fail("the variable " + v.keyEnv + " is empty or not set")
	}
	return c, pre, named, nil
}

// vendor returns the preset where none is named: the one whose key the variable
// keyEnv usually holds, or without such a name the first whose key there is and of
// which a model is known.
func (p *program) vendor(keyEnv, model string) string {
	for _, pre := range preset.All() {
		if pre.KeyVariable == "" {
			continue
		}
		if pre.KeyVariable == keyEnv || keyEnv == "" && p.hasKey(pre) && (model != "" || defaultModels[pre.Name] != "") {
			return pre.Name
		}
	}
	return "anthropic-messages"
}

// hasKey reports whether the environment has the key of a preset.
func (p *program) hasKey(pre preset.Preset) bool {
	return pre.KeyVariable != "" && strings.TrimSpace(p.getenv(pre.KeyVariable)) != ""
}

// isVariable reports whether s can be the name of an environment variable.
func isVariable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
}

// protocolList lists the presets for the help of a flag.
func protocolList() string {
	const indent, width = "                       ", 79
	var b strings.Builder
	line := indent
	for word := range strings.FieldsSeq(protocolNames()) {
		if len(line)+len(word) > width {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		line += word + " "
	}
	b.WriteString(strings.TrimRight(line, " "))
	return b.String()
}

// protocolNames lists the presets.
func protocolNames() string {
	var list []string
	for _, pre := range preset.All() {
		list = append(list, pre.Name)
	}
	return strings.Join(list, ", ")
}
