//go:build unix

package subprocess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/frames"
	"github.com/toolcell/toolcell/internal/probecache"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// startPools starts a pool for each language that has warm starts.
func (h *host) startPools() error {
	if h.opts.Warm == nil || h.opts.Keep != nil { // or keepers have them
		return nil
	}
	h.warm = map[string]*pool{}
	var g errgroup.Group
	for name, l := range h.languages {
		if l.Driver != nil && h.opts.Warm.includes(name) {
			w := &pool{h: h, l: l}
			h.warm[name] = w
			g.Go(w.open)
		}
	}
	return g.Wait()
}

func (w *Warm) includes(language string) bool {
	return w.Languages == nil || slices.Contains(w.Languages, language)
}

// preloads returns the modules that warm processes of l import.
func (h *host) preloads(l *language) []string {
	if l.kind == pythonKind {
		return h.opts.Warm.Preload
	}
	return nil
}

// A pool has unused processes of one language. If processes can be forked, it also forks
// those that it lacks.
type pool struct {
	h      *host
	l      *language
	forks  bool
	idle   chan *process
	filler sync.WaitGroup

	mu     sync.Mutex // held while a fork server is started
	server *forkServer
}

// open starts the first process, so that a preload that fails is the constructor's error.
func (w *pool) open() error {
	w.forks = w.l.ForkBoot != nil && w.h.sandbox.CanFork() && w.h.dir == nil // a forked process has a directory of its own
	size := defaultPool
	if w.h.opts.Warm.Pool > 0 {
		size = w.h.opts.Warm.Pool
	}
	w.idle = make(chan *process, size-1) // fill has one more
	p, err := w.start()
	if err == nil {
		w.filler.Go(func() { w.fill(p) })
	}
	return err
}

// start starts a process up to where it waits for its configuration.
func (w *pool) start() (*process, error) {
	if w.forks {
		p, err := w.fork(w.h.life)
		if err == nil {
			p.sb.Rest()
		}
		return p, err
	}
	p, err := w.h.begin(w.l, &place{cwd: w.h.dir})
	if err != nil {
		return nil, err
	}
	p.sb.Rest() // it runs no program yet
	if modules := w.h.preloads(w.l); len(modules) > 0 {
		if err := p.preload(w.h.life, modules); err != nil {
			p.kill()
			return nil, err
		}
	}
	return p, nil
}

const (
	refillDelay = 10 * time.Millisecond // leaves the processor to the run that took a process
	retryDelay  = time.Second           // after a failure to start one
)

// fill offers p, and then others that it starts, until the host is closed.
func (w *pool) fill(p *process) {
	for {
		select {
		case w.idle <- p:
			time.Sleep(refillDelay)
		case <-w.h.life.Done():
			return
		}
		var err error
		for p, err = w.start(); err != nil; p, err = w.start() {
			select {
			case <-time.After(retryDelay):
			case <-w.h.life.Done():
				return
			}
		}
	}
}

// take returns a started process that can be used, nil if there is none.
func (w *pool) take() *process {
	for {
		select {
		case p := <-w.idle:
			p.sb.Wake()
			// A cleaner of /tmp may have removed its directory.
			if _, err := os.Lstat(p.place.dir); err == nil && alive(p.sb) && !p.modules.changed() {
				return p
			}
			p.kill()
		default:
			return nil
		}
	}
}

// get returns an unused process, configured and ready, or nil if there is none at once,
// as where a preloaded module has changed and cannot be imported any more. Its error is
// ctx's.
func (w *pool) get(ctx context.Context, once bool, env map[string]string) (*process, error) {
	p := w.take()
	if p == nil && w.forks {
		p, _ = w.fork(ctx)
	}
	if p == nil {
		return nil, context.Cause(ctx)
	}
	err := p.configure(once, env)
	if err == nil {
		_, err = p.readHello(ctx)
	}
	if err != nil { // the server that forked it may have died at that moment: another can take its place
		p.kill()
		return nil, context.Cause(ctx)
	}
	return p, nil
}

// fork returns a new child of the fork server.
func (w *pool) fork(ctx context.Context) (p *process, err error) {
	for range 2 { // the server may have ended since
		var s *forkServer
		if s, err = w.current(ctx); err != nil {
			return nil, err
		}
		if p, err = s.fork(); !errors.Is(err, errNoServer) {
			break
		}
	}
	return p, err
}

// current returns a fork server whose modules are those on disk.
func (w *pool) current(ctx context.Context) (_ *forkServer, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.h.life.Err() != nil {
		return nil, codeinterp.ErrClosed
	}
	if s := w.server; s != nil && alive(s.p.sb) {
		if !s.p.modules.changed() {
			return s, nil
		}
		s.retire()
	}
	w.server, err = startServer(ctx, w.h, w.l)
	return w.server, err
}

func alive(p *sandbox.Process) bool { return !isDone(p.Done()) }

// maxPreload bounds the time that the imports of Warm.Preload may take.
const maxPreload = 2 * time.Minute

// preload imports modules in a process that is not configured yet.
func (p *process) preload(ctx context.Context, modules []string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, maxPreload, preloadError(fmt.Sprintf("%s: not done after %v", strings.Join(modules, ", "), maxPreload)))
	defer cancel()
	started := time.Now()
	if p.send(frames.Preload, modules...) != nil {
		p.sb.Kill()
	}
	select {
	case paths := <-p.ready:
		p.modules = newModuleFiles(paths, started)
		return nil
	case <-p.gone:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if len(modules) == 0 || isDone(p.greeted) { // it says why it cannot
		_, err := p.readHello(ctx)
		return err
	}
	return preloadError(fmt.Sprintf("%s: %s", strings.Join(modules, ", "), p.startupMessage()))
}

// preloadError is the error of modules that cannot be imported.
func preloadError(problem string) error {
	return fmt.Errorf("%w: preload of %s; install it for this Python, which reads no PYTHONPATH, or leave it out of what is preloaded", codeinterp.ErrUnavailable, problem)
}

func (p *process) takeReady(f *frames.Frame) error {
	select {
	case p.ready <- f.Field(0):
		return nil
	default:
		return fmt.Errorf("%w: ready a second time", frames.ErrFrame)
	}
}

// A moduleFiles has the stamps that the files of imported modules had after the import.
type moduleFiles struct {
	stamps map[string]string
	stale  atomic.Bool // a file has changed since its import began
}

// newModuleFiles takes paths, separated by NUL, of a process that began its imports at a
// time.
func newModuleFiles(paths []byte, began time.Time) *moduleFiles {
	m := &moduleFiles{stamps: map[string]string{}}
	for b := range bytes.SplitSeq(paths, []byte{0}) {
		path := string(b)
		m.stamps[path] = probecache.Stamp(path)
		if about, err := os.Stat(path); err == nil && about.ModTime().After(began) {
			m.stale.Store(true)
		}
	}
	return m
}

// changed reports whether a file has changed or gone since. A nil m has none. It is safe
// for concurrent use: the children of a fork server share m.
func (m *moduleFiles) changed() bool {
	if m == nil || m.stale.Load() {
		return m != nil
	}
	for path, was := range m.stamps {
		if probecache.Stamp(path) != was {
			m.stale.Store(true)
			return true
		}
	}
	return false
}
