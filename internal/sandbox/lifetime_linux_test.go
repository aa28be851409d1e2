//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// A tree is a program that tries to leave processes behind, each of which has
// MARK in its command line.
var trees = []struct {
	name, code string
	after      time.Duration // when it is killed, after its first output
	escapes    bool          // from none mode
	code0      int
}{
	{name: "child holds the pipe", code: `
import subprocess
subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100) #MARK'])
print('up')`},
	{name: "daemon", code: `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(100) #MARK'])
    os._exit(0)
time.sleep(0.3); print('up')`, escapes: true},
	{name: "groups at the deadline", code: `
for i in range(5):
    if os.fork() == 0:
        try: os.setpgid(0, 0)
        except OSError: pass
        os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(100) #MARK'])
print('up', flush=True)
while True: time.sleep(1)`, after: 300 * time.Millisecond, code0: 137},
	{name: "changing pids", code: `
t = 0
print('up', flush=True)
while True:
    if os.fork() != 0: os._exit(0)
    try: os.setsid()
    except OSError: pass
    t += 1
    if t > 300: os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(100) #MARK'])`, escapes: true},
	{name: "forks while it is killed", code: `
print('up', flush=True)
import threading
def go():
    while True:
        try:
            if os.fork() == 0: os.execv(sys.executable, [sys.executable, '-S', '-c', 'import time; time.sleep(100) #MARK'])
        except OSError: time.sleep(0.001)
for i in range(2): threading.Thread(target=go, daemon=True).start()
time.sleep(100)`, after: 300 * time.Millisecond, code0: 137},
	{name: "ignores signals", code: `
for s in range(1, 32):
    try: signal.signal(s, signal.SIG_IGN)
    except OSError: pass
print('up', flush=True)
while True: pass`, after: 300 * time.Millisecond, code0: 137},
	{name: "zombies", code: `
for i in range(100):
    if os.fork() == 0: os._exit(0)
print('up')`},
	{name: "kills its parent", code: `
print('up', flush=True)
try: os.kill(os.getppid(), 0 if os.getppid() < 3 else 15)
except OSError as e: print(e)`, escapes: true},
	{name: "_exit", code: `print('up', flush=True); os._exit(3)`, code0: 3},
	{name: "kills itself", code: `print('up', flush=True); time.sleep(0.1); os.kill(os.getpid(), 9)`, code0: 137},
	{name: "another program", code: `print('up', flush=True); os.execv('/bin/sh', ['sh', '-c', 'exit 4'])`, code0: 4},
	{name: "hangs at its end", code: `
import atexit
atexit.register(lambda: time.sleep(100)); print('up', flush=True)`, after: 300 * time.Millisecond, code0: 137},
	{name: "closes its output", code: `print('up', flush=True); os.close(1); os.close(2); os._exit(5)`, code0: 5},
}

func TestTrees(t *testing.T) { eachMode(t, testTrees) }

