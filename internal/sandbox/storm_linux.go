package sandbox

import (
	"time"

	"golang.org/x/sys/unix"
)

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
