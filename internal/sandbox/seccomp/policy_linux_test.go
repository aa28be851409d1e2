//go:build amd64 || arm64

package seccomp

import (
	"testing"

	"golang.org/x/sys/unix"
)

// evaluate runs a filter as the kernel does, on one system call.
func evaluate(t *testing.T, f Filter, arch, nr uint32, args ...uint64) uint32 {
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
	bwrap := Policy{Network: true, Monitored: true}
	landlock := Policy{Shared: true, SameUID: true, Group: 77, ABI: 7}
	alone := Policy{Shared: true, Group: 77, ABI: 7}
	old := Policy{Shared: true, ABI: 2}
	online := Policy{Shared: true, Network: true, ABI: 7}
	copied := Policy{Shared: true, Group: 77, Forks: true, ABI: 7}
	for _, tt := range []struct {
		name string
		p    Policy
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
		{"join a group with copies", copied, unix.SYS_SETPGID, []uint64{0, 77}, errno(0)},
		{"ask the host for a group", copied, unix.SYS_SETPGID, []uint64{5, 78}, retAllow},
		{"setsid with copies", copied, unix.SYS_SETSID, nil, errno(0)},
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
		{"setxattr in bwrap", bwrap, unix.SYS_SETXATTR, nil, errno(unix.ENOTSUP)},
		{"lsetxattr in bwrap", bwrap, unix.SYS_LSETXATTR, nil, errno(unix.ENOTSUP)},
		{"fsetxattr in bwrap", bwrap, unix.SYS_FSETXATTR, nil, errno(unix.ENOTSUP)},
		{"setxattrat in bwrap", bwrap, unix.SYS_SETXATTRAT, nil, errno(unix.ENOTSUP)},
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
		if got := evaluate(t, tt.p.Build(), Arch, tt.nr, tt.args...); got != tt.want {
			t.Errorf("%s: got %#x, want %#x", tt.name, got, tt.want)
		}
	}
	f := landlock.Build()
	if got := evaluate(t, f, 0x40000003, unix.SYS_READ); got != retKill {
		t.Errorf("another architecture: got %#x", got)
	}
	if x32Bit != 0 {
		if got := evaluate(t, f, Arch, x32Bit|unix.SYS_READ); got != retKill {
			t.Errorf("x32: got %#x", got)
		}
	}
	if len(f.Bytes()) != 8*len(f) || len(f) > unix.BPF_MAXINSNS {
		t.Errorf("%d bytes for %d instructions", len(f.Bytes()), len(f))
	}
}
