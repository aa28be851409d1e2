//go:build unix

package subprocess

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/toolcell/toolcell/internal/sandbox"
)

// A warmer keeps one language ready.
type warmer interface {
	// take returns a process that nobody has used, configured, or nil where
	// there is none.
	take(ctx context.Context, once bool, env map[string]string) (*process, error)
	// close ends what the warmer keeps, and waits for it.
	close()
}

// heat starts the warmers.
func (i *Interpreter) heat() error {
	w := i.opts.Warm
	if w == nil {
		return nil
	}
	i.warm = map[string]warmer{}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	for name, l := range i.languages {
		if l.Driver == nil || w.Languages != nil && !slices.Contains(w.Languages, name) {
			continue
		}
		wg.Go(func() {
			one, err := i.heatLanguage(l)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
			} else if one != nil {
				i.warm[name] = one
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (i *Interpreter) heatLanguage(l *language) (warmer, error) {
	if l.forkBoot != nil && i.sandbox.CanFork() {
		return newForker(i, l)
	}
	if i.opts.Warm.Pool < 0 {
		return nil, nil
	}
	return newPool(i, l)
}

// A pool holds started processes of one language, each for one use.
type pool struct {
	i    *Interpreter
	l    *language
	size int

	mu     sync.Mutex
	idle   []*process
	closed bool
	wg     sync.WaitGroup // processes that are being started
}

func newPool(i *Interpreter, l *language) (*pool, error) {
	w := &pool{i: i, l: l, size: i.opts.Warm.Pool}
	if w.size == 0 {
		w.size = defaultPool
	}
	p, err := w.start()
	if err != nil {
		return nil, err
	}
	if modules := i.opts.Warm.Preload; l.kind == pythonKind && len(modules) > 0 {
		trial, err := w.start()
		if err == nil {
			if err = trial.configure("", true, nil); err == nil {
				_, err = trial.greeting(i.life)
			}
			trial.kill()
		}
		if err != nil {
			p.kill()
			return nil, err
		}
	}
	w.idle = append(w.idle, p)
	w.fill()
	return w, nil
}

// start starts a process up to where it waits for its configuration.
func (w *pool) start() (*process, error) {
	p, err := w.i.begin(w.l, &place{})
	if err == nil && w.l.kind == pythonKind {
		_ = p.send(framePreload, w.i.opts.Warm.Preload...)
	}
	return p, err
}

// fill starts processes in the background until the pool is full.
func (w *pool) fill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.wg.Go(func() {
		for w.lacks() {
			p, err := w.start()
			if err != nil {
				return
			}
			w.mu.Lock()
			if w.closed {
				w.mu.Unlock()
				p.kill()
				return
			}
			w.idle = append(w.idle, p)
			w.mu.Unlock()
		}
	})
}

func (w *pool) lacks() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.closed && len(w.idle) < w.size
}

func (w *pool) take(_ context.Context, once bool, env map[string]string) (*process, error) {
	defer w.fill()
	for {
		w.mu.Lock()
		if len(w.idle) == 0 {
			w.mu.Unlock()
			return nil, nil
		}
		p := w.idle[0]
		w.idle = slices.Delete(w.idle, 0, 1)
		w.mu.Unlock()
		if alive(p.sb) && p.configure("", once, env) == nil {
			return p, nil
		}
		p.kill()
	}
}

func alive(p *sandbox.Process) bool {
	select {
	case <-p.Done():
		return false
	default:
		return true
	}
}

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
}
