package conformance

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func hammerChecks() []check {
	return []check{
		{
			name: "HammerTiny", scope: stateless, own: true,
			clause: "a Result is that of its own run: however many callers there are, each gets the stdout, stderr and value of its own program",
			run: func(ctx context.Context, e *env) error {
				return e.hammerTiny(ctx, func(context.Context, int) (codeinterp.ContextID, error) { return "", nil })
			},
		},
		{
			name: "HammerTinyContexts", scope: stateful, own: true,
			clause: "a Result is that of its own run, also in contexts, those that callers share included",
			run: func(ctx context.Context, e *env) error {
				shared, err := e.context(ctx, nil)
				if err != nil {
					return err
				}
				return e.hammerTiny(ctx, func(ctx context.Context, caller int) (codeinterp.ContextID, error) {
					if caller%4 == 3 {
						return shared, nil
					}
					return e.stateful().CreateContext(ctx, e.language, nil)
				})
			},
		},
	}
}

// How hard the hammers hit: as many runs as fit into the time, with fewer
// callers where a run is a process.
const (
	hammerRuns    = 4000
	hammerTime    = time.Second
	hammerCallers = 12
	hammerFew     = 3
	hammerSlow    = 20 * time.Millisecond // what a quick provider's small run does not take
	callersTime   = 100                   // small runs that may pass until the last caller is done
)

// hammerTiny makes tiny runs by many callers at once. place says where a caller
// runs its programs: in a context, or, for the empty id, by RunCode.
func (e *env) hammerTiny(ctx context.Context, place func(ctx context.Context, caller int) (codeinterp.ContextID, error)) error {
	pace, err := e.pace(ctx)
	if err != nil {
		return err
	}
	callers, limit := hammerCallers, hammerTime
	if pace > hammerSlow {
		callers = hammerFew
	}
	end := time.Now().Add(limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit+e.patience()+callersTime*pace, errors.New("a run of the hammer did not end"))
	defer cancel()
	var failed atomic.Bool
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, callers)
	for caller := range callers {
		wg.Go(func() {
			var id codeinterp.ContextID
			err := safely(func() (err error) { id, err = place(ctx, caller); return err })
			if err != nil && !failed.Swap(true) {
				errs[caller] = fmt.Errorf("CreateContext: %w", err)
				cancel()
			}
			// Two rounds at least, however slow they are: callers have to meet.
			for round := 0; !failed.Load() && (round < 2 || time.Now().Before(end)); round++ {
				n := int(next.Add(1))
				if n > hammerRuns && round >= 2 {
					return
				}
				if err := e.tiny(ctx, id, n); err != nil {
					if !failed.Swap(true) { // one is enough, and the others may hang after it
						errs[caller] = fmt.Errorf("run %d, of caller %d of %d: %w", n, caller, callers, err)
						cancel()
					}
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// tiny makes the n-th run, which is to leave its number in every place where a
// Result has room for it. Some runs are stopped.
func (e *env) tiny(ctx context.Context, id codeinterp.ContextID, n int) error {
	out, errs := fmt.Sprintf("o%d;", n), fmt.Sprintf("e%d;", n)
	code := lines(e.p.Print(out), e.p.PrintErr(errs))
	opts := &codeinterp.RunOptions{}
	switch n % 16 {
	case 5:
		code += e.p.Pause(time.Hour)
		opts.Timeout = time.Duration(1+rand.IntN(20)) * time.Millisecond
	case 10:
		code += e.p.Pause(time.Hour)
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		defer cancel(nil)
		timer := time.AfterFunc(time.Duration(rand.IntN(10_000))*time.Microsecond, func() { cancel(errStop) })
		defer timer.Stop()
	default:
		return e.tinyOK(ctx, id, n, code, out, errs, opts)
	}
	res, err := e.at(ctx, id, code, opts)
	switch {
	case opts.Timeout > 0:
		err = wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout)
	case res.Status == codeinterp.StatusNotRun:
		err = wantNotRun(res, err, errStop)
	default:
		err = wantErr(res, err, errStop, codeinterp.StatusCanceled, codeinterp.ExitCanceled)
	}
	if err != nil {
		return err
	}
	// It may have been stopped before it printed; a semicolon that is left is
	// another run's.
	if !strings.HasPrefix(out, res.Stdout()) || strings.Contains(strings.ReplaceAll(res.Stderr(), errs, ""), ";") {
		return fmt.Errorf("%s, want no output but its own %q and %q", describe(res), out, errs)
	}
	return nil
}

// tinyOK makes a run that is not stopped.
func (e *env) tinyOK(ctx context.Context, id codeinterp.ContextID, n int, code, out, errs string, opts *codeinterp.RunOptions) error {
	valued := e.p.Number != nil && !e.s.cfg.lacks(Values, e.language)
	if valued {
		code += e.p.Number(n)
	}
	res, err := e.at(ctx, id, code, opts)
	if err := wantOK(res, err); err != nil {
		return err
	}
	if err := errors.Join(wantText("stdout", res.Stdout(), out), wantText("stderr", res.Stderr(), errs)); err != nil {
		return err
	}
	if !valued {
		return nil
	}
	v, _ := res.Value()
	return wantText("the value", string(v.Value), strconv.Itoa(n))
}

// at runs code in a context, or by RunCode where id is empty.
func (e *env) at(ctx context.Context, id codeinterp.ContextID, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	if id == "" {
		return e.runCode(ctx, code, opts)
	}
	return e.runIn(ctx, id, code, opts)
}
