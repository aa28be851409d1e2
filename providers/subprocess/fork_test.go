//go:build real && linux

package subprocess_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// sleeps is for how long the children of this process's tests sleep, and of no other's.
var sleeps = 1_000_000 + 10*os.Getpid()

// eachForking runs a test in each mode whose contexts can be copied.
func eachForking(t *testing.T, f func(t *testing.T, o subprocess.Options)) {
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.None} {
		o := inMode(mode)
		o.Forks, o.Languages = true, []subprocess.Language{subprocess.Python()}
		t.Run(mode.String(), func(t *testing.T) { f(t, o) })
	}
}

// tryFork copies a context.
func (n *notebook) tryFork(ctx context.Context) (*notebook, error) {
	n.t.Helper()
	of, ok := codeinterp.Forks(n.ci)
	if !ok {
		n.t.Fatal("there are no Forks")
	}
	id, err := of.ForkContext(ctx, n.id)
	return &notebook{n.t, n.ci, id}, err
}

func (n *notebook) fork() *notebook {
	n.t.Helper()
	other, err := n.tryFork(n.t.Context())
	if err != nil {
		n.t.Fatal(err)
	}
	return other
}

// prints checks what a program prints.
func (n *notebook) prints(code, want string) {
	n.t.Helper()
	if res := n.run(code, nil); !res.OK() || res.Stdout() != want {
		n.t.Errorf("%s: got %s, stderr %s, want %q", code, summary(res), res.Stderr(), want)
	}
}

func (n *notebook) delete() {
	n.t.Helper()
	if err := n.ci.DeleteContext(n.t.Context(), n.id); err != nil {
		n.t.Error(err)
	}
}

// TestForkPlace: a copy has a directory, a stream and a pid of its own, and all that
// named the original's names them.
func TestForkPlace(t *testing.T) {
	eachForking(t, func(t *testing.T, o subprocess.Options) {
		n := newNotebook(t, open(t, o), "python")
		n.run(`
import os, sys, random, signal, tempfile, threading, time, warnings
warnings.simplefilter('error')
os.mkdir('d'); os.chdir('d')
os.symlink('nowhere', 'link'); os.mkfifo('fifo')
os.close(os.open('tool', os.O_CREAT | os.O_WRONLY, 0o755))
open('text', 'w').write('x' * 100000)
os.utime('text', (5, 5))
reader, writer = open('text'), open('log', 'w')
reader.read(10); writer.write('both '); writer.flush()
saved, tempfile.tempdir, pid = os.dup(1), tempfile.gettempdir(), os.getpid()
sys.path.insert(0, os.getcwd())
threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
x = [1]`, nil)
		c := n.fork()
		c.prints("writer.write('copy'); writer.flush(); print(open('log').read(), os.lseek(reader.fileno(), 0, 1), len(reader.read()))", "both copy 8192 99990\n")
		n.prints("writer.write('first'); writer.flush(); print(open('log').read(), len(reader.read()))", "both first 99990\n")
		c.run("x.append(2); open('text', 'a').write('y'); open('../new', 'w').close()", nil)
		n.prints("print(x, os.listdir('..'), os.path.getsize('text'), os.getpid() == pid, threading.active_count())", "[1] ['d'] 100000 True 2\n")
		c.prints("print(x, sorted(os.listdir('.')), sorted(os.listdir('..')), os.path.getsize('text'))", "[1, 2] ['link', 'log', 'text', 'tool'] ['d', 'new'] 100001\n")
		c.prints("print(os.readlink('link'), os.access('tool', os.X_OK), os.getpid() == pid, threading.active_count(), os.getppid() == pid)", "nowhere True False 1 False\n")
		c.prints("home = os.environ['HOME']; print(home == os.path.dirname(os.getcwd()), tempfile.gettempdir() == home, sys.path[0] == os.getcwd())", "True True True\n")
		c.prints("_ = os.write(saved, b'to the copy\\n')", "to the copy\n")
		n.prints("_ = os.write(saved, b'to the first\\n')", "to the first\n")
		a, b := n.run("random.random(), random.random()", nil), c.run("random.random(), random.random()", nil)
		if a.Text() == b.Text() {
			t.Errorf("the same random numbers %s", a.Text())
		}
		n.prints("try: os.waitpid(-1, 0)\nexcept ChildProcessError: print('no child')", "no child\n")
		if about := n.ci.Describe(); !about.Languages[0].Forks {
			t.Error("Describe says nothing of forks")
		}
	})
}

