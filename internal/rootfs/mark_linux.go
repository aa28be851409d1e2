package rootfs

import (
	"context"
	"hash/maphash"
	"maps"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// maxHard is how many files a tree has that are looked at each time.
const maxHard = 1 << 12

// A mark is what a tree knows of the time before a run.
type mark struct {
	t     *tree
	root  *node
	seq   int64     // the number of the first event that came later
	at    time.Time // nothing that came before has changed a file's time to it
	taken time.Time
	sums  map[key]uint64 // of files that somebody may have open for writing
	seed  maphash.Seed
}

// snapshot makes s tell what is there from what comes later, or reports that it
// does not.
func (t *tree) snapshot(ctx context.Context, s *Snapshot) bool {
	t.op.Lock()
	defer t.op.Unlock()
	if t.isClosed() {
		return false
	}
	t.drain()
	if s.mark = t.mark(ctx); s.mark != nil {
		t.failed = 0
		return true
	}
	if t.wait > 0 {
		t.wait--
		return false
	}
	// By their paths, since start forgets the directories.
	open := t.openPaths()
	t.start()
	t.begin(ctx, s)
	t.reopen(open)
	if s.whole && !t.isLost() {
		s.mark = t.mark(ctx)
	}
	if s.mark == nil { // s has looked at everything, as it does elsewhere
		t.giveUp()
		t.failed = min(t.failed+1, 6)
		// Each attempt costs a look at everything, and may well fail for the same
		// reason.
		t.wait = 1<<t.failed - 1
	}
	return true
}

// reliable are the file systems of which events tell everything, and whose times are
// this machine's.
var reliable = []int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC}

// start makes ready for a directory that nothing is known of.
func (t *tree) start() {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	t.stopWatching()
	t.lost = t.w.closed
	t.touched, t.muted, t.seen, t.marked, t.last = map[key]touch{}, map[key]bool{}, 0, t.base, time.Now()
	t.applied, t.settled = t.base, t.base
	t.root, t.hard, t.open = nil, map[key]uint64{}, map[key]bool{}
}

// begin looks at everything, for s, and watches it from then on where that is
// possible.
func (t *tree) begin(ctx context.Context, s *Snapshot) {
	var fsys unix.Statfs_t
	ok := true
	check := func(good bool) {
		if ok && !good {
			ok = false
			t.giveUp()
		}
	}
	n := 0
	t.fs.fill(ctx, s, func(l *level) {
		if l.up == nil {
			check(unix.Fstatfs(int(l.file.Fd()), &fsys) == nil && slices.Contains(reliable, int64(fsys.Type)))
		}
		if ok {
			check(t.enter(l) == nil)
		}
		if n++; n%256 == 0 { // each was opened, which is an event
			t.drain()
		}
	}, func(e *entry) {
		// A file system that counts whole seconds has two changes at the same time.
		check(e.err == nil && e.st.Ctim.Nsec != 0)
		if ok && e.st.Nlink > 1 {
			t.hard[key{e.dir.node, e.name}] = e.st.Ino
			check(len(t.hard) <= maxHard)
		}
	})
}

// openPaths are those of the files that somebody may have open for writing.
func (t *tree) openPaths() []string {
	var paths []string
	for k := range t.open {
		if dir, ok := k.n.path(); ok {
			paths = append(paths, join(dir, k.name))
		}
	}
	return paths
}

// reopen finds files again by their paths.
func (t *tree) reopen(paths []string) {
	for _, path := range paths {
		n, name := t.root.find(path)
		if n != nil {
			t.open[key{n, name}] = true
		}
	}
}

func (t *tree) isClosed() bool {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	return t.w.closed
}

func (t *tree) isLost() bool {
	_, ok := t.since(t.applied)
	return !ok
}

// mark returns a mark of now, nil where not everything is known.
func (t *tree) mark(ctx context.Context) *mark {
	if t.isLost() || !t.apply(ctx) {
		return nil
	}
	m := &mark{t: t, root: t.root, sums: map[key]uint64{}, seed: maphash.MakeSeed()}
	if !t.settle(ctx, m) || ctx.Err() != nil {
		return nil
	}
	if !t.number(m) {
		return nil
	}
	return m
}

