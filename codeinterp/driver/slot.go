package driver

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A slot holds one session, that of a context or of one RunCode, and the queue
// before it. Who has its turn may use the session; the turn goes to those who
// wait in the order in which they came.
type slot struct {
	in        *Interpreter
	opts      Options
	command   *codeinterp.CommandOptions // of a command; else nil
	functions []codeinterp.Function      // of the context
	caller    context.Context            // of the one program that the slot is for; else nil
	id        codeinterp.ContextID
	number    int64 // orders the contexts by age
	created   time.Time

	gone    chan struct{} // of a context: closed when nothing is left of it
	goneErr error         // what could not be ended, once gone is closed

	// Of who has the turn.
	session  Session // nil where it was given up; written with mu held
	fresh    bool    // no program has begun in its state
	lossTold bool    // whoever has to know that the state was lost knows it
	unreset  bool    // a reset failed; the next run makes it first
	runs     int     // that began since the state was empty
	done     chan ending
	gate     gate
	timer    *time.Timer
	due      time.Time // when it goes off, where the first deadline of a run set it

	wake chan struct{} // the run in progress is to look at what changed below

	mu         sync.Mutex // never held during a call of the runtime
	ended      error      // why there are no turns any more
	held       bool       // somebody has the turn
	queue      []*waiter
	current    *run
	restarts   []chan error            // not made yet
	interrupts []chan struct{}         // that current has not seen yet
	cancel     context.CancelCauseFunc // of a start or a reset in progress
	stuck      int                     // sessions that were given up and are not back
	unclaimed  bool                    // nothing waits for goneErr
	cwd        string
	used       time.Time
	late       late
	idle       *time.Timer
}

func newSlot(i *Interpreter, o Options) *slot {
	// An empty state has nothing to lose, so that a loss counts as reported. Whoever makes
	// a slot has its first turn.
	s := &slot{in: i, opts: o, fresh: true, lossTold: true, held: true, cwd: o.Cwd, done: make(chan ending, 1), gate: make(gate, 1), wake: make(chan struct{}, 1)}
	s.opts.Late = s.keepLate
	return s
}

// A waiter waits for the turn of a slot.
type waiter struct {
	run   *run          // nil: it is not a run that waits
	ready chan struct{} // closed when it got the turn, or will not
	err   error         // why it will not
}

// acquire waits for the turn. r, if not nil, is the run in progress then.
func (s *slot) acquire(ctx context.Context, r *run) error { return s.acquireUnless(ctx, r, nil) }

// acquireUnless is acquire, but where refused, which is called with mu held, has a reason
// not to wait.
func (s *slot) acquireUnless(ctx context.Context, r *run, refused func() error) error {
	s.mu.Lock()
	if s.ended != nil {
		defer s.mu.Unlock()
		return s.ended
	}
	if refused != nil {
		if err := refused(); err != nil {
			s.mu.Unlock()
			return err
		}
	}
	if s.idle != nil {
		s.idle.Stop()
	}
	if !s.held {
		s.held, s.current = true, r
		s.mu.Unlock()
		return nil
	}
	w := &waiter{run: r, ready: make(chan struct{})}
	s.queue = append(s.queue, w)
	s.mu.Unlock()
	select {
	case <-w.ready:
		// select takes either where both are ready, and a ctx that has ended goes
		// first: the turn is given back below.
		if w.err != nil || ctx.Err() == nil {
			return w.err
		}
	case <-ctx.Done():
		s.mu.Lock()
		i := slices.Index(s.queue, w)
		if i >= 0 {
			s.queue = slices.Delete(s.queue, i, i+1)
		}
		s.mu.Unlock()
		// Neither in the queue nor refused: the turn came in this moment.
		if i >= 0 || w.err != nil {
			return context.Cause(ctx)
		}
	}
	s.release() // it got the turn when it no longer wanted it
	return context.Cause(ctx)
}

// release passes the turn on, and does before what was asked for meanwhile.
func (s *slot) release() {
	for {
		s.mu.Lock()
		s.current = nil
		for _, c := range s.interrupts {
			close(c) // there is nothing left to interrupt
		}
		s.interrupts = nil
		switch {
		// Before restarts: dispose answers those with the reason of the end.
		case s.ended != nil || s.opts.Once:
			s.mu.Unlock()
			s.dispose()
			return
		case len(s.restarts) > 0:
			s.mu.Unlock()
			s.renew()
			continue
		case len(s.queue) > 0:
			w := s.queue[0]
			s.queue = slices.Delete(s.queue, 0, 1)
			s.current = w.run
			close(w.ready)
		default:
			s.held = false
			s.startIdleTimer()
		}
		s.mu.Unlock()
		return
	}
}

// finish ends the slot: its run, those that wait, and its session. It does not
// wait for that.
func (s *slot) finish(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finishLocked(why)
}

func (s *slot) finishLocked(why error) {
	if s.ended != nil {
		return
	}
	s.ended = why
	for _, w := range s.queue {
		w.err = why
		close(w.ready)
	}
	s.queue = nil
	if s.idle != nil {
		s.idle.Stop()
	}
	if s.cancel != nil {
		s.cancel(why)
	}
	s.poke()
	if !s.held {
		s.held = true
		// The caller may be inside OnOutput, and closing a session takes its time.
		go s.release()
	}
}

