package sandbox

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
)

const (
	walkWait  = 100 * time.Millisecond // between two walks through a directory
	walkRatio = 10                     // and at least so many times what one took,
	walkRest  = 3 * time.Second        // up to this
	maxWalks  = 2                      // at a time
	maxHidden = 3                      // walks in a row may fail to measure
)

// A diskUse is what is known about a tree's working directory.
type diskUse struct {
	walking atomic.Bool

	mu      sync.Mutex
	changed bool      // the tree did something since the last walk
	next    time.Time // not to be walked before,
	early   time.Time // or from then on, where the file system has lost much
	full    int64     // what of it was in use
	left    int64     // of the limit
	base    *walked   // what was there at the start, once it was walked
	unknown int64     // what no directory has of the file system, and others have
	hidden  int       // walks in a row that could not measure
}

// walkDue reports whether the directory should be walked again, and from when on.
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
	if d.changed && now.Before(d.next) && now.After(d.early) && l.Disk > 0 {
		if full, _ := fsUsed(u.p.plan.Workdir); full-d.full > d.left {
			return d.early, true
		}
	}
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
		pids := shownAt(sums[due].members)
		w.walking.Add(1)
		due.disk.walking.Store(true)
		go func() {
			defer w.walking.Add(-1)
			defer due.disk.walking.Store(false)
			due.walk(pids)
		}()
	}
}

// walk measures the directory and what the processes hold open without a name,
// and stops the tree if it is too much.
func (u *usage) walk(pids []int) {
	d, pl := &u.disk, u.p.plan
	d.mu.Lock()
	// First: what changes during the walk is for the next one.
	d.changed = false
	base, unknown := d.base, d.unknown
	d.mu.Unlock()
	full, dev := fsUsed(pl.Workdir)
	start, first := time.Now(), base == nil
	var now walked
	var err error
	// A directory of the caller's may hold files that are not the program's.
	if first && !u.p.s.temp.holds(pl.Workdir) {
		now, _ = measure(pl.Workdir, walked{-1, -1})
	}
	if first {
		base = &walked{now.bytes, now.inodes}
	}
	if now == (walked{}) {
		now, err = measure(pl.Workdir, pl.limits.beyond(*base))
	}
	named, nameless := now.bytes, int64(0)
	// An open file that was removed still takes its place on the disk.
	files := namelessOf(pids, filesBudget)
	executed(pids, u.added, files)
	for f := range files {
		now.bytes += f.bytes
		if f.dev == dev {
			nameless += f.bytes
		}
	}
	now.inodes += u.p.tmpInodes()
	unseen, unknown := u.unseen(full-u.p.s.watch.walked(u, dev, base.bytes, named, nameless), full, unknown, first)
	if pl.limits.Disk > 0 && unseen > pl.limits.Disk && now.bytes-base.bytes <= pl.limits.Disk {
		if u.account(pids, dev, *base, unseen) {
			return
		}
		unknown += unseen
	}
	d.mu.Lock()
	d.base, d.unknown = base, unknown
	// A tenth of the time at most goes into walking, whatever the size of the tree, and
	// half of it where there is reason to.
	took := time.Since(start)
	d.next, d.early = time.Now().Add(max(walkWait, min(walkRatio*took, walkRest))), time.Now().Add(max(walkWait, took))
	d.full, d.left = full, pl.limits.Disk-(now.bytes-base.bytes)
	if d.hidden++; err != errHidden {
		d.hidden = 0
	}
	hidden := d.hidden
	d.mu.Unlock()
	bytes, inodes := now.bytes-base.bytes, now.inodes-base.inodes
	switch l := pl.limits; {
	case l.Disk > 0 && bytes > l.Disk:
		u.tooMuch(bytes)
	case l.Inodes > 0 && inodes > l.Inodes:
		u.p.stop(codeinterp.CauseDisk, fmt.Sprintf("disk: more than %d files, limit %d", inodes, l.Inodes))
	case hidden > maxHidden:
		u.p.stop(codeinterp.CauseDisk, "disk: "+errHidden.Error())
	}
}

// unseen returns what the file system has lost and nobody's directory shows, which may
// be others', and what of it is. The least that it was is: what they give back is no
// room for what this one hides.
func (u *usage) unseen(by, full, unknown int64, first bool) (unseen, others int64) {
	// What was written during the walk may have been found by it.
	after, _ := fsUsed(u.p.plan.Workdir)
	if most := by + max(0, after-full); first || most < unknown {
		unknown = most
	}
	return by - unknown, unknown
}

// beyond returns what is certainly too much, above base; -1 where there is no
// limit.
func (l Limits) beyond(base walked) walked {
	w := walked{-1, -1}
	if l.Disk > 0 {
		w.bytes = base.bytes + l.Disk
	}
	if l.Inodes > 0 {
		w.inodes = base.inodes + l.Inodes
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
