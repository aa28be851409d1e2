package driver

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A slot holds one session, that of a context or of one RunCode, and its queue. The
// holder of the turn may use the session; waiters get the turn in the order in which
// they came.
type slot struct {
	in        *Interpreter
	opts      Options
	command   func(context.Context) (Session, error) // starts the session of a command; else nil
	functions []codeinterp.Function                  // of the context
	caller    context.Context                        // of the one program that the slot is for; else nil
	id        codeinterp.ContextID
	number    int64 // orders the contexts by age
	created   time.Time

	gone    chan struct{} // of a context: closed when nothing is left of it
	goneErr error         // what could not be closed; set before gone is closed

	// Used by the holder of the turn.
	session      Session // nil if it was abandoned; written with mu held
	fresh        bool    // no program has begun in its state
	lossReported bool    // the loss of the state was reported
	resetPending bool    // a reset failed; the next run retries it first
	runs         int     // that began since the state was empty
	done         chan ending
	gate         gate
	alarm        alarm

	wake chan struct{} // receives when something below changed, for the run in progress

	mu         sync.Mutex // never held during a call of the runtime
	ended      error      // set once the slot is terminated
	held       bool       // the turn is taken
	queue      []*waiter
	current    *run
	restarts   []chan error            // pending
	interrupts []chan struct{}         // not yet seen by current
	cancel     context.CancelCauseFunc // of a start or a reset in progress
	stuck      int                     // abandoned sessions that have not returned
	noWaiter   bool                    // no delete waits for goneErr
	cwd        string
	used       time.Time
	late       lateOutput
	idle       *time.Timer
}

func newSlot(i *Interpreter, o Options) *slot {
	// An empty state has nothing to lose, so its loss counts as reported. The creator of
	// a slot holds the first turn.
	s := &slot{in: i, opts: o, fresh: true, lossReported: true, held: true, cwd: o.Cwd, done: make(chan ending, 1), gate: make(gate, 1), wake: make(chan struct{}, 1)}
	s.opts.Late = s.keepLate
	return s
}

// A waiter waits for the turn of a slot.
type waiter struct {
	run   *run          // nil: it is not a run that waits
	ready chan struct{} // closed when it has the turn, or was refused
	err   error         // why it was refused
}

// acquire waits for the turn. r is the run that uses it, nil if there is none.
func (s *slot) acquire(ctx context.Context, r *run) error { return s.acquireUnless(ctx, r, nil) }

// acquireUnless is acquire, unless refused, called with mu held, returns an error.
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
		// If both are ready, an ended ctx wins: the turn is given back below.
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
		// Neither in the queue nor refused: the turn came just now.
		if i >= 0 || w.err != nil {
			return context.Cause(ctx)
		}
	}
	s.release()
	return context.Cause(ctx)
}