// poke makes the run in progress look at what changed. s.mu is held.
func (s *slot) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// during calls f with a ctx that ends with the slot, and gives f up where it
// does not return in time. Then late is called with what it returns one day.
func during[T any](s *slot, ctx context.Context, f func(context.Context) (T, error), late func(T, error)) (T, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.mu.Lock()
	s.cancel = cancel
	if s.ended != nil {
		// Who ended the slot before there was a cancel could not call it.
		cancel(s.ended)
	}
	s.mu.Unlock()
	t, err := within(&s.in.workers, ctx, s.in.cfg.Patience, f, late)
	s.mu.Lock()
	s.cancel = nil
	s.mu.Unlock()
	return t, err
}

// renew makes the restarts that were asked for.
func (s *slot) renew() {
	s.mu.Lock()
	asked := s.restarts
	s.restarts = nil
	s.mu.Unlock()
	err := s.reset()
	s.mu.Lock()
	// An earlier session that did not return may still compute, and nil would say that
	// nothing does.
	if err == nil && s.stuck > 0 {
		err = errStuck
	}
	s.mu.Unlock()
	for _, done := range asked {
		done <- err
	}
}

func (s *slot) reset() error {
	if s.session == nil {
		s.emptied()
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.in.cfg.Patience)
	defer cancel()
	session := s.session
	// A restart is never canceled: ctx is not a caller's,
	// who may have gone.
	_, err := during(s, ctx, withoutValue(session.Reset), func(none, error) { s.abandon(session) })
	switch {
	case errors.Is(err, errStuck):
		// The next run starts another session, so the state is empty all the same.
		s.giveUp()
		s.hold(nil)
	case errors.Is(err, errors.ErrUnsupported):
		return err // it was refused, not begun
	case err != nil:
		s.unreset = true
		return err
	}
	s.emptied()
	return err
}

// emptied notes that the state was emptied by the caller's order.
func (s *slot) emptied() { s.fresh, s.lossTold, s.unreset, s.runs = true, true, false, 0 }

// hold sets the session.
func (s *slot) hold(session Session) {
	s.mu.Lock()
	s.session = session
	s.mu.Unlock()
}

// giveUp counts a session that does not return; abandon is called when it does.
func (s *slot) giveUp() {
	s.mu.Lock()
	s.stuck++
	s.mu.Unlock()
	s.in.addStuck(1)
}

// abandon closes a session that was given up and came back.
func (s *slot) abandon(session Session) {
	defer func() {
		s.mu.Lock()
		s.stuck--
		s.mu.Unlock()
		s.in.addStuck(-1)
	}()
	if session != nil {
		s.in.keepError(s.in.discard(session))
	}
}

// leaveGrace is how long after its caller's ctx the session of one program has to be
// closed.
const leaveGrace = 2 * time.Second

// shut closes the session.
func (s *slot) shut() error {
	session := s.session
	if session == nil {
		return nil
	}
	// First, so that no call for files or a reference finds it while it is being
	// closed.
	s.hold(nil)
	ctx, cancel := context.WithTimeout(context.Background(), s.in.cfg.Patience)
	defer cancel()
	if s.caller != nil {
		defer context.AfterFunc(s.caller, func() { time.AfterFunc(leaveGrace, cancel) })()
	}
	// Should it return late, it is closed by then: abandon has only to count.
	_, err := within(&s.in.workers, ctx, s.in.cfg.Patience, withoutValue(session.Close), func(none, error) { s.abandon(nil) })
	if errors.Is(err, errStuck) {
		s.giveUp()
	}
	return err
}

// dispose ends a slot for good. The turn is never passed on again.
func (s *slot) dispose() {
	err := s.shut()
	s.mu.Lock()
	if err == nil && s.stuck > 0 {
		err = errStuck
	}
	// Nothing else waits for the error then, so that Close reports it.
	if s.opts.Once || s.unclaimed || s.ended == codeinterp.ErrClosed {
		s.in.keepError(err)
	}
	s.goneErr = err
	for _, done := range s.restarts {
		done <- s.ended
	}
	s.restarts = nil
	// With mu held: a delete that no longer waits sees this, or has set unclaimed in time.
	if s.gone != nil {
		close(s.gone)
	}
	s.mu.Unlock()
	s.in.leave(s)
}

// startIdleTimer starts the time after which an unused context is deleted. s.mu
// is held.
func (s *slot) startIdleTimer() {
	d := s.in.cfg.Idle
	switch {
	case d <= 0:
	case s.idle == nil:
		s.idle = time.AfterFunc(d, s.expire)
	default:
		s.idle.Reset(d)
	}
}

// expire deletes the context, or waits on where it was used meanwhile without a
// run.
func (s *slot) expire() {
	s.mu.Lock()
	left := s.in.cfg.Idle - time.Since(s.used)
	idle := !s.held && s.ended == nil
	// Files were used since, which takes no turn and so did not stop the timer.
	if idle && left > 0 {
		s.idle.Reset(left)
	}
	if idle = idle && left <= 0; idle {
		s.unclaimed = true
		s.finishLocked(codeinterp.ErrContext)
	}
	s.mu.Unlock()
	if idle {
		s.in.forget(s)
	}
}
