package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func queueChecks() []check {
	return []check{
		{
			name:   "QueueOrder",
			clause: "runs in one context queue first in, first out, and never overlap",
			scope:  stateful,
			run:    queueOrder,
		},
		{
			name:   "QueueCanceled",
			clause: "a queued run can be canceled, and then it never ran: StatusNotRun with ctx's cause, while the run in progress goes on",
			scope:  stateful,
			uses:   variables,
			run:    queueCanceled,
		},
		{
			name:   "QueueNoTimeout",
			clause: "RunOptions.Timeout counts from the program's start; waiting in a queue does not count",
			scope:  stateful,
			run:    queueNoTimeout,
		},
		{
			name:   "DeletedDuring",
			clause: "DeleteContext ends the run in progress: StatusLost, 137, CauseClosed, StateLost, with an error that is ErrContext and the output so far",
			scope:  stateful,
			run:    deletedDuring,
		},
		{
			name:   "DeletedQueued",
			clause: "DeleteContext ends queued runs: StatusNotRun with ErrContext",
			scope:  stateful,
			run:    deletedQueued,
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

func queueOrder(ctx context.Context, e *env) error {
	id, err := e.some(ctx)
	if err != nil {
		return err
	}
	apart := settle
	for range busyTries {
		if err = e.queueInOrder(ctx, id, apart); err == nil {
			return nil
		}
		apart *= 2
	}
	return err
}

// queueInOrder starts runs one after the other, while another is in progress, and wants
// them to take their turns so. How long a run needs to get into the queue depends on
// the machine.
func (e *env) queueInOrder(ctx context.Context, id codeinterp.ContextID, apart time.Duration) error {
	_, first, err := e.busyIn(ctx, id, e.p.Pause(7*apart))
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var order, want []string
	list := []*pending{first}
	for i := range 5 {
		name := fmt.Sprintf("run %d", i)
		want = append(want, name+" begins", name+" ends")
		code := lines(e.p.Print("begins"), e.p.Pause(20*time.Millisecond), e.p.Print("ends"))
		var seen strings.Builder
		list = append(list, e.start(ctx, id, code, &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
			mu.Lock()
			defer mu.Unlock()
			seen.Write(o.Data)
			for _, event := range []string{" begins", " ends"} {
				if strings.Contains(seen.String(), strings.TrimSpace(event)) && !slices.Contains(order, name+event) {
					order = append(order, name+event)
				}
			}
			return nil
		}}))
		// So that they queue in this order; the first run lasts until all of them
		// do.
		time.Sleep(apart)
	}
	for _, p := range list {
		if err := p.wait(e.s.cfg.Timeout); err != nil {
			return err
		}
		if err := wantOK(p.res, p.err); err != nil {
			return err
		}
	}
	if !slices.Equal(order, want) {
		return fmt.Errorf("the runs printed in the order %q, want %q", order, want)
	}
	return nil
}

func queueCanceled(ctx context.Context, e *env) error {
	id, first, err := e.busy(ctx, e.p.Pause(time.Hour))
	if err != nil {
		return err
	}
	// Every way out ends it, with its context or by the interrupt.
	defer func() { <-first.done }()
	runCtx, end := context.WithCancelCause(ctx)
	queued := e.start(runCtx, id, e.p.Set("ran", "v"), nil)
	time.Sleep(settle)
	end(errStop)
	err = queued.wait(e.patience())
	if err == nil {
		err = wantNotRun(queued.res, queued.err, errStop)
	}
	if err == nil {
		select {
		case <-first.done:
			err = fmt.Errorf("the run in progress ended with the queued one: %s, error %v", describe(first.res), first.err)
		default:
		}
	}
	if err != nil {
		return errors.Join(err, e.stateful().DeleteContext(ctx, id))
	}
	after := e.start(ctx, id, e.p.Has("ran"), nil)
	time.Sleep(settle)
	if hasManager(e.ci) {
		if err := e.manager().InterruptContext(ctx, id); err != nil {
			return fmt.Errorf("InterruptContext: %w", err)
		}
		<-after.done
		if err := wantOK(after.res, after.err); err != nil {
			return fmt.Errorf("the run behind: %w", err)
		}
		return wantText("a variable that the canceled run was to set", after.res.Stdout(), "no\n")
	}
	return e.stateful().DeleteContext(ctx, id)
}

func queueNoTimeout(ctx context.Context, e *env) error {
	id, err := e.some(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := e.do(ctx, id, e.p.Print("x")); err != nil {
		return err
	}
	timeout := time.Second + 3*time.Since(start) // enough for a small run here and now
	_, first, err := e.busyIn(ctx, id, e.p.Pause(timeout+200*time.Millisecond))
	if err != nil {
		return err
	}
	queued := e.start(ctx, id, e.p.Print("x"), &codeinterp.RunOptions{Timeout: timeout})
	for _, p := range []*pending{first, queued} {
		if err := p.wait(e.s.cfg.Timeout); err != nil {
			return err
		}
		if err := wantOK(p.res, p.err); err != nil {
			return err
		}
	}
	if queued.res.Duration > timeout {
		return fmt.Errorf("a Duration of %v for the queued run, want that of the program alone", queued.res.Duration)
	}
	return nil
}

func deletedDuring(ctx context.Context, e *env) error {
	id, run, err := e.busyWarning(ctx, e.p.Pause(time.Hour))
	if err != nil {
		return err
	}
	if err := e.stateful().DeleteContext(ctx, id); err != nil {
		return fmt.Errorf("DeleteContext: %w", err)
	}
	if err := run.wait(e.patience()); err != nil {
		return err
	}
	if err := wantErr(run.res, run.err, codeinterp.ErrContext, codeinterp.StatusLost, codeinterp.ExitKilled); err != nil {
		return err
	}
	if run.res.Cause != codeinterp.CauseClosed || !run.warned() || !run.res.StateLost {
		return fmt.Errorf("%s, want cause %q, the state lost, stdout \"busy\" and stderr \"warned\"", describe(run.res), codeinterp.CauseClosed)
	}
	return e.noContext(ctx, id)
}

func deletedQueued(ctx context.Context, e *env) error {
	id, run, err := e.busy(ctx, e.p.Pause(time.Hour))
	if err != nil {
		return err
	}
	var queued []*pending
	for range 3 {
		queued = append(queued, e.start(ctx, id, e.p.Print("ran"), nil))
	}
	time.Sleep(settle)
	if err := e.stateful().DeleteContext(ctx, id); err != nil {
		return fmt.Errorf("DeleteContext: %w", err)
	}
	if err := run.wait(e.patience()); err != nil {
		return err
	}
	for _, q := range queued {
		if err := q.wait(e.patience()); err != nil {
			return fmt.Errorf("a queued run: %w", err)
		}
		if err := wantNotRun(q.res, q.err, codeinterp.ErrContext); err != nil {
			return fmt.Errorf("a queued run: %w", err)
		}
	}
	return nil
}
