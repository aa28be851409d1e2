package format

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/toolcell/toolcell/tools"
)

// OpenAIChat is the Chat Completions API of OpenAI and of the many servers
// that speak it, such as Ollama at /v1.
type OpenAIChat struct {
	// Strict asks for arguments that follow the schema to the letter.
	Strict bool
}

// Tools returns the value of the request's "tools": an array.
func (f OpenAIChat) Tools(list []tools.Tool) (json.RawMessage, error) {
	return definitions("OpenAI Chat Completions", 64, list, func(t *tools.Tool) any {
		return members{"type": "function", "function": function(t, f.Strict)}
	})
}

// Results returns the messages that answer a turn's calls: an array of one
// tool message for each, and, since tool messages hold no images, a user
// message with the images of all.
func (f OpenAIChat) Results(replies ...*tools.Answer) json.RawMessage {
	messages, parts := []any{}, []any{}
	for _, r := range replies {
		messages = append(messages, members{"role": "tool", "tool_call_id": r.CallID, "content": r.Text})
		for i, img := range r.Images {
			// The images of all calls stand in one message: the model has to know
			// whose each is.
			label := fmt.Sprintf("Image %d of the result of %s (call %s):", i+1, r.Tool, r.CallID)
			parts = append(parts, members{"type": "text", "text": label},
				members{"type": "image_url", "image_url": members{"url": dataURL(img)}})
		}
	}
	if len(parts) > 0 {
		messages = append(messages, members{"role": "user", "content": parts})
	}
	return marshal(messages)
}

func dataURL(img tools.Image) string {
	return "data:" + img.MIME + ";base64," + base64.StdEncoding.EncodeToString(img.Data)
}

// User implements [Model].
func (f OpenAIChat) User(text string) json.RawMessage { return userMessage(text) }

// Turn implements [Model].
func (f OpenAIChat) Turn(ctx context.Context, d Dispatcher, reply json.RawMessage, opts *tools.TurnOptions) (*Turn, error) {
	var body struct {
		Choices []struct {
			Message object `json:"message"`
			Finish  string `json:"finish_reason"`
		} `json:"choices"`
	}
	var message object
	if err := decode(reply, &body); err != nil {
		return nil, err
	}
	t := &Turn{}
	if len(body.Choices) > 0 {
		message, t.Stop = body.Choices[0].Message, body.Choices[0].Finish
	} else if err := decode(reply, &message); err != nil {
		return nil, err
	}
	if !message.has("content") && !message.has("tool_calls") && !message.has("refusal") && message.text("role") == "" {
		return nil, fmt.Errorf("format: %w: no message of the assistant", ErrIncomplete)
	}
	back, err := t.chatMessage(message)
	if err != nil {
		return nil, err
	}
	t.serve(ctx, d, opts)
	t.Messages, err = Append([]json.RawMessage{back}, elements(f.Results(t.Answers...))...)
	return t, err
}

// chatMessage notes what a message says and returns it as it is sent back:
// servers want names and arguments that are in order.
func (t *Turn) chatMessage(message object) (json.RawMessage, error) {
	t.Text = textOf(message["content"]) + message.text("refusal")
	back := object{}
	for name := range message {
		if message.has(name) && name != "annotations" && name != "function_call" {
			back[name] = message[name]
		}
	}
	back.set("role", "assistant")
	calls, err := message.list("tool_calls")
	if err != nil {
		return nil, err
	}
	delete(back, "tool_calls")
	if len(calls) == 0 && !back.has("content") {
		back.set("content", t.Text)
	}
	for _, call := range calls {
		function := object{}
		_ = json.Unmarshal(call["function"], &function)
		args := function["arguments"] // an object, as some servers send it
		if text := function.text("arguments"); text != "" || !function.has("arguments") {
			args = json.RawMessage(text)
		}
		call.set("id", t.call(call.text("id"), function.text("name"), args))
		call.set("type", "function")
		function.set("name", validName(function.text("name")))
		function.set("arguments", string(objectOr(args)))
		call.set("function", function)
		delete(call, "index")
	}
	if len(calls) > 0 {
		back.set("tool_calls", calls)
	}
	return marshal(back), nil
}

// elements returns the elements of an array that this package made.
func elements(array json.RawMessage) (list []json.RawMessage) {
	if err := json.Unmarshal(array, &list); err != nil {
		panic(fmt.Sprintf("format: %v", err))
	}
	return list
}

// Read implements [Model].
func (f OpenAIChat) Read(body io.Reader, say func(text string)) (json.RawMessage, error) {
	return read(body, say, &chatAssembler{slots: map[int]*chatCall{}})
}

type chatAssembler struct {
	body    merger
	message merger
	calls   []*chatCall
	slots   map[int]*chatCall // by index in the stream
	finish  string
	any     bool
}

// A chatCall is a call of which parts have arrived.
type chatCall struct {
	id             string
	fields, callee merger
}

func (a *chatAssembler) event(data []byte, say func(string)) error {
	if strings.TrimSpace(string(data)) == "[DONE]" {
		return errDone
	}
	var chunk object
	if err := decode(data, &chunk); err != nil {
		return err
	}
	var choices []struct {
		Delta   object `json:"delta"`
		Message object `json:"message"` // of an answer that is no stream
		Finish  string `json:"finish_reason"`
	}
	if chunk.has("choices") {
		if err := json.Unmarshal(chunk["choices"], &choices); err != nil {
			return fmt.Errorf("format: choices: %w", err)
		}
	}
	a.body.fields = chunk
	for _, c := range choices[:min(len(choices), 1)] {
		for _, delta := range []object{c.Delta, c.Message} {
			if text := textOf(delta["content"]) + delta.text("refusal"); text != "" {
				say(text)
			}
			a.message.add(delta, "tool_calls")
			if err := a.addCalls(delta); err != nil {
				return err
			}
		}
		a.any = true
		if c.Finish != "" {
			a.finish = c.Finish
		}
	}
	return nil
}

func (a *chatAssembler) addCalls(delta object) error {
	parts, err := delta.list("tool_calls")
	for _, part := range parts {
		c := a.call(part)
		c.fields.add(part, "function", "index")
		var function object
		_ = json.Unmarshal(part["function"], &function)
		c.callee.add(function)
	}
	return err
}

// call returns the call that a part belongs to. Some servers leave the index
// out and send each call in one part, or under an id of its own.
func (a *chatAssembler) call(part object) *chatCall {
	id := part.text("id")
	var index int
	indexed := part.has("index") && json.Unmarshal(part["index"], &index) == nil
	if indexed {
		if c := a.slots[index]; c != nil && (id == "" || c.id == id || c.id == "") {
			c.id = cmp.Or(c.id, id)
			return c
		}
	} else if n := len(a.calls); n > 0 && id == "" {
		return a.calls[n-1]
	}
	c := &chatCall{id: id}
	a.calls = append(a.calls, c)
	if indexed {
		a.slots[index] = c
	}
	return c
}

func (a *chatAssembler) reply() (json.RawMessage, error) {
	if !a.any || a.finish == "" {
		return nil, fmt.Errorf("format: %w", ErrIncomplete)
	}
	message := a.message.object()
	var calls []object
	for _, c := range a.calls {
		call := c.fields.object()
		call.set("function", c.callee.object())
		calls = append(calls, call)
	}
	if calls != nil {
		message.set("tool_calls", calls)
	}
	body := a.body.object()
	body.set("choices", []any{members{"index": 0, "message": message, "finish_reason": a.finish}})
	return marshal(body), nil
}
