package conformance

import (
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func streamChecks() []check {
	return []check{
		{
			name: "BinaryExact", scope: everyRun, uses: func(p *Programs) bool { return p.Bytes != "" },
			clause: "streams carry raw bytes, also those that are no UTF-8",
			run:    func(e *env) { e.prints("stdout", e.p.Bytes, allBytes(), nil) },
		},
	}
}

func callbackChecks() []check {
	return []check{
		{
			name: "CallbackSlow", row: 26, scope: everyRun, uses: func(p *Programs) bool { return p.Lines != nil },
			clause: "a slow OnOutput slows the program down and loses nothing",
			run: func(e *env) {
				const n = 3000
				calls := 0
				var seen strings.Builder
				res := e.ok(e.p.Lines(n), &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
					if calls++; calls <= 20 {
						time.Sleep(10 * time.Millisecond)
					}
					seen.Write(o.Data)
					return nil
				}})
				wantText("what OnOutput saw", seen.String(), numbered(n))
				wantText("stdout", res.Stdout(), numbered(n))
			},
		},
		{
			name: "CallbackError", scope: everyRun,
			clause: "errors of OnOutput are collected in CallbackErr and do not disturb the run",
			run: func(e *env) {
				pause := e.p.Pause(50 * time.Millisecond)
				calls := 0
				res := e.ok(lines(e.p.Print("a"), pause, e.p.PrintErr("b"), pause, e.p.Print("c")), &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
					calls++
					return errStop
				}})
				if res.CallbackErr == nil || !strings.Contains(res.CallbackErr.Error(), errStop.Error()) || calls < 3 || res.Stdout() != "ac" || res.Stderr() != "b" {
					failf("%s, CallbackErr %v, %d calls; want stdout \"ac\", stderr \"b\", the callback's error and at least 3 calls", describe(res), res.CallbackErr, calls)
				}
			},
		},
		{
			name: "CallbackBlocksTimeout", row: 11, scope: stateless,
			clause: "a slow OnOutput never delays the timeout: the program ends on time, whatever the callback does",
			run:    callbackBlocksTimeout,
		},
	}
}

// callbackBlocksTimeout blocks the callback beyond the timeout. A program that
// is stopped on time never prints again.
func callbackBlocksTimeout(e *env) {
	timeout := e.timeout(300 * time.Millisecond)
	step := max(300*time.Millisecond, timeout/2) // where runs are slow, so are their ends
	calls := 0
	code := lines(e.p.Print("first"), e.p.Pause(timeout+step), e.p.Print("second"), e.p.Pause(time.Hour))
	start := time.Now()
	res, err := e.run(code, &codeinterp.RunOptions{Timeout: timeout, OnOutput: func(codeinterp.Output) error {
		if calls++; calls == 1 {
			time.Sleep(timeout + 2*step)
		}
		return nil
	}})
	wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout)
	took := time.Since(start)
	if calls == 0 || strings.Contains(res.Stdout(), "second") || took > timeout+2*step+e.patience() {
		failf("%s after %v and %d calls of an OnOutput that blocked for %v; want the program to end at its timeout of %v", describe(res), took, calls, timeout+2*step, timeout)
	}
}

// numbered is the output of Programs.Lines.
func numbered(n int) string {
	var b []byte
	for i := range n {
		b = fmt.Appendf(b, "%07d\n", i)
	}
	return string(b)
}