// settle finds out of which files something may be written though they are not
// opened again.
func (t *tree) settle(ctx context.Context, m *mark) bool {
	todo, ok := t.since(t.settled)
	if !ok {
		return false
	}
	t.settled += int64(len(todo))
	keys := maps.Clone(t.open)
	for _, e := range todo {
		if e.mask&(unix.IN_ISDIR|unix.IN_DELETE|unix.IN_MOVED_FROM) == 0 {
			keys[key{e.n, e.name}] = true
		}
	}
	// Those that somebody still has open are found again below.
	clear(t.open)
	links, budget, others := false, int64(maxSum), map[key]bool{}
	see := func(p *peeked) {
		links = links || p.st.Nlink > 1 && t.hard[p.key] != p.st.Ino
		if !p.mayBeWritten() {
			return
		}
		t.open[p.key] = true
		if sum, ok := p.sum(m.seed, &budget); ok {
			m.sums[p.key] = sum
		}
		if p.st.Nlink > 1 {
			t.namesOf(p.st.Ino, others)
		}
	}
	t.peek(ctx, keys, see)
	if links {
		if !t.relink(ctx) {
			return false
		}
		for k := range t.open {
			t.namesOf(t.hard[k], others)
		}
	}
	maps.DeleteFunc(others, func(k key, _ bool) bool { return t.open[k] })
	t.peek(ctx, others, see)
	return len(t.open) <= maxHard
}

// namesOf adds the names of a file that has several.
func (t *tree) namesOf(ino uint64, names map[key]bool) {
	for k, i := range t.hard {
		if i == ino && i != 0 {
			names[k] = true
		}
	}
}

// relink looks for the files that have more names than one.
func (t *tree) relink(ctx context.Context) bool {
	clear(t.hard)
	s := newScan(ctx)
	s.enter = func(l *level) { t.known(l, t.root, t.applied) }
	s.seen = func(e *entry) {
		if e.err == nil && e.st.Nlink > 1 && e.dir.node != nil {
			t.hard[key{e.dir.node, e.name}] = e.st.Ino
		}
	}
	return t.fs.run(s) && len(t.hard) <= maxHard
}

// number gives a mark its place among the events.
func (t *tree) number(m *mark) bool {
	t.w.mu.Lock()
	m.seq, m.at, m.taken = t.next(), t.last, time.Now()
	lost := t.lost
	if !lost {
		t.marked, t.seen = m.seq, 0
		clear(t.touched)
		t.forget()
	}
	t.w.mu.Unlock()
	if len(t.open)+len(t.hard) > 0 { // which change without an event
		m.at = m.taken
	}
	if coarse := until(m.at); coarse.Before(m.at) {
		m.at = coarse
	}
	return !lost
}

// forget drops events that only runs could ask for that began long ago. It is for
// who holds Watches.mu.
func (t *tree) forget() {
	if len(t.log) <= keptLog {
		return
	}
	n := min(int64(len(t.log)-keptLog/2), t.applied-t.base, t.settled-t.base)
	t.log, t.base = slices.Clone(t.log[n:]), t.base+n
}

// until waits for the clock that files get their times from to show a time, a few
// milliseconds at most. It returns what it shows.
func until(at time.Time) time.Time {
	for n := 0; ; n++ {
		var ts unix.Timespec
		_ = unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &ts)
		now := time.Unix(ts.Unix())
		if !now.Before(at) || n == 64 {
			return now
		}
		time.Sleep(time.Millisecond / 2)
	}
}

// clockSetBack reports whether the clock was set back since.
func (m *mark) clockSetBack() bool {
	now := time.Now()
	return now.Round(0).Sub(m.taken.Round(0)) < now.Sub(m.taken)-time.Millisecond
}

// before reports whether a state is older than the mark.
func (m *mark) before(st *unix.Stat_t) bool { return time.Unix(st.Ctim.Unix()).Before(m.at) }
