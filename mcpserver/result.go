package mcpserver

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/tools"
)

// definition renders a tool.
func definition(t tools.Tool) *mcp.Tool {
	def := &mcp.Tool{
		Name:        t.Name,
		Title:       t.Title,
		Description: t.Description,
		InputSchema: inputSchema(t.InputSchema),
		Annotations: &mcp.ToolAnnotations{
			Title:           t.Title,
			ReadOnlyHint:    t.Annotations.ReadOnly,
			IdempotentHint:  t.Annotations.Idempotent,
			DestructiveHint: &t.Annotations.Destructive,
			OpenWorldHint:   &t.Annotations.OpenWorld,
		},
	}
	if s := bytes.TrimSpace(t.OutputSchema); json.Valid(s) && s[0] == '{' {
		def.OutputSchema = json.RawMessage(s)
	}
	return def
}

// result renders an answer: a complete text, then the images, and, unless the call failed,
// the same in JSON if it is an object. A program that fails is not a failed call: clients
// drop images and structure of those.
func result(r *tools.Answer) *mcp.CallToolResult {
	if r == nil {
		f := &tools.Failure{Code: tools.CodeInternal, Message: "the tool has not answered"}
		r = &tools.Answer{Text: string(f.JSON()), Failure: f}
	}
	res := &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: r.Text}},
		IsError: r.Failure != nil,
	}
	for _, img := range r.Images {
		res.Content = append(res.Content, &mcp.ImageContent{Data: img.Data, MIMEType: img.MIME})
	}
	if raw := r.JSON(); r.Failure == nil && len(raw) > 0 && raw[0] == '{' {
		res.StructuredContent = raw
	}
	return res
}
