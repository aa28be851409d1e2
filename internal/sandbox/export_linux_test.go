//go:build real && (amd64 || arm64)

package sandbox

import (
	"runtime"

	"github.com/toolcell/toolcell/internal/sandbox/seccomp"
	"golang.org/x/sys/unix"
)

// SetBwrap puts another program in the place of bubblewrap.
func (s *Sandbox) SetBwrap(path string) { s.bwrap = path }

// Deny puts the whole process under a filter that makes system calls fail, as
// older kernels and the profiles of containers do.
func Deny(landlock, namespaces bool) error {
	f := seccomp.New(seccomp.Arch, 0)
	if landlock {
		f.Deny(unix.ENOSYS, unix.SYS_LANDLOCK_CREATE_RULESET)
	}
	if namespaces {
		f.Deny(unix.EPERM, unix.SYS_UNSHARE)
		f.Deny(unix.ENOSYS, unix.SYS_CLONE3)
		f.DenyBits(unix.EPERM, unix.SYS_CLONE, 0, unix.CLONE_NEWUSER|unix.CLONE_NEWPID|unix.CLONE_NEWNET|unix.CLONE_NEWNS)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const allThreads = 1
	return install(f.Build(), allThreads)
}

// Docker puts the whole process under a filter that refuses what Docker's default profile
// refuses a container without capabilities. Versions before 23 refuse Landlock too.
func Docker(landlock bool) error {
	f := seccomp.New(seccomp.Arch, 0)
	f.Deny(unix.EPERM, unix.SYS_ACCT, unix.SYS_ADD_KEY, unix.SYS_BPF, unix.SYS_CHROOT, unix.SYS_CLOCK_SETTIME, unix.SYS_DELETE_MODULE,
		unix.SYS_FANOTIFY_INIT, unix.SYS_FINIT_MODULE, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSOPEN, unix.SYS_FSPICK, unix.SYS_INIT_MODULE,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_KCMP, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_KEXEC_LOAD,
		unix.SYS_KEYCTL, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_MBIND, unix.SYS_MIGRATE_PAGES, unix.SYS_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_MOVE_MOUNT,
		unix.SYS_MOVE_PAGES, unix.SYS_NFSSERVCTL, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_OPEN_TREE, unix.SYS_PERF_EVENT_OPEN, unix.SYS_PIVOT_ROOT,
		unix.SYS_PROCESS_MADVISE, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_REBOOT, unix.SYS_REQUEST_KEY, unix.SYS_SETDOMAINNAME,
		unix.SYS_SETHOSTNAME, unix.SYS_SETNS, unix.SYS_SETTIMEOFDAY, unix.SYS_SET_MEMPOLICY, unix.SYS_SWAPOFF, unix.SYS_SWAPON, unix.SYS_SYSLOG,
		unix.SYS_UMOUNT2, unix.SYS_UNSHARE, unix.SYS_USERFAULTFD, unix.SYS_VHANGUP)
	f.Deny(unix.ENOSYS, unix.SYS_CLONE3)
	f.DenyBits(unix.EPERM, unix.SYS_CLONE, 0, 0x7e020000) // namespaces
	if !landlock {
		f.Deny(unix.EPERM, unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const allThreads = 1
	return install(f.Build(), allThreads)
}

// Listen puts the whole process under a filter with a listener, as some container
// runtimes do.
func Listen() error {
	f := seccomp.New(seccomp.Arch, 0)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const allThreads, newListener, orESRCH = 1, 8, 16
	return install(f.Build(), allThreads|newListener|orESRCH)
}
