package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/format"
)

// A messages is a conversation through Anthropic's Messages API.
type messages struct {
	endpoint
	model     string
	system    string
	tools     json.RawMessage
	maxTokens int
	list      []any
}

type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

func newMessages(e endpoint, name, system string, list []tools.Tool, strict bool, maxTokens int) (*messages, error) {
	definitions, err := format.Anthropic{Strict: strict}.Tools(list)
	if err != nil {
		return nil, err
	}
	return &messages{endpoint: e, model: name, system: system, tools: definitions, maxTokens: maxTokens}, nil
}

func (m *messages) user(text string) {
	m.list = append(m.list, message{"user", text})
}

func (m *messages) results(replies []*tools.Answer) error {
	m.list = append(m.list, format.Anthropic{}.Results(replies...))
	return nil
}

func (m *messages) next(ctx context.Context, say func(string)) (turn, error) {
	var answer messageAnswer
	request := map[string]any{
		"model": m.model, "max_tokens": m.maxTokens, "system": m.system,
		"messages": m.list, "tools": m.tools, "stream": true,
	}
	err := m.try(ctx, func() error {
		answer = messageAnswer{say: say}
		if err := m.stream(ctx, request, answer.event, answer.whole); err != nil {
			return err
		}
		if answer.reason == "" {
			return errIncomplete
		}
		return nil
	})
	if err != nil {
		return turn{}, err
	}
	t, content := answer.finish()
	if len(content) > 0 {
		m.list = append(m.list, message{"assistant", content})
	}
	return t, nil
}

// A block is a part of what the model says: text, a call, or thoughts that it
// wants back unchanged.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature *string         `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`

	args []byte // the input as it came
}

// A messageAnswer collects the parts of an answer.
type messageAnswer struct {
	say    func(string)
	blocks []block
	reason string
}

// messageEvent is an event of a stream, or a whole answer.
type messageEvent struct {
	Type         string `json:"type"`
	ContentBlock block  `json:"content_block"`
	Delta        struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Content    []block `json:"content"`
	StopReason string  `json:"stop_reason"`
}

func (a *messageAnswer) event(ev event) error {
	var e messageEvent
	if err := json.Unmarshal(ev.data, &e); err != nil {
		return fmt.Errorf("the server sent no JSON: %w", err)
	}
	switch e.Type {
	case "error":
		return streamError(ev.data)
	case "content_block_start":
		a.start(e.ContentBlock)
	case "content_block_delta":
		if len(a.blocks) == 0 {
			return errIncomplete
		}
		a.add(&e)
	case "message_delta":
		a.reason = firstOf(e.Delta.StopReason, a.reason)
	case "message_stop":
		return errDone
	}
	return nil
}

func (a *messageAnswer) start(b block) {
	if b.Text != "" {
		a.say(b.Text)
	}
	if s := strings.TrimSpace(string(b.Input)); s != "{}" {
		b.args = []byte(s)
	}
	a.blocks = append(a.blocks, b)
}

func (a *messageAnswer) add(e *messageEvent) {
	b, d := &a.blocks[len(a.blocks)-1], &e.Delta
	switch d.Type {
	case "text_delta":
		b.Text += d.Text
		a.say(d.Text)
	case "input_json_delta":
		b.args = append(b.args, d.PartialJSON...)
	case "thinking_delta":
		b.Thinking = joined(b.Thinking, d.Thinking)
	case "signature_delta":
		b.Signature = joined(b.Signature, d.Signature)
	}
}

func joined(s *string, more string) *string {
	if s != nil {
		more = *s + more
	}
	return &more
}

func (a *messageAnswer) whole(data []byte) error {
	var e messageEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("the server sent no JSON: %w", err)
	}
	if e.Type == "error" {
		return streamError(data)
	}
	for _, b := range e.Content {
		a.start(b)
	}
	a.reason = e.StopReason
	return nil
}

// finish returns the turn and the content that stands for it. The API wants
// objects as inputs and no empty texts; what a call really said goes into the
// turn.
func (a *messageAnswer) finish() (turn, []block) {
	t := turn{note: messageNotes[a.reason], goOn: a.reason == "pause_turn"}
	var content []block
	for _, b := range a.blocks {
		switch b.Type {
		case "text":
			if strings.TrimSpace(b.Text) == "" {
				continue
			}
		case "tool_use":
			b.Input = json.RawMessage("{}")
			if isObject(b.args) {
				b.Input = b.args
			} else if len(b.args) == 0 {
				b.args = b.Input
			}
			t.calls = append(t.calls, tools.Invocation{ID: b.ID, Tool: b.Name, Args: b.args})
			b.Name = validName(b.Name)
		}
		content = append(content, b)
	}
	return t, content
}

// messageNotes are the reasons for an end that are worth telling.
var messageNotes = map[string]string{
	"max_tokens":                    "The model was cut off at the limit of its output; -max-tokens raises it.",
	"model_context_window_exceeded": "The conversation is longer than the model can read.",
	"refusal":                       "The model declined to answer.",
}

func isObject(b []byte) bool {
	b = bytes.TrimSpace(b)
	return len(b) > 0 && b[0] == '{' && json.Valid(b)
}

var badInName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// validName returns a name that can be sent back, where the model made one up
// that cannot.
func validName(name string) string {
	name = badInName.ReplaceAllString(name, "_")
	return firstOf(name[:min(len(name), 64)], "unknown")
}
