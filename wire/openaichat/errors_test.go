package openaichat_test

import (
	"strings"
	"testing"
	"time"

	"github.com/handwire/handwire/wire"
	"github.com/handwire/handwire/wire/openaichat"
)

func TestDecodeError(t *testing.T) {
	for _, c := range []struct {
		name    string
		status  int
		body    string
		class   wire.Class
		message string // part of it
		code    string
		typ     string
		in, max int64
	}{
		{"F91 quota", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, wire.ClassQuota, "current quota", "insufficient_quota", "insufficient_quota", 0, 0},
		{"a rate limit", 429, `{"error":{"message":"Slow down.","type":"requests","code":"rate_limit_exceeded"}}`, wire.ClassRateLimit, "Slow down.", "rate_limit_exceeded", "requests", 0, 0},
		{"an empty purse", 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}`, wire.ClassQuota, "Insufficient", "invalid_request_error", "unknown_error", 0, 0},
		{"Z.ai, rate", 429, `{"error":{"code":"1302","message":"并发"},"request_id":"r"}`, wire.ClassRateLimit, "并发", "1302", "", 0, 0},
		{"Z.ai, plan used up", 429, `{"error":{"code":"1308","message":"x"}}`, wire.ClassQuota, "x", "1308", "", 0, 0},
		{"Moonshot, overloaded", 429, `{"error":{"message":"m","type":"engine_overloaded_error"}}`, wire.ClassOverloaded, "m", "", "engine_overloaded_error", 0, 0},
		{"F92 overload", 529, `{"error":{"message":"Overloaded"}}`, wire.ClassOverloaded, "Overloaded", "", "", 0, 0},
		{"Groq, flex capacity", 498, `{"error":{"message":"m","type":"x"}}`, wire.ClassOverloaded, "m", "", "x", 0, 0},
		{"F93 HTML", 502, "<html><h1>502 Bad Gateway</h1></html>", wire.ClassServer, "status 502", "", "", 0, 0},
		{"F93 nothing", 500, "", wire.ClassServer, "status 500", "", "", 0, 0},
		{"F94 number as code", 400, `{"error":{"message":"m1","code":400}}`, wire.ClassBadRequest, "m1", "400", "", 0, 0},
		{"F94 text", 400, `{"error":"m2"}`, wire.ClassBadRequest, "m2", "", "", 0, 0},
		{"F94 flat", 400, `{"message":"m3"}`, wire.ClassBadRequest, "m3", "", "", 0, 0},
		{"F94 list", 429, `[{"error":{"code":429,"message":"m4","status":"RESOURCE_EXHAUSTED"}}]`, wire.ClassRateLimit, "m4", "429", "RESOURCE_EXHAUSTED", 0, 0},
		{"F94 detail", 422, `{"detail":"m5"}`, wire.ClassBadRequest, "m5", "", "", 0, 0},
		{"F94 null", 400, `{"error":{"message":null}}`, wire.ClassBadRequest, "status 400", "", "", 0, 0},
		{"details of a validation", 422, `{"detail":[{"type":"missing","loc":["body","x",0],"msg":"Field required"}]}`, wire.ClassBadRequest, "body x 0 Field required", "", "", 0, 0},
		{"a message that is an object", 422, `{"object":"error","message":{"detail":[{"msg":"no such field","loc":["seed"]}]},"type":"invalid_request_error"}`, wire.ClassBadRequest, "seed no such field", "", "invalid_request_error", 0, 0},
		{"F98 OpenAI", 400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130221 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`, wire.ClassOverflow, "maximum", "context_length_exceeded", "invalid_request_error", 130221, 128000},
		{"F98 by text", 400, `{"error":{"message":"Your input EXCEEDS the context window of this model."}}`, wire.ClassOverflow, "", "", "", 0, 0},
		{"F98 llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}`, wire.ClassOverflow, "", "400", "exceed_context_size_error", 9000, 8192},
		{"F98 llama.cpp while generating", 500, `{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`, wire.ClassOverflow, "", "500", "server_error", 0, 0},
		{"F98 Copilot", 400, `{"error":{"message":"prompt token count of 70000 exceeds the limit of 64000"}}`, wire.ClassOverflow, "", "", "", 70000, 64000},
		{"F98 Mistral", 400, `{"object":"error","message":"Prompt contains 40000 tokens, too large for model with 32768 maximum context length","type":"invalid_request_error","code":"3051"}`, wire.ClassOverflow, "", "3051", "invalid_request_error", 40000, 32768},
		{"F98 Moonshot", 400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)","type":"invalid_request_error"}}`, wire.ClassOverflow, "", "", "invalid_request_error", 300000, 262144},
		{"F98 a gateway", 400, `{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, wire.ClassOverflow, "", "", "", 210000, 200000},
		{"F98 Gemini", 400, `[{"error":{"code":400,"message":"The input token count (1050000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, wire.ClassOverflow, "", "400", "INVALID_ARGUMENT", 1050000, 1048576},
		{"F98 rate, not size", 429, `{"error":{"message":"Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Too many tokens.","type":"tokens","code":"rate_limit_exceeded"}}`, wire.ClassRateLimit, "", "rate_limit_exceeded", "tokens", 0, 0},
		{"larger than the rate", 429, `{"error":{"message":"Request too large for m on tokens per min (TPM): Limit 30000, Requested 51000.","type":"tokens","code":"rate_limit_exceeded"}}`, wire.ClassOverflow, "", "rate_limit_exceeded", "tokens", 51000, 30000},
		{"F98 body", 413, "", wire.ClassOverflow, "413", "", "", 0, 0},
		{"a router in front", 429, `{"error":{"code":429,"message":"Provider returned error","metadata":{"provider_name":"X","raw":"{\"error\":{\"message\":\"You are out of it\",\"type\":\"insufficient_quota\"}}"}}}`, wire.ClassQuota, "You are out of it", "429", "", 0, 0},
		{"a router in front of an overflow", 400, `{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":{"message":"maximum context length is 10 tokens"}}}}`, wire.ClassOverflow, "maximum context", "400", "", 0, 10},
		{"a filter", 400, `{"error":{"code":"content_filter","message":"m","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, wire.ClassContentFilter, "m", "content_filter", "", 0, 0},
		{"DeepSeek's key", 401, `{"error":{"message":"no","type":"authentication_error","param":null,"code":"invalid_request_error"}}`, wire.ClassAuth, "no", "invalid_request_error", "authentication_error", 0, 0},
		{"Azure's key", 401, `{"statusCode":401,"message":"no"}`, wire.ClassAuth, "no", "", "", 0, 0},
		{"a deployment", 404, `{"error":{"type":"invalid_request_error","code":"DeploymentNotFound","message":"m"}}`, wire.ClassNotFound, "m", "DeploymentNotFound", "invalid_request_error", 0, 0},
		{"Groq's call", 400, `{"error":{"code":"tool_use_failed","failed_generation":"x","message":"m","type":"invalid_request_error"}}`, wire.ClassServer, "m", "tool_use_failed", "invalid_request_error", 0, 0},
		{"xAI", 200, `{"code":"The service is currently unavailable","error":"m"}`, wire.ClassOverloaded, "m", "The service is currently unavailable", "", 0, 0},
		{"MiniMax", 200, `{"base_resp":{"status_code":1008,"status_msg":"m"}}`, wire.ClassQuota, "m", "1008", "", 0, 0},
		{"loading", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, wire.ClassOverloaded, "Loading", "503", "unavailable_error", 0, 0},
		{"an error within an error", 400, `{"error":"400 Bad Request","status":400,"details":{"error":{"message":"azure: Invalid image data.","code":"BadRequest"}}}`, wire.ClassBadRequest, "azure: Invalid image data.", "", "", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := openCodec.DecodeError(wire.Head{Status: c.status}, []byte(c.body))
			if e.Cause != wire.CauseVendor || e.Status != c.status || e.Class != c.class || !strings.Contains(e.Message, c.message) || e.Message == "" ||
				e.Code != c.code || e.Type != c.typ || e.InputTokens != c.in || e.LimitTokens != c.max || strings.Contains(e.Message, "<nil>") {
				t.Errorf("%+v", e)
			}
		})
	}
}

// TestToldDelay: a wait that the message asks for is one, where waiting helps.
func TestToldDelay(t *testing.T) {
	for _, tt := range []struct {
		name string
		body string
		want time.Duration
	}{
		{"in words", `{"error":{"message":"Rate limit reached. Please try again in 1.5s.","code":"rate_limit_exceeded"}}`, 1500 * time.Millisecond},
		{"in a member", `[{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.4s"}]}}]`, 34400 * time.Millisecond},
		{"of a quota", `{"error":{"message":"Please try again in 1.5s.","code":"insufficient_quota"}}`, 0},
		{"of an overflow", `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again in 1s.","code":"context_length_exceeded"}}`, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := openaichat.Codec{}.DecodeError(wire.Head{Status: 429}, []byte(tt.body))
			if e.RetryAfter != tt.want {
				t.Errorf("%v: got %v, want %v", e, e.RetryAfter, tt.want)
			}
		})
	}
}
