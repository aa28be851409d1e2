package mcpserver_test

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/mcpserver"
	"github.com/toolcell/toolcell/workspace"
)

// A client in the same process; other programs connect over a stream or HTTP.
func Example() {
	ctx := context.Background()
	ws, err := workspace.New("demo", workspace.Capabilities{Code: newFake()}, nil)
	if err != nil {
		panic(err)
	}
	defer ws.Close()
	server, err := mcpserver.New(ws, nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	here, there := mcp.NewInMemoryTransports()
	server.Connect(ctx, there)
	client, err := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		panic(err)
	}
	defer client.Close()

	res, err := client.CallTool(ctx, &mcp.CallToolParams{
		Name:      "run_code",
		Arguments: map[string]any{"language": "python", "code": "print hello"},
	})
	if err != nil {
		panic(err)
	}
	fmt.Print(res.Content[0].(*mcp.TextContent).Text)
	// Output:
	// ok
	// --- stdout ---
	// hello
}
