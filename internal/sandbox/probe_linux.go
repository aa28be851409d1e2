package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/probecache"
	"github.com/toolcell/toolcell/internal/sandbox/rmtree"
)

// maxRefusal is how long a mode that did not work is not tried again.
const maxRefusal = 10 * time.Minute

// remembered runs the probe of the mode, or takes its result from Options.Probes.
func (s *Sandbox) remembered(probe func() error) error {
	if s.opts.Probes == nil || s.mode == None {
		return probe()
	}
	path, _ := findBwrap()
	key := fmt.Sprintf("isolation %v network %t egress %t signals %t bwrap %s %s\n%s", s.mode, s.opts.Network, s.opts.Egress, s.opts.AllowSignals,
		path, probecache.Stamp(path), probecache.Machine())
	var reason string // why the mode does not work, empty if it does
	if s.opts.Probes.Load(key, 0, &reason) && reason == "" {
		s.bwrap = path
		var err error
		if s.mode == Landlock {
			s.abi, err = landlockABI()
		}
		return err
	}
	if s.opts.Probes.Load(key, maxRefusal, &reason) {
		return errors.New(reason)
	}
	err := probe()
	reason = ""
	if err != nil {
		reason = err.Error()
	}
	s.opts.Probes.Store(key, nil, reason)
	return err
}

// selfTest runs a program in the mode that is being probed, with its real flags, and
// checks that it runs and cannot read a file that every user can read. What the caller
// listed may contain that file, and is left out.
func (s *Sandbox) selfTest() error {
	listed := s.listed
	s.listed = nil
	defer func() { s.listed = listed }()
	dir, err := s.TempDir()
	if err != nil {
		return err
	}
	defer rmtree.RemoveAll(dir)
	canary := dir + ".canary"
	if err := os.WriteFile(canary, []byte("seen\n"), 0o644); err != nil {
		return bare(err)
	}
	defer os.Remove(canary)
	c := &Cmd{
		Path: "/bin/sh", Args: []string{"sh", "-c", `if read -r line <"$1"; then echo "$line"; else echo hidden; fi`, "sh", canary},
		Env: s.Env(dir, nil, nil), Workdir: dir,
	}
	if s.opts.Egress {
		c.Egress = &Egress{Serve: func(c net.Conn, _ netip.AddrPort) { c.Close() }} // whose listeners are made
	}
	out, exit, err := s.output(c)
	switch out = strings.TrimSpace(out); {
	case err != nil:
		return plain(err)
	case out == "seen":
		return errors.New("a program in it can read any file")
	case exit.Code != 0 || !strings.HasSuffix(out, "hidden"):
		return fmt.Errorf("a program in it does not run (exit %d): %s", exit.Code, out)
	}
	return nil
}

const maxProbe = 64 << 10

// output runs a program of ours for at most ten seconds and returns what it
// wrote.
func (s *Sandbox) output(c *Cmd) (string, Exit, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", Exit{}, err
	}
	defer r.Close()
	c.Files = []*os.File{nil, w, w}
	p, err := s.Start(c)
	// Before reading, which would not end.
	w.Close()
	if err != nil {
		if printed, _ := io.ReadAll(io.LimitReader(r, maxProbe)); len(printed) > 0 {
			err = fmt.Errorf("%w (%s)", err, strings.TrimSpace(string(printed)))
		}
		return "", Exit{}, err
	}
	defer time.AfterFunc(10*time.Second, p.Kill).Stop()
	out, err := io.ReadAll(io.LimitReader(r, maxProbe))
	return string(out), p.Wait(), err
}

// plain strips the sentinel from an error that becomes a reason.
func plain(err error) error {
	for _, known := range []error{codeinterp.ErrIsolation, codeinterp.ErrUnavailable} {
		if text, ok := strings.CutPrefix(err.Error(), known.Error()+": "); ok {
			return errors.New(text)
		}
	}
	return err
}

func (s *Sandbox) probeNone() error {
	if s.opts.Egress {
		return errors.New("egress: nothing keeps programs from other ways out")
	}
	return nil
}

// describe reports what the mode puts in force.
func (s *Sandbox) describe() codeinterp.Isolation {
	r := codeinterp.Isolation{
		Backend: s.mode.String(), Filesystem: codeinterp.ReachOpen, Network: codeinterp.ReachOpen,
		Processes: codeinterp.ReachOpen, Signals: codeinterp.ReachOpen, HostDeath: "child",
		Memory: "watchdog", CPU: "watchdog", PIDs: "watchdog", Disk: "watchdog",
	}
	if s.mode == Bwrap || (s.mode == Landlock && s.abi >= scopesSignals) {
		r.Signals = codeinterp.ReachBlocked
	}
	if s.mode != None {
		r.Filesystem, r.Processes = codeinterp.ReachLimited, codeinterp.ReachBlocked
		switch {
		case s.opts.Egress:
			r.Network = codeinterp.ReachLimited
		case !s.opts.Network:
			r.Network = codeinterp.ReachBlocked
		}
	}
	if s.mode == Bwrap || s.mode == Landlock {
		r.HostDeath = "all"
	}
	switch {
	case s.cgroups != nil:
		r.Memory, r.PIDs = "cgroup", "cgroup"
	case s.mode == Bwrap || s.ids != nil:
		r.PIDs = "rlimit"
	}
	l := s.opts.Limits
	for _, f := range []struct {
		limit int64
		field *string
	}{{l.Memory, &r.Memory}, {l.CPU, &r.CPU}, {int64(l.Processes), &r.PIDs}, {l.Disk, &r.Disk}} {
		if f.limit < 0 {
			*f.field = "none"
		}
	}
	return r
}
