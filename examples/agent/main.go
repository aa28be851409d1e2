// Agent lets a language model work with code, on the terminal:
//
//	export OPENAI_API_KEY=... OPENAI_MODEL=...
//	go run ./examples/agent 'Which of the first 1000 primes has the most prime digits?'
//
// It speaks two APIs: Chat Completions of OpenAI and of other servers
// (OPENAI_BASE_URL, with /v1), and Anthropic's Messages (-api anthropic;
// ANTHROPIC_API_KEY, ANTHROPIC_MODEL). Without a key and a URL a script plays the
// model. -provider chooses where the code runs.
//
// Without a task it asks for tasks, one after the other. Ctrl-C stops the
// model and the running code.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/examples/internal/screen"
	"github.com/toolcell/toolcell/examples/internal/scripted"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

func main() {
	err := run(context.Background(), os.Args[1:], os.Getenv, os.Stdin, os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, getenv func(string) string, in io.Reader, out io.Writer) error {
	c, err := parse(args, getenv)
	if err != nil {
		return err
	}
	ci, err := c.open()
	if err != nil {
		return err
	}
	ws, err := workspace.New("agent", workspace.Capabilities{Code: ci}, nil)
	if err != nil {
		return errors.Join(err, ci.Close())
	}
	defer ws.Close()
	a := &agent{ws: ws, screen: screen.New(out)}
	defer ws.Subscribe(a.screen.Event, nil)()
	if a.model, err = c.newModel(ws.Tools(), a.screen.Note); err != nil {
		return err
	}
	tasks := []string{c.task}
	switch {
	case c.task == "" && c.scripted:
		tasks = scripted.Tasks()
	case c.task == "":
		return a.ask(ctx, in, out)
	}
	for _, task := range tasks {
		if err := a.once(ctx, task); err != nil {
			return err
		}
	}
	return nil
}

// A config is what the command line and the environment say.
type config struct {
	api, url, key, model string
	provider, task       string
	scripted             bool // a script plays the model
}

func parse(args []string, getenv func(string) string) (*config, error) {
	c := &config{}
	f := flag.NewFlagSet("agent", flag.ContinueOnError)
	f.StringVar(&c.api, "api", "openai", `"openai" or "anthropic"`)
	f.StringVar(&c.provider, "provider", "inmemory", `where code runs: "inmemory" or "subprocess"`)
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if c.api != "openai" && c.api != "anthropic" {
		return nil, fmt.Errorf("-api %q: use openai or anthropic", c.api)
	}
	env := func(name string) string { return getenv(strings.ToUpper(c.api) + "_" + name) }
	c.url, c.model, c.key, c.task = env("BASE_URL"), env("MODEL"), env("API_KEY"), strings.Join(f.Args(), " ")
	if c.scripted = c.key == "" && c.url == ""; !c.scripted && c.model == "" {
		return nil, fmt.Errorf("set %s_MODEL to the name of a model", strings.ToUpper(c.api))
	}
	return c, nil
}

// open starts the provider.
func (c *config) open() (codeinterp.CodeInterpreter, error) {
	switch c.provider {
	case "inmemory":
		return inmemory.NewStateful(nil)
	case "subprocess":
		return subprocess.NewStateful(nil)
	}
	return nil, fmt.Errorf("-provider %q: use inmemory or subprocess", c.provider)
}

// An agent is a model that has the tools of a workspace.
type agent struct {
	model        *model
	ws           *workspace.Workspace
	screen       *screen.Screen
	conversation []json.RawMessage
}

const (
	maxTurns  = 50   // of a task
	maxTokens = 8192 // of an answer
)

// work does a task. If ctx ends, running code is stopped, every call still gets
// its answer, and the conversation can go on.
func (a *agent) work(ctx context.Context, task string) error {
	a.conversation = append(a.conversation, a.model.User(task))
	for range maxTurns {
		reply, err := a.model.next(ctx, a.conversation, a.screen.Model)
		a.screen.EndLine()
		if err != nil {
			return err
		}
		turn, err := a.model.Turn(ctx, a, reply, nil)
		if err != nil {
			return err
		}
		a.conversation = append(a.conversation, turn.Messages...)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !turn.More:
			return nil
		}
	}
	return fmt.Errorf("the model did not finish within %d turns", maxTurns)
}

// DispatchAll shows the calls of a turn and serves them.
func (a *agent) DispatchAll(ctx context.Context, calls []tools.Invocation, _ *tools.TurnOptions) []*tools.Answer {
	for _, c := range calls {
		a.screen.Call(c.ID, c.Tool, string(c.Args))
	}
	return a.ws.DispatchAll(ctx, calls, &tools.TurnOptions{OnAnswer: a.screen.Reply})
}

// once does one task. The first Ctrl-C stops it, a second one ends the program.
func (a *agent) once(ctx context.Context, task string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	a.screen.User(task)
	return a.work(ctx, task)
}

// ask does the tasks that it reads, one per line. A task that fails does not end
// the conversation.
func (a *agent) ask(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	for fmt.Fprint(out, "\n> "); lines.Scan(); fmt.Fprint(out, "\n> ") {
		task := strings.TrimSpace(lines.Text())
		if task == "" {
			continue
		}
		if err := a.once(ctx, task); err != nil {
			a.screen.Note(fmt.Sprintf("Ended: %v", err))
		}
	}
	fmt.Fprintln(out)
	return lines.Err()
}
