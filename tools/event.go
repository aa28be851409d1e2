package tools

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
)

// A RunEventKind tells what a [RunEvent] is about.
type RunEventKind uint8

// The kinds. Each run has one start, any number of outputs, and one end.
const (
	RunStart   RunEventKind = iota + 1
	RunOutput               // RunEvent.Output
	LateOutput              // RunEvent.Output of a program that had ended before this run
	RunEnd                  // RunEvent.Result and RunEvent.Err
)

// A RunEvent is something that happened in a run.
type RunEvent struct {
	Kind      RunEventKind
	Op        codeinterp.Op // what runs: code, or a command of the shell
	CallID    string
	Tool      string               // empty for runs that no tool asked for
	ContextID codeinterp.ContextID // empty for runs without a context
	Language  string               // empty for runs in a context
	Output    codeinterp.Output
	Result    *codeinterp.Result
	Err       error
}

// An observer is what stands around every run: it scrubs secrets and reports
// events.
type observer struct {
	secrets *Secrets
	onEvent func(RunEvent) error
}

// run calls f with opts, whose OnOutput it replaces. ev says which run it is.
func (o *observer) run(ev RunEvent, opts codeinterp.RunOptions, f func(*codeinterp.RunOptions) (codeinterp.Result, error)) (codeinterp.Result, error) {
	next := opts.OnOutput
	var scrub *streamScrubber
	if o.onEvent != nil || next != nil {
		opts.OnOutput = o.tee(ev, next)
		if o.secrets != nil {
			scrub = o.secrets.stream(opts.OnOutput)
			opts.OnOutput = scrub.output
		}
	}
	errs := []error{o.emit(ev, RunStart, nil, nil)}
	returned := false
	defer func() {
		if !returned {
			o.emit(ev, RunEnd, nil, fmt.Errorf("%w: panic in the interpreter", codeinterp.ErrUnavailable))
		}
	}()
	res, err := f(&opts)
	returned = true
	if scrub != nil {
		errs = append(errs, protect(scrub.flush))
	}
	res, err = o.secrets.result(res), o.secrets.err(err)
	ended := res
	ended.Outputs = nil
	errs = append(errs, o.emit(ev, RunEnd, &ended, err), res.CallbackErr)
	res.CallbackErr = o.secrets.err(errors.Join(errs...))
	return res, err
}

// tee passes outputs on as events and to next.
func (o *observer) tee(ev RunEvent, next func(codeinterp.Output) error) func(codeinterp.Output) error {
	if o.onEvent == nil {
		return next
	}
	return func(out codeinterp.Output) error {
		e := ev
		e.Kind, e.Output = RunOutput, out
		if out.Late {
			e.Kind = LateOutput
		}
		err := o.onEvent(e)
		if next != nil {
			err = errors.Join(err, next(out))
		}
		return err
	}
}

func (o *observer) emit(ev RunEvent, kind RunEventKind, res *codeinterp.Result, err error) error {
	if o.onEvent == nil {
		return nil
	}
	ev.Kind, ev.Result, ev.Err = kind, res, err
	return protect(func() error { return o.onEvent(ev) })
}

// protect returns a panic of f as an error.
func protect(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a callback: %v", p)
		}
	}()
	return f()
}

// ObserveOptions says who watches an interpreter; see [Observe].
type ObserveOptions struct {
	// OnEvent sees the runs; see [Options].
	OnEvent func(RunEvent) error
	// Secrets are scrubbed; see [Options].
	Secrets *Secrets
	// NewID makes the ids of runs. Nil means 128 random bits.
	NewID func() string
}

// Observe returns a middleware for programs that run code themselves, beside
// the tools: their runs have the same events and scrubbing. What stands outside
// of it, such as [codeinterp.Log], sees scrubbed Results and errors only.
func Observe(opts ObserveOptions) codeinterp.Middleware {
	o := observer{opts.Secrets, opts.OnEvent}
	newID := opts.NewID
	if newID == nil {
		newID = rand.Text
	}
	return o.middleware(func(c codeinterp.Call) RunEvent {
		return RunEvent{Op: c.Op, CallID: newID(), ContextID: c.Context, Language: c.Language}
	})
}

// middleware observes what runs, of which event says what it is.
func (o *observer) middleware(event func(codeinterp.Call) RunEvent) codeinterp.Middleware {
	return func(next codeinterp.Handler) codeinterp.Handler {
		return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
			if !c.Op.Runs() {
				r, err := next(ctx, c)
				return r, o.secrets.err(err)
			}
			var opts codeinterp.RunOptions
			if c.Run != nil {
				opts = *c.Run
			}
			var reply codeinterp.Reply
			var err error
			reply.Result, err = o.run(event(c), opts, func(opts *codeinterp.RunOptions) (codeinterp.Result, error) {
				c.Run = opts
				r, err := next(ctx, c)
				return r.Result, err
			})
			return reply, err
		}
	}
}
