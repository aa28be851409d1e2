//go:build unix

package subprocess

import (
	"context"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// A forker is the host's side of a fork server. It starts the server again
// where that has died.
type forker struct {
	h *host
	l *language

	mu     sync.Mutex // held while the server is started
	server *server
	closed bool

	asking sync.WaitGroup // requests, also those that nobody waits for
}

func newForker(h *host, l *language) (*forker, error) {
	w := &forker{h: h, l: l}
	if _, err := w.running(h.life); err != nil {
		return nil, err
	}
	return w, nil
}

// running returns the server, a new one where the old one is gone.
func (w *forker) running(ctx context.Context) (*server, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, codeinterp.ErrClosed
	}
	if w.server != nil {
		if alive(w.server.sb) {
			return w.server, nil
		}
		w.server.end()
		w.server = nil
	}
	s, err := startServer(ctx, w.h, w.l)
	if err == nil {
		w.server = s
	}
	return s, err
}

// fork returns a new child of the server, in a directory of its own. It waits for its
// configuration.
func (w *forker) fork(ctx context.Context) (*process, error) {
	s, err := w.running(ctx)
	if err != nil {
		return nil, err
	}
	p, err := w.ask(ctx, s, nil)
	// The server may have died since it was looked at; that is tried once.
	if err != nil && ctx.Err() == nil && !alive(s.sb) {
		if s, err = w.running(ctx); err == nil {
			p, err = w.ask(ctx, s, nil)
		}
	}
	return p, err
}

// ask has the server fork in a place; nil means a new one, which goes with the child. A child that comes when nobody waits any more is
// killed.
func (w *forker) ask(ctx context.Context, s *server, pl *place) (*process, error) {
	type answer struct {
		p   *process
		err error
	}
	answers := make(chan answer)
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil, codeinterp.ErrClosed
	}
	// With mu held, so that close either refuses it or waits for it.
	w.asking.Go(func() {
		p, err := s.fork(w.h, w.l, pl)
		select {
		case answers <- answer{p, err}:
		case <-ctx.Done():
			if p != nil {
				p.kill()
			}
		}
	})
	w.mu.Unlock()
	select {
	case a := <-answers:
		return a.p, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (w *forker) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.server != nil {
		w.server.end()
		w.server = nil
	}
	// After the server's end, for which those that ask would else wait.
	w.asking.Wait()
}
