package jupyter

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// completerGrace is how long a completer that was interrupted has before its kernel
// is restarted. Its first work is to load much.
const completerGrace = 30 * time.Second

// leaveTimeout bounds the restoring of what a run changed.
const leaveTimeout = 10 * time.Second

// dirPrefix begins the names of contexts' private directories.
const dirPrefix = "toolcell-"

// A session is a place for one state: the kernel that has it at present, and
// the one that takes its place where that is gone.
type session struct {
	rt   *runtime
	kind kernel.Kind
	opts driver.Options
	dir  string // names the private directory of a context
	// foreign: the kernel is somebody else's, who is left in peace.
	foreign bool
	k       atomic.Pointer[kernel.Kernel]
	turn    *turn // guards what follows

	handed    bool // the program was, or may have been
	private   bool // the process is in a directory of its own
	unsettled bool // the surroundings of a run may not have been restored
	quiet     bool // nothing of the program runs on
	closed    bool
	left      leftover

	discarding <-chan struct{} // until which a given up kernel is being deleted, nil if it is not
}

func newSession(rt *runtime, kind kernel.Kind, o driver.Options, k *kernel.Kernel) *session {
	s := &session{rt: rt, kind: kind, opts: o, turn: newTurn()}
	if !o.Once {
		s.dir = dirPrefix + rand.Text()
	}
	s.hold(k)
	return s
}

func (s *session) hold(k *kernel.Kernel) {
	k.Late(s.opts.Late)
	if former := s.k.Swap(k); former != nil {
		k.Succeed(former)
	}
}

// Run implements driver.Session.
func (s *session) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	s.turn.take()
	defer s.turn.give()
	s.handed = false
	for tries := 1; ; tries++ {
		o, err := s.attempt(ctx, p, out)
		switch {
		case err == nil:
			return o, nil
		case errors.Is(err, kernel.ErrNeverRan) && tries < maxStarts:
			if !s.k.Load().IsFurnished() {
				s.private, s.unsettled = false, false // those were the former process's
			}
		case s.handed:
			return s.withdraw(p, err)
		default:
			return o, err
		}
	}
}

// withdraw takes a program back that was handed over and never began. One that was
// stopped meanwhile has ended with that.
func (s *session) withdraw(p *driver.Program, err error) (driver.Outcome, error) {
	if errors.Is(p.HandOver(func() error { return err }), err) {
		return driver.Outcome{}, err
	}
	return driver.Outcome{ExitCode: codeinterp.ExitKilled, Lost: s.k.Load().Fresh()}, nil
}

func (s *session) attempt(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	if err := checkRequest(p.Code); err != nil {
		return driver.Outcome{}, err
	}
	if err := s.ready(ctx, p); err != nil {
		return driver.Outcome{}, err
	}
	k := s.k.Load()
	sur := kernel.Surroundings{Env: p.Env, Private: s.opts.Once && !s.private && s.opts.Cwd == ""}
	// To a kernel that never asks as well, so that Enter refuses it.
	if k.HasStdin() || !k.TakesInput() {
		sur.Stdin = p.Stdin
	}
	special := len(sur.Env) > 0 || sur.Stdin != nil || sur.Private
	if special || s.unsettled {
		if err := s.enter(ctx, k, sur); err != nil {
			return driver.Outcome{}, err
		}
	}
	if err := k.Offer(ctx, p.Functions()); err != nil {
		return driver.Outcome{}, err
	}
	if err := s.copyFiles(ctx, p); err != nil {
		return driver.Outcome{}, diedBefore(k, err)
	}
	key, err := s.remember(ctx, p)
	if err != nil {
		return driver.Outcome{}, diedBefore(k, err)
	}
	// From here on the kernel may have it, whatever Run returns.
	s.handed = true
	end, err := k.Run(ctx, kernel.Order{Program: p, Out: out, Once: s.opts.Once, Kill: s.killer()})
	if err != nil {
		return driver.Outcome{}, err
	}
	s.look(ctx, p, key, &end)
	s.left, s.quiet = leftBy(end), end.Quiet
	// That of RunCode is deleted by Close, which comes next.
	if s.left == inGivenUpKernel && !s.opts.Once {
		s.discarding = s.rt.tryDiscard(k)
	}
	if special && !s.opts.Once && !end.Left && !end.Lost {
		s.leave(ctx, k)
	}
	return end.Outcome, nil
}

