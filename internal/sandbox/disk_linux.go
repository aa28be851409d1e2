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
	changed bool      // the tree was active since the last walk
	next    time.Time // of the next walk
	failed  int       // walks in a row
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
	d.mu.Unlock()
	l, enough := pl.limits, diskuse.Use{Bytes: -1, Inodes: -1} // no limits
	if l.Disk > 0 {
		enough.Bytes = l.Disk
	}
	if l.Inodes > 0 {
		enough.Inodes = l.Inodes
	}
	start := time.Now()
	now, err := diskuse.Measure(pl.Workdir, enough)
	now.Inodes += u.p.tmpInodes()
	d.mu.Lock()
	d.next = time.Now().Add(max(walkWait, min(walkRatio*time.Since(start), walkRest)))
	if d.failed++; err == nil {
		d.failed = 0
	}
	failed := d.failed
	d.mu.Unlock()
	switch {
	case l.Disk > 0 && now.Bytes > l.Disk:
		u.p.stop(codeinterp.CauseDisk, fmt.Sprintf("disk: more than %d MiB in use, limit %d MiB", now.Bytes>>20, l.Disk>>20))
	case l.Inodes > 0 && now.Inodes > l.Inodes:
		u.p.stop(codeinterp.CauseDisk, fmt.Sprintf("disk: more than %d files, limit %d", now.Inodes, l.Inodes))
	case failed > maxFailed:
		u.p.stop(codeinterp.CauseDisk, "disk: "+err.Error())
	}
}

// tmpInodes counts the files in bubblewrap's private /tmp and /dev/shm: each takes 1 KiB of the
// kernel's memory that no other limit sees, and a tmpfs has room for half as many as the
// machine has pages. Their bytes are limited by the size.
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
