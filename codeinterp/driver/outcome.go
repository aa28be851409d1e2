package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// errUnseen reports a session that returned success without calling Program.Begin.
var errUnseen = fmt.Errorf("%w: the session returned success without calling Program.Begin", codeinterp.ErrUnavailable)

// run runs the program and returns how it ended. The caller holds the turn, which is
// passed on once the state is recorded, even if OnOutput is still being called.
func (r *run) run() (codeinterp.Result, error) {
	s := r.slot
	for {
		end := r.follow()
		begun := r.applyEnding(&end)
		r.answerInterrupters()
		if begun || !r.waitsForRestart(&end) {
			// Before the turn is passed on, since the next run changes it.
			count := s.runs
			s.release()
			return r.result(&end, begun, count)
		}
		// It had not begun when its context was restarted, so it runs in the empty
		// state, as queued runs do.
		s.applyRestarts()
		r.prepareRestarted()
	}
}

// waitsForRestart reports whether the run, which has not begun, was stopped only
// because of a restart and has to run afterwards.
func (r *run) waitsForRestart(end *ending) bool {
	s := r.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	// If a restart and an end came together, the end is reported.
	if r.why == errRestart && s.ended != nil {
		r.why = s.ended
	} else if r.why == errRestart && r.ctx.Err() != nil {
		r.why = context.Cause(r.ctx)
	}
	if r.why == errRestart && !end.broken && !end.stuck {
		return true
	}
	s.late.putBack(r.late)
	return false
}

// prepareRestarted prepares a run that has not begun for another attempt after a
// restart.
func (r *run) prepareRestarted() {
	s := r.slot
	s.mu.Lock()
	r.ladder = ladder{early: r.early}
	// An interrupt that came before the restart is kept until the program begins.
	r.killed, r.interrupted, r.signal, r.busy, r.over = false, false, r.early, time.Time{}, time.Time{}
	r.stopping, r.stopped = false, nil
	r.ended.Store(false)
	s.wakeRun() // for requests that came meanwhile
	s.mu.Unlock()
	r.out.Unmute()
	r.calls.reopen()
}

// applyEnding records what the run did to the state and reports whether the program
// began. The caller holds the turn.
func (r *run) applyEnding(end *ending) (begun bool) {
	s := r.slot
	if end.fresh {
		s.fresh, s.resetPending = true, false // the session with the pending reset is gone
	}
	if end.reset {
		s.markEmpty()
	}
	if end.broken {
		// The session panicked: its state is unknown and it is not used again.
		s.setSession(end.session)
		end.Lost, end.Unknown = true, joined([]error{end.err, s.closeSession()})
		end.session = nil
	}
	if begun = r.markEnded(end); !begun {
		return false
	}
	// The program had ended before it was stopped, but not all of its output came: only
	// the reason for the stop is certain.
	if r.why == nil && (end.Unknown != nil || r.phase >= killed && !r.outputDone) {
		r.why = r.after
	}
	// A late start has no status of its own: how the program ended counts as unknown.
	if end.Unknown == nil && r.why == errStart {
		end.Unknown = r.why
	}
	if end.Unknown == nil {
		end.Unknown = end.err
	}
	fresh := end.Fresh || s.fresh
	end.lostBefore = fresh && !s.lossReported
	if fresh {
		s.runs = 0
	}
	// A kernel numbers its runs itself.
	s.runs = cmp.Or(end.Count, s.runs+1)
	// This run reports a restart, even if the reset failed and is retried later.
	s.fresh, s.lossReported = end.Lost, end.Lost || r.why == errRestart
	return true
}

// markEnded records the end under slot.mu and reports whether the program began.
func (r *run) markEnded(end *ending) (begun bool) {
	s := r.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session = end.session; end.placed {
		s.cwd = end.cwd
	}
	// A Run without an error ran the program, even if it did not call Begin.
	begun = r.begun || end.err == nil && !end.stuck
	if !r.begun && begun && end.Unknown == nil && !end.Lost && end.ExitCode == 0 && end.Error == nil {
		end.Unknown = errUnseen
	}
	if r.start.IsZero() {
		r.start = r.since
	}
	if end.End.IsZero() {
		end.End = end.at
		if !r.over.IsZero() {
			end.End = r.over
		}
	}
	end.took = max(s.in.pause.clock.at(end.End).Sub(r.start), 0)
	r.killed = true // it cannot begin any more
	s.used = end.at
	return begun
}

