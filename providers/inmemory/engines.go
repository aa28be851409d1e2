package inmemory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

// An engines is what the instances of all engines share. It implements
// driver.Runtime.
type engines struct {
	opts      Options
	languages map[string]*language
	names     []string
	slots     *scheduler
	budget    *engine.Budget
}

func newEngines(o *Options) (*engines, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	all, names, err := languages(&opts)
	if err != nil {
		return nil, err
	}
	return &engines{opts: opts, languages: all, names: names,
		slots: newScheduler(opts.MaxRunning), budget: engine.NewBudget(opts.MaxMemory)}, nil
}

// Start implements driver.Runtime. Cwd is a directory of the context's own file
// system and is created.
func (rt *engines) Start(_ context.Context, o driver.Options) (driver.Session, error) {
	s := &session{rt: rt, lang: rt.languages[o.Language], once: o.Once,
		files: rt.files(), cwd: memfs.Clean(".", o.Cwd), env: o.Env}
	s.connect(o.ID)
	if s.once {
		return s, nil // it takes no memory before its turn
	}
	if err := s.files.MkdirAll(s.cwd, 0o755); err != nil {
		return nil, fmt.Errorf("%w: the context's directory: %v", codeinterp.ErrInvalid, err)
	}
	return s, s.open()
}

// files returns the file system of a new session.
func (rt *engines) files() *memfs.FS {
	if rt.opts.Shared != nil {
		return rt.opts.Shared
	}
	return memfs.New(&rt.opts.Files)
}

// Files implements driver.Filer.
func (rt *engines) Files(s driver.Session) (codeinterp.FS, error) {
	c, ok := s.(*session)
	if !ok {
		return nil, fmt.Errorf("%w: the context's engine was abandoned", codeinterp.ErrUnavailable)
	}
	return c.files.Files(c.cwd), nil
}

// Close implements driver.Runtime.
func (rt *engines) Close(context.Context) error {
	if rt.opts.Network != nil {
		return rt.opts.Network.Close()
	}
	return nil
}

// A language is an engine with the limits that its instances get.
type language struct {
	engine engine.Engine
	info   codeinterp.LanguageInfo
	limits engine.Limits
}

func newLanguage(e engine.Engine, limits engine.Limits) *language {
	own := e.Limits()
	return &language{engine: e, info: e.Info(), limits: engine.Limits{
		Memory: cmp.Or(limits.Memory, own.Memory),
		Stack:  cmp.Or(limits.Stack, own.Stack),
	}}
}

// languages checks the engines and returns them by name.
func languages(o *Options) (map[string]*language, []string, error) {
	all := map[string]*language{}
	var names []string
	for _, e := range o.Engines {
		if e == nil {
			return nil, nil, fmt.Errorf("%w: a nil engine", codeinterp.ErrInvalid)
		}
		l := newLanguage(e, o.Limits)
		if l.info.Name == "" || all[l.info.Name] != nil {
			return nil, nil, fmt.Errorf("%w: two engines, or one without a name, for %q", codeinterp.ErrInvalid, l.info.Name)
		}
		all[l.info.Name] = l
		names = append(names, l.info.Name)
	}
	if len(names) == 0 {
		return nil, nil, fmt.Errorf("%w: no engines", codeinterp.ErrInvalid)
	}
	slices.Sort(names)
	return all, names, nil
}

// instance returns a fresh instance.
func (l *language) instance(b *engine.Budget, files *memfs.FS, cwd string) (engine.Instance, error) {
	return l.engine.New(engine.Config{Limits: l.limits, Budget: b, Files: files, Cwd: cwd})
}

// maxHostNames is how many hosts Describe lists.
const maxHostNames = 100

// Describe implements driver.Runtime.
func (rt *engines) Describe() codeinterp.Info {
	info := codeinterp.Info{Provider: provider, Workdir: "/", PrivateDir: rt.opts.Shared == nil, Isolation: codeinterp.Isolation{
		Backend: "engine", Filesystem: codeinterp.ReachBlocked, Network: codeinterp.ReachBlocked,
		Processes: codeinterp.ReachBlocked, Signals: codeinterp.ReachBlocked,
		Memory: "engine", CPU: "none", PIDs: "engine", Disk: "engine", HostDeath: "all", User: "the host's",
		Reasons: rt.reasons(),
	}}
	if n := rt.opts.Network; n != nil {
		info.Isolation.Network = codeinterp.ReachLimited
		info.Isolation.Hosts = n.Hosts(maxHostNames)
	}
	for _, name := range rt.names {
		l := rt.languages[name].info
		l.Contexts = true
		info.Languages = append(info.Languages, l)
	}
	return info
}

// reasons says what the engines rely on, for each kind of them.
func (rt *engines) reasons() (list []string) {
	var own, shared []string
	for _, name := range rt.names {
		if e, ok := rt.languages[name].engine.(engine.MemoryOwner); ok && e.OwnMemory() {
			own = append(own, name)
		} else {
			shared = append(shared, name)
		}
	}
	if len(shared) > 0 {
		list = append(list, strings.Join(shared, " and ")+": the engine shares the host's address space: a memory error in it is one in the host; run only model-written code that you would run yourself")
	}
	if len(own) > 0 {
		list = append(list, strings.Join(own, " and ")+": programs cannot address the host's memory, as far as the compiler of WebAssembly is right; this is not the wall of a virtual machine")
	}
	return list
}

var _ driver.Completer = (*engines)(nil)

// Complete implements driver.Completer.
func (rt *engines) Complete(ctx context.Context, of driver.Session, code string, cursor int) (codeinterp.Completion, error) {
	s, ok := of.(*session)
	if !ok || s.inst == nil {
		return codeinterp.Completion{}, nil
	}
	e, ok := s.inst.(engine.Completer)
	if !ok {
		return codeinterp.Completion{}, nil
	}
	if !rt.slots.acquire(ctx) {
		return codeinterp.Completion{}, context.Cause(ctx)
	}
	defer rt.slots.release()
	start, matches, err := e.Complete(ctx, code[:cursor])
	if err != nil {
		s.close()
		return codeinterp.Completion{}, fmt.Errorf("%w: the program did not let its names be listed, which has ended its state", codeinterp.ErrUnavailable)
	}
	return codeinterp.Completion{Matches: matches, Start: start, End: cursor}, nil
}
