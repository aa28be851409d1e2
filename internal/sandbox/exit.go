package sandbox

import (
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// An Exit says how a process ended.
type Exit struct {
	// Code is the program's exit code, or 128 + Signal.
	Code int

	// Signal is what ended the program, 0 if it exited by itself.
	Signal syscall.Signal

	// Cause is the limit that was reached, or CauseSignal for a signal that
	// was not ours. It is empty after an exit of the program's own, and after
	// Kill.
	Cause codeinterp.Cause

	// Detail says more about a Cause that is a limit, such as "memory: 540
	// MiB in use, limit 512 MiB".
	Detail string

	// Killed says that Kill ended it.
	Killed bool

	// CPU is the time used and MaxRSS the largest resident size, in bytes,
	// as far as the kernel and the watchdog have seen them; MaxRSS is often 0
	// for short programs.
	CPU    time.Duration
	MaxRSS int64
}
