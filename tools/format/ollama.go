package format

import (
	"encoding/json"

	"github.com/toolcell/toolcell/tools"
)

// Ollama is the chat API of Ollama.
type Ollama struct {
	// Strict uses the schemas in which every argument is required and may be
	// null. The API has no strict mode.
	Strict bool
}

// Tools returns the value of the request's "tools": an array.
func (f Ollama) Tools(list []tools.Tool) (json.RawMessage, error) {
	type definition struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	defs, err := definitions("Ollama", 128, list, func(t *tools.Tool) definition {
		return definition{"function", function{Name: t.Name, Description: t.Description, Parameters: inputSchema(t, f.Strict)}}
	})
	if err != nil {
		return nil, err
	}
	return array(defs), nil
}

// Results returns the messages that answer a turn's calls: an array of one
// tool message for each. Images are PNG or JPEG there; others become PNG.
func (f Ollama) Results(replies ...*tools.Answer) json.RawMessage {
	type message struct {
		Role       string   `json:"role"`
		ToolName   string   `json:"tool_name"`
		ToolCallID string   `json:"tool_call_id,omitempty"`
		Content    string   `json:"content"`
		Images     [][]byte `json:"images,omitempty"`
	}
	var messages []message
	for _, r := range replies {
		m := message{Role: "tool", ToolName: r.Tool, ToolCallID: r.CallID, Content: r.Text}
		for _, img := range r.Images {
			m.Images = append(m.Images, img.As("image/png", "image/jpeg").Data)
		}
		messages = append(messages, m)
	}
	return array(messages)
}
