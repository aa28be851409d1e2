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
			run:    func(e *env) { e.hammer(func(int) codeinterp.ContextID { return "" }) },
		},
		{
			name: "HammerTinyContexts", scope: stateful, own: true,
			clause: "a Result is that of its own run, also in contexts, those that callers share included",
			run: func(e *env) {
				shared := e.context(nil)
				e.hammer(func(caller int) codeinterp.ContextID {
					if caller%4 == 3 {
						return shared
					}
					return need(e.stateful().CreateContext(e.ctx, e.language, nil))
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

// hammer makes tiny runs by many callers at once. place says where a caller runs its
// programs: in a context, or, for the empty id, by RunCode.
func (e *env) hammer(place func(caller int) codeinterp.ContextID) {
	pace, callers := e.pace(), hammerCallers
	if pace > hammerSlow {
		callers = hammerFew
	}
	end := time.Now().Add(hammerTime)
	ctx, cancel := context.WithTimeoutCause(e.ctx, hammerTime+e.patience()+callersTime*pace, errors.New("a run of the hammer did not end"))
	defer cancel()
	e = e.with(ctx)
	var next atomic.Int64
	var wg sync.WaitGroup
	var once sync.Once
	var failure error // the first: the others may come of it
	for caller := range callers {
		wg.Go(func() {
			err := try(func() {
				id := place(caller)
				// Two rounds at least, however slow they are: callers have to meet.
				for round := 0; round < 2 || time.Now().Before(end) && next.Load() < hammerRuns; round++ {
					n := int(next.Add(1))
					about(fmt.Sprintf("run %d, of caller %d of %d", n, caller, callers), func() { e.tiny(id, n) })
				}
			})
			if err != nil {
				once.Do(func() { failure = err })
				cancel()
			}
		})
	}
	wg.Wait()
	must(failure)
}

// tiny makes the n-th run, which is to leave its number in every place where a
// Result has room for it. Some runs are stopped.
func (e *env) tiny(id codeinterp.ContextID, n int) {
	out, errs := fmt.Sprintf("o%d;", n), fmt.Sprintf("e%d;", n)
	code := lines(e.p.Print(out), e.p.PrintErr(errs))
	var res codeinterp.Result
	var err error
	switch n % 16 {
	case 5:
		res, err = e.runIn(id, code+e.p.Pause(time.Hour), &codeinterp.RunOptions{Timeout: time.Duration(1+rand.IntN(20)) * time.Millisecond})
		wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout)
	case 10:
		run, stop := e.stoppable()
		defer time.AfterFunc(time.Duration(rand.IntN(10_000))*time.Microsecond, stop).Stop()
		if res, err = run.runIn(id, code+e.p.Pause(time.Hour), &codeinterp.RunOptions{}); res.Status == codeinterp.StatusNotRun {
			wantNotRun(res, err, errStop)
		} else {
			wantErr(res, err, errStop, codeinterp.StatusCanceled, codeinterp.ExitCanceled)
		}
	default:
		valued := e.p.Number != nil && !e.lacks(Values)
		if valued {
			code += e.p.Number(n)
		}
		res = e.okIn(id, code, &codeinterp.RunOptions{})
		v, _ := res.Value()
		if res.Stdout() != out || res.Stderr() != errs || valued && string(v.Value) != strconv.Itoa(n) {
			failf("%s, value %s; want its own %q, %q and %d", describe(res), v.Value, out, errs, n)
		}
	}
	// It may have been stopped before it printed; a semicolon that is left is
	// another run's.
	if !strings.HasPrefix(out, res.Stdout()) || strings.Contains(strings.ReplaceAll(res.Stderr(), errs, ""), ";") {
		failf("%s, want no output but its own %q and %q", describe(res), out, errs)
	}
}
