//go:build unix

package subprocess

import (
	"context"
	"fmt"
	"time"
)

// maxLeave bounds the wait of a next run for the second of two images of a driver,
// of which the first hands its state to it. After that it waits in the run's own
// time: a program can say that its driver leaves, and go on.
const maxLeave = 2 * time.Second

// leave notes that a driver replaces itself after the run in progress. Bash's does,
// before it says that the run is over; from others, and at other times, it is a
// program that says so.
func (p *process) leave() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lang.kind != otherKind || p.run == nil {
		return fmt.Errorf("%w: it leaves at no time to", errFrame)
	}
	if p.back == nil {
		p.back = make(chan struct{})
	}
	p.left = time.Now()
	return nil
}

// takeHello takes the hello of a driver that is new, or back.
func (p *process) takeHello(version string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.back != nil {
		close(p.back)
		p.back = nil
		return nil
	}
	select {
	case p.hello <- version:
		return nil
	default:
		return fmt.Errorf("%w: a second hello", errFrame)
	}
}

// awaitBack waits a while until the driver can take a program, so that its time is
// not spent on what an earlier one has left to do.
func (p *process) awaitBack(ctx context.Context) error {
	p.mu.Lock()
	back, left := p.back, p.left
	p.mu.Unlock()
	if back == nil {
		return nil
	}
	timer := time.NewTimer(time.Until(left.Add(maxLeave)))
	defer timer.Stop()
	select {
	case <-back:
	case <-p.gone:
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