// release applies pending restarts and passes the turn on.
func (s *slot) release() {
	for {
		s.mu.Lock()
		s.current = nil
		for _, c := range s.interrupts {
			close(c) // there is nothing left to interrupt
		}
		s.interrupts = nil
		switch {
		// Before restarts: dispose answers them with the reason of the end.
		case s.ended != nil || s.opts.Once:
			s.mu.Unlock()
			s.dispose()
			return
		case len(s.restarts) > 0:
			s.mu.Unlock()
			s.applyRestarts()
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

// terminate ends the slot: its run, its waiters and its session. It does not wait for
// them.
func (s *slot) terminate(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.terminateLocked(why)
}

func (s *slot) terminateLocked(why error) {
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
	s.wakeRun()
	if !s.held {
		s.held = true
		// The caller may be inside OnOutput, and closing a session takes its time.
		go s.release()
	}
}

// wakeRun makes the run in progress check for requests and its deadline. s.mu is held for
// requests.
func (s *slot) wakeRun() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// callInSlot calls f with a ctx that ends with the slot; see callWithin.
func callInSlot[T any](s *slot, ctx context.Context, f func(context.Context) (T, error), late func(T, error)) (T, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.mu.Lock()
	s.cancel = cancel
	if s.ended != nil {
		// The slot was terminated before s.cancel was set.
		cancel(s.ended)
	}
	s.mu.Unlock()
	t, err := callWithin(&s.in.workers, ctx, s.in.cfg.Patience, f, late)
	s.mu.Lock()
	s.cancel = nil
	s.mu.Unlock()
	return t, err
}

// applyRestarts resets the session for all pending restarts.
func (s *slot) applyRestarts() {
	s.mu.Lock()
	asked := s.restarts
	s.restarts = nil
	s.mu.Unlock()
	err := s.reset()
	s.mu.Lock()
	// An abandoned session may still compute; nil would say that nothing does.
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
		s.markEmpty()
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.in.cfg.Patience)
	defer cancel()
	session := s.session
	// ctx is not the caller's: a restart goes on if its caller leaves.
	_, err := callInSlot(s, ctx, withoutValue(session.Reset), func(none, error) { s.closeReturned(session) })
	switch {
	case errors.Is(err, errStuck):
		// The next run starts another session, so the state is empty anyway.
		s.countStuck()
		s.setSession(nil)
	case errors.Is(err, errors.ErrUnsupported):
		return err // refused, not started
	case err != nil:
		s.resetPending = true
		return err
	}
	s.markEmpty()
	return err
}

// markEmpty records that the caller emptied the state.
func (s *slot) markEmpty() { s.fresh, s.lossReported, s.resetPending, s.runs = true, true, false, 0 }

// setSession sets the session.
func (s *slot) setSession(session Session) {
	s.mu.Lock()
	s.session = session
	s.mu.Unlock()
}

// countStuck counts a session whose method did not return; closeReturned is called
// when it does.
func (s *slot) countStuck() {
	s.mu.Lock()
	s.stuck++
	s.mu.Unlock()
	s.in.addStuck(1)
}

// closeReturned closes an abandoned session whose method has returned.
func (s *slot) closeReturned(session Session) {
	defer func() {
		s.mu.Lock()
		s.stuck--
		s.mu.Unlock()
		s.in.addStuck(-1)
	}()
	if session != nil {
		s.in.keepError(s.in.closeUnused(session))
	}
}

// leaveGrace is how long after its caller's ctx the session of a single program may
// take to close.
const leaveGrace = 2 * time.Second

// closeSession closes the session.
func (s *slot) closeSession() error {
	session := s.session
	if session == nil {
		return nil
	}
	// First, so that no call finds the session while it is being closed.
	s.setSession(nil)
	ctx, cancel := context.WithTimeout(context.Background(), s.in.cfg.Patience)
	defer cancel()
	if s.caller != nil {
		defer context.AfterFunc(s.caller, func() { time.AfterFunc(leaveGrace, cancel) })()
	}
	// If Close returns late, the session is closed by then: only the count changes.
	_, err := callWithin(&s.in.workers, ctx, s.in.cfg.Patience, withoutValue(session.Close), func(none, error) { s.closeReturned(nil) })
	if errors.Is(err, errStuck) {
		s.countStuck()
	}
	return err
}

// dispose closes the session for good. The turn is never passed on again.
func (s *slot) dispose() {
	s.alarm.stop()
	err := s.closeSession()
	s.mu.Lock()
	if err == nil && s.stuck > 0 {
		err = errStuck
	}
	// No caller gets the error then, so Close reports it.
	if s.opts.Once || s.noWaiter || s.ended == codeinterp.ErrClosed {
		s.in.keepError(err)
	}
	s.goneErr = err
	for _, done := range s.restarts {
		done <- s.ended
	}
	s.restarts = nil
	// With mu held: a delete that stops waiting either sees this or has set noWaiter.
	if s.gone != nil {
		close(s.gone)
	}
	s.mu.Unlock()
	s.in.removeSlot(s)
}

// startIdleTimer starts the time after which an idle context is deleted. s.mu is held.
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

// expire deletes the context if it was idle long enough.
func (s *slot) expire() {
	s.mu.Lock()
	left := s.in.cfg.Idle - s.in.pause.clock.since(s.in.pause.clock.at(s.used))
	if s.in.pause.clock.stopped() {
		left = s.in.cfg.Idle
	}
	idle := !s.held && s.ended == nil
	// Using files takes no turn and so does not stop the timer.
	if idle && left > 0 {
		s.idle.Reset(left)
	}
	if idle = idle && left <= 0; idle {
		s.noWaiter = true
		s.terminateLocked(codeinterp.ErrContext)
	}
	s.mu.Unlock()
	if idle {
		s.in.removeContext(s)
	}
}
