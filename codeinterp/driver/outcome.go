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
var errUnseen = fmt.Errorf("%w: the provider reported a good end of the program, but never that it began (Program.Begin)", codeinterp.ErrUnavailable)

// run runs the program in its slot and tells how it ended. The caller has the
// turn, which is passed on when the state is settled, be OnOutput done or not.
func (r *run) run() (codeinterp.Result, error) {
	s := r.slot
	for {
		end := r.follow()
		begun := r.settle(&end)
		r.answer()
		if begun || !r.goesOn(&end) {
			// Before the turn is passed on: the next run changes it.
			count := s.runs
			s.release()
			return r.result(&end, begun, count)
		}
		// It had not begun when its context was restarted, so it goes on in the
		// empty state, as queued runs do.
		s.renew()
		r.again()
	}
}

// goesOn reports whether the run, which has not begun, was only in the way of a
// restart.
func (r *run) goesOn(end *ending) bool {
	s := r.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	// A restart and an end came together: the end is reported.
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

// again makes a run of one that has not begun.
func (r *run) again() {
	s := r.slot
	s.mu.Lock()
	r.ladder = ladder{early: r.early}
	// An interrupt that came before the restart is still kept for the program's
	// begin.
	r.killed, r.interrupted, r.signal, r.busy, r.over = false, false, r.early, time.Time{}, time.Time{}
	r.stopping, r.stopped = false, nil
	r.ended.Store(false)
	s.poke() // what came meanwhile is to be looked at
	s.mu.Unlock()
	r.out.Unmute()
	r.calls.again()
}

// settle notes what the run did to the state, and reports whether the program
// began. The caller has the turn.
func (r *run) settle(end *ending) (begun bool) {
	s := r.slot
	if end.fresh {
		s.fresh, s.unreset = true, false // what could not be reset is gone
	}
	if end.reset {
		s.emptied()
	}
	if end.broken {
		// What it had begun is not known, and it is asked for nothing any more.
		s.hold(end.session)
		end.Lost, end.Unknown = true, joined([]error{end.err, s.shut()})
		end.session = nil
	}
	if begun = r.close(end); !begun {
		return false
	}
	// The program had ended before it was to stop, but what shows that did not all
	// come: the reason to stop is the only one that is sure.
	if r.why == nil && (end.Unknown != nil || r.phase >= killed && !r.outputDone) {
		r.why = r.after // it had to be stopped, or may have
	}
	// There is no status for a late start: how such a program ended counts as unknown.
	if end.Unknown == nil && r.why == errStart {
		end.Unknown = r.why
	}
	if end.Unknown == nil {
		end.Unknown = end.err
	}
	fresh := end.Fresh || s.fresh
	end.lostBefore = fresh && !s.lossTold
	if fresh {
		s.runs = 0
	}
	// A runtime that numbers its runs (a kernel) is believed.
	s.runs = cmp.Or(end.Count, s.runs+1)
	// Of a restart this run tells, also where the reset fails and is made later.
	s.fresh, s.lossTold = end.Lost, end.Lost || r.why == errRestart
	return true
}

// close ends what others see of the run, notes what it leaves, and reports whether
// the program began.
func (r *run) close(end *ending) (begun bool) {
	s := r.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session = end.session; end.placed {
		s.cwd = end.cwd
	}
	// A Run without an error ran the program, though it did not call Begin.
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
	end.took = max(end.End.Sub(r.start), 0)
	r.killed = true // it can begin no more
	s.used = end.at
	return begun
}

// result makes the Result of a run that was settled. It waits for a call of
// OnOutput that is still in progress, and for functions that have not returned.
func (r *run) result(end *ending, begun bool, count int) (codeinterp.Result, error) {
	var res codeinterp.Result
	var err error
	if begun {
		r.calls.hint(end.Error)
		res, err = end.result(r.why)
		res.Duration, res.ExecutionCount = end.took, count
		if r.why == errTimeout {
			// Also a program that OnOutput kept waiting ran until then.
			res.Duration = max(end.took, r.opts.Timeout)
		}
		if r.slot.opts.Once {
			// A single run has no state that somebody could miss.
			res.StateLost, res.ExecutionCount = false, 0
		}
	} else {
		res, err = codeinterp.NotRun(), r.reason(end)
	}
	r.out.Finish(&res)
	r.calls.finish(&res, r.slot.in.cfg.Patience)
	if begun {
		res.Artifacts, res.Truncated = end.Artifacts, append(res.Truncated, end.Missing...)
	}
	if !begun {
		res.Outputs, res.Truncated, res.Calls = nil, nil, nil // late ones, which were put back
	}
	return res, err
}

// reason is why a program never began.
func (r *run) reason(end *ending) error {
	err := end.err
	if end.broken {
		err = nil // Unknown begins with it
	}
	switch r.why {
	case nil, errTimeout, errInterrupt, errRestart:
	default:
		err = r.why
	}
	return joined([]error{err, end.Unknown})
}

// result is the one place that turns an outcome into a Result and an error. why
// is why the program was stopped, nil where it ended by itself.
func (o *ending) result(why error) (codeinterp.Result, error) {
	res := codeinterp.Result{ExitCode: o.ExitCode, Error: o.Error, Cause: o.Cause, StateLost: o.Lost || o.lostBefore}
	set := func(s codeinterp.Status, exit int, c codeinterp.Cause) {
		res.Status, res.ExitCode, res.Cause = s, exit, c
	}
	unknown := o.unknown()
	switch {
	// The reason for a stop decides, whatever the program made of it.
	case why == errTimeout:
		set(codeinterp.StatusTimeout, codeinterp.ExitTimeout, "")
	case why == errInterrupt:
		set(codeinterp.StatusError, codeinterp.ExitCanceled, codeinterp.CauseInterrupt)
	case why == errRestart:
		set(codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseRestart)
		res.StateLost = true
	case why == codeinterp.ErrClosed || why == codeinterp.ErrContext:
		set(codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseClosed)
		res.StateLost = true
		return res, joined([]error{why, unknown})
	case why != nil && why != errStart:
		set(codeinterp.StatusCanceled, codeinterp.ExitCanceled, "")
		return res, joined([]error{why, unknown})
	case unknown != nil:
		set(codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseServer)
	case o.Lost && !o.Exited:
		res.Status = codeinterp.StatusLost
		// Never 0; and the process's own code only where it exited or a signal ended
		// it.
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
