//go:build real

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/leftover"
)

// A keepTest has keepers of its own.
type keepTest struct {
	t   *testing.T
	dir string
	env []string
}

func newKeepTest(t *testing.T) *keepTest {
	k := &keepTest{t: t, dir: leftover.Dir(t)}
	k.env = append(os.Environ(), asToolcell+"=1", "XDG_RUNTIME_DIR="+t.TempDir())
	t.Cleanup(func() { k.run("keep", "stop") })
	return k
}

func (k *keepTest) command(args ...string) (cmd *exec.Cmd, out *bytes.Buffer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(k.t.Context()), testLimit)
	k.t.Cleanup(cancel)
	cmd = exec.CommandContext(ctx, "/proc/self/exe", args...)
	out = &bytes.Buffer{}
	cmd.Args[0], cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "toolcell", k.dir, k.env, out, out
	cmd.WaitDelay = 10 * time.Second
	return cmd, out
}

// run returns what a command prints and its exit code.
func (k *keepTest) run(args ...string) (string, int) {
	cmd, out := k.command(args...)
	_ = cmd.Run()
	return out.String(), cmd.ProcessState.ExitCode()
}

// until waits until the list of keepers has a text, or is empty.
func (k *keepTest) until(text string) {
	k.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if list, _ := k.run("keep", "list"); strings.Contains(list, text) && (text == "") == (list == "") {
			return
		} else if time.Now().After(end) {
			k.t.Fatalf("%q, want %q", list, text)
		}
	}
}

// untilKept waits until a keeper runs programs, with a module that it has imported.
func (k *keepTest) untilKept(keep func(...string) (string, int), module string) {
	k.t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		if out, _ := keep("-e", "import sys; print('"+module+"' in sys.modules)"); out == "True\n" {
			return
		} else if time.Now().After(end) {
			k.t.Fatalf("no keeper runs: %s", out)
		}
	}
}

func (k *keepTest) write(name, text string) string {
	path := filepath.Join(k.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		k.t.Fatal(err)
	}
	return path
}

// TestKeep: a run in a keeper prints, reads, writes and ends as one without, and a
// module that was edited is never served old.
func TestKeep(t *testing.T) {
	k := newKeepTest(t)
	module := k.write("edited.py", "V = 'first'\n")
	k.write("args.py", "import sys\nprint(sys.argv, __file__)\nsys.exit(3)\n")
	k.env = append(k.env, "PYTHONPATH="+k.dir)
	flags := []string{"run", "--keep", "1m", "--provider", "subprocess", "--allow-unsandboxed", "--dir", ".", "--preload", "colorsys"}
	keep := func(args ...string) (string, int) { return k.run(append(flags[:len(flags):len(flags)], args...)...) }
	alone := func(args ...string) (string, int) {
		return k.run(append([]string{"run", "--language", "python", "--allow-unsandboxed", "--dir", "."}, args...)...)
	}
	k.write("first", "#!/usr/bin/env python3\nprint('first')")
	if out, code := keep("first"); out != "first\n" || code != 0 { // no keeper is running yet
		t.Fatalf("%d, %q", code, out)
	}
	k.untilKept(keep, "colorsys")
	for _, args := range [][]string{{"args.py", "a'b", "-x"}, {"-e", "1/0"}, {"-e", "import os; print(os.getcwd()); os._exit(4)"}, {"--timeout", "300ms", "-e", "while True: pass"}} {
		want, wantCode := alone(args...)
		got, code := keep(args...)
		if !strings.Contains(args[0], "timeout") && got != want || code != wantCode {
			t.Errorf("%q: %d, %q; alone %d, %q", args, code, got, wantCode, want)
		}
	}
	for _, want := range []string{"first", "second, longer"} {
		k.write("edited.py", "V = '"+want+"'\n")
		if out, _ := keep("-e", "import edited; print(edited.V)"); out != want+"\n" {
			t.Errorf("%q, want %q of %s", out, want, module)
		}
	}
}

// flagsOfKept are those of runs that test a keeper with a module.
var flagsOfKept = []string{"run", "--keep", "90s", "--language", "python", "--isolation", "none", "--allow-unsandboxed", "--preload", "colorsys"}

// start starts a keeper, and returns what runs programs there.
func (k *keepTest) start(flags ...string) func(args ...string) []string {
	k.t.Helper()
	all := append(slices.Clip(flagsOfKept), flags...)
	with := func(args ...string) []string { return append(slices.Clip(all), args...) }
	k.untilKept(func(args ...string) (string, int) { return k.run(with(args...)...) }, "colorsys")
	return with
}

// TestKeepEnds: the program of a caller that is killed ends, and a keeper that is
// stopped leaves nothing.
func TestKeepEnds(t *testing.T) {
	k := newKeepTest(t)
	beat := filepath.Join(k.dir, "beat")
	if err := os.Chmod(k.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	keep := k.start("--write", k.dir)
	cmd, out := k.command(keep("-e", "import time\nwhile True:\n  open('"+beat+"', 'a').write('x'); time.sleep(0.01)")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		info, err := os.Stat(beat)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	for end := time.Now().Add(time.Minute); size() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the program does not run: %s", out)
		}
	}
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
	for last, end := int64(-1), time.Now().Add(time.Minute); last != size(); time.Sleep(300 * time.Millisecond) {
		if last = size(); time.Now().After(end) {
			t.Fatal("the program goes on")
		}
	}
	if out, _ := k.run("keep", "stop"); !strings.Contains(out, "ended") {
		t.Error(out)
	}
	k.until("")
}

