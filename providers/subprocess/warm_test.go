//go:build real && unix

package subprocess_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// eachWarm runs a test with warm starts in each mode: forked in landlock and
// none mode, pooled in bwrap mode.
func eachWarm(t *testing.T, f func(t *testing.T, ci *subprocess.Stateful)) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		o.Warm = &subprocess.Warm{Preload: []string{"json", "decimal", "random", "threading"}}
		f(t, open(t, o))
	})
}

// TestWarmLeaksNothing has runs leave behind what they can, and looks for it
// in the next ones.
func TestWarmLeaksNothing(t *testing.T) {
	eachWarm(t, func(t *testing.T, ci *subprocess.Stateful) {
		leave := `
import json, decimal, os, sys, threading, time, subprocess, builtins, signal, atexit
json.dumps = lambda *a: 'mutated'
json.secret = 1
decimal.getcontext().prec = 3
os.environ['SECRET'] = 'x'
sys.path.insert(0, '/secret')
sys.modules['secret'] = json
builtins.secret = 1
secret = 1
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.umask(0)
open('secret.txt', 'w').write('x')
open(os.path.join(os.environ['TMPDIR'], 'secret.tmp'), 'w').write('x')
threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
child = subprocess.Popen(['sleep', 'SECONDS'])
if os.fork() == 0: time.sleep(SECONDS)
os.nice(5)
os.open('/dev/null', os.O_RDONLY)
print(os.getcwd(), os.getpid())`
		priority, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0) // 20 less the nice value
		if err != nil {
			t.Fatal(err)
		}
		look := fmt.Sprintf("priority = %d\n", 20-priority) + `
import json, decimal, os, sys, threading, builtins, signal
found = []
if json.dumps([1]) != '[1]' or hasattr(json, 'secret'): found.append('module')
if decimal.getcontext().prec != 28: found.append('context')
if 'SECRET' in os.environ: found.append('environment')
if '/secret' in sys.path or 'secret' in sys.modules or hasattr(builtins, 'secret') or 'secret' in globals(): found.append('names')
if signal.getsignal(signal.SIGTERM) != signal.SIG_DFL: found.append('signals')
if os.umask(0o77) == 0: found.append('umask')
if os.listdir('.') or os.path.exists(os.path.join(os.environ['TMPDIR'], 'secret.tmp')): found.append('files')
if threading.active_count() != 1: found.append('threads')
if os.nice(0) != priority: found.append('priority')
fds = 0
for fd in range(64):
    try: os.fstat(fd)
    except OSError: continue
    fds += 1
if fds > 4: found.append('descriptors %d' % fds)
print(found, os.getcwd(), os.getpid())`
		clean := run(t, ci, "python", look, nil)
		if !strings.HasPrefix(clean.Stdout(), "[] ") {
			t.Fatalf("before: %s, stderr %s", summary(clean), clean.Stderr())
		}
		seconds := fmt.Sprintf("3600.%d", rand.Int32())
		left := run(t, ci, "python", strings.ReplaceAll(leave, "SECONDS", seconds), nil)
		if !left.OK() {
			t.Fatalf("got %s", summary(left))
		}
		for range 3 {
			if res := run(t, ci, "python", look, nil); !strings.HasPrefix(res.Stdout(), "[] ") {
				t.Errorf("after: %s, stderr %s", summary(res), res.Stderr())
			}
		}
		if left := leftover.Running("sleep\x00" + seconds); len(left) > 0 {
			t.Errorf("processes %v of the run live on", left)
		}
		n := newNotebook(t, ci, "python")
		if res := n.run(look, nil); !strings.HasPrefix(res.Stdout(), "[] ") {
			t.Errorf("in a context: %s, stderr %s", summary(res), res.Stderr())
		}
	})
}

// TestWarmWithoutDirectory: what is ready and has lost its directory, as to a cleaner
// of old files, is not given out.
func TestWarmWithoutDirectory(t *testing.T) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		o.Sandbox.TempDir, o.Warm = leftover.Dir(t), &subprocess.Warm{Pool: 2}
		o.Languages = []subprocess.Language{subprocess.Python()}
		ci := open(t, o)
		ready := func() (dirs []string) {
			dirs, _ = filepath.Glob(o.Sandbox.TempDir + "/toolcell-sandbox-*/*")
			return dirs
		}
		for end := time.Now().Add(time.Minute); len(ready()) < 2 && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond) // its process has started
		for _, dir := range ready() {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			if got := summary(run(t, ci, "python", "open('x', 'w').write('y')", nil)); got != "ok value=1" {
				t.Errorf("got %s", got)
			}
		}
	})
}

func TestWarmRandomness(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{python(t)}, Warm: &subprocess.Warm{Preload: []string{"numpy", "random", "uuid"}}})
	seen := map[string]bool{}
	for range 5 {
		res := run(t, ci, "python", "import random, uuid, numpy\nprint(random.random(), uuid.uuid4(), numpy.random.rand())", nil)
		for _, v := range strings.Fields(res.Stdout()) {
			if seen[v] {
				t.Errorf("%s came twice", v)
			}
			seen[v] = true
		}
	}
	if len(seen) != 15 {
		t.Errorf("got %v", seen)
	}
}

