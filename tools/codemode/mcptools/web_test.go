package mcptools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// TestStreamsWithoutEnd: a server that ends its stream at once, with a new event each
// time, is not asked for another as fast as it can answer, and can be called.
func TestStreamsWithoutEnd(t *testing.T) {
	var opened atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "id: %d\nretry: 1\ndata:\n\n", opened.Add(1))
			return
		}
		var m struct {
			ID     int
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		results := map[string]string{
			"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`,
			"tools/list": `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`,
			"tools/call": `{"content":[{"type":"text","text":"fine"}]}`,
		}
		w.Header().Set("Mcp-Session-Id", "s")
		w.Header().Set("Content-Type", "application/json")
		switch result := results[m.Method]; {
		case result != "":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"result":%s}`, m.ID, result)
		case m.ID > 0:
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"error":{"code":-32601,"message":"no"}}`, m.ID)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(web.Close)
	set := open(t, nil, mcptools.Server{Name: "my", URL: web.URL})
	time.Sleep(time.Second)
	v, _, err := set.Entries()[0].Call(t.Context(), codeinterp.FunctionCall{Number: 1, Args: json.RawMessage("{}")})
	if err != nil || string(v) != `"fine"` {
		t.Errorf("%s, %v", v, err)
	}
	if n := opened.Load(); n < 1 || n > 10 {
		t.Errorf("%d streams in a second", n)
	}
}
