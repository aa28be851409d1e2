package conformance

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/procfs"
)

// A leak is something to be counted before an interpreter is made and after it
// is closed.
type leak struct {
	check, clause, what string
	count               func() (int, bool) // false where it cannot be counted
	detail              func() string
}

var leaks = []leak{
	{"LeakGoroutines", "after Close no goroutine is left", "goroutines", countGoroutines, goroutines},
	{"LeakFiles", "after Close no file descriptor is left", "file descriptors", openFiles, nil},
	{"LeakProcesses", "after Close no child process is left, not even a zombie", "descendant processes", countDescendants, processNames},
}

// countGoroutines leaves out goroutines of the process that only pass by.
func countGoroutines() (int, bool) {
	n := runtime.NumGoroutine()
	for range 20 {
		runtime.Gosched()
		n = min(n, runtime.NumGoroutine())
	}
	return n, true
}

func countDescendants() (int, bool) {
	list, ok := procfs.Descendants()
	return len(list), ok
}

func leakChecks() []check {
	var list []check
	for _, l := range leaks {
		list = append(list, check{name: l.check, clause: l.clause, run: func(ctx context.Context, e *env) error {
			if e.s.leaks == nil {
				e.s.leaks = e.findLeaks(ctx)
			}
			return e.s.leaks[l.check]
		}})
	}
	return append(list, check{
		name:   "LeakContexts",
		clause: "contexts that come and go leave nothing behind while the interpreter lives",
		scope:  stateful,
		own:    true,
		run:    leakContexts,
	})
}

// lifetimes is how many interpreters are used up between two counts. What
// leaks by each shows as so many, which tells it from the one more or less
// that the rest of the process may have.
const (
	lifetimes    = 3
	passingCount = 1
)

// findLeaks uses interpreters in every way, closes them, and wants all counts
// to come back to where they were. It returns what was wrong, by check.
func (e *env) findLeaks(ctx context.Context) map[string]error {
	found := map[string]error{}
	err := e.lifetime(ctx) // what is made once per process is made now
	before := map[string]int{}
	for _, l := range leaks {
		before[l.check], _ = l.count()
	}
	for range lifetimes {
		if err == nil {
			err = e.lifetime(ctx)
		}
	}
	for _, l := range leaks {
		if found[l.check] = err; err == nil {
			found[l.check] = settles(l.what, before[l.check]+passingCount, l.count, l.detail)
		}
	}
	return found
}

// settles waits a while for a count to come down.
func settles(what string, before int, count func() (int, bool), detail func() string) error {
	after := 0
	for range 60 {
		if after, _ = count(); after <= before {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	more := ""
	if detail != nil {
		more = ":\n" + detail()
	}
	return fmt.Errorf("%d %s, and there were %d before%s", after, what, before, more)
}

// lifetime creates an interpreter, makes runs of every outcome, and closes it.
func (e *env) lifetime(ctx context.Context) error {
	ci, err := e.s.cfg.New()
	if err != nil {
		return err
	}
	other := *e
	other.ci = ci
	err = other.use(ctx)
	if closeErr := ci.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (e *env) use(ctx context.Context) error {
	for kind := range 4 {
		if err := e.anyRun(ctx, kind, "x"); err != nil {
			return err
		}
	}
	st, ok := codeinterp.Stateful(e.ci)
	if !ok {
		return nil
	}
	id, err := st.CreateContext(ctx, e.language, nil)
	if err != nil {
		return err
	}
	if _, err := e.runIn(ctx, id, e.p.Pause(time.Hour), &codeinterp.RunOptions{Timeout: 300 * time.Millisecond}); err != nil {
		return err
	}
	return e.do(ctx, id, e.p.Print("x"))
}

func leakContexts(ctx context.Context, e *env) error {
	rounds := 10
	if e.s.cfg.Thrifty {
		rounds = 2
	}
	st := e.stateful()
	cycle := func() error {
		id, err := st.CreateContext(ctx, e.language, nil)
		if err != nil {
			return err
		}
		if err := e.do(ctx, id, e.p.Print("x")); err != nil {
			return err
		}
		return st.DeleteContext(ctx, id)
	}
	// What pools and idle connections keep is there after these.
	for range 2 {
		if err := cycle(); err != nil {
			return err
		}
	}
	// What a pool was still short of when it was counted is there the second time:
	// only a leak goes on.
	err := leaksBy(cycle, rounds)
	if err != nil {
		err = leaksBy(cycle, rounds)
	}
	return err
}

// leaksBy counts what so many cycles leave behind.
func leaksBy(cycle func() error, rounds int) error {
	routines := runtime.NumGoroutine()
	files, _ := openFiles()
	for range rounds {
		if err := cycle(); err != nil {
			return err
		}
	}
	slack := rounds / 2 // pools and idle connections may still move a little
	if err := settles("goroutines", routines+slack, countGoroutines, goroutines); err != nil {
		return err
	}
	return settles("file descriptors", files+slack, openFiles, nil)
}

// processNames lists this process's descendants.
func processNames() string {
	list, _ := procfs.Descendants()
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "%d %s (zombie %v, parent %d)\n", p.PID, p.Name, p.State == 'Z', p.Parent)
	}
	return b.String()
}
