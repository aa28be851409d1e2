package subprocess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/internal/rootfs"
	"github.com/toolcell/toolcell/internal/sandbox"
	"github.com/toolcell/toolcell/providers/subprocess/internal/kept"
)

// A keptSession is what a context and a command below a keeper have in common.
type keptSession struct {
	kept.Client
	h *keepingHost
}

func (h *keepingHost) session(key string) *keptSession {
	return &keptSession{kept.Client{Dir: h.keepers, Key: key}, h}
}

// hold takes what the keeper has.
func (s *keptSession) hold(ctx context.Context) error {
	err := s.Hold(ctx)
	if errors.Is(err, keeper.ErrNone) {
		err = fmt.Errorf("%w: its keeper has ended", codeinterp.ErrContext)
	}
	if err == nil {
		s.h.mu.Lock()
		defer s.h.mu.Unlock()
		s.h.held[&s.Client] = true
	}
	return err
}

// leave gives it back.
func (s *keptSession) leave() {
	s.h.mu.Lock()
	delete(s.h.held, &s.Client)
	s.h.mu.Unlock()
	s.Leave()
}

// Close implements driver.Session. What was left to others goes on.
func (s *keptSession) Close(ctx context.Context) error {
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

// A keptContext is the session of a context below a keeper.
type keptContext struct {
	*keptSession
	lang *language
	opts driver.Options

	folder *folder
	place  place
	fresh  bool // the keeper was started for the next run
}

// start starts a keeper with an empty state.
func (s *keptContext) start(ctx context.Context) error {
	err := s.h.startKeeper(ctx, s.Key, []string{s.lang.Name}, s.opts.ContextOptions)
	if err == nil {
		err = s.open(ctx)
	}
	return err
}

// open takes the context, and opens its directory.
func (s *keptContext) open(ctx context.Context) error {
	err := s.hold(ctx)
	if err != nil {
		return err
	}
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
	s.keptSession.leave()
	s.folder.close()
	if s.place.cwd != nil && s.place.cwd != s.h.dir {
		s.place.cwd.Close()
	}
}

// Cwd returns where programs start.
func (s *keptContext) Cwd() string { return s.Hello.Inside }

// Run implements driver.Session.
func (s *keptContext) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	if p.Resume {
		return s.Follow(ctx, p, out, &kept.Request{Op: kept.Resume})
	}
	for {
		if err := s.prepare(ctx, p); err != nil {
			return driver.Outcome{}, err
		}
		q := request(kept.Run, p)
		q.Options.Stdin, q.HasStdin, q.Options.Artifacts = p.Stdin, p.Stdin != nil, p.Artifacts
		p.Busy(true) // the keeper bounds the start, and waits for a run of the process before
		o, err := s.Follow(ctx, p, out, q)
		p.Busy(false)
		if !errors.Is(err, codeinterp.ErrNoRun) {
			o.Fresh, s.fresh = s.fresh && err == nil, s.fresh && err != nil
			return o, err
		}
	}
}

// request returns the request for a run of the program.
func request(op string, p *driver.Program) *kept.Request {
	q := &kept.Request{Op: op, Code: p.Code}
	q.Options.Env, q.Options.Network, q.Options.Timeout = p.Env, p.Network, p.Timeout
	return q
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
	err := s.keptSession.Close(ctx)
	s.leave()
	return err
}

func (s *keptContext) files() (*rootfs.FS, error) { return s.folder.open(s.h.host, &s.place) }

// A keptCommand is the session of a command below a keeper.
type keptCommand struct {
	*keptSession
	o codeinterp.CommandOptions
}

// Run implements driver.Session.
func (c *keptCommand) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	q := &kept.Request{Op: kept.Resume}
	if c.o.Kept.Ref == "" {
		q = request(kept.Command, p)
		q.Options.Cwd = c.o.Cwd
		if c.o.Input == nil {
			c.o.Input = bytes.NewReader(p.Stdin)
		}
	}
	life, over := context.WithCancel(ctx)
	defer over()
	in := keptInput{c, life}
	fed := feedCommand(nil, nil)
	var helpers sync.WaitGroup
	p.OnBegin = func() {
		if f := c.o.Kept.OnBegin; f != nil {
			f(c.ref(), c.Missed)
		}
		if c.o.Input != nil {
			fed = feedCommand(in, c.o.Input)
		}
		helpers.Go(func() { driver.Forward(life.Done(), c.o.Signals, in.signal) })
		helpers.Go(func() {
			select {
			case <-c.o.Kept.Leave:
				c.leave()
			case <-life.Done():
			}
		})
	}
	o, err := c.Follow(ctx, p, out, q)
	over()
	helpers.Wait()
	stopInput(in, c.o.Input, fed)
	return o, err
}

// Interrupt implements driver.Session: a command is killed at once.
func (c *keptCommand) Interrupt(context.Context) error { return errors.ErrUnsupported }

// Reset implements driver.Session.
func (c *keptCommand) Reset(ctx context.Context) error { return c.Close(ctx) }

// A keptInput is where input for a kept command is written, and signals.
type keptInput struct {
	c    *keptCommand
	life context.Context
}

// Write implements io.Writer.
func (i keptInput) Write(b []byte) (int, error) {
	return len(b), i.c.Ask(i.life, &kept.Request{Op: kept.Input, Data: b})
}

// Close says that there is no more.
func (i keptInput) Close() error {
	return i.c.Ask(i.life, &kept.Request{Op: kept.Input, Last: true})
}

func (i keptInput) signal(sig codeinterp.Signal) {
	_ = i.c.Ask(i.life, &kept.Request{Op: kept.Signal, Signal: sig})
}
