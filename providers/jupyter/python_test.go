//go:build linux

package jupyter_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callstest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// pythonCases are programs whose answers are those of a Python process, where
// kernels alone would give others.
var pythonCases = []struct {
	name, code     string
	stdin          []byte
	stdout, stderr string
	exit           int
	failure        string // the error's name
	missing        string
}{
	{name: "input without any", code: "try: input('? ')\nexcept EOFError: print('end')", stdout: "? end\n"},
	{name: "input without any, uncaught", code: "input()", exit: 1, failure: "EOFError"},
	{name: "reading without input", code: "import sys\ntry: sys.stdin.read()\nexcept EOFError: print('end')", stdout: "end\n"},
	{name: "lines without input", code: "import sys\nfor line in sys.stdin: print(line)", exit: 1, failure: "EOFError"},
	{name: "password without input", code: "import getpass; getpass.getpass()", stderr: "Password: ", exit: 1, failure: "EOFError"},
	{name: "password", code: "import getpass; print(getpass.getpass('secret? '), input('name? '))", stdin: []byte("a\nb\n"),
		stdout: "name? a b\n", stderr: "secret? "},
	{name: "exit", code: "import sys; print('x'); sys.exit(3)", stdout: "x\n", exit: 3},
	{name: "exit beyond a byte", code: "exit(259)", exit: 3},
	{name: "exit with nothing", code: "exit()"},
	{name: "exit with a message", code: "import sys; sys.exit('msg')", stderr: "msg\n", exit: 1},
	{name: "exit with digits", code: "import sys; sys.exit('3')", stderr: "3\n", exit: 1},
	{name: "lone surrogate", code: "print('before')\nprint('\\ud800')", stdout: "before\n", exit: 1, failure: "UnicodeEncodeError"},
	{name: "lone surrogate as an error", code: "import sys\nprint('a\\ud800b', file=sys.stderr)", stderr: "a\\ud800b\n"},
	{name: "error with a lone surrogate", code: "print('before')\nraise ValueError('\\ud800')", stdout: "before\n", exit: 1, failure: "ValueError"},
	{name: "asyncio.run", code: "import asyncio\nasync def f():\n  await asyncio.sleep(0.01); return 7\nprint(asyncio.run(f()), asyncio.run(f()))", stdout: "7 7\n"},
	{name: "asyncio.run beside await", code: "import asyncio\nasync def f():\n  await asyncio.sleep(0.01); return 7\nprint(await f(), asyncio.run(f()), await f())", stdout: "7 7 7\n"},
	{name: "a coroutine in the present loop", code: "import asyncio\nasync def f():\n  await asyncio.sleep(0.01); return 7\nprint(asyncio.get_event_loop().run_until_complete(f()), await f())", stdout: "7 7\n"},
	{name: "a task in the present loop", code: "import asyncio\nloop = asyncio.get_event_loop()\nloop.run_until_complete(loop.create_task(asyncio.sleep(0)))", exit: 1, failure: "RuntimeError"},
	{name: "nested too deeply", code: "x=" + strings.Repeat("a.", 20000) + "a", exit: 1, failure: "RecursionError"},
	{name: "nested too deeply by eval", code: "print('before'); eval('" + strings.Repeat("(", 5000) + "')", stdout: "before\n", exit: 1, failure: "SyntaxError"},
	{name: "missing module", code: "import toolcell_nothing.part", exit: 1, failure: "ModuleNotFoundError", missing: "toolcell_nothing"},
	{name: "no such part of a module", code: "import os.nothing", exit: 1, failure: "ModuleNotFoundError", missing: "os.nothing"},
	{name: "children once output is closed", code: "import subprocess, sys\nsys.stdout.close()\n_ = subprocess.run(['echo', 'child'])", stdout: "child\n"},
	{name: "after it was closed", code: "print('x')", exit: 1, failure: "ValueError"},
}

