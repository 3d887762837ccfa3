package openaichat

import (
	"strings"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/internal/codec"
	"github.com/handwire/handwire/wire/internal/jsonw"
)

func isImage(m *wire.Media) bool {
	t := m.MediaType()
	return t == "" || strings.HasPrefix(t, "image/")
}

// omitted is the line that stands for media that the server does not take, "" for
// those that it does.
func (e *encoder) omitted(m *wire.Media) string {
	switch {
	case m == nil:
	case !isImage(m):
		if e.profile.NoFiles && !strings.HasPrefix(m.MediaType(), "text/") {
			return noFiles
		}
	case e.profile.NoImages || e.family.blind:
		return noVision
	case m.FileID != "" && e.profile.NoFiles:
		return noFiles
	case e.profile.NoImageURLs && m.URL != "" && !hasScheme(m.URL, dataScheme):
		return linkBegins + m.URL + ")"
	}
	return ""
}

// tellOmitted tells of media that became a line of text: what an address is left
// of was converted, of the rest nothing is left.
func (e *encoder) tellOmitted(line string, at codec.Place) {
	code := wire.NoteDropped
	if strings.HasPrefix(line, linkBegins) {
		code = wire.NoteConverted
	}
	e.Note(code, at.String(), line)
}

// media writes an image, a document or a sound.
func (e *encoder) media(c *content, p *wire.Part, own bool, at codec.Place) {
	e.local(p.Media, at)
	if s := e.omitted(p.Media); s != "" {
		e.tellOmitted(s, at)
		if c.parts {
			e.next(c)
			e.Lit(`{"type":"text","text":`)
			e.Str(s)
			e.Lit(`}`)
		} else {
			e.joined(c, s)
		}
		return
	}
	m, typ := e.Media(p, at)
	if len(m.Data) > 0 && typ == "" {
		e.Refuse(at.String()+".media.type", "the type of the data is unknown", "set Media.Type")
	}
	switch {
	case !isImage(m), m.FileID != "":
	case typ != "" && !imageType(typ):
		e.Refuse(at.String()+".media.type", "the protocol takes PNG, JPEG, WEBP and GIF, not "+typ, "convert it")
	case typ == "" && hasScheme(m.URL, dataScheme) && !imageType(dataType(m.URL)):
		e.Refuse(at.String()+".media.url", "the protocol takes PNG, JPEG, WEBP and GIF", "convert it, or set Media.Type if it is no image")
	}
	e.next(c)
	titled, detailed, kind := false, false, "file"
	switch {
	case m.FileID != "":
		e.Lit(`{"type":"file","file":{"file_id":`)
		e.Str(m.FileID)
		e.Lit(`}`)
	case isImage(m):
		kind = "image_url"
		e.Lit(`{"type":"image_url","image_url":{"url":`)
		if m.URL != "" {
			e.Str(m.URL)
		} else {
			e.dataURL(typ, m.Data)
		}
		if detailed = m.Detail != ""; detailed {
			e.Lit(`,"detail":`)
			e.Str(m.Detail)
		}
		e.Lit(`}`)
	case m.URL != "" && !hasScheme(m.URL, dataScheme):
		e.Refuse(at.String()+".media.url", "the protocol takes the address of an image alone", "give the bytes")
		e.Lit(`{"type":"file","file":{}`)
	case m.URL != "" && (strings.HasPrefix(typ, "audio/") || strings.HasPrefix(typ, "text/")):
		e.Refuse(at.String()+".media.url", "the protocol takes no data URL of "+typ, "give the bytes")
		e.Lit(`{"type":"file","file":{}`)
	case strings.HasPrefix(typ, "audio/"):
		kind = "input_audio"
		e.Lit(`{"type":"input_audio","input_audio":{"data":`)
		e.B = jsonw.AppendBase64(e.B, m.Data)
		switch typ {
		case "audio/wav", "audio/x-wav", "audio/wave":
			e.Lit(`,"format":"wav"}`)
		case "audio/mpeg", "audio/mp3":
			e.Lit(`,"format":"mp3"}`)
		default:
			e.Refuse(at.String()+".media.type", "the protocol takes WAV and MP3, not "+typ, "convert it")
			e.Lit(`}`)
		}
	case strings.HasPrefix(typ, "text/"):
		e.Note(wire.NoteConverted, at.String(), typ+" is sent as text")
		kind = "text"
		e.Lit(`{"type":"text","text":`)
		e.Str(string(m.Data))
	default:
		e.Lit(`{"type":"file","file":{"filename":`)
		if titled = m.Name != ""; titled {
			e.Str(m.Name)
		} else {
			e.Lit(`"file"`)
			e.Note(wire.NoteInserted, at.String()+".media.name", "the protocol demands a name; sent as file")
		}
		e.Lit(`,"file_data":`)
		if m.URL != "" {
			e.Str(m.URL)
		} else {
			e.dataURL(typ, m.Data)
		}
		e.Lit(`}`)
	}
	if m.Name != "" && !titled {
		e.Dropped(at.String()+".media.name", "there is no place for it")
	}
	if m.Detail != "" && !detailed {
		e.Dropped(at.String()+".media.detail", "only an image has it")
	}
	if p.Vendor != "" {
		if own {
			mark := ""
			if p.Cache != nil && e.family.marks {
				mark = "prompt_cache_breakpoint"
			}
			e.members(p.Vendor, at, "", "type", kind, mark)
		} else {
			e.Dropped(at.String()+".vendor", fates[foreign])
		}
	}
	switch {
	case p.Cache == nil:
	case e.family.marks:
		e.breakpoint(p.Cache.TTL, at)
	default:
		e.Dropped(at.String()+".cache", "a text alone can carry a cache mark")
	}
	e.Lit(`}`)
}

// The beginnings of addresses that are none of another host's.
const (
	dataScheme = "data:"
	fileScheme = "file:"
)

// hasScheme reports whether an address begins with a scheme and its colon.
func hasScheme(url, scheme string) bool {
	return len(url) >= len(scheme) && strings.EqualFold(url[:len(scheme)], scheme)
}

// local refuses media that the server would have to read from the caller's disk.
func (e *encoder) local(m *wire.Media, at codec.Place) {
	if m != nil && hasScheme(m.URL, fileScheme) {
		e.Refuse(at.String()+".media.url", "a server cannot read a file of the caller's", "give the bytes")
	}
}

// imageType reports whether the protocol takes images of a type.
func imageType(typ string) bool {
	switch typ {
	case "image/png", "image/jpeg", "image/jpg", "image/webp", "image/gif":
		return true
	}
	return false
}

// dataType is the media type that a data URL names.
func dataType(url string) string {
	url = url[len(dataScheme):]
	if i := strings.IndexAny(url, ";,"); i >= 0 {
		url = url[:i]
	}
	return strings.ToLower(url)
}

// dataURL writes bytes as a string.
func (e *encoder) dataURL(typ string, data []byte) {
	e.Str("data:")
	e.more(typ)
	e.more(";base64,")
	n := len(e.B) - 2
	last := e.B[n]
	e.B = jsonw.AppendBase64(e.B[:n], data)
	e.B[n] = last
}
