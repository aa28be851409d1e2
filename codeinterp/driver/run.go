package driver

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A run is a program on its way through a session. Its ladder alone decides to
// stop it.
type run struct {
	slot *slot
	ctx  context.Context // the caller's
	opts *codeinterp.RunOptions
	out  *Output
	prog Program

	gate        gate        // passed by interrupts, and by the program's hand-over
	open        bool        // interrupts can come; guarded by gate
	unreset     bool        // the session is to be reset before
	ended       atomic.Bool // shut is done, and nothing has begun since
	noInterrupt atomic.Bool // shut has begun, or the session was given up: no interrupt any more
	session     Session     // set before Run, and of work from then on

	// Guarded by slot.mu. What is small stands together: each run makes one.
	begun       bool
	signal      bool               // begin is to wake the ladder
	interrupted bool               // the ladder has asked the program to end
	outputDone  bool               // all of its output is there
	stopping    bool               // the run was asked to stop
	killed      bool               // the ladder has ended ctx, or no caller waits any more
	stopped     chan struct{}      // closed with stopping; nil where nothing waits for that
	onKill      func()             // is called with killed
	start       time.Time          // set with begun
	over        time.Time          // when the program ended before asked, as the session says
	since       time.Time          // the turn, later by the time that the runtime was busy
	busy        time.Time          // since when it is, zero if it is not
	late        *codeinterp.Result // late output that begin has shown, nil for none

	calls calls

	ladder
}

// newRun returns a run that is about to begin in s.
func newRun(s *slot, ctx context.Context, o *codeinterp.RunOptions, code string) *run {
	r := &run{slot: s, ctx: ctx, opts: o, out: NewOutput(o)}
	r.prog = Program{Code: code, Stdin: o.Stdin, Input: o.Input, Env: o.Env, Artifacts: o.Artifacts, files: o.Files, run: r}
	r.calls.run, r.calls.functions, r.calls.limits = r, merge(s.functions, o.Functions), o.FunctionLimits
	return r
}

// A gate is a lock that is held during calls of the runtime.
type gate chan struct{}

func (g gate) lock()   { g <- struct{}{} }
func (g gate) unlock() { <-g }

// begin is Program.HandOver.
func (r *run) begin(f func() error) error {
	r.gate.lock()
	defer r.gate.unlock()
	// A session may begin a program anew after its End.
	r.ended.Store(false)
	s := r.slot
	s.mu.Lock()
	if !s.late.empty() {
		s.mu.Unlock()
		// Without mu: this calls OnOutput, which may delete or restart the context.
		r.showLate()
		s.mu.Lock()
	}
	// What was not handed over need not begin. Without f the runtime has it already.
	if r.killed && f != nil {
		s.mu.Unlock()
		return errStopped
	}
	r.noInterrupt.Store(r.killed)
	r.start, r.begun, r.over, r.outputDone = time.Now(), true, time.Time{}, false
	if r.signal {
		s.poke()
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
	return nil
}

// showLate puts what came since the last run before the program's output.
func (r *run) showLate() {
	s := r.slot
	s.mu.Lock()
	var late codeinterp.Result
	// A run that was killed shows nothing more; the next one does.
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

// shut is Program.End.
func (r *run) shut() {
	if r.ended.Load() {
		return
	}
	// Before the gate: an interrupt that waits there is not sent then.
	r.noInterrupt.Store(true)
	r.calls.end()
	s := r.slot
	s.mu.Lock()
	// Noted before the gate, which an interrupt in progress may hold for long.
	if !r.interrupted && !r.killed && r.over.IsZero() {
		r.over = time.Now()
	}
	s.mu.Unlock()
	r.gate.lock()
	r.open = false
	r.ended.Store(true)
	r.gate.unlock()
}

// taken is what Program.Taken adds to shut.
func (r *run) taken() <-chan struct{} {
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

// setOnKill has f called when ctx is ended, and reports whether that is yet to
// come.
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

// clearOnKill takes setOnKill back, and reports whether that was in time.
func (r *run) clearOnKill() bool {
	s := r.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	inTime := r.onKill != nil
	r.onKill = nil
	return inTime
}

// setBusy is Program.Busy. While the runtime is busy the turn begins later.
func (r *run) setBusy(busy bool) {
	s := r.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	switch now := time.Now(); {
	case busy && r.busy.IsZero():
		r.busy = now
	case !busy && !r.busy.IsZero():
		r.since = r.since.Add(now.Sub(r.busy))
		r.busy = time.Time{}
	}
}

// An ending is what became of a run.
type ending struct {
	Outcome
	err     error // why it never began
	session Session
	fresh   bool // the session was started for it
	reset   bool // the session was reset for it, which had failed before
	broken  bool // a method of the session panicked
	stuck   bool // it did not return
	at      time.Time
	placed  bool   // the session tells where programs start
	cwd     string // which is there

	// What settle adds.
	lostBefore bool // the state was lost before, unreported
	took       time.Duration
}

// work makes sure of a session and runs the program in it. It may be given up;
// then nothing waits for the ending.
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
	if r.session == nil {
		started, err := s.start(ctx)
		if err != nil {
			return Outcome{}, err
		}
		r.session, end.fresh = started, true
	} else if r.unreset {
		if err := r.session.Reset(ctx); err != nil {
			return Outcome{}, fmt.Errorf("a restart that failed, tried again: %w", err)
		}
		end.reset = true
	}
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx) // it may have been given up
	}
	o, err := r.session.Run(ctx, &r.prog, r.out)
	end.cwd, end.placed = s.place(r.session)
	return o, err
}

// place returns where the session's programs start, if it tells.
func (s *slot) place(session Session) (cwd string, ok bool) {
	p, ok := session.(interface{ Cwd() string })
	if !ok || s.opts.Once {
		return "", false
	}
	return p.Cwd(), true
}
