package jupyter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// ready makes the kernel connected, prepared, furnished with the context's directory and
// environment, and idle.
func (s *session) ready(ctx context.Context, p *driver.Program) error {
	if s.left != nothing {
		if err := s.endLeft(ctx, p.Busy); err != nil {
			return err
		}
	}
	// One on its way would hit this program.
	if err := s.k.Load().AwaitInterrupts(ctx); err != nil {
		return err
	}
	return s.prepare(ctx, p.Busy)
}

// prepare is ready without ending an earlier program.
func (s *session) prepare(ctx context.Context, busy func(bool)) error {
	for range maxStarts {
		err := s.k.Load().Ensure(ctx, busy)
		if err == nil {
			err = s.furnish(ctx)
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, kernel.ErrGone) && s.foreign:
			return asContextError(err)
		case errors.Is(err, kernel.ErrGone):
			if err := s.replace(ctx); err != nil {
				return err
			}
		case !errors.Is(err, kernel.ErrNeverRan):
			return err
		}
	}
	return server.Unavailable("the kernel died again and again")
}

// report adds a late line before the next program's output.
func (s *session) report(text string) {
	s.opts.Late(codeinterp.Output{Kind: codeinterp.Stderr, Data: []byte(text), Late: true})
}

// endLeft ends what the last program left running, and reports it.
func (s *session) endLeft(ctx context.Context, busy func(bool)) error {
	how, err := "was ended with its kernel", error(nil)
	if s.left == inGivenUpKernel {
		err = s.deleteUntilGone(ctx)
	} else {
		kill := s.killer()
		if s.left == inQueue {
			kill = nil // what runs now is another client's
		}
		how, err = s.k.Load().EndLeft(ctx, s.rt.opts.Grace, kill, busy)
	}
	if errors.Is(err, kernel.ErrGone) {
		how, err = "went with its kernel", nil
	}
	if err != nil {
		return fmt.Errorf("an earlier program may still be running: %w", err)
	}
	s.report(fmt.Sprintf("The earlier program whose end was not known %s.\n", how))
	s.left = nothing
	return nil
}

// deletePause is the time between two tries to delete a kernel that the server
// may be restarting, and cannot delete meanwhile.
const deletePause = 2 * time.Second

// deleteUntilGone deletes the kernel, as often as that takes.
func (s *session) deleteUntilGone(ctx context.Context) error {
	for {
		err := s.rt.discard(ctx, s.k.Load())
		if err == nil || server.Wait(ctx, deletePause) != nil {
			return err
		}
	}
}

// furnish gives a new process the context's directory and environment.
func (s *session) furnish(ctx context.Context) error {
	return s.k.Load().Furnish(ctx, kernel.Surroundings{Cwd: s.opts.Cwd, Env: s.opts.Env, Dir: s.dir, Once: s.opts.Once})
}

// replace starts a new kernel in place of one that is gone.
func (s *session) replace(ctx context.Context) error {
	// Close tries again, and reports the failure.
	_ = s.rt.discard(ctx, s.k.Load())
	k, err := s.rt.newKernel(ctx, s.kind)
	if err != nil {
		return err
	}
	s.unsettled = false
	s.hold(k)
	return nil
}
