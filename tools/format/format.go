// Package format speaks the JSON of the models' APIs: it renders tool
// definitions, reads the models' answers, and serves the calls in them. No SDK is
// imported. The whole loop of an agent, where ask posts the request and returns
// the body of the answer:
//
//	model := format.OpenAIChat{}
//	definitions, err := model.Tools(ws.Tools())
//	conversation := []json.RawMessage{model.User(task)}
//	for more := true; more; {
//		reply, err := model.Read(ask(definitions, conversation), nil)
//		turn, err := model.Turn(ctx, ws, reply, nil)
//		conversation, more = append(conversation, turn.Messages...), turn.More
//	}
//
// Read also takes streams, and passes the model's text on as it arrives. Turn
// answers every call: those of unknown tools, those whose arguments are no JSON,
// several at the same time, and those whose ctx ended. Images, errors and ids have
// the form that the API wants; members that are not known here, such as signatures
// of thoughts, are sent back as they came.
//
// Ollama, vLLM and many others speak the API of [OpenAIChat].
//
// # With an SDK
//
// JSON decodes into the types of the SDKs: the definitions, and with [Append] the
// messages of a turn.
//
//	OpenAIChat       []openai.ChatCompletionToolUnionParam  []openai.ChatCompletionMessageParamUnion
//	OpenAIResponses  []responses.ToolUnionParam             responses.ResponseInputParam
//	Anthropic        []anthropic.ToolUnionParam             []anthropic.MessageParam
//	Gemini           []*genai.Tool                          []*genai.Content
//	MCP              []*mcp.Tool                            *mcp.CallToolResult, of each answer
//
//	err = json.Unmarshal(definitions, &params.Tools)
//	...
//	turn, err := format.OpenAIChat{}.Turn(ctx, ws, []byte(completion.RawJSON()), nil)
//	params.Messages, err = format.Append(params.Messages, turn.Messages...)
//
// Programs that dispatch the calls themselves render the answers with Results,
// which takes those to all calls of one turn, in order.
package format

import (
	"encoding/json"
	"fmt"

	"github.com/toolcell/toolcell/internal/plainjson"
	"github.com/toolcell/toolcell/tools"
)

// members are those of a JSON object.
type members map[string]any

// inputSchema returns the schema for the mode.
func inputSchema(t *tools.Tool, strict bool) json.RawMessage {
	switch {
	case strict && len(t.StrictSchema) > 0:
		return t.StrictSchema
	case len(t.InputSchema) == 0:
		return json.RawMessage(`{"type":"object"}`) // which all APIs require
	}
	return t.InputSchema
}

// definitions renders a list of tools as an array for an API whose names have at most
// longest characters.
func definitions(api string, longest int, list []tools.Tool, render func(*tools.Tool) any) (json.RawMessage, error) {
	out := make([]any, 0, len(list))
	for i := range list {
		if err := tools.CheckToolName(list[i].Name, longest); err != nil {
			return nil, fmt.Errorf("format: %s: %w", api, err)
		}
		out = append(out, render(&list[i]))
	}
	return marshal(out), nil
}

// function is how OpenAI describes a tool. Its strict is sent also if it is false: to one
// of the two APIs an absent one is true.
func function(t *tools.Tool, strict bool) members {
	return members{"name": t.Name, "description": t.Description, "parameters": inputSchema(t, strict), "strict": strict && len(t.StrictSchema) > 0}
}

// marshal encodes values that always can be.
func marshal(v any) json.RawMessage {
	b, err := plainjson.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("format: %v", err))
	}
	return b
}
