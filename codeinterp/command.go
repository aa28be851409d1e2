package codeinterp

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Commander runs commands of a shell where its programs run: in the same
// directory, behind the same walls, within the same limits. It is an optional
// group; see [Commands].
type Commander interface {
	// RunCommand runs a command line, or a script, of the shell in a process of
	// its own, and returns as RunCode does: when the command and all that it
	// started have ended and OnOutput has seen their output. A command that
	// fails is a Result. What the command left running in the background is
	// killed with it. opts may be nil.
	RunCommand(ctx context.Context, command string, opts *CommandOptions) (Result, error)
}

// CommandOptions tunes one command. The zero value is ready to use. Of the
// RunOptions a command has no Files, Artifacts and Functions, which are
// ErrInvalid; where there is neither Stdin nor Input, it reads the end of its
// input.
type CommandOptions struct {
	RunOptions

	// Cwd is the directory to start in, relative to the one in which programs
	// start or absolute, as programs see it. Where it cannot be entered the
	// command fails with exit code 126.
	Cwd string

	// Signals, if set, passes signals on to the command and all that it
	// started. A command that one of them ended is StatusError, with 128 + the
	// signal's number as its exit code and CauseInterrupt.
	Signals <-chan Signal

	// Kept, if set, lets the command outlive this process where the provider can.
	Kept *KeptCommand
}

// A KeptCommand is a command that processes of the same user run one after the other. A
// process that ends without Close leaves it to the next one, for the provider's lease.
type KeptCommand struct {
	// Ref, if set, is of a command that another process has started. RunCommand follows
	// that one to its end; of the options Input, Signals, OnOutput and MaxOutput count. The
	// errors are those of [ContextAttacher].Attach.
	Ref Ref

	// OnBegin is called before OnOutput, with the command's reference, and how many bytes of
	// its output before that are not kept. If it is not called, the command ends with this
	// process.
	OnBegin func(ref Ref, missed int64)

	// Leave, once it is closed, makes RunCommand return ErrUnavailable and leave the
	// command running. What waits in Input is not given to it.
	Leave <-chan struct{}
}

// A Signal is the name of a signal of POSIX, without SIG.
type Signal string

// The signals that commands can be sent.
const (
	SignalInterrupt Signal = "INT"
	SignalTerminate Signal = "TERM"
	SignalHangup    Signal = "HUP"
	SignalQuit      Signal = "QUIT"
	SignalUser1     Signal = "USR1"
	SignalUser2     Signal = "USR2"
	SignalKill      Signal = "KILL"
)

// Signals returns all signals that commands can be sent.
func Signals() []Signal {
	return []Signal{SignalInterrupt, SignalTerminate, SignalHangup, SignalQuit, SignalUser1, SignalUser2, SignalKill}
}

// Check reports a signal that commands cannot be sent, as ErrInvalid.
func (s Signal) Check() error {
	if slices.Contains(Signals(), s) {
		return nil
	}
	return fmt.Errorf("%w: signal %.20q; use one of %q", ErrInvalid, string(s), Signals())
}

// maxCwd is the longest path that a system takes.
const maxCwd = 4096

// CheckCommand validates the input of a command and returns a copy of opts that
// the provider owns, with defaults filled in. Providers call it on entry.
func CheckCommand(command string, opts *CommandOptions) (CommandOptions, error) {
	var o CommandOptions
	if opts != nil {
		o = *opts
	}
	run, err := CheckRun(command, &o.RunOptions)
	switch {
	case err != nil:
		return o, err
	case strings.TrimSpace(command) == "":
		err = fmt.Errorf("%w: an empty command", ErrInvalid)
	case o.Files != nil || o.Artifacts || len(o.Functions) > 0:
		err = fmt.Errorf("%w: a command has no Files, Artifacts and Functions", ErrInvalid)
	case strings.ContainsRune(o.Cwd, 0) || len(o.Cwd) > maxCwd:
		err = fmt.Errorf("%w: Cwd %.200q", ErrInvalid, o.Cwd)
	}
	o.RunOptions = run
	return o, err
}

// Commands returns the Commander of ci, if it has a shell.
func Commands(ci CodeInterpreter) (Commander, bool) { return commanders.find(ci) }

var commanders = group[Commander]{
	handle: func(h Handler) Commander { return commandsHandler(h) },
}

// OpCommand is RunCommand. The command is the Call's Code, its RunOptions are
// the Call's Run; the rest of its options, a *[CommandOptions], are its Args.
var OpCommand = commanders.op("run command", runs, func(ctx context.Context, of Commander, c Call) (r Reply, err error) {
	o := argsOf(c, func(o *CommandOptions) *RunOptions { return &o.RunOptions })
	r.Result, err = of.RunCommand(ctx, c.Code, o)
	return r, err
})

// argsOf returns the options that are a Call's Args, with its Run as their RunOptions: a
// middleware may have changed that, and those of Args are the caller's.
func argsOf[O any](c Call, run func(*O) *RunOptions) *O {
	o := new(O)
	if rest, ok := c.Args.(*O); ok && rest != nil {
		*o = *rest
	}
	*run(o) = RunOptions{}
	if c.Run != nil {
		*run(o) = *c.Run
	}
	return o
}

// commandsHandler is a Commander whose calls go to a handler.
type commandsHandler Handler

func (h commandsHandler) RunCommand(ctx context.Context, command string, opts *CommandOptions) (Result, error) {
	c := Call{Op: OpCommand, Code: command}
	if opts != nil {
		c.Run, c.Args = &opts.RunOptions, opts
		defer opts.closeInput()
	}
	r, err := h(ctx, c)
	return r.Result, err
}
