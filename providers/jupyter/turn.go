package jupyter

import (
	"context"
	"sync"
)

// A turn is had by one at a time: by a method that the driver calls, or by who
// wants the kernel's files while none goes on, and gives way.
type turn struct {
	taken chan struct{} // holds one while somebody has it

	mu      sync.Mutex
	yield   context.CancelFunc
	waiting int // for the turn, which no visitor gets before them
}

func newTurn() *turn { return &turn{taken: make(chan struct{}, 1)} }

// take waits for the turn, which a visitor gives up.
func (t *turn) take() {
	t.mu.Lock()
	// Who has the turn for the files only gives it back soon after.
	if t.yield != nil {
		t.yield()
	}
	t.waiting++
	t.mu.Unlock()
	t.taken <- struct{}{}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting--
}

// visit takes the turn if it is free; yield asks for it back.
func (t *turn) visit(yield context.CancelFunc) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting > 0 {
		return false
	}
	select {
	case t.taken <- struct{}{}:
		t.yield = yield
		return true
	default:
		return false
	}
}

func (t *turn) give() {
	t.mu.Lock()
	t.yield = nil
	t.mu.Unlock()
	<-t.taken
}
