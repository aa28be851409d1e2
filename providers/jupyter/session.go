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
)

// leaveTimeout bounds the restoring of what a run changed.
const leaveTimeout = 10 * time.Second

// dirPrefix begins the names of contexts' private directories.
const dirPrefix = "toolcell-"

// A session holds one state: the present kernel, and its replacements.
type session struct {
	rt   *runtime
	kind kernel.Kind
	opts driver.Options
	dir  string // names the private directory of a context
	// foreign: the kernel belongs to another client, and is never set up or ended.
	foreign bool
	shared  bool // other clients may use the kernel
	former  bool // there may be a run of a client that has ended
	k       atomic.Pointer[kernel.Kernel]
	turn    kernel.Turn // for a method or a file operation, guards what follows

	handed    bool // the program was, or may have been
	unsettled bool // the surroundings of a run may not have been restored
	closed    bool
	left      leftover
}

// A leftover is what may still run in the kernel after a method has returned. The next
// run ends it first.
type leftover uint8

const (
	nothing         leftover = iota
	ofProgram                // a program whose end is unknown
	inQueue                  // a program that waits behind another client's
	inGivenUpKernel          // as ofProgram, and the kernel may die at any time
)

// leftBy returns the leftover of a program that ended so.
func leftBy(end kernel.Ending) leftover {
	switch {
	case !end.Left:
		return nothing
	case end.Queued:
		return inQueue
	case end.Lost:
		return inGivenUpKernel
	}
	return ofProgram
}

func newSession(rt *runtime, kind kernel.Kind, o driver.Options, k *kernel.Kernel) *session {
	s := &session{rt: rt, kind: kind, opts: o, turn: kernel.NewTurn()}
	if o.Cwd == "" {
		s.dir = dirPrefix + rand.Text()
	}
	s.hold(k)
	return s
}

func (s *session) hold(k *kernel.Kernel) {
	k.Late(s.opts.Late)
	s.k.Store(k)
}

// Run implements driver.Session.
func (s *session) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	if err := s.turn.Take(ctx); err != nil {
		return driver.Outcome{}, err
	}
	defer s.turn.Give()
	s.handed = false
	if p.Resume {
		return s.resume(ctx, p, out)
	}
	if err := s.endFormer(ctx, p); err != nil {
		return driver.Outcome{}, err
	}
	for tries := 1; ; tries++ {
		o, err := s.attempt(ctx, p, out)
		switch {
		case err == nil:
			return o, nil
		case errors.Is(err, kernel.ErrWithdrawn):
			return o, err
		case errors.Is(err, kernel.ErrNeverRan) && tries < maxStarts:
			if !s.k.Load().IsFurnished() {
				s.unsettled = false // that was the former process's
			}
		case s.handed:
			return s.withdraw(p, err)
		default:
			return o, err
		}
	}
}

// withdraw ends the run of a program that was handed over and never began.
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
	sur := kernel.Surroundings{Env: p.Env, Stdin: p.Stdin}
	special := len(sur.Env) > 0 || sur.Stdin != nil
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
	// From here on the kernel may run it, whatever Run returns.
	s.handed = true
	end, err := k.Run(ctx, kernel.Order{Program: p, Out: out, Kill: s.killer(), Shared: s.shared})
	if err != nil {
		return driver.Outcome{}, err
	}
	s.look(ctx, p, key, &end)
	s.left = leftBy(end)
	if special && !s.opts.Once && !end.Left && !end.Lost {
		s.leave(ctx, k)
	}
	return end.Outcome, nil
}

// diedBefore returns ErrNeverRan for a failure that the death of the process caused.
func diedBefore(k *kernel.Kernel, err error) error {
	if k.IsFurnished() || k.Foreign {
		return err
	}
	return fmt.Errorf("%w: %w", kernel.ErrNeverRan, err)
}

// enter sets a run's surroundings. If it is given up, the next run restores them first.
func (s *session) enter(ctx context.Context, k *kernel.Kernel, sur kernel.Surroundings) error {
	// Before the request, which may take effect after we give up.
	s.unsettled = true
	err := k.Enter(ctx, sur)
	if err == nil || errors.Is(err, codeinterp.ErrInvalid) {
		s.unsettled = false
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

// killer is kill, nil for a foreign kernel.
func (s *session) killer() func(context.Context) error {
	if s.foreign {
		return nil
	}
	return s.kill
}

// kill ends the kernel's process.
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
	_ = s.turn.Take(context.Background())
	defer s.turn.Give()
	s.forgetFormer()
	end := s.kill
	if s.left == inGivenUpKernel { // an earlier request for its end may still be carried out
		end = s.deleteUntilGone
	}
	err := end(ctx)
	if err == nil {
		s.left, s.unsettled = nothing, false
	}
	return err
}

// Close implements driver.Session. A kernel in which nothing runs on, or that could
// not be ended, is deleted in the background.
func (s *session) Close(ctx context.Context) error {
	_ = s.turn.Take(context.Background())
	defer s.turn.Give()
	s.forgetFormer()
	// Now ensureKernel starts no other kernel.
	s.closed = true
	k := s.k.Load()
	if s.foreign {
		k.Drop()
		return nil
	}
	background := s.left != nothing // if the server is away, waiting for it is of no use
	if !background {
		clean, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		background = k.Finish(clean, s.dir)
	}
	switch {
	case s.opts.Once && background:
		s.rt.discardLater(k)
		return nil
	case s.opts.Once:
		return s.rt.discardWithin(ctx, k)
	}
	return s.rt.discard(ctx, k)
}

// maxRequest is the default limit of servers for a message, less the bytes around the
// code. A larger message would end the socket.
const maxRequest = 10<<20 - 4<<10

// checkRequest refuses code that is too large once it is escaped.
func checkRequest(code string) error {
	// JSON takes at most six bytes for one.
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
