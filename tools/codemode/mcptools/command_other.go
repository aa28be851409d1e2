//go:build !unix

package mcptools

import "os/exec"

func ownGroup(*exec.Cmd) {}

// endGroup ends cmd; what it started ends by itself.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		cmd.Process.Kill()
	}
}
