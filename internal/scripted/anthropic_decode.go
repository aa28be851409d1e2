package scripted

import "encoding/json"

// messagesRequest is what of a request of Messages a script looks at.
type messagesRequest struct {
	Model    string          `json:"model"`
	System   json.RawMessage `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	Stream bool `json:"stream"`
}

func (anthropic) decode(body []byte) (*request, *refusal) {
	var in messagesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, refuse("body: %v", err)
	}
	if len(in.Messages) == 0 {
		return nil, refuse("messages is empty")
	}
	q := &request{model: in.Model, stream: in.Stream}
	c := &q.conversation
	c.System, _ = contentOf(in.System)
	for _, t := range in.Tools {
		c.Tools = append(c.Tools, Definition(t))
	}
	for _, m := range in.Messages {
		var blocks []struct {
			Type      string          `json:"type"`
			ID        string          `json:"id"`
			Name      string          `json:"name"`
			Input     json.RawMessage `json:"input"`
			ToolUseID string          `json:"tool_use_id"`
			Content   json.RawMessage `json:"content"`
			IsError   bool            `json:"is_error"`
		}
		_ = json.Unmarshal(m.Content, &blocks) // words alone are a string
		t := &Turn{}
		for _, b := range blocks {
			switch b.Type {
			case "tool_use":
				t.Calls = append(t.Calls, Call{b.ID, b.Name, string(b.Input)})
			case "tool_result":
				text, images := contentOf(b.Content)
				c.reply(Reply{CallID: b.ToolUseID, Text: text, Images: images, Failed: b.IsError})
			}
		}
		text, _ := contentOf(m.Content)
		switch {
		case m.Role == "assistant":
			t.Text = text
			c.Items = append(c.Items, Item{Turn: t})
		case text != "":
			c.Items = append(c.Items, Item{User: text})
		}
	}
	return q, c.answered()
}
