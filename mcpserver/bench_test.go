package mcpserver_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/mcpserver"
)

// BenchmarkCall is a call of run_code whose program takes no time. The floor is
// a tool of a bare SDK server that answers the same bytes.
func BenchmarkCall(b *testing.B) {
	params := &mcp.CallToolParams{Name: "run_code", Arguments: object("language", "python", "code", "print hello")}
	s, err := mcpserver.New(newWorkspace(b, newFake()), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	c := benchClient(b, func(t mcp.Transport) { s.Connect(b.Context(), t) })
	answer, err := c.CallTool(b.Context(), params)
	if err != nil {
		b.Fatal(err)
	}
	bare := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	bare.AddTool(&mcp.Tool{Name: "run_code", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return answer, nil })
	floor := benchClient(b, func(t mcp.Transport) { bare.Connect(b.Context(), t, nil) })
	for name, client := range map[string]*mcp.ClientSession{"floor": floor, "server": c} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.CallTool(b.Context(), params); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchClient(b *testing.B, serve func(mcp.Transport)) *mcp.ClientSession {
	here, there := mcp.NewInMemoryTransports()
	serve(there)
	c, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(), here, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}
