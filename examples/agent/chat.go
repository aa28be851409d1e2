package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/format"
)

// A chat is a conversation through OpenAI's Chat Completions, or any of the
// servers that speak it.
type chat struct {
	endpoint
	model    string
	tools    json.RawMessage
	messages []any
	ids      map[string]bool // of all calls so far
}

type chatMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	ToolCalls []chatCall `json:"tool_calls,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func newChat(e endpoint, name, system string, list []tools.Tool, strict bool) (*chat, error) {
	definitions, err := format.OpenAIChat{Strict: strict}.Tools(list)
	if err != nil {
		return nil, err
	}
	c := &chat{endpoint: e, model: name, tools: definitions}
	c.messages = append(c.messages, chatMessage{Role: "system", Content: &system})
	return c, nil
}

func (c *chat) user(text string) {
	c.messages = append(c.messages, chatMessage{Role: "user", Content: &text})
}

func (c *chat) results(replies []*tools.Answer) error {
	var messages []any
	if err := json.Unmarshal(format.OpenAIChat{}.Results(replies...), &messages); err != nil {
		return err
	}
	c.messages = append(c.messages, messages...)
	return nil
}

func (c *chat) next(ctx context.Context, say func(string)) (turn, error) {
	var answer chatAnswer
	request := map[string]any{"model": c.model, "messages": c.messages, "tools": c.tools, "stream": true}
	err := c.try(ctx, func() error {
		answer = chatAnswer{say: say}
		if err := c.stream(ctx, request, answer.event, answer.whole); err != nil {
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
	if c.ids == nil {
		c.ids = map[string]bool{}
	}
	t, m := answer.finish(len(c.messages), c.ids)
	c.messages = append(c.messages, m)
	return t, nil
}

// A chatAnswer collects the parts of an answer.
type chatAnswer struct {
	say    func(string)
	text   string
	calls  []chatCall
	slots  map[int]int // index in the stream to index in calls
	reason string
}

// chatChunk is an event, or with Message for Delta a whole answer.
type chatChunk struct {
	Choices []struct {
		Delta        chatDelta `json:"delta"`
		Message      chatDelta `json:"message"`
		FinishReason string    `json:"finish_reason"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"`
}

type chatDelta struct {
	Content   string `json:"content"`
	Refusal   string `json:"refusal"`
	ToolCalls []struct {
		Index    *int         `json:"index"`
		ID       string       `json:"id"`
		Function chatFunction `json:"function"`
	} `json:"tool_calls"`
}

func (a *chatAnswer) event(e event) error {
	if string(e.data) == "[DONE]" {
		return errDone
	}
	return a.whole(e.data)
}

func (a *chatAnswer) whole(data []byte) error {
	var chunk chatChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return fmt.Errorf("the server sent no JSON: %w", err)
	}
	if len(chunk.Error) > 0 && string(chunk.Error) != "null" {
		return streamError(data)
	}
	for _, choice := range chunk.Choices {
		a.add(&choice.Delta)
		a.add(&choice.Message)
		if choice.FinishReason != "" {
			a.reason = choice.FinishReason
		}
	}
	return nil
}

func (a *chatAnswer) add(d *chatDelta) {
	if text := d.Content + d.Refusal; text != "" {
		a.text += text
		a.say(text)
	}
	for _, part := range d.ToolCalls {
		c := a.call(part.Index, part.ID)
		c.ID = firstOf(c.ID, part.ID)
		c.Function.Name += part.Function.Name
		c.Function.Arguments += part.Function.Arguments
	}
}

// call returns the call that a part belongs to. Some servers leave the index
// out and send each call in one part, or under an id of its own.
func (a *chatAnswer) call(index *int, id string) *chatCall {
	if index != nil {
		if i, ok := a.slots[*index]; ok && (id == "" || a.calls[i].ID == id || a.calls[i].ID == "") {
			return &a.calls[i]
		}
	} else if n := len(a.calls); n > 0 && id == "" {
		return &a.calls[n-1]
	}
	a.calls = append(a.calls, chatCall{Type: "function"})
	if index != nil {
		if a.slots == nil {
			a.slots = map[int]int{}
		}
		a.slots[*index] = len(a.calls) - 1
	}
	return &a.calls[len(a.calls)-1]
}

// finish returns the turn and the message that stands for it. Servers that
// parse the conversation want names and arguments that are in order; what a
// call really said goes into the turn. turnNo makes ids where there are none, or where the server has given one
// before, as those do that count from zero in every turn: by its id, a call that
// is repeated would be taken for the same one.
func (a *chatAnswer) finish(turnNo int, used map[string]bool) (turn, chatMessage) {
	t := turn{note: chatNotes[a.reason]}
	m := chatMessage{Role: "assistant"}
	if a.text != "" || len(a.calls) == 0 {
		m.Content = &a.text
	}
	for i, c := range a.calls {
		if c.ID == "" || used[c.ID] {
			c.ID = fmt.Sprintf("call_%d_%d", turnNo, i)
		}
		used[c.ID] = true
		t.calls = append(t.calls, tools.Invocation{ID: c.ID, Tool: c.Function.Name, Args: json.RawMessage(c.Function.Arguments)})
		c.Function.Name = validName(c.Function.Name)
		if !isObject([]byte(c.Function.Arguments)) {
			c.Function.Arguments = "{}"
		}
		m.ToolCalls = append(m.ToolCalls, c)
	}
	return t, m
}

// chatNotes are the reasons for an end that are worth telling.
var chatNotes = map[string]string{
	"length":         "The model was cut off at the limit of its output.",
	"content_filter": "The answer was withheld by the provider's content filter.",
}
