package format

import (
	"encoding/json"

	"github.com/toolcell/toolcell/tools"
)

// MCP is the Model Context Protocol, revisions 2025-06-18 and later.
type MCP struct{}

// Tools returns the value of "tools" in the result of tools/list: an array.
func (f MCP) Tools(list []tools.Tool) (json.RawMessage, error) {
	return definitions("MCP", 128, list, func(t *tools.Tool) any {
		a := t.Annotations
		hints := members{"readOnlyHint": a.ReadOnly, "destructiveHint": a.Destructive, "idempotentHint": a.Idempotent, "openWorldHint": a.OpenWorld}
		def := members{"name": t.Name, "description": t.Description, "inputSchema": inputSchema(t, false), "annotations": hints}
		if t.Title != "" {
			def["title"], hints["title"] = t.Title, t.Title
		}
		if len(t.OutputSchema) > 0 {
			def["outputSchema"] = t.OutputSchema
		}
		return def
	})
}

// Result returns the result of tools/call: a text block that stands alone, the
// images, and, unless the call failed, structuredContent. A program that fails
// is no error here.
func (f MCP) Result(r *tools.Answer) json.RawMessage {
	content := []any{members{"type": "text", "text": r.Text}}
	for _, img := range r.Images {
		content = append(content, members{"type": "image", "data": img.Data, "mimeType": img.MIME})
	}
	out := members{"content": content}
	if r.Failure != nil {
		// A failed call's JSON does not follow the output schema, which clients may
		// check.
		out["isError"] = true
	} else if raw := r.JSON(); len(raw) > 0 {
		out["structuredContent"] = raw
	}
	return marshal(out)
}
