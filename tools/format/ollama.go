package format

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/toolcell/toolcell/tools"
)

// Ollama is the chat API of Ollama.
type Ollama struct{}

// Tools returns the value of the request's "tools": an array.
func (f Ollama) Tools(list []tools.Tool) (json.RawMessage, error) {
	return definitions("Ollama", 128, list, func(t *tools.Tool) chatTool {
		return chatTool{"function", function{Name: t.Name, Description: t.Description, Parameters: inputSchema(t, false)}}
	})
}

// Results returns the messages that answer a turn's calls: an array of one
// tool message for each. Images are PNG or JPEG there; others become PNG.
func (f Ollama) Results(replies ...*tools.Answer) json.RawMessage {
	type message struct {
		Role       string   `json:"role"`
		ToolName   string   `json:"tool_name"`
		ToolCallID string   `json:"tool_call_id,omitempty"`
		Content    string   `json:"content"`
		Images     [][]byte `json:"images,omitempty"`
	}
	var messages []message
	for _, r := range replies {
		m := message{Role: "tool", ToolName: r.Tool, ToolCallID: r.CallID, Content: r.Text}
		for _, img := range r.Images {
			m.Images = append(m.Images, img.As("image/png", "image/jpeg").Data)
		}
		messages = append(messages, m)
	}
	return array(messages)
}

// User implements [Model].
func (f Ollama) User(text string) json.RawMessage { return userMessage(text) }

// Turn implements [Model].
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
	calls, err := message.list("tool_calls")
	if err != nil {
		return nil, err
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

// Read implements [Model].
func (f Ollama) Read(body io.Reader, say func(text string)) (json.RawMessage, error) {
	return read(body, say, &lineAssembler{})
}

type lineAssembler struct {
	body    object
	message merger
	calls   []object
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
	calls, err := line.Message.list("tool_calls")
	if a.calls = append(a.calls, calls...); err != nil || !line.Done {
		return err
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
