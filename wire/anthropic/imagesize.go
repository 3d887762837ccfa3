package anthropic

import (
	"github.com/handwire/handwire/wire"
)

func be16(b []byte) int { return int(b[0])<<8 | int(b[1]) }
func le16(b []byte) int { return int(b[1])<<8 | int(b[0]) }

// imageSize reads width and height from the head of a PNG, JPEG, GIF or WebP
// image, 0 if they cannot be read.
func imageSize(b []byte) (w, h int) {
	switch wire.SniffImage(b) {
	case "image/png":
		if len(b) >= 24 && string(b[12:16]) == "IHDR" {
			return be16(b[16:])<<16 | be16(b[18:]), be16(b[20:])<<16 | be16(b[22:])
		}
	case "image/gif":
		if len(b) >= 10 {
			return le16(b[6:]), le16(b[8:])
		}
	case "image/jpeg":
		return jpegSize(b)
	case "image/webp":
		if len(b) < 30 {
			return 0, 0
		}
		switch string(b[12:16]) {
		case "VP8X":
			return 1 + le16(b[24:]) + int(b[26])<<16, 1 + le16(b[27:]) + int(b[29])<<16
		case "VP8L":
			if b[20] == 0x2f {
				n := le16(b[21:]) | le16(b[23:])<<16
				return 1 + n&0x3fff, 1 + n>>14&0x3fff
			}
		case "VP8 ":
			if string(b[23:26]) == "\x9d\x01\x2a" {
				return le16(b[26:]) & 0x3fff, le16(b[28:]) & 0x3fff
			}
		}
	}
	return 0, 0
}

// jpegSize looks for the frame header among the first thousand segments.
func jpegSize(b []byte) (w, h int) {
	for i, n := 2, 0; i+9 <= len(b) && n < 1000 && b[i] == 0xff; n++ {
		switch m := b[i+1]; {
		case m == 0xff: // a fill byte
			i++
		case m == 0x01, m >= 0xd0 && m <= 0xd8: // markers that stand alone
			i += 2
		case m == 0xd9, m == 0xda: // the end, or the data
			return 0, 0
		case m >= 0xc0 && m <= 0xcf && m != 0xc4 && m != 0xc8 && m != 0xcc:
			return be16(b[i+7:]), be16(b[i+5:])
		default:
			i += 2 + max(2, be16(b[i+2:]))
		}
	}
	return 0, 0
}
