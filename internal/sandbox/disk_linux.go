package sandbox

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox/diskuse"
)

const (
	walkWait  = 100 * time.Millisecond // between two walks through a directory,
	walkRatio = 10                     // at least so many times what one took,
	walkRest  = 3 * time.Second        // at most this
	maxWalks  = 2                      // at a time
	maxFailed = 3                      // walks in a row that may fail to measure
)

// A diskUsage is what is known about a tree's working directory.
type diskUsage struct {
	walking atomic.Bool

	mu      sync.Mutex
	changed bool         // the tree was active since the last walk
	next    time.Time    // of the next walk
	base    *diskuse.Use // at the start, once it is known
	failed  int          // walks in a row
}

// walkIfDue measures the directory in the background, unless enough is being measured.
func (u *usage) walkIfDue(walks *atomic.Int32) {
	l, d := u.p.plan.limits, &u.disk
	if l.Disk <= 0 && l.Inodes <= 0 || d.walking.Load() {
		return
	}
	d.mu.Lock()
	d.changed = d.changed || u.active
	due := d.changed && !time.Now().Before(d.next)
	d.mu.Unlock()
	if !due || walks.Load() >= maxWalks {
		return
	}
	walks.Add(1)
	d.walking.Store(true)
	go func() {
		defer walks.Add(-1)
		defer d.walking.Store(false)
		u.walk()
	}()
}

// walk measures the directory and stops the tree if it holds too much.
func (u *usage) walk() {
	d, pl := &u.disk, u.p.plan
	d.mu.Lock()
	d.changed = false // before the walk: later changes are for the next one
	base := d.base
	d.mu.Unlock()
	start := time.Now()
	var now diskuse.Use
	var err error
	if base == nil {
		// A directory of the caller's may hold files that are not the program's.
		if !u.p.s.temp.holds(pl.Workdir) {
			now, _ = diskuse.Measure(pl.Workdir, diskuse.Use{Bytes: -1, Inodes: -1})
		}
		base = &diskuse.Use{Bytes: now.Bytes, Inodes: now.Inodes}
	}
	if now == (diskuse.Use{}) {
		now, err = diskuse.Measure(pl.Workdir, pl.limits.above(*base))
	}
	now.Inodes += u.p.tmpInodes()
	d.mu.Lock()
	d.base = base
	d.next = time.Now().Add(max(walkWait, min(walkRatio*time.Since(start), walkRest)))
	if d.failed++; err == nil {
		d.failed = 0
	}
	failed := d.failed
	d.mu.Unlock()
	bytes, inodes := now.Bytes-base.Bytes, now.Inodes-base.Inodes
	switch l := pl.limits; {
	case l.Disk > 0 && bytes > l.Disk:
		u.p.stop(codeinterp.CauseDisk, fmt.Sprintf("disk: more than %d MiB in use, limit %d MiB", bytes>>20, l.Disk>>20))
	case l.Inodes > 0 && inodes > l.Inodes:
		u.p.stop(codeinterp.CauseDisk, fmt.Sprintf("disk: more than %d files, limit %d", inodes, l.Inodes))
	case failed > maxFailed:
		u.p.stop(codeinterp.CauseDisk, "disk: "+err.Error())
	}
}

// above returns the most that a directory may hold which held base; -1 is no limit.
func (l Limits) above(base diskuse.Use) diskuse.Use {
	w := diskuse.Use{Bytes: -1, Inodes: -1}
	if l.Disk > 0 {
		w.Bytes = base.Bytes + l.Disk
	}
	if l.Inodes > 0 {
		w.Inodes = base.Inodes + l.Inodes
	}
	return w
}

// tmpInodes counts the files in bubblewrap's private /tmp and /dev/shm, whose bytes are
// limited by their size.
func (p *proc) tmpInodes() int {
	p.mu.Lock()
	ns := p.ns
	p.mu.Unlock()
	if ns == nil {
		return 0
	}
	n := 0
	for _, dir := range []string{"/tmp", "/dev/shm"} {
		var st unix.Statfs_t
		path := "/proc/" + strconv.Itoa(ns.init) + "/root" + dir
		if unix.Statfs(path, &st) == nil && st.Type == unix.TMPFS_MAGIC && st.Files > st.Ffree {
			n += int(st.Files - st.Ffree)
		}
	}
	return n
}
