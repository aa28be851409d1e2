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

func leakChecks() []check {
	return []check{
		{
			name: "LeakInterpreters", row: 3,
			clause: "after Close no goroutine, no file descriptor and no child process is left, not even a zombie",
			run:    func(e *env) { noLeak(3, e.lifetime) },
		},
		{
			name: "LeakContexts", row: 3, scope: stateful, own: true,
			clause: "contexts that come and go leave nothing behind while the interpreter lives",
			run: func(e *env) {
				noLeak(4, func() {
					id := need(e.stateful().CreateContext(e.ctx, e.language, nil))
					e.okIn(id, e.p.Print("x"), nil)
					must(e.stateful().DeleteContext(e.ctx, id))
				})
			},
		},
	}
}

// leaks are what is counted before and after.
var leaks = []struct {
	what   string
	count  func() int
	detail func() string
}{
	{"goroutines", countGoroutines, goroutines},
	{"file descriptors", openFiles, func() string { return "" }},
	{"child processes", func() int { list, _ := procfs.Descendants(); return len(list) }, processNames},
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

// openFiles counts this process's file descriptors, as far as /proc has them.
func openFiles() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

// noLeak calls f and wants all counts to come back to where they were. It does so several
// times between two counts: a leak shows as so many, and not as the one more or less that
// the rest of the process may have. Pools and idle connections fill up in the first rounds.
func noLeak(times int, f func()) {
	f()
	var err error
	for range 3 {
		var before []int
		for _, l := range leaks {
			before = append(before, l.count())
		}
		for range times {
			f()
		}
		err = nil
		for i, l := range leaks {
			if after := settles(l.count, before[i]+times/2); after > before[i]+times/2 {
				err = errors.Join(err, fmt.Errorf("%d %s, and %d before\n%s", after, l.what, before[i], l.detail()))
			}
		}
		if err == nil {
			return
		}
	}
	must(err)
}

// settles waits a while for a count to come down, and returns it.
func settles(count func() int, wanted int) int {
	after := count()
	for tries := 0; after > wanted && tries < 60; tries++ {
		time.Sleep(50 * time.Millisecond)
		after = count()
	}
	return after
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

// processNames lists this process's descendants.
func processNames() string {
	list, _ := procfs.Descendants()
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "%d %s (zombie %v, parent %d)\n", p.PID, p.Name, p.State == 'Z', p.Parent)
	}
	return b.String()
}
