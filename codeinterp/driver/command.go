package driver

import (
	"context"
	"io"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Commander is a Runtime that also runs commands of a shell, each in a session
// of its own. Its interpreters have [codeinterp.Commands].
type Commander interface {
	// StartCommand is Runtime.Start for one command, which is the Code of the
	// Program that the session gets. Of o, the RunOptions are the driver's
	// business; the session closes o.Input when the command has ended.
	StartCommand(ctx context.Context, o codeinterp.CommandOptions) (Session, error)
}

// A commander is the codeinterp.Commander of an interpreter whose runtime is a
// Commander. The others have none, so it is not Interpreter itself.
type commander struct{ *Interpreter }

// RunCommand implements codeinterp.Commander.
func (i commander) RunCommand(ctx context.Context, command string, opts *codeinterp.CommandOptions) (codeinterp.Result, error) {
	res, err := i.runCommand(ctx, command, opts)
	if opts != nil && res.Status == codeinterp.StatusNotRun {
		if c, ok := opts.Input.(io.Closer); ok {
			c.Close()
		}
	}
	return res, i.wrap(ctx, codeinterp.OpCommand, err)
}

func (i commander) runCommand(ctx context.Context, command string, opts *codeinterp.CommandOptions) (codeinterp.Result, error) {
	o, err := codeinterp.CheckCommand(command, opts)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	s := newSlot(i.Interpreter, Options{Once: true})
	s.command = &o
	if err := i.addSlot(ctx, s); err != nil {
		return codeinterp.NotRun(), err
	}
	return newRun(s, ctx, &o.RunOptions, command).run()
}

// start starts the slot's session.
func (s *slot) start(ctx context.Context) (Session, error) {
	if s.command != nil {
		return s.in.rt.(Commander).StartCommand(ctx, *s.command)
	}
	return s.in.rt.Start(ctx, s.opts)
}

// As finds the optional groups that need no contexts.
func (i *Interpreter) As(target any) bool {
	c, ok := target.(*codeinterp.Commander)
	if !ok {
		return false
	}
	_, ok = i.rt.(Commander)
	if ok {
		*c = commander{i}
	}
	return ok
}
