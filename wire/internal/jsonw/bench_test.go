package jsonw_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/handwire/handwire/wire/internal/jsonw"
	"github.com/tidwall/gjson"
)

var frames = []struct{ name, text string }{
	{"delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"The quick brown fox jumps over"}}`},
	{"chat", `{"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWx","object":"chat.completion.chunk","created":1790000000,"model":"bench-model-2026-01-01","service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"content":" lazy"},"logprobs":null,"finish_reason":null}],"obfuscation":"abcdef"}`},
	{"long", `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"` + strings.Repeat(`some longer text that a tool call writes into a file,\n`, 40) + `"}}`},
}

func BenchmarkCheck(b *testing.B) {
	for _, f := range frames {
		data := []byte(f.text)
		run := func(name string, valid func([]byte) bool) {
			b.Run(f.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					if !valid(data) {
						b.Fatal("not valid")
					}
				}
			})
		}
		run("jsonw", func(d []byte) bool { return jsonw.CheckBytes(d) == nil })
		run("gjson", gjson.ValidBytes)
		run("std", json.Valid)
	}
}

// appendPlain is the least that writes a JSON string: a loop over the bytes
// that copies runs and does not look at UTF-8.
func appendPlain(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0
	for i := range len(s) {
		c := s[i]
		if c > 0x1f && c != '\\' && c != '"' {
			continue
		}
		dst = append(append(dst, s[done:i]...), '\\')
		done = i + 1
		switch c {
		case '\n':
			dst = append(dst, 'n')
		case '\t':
			dst = append(dst, 't')
		case '"', '\\':
			dst = append(dst, c)
		default:
			dst = append(dst, 'u', '0', '0', '0'+c>>4, "0123456789abcdef"[c&0xf])
		}
	}
	return append(append(dst, s[done:]...), '"')
}

func BenchmarkAppendString(b *testing.B) {
	for _, tt := range []struct{ name, text string }{
		{"id", "toolu_01A09q90qw90lq917835lq9"},
		{"word", "user"},
		{"prose", strings.Repeat("The quick brown fox jumps over the lazy dog, and then some more.\n", 16)},
		{"code", strings.Repeat("\tif err := f(\"x\"); err != nil {\n\t\treturn err\n\t}\n", 20)},
		{"args", `{"path":"cmd/main.go","old":"a := 1","new":"a := 2","n":3,"all":true}`},
		{"latin", strings.Repeat("Fünf größere Bücher über Äpfel\n", 32)},
		{"japanese", strings.Repeat("速い茶色の狐はのろまな犬を飛び越える。\n", 16)},
	} {
		run := func(name string, f func([]byte, string) []byte) {
			b.Run(tt.name+"/"+name, func(b *testing.B) {
				dst := make([]byte, 0, 4*len(tt.text)+16)
				b.SetBytes(int64(len(tt.text)))
				b.ReportAllocs()
				for b.Loop() {
					dst = f(dst[:0], tt.text)
				}
			})
		}
		run("jsonw", jsonw.AppendString)
		run("plain", appendPlain)
	}
}

func BenchmarkAppendRaw(b *testing.B) {
	for _, f := range frames {
		b.Run(f.name, func(b *testing.B) {
			dst := make([]byte, 0, len(f.text))
			b.SetBytes(int64(len(f.text)))
			for b.Loop() {
				dst, _, _ = jsonw.AppendRaw(dst[:0], f.text)
			}
		})
	}
}

func BenchmarkUnquote(b *testing.B) {
	for _, tt := range []struct{ name, raw string }{
		{"plain", `" lazy dog and"`},
		{"escapes", `"{\"path\":\"cmd/main.go\",\n\"old\":\"a\"}"`},
	} {
		b.Run(tt.name, func(b *testing.B) {
			dst := make([]byte, 0, len(tt.raw))
			b.SetBytes(int64(len(tt.raw)))
			for b.Loop() {
				dst, _ = jsonw.Unquote(dst[:0], tt.raw)
			}
		})
	}
}
