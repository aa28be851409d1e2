package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxPromptCalls is how many calls a Prompt may carry.
const MaxPromptCalls = 8192

// A Prompt is an input_request by which a program calls functions of the host.
type Prompt struct {
	Epoch int // lost connections that the kernel has heard of
	Calls Calls
	Size  int `json:"-"` // bytes of it all
}

// Calls are the calls of a Prompt.
type Calls []FunctionCall

// A FunctionCall is one call of a function: the number that the kernel gave it, the
// function's name, and what should be a JSON object.
type FunctionCall struct {
	ID   int64
	Name string
	Args json.RawMessage
}

// ParsePrompt reads the content of an input_request. It reports false for a
// question that does not begin with the nonce, the program's own.
func ParsePrompt(content []byte, nonce string) (p *Prompt, ours bool, err error) {
	var c struct{ Prompt string }
	if err := json.Unmarshal(content, &c); err != nil {
		return nil, false, err
	}
	text, ours := strings.CutPrefix(c.Prompt, nonce)
	if !ours {
		return nil, false, nil
	}
	p = &Prompt{Size: len(text)}
	if err := json.Unmarshal([]byte(text), p); err != nil {
		return nil, true, err
	}
	return p, true, nil
}

var errCalls = fmt.Errorf("a prompt of more than %d calls", MaxPromptCalls)

// UnmarshalJSON reads an array of [id, name, args], and stops at too many.
func (c *Calls) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.New("calls that are no array")
	}
	for d.More() {
		if len(*c) == MaxPromptCalls {
			return errCalls
		}
		var call FunctionCall
		// A new one for each: decoding writes over the bytes that a RawMessage holds.
		var args json.RawMessage
		// The array's elements go where the pointers lead, and have to be of those
		// types. Those beyond are read over, which they are not for a slice.
		if err := d.Decode(&[3]any{&call.ID, &call.Name, &args}); err != nil {
			return err
		}
		call.Args = args
		*c = append(*c, call)
	}
	return nil
}

// An Answer is an input_reply with the answer to a call, or a part of it.
type Answer struct {
	Run  string `json:"run"` // the request that the program belongs to
	ID   int64  `json:"id"`  // of the call
	How  string `json:"how"` // see below
	Text string `json:"text"`
}

// The values of Answer.How are "ok", with the result as JSON; "error", with a message;
// "more", with a part of either; and "lost", for all calls, with the number of lost
// connections as the ID.

// Value is the content's value of an input_reply.
func (a *Answer) Value(nonce string) string {
	b, err := json.Marshal(a)
	if err != nil {
		return "" // numbers and strings have a JSON form
	}
	return nonce + string(b)
}

// Cut parts text after about max bytes, and not within a character, of which JSON would
// make U+FFFD.
func Cut(text string, max int) (head, rest string) {
	for max < len(text) && !utf8.RuneStart(text[max]) {
		max++
	}
	max = min(max, len(text))
	return text[:max], text[max:]
}
