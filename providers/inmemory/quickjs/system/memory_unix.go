//go:build (linux || darwin || freebsd) && !(386 || arm || s390x)

package system

import "syscall"

// MapMemory returns n bytes of zeroed memory outside of Go's heap.
func MapMemory(n int) ([]byte, error) {
	return syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

// UnmapMemory gives memory of MapMemory back.
func UnmapMemory(mem []byte) { _ = syscall.Munmap(mem) }
