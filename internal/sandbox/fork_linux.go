package sandbox

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"

	"github.com/toolcell/toolcell/internal/procfs"
)

// finishGrace is how long an adopted process that has ended waits for Finish.
const finishGrace = 2 * time.Second

// CanFork reports whether Fork works in this mode: in landlock and none mode.
func (s *Sandbox) CanFork() bool { return s.mode != Bwrap }

// Fork prepares a child of a process that was started with Cmd.ForkServer, with
// the isolation that Start would give it. Of c it uses Workdir, ReadOnly,
// Writable and Limits. They can only narrow what the server has: its limits
// must be as wide as any child's, and it may write to all directories of
// TempDir and to its own Writable ones.
//
// Or it prepares a copy of a process in a directory of [Sandbox.FamilyDir]; c's Workdir is
// then one of [Sandbox.ForkDir].
func (s *Sandbox) Fork(of *Process, c *Cmd) (*Fork, error) {
	parent, server := of.tree, of.tree.plan.ForkServer
	if parent.s != s || !server && parent.plan.family == nil {
		return nil, fmt.Errorf("%w: a process that cannot be forked", codeinterp.ErrInvalid)
	}
	if c.Egress != nil && parent.plan.Egress == nil {
		return nil, fmt.Errorf("%w: Egress in a fork server without it", codeinterp.ErrInvalid)
	}
	if c.Cwd != nil && server {
		return nil, fmt.Errorf("%w: a forked child starts in its Workdir", codeinterp.ErrInvalid)
	}
	child := *c
	child.Path = parent.plan.Path
	pl, err := s.plan(&child)
	if err != nil {
		return nil, err
	}
	// A child of a server without root's rights cannot become another user.
	pl.ids, pl.forked = parent.plan.ids, true
	if pl.ids.drop {
		if err := handOver(pl.Workdir, pl.ids); err != nil {
			return nil, fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
		}
	}
	group, err := s.anchors.get()
	if err != nil {
		return nil, err
	}
	f := &Fork{of: parent, child: newProc(s, pl), Layer: Layer{Group: group, Workdir: pl.Workdir}}
	f.child.group = group
	if s.mode == Landlock {
		f.child.openEgress(group)
	}
	if !server {
		if err := f.admit(); err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
	f.Layer.DeathSignal, f.Layer.Rlimits = int(unix.SIGKILL), pl.rlimits(s.processLimit(pl))
	if s.mode == Landlock {
		if f.Layer.Ruleset, err = s.ruleset(pl); err != nil {
			f.Close()
			return nil, fmt.Errorf("%w: %w", codeinterp.ErrIsolation, err)
		}
		f.Layer.Seccomp = s.filter.of(s.policy(pl, group)).Bytes()
	}
	return f, nil
}

// admit lets one process of what is copied into the copy's group.
func (f *Fork) admit() error {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	if f.from = f.of.group; f.of.ended || f.from == 0 {
		return fmt.Errorf("%w: the process has ended", codeinterp.ErrUnavailable)
	}
	if n := f.of.s.notifier; n != nil {
		n.Admit(f.from, f.child.group)
	}
	return nil
}

// revoke undoes admit, and returns the start time of the process that has left the group, or
// is about to; 0 if none has.
func (f *Fork) revoke() uint64 {
	if n := f.of.s.notifier; n != nil && f.from != 0 {
		return n.Revoke(f.from)
	}
	return 0
}

// Adopt takes over the forked child as soon as it has joined the Layer's Group.
// It fails with ErrIsolation where that does not happen.
// The server may report the pid right after the fork: what the child must not
// do before it has applied the whole Layer is to read or run the code.
func (f *Fork) Adopt(pid int) (_ *Process, err error) {
	p := f.child
	if p == nil {
		return nil, fmt.Errorf("%w: adopted or closed before", codeinterp.ErrInvalid)
	}
	p.s.starts.RLock()
	defer p.s.starts.RUnlock()
	if p.pid = pid; f.from == 0 {
		p.server, p.finished = f.of, make(chan uint32, 1)
	}
	if p.pidfd, err = unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK); err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: forked process: %w", codeinterp.ErrUnavailable, err)
	}
	// The descriptor was opened first, so that what is looked at now and killed
	// later is one process, whatever the server says of its id.
	if err = f.awaitGroup(pid); err == nil {
		err = p.s.live.add(p)
	}
	if err != nil {
		unix.Close(p.pidfd)
		f.Close()
		return nil, err
	}
	if start := f.revoke(); start != 0 {
		p.since = min(p.since, start) // it may have forked the copy, and be in the group too
	}
	f.child = nil
	f.closeRuleset()
	err = p.s.confine(p, pid)
	p.measure(true)
	go p.awaitFinish()
	if err != nil {
		p.kill()
		return nil, err
	}
	return &p.Process, nil
}

// awaitGroup waits until the child is in its group.
func (f *Fork) awaitGroup(pid int) error {
	for wait := 50 * time.Microsecond; ; wait *= 2 {
		st, err := procfs.Read(pid)
		switch {
		// What is forked is a program, and may name any process of the machine.
		case err != nil || f.from == 0 && st.Parent != f.of.pid || f.from != 0 && pid == f.of.pid:
			return fmt.Errorf("%w: process %d is not what was forked", codeinterp.ErrIsolation, pid)
		case st.Group == f.child.group:
			f.child.since = st.Start
			return nil
		case st.State == 'Z' || wait > 2*time.Second:
			if f.from == 0 {
				_ = f.child.send(unix.SIGKILL)
			}
			return fmt.Errorf("%w: the forked process did not join its group", codeinterp.ErrIsolation)
		}
		time.Sleep(wait)
	}
}

// Close ends and releases what was prepared and not adopted. It may be called
// in any case. Where a process has joined the group, or is about to, and it is not known
// which, it ends what was copied too.
func (f *Fork) Close() error {
	f.closeRuleset()
	if p := f.child; p != nil {
		f.child = nil
		if f.revoke() != 0 {
			f.of.kill() // first: what is still in its group cannot leave it any more
			<-f.of.done
		}
		_ = unix.Kill(-p.group, unix.SIGKILL)
		p.closeEgress(p.group)
		p.s.anchors.put(p.group)
	}
	return nil
}

func (f *Fork) closeRuleset() {
	if f.Layer.Ruleset != nil {
		f.Layer.Ruleset.Close()
		f.Layer.Ruleset = nil
	}
}

// finish passes on the status that the fork server reports.
func (p *proc) finish(status uint32) {
	if p.finished != nil {
		select {
		case p.finished <- status:
		default:
		}
	}
}

// awaitFinish waits until the process has ended and kills what it left.
func (p *proc) awaitFinish() {
	for {
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(p.pidfd), Events: unix.POLLIN}}, -1); err != unix.EINTR {
			break
		}
	}
	p.mu.Lock()
	p.killTree()
	p.ended = true
	p.mu.Unlock()
	p.conclude(p.reported())
}

// reported returns the status that the server reports, or that of a kill if there is none
// or it is dead or silent.
func (p *proc) reported() syscall.WaitStatus {
	if p.server == nil {
		return syscall.WaitStatus(unix.SIGKILL)
	}
	select {
	case status := <-p.finished:
		return syscall.WaitStatus(status)
	// A server that is gone reports nothing any more, and one that lies
	// could keep us waiting: hence the grace.
	case <-p.server.done:
	case <-time.After(finishGrace):
	}
	return syscall.WaitStatus(unix.SIGKILL)
}
