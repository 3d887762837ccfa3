package main

import (
	"context"
	"flag"
	"fmt"
	"reflect"
	"strings"

	"github.com/handwire/handwire/provider/preset"
	"github.com/handwire/handwire/wire/openaichat"
)

const providersUsage = `usage: agentctl providers [flags]

Lists the vendors and servers that are known by name: the protocol, the address,
the environment variable of the key and whether it is set, and in which switches
the vendor's dialect departs from the protocol.

`

// dialect is a switch of a profile that is not as OpenAI has it.
type dialect struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// knownProvider is what is told of a preset.
type knownProvider struct {
	preset.Preset
	KeySet   bool      `json:"key_set"`
	Switches []dialect `json:"switches,omitempty"`
}

// switchesOf returns the switches that a preset turns, in the order of the
// profile's fields.
func switchesOf(name string) []dialect {
	cfg, err := preset.Config{Protocol: name}.Provider()
	if err != nil {
		return nil
	}
	codec, ok := cfg.Codec.(openaichat.Codec)
	if !ok {
		return nil
	}
	var list []dialect
	v := reflect.ValueOf(codec.Profile)
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() {
			list = append(list, dialect{v.Type().Field(i).Name, f.Interface()})
		}
	}
	return list
}

// text is a switch for people: its name, and its value if that is not just true.
func (d *dialect) text() string {
	switch v := d.Value.(type) {
	case bool:
		return d.Name
	case []openaichat.Effort:
		var words []string
		for _, e := range v {
			words = append(words, e.From+">"+e.To)
		}
		return d.Name + "=" + strings.Join(words, "+")
	case []string:
		return d.Name + "=" + strings.Join(v, "+")
	default:
		return d.Name + "=" + fmt.Sprint(v)
	}
}

func switchTexts(list []dialect) []string {
	var all []string
	for i := range list {
		all = append(all, list[i].text())
	}
	return all
}

func (p *program) providers(context.Context) error {
	fs := flag.NewFlagSet("providers", flag.ContinueOnError)
	asJSON := fs.Bool("json", false, "")
	fs.Usage = func() {
		fmt.Fprint(fs.Output(), providersUsage+"flags:\n"+`  --json               one JSON object a line
`)
	}
	args, err := p.parse(fs)
	if err != nil {
		return err
	}
	if len(args) > 0 {
		return usageError("providers takes no argument")
	}
	out := &lineWriter{w: p.stdout}
	for _, pre := range preset.All() {
		known := knownProvider{Preset: pre, Switches: switchesOf(pre.Name)}
		known.KeySet = pre.KeyVariable != "" && strings.TrimSpace(p.getenv(pre.KeyVariable)) != ""
		if *asJSON {
			out.json(&known)
		} else {
			out.write([]byte(known.text()))
		}
		if out.err != nil {
			return out.err
		}
	}
	return nil
}

// text is a preset for people: a line, and one for its switches.
func (k *knownProvider) text() string {
	key := "no key needed"
	if k.KeyVariable != "" {
		key = k.KeyVariable + " (not set)"
		if k.KeySet {
			key = k.KeyVariable + " (set)"
		}
	}
	name, base := k.Name, k.BaseURL
	if len(k.Aliases) > 0 {
		name += " (" + strings.Join(k.Aliases, ", ") + ")"
	}
	if base == "" {
		base = "address of your own"
	}
	s := fmt.Sprintf("%s\n    %s  %s  %s\n", name, k.Protocol, base, key)
	if list := switchTexts(k.Switches); len(list) > 0 {
		s += "    " + strings.Join(list, " ") + "\n"
	}
	return s
}
