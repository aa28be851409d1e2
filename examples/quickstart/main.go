// Quickstart is a complete agent loop that needs neither a key nor anything
// installed:
//
//	go run ./examples/quickstart
//
// A script plays the language model. Everything else is what a real agent has:
// a provider that runs the code, a workspace that makes tools of it, and the
// loop in this file. examples/agent is the same with real models.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/examples/internal/screen"
	"github.com/toolcell/toolcell/examples/internal/scripted"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/python"
	"github.com/toolcell/toolcell/providers/inmemory/python/pack"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs"
	"github.com/toolcell/toolcell/providers/inmemory/typescript"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/format"
	"github.com/toolcell/toolcell/workspace"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// run gives the agent all of its tasks, one after the other.
func run(ctx context.Context, out io.Writer) error {
	javascript := quickjs.New(nil)
	engines := []engine.Engine{javascript, typescript.New(javascript)}
	if p, err := pack.Find("python-small"); err == nil { // toolcell engine install python
		py, err := python.New(ctx, &python.Options{Pack: os.DirFS(p.Dir), Cache: p.Cache()})
		if err != nil {
			return err
		}
		defer py.Close()
		engines = append(engines, py)
	}
	ci, err := inmemory.NewStateful(&inmemory.Options{Engines: engines})
	if err != nil {
		return err
	}
	ws, err := workspace.New("demo", workspace.Capabilities{Code: ci}, nil)
	if err != nil {
		return errors.Join(err, ci.Close())
	}
	defer ws.Close()
	definitions, err := format.OpenAIChat{}.Tools(ws.Tools())
	if err != nil {
		return err
	}

	a := &agent{ws: ws, definitions: definitions, screen: screen.New(out)}
	defer ws.Subscribe(a.screen.Event, nil)()
	a.introduce(codeinterp.Describe(ci))
	a.messages = append(a.messages, message{"system", "You solve tasks with code."})
	for i, task := range scripted.Tasks() {
		if err := a.work(ctx, task); err != nil {
			return err
		}
		a.explain(i)
	}
	a.conclude()
	return nil
}

// An agent is a conversation with a model that has tools.
type agent struct {
	ws          *workspace.Workspace
	definitions json.RawMessage
	messages    []any
	screen      *screen.Screen
	turns       int
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// work is the loop: ask the model, serve its calls, send it the answers, until it
// calls for nothing more. In place of scripted.Chat, a real agent sends the same
// definitions and messages to a model.
func (a *agent) work(ctx context.Context, task string) error {
	a.screen.User(task)
	a.messages = append(a.messages, message{"user", task})
	for more := true; more; {
		answer, err := scripted.Chat(a.definitions, a.messages)
		if err != nil {
			return err
		}
		a.turns++
		a.show(answer)
		reply, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		turn, err := format.OpenAIChat{}.Turn(ctx, a.ws, reply, &tools.TurnOptions{OnAnswer: a.screen.Reply})
		if err != nil {
			return err
		}
		if a.messages, err = format.Append(a.messages, turn.Messages...); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		more = turn.More
	}
	return nil
}
