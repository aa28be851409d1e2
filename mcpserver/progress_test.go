package mcpserver_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/mcpserver"
)

// reports runs programs, by progress token, and returns the notifications of each.
func reports(t *testing.T, programs map[string]string) map[string][]*mcp.ProgressNotificationParams {
	t.Helper()
	var mu sync.Mutex
	got := map[string][]*mcp.ProgressNotificationParams{}
	opts := &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		mu.Lock()
		defer mu.Unlock()
		token, _ := r.Params.ProgressToken.(string)
		got[token] = append(got[token], r.Params)
	}}
	c := connect(t, newServer(t, newFake(), &mcpserver.Options{KeepAlive: 300 * time.Millisecond}), opts)
	var calls sync.WaitGroup
	for token, code := range programs {
		timeout := 30000
		if code == "block" {
			timeout = 1500
		}
		params := &mcp.CallToolParams{Name: "run_code", Arguments: object("language", "python", "code", code, "timeoutMs", timeout)}
		if token != "" {
			params.SetProgressToken(token)
		}
		calls.Go(func() {
			if _, err := c.CallTool(t.Context(), params); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	mu.Lock()
	defer mu.Unlock()
	return got
}

func messages(list []*mcp.ProgressNotificationParams) string {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(p.Message)
	}
	return b.String()
}

func TestProgress(t *testing.T) {
	t.Parallel()
	got := reports(t, map[string]string{"": "ticks 60", "output": "ticks 60", "silence": "block", "flood": "flood 1000000", "image": "image 300"})
	if n := len(got[""]); n != 0 {
		t.Errorf("%d notifications that were not asked for", n)
	}
	for token, list := range got {
		last := -1.0
		for _, p := range list {
			if p.Progress <= last {
				t.Errorf("%s: progress went from %v to %v", token, last, p.Progress)
			}
			if last = p.Progress; len(p.Message) > 2200 {
				t.Errorf("%s: a message of %d bytes", token, len(p.Message))
			}
		}
		if most := int(last*4) + 2; len(list) > most {
			t.Errorf("%s: %d notifications in %v s", token, len(list), last)
		}
	}
	if text := messages(got["output"]); len(got["output"]) < 2 || !strings.Contains(text, "tick 0\n") || !strings.Contains(text, "tick 30\n") {
		t.Errorf("%d notifications with %q", len(got["output"]), text)
	}
	if text := messages(got["silence"]); len(got["silence"]) < 2 || !strings.Contains(text, "running for") {
		t.Errorf("%d notifications of a silent call: %q", len(got["silence"]), text)
	}
	if text := messages(got["flood"]); !strings.Contains(text, "bytes ...]") {
		t.Errorf("%d notifications of a flood: %q", len(got["flood"]), text)
	}
	if text := messages(got["image"]); !strings.Contains(text, "<Figure>") {
		t.Errorf("an image: %q", text)
	}
}
