package driver

import (
	"context"
	"fmt"

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

// A CommandKeeper is a Commander whose commands can outlive this process.
type CommandKeeper interface {
	// KeepCommand is StartCommand for a command with o.Kept.
	KeepCommand(ctx context.Context, o codeinterp.CommandOptions) (Session, error)
}

// A TerminalStarter is a Runtime that also runs commands on terminals. Its interpreters have
// [codeinterp.Terminals].
type TerminalStarter interface {
	// StartTerminal is Commander.StartCommand for a command on a terminal. The Code of
	// the Program is empty for an interactive shell.
	StartTerminal(ctx context.Context, o codeinterp.TerminalOptions) (Session, error)
}

// Forward calls do with what comes on c, such as CommandOptions.Signals, until c or done is
// closed.
func Forward[T any](done <-chan struct{}, c <-chan T, do func(T)) {
	for {
		select {
		case v, ok := <-c:
			if !ok {
				return
			}
			do(v)
		case <-done:
			return
		}
	}
}

// A commander is the codeinterp.Commander of an interpreter whose runtime is a
// Commander. The others have none, so it is not Interpreter itself.
type commander struct{ *Interpreter }

// RunCommand implements codeinterp.Commander.
func (i commander) RunCommand(ctx context.Context, command string, opts *codeinterp.CommandOptions) (codeinterp.Result, error) {
	o, err := codeinterp.CheckCommand(command, opts)
	start := i.rt.(Commander).StartCommand
	if o.Kept != nil {
		if rt, ok := i.rt.(CommandKeeper); ok {
			start = rt.KeepCommand
		} else if o.Kept.Ref != "" {
			err = fmt.Errorf("%w: commands end with their process here", codeinterp.ErrInvalid)
		}
	}
	return i.runStarted(ctx, codeinterp.OpCommand, command, &o.RunOptions, err, func(ctx context.Context) (Session, error) {
		return start(ctx, o)
	})
}

// A terminalRunner is the codeinterp.TerminalRunner of an interpreter whose runtime is a
// TerminalStarter.
type terminalRunner struct{ *Interpreter }

// RunTerminal implements codeinterp.TerminalRunner.
func (i terminalRunner) RunTerminal(ctx context.Context, command string, opts *codeinterp.TerminalOptions) (codeinterp.Result, error) {
	o, err := codeinterp.CheckTerminal(command, opts)
	return i.runStarted(ctx, codeinterp.OpTerminal, command, &o.RunOptions, err, func(ctx context.Context) (Session, error) {
		return i.rt.(TerminalStarter).StartTerminal(ctx, o)
	})
}

// runStarted runs code in a session of its own, which start returns, unless the input was
// refused. It closes the Input of what did not run.
func (i *Interpreter) runStarted(ctx context.Context, op codeinterp.Op, code string, o *codeinterp.RunOptions, refused error, start func(context.Context) (Session, error)) (res codeinterp.Result, err error) {
	defer i.wrap(ctx, op, &err)
	defer func() {
		if res.Status == codeinterp.StatusNotRun {
			closeInput(o)
		}
	}()
	if refused != nil {
		return codeinterp.NotRun(), refused
	}
	s := newSlot(i, Options{Once: true})
	s.command = start
	if err := i.addSlot(ctx, s); err != nil {
		return codeinterp.NotRun(), err
	}
	return newRun(s, ctx, o, code).run()
}

// start starts the slot's session.
func (s *slot) start(ctx context.Context) (Session, error) {
	if s.command != nil {
		return s.command(ctx)
	}
	return s.in.rt.Start(ctx, s.opts)
}

// As finds the optional groups that need no contexts.
func (i *Interpreter) As(target any) (ok bool) {
	switch of := target.(type) {
	case *codeinterp.Commander:
		*of = commander{i}
		_, ok = i.rt.(Commander)
	case *codeinterp.TerminalRunner:
		*of = terminalRunner{i}
		_, ok = i.rt.(TerminalStarter)
	case *codeinterp.Pauser:
		*of, ok = i.pauses()
	}
	return ok
}
