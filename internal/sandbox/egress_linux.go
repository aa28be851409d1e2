package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/rootfs"
	"github.com/toolcell/toolcell/internal/sandbox/netgate"
)

// user returns whom netgate has to become for a plan.
func (pl *plan) user() *rootfs.User {
	if !pl.ids.drop {
		return nil
	}
	return &rootfs.User{UID: pl.ids.uid, GID: pl.ids.gid}
}

// listenInside opens the ways out of a program in bwrap mode, before it begins.
func (p *proc) listenInside(init int) error {
	if p.plan.Egress == nil {
		return nil
	}
	session := netgate.NewSession(p.plan.Egress, p.plan.user(), p.s.netHost)
	p.mu.Lock()
	p.session = session
	p.mu.Unlock()
	if err := session.Listen(init); err != nil {
		return fmt.Errorf("%w: egress: %w", codeinterp.ErrIsolation, err)
	}
	return nil
}

// openEgress opens the ways out of a program in landlock mode, whose group is set.
func (p *proc) openEgress(group int) {
	if p.plan.Egress == nil || p.plan.Egress.Serve == nil {
		return // nothing answers a fork server itself
	}
	p.session = netgate.NewSession(p.plan.Egress, p.plan.user(), p.s.netHost)
	p.s.notifier.Add(group, p.session)
}

// closeEgress closes all connections. The group is still the program's.
func (p *proc) closeEgress(group int) {
	p.mu.Lock()
	session := p.session
	p.session = nil
	p.mu.Unlock()
	if p.s.notifier != nil {
		p.s.notifier.Remove(group)
	}
	if session != nil {
		session.Close()
	}
}

// prepareNotifier makes the notifier of landlock mode, if it has something to do.
func (s *Sandbox) prepareNotifier() error {
	if s.mode != Landlock || s.notifier != nil || !s.opts.Egress && !s.opts.Forks {
		return nil
	}
	return s.forks.do(func() (err error) {
		s.notifier, err = netgate.NewNotifier(s.opts.Egress, s.opts.Forks)
		return err
	})
}

// prepareEgress makes what all programs share.
func (s *Sandbox) prepareEgress() error {
	if !s.opts.Egress || s.netHost != nil {
		return nil
	}
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return err
	}
	h, err := netgate.NewHost(files.Cur)
	s.netHost = h
	return err
}
