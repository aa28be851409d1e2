package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"time"

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

// testEgress makes a connection from inside, and sees whether it arrives.
func (s *Sandbox) testEgress(dir string) error {
	if !s.opts.Egress {
		return nil
	}
	arrived := make(chan bool, 1)
	c := &Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", "read -r line"}, Env: s.Env(dir, nil, nil), Workdir: dir, Egress: &Egress{
		Serve: func(c net.Conn, _ netip.AddrPort) {
			defer c.Close()
			b := make([]byte, 1)
			_, err := io.ReadFull(c, b)
			arrived <- err == nil && b[0] == 'x'
		},
	}}
	err := s.dial(c)
	if err != nil {
		return fmt.Errorf("egress: a connection fails: %w; it needs Linux 5.14", plain(err))
	}
	select {
	case <-arrived:
		return nil
	case <-time.After(5 * time.Second):
		return errors.New("egress: a connection does not arrive")
	}
}

// dial connects from inside: in landlock mode in place of the program, in bwrap mode
// beside it.
func (s *Sandbox) dial(c *Cmd) error {
	if s.mode == Landlock {
		c.dials = true
		p, err := s.Start(c)
		if err == nil {
			p.Wait()
		}
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	defer w.Close()
	c.Files = []*os.File{r}
	started, err := s.Start(c)
	if err != nil {
		return err
	}
	defer func() { started.Kill(); <-started.done }()
	p := started.tree
	return netgate.DialIn(p.ns.init, p.plan.user())
}
