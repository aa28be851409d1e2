package sandbox

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A process is closed to a host that is not root where it executes a file that it
// may not read: the kernel then shows its descriptors and mappings to nobody else,
// and what it holds by them could not be measured.
const (
	maxClosed   = 250 * time.Millisecond
	closedLooks = 5 // that maxClosed has at least
)

// unreadable says what becomes of a program for that, and what to do about it.
const unreadable = "a process executed a file that it may not read, so that the kernel hides it: make what programs execute readable to them (chmod a+r), or set no limit"

// A closed is how long a tree has had a closed process, at each look.
type closed struct {
	since time.Time
	looks int
}

func (c *closed) see(now bool) {
	switch {
	case !now:
		c.looks = 0
	case c.looks == 0:
		c.since, c.looks = time.Now(), 1
	default:
		c.looks++
	}
}

// tooLong reports whether it is no program that ends at once, such as sudo where
// that finds out that it gains nothing.
func (c *closed) tooLong() bool {
	return c.looks >= closedLooks && time.Since(c.since) > maxClosed
}

// isClosed reports whether the host may not list a process's descriptors.
func isClosed(pid int) bool {
	return unix.Access("/proc/"+strconv.Itoa(pid)+"/fd", unix.R_OK|unix.X_OK) == unix.EACCES
}