func testTrees(t *testing.T, mode sandbox.Mode) {
	if _, err := os.Stat(python); err != nil {
		needs(t, "python3 in /usr/bin", err)
	}
	s := open(t, &sandbox.Options{Require: mode})
	mark := fmt.Sprintf("TREE%d", os.Getpid())
	for _, tt := range trees {
		if tt.escapes && mode == sandbox.None {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			before := len(zombies())
			dir, err := s.TempDir()
			check(t, err)
			defer sandbox.RemoveAll(dir)
			cmd := sandbox.Cmd{Path: python, Args: []string{"python3", "-I", "-"}, Workdir: dir, Env: s.Env(dir, nil, map[string]string{"H": "{}"}),
				Limits: sandbox.Limits{Processes: 400}}
			got := runUntil(t, s, cmd, prelude+strings.ReplaceAll(tt.code, "MARK", mark)+"\n", tt.after)
			if !strings.Contains(got.out, "up") || got.exit.Code != tt.code0 {
				t.Errorf("got %+v", got)
			}
			if got.exit.Killed != (tt.after > 0) {
				t.Errorf("killed: %+v", got)
			}
			if left := await(func() bool { return len(leftover.Running(mark)) == 0 }); !left {
				t.Errorf("left behind: %v", leftover.Running(mark))
				for _, pid := range leftover.Running(mark) {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			if !await(func() bool { return len(zombies()) <= before+1 }) {
				t.Errorf("%d zombies, had %d", len(zombies()), before)
			}
		})
	}
}

// await waits for a condition that has to come, and looks less and less often,
// since most look at every process there is.
func await(f func() bool) bool {
	pause := 2 * time.Millisecond
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(pause) {
		if f() {
			return true
		}
		pause = min(pause*3/2, 100*time.Millisecond)
	}
	return f()
}

// zombies lists ended children of this process that were not waited for: the
// anchors of process groups, and nothing else.
func zombies() []int {
	var list []int
	dirs, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, d := range dirs {
		b, err := os.ReadFile(d)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[0] == "Z" && f[1] == strconv.Itoa(os.Getpid()) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(d)))
			list = append(list, pid)
		}
	}
	return list
}

// TestSignal: the program and what it started get a signal, and the rest goes on.
func TestSignal(t *testing.T) { eachMode(t, testSignal) }

