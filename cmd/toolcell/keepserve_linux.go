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

// firstRun is how long the run that starts a keeper usually takes.
const firstRun = time.Second

// A keeperCall is a call that a keeper serves, with the interpreter that it keeps.
type keeperCall struct {
	ci            codeinterp.CodeInterpreter
	program, file string
}

// serveRuns serves runs as a keeper. Its operands are the lease, the program's first line
// and the arguments of an Order.
func (a *app) serveRuns(ctx context.Context, operands []string) int {
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
	s := &keeperCall{}
	var seen snapshot
	defer func() {
		if s.ci != nil {
			s.ci.Close()
		}
	}()
	return ln.Serve(ctx, &keeper.Service{
		About: f.about(), Lease: lease,
		Start: func(ctx context.Context) (err error) {
			pause(ctx, min(firstRun, lease/2))
			if s.ci, err = f.startKept(ctx); err == nil {
				seen = snapshotOf(s.ci)
			}
			return err
		},
		Fresh: func() error { return seen.fresh() },
		Run:   s.run,
	})
}

// pause leaves the processor to the run that started this process.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
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

// about describes the keeper in a few words.
func (f *runFlags) about() string {
	return visible(strings.Join(strings.Fields("python "+f.name+" "+strings.Join(f.with, " ")+" "+f.python), " "))
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
func (s *keeperCall) run(ctx context.Context, o *keeper.Order, files keeper.Files) int {
	getenv := lookUp(o.Env)
	in := terminal.NewReader(files[0])
	defer in.Close()
	a := &app{stdin: in, stdout: files[1], stderr: files[2], getenv: getenv, call: s}
	if err := files[3].Chdir(); err != nil {
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
func (s *keeperCall) interpreter() codeinterp.CodeInterpreter { return openInterpreter{s.ci} }

// An openInterpreter stays open after a run.
type openInterpreter struct{ codeinterp.CodeInterpreter }

// Describe is the interpreter's own.
func (r openInterpreter) Describe() codeinterp.Info { return codeinterp.Describe(r.CodeInterpreter) }

// Close leaves the interpreter open.
func (r openInterpreter) Close() error { return nil }
