package scripted

import (
	"context"
	"encoding/json"
	"strings"
)

// A Model says what comes next in a conversation. It is safe for concurrent
// use if it keeps nothing between calls.
type Model func(ctx context.Context, c *Conversation) (Turn, error)

// A Conversation is what a model is sent, in a form that no API has.
type Conversation struct {
	System string
	Tools  []Definition
	Items  []Item
}

// A Definition is a tool that the model may call.
type Definition struct {
	Name, Description string
	Schema            json.RawMessage
}

// An Item is a part of a conversation; exactly one field is set.
type Item struct {
	User    string  // the user's words
	Turn    *Turn   // what the model said
	Replies []Reply // the answers to the calls of the Turn before
}

// A Turn is what a model says: words, calls, or both. A Turn without calls
// ends its work.
type Turn struct {
	Text  string
	Calls []Call

	// Stop replaces the reason why the turn ended, in the words of the API.
	Stop string
}

// A Call is a call of a tool. Args is text that should be a JSON object.
type Call struct{ ID, Name, Args string }

// A Reply answers a call.
type Reply struct {
	CallID string
	Text   string
	Images int
	Failed bool // only Anthropic's API tells
}

// task returns the user's last words and what came after them.
func (c *Conversation) task() (words string, after []Item) {
	for i := len(c.Items) - 1; i >= 0; i-- {
		if words := c.Items[i].User; words != "" {
			return words, c.Items[i+1:]
		}
	}
	return "", nil
}

// tool returns the name of the tool that does op, empty if there is none.
func (c *Conversation) tool(op string) string {
	for _, d := range c.Tools {
		if d.Name == op || strings.HasSuffix(d.Name, "__"+op) {
			return d.Name
		}
	}
	return ""
}

// languages returns those that run_code takes.
func (c *Conversation) languages() []string {
	var schema struct {
		Properties struct {
			Language struct {
				Enum []string `json:"enum"`
			} `json:"language"`
		} `json:"properties"`
	}
	for _, d := range c.Tools {
		if d.Name == c.tool("run_code") && json.Unmarshal(d.Schema, &schema) == nil {
			return schema.Properties.Language.Enum
		}
	}
	return nil
}
