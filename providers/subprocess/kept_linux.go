package subprocess

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/internal/rootfs"
	"github.com/toolcell/toolcell/internal/sandbox"
	"github.com/toolcell/toolcell/providers/subprocess/internal/kept"
)

// A keptContext is the session of a context below a keeper.
type keptContext struct {
	kept.Client
	h    *keepingHost
	lang *language
	opts driver.Options

	folder *folder
	place  place
	fresh  bool // the keeper was started for the next run
}

// start starts a keeper with an empty state.
func (s *keptContext) start(ctx context.Context) error {
	err := s.h.startKeeper(ctx, s.Key, s.lang, &s.opts)
	if err == nil {
		err = s.hold(ctx)
	}
	return err
}

// hold attaches the context.
func (s *keptContext) hold(ctx context.Context) error {
	err := s.Hold(ctx)
	if err != nil {
		return err
	}
	s.h.mu.Lock()
	s.h.held[s] = true
	s.h.mu.Unlock()
	s.place, s.folder = place{dir: s.Hello.Dir, cwd: s.h.dir}, &folder{}
	if s.Hello.Cwd != "" {
		if s.place.cwd, err = sandbox.OpenDir(s.Hello.Cwd); err != nil {
			s.leave()
		}
	}
	return err
}

// leave detaches the context.
func (s *keptContext) leave() {
	s.h.mu.Lock()
	delete(s.h.held, s)
	s.h.mu.Unlock()
	s.folder.close()
	s.Leave()
	if s.place.cwd != nil && s.place.cwd != s.h.dir {
		s.place.cwd.Close()
	}
}

// Cwd returns where programs start.
func (s *keptContext) Cwd() string { return s.Hello.Inside }

// Run implements driver.Session.
func (s *keptContext) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	for {
		o, err := s.attempt(ctx, p, out)
		switch {
		case !errors.Is(err, keeper.ErrNone):
			return o, err
		case p.Resume:
			return driver.Outcome{}, codeinterp.ErrNoRun
		}
		select {
		case <-s.Gone: // another keeper takes its place
		case <-ctx.Done():
			return driver.Outcome{}, context.Cause(ctx)
		}
	}
}

func (s *keptContext) attempt(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	q := &keeper.Request{Op: kept.Resume}
	if !p.Resume {
		if err := s.prepare(ctx, p); err != nil {
			return driver.Outcome{}, err
		}
		q = &keeper.Request{Op: kept.Run, Code: p.Code, HasStdin: p.Stdin != nil,
			Options: codeinterp.RunOptions{Stdin: p.Stdin, Env: p.Env, Artifacts: p.Artifacts, Network: p.Network, Timeout: p.Timeout}}
		p.Busy(true) // the keeper bounds the start, and waits for a run of the process before
		defer p.Busy(false)
	}
	o, err := s.Follow(ctx, p, out, q)
	if err == nil && !p.Resume {
		o.Fresh, s.fresh = s.fresh, false
	}
	return o, err
}

// prepare makes sure of a keeper, and copies the files of a run.
func (s *keptContext) prepare(ctx context.Context, p *driver.Program) error {
	select {
	case <-s.Gone:
		s.leave()
		s.fresh = true
		if err := s.start(ctx); err != nil {
			return err
		}
	default:
	}
	if !p.HasFiles() {
		return nil
	}
	dir, err := s.files()
	if err != nil {
		return err
	}
	return p.CopyFiles(ctx, dir)
}

// Interrupt implements driver.Session.
func (s *keptContext) Interrupt(ctx context.Context) error {
	return s.Call(ctx, kept.Interrupt)
}

// Reset implements driver.Session.
func (s *keptContext) Reset(ctx context.Context) error {
	return s.Call(ctx, kept.Restart)
}

// Close implements driver.Session.
func (s *keptContext) Close(ctx context.Context) error {
	err := s.Call(ctx, kept.Close)
	if err != nil {
		s.Kill()
	}
	select {
	case <-s.Gone:
		err = nil
	case <-ctx.Done():
		err = errors.Join(err, fmt.Errorf("%w: the keeper may still be running", codeinterp.ErrUnavailable))
	}
	s.leave()
	return err
}

func (s *keptContext) files() (*rootfs.FS, error) { return s.folder.open(s.h.host, &s.place) }
