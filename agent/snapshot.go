package agent

import (
	"iter"

	"github.com/handwire/handwire/wire"
)

// Snapshot is a conversation as it stood at one moment. It does not change, and
// any number of goroutines may read it. Taking one costs no more than the parts
// of the answers that are being streamed: entries and texts are shared.
type Snapshot struct {
	records []*record
	live    []liveEntry
	version uint64
}

// liveEntry is an entry whose stream went on.
type liveEntry struct {
	at    int
	entry Entry
}

// Snapshot returns the conversation as it stands.
func (c *Conversation) Snapshot() Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.snapshot()
}

func (c *Conversation) snapshot() Snapshot {
	s := Snapshot{records: c.records, version: c.version}
	for _, i := range c.open {
		s.live = append(s.live, liveEntry{i, c.records[i].now()})
	}
	return s
}

// Version counts the changes that the conversation had seen.
func (s Snapshot) Version() uint64 { return s.version }

// Len returns how many entries there are.
func (s Snapshot) Len() int { return len(s.records) }

// Entry returns entry i, from 0.
func (s Snapshot) Entry(i int) Entry {
	for k := range s.live {
		if s.live[k].at == i {
			return s.live[k].entry
		}
	}
	return s.records[i].entry
}

// All returns the entries in their order.
func (s Snapshot) All() iter.Seq2[int, Entry] {
	return func(yield func(int, Entry) bool) {
		for i := range s.records {
			if !yield(i, s.Entry(i)) {
				return
			}
		}
	}
}

// Find returns the entry of an id.
func (s Snapshot) Find(id string) (Entry, bool) {
	for i := range s.records {
		if e := s.Entry(i); e.ID == id {
			return e, true
		}
	}
	return Entry{}, false
}

// Usage returns the sum of what the answers cost. A count that is unknown for
// one of them is unknown in the sum.
func (s Snapshot) Usage() wire.Usage {
	var sum wire.Usage
	counted := false
	for i := range s.records {
		e := s.Entry(i)
		if e.Role != RoleAssistant || e.Usage.IsZero() && e.Origin == nil {
			continue
		}
		sum, counted = addUsage(sum, e.Usage, counted), true
	}
	return sum
}

// addUsage returns the sum of two, or only the second if the first is none.
func addUsage(sum, u wire.Usage, counted bool) wire.Usage {
	u.Vendor = ""
	if !counted {
		return u
	}
	return wire.Usage{
		InputTokens:           sum.InputTokens.Add(u.InputTokens),
		UncachedInputTokens:   sum.UncachedInputTokens.Add(u.UncachedInputTokens),
		CacheReadTokens:       sum.CacheReadTokens.Add(u.CacheReadTokens),
		CacheCreationTokens:   sum.CacheCreationTokens.Add(u.CacheCreationTokens),
		CacheCreation1hTokens: sum.CacheCreation1hTokens.Add(u.CacheCreation1hTokens),
		OutputTokens:          sum.OutputTokens.Add(u.OutputTokens),
		ReasoningTokens:       sum.ReasoningTokens.Add(u.ReasoningTokens),
	}
}
