package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func callbackChecks() []check {
	return []check{
		{
			name: "CallbackLive", scope: everyRun,
			clause: "OnOutput sees output as it appears, not when the program ends",
			run:    callbackLive,
		},
		{
			name: "CallbackSlow", row: 26, scope: everyRun, uses: func(p *Programs) bool { return p.Lines != nil },
			clause: "a slow OnOutput slows the program down and loses nothing",
			run: func(ctx context.Context, e *env) error {
				const n = 3000
				calls := 0
				var seen strings.Builder
				out, err := e.stdout(ctx, e.p.Lines(n), &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
					if calls++; calls <= 20 {
						time.Sleep(10 * time.Millisecond)
					}
					seen.Write(o.Data)
					return nil
				}})
				if err != nil {
					return err
				}
				return errors.Join(wantLines(seen.String(), n), wantLines(out, n))
			},
		},
		{
			name: "CallbackError", scope: everyRun,
			clause: "errors of OnOutput are collected in CallbackErr and do not disturb the run",
			run: func(ctx context.Context, e *env) error {
				return e.callbackFails(ctx, func(err error) error { return err })
			},
		},
		{
			name: "CallbackBlocksTimeout", row: 11, scope: stateless,
			clause: "a slow OnOutput never delays the timeout: the program ends on time, whatever the callback does",
			run:    callbackBlocksTimeout,
		},
	}
}

// callbackLive cancels a program that never ends when its first output comes.
func callbackLive(ctx context.Context, e *env) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*e.patience(), fmt.Errorf("no output within %v", 2*e.patience()))
	defer cancel()
	stop := errors.New("stop")
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	code := lines(e.p.Print("first"), e.p.Pause(time.Hour))
	res, err := e.run(ctx, code, &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error { end(stop); return nil }})
	if !errors.Is(err, stop) {
		return fmt.Errorf("a program that printed and went on: error %v; want OnOutput to be called before the end (%s)", err, describe(res))
	}
	return nil
}

// callbackFails runs a program whose OnOutput fails each time.
func (e *env) callbackFails(ctx context.Context, fail func(error) error) error {
	calls := 0
	oops := func(call int) error { return fmt.Errorf("callback failed in call %d", call) }
	pause := e.p.Pause(50 * time.Millisecond)
	code := lines(e.p.Print("a"), pause, e.p.PrintErr("b"), pause, e.p.Print("c"))
	res, err := e.run(ctx, code, &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error { calls++; return fail(oops(calls)) }})
	must(wantOK(res, err))
	for _, call := range []int{1, 3} {
		if res.CallbackErr == nil || !strings.Contains(res.CallbackErr.Error(), oops(call).Error()) {
			return fmt.Errorf("CallbackErr = %v, want it to tell of the failure %q", res.CallbackErr, oops(call))
		}
	}
	if calls < 3 {
		return fmt.Errorf("%d calls of OnOutput, want all outputs to be passed on after a failure", calls)
	}
	if res.Stdout() != "ac" || res.Stderr() != "b" {
		return fmt.Errorf("%s, want stdout \"ac\" and stderr \"b\"", describe(res))
	}
	return nil
}

// callbackBlocksTimeout blocks the callback beyond the timeout. A program that
// is stopped on time never prints again.
func callbackBlocksTimeout(ctx context.Context, e *env) error {
	timeout := need(e.timeout(ctx, 300*time.Millisecond))
	// Where runs are slow, so are their ends.
	step := max(300*time.Millisecond, timeout/2)
	var calls atomic.Int32
	code := lines(e.p.Print("first"), e.p.Pause(timeout+step), e.p.Print("second"), e.p.Pause(time.Hour))
	start := time.Now()
	res, err := e.run(ctx, code, &codeinterp.RunOptions{Timeout: timeout, OnOutput: func(codeinterp.Output) error {
		if calls.Add(1) == 1 {
			time.Sleep(timeout + 2*step)
		}
		return nil
	}})
	must(wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout))
	if strings.Contains(res.Stdout(), "second") {
		return fmt.Errorf("the program went on after its timeout of %v, while OnOutput blocked for %v", timeout, timeout+2*step)
	}
	if calls.Load() == 0 {
		return errors.New("no output before the timeout")
	}
	if took := time.Since(start); took > timeout+2*step+e.patience() {
		return fmt.Errorf("the run took %v", took)
	}
	return nil
}
