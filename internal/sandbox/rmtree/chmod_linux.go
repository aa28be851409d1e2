package rmtree

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// Chmod sets the mode of a directory of the host's own, not of what a link of
// that name leads to.
func Chmod(at int, name string, mode uint32) error {
	fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), mode)
}
