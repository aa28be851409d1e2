package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/internal/race"
)

// A keepTest has keepers of its own.
type keepTest struct {
	t   *testing.T
	dir string // the run's directory
	run string // XDG_RUNTIME_DIR
	env []string
}

func newKeepTest(t *testing.T) *keepTest {
	needs(t, "python3")
	k := &keepTest{t: t, dir: leftover.Dir(t), run: t.TempDir()}
	k.env = append(os.Environ(), asToolcell+"=1", "XDG_RUNTIME_DIR="+k.run, "FROM_OUTSIDE=outside")
	t.Cleanup(func() {
		k.command("keep", "stop").Run()
		if left, _ := filepath.Glob(k.run + "/*/*"); len(left) > 0 {
			t.Errorf("left is %q", left)
		}
	})
	return k
}

func (k *keepTest) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(k.t.Context()), "/proc/self/exe", args...)
	cmd.Args[0], cmd.Dir, cmd.Env = "toolcell", k.dir, k.env
	return cmd
}

// An ended is how a command did.
type ended struct {
	code           int
	stdout, stderr string
}

func finish(cmd *exec.Cmd, stdin string) ended {
	var out, err bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &err
	_ = cmd.Run()
	return ended{cmd.ProcessState.ExitCode(), out.String(), err.String()}
}

func (k *keepTest) place() *keeper.Place {
	place, err := keeper.Open(func(string) string { return k.run })
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { place.Close() })
	return place
}

// served counts the runs of all keepers, and tells their process.
func (k *keepTest) served() (runs int, pid int) {
	for _, one := range k.place().List() {
		runs, pid = runs+one.Runs, one.PID
	}
	return runs, pid
}

// until waits for something that takes a moment.
func (k *keepTest) until(what string, ok func() bool) {
	k.t.Helper()
	for end := time.Now().Add(3 * time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			k.t.Fatalf("waited for %s", what)
		}
	}
}

// warm has a keeper for runs with these flags. One that stays for a moment only may be
// gone when the run that starts it ends, so that it is looked for from the begin.
func (k *keepTest) warm(flags ...string) {
	k.t.Helper()
	before := len(k.sockets())
	run := make(chan ended, 1)
	go func() { run <- finish(k.command(append(append([]string{"run"}, flags...), "-e", "1")...), "") }()
	k.until("a keeper", func() bool { return len(k.sockets()) > before })
	if e := <-run; e.code != 0 {
		k.t.Fatalf("%+v", e)
	}
}

func (k *keepTest) sockets() []string {
	list, _ := filepath.Glob(k.run + "/*/*.socket")
	return list
}

const pixel = `"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="`

