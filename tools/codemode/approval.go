package codemode

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools/secret"
)

const (
	// resumeWait is how long resume_code waits for decisions on calls that were reported
	// already: less than the 60 seconds after which several hosts give up on a call.
	resumeWait = 45 * time.Second

	maxPaused = 64 // runs at a time
)

// Approval makes calls of functions wait for a person. The program stays where it is: its
// tool call is answered as paused, and the tool resume_code waits for the rest. A paused
// run ends with the host, or if it is not resumed for an hour. The wait does not count
// towards the run's timeout.
type Approval struct {
	// Needs reports whether a call needs approval; nil means that all do. It must be
	// safe for concurrent use.
	Needs func(codeinterp.FunctionCall) bool

	// OnPending, if set, is called with each call that needs a decision, and may decide
	// at once.
	OnPending func(Pending)
}

// A Pending is a call of a function that waits for a decision.
type Pending struct {
	ID       string // for Decide; it cannot be guessed
	Run      string // the run's id; empty if its tool is not one of the mode
	Function string
	Args     json.RawMessage
}

// approvals are the paused runs and pending calls of a mode.
type approvals struct {
	opts    Approval
	secrets *secret.Scrubber // of answers

	mu      sync.Mutex
	closed  bool
	runs    map[string]*pausableRun
	pending []*decision
	work    sync.WaitGroup
}

// A decision is a pending call.
type decision struct {
	Pending
	made      chan error
	undecided bool // by OnPending
	reported  bool // in an answer that reached its caller
}

func newApprovals(opts *Approval, secrets *secret.Scrubber) *approvals {
	return &approvals{runs: map[string]*pausableRun{}, opts: *opts, secrets: secrets}
}

// approve waits for the decision on a call if it needs one. p may be nil.
func (p *approvals) approve(ctx context.Context, c codeinterp.FunctionCall) error {
	if p == nil || p.opts.Needs != nil && !p.opts.Needs(c) {
		return nil
	}
	return p.wait(ctx, c)
}

// Pending returns the calls that wait for a decision, in the order in which they came.
func (m *Mode) Pending() []Pending {
	p := m.approvals
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Pending
	for _, d := range p.pending {
		list = append(list, d.Pending)
	}
	return list
}

// Decide allows a pending call, or refuses it with a reason that the program reads. It
// reports whether the call was still waiting.
func (m *Mode) Decide(id string, refusal error) bool {
	p := m.approvals
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.pending, func(d *decision) bool { return d.ID == id })
	if i < 0 {
		return false
	}
	p.pending[i].made <- refusal
	p.pending = slices.Delete(p.pending, i, i+1)
	return true
}

var errNoDecision = errors.New("approval expired: the host is shutting down")

// wait waits for a decision, or ctx's end.
func (p *approvals) wait(ctx context.Context, f codeinterp.FunctionCall) error {
	// Buffered: Decide does not wait for the program.
	d := &decision{Pending: Pending{ID: rand.Text(), Function: f.Name, Args: f.Args}, made: make(chan error, 1)}
	r, _ := ctx.Value(pausableKey{}).(*pausableRun)
	if r != nil {
		d.Run = r.id
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return refused(errNoDecision)
	}
	p.pending = append(p.pending, d)
	p.mu.Unlock()
	defer p.forget(d) // even if OnPending panics
	if p.opts.OnPending != nil {
		p.opts.OnPending(d.Pending)
	}
	if r != nil {
		p.mu.Lock()
		d.undecided = true
		p.mu.Unlock()
		r.mark()
	}
	select {
	case err := <-d.made:
		return refused(err)
	case <-ctx.Done():
	}
	p.forget(d)
	select {
	case err := <-d.made: // just before ctx ended
		return refused(err)
	default:
		return context.Cause(ctx)
	}
}

// refused returns the reason of a refusal as programs read it.
func refused(reason error) error {
	if reason == nil {
		return nil
	}
	return &codeinterp.FunctionError{Message: reason.Error()}
}

// forget removes a pending call.
func (p *approvals) forget(d *decision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending = slices.DeleteFunc(p.pending, func(o *decision) bool { return o == d })
}

// waiting returns how many calls of a run wait, and how many of them no answer has
// reported yet.
func (p *approvals) waiting(run string) (all, unreported int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.pending {
		if d.Run == run {
			all++
			if d.undecided && !d.reported {
				unreported++
			}
		}
	}
	return all, unreported
}

// report returns the last pending calls of a run for an answer, at most maxReported.
// seen reports whether the answer reaches its caller.
func (p *approvals) report(run string, seen bool) (list []*decision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.pending {
		if d.Run == run {
			list = append(list, d)
		}
	}
	list = list[max(len(list)-maxReported, 0):]
	for _, d := range list {
		d.reported = d.reported || seen
	}
	return list
}

// Close ends the runs that wait for approval, whose answers say that they were canceled,
// and returns when they have ended; further calls that need approval are refused. It does
// not close the interpreter.
func (m *Mode) Close() {
	p := m.approvals
	if p == nil {
		return
	}
	p.mu.Lock()
	p.closed = true
	for _, r := range p.runs {
		r.cancel(errApprovalsClosed)
	}
	p.pending = slices.DeleteFunc(p.pending, func(d *decision) bool {
		if d.Run == "" {
			d.made <- errNoDecision
		}
		return d.Run == "" // those of runs end with them
	})
	p.mu.Unlock()
	p.work.Wait()
}

var (
	errApprovalsClosed = fmt.Errorf("%w: no program can wait any longer", codeinterp.ErrClosed)
	errNotResumed      = errors.New("it was not resumed in time")
	errClientGone      = errors.New("the client that started it has gone")
)
