//go:build (linux || darwin || freebsd) && !(386 || arm || s390x)

package quickjs

import "syscall"

func mapMemory(n int) ([]byte, error) {
	return syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

func unmapMemory(mem []byte) { _ = syscall.Munmap(mem) }
