package sandbox

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"

	"github.com/toolcell/toolcell/internal/procfs"
	"github.com/toolcell/toolcell/internal/sandbox/forkexec"
	"github.com/toolcell/toolcell/internal/sandbox/netgate"
)

// A proc is a Process on Linux.
type proc struct {
	Process
	s       *Sandbox
	mode    Mode // of s when it began: while s is made, the next one is tried beside the watcher
	plan    *plan
	group   int              // process group that the tree cannot leave, 0 in bwrap mode
	outer   int              // in bwrap mode, the group that bubblewrap starts in
	ns      *namespace       // in bwrap mode, once it is there
	pidfd   int              // of an adopted process, otherwise -1
	cgroup  *cgroup          // nil where none is delegated
	session *netgate.Session // of Egress, nil without it
	usage   usage

	server   *proc       // of an adopted process; nil for a copy
	finished chan uint32 // its wait status

	mu       sync.Mutex
	closed   sync.Once // done
	ended    bool      // and may be reaped: no more signals
	killed   bool
	measured bool // by the watcher
	cause    codeinterp.Cause
	detail   string
	since    uint64              // start time of the first process
	seen     map[procID]struct{} // in none mode, at the last look: some may have left the group
}

func newProc(s *Sandbox, pl *plan) *proc {
	p := &proc{s: s, mode: s.mode, plan: pl, pidfd: -1}
	p.done = make(chan struct{})
	p.Process.tree, p.usage.p = p, p
	return p
}

// begin takes in what was forked, and kills it if Close came first.
func (p *proc) begin(sp *spawn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pid = sp.pid
	if st, err := procfs.Read(p.pid); err == nil {
		p.since = st.Start
	}
	group := sp.group
	if sp.term {
		group = sp.pid
	}
	if p.mode == Bwrap {
		p.outer = group
	} else {
		p.group = group
	}
	if p.killed {
		p.killTree()
	}
}

// send signals the program; p.mu is held and it has not ended.
func (p *proc) send(sig syscall.Signal) error {
	var err error
	if p.pidfd >= 0 {
		err = unix.PidfdSendSignal(p.pidfd, sig, nil, 0)
	} else {
		err = unix.Kill(p.pid, sig) // a child of the host that was not waited for
	}
	if err == unix.ESRCH {
		return os.ErrProcessDone
	}
	return err
}

func (p *proc) rest(on bool) { p.measure(!on) }

// measure starts or stops measuring what the tree uses.
func (p *proc) measure(on bool) {
	p.mu.Lock()
	p.measured = on
	p.mu.Unlock()
	if on {
		p.s.watch.wake()
	}
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
	if p.cgroup != nil {
		p.cgroup.kill()
	}
	if p.group > 0 {
		_ = unix.Kill(-p.group, unix.SIGKILL)
	}
	p.killSession()
	for id := range p.seen {
		// The id may be another process's by now, and a copy has its own group.
		if st, err := procfs.Read(id.pid); err == nil && st.Start == id.start && (st.Group == p.group || !p.s.anchors.has(st.Group)) {
			_ = unix.Kill(id.pid, unix.SIGKILL)
		}
	}
	switch {
	case p.ns != nil:
		p.ns.kill()
	case p.outer > 0:
		// What it has forked is in its group until the gate opens, and tied to
		// it only then.
		_ = unix.Kill(-p.outer, unix.SIGKILL)
	case p.ended || p.pid == 0:
	default:
		_ = p.send(unix.SIGKILL)
	}
}

// reaped is called when the program has ended and can be waited for.
func (p *proc) reaped() {
	var inside time.Duration
	p.mu.Lock()
	if p.ns != nil {
		// Before the kill: with the first process goes what the kernel knows of its
		// children.
		inside = p.ns.cpu()
	}
	p.killTree()
	p.ended = true
	if p.plan.Terminal {
		// The group is empty, and its id goes with the program, which led it.
		p.s.anchors.drop(p.pid)
		p.group, p.outer = 0, 0
	}
	p.mu.Unlock()
	if p.ns != nil {
		p.ns.wait()
	}
	var ru syscall.Rusage
	ws := forkexec.Reap(p.pid, &ru)
	p.exit.CPU = time.Duration(ru.Utime.Nano()+ru.Stime.Nano()) + inside
	var own syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) == nil && ru.Maxrss > own.Maxrss {
		p.exit.MaxRSS = int64(ru.Maxrss) << 10 // else it may be the host's, from before the exec
	}
	p.conclude(ws)
}

