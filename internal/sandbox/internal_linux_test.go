//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestWorkspaceOfTheHost: a directory that is /workspace on the host, or is in it, is
// not hidden by the program's own.
func TestWorkspaceOfTheHost(t *testing.T) {
	s := &Sandbox{mode: Bwrap}
	for path, linked := range map[string]bool{"/workspace": false, "/workspace/project": false, "/workspaces": true, "/srv/project": true} {
		pl := &plan{Cmd: Cmd{Workdir: "/own", Cwd: &Dir{path: path}}}
		list, _ := s.binds(pl, 3)
		args := " " + strings.Join(s.bwrapArgs(pl, list, 10, 11, 12), " ") + " "
		if strings.Contains(args, " /own /workspace ") || strings.Contains(args, " --symlink "+path+" /workspace ") != linked {
			t.Errorf("%s: %s", path, args)
		}
	}
}

// TestMountableUntold: read-only paths below a writable one are shown as such by
// kernels and under profiles without openat2 too.
func TestMountableUntold(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	above, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer above.Close()
	below, err := OpenDir(filepath.Join(dir, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	defer below.Close()
	list := []bind{{path: dir, writable: true, held: above}, {path: filepath.Join(dir, "sub"), held: below}}
	for _, errno := range []unix.Errno{0, unix.ENOSYS, unix.EPERM} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // and it ends with its filter
			f := newFilter(auditArch, 0)
			if errno != 0 {
				f.deny(errno, unix.SYS_OPENAT2)
			}
			f.end()
			if err := install(f, 0); err != nil {
				t.Error(err)
			} else if got := mountable(list); len(got) != 2 {
				t.Errorf("where openat2 is %v, %d of 2 are shown", errno, len(got))
			}
		}()
		<-done
	}
}

// evaluate runs a filter as the kernel does, on one system call.
func evaluate(t *testing.T, f filter, arch, nr uint32, args ...uint64) uint32 {
	t.Helper()
	data := make([]uint32, 16)
	data[0], data[1] = nr, arch
	for i, a := range args {
		data[4+2*i], data[5+2*i] = uint32(a), uint32(a>>32)
	}
	acc := uint32(0)
	for pc := 0; pc < len(f); pc++ {
		ins := f[pc]
		cond := false
		switch ins.Code {
		case opLoad:
			acc = data[ins.K/4]
			continue
		case opAnd:
			acc &= ins.K
			continue
		case opRet:
			return ins.K
		case opEq:
			cond = acc == ins.K
		case opGe:
			cond = acc >= ins.K
		case opSet:
			cond = acc&ins.K != 0
		default:
			t.Fatalf("instruction %d: code %#x", pc, ins.Code)
		}
		if cond {
			pc += int(ins.Jt)
		} else {
			pc += int(ins.Jf)
		}
	}
	t.Fatal("the program has no end")
	return 0
}

