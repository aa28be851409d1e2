package sandbox

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/internal/procfs"
)

// A namespace is the process namespace of a bubblewrap: its first process,
// which reaps orphans and ends with the program, and the program itself. All
// ids are the host's.
type namespace struct {
	init   int
	initFD int
	main   int // 0 until it was found
	mainFD int
}

// openNamespace takes hold of init, a child of bwrap's.
func openNamespace(init, bwrap int) (*namespace, error) {
	fd, err := unix.PidfdOpen(init, 0)
	if err != nil {
		return nil, err
	}
	// After the descriptor was opened: the id may have been given to another before.
	st, err := procfs.Read(init)
	if err != nil || st.Parent != bwrap {
		unix.Close(fd)
		return nil, errEndedEarly
	}
	return &namespace{init: init, initFD: fd, mainFD: -1}, nil
}

func (n *namespace) close() {
	unix.Close(n.initFD)
	if n.mainFD >= 0 {
		unix.Close(n.mainFD)
	}
}

// kill ends the first process, and with it, by the kernel's hand, all others.
func (n *namespace) kill() { _ = unix.PidfdSendSignal(n.initFD, unix.SIGKILL, nil, 0) }

// wait waits until every process of the namespace is gone: bubblewrap itself
// ends as soon as the program does. If it left the first process to this one,
// as it does where the host is the container's first, that is reaped.
func (n *namespace) wait() {
	fds := []unix.PollFd{{Fd: int32(n.initFD), Events: unix.POLLIN}}
	for end := time.Now().Add(maxDying); time.Now().Before(end); {
		if k, err := unix.Poll(fds, 1000); k > 0 || (err != nil && err != unix.EINTR) {
			break
		}
	}
	_, _ = unix.Wait4(n.init, nil, unix.WNOHANG, nil)
}

// cpu is the time used by what the first process has reaped, the program
// itself if it has ended.
func (n *namespace) cpu() time.Duration {
	st, err := procfs.Read(n.init)
	if err != nil {
		return 0
	}
	return st.All
}

// maxDying bounds the wait for killed processes, which can hang in the kernel
// if a file system does.
const maxDying = 10 * time.Second

// find looks for the program: the second process of the namespace, and the
// first one's oldest child unless it has ended.
func (n *namespace) find() bool {
	if n.mainFD >= 0 {
		return true
	}
	list := procfs.Children(n.init)
	if len(list) == 0 {
		return false
	}
	pid := list[0]
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	// After the descriptor was opened, as above.
	if st, err := procfs.Read(pid); err != nil || st.Parent != n.init || procfs.IDInside(pid) != 2 {
		unix.Close(fd)
		return false
	}
	n.main, n.mainFD = pid, fd
	return true
}

// signalInside sends sig to the program; p.mu is held.
func (p *proc) signalInside(sig syscall.Signal) error {
	if !p.ns.find() {
		return os.ErrProcessDone
	}
	if err := unix.PidfdSendSignal(p.ns.mainFD, sig, nil, 0); err != unix.ESRCH {
		return err
	}
	return os.ErrProcessDone
}

// until waits for something of a bubblewrap, and reports false if that ended first.
func until(bwrap int, found func() bool) bool {
	// Each wait is an eighth longer than the one before: all together take eight times
	// the last one.
	for wait := 100 * time.Microsecond; wait < maxSetup/8; wait += wait / 8 {
		st, err := procfs.Read(bwrap) // before: it may find and end
		if found() {
			return true
		}
		if err != nil || st.State == 'Z' {
			return false
		}
		time.Sleep(wait)
	}
	return false
}

// discover waits until the program is there, whose id is needed for signals and for the
// exact wait status.
func (p *proc) discover() bool {
	return until(p.pid, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.ns.find()
	})
}

// status returns the program's wait status. Bubblewrap itself reports a signal
// as exit code 128 + signal; where the kernel (6.15 or later) does not tell
// about the program, codes of signals that end programs are taken for these.
func (n *namespace) status(outer syscall.WaitStatus) syscall.WaitStatus {
	if ws, ok := exitOf(n.mainFD); ok {
		return ws
	}
	if !outer.Exited() || outer.ExitStatus() <= 128 {
		return outer
	}
	switch sig := syscall.Signal(outer.ExitStatus() - 128); sig {
	case syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGILL, syscall.SIGFPE, syscall.SIGTRAP,
		syscall.SIGSYS, syscall.SIGXCPU, syscall.SIGXFSZ, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE:
		return syscall.WaitStatus(sig)
	}
	return outer
}

// exitOf asks the kernel for the wait status of a process that has ended; see
// PIDFD_GET_INFO in ioctl_pidfd(2).
func exitOf(pidfd int) (syscall.WaitStatus, bool) {
	if pidfd < 0 {
		return 0, false
	}
	const (
		getInfo  = 0xc040ff0b
		infoExit = 1 << 3
	)
	info := struct {
		mask, cgroup uint64
		ids          [11]uint32
		exit         int32
	}{mask: infoExit}
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(pidfd), getInfo, uintptr(unsafe.Pointer(&info)))
	return syscall.WaitStatus(info.exit), e == 0 && info.mask&infoExit != 0
}
