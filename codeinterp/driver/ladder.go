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

// errStopped is what HandOver returns if the run was stopped already.
var errStopped = errors.New("stopped before it began")

// A phase is a step of the ladder; each has at most one deadline.
type phase int

const (
	waiting          phase = iota // for the end: until the start limit, then the timeout
	interrupted                   // to end: until half of the grace
	interruptedAgain              // until the grace is over
	killed                        // until the patience is over
)

// A ladder stops a program: by an interrupt, a second one, and then by force.
type ladder struct {
	phase        phase
	why          error // why the program was stopped
	after        error // why it would have been stopped, had it not ended before
	deadline     time.Time
	early        bool // an interrupt came before the program began
	kill         context.CancelCauseFunc
	sending      int             // interrupts in flight
	answers      chan error      // of these
	interrupters []chan struct{} // callers that wait for delivery
}

// follow runs the program in the session and stops it when necessary. Only follow
// decides to stop.
func (r *run) follow() ending {
	s := r.slot
	ctx := r.ctx
	canceled := ctx.Done()
	if canceled != nil {
		// If the caller's ctx ends, the ladder interrupts first and ends the session's
		// ctx later.
		ctx = context.WithoutCancel(ctx)
	}
	ctx, r.kill = context.WithCancelCause(ctx)
	defer r.kill(nil)
	now := s.in.pause.clock.now()
	r.since, r.gate, r.session, r.resetPending = now, s.gate, s.session, s.resetPending
	s.in.workers.start(job{run: r, ctx: ctx, done: s.done})
	first := s.in.cfg.StartLimit
	if r.timeout > 0 {
		first = min(first, r.timeout)
	}
	r.armAt(now.Add(first))
	for {
		select {
		case end := <-s.done:
			return end
		case err := <-r.answers:
			r.sending--
			r.answerInterrupters()
			if err != nil {
				r.forceStop(nil)
			}
		case <-s.wake:
			if len(s.done) > 0 { // an end goes first
				continue
			}
			if s.alarm.rang() && r.pastDeadline() {
				return r.giveUpSession()
			}
			r.checkRequests()
		case <-canceled:
			canceled = nil
			switch {
			case len(s.done) > 0:
			case s.in.cfg.Relay: // the other driver has given it its grace
				r.forceStop(context.Cause(r.ctx))
			default:
				r.requestStop(context.Cause(r.ctx))
			}
		}
	}
}

// giveUpSession ends a run whose session did not return. The session is closed when it
// does.
func (r *run) giveUpSession() ending {
	s := r.slot
	r.noInterrupt.Store(true)
	s.countStuck()
	done := s.done
	s.done, s.gate = make(chan ending, 1), make(gate, 1) // the session may still use the old ones
	go func() {
		end := <-done
		s.closeReturned(end.session)
	}()
	return ending{Outcome: Outcome{Lost: true, Unknown: errStuck}, at: time.Now(), stuck: true}
}

// now returns the time of deadlines, which stands still in pauses. Killing a program takes
// no notice of them.
func (r *run) now() time.Time {
	if r.phase >= killed {
		return time.Now()
	}
	return r.slot.in.pause.clock.now()
}

// arm sets the deadline of the phase.
func (r *run) arm(d time.Duration) { r.armAt(r.now().Add(d)) }

func (r *run) armAt(deadline time.Time) {
	r.deadline = deadline
	if r.phase < killed {
		clock := &r.slot.in.pause.clock
		if clock.stopped() {
			return // the end of the pause wakes the run
		}
		deadline = clock.host(deadline)
	}
	r.slot.alarm.set(deadline, r.slot)
}

// pastDeadline handles an alarm, which may come before the deadline. It reports whether to
// abandon the session.
func (r *run) pastDeadline() bool {
	if !r.now().Before(r.deadline) {
		return r.onDeadline()
	}
	r.armAt(r.deadline)
	return false
}

