package subprocess

import "syscall"

// pipeSize returns how many bytes the pipe can hold.
func pipeSize(fd uintptr) int {
	const getPipeSize = 1032 // F_GETPIPE_SZ, fcntl(2)
	n, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, getPipeSize, 0)
	if errno != 0 {
		return chunk
	}
	return int(n)
}
