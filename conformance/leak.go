package conformance

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/procfs"
)

// A leak is a resource that is counted before an interpreter is made and after it
// is closed.
type leak struct {
	check, clause string
	count         func() int
	detail        func() string
}

var leaks = []leak{
	{"LeakGoroutines", "after Close no goroutine is left", countGoroutines, goroutines},
	{"LeakFiles", "after Close no file descriptor is left", openFiles, func() string { return "" }},
	{"LeakProcesses", "after Close no child process is left, not even a zombie", countDescendants, processNames},
}

func leakChecks() []check {
	var list []check
	for _, l := range leaks {
		list = append(list, check{name: l.check, row: 3, clause: l.clause, run: func(e *env) {
			if e.s.leaks == nil {
				e.s.leaks = e.findLeaks()
			}
			must(e.s.leaks[l.check])
		}})
	}
	return append(list, check{
		name: "LeakContexts", row: 3, scope: stateful, own: true,
		clause: "contexts that come and go leave nothing behind while the interpreter lives",
		run:    leakContexts,
	})
}

// countGoroutines leaves out goroutines that only pass by.
func countGoroutines() int {
	n := runtime.NumGoroutine()
	for range 20 {
		runtime.Gosched()
		n = min(n, runtime.NumGoroutine())
	}
	return n
}

func countDescendants() int {
	list, _ := procfs.Descendants()
	return len(list)
}

// openFiles counts this process's file descriptors, as far as /proc has them.
func openFiles() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

// lifetimes is how many interpreters are used between two counts: a leak shows as
// so many, and not as the one more or less that the rest of the process may have.
const lifetimes = 3

// findLeaks uses interpreters in every way, closes them, and wants all counts to
// come back to where they were. It returns what was wrong, by check.
func (e *env) findLeaks() map[string]error {
	found, before := map[string]error{}, map[string]int{}
	err := try(e.lifetime) // makes what there is once per process
	for _, l := range leaks {
		before[l.check] = l.count()
	}
	for range lifetimes {
		if err == nil {
			err = try(e.lifetime)
		}
	}
	for _, l := range leaks {
		if found[l.check] = err; err == nil {
			found[l.check] = settles(l, before[l.check]+1)
		}
	}
	return found
}

// settles waits a while for a count to come down.
func settles(l leak, before int) error {
	after := 0
	for range 60 {
		if after = l.count(); after <= before {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("%s: the count is %d, and was %d before\n%s", l.clause, after, before, l.detail())
}

// lifetime creates an interpreter, makes runs of some outcomes, and closes it.
func (e *env) lifetime() {
	other := e.with(e.ctx)
	other.ci = need(e.s.cfg.New())
	defer other.ci.Close()
	opts := &codeinterp.RunOptions{Timeout: 300 * time.Millisecond}
	_, err := other.runIn("", e.p.Pause(time.Hour), opts)
	must(err)
	if st, ok := codeinterp.Stateful(other.ci); ok {
		id := need(st.CreateContext(e.ctx, e.language, nil))
		_, err := other.runIn(id, e.p.Pause(time.Hour), opts)
		must(err)
		other.okIn(id, e.p.Print("x"), nil)
	}
	must(other.ci.Close())
}

func leakContexts(e *env) {
	const rounds = 4
	// Pools and idle connections fill up in the first rounds.
	var err error
	for range 3 {
		goroutines, descriptors := countGoroutines(), openFiles()
		for range rounds {
			id := need(e.stateful().CreateContext(e.ctx, e.language, nil))
			e.okIn(id, e.p.Print("x"), nil)
			must(e.stateful().DeleteContext(e.ctx, id))
		}
		if err = errors.Join(settles(leaks[0], goroutines+rounds/2), settles(leaks[1], descriptors+rounds/2)); err == nil {
			return
		}
	}
	must(err)
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
