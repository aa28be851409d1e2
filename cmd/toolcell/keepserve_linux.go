package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/cmd/toolcell/internal/terminal"
	"github.com/toolcell/toolcell/codeinterp"
)

// firstRun is how long a keeper leaves the processor to the run that started it.
const firstRun = 2 * time.Second

// A served is the interpreter of a keeper, and the call that it serves.
type served struct {
	ci            codeinterp.CodeInterpreter
	program, file string
}

// serveRuns is what a keeper does. Its operands are the lease, the program's first line
// and the arguments of an Order.
func (a *app) serveRuns(ctx context.Context, operands []string) int {
	if len(operands) < 4 {
		return a.usageError("run --keep starts this")
	}
	lease, err := time.ParseDuration(operands[0])
	if err == nil {
		err = a.serveUntil(ctx, lease, operands[1:])
	}
	if err != nil && !errors.Is(err, keeper.ErrExists) {
		return a.fail(err)
	}
	return 0
}

func (a *app) serveUntil(ctx context.Context, lease time.Duration, args []string) error {
	f, err := parseKept(args, a.getenv)
	if err != nil {
		return err
	}
	key, err := f.key(os.Environ())
	if err != nil {
		return err
	}
	dir, err := keeper.Open(a.getenv)
	if err != nil {
		return err
	}
	defer dir.Close()
	ln, err := dir.Listen(key, maxKeepers)
	if err != nil {
		return err
	}
	defer ln.Close()
	s := &served{}
	var seen snapshot
	defer func() {
		if s.ci != nil {
			s.ci.Close()
		}
	}()
	return ln.Serve(ctx, &keeper.Service{
		About: f.about(), Lease: lease,
		Start: func(ctx context.Context) (err error) {
			a.awaitFirst(min(firstRun, lease/2))
			if s.ci, err = f.startKept(ctx); err == nil {
				seen = snapshotOf(s.ci)
			}
			return err
		},
		Fresh: func() error { return seen.fresh() },
		Run:   s.run,
	})
}

// awaitFirst waits until the run that started this process has ended.
func (a *app) awaitFirst(most time.Duration) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, a.stdin)
	}()
	select {
	case <-ended:
	case <-time.After(most):
	}
}

// parseKept returns the flags of a call: the program's first line and file, and the
// arguments of the command.
func parseKept(args []string, getenv func(string) string) (*runFlags, error) {
	f := &runFlags{}
	fs := pflag.NewFlagSet("run", pflag.ContinueOnError)
	fs.SetInterspersed(false)
	fs.SetOutput(io.Discard)
	f.registerAll(fs, getenv)
	err := fs.Parse(args[3:])
	if err == nil {
		err = f.settle(fs, args[1], args[0])
	}
	if err == nil {
		f.script, err = newScript(&f.programFlags, args[1], fs.Args())
	}
	return f, err
}

// about says in a few words what the keeper is for.
func (f *runFlags) about() string {
	text := "python"
	switch {
	case f.name != "":
		text += ", environment " + f.name
	case len(f.with) > 0:
		text += " with " + strings.Join(f.with, ", ")
	case f.python != "":
		text += ", " + f.python
	}
	return visible(text)
}

// startKept opens the interpreter for runs whose arguments come later.
func (f *runFlags) startKept(ctx context.Context) (codeinterp.CodeInterpreter, error) {
	f.script = &script{dir: f.script.dir, later: true}
	f.language, f.timeout = "python", 0
	f.ready = f.env.values
	if f.ready == nil {
		f.ready = map[string]string{}
	}
	return f.start(ctx, false)
}

// run runs a call as its own process would, with its streams and in its directory.
func (s *served) run(ctx context.Context, o *keeper.Order) int {
	getenv := lookUp(o.Env)
	in := terminal.NewReader(o.Files[0])
	defer in.Close()
	a := &app{stdin: in, stdout: o.Files[1], stderr: o.Files[2], getenv: getenv, served: s}
	if err := o.Files[3].Chdir(); err != nil {
		return a.fail(err)
	}
	_ = os.Setenv("PWD", getenv("PWD")) // by which os.Getwd names it
	defer syscall.Umask(syscall.Umask(o.Umask))
	defer func() {
		_ = os.Chdir("/")
		_ = os.Unsetenv("PWD")
	}()
	s.file, s.program = o.Args[0], string(o.Input)
	return a.main(ctx, o.Args[1:])
}

func lookUp(env []string) func(string) string {
	values := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}

// interpreter is the keeper's, for one run.
func (s *served) interpreter(f *programFlags) codeinterp.CodeInterpreter {
	return &readyInterpreter{s.ci, f}
}

// A readyInterpreter is the interpreter of a keeper, which stays open.
type readyInterpreter struct {
	codeinterp.CodeInterpreter
	flags *programFlags
}

// Describe is the interpreter's own.
func (r *readyInterpreter) Describe() codeinterp.Info { return codeinterp.Describe(r.CodeInterpreter) }

// Close leaves the interpreter open.
func (r *readyInterpreter) Close() error { return nil }

// RunCode runs the program in a new interpreter if the ready one cannot begin it.
func (r *readyInterpreter) RunCode(ctx context.Context, language, code string, o *codeinterp.RunOptions) (codeinterp.Result, error) {
	res, err := r.CodeInterpreter.RunCode(ctx, language, code, o)
	if res.Status != codeinterp.StatusNotRun || ctx.Err() != nil || !errors.Is(err, codeinterp.ErrUnavailable) && !errors.Is(err, codeinterp.ErrCapacity) {
		return res, err
	}
	cold, failed := r.flags.start(ctx, false)
	if failed != nil {
		return res, err
	}
	defer cold.Close()
	return cold.RunCode(ctx, language, code, o)
}
