//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
	"github.com/toolcell/toolcell/internal/tier"
)

// open returns a sandbox that is closed with the test.
func open(t testing.TB, o *sandbox.Options) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A result is how a program ended.
type result struct {
	exit sandbox.Exit
	out  string // stdout and stderr
	took time.Duration
}

// patience is how long a test waits for what an idle machine does at once. It
// is for machines that are busy with other things, and only failures take it.
const patience = 2 * time.Minute

// run runs a program to its end, or kills it when patience ends. The program is
// an interpreter that reads code from its standard input, which comes when the
// limits are in force.
func run(t testing.TB, s *sandbox.Sandbox, c sandbox.Cmd, code string) result {
	t.Helper()
	return runUntil(t, s, c, code, 0)
}

// runUntil is run, but kills the program that long after its first output, unless
// that is 0.
func runUntil(t testing.TB, s *sandbox.Sandbox, c sandbox.Cmd, code string, after time.Duration) result {
	t.Helper()
	start := time.Now()
	if c.Workdir == "" {
		dir, err := s.TempDir()
		if err != nil {
			t.Fatal(err)
		}
		defer sandbox.RemoveAll(dir)
		c.Workdir = dir
	}
	if c.Env == nil {
		c.Env = s.Env(c.Workdir, nil, nil)
	}
	in, codeW := pipe(t)
	r, out := pipe(t)
	c.Files = []*os.File{in, out, out}
	p, err := s.Start(&c)
	in.Close()
	out.Close()
	if err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, p.Kill)
	defer timer.Stop()
	go func() {
		io.WriteString(codeW, code)
		codeW.Close()
	}()
	first := make([]byte, 1)
	n, _ := r.Read(first)
	if n > 0 && after > 0 {
		timer.Reset(after)
	}
	b, _ := io.ReadAll(r)
	return result{p.Wait(), string(append(first[:n], b...)), time.Since(start)}
}

func pipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

var sh = sandbox.Cmd{Path: "/bin/sh"}

// eachMode runs f in every mode that the machine has, and fails in CI where one
// is missing.
func eachMode(t *testing.T, f func(t *testing.T, mode sandbox.Mode)) {
	modes := []sandbox.Mode{sandbox.Landlock, sandbox.Bwrap}
	if tier.Full {
		modes = append(modes, sandbox.None)
	}
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			s, err := sandbox.New(&sandbox.Options{Require: mode})
			if err != nil {
				needs(t, mode.String(), err)
			}
			s.Close()
			f(t, mode)
		})
	}
}

// nightly runs f in each mode where all tests run, otherwise in Landlock mode.
func nightly(t *testing.T, f func(t *testing.T, mode sandbox.Mode)) {
	if tier.Full {
		eachMode(t, f)
		return
	}
	t.Run("landlock", func(t *testing.T) { f(t, sandbox.Landlock) })
}

// needs skips a test for want of a part of the machine, or fails it in CI.
func needs(t testing.TB, part string, err error) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("no %s: %v", part, err)
	}
	t.Skipf("no %s: %v", part, err)
}

func TestExit(t *testing.T) { eachMode(t, testExit) }

func testExit(t *testing.T, mode sandbox.Mode) {
	s := open(t, &sandbox.Options{Require: mode})
	for _, tt := range []struct {
		name, script, out string
		code              int
		signal            syscall.Signal
		cause             codeinterp.Cause
	}{
		{name: "ok", script: "echo hi", out: "hi\n"},
		{name: "code", script: "exit 7", code: 7},
		{name: "137", script: "sleep 0.3; exit 137", code: 137},
		{name: "of a child", script: "sh -c 'kill -9 $$'", code: 137, out: "Killed\n"},
		{name: "signal", script: "kill -9 $$", code: 137, signal: 9, cause: codeinterp.CauseSignal},
		{name: "limits", script: "ulimit -c; ulimit -n", out: "0\n1024\n"},
		{name: "env", script: "echo $HOME | cut -c1; env | grep -c SECRET", code: 1, out: "/\n0\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := run(t, s, sh, tt.script)
			if tt.code == 137 && tt.signal == 0 && mode == sandbox.Bwrap && !tellsExits() { // which bubblewrap does not tell from a signal
				tt.signal, tt.cause = 9, codeinterp.CauseSignal
			}
			if got.out != tt.out || got.exit.Code != tt.code || got.exit.Signal != tt.signal || got.exit.Cause != tt.cause {
				t.Errorf("got %+v, want %+v", got, tt)
			}
		})
	}
}

// tellsExits reports whether the kernel, Linux 6.15 or later, tells how a
// process ended that is not a child.
func tellsExits() bool {
	var u unix.Utsname
	var major, minor int
	_ = unix.Uname(&u)
	_, err := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &major, &minor)
	return err == nil && (major > 6 || major == 6 && minor >= 15)
}

func TestKill(t *testing.T) { eachMode(t, testKill) }

func testKill(t *testing.T, mode sandbox.Mode) {
	s := open(t, &sandbox.Options{Require: mode})
	got := runUntil(t, s, sh, "sleep 100 & sleep 100 & trap '' TERM INT; echo up; wait", 200*time.Millisecond)
	if !got.exit.Killed || got.exit.Signal != syscall.SIGKILL || got.exit.Cause != "" || !strings.Contains(got.out, "up") {
		t.Errorf("got %+v", got)
	}
}

// TestTools: programs find their user, localhost and git where nothing of the host's is
// shown.
func TestTools(t *testing.T) {
	eachMode(t, func(t *testing.T, mode sandbox.Mode) {
		if mode == sandbox.None {
			return
		}
		s := open(t, &sandbox.Options{Require: mode})
		dir := must(s.TempDir())
		defer s.Discard(dir)
		c := sh
		c.Workdir, c.Env = dir, s.Env(dir, nil, nil)
		script := "git init -q project && git -C project status --short && echo git\n"
		want := "git\n"
		if mode == sandbox.Bwrap {
			script += "whoami; getent hosts localhost | grep -c localhost\n"
			want += "user\n1\n"
		}
		if got := run(t, s, c, script); got.out != want {
			t.Errorf("got %+v, want %q", got, want)
		}
	})
}

// TestListedEtc: of a file of /etc that the caller lists, programs read the host's.
func TestListedEtc(t *testing.T) {
	for _, listed := range []string{"/etc/hosts", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc"} {
		file := listed
		if file == "/etc" {
			file = "/etc/passwd"
		}
		want, err := os.ReadFile(file)
		if err != nil {
			continue // this host has none
		}
		eachMode(t, func(t *testing.T, mode sandbox.Mode) {
			s := open(t, &sandbox.Options{Require: mode, ReadOnly: []string{listed}})
			if got := run(t, s, sh, "cat "+file); got.exit.Code != 0 || got.out != string(want) {
				t.Errorf("%s: got %+v", listed, got)
			}
		})
	}
}
