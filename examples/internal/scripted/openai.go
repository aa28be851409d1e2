package scripted

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// openAI is the form of the Chat Completions API.
type openAI struct{}

// A ChatMessage is what Chat Completions answers with, and what it takes as
// part of a conversation.
type ChatMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	ToolCalls []ChatCall `json:"tool_calls,omitempty"`
}

// A ChatCall is a call in a ChatMessage.
type ChatCall struct {
	Index    *int   `json:"index,omitempty"` // only in streams
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"` // the text of a JSON object, if the model got it right
	} `json:"function"`
}

// Chat is one request of Chat Completions to [Script], without the HTTP.
func Chat(tools json.RawMessage, messages []any) (ChatMessage, error) {
	body, err := json.Marshal(map[string]any{"tools": tools, "messages": messages})
	if err != nil {
		return ChatMessage{}, err
	}
	c, err := readChat(body)
	if err != nil {
		return ChatMessage{}, err
	}
	return chatMessage(script(c)), nil
}

func (openAI) read(h http.Header, body []byte) (*Conversation, error) {
	if !strings.HasPrefix(h.Get("Authorization"), "Bearer ") {
		return nil, errors.New("no key in Authorization: Bearer")
	}
	return readChat(body)
}

func readChat(body []byte) (*Conversation, error) {
	var in struct {
		Messages []struct {
			ChatMessage
			Content    json.RawMessage `json:"content"`
			ToolCallID string          `json:"tool_call_id"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name       string          `json:"name"`
				Parameters json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	c := &Conversation{}
	for _, t := range in.Tools {
		c.Tools = append(c.Tools, Definition{t.Function.Name, t.Function.Parameters})
	}
	for _, m := range in.Messages {
		text, images := contentOf(m.Content)
		switch m.Role {
		case "user":
			// Images cannot be part of an answer to a call: they come after it.
			if n := len(c.Items); images > 0 && n > 0 && c.Items[n-1].Replies != nil {
				replies := c.Items[n-1].Replies
				replies[len(replies)-1].Images += images
				continue
			}
			c.Items = append(c.Items, Item{User: text})
		case "assistant":
			t := &Turn{Text: text}
			for _, call := range m.ToolCalls {
				t.Calls = append(t.Calls, ToolCall{call.ID, call.Function.Name, call.Function.Arguments})
			}
			c.Items = append(c.Items, Item{Turn: t})
		case "tool":
			c.reply(ToolReply{CallID: m.ToolCallID, Text: text})
		}
	}
	return c, c.answered()
}

// chatMessage returns a turn as a message.
func chatMessage(t Turn) ChatMessage {
	m := ChatMessage{Role: "assistant"}
	if t.Text != "" {
		m.Content = &t.Text
	}
	for _, c := range t.Calls {
		call := ChatCall{ID: c.ID, Type: "function"}
		call.Function.Name, call.Function.Arguments = c.Name, c.Args
		m.ToolCalls = append(m.ToolCalls, call)
	}
	return m
}

func (openAI) parts(t Turn) []event {
	var list []event
	chunk := func(delta, reason any) {
		choice := map[string]any{"index": 0, "delta": delta, "finish_reason": reason}
		list = append(list, event{data: map[string]any{"object": "chat.completion.chunk", "choices": []any{choice}}})
	}
	chunk(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, p := range halves(t.Text) {
		chunk(map[string]any{"content": p}, nil)
	}
	for i, call := range chatMessage(t).ToolCalls {
		call.Index = &i
		for _, p := range halves(call.Function.Arguments) {
			call.Function.Arguments = p
			chunk(map[string]any{"tool_calls": []ChatCall{call}}, nil)
			call = ChatCall{Index: &i} // what it is was said with the first part
		}
	}
	chunk(map[string]any{}, t.reason("stop", "tool_calls"))
	return append(list, event{data: json.RawMessage("[DONE]")})
}
