package format

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/toolcell/toolcell/tools"
)

// User returns the message of a user.
func (f Ollama) User(text string) json.RawMessage { return userMessage(text) }

// Turn serves the calls in reply: the body of the API's answer, or the message
// in it. opts may be nil.
func (f Ollama) Turn(ctx context.Context, d Dispatcher, reply json.RawMessage, opts *tools.TurnOptions) (*Turn, error) {
	var body struct {
		Message object `json:"message"`
		Done    string `json:"done_reason"`
	}
	if err := decode(reply, &body); err != nil {
		return nil, err
	}
	message := body.Message
	if message == nil {
		if err := decode(reply, &message); err != nil {
			return nil, err
		}
	}
	if message.text("role") == "" {
		return nil, fmt.Errorf("format: %w: no message of the assistant", ErrIncomplete)
	}
	t := &Turn{Stop: body.Done, Text: message.text("content")}
	var calls []object
	if message.has("tool_calls") {
		if err := json.Unmarshal(message["tool_calls"], &calls); err != nil {
			return nil, fmt.Errorf("format: tool_calls: %w", err)
		}
	}
	for _, call := range calls {
		function := object{}
		_ = json.Unmarshal(call["function"], &function)
		call.set("id", t.call(call.text("id"), function.text("name"), function["arguments"]))
		function["arguments"] = objectOr(function["arguments"])
		call.set("function", function)
	}
	if len(calls) > 0 {
		message.set("tool_calls", calls)
	}
	t.serve(ctx, d, opts)
	t.Messages = append([]json.RawMessage{marshal(message)}, elements(f.Results(t.Answers...))...)
	return t, nil
}

// Read reads the body of the API's answer and returns it for Turn. If it is a
// stream, its lines are put together, and say, if not nil, is called with each
// piece of the model's text.
func (f Ollama) Read(body io.Reader, say func(text string)) (json.RawMessage, error) {
	return read(body, say, &lineAssembler{})
}

type lineAssembler struct {
	body    object
	message merger
	calls   []json.RawMessage
}

func (a *lineAssembler) event(data []byte, say func(string)) error {
	var line struct {
		Message object `json:"message"`
		Done    bool   `json:"done"`
	}
	if err := decode(data, &line); err != nil {
		return err
	}
	if text := line.Message.text("content"); text != "" {
		say(text)
	}
	a.message.add(line.Message, "tool_calls")
	if line.Message.has("tool_calls") {
		var calls []json.RawMessage
		if err := json.Unmarshal(line.Message["tool_calls"], &calls); err != nil {
			return fmt.Errorf("format: tool_calls: %w", err)
		}
		a.calls = append(a.calls, calls...)
	}
	if !line.Done {
		return nil
	}
	if err := decode(data, &a.body); err != nil {
		return err
	}
	return errDone
}

func (a *lineAssembler) reply() (json.RawMessage, error) {
	if a.body == nil {
		return nil, fmt.Errorf("format: %w", ErrIncomplete)
	}
	message := a.message.object()
	if a.calls != nil {
		message.set("tool_calls", a.calls)
	}
	a.body.set("message", message)
	return marshal(a.body), nil
}
