//go:build unix

package sandbox

import (
	"maps"
	"slices"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// A liveProcs is the processes of a Sandbox.
type liveProcs struct {
	mu     sync.Mutex
	closed bool
	all    map[*proc]struct{}
}

// add registers a process, unless the Sandbox was closed.
func (l *liveProcs) add(p *proc) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return codeinterp.ErrClosed
	}
	if l.all == nil {
		l.all = map[*proc]struct{}{}
	}
	l.all[p] = struct{}{}
	return nil
}

func (l *liveProcs) remove(p *proc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, p)
}

func (l *liveProcs) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// close refuses further processes, kills all, and waits until they have ended.
func (l *liveProcs) close() {
	l.mu.Lock()
	l.closed = true
	list := slices.Collect(maps.Keys(l.all))
	l.mu.Unlock()
	for _, p := range list {
		p.kill()
	}
	for _, p := range list {
		<-p.done
	}
}
