package workspace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// Pause stops all processes of the workspace: those of runs and contexts, commands, and
// what they started. Timeouts stand still meanwhile; see [codeinterp.Pauser]. Calls fail
// with codeinterp.ErrPaused until Resume, or resume it with Options.AutoResume. Files
// can be used. It fails with errors.ErrUnsupported if an interpreter cannot be paused.
func (w *Workspace) Pause(ctx context.Context) error { return w.pauses.pause(ctx, false) }

// Resume continues what Pause has stopped.
func (w *Workspace) Resume(ctx context.Context) error { return w.pauses.resume(ctx) }

// A pauses pauses the interpreters of a workspace.
type pauses struct {
	groups   []codeinterp.Pauser
	lacks    error // why there is no pause; nil if there is
	idle     time.Duration
	resumes  bool
	changing chan struct{} // holds a value during a pause or resumption

	mu     sync.Mutex
	calls  int  // in progress
	paused bool // or about to be
	timer  *time.Timer
}

func newPauses(o *Options) *pauses {
	return &pauses{idle: o.IdlePause, resumes: o.AutoResume, changing: make(chan struct{}, 1)}
}

// open adds the interpreters, and puts in their places those that count calls where that
// is needed.
func (p *pauses) open(all map[string]codeinterp.CodeInterpreter) {
	if len(all) == 0 {
		p.lacks = fmt.Errorf("workspace: %w: no interpreter can be paused", errors.ErrUnsupported)
	}
	for name, ci := range all {
		group, ok := codeinterp.Pauses(ci)
		if !ok {
			p.lacks = fmt.Errorf("workspace: %w: the interpreter %q cannot be paused", errors.ErrUnsupported, name)
			continue
		}
		p.groups = append(p.groups, group)
		if mw := p.middlewares(); mw != nil {
			all[name] = codeinterp.Wrap(ci, mw...)
		}
	}
	p.count(0)
}

// middlewares returns what counts calls; nil where they need not be counted.
func (p *pauses) middlewares() []codeinterp.Middleware {
	if p.idle <= 0 && !p.resumes {
		return nil
	}
	return []codeinterp.Middleware{func(next codeinterp.Handler) codeinterp.Handler {
		return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
			if c.Op == codeinterp.OpDescribe || c.Op == codeinterp.OpList || c.Op.Calls() {
				return next(ctx, c)
			}
			paused := p.count(1)
			defer p.count(-1)
			// What ends a context works in a pause.
			if paused && p.resumes && !c.Op.Deletes() && c.Op != codeinterp.OpRestart {
				if err := p.resume(ctx); err != nil {
					return codeinterp.Reply{Result: codeinterp.NotRun()}, err
				}
			}
			return next(ctx, c)
		}
	}}
}

// count adds to the calls in progress and says whether there is a pause. While there is
// neither, the time runs after which an idle workspace is paused.
func (p *pauses) count(calls int) (paused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls += calls
	p.setTimer()
	return p.paused
}

// setTimer is called with p.mu held.
func (p *pauses) setTimer() {
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.calls == 0 && !p.paused && p.idle > 0 && p.lacks == nil {
		p.timer = time.AfterFunc(p.idle, func() { _ = p.pause(context.Background(), true) })
	}
}

// pause pauses all interpreters or, if one fails, none. With idle it does nothing while
// a call is in progress.
func (p *pauses) pause(ctx context.Context, idle bool) error {
	if p.lacks != nil {
		return p.lacks
	}
	if err := p.begin(ctx); err != nil {
		return err
	}
	defer p.end()
	p.mu.Lock()
	busy := p.calls > 0
	p.paused = p.paused || !busy || !idle
	p.setTimer()
	p.mu.Unlock()
	if idle && busy {
		return nil
	}
	for n, g := range p.groups {
		if err := g.Pause(ctx); err != nil {
			return errors.Join(err, p.resumeAll(context.WithoutCancel(ctx), n))
		}
	}
	return nil
}

func (p *pauses) resume(ctx context.Context) error {
	if err := p.begin(ctx); err != nil {
		return err
	}
	defer p.end()
	return p.resumeAll(ctx, len(p.groups))
}

// begin waits for another pause or resumption.
func (p *pauses) begin(ctx context.Context) error {
	select {
	case p.changing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *pauses) end() { <-p.changing }

// resumeAll resumes the first n interpreters.
func (p *pauses) resumeAll(ctx context.Context, n int) error {
	errs := make([]error, n)
	for i, g := range p.groups[:n] {
		errs[i] = g.Resume(ctx)
	}
	err := errors.Join(errs...)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.paused = false
		p.setTimer()
	}
	return err
}

// close ends the wait for an idle workspace.
func (p *pauses) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = 0
	p.setTimer()
}
