package retry_test

import (
	"fmt"
	"time"

	"github.com/handwire/handwire/retry"
)

func ExampleAfter() {
	response := map[string]string{"retry-after": "1.5"}
	wait, ok := retry.After(func(name string) string { return response[name] }, time.Now())
	fmt.Println(wait, ok)
	// Output: 1.5s true
}

// A client that sends until an answer is there or another attempt is of no use.
// It prints the waits instead of waiting.
func ExamplePolicy() {
	policy := &retry.Policy{
		Budget: retry.NewBudget(10, 0.1),
		Rand:   func() float64 { return 0.5 }, // left out in earnest
	}
	responses := []struct {
		status  int
		headers map[string]string
	}{
		{503, nil},
		{429, map[string]string{"retry-after": "7"}},
		{200, nil},
	}
	var elapsed time.Duration
	for attempt := 1; ; attempt++ {
		r := responses[attempt-1]
		if r.status < 400 {
			policy.Budget.Succeeded()
			fmt.Println(r.status, "after", elapsed)
			break
		}
		get := func(name string) string { return r.headers[name] }
		v := retry.Verdict{Retry: retry.Status(r.status, get), Elapsed: elapsed}
		v.After, _ = retry.After(get, time.Now())
		wait, stop := policy.Next(attempt, v)
		if stop != "" {
			fmt.Println(r.status, "at last:", stop.Detail())
			break
		}
		fmt.Println(r.status, "wait", wait)
		elapsed += wait
	}
	fmt.Println(policy.Budget.Tokens(), "tokens left")
	// Output:
	// 503 wait 250ms
	// 429 wait 7.25s
	// 200 after 7.5s
	// 8.1 tokens left
}

func ExampleStop_Detail() {
	var policy *retry.Policy // the defaults
	_, stop := policy.Next(1, retry.Verdict{Retry: true, After: 24 * time.Hour})
	fmt.Println(stop.Detail())
	// Output: the server asks for a longer wait than is waited for
}
