package sse

// Names returns how many event names d keeps.
func Names(d *Decoder) int { return len(d.names) }
