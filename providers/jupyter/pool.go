package jupyter

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// refillAfter leaves the processor to the run that took a warm kernel, before
// the next kernel starts.
const refillAfter = 100 * time.Millisecond

// A pool keeps kernels started and ready.
type pool struct {
	rt   *runtime
	size map[string]int

	mu      sync.Mutex
	ready   map[string][]*kernel.Kernel
	pending map[string]int
	closed  bool
}

func newPool(rt *runtime, size map[string]int) (*pool, error) {
	p := &pool{rt: rt, size: map[string]int{}, ready: map[string][]*kernel.Kernel{}, pending: map[string]int{}}
	for name, n := range size {
		lang, err := codeinterp.ResolveLanguage(name, rt.languages)
		if err != nil {
			return nil, err
		}
		if n < 0 {
			return nil, fmt.Errorf("%w: Warm[%q] is %d", codeinterp.ErrInvalid, name, n)
		}
		p.size[lang] = n
	}
	for lang := range p.size {
		p.fill(lang)
	}
	return p, nil
}

// take returns a warm kernel, if there is one that is in order, and has
// another one started soon.
func (p *pool) take(language string) *kernel.Kernel {
	var found *kernel.Kernel
	var bad []*kernel.Kernel
	p.mu.Lock()
	for found == nil && len(p.ready[language]) > 0 {
		k := p.ready[language][0]
		p.ready[language] = p.ready[language][1:]
		if k.IsDown() {
			bad = append(bad, k)
			continue
		}
		found = k
	}
	p.mu.Unlock()
	for _, k := range bad {
		p.rt.discardLater(k)
	}
	if p.size[language] > 0 {
		time.AfterFunc(refillAfter, func() { p.fill(language) })
	}
	return found
}

// fill starts what is missing, in the background.
func (p *pool) fill(language string) {
	p.mu.Lock()
	n := p.size[language] - len(p.ready[language]) - p.pending[language]
	if p.closed {
		n = 0
	}
	// Counted before they start, so that two calls at once do not fill up twice.
	p.pending[language] += max(n, 0)
	p.mu.Unlock()
	for range n {
		p.rt.background(func() { p.start(language) })
	}
}

// start makes one kernel; if that fails it waits before it tries again.
func (p *pool) start(language string) {
	for pause := time.Second; ; pause = min(2*pause, time.Minute) {
		if k := p.warm(language); k != nil {
			p.add(language, k)
			return
		}
		if server.Wait(p.rt.closing, pause) != nil {
			return
		}
	}
}

// warm returns a kernel that is ready for a program, nil if that failed.
func (p *pool) warm(language string) *kernel.Kernel {
	ctx, cancel := context.WithTimeout(p.rt.closing, p.rt.opts.StartTimeout)
	defer cancel()
	k, err := p.rt.newKernel(ctx, p.rt.kinds[language])
	if err != nil {
		return nil
	}
	if k.CanMoveIn() && k.Enter(ctx, kernel.Surroundings{Private: true}) != nil {
		_ = p.rt.discard(context.WithoutCancel(ctx), k)
		return nil
	}
	return k
}

func (p *pool) add(language string, k *kernel.Kernel) {
	p.mu.Lock()
	p.pending[language]--
	closed := p.closed
	if !closed {
		p.ready[language] = append(p.ready[language], k)
	}
	p.mu.Unlock()
	if closed {
		_ = p.rt.discard(context.Background(), k)
	}
}

// close deletes the warm kernels.
func (p *pool) close(ctx context.Context) {
	p.mu.Lock()
	p.closed = true
	var all []*kernel.Kernel
	for _, list := range p.ready {
		all = append(all, list...)
	}
	p.ready = map[string][]*kernel.Kernel{}
	p.mu.Unlock()
	var wg sync.WaitGroup
	for _, k := range all {
		wg.Go(func() { _ = p.rt.discard(ctx, k) })
	}
	wg.Wait()
}
