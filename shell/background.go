package shell

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// An ID names a command in the background. It cannot be guessed.
type ID string

// Info describes a command in the background.
type Info struct {
	ID      ID
	Command string
	Cwd     string // as it was given
	Started time.Time
	Running bool

	// Terminal says that it has a terminal.
	Terminal bool

	// Result is how it ended, without its output; Err the error beside that.
	Result codeinterp.Result
	Err    error

	// Ref names it for [Shell.Attach] in another process; empty if it ends with this one.
	Ref codeinterp.Ref

	Written int64 // bytes of output so far
}

// A command is a command in the background.
type command struct {
	id      ID
	line    string
	cwd     string
	owner   any
	started time.Time
	screen  Emulator                     // of a terminal; else nil
	resizes chan codeinterp.TerminalSize // likewise
	out     *ring
	in      *pipe
	signals chan codeinterp.Signal
	cancel  context.CancelCauseFunc
	ref     atomic.Pointer[codeinterp.Ref]
	leave   chan struct{} // closed by Detach
	done    chan struct{}

	// Set before done is closed.
	res codeinterp.Result
	err error

	over bool // does not count as running; guarded by mu
}

// errStopped is the cause of the end of a command that ignored Stop.
var errStopped = errors.New("the command was stopped")

// Start starts a command in the background and returns when it has started or failed
// to. ctx bounds the start and not the command; middlewares see its values. opts may
// be nil; its Input, Signals, MaxOutput and Kept are not used.
func (s *Shell) Start(ctx context.Context, line string, opts *codeinterp.CommandOptions) (ID, error) {
	o, err := codeinterp.CheckCommand(line, opts)
	if err != nil {
		return "", fmt.Errorf("shell: %w", err)
	}
	return s.startCommand(ctx, s.newCommand(line, o.Cwd), &o, "")
}

// startCommand starts a command, or follows that of ref.
func (s *Shell) startCommand(ctx context.Context, c *command, o *codeinterp.CommandOptions, ref codeinterp.Ref) (ID, error) {
	o.Kept = &codeinterp.KeptCommand{Ref: ref, Leave: c.leave, OnBegin: func(ref codeinterp.Ref, missed int64) {
		c.out.skip(missed)
		c.ref.Store(&ref)
	}}
	return s.start(ctx, c, &o.RunOptions, func(ctx context.Context) (codeinterp.Result, error) {
		o.Signals = c.signals
		return s.run.RunCommand(ctx, c.line, o)
	})
}

// Detach forgets a running command that has an Info.Ref, and leaves it to [Shell.Attach] in
// another process. Input that it has not taken yet is lost.
func (s *Shell) Detach(ctx context.Context, id ID) error {
	c, err := s.find(ctx, id)
	switch {
	case err != nil:
		return err
	case c.ref.Load() == nil:
		return fmt.Errorf("shell: %w: the command ends with its process", codeinterp.ErrInvalid)
	}
	if s.forget(c) {
		close(c.leave)
	}
	<-c.done
	return nil
}

// Attach makes a command of s of one that another process has left, as its Info there
// described it. It keeps its id, and its output the numbers of its bytes. The errors are
// those of [codeinterp.ContextAttacher].
func (s *Shell) Attach(ctx context.Context, was Info) error {
	if was.Ref == "" {
		return fmt.Errorf("shell: %w: the command has ended with its process", codeinterp.ErrContext)
	}
	c := s.newCommand(was.Command, was.Cwd)
	c.id, c.started = was.ID, was.Started
	_, err := s.startCommand(ctx, c, &codeinterp.CommandOptions{Cwd: was.Cwd}, was.Ref)
	return err
}

func (s *Shell) newCommand(line, cwd string) *command {
	return &command{id: ID(rand.Text()), line: line, cwd: cwd, started: time.Now(), out: newRing(s.o.Keep),
		signals: make(chan codeinterp.Signal), leave: make(chan struct{}), done: make(chan struct{})}
}

// start starts what run runs, with o as its options.
func (s *Shell) start(ctx context.Context, c *command, o *codeinterp.RunOptions, run func(context.Context) (codeinterp.Result, error)) (ID, error) {
	if s.owner != nil {
		c.owner = s.owner(ctx)
	}
	begun := make(chan struct{})
	// The provider reads the input once the command has started.
	c.in = newPipe(o.Stdin, sync.OnceFunc(func() { close(begun) }))
	life, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	c.cancel = cancel
	if err := s.add(c); err != nil {
		cancel(nil)
		return "", err
	}
	unlink := context.AfterFunc(s.life, func() { cancel(codeinterp.ErrClosed) })
	go func() {
		defer s.work.Done()
		defer unlink()
		s.serve(life, c, o, run)
	}()
	select {
	case <-begun:
		return c.id, nil
	case <-c.done:
	case <-ctx.Done():
		// Its id would be unknown.
		cancel(context.Cause(ctx))
		<-c.done
	}
	if c.res.Status == codeinterp.StatusNotRun || c.err != nil {
		s.forget(c)
		return "", c.err
	}
	return c.id, nil
}

