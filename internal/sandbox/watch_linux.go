package sandbox

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/internal/procfs"
)

const (
	// Between two looks while a tree is active: watchBusy, or watchRest times what a look
	// took, at most watchMax.
	watchBusy = 20 * time.Millisecond
	watchRest = 4
	watchMax  = 60 * time.Millisecond

	// Between two looks if no tree has changed for stillLooks of them: watchIdle, or
	// idleRest times what a look takes, at most idleMax.
	stillLooks = 5
	watchIdle  = 100 * time.Millisecond
	idleRest   = 40
	idleMax    = 250 * time.Millisecond

	// How long a process is known to belong to no tree.
	forgetAll = 500 * time.Millisecond
)

// A watcher measures the trees of a Sandbox and stops those that use more than their
// limits.
type watcher struct {
	live *liveProcs

	mu      sync.Mutex
	running bool
	fresh   bool // a tree was added or woken

	// The rest belongs to the goroutine.
	strangers map[int]struct{}
	forgotten time.Time
	walks     atomic.Int32 // under way
}

// wake starts the goroutine unless it runs: there is a tree to measure.
func (w *watcher) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fresh = true
	if !w.running {
		w.running = true
		go w.run()
	}
}

// run looks until there is no tree to measure.
func (w *watcher) run() {
	w.strangers = map[int]struct{}{}
	for wait := watchBusy; ; {
		time.Sleep(wait)
		list := w.next()
		if len(list) == 0 {
			return
		}
		start := time.Now()
		busy := w.scan(list)
		took := time.Since(start)
		if wait = min(max(watchIdle, idleRest*took), idleMax); busy {
			wait = pauseAfter(took)
		}
	}
}

// next returns the trees to measure. If there is none, the goroutine has to end.
func (w *watcher) next() (list []*proc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.live.list() {
		p.mu.Lock()
		if p.measured && !p.ended {
			list = append(list, p)
		}
		p.mu.Unlock()
	}
	w.running = len(list) > 0
	if now := time.Now(); w.fresh || now.Sub(w.forgotten) > forgetAll {
		// An id can be taken by a new process, and a process can join a group of ours.
		clear(w.strangers)
		w.fresh, w.forgotten = false, now
	}
	return list
}

// pauseAfter is how long to wait after a look that took so long.
func pauseAfter(took time.Duration) time.Duration {
	return min(max(watchBusy, watchRest*took), watchMax)
}

// scan looks once, and reports whether any tree is active.
func (w *watcher) scan(list []*proc) (busy bool) {
	f := newForest(list, w.strangers)
	sums := make(map[*proc]*sum, len(list))
	for _, p := range list {
		sums[p] = &sum{}
	}
	for pid, st := range f.all {
		if p := f.tree(st); p != nil {
			sums[p].add(st)
		} else {
			w.strangers[pid] = struct{}{}
		}
	}
	for p, s := range sums {
		p.usage.update(s)
		p.usage.check(s.members)
		p.usage.walkIfDue(&w.walks)
		busy = busy || p.usage.active
	}
	return busy
}

// A forest finds out which processes of the machine belong to trees: those of a group or
// namespace, their descendants, and in none mode those that were among them before.
type forest struct {
	all           map[int]procfs.Stat
	groups, first map[int]*proc
	seen          map[procID]*proc
}

// A procID identifies a process: ids are used again.
type procID struct {
	pid   int
	start uint64
}

// newForest reads the processes of the machine, except strangers.
func newForest(list []*proc, strangers map[int]struct{}) *forest {
	f := &forest{map[int]procfs.Stat{}, map[int]*proc{}, map[int]*proc{}, map[procID]*proc{}}
	for _, p := range list {
		p.mu.Lock()
		if p.ns != nil {
			f.first[p.ns.init] = p
		} else if p.group > 0 {
			f.first[p.pid], f.groups[p.group] = p, p
		}
		for id := range p.seen {
			f.seen[id] = p
		}
		p.mu.Unlock()
	}
	for _, pid := range procfs.PIDs() {
		if _, ok := strangers[pid]; ok {
			continue
		}
		if st, err := procfs.Read(pid); err == nil {
			f.all[pid] = st
		}
	}
	return f
}

// tree returns the tree of a process, nil if it belongs to none. Processes of a group
// that are older than the tree belong to an earlier one, and are about to end.
func (f *forest) tree(st procfs.Stat) *proc {
	// The ids were read one after the other, so that parents can seem to form a circle.
	for ok, depth := true, 0; ok && depth < len(f.all); depth++ {
		if p := f.groups[st.Group]; p != nil && st.Start < p.since {
			return nil
		} else if p != nil {
			return p
		}
		if p := f.first[st.PID]; p != nil {
			return p
		}
		if p := f.seen[procID{st.PID, st.Start}]; p != nil {
			return p
		}
		st, ok = f.all[st.Parent]
	}
	return nil
}
