package main

import (
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/examples/internal/scripted"
)

// introduce says what the agent works with.
func (a *agent) introduce(info codeinterp.Info) {
	a.screen.Title("Toolcell quickstart: an agent that runs code. A script plays the model; all else is real.")
	var languages []string
	for _, l := range info.Languages {
		languages = append(languages, fmt.Sprintf("%s (%s)", l.Name, l.Runtime))
	}
	a.screen.Fact("provider", info.Provider+": "+strings.Join(languages, ", "))
	iso := info.Isolation
	a.screen.Fact("isolation", fmt.Sprintf("%s; the host's files: %s, network: %s", iso.Backend, iso.Filesystem, iso.Network))
	for i, t := range a.ws.Tools() {
		a.screen.Fact([]string{"tools", ""}[min(i, 1)], t.Name)
	}
}

// show writes what the model said.
func (a *agent) show(m scripted.ChatMessage) {
	if m.Content != nil {
		a.screen.Model(*m.Content + "\n")
	}
	for _, c := range m.ToolCalls {
		a.screen.Call(c.ID, c.Function.Name, c.Function.Arguments)
	}
}

// lessons say what there was to see in each task.
var lessons = [][]string{
	{
		"The calls of one turn ran in parallel. Every run_code starts from nothing.",
	},
	{
		"A misnamed argument never reached the interpreter: the reply listed every fault.",
		"The rows came one by one, as they were printed: output streams while the program runs.",
		"A program that fails is a result with its error, which the model read. The context kept its variables.",
		"The picture went to the model as an image, in a message of its own: Chat Completions wants it so.",
	},
	{
		"The endless loop was stopped in time. What it had printed was kept, and so were its variables.",
	},
}

func (a *agent) explain(task int) {
	for _, l := range lessons[task] {
		a.screen.Note(l)
	}
}

// conclude says how much there was, and where to go on.
func (a *agent) conclude() {
	a.screen.Title(fmt.Sprintf("\nThe model took %d turns; the conversation has %d messages.", a.turns, len(a.messages)))
	a.screen.Fact("next", "go run ./examples/agent   the same with a real model: OpenAI, Anthropic or a local server")
	a.screen.Fact("", "examples/quickstart/main.go   the loop, to copy")
}
