package sandbox

import "golang.org/x/sys/unix"

// socketBuffer is the most that the kernel holds of what was sent through one
// socket and not received: the size that sockets begin with, which programs
// cannot change, and the piece that goes beyond it, with what manages both.
func socketBuffer() int64 {
	const usual = 212992
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 2 * usual
	}
	defer unix.Close(fd)
	n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
	if err != nil || n <= 0 {
		n = usual
	}
	return 2 * int64(n)
}

// maxInFlight is how many descriptors a user's programs can have sent in all that
// nobody has received: as many as one may have open, which the kernel looks at
// before it takes a message, with up to 253 of them.
func maxInFlight(l Limits) int64 {
	const message = 253
	return maxOpen(l) + message
}

// maxOpen is how many descriptors a process may have open.
func maxOpen(l Limits) int64 {
	if l.OpenFiles > 0 {
		return int64(l.OpenFiles)
	}
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) != nil {
		return 0
	}
	return int64(min(lim.Max, 1<<20))
}
