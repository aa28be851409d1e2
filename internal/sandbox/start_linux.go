package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
)

// Start starts a program. Its limits are in force when Start returns. Errors
// wrap one of codeinterp's sentinels.
func (s *Sandbox) Start(c *Cmd) (*Process, error) {
	pl, err := s.plan(c)
	if err != nil {
		return nil, err
	}
	if s.ids != nil {
		if pl.ids, err = s.identify(pl); err != nil {
			return nil, err
		}
	}
	p := newProc(s, pl)
	s.starts.RLock()
	defer s.starts.RUnlock()
	if s.paused {
		return nil, codeinterp.ErrPaused
	}
	if err := s.live.add(p); err != nil {
		return nil, err
	}
	if err := s.start(p); err != nil {
		p.release()
		// Close has ended it; what became of the start then says nothing.
		if s.live.isClosed() {
			return nil, codeinterp.ErrClosed
		}
		return nil, s.explain(err, pl)
	}
	return &p.Process, nil
}

func (s *Sandbox) start(p *proc) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return bare(err)
	}
	defer null.Close()
	sp := &spawn{
		path: p.plan.Path, args: p.plan.Args, env: p.plan.Env, dir: p.plan.Workdir, cwd: p.plan.Cwd,
		fds: descriptors(p.plan.Files, null), ids: p.plan.ids, term: p.plan.Terminal,
	}
	if s.mode == Bwrap {
		return s.startBwrap(p, sp)
	}
	return s.startDirect(p, sp)
}

// startDirect starts the program as a child in a group of its own.
func (s *Sandbox) startDirect(p *proc, sp *spawn) error {
	group, err := s.group(p.plan)
	if err != nil {
		return err
	}
	if s.mode == Landlock {
		rules, err := s.ruleset(p.plan)
		if err != nil {
			s.anchors.put(group)
			return err
		}
		defer rules.Close()
		sp.rules, sp.filter = rules, s.filter.of(s.policy(p.plan, group))
	}
	sp.group, sp.tied = group, true
	sp.rlimits = p.plan.rlimits(s.processLimit(p.plan))
	// Not to be reaped before it is watched, and in its cgroup.
	ready := make(chan struct{})
	if s.mode == Landlock && !sp.term {
		p.openEgress(group)
	}
	err = sp.start(&s.forks, func() { <-ready; p.reaped() })
	if err != nil {
		p.closeEgress(group)
		s.anchors.put(group)
		return err
	}
	p.begin(sp)
	err = s.confine(p, p.pid)
	if sp.term {
		// The program begins once the host gives it something to do.
		err = errors.Join(err, s.anchors.adopt(p.pid))
		if s.mode == Landlock {
			p.openEgress(p.pid)
		}
	}
	preferVictim(p.pid)
	p.measure(true)
	close(ready)
	if err != nil {
		p.kill()
		<-p.done
	}
	return err
}

// group returns the process group for a plan's program, 0 where it leads one.
func (s *Sandbox) group(pl *plan) (int, error) {
	if pl.Terminal {
		return 0, nil
	}
	return s.anchors.get()
}

// confine puts pid into a cgroup of its own, where one is delegated.
func (s *Sandbox) confine(p *proc, pid int) error {
	if s.cgroups == nil {
		return nil
	}
	g, err := s.cgroups.new(p.plan.limits)
	if err != nil {
		return fmt.Errorf("%w: %w", codeinterp.ErrIsolation, err)
	}
	p.mu.Lock()
	p.cgroup = g
	p.mu.Unlock()
	if err := g.attach(pid); err != nil {
		return fmt.Errorf("%w: cgroup: %w", codeinterp.ErrIsolation, err)
	}
	return nil
}

// errClosed has no path in it, for the caller's users; Reachable has.
var errClosed = errors.New("the program or its working directory is closed to other users, and programs of a root host run as another user")

// explain puts the sentinel around what start returns.
func (s *Sandbox) explain(err error, pl *plan) error {
	for _, known := range []error{codeinterp.ErrIsolation, codeinterp.ErrClosed, codeinterp.ErrUnavailable, codeinterp.ErrCapacity, codeinterp.ErrInvalid} {
		if errors.Is(err, known) {
			return err
		}
	}
	if e, ok := err.(syscall.Errno); ok {
		switch e {
		case unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE:
			return fmt.Errorf("%w: starting a process: %w", codeinterp.ErrCapacity, err)
		case unix.EACCES, unix.EPERM:
			if s.Reachable(pl.Path) != nil || s.Reachable(filepath.Dir(pl.Workdir)) != nil {
				return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, errClosed)
			}
		}
	}
	return fmt.Errorf("%w: starting the program: %w", codeinterp.ErrUnavailable, err)
}
