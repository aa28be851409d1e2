//go:build amd64 || arm64

package sandbox

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SetBwrap puts another program in the place of bubblewrap.
func (s *Sandbox) SetBwrap(path string) { s.bwrap = path }

// RulesReady reports whether the next start finds rules made ahead.
func (s *Sandbox) RulesReady() bool {
	s.rules.mu.Lock()
	defer s.rules.mu.Unlock()
	return s.rules.ready != nil
}

// Spare returns the directory that was made ahead, if any.
func (s *Sandbox) Spare() string {
	s.temp.trash.mu.Lock()
	defer s.temp.trash.mu.Unlock()
	if s.temp.trash.spare == nil {
		return ""
	}
	return s.temp.trash.spare.path
}

// FindBwrap is findBwrap.
var FindBwrap = findBwrap

// Deny puts the whole process under a filter that makes system calls fail, as
// older kernels and the profiles of containers do.
func Deny(landlock, namespaces bool) error {
	f := newFilter(auditArch, 0)
	if landlock {
		f.deny(unix.ENOSYS, unix.SYS_LANDLOCK_CREATE_RULESET)
	}
	if namespaces {
		f.deny(unix.EPERM, unix.SYS_UNSHARE)
		f.deny(unix.ENOSYS, unix.SYS_CLONE3)
		f.denyBits(unix.EPERM, unix.SYS_CLONE, 0, unix.CLONE_NEWUSER|unix.CLONE_NEWPID|unix.CLONE_NEWNET|unix.CLONE_NEWNS)
	}
	f.end()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const allThreads = 1
	return install(f, allThreads)
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

// HeldBy returns what the kernel holds for what processes have open, which may have
// so many files open, and what it counts for a terminal's end, a watch and all that can
// be of these.
func HeldBy(pids []int, open int) (bytes int64, all bool, each [3]int64) {
	e := exact{watches: 1 << 40, limits: Limits{OpenFiles: open}}
	bytes, all = e.heldBy(pids)
	return bytes, all, [3]int64{perTerminal, perWatch, e.watches}
}

// CanClock reports whether this machine lets a host count the time of what comes
// of a process.
func CanClock() bool {
	var c clock
	c.open(unix.Getpid())
	defer c.close()
	return c.file != 0
}

// Gained returns by how much the directories of all programs are known to have
// grown.
func (s *Sandbox) Gained() (bytes int64) {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	for _, n := range s.watch.onDisk.gained {
		bytes += n
	}
	return bytes
}
