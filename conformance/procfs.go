package conformance

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/internal/procfs"
)

// cpuUsedBeside is the CPU time that this process and its descendants use while
// a loop of our own uses up the given time; false if there is no /proc.
func cpuUsedBeside(own time.Duration) (time.Duration, bool) {
	before, ok := cpuTime()
	burned := burn(own)
	after, _ := cpuTime()
	return after - before - burned, ok
}

// cpuTime is the CPU time of this process and of its descendants.
func cpuTime() (time.Duration, bool) {
	self, err := procfs.Read(os.Getpid())
	list, ok := procfs.Descendants()
	total := self.Own
	for _, st := range list {
		total += st.Own
	}
	return total, ok && err == nil
}

// burn uses CPU time on a thread of its own, and returns how much it was.
func burn(d time.Duration) time.Duration {
	done := make(chan time.Duration)
	go func() {
		runtime.LockOSThread() // the thread's time is then the loop's alone
		defer runtime.UnlockOSThread()
		start, err := procfs.Thread()
		used := time.Duration(0)
		for n := 0; err == nil && used < d; n++ {
			if n%100_000 == 0 {
				now, _ := procfs.Thread()
				used = now.Own - start.Own
			}
		}
		done <- used
	}()
	return <-done
}

// running finds a process of the machine that has arg among its arguments; false
// if there is no /proc. It looks at all of them, which takes long.
func running(arg string) (pid int, ok bool) {
	for _, pid := range procfs.PIDs() {
		if hasArg(pid, arg) {
			return pid, true
		}
	}
	return 0, false
}

// hasArg reports whether the process has arg among its arguments. A zombie has none.
func hasArg(pid int, arg string) bool {
	data, err := procfs.File(pid, "cmdline")
	return err == nil && slices.Contains(strings.Split(string(data), "\x00"), arg)
}

// allGone waits until no process has arg among its arguments.
func allGone(arg string) {
	for deadline := time.Now().Add(2 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, found := running(arg); !found {
			return
		}
		if time.Now().After(deadline) {
			failf("the process %q is still running", "sleep "+arg)
		}
	}
}
