package subprocess

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// handleOf returns a handle of the FIFO that is neither of its ends and outlives
// its name, or nil.
func handleOf(w *os.File) *os.File {
	c, err := w.SyscallConn()
	if err != nil {
		return nil
	}
	var handle *os.File
	_ = c.Control(func(fd uintptr) {
		path := fmt.Sprintf("/proc/self/fd/%d", fd)
		if h, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0); err == nil {
			handle = os.NewFile(uintptr(h), path)
		}
	})
	return handle
}

// admit opens the FIFO to write for a moment, so that a process that waits to open it for
// reading goes on. It reports whether a process has it open.
func admit(handle *os.File) bool {
	w, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", handle.Fd()), unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	_ = unix.Close(w)
	return true
}
