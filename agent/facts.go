package agent

import (
	"strings"

	"github.com/handwire/handwire/wire"
)

// Fact is one thing that a model is told about where it works, such as the working
// directory or the date.
type Fact struct{ Name, Value string }

// metaFacts marks the notice that holds the facts of a conversation.
const metaFacts = "facts"

// Facts returns a part for the system prompt that lists facts, in their order. The
// first call for a conversation keeps them in it, as a notice, and every later one
// returns the same part, whatever it is given: a date that changes from one turn
// to the next, or when a session is resumed, would change the beginning of every
// request, and with it lose the vendor's cache of it. To tell a model that a fact
// has changed, say it in a message. A fact without a value is left out; where none
// is left, the text of the part is empty.
func (c *Conversation) Facts(facts ...Fact) wire.Part {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.records {
		if text, ok := r.entry.Meta[metaFacts]; ok && r.entry.Role == RoleNotice {
			return wire.TextPart(text)
		}
	}
	var b strings.Builder
	for _, f := range facts {
		if f.Value == "" {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("Facts about where you work:")
		}
		b.WriteString("\n- " + oneLine(f.Name) + ": " + oneLine(f.Value))
	}
	c.push(Entry{Role: RoleNotice, Status: StatusComplete, Meta: map[string]string{metaFacts: b.String()}})
	return wire.TextPart(b.String())
}

// oneLine returns s with its line ends as blanks, so that a value is no second
// fact.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// EstimateTokens returns about how many tokens messages have for a model. It is an
// estimate and no more: a token to four bytes of text, and 1,500 to an image or
// file. Vendors that can count do it by the client's CountTokens, and what past
// turns cost is in their usage.
func EstimateTokens(messages []wire.Message) int {
	bytes, media := 0, 0
	var add func(parts []wire.Part)
	add = func(parts []wire.Part) {
		for i := range parts {
			p := &parts[i]
			bytes += 16 + len(p.Text) + len(p.Name) + len(p.Args) // and what stands around a part
			if p.Kind == wire.PartOpaque {
				bytes += len(p.Vendor)
			}
			if p.Media != nil {
				media++
			}
			add(p.Parts)
		}
	}
	for i := range messages {
		bytes += 16
		add(messages[i].Parts)
	}
	return (bytes+3)/4 + 1500*media
}
