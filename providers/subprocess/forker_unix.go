//go:build unix

package subprocess

import (
	"context"
	"slices"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// A forker forks processes of a language from a server, and starts another server where
// that has died or its modules have changed on disk.
type forker struct {
	h *host
	l *language

	mu      sync.Mutex // held while the server is started
	server  *server
	retired []*server // with changed modules; each ends with its last child
	closed  bool

	asking sync.WaitGroup // requests, also abandoned ones
}

// current returns a server whose modules are those on disk.
func (w *forker) current(ctx context.Context) (*server, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, codeinterp.ErrClosed
	}
	if s := w.server; s != nil {
		switch {
		case !alive(s.sb):
			s.end()
		case s.modules.changed():
			w.retired = append(slices.DeleteFunc(w.retired, func(old *server) bool { return !alive(old.sb) }), s)
			s.retire()
		default:
			return s, nil
		}
		w.server = nil
	}
	s, err := startServer(ctx, w.h, w.l)
	if err == nil {
		w.server = s
	}
	return s, err
}

// fork returns a new child of a server, which waits for its configuration. pl is the
// place of a context whose earlier process that server forked; nil means a new place,
// which goes with the child.
func (w *forker) fork(ctx context.Context, pl *place) (*process, error) {
	for try := 0; ; try++ {
		s, err := w.current(ctx)
		if err != nil {
			return nil, err
		}
		// Only the server of the first process runs as the user of the context's files.
		if pl != nil && pl.server != s {
			return nil, errNoServer
		}
		p, err := w.ask(ctx, s, pl)
		// The server may have died since.
		if err == nil || ctx.Err() != nil || alive(s.sb) || try > 0 {
			return p, err
		}
	}
}

// ask requests a child of s. A child that comes after ctx has ended is killed.
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
	for _, s := range append(w.retired, w.server) {
		if s != nil {
			s.end()
		}
	}
	w.server, w.retired = nil, nil
	w.asking.Wait() // after the end of the servers that it waits for
}
