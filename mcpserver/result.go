package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"

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

// anyArguments is the schema of a tool that takes any object.
const anyArguments = `{"type":"object"}`

// inputSchema returns a schema whose top level has the type object, as the protocol
// wants it, and whose properties and required names hosts can read: some refuse all tools
// for one that they cannot. Everything else that raw says is kept, as far as raw is such a
// schema.
func inputSchema(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	var top map[string]json.RawMessage
	var known struct {
		Properties map[string]map[string]any `json:"properties"`
		Required   []string                  `json:"required"`
	}
	if json.Unmarshal(raw, &top) != nil || top == nil || json.Unmarshal(raw, &known) != nil ||
		known.Properties == nil && top["properties"] != nil || known.Required == nil && top["required"] != nil {
		return json.RawMessage(anyArguments)
	}
	if string(top["type"]) == `"object"` {
		return raw
	}
	top["type"] = json.RawMessage(`"object"`)
	fixed, err := json.Marshal(top)
	if err != nil {
		return json.RawMessage(anyArguments)
	}
	return fixed
}

// addTool adds a tool to server. The SDK panics if it refuses a definition, such as one
// with a malformed x-mcp-header: the tool is then served with a schema that takes any
// object, and otherwise it is an error.
func addTool(server *mcp.Server, def *mcp.Tool, h mcp.ToolHandler) error {
	add := func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("tool %.80q: %v", def.Name, v)
			}
		}()
		server.AddTool(def, h)
		return nil
	}
	err := add()
	if err != nil {
		def.InputSchema, def.OutputSchema = json.RawMessage(anyArguments), nil
		err = add()
	}
	return err
}
