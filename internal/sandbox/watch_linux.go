package sandbox

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"

	"github.com/toolcell/toolcell/internal/procfs"
)

const (
	// Between two looks while any tree does something: watchBusy, or
	// watchRest times what a look took, but never more than watchMax.
	watchBusy = 20 * time.Millisecond
	watchRest = 4
	watchMax  = 60 * time.Millisecond

	// Between two looks at a tree that did nothing for stillLooks of them:
	// watchIdle, or idleRest times what a look takes, up to idleMax.
	stillLooks = 5
	watchIdle  = 100 * time.Millisecond
	idleRest   = 40
	idleMax    = 250 * time.Millisecond

	// How long a process is known to be a stranger.
	forgetAll = 500 * time.Millisecond
)

// A watcher measures the processes of all of a Sandbox's trees and stops those that use
// more than their limits. A tree is the processes of its group or namespace, their
// descendants, and those that were among them before.
type watcher struct {
	mu      sync.Mutex
	trees   map[*proc]*usage
	resting map[*proc]*usage // paused
	woken   []*usage
	running bool
	fresh   bool // trees were added

	// The rest belongs to the goroutine.
	look      int
	idle      time.Duration // between two looks at an idle tree
	members   map[int]*member
	strangers map[int]struct{}
	forgotten time.Time
	tasks     int          // processes and threads of the machine at the last look
	walking   atomic.Int32 // walks under way
}

// A member is a process of a tree.
type member struct {
	procfs.Stat
	tree *usage
	look int
}

// A usage is what a tree uses. The watcher's goroutine owns it, except for
// what is behind mu.
type usage struct {
	p      *proc
	since  uint64 // start time of the first process
	active bool
	still  int           // looks since the last change
	looked time.Time     // when all of its processes were last read
	due    bool          // they are read in this look
	all    time.Duration // CPU time of live processes and of children that they waited for
	own    time.Duration // CPU time of live and dead processes themselves
	dead   time.Duration
	rss    int64
	tables int64 // memory of page tables
	swap   int64
	procs  int

	measuring atomic.Bool // memory, exactly
	unsure    bool        // it changed while it was measured

	mu       sync.Mutex
	cpu      time.Duration
	peakRSS  int64
	peakData int64 // of one process
	disk     diskUse
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
	w.begin()
}

// begin has a tree that was added looked at.
func (w *watcher) begin() {
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
	delete(w.resting, p)
}

// pause stops watching a tree until it wakes.
func (w *watcher) pause(p *proc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.trees[p] == nil {
		return // it has ended
	}
	if w.resting == nil {
		w.resting = map[*proc]*usage{}
	}
	w.resting[p] = w.trees[p]
	delete(w.trees, p)
}

func (w *watcher) resume(p *proc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	u := w.resting[p]
	if u == nil {
		return
	}
	delete(w.resting, p)
	w.trees[p] = u
	w.woken = append(w.woken, u)
	w.begin()
}

// run looks until there is no tree left.
func (w *watcher) run() {
	w.members, w.strangers, w.idle = map[int]*member{}, map[int]struct{}{}, watchIdle
	w.tasks = tasks() // what was before a rest is no storm
	for wait := watchBusy; ; {
		w.wait(wait)
		w.mu.Lock()
		if len(w.trees) == 0 {
			w.running = false
			w.mu.Unlock()
			return
		}
		// Copies: a look takes long, and programs start and end meanwhile.
		trees, resting := maps.Clone(w.trees), maps.Clone(w.resting)
		for _, u := range w.woken {
			u.active, u.still = true, 0
		}
		w.woken = nil
		if w.fresh || time.Since(w.forgotten) > forgetAll {
			// An id can be taken by a new process, and a stranger can be moved to a
			// group of ours.
			clear(w.strangers)
			w.fresh, w.forgotten = false, time.Now()
		}
		w.mu.Unlock()
		start := time.Now()
		busy := w.scan(trees, resting)
		took := time.Since(start)
		if wait = w.idle; busy {
			wait = pauseAfter(took)
		} else {
			w.idle = min(max(watchIdle, idleRest*took), idleMax)
		}
	}
}

