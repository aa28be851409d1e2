package format

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/toolcell/toolcell/tools"
)

// User returns the input item of a user.
func (f OpenAIResponses) User(text string) json.RawMessage { return userMessage(text) }

// Turn serves the calls in reply: the body of the API's answer, or the array of
// its output items. opts may be nil. Turn.Messages begin with these items; a
// program that sends previous_response_id sends Results(turn.Answers...) alone.
func (f OpenAIResponses) Turn(ctx context.Context, d Dispatcher, reply json.RawMessage, opts *tools.TurnOptions) (*Turn, error) {
	var body struct {
		Output     []object `json:"output"`
		Status     string   `json:"status"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
	}
	if len(reply) > 0 && reply[0] == '[' {
		if err := decode(reply, &body.Output); err != nil {
			return nil, err
		}
	} else if err := decode(reply, &body); err != nil {
		return nil, err
	}
	t := &Turn{Stop: body.Status}
	if body.Incomplete.Reason != "" {
		t.Stop = body.Incomplete.Reason
	}
	for _, item := range body.Output {
		switch item.text("type") {
		case "function_call":
			item.set("call_id", t.call(item.text("call_id"), item.text("name"), json.RawMessage(item.text("arguments"))))
			item.set("arguments", string(objectOr([]byte(item.text("arguments")))))
		case "message":
			t.Text += textOf(item["content"])
		}
		t.Messages = append(t.Messages, marshal(item))
	}
	if body.Output == nil {
		return nil, fmt.Errorf("format: %w: no output", ErrIncomplete)
	}
	t.serve(ctx, d, opts)
	t.Messages = append(t.Messages, elements(f.Results(t.Answers...))...)
	return t, nil
}

// Read reads the body of the API's answer and returns it for Turn. If it is a
// stream, its events are put together, and say, if not nil, is called with each
// piece of the model's text.
func (f OpenAIResponses) Read(body io.Reader, say func(text string)) (json.RawMessage, error) {
	return read(body, say, &responseAssembler{})
}

type responseAssembler struct {
	items []object
	whole object
}

func (a *responseAssembler) event(data []byte, say func(string)) error {
	if string(data) == "[DONE]" {
		return errDone
	}
	var e struct {
		Type     string   `json:"type"`
		Delta    any      `json:"delta"`
		Item     object   `json:"item"`
		Response object   `json:"response"`
		Output   []object `json:"output"`
	}
	if err := decode(data, &e); err != nil {
		return err
	}
	switch e.Type {
	case "":
		if e.Output == nil {
			return fmt.Errorf("format: %w: no output", ErrIncomplete)
		}
		for _, item := range e.Output { // an answer that is no stream
			if text := textOf(item["content"]); text != "" {
				say(text)
			}
		}
		return decode(data, &a.whole)
	case "response.output_text.delta", "response.refusal.delta":
		if text, ok := e.Delta.(string); ok {
			say(text)
		}
	case "response.output_item.done":
		a.items = append(a.items, e.Item)
	case "response.failed":
		if err := errorOf(marshal(e.Response)); err != nil {
			return err
		}
		return &Error{Message: "the response failed"}
	case "response.completed", "response.incomplete":
		a.whole = e.Response
		var output []object
		if err := json.Unmarshal(a.whole["output"], &output); err != nil || len(output) == 0 {
			a.whole.set("output", append([]object{}, a.items...))
		}
		return errDone
	}
	return nil
}

func (a *responseAssembler) reply() (json.RawMessage, error) {
	if a.whole == nil {
		return nil, fmt.Errorf("format: %w", ErrIncomplete)
	}
	return marshal(a.whole), nil
}
