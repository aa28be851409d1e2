package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
)

// rlimits turns the limits into resource limits of the kernel's. procs is what
// RLIMIT_NPROC becomes, 0 for no limit: the kernel counts it per uid.
func (p *plan) rlimits(procs int) []Rlimit {
	l := p.limits
	list := []Rlimit{
		{unix.RLIMIT_CORE, 0, 0},
		{unix.RLIMIT_MSGQUEUE, 0, 0},
	}
	add := func(res int, v int64) {
		if v > 0 {
			list = append(list, Rlimit{res, uint64(v), uint64(v)})
		}
	}
	add(unix.RLIMIT_DATA, p.data())
	add(unix.RLIMIT_FSIZE, l.FileSize)
	add(unix.RLIMIT_NOFILE, int64(l.OpenFiles))
	add(unix.RLIMIT_NPROC, int64(procs))
	if l.CPU > 0 {
		// SIGXCPU comes at the soft limit; a second later the kernel kills.
		list = append(list, Rlimit{unix.RLIMIT_CPU, uint64(l.CPU), uint64(l.CPU) + 1})
	}
	return list
}

// processLimit returns RLIMIT_NPROC for a plan. The kernel counts processes and
// threads per uid: in a user namespace and under a uid of its own that is the
// tree. Under a shared uid it is everything of that user's, so the limit can
// only be a backstop behind the watchdog, and leaves room for the others: those
// that live now, and those that start while this one lives.
func (s *Sandbox) processLimit(pl *plan) int {
	const others = 24 // programs, of 32 processes and threads each
	n := pl.limits.Processes
	switch {
	case n <= 0:
		return 0
	case s.mode == Bwrap && alone(pl):
		return n + 2 // bubblewrap's own
	case alone(pl) && !pl.ForkServer:
		return n
	}
	n += 32*others + 64
	if !pl.forked { // which cannot have more than its server
		n += tasks() // at least as many as the user has now
	}
	return n
}

// limitsOutside returns the limits of a program in bwrap mode that bubblewrap
// itself starts with: those of another uid, which only a host with more rights
// than most containers have could set later. Bubblewrap needs a few descriptors.
func (s *Sandbox) limitsOutside(pl *plan) []Rlimit {
	const few = 32
	if !pl.ids.drop {
		return nil
	}
	outside := *pl
	if l := &outside.limits; l.OpenFiles > 0 {
		l.OpenFiles = max(l.OpenFiles, few)
	}
	return outside.rlimits(s.processLimit(pl))
}

// limitInside sets the limits of the first process of bubblewrap's namespaces,
// where the kernel counts processes anew.
func (s *Sandbox) limitInside(pl *plan, pid int) error {
	procs := 0
	if pl.limits.Processes > 0 {
		procs = pl.limits.Processes + 1 // that one
	}
	err := prlimit(pid, pl.rlimits(procs))
	if err == nil || err == unix.EPERM && pl.ids.drop {
		return nil
	}
	return fmt.Errorf("%w: resource limits: %w", codeinterp.ErrIsolation, err)
}

// prlimit sets each limit of a process.
func prlimit(pid int, list []Rlimit) error {
	for _, r := range list {
		lim, err := r.within(pid)
		if err == nil {
			err = unix.Prlimit(pid, r.Resource, &lim, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// within returns the limit, or the nearest that the hard limit of a process allows; 0 is
// the host.
func (r Rlimit) within(pid int) (unix.Rlimit, error) {
	var old unix.Rlimit
	err := unix.Prlimit(pid, r.Resource, nil, &old)
	hard := min(r.Hard, old.Max)
	return unix.Rlimit{Cur: min(r.Soft, hard), Max: hard}, err
}

// tasks counts the processes and threads of the machine, 0 if that is unknown.
func tasks() int {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int(info.Procs)
}