// serve runs the command to its end.
func (s *Shell) serve(ctx context.Context, c *command, o *codeinterp.RunOptions, run func(context.Context) (codeinterp.Result, error)) {
	next := o.OnOutput
	var seen int64
	o.OnOutput = func(out codeinterp.Output) error {
		if out.Kind == codeinterp.Stdout || out.Kind == codeinterp.Stderr {
			c.out.write(out.Data)
			if c.screen != nil {
				c.screen.Write(out.Data)
			}
			seen += int64(len(out.Data))
		}
		if next == nil {
			return nil
		}
		return next(out)
	}
	o.Stdin, o.Input, o.MaxOutput = nil, c.in, maxResult
	res, err := closed(run(ctx))
	// Writers must not wait for a reader.
	c.in.Close()
	c.cancel(nil)
	// OnOutput does not get what is written while the command is killed.
	for _, o := range res.Outputs {
		seen -= int64(len(o.Data)) + o.Dropped
	}
	if seen < 0 {
		c.out.skip(-seen)
	}
	res.Outputs, res.Truncated = nil, nil // the ring has them
	s.mu.Lock()
	c.res, c.err, c.over = res, err, true
	s.running--
	s.forgetOldest(c)
	s.mu.Unlock()
	// Before done, so that a waiter reads all of the output.
	c.out.end()
	close(c.done)
}

// maxResult is how much output the Result of a command in the background has.
const maxResult = 4 << 10

// add makes a command known. Close waits for work.Done from then on.
func (s *Shell) add(c *command) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return fmt.Errorf("shell: %w", codeinterp.ErrClosed)
	case s.running >= s.o.MaxCommands:
		return fmt.Errorf("shell: %w: %d commands run in the background, which is the limit; stop one first", codeinterp.ErrCapacity, s.running)
	}
	s.running++
	s.work.Add(1)
	s.commands = append(s.commands, c)
	return nil
}

// forgetOldest forgets the oldest command of c's owner that has ended, if there are too many.
// s.mu is held.
func (s *Shell) forgetOldest(c *command) {
	oldest, n := -1, 0
	for i, d := range s.commands {
		if d.over && d.owner == c.owner {
			if n++; oldest < 0 {
				oldest = i
			}
		}
	}
	if n > s.o.MaxEnded {
		s.commands = slices.Delete(s.commands, oldest, oldest+1)
	}
}

func (c *command) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// forget reports whether c was known.
func (s *Shell) forget(c *command) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.commands)
	s.commands = slices.DeleteFunc(s.commands, func(d *command) bool { return c == d })
	return len(s.commands) < n
}

// mine reports whether a command belongs to the caller of ctx.
func (s *Shell) mine(ctx context.Context, c *command) bool {
	return s.owner == nil || s.owner(ctx) == c.owner
}

func (s *Shell) find(ctx context.Context, id ID) (*command, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.commands {
		if c.id == id && s.mine(ctx, c) {
			return c, nil
		}
	}
	return nil, fmt.Errorf("shell: %w", ErrCommand)
}

func (s *Shell) info(c *command) Info {
	i := Info{ID: c.id, Command: c.line, Cwd: c.cwd, Started: c.started, Running: !c.ended(), Terminal: c.screen != nil}
	if !i.Running {
		i.Result, i.Err = c.res, c.err
	}
	if ref := c.ref.Load(); ref != nil {
		i.Ref = *ref
	}
	i.Written = c.out.size()
	return i
}

// List returns the commands in the background, running and ended, in the order of their
// start.
func (s *Shell) List(ctx context.Context) ([]Info, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	list := slices.Clone(s.commands)
	s.mu.Unlock()
	infos := []Info{}
	for _, c := range list {
		if s.mine(ctx, c) {
			infos = append(infos, s.info(c))
		}
	}
	return infos, nil
}

// Info describes a command as it is now.
func (s *Shell) Info(ctx context.Context, id ID) (Info, error) {
	c, err := s.find(ctx, id)
	if err != nil {
		return Info{}, err
	}
	return s.info(c), nil
}

// Wait waits for the end of a command and describes it. If ctx ends first, the error is
// its cause.
func (s *Shell) Wait(ctx context.Context, id ID) (Info, error) {
	c, err := s.find(ctx, id)
	if err != nil {
		return Info{}, err
	}
	select {
	case <-c.done:
		return s.info(c), nil
	case <-ctx.Done():
		return s.info(c), context.Cause(ctx)
	}
}

// Signal sends a signal to a command and all that it started. It does nothing if the
// command has ended.
func (s *Shell) Signal(ctx context.Context, id ID, sig codeinterp.Signal) error {
	if err := sig.Check(); err != nil {
		return fmt.Errorf("shell: %w", err)
	}
	c, err := s.find(ctx, id)
	if err != nil {
		return err
	}
	select {
	case c.signals <- sig:
		return nil
	case <-c.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// grace is how long a command has to end after Stop.
const grace = 2 * time.Second

// Stop ends a command by SIGTERM, a terminal by SIGHUP, and after two seconds, or when ctx ends, by force. It
// returns when the command and all that it started have ended.
func (s *Shell) Stop(ctx context.Context, id ID) (Info, error) {
	c, err := s.find(ctx, id)
	if err != nil {
		return Info{}, err
	}
	soft, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	sig := codeinterp.SignalTerminate
	if c.screen != nil {
		sig = codeinterp.SignalHangup // shells of a terminal ignore the other
	}
	if s.Signal(soft, id, sig) == nil {
		if info, err := s.Wait(soft, id); err == nil {
			return info, nil
		}
	}
	c.cancel(errStopped)
	<-c.done
	return s.info(c), nil
}

// Release kills all commands that belong to the caller of ctx, waits for them, and
// forgets them.
func (s *Shell) Release(ctx context.Context) {
	s.mu.Lock()
	var own []*command
	for _, c := range s.commands {
		if s.mine(ctx, c) {
			own = append(own, c)
		}
	}
	s.mu.Unlock()
	for _, c := range own {
		c.cancel(errStopped)
	}
	for _, c := range own {
		<-c.done
		s.forget(c)
	}
}
