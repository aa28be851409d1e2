//go:build linux || darwin || freebsd

// Package system has what the engine needs of the operating system: memory outside of
// Go's heap that can be revoked, and the process's time of computing.
package system

import (
	"time"

	"golang.org/x/sys/unix"
)

// MapMemory returns n bytes of zeroed memory outside of Go's heap.
func MapMemory(n int) ([]byte, error) {
	return unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

// UnmapMemory gives memory of MapMemory back.
func UnmapMemory(mem []byte) { _ = unix.Munmap(mem) }

// ProtectMemory makes every use of the memory a fault.
func ProtectMemory(mem []byte) { _ = unix.Mprotect(mem, unix.PROT_NONE) }

// CPUTime returns how long the process has computed.
func CPUTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
