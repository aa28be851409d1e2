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
	"github.com/toolcell/toolcell/internal/sandbox"
	"github.com/toolcell/toolcell/providers/subprocess/internal/frames"
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

// A pool keeps started processes of one language, each for one use.
type pool struct {
	h     *host
	l     *language
	size  int
	forks *forker // nil: processes are started, which takes too long to wait for

	mu      sync.Mutex
	idle    []*process
	filling bool
	closed  bool
	wg      sync.WaitGroup // goroutines that fill
}

// newPool starts the first process, so that a preload that fails is the constructor's
// error.
func (h *host) newPool(l *language) (*pool, error) {
	w := &pool{h: h, l: l, size: max(h.opts.Warm.Pool, 0)}
	if h.opts.Warm.Pool == 0 {
		w.size = defaultPool
	}
	if l.forkBoot != nil && h.sandbox.CanFork() && h.dir == nil { // a forked process has a directory of its own
		w.forks = &forker{h: h, l: l}
	}
	if w.size == 0 && w.forks == nil && len(h.preloads(l)) == 0 {
		return w, nil
	}
	p, err := w.start(h.life)
	if err != nil {
		w.close()
		return nil, err
	}
	if w.put(p, nil); w.size == 0 {
		w.drop(w.pop())
	}
	w.fill()
	return w, nil
}

// start starts a process up to where it waits for its configuration.
func (w *pool) start(ctx context.Context) (*process, error) {
	if w.forks != nil {
		return w.forks.fork(ctx, nil)
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

// fill starts processes in the background until the pool is full.
func (w *pool) fill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.filling || len(w.idle) >= w.size {
		return
	}
	w.filling = true
	w.wg.Go(func() {
		for {
			p, err := w.start(w.h.life)
			if !w.put(p, err) {
				return
			}
		}
	})
}

// refillDelay leaves the processor to the run that took a process.
const refillDelay = 10 * time.Millisecond

// refill fills the pool, later if it is not empty.
func (w *pool) refill() {
	w.mu.Lock()
	left := len(w.idle)
	w.mu.Unlock()
	if left == 0 {
		w.fill()
	} else {
		time.AfterFunc(refillDelay, w.fill)
	}
}

// put adds a process, and reports whether the pool lacks more.
func (w *pool) put(p *process, err error) bool {
	w.mu.Lock()
	closed := w.closed
	if err == nil && !closed {
		p.sb.Rest()
		w.idle = append(w.idle, p)
	}
	more := err == nil && !closed && len(w.idle) < w.size
	w.filling = more
	w.mu.Unlock()
	if err == nil && closed {
		p.kill()
	}
	return more
}

// take returns an unused process, configured, or nil if the pool has none. A process
// whose modules have changed on disk is not returned.
func (w *pool) take(once bool, env map[string]string) *process {
	defer w.refill()
	for {
		p := w.pop()
		if p == nil {
			return nil
		}
		if alive(p.sb) && p.placed() && !p.modules.changed() && p.configure(once, env) == nil {
			return p
		}
		w.drop(p)
	}
}

// fork returns a new child of the fork server, configured, or nil if there is no server
// or it fails, as where a preloaded module has changed and cannot be imported any more.
// Its error is ctx's.
func (w *pool) fork(ctx context.Context, pl *place, once bool, env map[string]string) (*process, error) {
	if w.forks == nil {
		return nil, nil
	}
	p, err := w.forks.fork(ctx, pl)
	if err == nil && p.configure(once, env) == nil {
		return p, nil
	}
	w.drop(p)
	return nil, context.Cause(ctx)
}

// get returns a process that is ready at once, or nil.
func (w *pool) get(ctx context.Context, once bool, env map[string]string) (*process, error) {
	p := w.take(once, env)
	var err error
	if p == nil {
		p, err = w.fork(ctx, nil, once, env)
	}
	if p != nil && !p.awaitHello(ctx) {
		return nil, nil
	}
	return p, err
}

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

func (w *pool) drop(p *process) {
	if p != nil {
		p.kill()
	}
}

// placed reports whether the process's directory still exists: a cleaner of /tmp may
// have removed it.
func (p *process) placed() bool {
	info, err := os.Lstat(p.place.dir)
	return err == nil && info.IsDir()
}

func alive(p *sandbox.Process) bool {
	select {
	case <-p.Done():
		return false
	default:
		return true
	}
}

// close ends what the pool keeps, and waits for it.
func (w *pool) close() {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.closed = true
	idle := w.idle
	w.idle = nil
	w.mu.Unlock()
	w.wg.Wait()
	for _, p := range idle {
		p.kill()
	}
	if w.forks != nil {
		w.forks.close()
	}
}

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
	select {
	case problem := <-p.hello:
		if _, err := helloError(problem); err != nil {
			return err
		}
	default:
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
