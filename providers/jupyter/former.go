package jupyter

import (
	"context"
	"errors"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
)

// resume follows the run of a client that has ended.
func (s *session) resume(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	if !s.former {
		return driver.Outcome{}, codeinterp.ErrNoRun
	}
	end, err := s.k.Load().Follow(ctx, kernel.Order{Program: p, Out: out, Kill: s.killer(), Shared: true})
	s.former = err != nil && !errors.Is(err, codeinterp.ErrNoRun)
	if err != nil {
		return driver.Outcome{}, err
	}
	s.left = leftBy(end)
	return end.Outcome, nil
}

// endFormer waits for the end of such a run, if there is one, and reports it.
func (s *session) endFormer(ctx context.Context, p *driver.Program) error {
	if !s.former {
		return nil
	}
	p.Busy(true)
	defer p.Busy(false)
	out := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: maxFormer})
	o, err := s.resume(ctx, &driver.Program{}, out)
	switch {
	case errors.Is(err, codeinterp.ErrNoRun):
		return nil
	case err != nil:
		return err
	}
	driver.ReportRun(s.opts.Late, out, o)
	return nil
}

// forgetFormer gives up the wait for it. The caller holds the turn.
func (s *session) forgetFormer() {
	if s.former {
		s.former = false
		s.k.Load().Unexpect()
	}
}

// maxFormer is how much output of a run is kept that is not resumed.
const maxFormer = 1 << 20
