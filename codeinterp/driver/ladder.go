package driver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// Why a run was stopped, besides codeinterp.ErrClosed and ErrContext, and the
// cause of the caller's ctx.
var (
	errTimeout   = errors.New("timeout")
	errInterrupt = errors.New("interrupted")
	errRestart   = errors.New("restarted")
	errStart     = fmt.Errorf("%w: the runtime was not ready in time", codeinterp.ErrUnavailable)
)

// errStopped is what HandOver returns where the run was stopped already.
var errStopped = errors.New("stopped before it began")

// A phase is how far the ladder was climbed; each has one deadline at most.
type phase int

const (
	waiting          phase = iota // for the end: until the start limit, then the timeout
	interrupted                   // to end: until half of the grace
	interruptedAgain              // until the grace is over
	killed                        // until the patience is over
)

// A ladder is the way from an interrupt to the end of patience.
type ladder struct {
	phase        phase
	why          error // why the program was stopped
	after        error // why it would have been, had it not ended before
	early        bool  // an interrupt came before the program began
	kill         context.CancelCauseFunc
	sending      int             // interrupts in flight
	answers      chan error      // of these
	interrupters []chan struct{} // who waits for an answer
}

// follow runs the program in the slot's session and stops it where that has to
// be. It is the one place that decides.
func (r *run) follow() ending {
	s := r.slot
	ctx := r.ctx
	canceled := ctx.Done()
	if canceled != nil {
		// The caller's end is for the ladder, which asks first and kills later; the
		// session's ctx is what kills.
		ctx = context.WithoutCancel(ctx)
	}
	ctx, r.kill = context.WithCancelCause(ctx)
	defer r.kill(nil)
	now := time.Now()
	r.since, r.gate, r.session, r.unreset = now, s.gate, s.session, s.unreset
	s.in.workers.start(job{run: r, ctx: ctx, done: s.done})
	first := s.in.cfg.StartLimit
	if r.opts.Timeout > 0 {
		first = min(first, r.opts.Timeout)
	}
	r.armFirst(now, first)
	for {
		select {
		case end := <-s.done:
			return end
		case err := <-r.answers:
			r.sending--
			r.answer()
			if err != nil {
				r.hard(nil)
			}
		case <-s.wake:
			if len(s.done) == 0 { // an end that came goes first
				r.look()
			}
		case <-canceled:
			canceled = nil
			if len(s.done) == 0 {
				r.soft(context.Cause(r.ctx))
			}
		case <-s.timer.C:
			if len(s.done) == 0 && r.alarm() {
				return r.givenUp()
			}
		}
	}
}

// givenUp is the end of a run whose session did not return. The session is
// closed once it does.
func (r *run) givenUp() ending {
	s := r.slot
	r.noInterrupt.Store(true)
	s.giveUp()
	done := s.done
	s.done, s.gate = make(chan ending, 1), make(gate, 1) // it may use the old ones yet
	go func() {
		end := <-done
		s.abandon(end.session)
	}()
	return ending{Outcome: Outcome{Lost: true, Unknown: errStuck}, at: time.Now(), stuck: true}
}

// arm sets the deadline of the phase.
func (r *run) arm(d time.Duration) {
	s := r.slot
	if s.due = (time.Time{}); s.timer == nil {
		s.timer = time.NewTimer(d)
	} else {
		s.timer.Reset(d)
	}
}

// armFirst is arm for the phase waiting, in which an alarm that comes early does
// nothing but arm again: that of a run before does, if it is not too late. Most
// programs end before.
func (r *run) armFirst(now time.Time, d time.Duration) {
	s := r.slot
	if due := now.Add(d); !s.due.After(now) || s.due.After(due) {
		r.arm(d)
		s.due = due
	}
}

// left is how long a program that is not being stopped has until the start
// limit or its timeout.
func (r *run) left() (d time.Duration, begun bool) {
	s := r.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	switch timeout := r.opts.Timeout; {
	case r.begun && timeout > 0:
		waited, waits := r.calls.untimed()
		if waits {
			return forever, true
		}
		return timeout + waited - time.Since(r.start), true
	case r.begun:
		return forever, true
	default:
		// Most programs begin at once, so that begin need not wake the ladder:
		// the first deadline is the timeout's, if that is sooner. Now it has to.
		r.signal = true
	}
	if !r.busy.IsZero() {
		return s.in.cfg.StartLimit, false
	}
	return s.in.cfg.StartLimit - time.Since(r.since), false
}

// forever is longer than any program is waited for without looking again.
const forever = 24 * 365 * time.Hour

