package provider

import (
	"bytes"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/handwire/handwire/retry"
	"github.com/handwire/handwire/wire"
)

const (
	// maxErrorBody is how much of the body of a failed response is read.
	maxErrorBody = 64 << 10
	// maxExcerpt is how much of an unreadable body an error shows, and
	// excerptTime how long to wait for it.
	maxExcerpt  = 300
	excerptTime = 250 * time.Millisecond
)

// body is a response body whose errors say what went wrong. It is closed once.
type body struct {
	rc   io.ReadCloser
	x    *exchange
	once sync.Once
}

func (b *body) Read(p []byte) (int, error) {
	b.x.watch.reading()
	n, err := b.rc.Read(p)
	b.x.watch.read()
	if err != nil && err != io.EOF {
		err = b.x.failure(err, wire.CauseReset)
	}
	return n, err
}

func (b *body) Close() (err error) {
	b.once.Do(func() { err = b.rc.Close() })
	return err
}

// refusal returns the error of a response whose status is not 2xx.
func (x *exchange) refusal() *wire.Error {
	h := x.resp.Header
	status := x.resp.StatusCode
	if loc := h.Get("Location"); status/100 == 3 && loc != "" {
		return x.redirect(loc)
	}
	after, asked := retry.After(h.Get, time.Now())
	var text []byte
	var readErr error
	encoding := x.encoding()
	if encoding == "" {
		text, readErr = x.readRefusal()
	}
	if e := x.interrupted(readErr); e != nil {
		e.RetryAfter = after
		return x.described(e)
	}
	// What a codec quotes may be cut within the key, so it is hidden before.
	// Stand-ins are left to the end: they might be words of the JSON itself.
	text = []byte(x.c.auth().mask.data(string(text)))
	e := *x.c.codec.DecodeError(wire.Head{Status: status, Framing: wire.FramingWhole, Get: x.header}, text)
	if e.Cause == "" {
		e.Cause = wire.CauseVendor
	}
	if e.Status == 0 {
		e.Status = status
	}
	if e.RequestID == "" {
		e.RequestID = x.requestID()
	}
	if asked { // which is more exact than words
		e.RetryAfter = after
	}
	if e.Err == nil && readErr != nil {
		e.Err = readErr
	}
	if e.Hint == "" {
		e.Hint = x.hint(e.Message, text, encoding)
	}
	return &e
}

// readRefusal reads the body of a response that refuses, or the beginning of a
// large one. A JSON document is over when it is whole: what follows, be it
// silence, changes nothing.
func (x *exchange) readRefusal() ([]byte, error) {
	var doc wire.PartialJSON
	text := make([]byte, 0, 1<<10)
	for {
		n, err := x.resp.Body.Read(text[len(text):min(cap(text), maxErrorBody)])
		doc.Write(string(text[len(text) : len(text)+n]))
		text = text[:len(text)+n]
		switch {
		case err == io.EOF:
			return text, nil
		case err != nil || len(text) == maxErrorBody:
			return text, err
		case doc.Complete() && strings.IndexByte("{[", bytes.TrimSpace(text)[0]) >= 0: // a text may begin with a number
			x.watch.stop()
			x.drain()
			return text, nil
		case len(text) == cap(text):
			text = slices.Grow(text, len(text))
		}
	}
}

// hint returns what to do about a response that refuses, "" if that is unknown.
func (x *exchange) hint(message string, text []byte, encoding string) string {
	auth := x.c.auth()
	path := x.req.URL.EscapedPath()
	switch status := x.resp.StatusCode; {
	case encoding != "":
		return encodingHint
	case (status == 401 || status == 403) && len(auth.header) == 0:
		return "no key was sent: set " + auth.hint
	case status == 401:
		return "check the key: " + auth.hint
	case status == 403:
		return "check the key and what it may do: " + auth.hint
	case isHTML(x.resp.Header.Get("Content-Type"), text):
		return htmlHint
	case x.tools && (status == 400 || status == 404 || status == 422) && deniesTools(message):
		return "the request has tools: check that the model and the server take them"
	case status == 404:
		return "check the model, and the address, whose path is " + path + ", and that the server speaks " + x.c.codec.Protocol()
	case status == 405:
		return "check the address: its path " + path + " takes no POST"
	case status == 413:
		return "the request body has " + strconv.Itoa(len(x.call.Body)) + " bytes: send less"
	}
	return ""
}

// deniesTools reports whether a vendor's message may say that there can be no
// tools.
func deniesTools(message string) bool {
	message = strings.ToLower(message)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(message, w) })
	}
	return has("tool", "function") && has("support", "enable", "allow")
}

const (
	connectHint     = "check the address, and whether the server runs"
	certificateHint = "the server's certificate is not trusted for this address: an authority of one's own is named in the TLS settings of Config.HTTP"
	htmlHint        = "a web page answered: check the base URL, and what stands between here and the server"
	encodingHint    = "leave the Accept-Encoding header to the transport, which then decodes the response"
)

// redirect returns the error of a redirect. It shows the scheme and host of the
// target and nothing else of it.
func (x *exchange) redirect(location string) *wire.Error {
	target := "an address that cannot be read"
	if u, err := url.Parse(location); err == nil {
		u = x.req.URL.ResolveReference(u)
		target = u.Scheme + "://" + u.Host
	}
	return &wire.Error{Cause: wire.CauseConfig, Status: x.resp.StatusCode, RequestID: x.requestID(),
		Message: "the server redirects to " + target,
		Hint:    "redirects are not followed, so that the key stays where it belongs: set the base URL to the address that is meant"}
}

