package retry_test

import (
	"testing"

	"github.com/handwire/handwire/retry"
)

func TestStatus(t *testing.T) {
	for code := -1; code <= 1000; code++ {
		want := false
		switch code {
		case 408, 429:
			want = true
		case 501, 505, 506, 508, 510, 511:
		default:
			want = code >= 500 && code <= 599
		}
		if got := retry.Status(code, nil); got != want {
			t.Errorf("Status(%d, nil): got %v", code, got)
		}
		if got := retry.Status(code, headers("Retry-After: 1")); got != want {
			t.Errorf("Status(%d) without x-should-retry: got %v", code, got)
		}
		failed := code >= 400 && code <= 599
		if got := retry.Status(code, headers("X-Should-Retry: true")); got != failed {
			t.Errorf("Status(%d) with true: got %v", code, got)
		}
		if retry.Status(code, headers("X-Should-Retry: false")) {
			t.Errorf("Status(%d) with false: got true", code)
		}
		if got := retry.Status(code, headers("X-Should-Retry: perhaps")); got != want {
			t.Errorf("Status(%d) with an unknown word: got %v", code, got)
		}
	}
	if !retry.Status(409, headers("X-Should-Retry:  True ")) {
		t.Error("Status: spaces and case of x-should-retry count")
	}
}
