package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

// TestToolbox: programs call the tools of the servers that -tools names.
func TestToolbox(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "office", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "who", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Ada"}}}, nil
		})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(web.Close)
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, []byte(`{"mcpServers": {"office": {"url": "`+web.URL+`"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := parse([]string{"-tools", file}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	box, inner, err := c.toolbox(t.Context(), ci)
	if err != nil {
		t.Fatal(err)
	}
	defer box.close()
	ws, err := workspace.New("agent", workspace.Capabilities{Code: inner}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	list, set, err := box.around(ws)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || !strings.Contains(list[0].Description, "office_who(args?") {
		t.Fatalf("%d tools: %s", len(list), list[0].Description)
	}
	args := json.RawMessage(`{"language": "javascript", "code": "(await tools.office_who()) + '!'"}`)
	if a := set.DispatchAll(t.Context(), []tools.Invocation{{ID: "1", Tool: list[0].Name, Args: args}}, nil); !strings.Contains(a[0].Text, "Ada!") {
		t.Error(a[0].Text)
	}
	c.tools = filepath.Join(t.TempDir(), "none")
	if ci, err = inmemory.NewStateful(nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.toolbox(t.Context(), ci); err == nil {
		t.Error("a file that is not there")
	}
}