// TestKeepStop: the list says what keepers keep and how long they stay, one is stopped by
// its id, and what one that was killed has left is removed.
func TestKeepStop(t *testing.T) {
	k := newKeepTest(t)
	temp := leftover.Dir(t)
	k.env = append(k.env, "TMPDIR="+temp)
	start := func() (id string) {
		k.start()
		list, _ := k.run("keep", "list")
		id, rest, _ := strings.Cut(list, "  ")
		if !strings.HasPrefix(rest, "run-") || !strings.HasSuffix(rest, " lease 1m30s python\n") {
			t.Errorf("the list is %q", list)
		}
		return id
	}
	pid, err := strconv.Atoi(start())
	if err != nil {
		t.Fatal(err)
	}
	if out, code := k.run("keep", "stop", "1"); code == 0 || !strings.Contains(out, "there is no keeper 1") {
		t.Errorf("stop of another: %d, %q", code, out)
	}
	if left, _ := filepath.Glob(temp + "/toolcell-sandbox-*"); len(left) == 0 {
		t.Error("the keeper has no directory")
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	k.until("")
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		k.run("keep", "list")
		if left, _ := filepath.Glob(temp + "/toolcell-sandbox-*"); len(left) == 0 {
			break
		} else if time.Now().After(end) {
			t.Fatalf("the list leaves %q", left)
		}
	}
	if out, code := k.run("keep", "stop", start()); code != 0 || !strings.Contains(out, ", ended") {
		t.Errorf("stop: %d, %q", code, out)
	}
	k.until("")
}

// TestKeepFiles: a run in a keeper reads standard input as it comes, gets files and gives
// its own back.
func TestKeepFiles(t *testing.T) {
	k := newKeepTest(t)
	keep := k.start()
	k.write("in.txt", "from a file")
	cmd, out := k.command(keep("--stdin", "--in", "in.txt", "--out", "saved", "-e",
		"print(input(), flush=True)\nprint(input(), open('in.txt').read()); n = open('made.txt', 'w').write('made')")...)
	stdin, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	cmd.Stdin = stdin
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"first\n", "second\n"} {
		if _, err := w.WriteString(line); err != nil {
			t.Error(err)
		}
	}
	w.Close()
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "first\nsecond from a file\n") {
		t.Errorf("%v, %q", err, out)
	}
	if b, err := os.ReadFile(filepath.Join(k.dir, "saved", "made.txt")); string(b) != "made" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestKeepMoved: a run changes the directory of a name as it is now, not one that a keeper
// has opened under that name.
func TestKeepMoved(t *testing.T) {
	k := newKeepTest(t)
	open := filepath.Join(k.dir, "open")
	fresh := func() {
		t.Helper()
		if err := errors.Join(os.Mkdir(open, 0o777), os.Chmod(open, 0o777)); err != nil {
			t.Fatal(err)
		}
	}
	fresh()
	keep := func(args ...string) (string, int) {
		return k.run(append([]string{"run", "--keep", "90s", "--language", "python", "--allow-unsandboxed", "--preload", "colorsys", "--write", open}, args...)...)
	}
	k.untilKept(keep, "colorsys")
	if err := os.Rename(open, open+".old"); err != nil {
		t.Fatal(err)
	}
	fresh()
	out, code := keep("-e", "n = open('"+open+"/made', 'w').write('made')")
	if b, err := os.ReadFile(filepath.Join(open, "made")); string(b) != "made" || code != 0 {
		t.Errorf("%q, %v; %d, %s", b, err, code, out)
	}
}

// TestKeepLimits: a run has the file mode mask and the limits of its caller, not of another
// one whose keeper is ready.
func TestKeepLimits(t *testing.T) {
	k := newKeepTest(t)
	keep := k.start()
	cmd, out := k.command()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = "/bin/sh"
	cmd.Args = append([]string{"sh", "-c", `umask 077 && ulimit -t 500 && exec "$0" "$@"`, exe}, keep("-e",
		"import os, resource; print(oct(os.umask(0)), resource.getrlimit(resource.RLIMIT_CPU)[0])")...)
	if err := cmd.Run(); err != nil || out.String() != "0o77 500\n" {
		t.Errorf("%v, %s", err, out)
	}
}

// TestKeepStopStarting: a keeper that is still importing has ended when stop says so.
func TestKeepStopStarting(t *testing.T) {
	k := newKeepTest(t)
	venv := filepath.Join(k.dir, "venv")
	if out, err := exec.CommandContext(t.Context(), "python3", "-m", "venv", "--without-pip", venv).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sites, err := filepath.Glob(filepath.Join(venv, "lib", "python3*", "site-packages"))
	if err != nil || len(sites) != 1 {
		t.Fatal(sites, err)
	}
	if err := os.WriteFile(filepath.Join(sites[0], "ahead.py"), []byte("import time\ntime.sleep(600)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, code := k.run("run", "--keep", "90s", "--language", "python", "--isolation", "none", "--allow-unsandboxed",
		"--python", filepath.Join(venv, "bin", "python"), "--preload", "ahead", "-e", "print(1)"); out != "1\n" || code != 0 {
		t.Fatalf("%d, %s", code, out)
	}
	k.until("run-")
	stopped, _ := k.run("keep", "stop")
	if list, _ := k.run("keep", "list"); list != "" || !strings.Contains(stopped, ", ended") {
		t.Errorf("%q is left by %q", list, stopped)
	}
}
