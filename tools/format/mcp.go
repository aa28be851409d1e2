package format

import (
	"encoding/json"

	"github.com/toolcell/toolcell/tools"
)

// MCP is the Model Context Protocol, revisions 2025-06-18 and later.
type MCP struct{}

// Tools returns the value of "tools" in the result of tools/list: an array.
func (f MCP) Tools(list []tools.Tool) (json.RawMessage, error) {
	type annotations struct {
		Title       string `json:"title,omitempty"`
		ReadOnly    bool   `json:"readOnlyHint"`
		Destructive bool   `json:"destructiveHint"`
		Idempotent  bool   `json:"idempotentHint"`
		OpenWorld   bool   `json:"openWorldHint"`
	}
	type definition struct {
		Name         string          `json:"name"`
		Title        string          `json:"title,omitempty"`
		Description  string          `json:"description"`
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
		Annotations  annotations     `json:"annotations"`
	}
	return definitions("MCP", 128, list, func(t *tools.Tool) definition {
		a := t.Annotations
		return definition{
			t.Name, t.Title, t.Description, inputSchema(t, false), t.OutputSchema,
			annotations{t.Title, a.ReadOnly, a.Destructive, a.Idempotent, a.OpenWorld},
		}
	})
}

// Result returns the result of tools/call: a text block that stands alone, the
// images, and, unless the call failed, structuredContent. A program that fails
// is no error here.
func (f MCP) Result(r *tools.Answer) json.RawMessage {
	type block struct {
		Type     string `json:"type"`
		Text     string `json:"text,omitempty"`
		Data     []byte `json:"data,omitempty"`
		MIMEType string `json:"mimeType,omitempty"`
	}
	type result struct {
		Content    []block         `json:"content"`
		Structured json.RawMessage `json:"structuredContent,omitempty"`
		IsError    bool            `json:"isError,omitempty"`
	}
	out := result{Content: []block{{Type: "text", Text: r.Text}}, IsError: r.Failure != nil}
	for _, img := range r.Images {
		out.Content = append(out.Content, block{Type: "image", Data: img.Data, MIMEType: img.MIME})
	}
	// A failed call's JSON does not follow the output schema, which clients may
	// check.
	if r.Failure == nil {
		out.Structured = r.JSON()
	}
	return marshal(out)
}
