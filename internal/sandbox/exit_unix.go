//go:build unix

package sandbox

import (
	"syscall"

	"github.com/toolcell/toolcell/codeinterp"
)

// set translates a wait status.
func (e *Exit) set(ws syscall.WaitStatus) {
	if !ws.Signaled() {
		e.Code = ws.ExitStatus()
		return
	}
	e.Signal = ws.Signal()
	e.Code = 128 + int(e.Signal)
	switch e.Signal {
	case syscall.SIGXCPU:
		e.Cause = codeinterp.CauseCPU
	case syscall.SIGXFSZ:
		e.Cause = codeinterp.CauseDisk
	default:
		e.Cause = codeinterp.CauseSignal
	}
}
