//go:build unix

package subprocess

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
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
			s.p.forking.asking.Lock()
			defer s.p.forking.asking.Unlock()
		}
	}
	h.pauses.Add(1)
	err := h.sandbox.Pause(ctx)
	if err != nil {
		h.pauses.Add(1)
	}
	return err
}

// Resume implements driver.Pauser.
func (h *host) Resume(context.Context) error {
	h.sandbox.Resume()
	h.pauses.Add(1)
	return nil
}

// A pauses counts the beginnings and ends of pauses.
type pauses struct{ atomic.Int64 }

func (p *pauses) paused() bool { return p.Load()%2 == 1 }

// writeWithin writes to the driver, which may take so long, pauses excluded. p.writing is
// held.
func (p *process) writeWithin(d time.Duration, b []byte) (n int, err error) {
	for {
		before := p.h.pauses.Load()
		_ = p.ctl.SetWriteDeadline(time.Now().Add(d))
		k, err := p.ctl.Write(b[n:])
		n += k
		if !errors.Is(err, os.ErrDeadlineExceeded) || before == p.h.pauses.Load() && !p.h.pauses.paused() {
			return n, err
		}
	}
}
