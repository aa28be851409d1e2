package format

import (
	"encoding/json"

	"github.com/toolcell/toolcell/tools"
)

// Anthropic is the Messages API of Anthropic.
type Anthropic struct {
	// Strict asks for arguments that follow the schema to the letter. The
	// API compiles one grammar from all strict tools of a request and
	// refuses what is too large for it.
	Strict bool
}

// Tools returns the value of the request's "tools": an array.
func (f Anthropic) Tools(list []tools.Tool) (json.RawMessage, error) {
	type definition struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
		Strict      bool            `json:"strict,omitempty"`
	}
	defs, err := definitions("Anthropic", 128, list, func(t *tools.Tool) definition {
		d := definition{t.Name, t.Description, inputSchema(t, f.Strict), strictly(t, f.Strict)}
		if d.Strict {
			d.InputSchema = unbounded(d.InputSchema)
		}
		return d
	})
	if err != nil {
		return nil, err
	}
	return array(defs), nil
}

// unbounded returns a schema without the bounds of numbers and texts, which the
// API refuses in strict mode. Calls are checked against them all the same.
func unbounded(schema json.RawMessage) json.RawMessage {
	var s map[string]any
	if err := json.Unmarshal(schema, &s); err != nil {
		return schema
	}
	dropBounds(s)
	return marshal(s)
}

func dropBounds(s map[string]any) {
	for _, k := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"} {
		delete(s, k)
	}
	properties, _ := s["properties"].(map[string]any)
	for _, p := range properties {
		if sub, ok := p.(map[string]any); ok {
			dropBounds(sub)
		}
	}
	if items, ok := s["items"].(map[string]any); ok {
		dropBounds(items)
	}
}

// Results returns the message that answers a turn's calls: a user message with
// one tool_result block for each.
func (f Anthropic) Results(replies ...*tools.Answer) json.RawMessage {
	type source struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      []byte `json:"data"`
	}
	type block struct {
		Type   string  `json:"type"`
		Text   string  `json:"text,omitempty"`
		Source *source `json:"source,omitempty"`
	}
	type result struct {
		Type      string  `json:"type"`
		ToolUseID string  `json:"tool_use_id"`
		Content   []block `json:"content"`
		IsError   bool    `json:"is_error,omitempty"`
	}
	type message struct {
		Role    string   `json:"role"`
		Content []result `json:"content"`
	}
	m := message{Role: "user", Content: []result{}}
	for _, r := range replies {
		blocks := []block{{Type: "text", Text: r.Text}}
		for _, img := range r.Images {
			blocks = append(blocks, block{Type: "image", Source: &source{"base64", img.MIME, img.Data}})
		}
		m.Content = append(m.Content, result{"tool_result", r.CallID, blocks, r.Failure != nil})
	}
	return marshal(m)
}
