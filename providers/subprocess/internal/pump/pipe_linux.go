package pump

import "syscall"

// pipeSize returns how many bytes the pipe can hold.
func pipeSize(fd uintptr) int {
	const getPipeSize = 1032 // F_GETPIPE_SZ, fcntl(2)
	n, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, getPipeSize, 0)
	if errno != 0 {
		return Chunk
	}
	return int(n)
}

// widen lets the pipe of a program that prints much hold more, so that it and
// the host do not wait for each other at every turn. It does so once.
func widen(fd uintptr, done *bool) {
	const setPipeSize = 1031 // F_SETPIPE_SZ
	if !*done {
		*done = true
		_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, 16*Chunk)
	}
}
