// Agent lets a language model work with code, on the terminal:
//
//	export OPENAI_API_KEY=... OPENAI_MODEL=...
//	go run ./examples/agent 'Which of the first 1000 primes has the most prime digits?'
//
// It speaks two APIs: Chat Completions of OpenAI and of the many servers that
// have it too (-url, or OPENAI_BASE_URL), and Anthropic's Messages (-api
// anthropic; ANTHROPIC_API_KEY, ANTHROPIC_MODEL). Without a key and without a
// server of one's own it runs the quickstart's script. -provider chooses where
// the code runs, and -tools names a file of MCP servers whose tools programs call.
//
// Without a task it asks for tasks, one after the other. Ctrl-C stops the
// model and the running code.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/toolcell/toolcell/examples/internal/screen"
	"github.com/toolcell/toolcell/internal/scripted"
	"github.com/toolcell/toolcell/workspace"
)

func main() {
	err := run(context.Background(), os.Args[1:], os.Getenv, os.Stdin, os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "agent: stopped")
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, getenv func(string) string, in io.Reader, out io.Writer) error {
	s := screen.New(out)
	c, err := parse(args, getenv)
	if err != nil {
		return err
	}
	ci, err := c.interpreter(ctx)
	if err != nil {
		return err
	}
	box, ci, err := c.toolbox(ctx, ci)
	if err != nil {
		return err
	}
	defer box.close()
	ws, err := workspace.New("agent", workspace.Capabilities{Code: ci}, nil)
	if err != nil {
		return errors.Join(err, ci.Close())
	}
	defer ws.Close()
	defer ws.Subscribe(s.Event, nil)()
	list, set, err := box.around(ws)
	if err != nil {
		return err
	}
	m, err := c.conversation(list, s.Note)
	if err != nil {
		return err
	}
	a := &agent{model: m, tools: set, screen: s, maxTurns: c.maxTurns}
	switch {
	case c.task != "":
		return a.once(ctx, c.task)
	case c.scripted:
		for _, task := range scripted.Tasks() {
			if err := a.once(ctx, task); err != nil {
				return err
			}
		}
		return nil
	}
	return a.ask(ctx, in, out)
}

// once does one task. The first Ctrl-C stops it, a second one ends the program
// at once.
func (a *agent) once(ctx context.Context, task string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	a.screen.User(task)
	return a.work(ctx, task)
}

// ask does the tasks that it reads, a line each. What stops or breaks one task
// does not end the conversation.
func (a *agent) ask(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for {
		fmt.Fprint(out, "\n> ")
		if !lines.Scan() {
			fmt.Fprintln(out)
			return lines.Err()
		}
		task := strings.TrimSpace(lines.Text())
		if task == "" {
			continue
		}
		if err := a.once(ctx, task); err != nil {
			if ctx.Err() != nil {
				return err
			}
			a.screen.Note(fmt.Sprintf("Ended: %v", err))
		}
	}
}
