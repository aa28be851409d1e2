package format

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/toolcell/toolcell/tools"
)

// OpenAIChat is the Chat Completions API of OpenAI and of the many servers
// that speak it.
type OpenAIChat struct {
	// Strict asks for arguments that follow the schema to the letter.
	Strict bool
}

// Tools returns the value of the request's "tools": an array.
func (f OpenAIChat) Tools(list []tools.Tool) (json.RawMessage, error) {
	type definition struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	defs, err := definitions("OpenAI Chat Completions", 64, list, func(t *tools.Tool) definition {
		strict := strictly(t, f.Strict)
		return definition{"function", function{Name: t.Name, Description: t.Description, Parameters: inputSchema(t, f.Strict), Strict: &strict}}
	})
	if err != nil {
		return nil, err
	}
	return array(defs), nil
}

// Results returns the messages that answer a turn's calls: an array of one
// tool message for each, and, since tool messages hold no images, a user
// message with the images of all.
func (f OpenAIChat) Results(replies ...*tools.Answer) json.RawMessage {
	type message struct {
		Role       string `json:"role"`
		ToolCallID string `json:"tool_call_id,omitempty"`
		Content    any    `json:"content"`
	}
	type imageURL struct {
		URL string `json:"url"`
	}
	type part struct {
		Type     string    `json:"type"`
		Text     string    `json:"text,omitempty"`
		ImageURL *imageURL `json:"image_url,omitempty"`
	}
	var messages []message
	var parts []part
	for _, r := range replies {
		messages = append(messages, message{"tool", r.CallID, r.Text})
		for i, img := range r.Images {
			// The images of all calls stand in one message: the model has to know
			// whose each is.
			label := fmt.Sprintf("Image %d of the result of %s (call %s):", i+1, r.Tool, r.CallID)
			parts = append(parts,
				part{Type: "text", Text: label},
				part{Type: "image_url", ImageURL: &imageURL{dataURL(img)}})
		}
	}
	if parts != nil {
		messages = append(messages, message{Role: "user", Content: parts})
	}
	return array(messages)
}

// OpenAIResponses is the Responses API of OpenAI.
type OpenAIResponses struct {
	// Strict asks for arguments that follow the schema to the letter.
	Strict bool
}

// Tools returns the value of the request's "tools": an array.
func (f OpenAIResponses) Tools(list []tools.Tool) (json.RawMessage, error) {
	defs, err := definitions("OpenAI Responses", 128, list, func(t *tools.Tool) function {
		// Sent also where it is false: this API takes an absent strict for true.
		strict := strictly(t, f.Strict)
		return function{"function", t.Name, t.Description, inputSchema(t, f.Strict), &strict}
	})
	if err != nil {
		return nil, err
	}
	return array(defs), nil
}

// Results returns the input items that answer a turn's calls: an array of
// function_call_output items.
func (f OpenAIResponses) Results(replies ...*tools.Answer) json.RawMessage {
	type part struct {
		Type     string `json:"type"`
		Text     string `json:"text,omitempty"`
		ImageURL string `json:"image_url,omitempty"`
		Detail   string `json:"detail,omitempty"`
	}
	type item struct {
		Type   string `json:"type"`
		CallID string `json:"call_id"`
		Output any    `json:"output"`
	}
	var items []item
	for _, r := range replies {
		it := item{"function_call_output", r.CallID, r.Text}
		if len(r.Images) > 0 {
			parts := []part{{Type: "input_text", Text: r.Text}}
			for _, img := range r.Images {
				parts = append(parts, part{Type: "input_image", ImageURL: dataURL(img), Detail: "auto"})
			}
			it.Output = parts
		}
		items = append(items, it)
	}
	return array(items)
}

func dataURL(img tools.Image) string {
	return "data:" + img.MIME + ";base64," + base64.StdEncoding.EncodeToString(img.Data)
}