// timeLeft returns how long the program has until the start limit or its timeout.
func (r *run) timeLeft() (d time.Duration, begun bool) {
	s := r.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	switch timeout := r.timeout; {
	case r.begun && timeout > 0:
		waited, waits := r.calls.untimed()
		if waits {
			return forever, true
		}
		return timeout + waited - s.in.pause.clock.since(r.start), true
	case r.begun:
		return forever, true
	default:
		// Most programs begin at once, so handOver does not wake the ladder unless the
		// first deadline has passed.
		r.signal = true
	}
	if !r.busy.IsZero() {
		return s.in.cfg.StartLimit, false
	}
	return s.in.cfg.StartLimit - s.in.pause.clock.since(r.since), false
}

// forever is the deadline of a program without one.
const forever = 24 * 365 * time.Hour

// onDeadline handles the deadline of the phase. It reports whether to abandon the
// session.
func (r *run) onDeadline() bool {
	switch r.phase {
	case waiting:
		switch left, begun := r.timeLeft(); {
		case left > 0:
			r.arm(left)
		case begun:
			r.requestStop(errTimeout)
		case !r.cancelStart(): // it began just now
			return r.onDeadline()
		default:
			r.forceStop(errStart)
		}
	case interrupted:
		r.phase = interruptedAgain
		// The program may wait for a slow OnOutput.
		r.out.Mute()
		if r.after == nil {
			r.sendInterrupt()
		}
		r.arm(r.slot.in.cfg.Grace / 2)
	case interruptedAgain:
		r.forceStop(nil)
	default:
		return true
	}
	return false
}

// cancelStart prevents a program from starting and reports whether it had not started.
// It comes before forceStop, so that a program that has just started gets its grace.
func (r *run) cancelStart() bool {
	s := r.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	r.killed = r.killed || !r.begun
	return r.killed
}

// markInterrupted records that the program is being stopped, unless it is over. A
// program that has not started will not start.
func (r *run) markInterrupted() (begun, over bool) {
	s := r.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	r.noteStop()
	over = !r.over.IsZero()
	r.interrupted = r.begun && !over
	r.killed = r.killed || !r.begun // as in cancelStart
	return r.begun, over
}

// checkRequests handles what changed in the slot: its end, restarts, interrupts, the
// start of the program.
func (r *run) checkRequests() {
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
		r.forceStop(ended)
	case restart:
		r.forceStop(errRestart)
	case begun && (r.early || len(r.interrupters) > 0) && r.phase == waiting:
		r.requestStop(errInterrupt)
	case r.sending == 0:
		r.answerInterrupters() // the interrupt is kept, or the program is being stopped
	}
	if r.phase == waiting {
		// A pause is over, the program began, or a call ended: the deadline has moved.
		left, _ := r.timeLeft()
		r.arm(max(left, 0))
	} else if r.phase < killed {
		r.armAt(r.deadline)
	}
}

// requestStop interrupts the program; after the grace it is killed. A program that has
// not started is killed at once.
func (r *run) requestStop(why error) {
	if r.phase != waiting {
		return
	}
	begun, over := r.markInterrupted()
	switch {
	// A paused program does not react.
	case !begun || !over && r.slot.in.pause.clock.stopped():
		r.forceStop(why)
		return
	case over:
		r.after = why // wait for its remaining output as if it ran
		r.answerInterrupters()
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
		r.answers = make(chan error, 2) // at most two interrupts are sent
	}
	// Not the caller's ctx, which may have ended. After the grace the program is killed.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), r.slot.in.cfg.Grace)
	// After a restart the run has a new ladder; this answer belongs to the old one.
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
	if !r.open || r.noInterrupt.Load() { // may have changed while waiting for the gate
		return nil
	}
	return call(ctx, r.session.Interrupt)
}

// answerInterrupters reports delivery to the callers of InterruptContext.
func (r *run) answerInterrupters() {
	for _, c := range r.interrupters {
		close(c)
	}
	r.interrupters = nil
}

// forceStop ends the program without grace. A nil why keeps the earlier reason; the
// end of the context replaces any other.
func (r *run) forceStop(why error) {
	s := r.slot
	if r.why == nil || why == codeinterp.ErrClosed || why == codeinterp.ErrContext {
		r.why = why
	}
	r.answerInterrupters()
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
	// Before ctx ends, since a session may be blocked in a Write that calls OnOutput.
	r.out.Mute()
	r.kill(r.why)
	if onKill != nil {
		// In a goroutine, since it may block.
		go onKill()
	}
	r.arm(s.in.cfg.Patience)
}
