package codeinterp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// A TerminalRunner runs commands on a terminal, where a [Commander] would run them:
// editors, pagers, REPLs and password prompts work there. It is an optional group; see
// [Terminals]. Package shell has terminals with ids and screens.
type TerminalRunner interface {
	// RunTerminal is RunCommand for a command whose standard streams are a terminal of
	// its own. An empty command is an interactive shell. What the terminal shows comes
	// to OnOutput as Stdout, with its control sequences. The end of ctx ends the command
	// and all that it started. opts may be nil.
	RunTerminal(ctx context.Context, command string, opts *TerminalOptions) (Result, error)
}

// TerminalOptions tunes one terminal. The zero value is ready to use.
type TerminalOptions struct {
	// CommandOptions are those of the command. Stdin and Input are what is typed; their
	// end closes nothing: what ends a program's input is Ctrl-D, the byte 4. TERM is
	// xterm-256color unless Env has one.
	CommandOptions

	// Size is the size to start with.
	Size TerminalSize

	// Resizes, if set, passes on new sizes.
	Resizes <-chan TerminalSize
}

// A TerminalSize is the size of a terminal in characters: 1 to 500 columns, 1 to 200 rows.
// Zero means 80 columns, and 24 rows.
type TerminalSize struct{ Columns, Rows int }

const maxColumns, maxRows = 500, 200

// Check returns the size with defaults filled in, or ErrInvalid.
func (s TerminalSize) Check() (TerminalSize, error) {
	full := TerminalSize{cmp.Or(s.Columns, 80), cmp.Or(s.Rows, 24)}
	if full.Columns < 1 || full.Rows < 1 || full.Columns > maxColumns || full.Rows > maxRows {
		return full, fmt.Errorf("%w: a terminal of %d columns and %d rows; use 1 to %d, and 1 to %d", ErrInvalid, s.Columns, s.Rows, maxColumns, maxRows)
	}
	return full, nil
}

// CheckTerminal validates the input of a terminal and returns a copy of opts that the
// provider owns, with defaults filled in. Providers call it on entry.
func CheckTerminal(command string, opts *TerminalOptions) (TerminalOptions, error) {
	var o TerminalOptions
	if opts != nil {
		o = *opts
	}
	var err error
	if o.Size, err = o.Size.Check(); err != nil {
		return o, err
	}
	if o.Kept != nil {
		return o, fmt.Errorf("%w: a terminal ends with its process, and has no Kept", ErrInvalid)
	}
	if strings.TrimSpace(command) == "" {
		command = "shell"
	}
	o.CommandOptions, err = CheckCommand(command, &o.CommandOptions)
	return o, err
}

// Terminals returns the TerminalRunner of ci, if it has terminals.
func Terminals(ci CodeInterpreter) (TerminalRunner, bool) { return terminals.find(ci) }

var terminals = group[TerminalRunner]{
	handle: func(h Handler) TerminalRunner { return terminalsHandler(h) },
}

// OpTerminal is RunTerminal. The command is the Call's Code, its RunOptions are the
// Call's Run; the rest of its options, a *[TerminalOptions], are its Args.
var OpTerminal = terminals.op("run terminal", runs, func(ctx context.Context, of TerminalRunner, c Call) (r Reply, err error) {
	o := argsOf(c, func(o *TerminalOptions) *RunOptions { return &o.RunOptions })
	r.Result, err = of.RunTerminal(ctx, c.Code, o)
	return r, err
})

// terminalsHandler is a TerminalRunner whose calls go to a handler.
type terminalsHandler Handler

func (h terminalsHandler) RunTerminal(ctx context.Context, command string, opts *TerminalOptions) (Result, error) {
	c := Call{Op: OpTerminal, Code: command}
	if opts != nil {
		c.Run, c.Args = &opts.RunOptions, opts
		defer opts.closeInput()
	}
	r, err := h(ctx, c)
	return r.Result, err
}
