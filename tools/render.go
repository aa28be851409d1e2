package tools

import (
	"encoding/json"
	"fmt"
)

// Each of the types below renders tool definitions and replies as the JSON of
// one API, for json.Unmarshal into the parameter types of its SDK. Their Tools
// methods fail where the API would refuse a name; their Results methods take
// the replies to all calls of one turn of the model, in order.

// inputSchema returns the schema for the mode.
func (t *Tool) inputSchema(strict bool) json.RawMessage {
	if strict && len(t.StrictSchema) > 0 {
		return t.StrictSchema
	}
	return t.InputSchema
}

// strictly reports whether a tool can be offered in strict mode.
func (t *Tool) strictly(strict bool) bool { return strict && len(t.StrictSchema) > 0 }

// definitions renders a list of tools for an API whose names have at most
// longest characters.
func definitions[T any](api string, longest int, list []Tool, render func(*Tool) T) ([]T, error) {
	out := make([]T, 0, len(list))
	for i := range list {
		if err := checkToolName(list[i].Name, longest); err != nil {
			return nil, fmt.Errorf("tools: %s: %w", api, err)
		}
		out = append(out, render(&list[i]))
	}
	return out, nil
}

// function is how OpenAI and Ollama describe a tool.
type function struct {
	Type        string          `json:"type,omitempty"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict,omitempty"`
}

// array is a JSON array that is never null.
func array[T any](items []T) json.RawMessage {
	if items == nil {
		items = []T{}
	}
	return marshal(items)
}
