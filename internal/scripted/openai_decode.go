package scripted

import "encoding/json"

// chatRequest is what of a request of Chat Completions a script looks at.
type chatRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		ToolCalls  []ChatCall      `json:"tool_calls"`
		ToolCallID string          `json:"tool_call_id"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Stream        bool `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

func (openAI) decode(body []byte) (*request, *refusal) {
	var in chatRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, refuse("body: %v", err)
	}
	if len(in.Messages) == 0 {
		return nil, refuse("messages is empty")
	}
	q := &request{model: in.Model, stream: in.Stream, usage: in.StreamOptions.IncludeUsage}
	c := &q.conversation
	for _, t := range in.Tools {
		c.Tools = append(c.Tools, Definition{t.Function.Name, t.Function.Description, t.Function.Parameters})
	}
	for _, m := range in.Messages {
		text, images := contentOf(m.Content)
		switch m.Role {
		case "system", "developer":
			c.System += text
		case "user":
			if images > 0 && c.pictures(images) {
				continue // they belong to the replies before
			}
			c.Items = append(c.Items, Item{User: text})
		case "assistant":
			t := &Turn{Text: text}
			for _, call := range m.ToolCalls {
				t.Calls = append(t.Calls, Call{call.ID, call.Function.Name, call.Function.Arguments})
			}
			c.Items = append(c.Items, Item{Turn: t})
		case "tool":
			c.reply(Reply{CallID: m.ToolCallID, Text: text})
		}
	}
	return q, c.answered()
}