// TestForkLoop: the copy has a loop of its own, and the tasks stay with the original.
func TestForkLoop(t *testing.T) {
	eachForking(t, func(t *testing.T, o subprocess.Options) {
		n := newNotebook(t, open(t, o), "python")
		n.run("import asyncio\nasync def tick():\n    while True:\n        global ticks; ticks += 1; await asyncio.sleep(.01)\nticks = 0\ntask = asyncio.create_task(tick())\nawait asyncio.sleep(.02)", nil)
		c := n.fork()
		const counts = "before = ticks; await asyncio.sleep(.1); print(ticks > before)"
		c.prints(counts, "False\n")
		n.prints(counts, "True\n")
		c.delete()
		n.prints(counts, "True\n")
	})
}

// TestForkHandlers: what a program does about the end of its children disturbs no copy.
func TestForkHandlers(t *testing.T) {
	eachForking(t, func(t *testing.T, o subprocess.Options) {
		n := newNotebook(t, open(t, o), "python")
		for _, handler := range []string{"signal.SIG_IGN", "lambda *a: os.waitpid(-1, os.WNOHANG)", "lambda *a: 1 / 0"} {
			n.prints("import os, signal; _ = signal.signal(signal.SIGCHLD, "+handler+"); x = 1; print()", "\n")
			n.fork().prints("print(x)", "1\n")
			n.prints("print(x)", "1\n")
		}
	})
}

// TestForkEnds: the end of an original, of a copy and of a copy's copy is that of no
// other, but takes along all that it has started; also after an interrupt.
func TestForkEnds(t *testing.T) {
	alive := func(n int) bool { return len(leftover.Running(fmt.Sprintf("sleep\x00%d\x00", n))) > 0 }
	eachForking(t, func(t *testing.T, o subprocess.Options) {
		ci := open(t, o)
		n := newNotebook(t, ci, "python")
		child := func(of *notebook, n int) {
			t.Helper()
			session := "False" // in none mode a session of its own can be out of reach
			if o.Sandbox.Mode == subprocess.Landlock {
				session = "True"
			}
			of.prints(fmt.Sprintf("import os, subprocess; children = [subprocess.Popen(['sleep', '%d'], start_new_session=%s)]; print()", n, session), "\n")
			for end := time.Now().Add(time.Minute); !alive(n); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("there is no child")
				}
			}
		}
		interrupted := func(n *notebook) {
			t.Helper()
			if res := n.run("while True: pass", &codeinterp.RunOptions{Timeout: 200 * time.Millisecond}); res.StateLost || res.Status != codeinterp.StatusTimeout {
				t.Fatalf("an endless program: %s", summary(res))
			}
		}
		interrupted(n)
		child(n, sleeps)
		first := n.fork()
		interrupted(first)
		child(first, sleeps+1)
		second := first.fork()
		child(second, sleeps+2)
		n.delete()
		if alive(sleeps) || !alive(sleeps+1) || !alive(sleeps+2) {
			t.Errorf("without the first: children live %v, %v, %v", alive(sleeps), alive(sleeps+1), alive(sleeps+2))
		}
		if res := first.run("os._exit(3)", nil); res.Status != codeinterp.StatusLost || !res.StateLost || res.ExitCode != 137 || res.Cause != codeinterp.CauseExit {
			t.Errorf("os._exit in a copy: %s, %q", summary(res), res.Cause)
		}
		if alive(sleeps+1) || !alive(sleeps+2) {
			t.Errorf("without the copy's state: children live %v, %v", alive(sleeps+1), alive(sleeps+2))
		}
		first.prints("print('children' in globals())", "False\n")
		second.prints("print(len(children), children[0].poll())", "1 None\n")
		if err := ci.Close(); err != nil {
			t.Error(err)
		}
		if alive(sleeps + 2) {
			t.Error("a child lives after Close")
		}
	})
}

// TestForkOutlives: a copy lives on where its original is deleted at once, whenever the
// host has looked at their processes last.
func TestForkOutlives(t *testing.T) {
	eachForking(t, func(t *testing.T, o subprocess.Options) {
		n := newNotebook(t, open(t, o), "python")
		n.run("x = 1", nil)
		for range 20 {
			c := n.fork()
			n.delete()
			c.prints("print(x)", "1\n")
			n = c
		}
	})
}

// hostile lets a context answer the next request to fork as code says, with its number n
// and the group of the copy.
func (n *notebook) hostile(code string) {
	n.t.Helper()
	n.prints(`
import os, sys, time
driver = sys._getframe(1).f_globals
def answer(n, group, *_):
    driver['copy_context'] = honest
    given, driver['given'][:] = driver['given'][:], []
    def say(pid): driver['send'](b'P', pid, n)
    `+strings.ReplaceAll(code, "\n", "\n    ")+`
honest = driver.get('honest') or driver['copy_context']
driver['copy_context'], driver['honest'] = answer, honest
kept = 'kept'; print()`, "\n")
}

