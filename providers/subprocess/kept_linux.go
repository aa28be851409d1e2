package subprocess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/internal/rootfs"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// A kept is the session of a context below a keeper.
type kept struct {
	h    *host
	lang *language
	opts driver.Options
	late func(codeinterp.Output)
	key  string

	holding *keptConn
	gone    chan struct{} // closed when the keeper has ended, or was left
	hello   *keptHello
	folder  *folder
	place   place
	pending bool // there may be a run of the process before
	fresh   bool // the keeper was started for the next run
}

// start starts a keeper with an empty state.
func (s *kept) start(ctx context.Context) error {
	err := s.h.keep.startKeeper(ctx, s.h, s.key, s.lang, &s.opts)
	if err == nil {
		err = s.hold(ctx)
	}
	return err
}

// hold attaches the context.
func (s *kept) hold(ctx context.Context) error {
	conn, err := s.dial(ctx)
	if err != nil {
		return err
	}
	err = conn.out.Encode(&keptRequest{Op: "hold"})
	var r *keptReply
	if err == nil {
		r, err = conn.read()
	}
	if err != nil {
		conn.Close()
		return s.lost(err)
	}
	_ = conn.SetDeadline(time.Time{})
	s.holding, s.hello, s.gone = conn, r.Hello, make(chan struct{})
	s.place = place{dir: r.Hello.Dir}
	s.folder = &folder{}
	gone := s.gone
	go func() {
		_, _ = io.Copy(io.Discard, conn) // until the keeper ends
		close(gone)
	}()
	if s.place.cwd = s.h.dir; s.hello.Cwd != "" {
		s.place.cwd, err = sandbox.OpenDir(s.hello.Cwd)
	}
	return err
}

// leave detaches the context.
func (s *kept) leave() {
	s.holding.Close()
	<-s.gone
	if s.place.cwd != nil && s.place.cwd != s.h.dir {
		s.place.cwd.Close()
	}
}

const (
	keptPatience = 5 * time.Second // for answers of a keeper that need no program
	maxFormer    = 1 << 20         // bytes that are kept of a run that is not resumed
)

func (s *kept) dial(ctx context.Context) (*keptConn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	conn, err := s.h.keep.dir.Dial(s.key)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(keptPatience))
	return newKeptConn(conn), nil
}

// lost returns the error of a connection that ended.
func (s *kept) lost(err error) error {
	if _, said := errors.AsType[*keptError](err); said {
		return err
	}
	return fmt.Errorf("%w: the keeper does not answer: %w", codeinterp.ErrUnavailable, err)
}

// call asks the keeper for something that is soon done. ctx bounds it.
func (s *kept) call(ctx context.Context, q *keptRequest) (*keptReply, error) {
	conn, err := s.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Time{})
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err = conn.out.Encode(q); err == nil {
		var r *keptReply
		if r, err = conn.read(); err == nil {
			return r, nil
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, s.lost(err)
}

// Cwd returns where programs start.
func (s *kept) Cwd() string { return s.hello.Inside }

// Run implements driver.Session.
func (s *kept) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	if p.Resume != nil {
		return s.resume(ctx, p, out)
	}
	for {
		o, err := s.attempt(ctx, p, out)
		if !errors.Is(err, keeper.ErrNone) {
			return o, err
		}
		select {
		case <-s.gone: // another keeper takes its place
		case <-ctx.Done():
			return driver.Outcome{}, context.Cause(ctx)
		}
	}
}

func (s *kept) attempt(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
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
	o, err := s.follow(ctx, p, out, &keptRequest{Op: "run", Code: p.Code, Stdin: p.Stdin, HasStdin: p.Stdin != nil, Env: p.Env,
		Artifacts: p.Artifacts, Network: p.Network, Timeout: p.Timeout})
	if err == nil {
		o.Fresh, s.fresh = o.Fresh || s.fresh, false
	}
	return o, err
}

