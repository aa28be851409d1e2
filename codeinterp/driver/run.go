package driver

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A run is one program on its way through a session. Only its ladder decides to stop
// it.
type run struct {
	slot *slot
	ctx  context.Context // the caller's
	out  Output
	prog Program

	timeout time.Duration // of the program, zero for none

	gate         gate        // serializes interrupts and the hand-over of the program
	open         bool        // interrupts may be sent; guarded by gate
	resetPending bool        // the session is to be reset before
	ended        atomic.Bool // endProgram has returned, and nothing began since
	noInterrupt  atomic.Bool // endProgram was called, or the session was abandoned
	starting     atomic.Bool // Pause waits for it
	session      Session     // set before Run; used by work alone from then on

	// Guarded by slot.mu. Small fields stand together to save memory.
	begun       bool
	signal      bool               // begin is to wake the ladder
	interrupted bool               // the ladder has asked the program to end
	outputDone  bool               // all of its output is there
	stopping    bool               // the run was asked to stop
	killed      bool               // ctx was ended, or no caller waits any more
	stopped     chan struct{}      // closed with stopping; nil if nothing waits for it
	onKill      func()             // called when killed is set
	start       time.Time          // set with begun
	over        time.Time          // when the program ended before asked, as the session says
	since       time.Time          // the turn, later by the time that the runtime was busy
	busy        time.Time          // since when the runtime is busy, or zero
	late        *codeinterp.Result // late output that handOver has shown, nil for none

	calls calls

	ladder
}

// newRun returns a run for s.
func newRun(s *slot, ctx context.Context, o *codeinterp.RunOptions, code string) *run {
	r := &run{slot: s, ctx: ctx, timeout: o.Timeout}
	r.out.init(o)
	r.out.relay = s.in.cfg.Relay
	r.prog = Program{Code: code, Stdin: o.Stdin, Input: o.Input, Env: o.Env, Artifacts: o.Artifacts, Network: o.Network, OnNetwork: o.OnNetwork, Timeout: o.Timeout, files: o.Files, run: r}
	r.prog.OnBegin, _ = ctx.Value(beginKey{}).(func())
	r.calls.run, r.calls.functions, r.calls.limits = r, merge(s.functions, o.Functions), o.FunctionLimits
	return r
}

// A gate is a lock that is held during calls of the runtime.
type gate chan struct{}

func (g gate) lock()   { g <- struct{}{} }
func (g gate) unlock() { <-g }

// handOver implements Program.HandOver.
func (r *run) handOver(f func() error) error {
	r.gate.lock()
	defer r.gate.unlock()
	// A session may start a program again after its End.
	r.ended.Store(false)
	s := r.slot
	s.mu.Lock()
	if !s.late.empty() {
		s.mu.Unlock()
		// Without mu: this calls OnOutput, which may delete or restart the context.
		r.showLate()
		s.mu.Lock()
	}
	// Without f the runtime has the program already.
	if r.killed && f != nil {
		s.mu.Unlock()
		return errStopped
	}
	r.noInterrupt.Store(r.killed)
	r.start, r.begun, r.over, r.outputDone = s.in.pause.clock.now(), true, time.Time{}, false
	if r.signal {
		s.wakeRun()
	}
	s.mu.Unlock()
	if f != nil {
		if err := f(); err != nil {
			s.mu.Lock()
			r.begun = false
			s.mu.Unlock()
			return err
		}
	}
	r.open = true
	r.leaveStart()
	if r.prog.OnBegin != nil {
		r.prog.OnBegin()
	}
	return nil
}

// showLate shows output that came since the last run before that of the program.
func (r *run) showLate() {
	s := r.slot
	s.mu.Lock()
	var late codeinterp.Result
	// A run that was killed shows nothing more; the next run shows it.
	if !r.killed {
		late = s.late.take()
		if r.late == nil {
			r.late = &codeinterp.Result{}
		}
		r.late.Outputs = append(r.late.Outputs, late.Outputs...)
		r.late.Truncated = append(r.late.Truncated, late.Truncated...)
	}
	s.mu.Unlock()
	for _, o := range late.Outputs {
		o.Data = slices.Clone(o.Data) // the other may be put back
		r.out.Add(o)
	}
	for _, t := range late.Truncated {
		r.out.Lost(t)
	}
}

