//go:build !(386 || arm)

package quickjs

import (
	"syscall"
	"unsafe"
)

func protectMemory(mem []byte) {
	_, _, _ = syscall.Syscall(syscall.SYS_MPROTECT, uintptr(unsafe.Pointer(unsafe.SliceData(mem))), uintptr(len(mem)), syscall.PROT_NONE)
}
