//go:build unix

package subprocess

import (
	"syscall"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

func TestUnsaid(t *testing.T) {
	for _, tt := range []struct {
		exit sandbox.Exit
		want string
	}{
		{sandbox.Exit{Code: 1}, "it ended without a word"},
		{sandbox.Exit{Code: 137, Signal: syscall.SIGKILL, Cause: codeinterp.CauseSignal}, "it ended without a word"},
		{sandbox.Exit{Code: 137, Signal: syscall.SIGKILL, Cause: codeinterp.CauseMemory, Detail: "memory: 5 MiB in use, limit 4 MiB"}, "it was ended by a limit: memory: 5 MiB in use, limit 4 MiB"},
		{sandbox.Exit{Code: 152, Signal: syscall.SIGXCPU, Cause: codeinterp.CauseCPU}, "it was ended by the limit of CPU time"},
		{sandbox.Exit{Code: 137, Signal: syscall.SIGKILL, Cause: codeinterp.CauseDisk}, "it was ended by the limit of disk"},
		{sandbox.Exit{Code: 134, Signal: syscall.SIGABRT, Cause: codeinterp.CauseSignal}, "it aborted without a word, as runtimes do that can start no thread: the limit of processes may be reached"},
	} {
		if got := unsaid(tt.exit); got != tt.want {
			t.Errorf("%+v: %q", tt.exit, got)
		}
	}
}
