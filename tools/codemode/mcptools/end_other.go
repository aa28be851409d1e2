//go:build !linux

package mcptools

import "os/exec"

// awaitEnd waits until cmd has ended. Its id may be another's then: there is no
// way to wait that leaves it its own.
func awaitEnd(cmd *exec.Cmd) { cmd.Wait() }