// TestForkLies: what a context says of its copy is not believed, and costs at most its own
// state.
func TestForkLies(t *testing.T) {
	eachForking(t, func(t *testing.T, o subprocess.Options) {
		ci := open(t, o)
		n, other := newNotebook(t, ci, "python"), newNotebook(t, ci, "python")
		res := other.run("import os\nkept = 'kept'; os.getpid()", nil)
		for name, code := range map[string]string{
			"none": "say(0)", "itself": "say(os.getpid())", "no process": "say(2**31)", "nonsense": "say(b'x')",
			"another context": "say(" + res.Text() + ")",
		} {
			n.hostile(code)
			if _, err := n.tryFork(t.Context()); !errors.Is(err, codeinterp.ErrUnavailable) && !errors.Is(err, codeinterp.ErrIsolation) {
				t.Errorf("%s: got %v", name, err)
			}
			n.prints("print(kept)", "kept\n")
			other.prints("print(kept)", "kept\n")
		}
		n.hostile("driver['given'][:] = given; honest(n, group, *_); say(1); say(1); say(0)")
		n.fork().prints("print(kept)", "kept\n")
		n.fork().prints("print(kept)", "kept\n")
	})
}

// TestForkSilence: a context that does not answer keeps its state, unless it has let a
// process into the copy's group: then both end.
func TestForkSilence(t *testing.T) {
	eachForking(t, func(t *testing.T, o subprocess.Options) {
		sleep := fmt.Sprint(sleeps)
		n := newNotebook(t, open(t, o), "python")
		n.hostile("pass")
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := n.tryFork(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		n.prints("print(kept)", "kept\n")
		if o.Sandbox.Mode != subprocess.Landlock {
			return
		}
		n.hostile("child = os.fork()\nif child == 0: os.setpgid(os.getpid(), int(group)); os.execvp('sleep', ['sleep', '" + sleep + "'])\nwhile os.getpgid(child) != int(group): time.sleep(.001)\nsay(0)")
		if _, err := n.tryFork(t.Context()); !errors.Is(err, codeinterp.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		if res := n.run("print('kept' in globals())", nil); !res.StateLost || res.Stdout() != "False\n" {
			t.Errorf("got %s, lost %v", summary(res), res.StateLost)
		}
		if left := leftover.Running("sleep\x00" + sleep + "\x00"); len(left) > 0 {
			t.Errorf("processes %v live on", left)
		}
	})
}

// TestForkGroups: no process gets into the group of another context, or out of its own.
func TestForkGroups(t *testing.T) {
	eachForking(t, func(t *testing.T, o subprocess.Options) {
		if o.Sandbox.Mode != subprocess.Landlock {
			t.Skip("programs can do this in none mode")
		}
		ci := open(t, o)
		n, other := newNotebook(t, ci, "python"), newNotebook(t, ci, "python")
		c := n.fork()
		var groups []string
		for _, one := range []*notebook{n, c, other} {
			res := one.run("import os\nos.getpgrp()", nil)
			groups = append(groups, res.Text())
		}
		for i, one := range []*notebook{n, c, other} {
			one.prints(fmt.Sprintf(`
for g in %s, 0, os.getpid():
    for p in 0, os.getpid():
        os.setpgid(p, g)
    if os.fork() == 0:
        os.setpgid(os.getpid(), g); os.setsid(); os._exit(os.getpgrp() != %s)
    assert os.wait()[1] == 0
print(os.getpgrp())`, strings.Join(groups, ", "), groups[i]), groups[i]+"\n")
		}
	})
}

// TestForkWalls: a context and its copies reach each other's directories, and nothing else
// of where these are.
func TestForkWalls(t *testing.T) {
	eachForking(t, func(t *testing.T, o subprocess.Options) {
		if o.Sandbox.Mode != subprocess.Landlock {
			t.Skip("there are no walls in none mode")
		}
		ci := open(t, o)
		n, other := newNotebook(t, ci, "python"), newNotebook(t, ci, "python")
		res := other.run("import os\nos.getcwd()", nil)
		theirs := res.Text()
		c := n.fork()
		c.run("open('here', 'w').close()", nil)
		n.prints(`
import os
tried = []
def refused(f, *args):
    try: f(*args)
    except OSError: return
    tried.append((f.__name__, args))
top = os.path.dirname(os.getcwd())
try: os.chmod(top, 0o777); os.chmod(top + '/3', 0o777)
except OSError: pass
refused(os.listdir, top); refused(os.mkdir, top + '/x'); refused(os.rename, top + '/1', top + '/x')
refused(os.symlink, '/', top + '/x'); refused(os.rename, top + '/2', 'x')
refused(os.listdir, top + '/3'); refused(os.mkdir, top + '/3/x'); refused(os.listdir, `+theirs+`)
print(tried, os.listdir(top + '/2'))`, "[] ['here']\n")
	})
}

// TestForkOften: copies that are deleted leave nothing behind, and there is a bound for
// those that are not.
func TestForkOften(t *testing.T) {
	eachForking(t, func(t *testing.T, o subprocess.Options) {
		o.Sandbox.TempDir = leftover.Dir(t)
		n := newNotebook(t, open(t, o), "python")
		n.run("import os\nos.makedirs('a/b'); open('a/b/c', 'w').write('x')\ndata = list(range(100000))", nil)
		count := func() (n [3]int) {
			fds, err := os.ReadDir("/proc/self/fd")
			if err != nil {
				t.Fatal(err)
			}
			dirs, _ := filepath.Glob(o.Sandbox.TempDir + "/toolcell-sandbox-*/*")
			links, _ := filepath.Glob("/proc/[0-9]*/cwd")
			for _, link := range links {
				if at, err := os.Readlink(link); err == nil && strings.HasPrefix(at, o.Sandbox.TempDir) {
					n[2]++
				}
			}
			n[0], n[1] = len(fds), len(dirs)
			return n
		}
		for range 3 {
			n.fork().delete()
		}
		before := count()
		for range 50 {
			c := n.fork()
			c.prints("print(len(data), os.listdir('a/b'))", "100000 ['c']\n")
			c.delete()
		}
		after := count()
		for i := range after {
			if after[i] > before[i]+10 {
				t.Errorf("descriptors, directories and processes: %v before, %v after", before, after)
			}
		}
		var last error
		for range 32 {
			if _, last = n.tryFork(t.Context()); last != nil {
				break
			}
		}
		if !errors.Is(last, codeinterp.ErrCapacity) {
			t.Errorf("got %v", last)
		}
	})
}

// TestForkNetwork: a copy reaches what the policy allows, also without its original.
func TestForkNetwork(t *testing.T) {
	o := inMode(subprocess.Landlock)
	o.Forks, o.Egress, o.Languages = true, &newNetwork(t).opts, []subprocess.Language{subprocess.Python()}
	n := newNotebook(t, open(t, o), "python")
	const code = "import urllib.request as u\nprint(u.urlopen('http://api.test/x').read().decode().split()[1])"
	n.prints(code, "api.test/x\n")
	c := n.fork()
	c.prints(code, "api.test/x\n")
	n.delete()
	c.prints(code, "api.test/x\n")
	c.prints("try: u.urlopen('http://other.test/')\nexcept OSError: print('refused')", "refused\n")
}

// TestForkShared: with Options.Dir a copy shares the directory, and what a restart makes of
// it lives on; a call of a function is its own.
func TestForkShared(t *testing.T) {
	eachForking(t, func(t *testing.T, o subprocess.Options) {
		o.Dir = leftover.Dir(t)
		if err := os.Chmod(o.Dir, 0o777); err != nil {
			t.Fatal(err)
		}
		ci := open(t, o)
		double := codeinterp.Function{Name: "double", Call: func(_ context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
			return json.Marshal(string(c.Args) + string(c.Args))
		}}
		id, err := ci.CreateContext(t.Context(), "python", &codeinterp.ContextOptions{Functions: []codeinterp.Function{double}})
		if err != nil {
			t.Fatal(err)
		}
		n := &notebook{t, ci, id}
		n.run("import os; x = 1", nil)
		c := n.fork()
		c.run("open('file', 'w').close()", nil)
		n.prints("print(os.listdir('.'))", "['file']\n")
		c.prints("print(x, tools.double(a=1), os.environ['HOME'] == os.getcwd())", "1 {\"a\": 1}{\"a\": 1} False\n")
		if err := ci.RestartContext(t.Context(), c.id); err != nil {
			t.Fatal(err)
		}
		c.prints("import os; print(os.listdir('.'), 'x' in globals())", "['file'] False\n")
		d := c.fork()
		n.delete()
		c.delete()
		d.prints("print(os.listdir('.'))", "['file']\n")
	})
}

// TestForkRefused: where copies cannot be made, New says why.
func TestForkRefused(t *testing.T) {
	bwrap := inMode(subprocess.Bwrap)
	bwrap.Forks = true
	keep := inMode(subprocess.Landlock)
	keep.Forks, keep.Keep = true, &subprocess.Keep{Lease: time.Minute, Program: "/bin/true"}
	for _, tt := range []struct {
		o    subprocess.Options
		want string
	}{{bwrap, "namespaces"}, {keep, "Keep"}} {
		if _, err := subprocess.NewStateful(&tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want one about %s", err, tt.want)
		}
	}
}
