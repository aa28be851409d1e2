package scripted

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// anthropic is the form of the Messages API.
type anthropic struct{}

func (anthropic) authorized(h http.Header) *refusal {
	if h.Get("X-Api-Key") == "" && !strings.HasPrefix(h.Get("Authorization"), "Bearer ") {
		return &refusal{http.StatusUnauthorized, "authentication_error", "no key in x-api-key"}
	}
	if h.Get("Anthropic-Version") != "2023-06-01" {
		return refuse("anthropic-version is %q, not 2023-06-01", h.Get("Anthropic-Version"))
	}
	return nil
}

func (anthropic) refuse(w http.ResponseWriter, r *refusal) {
	writeJSON(w, r.status, map[string]any{"type": "error", "error": map[string]any{"type": r.kind, "message": r.message}})
}

type messageBlock struct {
	Type  string          `json:"type"`
	Text  *string         `json:"text,omitempty"`
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
}

type messageUsage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
}

type messageBody struct {
	ID         string         `json:"id"`
	Type       string         `json:"type"`
	Role       string         `json:"role"`
	Model      string         `json:"model"`
	Content    []messageBlock `json:"content"`
	StopReason *string        `json:"stop_reason"`
	Usage      messageUsage   `json:"usage"`
}

func messageReason(t Turn) string {
	switch {
	case t.Stop != "":
		return t.Stop
	case len(t.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func (anthropic) whole(w io.Writer, q *request, t Turn) error {
	reason := messageReason(t)
	m := messageBody{ID: "msg_1", Type: "message", Role: "assistant", Model: q.model, Content: []messageBlock{}, StopReason: &reason}
	m.Usage.InputTokens, m.Usage.OutputTokens = count(q, t)
	if t.Text != "" {
		m.Content = append(m.Content, messageBlock{Type: "text", Text: &t.Text})
	}
	for _, c := range t.Calls {
		m.Content = append(m.Content, messageBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: json.RawMessage(c.Args)})
	}
	return json.NewEncoder(w).Encode(m)
}

func (anthropic) stream(w *events, q *request, t Turn) error {
	in, out := count(q, t)
	m := messageBody{ID: "msg_1", Type: "message", Role: "assistant", Model: q.model, Content: []messageBlock{}, Usage: messageUsage{in, 1}}
	s := messageStream{events: w}
	s.event("message_start", map[string]any{"message": m})
	s.event("ping", map[string]any{})
	if t.Text != "" {
		empty := ""
		s.block(messageBlock{Type: "text", Text: &empty}, "text_delta", "text", pieces(t.Text))
	}
	for _, c := range t.Calls {
		parts := append([]string{""}, pieces(c.Args)...)
		s.block(messageBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: json.RawMessage("{}")}, "input_json_delta", "partial_json", parts)
	}
	s.event("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": messageReason(t), "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": out},
	})
	s.event("message_stop", map[string]any{})
	return s.err
}

// A messageStream writes events until one fails.
type messageStream struct {
	*events
	blocks int
	err    error
}

func (s *messageStream) event(name string, data map[string]any) {
	if s.err == nil {
		data["type"] = name
		s.err = s.send(name, data)
	}
}

// block writes a content block whose field arrives in parts.
func (s *messageStream) block(first messageBlock, delta, field string, parts []string) {
	s.event("content_block_start", map[string]any{"index": s.blocks, "content_block": first})
	for _, p := range parts {
		s.event("content_block_delta", map[string]any{"index": s.blocks, "delta": map[string]any{"type": delta, field: p}})
	}
	s.event("content_block_stop", map[string]any{"index": s.blocks})
	s.blocks++
}
