//go:build unix

package subprocess

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/egress/gate"
	"github.com/toolcell/toolcell/internal/frames"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// A host is the [driver.Runtime]: the interpreters of this machine behind a
// sandbox.
type host struct {
	opts      Options
	sandbox   *sandbox.Sandbox
	network   *gate.Gate // nil without Options.Egress
	languages map[string]*language
	names     []string
	warm      map[string]*pool
	dir       *sandbox.Dir        // where all programs start; nil: each in a place of its own
	room      *semaphore.Weighted // of large frames

	pauses pauses

	life   context.Context // ends with Close
	cancel context.CancelFunc
}

var _ driver.Runtime = (*host)(nil)

func newHost(opts *Options) (*host, error) {
	h := &host{room: frames.NewRoom()}
	if opts != nil {
		h.opts = *opts
	}
	if err := h.opts.complete(); err != nil {
		return nil, err
	}
	list, err := h.opts.table()
	if err != nil {
		return nil, err
	}
	return h, h.open(func() error { return h.choose(list) })
}

// open opens the sandbox and what else the host needs, and finds the interpreters by
// choose.
func (h *host) open(choose func() error) (err error) {
	box := h.opts.sandbox()
	if h.network, err = h.opts.openNetwork(box); err != nil {
		return err
	}
	if h.sandbox, err = sandbox.New(box); err != nil {
		return errors.Join(err, h.network.Close())
	}
	h.life, h.cancel = context.WithCancel(context.Background())
	for _, step := range []func() error{h.openDir, choose, h.startPools} {
		if err := step(); err != nil {
			return errors.Join(err, h.Close(h.life))
		}
	}
	return nil
}

// choose finds the interpreters of the languages. Where the caller listed them,
// all have to be found, else at least one.
func (h *host) choose(list []Language) error {
	var wg sync.WaitGroup
	found, errs := make([]*language, len(list)), make([]error, len(list))
	for n, l := range list {
		wg.Go(func() { found[n], errs[n] = h.find(l) })
	}
	wg.Wait()
	h.languages = map[string]*language{}
	for n, l := range list {
		if found[n] != nil {
			h.languages[l.Name] = found[n]
		}
	}
	h.names = slices.Sorted(maps.Keys(h.languages))
	if h.opts.Languages != nil || len(h.names) == 0 {
		return errors.Join(errs...)
	}
	return nil
}

// try starts l once, inside the sandbox.
func (h *host) try(l *language) error {
	ctx, cancel := context.WithTimeout(h.life, maxProbe)
	defer cancel()
	if l.Driver == nil {
		return nil
	}
	pl := &place{once: true}
	if l.probed != "" {
		pl.cwd = h.dir // what it needs is there, and nowhere else
	}
	p, err := h.launch(l, pl)
	if err != nil {
		return err
	}
	defer p.kill()
	runtime, err := p.readHello(ctx)
	if err == nil {
		l.learn(runtime)
	}
	return err
}

// maxHostNames is how many hosts Describe lists.
const maxHostNames = 100

// Describe tells which interpreters run the programs, and what stands between
// these and the host, as it was probed.
func (h *host) Describe() codeinterp.Info {
	info := codeinterp.Info{Provider: provider, Isolation: h.sandbox.Report()}
	if (h.opts.Forks || h.opts.Warm != nil && h.dir == nil && h.sandbox.CanFork()) && info.Isolation.PIDs == "rlimit" {
		info.Isolation.PIDs = "watchdog" // forked processes share a uid
	}
	if h.network != nil {
		info.Isolation.Hosts = h.opts.Egress.Policy.HostNames(maxHostNames)
	}
	for _, name := range h.names {
		l := h.languages[name]
		about := codeinterp.LanguageInfo{
			Name: name, Runtime: l.Runtime, Notes: l.Notes, Aliases: slices.Clone(l.Aliases), Contexts: l.Driver != nil,
			Path: l.Path, Prefix: l.Prefix, Packages: slices.Clone(l.Packages), PassedOver: slices.Clone(l.passed),
		}
		if about.Forks = h.forks(l); l.Driver != nil {
			about.Functions, about.Input, about.Completion = l.Driver.Functions, l.Driver.Input, l.Driver.Completer != ""
		}
		if h.installs(name) {
			about.Notes += " " + strings.ToUpper(h.opts.Install.notes()[:1]) + h.opts.Install.notes()[1:] + "."
		}
		if h.sandbox.Mode() != sandbox.None { // there all files are open
			about.Roots = slices.Clone(l.Roots)
		}
		info.Languages = append(info.Languages, about)
	}
	if way := h.sandbox.PauseWay(); way != "" {
		info.Pause = way + "; clocks and timers of programs go on"
	}
	info.PrivateDir = h.dir == nil
	if h.dir != nil {
		info.Workdir = h.dir.Path()
		info.Isolation.Disk = "none" // but for single files
		if uid, _, other, _ := h.sandbox.User(h.dir); other {
			info.Isolation.User = strconv.Itoa(uid)
			if info.Isolation.PIDs == "rlimit" {
				info.Isolation.PIDs = "watchdog"
			}
		}
		info.Isolation.User += ", the same for all programs, which share " + info.Workdir + " and can disturb one another there"
	} else if h.sandbox.Mode() == sandbox.Bwrap {
		info.Workdir = h.sandbox.WorkdirInside("", nil)
	}
	return info
}

// Start returns a session: that of a context with its process, that of a single
// run without one, since the program's environment is the process's.
func (h *host) Start(ctx context.Context, o driver.Options) (driver.Session, error) {
	l := h.languages[o.Language]
	if l == nil {
		return nil, fmt.Errorf("%w: %s", codeinterp.ErrLanguage, o.Language)
	}
	s := &session{h: h, lang: l, place: place{cwd: h.dir, env: o.Env, once: o.Once, late: o.Late, id: o.ID}}
	if o.Once {
		return s, nil
	}
	if err := s.startContext(ctx, o.Cwd); err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}
	return s, nil
}

// fresh returns an unused process for one program.
func (h *host) fresh(ctx context.Context, l *language, pl *place) (*process, error) {
	if w := h.warm[l.Name]; w != nil {
		if p, err := w.get(ctx, true, nil); p != nil || err != nil {
			return p, err
		}
	}
	return h.launch(l, pl)
}

// processIn returns a process for a context in pl, whose working directory outlives the
// process.
func (h *host) processIn(ctx context.Context, l *language, pl *place) (*process, error) {
	// Warm processes have started where all programs do, and cannot be copied.
	newDir := h.sandbox.TempDir
	if h.forks(l) {
		newDir = h.sandbox.FamilyDir
	} else if w := h.warm[l.Name]; w != nil && pl.cwd == h.dir {
		p, err := w.get(ctx, false, pl.env)
		if err != nil {
			return nil, err
		}
		if p != nil {
			p.keepDir()
			p.setOwner(pl.late)
			p.place.id = pl.id
			return p, nil
		}
	}
	dir, err := newDir()
	if err != nil {
		return nil, err
	}
	pl.dir = dir
	p, err := h.launch(l, pl)
	if err != nil {
		h.sandbox.Discard(dir)
	}
	return p, err
}

// Close ends all processes, and removes the directories that they lived in.
func (h *host) Close(context.Context) error {
	h.cancel()
	for _, w := range h.warm {
		w.filler.Wait()
	}
	if h.dir != nil {
		h.dir.Close()
	}
	return errors.Join(h.sandbox.Close(), h.network.Close())
}