// TestPythonAsAProcess wants kernels to answer as a Python process would.
func TestPythonAsAProcess(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		for _, tt := range pythonCases {
			res, err := c.run(tt.code, &codeinterp.RunOptions{Stdin: tt.stdin, Timeout: time.Minute})
			failure, missing := "", ""
			if res.Error != nil {
				failure, missing = res.Error.Name, res.Error.MissingModule
			}
			if err != nil || res.Stdout() != tt.stdout || res.Stderr() != tt.stderr || res.ExitCode != tt.exit || failure != tt.failure || missing != tt.missing {
				t.Errorf("%s: %+v, error %+v, %v", tt.name, res, res.Error, err)
			}
		}
	})
}

// TestStatementsOneByOne: IPython compiles a statement once what stands before it has run.
func TestStatementsOneByOne(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		res, err := realSession(t, s, jupyter.Options{}).run("print('a')\nreturn 5", nil)
		if err != nil || res.Error == nil || res.Error.Name != "SyntaxError" || res.Error.Line != 2 || res.Stdout() != "a\n" {
			t.Errorf("%+v, error %+v, %v", res, res.Error, err)
		}
	})
}

// TestPager wants what IPython tells in its reply only, where a notebook has it in
// a pager or in the next cell.
func TestPager(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		c.ok("def add(a, b):\n  'Adds two numbers.'\n  return a + b\nopen('part.py', 'w').write('loaded = 1')")
		for code, want := range map[string]string{
			"add?":                  "Adds two numbers.",
			"print('first')\nadd??": "return a + b",
			"*dict*?":               "dict",
			"%load part.py":         "loaded = 1",
		} {
			res := c.ok(code)
			last := codeinterp.Output{}
			if n := len(res.Outputs); n > 0 {
				last = res.Outputs[n-1]
			}
			if last.Kind != codeinterp.Display || len(last.Bundle) == 0 {
				t.Errorf("%s: %+v", code, res)
				continue
			}
			text := ""
			for _, r := range last.Bundle {
				if r.MIME == "text/plain" {
					text = string(r.Data)
				}
			}
			if !strings.Contains(text, want) || strings.Contains(text, "\x1b") {
				t.Errorf("%s: %q", code, text)
			}
		}
	})
}

// TestThreadsOfARun wants RunCode to end as a process does, with the last of
// the program's threads.
func TestThreadsOfARun(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		const late = "import threading, time\ndef late():\n  time.sleep(1); print('late')\n"
		for code, want := range map[string]string{
			late + "threading.Thread(target=late).start()":                                                     "late\n",
			late + "threading.Thread(target=late).start()\n1/0":                                                "late\n",
			late + "threading.Thread(target=late, daemon=True).start()":                                        "",
			late + "from concurrent.futures import ThreadPoolExecutor\n_ = ThreadPoolExecutor(2).submit(late)": "late\n",
		} {
			res, err := c.ci.RunCode(t.Context(), "python", code, nil)
			if err != nil || res.Stdout() != want || (res.Status == codeinterp.StatusError) != strings.HasSuffix(code, "1/0") {
				t.Errorf("%q: %+v, %v", code, res, err)
			}
		}
		start := time.Now()
		res, err := c.ci.RunCode(t.Context(), "python", "import threading, time\nthreading.Thread(target=time.sleep, args=[3600]).start()",
			&codeinterp.RunOptions{Timeout: time.Second})
		if err != nil || res.Status != codeinterp.StatusTimeout || time.Since(start) > time.Minute {
			t.Errorf("a thread without an end: %+v, %v", res, err)
		}
		if res := c.ok(late + "threading.Thread(target=late).start()"); res.Stdout() != "" {
			t.Errorf("a context waited: %+v", res)
		}
	})
}

