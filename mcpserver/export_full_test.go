//go:build full

package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServeFixed gives every client files under fixed URIs, as if its run had written them.
func ServeFixed(s *Server, template string, files map[string]struct {
	MIME string
	Data []byte
}) {
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{Name: "fixed", URITemplate: template}, s.readResource)
	s.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "resources/read" || method == "resources/list" {
				ss, _ := req.GetSession().(*mcp.ServerSession)
				own, mine, end, err := s.mine(ctx, ss, req.GetExtra())
				if err != nil {
					return nil, err
				}
				for uri, f := range files {
					if len(mine) > 0 {
						break // they are there
					}
					s.resources.keep(own.Value(clientKey{}), []*resource{{uri: uri, name: uri, mime: f.MIME, size: int64(len(f.Data)), data: f.Data}})
				}
				end()
			}
			return next(ctx, method, req)
		}
	})
}