// alarm does what is due at the phase's deadline. It reports whether the
// session is to be given up.
func (r *run) alarm() bool {
	switch r.phase {
	case waiting:
		switch left, begun := r.left(); {
		case left > 0:
			r.arm(left)
		case begun:
			r.soft(errTimeout)
		case !r.forbid(): // it has begun just now
			return r.alarm()
		default:
			r.hard(errStart)
		}
	case interrupted:
		r.phase = interruptedAgain
		// A slow OnOutput may be all that holds the program up.
		r.out.Mute()
		if r.after == nil {
			r.sendInterrupt()
		}
		r.arm(r.slot.in.cfg.Grace / 2)
	case interruptedAgain:
		r.hard(nil)
	default:
		return true
	}
	return false
}

// forbid has a program that has not begun begin no more, and reports whether there is
// one. It comes before hard: a program that began between the two would be killed without
// grace.
func (r *run) forbid() bool {
	s := r.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	r.killed = r.killed || !r.begun
	return r.killed
}

// markInterrupted records that the program is being ended, unless it is over. One that has
// not begun begins no more.
func (r *run) markInterrupted() (begun, over bool) {
	s := r.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	r.noteStop()
	over = !r.over.IsZero()
	r.interrupted = r.begun && !over
	r.killed = r.killed || !r.begun // as forbid does
	return r.begun, over
}

// look sees to what changed in the slot: its end, restarts, interrupts, the
// program's begin.
func (r *run) look() {
	s := r.slot
	s.mu.Lock()
	begun, ended, restart := r.begun, s.ended, len(s.restarts) > 0
	r.interrupters = append(r.interrupters, s.interrupts...)
	s.interrupts = nil
	if !begun && len(r.interrupters) > 0 {
		r.early, r.signal = true, true
	}
	s.mu.Unlock()
	switch {
	case ended != nil:
		r.hard(ended)
	case restart:
		r.hard(errRestart)
	case begun && (r.early || len(r.interrupters) > 0) && r.phase == waiting:
		r.soft(errInterrupt)
	case r.sending == 0:
		r.answer() // it is kept, or the program is being stopped already
	}
	if r.phase == waiting {
		// The program's begin, or an answer that it waited for, has moved the deadline.
		left, _ := r.left()
		r.arm(max(left, 0))
	}
}

// soft asks the program to end, and has it killed after the grace. One that has
// not begun has nothing to keep.
func (r *run) soft(why error) {
	if r.phase != waiting {
		return
	}
	begun, over := r.markInterrupted()
	switch {
	case !begun:
		r.hard(why)
		return
	case over:
		r.after = why // what is still to be taken is waited for as if it ran
		r.answer()
	default:
		r.why = why
		r.calls.end()
		r.sendInterrupt()
	}
	r.phase = interrupted
	r.arm(r.slot.in.cfg.Grace / 2)
}

// sendInterrupt delivers an interrupt.
func (r *run) sendInterrupt() {
	if r.answers == nil {
		r.answers = make(chan error, 2) // there are two at most
	}
	// The caller's ctx may be what has ended. After the grace the program is killed, so
	// that an interrupt is of no use any more.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), r.slot.in.cfg.Grace)
	// A run that goes on after a restart has a new ladder; this answer is the old
	// one's.
	answers := r.answers
	r.sending++
	go func() {
		defer cancel()
		err := errNoReturn
		defer func() { answers <- err }()
		err = r.interrupt(ctx)
	}()
}

// interrupt interrupts the program, unless it has ended.
func (r *run) interrupt(ctx context.Context) error {
	r.gate.lock()
	defer r.gate.unlock()
	if !r.open || r.noInterrupt.Load() { // which may wait behind an interrupt before
		return nil
	}
	return call(ctx, r.session.Interrupt)
}

// answer tells those who asked for an interrupt that it was delivered.
func (r *run) answer() {
	for _, c := range r.interrupters {
		close(c)
	}
	r.interrupters = nil
}

// hard ends the program without grace. A nil why keeps the reason of before; the
// end of the context goes before any other.
func (r *run) hard(why error) {
	s := r.slot
	if r.why == nil || why == codeinterp.ErrClosed || why == codeinterp.ErrContext {
		r.why = why
	}
	r.answer()
	if r.phase >= killed {
		return
	}
	r.phase = killed
	r.calls.end()
	s.mu.Lock()
	r.killed = true
	onKill := r.onKill
	r.onKill = nil
	r.noteStop()
	s.mu.Unlock()
	// Before the end of ctx: a session that waits for OnOutput in a Write would not see
	// it.
	r.out.Mute()
	r.kill(r.why)
	if onKill != nil {
		// As context.AfterFunc does, since f may block.
		go onKill()
	}
	r.arm(s.in.cfg.Patience)
}