// TestWarmStartsNone: runs and contexts come from one process that has imported
// what was preloaded, and no interpreter starts for them.
func TestWarmStartsNone(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{python(t)}, Warm: &subprocess.Warm{Preload: []string{"pandas"}}})
	const program = "import sys, os\nprint('pandas' in sys.modules, os.getppid())"
	n := newNotebook(t, ci, "python")
	var first string
	for range 3 {
		for _, res := range []codeinterp.Result{run(t, ci, "python", program, nil), n.run(program, nil)} {
			if first == "" {
				first = res.Stdout()
			}
			if got := res.Stdout(); got != first || !strings.HasPrefix(got, "True ") {
				t.Errorf("got %q, then %q", first, got)
			}
		}
	}
}

// TestWarmServerDies kills the fork server: the run in progress is lost, and
// the next one works.
func TestWarmServerDies(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}, Warm: &subprocess.Warm{}})
	n := newNotebook(t, ci, "python")
	n.run("x = 1", nil)
	for _, after := range []time.Duration{0, 5 * time.Millisecond} {
		res := run(t, ci, "python", "import os\nprint(os.getppid())", nil)
		pid, err := strconv.Atoi(strings.TrimSpace(res.Stdout()))
		if err != nil || pid <= 1 {
			t.Fatalf("got %s", summary(res))
		}
		if pid == os.Getpid() {
			continue // it was started without the server, which had just died
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after)
		if res, _ := untilOK(t, func() (codeinterp.Result, error) { return ci.RunCode(t.Context(), "python", "print('next')", nil) }); res.Stdout() != "next\n" {
			t.Errorf("got %s", summary(res))
		}
		res, lost := untilOK(t, func() (codeinterp.Result, error) {
			return ci.RunInContext(t.Context(), n.id, "print('x' in globals())", nil)
		})
		if (res.Stdout() == "True\n") == lost {
			t.Errorf("the context: %s, lost %v", summary(res), lost)
		}
		n.run("x = 1", nil)
	}
}

// untilOK runs until a process is there: one that was taken as the server died
// dies with it. It reports whether any result says that the state is lost.
func untilOK(t *testing.T, run func() (codeinterp.Result, error)) (res codeinterp.Result, lost bool) {
	t.Helper()
	for try := 1; ; try++ {
		res, err := run()
		if lost = lost || res.StateLost; err == nil && res.OK() {
			return res, lost
		}
		if try == 5 || res.Status != codeinterp.StatusLost && !errors.Is(err, codeinterp.ErrUnavailable) {
			t.Fatalf("try %d: %s, %v", try, summary(res), err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// preloading returns options with a Python of its own that preloads the module ahead,
// and the file of that module.
func preloading(t *testing.T, o subprocess.Options, source string) (with subprocess.Options, file string) {
	t.Helper()
	venv := filepath.Join(leftover.Dir(t), "venv")
	if out, err := exec.CommandContext(t.Context(), python(t).Commands[0], "-m", "venv", "--without-pip", venv).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sites, err := filepath.Glob(filepath.Join(venv, "lib", "python3*", "site-packages"))
	if err != nil || len(sites) != 1 {
		t.Fatal(sites, err)
	}
	file = filepath.Join(sites[0], "ahead.py")
	write(t, file, source)
	l := subprocess.Python()
	l.Commands = []string{filepath.Join(venv, "bin", "python")}
	o.Languages, o.Warm = []subprocess.Language{l}, &subprocess.Warm{Pool: 1, Preload: []string{"ahead"}}
	return o, file
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestPreloadChanged: a run never gets the code of a preloaded module as it was before
// the module was edited, and a context keeps its own. Pools serve this too.
func TestPreloadChanged(t *testing.T) {
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		t.Run(mode.String(), func(t *testing.T) {
			o, file := preloading(t, inMode(mode), "V = 1\n")
			ci := open(t, o)
			n := newNotebook(t, ci, "python")
			if res := n.run("import ahead; ahead.V", nil); res.Text() != "1" {
				t.Fatal(summary(res))
			}
			for v := 2; v < 5; v++ {
				write(t, file, fmt.Sprintf("V = %d\n", v)) // of the same size
				for range 2 {
					if res := run(t, ci, "python", "import ahead; ahead.V", nil); res.Text() != strconv.Itoa(v) {
						t.Errorf("after edit %d: %s", v, summary(res))
					}
				}
				if res := newNotebook(t, ci, "python").run("import ahead; ahead.V", nil); res.Text() != strconv.Itoa(v) {
					t.Errorf("a context after edit %d: %s", v, summary(res))
				}
			}
			if res := n.run("ahead.V", nil); res.Text() != "1" || res.StateLost {
				t.Errorf("the first context: %s", summary(res))
			}
			write(t, file, "raise ValueError('broken')\n")
			if res := run(t, ci, "python", "import ahead", nil); res.Error == nil || res.Error.Message != "broken" {
				t.Errorf("a module that breaks: %s", summary(res))
			}
			if res := run(t, ci, "python", "1", nil); res.Text() != "1" {
				t.Errorf("a run without it: %s", summary(res))
			}
		})
	}
}

// TestPreloadFails: a module that cannot be imported is the constructor's error.
func TestPreloadFails(t *testing.T) {
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		o, _ := preloading(t, inMode(mode), "import missing_module\n")
		if _, err := subprocess.New(&o); !errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(err.Error(), "missing_module") {
			t.Errorf("%v: %v", mode, err)
		}
	}
}
