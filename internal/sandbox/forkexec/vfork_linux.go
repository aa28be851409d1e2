//go:build amd64 || arm64

package forkexec

import (
	_ "unsafe" // for linkname

	"golang.org/x/sys/unix"
)

// The child of vfork borrows the host's memory until it has called exec, so
// that the cost does not grow with the host.
const vforkFlags = unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_PARENT_SETTID | uintptr(unix.SIGCHLD)

// vfork clones the calling thread, and stores the pid at child before the child
// runs. The child makes the system calls from first up to end, none of which
// returns if it is exec; where one fails, it stores its address and result at
// failed, and ends.
//
//go:noescape
func vfork(flags, first, end, failed, child uintptr) (pid uintptr)

// vforkAside is vfork, for the time of which the rest of the host goes on, as
// beside any system call that blocks: garbage collection, and what lets a child
// go on that somebody stopped.
//
//go:nosplit
//go:norace
func vforkAside(flags, first, end, failed, child uintptr) (pid uintptr) {
	enterSyscall()
	pid = vfork(flags, first, end, failed, child)
	exitSyscall()
	return pid
}

//go:linkname enterSyscall runtime.entersyscall
func enterSyscall()

//go:linkname exitSyscall runtime.exitsyscall
func exitSyscall()
