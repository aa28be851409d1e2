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
		p, err := s.fork(ctx, pl)
		// The server may have died since.
		if err == nil || ctx.Err() != nil || alive(s.sb) || try > 0 {
			return p, err
		}
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
}
