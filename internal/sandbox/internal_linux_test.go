//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox/seccomp"
)

// TestWorkspaceOfTheHost: a directory that is /workspace on the host, or is in it, is
// not hidden by the program's own.
func TestWorkspaceOfTheHost(t *testing.T) {
	s := &Sandbox{mode: Bwrap}
	for path, linked := range map[string]bool{"/workspace": false, "/workspace/project": false, "/workspaces": true, "/srv/project": true} {
		pl := &plan{Cmd: Cmd{Workdir: "/own", Cwd: &Dir{path: path}}}
		args := " " + strings.Join(s.bwrapArgs(pl, s.binds(pl), 10, 11, 12), " ") + " "
		if strings.Contains(args, " /own /workspace ") || strings.Contains(args, " --symlink "+path+" /workspace ") != linked {
			t.Errorf("%s: %s", path, args)
		}
	}
}

// TestSignalsBlocked checks who may have landlock mode on older kernels.
func TestSignalsBlocked(t *testing.T) {
	for _, tt := range []struct {
		name string
		s    *Sandbox
		ok   bool
	}{
		{"new kernel", &Sandbox{abi: 6}, true},
		{"old kernel", &Sandbox{abi: 5}, false},
		{"old kernel, root", &Sandbox{abi: 5, ids: &ids{}}, true},
		{"old kernel, allowed", &Sandbox{abi: 5, opts: Options{AllowSignals: true}}, true},
	} {
		if err := tt.s.signalsBlocked(); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	s := &Sandbox{abi: 5, mode: Landlock}
	if r := s.describe(); r.Signals != codeinterp.ReachOpen {
		t.Errorf("old kernel: signals %s", r.Signals)
	}
}

// TestCgroup works on a directory that looks like a delegated cgroup, since few machines
// have one.
func TestCgroup(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("cgroup.controllers", "cpu pids\n")
	if _, err := newCgroups(dir); err == nil || !strings.Contains(err.Error(), "Delegate=yes") {
		t.Errorf("without the memory controller: %v", err)
	}
	write("cgroup.controllers", "cpu memory pids\n")
	c, err := newCgroups(dir)
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.new(Limits{Memory: 1 << 20, Processes: 5})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.attach(42); err != nil {
		t.Fatal(err)
	}
	g.kill()
	for name, want := range map[string]string{"memory.max": "1048576", "pids.max": "6", "cgroup.procs": "42", "memory.oom.group": "1", "cgroup.kill": "1"} {
		if b, err := os.ReadFile(filepath.Join(g.dir, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	for text, want := range map[string]bool{"low 0\nhigh 0\nmax 3\noom 1\noom_kill 1\n": true, "oom_kill 0\n": false, "": false} {
		if err := os.WriteFile(filepath.Join(g.dir, "memory.events"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := g.outOfMemory(); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control")); string(b) != "+memory +pids" {
		t.Errorf("subtree_control: %q", b)
	}
	if err := os.RemoveAll(g.dir); err != nil {
		t.Fatal(err)
	}
	g.remove()
}

// install puts the thread under a filter.
func install(f seccomp.Filter, flags uintptr) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, setModeFilter, flags, uintptr(unsafe.Pointer(&prog))); e != 0 {
		return e
	}
	return nil
}