// ready makes sure of a keeper without a run.
func (s *kept) ready(ctx context.Context, p *driver.Program) error {
	select {
	case <-s.gone:
		s.folder.close()
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

// resume follows the run of the process before.
func (s *kept) resume(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	after := 0
	if p.Resume != nil {
		after = p.Resume.After
	}
	o, err := s.follow(ctx, p, out, &keptRequest{Op: "follow", After: after})
	s.pending = s.pending && err != nil && !errors.Is(err, codeinterp.ErrNoRun)
	return o, err
}

// follow passes on the output of a run, to its end.
func (s *kept) follow(ctx context.Context, p *driver.Program, out *driver.Output, q *keptRequest) (driver.Outcome, error) {
	conn, err := s.dial(ctx)
	if err != nil {
		return driver.Outcome{}, s.lost(err)
	}
	defer conn.Close()
	if err := conn.out.Encode(q); err != nil {
		return driver.Outcome{}, s.lost(err)
	}
	_ = conn.SetDeadline(time.Time{})
	defer context.AfterFunc(ctx, func() {
		_, _ = s.call(context.WithoutCancel(ctx), &keptRequest{Op: "stop"})
	})()
	begun := false
	for {
		r, err := conn.read()
		_, refused := errors.AsType[*keptError](err)
		switch {
		case refused:
			return driver.Outcome{}, err
		case err != nil: // the keeper has died, perhaps before the program began
			if !begun {
				p.Begin()
			}
			out.MayLack(codeinterp.TruncatedByExit)
			return driver.Outcome{ExitCode: codeinterp.ExitKilled, Lost: true, Cause: codeinterp.CauseExit}, nil
		case r.Begun:
			p.Begin()
			begun = true
		case r.Output != nil:
			out.Add(*r.Output)
		case r.Lost != nil:
			out.Lost(*r.Lost)
		case r.End != nil:
			_ = conn.out.Encode(&keptRequest{Op: "got"})
			return r.End.outcome(q.Op == "follow")
		}
	}
}

// outcome returns how a run ended. Of one that was resumed the keeper knows more than the
// driver.
func (e *keptEnd) outcome(resumed bool) (driver.Outcome, error) {
	o := e.Outcome
	if e.Unknown != nil {
		o.Unknown = e.Unknown
	}
	if resumed && e.Err == nil {
		o.Former = &codeinterp.Result{Duration: e.Duration}
		if e.TimedOut {
			o.Former.Status, o.Former.ExitCode = codeinterp.StatusTimeout, codeinterp.ExitTimeout
		}
	}
	return o, e.Err.err()
}

// Interrupt implements driver.Session.
func (s *kept) Interrupt(ctx context.Context) error {
	_, err := s.call(ctx, &keptRequest{Op: "interrupt"})
	return err
}

// Reset implements driver.Session.
func (s *kept) Reset(ctx context.Context) error {
	s.pending = false
	return s.unlessGone(ctx, "reset")
}

// unlessGone asks for something that the end of the keeper does too.
func (s *kept) unlessGone(ctx context.Context, op string) error {
	_, err := s.call(ctx, &keptRequest{Op: op})
	if errors.Is(err, keeper.ErrNone) {
		return nil
	}
	select {
	case <-s.gone:
		return nil
	default:
		return err
	}
}

// Close implements driver.Session.
func (s *kept) Close(ctx context.Context) error {
	s.folder.close()
	pid := keeper.PID(s.holding.UnixConn)
	err := s.unlessGone(ctx, "close")
	if err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	select {
	case <-s.gone:
		err = nil
	case <-ctx.Done():
		err = errors.Join(err, fmt.Errorf("%w: the keeper %d may still be running", codeinterp.ErrUnavailable, pid))
	}
	s.holding.Close()
	s.leave()
	return err
}

func (s *kept) files() (*rootfs.FS, error) { return s.folder.open(s.h, &s.place) }

func (s *kept) complete(ctx context.Context, code string, cursor int) (codeinterp.Completion, error) {
	if s.pending {
		return codeinterp.Completion{}, nil
	}
	r, err := s.call(ctx, &keptRequest{Op: "complete", Code: code, Cursor: cursor})
	if err != nil || r.Completion == nil {
		return codeinterp.Completion{}, err
	}
	return *r.Completion, nil
}
