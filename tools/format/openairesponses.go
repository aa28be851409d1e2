package format

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/toolcell/toolcell/tools"
)

// OpenAIResponses is the Responses API of OpenAI.
type OpenAIResponses struct {
	// Strict asks for arguments that follow the schema to the letter.
	Strict bool
}

// Tools returns the value of the request's "tools": an array.
func (f OpenAIResponses) Tools(list []tools.Tool) (json.RawMessage, error) {
	return definitions("OpenAI Responses", 128, list, func(t *tools.Tool) any {
		def := function(t, f.Strict)
		def["type"] = "function"
		return def
	})
}

// Results returns the input items that answer a turn's calls: an array of
// function_call_output items.
func (f OpenAIResponses) Results(replies ...*tools.Answer) json.RawMessage {
	items := []any{}
	for _, r := range replies {
		item := members{"type": "function_call_output", "call_id": r.CallID, "output": r.Text}
		if len(r.Images) > 0 {
			parts := []any{members{"type": "input_text", "text": r.Text}}
			for _, img := range r.Images {
				parts = append(parts, members{"type": "input_image", "image_url": dataURL(img), "detail": "auto"})
			}
			item["output"] = parts
		}
		items = append(items, item)
	}
	return marshal(items)
}

// User implements [Model].
func (f OpenAIResponses) User(text string) json.RawMessage { return userMessage(text) }

// Turn implements [Model]; reply may also be the array of the output items. Turn.Messages
// begin with these items; a program that sends previous_response_id sends
// Results(turn.Answers...) alone.
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

// Read implements [Model].
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
