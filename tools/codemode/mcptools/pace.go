package mcptools

import (
	"context"
	"sync"
	"time"
)

const (
	// steady is how long a stream lasts that may be opened again at once.
	steady = 10 * time.Second

	// firstPause is between the begins of two streams of which the first ended sooner.
	// It doubles with each, up to callPause for those of a call, which servers may have
	// their clients ask for again and again, and idlePause for the one of no call.
	firstPause = 100 * time.Millisecond
	callPause  = 5 * time.Second
	idlePause  = 30 * time.Second

	// maxShort is after how many of those nobody asks any more. A server needs none to
	// be called: it only tells of changes there.
	maxShort = 60
)

// A pace holds up who opens streams that a server ends as soon as they begin. The SDK
// waits as little as the server says, without an end.
type pace struct {
	made  sync.Once
	turn  chan struct{} // has room for who is in wait, and guards what follows
	begun time.Time
	short int // streams in a row that ended soon
}

// wait returns when the next stream may begin, and reports whether that is before ctx
// ends. After more than most in a row, unless that is zero, there is no next one.
func (p *pace) wait(ctx context.Context, longest time.Duration, most int) bool {
	p.made.Do(func() { p.turn = make(chan struct{}, 1) })
	select { // no mutex: who waits for the turn of another may be given up, too
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return false
	}
	if p.short++; p.begun.IsZero() || time.Since(p.begun) >= steady {
		p.short = 0
	}
	if most > 0 && p.short > most {
		<-ctx.Done()
		return false
	}
	if p.short > 0 {
		pause := longest
		// No more doublings than are needed, or the shift would overflow.
		if p.short < 10 {
			pause = min(firstPause<<(p.short-1), longest)
		}
		timer := time.NewTimer(pause - time.Since(p.begun))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return false
		}
	}
	p.begun = time.Now()
	return ctx.Err() == nil
}
