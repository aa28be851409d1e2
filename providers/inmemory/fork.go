package inmemory

import (
	"context"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

var _ driver.Forker = (*engines)(nil)

// Fork implements driver.Forker.
func (rt *engines) Fork(ctx context.Context, of driver.Session, o driver.Options) (driver.Session, error) {
	s, ok := of.(*session)
	if !ok || s.inst == nil {
		return nil, fmt.Errorf("%w: the context has lost its state", codeinterp.ErrUnavailable)
	}
	e, ok := s.inst.(engine.Forker)
	if !ok {
		return nil, fmt.Errorf("%w: %s contexts cannot be forked", codeinterp.ErrInvalid, o.Language)
	}
	if !rt.slots.acquire(ctx) {
		return nil, context.Cause(ctx)
	}
	defer rt.slots.release()
	files, reopen := s.files, s.files.Reopen
	if rt.opts.Shared == nil {
		files, reopen = s.files.Clone()
	}
	n := &session{rt: rt, lang: s.lang, files: files, cwd: s.cwd, env: s.env, runs: s.runs}
	n.connect(o.ID)
	var err error
	n.inst, err = e.Fork(engine.Config{Limits: s.lang.limits, Budget: rt.budget, Files: files, Cwd: s.cwd}, reopen)
	return n, err
}
