//go:build (linux || darwin) && !(386 || arm || s390x)

package quickjs

import "syscall"

func protectMemory(mem []byte) { _ = syscall.Mprotect(mem, syscall.PROT_NONE) }
