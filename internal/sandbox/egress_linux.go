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
	if session == nil {
		return
	}
	if p.s.notifier != nil {
		p.s.notifier.Remove(group)
	}
	session.Close()
}

// prepareEgress makes what all programs share, and the notifier of landlock mode.
func (s *Sandbox) prepareEgress() error {
	if !s.opts.Egress {
		return nil
	}
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return err
	}
	if s.netHost == nil {
		h, err := netgate.NewHost(files.Cur)
		if err != nil {
			return err
		}
		s.netHost = h
	}
	if s.mode != Landlock || s.notifier != nil {
		return nil
	}
	return s.forks.do(func() (err error) {
		s.notifier, err = netgate.NewNotifier()
		return err
	})
}