// see keeps what the watchdog saw, to be killed too if it leaves the group.
func (p *proc) see(members []procfs.Stat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = map[procID]struct{}{}
	for _, st := range members {
		p.seen[procID{st.PID, st.Start}] = struct{}{}
	}
}

// conclude fills in the exit and releases everything.
func (p *proc) conclude(ws syscall.WaitStatus) {
	p.mu.Lock()
	if p.ns != nil {
		ws = p.ns.inside(ws)
		p.ns.close()
		p.ns = nil
	}
	p.exit.set(ws)
	p.exit.Killed = p.killed && p.cause == ""
	if p.killed {
		p.exit.Cause, p.exit.Detail = p.cause, p.detail
	}
	p.attribute()
	if p.pidfd >= 0 && p.server == nil && p.exit.Cause == codeinterp.CauseSignal {
		p.exit.Signal, p.exit.Cause = 0, "" // the status of a copy is not known
	}
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
		p.pidfd = -1
	}
	group, cgroup := max(p.group, p.outer), p.cgroup
	p.group, p.outer = 0, 0
	p.mu.Unlock()
	if p.plan.Terminal {
		group = p.pid
	}
	p.closeEgress(group)
	switch {
	case group == 0:
	case p.plan.Terminal && !reapsOrphans():
	case reapsOrphans():
		p.s.anchors.retire(group)
	default:
		p.s.anchors.put(group)
	}
	if cgroup != nil {
		cgroup.remove()
	}
	p.release()
}

// release reports the end of the process, or that it never began.
func (p *proc) release() {
	p.s.live.remove(p)
	p.closed.Do(func() { close(p.done) })
}

// attribute adds what the watchdog measured, and finds out whether a signal that
// was not ours has to do with memory: the kernel kills, and runtimes abort,
// when there is no more. p.mu is held.
func (p *proc) attribute() {
	u := &p.usage
	u.mu.Lock()
	defer u.mu.Unlock()
	p.exit.CPU = max(p.exit.CPU, u.cpu)
	p.exit.MaxRSS = max(p.exit.MaxRSS, u.peakRSS)
	limit := p.plan.limits.Memory // 0 or less for none
	if l := p.plan.limits.CPU; p.exit.Cause == codeinterp.CauseSignal && p.exit.Signal == syscall.SIGKILL && l > 0 && p.exit.CPU >= time.Duration(l)*time.Second {
		p.exit.Cause = codeinterp.CauseCPU
	}
	if p.exit.Cause != codeinterp.CauseSignal {
		return
	}
	switch p.exit.Signal {
	case syscall.SIGKILL:
		switch {
		case p.cgroup != nil && p.cgroup.outOfMemory():
			p.exit.Cause, p.exit.Detail = codeinterp.CauseMemory, fmt.Sprintf("memory: limit of %d MiB reached", limit>>20)
		case p.s.oomKilled():
			p.exit.Cause, p.exit.Detail = codeinterp.CauseMemory, "the machine is out of memory"
		}
	case syscall.SIGABRT, syscall.SIGTRAP, syscall.SIGILL, syscall.SIGSEGV, syscall.SIGBUS:
		// The kernel refuses what would exceed the limit, so that the peak stays below.
		if limit > 0 && u.peakData >= limit/10*8 {
			p.exit.Cause = codeinterp.CauseMemory
			p.exit.Detail = fmt.Sprintf("memory: %d MiB allocated by one process, limit %d MiB", u.peakData>>20, limit>>20)
		}
	}
}

// oomKilled reports whether the kernel has killed for want of memory since it
// was last asked.
func (s *Sandbox) oomKilled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.oomKills
	s.oomKills = oomKills()
	return s.oomKills > before
}
