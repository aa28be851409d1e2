package inmemory

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// slice is how long a program runs while others wait for a slot.
const slice = 10 * time.Millisecond

// A scheduler hands out slots to running programs, first come, first served. A
// program that runs on for longer than a slice while others wait goes to the
// end of the queue.
type scheduler struct {
	slots   *semaphore.Weighted
	waiting atomic.Int32
}

func newScheduler(n int) *scheduler { return &scheduler{slots: semaphore.NewWeighted(int64(n))} }

// acquire waits for a slot. It returns false, without one, if ctx is done
// first.
func (s *scheduler) acquire(ctx context.Context) bool {
	if s.tryAcquire() {
		return true
	}
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	return s.slots.Acquire(ctx, 1) == nil
}

// tryAcquire takes a slot if one is free, in which case no run waits.
func (s *scheduler) tryAcquire() bool { return s.slots.TryAcquire(1) }

// release gives a slot back.
func (s *scheduler) release() { s.slots.Release(1) }
