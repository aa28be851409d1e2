package format

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/toolcell/toolcell/tools"
)

// Anthropic is the Messages API of Anthropic.
type Anthropic struct{}

// Tools returns the value of the request's "tools": an array.
func (f Anthropic) Tools(list []tools.Tool) (json.RawMessage, error) {
	return definitions("Anthropic", 128, list, func(t *tools.Tool) any {
		return members{"name": t.Name, "description": t.Description, "input_schema": inputSchema(t, false)}
	})
}

// Results returns the message that answers a turn's calls: a user message with
// one tool_result block for each.
func (f Anthropic) Results(replies ...*tools.Answer) json.RawMessage {
	results := []any{}
	for _, r := range replies {
		blocks := []any{members{"type": "text", "text": r.Text}}
		for _, img := range r.Images {
			blocks = append(blocks, members{"type": "image", "source": members{"type": "base64", "media_type": img.MIME, "data": img.Data}})
		}
		result := members{"type": "tool_result", "tool_use_id": r.CallID, "content": blocks}
		if r.Failure != nil {
			result["is_error"] = true
		}
		results = append(results, result)
	}
	return marshal(members{"role": "user", "content": results})
}

// User implements [Model].
func (f Anthropic) User(text string) json.RawMessage { return userMessage(text) }

// Turn implements [Model]. There is More also if the API paused the turn.
func (f Anthropic) Turn(ctx context.Context, d Dispatcher, reply json.RawMessage, opts *tools.TurnOptions) (*Turn, error) {
	var body struct {
		Content []object `json:"content"`
		Stop    string   `json:"stop_reason"`
	}
	if err := decode(reply, &body); err != nil {
		return nil, err
	}
	if body.Content == nil {
		return nil, fmt.Errorf("format: %w: no content", ErrIncomplete)
	}
	t := &Turn{Stop: body.Stop, More: body.Stop == "pause_turn"}
	var content []object
	for _, b := range body.Content {
		switch b.text("type") {
		case "text":
			t.Text += b.text("text")
			if strings.TrimSpace(b.text("text")) == "" {
				continue // which the API refuses
			}
		case "tool_use":
			b.set("id", t.call(b.text("id"), b.text("name"), b["input"]))
			b.set("name", validName(b.text("name")))
			b["input"] = objectOr(b["input"])
		}
		content = append(content, b)
	}
	t.serve(ctx, d, opts)
	if len(content) > 0 {
		t.Messages = append(t.Messages, marshal(members{"role": "assistant", "content": content}))
	}
	if len(t.Answers) > 0 {
		t.Messages = append(t.Messages, f.Results(t.Answers...))
	}
	return t, nil
}

// Read implements [Model].
func (f Anthropic) Read(body io.Reader, say func(text string)) (json.RawMessage, error) {
	return read(body, say, &messageAssembler{blocks: map[int]*contentBlock{}})
}

type messageAssembler struct {
	message object
	blocks  map[int]*contentBlock
	stop    string
	whole   bool // the answer is no stream
}

// A contentBlock is a block of which parts have arrived.
type contentBlock struct {
	merger
	args      strings.Builder
	citations []json.RawMessage
}

func (a *messageAssembler) event(data []byte, say func(string)) error {
	var e struct {
		Type    string   `json:"type"`
		Index   int      `json:"index"`
		Message object   `json:"message"`
		Block   object   `json:"content_block"`
		Delta   object   `json:"delta"`
		Usage   object   `json:"usage"`
		Content []object `json:"content"`
	}
	if err := decode(data, &e); err != nil {
		return err
	}
	switch e.Type {
	case "message":
		for _, b := range e.Content {
			if text := b.text("text"); text != "" {
				say(text)
			}
		}
		a.whole = true
		return decode(data, &a.message)
	case "message_start":
		a.message = e.Message
	case "content_block_start":
		b := &contentBlock{}
		b.add(e.Block)
		a.blocks[e.Index] = b
		if text := e.Block.text("text"); text != "" {
			say(text)
		}
	case "content_block_delta":
		b := a.blocks[e.Index]
		if b == nil {
			return fmt.Errorf("format: %w: a part of no block", ErrIncomplete)
		}
		b.delta(e.Delta, say)
	case "message_delta":
		a.stop = e.Delta.text("stop_reason")
		if a.message == nil {
			a.message = object{}
		}
		if e.Usage != nil {
			a.message.set("usage", e.Usage)
		}
	case "message_stop":
		return errDone
	}
	return nil
}

func (b *contentBlock) delta(d object, say func(string)) {
	switch d.text("type") {
	case "text_delta":
		say(d.text("text"))
		b.addText("text", d.text("text"))
	case "input_json_delta":
		b.args.WriteString(d.text("partial_json"))
	case "thinking_delta":
		b.addText("thinking", d.text("thinking"))
	case "signature_delta":
		b.addText("signature", d.text("signature"))
	case "citations_delta":
		b.citations = append(b.citations, d["citation"])
	}
}

// object returns the block. Arguments that are no JSON are a string.
func (b *contentBlock) object() object {
	o := b.merger.object()
	if args := b.args.String(); args != "" {
		if json.Valid([]byte(args)) {
			o["input"] = json.RawMessage(args)
		} else {
			o.set("input", args)
		}
	}
	if b.citations != nil {
		o.set("citations", b.citations)
	}
	return o
}

func (a *messageAssembler) reply() (json.RawMessage, error) {
	if a.whole {
		return marshal(a.message), nil
	}
	if a.message == nil || a.stop == "" {
		return nil, fmt.Errorf("format: %w", ErrIncomplete)
	}
	content := []object{}
	for i := 0; len(content) < len(a.blocks); i++ {
		b := a.blocks[i]
		if b == nil {
			return nil, fmt.Errorf("format: %w: block %d is missing", ErrIncomplete, i)
		}
		content = append(content, b.object())
	}
	a.message.set("content", content)
	a.message.set("stop_reason", a.stop)
	return marshal(a.message), nil
}
