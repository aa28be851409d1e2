//go:build amd64 || arm64

package sandbox

import "golang.org/x/sys/unix"

// The child of vfork borrows the host's memory until it has called exec, so
// that the cost does not grow with the host.
const vforkFlags = unix.CLONE_VM | unix.CLONE_VFORK | uintptr(unix.SIGCHLD)

// vfork clones the calling thread. The child makes the system calls from first
// up to end, none of which returns if it is exec; where one fails, it stores
// its address and result at failed, and ends.
//
//go:noescape
func vfork(flags, first, end, failed uintptr) (pid uintptr)
