//go:build !(386 || arm)

package system

import (
	"syscall"
	"time"
)

// CPUTime returns how long the process has computed.
func CPUTime() time.Duration {
	var created, exited, kernel, user syscall.Filetime
	self, err := syscall.GetCurrentProcess()
	if err != nil || syscall.GetProcessTimes(self, &created, &exited, &kernel, &user) != nil {
		return 0
	}
	return 100 * time.Duration(uint64(kernel.HighDateTime)<<32+uint64(kernel.LowDateTime)+uint64(user.HighDateTime)<<32+uint64(user.LowDateTime))
}
