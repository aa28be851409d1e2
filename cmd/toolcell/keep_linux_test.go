package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/internal/leftover"
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
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			k.t.Fatalf("waited for %s", what)
		}
	}
}

// warm has a keeper for runs with these flags.
func (k *keepTest) warm(flags ...string) {
	k.t.Helper()
	before := len(k.sockets())
	if e := finish(k.command(append(append([]string{"run"}, flags...), "-e", "1")...), ""); e.code != 0 {
		k.t.Fatalf("%+v", e)
	}
	k.until("a keeper", func() bool { return len(k.sockets()) > before })
}

func (k *keepTest) sockets() []string {
	list, _ := filepath.Glob(k.run + "/*/*.socket")
	return list
}

const pixel = `"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="`

// TestKeptRunsAreTheSame: what a run prints, leaves and ends with does not depend on
// who runs it.
func TestKeptRunsAreTheSame(t *testing.T) {
	k := newKeepTest(t)
	for name, text := range map[string]string{
		"args.py": "import sys, os\nprint(sys.argv, __file__, os.environ.get('TOOLCELL_SCRIPT'), __name__)", "fails.py": "\n\nx = 1 / 0\n",
		"future.py": "from __future__ import annotations\ndef f(x: Nope): pass\nprint(f.__annotations__)", "data.txt": "data",
		"main.py": "import beside; print(beside.x)", "beside.py": "x = 'beside'", "shebang": "#!/usr/bin/env python3\nprint('by its line')",
		"syntax.py": "def f(:\n", "makes.py": "open('made', 'w').write(open('data.txt').read()); print(open('made').read())",
	} {
		if err := os.WriteFile(filepath.Join(k.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	flags := []string{"--provider", "subprocess", "--allow-unsandboxed"}
	kept := append([]string{"--keep", "1m"}, flags...)
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
	flags := []string{"--keep", "1m", "--provider", "subprocess", "--allow-unsandboxed"}
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

var keptFlags = []string{"--keep", "1m", "--provider", "subprocess", "--allow-unsandboxed"}

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

// TestKeptEnds: however a caller or a keeper goes, the program goes too, and is not
// run again.
func TestKeptEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(k *keepTest, cmd *exec.Cmd)
		code int
		said string
	}{
		"the caller is killed":      {func(_ *keepTest, cmd *exec.Cmd) { cmd.Process.Kill() }, -1, ""},
		"the caller is interrupted": {func(_ *keepTest, cmd *exec.Cmd) { cmd.Process.Signal(os.Interrupt) }, 130, "toolcell: stopped\n"},
		"the caller is terminated":  {func(_ *keepTest, cmd *exec.Cmd) { cmd.Process.Signal(syscall.SIGTERM) }, 130, "toolcell: stopped\n"},
		"the keeper is killed": {func(k *keepTest, _ *exec.Cmd) {
			_, pid := k.served()
			syscall.Kill(pid, syscall.SIGKILL)
		}, 1, "toolcell: the keeper ended while it served this call: what the program did until then is done, and it is not run again\n"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeepTest(t)
			args, alive := k.beats()
			k.warm(args[:len(args)-2]...)
			cmd, said := k.start(args...)
			tt.end(k, cmd)
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != tt.code || said.String() != tt.said {
				t.Errorf("code %d, %q; want %d, %q", code, said, tt.code, tt.said)
			}
			k.until("the program's end", func() bool { return !alive() })
			if e := finish(k.command(append(append([]string{"run"}, keptFlags...), "-e", "1")...), ""); e != (ended{0, "1\n", ""}) {
				t.Errorf("the next run: %+v", e)
			}
		})
	}
}

// TestKeptFollowsTheCaller: what is in the caller's directory is what it is now, and
// names are what they are, also those that are no text.
func TestKeptFollowsTheCaller(t *testing.T) {
	k := newKeepTest(t)
	k.env = append(k.env, "ODD=\xe9")
	beside := filepath.Join(k.dir, "beside.py")
	flags := []string{"--keep", "1m", "--provider", "subprocess", "--allow-unsandboxed", "--preload", "beside"}
	inside := append(append([]string{}, flags...), "--dir", ".")
	for round, x := range []string{"old", "new, longer"} {
		if err := os.WriteFile(beside, []byte("x = '"+x+"'"), 0o644); err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			k.warm(inside...)
		}
		e := finish(k.command(append(append([]string{"run"}, inside...), "-e", "import beside; print(beside.x)")...), "")
		if e.code != 0 || e.stdout != x+"\n" {
			t.Errorf("%+v, want %s", e, x)
		}
	}
	k.warm(flags...)
	finish(k.command(append(append([]string{"run"}, flags...), "--out", "out\xe9", "-e", "open('made', 'w').close()")...), "")
	if _, err := os.Stat(filepath.Join(k.dir, "out\xe9", "made")); err != nil {
		t.Error(err)
	}
	if runs, _ := k.served(); runs != 3 {
		t.Errorf("keepers served %d runs", runs)
	}
}

