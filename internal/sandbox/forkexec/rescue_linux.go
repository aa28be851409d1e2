package forkexec

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"

	"github.com/toolcell/toolcell/internal/procfs"
)

const (
	// rescueEvery is how often a child is looked at that has not called exec.
	rescueEvery = 100 * time.Millisecond

	// rescueMost is how often it is continued before it is killed.
	rescueMost = 20
)

// ErrStopped reports that the child was stopped again and again before it began.
var ErrStopped = fmt.Errorf("%w: another program stops processes before they have begun", codeinterp.ErrUnavailable)

// A rescue lets a child go on that is stopped between vfork and exec, when the
// host's thread waits for it: under a uid that it shares with programs, they
// can do that.
type rescue struct {
	child *int32 // its pid, once there is one

	mu      sync.Mutex
	over    bool
	stopped int
	timer   *time.Timer
}

func newRescue(child *int32) *rescue {
	r := &rescue{child: child}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = time.AfterFunc(rescueEvery, r.look)
	return r
}

func (r *rescue) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	r.timer.Reset(rescueEvery)
	pid := int(atomic.LoadInt32(r.child))
	if pid <= 0 {
		return
	}
	if st, err := procfs.Read(pid); err != nil || st.State != 'T' {
		return
	}
	sig := unix.SIGCONT
	if r.stopped++; r.stopped > rescueMost {
		sig = unix.SIGKILL
	}
	// By pid: end, which comes before it can be reaped, waits for mu.
	_ = unix.Kill(pid, sig)
}

// end has to be called before the child can be reaped. It reports whether the
// child was given up.
func (r *rescue) end() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.timer.Stop()
	return r.stopped > rescueMost
}
