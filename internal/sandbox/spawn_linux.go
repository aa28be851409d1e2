package sandbox

import (
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// A spawn is one fork and exec, made on an operating-system thread of its own.
type spawn struct {
	path string
	args []string
	env  []string
	dir  string
	fds  []uintptr
	sys  syscall.SysProcAttr

	// restrict, if set, is run on the thread before the fork; the child
	// inherits what it does, and the thread never runs anything else.
	restrict func() error

	pid   int
	pidfd int // -1 where the kernel has none
}

// start forks, and calls ended on another goroutine when the child has ended
// and is still to be waited for. The thread stays until then: the child's
// death signal is tied to it.
func (sp *spawn) start(ended func()) error {
	ready := make(chan error)
	go onThread(func() {
		err := sp.fork()
		ready <- err
		if err != nil {
			return
		}
		awaitEnd(sp.pid)
		go ended()
	})
	return <-ready
}

func (sp *spawn) fork() error {
	if err := sweep(); err != nil {
		return err
	}
	if sp.restrict != nil {
		if err := sp.restrict(); err != nil {
			return err
		}
	}
	sp.pidfd = -1
	sp.sys.PidFD = &sp.pidfd
	pid, err := syscall.ForkExec(sp.path, sp.args, &syscall.ProcAttr{Dir: sp.dir, Env: sp.env, Files: sp.fds, Sys: &sp.sys})
	sp.pid = pid
	return err
}

// onThread runs f on a thread that is not the process's main one, whose
// attributes are the process's in /proc, and that ends with f.
func onThread(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	done := make(chan struct{})
	go func() { defer close(done); onThread(f) }()
	<-done
	runtime.UnlockOSThread()
}

// awaitEnd waits until the child has ended, and leaves it to be reaped.
func awaitEnd(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// reap waits for a child that has ended, or is about to.
func reap(pid int, ru *syscall.Rusage) syscall.WaitStatus {
	var ws syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(pid, &ws, 0, ru); err != syscall.EINTR {
			return ws
		}
	}
}

// sweep marks every descriptor of the host above 2 to be closed on exec, the
// ones that it inherited itself too. What Go hands to a child on purpose is
// duplicated after the fork, and not affected.
func sweep() error {
	err := unix.CloseRange(3, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil || (err != unix.ENOSYS && err != unix.EINVAL && err != unix.EPERM) {
		return err
	}
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return bare(err)
	}
	for _, e := range list {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// descriptors returns the raw descriptors of files, with null for nil ones.
func descriptors(files []*os.File, null *os.File) []uintptr {
	fds := make([]uintptr, len(files))
	for i, f := range files {
		if f == nil {
			f = null
		}
		fds[i] = f.Fd()
	}
	return fds
}
