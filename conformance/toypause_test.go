package conformance

import (
	"context"
	"sync"
)

// A toyGate keeps programs from going on in a pause.
type toyGate struct {
	mu   sync.Mutex
	open chan struct{} // closed if programs go on
}

func newToy() toy {
	g := &toyGate{open: make(chan struct{})}
	close(g.open)
	return toy{g}
}

// wait waits for the end of a pause or of the run.
func (g *toyGate) wait(r *toyRun) {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
	case <-r.ctx.Done():
	}
}

// Pause implements driver.Pauser.
func (t toy) Pause(context.Context) error {
	t.gate.mu.Lock()
	defer t.gate.mu.Unlock()
	t.gate.open = make(chan struct{})
	return nil
}

// Resume implements driver.Pauser.
func (t toy) Resume(context.Context) error {
	t.gate.mu.Lock()
	defer t.gate.mu.Unlock()
	close(t.gate.open)
	return nil
}
