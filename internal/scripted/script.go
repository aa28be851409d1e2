package scripted

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A task is something that Script knows how to do. A step is one turn of the
// model: the first that has nothing to call ends the task.
type task struct {
	words string
	steps []func(*memory) Turn
}

// Tasks returns what a user may ask of [Script], in an order that makes sense.
func Tasks() []string {
	var list []string
	for _, t := range tasks() {
		list = append(list, t.words)
	}
	return list
}

// Script is a [Model] that does the [Tasks] and knows nothing else.
func Script(_ context.Context, c *Conversation) (Turn, error) {
	words, after := c.task()
	m := newMemory(c, after)
	all := tasks()
	i := slices.IndexFunc(all, func(t task) bool { return strings.TrimSpace(t.words) == strings.TrimSpace(words) })
	switch {
	case i < 0:
		return Turn{Text: "I am a script, not a language model. All that I can do is this:\n- " + strings.Join(Tasks(), "\n- ")}, nil
	case m.language == "":
		return Turn{Text: "I write JavaScript and Python, and neither can be run here."}, nil
	case len(m.replies) >= len(all[i].steps):
		return Turn{Text: "This is where my script ends."}, nil
	}
	turn := all[i].steps[len(m.replies)](m)
	for n := range turn.Calls {
		turn.Calls[n].ID = callID(c, n)
	}
	return turn, nil
}

// callID makes the id of a turn's nth call, the same for the same
// conversation.
func callID(c *Conversation, n int) string {
	h := sha256.New()
	for _, it := range c.Items {
		fmt.Fprintf(h, "%q %v %v\n", it.User, it.Turn != nil, it.Replies)
	}
	fmt.Fprint(h, n)
	return "call_" + base32.StdEncoding.EncodeToString(h.Sum(nil))[:16]
}

// A memory is what the model knows when it takes a step.
type memory struct {
	*Conversation
	language string    // what it writes
	replies  [][]Reply // to the calls of the task's earlier steps
	context  string    // the context made last, in any task
}

func newMemory(c *Conversation, after []Item) *memory {
	m := &memory{Conversation: c}
	has := c.languages()
	for _, l := range []string{"javascript", "python"} {
		if m.language == "" && slices.Contains(has, l) {
			m.language = l
		}
	}
	for _, it := range after {
		if it.Replies != nil {
			m.replies = append(m.replies, it.Replies)
		}
	}
	for _, it := range c.Items {
		for _, r := range it.Replies {
			var made struct{ ContextID string }
			if json.Unmarshal([]byte(r.Text), &made) == nil && made.ContextID != "" {
				m.context = made.ContextID
			}
		}
	}
	return m
}

// last returns the text of the reply to the last call.
func (m *memory) last() string {
	if len(m.replies) == 0 {
		return ""
	}
	r := m.replies[len(m.replies)-1]
	return r[len(r)-1].Text
}

// call is a call of the tool for op.
func (m *memory) call(op string, args map[string]any) Call {
	b, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return Call{Name: m.tool(op), Args: string(b)}
}

// runIn is a call that runs a program of ours in the context.
func (m *memory) runIn(code string, more map[string]any) Call {
	args := map[string]any{"contextId": m.context, "code": code}
	for k, v := range more {
		args[k] = v
	}
	return m.call("run_in_code_context", args)
}
