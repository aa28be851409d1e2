//go:build !unix

package mcptools

import "os/exec"

func ownGroup(*exec.Cmd) {}

// terminate kills cmd: there is no gentler way.
func terminate(cmd *exec.Cmd) { cmd.Process.Kill() }

// endGroup kills cmd; what it started ends by itself.
func endGroup(cmd *exec.Cmd) { cmd.Process.Kill() }
