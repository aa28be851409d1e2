package keeper

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/internal/procfs"
)

// Start starts a keeper in a session of its own and does not wait for it.
func Start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	open, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range open { // pipes of the caller's must not stay open in the keeper
		if n, err := strconv.Atoi(fd.Name()); err == nil && n > 2 {
			syscall.CloseOnExec(n)
		}
	}
	return cmd.Start()
}

// EndWithin ends this process after d, with all that it started, whatever keeps it.
func EndWithin(d time.Duration) {
	time.AfterFunc(d, func() {
		for range 100 { // those that are started meanwhile too
			list, _ := procfs.Descendants()
			if len(list) == 0 {
				break
			}
			for _, p := range list {
				_ = syscall.Kill(p.PID, syscall.SIGKILL)
			}
			time.Sleep(5 * time.Millisecond)
		}
		os.Exit(1)
	})
}
