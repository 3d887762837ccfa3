// Package retry answers whether a failed request may be tried again, and when.
// It does arithmetic only: it sends nothing, sleeps nowhere, starts no goroutine
// and reads no clock; times are always arguments, and the waiting is the
// caller's. It knows headers by name and needs no net/http.
//
// [Status] tells whether a response is of the kind that another attempt can
// better, [After] how long its server wishes to be left alone, and a [Policy]
// makes of both, of the count of the attempts and of the time gone by either a
// wait or a reason to [Stop]. A [Budget] is shared by clients, so that together
// they do not press a server that is down.
//
// A caller loops with them like this:
//
//	begin := time.Now()
//	for attempt := 1; ; attempt++ {
//		resp, err := send(ctx)
//		if err == nil && resp.StatusCode < 400 {
//			policy.Budget.Succeeded()
//			return resp, nil
//		}
//		v := retry.Verdict{Elapsed: time.Since(begin)}
//		if err != nil { // no response
//			v.Retry = ctx.Err() == nil
//		} else {
//			v.Retry = retry.Status(resp.StatusCode, resp.Header.Get)
//			v.After, _ = retry.After(resp.Header.Get, time.Now())
//			resp.Body.Close()
//		}
//		wait, stop := policy.Next(attempt, v)
//		if stop != "" {
//			return nil, fail(resp, err, stop.Detail())
//		}
//		select {
//		case <-time.After(wait):
//		case <-ctx.Done():
//			return nil, ctx.Err()
//		}
//	}
//
// What the package cannot know, the caller puts into Verdict.Retry: that the
// body of a 429 speaks of an empty account, that a context was cancelled, that a
// part of the answer has already been shown to somebody. In each of these cases
// there is no retry, whatever status and headers say.
package retry
