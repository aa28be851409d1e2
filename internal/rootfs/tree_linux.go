package rootfs

import (
	"context"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxEvents = 1 << 18 // of one tree between two snapshots, alike or not
	maxLog    = 1 << 15 // that are kept of them
	keptLog   = 1 << 12 // that are kept for runs beside the one that begins

	// found is the mask of a file that was in a new directory when that was first
	// looked at.
	found = 1 << 20
)

// A treeID tells directories apart, and who looks into them.
type treeID struct {
	dev, ino uint64
	uid      int
}

// A tree is a directory that is watched, with all beneath it.
type tree struct {
	w    *Watches
	id   treeID
	fs   *FS
	refs int // under Watches.mu

	// What events say is guarded by Watches.mu.
	lost    bool // not watched, or not everything is known
	dirs    int
	log     []event
	base    int64 // the number of log's first one
	seen    int   // events since the last snapshot
	touched map[key]touch
	marked  int64 // the number that the last snapshot has
	muted   map[key]bool
	last    time.Time // when something else than an open was last noted

	// One look or snapshot at a time.
	op      sync.Mutex
	root    *node
	applied int64          // the number of the first event that nodes do not show
	settled int64          // the number of the first event whose file was not peeked at
	hard    map[key]uint64 // the inodes of files that have more names than one
	open    map[key]bool   // files that somebody may have open for writing
	wait    int            // snapshots that do without, since watching failed
	failed  int            // how often it failed in a row
}

// A key is a name in a directory.
type key struct {
	n    *node
	name string
}

// An event is what the kernel tells of a name in a directory.
type event struct {
	n      *node
	mask   uint32
	cookie uint32
	name   string
}

// A touch is when a file was last noted that has kept its name, and for what.
type touch struct {
	at   int64
	mask uint32
}

// tree returns the tree of f's directory, which is f's to release.
func (w *Watches) tree(f *FS) *tree {
	id := treeID{uid: os.Geteuid()}
	if f.opts.As != nil {
		id.uid = f.opts.As.UID
	}
	// One of its own, since the tree may outlive f.
	root, err := f.root.OpenRoot(".")
	if err != nil {
		return nil
	}
	var st unix.Stat_t
	if dir, e := root.Open("."); e == nil {
		err = unix.Fstat(int(dir.Fd()), &st)
		dir.Close()
	} else {
		err = e
	}
	if err != nil {
		root.Close()
		return nil
	}
	id.dev, id.ino = uint64(st.Dev), st.Ino
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.trees[id]
	if t != nil || w.closed {
		root.Close()
	}
	if w.closed {
		return nil
	}
	if t == nil {
		t = &tree{w: w, id: id, lost: true, fs: New(root, &Options{As: f.opts.As})}
		w.trees[id] = t
		if f.opts.Stay {
			t.refs++
		}
	}
	t.refs++
	return t
}

// release lets the tree go.
func (t *tree) release() {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	if t.refs--; t.refs == 0 && t.w.trees[t.id] == t {
		t.stopWatching()
		delete(t.w.trees, t.id)
		t.fs.root.Close()
	}
}

// stopWatching gives up watching. It is for who holds Watches.mu.
func (t *tree) stopWatching() {
	if t.lost {
		return
	}
	t.lost = true
	for n := range t.w.wds {
		if n.tree == t {
			t.w.remove(n)
		}
	}
	// Numbers go on, so that marks from before are seen to be too old.
	t.base += int64(len(t.log))
	t.log, t.touched, t.muted = nil, nil, nil
}

func (t *tree) next() int64 { return t.base + int64(len(t.log)) }

const (
	renames = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO
	writes  = unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CLOSE_WRITE
)

// note takes an event in. It is for who holds Watches.mu.
func (t *tree) note(e event, now time.Time) {
	if t.lost {
		return
	}
	if t.seen++; t.seen > maxEvents || len(t.log) >= maxLog || e.mask&unix.IN_UNMOUNT != 0 {
		t.stopWatching()
		return
	}
	// The kernel has ended the watch, since the directory is gone.
	if e.mask&unix.IN_IGNORED != 0 {
		if e.n.top {
			t.stopWatching()
			return
		}
		if wd, ok := t.w.wds[e.n]; ok {
			delete(t.w.wds, e.n)
			delete(t.w.owner, wd)
			t.dirs--
		}
		return
	}
	if e.mask&(renames|writes) != 0 {
		t.last = now
	}
	if e.mask&(renames|found) == 0 && !t.touches(&e) {
		return
	}
	t.log = append(t.log, e)
}

