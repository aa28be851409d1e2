package conformance

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func queueChecks() []check {
	return []check{
		{
			name: "DeletedDuring", row: 2, scope: stateful,
			clause: "DeleteContext ends the run in progress: StatusLost, 137, CauseClosed, StateLost, with an error that is ErrContext and the output so far",
			run:    deletedDuring,
		},
	}
}

// A pending is a run on a goroutine of its own.
type pending struct {
	started chan struct{} // closed at its first output to stdout
	done    chan struct{} // closed when res and err are there
	res     codeinterp.Result
	err     error
}

// start makes a run in the background.
func (e *env) start(ctx context.Context, id codeinterp.ContextID, code string, opts *codeinterp.RunOptions) *pending {
	p := &pending{started: make(chan struct{}), done: make(chan struct{})}
	o := codeinterp.RunOptions{}
	if opts != nil {
		o = *opts
	}
	var once sync.Once
	next := o.OnOutput
	o.OnOutput = func(out codeinterp.Output) error {
		if out.Kind == codeinterp.Stdout {
			once.Do(func() { close(p.started) })
		}
		if next != nil {
			return next(out)
		}
		return nil
	}
	go func() {
		defer close(p.done)
		if id == "" {
			p.res, p.err = e.runCode(ctx, code, &o)
		} else {
			p.res, p.err = e.runIn(ctx, id, code, &o)
		}
	}()
	return p
}

// running waits for the first output.
func (p *pending) running(ctx context.Context) error {
	select {
	case <-p.started:
		return nil
	case <-p.done:
		return fmt.Errorf("the run ended before its first output: %s, error %v", describe(p.res), p.err)
	case <-ctx.Done():
		return fmt.Errorf("no output (Programs.Print writes at once, and the provider passes it on): %w", context.Cause(ctx))
	}
}

// wait waits for the end.
func (p *pending) wait(limit time.Duration) error {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-p.done:
		return nil
	case <-t.C:
		return fmt.Errorf("the run did not end within %v", limit)
	}
}

// busy starts a run in a new context that prints, and waits until it does.
func (e *env) busy(ctx context.Context, code string) (codeinterp.ContextID, *pending, error) {
	id, err := e.context(ctx, nil)
	if err != nil {
		return "", nil, err
	}
	return e.busyIn(ctx, id, code)
}

// busyIn is busy in a given context.
func (e *env) busyIn(ctx context.Context, id codeinterp.ContextID, code string) (codeinterp.ContextID, *pending, error) {
	p := e.start(ctx, id, lines(e.p.Print("busy"), code), nil)
	return id, p, p.running(ctx)
}

// busyWarning is busy with a program that has printed "warned" to standard error
// before.
func (e *env) busyWarning(ctx context.Context, code string) (codeinterp.ContextID, *pending, error) {
	id, err := e.context(ctx, nil)
	if err != nil {
		return "", nil, err
	}
	p := e.start(ctx, id, lines(e.p.PrintErr("warned"), e.p.Print("busy"), code), nil)
	return id, p, p.running(ctx)
}

// warned reports whether a run that was ended has both of its outputs. What it
// says of its end may follow.
func (p *pending) warned() bool {
	return p.res.Stdout() == "busy" && strings.HasPrefix(p.res.Stderr(), "warned")
}

// settle gives a run that was started time to get into the queue.
const settle = 60 * time.Millisecond

func deletedDuring(ctx context.Context, e *env) error {
	id, run, err := e.busyWarning(ctx, e.p.Pause(time.Hour))
	if err != nil {
		return err
	}
	must(about("DeleteContext", e.stateful().DeleteContext(ctx, id)))
	must(run.wait(e.patience()))
	must(wantErr(run.res, run.err, codeinterp.ErrContext, codeinterp.StatusLost, codeinterp.ExitKilled))
	if run.res.Cause != codeinterp.CauseClosed || !run.warned() || !run.res.StateLost {
		return fmt.Errorf("%s, want cause %q, the state lost, stdout \"busy\" and stderr \"warned\"", describe(run.res), codeinterp.CauseClosed)
	}
	return e.noContext(ctx, id)
}
