// Codemode has a model solve one task over 40 tools in two ways, and prints what
// each costs in turns and in bytes that the model reads:
//
//	go run ./examples/codemode
//
// In the first, the model is given the tools. In the second, it is given one tool
// that runs programs in which they are functions, by package tools/codemode. A
// script plays the model, so the numbers are always the same.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
	"github.com/toolcell/toolcell/tools/format"
)

const task = "Which customer in the north owes us most for overdue invoices, how much, and who looks after them?"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "codemode:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	ci, err := inmemory.New(nil)
	if err != nil {
		return err
	}
	defer ci.Close()
	list := office()
	mode, err := codemode.New(ci, codemode.Entries(list), nil)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "Task:", task)
	direct, err := work(ctx, list, callTools)
	if err != nil {
		return err
	}
	oneTool, err := work(ctx, mode.Tools(), writeProgram)
	if err != nil {
		return err
	}
	if direct.answer != oneTool.answer {
		return fmt.Errorf("two answers: %q and %q", direct.answer, oneTool.answer)
	}
	fmt.Fprintf(out, "Answer: %s\n\n", direct.answer)
	fmt.Fprintf(out, "%-10s %6s %12s %14s %14s\n", "", "turns", "tool calls", "definitions", "bytes read")
	for _, c := range []struct {
		name string
		cost
	}{{"40 tools", direct}, {"one tool", oneTool}} {
		fmt.Fprintf(out, "%-10s %6d %12d %14d %14d\n", c.name, c.turns, c.calls, c.definitions, c.read)
	}
	return nil
}

// A cost is what a way of solving the task comes to.
type cost struct {
	answer       string
	turns, calls int
	definitions  int // bytes
	read         int // bytes that the model read, in all turns together
}

// A model takes the answers to its last calls, none at first, and makes the next
// ones. It is done where it makes none, and then says the answer.
type model func(turn int, answers []*tools.Answer) (calls []tools.Invocation, answer string, err error)

var errTurns = errors.New("the model did not come to an end")

// work is an agent's loop. What the model reads in a turn is the definitions and
// all that was said before.
func work(ctx context.Context, list []tools.Tool, m model) (cost, error) {
	set, err := tools.NewSet(list, nil)
	if err != nil {
		return cost{}, err
	}
	definitions, err := format.OpenAIChat{}.Tools(list)
	if err != nil {
		return cost{}, err
	}
	c := cost{definitions: len(definitions)}
	said := len(task)
	var answers []*tools.Answer
	for turn := range 10 {
		c.turns++
		c.read += c.definitions + said
		calls, answer, err := m(turn, answers)
		if err != nil {
			return c, err
		}
		if len(calls) == 0 {
			c.answer = answer
			return c, nil
		}
		answers = set.DispatchAll(ctx, calls, nil)
		c.calls += len(calls)
		for i, call := range calls {
			said += len(call.Tool) + len(call.Args) + len(answers[i].Text)
		}
	}
	return c, errTurns
}

// call makes a call of a tool.
func call(id int, tool string, args any) tools.Invocation {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err) // maps of strings always marshal
	}
	return tools.Invocation{ID: fmt.Sprint("call_", id), Tool: tool, Args: raw}
}
