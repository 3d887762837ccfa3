// Package retry says whether and when a request that failed is sent again. It
// does no I/O and waits for nothing:
//
//	for attempt := 1; ; attempt++ {
//		resp, err := send()
//		if err == nil {
//			return resp, nil
//		}
//		wait, stop := policy.Next(attempt, retry.Verdict{
//			Retry:   retry.Status(resp.StatusCode, resp.Header.Get),
//			After:   after, // of [After]
//			Elapsed: time.Since(began),
//		})
//		if stop != "" {
//			return nil, err
//		}
//		time.Sleep(wait) // or what can be cancelled
//	}
//
// A server's wish comes from [After] and [Status], the rest from [Policy], and a
// [Budget] bounds what many clients do together. The client of package provider
// loops like this, and only up to the first part of an answer.
package retry
