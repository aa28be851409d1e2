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
	f.End()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const allThreads = 1
	return install(f, allThreads)
}

// Listen puts the whole process under a filter with a listener, as some container
// runtimes do.
func Listen() error {
	f := seccomp.New(seccomp.Arch, 0)
	f.End()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const allThreads, newListener, orESRCH = 1, 8, 16
	return install(f, allThreads|newListener|orESRCH)
}
