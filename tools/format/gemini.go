package format

import (
	"encoding/json"

	"github.com/toolcell/toolcell/tools"
)

// Gemini is the Gemini API of Google, also on Vertex.
type Gemini struct {
	// Strict uses the schemas in which every argument is required and may be
	// null. The API has no strict mode for functions.
	Strict bool
}

// Tools returns the value of the request's "tools": an array of one tool that
// holds all function declarations.
func (f Gemini) Tools(list []tools.Tool) (json.RawMessage, error) {
	type declaration struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parametersJsonSchema"`
	}
	type tool struct {
		Declarations []declaration `json:"functionDeclarations"`
	}
	defs, err := definitions("Gemini", 128, list, func(t *tools.Tool) declaration {
		return declaration{t.Name, t.Description, inputSchema(t, f.Strict)}
	})
	if err != nil || len(defs) == 0 {
		return array[tool](nil), err
	}
	return array([]tool{{defs}}), nil
}

// Results returns the content that answers a turn's calls: a user content with
// one functionResponse part for each. The text is under "output", or under
// "error" where the call failed. Images are PNG, JPEG or WebP there; a GIF
// becomes a PNG.
func (f Gemini) Results(replies ...*tools.Answer) json.RawMessage {
	type blob struct {
		MIMEType string `json:"mimeType"`
		Data     []byte `json:"data"`
	}
	type inline struct {
		InlineData blob `json:"inlineData"`
	}
	type response struct {
		ID       string            `json:"id,omitempty"`
		Name     string            `json:"name"`
		Response map[string]string `json:"response"`
		Parts    []inline          `json:"parts,omitempty"`
	}
	type part struct {
		FunctionResponse response `json:"functionResponse"`
	}
	type content struct {
		Role  string `json:"role"`
		Parts []part `json:"parts"`
	}
	// An array also where there is nothing to answer, and never null.
	c := content{Role: "user", Parts: []part{}}
	for _, r := range replies {
		p := response{ID: r.CallID, Name: r.Tool, Response: map[string]string{"output": r.Text}}
		if r.Failure != nil {
			p.Response = map[string]string{"error": r.Text}
		}
		for _, img := range r.Images {
			img = img.As("image/png", "image/jpeg", "image/webp")
			p.Parts = append(p.Parts, inline{blob{img.MIME, img.Data}})
		}
		c.Parts = append(c.Parts, part{p})
	}
	return marshal(c)
}