// TestKeptRunsAreTheSame: what a run prints, leaves and ends with does not depend on
// who runs it.
func TestKeptRunsAreTheSame(t *testing.T) {
	race.Long(t, "the other tests of keepers see most of it")
	if race.Enabled && !race.Full() {
		t.Skip("the race detector is slow, and sees the same in the other tests of keepers: make test runs it without")
	}
	k := newKeepTest(t)
	for name, text := range map[string]string{
		"args.py": "import sys, os\nprint(sys.argv, __file__, os.environ.get('TOOLCELL_SCRIPT'), __name__)", "fails.py": "\n\nx = 1 / 0\n", "own.py": "import traceback\ntry: 1 / 0\nexcept Exception: traceback.print_exc()",
		"future.py": "from __future__ import annotations\ndef f(x: Nope): pass\nprint(f.__annotations__)", "data.txt": "data",
		"main.py": "import beside; print(beside.x)", "beside.py": "x = 'beside'", "shebang": "#!/usr/bin/env python3\nprint('by its line')",
		"syntax.py": "def f(:\n", "makes.py": "open('made', 'w').write(open('data.txt').read()); print(open('made').read())",
	} {
		if err := os.WriteFile(filepath.Join(k.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	flags := []string{"--provider", "subprocess", "--allow-unsandboxed"}
	kept := append([]string{"--keep", "30m"}, flags...)
	k.warm(kept...)
	for _, tt := range []struct {
		name, stdin string
		args        []string
	}{
		{"value", "", []string{"-e", "6 * 7"}},
		{"streams", "", []string{"-e", "import sys; print('a'); print('b', file=sys.stderr); sys.stdout.write('c')"}},
		{"arguments", "", []string{"args.py", "a'b \"c\"", "-x", "--", "é"}},
		{"arguments of -e", "", []string{"-e", "import sys; print(sys.argv)", "a", "-b"}},
		{"standard input", "import sys; print(sys.argv, 'from a pipe')", []string{"-", "a"}},
		{"standard input alone", "print('from a pipe')", nil},
		{"by its first line", "", []string{"shebang"}},
		{"exit code", "", []string{"-e", "import sys; sys.exit(7)"}},
		{"exit", "", []string{"-e", "import os; print('x', flush=True); os._exit(3)"}},
		{"signal", "", []string{"-e", "import os; os.kill(os.getpid(), 9)"}},
		{"exception", "", []string{"fails.py"}},
		{"syntax", "", []string{"syntax.py"}},
		{"a traceback of its own", "", []string{"own.py"}},
		{"future", "", []string{"future.py"}},
		{"missing module", "", []string{"-e", "import no_such_module"}},
		{"missing file", "", []string{"-e", "open('data.txt')"}},
		{"input", "one\ntwo\n", []string{"--stdin", "-e", "print(input(), input())"}},
		{"input that is not read", "one\ntwo\n", []string{"--stdin", "-e", "print(1)"}},
		{"large input", strings.Repeat("x", 3e5), []string{"--stdin", "-e", "import sys; print(len(sys.stdin.read()))"}},
		{"no input", "", []string{"-e", "input()"}},
		{"large output", "", []string{"-e", "print('x' * 3_000_000)"}},
		{"bytes", "", []string{"-e", "import sys; sys.stdout.buffer.write(bytes(range(256)))"}},
		{"files", "", []string{"--in", "data.txt", "--out", "OUT", "makes.py"}},
		{"image", "", []string{"--images", "OUT", "-e", "import base64; display({'image/png': base64.b64decode(" + pixel + ")}, raw=True)"}},
		{"timeout", "", []string{"--timeout", "300ms", "-e", "print('a', flush=True)\nwhile True: pass"}},
		{"negative timeout", "", []string{"--timeout", "-1s", "-e", "1"}},
		{"no such file", "", []string{"no-such.py"}},
		{"no such input", "", []string{"--in", "no-such", "-e", "1"}},
		{"JSON", "", []string{"--json", "-e", "print(1); {'a': [1]}"}},
		{"directory", "", []string{"-e", "import os; print(os.path.basename(os.getcwd()), os.listdir())"}},
		{"variables", "", []string{"-e", "import os; print(sorted(k for k in os.environ if 'TOOLCELL' in k or 'OUTSIDE' in k))"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			results, files := [2]ended{}, [2]string{}
			for i, with := range [][]string{flags, kept} {
				before, _ := k.served()
				out := filepath.Join(k.dir, "out")
				args := append([]string{"run"}, with...)
				for _, a := range tt.args {
					args = append(args, strings.ReplaceAll(a, "OUT", out))
				}
				results[i] = finish(k.command(args...), tt.stdin)
				files[i] = read(t, out)
				if after, _ := k.served(); i == 1 && after != before+1 && tt.name != "no such file" && tt.name != "negative timeout" {
					t.Errorf("no keeper served it")
				}
				results[i].stdout, results[i].stderr = steady(results[i].stdout), steady(results[i].stderr)
			}
			if results[0] != results[1] || files[0] != files[1] {
				t.Errorf("alone\n%+v, files %s\nkept\n%+v, files %s", results[0], files[0], results[1], files[1])
			}
		})
	}
}

// times are what differs from one run to the next; durations of no millisecond are
// not told.
var times = regexp.MustCompile(`,"duration[A-Za-z_]*": ?[0-9.e+-]+|timed out after [0-9.a-z]+|/tmp/[^ '"]*toolcell-[^ '"/]*`)

func steady(text string) string { return times.ReplaceAllString(text, "") }

// read returns what is in a directory, and removes it.
func read(t *testing.T, dir string) (all string) {
	names, _ := os.ReadDir(dir)
	for _, n := range names {
		b, err := os.ReadFile(filepath.Join(dir, n.Name()))
		if err != nil {
			t.Error(err)
		}
		all += n.Name() + ": " + string(b) + "\n"
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Error(err)
	}
	return all
}

// TestKeptWithSettings: other flags are other keepers, with their modules.
func TestKeptWithSettings(t *testing.T) {
	k := newKeepTest(t)
	if err := os.WriteFile(filepath.Join(k.dir, "beside.py"), []byte("x = 'beside'"), 0o644); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--keep", "30m", "--provider", "subprocess", "--allow-unsandboxed"}
	for _, tt := range []struct {
		flags []string
		code  string
		want  string
	}{
		{[]string{"--preload", "colorsys"}, "import sys; print('colorsys' in sys.modules)", "True\n"},
		{[]string{"--env", "A=b", "--env", "FROM_OUTSIDE"}, "import os; print(os.environ['A'], os.environ['FROM_OUTSIDE'])", "b outside\n"},
		{[]string{"--dir", "."}, "import beside, os; print(beside.x, sorted(os.listdir()))", "beside ['beside.py']\n"},
	} {
		with := append(append([]string{}, flags...), tt.flags...)
		k.warm(with...)
		before, _ := k.served()
		var e ended
		k.until(tt.want, func() bool { // a keeper can be there a little before its first process is
			e = finish(k.command(append(append([]string{"run"}, with...), "-e", tt.code)...), "")
			return e.stdout == tt.want
		})
		if after, _ := k.served(); e != (ended{0, tt.want, ""}) || after <= before {
			t.Errorf("%q: %+v, %d runs after %d", tt.flags, e, after, before)
		}
	}
	if e := finish(k.command("keep", "list"), ""); strings.Count(e.stdout, "\n") != 3 || strings.Contains(e.stdout, "A=b") {
		t.Errorf("%+v", e)
	}
}

// start starts a run that is served, and returns it once it says so.
func (k *keepTest) start(args ...string) (cmd *exec.Cmd, said *bytes.Buffer) {
	k.t.Helper()
	_, before := k.served()
	cmd, said = k.command(append([]string{"run"}, args...)...), &bytes.Buffer{}
	out, err := cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 100)); err != nil {
		k.t.Fatalf("%v; keeper %d; %s", err, before, said)
	}
	return cmd, said
}

var keptFlags = []string{"--keep", "30m", "--provider", "subprocess", "--allow-unsandboxed"}

// beats has a program say that it lives, in a directory.
func (k *keepTest) beats() (flags []string, alive func() bool) {
	dir := leftover.Dir(k.t)
	if err := os.Chmod(dir, 0o777); err != nil {
		k.t.Fatal(err)
	}
	code := "import time\nopen('" + dir + "/begun', 'a').write('x')\nprint('on', flush=True)\nwhile True:\n  open('" + dir + "/beat', 'a').write('x'); time.sleep(0.01)"
	size := func() int64 {
		info, err := os.Stat(dir + "/beat")
		if err != nil {
			return 0
		}
		return info.Size()
	}
	alive = func() bool {
		before := size()
		time.Sleep(300 * time.Millisecond)
		return size() > before
	}
	k.t.Cleanup(func() {
		if b, _ := os.ReadFile(dir + "/begun"); len(b) > 1 {
			k.t.Errorf("the program was run %d times", len(b))
		}
	})
	return append(append([]string{}, keptFlags...), "--write", dir, "-e", code), alive
}