// endProgram implements Program.End.
func (r *run) endProgram() {
	if r.ended.Load() {
		return
	}
	// Before the gate, so that an interrupt that waits there is not sent.
	r.noInterrupt.Store(true)
	r.calls.end()
	s := r.slot
	s.mu.Lock()
	// Before the gate, which an interrupt in progress may hold for long.
	if !r.interrupted && !r.killed && r.over.IsZero() {
		r.over = time.Now()
	}
	s.mu.Unlock()
	r.gate.lock()
	r.open = false
	r.ended.Store(true)
	r.gate.unlock()
}

// endedAt returns when the session said that the program was over, or now.
func (r *run) endedAt() time.Time {
	r.slot.mu.Lock()
	defer r.slot.mu.Unlock()
	if r.over.IsZero() {
		return time.Now()
	}
	return r.over
}

// outputTaken is the part of Program.Taken beyond endProgram.
func (r *run) outputTaken() <-chan struct{} {
	s := r.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	r.outputDone = true
	if r.stopped == nil {
		r.stopped = make(chan struct{})
		if r.stopping {
			close(r.stopped)
		}
	}
	return r.stopped
}

// noteStop records that the run is being stopped. slot.mu is held.
func (r *run) noteStop() {
	if !r.stopping && r.stopped != nil {
		close(r.stopped)
	}
	r.stopping = true
}

// setOnKill sets a function to call when ctx is ended. It returns false if ctx has
// ended.
func (r *run) setOnKill(f func()) bool {
	s := r.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.killed {
		return false
	}
	r.onKill = f
	return true
}

// clearOnKill removes the function of setOnKill. It returns false if that was called.
func (r *run) clearOnKill() bool {
	s := r.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	inTime := r.onKill != nil
	r.onKill = nil
	return inTime
}

// setBusy implements Program.Busy. The start limit excludes time in which the runtime
// is busy.
func (r *run) setBusy(busy bool) {
	s := r.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	switch now := s.in.pause.clock.now(); {
	case busy && r.busy.IsZero():
		r.busy = now
	case !busy && !r.busy.IsZero():
		r.since = r.since.Add(now.Sub(r.busy))
		r.busy = time.Time{}
	}
}

// An ending is how a run ended.
type ending struct {
	Outcome
	err     error // why the program never began
	session Session
	fresh   bool // the session was started for this run
	reset   bool // a pending reset was made
	broken  bool // a method of the session panicked
	stuck   bool // the session did not return
	at      time.Time
	placed  bool   // cwd is known
	cwd     string // where programs start

	// Set by applyEnding.
	lostBefore bool // the state was lost before, unreported
	took       time.Duration
}

// work starts a session if there is none and runs the program in it. If it was
// abandoned, nothing reads end.
func (r *run) work(ctx context.Context, end *ending) {
	defer func() {
		if v := recover(); v != nil {
			end.broken, end.err = true, panicked(v)
		}
	}()
	end.Outcome, end.err = r.attempt(ctx, end)
}

func (r *run) attempt(ctx context.Context, end *ending) (Outcome, error) {
	s := r.slot
	if err := s.in.pause.enter(ctx); err != nil {
		return Outcome{}, err
	}
	r.starting.Store(true)
	defer r.leaveStart()
	if r.session == nil {
		started, err := s.start(ctx)
		if err != nil {
			return Outcome{}, err
		}
		r.session, end.fresh = started, true
	} else if r.resetPending {
		if err := r.session.Reset(ctx); err != nil {
			return Outcome{}, fmt.Errorf("a restart that failed, tried again: %w", err)
		}
		end.reset = true
	}
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx) // the session may have been abandoned
	}
	o, err := r.session.Run(ctx, &r.prog, &r.out)
	end.cwd, end.placed = s.place(r.session)
	return o, err
}

// leaveStart notes that the program has started, or will not.
func (r *run) leaveStart() {
	if r.starting.CompareAndSwap(true, false) {
		r.slot.in.pause.leave()
	}
}

// place returns the directory in which the session's programs start, if known.
func (s *slot) place(session Session) (cwd string, ok bool) {
	p, ok := session.(interface{ Cwd() string })
	if !ok || s.opts.Once {
		return "", false
	}
	return p.Cwd(), true
}
