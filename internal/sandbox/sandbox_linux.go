package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox/netgate"
)

// A Sandbox starts processes under one mode of isolation.
type Sandbox struct {
	mode   Mode
	opts   Options
	system paths
	report codeinterp.Isolation
	abi    int          // of Landlock
	listed []listedPath // in Options
	filter lastFilter

	bwrap string // path of the program

	ids     *ids // nil unless the host is root
	anchors anchors
	forks   forkThread
	temp    tempRoot
	cgroups *cgroups // nil if none is delegated

	netHost  *netgate.Host     // with Options.Egress
	notifier *netgate.Notifier // of landlock mode with it
	watch    watcher

	live liveProcs

	starts  sync.RWMutex   // held while a process is started
	paused  bool           // guarded by starts
	stopped map[int]uint64 // pids and start times of what was stopped before Pause

	mu       sync.Mutex
	oomKills int64
}

// New probes the machine and returns a Sandbox in the strongest mode that
// works and o allows. Its error wraps codeinterp.ErrIsolation, or ErrInvalid.
func New(o *Options) (*Sandbox, error) {
	s := &Sandbox{}
	s.anchors.forks, s.watch.live = &s.forks, &s.live
	if o != nil {
		s.opts = *o
	}
	if err := s.opts.check(); err != nil {
		return nil, err
	}
	s.opts.Limits = s.opts.Limits.or(DefaultLimits())
	s.system = systemPaths(s.opts.Network)
	closeInherited()
	if os.Geteuid() == 0 {
		ids, err := newIDs()
		if err != nil {
			return nil, err
		}
		s.ids = ids
	}
	cg, err := newCgroups(s.opts.Cgroup)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", codeinterp.ErrIsolation, err)
	}
	s.openListed()
	s.cgroups, s.oomKills = cg, oomKills()
	if err := s.choose(); err != nil {
		s.Close()
		return nil, err
	}
	s.report.User = s.user()
	return s, nil
}

// A listedPath is a path of Options. New resolves it: a
// program that may write to it could replace what is beneath it by a link.
type listedPath struct {
	path     string
	dir      *Dir
	writable bool
}

func (l listedPath) rights() uint64 {
	if l.writable {
		return rightsWrite
	}
	return rightsExec
}

// openListed opens what Options lists. A path that does not exist is ignored.
func (s *Sandbox) openListed() {
	add := func(list []string, writable bool) {
		for _, path := range list {
			if d, err := openPath(path, 0); err == nil {
				s.listed = append(s.listed, listedPath{filepath.Clean(path), d, writable})
			}
		}
	}
	for _, path := range s.opts.ReadOnly {
		_ = s.Show([]string{path}) // a path that cannot be shown stays closed
	}
	add(s.opts.ReadOnly, false)
	add(s.opts.Writable, true)
}

// choose probes the modes, strongest first.
func (s *Sandbox) choose() error {
	var reasons []string
	for _, p := range []struct {
		mode  Mode
		probe func() error
	}{{Bwrap, s.probeBwrap}, {Landlock, s.probeLandlock}, {None, s.probeNone}} {
		var err error
		switch s.mode = p.mode; {
		case s.opts.Require != Auto && s.opts.Require != p.mode:
			continue
		case p.mode == None && s.opts.Require == Auto && !s.opts.AllowNone:
			err = errors.New("only where it is allowed explicitly")
		case p.mode == Bwrap && s.opts.Forks:
			err = errors.New("a copy of a process would stay in its namespaces, with its directory")
		default:
			if err = cmp.Or(s.prepareEgress(), s.prepareNotifier()); err == nil {
				err = s.remembered(p.probe)
			}
		}
		if err == nil {
			s.report = s.describe()
			s.report.Reasons = reasons
			return nil
		}
		reasons = append(reasons, fmt.Sprintf("%s: %v", p.mode, err))
	}
	return fmt.Errorf("%w: %s", codeinterp.ErrIsolation, strings.Join(reasons, "\n"))
}

// Report says item by item what is in force.
func (s *Sandbox) Report() codeinterp.Isolation {
	r := s.report
	r.Reasons = append([]string(nil), r.Reasons...)
	return r
}

// Close kills every process of the sandbox, waits until they are gone, and
// removes what TempDir made. Later calls of Start fail with ErrClosed.
func (s *Sandbox) Close() error {
	s.live.close()
	s.anchors.close()
	if s.notifier != nil {
		s.notifier.Close()
	}
	if s.netHost != nil {
		s.netHost.Close()
	}
	s.forks.close()
	s.cgroups.close()
	for _, l := range s.listed {
		l.dir.Close()
	}
	return s.temp.remove()
}
