package sandbox

import (
	"os"
	"strconv"

	"github.com/toolcell/toolcell/internal/procfs"
)

// readProcess reads the Stat of a process, and tells the thread whose entries in
// /proc are to be looked at: another one where the first has ended, which then has
// neither memory nor descriptors, though the process has.
func readProcess(pid int) (procfs.Stat, int, error) {
	st, err := procfs.Read(pid)
	if err != nil || st.State != 'Z' || st.Threads < 2 {
		return st, pid, err
	}
	dir, err := os.Open("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return st, pid, nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		tid, _ := strconv.Atoi(name)
		// /proc has threads as it has processes, it only does not list them.
		if t, err := procfs.Read(tid); err == nil && t.State != 'Z' && t.State != 'X' {
			st.State, st.RSS = t.State, t.RSS
			return st, tid, nil
		}
	}
	return st, pid, nil
}

// shownAt lists the threads whose entries in /proc tell of the processes.
func shownAt(members []*member) []int {
	list := make([]int, len(members))
	for i, m := range members {
		list[i] = m.at
	}
	return list
}
