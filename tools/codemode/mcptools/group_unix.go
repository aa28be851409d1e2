//go:build unix

package mcptools

import (
	"os/exec"
	"syscall"
)

// ownGroup starts cmd in a process group of its own, so that what it starts can
// be ended with it, and so that a Ctrl-C of the terminal does not reach it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func terminate(cmd *exec.Cmd) { cmd.Process.Signal(syscall.SIGTERM) }

// endGroup kills the group of cmd.
func endGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
