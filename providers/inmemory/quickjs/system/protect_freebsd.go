//go:build !(386 || arm)

package system

import (
	"syscall"
	"unsafe"
)

// ProtectMemory makes every use of the memory a fault.
func ProtectMemory(mem []byte) {
	_, _, _ = syscall.Syscall(syscall.SYS_MPROTECT, uintptr(unsafe.Pointer(unsafe.SliceData(mem))), uintptr(len(mem)), syscall.PROT_NONE)
}
