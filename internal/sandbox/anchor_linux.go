package sandbox

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox/forkexec"
)

// An anchors keeps process groups. Each group's id is that of a child of the
// host that has ended and is not waited for, so the id cannot be taken by
// another process while the group is in use. A group whose members were all
// killed serves again.
type anchors struct {
	keeper keeper

	mu     sync.Mutex
	free   []int
	all    []int
	closed bool
}

// get returns the id of an empty process group.
func (a *anchors) get() (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return 0, codeinterp.ErrClosed
	}
	if n := len(a.free); n > 0 {
		g := a.free[n-1]
		a.free = a.free[:n-1]
		return g, nil
	}
	g, err := newAnchor()
	if err != nil {
		return 0, fmt.Errorf("%w: process group: %w", codeinterp.ErrUnavailable, err)
	}
	a.all = append(a.all, g)
	if err := a.keeper.add(g); err != nil {
		a.free = append(a.free, g)
		return 0, err
	}
	return g, nil
}

// put gives a group back whose members were killed.
func (a *anchors) put(g int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.free = append(a.free, g)
}

// retire gives up a group whose members were killed, and reaps them: where
// orphans become children of the host, it has to, and that reaps the anchor.
func (a *anchors) retire(g int) {
	a.keeper.remove(g)
	a.mu.Lock()
	a.all = slices.DeleteFunc(a.all, func(other int) bool { return other == g })
	a.mu.Unlock()
	for wait := 100 * time.Microsecond; wait < time.Second; {
		switch pid, err := unix.Wait4(-g, nil, unix.WNOHANG, nil); {
		case err == unix.ECHILD:
			return
		case err == nil && pid == 0:
			time.Sleep(wait)
			wait *= 2
		}
	}
}

// close reaps the anchors.
func (a *anchors) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.keeper.close()
	for _, g := range a.all {
		// The keeper is gone: these ids are not used for kills any more, and they may be
		// given to others.
		_ = forkexec.Reap(g, nil)
	}
	a.all, a.free = nil, nil
}

// newAnchor forks a child that becomes the leader of a new group and ends.
func newAnchor() (int, error) {
	steps := &forkexec.Steps{}
	steps.Do(unix.SYS_SETPGID, 0, 0)
	return steps.Run()
}
