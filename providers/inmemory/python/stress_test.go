//go:build real && unix

package python_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/tier"
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
	n := 100
	if tier.Full {
		n = 10_000
	}
	for range n / 10 {
		cycle()
	}
	debug.FreeOSMemory()
	before, files := resident(t), openFiles(t)
	for range n {
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

// TestManyContexts: 2,000 contexts that have run something take less than 2 GB: they share
// the pages of all that they begin with.
func TestManyContexts(t *testing.T) {
	n := 100
	if tier.Full {
		n = 2000
	}
	o := options(t)
	o.MaxMemory = 4 << 30
	ci, err := inmemory.NewStateful(o)
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	debug.FreeOSMemory()
	before := resident(t)
	ids := make([]codeinterp.ContextID, n)
	for i := range ids {
		ids[i] = newContext(t, ci)
		stdout(t, ci, ids[i], fmt.Sprintf("x = %d", i))
	}
	debug.FreeOSMemory()
	each := (resident(t) - before) / int64(n)
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
	n, timeout := 10, 200*time.Millisecond
	if tier.Full {
		n = 50
	}
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
	took := time.Since(start)
	t.Logf("%d programs of %v took %v on %d processors", n, timeout, took, runtime.GOMAXPROCS(0))
	if took > 30*time.Second {
		t.Errorf("took %v", took)
	}
}

// resident is the memory that is the process's own, without what it shares with others or
// with itself, such as images.
func resident(t *testing.T) int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("resident memory is unknown here")
	}
	fields := strings.Fields(string(b))
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	shared, _ := strconv.ParseInt(fields[2], 10, 64)
	return (pages - shared) * int64(os.Getpagesize())
}
