package sandbox

import (
	"github.com/toolcell/toolcell/internal/procfs"
	"golang.org/x/sys/unix"
	"time"
)

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

// collect reads the processes of the machine, except those known to be
// strangers, and those of idle trees most of the time.
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
			// Who joins another tree's group is that tree's from now on.
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

// owner finds the tree that a process belongs to, if any, by its group or its
// ancestors. Older processes of the group are those of a tree that had it
// before, about to die.
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
	// The ids were read one after the other, so that parents can seem to form a
	// circle.
	if parent, ok := fresh[st.Parent]; ok && depth < len(fresh) {
		return w.owner(parent.Stat, fresh, r, depth+1)
	}
	return nil
}

// stormGrowth is how many processes and threads more than at the last look make
// a storm. Where so many start to run, the watchdog would get its share of a
// processor too late to count them.
const stormGrowth = 100

// stormCheck is how often that is asked for between two looks.
const stormCheck = 5 * time.Millisecond

// wait waits, but not when a storm begins.
func (w *watcher) wait(wait time.Duration) {
	for end := time.Now().Add(wait); ; {
		left := time.Until(end)
		if left <= 0 || w.tasks > 0 && tasks() > w.tasks+stormGrowth {
			return
		}
		time.Sleep(min(left, max(stormCheck, wait/16)))
	}
}

// tasks counts the processes and threads of the machine, 0 if that is unknown.
func tasks() int {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int(info.Procs)
}

// storm reports whether there are suddenly many more processes on the machine
// than at the last look.
func (w *watcher) storm() bool {
	before := w.tasks
	w.tasks = tasks()
	return before > 0 && w.tasks > before+stormGrowth
}

// freeze stops the trees for the time of one look, where the kernel does not
// count their processes exactly.
func freeze(trees map[*proc]*usage) {
	for p := range trees {
		_ = p.signalGroup(unix.SIGSTOP)
	}
}

// thaw lets those go on that were not killed meanwhile.
func thaw(trees map[*proc]*usage) {
	for p := range trees {
		_ = p.signalGroup(unix.SIGCONT)
	}
}
