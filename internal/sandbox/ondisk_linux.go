package sandbox

import "os"

// An onDisk is what the directories of all trees are known to have come to hold,
// by file system. It goes on counting what a tree leaves until that is removed, and
// takes off what is removed with it: only so is what a file system has lost between
// two moments, and no directory has gained, hidden somewhere. watcher.mu guards it.
type onDisk struct {
	gained map[uint64]int64
	dirs   map[string]holding
}

// A holding is what the last walk found in a directory.
type holding struct {
	dev   uint64
	bytes int64
	kept  bool // TempDir made it, so that it goes as a whole
}

// walked takes in what a walk found in a tree's directory, and without a name in its
// processes, and returns by how much the directories on its file system have grown
// since the watcher began. base is what was there before the tree.
func (w *watcher) walked(u *usage, dev uint64, base, now, nameless int64) int64 {
	dir := u.p.plan.Workdir
	kept := u.p.s.temp.holds(dir)
	w.mu.Lock()
	defer w.mu.Unlock()
	d := &w.onDisk
	if d.dirs == nil {
		d.gained, d.dirs = map[uint64]int64{}, map[string]holding{}
	}
	if w.trees[u.p] == nil && w.resting[u.p] == nil {
		return d.gained[dev] // it has ended meanwhile
	}
	w.tidy()
	h, known := d.dirs[dir]
	if !known || h.dev != dev {
		h = holding{dev, base, kept}
	}
	d.gained[dev] += now - h.bytes + nameless - u.nameless
	h.bytes, u.nameless, u.dev = now, nameless, dev
	d.dirs[dir] = h
	return d.gained[dev]
}

// left forgets the nameless files of a tree that has ended; w.mu is held.
func (w *watcher) left(u *usage) {
	if u.nameless != 0 {
		w.onDisk.gained[u.dev] -= u.nameless
		u.nameless = 0
	}
}

// tidy forgets the directories of trees that have ended, once they are gone, or at
// once where they are the caller's and stay; w.mu is held.
func (w *watcher) tidy() {
	live := make(map[string]bool, len(w.trees)+len(w.resting))
	for p := range w.trees {
		live[p.plan.Workdir] = true
	}
	for p := range w.resting {
		live[p.plan.Workdir] = true
	}
	for dir, h := range w.onDisk.dirs {
		if live[dir] {
			continue
		}
		if !h.kept {
			delete(w.onDisk.dirs, dir)
		} else if _, err := os.Lstat(dir); os.IsNotExist(err) {
			w.onDisk.gained[h.dev] -= h.bytes
			delete(w.onDisk.dirs, dir)
		}
	}
}
