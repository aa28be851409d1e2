package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/internal/scripted"
)

// A fault is what an endpoint does instead of answering.
type fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// first makes the faults happen to the first requests, one each.
func first(faults ...fault) func(http.Handler) http.Handler {
	var requests atomic.Int64
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n := int(requests.Add(1)); n <= len(faults) {
				faults[n-1](w, r, next)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func status(code int, body string, header ...string) fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		io.Copy(io.Discard, r.Body)
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// events answers with the text of a stream, then breaks the connection.
func events(text string) fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, text)
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

func hangUp(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

const (
	overloaded = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
	limited    = `{"error":{"type":"requests","code":"rate_limit_exceeded","message":"Slow down"}}`
	noQuota    = `{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"Pay first"}}`
	tooLong    = `{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`
	badRequest = `{"error":{"type":"invalid_request_error","message":"What?"}}`
	halfChat   = "data: {\"choices\":[{\"delta\":{\"content\":\"I thi\"}}]}\n\n"
	halfTurn   = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"I thi\"}}\n\n"
)

// TestFaults checks what is tried again, after how long, and what is not.
func TestFaults(t *testing.T) {
	soon := [2]time.Duration{300 * time.Millisecond, 500 * time.Millisecond}
	exactly := func(d time.Duration) [2]time.Duration { return [2]time.Duration{d, d} }
	for _, tt := range []struct {
		name   string
		faults []fault
		waits  [][2]time.Duration // from, to
		fails  string
	}{
		{"seconds to wait", []fault{status(429, limited, "Retry-After", "2")}, [][2]time.Duration{exactly(2 * time.Second)}, ""},
		{"milliseconds to wait", []fault{status(429, limited, "Retry-After-Ms", "150", "Retry-After", "9")}, [][2]time.Duration{exactly(150 * time.Millisecond)}, ""},
		{"fractions of a second", []fault{status(429, limited, "Retry-After", "0.5")}, [][2]time.Duration{exactly(time.Second / 2)}, ""},
		{"a date in the past", []fault{status(503, "", "Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT")}, [][2]time.Duration{exactly(0)}, ""},
		{"no time", []fault{status(500, "oops")}, [][2]time.Duration{soon}, ""},
		{"overloaded, twice", []fault{status(529, overloaded), status(529, overloaded)}, [][2]time.Duration{soon, {700 * time.Millisecond, time.Second}}, ""},
		{"lost before the answer", []fault{hangUp}, [][2]time.Duration{soon}, ""},
		{"page of a proxy", []fault{status(502, "<html>Bad gateway")}, [][2]time.Duration{soon}, ""},
		{"told to try again", []fault{status(400, badRequest, "X-Should-Retry", "true")}, [][2]time.Duration{soon}, ""},
		{"told not to", []fault{status(500, "oops", "X-Should-Retry", "false")}, nil, "500 Internal Server Error: oops"},
		{"wrong request", []fault{status(400, badRequest)}, nil, "400 Bad Request: invalid_request_error: What?"},
		{"wrong key", []fault{status(401, badRequest)}, nil, "(check the key)"},
		{"too long a conversation", []fault{status(400, tooLong)}, nil, "prompt is too long: 210000 tokens > 200000 maximum (the conversation is too long for the model: start the agent again)"},
		{"no quota", []fault{status(429, noQuota)}, nil, "Pay first"},
		{"too long to wait", []fault{status(429, limited, "Retry-After", "3600")}, nil, "Slow down"},
		{"for ever", []fault{status(500, ""), status(500, ""), status(500, ""), status(500, ""), status(500, ""), status(500, "")},
			[][2]time.Duration{soon, {0, time.Hour}, {0, time.Hour}, {0, time.Hour}, {0, time.Hour}}, "after 6 attempts: 500"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, api := range apis {
				r := newRig(t, api, turns(), first(tt.faults...))
				err := r.work(t.Context(), "go")
				checkFault(t, api, r, err, tt.waits, tt.fails)
			}
		})
	}
}

func checkFault(t *testing.T, api string, r *rig, err error, waits [][2]time.Duration, fails string) {
	t.Helper()
	if fails == "" && err != nil || fails != "" && (err == nil || !strings.Contains(err.Error(), fails)) {
		t.Errorf("%s: error %v, want %q", api, err, fails)
	}
	if len(r.slept) != len(waits) {
		t.Fatalf("%s: waited %v, want %d waits", api, r.slept, len(waits))
	}
	for i, w := range waits {
		if d := r.slept[i]; d < w[0] || d > w[1] {
			t.Errorf("%s: wait %d was %v, want %v to %v", api, i, d, w[0], w[1])
		}
	}
	if n := strings.Count(r.out.String(), "trying again in"); n != len(waits) {
		t.Errorf("%s: the user was told %d times of %d", api, n, len(waits))
	}
}

// TestBrokenStreams breaks off in the middle of the model's turn: the turn is
// asked for again, and what there was of it is no part of the conversation.
func TestBrokenStreams(t *testing.T) {
	for _, tt := range []struct{ name, chat, messages string }{
		{"connection lost", halfChat, halfTurn},
		{"error event", halfChat + "data: " + overloaded + "\n\n", halfTurn + "event: error\ndata: " + overloaded + "\n\n"},
		{"ended too early", halfChat + "data: [DONE]\n\n", halfTurn + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
		{"no JSON", "data: {\"choices\n\n", "data: {\n\n"},
		{"delta before its block", "data: {\"error\":null}\n\n", "data: {\"type\":\"content_block_delta\",\"delta\":{}}\n\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for api, text := range map[string]string{"openai": tt.chat, "anthropic": tt.messages} {
				r := newRig(t, api, turns(), first(events(text)))
				if err := r.work(t.Context(), "go"); err != nil {
					t.Fatalf("%s: %v", api, err)
				}
				if len(r.slept) != 1 || len(r.last()) != 1 {
					t.Errorf("%s: waited %v; conversation %+v", api, r.slept, r.last())
				}
				if !strings.HasSuffix(r.out.String(), "model Done.\n") {
					t.Errorf("%s: output:\n%s", api, r.out)
				}
			}
		})
	}
}

