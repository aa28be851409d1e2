package sandbox

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/procfs"
)

// checkMemory adds up resident sizes, which counts shared pages more than once,
// page tables, swap, nameless files in memory, and the most that may be hidden,
// and only measures exactly, which is slow, where that is too much.
func (u *usage) checkMemory(members []*member, limit int64) {
	known := u.filesInMemory(members) + u.tables
	if u.rss+u.swap+known+u.hidden() <= limit {
		u.unsure = false
		return
	}
	// What grows while it is measured, and then stands still, is measured
	// again: to measure many page tables takes longer than to make them.
	if u.unsure = !u.measuring.CompareAndSwap(false, true); u.unsure {
		return
	}
	list := make([]procfs.Stat, len(members))
	for i, m := range members {
		list[i] = m.Stat
		list[i].PID = m.at
	}
	e := exact{list, known, u.rss + u.swap, u.shared.by, u.kernel.by, u.p.s.watch.perSocket, u.p.s.watch.watches, u.p.plan.limits}
	// The kernel has the reader wait for a process that is forking, which can
	// be long on a busy machine; the limits of others must not.
	go func() {
		defer u.measuring.Store(false)
		start := time.Now()
		if total := e.total(); total > limit {
			ahead := u.p.plan.Ahead.Memory
			u.p.stop(codeinterp.CauseMemory, fmt.Sprintf("memory: %d MiB in use, limit %d MiB", (total-ahead)>>20, (limit-ahead)>>20))
			return
		}
		// Not to be measured again so soon: a part of the time only is to go into it.
		time.Sleep(pauseAfter(time.Since(start)) - watchBusy)
	}()
}

// An exact measures what the processes of a tree are to blame for.
type exact struct {
	list           []procfs.Stat
	known          int64 // what is measured already
	resident       int64 // with what is swapped out
	shared, kernel int64 // by how much the machine's have grown
	perSocket      int64
	watches        int64 // the most that a user's epolls can watch, in bytes
	limits         Limits
}

// total returns what is in use, or what is certainly not less where that is
// within the limit.
func (e *exact) total() int64 {
	pids := make([]int, len(e.list))
	for i, m := range e.list {
		pids[i] = m.PID
	}
	hidden, buffers := int64(0), int64(0)
	// What the machine has not lost, the tree has not taken: mappings that nobody
	// has touched, and sockets through which nothing was sent. Of what
	// there is too much to be looked at, it has taken all.
	if e.shared > 0 {
		n, all := sharedObjects(pids)
		if hidden = e.shared; all {
			hidden = min(n, hidden)
		}
	}
	if e.kernel > 0 {
		n, all := e.heldBy(pids)
		if buffers = e.kernel; all {
			buffers = min(n, buffers)
		}
	}
	if n := e.known + e.resident + hidden + buffers; n <= e.limits.Memory {
		return n
	}
	own, shared := shares(e.list)
	return e.known + buffers + own + max(shared, hidden)
}

// shares adds up what processes are to blame for.
func shares(list []procfs.Stat) (own, shared int64) {
	for _, m := range list {
		n, s, err := share(m.PID)
		// Where the host may not look closer, the resident size is all that is known.
		if err == unix.EACCES || err == unix.EPERM {
			n = m.RSS
		}
		own, shared = own+n, shared+s
	}
	return own, shared
}

// filesInMemory measures the nameless files in memory that the processes hold
// open: in none mode, elsewhere there is no way to make one.
func (u *usage) filesInMemory(members []*member) int64 {
	if u.p.mode != None || time.Now().Before(u.looks) {
		return u.files
	}
	start := time.Now()
	u.files = 0
	for f := range namelessOf(shownAt(members), filesBudget/10) {
		if f.memory {
			u.files += f.bytes
		}
	}
	// A tenth of the time at most goes into looking.
	u.looks = time.Now().Add(10 * time.Since(start))
	return u.files
}
