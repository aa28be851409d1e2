// Package format renders tool definitions, and the answers to a model's calls, as
// the JSON of one API, for json.Unmarshal into the parameter types of its SDK.
//
//	definitions, err := format.OpenAIChat{}.Tools(ws.Tools())
//	...
//	messages := format.OpenAIChat{}.Results(answers...)
//
// It is a package of its own so that an API that changes, or a new one, touches
// nothing of what the tools do. The Tools methods fail where the API would refuse
// a name; the Results methods take the answers to all calls of one turn of the
// model, in order.
//
// The types of the SDKs to decode into are, for the definitions and for the
// answers of a turn:
//
//	OpenAIChat       []openai.ChatCompletionToolUnionParam  []openai.ChatCompletionMessageParamUnion
//	OpenAIResponses  []responses.ToolUnionParam             responses.ResponseInputParam
//	Anthropic        []anthropic.ToolUnionParam             anthropic.MessageParam
//	Gemini           []*genai.Tool                          *genai.Content
//	MCP              []*mcp.Tool                            *mcp.CallToolResult, of each answer
//
// As in
//
//	var params openai.ChatCompletionNewParams
//	err = json.Unmarshal(definitions, &params.Tools)
//	...
//	var answers []openai.ChatCompletionMessageParamUnion
//	err = json.Unmarshal(messages, &answers)
//	params.Messages = append(params.Messages, answers...)
package format

import (
	"encoding/json"
	"fmt"

	"github.com/toolcell/toolcell/internal/plainjson"
	"github.com/toolcell/toolcell/tools"
)

// inputSchema returns the schema for the mode.
func inputSchema(t *tools.Tool, strict bool) json.RawMessage {
	if strictly(t, strict) {
		return t.StrictSchema
	}
	return t.InputSchema
}

// strictly reports whether a tool can be offered in strict mode.
func strictly(t *tools.Tool, strict bool) bool { return strict && len(t.StrictSchema) > 0 }

// definitions renders a list of tools for an API whose names have at most
// longest characters.
func definitions[T any](api string, longest int, list []tools.Tool, render func(*tools.Tool) T) ([]T, error) {
	out := make([]T, 0, len(list))
	for i := range list {
		if err := tools.CheckToolName(list[i].Name, longest); err != nil {
			return nil, fmt.Errorf("format: %s: %w", api, err)
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

// marshal encodes values that always can be.
func marshal(v any) json.RawMessage {
	b, err := plainjson.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("format: %v", err))
	}
	return b
}
