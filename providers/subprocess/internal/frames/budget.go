package frames

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

const (
	// maxInFlight is how many bytes frames that are being read may have, in all
	// processes of a provider: two of the largest. Other drivers wait. Each has step
	// bytes beside.
	maxInFlight = 2 * maxFrame

	// MaxOpenArgs is how many bytes the arguments of open calls may have, in all
	// processes of a provider. One process gets at most half of what is left. Beyond
	// that a call fails: if it waited, it could wait for itself.
	MaxOpenArgs = 2 * maxFrame
)

// A Budget bounds the host's memory that all processes of a provider take together,
// whatever they send.
type Budget struct {
	frames *semaphore.Weighted

	mu   sync.Mutex
	args int // bytes that are left for arguments
}

// NewBudget returns a Budget with all of its room.
func NewBudget() *Budget {
	return &Budget{frames: semaphore.NewWeighted(maxInFlight), args: MaxOpenArgs}
}

// Frame waits until there is room for a frame of n bytes, and takes it.
func (b *Budget) Frame(ctx context.Context, n int) (free func(), err error) {
	if err := b.frames.Acquire(ctx, int64(n)); err != nil {
		return nil, err
	}
	return func() { b.frames.Release(int64(n)) }, nil
}

// Args is what the arguments of one process's open calls take: step bytes of its own,
// and a part of what all processes share. The Budget guards it.
type Args struct{ own, common int }

// Call takes room for the arguments of a call, if there is some.
func (b *Budget) Call(a *Args, n int) (free func(), ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case a.own+n <= step:
		a.own += n
		return func() { b.give(func() { a.own -= n }) }, true
	// No process gets more than it leaves to the others.
	case a.common+n <= b.args-n:
		a.common, b.args = a.common+n, b.args-n
		return func() { b.give(func() { a.common, b.args = a.common-n, b.args+n }) }, true
	}
	return nil, false
}

func (b *Budget) give(back func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	back()
}
