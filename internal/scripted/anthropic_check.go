package scripted

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// messagesRequest is what Messages takes; further keys are refused.
type messagesRequest struct {
	Model         string          `json:"model"`
	MaxTokens     int             `json:"max_tokens"`
	Messages      []messageInput  `json:"messages"`
	System        json.RawMessage `json:"system"`
	Tools         []messageTool   `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
	Stream        bool            `json:"stream"`
	Temperature   *float64        `json:"temperature"`
	TopP          *float64        `json:"top_p"`
	TopK          *int            `json:"top_k"`
	StopSequences []string        `json:"stop_sequences"`
	Metadata      json.RawMessage `json:"metadata"`
	Thinking      json.RawMessage `json:"thinking"`
	CacheControl  json.RawMessage `json:"cache_control"`
}

type messageInput struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type messageTool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	Strict       bool            `json:"strict"`
	CacheControl json.RawMessage `json:"cache_control"`
}

// blockInput is any content block of a request.
type blockInput struct {
	Type         string          `json:"type"`
	Text         *string         `json:"text"`
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Input        json.RawMessage `json:"input"`
	ToolUseID    string          `json:"tool_use_id"`
	Content      json.RawMessage `json:"content"`
	IsError      bool            `json:"is_error"`
	Source       *imageSource    `json:"source"`
	Thinking     *string         `json:"thinking"`
	Signature    *string         `json:"signature"`
	Data         *string         `json:"data"`
	CacheControl json.RawMessage `json:"cache_control"`
}

type imageSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
	URL       string `json:"url"`
}

// maxImage is how much base64 an image may have.
const maxImage = 5 << 20

func (anthropic) decode(body []byte) (*request, *refusal) {
	var in messagesRequest
	if err := decodeStrictly(body, &in); err != nil {
		return nil, refuse("body: %v", err)
	}
	switch {
	case in.Model == "":
		return nil, refuse("model is missing")
	case in.MaxTokens < 1:
		return nil, refuse("max_tokens: %d; 1 is the least", in.MaxTokens)
	case len(in.Messages) == 0:
		return nil, refuse("messages is empty")
	case in.Messages[0].Role != "user":
		return nil, refuse("messages[0] is not the user's")
	}
	q := &request{model: in.Model, stream: in.Stream}
	if in.System != nil {
		blocks, no := contentBlocks(in.System)
		if no != nil {
			return nil, no
		}
		for _, b := range blocks {
			q.conversation.System += *b.Text
		}
	}
	if no := messageTools(in.Tools, &q.conversation); no != nil {
		return nil, no
	}
	return q, checkMessages(in.Messages, &q.conversation)
}

func messageTools(list []messageTool, c *Conversation) *refusal {
	seen := map[string]bool{}
	for i, t := range list {
		if !toolName128.MatchString(t.Name) {
			return refuse("tools[%d].name %q does not match %s", i, t.Name, toolName128)
		}
		if seen[t.Name] {
			return refuse("tools[%d].name %q is there twice", i, t.Name)
		}
		seen[t.Name] = true
		if err := checkSchema(t.InputSchema, t.Strict, anthropicStrict); err != nil {
			return refuse("tools[%d].input_schema of %s: %v", i, t.Name, err)
		}
		c.Tools = append(c.Tools, Definition{t.Name, t.Description, t.InputSchema})
	}
	return nil
}

// A side is the messages of one role in a row, which the API joins.
type side struct {
	role   string
	blocks []blockInput
}

func checkMessages(list []messageInput, c *Conversation) *refusal {
	var sides []side
	for i, m := range list {
		if m.Role != "user" && m.Role != "assistant" {
			return refuse("messages[%d].role is %q, neither user nor assistant", i, m.Role)
		}
		blocks, no := contentBlocks(m.Content)
		if no != nil {
			no.message = fmt.Sprintf("messages[%d]: %s", i, no.message)
			return no
		}
		if n := len(sides); n > 0 && sides[n-1].role == m.Role {
			sides[n-1].blocks = append(sides[n-1].blocks, blocks...)
			continue
		}
		sides = append(sides, side{m.Role, blocks})
	}
	var open []string
	for i, s := range sides {
		var no *refusal
		if s.role == "user" {
			open, no = nil, s.user(open, c)
		} else {
			open, no = s.assistant(c)
		}
		if no != nil {
			no.message = fmt.Sprintf("turn %d: %s", i, no.message)
			return no
		}
	}
	if len(open) > 0 {
		return refuse("tool_use without tool_result right after it: %s", strings.Join(open, ", "))
	}
	return nil
}

// contentBlocks reads content that is text or a list of blocks.
func contentBlocks(content json.RawMessage) ([]blockInput, *refusal) {
	var text string
	if json.Unmarshal(content, &text) == nil && len(content) > 0 {
		b := blockInput{Type: "text", Text: &text}
		return []blockInput{b}, b.check()
	}
	var blocks []blockInput
	if err := decodeStrictly(content, &blocks); err != nil {
		return nil, refuse("content: %v", err)
	}
	if len(blocks) == 0 {
		return nil, refuse("content is empty")
	}
	for i := range blocks {
		if no := blocks[i].check(); no != nil {
			no.message = fmt.Sprintf("content[%d]: %s", i, no.message)
			return nil, no
		}
	}
	return blocks, nil
}

// check checks a block by itself.
func (b *blockInput) check() *refusal {
	switch b.Type {
	case "text":
		if b.Text == nil || strings.TrimSpace(*b.Text) == "" {
			return refuse("text is empty")
		}
	case "image":
		return b.Source.check()
	case "tool_use":
		if !toolName128.MatchString(b.Name) || !toolName128.MatchString(b.ID) || !isObject(b.Input) {
			return refuse("tool_use needs a name, an id, and an object as its input")
		}
	case "tool_result":
		return b.checkResult()
	case "thinking":
		if b.Thinking == nil || b.Signature == nil {
			return refuse("thinking needs its text and signature")
		}
	case "redacted_thinking":
		if b.Data == nil {
			return refuse("redacted_thinking needs its data")
		}
	default:
		return refuse("type %q is unknown", b.Type)
	}
	return nil
}

func (b *blockInput) checkResult() *refusal {
	if b.ToolUseID == "" {
		return refuse("tool_result needs a tool_use_id")
	}
	if b.Content == nil {
		return nil
	}
	blocks, no := contentBlocks(b.Content)
	if no != nil {
		return no
	}
	for _, inner := range blocks {
		if inner.Type != "text" && inner.Type != "image" {
			return refuse("%s cannot be in a tool_result", inner.Type)
		}
	}
	return nil
}

func (s *imageSource) check() *refusal {
	switch {
	case s == nil:
		return refuse("image needs a source")
	case s.Type == "url":
		return nil
	case s.Type != "base64":
		return refuse("image source of type %q is unknown", s.Type)
	case len(s.Data) > maxImage:
		return refuse("image of %d bytes is larger than %d", len(s.Data), maxImage)
	}
	if err := checkImage(s.MediaType, s.Data); err != nil {
		return refuse("%v", err)
	}
	return nil
}

// user takes in what a user's side says. open are the calls it has to answer,
// before anything else.
func (s *side) user(open []string, c *Conversation) *refusal {
	var replies []Reply
	var words []string
	for _, b := range s.blocks {
		switch b.Type {
		case "tool_result":
			i := slices.Index(open, b.ToolUseID)
			if i < 0 {
				return refuse("tool_result %q answers no tool_use of the turn before", b.ToolUseID)
			}
			if words != nil {
				return refuse("tool_result %q comes after other content", b.ToolUseID)
			}
			open = slices.Delete(slices.Clone(open), i, i+1)
			replies = append(replies, b.reply())
		case "text":
			words = append(words, *b.Text)
		case "image":
			words = append(words, "(image)")
		default:
			return refuse("%s cannot come from the user", b.Type)
		}
	}
	if len(open) > 0 {
		return refuse("tool_use without tool_result right after it: %s", strings.Join(open, ", "))
	}
	if replies != nil {
		c.Items = append(c.Items, Item{Replies: replies})
	}
	if words != nil {
		c.Items = append(c.Items, Item{User: strings.Join(words, "\n")})
	}
	return nil
}

func (b *blockInput) reply() Reply {
	r := Reply{CallID: b.ToolUseID, Failed: b.IsError}
	blocks, _ := contentBlocks(b.Content)
	for _, inner := range blocks {
		if inner.Type == "text" {
			r.Text += *inner.Text
		} else {
			r.Images++
		}
	}
	return r
}

// assistant takes in what the model said and returns the ids of its calls.
func (s *side) assistant(c *Conversation) (open []string, no *refusal) {
	t := &Turn{}
	for _, b := range s.blocks {
		switch b.Type {
		case "text":
			t.Text += *b.Text
		case "tool_use":
			if slices.Contains(open, b.ID) {
				return nil, refuse("tool_use id %q is there twice", b.ID)
			}
			open = append(open, b.ID)
			t.Calls = append(t.Calls, Call{b.ID, b.Name, string(b.Input)})
		case "thinking", "redacted_thinking":
		default:
			return nil, refuse("%s cannot come from the assistant", b.Type)
		}
	}
	c.Items = append(c.Items, Item{Turn: t})
	return open, nil
}
