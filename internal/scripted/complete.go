package scripted

import (
	"context"
	"encoding/json"
	"errors"
)

// Complete is one request of Chat Completions without the HTTP around it.
func Complete(ctx context.Context, m Model, tools json.RawMessage, messages []any) (ChatMessage, error) {
	body, err := json.Marshal(map[string]any{"model": "script", "tools": tools, "messages": messages})
	if err != nil {
		return ChatMessage{}, err
	}
	q, no := openAI{}.decode(body)
	if no != nil {
		return ChatMessage{}, errors.New(no.message)
	}
	t, err := m(ctx, &q.conversation)
	if err != nil {
		return ChatMessage{}, err
	}
	return chatMessage(t), nil
}
