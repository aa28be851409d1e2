package format

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/toolcell/toolcell/tools"
)

// A Model is what the formats of the models' APIs have in common: OpenAIChat,
// OpenAIResponses, Anthropic, Gemini and Ollama.
type Model interface {
	// Tools renders the definitions of tools.
	Tools(list []tools.Tool) (json.RawMessage, error)
	// User renders what a user says.
	User(text string) json.RawMessage
	// Read reads the body of the API's answer.
	Read(body io.Reader, say func(text string)) (json.RawMessage, error)
	// Turn serves the calls in the API's answer.
	Turn(ctx context.Context, d Dispatcher, reply json.RawMessage, opts *tools.TurnOptions) (*Turn, error)
	// Results renders the answers to the calls of a turn.
	Results(answers ...*tools.Answer) json.RawMessage
}

// A Dispatcher serves the calls of a turn, as a [tools.Set] and a workspace do.
type Dispatcher interface {
	DispatchAll(ctx context.Context, calls []tools.Invocation, opts *tools.TurnOptions) []*tools.Answer
}

// A Turn is a turn of a model whose calls have been served.
type Turn struct {
	// Messages are what to append to the conversation: what the model said, in
	// the form that the API takes back, and the answers to its calls.
	Messages []json.RawMessage

	// More reports whether to send the conversation to the model again.
	More bool

	// Text is what the model said to the user.
	Text string

	// Stop is the API's reason for the end of the turn, such as "stop",
	// "max_tokens" or "SAFETY". It is empty if the API gave none.
	Stop string

	// Calls and Answers are the calls of the model and what was answered.
	Calls   []tools.Invocation
	Answers []*tools.Answer
}

// ErrIncomplete is the error for an answer of the API that broke off: ask again.
var ErrIncomplete = errors.New("the model's turn is incomplete")

// An Error is an error that the API answered with, also in the middle of a
// stream.
type Error struct {
	Type    string // the API's name of the error, such as "overloaded_error"
	Message string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Type == "" {
		return "format: the API failed: " + e.Message
	}
	return fmt.Sprintf("format: the API failed: %s: %s", e.Type, e.Message)
}

// Append appends messages to list, decoding each into the type of an SDK.
func Append[T any](list []T, messages ...json.RawMessage) ([]T, error) {
	for _, m := range messages {
		var v T
		if err := json.Unmarshal(m, &v); err != nil {
			return list, fmt.Errorf("format: %w", err)
		}
		list = append(list, v)
	}
	return list, nil
}

// serve serves the turn's calls.
func (t *Turn) serve(ctx context.Context, d Dispatcher, opts *tools.TurnOptions) {
	if len(t.Calls) > 0 {
		t.More = true
		t.Answers = d.DispatchAll(ctx, t.Calls, opts)
	}
}

// call adds a call, and returns its id: a new one if it has none or one that
// another call of the turn has.
func (t *Turn) call(id, name string, args json.RawMessage) string {
	for i := range t.Calls {
		if t.Calls[i].ID == id {
			id = ""
		}
	}
	if id == "" {
		id = "call_" + rand.Text()
	}
	t.Calls = append(t.Calls, tools.Invocation{ID: id, Tool: name, Args: args})
	return id
}

// decode decodes what the API sent, unless that is an error.
func decode(reply []byte, v any) error {
	if err := errorOf(reply); err != nil {
		return err
	}
	if err := json.Unmarshal(reply, v); err != nil {
		return fmt.Errorf("format: the API's answer: %w", err)
	}
	return nil
}

// errorOf returns the error that the API sent, nil if it is none.
func errorOf(reply []byte) error {
	var body struct {
		Type    string          `json:"type"`
		Error   json.RawMessage `json:"error"`
		Code    any             `json:"code"`
		Message any             `json:"message"`
	}
	if json.Unmarshal(reply, &body) != nil {
		return nil // not an object; whoever decodes it says so
	}
	if len(body.Error) == 0 || string(body.Error) == "null" {
		if text, ok := body.Message.(string); ok && body.Type == "error" {
			code, _ := body.Code.(string)
			return &Error{Type: code, Message: text}
		}
		return nil
	}
	var detail struct {
		Type    string `json:"type"`
		Status  string `json:"status"`
		Code    any    `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(body.Error, &detail) != nil || detail.Message == "" {
		return &Error{Message: string(body.Error)}
	}
	e := &Error{Type: detail.Type + detail.Status, Message: detail.Message}
	if code, ok := detail.Code.(string); ok && e.Type == "" {
		e.Type = code
	}
	return e
}

// objectOr returns args if they are a JSON object, otherwise an empty one:
// servers parse the conversation that they are sent.
func objectOr(args []byte) json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal(args, &o) != nil || o == nil {
		return json.RawMessage("{}")
	}
	return args
}

var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// validName returns the name of a tool in a form that can be sent back, also if
// the model made one up.
func validName(name string) string {
	name = notInNames.ReplaceAllString(name, "_")
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), 64)]
}

// textOf returns a content that is a string or an array of parts as text.
func textOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct{ Type, Text string }
	_ = json.Unmarshal(content, &parts)
	for _, p := range parts {
		if p.Type == "text" || p.Type == "output_text" {
			text += p.Text
		}
	}
	return text
}

// userMessage is what a user says, in the form that most APIs share.
func userMessage(text string) json.RawMessage {
	return marshal(struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}{"user", text})
}