// result makes the Result of a run. It waits for a call of OnOutput in progress and
// for functions that have not returned.
func (r *run) result(end *ending, begun bool, count int) (codeinterp.Result, error) {
	var res codeinterp.Result
	var err error
	if begun {
		r.calls.hint(end.Error)
		res, err = end.result(r.why)
		res.Duration, res.ExecutionCount = end.took, count
		if end.Former != nil {
			res.Duration = end.Former.Duration
		}
		if r.why == errTimeout {
			// A program that waited for OnOutput ran until then too.
			res.Duration = max(res.Duration, r.timeout)
		}
		if r.slot.opts.Once {
			// A single run has no state to lose.
			res.StateLost, res.ExecutionCount = false, 0
		}
	} else {
		res, err = codeinterp.NotRun(), r.reason(end)
	}
	r.out.Finish(&res)
	r.calls.finish(&res, r.slot.in.cfg.Patience)
	if begun {
		res.Artifacts, res.Truncated = end.Artifacts, append(res.Truncated, end.Missing...)
		res.Refusals = end.Refusals[:min(len(end.Refusals), codeinterp.MaxRefusals)]
	}
	if !begun {
		res.Outputs, res.Truncated, res.Calls = nil, nil, nil // late output, which was put back
	}
	return res, err
}

// reason is why a program never began.
func (r *run) reason(end *ending) error {
	err := end.err
	if end.broken {
		err = nil // part of Unknown
	}
	switch r.why {
	case nil, errTimeout, errInterrupt, errRestart:
	default:
		err = r.why
	}
	return joined([]error{err, end.Unknown})
}

// result turns an outcome into a Result and an error. why is why the program was
// stopped, nil if it ended by itself.
func (o *ending) result(why error) (codeinterp.Result, error) {
	res := codeinterp.Result{ExitCode: o.ExitCode, Error: o.Error, Cause: o.Cause, StateLost: o.Lost || o.lostBefore}
	set := func(s codeinterp.Status, exit int, c codeinterp.Cause) {
		res.Status, res.ExitCode, res.Cause = s, exit, c
	}
	unknown := o.unknown()
	switch {
	// The reason for a stop decides, however the program reacted.
	case why == errTimeout:
		set(codeinterp.StatusTimeout, codeinterp.ExitTimeout, "")
	case why == errInterrupt:
		set(codeinterp.StatusError, codeinterp.ExitCanceled, codeinterp.CauseInterrupt)
	case why == errRestart:
		set(codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseRestart)
		res.StateLost, res.Error = true, nil
	case why == codeinterp.ErrClosed || why == codeinterp.ErrContext:
		set(codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseClosed)
		res.StateLost, res.Error = true, nil
		return res, joined([]error{why, unknown})
	case why != nil && why != errStart:
		set(codeinterp.StatusCanceled, codeinterp.ExitCanceled, "")
		return res, joined([]error{why, unknown})
	case unknown != nil:
		set(codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseServer)
	case o.Former != nil && o.Former.Status != "":
		set(o.Former.Status, o.Former.ExitCode, o.Former.Cause)
	case o.Lost && !o.Exited:
		res.Status = codeinterp.StatusLost
		// Never 0; the process's own code only if it exited or a signal ended it.
		if res.ExitCode == 0 || res.ExitCode <= 128 && res.Cause != codeinterp.CauseExit {
			res.ExitCode = codeinterp.ExitKilled
		}
	case o.ExitCode != 0 || o.Error != nil:
		res.Status, res.ExitCode = codeinterp.StatusError, cmp.Or(o.ExitCode, 1)
	default:
		res.Status = codeinterp.StatusOK
	}
	return res, unknown
}

// unknown is why the end is not known, an ErrUnavailable.
func (o *ending) unknown() error {
	if o.Unknown == nil || errors.Is(o.Unknown, codeinterp.ErrUnavailable) {
		return o.Unknown
	}
	return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, o.Unknown)
}
