package scripted

import (
	"encoding/json"
	"errors"
	"net/http"
)

// anthropic is the form of the Messages API.
type anthropic struct{}

// A messageBlock is a part of a message, in both directions.
type messageBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
}

func (anthropic) read(h http.Header, body []byte) (*Conversation, error) {
	if h.Get("X-Api-Key") == "" || h.Get("Anthropic-Version") == "" {
		return nil, errors.New("no x-api-key, or no anthropic-version")
	}
	var in struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	c := &Conversation{}
	for _, t := range in.Tools {
		c.Tools = append(c.Tools, Definition(t))
	}
	for _, m := range in.Messages {
		var blocks []messageBlock
		_ = json.Unmarshal(m.Content, &blocks) // words alone are a string
		t := &Turn{}
		t.Text, _ = contentOf(m.Content)
		for _, b := range blocks {
			switch b.Type {
			case "tool_use":
				t.Calls = append(t.Calls, ToolCall{b.ID, b.Name, string(b.Input)})
			case "tool_result":
				text, images := contentOf(b.Content)
				c.reply(ToolReply{CallID: b.ToolUseID, Text: text, Images: images, Failed: b.IsError})
			}
		}
		switch {
		case m.Role == "assistant":
			c.Items = append(c.Items, Item{Turn: t})
		case t.Text != "":
			c.Items = append(c.Items, Item{User: t.Text})
		}
	}
	return c, c.answered()
}

// blocks returns a turn as the content of a message.
func blocks(t Turn) []messageBlock {
	list := []messageBlock{}
	if t.Text != "" {
		list = append(list, messageBlock{Type: "text", Text: t.Text})
	}
	for _, c := range t.Calls {
		list = append(list, messageBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: json.RawMessage(c.Args)})
	}
	return list
}

func (anthropic) parts(t Turn) []event {
	var list []event
	send := func(name string, data map[string]any) {
		data["type"] = name
		list = append(list, event{name, data})
	}
	send("message_start", map[string]any{"message": map[string]any{"role": "assistant", "content": []any{}}})
	for i, b := range blocks(t) {
		kind, field, text := "text_delta", "text", b.Text
		if b.Type == "tool_use" {
			kind, field, text = "input_json_delta", "partial_json", string(b.Input)
			b.Input = json.RawMessage("{}")
		}
		b.Text = ""
		send("content_block_start", map[string]any{"index": i, "content_block": b})
		for _, p := range halves(text) {
			send("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": kind, field: p}})
		}
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": t.reason("end_turn", "tool_use")}})
	send("message_stop", map[string]any{})
	return list
}
