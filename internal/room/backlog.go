package room

import (
	"context"
	"sync"
)

// A Backlog counts the bytes that wait for somebody to read them, so that those who
// make more can wait until there are at most Most. Its methods may be called from
// several goroutines.
type Backlog struct {
	Most int

	mu    sync.Mutex
	bytes int
	less  chan struct{} // closed when there are at most Most again
}

// Add counts n bytes more, or less.
func (b *Backlog) Add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes += n
	if b.less != nil && b.bytes <= b.Most {
		close(b.less)
		b.less = nil
	}
}

// Bytes is how many wait.
func (b *Backlog) Bytes() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes
}

// Wait waits while there are too many, and reports whether ctx goes on.
func (b *Backlog) Wait(ctx context.Context) bool {
	for {
		less := b.full()
		if less == nil {
			return ctx.Err() == nil
		}
		select {
		case <-less:
		case <-ctx.Done():
			return false
		}
	}
}

// full returns what is closed once there are fewer, nil where there are few.
func (b *Backlog) full() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bytes <= b.Most {
		return nil
	}
	if b.less == nil {
		b.less = make(chan struct{})
	}
	return b.less
}
