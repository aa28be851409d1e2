package conformance

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A pending is a run on a goroutine of its own.
type pending struct {
	e       *env
	started chan struct{} // closed at its first output to stdout
	done    chan struct{} // closed when res and err are there
	res     codeinterp.Result
	err     error
}

// start makes a run in the background, in a context or by RunCode.
func (e *env) start(id codeinterp.ContextID, code string) *pending {
	return e.startWith(id, code, codeinterp.RunOptions{})
}

// startWith is start with options, whose OnOutput it sets.
func (e *env) startWith(id codeinterp.ContextID, code string, opts codeinterp.RunOptions) *pending {
	p := &pending{e: e, started: make(chan struct{}), done: make(chan struct{})}
	var once sync.Once
	opts.OnOutput = func(out codeinterp.Output) error {
		if out.Kind == codeinterp.Stdout {
			once.Do(func() { close(p.started) })
		}
		return nil
	}
	go func() {
		defer close(p.done)
		p.res, p.err = e.runIn(id, code, &opts)
	}()
	return p
}

// busy starts a run in a new context; see busyIn.
func (e *env) busy(code string) (codeinterp.ContextID, *pending) {
	id := e.context(nil)
	return id, e.busyIn(id, code)
}

// busyIn starts a run that prints "warned" to standard error and "busy", and goes on
// with code. It waits for the output.
func (e *env) busyIn(id codeinterp.ContextID, code string) *pending {
	p := e.start(id, lines(e.p.PrintErr("warned"), e.p.Print("busy"), code))
	p.running()
	return p
}

// running waits for the first output.
func (p *pending) running() {
	select {
	case <-p.started:
	case <-p.done:
		failf("the run ended before its first output: %s, error %v", describe(p.res), p.err)
	case <-p.e.ctx.Done():
		failf("no output (Programs.Print writes at once, and the provider passes it on): %w", context.Cause(p.e.ctx))
	}
}

// ended reports whether the run is over.
func (p *pending) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// wait waits for the end.
func (p *pending) wait(limit time.Duration) {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-p.done:
	case <-t.C:
		failf("the run did not end within %v", limit)
	}
}

// wantCause wants a run of busyIn that was ended for a cause, with both of its
// outputs. What it says of its end may follow them.
func (p *pending) wantCause(cause codeinterp.Cause) {
	if p.res.Cause != cause || p.res.Stdout() != "busy" || !strings.HasPrefix(p.res.Stderr(), "warned") {
		failf("%s, want cause %q, stdout \"busy\" and stderr \"warned\"", describe(p.res), cause)
	}
}

// wantLost wants a run of busyIn that was ended with a nil error or the given one,
// and the state with it.
func (p *pending) wantLost(is error, cause codeinterp.Cause) {
	if is == nil {
		wantStatus(p.res, p.err, codeinterp.StatusLost, codeinterp.ExitKilled)
	} else {
		wantErr(p.res, p.err, is, codeinterp.StatusLost, codeinterp.ExitKilled)
	}
	p.wantCause(cause)
	if !p.res.StateLost {
		failf("%s, want StateLost", describe(p.res))
	}
}

// settle gives a run that was started time to get into the queue: nothing shows
// that it has.
const settle = 60 * time.Millisecond
