package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/terminal"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/internal/probecache"
)

// A keeperCall is a call that a keeper serves, with the interpreter that it keeps.
type keeperCall struct {
	ci            codeinterp.CodeInterpreter
	program, file string
}

// serveRuns serves runs as a keeper. Its operands are the key and the
// arguments of the command.
func (a *app) serveRuns(ctx context.Context, operands []string) int {
	f, err := parseKept(operands[1:], a.getenv)
	var dir keeper.Dir
	if err == nil {
		dir, err = keeper.Open(a.getenv)
	}
	if err == nil {
		err = f.serveKey(ctx, dir, operands[0])
	}
	if err != nil {
		return a.fail(err)
	}
	return 0
}

// serveKey is the keeper of a key until its lease ends, its interpreter is out of date, or
// ctx ends. It returns nil at once if there is such a keeper already.
func (f *runFlags) serveKey(ctx context.Context, dir keeper.Dir, key string) error {
	claim, err := dir.Claim(key)
	if errors.Is(err, keeper.ErrTaken) {
		return nil
	} else if err != nil {
		return err
	}
	defer claim.Close()
	if n := len(dir.Keepers(runKey + "*")); n >= maxKeepers {
		return fmt.Errorf("there are %d keepers already; toolcell keep stop ends them", n)
	}
	s := &keeperCall{}
	if s.ci, err = f.start(ctx); err != nil {
		return err
	}
	before := stateOf(s.ci)
	ln, err := claim.Listen(f.keep)
	if err != nil {
		return errors.Join(err, s.ci.Close())
	}
	defer context.AfterFunc(ctx, func() { ln.Close() })()
	for lease := f.keep; ; {
		_ = ln.SetDeadline(time.Now().Add(lease))
		conn, err := keeper.Accept(ln)
		if err != nil || stateOf(s.ci) != before {
			break
		}
		if used := serveOrder(ctx, conn, s.run); used > 0 {
			lease = used
			claim.SetLease(lease)
		}
	}
	ln.Close()
	keeper.EndWithin(endLimit)
	return s.ci.Close()
}

// parseKept returns the flags of a call for runs of Python whose arguments come later.
func parseKept(args []string, getenv func(string) string) (*runFlags, error) {
	f := &runFlags{}
	fs := pflag.NewFlagSet("run", pflag.ContinueOnError)
	fs.SetInterspersed(false)
	fs.SetOutput(io.Discard)
	f.registerAll(fs, getenv)
	err := fs.Parse(append([]string{"--language", "python", "--provider", "subprocess"}, args[1:]...))
	if err == nil {
		err = f.settle(fs, "", "")
	}
	if err != nil {
		return nil, err
	}
	s, err := newScript(&f.programFlags, "", nil)
	if err != nil {
		return nil, err
	}
	f.script = &script{dir: s.dir, later: true}
	f.timeout, f.ready = 0, f.env.values
	if f.ready == nil {
		f.ready = map[string]string{}
	}
	return f, nil
}

// stateOf describes the files that decide which interpreter a run would start. The
// provider itself looks at the modules that ready processes have imported.
func stateOf(ci codeinterp.CodeInterpreter) (state string) {
	for _, l := range codeinterp.Describe(ci).Languages {
		paths := []string{l.Path, filepath.Join(l.Prefix, "pyvenv.cfg")}
		for _, root := range append(l.Roots, l.Prefix) {
			for _, in := range []string{"", "*-packages", "lib/python3*/*-packages"} {
				found, _ := filepath.Glob(filepath.Join(root, in))
				paths = append(paths, found...)
			}
		}
		for _, path := range paths {
			state += path + " " + probecache.Stamp(path) + "\n"
		}
	}
	return state
}

// run runs a call as its own process would, with its streams and in its directory.
func (s *keeperCall) run(ctx context.Context, o *order, files callerFiles) int {
	values := map[string]string{}
	for _, v := range o.Env {
		name, value, _ := strings.Cut(v, "=")
		values[name] = value
	}
	getenv := func(name string) string { return values[name] }
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

// interpreter is the keeper's, for one run.
func (s *keeperCall) interpreter() codeinterp.CodeInterpreter { return codeinterp.Share(s.ci) }
