package anthropic_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/anthropic"
)

// members are the members of a JSON object, their values raw, in order. What is
// known is taken out, and what is left is the vendor's.
type members []wire.Field

func membersOf(t testing.TB, raw string) (m members) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(raw))
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		t.Fatalf("no JSON object: %.200s (%v)", raw, err)
	}
	for d.More() {
		name, err := d.Token()
		var v json.RawMessage
		if err == nil {
			err = d.Decode(&v)
		}
		if err != nil {
			t.Fatalf("%.200s: %v", raw, err)
		}
		m = append(m, wire.Field{Name: name.(string), Raw: string(v)})
	}
	return m
}

func (m members) get(name string) string {
	for _, f := range m {
		if f.Name == name {
			return f.Raw
		}
	}
	return ""
}

// take removes a member and returns its value, "" if it is not there or null.
func (m *members) take(name string) string {
	for i, f := range *m {
		if f.Name == name {
			*m = append((*m)[:i:i], (*m)[i+1:]...)
			if f.Raw == "null" {
				return ""
			}
			return f.Raw
		}
	}
	return ""
}

// object returns what is left, "" if that is nothing.
func (m members) object() string {
	if len(m) == 0 {
		return ""
	}
	var b strings.Builder
	for i, f := range m {
		b.WriteByte("{,"[min(i, 1)])
		name, _ := json.Marshal(f.Name)
		b.Write(name)
		b.WriteString(":" + f.Raw)
	}
	return b.String() + "}"
}

// mark takes a cache breakpoint of the form that a CacheMark holds.
func (m *members) mark() *wire.CacheMark {
	var c struct {
		Type string  `json:"type"`
		TTL  *string `json:"ttl"`
	}
	d := json.NewDecoder(strings.NewReader(m.get("cache_control")))
	d.DisallowUnknownFields()
	if d.Decode(&c) != nil || c.Type != "ephemeral" {
		return nil
	}
	m.take("cache_control")
	mark := &wire.CacheMark{}
	if c.TTL != nil {
		mark.TTL = *c.TTL
	}
	return mark
}

// value reads a raw value; "" leaves the zero value.
func value[T any](t testing.TB, raw string) (v T) {
	t.Helper()
	if raw != "" {
		if err := json.Unmarshal([]byte(raw), &v); err != nil {
			t.Fatalf("%.200s: %v", raw, err)
		}
	}
	return v
}

// optional reads a raw value; "" is nil.
func optional[T any](t testing.TB, raw string) *T {
	t.Helper()
	if raw == "" {
		return nil
	}
	return ptr(value[T](t, raw))
}

