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
	h    *host
	lang *language
	opts driver.Options
	late func(codeinterp.Output)

	folder  *folder
	place   place
	pending bool // there may be a run of the process before
	fresh   bool // the keeper was started for the next run
}

// start starts a keeper with an empty state.
func (s *keptContext) start(ctx context.Context) error {
	err := s.h.keep.startKeeper(ctx, s.h, s.Key, s.lang, &s.opts)
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
	s.place, s.folder = place{dir: s.Hello.Dir, cwd: s.h.dir}, &folder{}
	if s.Hello.Cwd != "" {
		s.place.cwd, err = sandbox.OpenDir(s.Hello.Cwd)
	}
	return err
}

// leave detaches the context.
func (s *keptContext) leave() {
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
	if p.Resume != nil {
		return s.resume(ctx, p, out)
	}
	for {
		o, err := s.attempt(ctx, p, out)
		if !errors.Is(err, keeper.ErrNone) {
			return o, err
		}
		select {
		case <-s.Gone: // another keeper takes its place
		case <-ctx.Done():
			return driver.Outcome{}, context.Cause(ctx)
		}
	}
}

func (s *keptContext) attempt(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	err := s.ready(ctx, p)
	if err == nil && p.HasFiles() {
		var dir *rootfs.FS
		if dir, err = s.files(); err == nil {
			err = p.CopyFiles(ctx, dir)
		}
	}
	if err != nil {
		return driver.Outcome{}, err
	}
	o, err := s.Follow(ctx, p, out, &kept.Request{Op: kept.Run, Code: p.Code, Stdin: p.Stdin, HasStdin: p.Stdin != nil, Env: p.Env,
		Artifacts: p.Artifacts, Network: p.Network, Timeout: p.Timeout})
	if err == nil {
		o.Fresh, s.fresh = o.Fresh || s.fresh, false
	}
	return o, err
}

// ready makes sure of a keeper without a run.
func (s *keptContext) ready(ctx context.Context, p *driver.Program) error {
	select {
	case <-s.Gone:
		s.leave()
		s.fresh, s.pending = true, false
		return s.start(ctx)
	default:
	}
	if !s.pending {
		return nil
	}
	p.Busy(true)
	defer p.Busy(false)
	former := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: maxFormer})
	o, err := s.resume(ctx, &driver.Program{}, former)
	if err == nil {
		driver.ReportRun(s.late, former, o)
	} else if errors.Is(err, codeinterp.ErrNoRun) {
		err = nil
	}
	return err
}

// maxFormer is how many bytes are kept of a run that is not resumed.
const maxFormer = 1 << 20

// resume follows the run of the process before.
func (s *keptContext) resume(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	after := 0
	if p.Resume != nil {
		after = p.Resume.After
	}
	o, err := s.Follow(ctx, p, out, &kept.Request{Op: kept.Resume, After: after})
	s.pending = s.pending && err != nil && !errors.Is(err, codeinterp.ErrNoRun)
	return o, err
}

// Interrupt implements driver.Session.
func (s *keptContext) Interrupt(ctx context.Context) error {
	_, err := s.Call(ctx, &kept.Request{Op: kept.Interrupt})
	return err
}

// Reset implements driver.Session.
func (s *keptContext) Reset(ctx context.Context) error {
	s.pending = false
	return s.End(ctx, kept.Reset)
}

// Close implements driver.Session.
func (s *keptContext) Close(ctx context.Context) error {
	err := s.End(ctx, kept.Close)
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

func (s *keptContext) files() (*rootfs.FS, error) { return s.folder.open(s.h, &s.place) }