// pauseAfter is how long to wait after a look that took so long.
func pauseAfter(took time.Duration) time.Duration {
	return min(max(watchBusy, watchRest*took), watchMax)
}

// scan looks once, and reports whether any tree does something.
func (w *watcher) scan(trees, resting map[*proc]*usage) bool {
	w.look++
	now := time.Now()
	for _, u := range trees {
		if u.due = u.active || now.Sub(u.looked) >= w.idle; u.due {
			u.looked = now
		}
	}
	if w.storm() {
		// Programs that start and end processes faster than /proc is read would
		// never be seen whole.
		freeze(trees)
		defer thaw(trees)
	}
	w.collect(newRoots(trees))
	sums := make(map[*usage]*sum, len(trees))
	for _, u := range trees {
		sums[u] = &sum{}
	}
	for pid, m := range w.members {
		s, ok := sums[m.tree]
		if m.look != w.look || !ok {
			// What it used counts on, or a tree of short processes would have
			// unlimited time.
			if resting[m.tree.p] == nil {
				m.tree.dead += m.Own
			}
			delete(w.members, pid)
			continue
		}
		s.add(m)
	}
	busy := false
	for u, s := range sums {
		u.update(s)
		u.check(s.members)
		busy = busy || u.active
	}
	w.walkNext(sums)
	return busy
}

// A sum is what the processes of a tree use at one look.
type sum struct {
	members  []*member
	all, own time.Duration
	rss      int64
	threads  int
}

// add takes in a process.
func (s *sum) add(m *member) {
	s.members = append(s.members, m)
	s.all += m.All
	s.own += m.Own
	s.rss += m.RSS
	s.threads += m.Threads
}

// update takes in a look, and sees from it whether the tree does anything.
func (u *usage) update(s *sum) {
	own := s.own + u.dead
	if u.still++; s.all != u.all || own != u.own || s.rss != u.rss || s.threads != u.procs {
		u.still = 0
	}
	u.active = u.still < stillLooks || u.unsure
	u.all, u.own, u.rss, u.procs = s.all, own, s.rss, s.threads
	data := int64(0)
	if u.active { // otherwise it has the page tables that it had
		u.tables, u.swap = 0, 0
		for _, m := range s.members {
			mem := procfs.ReadMemory(m.PID)
			data = max(data, mem.Data)
			u.tables += mem.Tables
			u.swap += mem.Swap
		}
	}
	u.mu.Lock()
	u.cpu = max(u.cpu, s.all, own)
	u.peakRSS = max(u.peakRSS, s.rss)
	u.peakData = max(u.peakData, data)
	u.mu.Unlock()
	if u.p.mode == None && u.active {
		u.p.trackEscaped(s.members)
	}
}

// check stops the tree if it uses more than its limits.
func (u *usage) check(members []*member) {
	l := u.p.plan.limits
	if u.p.mode == Bwrap && l.Processes > 0 {
		// The namespace's first process is bubblewrap's and not the program's.
		l.Processes++
	}
	used, most := u.cpu, time.Duration(l.CPU)*time.Second
	switch {
	case l.CPU > 0 && used > most:
		u.p.stop(codeinterp.CauseCPU, fmt.Sprintf("CPU time: %v used, limit %v", used, most))
	// The kernel limits the rest of a cgroup, exactly.
	case u.p.cgroup != nil:
	case l.Processes > 0 && u.procs > l.Processes:
		u.p.stop(codeinterp.CauseProcesses, fmt.Sprintf("processes and threads: %d, limit %d", u.procs, u.p.plan.limits.Processes))
	case l.Memory > 0 && u.active:
		u.checkMemory(members, l.Memory)
	}
}
