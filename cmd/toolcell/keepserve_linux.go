package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/internal/probecache"
)

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
	ci, err := f.start(ctx)
	if err != nil {
		return err
	}
	before := stateOf(ci)
	ln, err := claim.Listen(f.keep)
	if err != nil {
		return errors.Join(err, ci.Close())
	}
	_ = os.Chdir("/")
	defer context.AfterFunc(ctx, func() { ln.Close() })()
	for lease := f.keep; ; {
		_ = ln.SetDeadline(time.Now().Add(lease))
		conn, err := keeper.Accept(ln)
		if err != nil || stateOf(ci) != before {
			break
		}
		if used := serveRun(ctx, keeper.NewConn(conn), ci); used > 0 {
			lease = used
			claim.SetLease(lease)
		}
	}
	ln.Close()
	keeper.EndWithin(endLimit)
	return ci.Close()
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
