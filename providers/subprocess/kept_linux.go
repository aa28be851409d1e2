package subprocess

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/internal/rootfs"
	"github.com/toolcell/toolcell/internal/sandbox"
	"github.com/toolcell/toolcell/providers/subprocess/internal/kept"
)

// A keptSession is what contexts, commands and single runs below a keeper have in common.
type keptSession struct {
	kept.Client
	h   *keepingHost
	key string
}

func (h *keepingHost) session(key string) *keptSession { return &keptSession{h: h, key: key} }

// launch starts a keeper, which takes its order, and sends it a Hold.
func (s *keptSession) launch(o keeperOrder) (*kept.Conn, *os.Process, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(s.h.Program)
	cmd.Args, cmd.Dir = []string{keeperName, s.key, "lease " + s.h.Lease.String()}, "/"
	for _, l := range o.Languages {
		cmd.Args = append(cmd.Args, l.Language.Name)
	}
	for _, name := range []string{"HOME", "PATH", "TMPDIR", "GOCOVERDIR"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "keeper"), os.NewFile(uintptr(fds[1]), "host")
	defer ours.Close()
	defer theirs.Close()
	cmd.Stdin = theirs
	socket, err := net.FileConn(ours)
	if err == nil {
		err = keeper.Start(cmd)
	}
	if err != nil {
		return nil, nil, err
	}
	theirs.Close()
	go func() { _ = cmd.Wait() }()
	conn := kept.NewConn(socket.(*net.UnixConn))
	return conn, cmd.Process, conn.Send(&kept.Request{Op: kept.Hold, Order: text, Lease: s.h.Lease})
}

// start starts a keeper, and takes what it has.
func (s *keptSession) start(ctx context.Context, o keeperOrder) error {
	conn, process, err := s.launch(o)
	if err != nil {
		return fmt.Errorf("%w: the keeper did not start: %w", codeinterp.ErrUnavailable, err)
	}
	if err = s.hold(ctx, conn); err != nil {
		_ = process.Kill()
	}
	if err == keeper.ErrNone {
		err = fmt.Errorf("%w: the keeper ended while it started", codeinterp.ErrUnavailable)
	}
	return err
}

// attach takes what a keeper has that is there.
func (s *keptSession) attach(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%w: the keeper does not answer", codeinterp.ErrUnavailable))
	defer cancel()
	socket, err := s.h.keepers.Dial(s.key)
	if err == nil {
		conn := kept.NewConn(socket)
		_ = conn.Send(&kept.Request{Op: kept.Hold, Lease: s.h.Lease})
		err = s.hold(ctx, conn)
	}
	if err == keeper.ErrNone {
		err = fmt.Errorf("%w: its keeper has ended", codeinterp.ErrContext)
	}
	return err
}

func (s *keptSession) hold(ctx context.Context, conn *kept.Conn) error {
	err := s.Hold(ctx, conn)
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

// run has the keeper run a program, or goes on with it, and feeds it.
func (s *keptSession) run(ctx context.Context, p *driver.Program, out *driver.Output, q *kept.Request, o *codeinterp.CommandOptions) (driver.Outcome, error) {
	q.Code, q.HasInput, q.HasStdin = p.Code, o.Input != nil, p.Stdin != nil
	q.Options.RunOptions = codeinterp.RunOptions{Stdin: p.Stdin, Env: p.Env, Network: p.Network, Timeout: p.Timeout, Artifacts: p.Artifacts}
	life, over := context.WithCancel(ctx)
	defer over()
	in := keptInput(func(data []byte, last bool) error {
		return s.Ask(life, &kept.Request{Op: kept.Input, Data: data, Last: last})
	})
	fed := feedCommand(nil, nil)
	var helpers sync.WaitGroup
	p.OnBegin = func() {
		if k := o.Kept; k != nil {
			if k.OnBegin != nil {
				k.OnBegin(s.ref(), s.Missed)
			}
			helpers.Go(func() {
				select {
				case <-k.Leave:
					s.leave()
				case <-life.Done():
				}
			})
		}
		if o.Input != nil {
			fed = feedCommand(in, o.Input)
		}
		helpers.Go(func() {
			driver.Forward(life.Done(), o.Signals, func(sig codeinterp.Signal) { _ = s.Ask(life, &kept.Request{Op: kept.Signal, Signal: sig}) })
		})
	}
	end, err := s.Follow(ctx, p, out, q)
	over()
	helpers.Wait()
	if o.Input != nil {
		stopInput(in, o.Input, fed)
	}
	return end, err
}

// Interrupt implements driver.Session: a command or a single run is killed at once.
func (s *keptSession) Interrupt(context.Context) error { return errors.ErrUnsupported }

// Reset implements driver.Session.
func (s *keptSession) Reset(ctx context.Context) error { return s.Close(ctx) }

// Close implements driver.Session. What was left to others goes on.
func (s *keptSession) Close(ctx context.Context) error {
	err := s.Ask(ctx, &kept.Request{Op: kept.Close})
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

// A keptCommand is the session of a command below a keeper.
type keptCommand struct {
	*keptSession
	o codeinterp.CommandOptions
}

// Run implements driver.Session.
func (c *keptCommand) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	q := &kept.Request{Op: kept.Resume}
	if c.o.Kept.Ref == "" {
		q.Op, q.Options.Cwd = kept.Command, c.o.Cwd
	}
	if c.o.Input == nil && p.Stdin != nil {
		c.o.Input, p.Stdin = bytes.NewReader(p.Stdin), nil
	}
	return c.run(ctx, p, out, q, &c.o)
}

// A keptRun is the session of a single run in a keeper that others share.
type keptRun struct{ *keptSession }

// Run implements driver.Session.
func (s *keptRun) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	q := &kept.Request{Op: kept.Single}
	if p.HasFiles() {
		dir, err := s.h.sandbox.TempDir()
		if err != nil {
			return driver.Outcome{}, err
		}
		files := &session{h: s.h.host, place: place{dir: dir}}
		defer files.Close(ctx)
		if err := files.copyFiles(ctx, p); err != nil {
			return driver.Outcome{}, err
		}
		q.Files = dir
	}
	return s.run(ctx, p, out, q, &codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Input: p.Input}})
}