func TestPolicy(t *testing.T) {
	errno := func(e unix.Errno) uint32 { return retErrno | uint32(e) }
	bwrap := policy{network: true, monitored: true}
	landlock := policy{shared: true, sameUID: true, group: 77, abi: 7}
	alone := policy{shared: true, group: 77, abi: 7}
	old := policy{shared: true, abi: 2}
	online := policy{shared: true, network: true, abi: 7}
	for _, tt := range []struct {
		name string
		p    policy
		nr   uint32
		args []uint64
		want uint32
	}{
		{"read", landlock, unix.SYS_READ, nil, retAllow},
		{"execve", landlock, unix.SYS_EXECVE, nil, retAllow},
		{"ptrace", bwrap, unix.SYS_PTRACE, nil, errno(unix.EPERM)},
		{"clone3", bwrap, unix.SYS_CLONE3, nil, errno(unix.ENOSYS)},
		{"fork", bwrap, unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}, retAllow},
		{"thread", bwrap, unix.SYS_CLONE, []uint64{0x3d0f00}, retAllow},
		{"user namespace", bwrap, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER}, errno(unix.EPERM)},
		{"Landlock's rules", bwrap, unix.SYS_LANDLOCK_CREATE_RULESET, nil, errno(unix.ENOSYS)},
		{"more of Landlock's rules", landlock, unix.SYS_LANDLOCK_ADD_RULE, nil, errno(unix.ENOSYS)},
		{"Landlock's rules of a fork server", landlock, unix.SYS_LANDLOCK_RESTRICT_SELF, nil, retAllow},
		{"socket", landlock, unix.SYS_SOCKET, []uint64{unix.AF_INET}, errno(unix.EPERM)},
		{"socket in bwrap", bwrap, unix.SYS_SOCKET, []uint64{unix.AF_INET6}, retAllow},
		{"unix socket in bwrap", bwrap, unix.SYS_SOCKET, []uint64{unix.AF_UNIX}, errno(unix.EPERM)},
		{"socket online", online, unix.SYS_SOCKET, []uint64{unix.AF_INET}, retAllow},
		{"connect online", online, unix.SYS_CONNECT, nil, retAllow},
		{"connect", landlock, unix.SYS_CONNECT, nil, errno(unix.EPERM)},
		{"pair", landlock, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, retAllow},
		{"datagram pair", landlock, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, errno(unix.EPERM)},
		{"internet pair", landlock, unix.SYS_SOCKETPAIR, []uint64{unix.AF_INET, unix.SOCK_STREAM}, errno(unix.EPERM)},
		{"TIOCSTI", bwrap, unix.SYS_IOCTL, []uint64{0, tiocSTI}, errno(unix.EPERM)},
		{"TIOCSTI, high bits", bwrap, unix.SYS_IOCTL, []uint64{0, 1<<32 | tiocSTI}, errno(unix.EPERM)},
		{"TCGETS", bwrap, unix.SYS_IOCTL, []uint64{0, unix.TCGETS}, retAllow},
		{"personality", bwrap, unix.SYS_PERSONALITY, []uint64{0xffffffff}, retAllow},
		{"no randomization", bwrap, unix.SYS_PERSONALITY, []uint64{0x40000}, errno(unix.EPERM)},
		{"setsid", landlock, unix.SYS_SETSID, nil, errno(0)},
		{"setsid in bwrap", bwrap, unix.SYS_SETSID, nil, retAllow},
		{"join the group", landlock, unix.SYS_SETPGID, []uint64{0, 77}, retAllow},
		{"leave the group", landlock, unix.SYS_SETPGID, []uint64{0, 0}, errno(0)},
		{"kill one", landlock, unix.SYS_KILL, []uint64{5, 9}, retAllow},
		{"kill own group", landlock, unix.SYS_KILL, []uint64{0, 9}, errno(unix.EPERM)},
		{"kill all", landlock, unix.SYS_KILL, []uint64{0xffffffff, 9}, errno(unix.EPERM)},
		{"kill a group", landlock, unix.SYS_KILL, []uint64{^uint64(76), 9}, errno(unix.EPERM)},
		{"kill own group in bwrap", bwrap, unix.SYS_KILL, []uint64{0, 9}, errno(unix.EPERM)},
		{"kill a group in bwrap", bwrap, unix.SYS_KILL, []uint64{^uint64(76), 9}, retAllow},
		{"fchmodat", landlock, unix.SYS_FCHMODAT, nil, errno(0)},
		{"fchmodat alone", alone, unix.SYS_FCHMODAT, nil, retAllow},
		{"utimensat with a path", alone, unix.SYS_UTIMENSAT, []uint64{0, 1 << 33}, errno(0)},
		{"utimensat with a low path", alone, unix.SYS_UTIMENSAT, []uint64{0, 7}, errno(0)},
		{"futimens", alone, unix.SYS_UTIMENSAT, []uint64{3, 0}, retAllow},
		{"futimens under the host's uid", landlock, unix.SYS_UTIMENSAT, []uint64{3, 0}, errno(0)},
		{"setxattr", alone, unix.SYS_SETXATTR, nil, errno(unix.ENOTSUP)},
		{"prlimit self", landlock, unix.SYS_PRLIMIT64, []uint64{0}, retAllow},
		{"prlimit other", landlock, unix.SYS_PRLIMIT64, []uint64{9}, errno(unix.EPERM)},
		{"nice self", landlock, unix.SYS_SETPRIORITY, []uint64{0, 0, 5}, retAllow},
		{"nice other", landlock, unix.SYS_SETPRIORITY, []uint64{0, 9, 5}, errno(unix.EPERM)},
		{"nice user", landlock, unix.SYS_SETPRIORITY, []uint64{2, 0, 5}, errno(unix.EPERM)},
		{"die with parent", landlock, unix.SYS_PRCTL, []uint64{unix.PR_SET_PDEATHSIG, uint64(unix.SIGKILL)}, retAllow},
		{"survive parent", landlock, unix.SYS_PRCTL, []uint64{unix.PR_SET_PDEATHSIG, 0}, errno(unix.EPERM)},
		{"undumpable", landlock, unix.SYS_PRCTL, []uint64{unix.PR_SET_DUMPABLE, 0}, errno(unix.EPERM)},
		{"name", landlock, unix.SYS_PRCTL, []uint64{unix.PR_SET_NAME, 1}, retAllow},
		{"shm", landlock, unix.SYS_SHMAT, nil, errno(unix.ENOSYS)},
		{"segment", landlock, unix.SYS_SHMGET, []uint64{0, 1}, errno(unix.ENOSYS)},
		{"inotify", landlock, unix.SYS_INOTIFY_ADD_WATCH, nil, errno(unix.EACCES)},
		{"truncating open, old kernel", old, unix.SYS_OPENAT, []uint64{0, 0, unix.O_RDONLY | unix.O_TRUNC}, errno(unix.EPERM)},
		{"writing open, old kernel", old, unix.SYS_OPENAT, []uint64{0, 0, unix.O_WRONLY | unix.O_TRUNC | unix.O_CREAT}, retAllow},
		{"truncate, old kernel", old, unix.SYS_TRUNCATE, nil, errno(unix.EPERM)},
		{"truncate", landlock, unix.SYS_TRUNCATE, nil, retAllow},
		{"vmsplice", bwrap, unix.SYS_VMSPLICE, nil, errno(unix.ENOSYS)},
		{"segment in bwrap", bwrap, unix.SYS_SHMGET, []uint64{0, maxSegment}, retAllow},
		{"large segment in bwrap", bwrap, unix.SYS_SHMGET, []uint64{0, maxSegment + 1}, errno(unix.EINVAL)},
		{"huge segment in bwrap", bwrap, unix.SYS_SHMGET, []uint64{0, 1 << 32}, errno(unix.EINVAL)},
		{"semaphores in bwrap", bwrap, unix.SYS_SEMGET, []uint64{0, maxSet + 1}, errno(unix.EINVAL)},
		{"semaphore in bwrap", bwrap, unix.SYS_SEMGET, []uint64{0, 1}, retAllow},
		{"queue in bwrap", bwrap, unix.SYS_MSGGET, nil, errno(unix.ENOSYS)},
		{"size of a buffer", bwrap, unix.SYS_SETSOCKOPT, []uint64{3, unix.SOL_SOCKET, unix.SO_SNDBUF}, errno(0)},
		{"size of a buffer, high bits", alone, unix.SYS_SETSOCKOPT, []uint64{3, 1<<32 | unix.SOL_SOCKET, 1<<32 | unix.SO_RCVBUF}, errno(0)},
		{"size of a buffer for the privileged", landlock, unix.SYS_SETSOCKOPT, []uint64{3, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE}, errno(0)},
		{"another option of sockets", bwrap, unix.SYS_SETSOCKOPT, []uint64{3, unix.SOL_SOCKET, unix.SO_REUSEADDR}, retAllow},
		{"an option of TCP", online, unix.SYS_SETSOCKOPT, []uint64{3, unix.IPPROTO_TCP, unix.SO_SNDBUF}, retAllow},
		{"fallocate", bwrap, unix.SYS_FALLOCATE, []uint64{3, 0}, errno(unix.EOPNOTSUPP)},
		{"fallocate beyond the end", alone, unix.SYS_FALLOCATE, []uint64{3, unix.FALLOC_FL_KEEP_SIZE}, errno(unix.EOPNOTSUPP)},
		{"fallocate of zeros", landlock, unix.SYS_FALLOCATE, []uint64{3, unix.FALLOC_FL_ZERO_RANGE}, errno(unix.EOPNOTSUPP)},
		{"fallocate, high bits", bwrap, unix.SYS_FALLOCATE, []uint64{3, 1<<32 | unix.FALLOC_FL_KEEP_SIZE}, errno(unix.EOPNOTSUPP)},
		{"punch a hole", bwrap, unix.SYS_FALLOCATE, []uint64{3, unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE}, retAllow},
		{"collapse", alone, unix.SYS_FALLOCATE, []uint64{3, unix.FALLOC_FL_COLLAPSE_RANGE}, retAllow},
		{"reserve space", bwrap, unix.SYS_IOCTL, []uint64{3, fsResvSP64}, errno(unix.EOPNOTSUPP)},
		{"hint of a large extent", alone, unix.SYS_IOCTL, []uint64{3, fsSetXattr}, errno(unix.EOPNOTSUPP)},
	} {
		if got := evaluate(t, tt.p.build(), auditArch, tt.nr, tt.args...); got != tt.want {
			t.Errorf("%s: got %#x, want %#x", tt.name, got, tt.want)
		}
	}
	f := landlock.build()
	if got := evaluate(t, f, 0x40000003, unix.SYS_READ); got != retKill {
		t.Errorf("another architecture: got %#x", got)
	}
	if x32Bit != 0 {
		if got := evaluate(t, f, auditArch, x32Bit|unix.SYS_READ); got != retKill {
			t.Errorf("x32: got %#x", got)
		}
	}
	if len(f.bytes()) != 8*len(f) || len(f) > unix.BPF_MAXINSNS {
		t.Errorf("%d bytes for %d instructions", len(f.bytes()), len(f))
	}
}

// TestCgroup works on a directory that looks like a delegated cgroup, since
// few machines have one.
// TestSignalsHeld checks who may have landlock mode on older kernels.
func TestSignalsHeld(t *testing.T) {
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

func TestMeasure(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "d/b", "d/e/c"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, 100_000), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "hard")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/usr", filepath.Join(dir, "soft")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "a"), 1<<40); err != nil {
		t.Log(err)
	}
	if w, _ := measure(dir, walked{-1, -1}); w.inodes != 7 || w.bytes < 300_000 || w.bytes > 400_000 {
		t.Errorf("got %+v", w)
	}
	if w, _ := measure(dir, walked{-1, 3}); w.inodes != 4 {
		t.Errorf("got %+v", w)
	}
}

// install puts the thread under a filter.
func install(f filter, flags uintptr) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, setModeFilter, flags, uintptr(unsafe.Pointer(&prog))); e != 0 {
		return e
	}
	return nil
}
