package sandbox

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
)

// A proc is a Process on Linux.
type proc struct {
	Process
	s     *Sandbox
	plan  *plan
	group int        // process group that the tree cannot leave, 0 in bwrap mode
	ns    *namespace // in bwrap mode, once it is there
	pidfd int

	server   *proc       // of an adopted process
	finished chan uint32 // its wait status

	mu     sync.Mutex
	ended  bool // and may be reaped: no more signals
	killed bool
	cause  codeinterp.Cause
	detail string
}

func newProc(s *Sandbox, pl *plan) *proc {
	p := &proc{s: s, plan: pl, pidfd: -1}
	p.done = make(chan struct{})
	p.Process.tree = p
	return p
}

func (p *proc) signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return os.ErrProcessDone
	}
	if p.ns != nil {
		return p.signalInside(sig)
	}
	return p.send(sig)
}

// send signals what Start forked.
func (p *proc) send(sig syscall.Signal) error {
	err := error(unix.ENOSYS)
	if p.pidfd >= 0 {
		err = unix.PidfdSendSignal(p.pidfd, sig, nil, 0)
	}
	if err == unix.ENOSYS || err == unix.EPERM {
		err = unix.Kill(p.pid, sig)
	}
	if err == unix.ESRCH {
		return os.ErrProcessDone
	}
	return err
}

func (p *proc) kill() { p.stop("", "") }

// stop kills the tree, for a limit that was reached or because the caller
// said so. The first reason counts.
func (p *proc) stop(cause codeinterp.Cause, detail string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended && !p.killed {
		p.killed, p.cause, p.detail = true, cause, detail
	}
	p.killTree()
}

// killTree ends every process of the tree; p.mu is held. The group keeps its
// id until it is given back, so this never hits a stranger.
func (p *proc) killTree() {
	if p.group > 0 {
		_ = unix.Kill(-p.group, unix.SIGKILL)
	}
	if p.ns != nil {
		p.ns.kill()
	} else if !p.ended {
		_ = p.send(unix.SIGKILL)
	}
}

// reaped is called when the program has ended and can be waited for.
func (p *proc) reaped() {
	var inside time.Duration
	p.mu.Lock()
	if p.ns != nil {
		inside = p.ns.cpu()
	}
	p.killTree()
	p.ended = true
	p.mu.Unlock()
	if p.ns != nil {
		p.ns.wait()
	}
	var ru syscall.Rusage
	ws := reap(p.pid, &ru)
	p.exit = Exit{
		CPU:    time.Duration(ru.Utime.Nano()+ru.Stime.Nano()) + inside,
		MaxRSS: int64(ru.Maxrss) << 10,
	}
	p.conclude(ws)
}

// conclude fills in the exit and releases everything.
func (p *proc) conclude(ws syscall.WaitStatus) {
	p.mu.Lock()
	if p.ns != nil {
		ws = p.ns.status(ws)
		p.ns.close()
		p.ns = nil
	}
	p.exit.set(ws)
	p.exit.Killed = p.killed && p.cause == ""
	if p.killed {
		p.exit.Cause, p.exit.Detail = p.cause, p.detail
	}
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
		p.pidfd = -1
	}
	if p.group > 0 {
		p.s.anchors.put(p.group)
		p.group = 0
	}
	p.mu.Unlock()
	p.s.drop(p)
	close(p.done)
}
