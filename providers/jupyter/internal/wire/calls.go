package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxPromptCalls is how many calls a Prompt may carry.
const MaxPromptCalls = 8192

// A Prompt is an input_request by which a program calls functions of the host.
type Prompt struct {
	Number int  `json:"n"`     // of the prompt, from 1
	Got    int  `json:"got"`   // the last InputReply that has come
	Again  bool `json:"again"` // those after it are to be sent again
	At     int  `json:"at"`    // the Place in the output behind which the calls are
	Calls  Calls
	Size   int `json:"-"` // bytes of it all
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

// placeMIME marks a place among a program's output, as text.
const placeMIME = "application/vnd.toolcell.place"

// Place reads the number of a place that a kernel marked. It reports false for a
// display that is none, or of which the nonce is another.
func Place(content []byte, nonce string) (number int, ok bool) {
	if !bytes.Contains(content, []byte(placeMIME)) {
		return 0, false
	}
	var c struct{ Data map[string]json.RawMessage }
	var text string
	if json.Unmarshal(content, &c) != nil || json.Unmarshal(c.Data[placeMIME], &text) != nil {
		return 0, false
	}
	text, ours := strings.CutPrefix(text, nonce)
	number, err := strconv.Atoi(text)
	return number, ours && err == nil
}

// IsMark reports whether a display only marks a place in the output.
func IsMark(content []byte) bool {
	if !bytes.Contains(content, []byte(placeMIME)) {
		return false
	}
	var c struct{ Data map[string]json.RawMessage }
	return json.Unmarshal(content, &c) == nil && len(c.Data) == 1 && c.Data[placeMIME] != nil
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

// An InputReply is an input_reply with answers to calls.
type InputReply struct {
	Run     string   `json:"run"`   // the request that the program belongs to
	Number  int      `json:"n"`     // of the reply, from 1; 0 where it has no answers
	Got     int      `json:"got"`   // the last Prompt that has come
	Again   bool     `json:"again"` // those after it are to be sent again
	Answers []Answer `json:"answers"`
}

// An Answer is the answer to a call, or a part of it.
type Answer struct {
	ID   int64
	How  string // "ok": the result as JSON; "error": a message; "more": a part of either follows
	Text string
}

// MarshalJSON writes [id, how, text].
func (a Answer) MarshalJSON() ([]byte, error) { return json.Marshal([]any{a.ID, a.How, a.Text}) }

// Value is the content's value of an input_reply.
func (r *InputReply) Value(nonce string) string {
	if r.Answers == nil {
		r.Answers = []Answer{}
	}
	b, err := json.Marshal(r)
	if err != nil {
		return "" // numbers and strings have a JSON form
	}
	return nonce + string(b)
}

// Cut takes what max bytes can carry from the answers, at least a character,
// and returns that and the rest.
func Cut(answers []Answer, max int) (head, rest []Answer) {
	for size := 0; len(answers) > 0 && size < max; answers = answers[1:] {
		a := answers[0]
		if room := max - size; len(a.Text) > room {
			// JSON makes U+FFFD of a character that is cut. Forwards, so that
			// each piece has one character at least.
			for room < len(a.Text) && !utf8.RuneStart(a.Text[room]) {
				room++
			}
			if room < len(a.Text) {
				head = append(head, Answer{ID: a.ID, How: "more", Text: a.Text[:room]})
				a.Text = a.Text[room:]
				return head, append([]Answer{a}, answers[1:]...)
			}
		}
		head = append(head, a)
		size += a.Size()
	}
	return head, answers
}

// Size is about how many bytes an answer takes, alone in a reply that is kept.
func (a *Answer) Size() int { return len(a.Text) + AnswerSize }

// AnswerSize is about what an answer takes beside its text.
const AnswerSize = 128
