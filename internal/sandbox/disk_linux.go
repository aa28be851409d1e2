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
	walkWait  = 100 * time.Millisecond // between two walks through a directory
	walkRatio = 10                     // and at least so many times what one took,
	walkRest  = 3 * time.Second        // up to this
	maxWalks  = 2                      // at a time
	maxFailed = 3                      // walks in a row that may fail to measure
)

// A diskUse is what is known about a tree's working directory.
type diskUse struct {
	walking atomic.Bool

	mu      sync.Mutex
	changed bool         // the tree did something since the last walk
	next    time.Time    // not to be diskuse.Use before
	base    *diskuse.Use // what was there at the start, once it was diskuse.Use
	failed  int          // walks in a row that could not measure
}

// walkDue reports whether the directory should be diskuse.Use again, and from when on.
func (u *usage) walkDue(now time.Time) (time.Time, bool) {
	l := u.p.plan.limits
	if l.Disk <= 0 && l.Inodes <= 0 {
		return now, false
	}
	d := &u.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.walking.Load() {
		return now, false
	}
	d.changed = d.changed || u.active
	return d.next, d.changed && !now.Before(d.next)
}

// walkNext starts walks for the trees that wait longest, as long as there are
// not maxWalks of them.
func (w *watcher) walkNext(sums map[*usage]*sum) {
	now := time.Now()
	for w.walking.Load() < maxWalks {
		var due *usage
		var since time.Time
		for u := range sums {
			if next, ok := u.walkDue(now); ok && (due == nil || next.Before(since)) {
				due, since = u, next
			}
		}
		if due == nil {
			return
		}
		w.walking.Add(1)
		due.disk.walking.Store(true)
		go func() {
			defer w.walking.Add(-1)
			defer due.disk.walking.Store(false)
			due.walk()
		}()
	}
}

// walk measures the directory and stops the tree if it holds too much.
func (u *usage) walk() {
	d, pl := &u.disk, u.p.plan
	d.mu.Lock()
	// First: what changes during the walk is for the next one.
	d.changed = false
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
		now, err = diskuse.Measure(pl.Workdir, pl.limits.beyond(*base))
	}
	now.Inodes += u.p.tmpInodes()
	d.mu.Lock()
	d.base = base
	// A tenth of the time at most goes into walking, whatever the size of the tree.
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

// beyond returns what is certainly too much, above base; -1 where there is no
// limit.
func (l Limits) beyond(base diskuse.Use) diskuse.Use {
	w := diskuse.Use{Bytes: -1, Inodes: -1}
	if l.Disk > 0 {
		w.Bytes = base.Bytes + l.Disk
	}
	if l.Inodes > 0 {
		w.Inodes = base.Inodes + l.Inodes
	}
	return w
}

// tmpInodes counts the files in bubblewrap's private /tmp and /dev/shm, whose
// bytes are limited by their size.
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
