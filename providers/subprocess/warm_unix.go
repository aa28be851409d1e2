//go:build unix

package subprocess

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/frames"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// startPools starts a pool for each language that has warm starts.
func (h *host) startPools() error {
	w := h.opts.Warm
	if w == nil {
		return nil
	}
	h.warm = map[string]*pool{}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for name, l := range h.languages {
		if l.Driver == nil || !w.includes(name) {
			continue
		}
		wg.Go(func() {
			one, err := h.newPool(l)
			mu.Lock()
			defer mu.Unlock()
			h.warm[name] = one
			errs = append(errs, err)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (w *Warm) includes(language string) bool {
	return w.Languages == nil || slices.Contains(w.Languages, language)
}

// preloads returns the modules that warm processes of l import.
func (h *host) preloads(l *language) []string {
	if w := h.opts.Warm; w != nil && l.kind == pythonKind && w.includes(l.Name) {
		return w.Preload
	}
	return nil
}

// A pool keeps started processes of one language, each for one use. Where processes can
// be forked, it also forks those that it lacks.
type pool struct {
	h     *host
	l     *language
	size  int
	forks bool
	taken chan struct{} // wakes fill
	wg    sync.WaitGroup

	mu   sync.Mutex
	idle []*process

	starting sync.Mutex    // held while a fork server is started
	server   *forkServer   // the current one
	retired  []*forkServer // with changed modules; each ends with its last child
}

// newPool starts the first process, so that a preload that fails is the constructor's
// error.
func (h *host) newPool(l *language) (*pool, error) {
	w := &pool{h: h, l: l, size: max(h.opts.Warm.Pool, 0), taken: make(chan struct{}, 1)}
	if h.opts.Warm.Pool == 0 {
		w.size = defaultPool
	}
	w.forks = l.forkBoot != nil && h.sandbox.CanFork() && h.dir == nil // a forked process has a directory of its own
	if w.size == 0 && !w.forks && len(h.preloads(l)) == 0 {
		return w, nil
	}
	p, err := w.start(h.life)
	if err != nil {
		w.close()
		return nil, err
	}
	if w.size == 0 {
		p.kill()
		return w, nil
	}
	w.put(p)
	w.taken <- struct{}{}
	w.wg.Go(w.fill)
	return w, nil
}

// start starts a process up to where it waits for its configuration.
func (w *pool) start(ctx context.Context) (*process, error) {
	if w.forks {
		return w.fork(ctx)
	}
	p, err := w.h.begin(w.l, &place{cwd: w.h.dir})
	if modules := w.h.preloads(w.l); err == nil && len(modules) > 0 {
		p.sb.Rest() // it runs no program yet
		if err = p.preload(ctx, modules); err != nil {
			p.kill()
			return nil, err
		}
	}
	return p, err
}

// refillDelay leaves the processor to the run that took a process.
const refillDelay = 10 * time.Millisecond

// fill starts processes when some were taken, until the host is closed.
func (w *pool) fill() {
	for {
		select {
		case <-w.taken:
		case <-w.h.life.Done():
			return
		}
		if w.count() > 0 {
			time.Sleep(refillDelay)
		}
		for w.count() < w.size {
			p, err := w.start(w.h.life)
			if err != nil {
				break
			}
			w.put(p)
		}
	}
}

func (w *pool) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.idle)
}

func (w *pool) put(p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.sb.Rest()
	w.idle = append(w.idle, p)
}

// pop returns the oldest process, nil if there is none.
func (w *pool) pop() *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.idle) == 0 {
		return nil
	}
	p := w.idle[0]
	w.idle = slices.Delete(w.idle, 0, 1)
	p.sb.Wake()
	return p
}

// get returns an unused process, configured and ready, or nil if there is none at once,
// as where a preloaded module has changed and cannot be imported any more. Its error is
// ctx's.
func (w *pool) get(ctx context.Context, once bool, env map[string]string) (*process, error) {
	defer func() {
		select {
		case w.taken <- struct{}{}:
		default:
		}
	}()
	for p := w.pop(); p != nil; p = w.pop() {
		if alive(p.sb) && p.placed() && !p.modules.changed() && p.configure(once, env) == nil && p.awaitHello(ctx) {
			return p, nil
		}
		p.kill()
	}
	if !w.forks {
		return nil, nil
	}
	p, err := w.fork(ctx)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	if p.configure(once, env) != nil || !p.awaitHello(ctx) {
		p.kill()
		return nil, context.Cause(ctx)
	}
	return p, nil
}

// fork returns a new child of the fork server.
func (w *pool) fork(ctx context.Context) (*process, error) {
	for try := 0; ; try++ {
		s, err := w.current(ctx)
		if err != nil {
			return nil, err
		}
		p, err := s.fork(ctx)
		// The server may have died since.
		if err == nil || ctx.Err() != nil || alive(s.p.sb) || try > 0 {
			return p, err
		}
	}
}

// current returns a fork server whose modules are those on disk.
func (w *pool) current(ctx context.Context) (*forkServer, error) {
	w.starting.Lock()
	defer w.starting.Unlock()
	if w.h.life.Err() != nil {
		return nil, codeinterp.ErrClosed
	}
	if s := w.server; s != nil {
		switch {
		case !alive(s.p.sb):
			s.p.kill()
		case s.p.modules.changed():
			w.retired = append(slices.DeleteFunc(w.retired, func(old *forkServer) bool { return !alive(old.p.sb) }), s)
			s.retire()
		default:
			return s, nil
		}
		w.server = nil
	}
	s, err := startServer(ctx, w.h, w.l)
	if err == nil {
		w.server = s
	}
	return s, err
}

// close ends what the pool keeps, and waits for it. The host's life has ended.
func (w *pool) close() {
	if w == nil {
		return
	}
	w.wg.Wait()
	for p := w.pop(); p != nil; p = w.pop() {
		p.kill()
	}
	w.starting.Lock()
	defer w.starting.Unlock()
	for _, s := range append(w.retired, w.server) {
		if s != nil {
			s.p.kill()
		}
	}
}

// placed reports whether the process's directory still exists: a cleaner of /tmp may
// have removed it.
func (p *process) placed() bool {
	info, err := os.Lstat(p.place.dir)
	return err == nil && info.IsDir()
}

func alive(p *sandbox.Process) bool { return !isDone(p.Done()) }

// preload imports modules in a process that is not configured yet.
func (p *process) preload(ctx context.Context, modules []string) error {
	started := time.Now()
	_ = p.send(frames.Preload, modules...) // where it fails, the process has ended
	select {
	case paths := <-p.ready:
		p.modules = newModuleFiles(paths, started)
		return nil
	case <-p.gone:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if len(modules) == 0 || len(p.hello) > 0 { // it says why it cannot
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