// encoding returns the encoding of a body that the transport did not decode, ""
// if there is none.
func (x *exchange) encoding() string {
	var found []string
	for _, line := range x.resp.Header.Values("Content-Encoding") {
		for one := range strings.SplitSeq(line, ",") {
			if one = strings.TrimSpace(one); one != "" && !strings.EqualFold(one, "identity") {
				found = append(found, one)
			}
		}
	}
	return strings.Join(found, ", ")
}

// framing decides how the body of a 2xx response is read, and returns the
// reader to read it from.
func (x *exchange) framing() (wire.Framing, io.Reader, *wire.Error) {
	if encoding := x.encoding(); encoding != "" {
		e := x.unreadable("the response is encoded as " + cut(encoding, 100) + ", which the transport did not decode")
		e.Hint = encodingHint
		return "", nil, e
	}
	contentType := x.resp.Header.Get("Content-Type")
	media, _, _ := strings.Cut(contentType, ";")
	switch strings.ToLower(strings.TrimSpace(media)) {
	case "text/event-stream":
		return wire.FramingSSE, x.resp.Body, nil
	case "application/json":
		framing, src, _, e := x.sniff()
		if framing == "" {
			framing = wire.FramingWhole
		}
		return framing, src, e
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/stream+json":
		return wire.FramingLines, x.resp.Body, nil
	case "application/vnd.amazon.eventstream":
		return "", nil, x.unreadable("the response is an event stream of Amazon's binary form, for which there is no reader")
	case "":
		framing := x.call.Framing
		if framing == "" {
			framing = wire.FramingSSE
		}
		return framing, x.resp.Body, nil
	}
	framing, src, begin, e := x.sniff()
	if framing != "" || e != nil {
		return framing, src, e
	}
	return "", nil, x.wrongType(contentType, begin)
}

// sniff decides by the first bytes of the body, which it returns, with a reader
// of them and all that follows. The framing is "" if they are nothing known.
func (x *exchange) sniff() (framing wire.Framing, src io.Reader, begin []byte, e *wire.Error) {
	buf := make([]byte, 0, 1024)
	var err error
	for {
		framing, more := sniffed(buf)
		if framing != "" || !more || err == io.EOF || len(buf) == cap(buf) {
			// The mark is of no use to either framing, and JSON must not have one.
			read := bytes.TrimPrefix(buf, []byte(byteOrderMark))
			return framing, io.MultiReader(bytes.NewReader(read), x.resp.Body), buf, nil
		}
		if err != nil {
			return "", nil, nil, x.described(wire.AsError(err, wire.CauseReset))
		}
		var n int
		n, err = x.resp.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
	}
}

// wrongType returns the error of a body that begins with buf and is nothing
// known, once it has read enough of it to be shown.
func (x *exchange) wrongType(contentType string, buf []byte) *wire.Error {
	timer := time.AfterFunc(excerptTime, x.close)
	n, _ := io.ReadFull(x.resp.Body, buf[len(buf):cap(buf)])
	buf = buf[:len(buf)+n]
	timer.Stop()
	if e := x.interrupted(nil); e != nil {
		return e
	}
	e := x.unreadable("the response has the content type " + strconv.Quote(cut(contentType, 100)) + ", which is no answer of a model")
	e.Body = cut(x.c.auth().mask.text(strings.ToValidUTF8(string(buf), "\ufffd")), maxExcerpt)
	if isHTML(contentType, buf) {
		e.Hint = htmlHint
	}
	return e
}

// unreadable returns the error of a 2xx response that is not the protocol.
func (x *exchange) unreadable(message string) *wire.Error {
	return &wire.Error{Cause: wire.CauseProtocol, Status: x.resp.StatusCode, RequestID: x.requestID(),
		Message: message + ": POST " + plainURL(x.req.URL)}
}

const byteOrderMark = "\ufeff"

// sniffed says what a body that begins with b is, "" if it is nothing known.
// More tells that further bytes may change that.
func sniffed(b []byte) (framing wire.Framing, more bool) {
	s := string(b)
	if len(s) < len(byteOrderMark) && strings.HasPrefix(byteOrderMark, s) {
		return "", true
	}
	s = strings.TrimLeft(strings.TrimPrefix(s, byteOrderMark), " \t\r\n")
	switch {
	case s == "":
		return "", true
	case s[0] == '{' || s[0] == '[':
		return wire.FramingWhole, false
	}
	for _, field := range [...]string{"data:", "event:", "id:", "retry:", ":"} {
		if strings.HasPrefix(s, field) {
			return wire.FramingSSE, false
		}
		more = more || strings.HasPrefix(field, s)
	}
	return "", more
}

// isHTML reports whether a body is a web page.
func isHTML(contentType string, text []byte) bool {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	switch strings.TrimSpace(media) {
	case "text/html", "application/xhtml+xml":
		return true
	}
	begin := strings.ToLower(string(bytes.TrimSpace(text[:min(len(text), 200)])))
	return strings.HasPrefix(begin, "<!doctype html") || strings.HasPrefix(begin, "<html")
}
