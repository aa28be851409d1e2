package tools

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/tools/secret"
)

// A RunEventKind tells what a [RunEvent] is about.
type RunEventKind uint8

// The kinds. Each run has one start, any number of outputs and calls, and one
// end; one that was refused or invalid has an end only. A call that is answered from memory has one event, [RunRemembered].
const (
	RunStart      RunEventKind = iota + 1
	RunOutput                  // RunEvent.Output
	LateOutput                 // RunEvent.Output of a program that had ended before this run
	RunEnd                     // RunEvent.Result and RunEvent.Err
	RunCall                    // RunEvent.Call, a call of a function that has ended
	RunRemembered              // RunEvent.Result: a call that was answered from memory, without a run
)

// A RunEvent is something that happened in a run.
type RunEvent struct {
	Kind      RunEventKind
	Op        codeinterp.Op // what runs: code, or a command of the shell
	CallID    string
	Tool      string               // empty for runs that no tool asked for
	ContextID codeinterp.ContextID // empty for runs without a context
	Language  string               // empty for runs in a context
	Code      string               // of RunStart: the program, or the command
	Started   bool                 // of RunEnd: there was a RunStart
	Output    codeinterp.Output
	Call      *codeinterp.CallRecord
	Result    *codeinterp.Result
	Err       error
}

// An observer is what stands around every run: it scrubs secrets and reports
// events.
type observer struct {
	secrets *secret.Scrubber
	onEvent func(RunEvent) error
}

func newObserver(secrets *secret.Scrubber, onEvent func(RunEvent) error) observer {
	return observer{secrets.Shown(plaintext.Clean), onEvent}
}

// run calls f with opts, whose OnOutput and Functions it replaces. ev says which
// run it is.
func (o *observer) run(ctx context.Context, ev RunEvent, opts codeinterp.RunOptions, f func(context.Context, *codeinterp.RunOptions) (codeinterp.Result, error)) (codeinterp.Result, error) {
	var r *runObserver
	if o.onEvent != nil {
		r = &runObserver{o: o, ev: ev}
		ctx = codeinterp.OnStart(context.WithValue(ctx, runningKey{}, r), r.start)
		opts.Functions = ObserveFunctions(opts.Functions)
	}
	next := opts.OnOutput
	var scrub *secret.Stream
	// Left unset if unused: without OnOutput a run costs a provider less.
	if r != nil || next != nil {
		opts.OnOutput = r.tee(next)
		if o.secrets != nil {
			scrub = o.secrets.Stream(opts.OnOutput)
			opts.OnOutput = scrub.Output
		}
	}
	var errs []error
	returned := false
	defer func() {
		if !returned {
			r.finish(RunEvent{Err: fmt.Errorf("%w: panic in the interpreter", codeinterp.ErrUnavailable)})
		}
	}()
	res, err := f(ctx, &opts)
	returned = true
	if scrub != nil {
		// What was held back is output too, and comes before the run's end.
		errs = append(errs, protect(scrub.Flush))
	}
	res, err = o.secrets.Result(res), o.secrets.Error(err)
	if res.Status != codeinterp.StatusNotRun && res.Status != "" {
		r.start()
	}
	// The end is the last event: calls that are not reported yet go before it.
	errs = append(errs, r.end(res.Calls))
	ended := res
	// They were events of their own.
	ended.Outputs = nil
	errs = append(errs, r.finish(RunEvent{Result: &ended, Err: err}), res.CallbackErr)
	res.CallbackErr = o.secrets.Error(errors.Join(errs...))
	return res, err
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
	Secrets *secret.Scrubber
	// NewID makes the ids of runs. Nil means 128 random bits.
	NewID func() string
}

// Observe returns a middleware for programs that run code themselves, beside
// the tools: their runs have the same events and scrubbing. What stands outside
// of it, such as [codeinterp.Log], sees scrubbed Results and errors only.
func Observe(opts ObserveOptions) codeinterp.Middleware {
	o := newObserver(opts.Secrets, opts.OnEvent)
	newID := opts.NewID
	if newID == nil {
		newID = rand.Text
	}
	return o.middleware(func(c codeinterp.Call) RunEvent {
		return RunEvent{Op: c.Op, CallID: newID(), ContextID: c.Context, Language: c.Language, Code: c.Code}
	})
}

// middleware observes what runs, of which event says what it is.
func (o *observer) middleware(event func(codeinterp.Call) RunEvent) codeinterp.Middleware {
	return func(next codeinterp.Handler) codeinterp.Handler {
		return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
			if c.NewContext != nil && len(c.NewContext.Functions) > 0 {
				opts := *c.NewContext
				opts.Functions = ObserveFunctions(opts.Functions)
				c.NewContext = &opts
			}
			if c.Op == codeinterp.OpCallFunction {
				return next(ctx, c) // its program may read the error as it is
			}
			if !c.Op.Runs() {
				r, err := next(ctx, c)
				return r, o.secrets.Error(err)
			}
			var opts codeinterp.RunOptions
			if c.Run != nil {
				opts = *c.Run
			}
			var reply codeinterp.Reply
			var err error
			reply.Result, err = o.run(ctx, event(c), opts, func(ctx context.Context, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
				c.Run = opts
				r, err := next(ctx, c)
				return r.Result, err
			})
			return reply, err
		}
	}
}
