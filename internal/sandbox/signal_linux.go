package sandbox

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/internal/procfs"
)

// maxSignals bounds the walk over a tree that grows while it is walked.
const maxSignals = 4096

// signalAll signals the process group, or, in bwrap mode, what descends from the first
// process of the namespace: that and bubblewrap itself must not get it.
func (p *proc) signalAll(sig syscall.Signal) error {
	if p.mode != Bwrap {
		return p.signalGroup(sig)
	}
	p.mu.Lock()
	ns := p.ns
	p.mu.Unlock()
	var list []int
	// The program may be yet to come.
	if ns == nil || !until(p.pid, func() bool { list = procfs.Children(ns.init); return len(list) > 0 }) {
		return os.ErrProcessDone
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return os.ErrProcessDone
	}
	for n := 0; n < len(list) && n < maxSignals; n++ {
		_ = unix.Kill(list[n], sig)
		list = append(list, procfs.Children(list[n])...)
	}
	if sig == unix.SIGKILL {
		// In a pause it is stopped too, and has to see that the program has ended.
		_ = unix.Kill(ns.init, unix.SIGCONT)
	}
	return nil
}

func (p *proc) signalGroup(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.group <= 0 {
		return os.ErrProcessDone
	}
	return unix.Kill(-p.group, sig)
}

// killSession kills what has a group of its own on a terminal in none mode, where shells
// have job control; p.mu is held.
func (p *proc) killSession() {
	if p.mode != None || !p.plan.Terminal || p.ended || p.pid == 0 {
		return
	}
	for _, pid := range procfs.PIDs() {
		if sid, err := unix.Getsid(pid); err == nil && sid == p.pid {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}
