package scripted

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// openAI is the form of the Chat Completions API.
type openAI struct{}

func (openAI) authorized(h http.Header) *refusal {
	if key, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer "); !ok || key == "" {
		return &refusal{http.StatusUnauthorized, "invalid_request_error", "no key in Authorization: Bearer"}
	}
	return nil
}

func (openAI) refuse(w http.ResponseWriter, r *refusal) {
	writeJSON(w, r.status, map[string]any{"error": map[string]any{"message": r.message, "type": r.kind, "param": nil, "code": nil}})
}

// A ChatMessage is what Chat Completions answers with, and what it takes as
// part of a conversation.
type ChatMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	ToolCalls []ChatCall `json:"tool_calls,omitempty"`
}

// A ChatCall is a call in a ChatMessage.
type ChatCall struct {
	Index    *int         `json:"index,omitempty"` // only in streams
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function ChatFunction `json:"function"`
}

// A ChatFunction says which function a ChatCall calls.
type ChatFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"` // the text of a JSON object, if the model got it right
}

// chatMessage returns a turn as a message.
func chatMessage(t Turn) ChatMessage {
	m := ChatMessage{Role: "assistant"}
	if t.Text != "" {
		m.Content = &t.Text
	}
	for _, c := range t.Calls {
		m.ToolCalls = append(m.ToolCalls, ChatCall{ID: c.ID, Type: "function", Function: ChatFunction{c.Name, c.Args}})
	}
	return m
}

func chatReason(t Turn) string {
	switch {
	case t.Stop != "":
		return t.Stop
	case len(t.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

type chatChoice struct {
	Index        int     `json:"index"`
	Message      any     `json:"message,omitempty"`
	Delta        any     `json:"delta,omitempty"`
	FinishReason *string `json:"finish_reason"`
}

type chatUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

type chatBody struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage,omitempty"`
}

func (openAI) whole(w io.Writer, q *request, t Turn) error {
	reason := chatReason(t)
	return json.NewEncoder(w).Encode(chatBody{
		ID: "chatcmpl-1", Object: "chat.completion", Model: q.model, Usage: countChat(q, t),
		Choices: []chatChoice{{Message: chatMessage(t), FinishReason: &reason}},
	})
}

// countChat makes up the usage: a token for four characters.
func countChat(q *request, t Turn) *chatUsage {
	in, out := count(q, t)
	return &chatUsage{in, out, in + out}
}

func count(q *request, t Turn) (in, out int) {
	for _, it := range q.conversation.Items {
		in += len(it.User)
		for _, r := range it.Replies {
			in += len(r.Text)
		}
	}
	out = len(t.Text)
	for _, c := range t.Calls {
		out += len(c.Args)
	}
	return 1 + in/4, 1 + out/4
}

func (openAI) stream(w *events, q *request, t Turn) error {
	chunk := func(delta any, reason *string) error {
		return w.send("", chatBody{ID: "chatcmpl-1", Object: "chat.completion.chunk", Model: q.model,
			Choices: []chatChoice{{Delta: delta, FinishReason: reason}}})
	}
	if err := chunk(map[string]any{"role": "assistant", "content": ""}, nil); err != nil {
		return err
	}
	for _, p := range pieces(t.Text) {
		if err := chunk(map[string]any{"content": p}, nil); err != nil {
			return err
		}
	}
	for i, c := range t.Calls {
		part := ChatCall{Index: &i, ID: c.ID, Type: "function", Function: ChatFunction{Name: c.Name}}
		for _, p := range append([]string{""}, pieces(c.Args)...) {
			part.Function.Arguments = p
			if err := chunk(map[string]any{"tool_calls": []ChatCall{part}}, nil); err != nil {
				return err
			}
			part = ChatCall{Index: &i}
		}
	}
	reason := chatReason(t)
	if err := chunk(map[string]any{}, &reason); err != nil {
		return err
	}
	if q.usage {
		last := chatBody{ID: "chatcmpl-1", Object: "chat.completion.chunk", Model: q.model, Choices: []chatChoice{}, Usage: countChat(q, t)}
		if err := w.send("", last); err != nil {
			return err
		}
	}
	return w.send("", []byte("[DONE]"))
}
