package subprocess

import (
	"context"

	"golang.org/x/sync/semaphore"
)

const (
	// maxInFlight is how many bytes the frames that are being read may have, in
	// all processes of a provider: two of the largest. Beyond that, drivers
	// wait to be read. Each has step bytes beside.
	maxInFlight = 2 * maxFrame

	// maxOpenArgs is how many bytes the arguments of open calls may have, in all
	// processes of a provider. Beyond that, a call fails: one that waited could
	// wait for itself.
	maxOpenArgs = 2 * maxFrame
)

// A budget is what all processes of a provider may take of the host's memory
// together, whatever they send.
type budget struct {
	frames, args *semaphore.Weighted
}

func newBudget() *budget {
	return &budget{semaphore.NewWeighted(maxInFlight), semaphore.NewWeighted(maxOpenArgs)}
}

// frame waits until there is room for the rest of a frame, and takes it.
func (b *budget) frame(ctx context.Context, n int) (free func(), err error) {
	if err := b.frames.Acquire(ctx, int64(n)); err != nil {
		return nil, err
	}
	return func() { b.frames.Release(int64(n)) }, nil
}

// call takes the room for a call's arguments, if there is some.
func (b *budget) call(n int) (free func(), ok bool) {
	if !b.args.TryAcquire(int64(n)) {
		return nil, false
	}
	return func() { b.args.Release(int64(n)) }, true
}
