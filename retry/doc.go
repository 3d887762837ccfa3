// Package retry answers when a failed request may be tried again. It does
// arithmetic only: it sends nothing, sleeps nowhere, starts no goroutine and
// reads no clock; the time is always an argument.
//
// [After] reads how long a server wishes to be left alone.
package retry