// readRequest reads the body of a request into what encodes to it again, with the
// codec's settings from the headers that went with it. Model is for a body that
// names none, because the address does. What a Request cannot hold is missing from
// it; whoever encodes and compares will see.
func readRequest(t testing.TB, body []byte, model string, header map[string]string) (c anthropic.Codec, r *wire.Request) {
	t.Helper()
	r = &wire.Request{Model: model, Whole: true}
	for name, v := range header {
		switch strings.ToLower(name) {
		case "anthropic-version":
			c.Version = v
		case "anthropic-beta":
			for b := range strings.SplitSeq(v, ",") {
				c.Betas = append(c.Betas, strings.TrimSpace(b))
			}
		}
	}
	for _, f := range membersOf(t, string(bytes.TrimSpace(body))) {
		raw := f.Raw
		if raw == "null" {
			continue
		}
		switch f.Name {
		case "model":
			r.Model = value[string](t, raw)
		case "max_tokens":
			r.MaxTokens = value[int](t, raw)
		case "stream":
			r.Whole = !value[bool](t, raw)
		case "system":
			r.System = readParts(t, raw, wire.RoleSystem)
		case "messages":
			for _, raw := range value[[]json.RawMessage](t, raw) {
				r.Messages = append(r.Messages, readMessage(t, string(raw)))
			}
		case "tools":
			for _, raw := range value[[]json.RawMessage](t, raw) {
				r.Tools = append(r.Tools, readTool(t, string(raw)))
			}
		case "tool_choice":
			m := membersOf(t, raw)
			r.ToolChoice.Name = value[string](t, m.take("name"))
			r.ToolChoice.Mode = wire.ToolChoiceMode(value[string](t, m.take("type")))
			if r.ToolChoice.Mode == "any" {
				r.ToolChoice.Mode = wire.ToolChoiceRequired
			}
			if off := optional[bool](t, m.take("disable_parallel_tool_use")); off != nil {
				r.ParallelToolCalls = ptr(!*off)
			}
		case "thinking":
			m := membersOf(t, raw)
			g := reasoning(r)
			g.Budget = value[int](t, m.take("budget_tokens"))
			g.Display = value[string](t, m.take("display"))
			switch typ := value[string](t, m.take("type")); typ {
			case "disabled":
				g.Mode = wire.ReasoningOff
			case "between_tools":
				g.Mode = wire.ReasoningBetweenTools
			default:
				g.Mode = wire.ReasoningOn
			}
		case "output_config":
			m := membersOf(t, raw)
			if effort := m.take("effort"); effort != "" {
				reasoning(r).Effort = value[string](t, effort)
			}
			if format := m.take("format"); format != "" {
				m := membersOf(t, format)
				r.Output = &wire.OutputFormat{Kind: wire.OutputKind(value[string](t, m.take("type"))), Schema: m.take("schema")}
			}
		case "metadata":
			m := membersOf(t, raw)
			r.UserID = value[string](t, m.take("user_id"))
		case "service_tier":
			r.ServiceTier = value[string](t, raw)
		case "stop_sequences":
			r.StopSequences = value[[]string](t, raw)
		case "temperature":
			r.Temperature = optional[float64](t, raw)
		case "top_p":
			r.TopP = optional[float64](t, raw)
		case "top_k":
			r.TopK = optional[int](t, raw)
		default:
			r.Extra = append(r.Extra, f)
		}
	}
	// An assistant's message at the end is a beginning for the model to go on
	// from, unless a tool of the server is under way: then the turn was paused.
	if n := len(r.Messages); n > 0 {
		last := &r.Messages[n-1]
		for _, p := range last.Parts {
			if last.Role == wire.RoleAssistant && p.Kind == wire.PartOpaque {
				last.Ending.Finish = wire.FinishPause
			}
		}
	}
	return c, r
}

func reasoning(r *wire.Request) *wire.Reasoning {
	if r.Reasoning == nil {
		r.Reasoning = &wire.Reasoning{}
	}
	return r.Reasoning
}

// readMessage reads a message. The assistant's is made one of this protocol that
// came to its end, so that all of it goes back.
func readMessage(t testing.TB, raw string) wire.Message {
	t.Helper()
	m := membersOf(t, raw)
	msg := wire.Message{Role: wire.Role(value[string](t, m.take("role")))}
	msg.Parts = readParts(t, m.take("content"), msg.Role)
	msg.Vendor = m.object()
	results := 0
	for _, p := range msg.Parts {
		if p.Kind == wire.PartToolResult {
			results++
		}
	}
	switch {
	case msg.Role == wire.RoleAssistant:
		msg.Origin = &wire.Origin{Protocol: anthropic.Protocol}
		msg.Ending = &wire.Ending{Cause: wire.CauseFinished, Finish: wire.FinishStop}
		for _, p := range msg.Parts {
			if p.Kind == wire.PartToolCall {
				msg.Ending.Finish = wire.FinishToolCall
			}
		}
	case results > 0 && results == len(msg.Parts):
		msg.Role = wire.RoleTool
	}
	return msg
}

