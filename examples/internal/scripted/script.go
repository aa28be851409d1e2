package scripted

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

//go:embed programs
var programs embed.FS

// A task is something that the script knows how to do. The step that has no
// calls ends it.
type task struct {
	words string
	steps []step
}

// A step is one turn of the script. It is taken if every reply to the step
// before has the pattern want, with the same text in its group, which $1 stands
// for in text. Where an image came with a reply, "[image]" ends it.
type step struct {
	want, text string
	calls      func(m *memory) []ToolCall
}

// Tasks returns what a user may ask of [Script], in an order that makes sense.
func Tasks() []string {
	var list []string
	for _, t := range tasks {
		list = append(list, t.words)
	}
	return list
}

// Script is a [Model] that does the [Tasks] and knows nothing else.
func Script(_ context.Context, c *Conversation) Turn { return script(c) }

func script(c *Conversation) Turn {
	m := newMemory(c)
	i := slices.IndexFunc(tasks, func(t task) bool { return strings.TrimSpace(t.words) == strings.TrimSpace(m.words) })
	switch {
	case i < 0:
		return Turn{Text: "I am a script, not a language model. All that I can do is this:\n- " + strings.Join(Tasks(), "\n- ")}
	case m.language == "":
		return Turn{Text: "I write JavaScript and Python, and neither can be run here."}
	case m.steps >= len(tasks[i].steps):
		return Turn{Text: "This is where my script ends."}
	}
	s := tasks[i].steps[m.steps]
	text, ok := s.read(m.last)
	if !ok {
		return Turn{Text: "I did not expect this: " + fmt.Sprint(m.last)}
	}
	t := Turn{Text: text}
	if s.calls != nil {
		t.Calls = s.calls(m)
	}
	for n := range t.Calls {
		// The same for the same conversation: a repeated request repeats its calls.
		t.Calls[n].ID = fmt.Sprintf("call_%d_%d", len(c.Items), n)
	}
	return t
}

// read returns the step's words if the replies are what it wants. Of several
// matches in a reply the last counts: a traceback shows the program's own lines
// before the error itself.
func (s step) read(replies []string) (string, bool) {
	text := s.text
	for i, r := range replies {
		all := regexp.MustCompile(s.want).FindAllStringSubmatch(r, -1)
		if all == nil {
			return "", false
		}
		if last := all[len(all)-1]; len(last) > 1 {
			filled := strings.ReplaceAll(s.text, "$1", last[1])
			if i > 0 && filled != text {
				return "", false
			}
			text = filled
		}
	}
	return text, true
}

// A memory is what the script knows when it takes a step.
type memory struct {
	tools     []Definition
	languages []string
	language  string   // what it writes
	words     string   // the task
	steps     int      // taken of it
	last      []string // the replies to the last of them
	context   string   // the context made last, in any task
}

func newMemory(c *Conversation) *memory {
	m := &memory{tools: c.Tools}
	for _, d := range c.Tools {
		var schema struct {
			Properties struct{ Language struct{ Enum []string } }
		}
		if d.Name == m.tool("run_code") && json.Unmarshal(d.Schema, &schema) == nil {
			m.languages = schema.Properties.Language.Enum
		}
	}
	for _, l := range []string{"python", "javascript"} {
		if slices.Contains(m.languages, l) {
			m.language = l
		}
	}
	for _, it := range c.Items {
		switch {
		case it.User != "":
			m.words, m.steps, m.last = it.User, 0, nil
		case it.Replies != nil:
			m.steps, m.last = m.steps+1, nil
		}
		for _, r := range it.Replies {
			m.last = append(m.last, r.Text+strings.Repeat("[image]", r.Images))
			var made struct{ ContextID string }
			if json.Unmarshal([]byte(r.Text), &made) == nil && made.ContextID != "" {
				m.context = made.ContextID
			}
		}
	}
	return m
}

// tool returns the name of the tool that does op, empty if there is none.
func (m *memory) tool(op string) string {
	for _, d := range m.tools {
		if d.Name == op || strings.HasSuffix(d.Name, "__"+op) {
			return d.Name
		}
	}
	return ""
}

// call is a call of the tool for op.
func (m *memory) call(op string, args map[string]any) ToolCall {
	b, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return ToolCall{Name: m.tool(op), Args: string(b)}
}

// program returns a program of ours, with its blanks filled in.
func (m *memory) program(name, language string, fill ...string) string {
	ext := map[string]string{"javascript": ".js", "typescript": ".ts", "python": ".py"}[language]
	b, err := programs.ReadFile("programs/" + name + ext)
	if err != nil {
		panic(err)
	}
	return strings.NewReplacer(fill...).Replace(strings.TrimSpace(string(b)))
}
