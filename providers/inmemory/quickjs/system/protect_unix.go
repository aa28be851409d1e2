//go:build (linux || darwin) && !(386 || arm || s390x)

package system

import "syscall"

// ProtectMemory makes every use of the memory a fault.
func ProtectMemory(mem []byte) { _ = syscall.Mprotect(mem, syscall.PROT_NONE) }
