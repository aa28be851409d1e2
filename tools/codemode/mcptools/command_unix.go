//go:build unix

package mcptools

import (
	"os/exec"
	"syscall"
)

// ownGroup starts cmd in a process group of its own, so that what it starts can
// be ended with it, and so that a Ctrl-C of the terminal does not reach it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends what is left of the group of cmd, as that a launcher started.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
