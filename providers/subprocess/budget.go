package subprocess

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// maxInFlight is how many bytes the frames that are being read may have, in
	// all processes of a provider: two of the largest. Beyond that, drivers
	// wait to be read. Each has step bytes beside.
	maxInFlight = 2 * maxFrame

	// maxOpenArgs is how many bytes the arguments of open calls may have, in all
	// processes of a provider, and one of them as many as are left to the
	// others. Beyond that, a call fails: one that waited could wait for itself.
	// Each has step bytes beside.
	maxOpenArgs = 2 * maxFrame

	// slack and pace are what a frame that others wait for must keep up with:
	// after slack, so many bytes a second.
	slack = 2 * time.Second
	pace  = 2 << 20
)

// errSlow is what becomes of a driver that does not keep up.
var errSlow = errors.New("the driver sent a frame too slowly while others waited to send theirs")

// A budget is what all processes of a provider may take of the host's memory
// together, whatever they send.
type budget struct {
	frames *semaphore.Weighted

	mu     sync.Mutex
	coming map[*coming]struct{}
	args   int // bytes that are left for arguments
}

func newBudget() *budget {
	return &budget{frames: semaphore.NewWeighted(maxInFlight), coming: map[*coming]struct{}{}, args: maxOpenArgs}
}

// A coming is a frame that has room and is being read.
type coming struct {
	since time.Time
	bytes atomic.Int64
	stop  func() // ends the reading; called with the budget's mu
	slow  bool   // it was; guarded by that
}

// frame waits until there is room for the rest of a frame, and takes it. Where
// others wait and it comes too slowly, stop is called, maybe again, until
// arrived is.
func (b *budget) frame(ctx context.Context, n int, stop func()) (c *coming, free func(), err error) {
	// Who finds room at once presses nobody.
	if !b.frames.TryAcquire(int64(n)) {
		ease := b.press()
		err := b.frames.Acquire(ctx, int64(n))
		ease()
		if err != nil {
			return nil, nil, err
		}
	}
	c = &coming{since: time.Now(), stop: stop}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.coming[c] = struct{}{}
	return c, func() { b.frames.Release(int64(n)) }, nil
}

// arrived says that the frame has come or will not. It reports whether it was
// too slow.
func (b *budget) arrived(c *coming) (slow bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.coming, c)
	return c.slow
}

// press stops what comes too slowly, until ease is called.
func (b *budget) press() (ease func()) {
	over := make(chan struct{})
	go func() {
		tick := time.NewTicker(slack / 4)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				b.stopSlow()
			case <-over:
				return
			}
		}
	}()
	return func() { close(over) }
}

func (b *budget) stopSlow() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.coming {
		if late := time.Since(c.since) - slack; late > 0 && float64(c.bytes.Load()) < late.Seconds()*pace {
			c.slow = true
			c.stop()
		}
	}
}

// A share is what the arguments of one process's open calls take: of step bytes
// of its own, and of what all have. The budget's mu guards it.
type share struct{ own, common int }

// call takes the room for a call's arguments, if there is some.
func (b *budget) call(s *share, n int) (free func(), ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case s.own+n <= step:
		s.own += n
		return func() { b.give(func() { s.own -= n }) }, true
	// No process gets more of the common room than it leaves to the others.
	case s.common+n <= b.args-n:
		s.common, b.args = s.common+n, b.args-n
		return func() { b.give(func() { s.common, b.args = s.common-n, b.args+n }) }, true
	}
	return nil, false
}

func (b *budget) give(back func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	back()
}
