//go:build linux && !amd64 && !arm64

package forkexec

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Without assembly the child cannot share the host's stack, so it has a copy
// of its memory. failed has to be shared.
const vforkFlags = unix.CLONE_VFORK | unix.CLONE_PARENT_SETTID | uintptr(unix.SIGCHLD)

func init() {
	switch runtime.GOARCH {
	case "mips", "mipsle", "mips64", "mips64le":
		sigsetSize = 16
	case "386", "arm":
		// The plain ones take ids of 16 bits.
		SysSetgroups, SysSetresuid, SysSetresgid = 206, 208, 210
	}
}

// vforkAside clones the calling thread, and stores the pid at child before the
// child runs. The child makes the system calls from first up to end, none of
// which returns if it is exec; where one fails, it stores its address and result
// at failed, and ends. The rest of the host goes on only until it has to wait
// for this thread.
//
//go:norace
//go:nosplit
//go:nocheckptr
func vforkAside(flags, first, end, failed, child uintptr) (pid uintptr) {
	a, b := flags, uintptr(0)
	if runtime.GOARCH == "s390x" {
		a, b = b, a
	}
	r, _, e := syscall.RawSyscall6(syscall.SYS_CLONE, a, b, child, 0, 0, 0)
	switch {
	case e != 0:
		return -uintptr(e)
	case r != 0:
		return r
	}
	for at := first; at != end; at += unsafe.Sizeof(call{}) {
		c := *(**call)(unsafe.Pointer(&at))
		r, _, e := syscall.RawSyscall6(c.nr, c.args[0], c.args[1], c.args[2], c.args[3], c.args[4], 0)
		if e != 0 {
			r = -uintptr(e)
		}
		if c.check == mustEqual && r != c.want || c.check == mustWork && e != 0 {
			f := *(**report)(unsafe.Pointer(&failed))
			f.call, f.result = at, r
			break
		}
	}
	for {
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 127, 0, 0)
	}
}