// diedBefore makes ErrNeverRan of what failed since the kernel's process died.
func diedBefore(k *kernel.Kernel, err error) error {
	if k.IsFurnished() || k.Foreign {
		return err
	}
	return fmt.Errorf("%w: %w", kernel.ErrNeverRan, err)
}

// enter sets a run's surroundings. Where that is given up while the kernel may
// still do it, the next run comes back to it.
func (s *session) enter(ctx context.Context, k *kernel.Kernel, sur kernel.Surroundings) error {
	// Set before the kernel is asked, as it may do it although we give up.
	s.unsettled = true
	err := k.Enter(ctx, sur)
	if err == nil || errors.Is(err, codeinterp.ErrInvalid) {
		s.unsettled = false
		s.private = s.private || err == nil && sur.Private
	}
	return err
}

func (s *session) leave(ctx context.Context, k *kernel.Kernel) {
	if k.IsDown() {
		s.unsettled = true
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	s.unsettled = k.Leave(ctx) != nil
}

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
		how, err = s.k.Load().EndLeft(ctx, grace, s.killer(), busy)
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

// killer is kill, nil where the kernel is not ours to end.
func (s *session) killer() func(context.Context) error {
	if s.foreign {
		return nil
	}
	return s.kill
}

// kill ends the kernel's process, and with it all that runs in it.
func (s *session) kill(ctx context.Context) error {
	k := s.k.Load()
	if !s.opts.Once {
		err := k.Restart(ctx)
		// A server that restarts no kernels may still delete them.
		if _, refused := errors.AsType[*StatusError](err); !refused {
			return err
		}
	}
	return s.rt.discard(ctx, k)
}

// Interrupt implements driver.Session.
func (s *session) Interrupt(ctx context.Context) error { return s.k.Load().Interrupt(ctx) }

// Reset implements driver.Session.
func (s *session) Reset(ctx context.Context) error {
	if s.foreign {
		return fmt.Errorf("%w: %w: the kernel was adopted, and is not ours to restart", codeinterp.ErrInvalid, errors.ErrUnsupported)
	}
	s.turn.take()
	defer s.turn.give()
	end := s.kill
	if s.left == inGivenUpKernel { // what was asked of its server would hit the next process too
		end = s.deleteUntilGone
	}
	err := end(ctx)
	if err == nil {
		s.left, s.unsettled, s.private = nothing, false, false
	}
	return err
}

// Close implements driver.Session. A kernel in which nothing runs on, or that could
// not be ended, is deleted in the background.
func (s *session) Close(ctx context.Context) error {
	s.turn.take()
	defer s.turn.give()
	// For ensureKernel: it would start a kernel that nobody deletes.
	s.closed = true
	k := s.k.Load()
	if s.foreign {
		k.Drop()
		return nil
	}
	if s.opts.Once {
		// What could not be ended was told, and the server is away: who waits for it
		// to delete the kernel waits in vain.
		if s.left != nothing || s.quiet || k.Quiet(ctx) {
			return s.rt.later(k)
		}
		clean, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		k.Clear(clean)
		return s.rt.discardWithin(ctx, k)
	} else if s.opts.Cwd == "" && s.left == nothing {
		clean, cancel := context.WithTimeout(ctx, s.rt.opts.Grace)
		defer cancel()
		k.Remove(clean, s.dir)
	}
	s.awaitDiscard(ctx)
	return s.rt.discard(ctx, k)
}

// maxRequest is what servers accept in one message by default, less what
// stands around the code. A larger one costs the socket.
const maxRequest = 10<<20 - 4<<10

// checkRequest refuses code that is too large once it is escaped.
func checkRequest(code string) error {
	// JSON takes six bytes for one at most, so that most code need not be encoded.
	if len(code) < maxRequest/6 {
		return nil
	}
	b, err := json.Marshal(code)
	if err == nil && len(b) > maxRequest {
		err = fmt.Errorf("%w: code of %d bytes takes %d in a message, and servers accept %d; put data into a file",
			codeinterp.ErrInvalid, len(code), len(b), maxRequest)
	}
	return err
}
