package wire

// Cause says how a stream ended. Exactly one of them is finished.
type Cause string

// The causes.
const (
	CauseFinished  Cause = "finished"       // the vendor's terminal mark arrived
	CauseTruncated Cause = "truncated"      // the body ended cleanly before the terminal mark
	CauseReset     Cause = "reset"          // the connection broke
	CauseIdle      Cause = "idle"           // no byte came for too long
	CauseStalled   Cause = "stalled"        // bytes came, but no content for too long
	CauseCancelled Cause = "cancelled"      // the caller cancelled
	CauseDeadline  Cause = "deadline"       // the caller's time ran out
	CauseLimit     Cause = "limit"          // a stated limit of ours was reached
	CauseVendor    Cause = "vendor_error"   // the vendor said that it failed
	CauseProtocol  Cause = "protocol_error" // what came was not the protocol
	CauseConnect   Cause = "connect"        // no connection, or no answer on it
	CauseConfig    Cause = "config"         // refused before anything was sent
)

// FinishReason is why the model stopped, where it did.
type FinishReason string

// The finish reasons.
const (
	FinishStop          FinishReason = "stop"           // its natural end, or a stop sequence
	FinishLength        FinishReason = "length"         // a token limit, or the end of the context
	FinishToolCall      FinishReason = "tool_call"      // it waits for results
	FinishContentFilter FinishReason = "content_filter" // the vendor cut or withheld the output
	FinishRefusal       FinishReason = "refusal"        // the model declined
	FinishPause         FinishReason = "pause"          // to be continued: send the message back as it is
	FinishOther         FinishReason = "other"          // anything else; see Ending.VendorFinish
)

// Ending is how a message ended. It is kept on the message.
type Ending struct {
	Cause Cause `json:"cause"`
	// Finish is set if and only if Cause is finished.
	Finish FinishReason `json:"finish,omitempty"`
	// VendorFinish is the vendor's own word for it. It may be there without
	// Finish, where the stream was cut after the reason and before the end.
	VendorFinish string `json:"vendor_finish,omitempty"`
	// Detail is what the vendor adds: the stop sequence that matched, the
	// category of a refusal, a finish message.
	Detail string `json:"detail,omitempty"`
	// Err is set if and only if Cause is not finished.
	Err *Error `json:"error,omitempty"`
}