// TestErrorEventThatStays is not worth another try.
func TestErrorEventThatStays(t *testing.T) {
	r := newRig(t, "openai", turns(), first(events("data: "+badRequest+"\n\n")))
	if err := r.work(t.Context(), "go"); err == nil || !strings.Contains(err.Error(), "What?") || len(r.slept) > 0 {
		t.Errorf("error %v after waits of %v", err, r.slept)
	}
}

// TestOtherServers reads streams as servers other than the vendor's write them.
func TestOtherServers(t *testing.T) {
	call := func(index, id, name, args string) string {
		return fmt.Sprintf(`{%s"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}`, index, id, name, args)
	}
	chunk := func(calls, reason string) string {
		return `data: {"choices":[{"delta":{"content":null,"tool_calls":[` + calls + `]},"finish_reason":` + reason + "}]}\n\n"
	}
	for _, tt := range []struct {
		name, stream string
		want         []string
	}{
		{"no index, whole calls", chunk(call("", "a", "f", "1")+","+call("", "b", "g", "2"), `"stop"`), []string{"a f 1", "b g 2"}},
		{"no index, in parts", chunk(call("", "a", "f", "1"), "null") + chunk(call("", "", "", "23"), `"tool_calls"`), []string{"a f 123"}},
		{"one index for all", chunk(call(`"index":0,`, "a", "f", "1"), "null") + chunk(call(`"index":0,`, "b", "g", "2"), `"stop"`), []string{"a f 1", "b g 2"}},
		{"no ids", chunk(call(`"index":0,`, "", "f", "1")+","+call(`"index":1,`, "", "g", "2"), `"stop"`), []string{"call_2_0 f 1", "call_2_1 g 2"}},
		{"indexes in disorder", chunk(call(`"index":1,`, "b", "g", "2"), "null") + chunk(call(`"index":0,`, "a", "f", "1"), "null") + chunk(call(`"index":1,`, "", "", "3"), `"stop"`), []string{"b g 23", "a f 1"}},
		{"comments and CR LF", ": keep-alive\r\n\r\n" + strings.ReplaceAll(chunk(call("", "a", "f", "1"), `"stop"`), "\n", "\r\n") + "data: [DONE]\r\n\r\n", []string{"a f 1"}},
		{"no end", strings.TrimSpace(chunk(call("", "a", "f", "1"), `"stop"`)), []string{"a f 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &chat{endpoint: endpoint{url: "http://x", header: http.Header{}, tell: func(string) {}}, messages: make([]any, 2)}
			c.client = scripted.Client(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, tt.stream)
			}))
			got, err := c.next(t.Context(), func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			var calls []string
			for _, c := range got.calls {
				calls = append(calls, fmt.Sprintf("%s %s %s", c.ID, c.Tool, c.Args))
			}
			if strings.Join(calls, ";") != strings.Join(tt.want, ";") {
				t.Errorf("calls %q, want %q", calls, tt.want)
			}
		})
	}
}

// TestThoughts sends a model's thoughts back as they came.
func TestThoughts(t *testing.T) {
	r := newRig(t, "anthropic", turns(), first(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"abc"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`,
			`{"type":"message_stop"}`,
		} {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}))
	if err := r.work(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	blocks := r.model.(*messages).list[1].(message).Content.([]block)
	if len(blocks) != 3 || *blocks[0].Thinking != "Hm." || *blocks[0].Signature != "abc" || blocks[1].Data != "xyz" {
		t.Errorf("content %+v", blocks)
	}
}

// TestSilence gives up on a server that sends nothing any more.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := endpoint{url: "http://x", header: http.Header{}, tell: func(string) {}}
		e.client = scripted.Client(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.Copy(io.Discard, r.Body) // or the end of the connection is not seen
			io.WriteString(w, "data: 1\n\n")
			<-r.Context().Done()
		}))
		start := time.Now()
		err := e.stream(t.Context(), nil, func(event) error { return nil }, nil)
		if !errors.Is(err, errSilence) || time.Since(start) != maxSilence {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

func TestWaitEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var e endpoint
		if err := e.wait(ctx, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if err := e.wait(t.Context(), time.Minute); err != nil {
			t.Errorf("error %v", err)
		}
	})
}

func FuzzReadEvents(f *testing.F) {
	f.Add(halfTurn)
	f.Add("data: a\ndata:b\r\n\r\n: x\nevent: e\n\ndata")
	f.Fuzz(func(t *testing.T, s string) {
		var total int
		_ = readEvents(strings.NewReader(s), func(e event) error { total += len(e.data); return nil })
		if total > len(s) {
			t.Errorf("%d bytes of data from %d", total, len(s))
		}
		c, m := chatAnswer{say: func(string) {}}, messageAnswer{say: func(string) {}}
		_ = readEvents(strings.NewReader(s), c.event)
		_ = readEvents(strings.NewReader(s), m.event)
		c.finish(0, map[string]bool{})
		m.finish()
	})
}
