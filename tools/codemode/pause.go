package codemode

import (
	"cmp"
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

// Defaults of [PauseOptions].
const (
	DefaultWait = 45 * time.Second
	DefaultKeep = time.Hour
	DefaultRuns = 64

	DefaultRunsPerClient = 16
)

// PauseOptions tunes [NewPauses]. The zero value is ready to use.
type PauseOptions struct {
	// After is how long a run's tool call, or resume_code, waits for a decision
	// of a call that it has not told of before it is answered as paused. Zero
	// means that it does not.
	After time.Duration

	// Wait is how long resume_code waits for a decision of calls that were told
	// of already before it is answered as paused again. Zero means DefaultWait,
	// which is below the 60 seconds after which several hosts give a call up.
	Wait time.Duration

	// Keep is after how long a paused run that nobody resumes is ended. Zero
	// means DefaultKeep.
	Keep time.Duration

	// Runs is how many runs there may be at a time. Zero means DefaultRuns.
	Runs int

	// RunsPerClient is how many of them may be those of one client, see
	// [tools.WithClient], so that nobody takes the room of others. Zero means
	// DefaultRunsPerClient. Where there is only one client, Runs alone counts.
	RunsPerClient int

	// Secrets are scrubbed from what answers tell of calls that wait. Nil means
	// those of the Options of the code tool, where it is one of this package.
	Secrets *secret.Scrubber

	// OnPending, if set, is called with each call that needs a decision. It may
	// decide at once; After begins when it has returned.
	OnPending func(Pending)
}

// A Pending is a call of a function that waits for a decision.
type Pending struct {
	ID       string // for Decide; not to be guessed
	Run      string // the run's id; empty where its tool is not one of Wrap
	Function string
	Args     json.RawMessage
}

// Pauses has programs wait in the middle for a person who allows a call or
// refuses it. The program stays as it is meanwhile: nothing is aborted, and
// nothing done twice. It is safe for concurrent use.
//
//	p := codemode.NewPauses(nil)
//	defer p.Close()
//	ci = codeinterp.Wrap(ci, p.Middleware(needsPerson))
//	run, err := codemode.New(ci, list, &codemode.Options{Limits: codeinterp.FunctionLimits{Untimed: true}})
//	list = p.Wrap(run)
//
// Without Untimed, the wait counts towards the run's timeout.
type Pauses struct {
	opts PauseOptions

	mu      sync.Mutex
	closed  bool
	runs    map[string]*pausable
	pending []*decision
	work    sync.WaitGroup
}

// A decision is one that is waited for.
type decision struct {
	Pending
	made  chan error
	since time.Time // when OnPending had left it undecided
	told  bool      // of, in an answer that somebody saw
}

// NewPauses returns Pauses without runs. opts may be nil.
func NewPauses(opts *PauseOptions) *Pauses {
	p := &Pauses{runs: map[string]*pausable{}}
	if opts != nil {
		p.opts = *opts
	}
	p.opts.Wait = cmp.Or(p.opts.Wait, DefaultWait)
	p.opts.Keep = cmp.Or(p.opts.Keep, DefaultKeep)
	p.opts.Runs = cmp.Or(p.opts.Runs, DefaultRuns)
	p.opts.RunsPerClient = cmp.Or(p.opts.RunsPerClient, DefaultRunsPerClient)
	return p
}

// Middleware returns a middleware in which calls of functions for which needs is
// true wait for [Pauses.Decide]. needs is to be safe for concurrent use.
func (p *Pauses) Middleware(needs func(codeinterp.FunctionCall) bool) codeinterp.Middleware {
	return codeinterp.Approve(func(ctx context.Context, c codeinterp.Call) error {
		if f, ok := c.Args.(codeinterp.FunctionCall); c.Op.Calls() && ok && needs(f) {
			return p.wait(ctx, f)
		}
		return nil
	})
}

// Pending lists the calls that wait, in the order in which they came.
func (p *Pauses) Pending() []Pending {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Pending
	for _, d := range p.pending {
		list = append(list, d.Pending)
	}
	return list
}

// Decide allows the pending call of an id, or refuses it with a reason that the
// program reads. It reports whether that call was still waiting.
func (p *Pauses) Decide(id string, refusal error) bool {
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

var errNoDecision = errors.New("nobody can decide any more")

// wait waits for a decision, or ctx's end.
func (p *Pauses) wait(ctx context.Context, f codeinterp.FunctionCall) error {
	// Buffered: the one who decides does not wait for the program.
	d := &decision{Pending: Pending{ID: rand.Text(), Function: f.Name, Args: f.Args}, made: make(chan error, 1)}
	r, _ := ctx.Value(pausableKey{}).(*pausable)
	if r != nil {
		d.Run = r.id
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return errNoDecision
	}
	p.pending = append(p.pending, d)
	p.mu.Unlock()
	defer p.forget(d) // also where OnPending does not return
	if p.opts.OnPending != nil {
		p.opts.OnPending(d.Pending)
	}
	if r != nil {
		p.mu.Lock()
		d.since = time.Now()
		p.mu.Unlock()
		r.mark()
	}
	select {
	case err := <-d.made:
		return err
	case <-ctx.Done():
	}
	p.forget(d)
	select {
	case err := <-d.made: // at the last moment
		return err
	default:
		return context.Cause(ctx)
	}
}

// forget has a call not wait any more.
func (p *Pauses) forget(d *decision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending = slices.DeleteFunc(p.pending, func(o *decision) bool { return o == d })
}

// waiting returns how many calls of a run wait, and since when the first does of
// those that no answer has told of yet: zero if there are none.
func (p *Pauses) waiting(run string) (n int, since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.pending {
		if d.Run == run {
			n++
			if !d.told && !d.since.IsZero() && (since.IsZero() || d.since.Before(since)) {
				since = d.since
			}
		}
	}
	return n, since
}

// tell returns at most maxTold of the calls of a run that wait, for an answer that
// somebody sees or not. Those that none has told of go before others, so that each
// comes to be told.
func (p *Pauses) tell(run string, seen bool) []Pending {
	p.mu.Lock()
	defer p.mu.Unlock()
	again := maxTold // how many of those told of before there is room for
	for _, d := range p.pending {
		if d.Run == run && !d.told {
			again--
		}
	}
	var list []Pending
	for _, d := range p.pending {
		if d.Run != run || len(list) == maxTold {
			continue
		}
		if d.told {
			if again--; again < 0 {
				continue
			}
		}
		d.told = d.told || seen
		list = append(list, d.Pending)
	}
	return list
}

// full reports whether client can have no further run. p.mu is held.
func (p *Pauses) full(client any) bool {
	if len(p.runs) >= p.opts.Runs {
		return true
	}
	if client == nil {
		return false
	}
	theirs := 0
	for _, r := range p.runs {
		if r.client == client {
			theirs++
		}
	}
	return theirs >= p.opts.RunsPerClient
}

// Close ends all runs, whose answers say that they were canceled, and returns when
// they have ended. Calls of functions wait no longer and are refused.
func (p *Pauses) Close() {
	p.mu.Lock()
	p.closed = true
	for _, r := range p.runs {
		r.cancel(errPausesClosed)
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
	errPausesClosed = fmt.Errorf("%w: no program can wait any longer", codeinterp.ErrClosed)
	errNotResumed   = errors.New("nobody has resumed it in time")
	errClientGone   = errors.New("the client that began it has gone")
)
