package sandbox

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/internal/procfs"
)

// A namespace is the process namespace of a bubblewrap, by the host's id of its first
// process, which reaps orphans and ends with the program, by a pidfd of that, and by one of
// the program, -1 as long as that was not found.
type namespace struct{ init, fd, main int }

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
	return &namespace{init, fd, -1}, nil
}

func (n *namespace) close() { unix.Close(n.fd); unix.Close(n.main) }

// find takes hold of the program: the first child that the first process is seen to have.
func (p *proc) find(n *namespace) {
	until(p.pid, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		list := procfs.Children(n.init)
		if p.ns != nil && len(list) > 0 {
			n.main, _ = unix.PidfdOpen(list[0], 0)
		}
		return p.ns == nil || len(list) > 0
	})
}

// kill ends the first process, and with it, by the kernel's hand, all others.
func (n *namespace) kill() { _ = unix.PidfdSendSignal(n.fd, unix.SIGKILL, nil, 0) }

// wait waits until every process of the namespace is gone: bubblewrap itself
// ends as soon as the program does. If it left the first process to this one,
// as it does where the host is the container's first, that is reaped.
func (n *namespace) wait() {
	fds := []unix.PollFd{{Fd: int32(n.fd), Events: unix.POLLIN}}
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

// inside returns the program's wait status. Bubblewrap itself reports a signal as exit
// code 128 + signal, as shells do of their last child. Codes of signals that end programs are
// taken for these, unless the kernel knows better.
func (n *namespace) inside(outer syscall.WaitStatus) syscall.WaitStatus {
	if !outer.Exited() || outer.ExitStatus() <= 128 || ended(n.main) == outer {
		return outer
	}
	switch sig := syscall.Signal(outer.ExitStatus() - 128); sig {
	case syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGILL, syscall.SIGFPE, syscall.SIGTRAP,
		syscall.SIGSYS, syscall.SIGXCPU, syscall.SIGXFSZ, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE:
		return syscall.WaitStatus(sig)
	}
	return outer
}

// ended returns the wait status of a process that has ended, from Linux 6.15 on; see
// PIDFD_GET_INFO in ioctl_pidfd(2).
func ended(pidfd int) syscall.WaitStatus {
	const getInfo, infoExit = 0xc040ff0b, 1 << 3
	info := struct {
		mask, cgroup uint64
		ids          [11]uint32
		exit         int32
	}{mask: infoExit}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(pidfd), getInfo, uintptr(unsafe.Pointer(&info)))
	return syscall.WaitStatus(info.exit)
}
