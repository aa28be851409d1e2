package mcptools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools/codemode/mcptools"
)

// TestLargeAnswers: over each kind of HTTP, large answers at once reach who asked for
// them, and one with too many members is told.
func TestLargeAnswers(t *testing.T) {
	s := mcp.NewServer(&mcp.Implementation{Name: "large", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "get", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var a struct{ Members, I int }
		if err := json.Unmarshal(r.Params.Arguments, &a); err != nil {
			return nil, err
		}
		if a.Members > 0 {
			return &mcp.CallToolResult{StructuredContent: map[string]any{"a": make([]int, a.Members)}}, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(a.I, strings.Repeat("x", 100<<10))}}}, nil
	})
	get := func(*http.Request) *mcp.Server { return s }
	for name, h := range map[string]http.Handler{
		"JSON":   mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{JSONResponse: true}),
		"events": mcp.NewStreamableHTTPHandler(get, nil),
		"SSE":    mcp.NewSSEHandler(get, nil),
	} {
		t.Run(name, func(t *testing.T) {
			web := httptest.NewServer(h)
			t.Cleanup(web.CloseClientConnections)
			set := open(t, nil, mcptools.Server{Name: "my", URL: web.URL, SSE: name == "SSE"})
			call := func(args string) (json.RawMessage, error) {
				v, _, err := set.Entries()[0].Call(t.Context(), codeinterp.FunctionCall{Number: 1, Args: json.RawMessage(args)})
				return v, err
			}
			if _, err := call(`{"members": 600000}`); err == nil || !strings.Contains(err.Error(), "more than 500000 members") {
				t.Error(err)
			}
			var all sync.WaitGroup
			for i := range 10 {
				all.Go(func() {
					if v, err := call(fmt.Sprintf(`{"i": %d}`, i)); err != nil || !strings.HasPrefix(string(v), fmt.Sprintf(`"%dx`, i)) || len(v) < 100<<10 {
						t.Errorf("%d: %.20s, %v", i, v, err)
					}
				})
			}
			all.Wait()
		})
	}
}
