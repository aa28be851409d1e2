// Package mcpgo serves Toolcell's tools on a server of mark3labs/mcp-go, beside
// tools of its own. Whoever has no such server yet takes package mcpserver,
// which does more.
//
//	ws, err := workspace.New("demo", workspace.Capabilities{Code: code}, nil)
//	s := server.NewMCPServer("mine", "1.0")
//	toolcell.Register(s, ws)
package mcpgo

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/toolcell/toolcell/tools/format"
	"github.com/toolcell/toolcell/workspace"
)

// Register adds a workspace's tools to a server. Their results have text,
// pictures and structured content.
func Register(s *server.MCPServer, ws *workspace.Workspace) {
	for _, t := range ws.Tools() {
		s.AddTool(mcp.NewToolWithRawSchema(t.Name, t.Description, t.InputSchema),
			func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				args, err := json.Marshal(req.GetRawArguments())
				if err != nil {
					return nil, err
				}
				raw := format.MCP{}.Result(ws.Dispatch(ctx, t.Name, args, nil))
				return mcp.ParseCallToolResult(&raw)
			})
	}
}
