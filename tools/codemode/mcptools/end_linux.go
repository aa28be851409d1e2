package mcptools

import (
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// silence is how long what a server started, and left behind when it ended, may take
// to put something out.
const silence = 3 * time.Second

// watch ends what a server left behind that holds its output open and says
// nothing, so that the end of a server that did not start is seen before its time
// is over. What speaks is a server that has put itself into the background.
func (p *process) watch() {
	go func() { // ends with the process
		awaitEnd(p.cmd)
		select {
		case <-p.closed:
		case <-time.After(silence):
			if !p.said.Load() {
				p.end()
			}
		}
	}()
}

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
