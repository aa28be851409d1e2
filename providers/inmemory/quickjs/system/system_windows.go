// Package system has what the engine needs of the operating system: memory outside of
// Go's heap that can be revoked, and the process's time of computing.
package system

import (
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// MapMemory returns n bytes of zeroed memory outside of Go's heap.
func MapMemory(n int) ([]byte, error) {
	p, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_COMMIT|windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n), nil
}

func address(mem []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(mem))) }

// UnmapMemory gives memory of MapMemory back.
func UnmapMemory(mem []byte) { _ = windows.VirtualFree(address(mem), 0, windows.MEM_RELEASE) }

// ProtectMemory makes every use of the memory a fault.
func ProtectMemory(mem []byte) {
	var old uint32
	_ = windows.VirtualProtect(address(mem), uintptr(len(mem)), windows.PAGE_NOACCESS, &old)
}

// CPUTime returns how long the process has computed.
func CPUTime() time.Duration {
	var created, exited, kernel, user windows.Filetime
	_ = windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user)
	return 100 * time.Duration(uint64(kernel.HighDateTime)<<32+uint64(kernel.LowDateTime)+uint64(user.HighDateTime)<<32+uint64(user.LowDateTime))
}
