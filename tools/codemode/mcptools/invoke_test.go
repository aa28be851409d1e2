package mcptools_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode/mcptools"
	"github.com/toolcell/toolcell/tools/secret"
)

// failing is a server whose tools fail in all ways. It calls hangs when one hangs.
func failing(t *testing.T, hangs func()) *httptest.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "failing", Version: "1"}, nil)
	type none struct{}
	mcp.AddTool(s, &mcp.Tool{Name: "plain"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("no ticket has that number")
	})
	mcp.AddTool(s, &mcp.Tool{Name: "number"}, func(context.Context, *mcp.CallToolRequest, struct {
		N int `json:"n"`
	}) (*mcp.CallToolResult, any, error) {
		return nil, nil, nil
	})
	s.AddTool(&mcp.Tool{Name: "refuses", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("not today")
	})
	s.AddTool(&mcp.Tool{Name: "hangs", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		hangs()
		<-ctx.Done()
		return nil, ctx.Err()
	})
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(h.Close)
	return h
}

// TestDirectFailures: what a tool says of its own failure is told to a model as that, and
// is no fault of ours.
func TestDirectFailures(t *testing.T) {
	given, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	web := failing(t, giveUp)
	secrets, err := secret.New("s3cr3t-token-value")
	if err != nil {
		t.Fatal(err)
	}
	good := stdio("good", "good")
	good.Command = filepath.Join(t.TempDir(), "server")
	if err := os.Symlink(os.Args[0], good.Command); err != nil {
		t.Fatal(err)
	}
	set := open(t, &mcptools.Options{Timeout: time.Minute, Secrets: secrets}, good, mcptools.Server{Name: "web", URL: web.URL})
	quick := open(t, &mcptools.Options{Timeout: 2 * time.Second}, mcptools.Server{Name: "slow", URL: failing(t, func() {}).URL})
	for _, tt := range []struct {
		ctx               context.Context
		set               *mcptools.Set
		tool, args        string
		code, want, other string
	}{
		{t.Context(), set, "good_fail", `{}`, tools.CodeFailed, "no such thing", "s3cr3t"},
		{t.Context(), set, "web_plain", `{}`, tools.CodeFailed, "no ticket has that number", ""},
		{t.Context(), set, "web_number", `{"n": "five"}`, tools.CodeFailed, "n", "internal"},
		{t.Context(), set, "web_refuses", `{}`, tools.CodeFailed, "not today", ""},
		{t.Context(), set, "good_die", `{}`, tools.CodeFailed, "may or may not have been done", ""},
		{t.Context(), quick, "slow_hangs", `{}`, tools.CodeFailed, "has not answered within", ""},
		{given, set, "web_hangs", `{}`, tools.CodeFailed, "given up", ""},
	} {
		a := invoke(t, tt.ctx, tt.set, tt.tool, tt.args)
		if a.Failure == nil || a.Failure.Code != tt.code || !strings.Contains(a.Failure.Message, tt.want) ||
			a.Text != string(a.Failure.JSON()) || tt.other != "" && strings.Contains(a.Text, tt.other) {
			t.Errorf("%s: %s", tt.tool, a.Text)
		}
	}
	if err := os.Remove(good.Command); err != nil {
		t.Fatal(err)
	}
	if a := invoke(t, t.Context(), set, "good_fail", `{}`); a.Failure == nil || a.Failure.Code != tools.CodeUnavailable || !strings.Contains(a.Text, "Nothing was done") {
		t.Errorf("of a server that has gone: %s", a.Text)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if a := invoke(t, gone, set, "web_plain", `{}`); a.Failure == nil || a.Failure.Code != tools.CodeCanceled {
		t.Errorf("of a caller who is: %s", a.Text)
	}
}

// invoke has a model call a tool of a set.
func invoke(t *testing.T, ctx context.Context, set *mcptools.Set, tool, args string) *tools.Answer {
	t.Helper()
	for _, e := range set.Entries() {
		if e.Name == tool {
			return e.Invoke(ctx, tools.Invocation{Tool: tool, Args: json.RawMessage(args)})
		}
	}
	t.Fatalf("no tool %s", tool)
	return nil
}
