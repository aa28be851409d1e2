package format

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/toolcell/toolcell/tools"
)

// Gemini is the Gemini API of Google, also on Vertex.
type Gemini struct{}

// Tools returns the value of the request's "tools": an array of one tool that
// holds all function declarations.
func (f Gemini) Tools(list []tools.Tool) (json.RawMessage, error) {
	defs, err := definitions("Gemini", 128, list, func(t *tools.Tool) any {
		return members{"name": t.Name, "description": t.Description, "parametersJsonSchema": inputSchema(t, false)}
	})
	if err != nil || len(list) == 0 {
		return defs, err
	}
	return marshal([]any{members{"functionDeclarations": defs}}), nil
}

// Results returns the content that answers a turn's calls: a user content with
// one functionResponse part for each. The text is under "output", or under
// "error" if the call failed. Images are PNG, JPEG or WebP there; a GIF
// becomes a PNG.
func (f Gemini) Results(replies ...*tools.Answer) json.RawMessage {
	parts := []any{}
	for _, r := range replies {
		key := "output"
		if r.Failure != nil {
			key = "error"
		}
		response := members{"name": r.Tool, "response": members{key: r.Text}}
		if !strings.HasPrefix(r.CallID, madeID) && r.CallID != "" { // the API does not know ids that were made here
			response["id"] = r.CallID
		}
		var images []any
		for _, img := range r.Images {
			img = img.As("image/png", "image/jpeg", "image/webp")
			images = append(images, members{"inlineData": members{"mimeType": img.MIME, "data": img.Data}})
		}
		if images != nil {
			response["parts"] = images
		}
		parts = append(parts, members{"functionResponse": response})
	}
	return marshal(members{"role": "user", "parts": parts})
}

// User implements [Model].
func (f Gemini) User(text string) json.RawMessage {
	return marshal(members{"role": "user", "parts": []any{members{"text": text}}})
}

// Turn implements [Model].
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
		t.Messages = append(t.Messages, f.Results(t.Answers...))
	}
	return t, nil
}

// Read implements [Model].
func (f Gemini) Read(body io.Reader, say func(text string)) (json.RawMessage, error) {
	return read(body, say, &contentAssembler{})
}

type contentAssembler struct {
	body      object
	candidate object
	parts     []object
}

func (a *contentAssembler) event(data []byte, say func(string)) error {
	var body object
	if err := decode(data, &body); err != nil {
		return err
	}
	candidates, err := body.list("candidates")
	if err != nil {
		return err
	}
	if a.body == nil {
		a.body = object{}
	}
	maps.Copy(a.body, body)
	for _, c := range candidates[:min(len(candidates), 1)] {
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
	a.candidate.set("content", members{"role": "model", "parts": append([]object{}, a.parts...)})
	a.body.set("candidates", []object{a.candidate})
	return marshal(a.body), nil
}
