//go:build unix

package subprocess

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// startPools starts the pools.
func (h *host) startPools() error {
	w := h.opts.Warm
	if w == nil {
		return nil
	}
	h.warm = map[string]*pool{}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	for name, l := range h.languages {
		if l.Driver == nil || !w.includes(name) {
			continue
		}
		wg.Go(func() {
			one, err := h.newPool(l)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
			} else if one != nil {
				h.warm[name] = one
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (w *Warm) includes(language string) bool {
	return w.Languages == nil || slices.Contains(w.Languages, language)
}

// preloads returns the modules that l's processes import that are kept ready.
func (h *host) preloads(l *language) []string {
	if w := h.opts.Warm; w != nil && l.kind == pythonKind && w.includes(l.Name) {
		return w.Preload
	}
	return nil
}

func (h *host) newPool(l *language) (*pool, error) {
	size := h.opts.Warm.Pool
	switch {
	case size == 0:
		size = defaultPool
	case size < 0:
		size = 0
	}
	if l.forkBoot != nil && h.sandbox.CanFork() && h.dir == nil { // a child of a server has a place of its own
		f, err := newForker(h, l)
		if err != nil {
			return nil, err
		}
		w := &pool{life: h.life, size: size, forks: f, start: f.fork}
		w.fill()
		return w, nil
	}
	// Once and here, so that a wrong preload is an error of the constructor's.
	ahead, err := h.tryPreload(l)
	if err != nil || size == 0 {
		return nil, err
	}
	w := &pool{life: h.life, size: size, start: func(ctx context.Context) (*process, error) { return h.waiting(ctx, l, ahead) }}
	w.fill()
	return w, nil
}

// A pool holds started processes of one language, each for one use.
type pool struct {
	life  context.Context // ends with the interpreter
	size  int
	start func(context.Context) (*process, error)
	forks *forker // where start is quick enough to wait for it

	mu      sync.Mutex
	idle    []*process
	filling bool
	closed  bool
	wg      sync.WaitGroup // goroutines that fill
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
			p, err := w.start(w.life)
			if !w.put(p, err) {
				return
			}
		}
	})
}

// refillDelay lets the run that took a process have the processor first: it takes
// a few milliseconds.
const refillDelay = 10 * time.Millisecond

// refill fills the pool, and not at once as long as there is one in it.
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

// take returns a process that nobody has used, configured, or nil where there
// is none.
func (w *pool) take(ctx context.Context, once bool, env map[string]string) (*process, error) {
	defer w.refill()
	for {
		p := w.pop()
		if p == nil && w.forks == nil {
			return nil, nil
		}
		forked := p == nil
		if forked {
			var err error
			if p, err = w.start(ctx); err != nil {
				return nil, err
			}
		}
		if alive(p.sb) && p.placed() && p.configure(once, env) == nil {
			return p, nil
		}
		p.kill()
		if forked {
			// One of the pool's may have died while it waited; a new one has a reason
			// of its own.
			return nil, fmt.Errorf("%w: the forked process ended: %s", codeinterp.ErrUnavailable, p.startupMessage())
		}
	}
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

// placed reports whether the process's directory is there still: what clears /tmp of
// old files may have taken that of one that waited long.
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
