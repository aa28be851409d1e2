package jupyter

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// refillAfter leaves the processor to the run that took a warm kernel, before
// the next kernel starts.
const refillAfter = 100 * time.Millisecond

// A pool has a goroutine for each warm kernel, which starts it and waits until it is taken.
type pool struct {
	rt    *runtime
	ready map[string]chan *kernel.Kernel // by language
}

func newPool(rt *runtime, size map[string]int) (*pool, error) {
	p := &pool{rt: rt, ready: map[string]chan *kernel.Kernel{}}
	number := map[string]int{}
	for name, n := range size {
		lang, err := codeinterp.ResolveLanguage(name, rt.languages)
		if err != nil {
			return nil, err
		}
		if n < 0 {
			return nil, fmt.Errorf("%w: Warm[%q] is %d", codeinterp.ErrInvalid, name, n)
		}
		number[lang] = n
	}
	for lang, n := range number {
		p.ready[lang] = make(chan *kernel.Kernel)
		for range n {
			rt.background(func() { p.serve(lang) })
		}
	}
	return p, nil
}

// take returns a warm kernel, nil if there is none that is in order.
func (p *pool) take(language string) *kernel.Kernel {
	for {
		select {
		case k := <-p.ready[language]:
			if !k.IsDown() {
				return k
			}
			p.rt.discardLater(k)
		default:
			return nil
		}
	}
}

// serve starts one kernel after the other until the runtime is closed.
func (p *pool) serve(language string) {
	closing := p.rt.closing
	for pause := time.Second; closing.Err() == nil; {
		k := p.start(language)
		if k == nil {
			_ = server.Wait(closing, pause)
			pause = min(2*pause, time.Minute)
			continue
		}
		select {
		case p.ready[language] <- k:
			pause = time.Second
			_ = server.Wait(closing, refillAfter)
		case <-closing.Done():
			_ = p.rt.discard(context.Background(), k)
		}
	}
}

// start returns a kernel that is ready for a program, nil if that failed.
func (p *pool) start(language string) *kernel.Kernel {
	ctx, cancel := context.WithTimeout(p.rt.closing, p.rt.opts.StartTimeout)
	defer cancel()
	k, err := p.rt.newKernel(ctx, p.rt.kinds[language])
	if err != nil {
		return nil
	}
	return k
}
