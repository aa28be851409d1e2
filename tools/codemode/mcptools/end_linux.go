package mcptools

import (
	"os/exec"

	"golang.org/x/sys/unix"
)

// awaitEnd waits until cmd has ended, and leaves it to be waited for, so that its
// id stays its own.
func awaitEnd(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}
