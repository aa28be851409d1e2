package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox/seccomp"
)

// A gate holds a program of bubblewrap's until its limits are set.
type gate struct {
	base  int        // the first descriptor
	files []*os.File // what bwrap gets from it on
	own   []*os.File // what close closes
	info  *os.File   // what bwrap writes
	block *os.File   // the ends of what bwrap waits for, its own and the host's
	open  *os.File
}

func (g *gate) close() {
	for _, f := range g.own {
		f.Close()
	}
}

// pass returns the number that a file will have.
func (g *gate) pass(f *os.File) int {
	g.files = append(g.files, f)
	return g.base + len(g.files) - 1
}

// passText passes a file in memory.
func (g *gate) passText(text string) (int, error) {
	fd, err := unix.MemfdCreate("bwrap", unix.MFD_CLOEXEC)
	if err != nil {
		return -1, err
	}
	f := os.NewFile(uintptr(fd), "bwrap")
	g.own = append(g.own, f)
	_, err = f.WriteAt([]byte(text), 0) // the position stays
	return g.pass(f), bare(err)
}

// newGate makes the descriptors that bwrap gets from base on, the last of which has its
// arguments.
func (s *Sandbox) newGate(pl *plan, base int) (*gate, error) {
	g := &gate{base: base}
	var err error
	if g.block, g.open, err = os.Pipe(); err != nil {
		return nil, err
	}
	g.own = append(g.own, g.block, g.open)
	block := g.pass(g.block)
	info, err1 := g.passText("")
	g.info = g.own[len(g.own)-1]
	// The namespace closes the network; within it loopback is to work.
	filter, err2 := g.passText(string(seccomp.Policy{Network: true, Monitored: true}.Build().Bytes()))
	err = errors.Join(err1, err2)
	list := s.binds(pl)
	var options []string
	for _, e := range s.etc(pl, list) {
		fd, err3 := g.passText(e.text)
		err = errors.Join(err, err3)
		// First, before the root directory becomes read-only.
		options = append(options, "--ro-bind-data", strconv.Itoa(fd), e.path)
	}
	for i, b := range list {
		if b.dir != nil {
			list[i].fd = g.pass(b.dir.file)
		}
	}
	options = append(options, s.bwrapArgs(pl, list, filter, block, info)...)
	_, err4 := g.passText(strings.Join(options, "\x00") + "\x00")
	if err = errors.Join(err, err4); err != nil {
		g.close()
	}
	return g, err
}

// startBwrap starts bubblewrap, sets the limits of the first process of the
// new namespaces, and lets it run the program.
func (s *Sandbox) startBwrap(p *proc, sp *spawn) error {
	if p.plan.ForkServer {
		return fmt.Errorf("%w: fork servers do not work in bwrap mode", codeinterp.ErrInvalid)
	}
	group, err := s.group(p.plan)
	if err != nil {
		return err
	}
	g, err := s.newGate(p.plan, len(sp.fds))
	if err != nil {
		s.anchors.put(group)
		return err
	}
	// The host's end of the gate goes with it, and a bubblewrap that still waits
	// there reads its end.
	defer g.close()
	sp.fds = append(sp.fds, descriptors(g.files, nil)...)
	sp.args = append([]string{"bwrap", "--args", strconv.Itoa(len(sp.fds) - 1), "--", sp.path}, sp.args[1:]...)
	// bubblewrap itself runs outside: the program's environment is among its options.
	sp.path, sp.env, sp.dir, sp.cwd = s.bwrap, environ, "/", nil
	sp.rlimits = s.limitsOutside(p.plan)
	sp.group, sp.tied = group, true
	// Not to be reaped before open is done with its id.
	ready := make(chan struct{})
	if err := sp.start(&s.forks, func() { <-ready; p.reaped() }); err != nil {
		s.anchors.put(group)
		return err
	}
	p.begin(sp)
	if sp.term {
		err = s.anchors.adopt(p.pid)
	}
	if err == nil {
		err = s.open(p, g)
	}
	close(ready)
	// It ended while it was being looked at.
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EPIPE) {
		err = errEndedEarly
	}
	if err != nil {
		p.kill()
		<-p.done
		if s.Reachable(filepath.Dir(p.plan.Workdir)) != nil {
			return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, errClosed)
		}
		return fmt.Errorf("%w: bubblewrap: %w", codeinterp.ErrIsolation, err)
	}
	return nil
}

// open waits until bwrap has made the namespaces, sets the limits inside, opens the gate,
// and waits until bwrap, which has made all else by then, has passed it. The namespaces are tied to bubblewrap a moment after that, and their first
// process, which the group holds from the start, takes all of them along.
func (s *Sandbox) open(p *proc, g *gate) error {
	init, err := g.child(p.pid)
	if err != nil {
		return err
	}
	ns, err := openNamespace(init, p.pid)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.ns = ns
	if p.killed {
		// Close came before there was anything but bubblewrap itself to kill.
		ns.kill()
	}
	p.mu.Unlock()
	if err := s.confine(p, init); err != nil {
		return err
	}
	if err := p.listenInside(init); err != nil {
		return err
	}
	preferVictim(p.pid)
	preferVictim(init)
	p.measure(true)
	if err := s.limitInside(p.plan, init); err != nil {
		return err
	}
	if _, err = g.open.Write([]byte{1}); err != nil || until(p.pid, g.passed) {
		go p.find(ns)
		return bare(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed {
		return nil
	}
	return errEndedEarly
}

// passed reports whether bwrap has read what opened the gate.
func (g *gate) passed() bool {
	n, err := unix.IoctlGetInt(int(g.block.Fd()), unix.TIOCINQ)
	return err == nil && n == 0
}

// errEndedEarly is the error of a bubblewrap that cannot make its namespaces, or show what
// it has to, for example because a link is in the place of a directory.
var errEndedEarly = errors.New("it ended before the program began; what it said is in the program's standard error")

// child waits until bwrap has reported the id of its child.
func (g *gate) child(bwrap int) (int, error) {
	var info struct {
		Init int `json:"child-pid"`
	}
	b := make([]byte, 1024)
	if until(bwrap, func() bool {
		n, _ := g.info.ReadAt(b, 0)
		return json.Unmarshal(b[:n], &info) == nil && info.Init > 0
	}) {
		return info.Init, nil
	}
	return 0, errEndedEarly
}
