//go:build (linux || darwin || freebsd) && !(386 || arm || s390x)

package quickjs

import (
	"syscall"
	"time"
)

// cpuTime returns how long the process has computed.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
