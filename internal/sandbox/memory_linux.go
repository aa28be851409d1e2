package sandbox

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/procfs"
)

// checkMemory adds up resident sizes, which counts shared pages more than once,
// page tables, swap and nameless files in memory, and only measures exactly,
// which is slow, where that is too much.
func (u *usage) checkMemory(members []*member, limit int64) {
	known := u.filesInMemory(members) + u.tables
	if u.rss+u.swap+known <= limit {
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
	}
	// The kernel has the reader wait for a process that is forking, which can
	// be long on a busy machine; the limits of others must not.
	go func() {
		defer u.measuring.Store(false)
		start := time.Now()
		if total := known + shares(list); total > limit {
			u.p.stop(codeinterp.CauseMemory, fmt.Sprintf("memory: %d MiB in use, limit %d MiB", total>>20, limit>>20))
			return
		}
		// Not to be measured again so soon: a part of the time only is to go into it.
		time.Sleep(pauseAfter(time.Since(start)) - watchBusy)
	}()
}

// shares adds up what processes are to blame for.
func shares(list []procfs.Stat) int64 {
	total := int64(0)
	for _, m := range list {
		n, err := share(m.PID)
		// Where the host may not look closer, the resident size is all that is known.
		if err == unix.EACCES || err == unix.EPERM {
			n = m.RSS
		}
		total += n
	}
	return total
}

// filesInMemory measures the nameless files in memory that the processes hold
// open: in none mode, elsewhere there is no way to make one.
func (u *usage) filesInMemory(members []*member) int64 {
	if u.p.mode != None || time.Now().Before(u.looks) {
		return u.files
	}
	start := time.Now()
	pids := make([]int, len(members))
	for i, m := range members {
		pids[i] = m.PID
	}
	u.files = 0
	for f := range namelessOf(pids, filesBudget/10) {
		if f.memory {
			u.files += f.bytes
		}
	}
	// A tenth of the time at most goes into looking.
	u.looks = time.Now().Add(10 * time.Since(start))
	return u.files
}
