package jupyter

import (
	"context"
	"sync"
)

// A turn is a lock that a method of the session or a file operation holds. File
// operations yield to methods.
type turn struct {
	taken chan struct{} // holds one value while it is locked

	mu      sync.Mutex
	yield   context.CancelFunc
	waiting int // methods
}

func newTurn() *turn { return &turn{taken: make(chan struct{}, 1)} }

// take locks for a method.
func (t *turn) take() {
	t.mu.Lock()
	// A file operation gives up.
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

// visit locks for a file operation, if free; yield is called when a method wants it.
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
