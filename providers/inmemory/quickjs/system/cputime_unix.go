//go:build (linux || darwin || freebsd) && !(386 || arm || s390x)

package system

import (
	"syscall"
	"time"
)

// CPUTime returns how long the process has computed.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
