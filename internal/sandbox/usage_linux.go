package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/procfs"
)

// A usage is what a tree uses. The watcher's goroutine owns it, apart from what a mutex
// guards.
type usage struct {
	p      *proc
	active bool
	still  int           // looks since the last change
	all    time.Duration // CPU time of live processes and of children that they waited for
	rss    int64
	tables int64 // memory of page tables
	swap   int64
	procs  int

	measuring atomic.Bool // memory, exactly
	unsure    bool        // it changed while it was measured

	mu       sync.Mutex
	cpu      time.Duration
	peakRSS  int64
	peakData int64 // of one process
	disk     diskUsage
}

// A sum is what the processes of a tree use at one look.
type sum struct {
	members []procfs.Stat
	all     time.Duration
	rss     int64
	threads int
}

func (s *sum) add(st procfs.Stat) {
	s.members = append(s.members, st)
	s.all += st.All
	s.rss += st.RSS
	s.threads += st.Threads
}

// update takes in a look, and sees from it whether the tree is active.
func (u *usage) update(s *sum) {
	if u.still++; s.all != u.all || s.rss != u.rss || s.threads != u.procs {
		u.still = 0
	}
	u.active = u.still < stillLooks || u.unsure
	u.all, u.rss, u.procs = s.all, s.rss, s.threads
	data := int64(0)
	if u.active { // otherwise its page tables are what they were
		u.tables, u.swap = 0, 0
		for _, st := range s.members {
			mem := procfs.ReadMemory(st.PID)
			data = max(data, mem.Data)
			u.tables += mem.Tables
			u.swap += mem.Swap
		}
	}
	u.mu.Lock()
	u.cpu = max(u.cpu, s.all)
	u.peakRSS = max(u.peakRSS, s.rss)
	u.peakData = max(u.peakData, data)
	u.mu.Unlock()
	if u.p.mode == None {
		u.p.see(s.members)
	}
}

// check stops the tree if it uses more than its limits.
func (u *usage) check(members []procfs.Stat) {
	l := u.p.plan.limits
	if u.p.mode == Bwrap && l.Processes > 0 {
		l.Processes++ // bubblewrap's own
	}
	used, most := u.cpu, time.Duration(l.CPU)*time.Second
	switch {
	case l.CPU > 0 && used > most:
		u.p.stop(codeinterp.CauseCPU, fmt.Sprintf("CPU time: %v used, limit %v", used, most))
	case u.p.cgroup != nil: // in which the kernel enforces the other limits exactly
	case l.Processes > 0 && u.procs > l.Processes:
		u.p.stop(codeinterp.CauseProcesses, fmt.Sprintf("processes and threads: %d, limit %d", u.procs, u.p.plan.limits.Processes))
	case l.Memory > 0 && u.active:
		u.checkMemory(members, l.Memory)
	}
}

// checkMemory adds up resident sizes, which counts shared pages more than once, page
// tables and swap, and measures exactly, which is slow, only where that is too much.
func (u *usage) checkMemory(members []procfs.Stat, limit int64) {
	if u.rss+u.swap+u.tables <= limit {
		u.unsure = false
		return
	}
	// What grows while it is measured is measured again: measuring many page tables
	// takes longer than making them.
	if u.unsure = !u.measuring.CompareAndSwap(false, true); u.unsure {
		return
	}
	tables := u.tables
	// The kernel makes the reader wait for a process that is forking, which can take
	// long on a busy machine; the limits of other trees must not wait for it.
	go func() {
		defer u.measuring.Store(false)
		start := time.Now()
		if total := tables + proportional(members); total > limit {
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
