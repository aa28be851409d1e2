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

// completerGrace is how long a completer that was interrupted has before its kernel
// is restarted. Its first work is to load much.
const completerGrace = 30 * time.Second

// ready makes sure that there is a kernel to run in: connected, prepared, with
// the context's directory and environment, and nothing of before running in it.
func (s *session) ready(ctx context.Context, p *driver.Program) error {
	if s.left != nothing {
		if err := s.endLeft(ctx, p.Busy); err != nil {
			return err
		}
	}
	if err := s.awaitInterrupts(ctx); err != nil {
		return err
	}
	return s.prepare(ctx, p.Busy)
}

// prepare is ready, where nothing of before runs.
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
		case errors.Is(err, kernel.ErrUnresponsive):
			if err := s.restartUnresponsive(ctx); err != nil {
				return err
			}
		case !errors.Is(err, kernel.ErrNeverRan):
			return err
		}
	}
	return server.Unavailable("the kernel died again and again")
}

// awaitInterrupts waits until no interrupt of an earlier program can hit the next one. A
// kernel where that cannot be known is given up, with its state; one that is not
// ours to end is used again after that was told.
func (s *session) awaitInterrupts(ctx context.Context) error {
	k := s.k.Load()
	err := k.AwaitInterrupts(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kernel.ErrUnconfirmed) && !s.foreign:
		return s.replace(ctx)
	case errors.Is(err, kernel.ErrUnconfirmed):
		k.IgnoreUnconfirmed()
	}
	return fmt.Errorf("an interrupt of an earlier program may hit the next one: %w", err)
}

// restartUnresponsive restarts a kernel that an interrupt has left unresponsive, and says so.
func (s *session) restartUnresponsive(ctx context.Context) error {
	if err := s.kill(ctx); err != nil {
		return fmt.Errorf("%w, and could not be restarted: %w", kernel.ErrUnresponsive, err)
	}
	s.private, s.unsettled = false, false
	s.tell("The kernel answered nothing after a program was interrupted, and was restarted.\n")
	return nil
}

// tell says something before the next program's output.
func (s *session) tell(text string) {
	s.opts.Late(codeinterp.Output{Kind: codeinterp.Stderr, Data: []byte(text), Late: true})
}

// endLeft ends what the last program left running, and tells it.
func (s *session) endLeft(ctx context.Context, busy func(bool)) error {
	how, err := "was ended with its kernel", error(nil)
	if s.left == inGivenUpKernel {
		err = s.deleteUntilGone(ctx)
	} else {
		grace := s.rt.opts.Grace
		if s.left == ofCompletion { // no program asked for it, and all variables go with the kernel
			grace = max(grace, completerGrace)
		}
		kill := s.killer()
		if s.left == inQueue {
			kill = nil // what runs now is another client's
		}
		how, err = s.k.Load().EndLeft(ctx, grace, kill, busy)
	}
	if errors.Is(err, kernel.ErrGone) {
		how, err = "went with its kernel", nil
	}
	if err != nil {
		return fmt.Errorf("an earlier program may still be running: %w", err)
	}
	if s.left != ofCompletion {
		s.tell(fmt.Sprintf("The earlier program whose end was not known %s.\n", how))
	}
	s.left = nothing
	return nil
}

// deletePause is the time between two tries to delete a kernel that the server
// may be restarting, and cannot delete meanwhile.
const deletePause = 2 * time.Second

// deleteUntilGone deletes the kernel, as often as that takes.
func (s *session) deleteUntilGone(ctx context.Context) error {
	s.awaitDiscard(ctx)
	for {
		err := s.rt.discard(ctx, s.k.Load())
		if err == nil || server.Wait(ctx, deletePause) != nil {
			return err
		}
	}
}

// awaitDiscard waits for what deletes the kernel already: two at once would ask the
// server twice as often.
func (s *session) awaitDiscard(ctx context.Context) {
	if s.discarding == nil {
		return
	}
	select {
	case <-s.discarding:
		s.discarding = nil
	case <-ctx.Done():
	}
}

// furnish gives a new process the context's directory and environment.
func (s *session) furnish(ctx context.Context) error {
	return s.k.Load().Furnish(ctx, kernel.Surroundings{Cwd: s.opts.Cwd, Env: s.opts.Env, Dir: s.dir, Once: s.opts.Once})
}

// replace starts a new kernel in place of one that is gone.
func (s *session) replace(ctx context.Context) error {
	// What cannot be deleted is remembered, and told by Close.
	_ = s.rt.discard(ctx, s.k.Load())
	k, err := s.rt.newKernel(ctx, s.kind)
	if err != nil {
		return err
	}
	s.private, s.unsettled = false, false
	s.hold(k)
	return nil
}
