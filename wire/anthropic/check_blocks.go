package anthropic

import (
	"strconv"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

// where is a place of blocks, or several.
type where uint8

const (
	inUser where = 1 << iota
	inAssistant
	inSystem
	inResult
)

func (w where) String() string {
	switch w {
	case inUser:
		return "a user message"
	case inAssistant:
		return "a message of the assistant's"
	case inSystem:
		return "a system message"
	}
	return "a result"
}

// homes returns where a block may stand: 2.3, and 2.2 for system messages. A
// type that it does not know may stand anywhere.
func homes(typ string) where {
	switch typ {
	case "image", "search_result":
		return inUser | inResult
	case "document":
		return inUser | inResult | inAssistant // of the assistant's by version
	case "tool_reference", "browser_state":
		return inResult
	case "tool_result":
		return inUser
	case "container_upload":
		return inUser | inAssistant
	case "thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use", "mcp_tool_result", "compaction", "fallback", "advisor_tool_result":
		return inAssistant
	case "tool_addition", "tool_removal":
		return inSystem
	}
	if serverResult(typ) {
		return inAssistant
	}
	return inUser | inAssistant | inSystem | inResult
}

// contents is what is counted over the whole request.
type contents struct {
	images int
	wide   []piece // images with a side over maxSide
	docs   []piece // documents without citations
	cited  bool    // there is a document with them
	source bool    // there is anything with them, search results included
}

const (
	manyImages = 20
	maxSide    = 2000 // of many images
	maxSideOne = 8000
)

func (c *checker) content() {
	var all contents
	for t := range c.runs {
		r := &c.runs[t]
		w := inUser
		switch r.role {
		case roleAssistant:
			w = inAssistant
		case roleSystem:
			w = inSystem
		}
		for i := r.from; i < r.to; i++ {
			b := &c.pieces[i]
			if b.fate != sent {
				continue
			}
			c.leaf(b, w, &all)
			if b.p.Kind != wire.PartToolResult {
				continue
			}
			for k := range b.p.Parts {
				in := c.inner(b, k)
				c.failed(&in, b)
				if in.fate == sent {
					c.leaf(&in, inResult, &all)
				} else {
					c.blankInner(&in)
				}
			}
		}
	}
	most := c.limits.images
	if most < 600 && c.beta("context-1m-") {
		most = 600
	}
	if all.images > most { // 2.3
		c.add(codec.Field("messages"), "", "at most "+strconv.Itoa(most)+" images in a request to this model, not "+strconv.Itoa(all.images), "leave out the older ones")
	}
	for i := range all.wide { // 2.3
		if b := &all.wide[i]; all.images > manyImages {
			c.add(b.at, ".media", "with more than 20 images in a request no side may be longer than 2000 pixels", "scale the image down, or leave out images of old turns")
		}
	}
	for i := range all.docs { // 5, on citations
		if b := &all.docs[i]; all.cited {
			c.add(b.at, "", "citations are on for all documents or for none, and they are off for this one", `put {"citations":{"enabled":true}} into its vendor object, or take it off the others`)
		}
	}
	if all.source && c.schemaWanted() { // 2.7
		c.add(codec.Field("output"), "", "an output format cannot be combined with citations", "switch the citations off, or ask for no format")
	}
}

// inner lays out part k of a result.
func (c *checker) inner(b *piece, k int) piece {
	p := &b.p.Parts[k]
	f := sent
	switch {
	case p.Kind == wire.PartText && codec.Blank(p.Text):
		f = textless
	case p.Kind == wire.PartMedia && b.p.IsError:
		f = misplaced
	case p.Kind != wire.PartText && p.Kind != wire.PartMedia && p.Kind != wire.PartOpaque:
		f = whatIsThat // Encode refuses it
	}
	return c.look(b.at.Inner(k), b.m, p, f)
}

// failed judges a part of the result of a failed tool. 2.3, which is not confirmed
// for the newest models.
func (c *checker) failed(b, result *piece) {
	if result.p.IsError && b.typ != "text" && b.typ != "" && b.fate != whatIsThat && !c.limits.bound {
		c.add(b.at, "", "the result of a failed tool holds text alone", "describe it in text, or do not mark the result as an error")
	}
}

// blankInner judges a text of a result that is not sent.
func (c *checker) blankInner(b *piece) {
	if b.fate != textless {
		return
	}
	if b.p.Text != "" && b.own { // 3.3; without any text it is an empty result, which is legal (2.3)
		c.add(b.at, "", "a text must have more than white space", "remove the part"+encodeOmits)
	}
	if b.p.Cache != nil { // 2.4
		c.add(b.at, ".cache", "an empty text cannot carry a cache mark", "mark a part that is sent")
	}
}

// leaf judges one piece that is sent.
func (c *checker) leaf(b *piece, w where, all *contents) {
	strict := c.e.codec.version() == Version20261021
	if b.p.Kind == wire.PartOpaque {
		switch {
		case homes(b.typ)&w == 0:
			c.add(b.at, "", w.String()+" cannot hold a block of type "+b.typ, "move it to where it belongs")
		case b.typ == "document" && w == inAssistant && strict: // 1.3
			c.add(b.at, "", "API version "+Version20261021+" takes no document in a message of the assistant's", "move it into a user message")
		case b.typ == "text" && codec.Blank(b.raw.Get("text").Str()): // 3.3
			c.add(b.at, "", "a text must have more than white space", "remove the part")
		case b.typ == "thinking" && b.raw.Get("signature").Str() == "": // 3.5T
			c.add(b.at, "", "thinking without a signature cannot go back", "remove the part, or give it as text")
		case (b.typ == "tool_addition" || b.typ == "tool_removal") && !c.beta("mid-conversation-tool-changes-", "inline-tools-"): // 2.2, 1.4
			c.add(b.at, "", "a block of type "+b.typ+" needs a beta", "add mid-conversation-tool-changes-2026-07-01 to Betas")
		}
	}
	if strict && w != inAssistant { // 1.3
		quotes := b.typ == "text" && cites(b.raw)
		if b.typ == "search_result" {
			for it := b.raw.Get("content").Items(); it.Next(); {
				quotes = quotes || cites(it.Value())
			}
		}
		if quotes {
			c.add(b.at, ".vendor", "API version "+Version20261021+" takes no citations on a user's text", "remove them")
		}
	}
	cited := b.raw.Get("citations").Get("enabled") == "true"
	switch b.typ {
	case "image":
		all.images++
	case "document":
		if all.cited = all.cited || cited; !cited {
			all.docs = append(all.docs, *b)
		}
	case "search_result":
	default:
		cited = false
	}
	all.source = all.source || cited
	if b.typ == "image" || b.typ == "document" {
		c.file(b, all)
	}
}

// cites reports whether a text block has citations.
func cites(v jsonw.Value) bool {
	for it := v.Get("citations").Items(); it.Next(); {
		return true
	}
	return false
}

// file judges the bytes of an image or a document.
func (c *checker) file(b *piece, all *contents) {
	_, most, base64Only := hostLimits(c.e.r.Endpoint)
	size, at := 0, ".media"
	m := b.p.Media
	if m == nil {
		at = ".vendor"
		size = max(0, len(b.raw.Get("source").Get("data"))-2)
	} else {
		size = (len(m.Data) + 2) / 3 * 4
		if base64Only && b.typ == "document" && (m.URL != "" || m.FileID != "") { // 2.3
			c.add(b.at, at, "this host takes documents as bytes alone", "fetch the document and give its bytes")
		}
	}
	if b.typ != "image" {
		return
	}
	if size > most { // 2.3
		c.add(b.at, at, "an image has at most "+strconv.Itoa(most>>20)+" MB in base64, not "+strconv.Itoa(size)+" bytes", "scale it down or compress it more")
	}
	if m == nil || len(m.Data) == 0 {
		return
	}
	switch typ := m.MediaType(); typ {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		if wire.SniffImage(m.Data) == "" { // 2.3: the type must be that of the bytes
			c.add(b.at, ".media", "the bytes are no "+typ+", and a wrong type is refused", "give the bytes of a PNG, JPEG, GIF or WebP image")
		}
	}
	w, h := imageSize(m.Data)
	switch side := max(w, h); {
	case side > maxSideOne: // 2.3
		c.add(b.at, ".media", "no side of an image may be longer than 8000 pixels, and this one has "+strconv.Itoa(w)+" × "+strconv.Itoa(h), "scale it down")
	case side > maxSide:
		all.wide = append(all.wide, *b)
	}
}
