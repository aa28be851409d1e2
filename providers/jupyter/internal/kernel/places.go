package kernel

import (
	"context"
	"sync"
	"time"

	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// placeLimit is how long a call waits for the output before it. A server that drops output
// drops the marks too.
const placeLimit = 2 * time.Second

// places are the places in a program's output that its kernel marked. Output and calls
// come by different channels, and a call waits for the output before it.
type places struct {
	behind func() bool // output that came waits for OnOutput

	mu     sync.Mutex
	last   int           // that came
	next   chan struct{} // closed when another comes
	missed bool          // one did not come in time: calls do not wait until one comes
}

// await waits for a place, unless ctx ends or it does not come.
func (p *places) await(ctx context.Context, number int) {
	for {
		p.mu.Lock()
		if p.last >= number || p.missed {
			p.mu.Unlock()
			return
		}
		if p.next == nil {
			p.next = make(chan struct{})
		}
		next := p.next
		p.mu.Unlock()
		t := time.NewTimer(placeLimit)
		select {
		case <-next:
		case <-ctx.Done():
		case <-t.C:
			// The mark may be in the queue, behind what a slow OnOutput has yet to take.
			if !p.behind() {
				p.giveUp()
			}
		}
		t.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

func (p *places) giveUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.missed = true
}

// reached notes a place, and reports whether a display is one.
func (c *calls) reached(content []byte, late bool) bool {
	if c == nil {
		return false
	}
	number, ok := wire.Place(content, c.nonce)
	if !ok || late {
		return ok
	}
	p := &c.places
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.missed = max(p.last, number), false
	if p.next != nil {
		close(p.next)
		p.next = nil
	}
	return true
}
