package sandbox

import (
	"time"

	"golang.org/x/sys/unix"
)

// maxUnclocked is how much time may be seen that a tree's clock does not have.
const maxUnclocked = 250 * time.Millisecond

// An unclocked is how much processor time the processes of a tree are seen to take
// that its clock does not count. The kernel takes a process off it, with what comes
// of the process later, that executes a file which it may not read, and says so
// nowhere. As with growth, it is what has come on top of the least that it was.
type unclocked struct {
	looked uint64        // ticks after boot, when the clock was last read
	seen   time.Duration // what processes took between two looks, in all
	least  time.Duration
	by     time.Duration
}

// see takes in what the clock says before and after the processes were asked.
// What they took between two looks is within what the clock says after the second
// and said before the first one.
func (c *unclocked) see(before, after time.Duration) {
	if c.looked == 0 {
		c.least = c.seen - before
	}
	c.by = c.seen - after - c.least
	c.least = min(c.least, c.seen-before)
}

// seeUnclocked has a tree's processes say what they took since the last look, with
// one sixteenth off, as the two are measured at different moments of each switch
// between processes.
func (u *usage) seeUnclocked(members []*member) {
	if !u.due {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.clock.file == 0 {
		return
	}
	c, before, now := &u.unclocked, u.clock.time(), sinceBoot()
	for _, m := range members {
		took, ok := processTime(m.PID)
		if !ok {
			continue
		}
		if m.took < 0 && c.looked > 0 && m.Start > c.looked {
			m.took = 0 // it began since then
		}
		if m.took >= 0 {
			c.seen += max(0, took-m.took) / 16 * 15
		}
		m.took = took
	}
	c.see(before, u.clock.time())
	c.looked = now
}

// processTime returns the processor time of a process, with all of its threads. In
// /proc it is given in ticks of 10 ms, and short ones have none.
func processTime(pid int) (time.Duration, bool) {
	const sched = 2 // CPUCLOCK_SCHED; see clock_getcpuclockid(3)
	var ts unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|sched), &ts)
	return time.Duration(ts.Nano()), err == nil
}

// sinceBoot is the present time as Stat.Start has it.
func sinceBoot() uint64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts)
	return uint64(ts.Nano()) / uint64(time.Second/100)
}
