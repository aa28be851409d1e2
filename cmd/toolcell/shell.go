package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/toolcell/toolcell/codeinterp"
)

type shellFlags struct{ programFlags }

// shellCommand opens a terminal where programs run.
func (a *app) shellCommand() *cobra.Command {
	f := &shellFlags{}
	c := a.command("shell [flags] [COMMAND...]", "Open a terminal where programs run", f.register,
		func(ctx context.Context, fs *pflag.FlagSet, operands []string) int {
			return a.shell(ctx, f, fs, operands)
		})
	c.Args = cobra.ArbitraryArgs
	c.Flags().SetInterspersed(false)
	c.Example = "  toolcell shell --dir . --write .\n  toolcell shell --with pandas python3"
	return c
}

// shell connects this command's terminal with one where programs run, until that ends.
func (a *app) shell(ctx context.Context, f *shellFlags, fs *pflag.FlagSet, operands []string) int {
	in, ok := a.stdin.(*os.File)
	if !ok || !isTerminal(in) {
		return a.usageError("standard input is no terminal; toolcell run --language bash runs scripts")
	}
	f.language = "bash" // chooses the provider; the terminal has all languages
	err := f.choose(fs)
	f.language = ""
	if f.startFiles != "" && f.dir == "" {
		f.dir = f.startFiles
	}
	here := err == nil && f.startHere()
	if err == nil {
		f.script, err = newScript(&f.programFlags, "", nil)
	}
	if err != nil {
		return a.usageError("%s", plain(err))
	}
	timeout := max(f.timeout, 0)
	ci, code := a.start(ctx, &f.programFlags)
	if ci == nil {
		return code
	}
	defer func() { f.net.log.print(a.stderr) }()
	defer ci.Close()
	of, ok := codeinterp.Terminals(ci)
	if !ok {
		return a.fail(fmt.Errorf("%w: this provider has no terminals", codeinterp.ErrUnavailable))
	}
	o := &codeinterp.TerminalOptions{}
	o.Timeout, o.Env, o.Cwd, o.MaxOutput = timeout, f.env.values, f.script.dir, 1
	var failed error
	o.OnOutput = func(out codeinterp.Output) error {
		_, failed = a.stdout.Write(out.Data)
		return failed
	}
	if here && len(operands)+len(f.write) == 0 {
		a.progress("programs can read %s; --write . lets them change it", visible(f.dir))
	}
	restore, err := connect(ctx, in, o)
	if err != nil {
		return a.fail(err)
	}
	res, err := of.RunTerminal(ctx, strings.Join(operands, " "), o)
	restore()
	switch {
	case failed != nil:
		return a.unread(fmt.Errorf("showing the output: %w", failed))
	case neverBegan(ctx, &res, err), res.Status == codeinterp.StatusCanceled:
		return a.stopped()
	case err != nil:
		return a.fail(err)
	}
	if res.Status == codeinterp.StatusTimeout || res.Status == codeinterp.StatusLost {
		s := newScreen(a, imageShower{none: true})
		s.end(&res)
	}
	return res.ExitCode
}

// resizeTime is how long a new size of this terminal may take to reach the other.
const resizeTime = 100 * time.Millisecond

// connect makes what is typed here the input of a terminal, each key as it is until
// restore, and passes on the size.
func connect(ctx context.Context, in *os.File, o *codeinterp.TerminalOptions) (restore func(), err error) {
	size := func() (s codeinterp.TerminalSize) {
		s.Columns, s.Rows, _ = term.GetSize(int(in.Fd()))
		s.Columns, s.Rows = min(s.Columns, 500), min(s.Rows, 200)
		return s
	}
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	resizes := make(chan codeinterp.TerminalSize)
	ctx, cancel := context.WithCancel(ctx)
	last := size()
	o.Input, o.Size, o.Resizes = struct{ io.Reader }{in}, last, resizes
	go func() { // not all systems have a signal for it
		for ctx.Err() == nil {
			time.Sleep(resizeTime)
			if now := size(); now != last {
				select {
				case resizes <- now:
					last = now
				case <-ctx.Done():
				}
			}
		}
	}()
	return func() {
		cancel()
		_ = term.Restore(int(in.Fd()), state)
	}, nil
}
