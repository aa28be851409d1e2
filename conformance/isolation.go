package conformance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func isolationChecks() []check {
	bears := func(p *Programs) bool { return p.Child != nil }
	return []check{
		{
			name: "FreshState", scope: stateless, uses: variables,
			clause: "nothing that a RunCode defines is seen by a later one, however it ended",
			run: func(e *env) {
				ends := []string{e.p.Comment, e.p.Pause(time.Hour)}
				if e.p.Fail != nil {
					ends = append(ends, e.p.Fail("x"))
				}
				for _, end := range append(ends, e.p.Comment) {
					res := need(e.run(lines(e.p.Has("leaked"), e.p.Set("leaked", "v"), end), &codeinterp.RunOptions{Timeout: e.timeout(300 * time.Millisecond)}))
					wantText("the variable of earlier runs", res.Stdout(), "no\n")
				}
			},
		},
		{
			name: "FreshFiles", scope: stateless, uses: files,
			clause: "a file that a RunCode writes in its directory is not there for a later one",
			run: func(e *env) {
				e.ok(lines(e.p.WriteFile("toolcell-leak.txt", "leaked"), e.p.ReadFile("toolcell-leak.txt")), nil)
				if res := need(e.run(e.p.ReadFile("toolcell-leak.txt"), nil)); strings.Contains(res.Stdout(), "leaked") {
					failf("a later run reads the file")
				}
			},
		},
		{
			name: "ChildrenEndWithRun", row: 3, scope: stateless, needs: []Feature{Children}, proves: Children, uses: bears,
			clause: "processes that a RunCode started are gone when it has returned, and do not hold it up",
			run: func(e *env) {
				allGone(e.leaveChild(""))
			},
		},
		{
			name: "ChildrenEndWithContext", row: 3, scope: stateful, needs: []Feature{Children}, uses: bears,
			clause: "DeleteContext ends the processes that the context's runs started",
			run: func(e *env) {
				id := e.context(nil)
				arg := e.leaveChild(id)
				must(e.stateful().DeleteContext(e.ctx, id))
				allGone(arg)
			},
		},
	}
}

// sleepArg returns a number of seconds that no other process sleeps.
func sleepArg() string { return fmt.Sprintf("600.%09d", 1+rand.IntN(999_999_999)) }

// leaveChild makes a run that starts a process in the background and ends normally
// once that was seen, and returns the process's argument. Where it cannot be seen
// from here, only the run is judged.
func (e *env) leaveChild(id codeinterp.ContextID) string {
	arg, start := sleepArg(), time.Now()
	run := e.start(id, lines(e.p.Child(arg), e.p.Print("started"), e.p.Pause(200*time.Millisecond)))
	run.running()
	for seen := false; !seen && time.Since(start) < e.patience(); time.Sleep(10 * time.Millisecond) {
		select {
		case <-run.done: // over before its process was seen; that is to be gone all the same
			seen = true
		default:
			_, seen = running(arg)
		}
	}
	run.wait(4 * e.patience())
	wantOK(run.res, run.err)
	return arg
}
