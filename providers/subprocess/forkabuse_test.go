//go:build real && linux

package subprocess_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestForkOutput: what a copy prints before it is ready is late output of its own, however
// much that is.
func TestForkOutput(t *testing.T) {
	eachForking(t, func(t *testing.T, o subprocess.Options) {
		const size = 1 << 18 // more than a pipe holds
		n := newNotebook(t, open(t, o), "python")
		n.run(`
import os, sys, types
class Random(types.ModuleType):
    def seed(self): os.write(1, b'x' * 262144); os.write(2, b'y' * 262144)
sys.modules['numpy.random'] = Random('random')`, nil)
		res := n.fork().run("print('now')", nil)
		got := map[codeinterp.Kind]int{}
		for _, part := range res.Outputs {
			if part.Late {
				got[part.Kind] += len(part.Data)
			}
		}
		if got[codeinterp.Stdout] != size || got[codeinterp.Stderr] != size || res.Stdout() != "now\n" {
			t.Errorf("late output %v, then %q", got, res.Stdout())
		}
	})
}

// TestForkLimits: what has let a copy in, and is older than that, counts with it.
func TestForkLimits(t *testing.T) {
	o := inMode(subprocess.Landlock)
	o.Forks, o.Languages, o.Limits.Processes = true, []subprocess.Language{subprocess.Python()}, 20
	n := newNotebook(t, open(t, o), "python")
	n.hostile(`
import threading
fork, first = os.fork, os.getpid()
def forks():
    child, began = fork(), time.monotonic()
    if child and os.getpid() != first: os._exit(0)
    if child or os.getppid() == first: return child
    os.setpgid(os.getpid(), int(group))
    for _ in range(40): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    while time.monotonic() < began + .1: pass
    child = fork()
    if child == 0: return 0
    say(child)
    time.sleep(1000)
os.fork, driver['given'][:] = forks, given
honest(n, group, *_)
os.fork = fork`)
	c, err := n.tryFork(t.Context())
	for end := time.Now().Add(time.Minute); err == nil; time.Sleep(time.Millisecond) {
		if res := c.run("", nil); res.StateLost { // also between runs
			return
		} else if time.Now().After(end) {
			t.Fatalf("got %s", summary(res))
		}
	}
	if !strings.Contains(err.Error(), "limit 20") { // it was seen before the copy was ready
		t.Error(err)
	}
}

// TestForkChanging: files may come and go while they are copied.
func TestForkChanging(t *testing.T) {
	eachForking(t, func(t *testing.T, o subprocess.Options) {
		n := newNotebook(t, open(t, o), "python")
		n.run(`
import os, threading
open('kept', 'w').write('kept')
def change():
    while True:
        for name in map(str, range(50)): open(name, 'w').write(name)
        for name in map(str, range(50)): os.unlink(name)
threading.Thread(target=change, daemon=True).start()`, nil)
		for range 20 {
			c := n.fork()
			c.prints("print(open('kept').read())", "kept\n")
			c.delete()
		}
	})
}
