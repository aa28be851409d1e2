package sandbox

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/procfs"
)

// checkMemory adds up resident sizes, which counts shared pages more than once, page
// tables and swap, and measures exactly, which is slow, only where that is too much.
func (u *usage) checkMemory(members []*member, limit int64) {
	if u.rss+u.swap+u.tables <= limit {
		u.unsure = false
		return
	}
	// What grows while it is measured is measured again: measuring many page tables
	// takes longer than making them.
	if u.unsure = !u.measuring.CompareAndSwap(false, true); u.unsure {
		return
	}
	list := make([]procfs.Stat, len(members))
	for i, m := range members {
		list[i] = m.Stat
	}
	tables := u.tables
	// The kernel makes the reader wait for a process that is forking, which can take
	// long on a busy machine; the limits of other trees must not wait for it.
	go func() {
		defer u.measuring.Store(false)
		start := time.Now()
		if total := tables + proportional(list); total > limit {
			ahead := u.p.plan.Ahead.Memory
			u.p.stop(codeinterp.CauseMemory, fmt.Sprintf("memory: %d MiB in use, limit %d MiB", (total-ahead)>>20, (limit-ahead)>>20))
			return
		}
		// Measuring takes a part of the time only.
		time.Sleep(pauseAfter(time.Since(start)) - watchBusy)
	}()
}

// proportional adds up the memory of processes, shared pages in equal parts (PSS).
func proportional(list []procfs.Stat) (sum int64) {
	for _, m := range list {
		n, err := share(m.PID)
		// Where the host may not read it, the resident size is all that is known.
		if err == unix.EACCES || err == unix.EPERM {
			n = m.RSS
		}
		sum += n
	}
	return sum
}
