package format

import (
	"cmp"
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
// OpenAIResponses, Anthropic and Gemini.
type Model interface {
	// Tools renders the definitions of tools.
	Tools(list []tools.Tool) (json.RawMessage, error)
	// User renders the message of a user.
	User(text string) json.RawMessage
	// Read reads the body of the API's answer and returns it for Turn. If it is a stream,
	// its events are put together, and say, if not nil, is called with each piece of the
	// model's text.
	Read(body io.Reader, say func(text string)) (json.RawMessage, error)
	// Turn serves the calls in reply: the body of the API's answer, or the message in it.
	// opts may be nil. Calls that are faulty are answered like all others; the error is
	// about reply alone.
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

// madeID begins the ids of calls to which the API gave none.
const madeID = "toolcell_call_"

// call adds a call, and returns its id: a new one if it has none or one that
// another call of the turn has.
func (t *Turn) call(id, name string, args json.RawMessage) string {
	for i := range t.Calls {
		if t.Calls[i].ID == id {
			id = ""
		}
	}
	if id == "" {
		id = madeID + rand.Text()
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
	type detail struct {
		Type, Status string
		Code         any
		Message      string
	}
	var body struct {
		detail
		Error json.RawMessage
	}
	_ = json.Unmarshal(reply, &body) // members of other types are not ours
	d := body.detail
	switch {
	case len(body.Error) > 0 && string(body.Error) != "null":
		d = detail{}
		if json.Unmarshal(body.Error, &d) != nil || d.Message == "" {
			return &Error{Message: string(body.Error)}
		}
	case d.Type != "error" || d.Message == "":
		return nil
	default:
		d.Type = ""
	}
	code, _ := d.Code.(string)
	return &Error{Type: cmp.Or(d.Type+d.Status, code), Message: d.Message}
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
	return marshal(members{"role": "user", "content": text})
}
