package agent

// CloseFile closes the file of a conversation behind its back.
func CloseFile(c *Conversation) { c.log.f.Close() }