// TestKeptTwoAtOnce: who comes while the keeper is busy runs the program itself.
func TestKeptTwoAtOnce(t *testing.T) {
	k := newKeepTest(t)
	k.warm(keptFlags...)
	first := k.command(append(append([]string{"run"}, keptFlags...), "--stdin", "-e", "print('on', flush=True); print(input())")...)
	in, err := first.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := first.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("on\n"))); err != nil {
		t.Fatal(err)
	}
	if e := finish(k.command(append(append([]string{"run"}, keptFlags...), "-e", "2")...), ""); e != (ended{0, "2\n", ""}) {
		t.Errorf("the second: %+v", e)
	}
	in.Write([]byte("line\n"))
	in.Close()
	rest, _ := io.ReadAll(out)
	if err := first.Wait(); err != nil || string(rest) != "line\n" {
		t.Errorf("the first: %v, %q", err, rest)
	}
	if runs, _ := k.served(); runs != 1 {
		t.Errorf("the keeper served %d", runs)
	}
}

// TestKeeperLeaves: a keeper goes when nobody calls, when what it runs is gone, and
// when it is told to, and leaves nothing.
func TestKeeperLeaves(t *testing.T) {
	k := newKeepTest(t)
	env := filepath.Join(leftover.Dir(t), "venv")
	if out, err := exec.CommandContext(t.Context(), "python3", "-m", "venv", "--without-pip", env).CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	flags := []string{"--provider", "subprocess", "--allow-unsandboxed", "--python", env + "/bin/python"}
	k.warm(append([]string{"--keep", "500ms"}, flags...)...)
	k.until("the idle keeper's end", func() bool { left, _ := filepath.Glob(k.run + "/*/*"); return len(left) == 0 })
	k.warm(append([]string{"--keep", "1m"}, flags...)...)
	if err := os.RemoveAll(env); err != nil {
		t.Fatal(err)
	}
	k.until("the end with the environment", func() bool { left, _ := filepath.Glob(k.run + "/*/*"); return len(left) == 0 })
	k.warm(keptFlags...)
	if e := finish(k.command("keep", "stop"), ""); e.code != 0 || !strings.Contains(e.stdout, "ended") {
		t.Errorf("%+v", e)
	}
	if left, _ := filepath.Glob(k.run + "/*/*"); len(left) > 0 {
		t.Errorf("left is %q", left)
	}
}

// TestStopAsksTheKeeper: a keeper is ended by itself, also for a caller with other
// rights, and no process whose number somebody wrote.
func TestStopAsksTheKeeper(t *testing.T) {
	k := newKeepTest(t)
	k.warm(keptFlags...)
	stop := k.command("keep", "stop")
	stop.Path, stop.Args = "/bin/sh", []string{"sh", "-c", `umask 077; ulimit -n 200; exec /proc/` + strconv.Itoa(os.Getpid()) + `/exe keep stop`}
	if e := finish(stop, ""); e.code != 0 || !strings.Contains(e.stdout, "ended") || len(k.sockets()) > 0 {
		t.Errorf("%+v", e)
	}
	victim := exec.CommandContext(t.Context(), "sleep", "60")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- victim.Wait() }()
	lock, err := k.place().Hold("planted")
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Note(keeper.Note{PID: victim.Process.Pid}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	for _, one := range k.place().List() {
		if err := k.place().Stop(ctx, one); err == nil {
			t.Errorf("%+v has ended", one)
		}
	}
	lock.Drop()
	select {
	case err := <-ended:
		t.Errorf("another process was ended: %v", err)
	default:
		_ = victim.Process.Kill()
		<-ended
	}
}

// TestNothingIsKeptElsewhere: a directory that others could use is not used, and a
// flag that cannot be followed is refused.
func TestNothingIsKeptElsewhere(t *testing.T) {
	k := newKeepTest(t)
	if e := finish(k.command("keep", "list"), ""); e.code != 0 {
		t.Fatalf("%+v", e)
	}
	places, _ := filepath.Glob(filepath.Join(k.run, "toolcell-keepers-*"))
	if len(places) != 1 {
		t.Fatalf("places: %q", places)
	}
	dir := places[0]
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run := append(append([]string{"run"}, keptFlags...), "-e", "1")
	if e := finish(k.command(run...), ""); e.code != 0 || e.stdout != "1\n" || !strings.Contains(e.stderr, "nothing is kept: ") || !strings.Contains(e.stderr, "open to others") {
		t.Errorf("%+v", e)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if e := finish(k.command(run...), ""); e.code != 0 || !strings.Contains(e.stderr, "nothing is kept: ") {
		t.Errorf("%+v", e)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--keep 1m -e 1": "--keep goes with --provider subprocess", "--keep -1s --provider subprocess -e 1": "use a duration",
		"--keep 1m --provider subprocess --language javascript -e 1": "for Python programs", "--keep 1m --provider subprocess --install six -e 1": "without --install",
		"--keep 1m x.ipynb": "not for notebooks",
	} {
		if e := finish(k.command(append([]string{"run"}, strings.Fields(args)...)...), ""); e.code != 2 || !strings.Contains(e.stderr, want) {
			t.Errorf("%s: %+v", args, e)
		}
	}
	k.env = append(k.env, "TOOLCELL_KEEP=1m")
	if e := finish(k.command("run", "-e", "1"), ""); e != (ended{0, "1\n", ""}) {
		t.Errorf("%+v", e)
	}
}
