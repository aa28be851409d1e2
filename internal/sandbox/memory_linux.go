package sandbox

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/procfs"
	"os"
	"strconv"
	"strings"
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
			u.p.stop(codeinterp.CauseMemory, fmt.Sprintf("memory: %d MiB in use, limit %d MiB", total>>20, limit>>20))
			return
		}
		// Measuring takes a part of the time only.
		time.Sleep(pauseAfter(time.Since(start)) - watchBusy)
	}()
}

// proportional adds up the memory of processes, shared pages in equal parts (PSS).
func proportional(list []procfs.Stat) (sum int64) {
	for _, m := range list {
		n, err := procfs.PSS(m.PID)
		// Where the host may not read it, the resident size is all that is known.
		if err == unix.EACCES || err == unix.EPERM {
			n = m.RSS
		}
		sum += n
	}
	return sum
}

// preferVictim makes the kernel kill a process, and what it starts, before the host
// when memory is short.
func preferVictim(pid int) {
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte("1000"), 0)
}

// oomKills returns how many processes the kernel has killed for want of memory
// since it was started.
func oomKills() int64 {
	b, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	_, rest, ok := strings.Cut(string(b), "\noom_kill ")
	if !ok {
		return 0
	}
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return n
}
