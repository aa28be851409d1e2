//go:build full && unix

package python_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
)

// TestCycles: contexts that are made, used, copied and deleted leave nothing behind.
func TestCycles(t *testing.T) {
	ci := newStateful(t)
	cycle := func() {
		id := newContext(t, ci)
		stdout(t, ci, id, "x = 1\nopen('f', 'w').write('x')")
		copied := fork(t, ci, id)
		if got := stdout(t, ci, copied, "print(x)"); got != "1\n" {
			t.Fatalf("the copy printed %q", got)
		}
		for _, id := range []codeinterp.ContextID{id, copied} {
			if err := ci.DeleteContext(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 100 {
		cycle()
	}
	debug.FreeOSMemory()
	before, files := resident(t), openFiles(t)
	for range 1000 {
		cycle()
	}
	debug.FreeOSMemory()
	if grown := resident(t) - before; grown > 16<<20 {
		t.Errorf("the process has grown by %d KiB", grown>>10)
	}
	if n := openFiles(t); n > files {
		t.Errorf("%d files are open, %d were before", n, files)
	}
}

func openFiles(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("open files are unknown here")
	}
	return len(list)
}

// TestManyContexts: 1,000 contexts that have run something take less than a megabyte
// each: they share the pages of all that they begin with.
func TestManyContexts(t *testing.T) {
	o := options(t)
	o.MaxMemory = 4 << 30
	ci, err := inmemory.NewStateful(o)
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	debug.FreeOSMemory()
	before := resident(t)
	const n = 1000
	ids := make([]codeinterp.ContextID, n)
	for i := range ids {
		ids[i] = newContext(t, ci)
		stdout(t, ci, ids[i], fmt.Sprintf("x = %d", i))
	}
	debug.FreeOSMemory()
	each := (resident(t) - before) / n
	t.Logf("%d KiB each", each>>10)
	if each > 1<<20 {
		t.Errorf("a context takes %d KiB", each>>10)
	}
	for _, i := range []int{0, n / 2, n - 1} {
		if got := stdout(t, ci, ids[i], "print(x)"); got != fmt.Sprintln(i) {
			t.Errorf("context %d has %q", i, got)
		}
	}
}

// TestSpinners: programs that compute for ever beside each other all end soon after their
// timeouts, which count while a program has its turn.
func TestSpinners(t *testing.T) {
	ci := newStateful(t)
	const n, timeout = 50, 200 * time.Millisecond
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			res, err := ci.RunCode(t.Context(), "python", "while True: pass", &codeinterp.RunOptions{Timeout: timeout})
			if err != nil || res.Status != codeinterp.StatusTimeout {
				t.Errorf("%v, %s", err, res.Status)
			}
		})
	}
	start := time.Now()
	all.Wait()
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
}
