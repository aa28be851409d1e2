package mcpgo_test

import (
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/workspace"

	toolcell "github.com/toolcell/toolcell/examples/adapters/mcpgo"
)

const picture = `display("image/png", "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACAQMAAACnuvRZAAAABlBMVEX///8AAABVwtN+AAAAEElEQVR4nGJoYGAABAAA//8BhACBH+IiYAAAAABJRU5ErkJggg==")`

func TestServer(t *testing.T) {
	code, err := inmemory.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.New("demo", workspace.Capabilities{Code: code}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	s := server.NewMCPServer("test", "1")
	toolcell.Register(s, ws)
	c, err := client.NewInProcessClient(s)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	call := func(language, code string) *mcp.CallToolResult {
		t.Helper()
		req := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "workspace__demo__run_code", Arguments: map[string]any{"language": language, "code": code}}}
		res, err := c.CallTool(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := call("javascript", picture+"; 6 * 7")
	if len(res.Content) != 2 || !strings.Contains(res.Content[0].(mcp.TextContent).Text, "42") || res.Content[1].(mcp.ImageContent).MIMEType != "image/png" {
		t.Errorf("%+v", res)
	}
	if res := call("javascript", "null.x"); res.IsError || !strings.Contains(res.Content[0].(mcp.TextContent).Text, "TypeError") {
		t.Errorf("%+v", res)
	}
	if res := call("cobol", ""); !res.IsError {
		t.Errorf("%+v", res)
	}
}
