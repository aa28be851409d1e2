package sandbox

import (
	"maps"
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

	// Between two looks at a tree that has not changed for stillLooks of them: watchIdle,
	// or idleRest times what a look takes, at most idleMax.
	stillLooks = 5
	watchIdle  = 100 * time.Millisecond
	idleRest   = 40
	idleMax    = 250 * time.Millisecond

	// How long a process is known to belong to no tree.
	forgetAll = 500 * time.Millisecond
)

// A watcher measures the processes of a Sandbox's trees and stops trees that use more
// than their limits. A tree is the processes of a group or namespace, their descendants,
// and those that were among them before.
type watcher struct {
	mu      sync.Mutex
	trees   map[*proc]*usage
	running bool
	fresh   bool // trees were added or woken

	// The rest belongs to the goroutine.
	look      int
	idle      time.Duration // between two looks at an idle tree
	members   map[int]*member
	strangers map[int]struct{}
	forgotten time.Time
	walks     atomic.Int32 // under way
}

// A member is a process of a tree.
type member struct {
	procfs.Stat
	tree *usage
	look int
}

// add starts watching a tree, whose pid, group or namespace is set.
func (w *watcher) add(p *proc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.trees == nil {
		w.trees = map[*proc]*usage{}
	}
	p.usage.p, p.usage.active = p, true
	if st, err := procfs.Read(p.pid); err == nil {
		p.usage.since = st.Start
	}
	w.trees[p] = &p.usage
	w.wake()
}

// wake starts the goroutine unless it runs. w.mu is held.
func (w *watcher) wake() {
	w.fresh = true
	if !w.running {
		w.running = true
		go w.run()
	}
}

func (w *watcher) remove(p *proc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.trees, p)
}

// pause stops or starts measuring a tree.
func (w *watcher) pause(p *proc, on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	u := w.trees[p]
	if u == nil || u.paused == on {
		return
	}
	if u.paused = on; !on {
		u.woken = true
		w.wake()
	}
}

// run looks until there is no tree to measure.
func (w *watcher) run() {
	w.members, w.strangers, w.idle = map[int]*member{}, map[int]struct{}{}, watchIdle
	for wait := watchBusy; ; {
		time.Sleep(wait)
		trees, measured := w.next()
		if len(measured) == 0 {
			return
		}
		start := time.Now()
		busy := w.scan(trees, measured)
		took := time.Since(start)
		if wait = w.idle; busy {
			wait = pauseAfter(took)
		} else {
			w.idle = min(max(watchIdle, idleRest*took), idleMax)
		}
	}
}

// next returns copies of all trees and of those to measure, since programs start and end
// during a look. If there is none to measure, the goroutine has to end.
func (w *watcher) next() (trees, measured map[*proc]*usage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	trees, measured = maps.Clone(w.trees), map[*proc]*usage{}
	now := time.Now()
	for p, u := range trees {
		if u.woken {
			u.active, u.still, u.woken = true, 0, false
		}
		if u.due = !u.paused && (u.active || now.Sub(u.looked) >= w.idle); u.due {
			u.looked = now
		}
		if !u.paused {
			measured[p] = u
		}
	}
	w.running = len(measured) > 0
	if w.fresh || now.Sub(w.forgotten) > forgetAll {
		// An id can be taken by a new process, and a process can join a group of ours.
		clear(w.strangers)
		w.fresh, w.forgotten = false, now
	}
	return trees, measured
}

// pauseAfter is how long to wait after a look that took so long.
func pauseAfter(took time.Duration) time.Duration {
	return min(max(watchBusy, watchRest*took), watchMax)
}

// scan looks once, and reports whether any tree is active.
func (w *watcher) scan(trees, measured map[*proc]*usage) bool {
	w.look++
	w.collect(newRoots(trees))
	sums := make(map[*usage]*sum, len(measured))
	for _, u := range measured {
		sums[u] = &sum{}
	}
	for pid, m := range w.members {
		switch s := sums[m.tree]; {
		case m.look != w.look:
			// Its time counts on: the limit holds for trees of short processes too.
			m.tree.dead += m.Own
			delete(w.members, pid)
		case s != nil:
			s.add(m)
		case trees[m.tree.p] == nil:
			delete(w.members, pid)
		}
	}
	busy := false
	for u, s := range sums {
		u.update(s)
		u.check(s.members)
		u.walkIfDue(&w.walks)
		busy = busy || u.active
	}
	return busy
}

// A roots maps process groups and first processes to their trees.
type roots struct{ group, first map[int]*usage }

func newRoots(trees map[*proc]*usage) roots {
	r := roots{map[int]*usage{}, map[int]*usage{}}
	for p, u := range trees {
		p.mu.Lock()
		switch {
		case p.ns != nil:
			r.first[p.ns.init] = u
		case p.group > 0:
			r.group[p.group] = u
		}
		p.mu.Unlock()
	}
	return r
}

// collect reads the processes of the machine, except strangers and those of trees that
// are not due.
func (w *watcher) collect(r roots) {
	fresh := map[int]*member{}
	for _, pid := range procfs.PIDs() {
		if _, ok := w.strangers[pid]; ok {
			continue
		}
		m := w.members[pid]
		if m != nil && !m.tree.due {
			m.look = w.look
			continue
		}
		st, err := procfs.Read(pid)
		switch {
		case err != nil:
		case m != nil && m.Start == st.Start:
			m.Stat, m.look = st, w.look
			// A process that joins another tree's group is that tree's from now on.
			if u := r.group[st.Group]; u != nil && u != m.tree && st.Start >= u.since {
				m.tree = u
			}
		default:
			fresh[pid] = &member{Stat: st, look: w.look}
		}
	}
	// After all were read: a parent may have come later than its child.
	for pid, m := range fresh {
		if m.tree = w.owner(m.Stat, fresh, r, 0); m.tree != nil {
			w.members[pid] = m
		} else {
			w.strangers[pid] = struct{}{}
		}
	}
}

// owner finds the tree of a process by its group or its ancestors. Processes of the
// group that are older than the tree belong to an earlier one, and are about to end.
func (w *watcher) owner(st procfs.Stat, fresh map[int]*member, r roots, depth int) *usage {
	if u := r.group[st.Group]; u != nil {
		if st.Start < u.since {
			return nil
		}
		return u
	}
	if u := r.first[st.PID]; u != nil {
		return u
	}
	if m := w.members[st.Parent]; m != nil && m.look == w.look {
		return m.tree
	}
	// The ids were read one after the other, so that parents can seem to form a circle.
	if parent, ok := fresh[st.Parent]; ok && depth < len(fresh) {
		return w.owner(parent.Stat, fresh, r, depth+1)
	}
	return nil
}
