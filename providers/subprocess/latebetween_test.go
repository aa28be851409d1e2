//go:build unix

package subprocess_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// streams are what came on a context's streams, run by run.
type streams struct{ own, late, whole [2]strings.Builder }

func (s *streams) add(t *testing.T, res codeinterp.Result) {
	t.Helper()
	if !res.OK() || len(res.Truncated) > 0 {
		t.Fatal(summary(res), res.Truncated)
	}
	for i := range s.own {
		s.own[i].Reset()
	}
	for _, o := range res.Outputs {
		i := 0
		if o.Kind == codeinterp.Stderr {
			i = 1
		}
		if o.Late {
			s.late[i].Write(o.Data)
		} else {
			s.own[i].Write(o.Data)
		}
		s.whole[i].Write(o.Data)
	}
}

// TestLateBesideQuickRuns: what threads print without pause while runs begin and
// end is marked in all but the run that started them, and all there in its order.
func TestLateBesideQuickRuns(t *testing.T) {
	const each = 100
	runs := race.Short(300, 100)
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}}), "python")
	n.run(fmt.Sprintf(`
import sys, threading
def work(go, name):
    i = 0
    while i < %d:
        go.acquire()
        for i in range(i, i + %d): print("old", i, file=getattr(sys, name))
        i += 1
more = [threading.Semaphore(0) for _ in range(2)]
old = [threading.Thread(target=work, args=a) for a in zip(more, ("stdout", "stderr"))]
for t in old: t.start()`, runs*each, each), nil)
	var s streams
	for k := range runs {
		s.add(t, n.run(fmt.Sprintf(`
for go in more: go.release()
mine = threading.Thread(target=print, args=("mine", %[1]d)); mine.start(); mine.join()
print("own", end=" "); print(%[1]d); print("own", %[1]d, file=sys.stderr)`, k), nil))
		if out, err := s.own[0].String(), s.own[1].String(); out != fmt.Sprintf("mine %d\nown %d\n", k, k) || err != fmt.Sprintf("own %d\n", k) {
			t.Fatalf("run %d: unmarked are %q and %q", k, out, err)
		}
	}
	s.add(t, n.run("for t in old: t.join()", &codeinterp.RunOptions{Timeout: busyTimeout}))
	var want strings.Builder
	for i := range runs * each {
		fmt.Fprintln(&want, "old", i)
	}
	for i, name := range []string{"stdout", "stderr"} {
		if got := s.late[i].String(); got != want.String() {
			t.Errorf("%s: %d bytes of late output, not %d in their order", name, len(got), want.Len())
		}
	}
}

// TestLateFromEachRun: threads of each of many runs go on beyond its end. Until
// then what they print is its own, and from then on late.
func TestLateFromEachRun(t *testing.T) {
	const runs, each = 200, 60
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}}), "python")
	n.run(fmt.Sprintf(`
import sys, threading
def work(k):
    for i in range(%d): print(f"{k} {i}\n", end="")`, each), nil)
	var s streams
	line := regexp.MustCompile(`^(\d+) (\d+)$`)
	for k := range runs {
		s.add(t, n.run(fmt.Sprintf("threading.Thread(target=work, args=(%d,)).start()\nprint('own')", k), nil))
		owns := 0
		for l := range strings.Lines(s.own[0].String()) {
			if l = strings.TrimSuffix(l, "\n"); l == "own" {
				owns++
			} else if m := line.FindStringSubmatch(l); m == nil || m[1] != strconv.Itoa(k) {
				t.Fatalf("run %d: %q is unmarked", k, l)
			}
		}
		if owns != 1 {
			t.Fatalf("run %d: its own line is there %d times", k, owns)
		}
	}
	s.add(t, n.run("for t in threading.enumerate(): t is threading.current_thread() or t.join()", nil))
	next := make([]int, runs)
	for l := range strings.Lines(s.whole[0].String()) {
		if m := line.FindStringSubmatch(strings.TrimSuffix(l, "\n")); m != nil {
			k, _ := strconv.Atoi(m[1])
			if m[2] != strconv.Itoa(next[k]) {
				t.Fatalf("%q comes where %d %d is due", l, k, next[k])
			}
			next[k]++
		} else if l != "own\n" {
			t.Fatalf("%q is no line", l)
		}
	}
	for k, i := range next {
		if i != each {
			t.Errorf("run %d's thread: %d lines", k, i)
		}
	}
}

// TestOwnOnOlderThread: what asyncio.to_thread prints for a run is that run's own,
// on whichever thread.
func TestOwnOnOlderThread(t *testing.T) {
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}}), "python")
	n.run("import asyncio; await asyncio.to_thread(print, 'one')", nil)
	for range 3 {
		if res := n.run("await asyncio.to_thread(print, 'two')", nil); res.Stdout() != "two\n" {
			t.Fatal(summary(res))
		}
	}
}
