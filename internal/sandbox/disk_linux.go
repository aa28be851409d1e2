package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
)

const (
	walkWait  = 100 * time.Millisecond // between two walks through a directory
	walkRatio = 10                     // and at least so many times what one took
)

// A diskUse is what is known about a tree's working directory.
type diskUse struct {
	mu      sync.Mutex
	changed bool      // the tree did something since the last walk
	next    time.Time // not to be walked before
	base    *walked   // what was there at the start, once it was walked
}

// A walked is what a walk found.
type walked struct {
	bytes  int64
	inodes int
}

var errEnough = errors.New("enough")

// walkDue reports whether the directory should be walked again, and from when on.
func (u *usage) walkDue(now time.Time) (time.Time, bool) {
	l := u.p.plan.limits
	if l.Disk <= 0 && l.Inodes <= 0 {
		return now, false
	}
	d := &u.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed = d.changed || u.active
	return d.next, d.changed && !now.Before(d.next)
}

// walkNext starts a walk for the tree that waits longest, unless one is going
// on; there is never more than one.
func (w *watcher) walkNext(sums map[*usage]*sum) {
	now := time.Now()
	var due *usage
	var since time.Time
	for u := range sums {
		if next, ok := u.walkDue(now); ok && (due == nil || next.Before(since)) {
			due, since = u, next
		}
	}
	if due == nil || !w.walking.TryLock() {
		return
	}
	var pids []int
	for _, m := range sums[due].members {
		pids = append(pids, m.pid)
	}
	go func() {
		defer w.walking.Unlock()
		due.walk(pids)
	}()
}

// walk measures the directory and what the processes hold open without a name,
// and stops the tree if it is too much.
func (u *usage) walk(pids []int) {
	d, pl := &u.disk, u.p.plan
	d.mu.Lock()
	d.changed = false
	base := d.base
	d.mu.Unlock()
	start := time.Now()
	var now walked
	if base == nil {
		base = &walked{}
		if !u.p.s.temp.holds(pl.Workdir) {
			*base = measure(pl.Workdir, walked{-1, -1})
			now = *base
		}
	}
	if now == (walked{}) {
		now = measure(pl.Workdir, pl.limits.beyond(*base))
	}
	for f := range namelessOf(pids) {
		now.bytes += f.bytes
	}
	now.inodes += u.p.tmpInodes()
	d.mu.Lock()
	d.base = base
	d.next = time.Now().Add(max(walkWait, walkRatio*time.Since(start)))
	d.mu.Unlock()
	bytes, inodes := now.bytes-base.bytes, now.inodes-base.inodes
	switch l := pl.limits; {
	case l.Disk > 0 && bytes > l.Disk:
		u.p.stop(codeinterp.CauseDisk, fmt.Sprintf("disk: more than %d MiB in use, limit %d MiB", bytes>>20, l.Disk>>20))
	case l.Inodes > 0 && inodes > l.Inodes:
		u.p.stop(codeinterp.CauseDisk, fmt.Sprintf("disk: more than %d files, limit %d", inodes, l.Inodes))
	}
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

// measure adds up the files in dir, as far as it can read them, and stops when
// it has found more than enough. It counts a file with several names once, and
// follows no symbolic links.
func measure(dir string, enough walked) walked {
	var w walked
	root, err := os.OpenRoot(dir)
	if err != nil {
		return w
	}
	defer root.Close()
	linked := map[uint64]bool{}
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return nil
		}
		w.inodes++
		if info, err := d.Info(); err == nil {
			if st, ok := sysStat(info); ok && (d.IsDir() || st.Nlink < 2 || !linked[st.Ino]) {
				linked[st.Ino] = linked[st.Ino] || st.Nlink > 1
				w.bytes += st.Blocks * 512
			}
		}
		if enough.bytes >= 0 && w.bytes > enough.bytes || enough.inodes >= 0 && w.inodes > enough.inodes {
			return errEnough
		}
		return nil
	})
	return w
}

// namelessOf collects the nameless files that any of the processes holds open.
func namelessOf(pids []int) map[nameless]bool {
	seen := map[nameless]bool{}
	for _, pid := range pids {
		for _, f := range namelessFiles(pid) {
			seen[f] = true
		}
	}
	return seen
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