// Close implements driver.Session. The keeper ends the run.
func (s *keptRun) Close(context.Context) error {
	s.leave()
	return nil
}

// A keptContext is the session of a context below a keeper.
type keptContext struct {
	*keptSession
	lang  *language
	opts  codeinterp.ContextOptions
	in    *session // which opens the directory
	fresh bool     // the keeper was started for the next run
}

// start starts a keeper with an empty state.
func (s *keptContext) start(ctx context.Context) error {
	err := s.keptSession.start(ctx, s.h.order([]string{s.lang.Name}, s.opts))
	if err == nil {
		err = s.open()
	}
	return err
}

// open opens the context's directory.
func (s *keptContext) open() (err error) {
	s.in = &session{h: s.h.host, place: place{dir: s.Hello.Dir, cwd: s.h.dir}}
	if s.opts.Cwd != "" {
		if s.in.place.cwd, err = sandbox.OpenDir(s.opts.Cwd); err != nil {
			s.leave()
		}
	}
	return err
}

// leave detaches the context.
func (s *keptContext) leave() {
	s.keptSession.leave()
	s.in.leaveDir()
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
		p.Busy(true) // the keeper bounds the start, and waits for a run of the process before
		o, err := s.run(ctx, p, out, &kept.Request{Op: kept.Run}, &codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Input: p.Input}})
		p.Busy(false)
		if !errors.Is(err, codeinterp.ErrNoRun) {
			o.Fresh, s.fresh = s.fresh && err == nil, s.fresh && err != nil
			return o, err
		}
	}
}

// prepare makes sure of a keeper, and copies the files of a run.
func (s *keptContext) prepare(ctx context.Context, p *driver.Program) error {
	if isDone(s.Gone) {
		s.leave()
		s.fresh = true
		if err := s.start(ctx); err != nil {
			return err
		}
	}
	return s.in.copyFiles(ctx, p)
}

// Interrupt implements driver.Session.
func (s *keptContext) Interrupt(ctx context.Context) error {
	return s.Ask(ctx, &kept.Request{Op: kept.Interrupt})
}

// Reset implements driver.Session.
func (s *keptContext) Reset(ctx context.Context) error {
	return s.Ask(ctx, &kept.Request{Op: kept.Restart})
}

// Close implements driver.Session.
func (s *keptContext) Close(ctx context.Context) error {
	err := s.keptSession.Close(ctx)
	s.leave()
	return err
}

func (s *keptContext) files() (*rootfs.FS, error) { return s.in.files() }

// A keptInput gives input to a kept run, or says that there is no more.
type keptInput func(data []byte, last bool) error

// Write implements io.Writer.
func (f keptInput) Write(b []byte) (int, error) { return len(b), f(b, false) }

// Close implements io.Closer.
func (f keptInput) Close() error { return f(nil, true) }
