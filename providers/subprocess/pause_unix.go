//go:build unix

package subprocess

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp/driver"
)

var _ driver.Pauser = (*host)(nil)

// Pause implements driver.Pauser.
func (h *host) Pause(ctx context.Context) error {
	// A server that forks has little time for it.
	for _, w := range h.warm {
		for !w.mu.TryLock() { // a server may be starting
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(time.Millisecond):
			}
		}
		defer w.mu.Unlock()
		if s := w.server; s != nil {
			s.asking.Lock()
			defer s.asking.Unlock()
		}
	}
	h.pauses.begin()
	err := h.sandbox.Pause(ctx)
	if err != nil {
		h.pauses.end()
	}
	return err
}

// Resume implements driver.Pauser.
func (h *host) Resume(context.Context) error {
	h.sandbox.Resume()
	h.pauses.end()
	return nil
}

// A pauses knows of the pauses of a host.
type pauses struct {
	mu   sync.Mutex
	over chan struct{} // closed when the pause in progress is over; nil if there is none
	past int           // how many are over
}

func (p *pauses) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = make(chan struct{})
}

func (p *pauses) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.over)
	p.over = nil
	p.past++
}

func (p *pauses) state() (past int, over <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.past, p.over
}

// writeWithin writes to the driver, which may take so long, pauses excluded. p.writing is
// held.
func (p *process) writeWithin(d time.Duration, b []byte) (n int, err error) {
	for {
		before, _ := p.h.pauses.state()
		_ = p.ctl.SetWriteDeadline(time.Now().Add(d))
		k, err := p.ctl.Write(b[n:])
		n += k
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		past, over := p.h.pauses.state()
		if past == before && over == nil {
			return n, err
		}
		if over != nil {
			select {
			case <-over:
			case <-p.open.Done():
				return n, err
			}
		}
	}
}
