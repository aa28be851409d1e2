package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcell/toolcell/examples/internal/screen"
	"github.com/toolcell/toolcell/tools"
)

// A model is a conversation with a language model, in the form of its API.
type model interface {
	// user adds what the user says.
	user(text string)

	// next has the model take a turn. Its words go to say as they come. A
	// turn that is not complete is no part of the conversation.
	next(ctx context.Context, say func(string)) (turn, error)

	// results adds the answers to all calls of the turn before.
	results(replies []*tools.Answer) error
}

// A turn is what a model asks for. One without calls ends its work, unless it
// is to go on. Arguments are passed on as they came, even if they are no JSON:
// the reply says what is wrong with them.
type turn struct {
	calls []tools.Invocation
	note  string // why it ended, if that is worth telling
	goOn  bool   // the API wants to be asked again
}

// A dispatcher serves the calls of a turn, as a workspace does.
type dispatcher interface {
	DispatchAll(ctx context.Context, calls []tools.Invocation, opts *tools.TurnOptions) []*tools.Answer
}

// An agent has a model do tasks with the tools of a workspace.
type agent struct {
	model    model
	tools    dispatcher
	screen   *screen.Screen
	maxTurns int
}

// errTurns ends a task that takes too many turns.
var errTurns = errors.New("the model did not come to an end")

// work is the loop: ask the model, do what it calls for, tell it what came
// out, until it calls for nothing more. Where ctx ends, running code is
// stopped, every call still gets its answer, and the conversation can go on.
func (a *agent) work(ctx context.Context, task string) error {
	a.model.user(task)
	for range a.maxTurns {
		t, err := a.model.next(ctx, a.screen.Model)
		a.screen.EndLine()
		if err != nil {
			return err
		}
		if t.note != "" {
			a.screen.Note(t.note)
		}
		if len(t.calls) == 0 {
			if t.goOn {
				continue
			}
			return nil
		}
		if err := a.model.results(a.serve(ctx, t.calls)); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("%w within %d turns", errTurns, a.maxTurns)
}

// serve runs the calls of one turn.
func (a *agent) serve(ctx context.Context, calls []tools.Invocation) []*tools.Answer {
	for _, c := range calls {
		a.screen.Call(c.ID, c.Tool, string(c.Args))
	}
	return a.tools.DispatchAll(ctx, calls, &tools.TurnOptions{OnAnswer: a.screen.Reply})
}
