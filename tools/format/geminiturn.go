package format

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"

	"github.com/toolcell/toolcell/tools"
)

// User returns the content of a user.
func (f Gemini) User(text string) json.RawMessage {
	return marshal(map[string]any{"role": "user", "parts": []any{map[string]string{"text": text}}})
}

// Turn serves the calls in reply: the body of the API's answer, or the content
// in it. opts may be nil.
func (f Gemini) Turn(ctx context.Context, d Dispatcher, reply json.RawMessage, opts *tools.TurnOptions) (*Turn, error) {
	type content struct {
		Role  string            `json:"role"`
		Parts []json.RawMessage `json:"parts"`
	}
	var body struct {
		content
		Candidates []struct {
			Content content `json:"content"`
			Finish  string  `json:"finishReason"`
		} `json:"candidates"`
		Feedback struct {
			Block string `json:"blockReason"`
		} `json:"promptFeedback"`
	}
	if err := decode(reply, &body); err != nil {
		return nil, err
	}
	t := &Turn{Stop: body.Feedback.Block}
	said := body.content
	if len(body.Candidates) > 0 {
		said, t.Stop = body.Candidates[0].Content, body.Candidates[0].Finish
	} else if said.Parts == nil && t.Stop == "" {
		return nil, fmt.Errorf("format: %w: no candidate", ErrIncomplete)
	}
	anonymous := map[int]bool{} // calls that the API gave no id
	for _, part := range said.Parts {
		var p struct {
			Text    string `json:"text"`
			Thought bool   `json:"thought"`
			Call    *struct {
				ID   string          `json:"id"`
				Name string          `json:"name"`
				Args json.RawMessage `json:"args"`
			} `json:"functionCall"`
		}
		if err := json.Unmarshal(part, &p); err != nil {
			return nil, fmt.Errorf("format: parts: %w", err)
		}
		if p.Call != nil {
			anonymous[len(t.Calls)] = p.Call.ID == ""
			t.call(p.Call.ID, p.Call.Name, p.Call.Args)
		} else if !p.Thought {
			t.Text += p.Text
		}
	}
	t.serve(ctx, d, opts)
	if len(said.Parts) > 0 {
		// The parts as they came: the API checks signatures in them.
		t.Messages = append(t.Messages, marshal(content{"model", said.Parts}))
	}
	if len(t.Answers) > 0 {
		t.Messages = append(t.Messages, f.Results(withoutIDs(t.Answers, anonymous)...))
	}
	return t, nil
}

// withoutIDs returns the answers without the ids that the API does not know.
func withoutIDs(answers []*tools.Answer, anonymous map[int]bool) []*tools.Answer {
	list := make([]*tools.Answer, len(answers))
	for i, a := range answers {
		if list[i] = a; anonymous[i] {
			bare := *a
			bare.CallID = ""
			list[i] = &bare
		}
	}
	return list
}

// Read reads the body of the API's answer and returns it for Turn. If it is a
// stream, its events are put together, and say, if not nil, is called with each
// piece of the model's text.
func (f Gemini) Read(body io.Reader, say func(text string)) (json.RawMessage, error) {
	return read(body, say, &contentAssembler{})
}

type contentAssembler struct {
	body      object
	candidate object
	parts     []object
}

func (a *contentAssembler) event(data []byte, say func(string)) error {
	var chunk struct {
		Candidates []object `json:"candidates"`
	}
	var body object
	if err := decode(data, &chunk); err != nil {
		return err
	}
	if err := decode(data, &body); err != nil {
		return err
	}
	if a.body == nil {
		a.body = object{}
	}
	maps.Copy(a.body, body)
	for _, c := range chunk.Candidates[:min(len(chunk.Candidates), 1)] {
		if a.candidate == nil {
			a.candidate = object{}
		}
		maps.Copy(a.candidate, c)
		var content struct {
			Parts []object `json:"parts"`
		}
		_ = json.Unmarshal(c["content"], &content)
		for _, part := range content.Parts {
			a.part(part, say)
		}
	}
	return nil
}

// part adds a part. Pieces of text that follow each other become one.
func (a *contentAssembler) part(p object, say func(string)) {
	text, thought := p.text("text"), string(p["thought"]) == "true"
	if text != "" && !thought {
		say(text)
	}
	if n := len(a.parts); n > 0 && p.has("text") && !a.parts[n-1].has("thoughtSignature") {
		last := a.parts[n-1]
		if last.has("text") && (string(last["thought"]) == "true") == thought {
			last.set("text", last.text("text")+text)
			if p.has("thoughtSignature") {
				last["thoughtSignature"] = p["thoughtSignature"]
			}
			return
		}
	}
	a.parts = append(a.parts, p)
}

func (a *contentAssembler) reply() (json.RawMessage, error) {
	if a.candidate == nil {
		if a.body.has("promptFeedback") {
			return marshal(a.body), nil
		}
		return nil, fmt.Errorf("format: %w", ErrIncomplete)
	}
	if !a.candidate.has("finishReason") {
		return nil, fmt.Errorf("format: %w", ErrIncomplete)
	}
	a.candidate.set("content", map[string]any{"role": "model", "parts": append([]object{}, a.parts...)})
	a.body.set("candidates", []object{a.candidate})
	return marshal(a.body), nil
}
