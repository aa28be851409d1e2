//go:build !(386 || arm)

package system

import (
	"syscall"
	"unsafe"
)

var (
	kernel32       = syscall.NewLazyDLL("kernel32.dll")
	virtualAlloc   = kernel32.NewProc("VirtualAlloc")
	virtualFree    = kernel32.NewProc("VirtualFree")
	virtualProtect = kernel32.NewProc("VirtualProtect")
)

const (
	memCommit    = 0x1000
	memReserve   = 0x2000
	memRelease   = 0x8000
	pageNoAccess = 0x01
	pageWrite    = 0x04
)

// MapMemory returns n bytes of zeroed memory outside of Go's heap.
func MapMemory(n int) ([]byte, error) {
	p, _, err := virtualAlloc.Call(0, uintptr(n), memCommit|memReserve, pageWrite)
	if p == 0 {
		return nil, err
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n), nil
}

// UnmapMemory gives memory of MapMemory back.
func UnmapMemory(mem []byte) {
	_, _, _ = virtualFree.Call(uintptr(unsafe.Pointer(unsafe.SliceData(mem))), 0, memRelease)
}

// ProtectMemory makes every use of the memory a fault.
func ProtectMemory(mem []byte) {
	var old uint32
	_, _, _ = virtualProtect.Call(uintptr(unsafe.Pointer(unsafe.SliceData(mem))), uintptr(len(mem)),
		pageNoAccess, uintptr(unsafe.Pointer(&old)))
}
