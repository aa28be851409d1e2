package machine

import (
	"os"

	"golang.org/x/sys/unix"
)

// anonymousFile returns a file that is only in memory.
func anonymousFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("toolcell-image", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "image"), nil
}
