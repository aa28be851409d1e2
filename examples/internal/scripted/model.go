// Package scripted is a language model that follows a script, and the two vendors' APIs to
// reach it through. The examples run with it where there is no key, and the tests of
// whatever talks to a model run against it.
//
// [Script] is the [Model] that the examples use: it works on [Tasks] and reacts to what the
// tools reply. [Handler] serves any Model as OpenAI's Chat Completions and as Anthropic's
// Messages.
package scripted

import (
	"context"
	"encoding/json"
	"fmt"
)

// A Model says what comes next in a conversation.
type Model func(ctx context.Context, c *Conversation) Turn

// A Conversation is what a model is sent, in a form that no API has.
type Conversation struct {
	Tools []Definition
	Items []Item
}

// A Definition is a tool that the model may call.
type Definition struct {
	Name   string
	Schema json.RawMessage
}

// An Item is a part of a conversation; exactly one field is set.
type Item struct {
	User    string      // the user's words
	Turn    *Turn       // what the model said
	Replies []ToolReply // the answers to the calls of the Turn before
}

// A Turn is what a model says: words, calls, or both. A Turn without calls
// ends its work.
type Turn struct {
	Text  string
	Calls []ToolCall
}

// A ToolCall is a call of a tool. Args is text that should be a JSON object.
type ToolCall struct{ ID, Name, Args string }

// A ToolReply answers a call.
type ToolReply struct {
	CallID string
	Text   string
	Images int
	Failed bool // only Anthropic's API tells
}

// reply takes in the answer to a call.
func (c *Conversation) reply(r ToolReply) {
	if n := len(c.Items); n == 0 || c.Items[n-1].Replies == nil {
		c.Items = append(c.Items, Item{})
	}
	last := &c.Items[len(c.Items)-1]
	last.Replies = append(last.Replies, r)
}

// answered refuses a conversation in which a call has no answer, or an answer
// no call: the one thing that every loop has to get right.
func (c *Conversation) answered() error {
	open := map[string]bool{}
	for _, item := range append(c.Items, Item{}) { // the last one to see what is open at the end
		for _, r := range item.Replies {
			if !open[r.CallID] {
				return fmt.Errorf("an answer to %q, which is no call of the turn before", r.CallID)
			}
			delete(open, r.CallID)
		}
		for id := range open {
			return fmt.Errorf("the call %q has no answer", id)
		}
		if item.Turn != nil {
			for _, call := range item.Turn.Calls {
				open[call.ID] = true
			}
		}
	}
	return nil
}

// contentOf returns the words of content, which is a string or a list of parts,
// and how many images it has.
func contentOf(content json.RawMessage) (text string, images int) {
	if json.Unmarshal(content, &text) == nil {
		return text, 0
	}
	var parts []struct{ Type, Text string }
	_ = json.Unmarshal(content, &parts)
	for _, p := range parts {
		switch p.Type {
		case "text":
			text += p.Text
		case "image", "image_url":
			images++
		}
	}
	return text, images
}
