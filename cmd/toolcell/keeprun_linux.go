package main

import (
	"context"
	"errors"
	"maps"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/codeinterp"
)

// A served is the run of another process's, which this one serves.
type served struct {
	kept  *kept
	order *keeper.Order
}

// program is what the other process has read.
func (s *served) program() (code, file string) { return string(s.order.Program), s.order.File }

// interpreter is the one that is ready, for one run.
func (s *served) interpreter(f *programFlags) codeinterp.CodeInterpreter {
	return &readyOne{s.kept.ci, f}
}

// A readyOne is an interpreter that is ready, for one run, and stays open.
type readyOne struct {
	codeinterp.CodeInterpreter
	flags *programFlags
}

// Describe is the interpreter's own.
func (r *readyOne) Describe() codeinterp.Info { return codeinterp.Describe(r.CodeInterpreter) }

// Close leaves the interpreter open.
func (r *readyOne) Close() error { return nil }

// RunCode gives the program its arguments. Where it could not begin, because of what
// is ready, it is run as without.
func (r *readyOne) RunCode(ctx context.Context, language, code string, o *codeinterp.RunOptions) (codeinterp.Result, error) {
	with := *o
	with.Env = maps.Clone(o.Env)
	if with.Env == nil {
		with.Env = map[string]string{}
	}
	with.Env[scriptVariable] = r.flags.script.python()
	res, err := r.CodeInterpreter.RunCode(ctx, language, code, &with)
	if res.Status != codeinterp.StatusNotRun || ctx.Err() != nil || !errors.Is(err, codeinterp.ErrUnavailable) && !errors.Is(err, codeinterp.ErrCapacity) {
		return res, err
	}
	cold, cannot := r.flags.start(ctx, false)
	if cannot != nil {
		return res, err
	}
	defer cold.Close()
	return cold.RunCode(ctx, language, code, o)
}