func testSignal(t *testing.T, mode sandbox.Mode) {
	if _, err := os.Stat(python); err != nil {
		needs(t, "python3 in /usr/bin", err)
	}
	s := open(t, &sandbox.Options{Require: mode})
	dir, err := s.TempDir()
	check(t, err)
	in, codeW := pipe(t)
	r, out := pipe(t)
	p, err := s.Start(&sandbox.Cmd{Path: python, Args: []string{"python3", "-I", "-u", "-"}, Workdir: dir, Env: s.Env(dir, nil, nil), Files: []*os.File{in, out, out}})
	check(t, err)
	in.Close()
	out.Close()
	io.WriteString(codeW, `
import time, os
r, w = os.pipe()
if os.fork() == 0:
    try:
        os.write(w, b'x')
        time.sleep(100)
    except KeyboardInterrupt: print('child interrupted', flush=True)
    os._exit(0)
os.read(r, 1)
try:
    print('up', flush=True)
    while True: pass
except KeyboardInterrupt:
    os.wait()
    print('interrupted')
`)
	codeW.Close()
	defer time.AfterFunc(patience, p.Kill).Stop()
	lines := bufio.NewScanner(r)
	for lines.Scan() && lines.Text() != "up" {
		t.Error(lines.Text())
	}
	if err := p.SignalAll(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	var got []string
	for lines.Scan() {
		got = append(got, lines.Text())
	}
	if strings.Join(got, ", ") != "child interrupted, interrupted" {
		t.Errorf("got %q", got)
	}
	if exit := p.Wait(); exit.Code != 0 {
		t.Errorf("got %+v", exit)
	}
	if err := p.SignalAll(syscall.SIGINT); err != os.ErrProcessDone {
		t.Errorf("after the end: %v", err)
	}
	p.Kill()
}

func TestClose(t *testing.T) { eachMode(t, testClose) }

func testClose(t *testing.T, mode sandbox.Mode) {
	s, err := sandbox.New(&sandbox.Options{Require: mode})
	check(t, err)
	dir, err := s.TempDir()
	check(t, err)
	p, err := s.Start(&sandbox.Cmd{Path: "/bin/sleep", Args: []string{"sleep", "100"}, Workdir: dir})
	check(t, err)
	check(t, s.Close())
	if exit := p.Wait(); !exit.Killed {
		t.Errorf("got %+v", exit)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory is still there")
	}
	if _, err := s.Start(&sandbox.Cmd{Path: "/bin/sleep", Workdir: t.TempDir()}); err == nil {
		t.Error("starts after Close")
	}
	check(t, s.Close())
}

// TestCloseHammer closes sandboxes while programs start in them.
func TestCloseHammer(t *testing.T) { nightly(t, testCloseHammer) }

func testCloseHammer(t *testing.T, mode sandbox.Mode) {
	mark := strconv.Itoa(1000000 + os.Getpid())
	for i := range 16 {
		s, err := sandbox.New(&sandbox.Options{Require: mode})
		check(t, err)
		var dirs []string
		for range 6 {
			dirs = append(dirs, must(s.TempDir()))
		}
		var wg sync.WaitGroup
		for _, dir := range dirs {
			wg.Go(func() {
				p, err := s.Start(&sandbox.Cmd{Path: "/bin/sleep", Args: []string{"sleep", mark}, Workdir: dir})
				if err == nil {
					p.Wait()
				}
			})
		}
		time.Sleep(time.Duration(i) * time.Millisecond)
		check(t, s.Close())
		wg.Wait()
		if !await(func() bool { return len(leftover.Running(mark)) == 0 }) {
			t.Fatalf("left behind: %v", leftover.Running(mark))
		}
	}
}

func TestFresh(t *testing.T) { eachMode(t, testFresh) }

// testFresh checks that one program's directory is closed to another.
func testFresh(t *testing.T, mode sandbox.Mode) {
	if mode == sandbox.None && os.Getuid() != 0 {
		t.Skip("none mode under one user hides nothing")
	}
	s := open(t, &sandbox.Options{Require: mode})
	a, err := s.TempDir()
	check(t, err)
	c := sh
	c.Workdir = a
	if got := run(t, s, c, "echo secret >file; chmod 777 . file; cat file"); got.out != "secret\n" {
		t.Fatalf("got %+v", got)
	}
	got := run(t, s, sh, "cat "+a+"/file; ls "+a+"; echo x >"+a+"/other; ls "+filepath.Dir(a)+"; true")
	if strings.Contains(got.out, "secret\n") && mode != sandbox.None {
		t.Errorf("got %+v", got)
	}
	if got := run(t, s, c, "cat file; ls"); mode != sandbox.None && got.out != "secret\nfile\n" {
		t.Errorf("a second program in the directory: got %+v", got)
	}
	check(t, sandbox.RemoveAll(a))
}

func TestStartErrors(t *testing.T) { eachMode(t, testStartErrors) }

func testStartErrors(t *testing.T, mode sandbox.Mode) {
	s := open(t, &sandbox.Options{Require: mode})
	dir, err := s.TempDir()
	check(t, err)
	for name, c := range map[string]sandbox.Cmd{
		"relative program": {Path: "sh", Workdir: dir},
		"no directory":     {Path: "/bin/sh"},
		"missing":          {Path: "/bin/sh", Workdir: dir + "x"},
		"relative path":    {Path: "/bin/sh", Workdir: dir, ReadOnly: []string{"x"}},
		"limit":            {Path: "/bin/sh", Workdir: dir, Limits: sandbox.Limits{CPU: -7}},
		"environment":      {Path: "/bin/sh", Workdir: dir, Env: []string{"A=x\x00--bind\x00/\x00/host"}},
		"argument":         {Path: "/bin/sh", Workdir: dir, Args: []string{"sh", "\x00"}},
	} {
		if _, err := s.Start(&c); err == nil || !strings.Contains(err.Error(), codeinterp.ErrInvalid.Error()) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if p, err := s.Start(&sandbox.Cmd{Path: "/bin/no-such-program", Workdir: dir}); err == nil {
		if exit := p.Wait(); exit.Code == 0 {
			t.Errorf("a program that is not there: %+v", exit)
		}
	}
	if os.Getuid() == 0 {
		closed := t.TempDir()
		check(t, os.Chmod(filepath.Dir(closed), 0o700))
		if err := s.Reachable(closed); err == nil {
			t.Error("a closed directory is reachable")
		}
		check(t, s.Reachable("/bin/sh"))
	}
}
