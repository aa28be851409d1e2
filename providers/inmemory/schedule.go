package inmemory

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// slice is how long a program runs while others wait for a slot.
const slice = 10 * time.Millisecond

// A scheduler hands out slots to running programs, first come, first served. A
// program that runs on for longer than a slice while others wait goes to the
// end of the queue.
type scheduler struct {
	waiting atomic.Int32 // len of queue, to look at without the lock

	mu    sync.Mutex
	free  int
	queue list.List // of chan struct{}, closed when the slot is granted
}

func newScheduler(n int) *scheduler { return &scheduler{free: n} }

// acquire waits for a slot. It returns false, without one, if ctx is done
// first.
func (s *scheduler) acquire(ctx context.Context) bool {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return true
	}
	granted := make(chan struct{})
	e := s.queue.PushBack(granted)
	s.waiting.Add(1)
	s.mu.Unlock()
	select {
	case <-granted:
		return true
	case <-ctx.Done():
	}
	s.mu.Lock()
	select {
	// release granted it in the moment in which ctx ended: it is passed on.
	case <-granted:
		s.mu.Unlock()
		s.release()
	default:
		s.queue.Remove(e)
		s.waiting.Add(-1)
		s.mu.Unlock()
	}
	return false
}

// tryAcquire takes a slot if one is free, in which case no run waits.
func (s *scheduler) tryAcquire() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 {
		return false
	}
	s.free--
	return true
}

// release gives a slot back.
func (s *scheduler) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.queue.Front(); e != nil {
		s.queue.Remove(e)
		s.waiting.Add(-1)
		close(e.Value.(chan struct{}))
		return
	}
	s.free++
}
