package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// chatRequest is what Chat Completions takes; further keys are refused.
type chatRequest struct {
	Model               *string           `json:"model"`
	Messages            []json.RawMessage `json:"messages"`
	Tools               []chatTool        `json:"tools"`
	ToolChoice          json.RawMessage   `json:"tool_choice"`
	ParallelToolCalls   *bool             `json:"parallel_tool_calls"`
	Stream              bool              `json:"stream"`
	StreamOptions       *streamOptions    `json:"stream_options"`
	MaxTokens           *int              `json:"max_tokens"`
	MaxCompletionTokens *int              `json:"max_completion_tokens"`
	Temperature         *float64          `json:"temperature"`
	TopP                *float64          `json:"top_p"`
	Seed                *int              `json:"seed"`
	Stop                json.RawMessage   `json:"stop"`
	ReasoningEffort     *string           `json:"reasoning_effort"`
	User                *string           `json:"user"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function *struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      *bool           `json:"strict"`
	} `json:"function"`
}

// chatInput is any message of a request.
type chatInput struct {
	Role       string           `json:"role"`
	Name       *string          `json:"name"`
	Content    json.RawMessage  `json:"content"`
	ToolCalls  *[]chatInputCall `json:"tool_calls"`
	ToolCallID *string          `json:"tool_call_id"`
	Refusal    *string          `json:"refusal"`
}

type chatInputCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string  `json:"name"`
		Arguments *string `json:"arguments"`
	} `json:"function"`
}

// decodeStrictly refuses what v has no field for.
func decodeStrictly(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func (openAI) decode(body []byte) (*request, *refusal) {
	var in chatRequest
	if err := decodeStrictly(body, &in); err != nil {
		return nil, refuse("body: %v", err)
	}
	switch {
	case in.Model == nil || *in.Model == "":
		return nil, refuse("model is missing")
	case len(in.Messages) == 0:
		return nil, refuse("messages is empty")
	case in.StreamOptions != nil && !in.Stream:
		return nil, refuse("stream_options without stream")
	case in.MaxTokens != nil && in.MaxCompletionTokens != nil:
		return nil, refuse("max_tokens beside max_completion_tokens")
	case in.ParallelToolCalls != nil && in.Tools == nil:
		return nil, refuse("parallel_tool_calls without tools")
	}
	q := &request{model: *in.Model, stream: in.Stream, usage: in.StreamOptions != nil && in.StreamOptions.IncludeUsage}
	if no := chatTools(in.Tools, &q.conversation); no != nil {
		return nil, no
	}
	c := chatChecker{conversation: &q.conversation}
	for i, raw := range in.Messages {
		if no := c.message(raw); no != nil {
			no.message = fmt.Sprintf("messages[%d]: %s", i, no.message)
			return nil, no
		}
	}
	if no := c.answered(); no != nil {
		return nil, no
	}
	return q, nil
}

func chatTools(list []chatTool, c *Conversation) *refusal {
	if list != nil && len(list) == 0 || len(list) > 128 {
		return refuse("tools: %d of them; 1 to 128 are possible", len(list))
	}
	seen := map[string]bool{}
	for i, t := range list {
		if t.Type != "function" || t.Function == nil {
			return refuse("tools[%d] is no function", i)
		}
		f := t.Function
		if !toolName64.MatchString(f.Name) {
			return refuse("tools[%d].function.name %q does not match %s", i, f.Name, toolName64)
		}
		if seen[f.Name] {
			return refuse("tools[%d].function.name %q is there twice", i, f.Name)
		}
		seen[f.Name] = true
		if err := checkSchema(f.Parameters, f.Strict != nil && *f.Strict, openAIStrict); err != nil {
			return refuse("tools[%d].function.parameters of %s: %v", i, f.Name, err)
		}
		c.Tools = append(c.Tools, Definition{f.Name, f.Description, f.Parameters})
	}
	return nil
}

// A chatChecker goes through the messages in order.
type chatChecker struct {
	conversation *Conversation
	open         []string // ids of calls that have no answer yet
	replies      []Reply
}

func (c *chatChecker) message(raw json.RawMessage) *refusal {
	var m chatInput
	if err := decodeStrictly(raw, &m); err != nil {
		return refuse("%v", err)
	}
	if m.Role == "tool" {
		return c.tool(&m)
	}
	if no := c.answered(); no != nil {
		return no
	}
	if m.ToolCallID != nil || m.ToolCalls != nil && m.Role != "assistant" || m.Refusal != nil && m.Role != "assistant" {
		return refuse("a message of role %q has a field that it cannot have", m.Role)
	}
	switch m.Role {
	case "system", "developer":
		text, no := chatText(m.Content)
		c.conversation.System += text
		return no
	case "user":
		return c.user(&m)
	case "assistant":
		return c.assistant(&m)
	}
	return refuse("role %q is unknown", m.Role)
}

// answered says whether a call was left without an answer.
func (c *chatChecker) answered() *refusal {
	if len(c.open) > 0 {
		return refuse("tool_calls without a tool message right after them: %s", strings.Join(c.open, ", "))
	}
	if c.replies != nil {
		c.conversation.Items = append(c.conversation.Items, Item{Replies: c.replies})
		c.replies = nil
	}
	return nil
}

func (c *chatChecker) assistant(m *chatInput) *refusal {
	t := &Turn{}
	if m.Content != nil && string(m.Content) != "null" {
		text, no := chatText(m.Content)
		if no != nil {
			return no
		}
		t.Text = text
	} else if m.ToolCalls == nil && m.Refusal == nil {
		return refuse("an assistant message needs content or tool_calls")
	}
	if m.ToolCalls != nil {
		if len(*m.ToolCalls) == 0 {
			return refuse("tool_calls is empty")
		}
		for i, call := range *m.ToolCalls {
			if no := c.call(t, call); no != nil {
				no.message = fmt.Sprintf("tool_calls[%d]: %s", i, no.message)
				return no
			}
		}
	}
	c.conversation.Items = append(c.conversation.Items, Item{Turn: t})
	return nil
}

func (c *chatChecker) call(t *Turn, call chatInputCall) *refusal {
	switch {
	case call.ID == "":
		return refuse("id is missing")
	case call.Type != "function":
		return refuse("type is %q, not function", call.Type)
	case !toolName64.MatchString(call.Function.Name):
		return refuse("function.name %q does not match %s", call.Function.Name, toolName64)
	case call.Function.Arguments == nil:
		return refuse("function.arguments is missing")
	}
	for _, id := range c.open {
		if id == call.ID {
			return refuse("id %q is there twice", id)
		}
	}
	c.open = append(c.open, call.ID)
	t.Calls = append(t.Calls, Call{call.ID, call.Function.Name, *call.Function.Arguments})
	return nil
}

func (c *chatChecker) tool(m *chatInput) *refusal {
	if m.ToolCallID == nil {
		return refuse("tool_call_id is missing")
	}
	for i, id := range c.open {
		if id != *m.ToolCallID {
			continue
		}
		text, no := chatText(m.Content)
		c.open = append(c.open[:i:i], c.open[i+1:]...)
		c.replies = append(c.replies, Reply{CallID: id, Text: text})
		return no
	}
	return refuse("tool_call_id %q answers no call of the assistant message before", *m.ToolCallID)
}

func (c *chatChecker) user(m *chatInput) *refusal {
	var text string
	if json.Unmarshal(m.Content, &text) == nil && len(m.Content) > 0 {
		c.conversation.Items = append(c.conversation.Items, Item{User: text})
		return nil
	}
	text, images, no := chatParts(m.Content, true)
	if no != nil {
		return no
	}
	items := c.conversation.Items
	if n := len(items); images > 0 && n > 0 && items[n-1].Replies != nil {
		items[n-1].Replies[len(items[n-1].Replies)-1].Images += images
		return nil
	}
	c.conversation.Items = append(items, Item{User: text})
	return nil
}

// chatText reads content that may only be text.
func chatText(content json.RawMessage) (string, *refusal) {
	var text string
	if len(content) > 0 && content[0] == '"' && json.Unmarshal(content, &text) == nil {
		return text, nil
	}
	text, _, no := chatParts(content, false)
	return text, no
}

func chatParts(content json.RawMessage, images bool) (text string, pictures int, no *refusal) {
	var parts []struct {
		Type     string  `json:"type"`
		Text     *string `json:"text"`
		ImageURL *struct {
			URL    string `json:"url"`
			Detail string `json:"detail"`
		} `json:"image_url"`
	}
	if err := decodeStrictly(content, &parts); err != nil || len(parts) == 0 {
		return "", 0, refuse("content is neither text nor a list of parts: %v", err)
	}
	for i, p := range parts {
		switch {
		case p.Type == "text" && p.Text != nil && p.ImageURL == nil:
			text += *p.Text
		case p.Type == "image_url" && p.ImageURL != nil && p.Text == nil && images:
			if err := checkImageURL(p.ImageURL.URL); err != nil {
				return "", 0, refuse("content[%d]: %v", i, err)
			}
			pictures++
		default:
			return "", 0, refuse("content[%d] of type %q cannot be here", i, p.Type)
		}
	}
	return text, pictures, nil
}