// TestEndOfAProgram wants RunCode to do at the end of a program what the end of a
// process does, while its output and its files are still looked at.
func TestEndOfAProgram(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		for _, tt := range []struct{ name, code, stdout, stderr string }{
			{"exit handlers", "import atexit\natexit.register(print, 'first')\natexit.register(print, 'second')\natexit.unregister(len)\nprint('body')", "body\nsecond\nfirst\n", ""},
			{"failing exit handler", "import atexit\natexit.register(print, 'still')\natexit.register(lambda: 1/0)", "still\n", "ZeroDivisionError"},
			{"variables", "class A:\n  def __del__(self): print('gone')\na = A(); a.me = a", "gone\n", ""},
			{"reopened", "import sys\nsys.stdout = open(sys.stdout.fileno(), 'w', closefd=False)\nprint('reopened')", "reopened\n", ""},
			{"C code", "import ctypes\nctypes.CDLL(None).puts(b'of C')\nNone", "of C\n", ""},
			{"child", "import subprocess, sys\nsubprocess.run(['echo', 'child'], stdout=sys.stdout)\nNone", "child\n", ""},
			{"variables behind a child", "import os\nos.system('echo child')\nclass A:\n  def __del__(self): print('gone')\na = A()", "child\ngone\n", ""},
			{"variables behind a call", "print(tools.echo(v=1)); tools.echo(v=2)\nclass A:\n  def __del__(self): print('gone')\na = A()", "1\ngone\n", ""},
			{"exit handler that exits", "import atexit, sys\natexit.register(print, 'still')\natexit.register(sys.exit, 3)", "still\n", ""},
			{"process pool", "from concurrent.futures import ProcessPoolExecutor\npool = ProcessPoolExecutor(1)\nprint(pool.submit(len, 'abc').result())", "3\n", ""},
			{"logs", "import logging.handlers, sys\nlogging.getLogger().addHandler(logging.handlers.MemoryHandler(9, target=logging.StreamHandler(sys.stdout)))\nlogging.warning('kept')", "kept\n", ""},
			{"unregistered", "import atexit\nf = lambda: None\nf.__module__ = 'zmq.mine'\natexit.register(f); atexit.unregister(f)\nimport weakref\nr = weakref.ref(f)\ndel f\nprint(r())", "None\n", ""},
			{"odd outputs", "class A:\n  def __del__(self): print('gone')\na = A()\n_oh = 5", "gone\n", ""},
		} {
			res, err := c.ci.RunCode(t.Context(), "python", tt.code, &codeinterp.RunOptions{Functions: callstest.Functions(t), Timeout: time.Minute})
			if err != nil || !res.OK() || res.Stdout() != tt.stdout || (res.Stderr() == "") != (tt.stderr == "") || !strings.Contains(res.Stderr(), tt.stderr) {
				t.Errorf("%s: %+v, %v", tt.name, res, err)
			}
		}
		const open = "import csv, gzip, threading\nw = csv.writer(open('a.csv', 'w')); w.writerow([1, 2])\nz = gzip.open('b.gz', 'wt'); z.write('x')\nkeep = [open('c', 'w')]; keep.append(keep); keep[0].write('c')\n"
		for code, want := range map[string]int{open: 3, open + "1/0": 3, open + "threading.Thread(target=threading.Event().wait, daemon=True).start()": 2} {
			res, err := c.ci.RunCode(t.Context(), "python", code, &codeinterp.RunOptions{Artifacts: true})
			if err != nil {
				t.Fatal(err)
			}
			full := 0
			for _, a := range res.Artifacts {
				if a.Size > 0 {
					full++
				}
			}
			if len(res.Artifacts) != 3 || full < want {
				t.Errorf("%q: %+v", code[len(open):], res)
			}
		}
	})
}

// TestThreadOfAnEarlierRun has a thread print and show something while the next program
// runs: each comes once, and Late where the kernel says whose it is, as for what is
// printed both generations do.
func TestThreadOfAnEarlierRun(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"server6", "server7"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := realSession(t, sharedServer(t, name), jupyter.Options{})
			c.ok("import threading\nbegin = threading.Event()\ndef late(): begin.wait(); print('late', flush=True); display('shown')\nthread = threading.Thread(target=late); thread.start()")
			res := c.ok("print('before', flush=True)\nbegin.set(); thread.join()\nprint('after')")
			if res.Stdout() != "before\nafter\n" || lateText(res.Outputs) != "late\n" {
				t.Errorf("%+v", res)
			}
			shown := slices.IndexFunc(res.Outputs, func(o codeinterp.Output) bool { return o.Kind == codeinterp.Display })
			if shown < 0 || res.Outputs[shown].Late != (name == "server7") {
				t.Errorf("%+v", res.Outputs)
			}
			if res := c.ok("t = threading.Thread(target=print, args=['own'])\nt.start(); t.join()"); res.Stdout() != "own\n" {
				t.Errorf("of the run in progress: %+v", res)
			}
			// The next run's threads have numbers that these had.
			c.ok("gone = [threading.Thread(target=print, args=['gone']) for _ in range(300)]\nfor t in gone: t.start()\nfor t in gone: t.join()")
			if res := c.ok("t = threading.Timer(0.01, print, ['timed'])\nt.start(); t.join()"); res.Stdout() != "timed\n" {
				t.Errorf("after threads that are gone: %+v", res)
			}
		})
	}
}