// readParts reads content: a string, or blocks.
func readParts(t testing.TB, raw string, role wire.Role) (parts []wire.Part) {
	t.Helper()
	if strings.HasPrefix(raw, `"`) {
		return []wire.Part{wire.TextPart(value[string](t, raw))}
	}
	for _, raw := range value[[]json.RawMessage](t, raw) {
		parts = append(parts, readPart(t, string(raw), role))
	}
	return parts
}

func readPart(t testing.TB, raw string, role wire.Role) wire.Part {
	t.Helper()
	m := membersOf(t, raw)
	typ := value[string](t, m.take("type"))
	p := wire.Part{}
	assistant := role == wire.RoleAssistant
	switch {
	case typ == "text":
		p.Kind = wire.PartText
		p.Text = value[string](t, m.take("text"))
	case typ == "thinking" && assistant:
		p.Kind = wire.PartReasoning
		p.Text = value[string](t, m.take("thinking"))
		p.Vendor = m.object()
		return p
	case typ == "redacted_thinking" && assistant:
		return wire.Part{Kind: wire.PartReasoning, Vendor: m.object()}
	case typ == "tool_use" && assistant:
		p.Kind = wire.PartToolCall
		p.ID = value[string](t, m.take("id"))
		p.Name = value[string](t, m.take("name"))
		p.Args = m.take("input")
	case typ == "tool_result" && role == wire.RoleUser:
		p.Kind = wire.PartToolResult
		p.ID = value[string](t, m.take("tool_use_id"))
		p.Parts = readParts(t, m.take("content"), role)
		p.IsError = value[bool](t, m.take("is_error"))
	case (typ == "image" || typ == "document") && role == wire.RoleUser && readSource(t, &p, typ, m.get("source")):
		m.take("source")
		if typ == "document" {
			p.Media.Name = value[string](t, m.take("title"))
		}
	default:
		m := membersOf(t, raw)
		p = wire.Part{Kind: wire.PartOpaque, Name: typ, ID: value[string](t, m.get("id")), Vendor: raw}
		if p.Cache = m.mark(); p.Cache != nil {
			p.Vendor = m.object()
		}
		return p
	}
	p.Cache = m.mark()
	p.Vendor = m.object()
	return p
}

// readSource reads the source of an image or a document, and reports whether it
// is one that a Media holds.
func readSource(t testing.TB, p *wire.Part, typ, raw string) bool {
	t.Helper()
	m := membersOf(t, raw)
	media := &wire.Media{}
	if typ == "document" {
		media.Type = "application/pdf" // where the source does not say
	}
	if s := m.take("media_type"); s != "" {
		media.Type = value[string](t, s)
	}
	switch value[string](t, m.take("type")) {
	case "base64":
		data, err := base64.StdEncoding.Strict().DecodeString(value[string](t, m.take("data")))
		if err != nil {
			return false
		}
		media.Data = data
	case "text":
		media.Data = []byte(value[string](t, m.take("data")))
	case "url":
		media.URL = value[string](t, m.take("url"))
	case "file":
		media.FileID = value[string](t, m.take("file_id"))
	default:
		return false
	}
	p.Kind, p.Media = wire.PartMedia, media
	return len(m) == 0
}

// readTool reads the definition of a tool. One without a schema is the vendor's.
func readTool(t testing.TB, raw string) (tool wire.Tool) {
	t.Helper()
	m := membersOf(t, raw)
	if m.get("input_schema") == "" {
		tool.Vendor = raw
		if tool.Cache = m.mark(); tool.Cache != nil {
			tool.Vendor = m.object()
		}
		return tool
	}
	tool.Name = value[string](t, m.take("name"))
	if m.get("description") != `""` { // which a Tool says only among the vendor's members
		tool.Description = value[string](t, m.take("description"))
	}
	tool.Schema = m.take("input_schema")
	tool.Strict = optional[bool](t, m.take("strict"))
	tool.Cache = m.mark()
	tool.Vendor = m.object()
	return tool
}
