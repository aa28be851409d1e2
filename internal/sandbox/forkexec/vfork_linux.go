package forkexec

import (
	_ "unsafe" // for linkname

	"golang.org/x/sys/unix"
)

// The child of vfork borrows the host's memory until it has called exec, so
// that the cost does not grow with the host.
const vforkFlags = unix.CLONE_VM | unix.CLONE_VFORK | uintptr(unix.SIGCHLD)

// vfork clones the calling thread. The child makes the system calls from first up to
// end; the last one is usually exec, after the others it ends. If one fails, the child
// stores its address and result at failed, and ends.
//
//go:noescape
func vfork(flags, first, end, failed uintptr) (pid uintptr)

// vforkAside is vfork as a system call that blocks: the rest of the host goes on
// meanwhile.
//
//go:nosplit
//go:norace
func vforkAside(flags, first, end, failed uintptr) (pid uintptr) {
	enterSyscall()
	pid = vfork(flags, first, end, failed)
	exitSyscall()
	return pid
}

//go:linkname enterSyscall runtime.entersyscall
func enterSyscall()

//go:linkname exitSyscall runtime.exitsyscall
func exitSyscall()
