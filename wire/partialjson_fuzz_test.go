package wire_test

import "testing"

func FuzzPartialJSON(f *testing.F) {
	for _, tt := range partialTests {
		f.Add(tt.in)
	}
	for _, doc := range partialDocuments {
		f.Add(doc)
		f.Add(doc[:len(doc)*2/3])
	}
	f.Add(`[1.5ee`)
	f.Fuzz(func(t *testing.T, s string) { checkPartial(t, s) })
}