// touches reports whether an event tells something new of a file that keeps its
// name.
func (t *tree) touches(e *event) bool {
	k := key{e.n, e.name}
	if e.mask&unix.IN_ISDIR != 0 || e.name == "" || e.mask&writes == 0 && t.muted[k] {
		return false
	}
	mask := uint32(unix.IN_OPEN)
	if e.mask&writes != 0 {
		mask = unix.IN_MODIFY
	}
	old := t.touched[k]
	// What was noted since the last snapshot will be looked at all the same.
	if old.at >= t.marked {
		if mask|old.mask == old.mask {
			return false
		}
		mask |= old.mask
	}
	t.touched[k] = touch{t.next(), mask}
	e.mask = mask
	return true
}

// since returns the events from a number on, false where they are not known.
func (t *tree) since(seq int64) ([]event, bool) {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	if t.lost || seq < t.base {
		return nil, false
	}
	return t.log[seq-t.base:], true
}

// drain takes in the events of all that has happened so far.
func (t *tree) drain() {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	t.w.drain()
}

// giveUp is stopWatching.
func (t *tree) giveUp() {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	t.stopWatching()
}

// apply brings the nodes up to what events say. Directories that are new are
// looked through, and the files in them noted. It reports whether all is known.
func (t *tree) apply(ctx context.Context) bool {
	todo, ok := t.since(t.applied)
	if !ok {
		return false
	}
	t.applied += int64(len(todo))
	moving, fresh, moved := map[uint32]*node{}, map[key]bool{}, false
	for i := range todo {
		if e := &todo[i]; e.mask&unix.IN_ISDIR != 0 && !e.n.gone {
			ok = ok && e.apply(t.applied, moving, fresh)
			moved = moved || e.mask&unix.IN_MOVED_TO != 0
		}
	}
	for _, n := range moving { // out of the tree
		n.each(func(n *node) {
			t.w.mu.Lock()
			t.w.remove(n)
			t.w.mu.Unlock()
		})
		n.drop()
	}
	// Paths, and the ways to them, are as long as the tree is deep.
	ok = ok && (!moved || t.root.within(maxDepth))
	// Only now do the paths of nodes lead to them.
	for _, k := range sorted(fresh) {
		ok = ok && ctx.Err() == nil && (k.n.gone || k.n.kids[k.name] != nil || t.adopt(ctx, k.n, k.name))
	}
	if !ok {
		t.giveUp()
	}
	return ok && !t.isLost()
}

// apply applies what happened to one directory, and reports whether it could.
func (e *event) apply(now int64, moving map[uint32]*node, fresh map[key]bool) bool {
	kid := e.n.kids[e.name]
	switch {
	case e.mask&unix.IN_MOVED_TO != 0 && moving[e.cookie] != nil:
		n := moving[e.cookie]
		delete(moving, e.cookie)
		if kid != nil {
			return false
		}
		n.put(e.n, e.name)
		n.moved = now
	case e.mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0:
		fresh[key{e.n, e.name}] = true
	case kid == nil:
	case e.mask&unix.IN_MOVED_FROM != 0:
		delete(e.n.kids, e.name)
		moving[e.cookie] = kid
	case e.mask&unix.IN_DELETE != 0:
		kid.drop()
	}
	return true
}

// openDir opens a directory as the user of the files, who is the caller. It fails
// where another one has its name.
func (t *tree) openDir(n *node) (*os.File, error) {
	name, ok := n.path()
	if !ok {
		return nil, unix.ENOENT
	}
	dir, err := t.fs.root.OpenFile(name, unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &st); err != nil || st.Ino != n.ino || uint64(st.Dev) != t.id.dev {
		dir.Close()
		return nil, errUnwatched
	}
	return dir, nil
}

// adopt watches a new directory, and what is in it.
func (t *tree) adopt(ctx context.Context, up *node, name string) bool {
	ok := true
	s := newScan(ctx)
	s.enter = func(l *level) { ok = ok && t.enter(l) == nil }
	s.seen = func(e *entry) {
		if ok = ok && e.err == nil; ok {
			t.w.mu.Lock()
			defer t.w.mu.Unlock()
			t.note(event{e.dir.node, found, 0, e.name}, time.Now())
		}
	}
	err := t.fs.opts.As.do(func() {
		dir, err := t.openDir(up)
		if err != nil {
			ok = false
			return
		}
		path, _ := up.path()
		l := &level{file: dir, path: path, node: up}
		defer dir.Close()
		s.descend(l, &entry{dir: l, name: name}, up.level())
	})
	return err == nil && ok && !s.cut
}

// enter watches a directory that a scan has come to.
func (t *tree) enter(l *level) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(l.file.Fd()), &st); err != nil {
		return err
	}
	if uint64(st.Dev) != t.id.dev {
		return errUnwatched
	}
	n := &node{tree: t, top: l.up == nil, ino: st.Ino, born: t.applied}
	if err := t.w.add(n, l.file); err != nil {
		return err
	}
	if l.node = n; l.up == nil {
		t.root = n
	} else {
		n.put(l.up.node, l.name)
	}
	return nil
}