// TestChildBetweenRuns: what a child process prints between two runs comes with the next,
// though the kernel last served a hidden request, as it does where a run has Env.
func TestChildBetweenRuns(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		begin := filepath.Join(t.TempDir(), "begin")
		opts := &codeinterp.RunOptions{Env: map[string]string{"A": "b"}, Timeout: time.Minute}
		code := fmt.Sprintf("import subprocess, time\nchild = subprocess.Popen(['sh', '-c', 'while [ ! -e %s ]; do sleep 0.02; done; echo between'])", begin)
		if res, err := c.run(code, opts); err != nil || !res.OK() {
			t.Fatalf("%+v, %v", res, err)
		}
		if err := os.WriteFile(begin, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(500 * time.Millisecond) // a child that is later than that prints beside the next run
		said := ""
		for range 2 {
			res, err := c.run("_ = child.wait(); time.sleep(0.5)", opts)
			if err != nil {
				t.Fatal(err)
			}
			said += everything(res)
		}
		if said != "between\n" {
			t.Errorf("%q", said)
		}
	})
}

// lateText is what was printed late.
func lateText(outputs []codeinterp.Output) (text string) {
	for _, o := range outputs {
		if o.Kind == codeinterp.Stdout && o.Late {
			text += string(o.Data)
		}
	}
	return text
}

// everything is all that was printed to standard output.
func everything(res codeinterp.Result) string {
	return res.Stdout() + lateText(res.Outputs)
}

// TestRestartIsNoError wants a run that its context's restart ended to carry no
// words of ours.
func TestRestartIsNoError(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		restarted := make(chan error, 1)
		res, err := c.run("import time\nprint('x', flush=True)\ntime.sleep(600)", &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
			go func() { restarted <- c.ci.RestartContext(t.Context(), c.id) }()
			return nil
		}})
		if errors.Join(err, <-restarted) != nil || res.Status != codeinterp.StatusLost || res.Cause != codeinterp.CauseRestart || res.Error != nil {
			t.Errorf("%+v, error %+v, %v", res, res.Error, err)
		}
	})
}

// TestLongTracebackOfAnInterrupt interrupts a program in so many functions that
// IPython takes longer to show them than an interrupted program has, and one whose
// error it is showing then.
func TestLongTracebackOfAnInterrupt(t *testing.T) {
	t.Parallel()
	const grace = 6 * time.Second // of which half is until the second interrupt
	var deep strings.Builder
	deep.WriteString("kept = 1\nimport time\n")
	for i := range 900 {
		fmt.Fprintf(&deep, "def f%d():\n  return f%d()\n", i, i+1)
	}
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{Grace: grace})
		manager, _ := codeinterp.Manager(c.ci)
		for end, name := range map[string]string{"print('x', flush=True); time.sleep(3600)": "KeyboardInterrupt",
			"from threading import Timer; Timer(0.1, print, ['x'], {'flush': True}).start(); 1/0": ""} {
			res, err := c.run(deep.String()+"def f900(): "+end+"\nf0()", &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
				return manager.InterruptContext(t.Context(), c.id)
			}})
			if err != nil || res.StateLost || res.Error == nil || res.Error.Line != 1803 || name != "" && res.Error.Name != name {
				t.Errorf("%s: %+v, error %.500v, %v", end, res, res.Error, err)
			}
			if res, err := c.run("kept", nil); err != nil || res.Text() != "1" || res.StateLost {
				t.Errorf("after %s: %+v, %v", end, res, err)
			}
		}
	})
}
